/* The types of the table as schemas: as OpenAPI v3 has them, with references, and compiled for server-side apply and strategic merge
 * patches, with the references in place. */
#include "builtin.h"

#include "buf.h"
#include "builtin-table.h"
#include "json.h"
#include "map.h"

#define REFERENCE "#/components/schemas/"

/* How schemas refer to other types. */
struct writer {
        struct arena *arena;
        bool expands;        /* false: by $ref */
        struct map expanded; /* name of a type -> its struct value; NULL while it is being written */
};

static struct value struct_schema(struct writer *w, const struct builtin_type *t, bool is_root);

/* --- Single keywords --- */

static struct value of_type(struct arena *a, struct str type, struct str format)
{
        struct member members[] = { { STR("format"), value_of_str(format) }, { STR("type"), value_of_str(type) } };

        return format.n ? value_of_members(a, members, 2, true) : value_of_members(a, members + 1, 1, true);
}

static struct value parsed(struct arena *a, struct str json)
{
        const struct value *v = &value_null;
        int r = json_parse(a, json, NULL, &v, NULL);

        assert(r == 0);
        return *v;
}

/* Blanks are written %20 in the table. */
static struct str with_blanks(struct arena *a, struct str item)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        ptrdiff_t at = str_find(item, STR("%20"));

        if (at < 0)
                return item;
        for (; at >= 0; at = str_find(item, STR("%20"))) {
                buf_append_str(&b, str_first(item, (size_t)at));
                buf_append_char(&b, ' ');
                item = str_skip(item, (size_t)at + 3);
        }
        buf_append_str(&b, item);
        return buf_to_arena(&b, a);
}

static struct value list_of(struct arena *a, struct str items)
{
        struct array_builder b;
        struct str item;

        array_builder_init(&b, a, 4);
        while (builtin_next_item(&items, &item))
                array_builder_add(&b, value_of_str(with_blanks(a, item)));
        return array_builder_finish(&b);
}

/* A copy of the schema in the builder. */
static void begin_with(struct object_builder *b, struct arena *a, const struct value *schema)
{
        object_builder_init(b, a, value_count(schema) + 4);
        VALUE_FOREACH_MEMBER (m, schema)
                object_builder_add(b, m->key, m->value);
}

/* --- Components that are no structs --- */

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define CRD  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
#define FREE "{\"x-kubernetes-preserve-unknown-fields\":true}"
#define ATOMIC \
        "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"x-kubernetes-map-type\":\"atomic\"}"
#define A_MAP "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}"

static const struct named {
        enum builtin_base base;
        struct str name;
        struct str openapi;  /* JSON */
        struct str expanded; /* in a compiled schema */
} named[] = {
        { BASE_TIME, STR_INIT(META "Time"), STR_INIT("{\"type\":\"string\",\"format\":\"date-time\"}"),
          STR_INIT("{\"type\":\"string\",\"format\":\"date-time\"}") },
        { BASE_MICROTIME, STR_INIT(META "MicroTime"), STR_INIT("{\"type\":\"string\",\"format\":\"date-time\"}"),
          STR_INIT("{\"type\":\"string\",\"format\":\"date-time\"}") },
        { BASE_DURATION, STR_INIT(META "Duration"), STR_INIT("{\"type\":\"string\"}"),
          STR_INIT("{\"type\":\"string\"}") },
        { BASE_FIELDS, STR_INIT(META "FieldsV1"), STR_INIT("{\"type\":\"object\"}"), STR_INIT(A_MAP) },
        { BASE_QUANTITY, STR_INIT("io.k8s.apimachinery.pkg.api.resource.Quantity"),
          STR_INIT("{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"), STR_INIT(FREE) },
        { BASE_INT_OR_STRING, STR_INIT("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
          STR_INIT("{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"),
          STR_INIT("{\"x-kubernetes-int-or-string\":true}") },
        { BASE_RAW, STR_INIT("io.k8s.apimachinery.pkg.runtime.RawExtension"), STR_INIT("{\"type\":\"object\"}"),
          STR_INIT(ATOMIC) },
        { BASE_JSON, STR_INIT(CRD "JSON"), STR_INIT("{}"), STR_INIT(FREE) },
        { BASE_SCHEMA_OR_ARRAY, STR_INIT(CRD "JSONSchemaPropsOrArray"), STR_INIT("{}"), STR_INIT(FREE) },
        { BASE_SCHEMA_OR_BOOL, STR_INIT(CRD "JSONSchemaPropsOrBool"), STR_INIT("{}"), STR_INIT(FREE) },
        { BASE_SCHEMA_OR_STRINGS, STR_INIT(CRD "JSONSchemaPropsOrStringArray"), STR_INIT("{}"), STR_INIT(FREE) },
};

static const struct named *named_of(enum builtin_base base)
{
        for (size_t i = 0; i < ARRAY_SIZE(named); i++)
                if (named[i].base == base)
                        return &named[i];
        return NULL;
}

static struct value reference_to(struct arena *a, struct str prefix, struct str name)
{
        struct member m = { STR("$ref"),
                            value_of_str(arena_printf(a, REFERENCE "%.*s%.*s", STR_ARG(prefix), STR_ARG(name))) };

        return value_of_members(a, &m, 1, true);
}

static struct value base_schema(struct writer *w, const struct builtin_field *f)
{
        const struct named *n = named_of((enum builtin_base)f->base);

        if (n)
                return w->expands ? parsed(w->arena, n->expanded) : reference_to(w->arena, STR(""), n->name);
        switch ((enum builtin_base)f->base) {
        case BASE_STRING:
                return of_type(w->arena, STR("string"), STR(""));
        case BASE_BOOL:
                return of_type(w->arena, STR("boolean"), STR(""));
        case BASE_INT32:
                return of_type(w->arena, STR("integer"), STR("int32"));
        case BASE_INT64:
                return of_type(w->arena, STR("integer"), STR("int64"));
        case BASE_DOUBLE:
                return of_type(w->arena, STR("number"), STR("double"));
        case BASE_BYTES:
                return of_type(w->arena, STR("string"), STR("byte"));
        case BASE_EXTRA:
                return parsed(w->arena, w->expands ? STR("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}")
                                                   : STR("{\"type\":\"array\",\"items\":{\"type\":\"string\","
                                                         "\"default\":\"\"}}"));
        case BASE_STRUCT:
                return w->expands ? struct_schema(w, f->type, false)
                                  : reference_to(w->arena, f->type->package_prefix, f->type->short_name);
        default:
                return value_empty_object;
        }
}

/* --- Defaults --- */

/* The default that a field or item gets in the documents without being told: the zero of its type. */
static bool usual_default(const struct builtin_field *f, struct value *ret)
{
        switch ((enum builtin_base)f->base) {
        case BASE_STRING:
                *ret = value_empty_string;
                return true;
        case BASE_BOOL:
                *ret = value_of_bool(false);
                return true;
        case BASE_INT32:
        case BASE_INT64:
        case BASE_DOUBLE:
                *ret = value_of_int(0);
                return true;
        case BASE_STRUCT:
        case BASE_RAW:
        case BASE_FIELDS:
        case BASE_JSON:
                *ret = value_empty_object;
                return true;
        default:
                return false;
        }
}

static bool openapi_default(struct arena *a, const struct builtin_field *f, struct str word, bool has_usual,
                            struct value *ret)
{
        struct str text;

        if (builtin_fact(f->facts, word, &text)) {
                if (str_equal(text, STR("none")))
                        return false;
                *ret = parsed(a, text);
                return true;
        }
        return has_usual && usual_default(f, ret);
}

static bool is_struct(const struct builtin_field *f)
{
        return f->base == BASE_STRUCT || f->base == BASE_RAW || f->base == BASE_FIELDS || f->base == BASE_JSON;
}

/* --- Fields --- */

/* A compiled schema needs only defaults that mean something: those that the table names. */
static void add_default(struct writer *w, struct object_builder *b, const struct builtin_field *f, bool is_below)
{
        bool omits = f->omits_empty || f->omits_zero;
        bool is_value = is_below ? f->shape == SHAPE_LIST || f->shape == SHAPE_MAP
                                 : f->shape == SHAPE_VALUE && (is_struct(f) || !omits);
        struct value v;

        if (openapi_default(w->arena, f, is_below ? STR("below") : STR("default"), is_value && !w->expands, &v))
                object_builder_set(b, STR("default"), v);
}

/* $ref with keywords beside it goes into allOf. */
static struct value finish_reference(struct writer *w, struct object_builder *b, size_t n_before)
{
        struct value v = object_builder_finish(b), all;
        const struct value *reference = value_get(&v, STR("$ref"));
        struct member m;

        if (!reference || value_count(&v) == n_before)
                return v;
        m = (struct member) { STR("$ref"), *reference };
        all = value_of_members(w->arena, &m, 1, true);
        all = value_of_items(w->arena, &all, 1);
        return *value_with(w->arena, value_without(w->arena, value_put(w->arena, v), STR("$ref")), STR("allOf"), &all);
}

static struct value item_schema(struct writer *w, const struct builtin_field *f)
{
        struct value base = base_schema(w, f);
        struct object_builder b;
        struct str items;

        begin_with(&b, w->arena, &base);
        add_default(w, &b, f, true);
        if (!w->expands && builtin_fact(f->facts, STR("below-enum"), &items))
                object_builder_set(&b, STR("enum"), list_of(w->arena, items));
        return finish_reference(w, &b, 1);
}

static void add_keywords(struct writer *w, struct object_builder *b, const struct builtin_field *f)
{
        static const struct {
                struct str word, keyword;
                bool is_list;
        } keywords[] = {
                { STR_INIT("list"), STR_INIT("x-kubernetes-list-type"), false },
                { STR_INIT("keys"), STR_INIT("x-kubernetes-list-map-keys"), true },
                { STR_INIT("map"), STR_INIT("x-kubernetes-map-type"), false },
                { STR_INIT("patch"), STR_INIT("x-kubernetes-patch-strategy"), false },
                { STR_INIT("patch-key"), STR_INIT("x-kubernetes-patch-merge-key"), false },
        };
        struct str text;

        for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
                if (builtin_fact(f->facts, keywords[i].word, &text))
                        object_builder_set(b, keywords[i].keyword,
                                           keywords[i].is_list ? list_of(w->arena, text) : value_of_str(text));
        if (!w->expands && builtin_fact(f->facts, STR("enum"), &text))
                object_builder_set(b, STR("enum"), list_of(w->arena, text));
}

static struct value field_schema(struct writer *w, const struct builtin_field *f)
{
        struct object_builder b;
        struct value base;

        if (f->shape == SHAPE_LIST || f->shape == SHAPE_MAP) {
                bool is_list = f->shape == SHAPE_LIST;
                struct value items = item_schema(w, f);

                base = of_type(w->arena, is_list ? STR("array") : STR("object"), STR(""));
                begin_with(&b, w->arena, &base);
                object_builder_set(&b, is_list ? STR("items") : STR("additionalProperties"), items);
        } else {
                base = base_schema(w, f);
                begin_with(&b, w->arena, &base);
                add_default(w, &b, f, false);
        }
        add_keywords(w, &b, f);
        return finish_reference(w, &b, 1);
}

/* --- Structs --- */

static bool is_in_document(struct str facts)
{
        struct str ignored;

        return !builtin_fact(facts, STR("hidden"), &ignored);
}

static struct value properties_of(struct writer *w, const struct builtin_type *t, bool is_root)
{
        struct object_builder b;

        object_builder_init(&b, w->arena, t->n_flat + 2);
        if (t->is_object && !is_root) {
                object_builder_add(&b, STR("apiVersion"), of_type(w->arena, STR("string"), STR("")));
                object_builder_add(&b, STR("kind"), of_type(w->arena, STR("string"), STR("")));
        }
        for (size_t i = 0; i < t->n_flat; i++) {
                const struct builtin_field *f = t->flat[i];

                if (is_root && str_equal(f->name, STR("metadata")))
                        continue;
                if (w->expands || is_in_document(f->facts))
                        object_builder_set(&b, f->name, field_schema(w, f));
        }
        return object_builder_finish(&b);
}

static struct value required_of(struct writer *w, const struct builtin_type *t)
{
        struct array_builder b;
        struct str ignored;

        array_builder_init(&b, w->arena, 4);
        for (size_t i = 0; i < t->n_flat; i++)
                if (builtin_fact(t->flat[i]->facts, STR("required"), &ignored))
                        array_builder_add(&b, value_of_str(t->flat[i]->name));
        return array_builder_finish(&b);
}

static struct value kinds_of(struct writer *w, const struct builtin_type *t)
{
        const struct builtin_table *table = builtin_table();
        struct array_builder b;

        array_builder_init(&b, w->arena, 1);
        for (size_t i = 0; i < table->n_kinds; i++) {
                const struct builtin_kind *k = &table->kinds[i];
                struct member members[] = { { STR("group"), value_of_str(k->gvk.group) },
                                            { STR("kind"), value_of_str(k->gvk.kind) },
                                            { STR("version"), value_of_str(k->gvk.version) } };

                if (k->type == t)
                        array_builder_add(&b, value_of_members(w->arena, members, ARRAY_SIZE(members), true));
        }
        return array_builder_finish(&b);
}

static void add_struct_keywords(struct writer *w, struct object_builder *b, const struct builtin_type *t)
{
        struct value list;
        struct str text;

        if (builtin_fact(t->facts, STR("map"), &text))
                object_builder_set(b, STR("x-kubernetes-map-type"), value_of_str(text));
        if (w->expands)
                return;
        list = required_of(w, t);
        if (value_count(&list))
                object_builder_set(b, STR("required"), list);
        list = kinds_of(w, t);
        if (value_count(&list))
                object_builder_set(b, STR("x-kubernetes-group-version-kind"), list);
        if (builtin_fact(t->facts, STR("unions"), &text))
                object_builder_set(b, STR("x-kubernetes-unions"), parsed(w->arena, text));
}

/* A type that refers to itself is free-form there. Every other use of a type shares its expanded value. */
static struct value struct_schema(struct writer *w, const struct builtin_type *t, bool is_root)
{
        struct object_builder b;
        struct value *v;

        if (!is_root && map_has(&w->expanded, t->name)) {
                v = map_get(&w->expanded, t->name);
                return v ? *v : parsed(w->arena, STR(FREE));
        }
        map_set(&w->expanded, t->name, NULL);
        object_builder_init(&b, w->arena, 4);
        object_builder_set(&b, STR("type"), value_of_literal("object"));
        if (t->n_flat || t->is_object)
                object_builder_set(&b, STR("properties"), properties_of(w, t, is_root));
        else if (w->expands)
                object_builder_set(&b, STR("x-kubernetes-preserve-unknown-fields"), value_of_bool(true));
        add_struct_keywords(w, &b, t);
        v = ARENA_NEW(w->arena, struct value);
        *v = object_builder_finish(&b);
        map_set(&w->expanded, t->name, v);
        return *v;
}

/* --- Documents --- */

static const struct builtin_type *type_of_component(struct str name)
{
        const struct builtin_table *table = builtin_table();

        for (size_t i = 0; i < table->n_types; i++) {
                struct str rest = name;

                if (str_cut_prefix(&rest, table->types[i].package_prefix) &&
                    str_equal(rest, table->types[i].short_name) && is_in_document(table->types[i].facts))
                        return &table->types[i];
        }
        return NULL;
}

const struct value *builtin_component(struct arena *a, struct str name)
{
        const struct builtin_type *t = type_of_component(name);
        struct writer w = { .arena = a };
        const struct value *v;

        for (size_t i = 0; !t && i < ARRAY_SIZE(named); i++)
                if (str_equal(named[i].name, name))
                        return value_put(a, parsed(a, named[i].openapi));
        if (!t)
                return NULL;
        v = value_put(a, struct_schema(&w, t, false));
        map_done(&w.expanded);
        return v;
}

struct str builtin_component_of(struct gvk gvk)
{
        const struct builtin_kind *k = builtin_kind_of(gvk);

        return k ? k->component : STR("");
}

/* --- Compiled schemas --- */

static struct schema *compile(const struct builtin_type *t)
{
        _cleanup_arena_ struct arena a;
        struct writer w = { .arena = &a, .expands = true };
        struct schema *schema = NULL;
        struct value v;
        int r;

        arena_init(&a, "built-in schema", 0);
        v = struct_schema(&w, t, true);
        r = schema_compile_trusted(&v, &schema, NULL);
        assert(r == 0);
        map_done(&w.expanded);
        return schema;
}

struct schema *builtin_type_schema(const struct builtin_type *t)
{
        struct builtin_type *type = (struct builtin_type *)t;
        struct schema *schema = atomic_load_explicit(&type->schema, memory_order_acquire), *first = NULL;

        if (schema)
                return schema;
        schema = compile(t);
        if (atomic_compare_exchange_strong(&type->schema, &first, schema))
                return schema;
        schema_unref(schema);
        return first;
}
