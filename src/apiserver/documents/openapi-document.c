#include "openapi-document.h"

#include "buf.h"
#include "builtin.h"
#include "json.h"
#include "limits.h"

/* --- Names --- */

/* `example.org` -> `org.example`. */
static struct str reversed_group(struct arena *a, struct str group)
{
        struct str result = STR("");
        ptrdiff_t dot;

        while ((dot = str_find_last_char(group, '.')) >= 0) {
                result = ARENA_CONCAT(a, result, str_skip(group, (size_t)dot + 1), STR("."));
                group = str_first(group, (size_t)dot);
        }
        return ARENA_CONCAT(a, result, group);
}

static struct str custom_component(struct arena *a, const struct openapi_kind *k, struct str kind)
{
        return ARENA_CONCAT(a, reversed_group(a, k->kind->group), STR("."), k->version->name, STR("."), kind);
}

struct str openapi_component_of(struct arena *a, const struct openapi_kind *k)
{
        struct gvk gvk = { k->kind->group, k->version->name, k->kind->kind };
        struct str name = k->kind->is_custom ? STR("") : builtin_component_of(gvk);

        return name.n > 0 ? name : custom_component(a, k, k->kind->kind);
}

struct str openapi_list_component_of(struct arena *a, const struct openapi_kind *k)
{
        struct str name = openapi_component_of(a, k);

        if (k->kind->is_custom)
                return custom_component(a, k, k->kind->list_kind);
        str_cut_suffix(&name, k->kind->kind);
        return ARENA_CONCAT(a, name, k->kind->list_kind);
}

/* --- References --- */

static void need(struct openapi_writer *w, struct str component)
{
        if (!map_has(&w->needed, component))
                map_add(&w->needed, arena_copy(&w->names, component), NULL);
}

struct value openapi_reference(struct openapi_writer *w, struct str component)
{
        struct str text = ARENA_CONCAT(w->arena, STR(OPENAPI_REFERENCE), component);

        need(w, component);
        return OPENAPI_OBJECT(w->arena, { STR("$ref"), value_of_str(text) });
}

struct value openapi_all_of(struct openapi_writer *w, struct str component, bool has_default)
{
        struct value reference = openapi_reference(w, component);
        struct member members[] = {
                { STR("default"), value_empty_object },
                { STR("allOf"), value_of_items(w->arena, &reference, 1) },
        };

        return value_of_members(w->arena, members + !has_default, has_default ? 2 : 1, false);
}

/* Adds all components that a schema refers to. */
static void follow_references(struct openapi_writer *w, const struct value *v)
{
        struct str name = value_str(value_get(v, STR("$ref")));

        if (str_cut_prefix(&name, STR(OPENAPI_REFERENCE)))
                need(w, name);
        VALUE_FOREACH_MEMBER (m, v)
                if (value_count(&m->value) > 0)
                        follow_references(w, &m->value);
        VALUE_FOREACH_ITEM (item, v)
                if (value_count(item) > 0)
                        follow_references(w, item);
}

/* --- Components of custom kinds and of lists --- */

static struct value gvk_extension(struct openapi_writer *w, struct str kind)
{
        struct value gvk =
                OPENAPI_OBJECT(w->arena, { STR("group"), value_of_str(w->group) },
                               { STR("version"), value_of_str(w->version) }, { STR("kind"), value_of_str(kind) });

        return value_of_items(w->arena, &gvk, 1);
}

static const struct value *with_extensions(struct openapi_writer *w, const struct value *schema,
                                           const struct openapi_kind *k, struct str kind)
{
        struct value gvk = gvk_extension(w, kind);
        struct array_builder fields;
        struct value list;

        schema = value_with(w->arena, schema, STR("x-kubernetes-group-version-kind"), value_put(w->arena, gvk));
        if (!k->kind->is_custom || k->version->n_selectable_fields == 0)
                return schema;
        array_builder_init(&fields, w->arena, k->version->n_selectable_fields);
        for (size_t i = 0; i < k->version->n_selectable_fields; i++)
                array_builder_add(&fields,
                                  OPENAPI_OBJECT(w->arena,
                                                 { STR("fieldPath"), value_of_str(k->version->selectable_fields[i]) }));
        list = array_builder_finish(&fields);
        return value_with(w->arena, schema, STR("x-kubernetes-selectable-fields"), value_put(w->arena, list));
}

static const struct value *schema_in_crd(struct arena *a, const struct openapi_kind *k)
{
        const struct value *crd = k->crd ? object_peek(k->crd, a) : NULL;

        VALUE_FOREACH_ITEM (v, value_find(crd, "spec", "versions"))
                if (str_equal(value_str(value_get(v, STR("name"))), k->version->name))
                        return value_find(v, "schema", "openAPIV3Schema");
        return NULL;
}

static const struct value *make_custom(struct openapi_writer *w, const struct openapi_kind *k)
{
        struct value schema = OPENAPI_OBJECT(w->arena, { STR("type"), value_of_literal("object") });
        const struct value *given = schema_in_crd(w->arena, k);

        if (given)
                schema = openapi_publish(w->arena, given);
        return with_extensions(w, value_put(w->arena, schema), k, k->kind->kind);
}

static const struct value *make_list(struct openapi_writer *w, const struct openapi_kind *k)
{
        struct arena *a = w->arena;
        bool is_custom = k->kind->is_custom;
        struct value text = OPENAPI_OBJECT(a, { STR("type"), value_of_literal("string") });
        struct str component = openapi_component_of(a, k);
        struct value item = is_custom ? openapi_reference(w, component) : openapi_all_of(w, component, true);
        struct value items = value_of_literal("items"), schema;
        struct value properties = OPENAPI_OBJECT(
                a, { STR("apiVersion"), text },
                { STR("items"), OPENAPI_OBJECT(a, { STR("type"), value_of_literal("array") }, { STR("items"), item }) },
                { STR("kind"), text },
                { STR("metadata"), openapi_all_of(w, STR(OPENAPI_META "ListMeta"), !is_custom) });

        schema = OPENAPI_OBJECT(a, { STR("type"), value_of_literal("object") },
                                { STR("required"), value_of_items(a, &items, 1) }, { STR("properties"), properties });
        return with_extensions(w, value_put(a, schema), k, k->kind->list_kind);
}

/* --- Components that the table of built-in kinds does not have --- */

#define STRING              "{\"type\":\"string\"}"
#define INT32               "{\"type\":\"integer\",\"format\":\"int32\"}"
#define REF(name)           "{\"allOf\":[{\"$ref\":\"" OPENAPI_REFERENCE OPENAPI_META name "\"}]}"
#define DEFAULTED_REF(name) "{\"default\":{},\"allOf\":[{\"$ref\":\"" OPENAPI_REFERENCE OPENAPI_META name "\"}]}"

static const struct {
        struct str name;
        struct str json;
} own_components[] = {
        { STR_INIT(OPENAPI_META "Patch"), STR_INIT("{\"type\":\"object\"}") },
        { STR_INIT(OPENAPI_META "ListMeta"),
          STR_INIT("{\"type\":\"object\",\"properties\":{\"continue\":" STRING
                   ",\"remainingItemCount\":{\"type\":\"integer\","
                   "\"format\":\"int64\"},\"resourceVersion\":" STRING ",\"selfLink\":" STRING
                   ",\"shardInfo\":" REF("ShardInfo") "}}") },
        { STR_INIT(OPENAPI_META "ShardInfo"),
          STR_INIT("{\"type\":\"object\",\"required\":[\"selector\"],\"properties\":{\"selector\":{\"type\":\"string\","
                   "\"default\":\"\"}}}") },
        { STR_INIT(OPENAPI_META "Status"),
          STR_INIT("{\"type\":\"object\",\"properties\":{\"apiVersion\":" STRING ",\"code\":" INT32 ",\"details\":" REF(
                  "StatusDetails") ",\"kind\":" STRING ",\"message\":" STRING
                                   ",\"metadata\":" DEFAULTED_REF("ListMeta") ",\"reason\":" STRING
                                                                              ",\"status\":" STRING
                                                                              "},\"x-kubernetes-group-version-kind\":[{"
                                                                              "\"group\":\"\",\"kind\":\"Status\","
                                                                              "\"version\":\"v1\"}]}") },
        { STR_INIT(OPENAPI_META "StatusDetails"),
          STR_INIT("{\"type\":\"object\",\"properties\":{\"causes\":{\"type\":\"array\",\"items\":" DEFAULTED_REF(
                  "StatusCause") ",\"x-kubernetes-list-type\":\"atomic\"},\"group\":" STRING ",\"kind\":" STRING
                                 ",\"name\":" STRING ",\"retryAfterSeconds\":" INT32 ",\"uid\":" STRING "}}") },
        { STR_INIT(OPENAPI_META "StatusCause"), STR_INIT("{\"type\":\"object\",\"properties\":{\"field\":" STRING
                                                         ",\"message\":" STRING ",\"reason\":" STRING "}}") },
};

static const struct value *own_component(struct arena *a, struct str name)
{
        const struct value *v = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(own_components); i++)
                if (str_equal(own_components[i].name, name)) {
                        int r = json_parse(a, own_components[i].json, NULL, &v, NULL);

                        assert(r == 0);
                }
        return v;
}

/* --- Components of the kinds --- */

struct openapi_own {
        const struct openapi_kind *kind;
        bool is_list;
};

static void add_own(struct openapi_writer *w, const struct openapi_kind *k, bool is_list)
{
        struct openapi_own *own = ARENA_NEW(&w->names, struct openapi_own);

        *own = (struct openapi_own) { .kind = k, .is_list = is_list };
        map_add(&w->own, is_list ? openapi_list_component_of(&w->names, k) : openapi_component_of(&w->names, k), own);
}

static const struct value *find_component(struct openapi_writer *w, struct str name)
{
        const struct openapi_own *own = map_get(&w->own, name);
        const struct value *v = own_component(w->arena, name);

        if (own)
                return own->is_list ? make_list(w, own->kind) : make_custom(w, own->kind);
        return v ? v : builtin_component(w->arena, name);
}

/* --- The document --- */

void openapi_emit(struct openapi_writer *w, struct str key, const struct value *v)
{
        if (w->result < 0)
                return;
        if (w->has_members)
                buf_append_char(w->out, ',');
        w->has_members = true;
        json_write_string(w->out, key, JSON_ESCAPE_HTML);
        buf_append_char(w->out, ':');
        w->result = json_write(w->out, v, JSON_ESCAPE_HTML, w->err);
}

/* Ends a piece: checks what it took, and empties the arena. */
static int end_piece(struct openapi_writer *w)
{
        if (w->result >= 0)
                w->result = arena_check(w->arena, w->err);
        if (w->result >= 0)
                w->result = buf_check(w->out, "the document", w->err);
        arena_reset(w->arena);
        return w->result;
}

static int write_paths(struct openapi_writer *w, size_t n)
{
        int r = 0;

        buf_append_literal(w->out,
                           "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Weft\",\"version\":\"v1\"},\"paths\":{");
        for (size_t i = 0; i < n && r >= 0; i++) {
                openapi_add_paths(w, &w->kinds[i]);
                r = end_piece(w);
        }
        return r;
}

/* All components that the paths need, and those that they need. A reference to a type that is not known is to any value. */
static int write_components(struct openapi_writer *w)
{
        int r = 0;

        buf_append_literal(w->out, "},\"components\":{\"schemas\":{");
        w->has_members = false;
        for (size_t i = 0; i < w->needed.n_entries && r >= 0; i++) {
                struct str name = w->needed.entries[i].key;
                const struct value *v = find_component(w, name);

                openapi_emit(w, name, v ? v : &value_empty_object);
                if (v)
                        follow_references(w, v);
                r = end_piece(w);
        }
        buf_append_literal(w->out, "}}}\n");
        return r;
}

static int write_document(struct openapi_writer *w, size_t n)
{
        int r;

        for (size_t i = 0; i < n; i++) {
                if (w->kinds[i].kind->is_custom)
                        add_own(w, &w->kinds[i], false);
                if (w->kinds[i].version->verbs & VERB_LIST)
                        add_own(w, &w->kinds[i], true);
        }
        r = write_paths(w, n);
        if (r >= 0)
                r = write_components(w);
        return r < 0 ? r : buf_check(w->out, "the document", w->err);
}

int openapi_write(struct buf *b, struct str group, struct str version, const struct openapi_kind *kinds, size_t n,
                  struct err *err)
{
        _cleanup_arena_ struct arena piece;
        struct openapi_writer w = {
                .arena = &piece,
                .group = group,
                .version = version,
                .kinds = kinds,
                .out = b,
                .err = err,
        };
        int r;

        arena_init(&piece, "OpenAPI schema", LIMIT_OPENAPI_SCHEMA_BYTES);
        arena_init(&w.names, "names", 0);
        r = write_document(&w, n);
        map_done(&w.own);
        map_done(&w.needed);
        arena_done(&w.names);
        return r;
}
