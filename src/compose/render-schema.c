#include "render-schema.h"

#include "limits.h"

#define PREFIX STR("#/components/schemas/")

/* References that are being followed, innermost first. */
struct trail {
        const struct trail *up;
        struct str name;
};

struct expansion {
        struct arena *arena;
        const struct value *components;
        size_t n_left; /* values that it may still make */
};

static int expand(struct expansion *e, const struct trail *trail, const struct value *v, uint32_t depth,
                  struct value *ret, struct err *err);

static bool is_followed(const struct trail *trail, struct str name)
{
        for (; trail; trail = trail->up)
                if (str_equal(trail->name, name))
                        return true;
        return false;
}

static int follow(struct expansion *e, const struct trail *trail, struct str reference, uint32_t depth,
                  struct value *ret, struct err *err)
{
        struct trail here = { trail, reference };
        bool is_local = str_cut_prefix(&here.name, PREFIX);
        const struct value *component = is_local ? value_get(e->components, here.name) : NULL;
        struct value object = value_of_literal("object");

        if (!component)
                return err_set(err, ERR_INVALID, "cannot resolve reference \"%.*s\" of an OpenAPI schema",
                               STR_ARG(reference));
        if (!is_followed(trail, here.name))
                return expand(e, &here, component, depth + 1, ret, err);
        *ret = *value_with(e->arena, &value_empty_object, STR("type"), &object);
        return 0;
}

static int expand_object(struct expansion *e, const struct trail *trail, const struct value *v, uint32_t depth,
                         struct value *ret, struct err *err)
{
        const struct value *reference = value_get(v, STR("$ref"));
        struct object_builder b;
        int r;

        if (value_is_string(reference))
                return follow(e, trail, value_str(reference), depth, ret, err);
        object_builder_init(&b, e->arena, value_count(v));
        VALUE_FOREACH_MEMBER (m, v) {
                struct value member;

                r = expand(e, trail, &m->value, depth + 1, &member, err);
                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, member);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int expand_array(struct expansion *e, const struct trail *trail, const struct value *v, uint32_t depth,
                        struct value *ret, struct err *err)
{
        struct array_builder b;
        int r;

        array_builder_init(&b, e->arena, value_count(v));
        VALUE_FOREACH_ITEM (item, v) {
                struct value expanded;

                r = expand(e, trail, item, depth + 1, &expanded, err);
                if (r < 0)
                        return r;
                array_builder_add(&b, expanded);
        }
        *ret = array_builder_finish(&b);
        return 0;
}

static int expand(struct expansion *e, const struct trail *trail, const struct value *v, uint32_t depth,
                  struct value *ret, struct err *err)
{
        if (depth > LIMIT_DEPTH || e->n_left-- == 0)
                return err_set(err, ERR_LIMIT,
                               "an OpenAPI schema with its references is deeper than %d levels or has "
                               "more than %d values",
                               LIMIT_DEPTH, LIMIT_SCHEMA_VALUES);
        if (value_is_object(v))
                return expand_object(e, trail, v, depth, ret, err);
        if (value_is_array(v))
                return expand_array(e, trail, v, depth, ret, err);
        *ret = *v;
        return 0;
}

/* Those of several kinds are common parts of the API, not kinds. */
static bool is_for(const struct value *component, struct gvk gvk)
{
        const struct value *kinds = value_get(component, STR("x-kubernetes-group-version-kind"));
        const struct value *only = value_item(kinds, 0);

        return value_count(kinds) == 1 && str_equal(value_str(value_get(only, STR("group"))), gvk.group) &&
               str_equal(value_str(value_get(only, STR("version"))), gvk.version) &&
               str_equal(value_str(value_get(only, STR("kind"))), gvk.kind);
}

int render_find_schema(struct arena *a, const struct value *documents, struct gvk gvk, const struct value **ret,
                       struct err *err)
{
        *ret = NULL;
        VALUE_FOREACH_ITEM (document, documents) {
                struct expansion e = {
                        .arena = a,
                        .components = value_find(document, "components", "schemas"),
                        .n_left = LIMIT_SCHEMA_VALUES,
                };

                VALUE_FOREACH_MEMBER (m, e.components) {
                        struct trail here = { NULL, m->key };
                        struct value schema;
                        int r;

                        if (!is_for(&m->value, gvk))
                                continue;
                        r = expand(&e, &here, &m->value, 0, &schema, err);
                        if (r < 0)
                                return err_wrap(err, "schema of %.*s", STR_ARG(gvk.kind));
                        *ret = value_put(a, schema);
                        return 0;
                }
        }
        return 0;
}
