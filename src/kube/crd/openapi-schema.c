/* Expands the references of a schema and translates it to the keywords of structural schemas.
 *
 * Each component is expanded once. Values are immutable, so all references to a component share the expanded value. The number of
 * nodes is counted as if each reference had a copy, because that is the cost of compiling it. */
#include "openapi-schema.h"

#include "limits.h"

#define PREFIX STR("#/components/schemas/")

struct component {
        struct value value;
        size_t n_nodes; /* counted as a tree */
        bool is_done;   /* false while it is being expanded */
};

void openapi_schemas_init(struct openapi_schemas *s, struct arena *a, const struct value *document)
{
        const struct value *components = value_find(document, "components", "schemas");

        *s = (struct openapi_schemas) { .arena = a, .n_left = LIMIT_OPENAPI_NODES };
        s->components = value_is_object(components) ? value_sorted(a, components) : &value_empty_object;
}

void openapi_schemas_done(struct openapi_schemas *s)
{
        map_done(&s->expanded);
}

/* --- Keywords --- */

/* Keywords that mean the same in a structural schema. */
static bool is_plain_keyword(struct str key)
{
        static const char *const names[] = {
                "default",
                "enum",
                "exclusiveMaximum",
                "exclusiveMinimum",
                "format",
                "maxItems",
                "maxLength",
                "maxProperties",
                "maximum",
                "minItems",
                "minLength",
                "minProperties",
                "minimum",
                "multipleOf",
                "nullable",
                "pattern",
                "required",
                "type",
                "x-kubernetes-embedded-resource",
                "x-kubernetes-int-or-string",
                "x-kubernetes-list-map-keys",
                "x-kubernetes-list-type",
                "x-kubernetes-map-type",
                "x-kubernetes-patch-merge-key",
                "x-kubernetes-patch-strategy",
                "x-kubernetes-preserve-unknown-fields",
        };
        size_t low = 0, high = ARRAY_SIZE(names);

        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = str_compare(str_from(names[middle]), key);

                if (order == 0)
                        return true;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return false;
}

/* The single reference of a schema, direct or as the only part of allOf; NULL if there is none. */
static const struct value *reference_of(const struct value *schema)
{
        const struct value *reference = value_get(schema, STR("$ref")), *all = value_get(schema, STR("allOf"));

        if (!reference && value_count(all) == 1)
                reference = value_get(value_item(all, 0), STR("$ref"));
        return value_is_string(reference) ? reference : NULL;
}

static void set_true(struct object_builder *b, struct str keyword)
{
        object_builder_set(b, keyword, value_of_bool(true));
}

static bool is_one_of_integer_and_string(const struct value *schema)
{
        const struct value *choices = value_get(schema, STR("oneOf"));
        bool has_integer = false, has_string = false;

        VALUE_FOREACH_ITEM (choice, choices) {
                struct str type = value_str(value_get(choice, STR("type")));

                has_integer |= str_equal(type, STR("integer"));
                has_string |= str_equal(type, STR("string"));
        }
        return value_count(choices) == 2 && has_integer && has_string;
}

/* Allows all content where the document does not describe it. */
static void set_freedom(struct object_builder *b, const struct value *schema)
{
        const struct value *type = value_get(schema, STR("type"));
        bool has_fields = value_get(schema, STR("properties")) || value_get(schema, STR("additionalProperties"));

        if (value_get(schema, STR("x-kubernetes-int-or-string")))
                return;
        if (!type && is_one_of_integer_and_string(schema))
                set_true(b, STR("x-kubernetes-int-or-string"));
        else if (!has_fields && (!type || str_equal(value_str(type), STR("object"))))
                set_true(b, STR("x-kubernetes-preserve-unknown-fields"));
}

/* --- Expansion --- */

struct expansion {
        struct openapi_schemas *schemas;
        struct err *err;
        size_t n_nodes; /* nodes of the component so far */
        uint32_t depth;
};

static int expand(struct expansion *e, const struct value *schema, bool is_root, struct value *ret);

static int refuse_size(struct err *err)
{
        return err_set(err, ERR_LIMIT,
                       "a schema of the OpenAPI document is deeper than %d levels or has more than %d nodes with its "
                       "references in place",
                       LIMIT_DEPTH, LIMIT_OPENAPI_KIND_NODES);
}

/* Fields that every object has. The API handles them itself, so the schema's description is not used. */
static bool is_common_field(struct str key)
{
        return str_equal(key, STR("apiVersion")) || str_equal(key, STR("kind")) || str_equal(key, STR("metadata"));
}

static int expand_properties(struct expansion *e, const struct value *properties, bool is_root, struct value *ret)
{
        struct object_builder b;

        object_builder_init(&b, e->schemas->arena, value_count(properties));
        VALUE_FOREACH_MEMBER (m, properties) {
                struct value v;
                int r;

                if (is_root && is_common_field(m->key))
                        continue;
                r = expand(e, &m->value, false, &v);
                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, v);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int expand_member(struct expansion *e, const struct member *m, bool is_root, struct object_builder *b)
{
        struct value v = m->value;
        int r = 0;

        if (str_equal(m->key, STR("properties")) && value_is_object(&m->value))
                r = expand_properties(e, &m->value, is_root, &v);
        else if (str_equal(m->key, STR("items")) && value_is_object(&m->value))
                r = expand(e, &m->value, false, &v);
        else if (str_equal(m->key, STR("additionalProperties")) && value_is_object(&m->value))
                r = expand(e, &m->value, false, &v);
        else if (str_equal(m->key, STR("additionalProperties")) ? !value_is_bool(&v) : !is_plain_keyword(m->key))
                return 0;
        if (r == 0)
                object_builder_set(b, m->key, v);
        return r;
}

static int expand_keywords(struct expansion *e, const struct value *schema, bool is_root, struct value *ret)
{
        struct object_builder b;

        object_builder_init(&b, e->schemas->arena, value_count(schema) + 1);
        VALUE_FOREACH_MEMBER (m, schema) {
                int r = expand_member(e, m, is_root, &b);

                if (r < 0)
                        return r;
        }
        set_freedom(&b, schema);
        *ret = object_builder_finish(&b);
        return 0;
}

static int find_component(struct expansion *e, struct str reference, const struct component **ret)
{
        struct openapi_schemas *s = e->schemas;
        struct str name = reference;
        const struct value *schema = str_cut_prefix(&name, PREFIX) ? value_get(s->components, name) : NULL;
        struct component *c = map_get(&s->expanded, name);
        struct expansion inner = { .schemas = s, .err = e->err, .depth = e->depth + 1 };
        int r;

        *ret = c;
        if (c)
                return 0;
        if (!value_is_object(schema))
                return err_set(e->err, ERR_INVALID, "the OpenAPI document has no schema \"%.*s\"", STR_ARG(reference));
        c = ARENA_NEW(s->arena, struct component);
        map_set(&s->expanded, arena_copy(s->arena, name), c);
        r = expand(&inner, schema, false, &c->value);
        c->n_nodes = inner.n_nodes;
        c->is_done = true;
        *ret = c;
        return r;
}

/* Expands a reference to the component, with the keywords beside the reference. A reference of a component to itself becomes
 * free-form. */
static int expand_reference(struct expansion *e, const struct value *schema, struct str reference, struct value *ret)
{
        const struct component *c;
        struct object_builder b;
        int r = find_component(e, reference, &c);

        if (r < 0)
                return r;
        object_builder_init(&b, e->schemas->arena, value_count(&c->value) + 2);
        if (c->is_done)
                VALUE_FOREACH_MEMBER (m, &c->value)
                        object_builder_add(&b, m->key, m->value);
        else
                set_true(&b, STR("x-kubernetes-preserve-unknown-fields"));
        VALUE_FOREACH_MEMBER (m, schema)
                if (is_plain_keyword(m->key))
                        object_builder_set(&b, m->key, m->value);
        *ret = object_builder_finish(&b);
        e->n_nodes += c->is_done ? c->n_nodes : 1;
        return e->n_nodes > LIMIT_OPENAPI_KIND_NODES ? refuse_size(e->err) : 0;
}

static int expand(struct expansion *e, const struct value *schema, bool is_root, struct value *ret)
{
        const struct value *reference = reference_of(schema);
        int r = arena_check(e->schemas->arena, e->err);

        if (r < 0)
                return r;
        if (++e->n_nodes > LIMIT_OPENAPI_KIND_NODES || e->depth >= LIMIT_DEPTH)
                return refuse_size(e->err);
        e->depth++;
        r = reference ? expand_reference(e, schema, value_str(reference), ret)
                      : expand_keywords(e, value_is_object(schema) ? schema : &value_empty_object, is_root, ret);
        e->depth--;
        return r;
}

/* --- Kinds --- */

/* Whether the component is for exactly this kind. Components of several kinds are shared parts of the API, such as
 * DeleteOptions. */
static bool is_of_kind(const struct value *component, struct gvk gvk)
{
        const struct value *kinds = value_get(component, STR("x-kubernetes-group-version-kind"));
        const struct value *only = value_item(kinds, 0);

        return value_count(kinds) == 1 && str_equal(value_str(value_get(only, STR("group"))), gvk.group) &&
               str_equal(value_str(value_get(only, STR("version"))), gvk.version) &&
               str_equal(value_str(value_get(only, STR("kind"))), gvk.kind);
}

static const struct value *find_schema(const struct openapi_schemas *s, struct gvk gvk)
{
        VALUE_FOREACH_MEMBER (m, s->components)
                if (is_of_kind(&m->value, gvk))
                        return &m->value;
        return NULL;
}

int openapi_compile(struct openapi_schemas *s, struct gvk gvk, struct schema **ret, struct err *err)
{
        const struct value *schema = find_schema(s, gvk);
        struct expansion e = { .schemas = s, .err = err };
        struct value expanded;
        int r;

        *ret = schema_any();
        if (!schema)
                return 0;
        r = expand(&e, schema, true, &expanded);
        if (r < 0)
                return r;
        if (e.n_nodes > s->n_left)
                return err_set(err, ERR_LIMIT,
                               "the schemas of the OpenAPI document have more than %d nodes with their references in "
                               "place",
                               LIMIT_OPENAPI_NODES);
        s->n_left -= e.n_nodes;
        return schema_compile_trusted(&expanded, ret, err);
}
