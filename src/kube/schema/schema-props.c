#include "schema-props.h"

#include "buf.h"

/* The type of a keyword's value, and how it is stored. */
enum keyword_kind {
        KEYWORD_STRING,
        KEYWORD_BOOL,
        KEYWORD_NUMBER,
        KEYWORD_SIZE,
        KEYWORD_STRINGS,
        KEYWORD_ARRAY,
        KEYWORD_OBJECT,
        KEYWORD_ANY,
        KEYWORD_TRISTATE,
        KEYWORD_SCHEMA,
        KEYWORD_SCHEMAS,
        KEYWORD_PROPERTIES,
        KEYWORD_ITEMS,
        KEYWORD_ADDITIONAL,
        KEYWORD_PRESENT,
};

#define KEYWORD(text, kind, member)                                  \
        {                                                            \
                STR_INIT(text), kind, offsetof(struct props, member) \
        }

/* In key order. */
static const struct keyword {
        struct str name;
        enum keyword_kind kind;
        size_t offset;
} keywords[] = {
        KEYWORD("$ref", KEYWORD_STRING, ref),
        KEYWORD("$schema", KEYWORD_STRING, schema_uri),
        KEYWORD("additionalItems", KEYWORD_PRESENT, has_additional_items),
        KEYWORD("additionalProperties", KEYWORD_ADDITIONAL, additional),
        KEYWORD("allOf", KEYWORD_SCHEMAS, all_of),
        KEYWORD("anyOf", KEYWORD_SCHEMAS, any_of),
        KEYWORD("default", KEYWORD_ANY, dflt),
        KEYWORD("definitions", KEYWORD_OBJECT, definitions),
        KEYWORD("dependencies", KEYWORD_OBJECT, dependencies),
        KEYWORD("description", KEYWORD_STRING, description),
        KEYWORD("enum", KEYWORD_ARRAY, enumeration),
        KEYWORD("example", KEYWORD_PRESENT, has_example),
        KEYWORD("exclusiveMaximum", KEYWORD_BOOL, exclusive_maximum),
        KEYWORD("exclusiveMinimum", KEYWORD_BOOL, exclusive_minimum),
        KEYWORD("externalDocs", KEYWORD_PRESENT, has_docs),
        KEYWORD("format", KEYWORD_STRING, format),
        KEYWORD("id", KEYWORD_STRING, id),
        KEYWORD("items", KEYWORD_ITEMS, items),
        KEYWORD("maxItems", KEYWORD_SIZE, sizes[PROPS_MAX_ITEMS]),
        KEYWORD("maxLength", KEYWORD_SIZE, sizes[PROPS_MAX_LENGTH]),
        KEYWORD("maxProperties", KEYWORD_SIZE, sizes[PROPS_MAX_PROPERTIES]),
        KEYWORD("maximum", KEYWORD_NUMBER, numbers[PROPS_MAXIMUM]),
        KEYWORD("minItems", KEYWORD_SIZE, sizes[PROPS_MIN_ITEMS]),
        KEYWORD("minLength", KEYWORD_SIZE, sizes[PROPS_MIN_LENGTH]),
        KEYWORD("minProperties", KEYWORD_SIZE, sizes[PROPS_MIN_PROPERTIES]),
        KEYWORD("minimum", KEYWORD_NUMBER, numbers[PROPS_MINIMUM]),
        KEYWORD("multipleOf", KEYWORD_NUMBER, numbers[PROPS_MULTIPLE_OF]),
        KEYWORD("not", KEYWORD_SCHEMA, not_),
        KEYWORD("nullable", KEYWORD_BOOL, nullable),
        KEYWORD("oneOf", KEYWORD_SCHEMAS, one_of),
        KEYWORD("pattern", KEYWORD_STRING, pattern),
        KEYWORD("patternProperties", KEYWORD_OBJECT, pattern_properties),
        KEYWORD("properties", KEYWORD_PROPERTIES, properties),
        KEYWORD("required", KEYWORD_STRINGS, required),
        KEYWORD("title", KEYWORD_STRING, title),
        KEYWORD("type", KEYWORD_STRING, type),
        KEYWORD("uniqueItems", KEYWORD_BOOL, unique_items),
        KEYWORD("x-kubernetes-embedded-resource", KEYWORD_BOOL, embedded),
        KEYWORD("x-kubernetes-int-or-string", KEYWORD_BOOL, int_or_string),
        KEYWORD("x-kubernetes-list-map-keys", KEYWORD_STRINGS, list_keys),
        KEYWORD("x-kubernetes-list-type", KEYWORD_STRING, list_type),
        KEYWORD("x-kubernetes-map-type", KEYWORD_STRING, map_type),
        KEYWORD("x-kubernetes-patch-merge-key", KEYWORD_STRING, patch_key),
        KEYWORD("x-kubernetes-patch-strategy", KEYWORD_STRING, patch_strategy),
        KEYWORD("x-kubernetes-preserve-unknown-fields", KEYWORD_TRISTATE, preserve),
        KEYWORD("x-kubernetes-validations", KEYWORD_ARRAY, rules),
};

struct reader {
        struct arena *arena;
        struct str field;
        struct field_errors *errors;
};

static const struct keyword *find_keyword(struct str name)
{
        size_t low = 0, high = ARRAY_SIZE(keywords);

        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = str_compare(keywords[middle].name, name);

                if (order == 0)
                        return &keywords[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

static void append_path(struct buf *b, const struct props *p)
{
        if (!p || p->step == STEP_ROOT)
                return;
        append_path(b, p->up);
        switch (p->step) {
        case STEP_ROOT:
                break;
        case STEP_PROPERTY:
                buf_appendf(b, ".properties[%.*s]", STR_ARG(p->key));
                break;
        case STEP_ITEMS:
                buf_append_literal(b, ".items");
                break;
        case STEP_ADDITIONAL:
                buf_append_literal(b, ".additionalProperties");
                break;
        case STEP_ALL_OF:
                buf_appendf(b, ".allOf[%zu]", p->index);
                break;
        case STEP_ANY_OF:
                buf_appendf(b, ".anyOf[%zu]", p->index);
                break;
        case STEP_ONE_OF:
                buf_appendf(b, ".oneOf[%zu]", p->index);
                break;
        case STEP_NOT:
                buf_append_literal(b, ".not");
                break;
        }
}

struct str props_path(struct arena *a, struct str field, const struct props *p, const char *keyword)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str path;

        buf_append_str(&b, field);
        append_path(&b, p);
        if (*keyword)
                buf_appendf(&b, ".%s", keyword);
        path = buf_str(&b);
        str_cut_prefix(&path, STR(".")); /* when the field is empty */
        return arena_copy(a, path);
}

static void wrong_type(struct reader *r, const struct props *p, const struct keyword *k, const struct value *v,
                       const char *wanted)
{
        struct str path = props_path(r->errors->arena, r->field, p, k->name.p);

        field_error_add(r->errors, FIELD_INVALID, path, v, "must be %s", wanted);
}

static struct props *read_schema(struct reader *r, const struct value *v, const struct props *up, enum props_step step);

static struct props *read_child(struct reader *r, const struct value *v, const struct props *up, enum props_step step)
{
        return read_schema(r, value_is_object(v) ? v : &value_empty_object, up, step);
}

static bool strings_only(const struct value *v)
{
        VALUE_FOREACH_ITEM (item, v)
                if (!value_is_string(item))
                        return false;
        return value_is_array(v);
}

static bool objects_only(const struct value *v)
{
        VALUE_FOREACH_ITEM (item, v)
                if (!value_is_object(item) && !value_is_null(item))
                        return false;
        return value_is_array(v);
}

static void read_schemas(struct reader *r, struct props *p, const struct keyword *k, const struct value *v)
{
        struct props_list *list = (struct props_list *)((char *)p + k->offset);
        enum props_step step = str_equal(k->name, STR("allOf"))   ? STEP_ALL_OF
                               : str_equal(k->name, STR("anyOf")) ? STEP_ANY_OF
                                                                  : STEP_ONE_OF;

        list->p = ARENA_NEW_ARRAY(r->arena, struct props *, v->n);
        for (list->n = 0; list->n < v->n; list->n++) {
                list->p[list->n] = read_child(r, &v->items[list->n], p, step);
                list->p[list->n]->index = list->n;
        }
}

static void read_properties(struct reader *r, struct props *p, const struct keyword *k, const struct value *v)
{
        struct props_list *list = &p->properties;

        v = value_sorted(r->arena, v);
        list->p = ARENA_NEW_ARRAY(r->arena, struct props *, v->n);
        VALUE_FOREACH_MEMBER (m, v) {
                if (!value_is_object(&m->value) && !value_is_null(&m->value))
                        wrong_type(r, p, k, &m->value, "an object of schemas");
                list->p[list->n] = read_child(r, &m->value, p, STEP_PROPERTY);
                list->p[list->n++]->key = m->key;
        }
}

static void read_items(struct reader *r, struct props *p, const struct keyword *k, const struct value *v)
{
        if (value_is_array(v))
                p->items_are_list = true;
        else if (value_is_object(v))
                p->items = read_child(r, v, p, STEP_ITEMS);
        else
                wrong_type(r, p, k, v, "a schema");
}

static void read_additional(struct reader *r, struct props *p, const struct keyword *k, const struct value *v)
{
        if (value_is_bool(v)) {
                p->additional_kind = v->boolean ? ADDITIONAL_TRUE : ADDITIONAL_FALSE;
        } else if (value_is_object(v)) {
                p->additional_kind = ADDITIONAL_SCHEMA;
                p->additional = read_child(r, v, p, STEP_ADDITIONAL);
        } else {
                wrong_type(r, p, k, v, "a schema or a boolean");
        }
}

/* Stores a plain value; otherwise returns the expected type. */
static const char *store_plain(struct props *p, const struct keyword *k, const struct value *v)
{
        char *place = (char *)p + k->offset;

        switch (k->kind) {
        case KEYWORD_STRING:
                *(struct str *)place =
                        value_is_string(v) && v->n > 0 ? value_str(v) : STR_NONE; /* an empty text counts as absent */
                return value_is_string(v) ? NULL : "a string";
        case KEYWORD_BOOL:
                *(bool *)place = value_bool(v, false);
                return value_is_bool(v) ? NULL : "a boolean";
        case KEYWORD_PRESENT:
                *(bool *)place = true;
                return NULL;
        case KEYWORD_NUMBER:
                *(const struct value **)place = value_is_number(v) ? v : NULL;
                return value_is_number(v) ? NULL : "a number";
        case KEYWORD_SIZE:
                *(const struct value **)place = value_int(v, INT64_MIN) == INT64_MIN ? NULL : v;
                return *(const struct value **)place ? NULL : "an integer";
        case KEYWORD_STRINGS:
                *(const struct value **)place = strings_only(v) ? v : NULL;
                return strings_only(v) ? NULL : "a list of strings";
        case KEYWORD_ARRAY:
                *(const struct value **)place = value_is_array(v) ? v : NULL;
                return value_is_array(v) ? NULL : "a list";
        case KEYWORD_OBJECT:
                *(const struct value **)place = value_is_object(v) && v->n > 0 ? v : NULL;
                return value_is_object(v) ? NULL : "an object";
        case KEYWORD_TRISTATE:
                *(const struct value **)place = value_is_bool(v) ? v : NULL;
                return value_is_bool(v) ? NULL : "a boolean";
        case KEYWORD_ANY:
                *(const struct value **)place = v;
                return NULL;
        case KEYWORD_SCHEMA:
                return value_is_object(v) ? NULL : "a schema";
        case KEYWORD_SCHEMAS:
                return objects_only(v) ? NULL : "a list of schemas";
        case KEYWORD_PROPERTIES:
                return value_is_object(v) ? NULL : "an object of schemas";
        case KEYWORD_ITEMS:
        case KEYWORD_ADDITIONAL:
                return NULL;
        }
        return NULL;
}

static void read_keyword(struct reader *r, struct props *p, const struct keyword *k, const struct value *v)
{
        const char *wanted = store_plain(p, k, v);

        if (wanted)
                wrong_type(r, p, k, v, wanted);
        else if (k->kind == KEYWORD_SCHEMA)
                p->not_ = read_child(r, v, p, STEP_NOT);
        else if (k->kind == KEYWORD_SCHEMAS)
                read_schemas(r, p, k, v);
        else if (k->kind == KEYWORD_PROPERTIES)
                read_properties(r, p, k, v);
        else if (k->kind == KEYWORD_ITEMS)
                read_items(r, p, k, v);
        else if (k->kind == KEYWORD_ADDITIONAL)
                read_additional(r, p, k, v);
}

static struct props *read_schema(struct reader *r, const struct value *v, const struct props *up, enum props_step step)
{
        struct props *p = ARENA_NEW(r->arena, struct props);

        p->up = up;
        p->step = step;
        VALUE_FOREACH_MEMBER (m, v) {
                const struct keyword *k = find_keyword(m->key);

                if (k && !value_is_null(&m->value))
                        read_keyword(r, p, k, &m->value);
        }
        p->has_ref = value_is_string(value_get(v, STR("$ref")));
        p->has_list_type = value_is_string(value_get(v, STR("x-kubernetes-list-type")));
        p->has_map_type = value_is_string(value_get(v, STR("x-kubernetes-map-type")));
        return p;
}

struct props *props_read(struct arena *a, const struct value *v, struct str field, struct field_errors *errors)
{
        struct reader r = { a, field, errors };

        return read_schema(&r, v, NULL, STEP_ROOT);
}

struct props *props_property(const struct props *p, struct str key)
{
        size_t low = 0, high = p ? p->properties.n : 0;

        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = str_compare(p->properties.p[middle]->key, key);

                if (order == 0)
                        return p->properties.p[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}
