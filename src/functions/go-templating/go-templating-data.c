/* The request as templates see it: protobuf's JSON, with integral numbers as ints. */
#include "go-templating.h"

#include "base64.h"
#include "buf.h"
#include "path.h"

struct data_builder {
        struct arena *arena;
        struct err *err;
};

static int settled(struct data_builder *d, struct fn_struct *s, const struct value **ret)
{
        const struct value *v;
        int r = fn_struct_value(d->arena, s, &v, d->err);

        *ret = NULL;
        if (r < 0 || !v)
                return r;
        return value_settle(d->arena, v, ret, d->err);
}

static void add(struct object_builder *b, struct str key, const struct value *v)
{
        if (v)
                object_builder_add(b, key, *v);
}

static struct value bytes_map(struct data_builder *d, const struct fn_bytes_map *map)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, map->n);
        for (size_t i = 0; i < map->n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                base64_encode(&text, map->p[i].bytes, BASE64_STD);
                object_builder_add(&b, map->p[i].key, value_of_str(buf_to_arena(&text, d->arena)));
        }
        return object_builder_finish(&b);
}

static int resource_value(struct data_builder *d, const struct fn_resource *resource, struct value *ret)
{
        struct fn_struct object = resource->object;
        struct object_builder b;
        const struct value *v;
        int r = settled(d, &object, &v);

        if (r < 0)
                return r;
        object_builder_init(&b, d->arena, 3);
        add(&b, STR("resource"), v);
        if (resource->connection.n > 0)
                object_builder_add(&b, STR("connectionDetails"), bytes_map(d, &resource->connection));
        if (resource->ready != FN_READY_UNSPECIFIED)
                object_builder_add(&b, STR("ready"),
                                   resource->ready == FN_READY_TRUE ? value_of_literal("READY_TRUE")
                                                                    : value_of_literal("READY_FALSE"));
        *ret = object_builder_finish(&b);
        return 0;
}

static int state_value(struct data_builder *d, struct fn_state *state, struct value *ret)
{
        struct object_builder b, resources;
        struct value v;
        int r = fn_state_open(d->arena, state, d->err);

        if (r < 0)
                return r;
        object_builder_init(&b, d->arena, 2);
        if (state->has_composite) {
                r = resource_value(d, &state->composite, &v);
                if (r < 0)
                        return r;
                object_builder_add(&b, STR("composite"), v);
        }
        object_builder_init(&resources, d->arena, state->n_resources);
        for (size_t i = 0; i < state->n_resources; i++) {
                r = resource_value(d, &state->resources[i], &v);
                if (r < 0)
                        return r;
                object_builder_add(&resources, state->resources[i].name, v);
        }
        if (state->n_resources > 0)
                object_builder_add(&b, STR("resources"), object_builder_finish(&resources));
        *ret = object_builder_finish(&b);
        return 0;
}

static int items_value(struct data_builder *d, const struct fn_resources *resources, struct value *ret)
{
        struct object_builder b;
        struct array_builder items;
        struct value v;
        int r;

        array_builder_init(&items, d->arena, resources->n_items);
        for (size_t i = 0; i < resources->n_items; i++) {
                r = resource_value(d, &resources->items[i], &v);
                if (r < 0)
                        return r;
                array_builder_add(&items, v);
        }
        object_builder_init(&b, d->arena, 1);
        if (resources->n_items > 0)
                object_builder_add(&b, STR("items"), array_builder_finish(&items));
        *ret = object_builder_finish(&b);
        return 0;
}

static int resources_map(struct data_builder *d, const struct fn_resources_map *map, struct value *ret)
{
        struct object_builder b;
        struct value v;
        int r;

        object_builder_init(&b, d->arena, map->n);
        for (size_t i = 0; i < map->n; i++) {
                r = items_value(d, &map->p[i], &v);
                if (r < 0)
                        return r;
                object_builder_add(&b, map->p[i].name, v);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static struct value credentials_value(struct data_builder *d, const struct fn_request *req)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, req->n_credentials);
        for (size_t i = 0; i < req->n_credentials; i++) {
                struct object_builder data, one;

                object_builder_init(&data, d->arena, 1);
                object_builder_add(&data, STR("data"), bytes_map(d, &req->credentials[i].data));
                object_builder_init(&one, d->arena, 1);
                object_builder_add(&one, STR("credentialData"), object_builder_finish(&data));
                object_builder_add(&b, req->credentials[i].name, object_builder_finish(&one));
        }
        return object_builder_finish(&b);
}

static struct value meta_value(struct data_builder *d, const struct fn_request *req)
{
        static const char *const names[] = { NULL,
                                             "CAPABILITY_CAPABILITIES",
                                             "CAPABILITY_REQUIRED_RESOURCES",
                                             "CAPABILITY_CREDENTIALS",
                                             "CAPABILITY_CONDITIONS",
                                             "CAPABILITY_REQUIRED_SCHEMAS" };
        struct object_builder b;
        struct array_builder list;

        object_builder_init(&b, d->arena, 2);
        if (req->tag.n > 0)
                object_builder_add(&b, STR("tag"), value_of_str(req->tag));
        array_builder_init(&list, d->arena, ARRAY_SIZE(names));
        for (size_t i = 1; i < ARRAY_SIZE(names); i++)
                if (req->capabilities & 1u << i)
                        array_builder_add(&list, value_of_str(str_from(names[i])));
        if (req->capabilities)
                object_builder_add(&b, STR("capabilities"), array_builder_finish(&list));
        return object_builder_finish(&b);
}

static int schemas_value(struct data_builder *d, const struct fn_request *req, struct value *ret)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, req->n_schemas);
        for (size_t i = 0; i < req->n_schemas; i++) {
                struct fn_struct openapi = req->schemas[i].openapi;
                struct object_builder one;
                const struct value *v;
                int r = settled(d, &openapi, &v);

                if (r < 0)
                        return r;
                object_builder_init(&one, d->arena, 1);
                add(&one, STR("openapiV3"), v);
                object_builder_add(&b, req->schemas[i].name, object_builder_finish(&one));
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int add_states(struct data_builder *d, struct fn_request *req, struct object_builder *b)
{
        struct value v;
        int r;

        if (req->observed.is_present) {
                r = state_value(d, &req->observed, &v);
                if (r < 0)
                        return r;
                object_builder_add(b, STR("observed"), v);
        }
        if (req->desired.is_present) {
                r = state_value(d, &req->desired, &v);
                if (r < 0)
                        return r;
                object_builder_add(b, STR("desired"), v);
        }
        return 0;
}

/* Required resources also appear under the older name, extraResources, unless the request has extra resources. */
static int add_resources(struct data_builder *d, struct fn_request *req, struct object_builder *b)
{
        struct value extra, required;
        int r = resources_map(d, &req->extra_resources, &extra);

        if (r == 0)
                r = resources_map(d, &req->required_resources, &required);
        if (r < 0)
                return r;
        if (req->extra_resources.n > 0)
                object_builder_add(b, STR("extraResources"), extra);
        else if (req->required_resources.n > 0)
                object_builder_add(b, STR("extraResources"), required);
        if (req->required_resources.n > 0)
                object_builder_add(b, STR("requiredResources"), required);
        return 0;
}

int templating_data(struct templating *t, struct err *err)
{
        struct data_builder d = { t->arena, err };
        struct fn_request *req = t->req;
        struct object_builder b;
        const struct value *v;
        struct value schemas;
        int r;

        object_builder_init(&b, t->arena, 8);
        object_builder_add(&b, STR("meta"), meta_value(&d, req));
        r = add_states(&d, req, &b);
        if (r < 0)
                return r;
        r = settled(&d, &req->input, &v);
        if (r < 0)
                return r;
        add(&b, STR("input"), v);
        r = settled(&d, &req->context, &v);
        if (r < 0)
                return r;
        add(&b, STR("context"), v);
        r = add_resources(&d, req, &b);
        if (r < 0)
                return r;
        if (req->n_credentials > 0)
                object_builder_add(&b, STR("credentials"), credentials_value(&d, req));
        r = schemas_value(&d, req, &schemas);
        if (r < 0)
                return r;
        if (req->n_schemas > 0)
                object_builder_add(&b, STR("requiredSchemas"), schemas);
        t->data = value_put(t->arena, object_builder_finish(&b));
        return 0;
}
