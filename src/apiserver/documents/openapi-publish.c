/* Schemas of CRDs as documents show them. */
#include "openapi-document.h"

static struct value publish(struct arena *a, const struct value *schema, bool is_nested);

/* How a keyword of a schema is published. A keyword whose value has the wrong type is left out. */
enum treatment {
        KEEP_AS_IT_IS,
        KEEP_IF_TRUE,
        KEEP_TEXT,        /* if it is not empty */
        KEEP_LIST,        /* if it is not empty */
        PUBLISH_SCHEMA,   /* its value is a schema */
        PUBLISH_EACH,     /* a map of schemas */
        PUBLISH_OTHERS,   /* additionalProperties: a schema or a bool; not inside of allOf and the like */
        PUBLISH_BRANCH,   /* a schema of `not` */
        PUBLISH_BRANCHES, /* schemas of allOf, anyOf, oneOf */
};

static enum treatment treatment_of(struct str keyword)
{
        static const struct {
                struct str keyword;
                enum treatment treatment;
        } treatments[] = {
                { STR_INIT("nullable"), KEEP_IF_TRUE },
                { STR_INIT("uniqueItems"), KEEP_IF_TRUE },
                { STR_INIT("exclusiveMaximum"), KEEP_IF_TRUE },
                { STR_INIT("exclusiveMinimum"), KEEP_IF_TRUE },
                { STR_INIT("x-kubernetes-preserve-unknown-fields"), KEEP_IF_TRUE },
                { STR_INIT("x-kubernetes-embedded-resource"), KEEP_IF_TRUE },
                { STR_INIT("x-kubernetes-int-or-string"), KEEP_IF_TRUE },
                { STR_INIT("description"), KEEP_TEXT },
                { STR_INIT("title"), KEEP_TEXT },
                { STR_INIT("type"), KEEP_TEXT },
                { STR_INIT("format"), KEEP_TEXT },
                { STR_INIT("pattern"), KEEP_TEXT },
                { STR_INIT("required"), KEEP_LIST },
                { STR_INIT("enum"), KEEP_LIST },
                { STR_INIT("x-kubernetes-list-map-keys"), KEEP_LIST },
                { STR_INIT("x-kubernetes-validations"), KEEP_LIST },
                { STR_INIT("items"), PUBLISH_SCHEMA },
                { STR_INIT("properties"), PUBLISH_EACH },
                { STR_INIT("additionalProperties"), PUBLISH_OTHERS },
                { STR_INIT("not"), PUBLISH_BRANCH },
                { STR_INIT("allOf"), PUBLISH_BRANCHES },
                { STR_INIT("anyOf"), PUBLISH_BRANCHES },
                { STR_INIT("oneOf"), PUBLISH_BRANCHES },
        };

        for (size_t i = 0; i < ARRAY_SIZE(treatments); i++)
                if (str_equal(treatments[i].keyword, keyword))
                        return treatments[i].treatment;
        return KEEP_AS_IT_IS;
}

static struct value publish_each(struct arena *a, const struct value *map, bool is_nested)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(map));
        VALUE_FOREACH_MEMBER (m, map)
                object_builder_add(&b, m->key, publish(a, &m->value, is_nested));
        return object_builder_finish(&b);
}

static struct value publish_branches(struct arena *a, const struct value *list)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(list));
        VALUE_FOREACH_ITEM (item, list)
                array_builder_add(&b, publish(a, item, true));
        return array_builder_finish(&b);
}

/* False if the keyword is left out. */
static bool publish_keyword(struct arena *a, const struct member *m, bool is_nested, struct value *ret)
{
        const struct value *v = &m->value;

        *ret = *v;
        switch (treatment_of(m->key)) {
        case KEEP_AS_IT_IS:
                return !value_is_null(v);
        case KEEP_IF_TRUE:
                return value_bool(v, false);
        case KEEP_TEXT:
                return value_is_string(v) && v->n > 0;
        case KEEP_LIST:
                return value_is_array(v) && v->n > 0;
        case PUBLISH_SCHEMA:
                *ret = publish(a, v, is_nested);
                return value_is_object(v);
        case PUBLISH_EACH:
                *ret = publish_each(a, v, is_nested);
                return value_is_object(v) && v->n > 0;
        case PUBLISH_OTHERS:
                if (value_is_object(v))
                        *ret = publish(a, v, is_nested);
                return !is_nested && (value_is_object(v) || value_is_bool(v));
        case PUBLISH_BRANCH:
                *ret = publish(a, v, true);
                return value_is_object(v);
        case PUBLISH_BRANCHES:
                *ret = publish_branches(a, v);
                return value_is_array(v) && v->n > 0;
        }
        return false;
}

/* --- Extensions that stand for more --- */

static struct value of_type(struct arena *a, struct str type)
{
        return OPENAPI_OBJECT(a, { STR("type"), value_of_str(type) });
}

static struct value integer_or_string(struct arena *a)
{
        struct value items[] = { of_type(a, STR("integer")), of_type(a, STR("string")) };

        return value_of_items(a, items, 2);
}

/* x-kubernetes-int-or-string says the same as an anyOf. It is added unless the schema has it, in one of the two places where it may be. */
static const struct value *unfold_int_or_string(struct arena *a, const struct value *schema)
{
        struct value both = integer_or_string(a);
        const struct value *any = value_get(schema, STR("anyOf")), *all = value_get(schema, STR("allOf"));
        const struct value *first = value_get(value_item(all, 0), STR("anyOf"));
        struct value branch;

        if ((any && value_equal(any, &both)) || (first && value_equal(first, &both)))
                return schema;
        if (!any)
                return value_with(a, schema, STR("anyOf"), value_put(a, both));
        branch = OPENAPI_OBJECT(a, { STR("anyOf"), both });
        all = value_with_inserted(a, all ? all : &value_empty_array, 0, value_put(a, branch));
        return value_with(a, schema, STR("allOf"), all);
}

static const struct value *with_property(struct arena *a, const struct value *schema, struct str name, struct value v)
{
        const struct value *properties = value_get(schema, STR("properties"));

        properties = value_with(a, properties ? properties : &value_empty_object, name, value_put(a, v));
        return value_with(a, schema, STR("properties"), properties);
}

static struct value object_meta(struct arena *a)
{
        struct value reference =
                OPENAPI_OBJECT(a, { STR("$ref"), value_of_literal(OPENAPI_REFERENCE OPENAPI_META "ObjectMeta") });

        return OPENAPI_OBJECT(a, { STR("allOf"), value_of_items(a, &reference, 1) });
}

static const struct value *with_object_properties(struct arena *a, const struct value *schema)
{
        schema = with_property(a, schema, STR("metadata"), object_meta(a));
        schema = with_property(a, schema, STR("apiVersion"), of_type(a, STR("string")));
        return with_property(a, schema, STR("kind"), of_type(a, STR("string")));
}

static const struct value *with_required(struct arena *a, const struct value *schema, struct str name)
{
        const struct value *list = value_get(schema, STR("required"));

        VALUE_FOREACH_ITEM (item, list)
                if (str_equal(value_str(item), name))
                        return schema;
        list = value_with_appended(a, list ? list : &value_empty_array, value_put(a, value_of_str(name)));
        return value_with(a, schema, STR("required"), list);
}

static const struct value *expand_embedded(struct arena *a, const struct value *schema)
{
        schema = with_object_properties(a, schema);
        schema = with_required(a, schema, STR("kind"));
        return with_required(a, schema, STR("apiVersion"));
}

/* --- Schemas --- */

/* is_nested: below allOf, anyOf, oneOf or not, where a schema only restricts. */
static struct value publish(struct arena *a, const struct value *schema, bool is_nested)
{
        const struct value *result;
        struct object_builder b;
        struct value v;

        object_builder_init(&b, a, value_count(schema) + 2);
        VALUE_FOREACH_MEMBER (m, schema)
                if (publish_keyword(a, m, is_nested, &v))
                        object_builder_add(&b, m->key, v);
        v = object_builder_finish(&b);
        result = &v;
        if (!is_nested && value_get(result, STR("x-kubernetes-int-or-string")))
                result = unfold_int_or_string(a, result);
        if (!is_nested && value_get(result, STR("x-kubernetes-embedded-resource")))
                result = expand_embedded(a, result);
        return *result;
}

struct value openapi_publish(struct arena *a, const struct value *schema)
{
        struct value v = publish(a, schema, false);

        return *with_object_properties(a, &v);
}
