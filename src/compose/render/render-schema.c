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
        size_t n_left; /* number of values that it may still make */
};

static bool is_followed(const struct trail *trail, struct str name)
{
        for (; trail; trail = trail->up)
                if (str_equal(trail->name, name))
                        return true;
        return false;
}

/* The reference of a schema, directly or in allOf; NULL without. Fields beside a reference are ignored. */
static const struct value *reference_of(const struct value *schema)
{
        const struct value *reference = value_get(schema, STR("$ref"));

        if (value_is_string(reference))
                return reference;
        VALUE_FOREACH_ITEM (item, value_get(schema, STR("allOf"))) {
                reference = value_get(item, STR("$ref"));
                if (value_is_string(reference))
                        return reference;
        }
        return NULL;
}

static int expand(struct expansion *e, const struct trail *trail, const struct value *schema, uint32_t depth,
                  struct value *ret, struct err *err);

static int expand_each(struct expansion *e, const struct trail *trail, const struct value *schemas, uint32_t depth,
                       struct value *ret, struct err *err)
{
        struct object_builder b;

        object_builder_init(&b, e->arena, value_count(schemas));
        VALUE_FOREACH_MEMBER (m, schemas) {
                struct value expanded;
                int r = expand(e, trail, &m->value, depth + 1, &expanded, err);

                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, expanded);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

/* Expands the schemas below a schema: properties, items and additionalProperties. */
static int expand_below(struct expansion *e, const struct trail *trail, const struct value *schema, uint32_t depth,
                        struct value *ret, struct err *err)
{
        struct object_builder b;

        object_builder_init(&b, e->arena, value_count(schema));
        VALUE_FOREACH_MEMBER (m, schema) {
                struct value v = m->value;
                int r = 0;

                if (str_equal(m->key, STR("properties")) && value_is_object(&v))
                        r = expand_each(e, trail, &m->value, depth + 1, &v, err);
                else if (str_equal(m->key, STR("items")) || str_equal(m->key, STR("additionalProperties")))
                        r = expand(e, trail, &m->value, depth + 1, &v, err);
                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, v);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int expand(struct expansion *e, const struct trail *trail, const struct value *schema, uint32_t depth,
                  struct value *ret, struct err *err)
{
        const struct value *reference = reference_of(schema);
        struct trail here = { trail, value_str(reference) };
        struct value object = value_of_literal("object");

        if (depth > LIMIT_DEPTH || e->n_left-- == 0)
                return err_set(err, ERR_LIMIT,
                               "an OpenAPI schema with its references is deeper than %d levels or has "
                               "more than %d values",
                               LIMIT_DEPTH, LIMIT_SCHEMA_VALUES);
        *ret = *schema;
        if (!value_is_object(schema))
                return 0;
        if (!reference)
                return expand_below(e, trail, schema, depth, ret, err);
        schema = str_cut_prefix(&here.name, PREFIX) ? value_get(e->components, here.name) : NULL;
        if (!schema)
                return err_set(err, ERR_INVALID,
                               "cannot flatten schema references: internal error: cannot resolve Ref \"%.*s\": schema "
                               "not found",
                               STR_ARG(value_str(reference)));
        if (!is_followed(trail, here.name))
                return expand_below(e, &here, schema, depth, ret, err);
        *ret = *value_with(e->arena, &value_empty_object, STR("type"), &object);
        return 0;
}

/* Whether the component is for exactly this kind. Components for several kinds are shared parts of the API, not kinds. */
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
                                return r;
                        *ret = value_put(a, schema);
                        return 0;
                }
        }
        return 0;
}
