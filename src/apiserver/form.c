#include "form.h"

#include "buf.h"
#include "builtin-typed.h"
#include "clock.h"
#include "cluster.h"
#include "json.h"
#include "table.h"

int form_init(struct form *f, const struct accepted *accepted, const struct api_query *q, const struct kind *kind,
              const struct kind_version *version, struct err *err)
{
        int r;

        *f = (struct form) { .accepted = *accepted, .kind = kind };
        if (accepted->form != ANSWER_TABLE)
                return 0;
        r = options_include(q, &f->include, err);
        return r < 0 ? r : table_new(kind, version, &f->table, err);
}

void form_done(struct form *f)
{
        table_unref(f->table);
        f->table = NULL;
}

/* --- Values --- */

static struct value meta_api_version(const struct form *f)
{
        return str_equal(f->accepted.meta_version, STR("v1beta1")) ? value_of_literal("meta.k8s.io/v1beta1")
                                                                   : value_of_literal("meta.k8s.io/v1");
}

static struct value row_of(const struct form *f, struct arena *a, const struct value *object)
{
        struct value shown;

        switch (f->include) {
        case INCLUDE_NONE:
                return table_row(f->table, a, object, NULL, clock_wall());
        case INCLUDE_OBJECT:
                return table_row(f->table, a, object, object, clock_wall());
        case INCLUDE_METADATA:
                break;
        }
        shown = table_metadata_only(a, object);
        return table_row(f->table, a, object, &shown, clock_wall());
}

/* A Table of at most one row. columns NULL: null. */
static struct value table_of(const struct form *f, struct arena *a, struct str version, const struct value *columns,
                             const struct value *row)
{
        struct object_builder b, metadata;
        struct array_builder rows;

        object_builder_init(&metadata, a, 1);
        object_builder_add(&metadata, STR("resourceVersion"), value_of_str(version));
        array_builder_init(&rows, a, 1);
        array_builder_add(&rows, *row);
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("kind"), value_of_literal("Table"));
        object_builder_add(&b, STR("apiVersion"), meta_api_version(f));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("columnDefinitions"), columns ? *columns : value_null);
        object_builder_add(&b, STR("rows"), array_builder_finish(&rows));
        return object_builder_finish(&b);
}

struct value form_value(const struct form *f, struct arena *a, const struct value *object)
{
        struct value columns, row;

        switch (f->accepted.form) {
        case ANSWER_TABLE:
                columns = table_definitions(f->table, a);
                row = row_of(f, a, object);
                return table_of(f, a, meta_resource_version(object), &columns, &row);
        case ANSWER_METADATA:
        case ANSWER_METADATA_LIST:
                return table_metadata_only(a, object);
        case ANSWER_OBJECT:
                break;
        }
        return *object;
}

/* --- Texts --- */

/* Decoded objects have no infinite numbers, so that writing them cannot fail. */
static void append_value(struct buf *b, struct value v)
{
        json_write(b, &v, JSON_ESCAPE_HTML, NULL);
}

void form_append_item(const struct form *f, struct object *o, struct arena *scratch, struct buf *b)
{
        switch (f->accepted.form) {
        case ANSWER_OBJECT:
                object_append_json(o, scratch, b);
                return;
        case ANSWER_TABLE:
                append_value(b, row_of(f, scratch, object_peek(o, scratch)));
                break;
        case ANSWER_METADATA:
        case ANSWER_METADATA_LIST:
                append_value(b, table_metadata_only(scratch, object_peek(o, scratch)));
                break;
        }
        arena_reset(scratch);
}

void form_append_whole(const struct form *f, struct object *o, struct arena *scratch, struct buf *b)
{
        if (f->accepted.form == ANSWER_OBJECT && !f->accepted.is_pretty) {
                object_append_json(o, scratch, b);
        } else {
                struct value v = form_value(f, scratch, object_peek(o, scratch));

                json_write(b, &v, JSON_ESCAPE_HTML | (f->accepted.is_pretty ? JSON_PRETTY : 0), NULL);
                arena_reset(scratch);
        }
        buf_append_char(b, '\n');
}

void form_append_event(const struct form *f, struct object *o, bool has_columns, struct arena *scratch, struct buf *b)
{
        const struct value *object;
        struct value columns, row;

        if (f->accepted.form != ANSWER_TABLE) {
                form_append_item(f, o, scratch, b);
                return;
        }
        object = object_peek(o, scratch);
        columns = has_columns ? table_definitions(f->table, scratch) : value_null;
        row = row_of(f, scratch, object);
        append_value(b, table_of(f, scratch, meta_resource_version(object), &columns, &row));
        arena_reset(scratch);
}

/* --- Bookmarks --- */

/* The fields that a kind of the API writes even if they are not set: a bookmark is an empty object. */
static void add_zero_fields(const struct form *f, struct arena *a, struct gvk gvk, struct object_builder *b)
{
        const struct kind_version *version = f->kind ? kind_version(f->kind, gvk.version) : NULL;
        struct value zero;

        if (!version || !version->type)
                return;
        zero = builtin_zero(a, version->type);
        VALUE_FOREACH_MEMBER (m, &zero)
                if (!str_equal(m->key, STR("metadata")))
                        object_builder_add(b, m->key, m->value);
}

static struct value bookmark_object(const struct form *f, struct arena *a, struct gvk gvk, struct str version,
                                    bool ends_initial)
{
        struct object_builder b, metadata, annotations;
        bool is_object = f->accepted.form == ANSWER_OBJECT;

        object_builder_init(&metadata, a, 2);
        object_builder_add(&metadata, STR("resourceVersion"), value_of_str(version));
        if (ends_initial) {
                object_builder_init(&annotations, a, 1);
                object_builder_add(&annotations, STR("k8s.io/initial-events-end"), value_of_literal("true"));
                object_builder_add(&metadata, STR("annotations"), object_builder_finish(&annotations));
        }
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("kind"),
                           is_object ? value_of_str(gvk.kind) : value_of_literal("PartialObjectMetadata"));
        object_builder_add(&b, STR("apiVersion"),
                           is_object ? value_of_str(gvk_api_version(a, gvk)) : meta_api_version(f));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        if (is_object)
                add_zero_fields(f, a, gvk, &b);
        return object_builder_finish(&b);
}

/* A row without cells but the first, which is empty. */
static struct value bookmark_row(const struct form *f, struct arena *a, struct value shown)
{
        struct array_builder cells;
        struct object_builder row;
        size_t n;

        table_columns(f->table, &n);
        array_builder_init(&cells, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&cells, i == 0 ? value_empty_string : value_null);
        object_builder_init(&row, a, 2);
        object_builder_add(&row, STR("cells"), array_builder_finish(&cells));
        object_builder_add(&row, STR("object"), shown);
        return object_builder_finish(&row);
}

void form_append_bookmark(const struct form *f, struct gvk gvk, uint64_t version, bool ends_initial, bool has_columns,
                          struct arena *scratch, struct buf *b)
{
        struct str text = arena_printf(scratch, "%llu", (unsigned long long)version);
        struct value v = bookmark_object(f, scratch, gvk, text, ends_initial);

        if (f->accepted.form == ANSWER_TABLE) {
                struct value columns = has_columns ? table_definitions(f->table, scratch) : value_null;
                struct value row = bookmark_row(f, scratch, v);

                v = table_of(f, scratch, text, &columns, &row);
        }
        append_value(b, v);
        arena_reset(scratch);
}

/* --- Lists --- */

static void begin_typed(struct buf *b, struct str kind, struct str api_version)
{
        buf_append_literal(b, "{\"kind\":");
        json_write_string(b, kind, JSON_ESCAPE_HTML);
        buf_append_literal(b, ",\"apiVersion\":");
        json_write_string(b, api_version, JSON_ESCAPE_HTML);
}

void form_begin_list(const struct form *f, struct gvk gvk, struct arena *scratch, struct buf *b)
{
        struct value meta_version = meta_api_version(f);

        switch (f->accepted.form) {
        case ANSWER_OBJECT:
        case ANSWER_METADATA:
                begin_typed(b, f->kind->list_kind, gvk_api_version(scratch, gvk));
                buf_append_literal(b, ",\"items\":[");
                break;
        case ANSWER_METADATA_LIST:
                begin_typed(b, STR("PartialObjectMetadataList"), value_str(&meta_version));
                buf_append_literal(b, ",\"items\":[");
                break;
        case ANSWER_TABLE:
                begin_typed(b, STR("Table"), value_str(&meta_version));
                buf_append_literal(b, ",\"columnDefinitions\":");
                append_value(b, table_definitions(f->table, scratch));
                buf_append_literal(b, ",\"rows\":[");
                break;
        }
        arena_reset(scratch);
}

void form_end_list(const struct form *f, const struct object_list *last, struct buf *b)
{
        buf_append_literal(b, "],\"metadata\":{\"resourceVersion\":");
        json_write_string(b, last->resource_version, JSON_ESCAPE_HTML);
        if (last->continue_token.n || (f->kind->is_custom && f->accepted.form == ANSWER_OBJECT)) {
                buf_append_literal(b, ",\"continue\":");
                json_write_string(b, last->continue_token, JSON_ESCAPE_HTML);
        }
        if (last->continue_token.n && last->remaining > 0) {
                buf_append_literal(b, ",\"remainingItemCount\":");
                buf_append_int(b, last->remaining);
        }
        buf_append_literal(b, "}}\n");
}
