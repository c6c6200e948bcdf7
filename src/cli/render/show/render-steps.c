#include "render-steps.h"

#include "buf.h"
#include "json.h"
#include "render-changes.h"
#include "render-text.h"

#define INDENT 5 /* of the lines below a step's headline */

/* --- Text --- */

static const char *severity_name(enum fn_severity severity)
{
        switch (severity) {
        case FN_SEVERITY_FATAL:
                return "Fatal";
        case FN_SEVERITY_WARNING:
                return "Warning";
        case FN_SEVERITY_NORMAL:
                return "Normal";
        case FN_SEVERITY_UNSPECIFIED:
                break;
        }
        return "Unspecified";
}

static void append_duration(struct buf *b, int64_t ns)
{
        int64_t us = ns / 1000;

        if (us < 1000)
                buf_appendf(b, "%lld us", (long long)us);
        else if (us < 1000000)
                buf_appendf(b, "%lld.%lld ms", (long long)(us / 1000), (long long)(us / 100 % 10));
        else
                buf_appendf(b, "%lld.%lld s", (long long)(us / 1000000), (long long)(us / 100000 % 10));
}

static void append_head(struct buf *b, size_t number, const struct step_record *record, bool failed)
{
        buf_appendf(b, "%3zu. %.*s: %.*s, ", number, STR_ARG(record->step), STR_ARG(record->function));
        append_duration(b, record->duration_ns);
        if (record->was_cached)
                buf_append_literal(b, ", from the cache");
        else
                buf_appendf(b, ", %u call%s", record->calls, record->calls == 1 ? "" : "s");
        buf_append_str(b, failed ? STR(", failed\n") : STR("\n"));
}

static void append_either(struct arena *a, struct buf *b, const struct render_change *c, const struct value *v)
{
        if (c->is_readiness)
                buf_append_str(b, value_str(v));
        else
                render_append_value(a, b, v);
}

static void append_line(struct arena *a, struct buf *b, const struct render_change *c)
{
        static const char signs[] = { [CHANGE_ADD] = '+', [CHANGE_REMOVE] = '-', [CHANGE_REPLACE] = '~' };

        buf_append_repeat(b, ' ', INDENT + 4);
        buf_appendf(b, "%c ", signs[c->op]);
        if (c->is_readiness)
                buf_append_literal(b, "ready");
        else
                render_append_pointer(a, b, c->pointer);
        buf_append_literal(b, ": ");
        if (c->op != CHANGE_ADD)
                append_either(a, b, c, c->old);
        if (c->op == CHANGE_REPLACE)
                buf_append_literal(b, " -> ");
        if (c->op != CHANGE_REMOVE)
                append_either(a, b, c, c->value);
        buf_append_char(b, '\n');
}

/* The change in a group that adds or removes the whole resource, or its readiness; NULL if there is none. */
static const struct render_change *find_whole(const struct render_change *changes, size_t n, bool is_readiness)
{
        for (size_t i = 0; i < n; i++)
                if (changes[i].is_readiness == is_readiness && changes[i].pointer.n == 0 &&
                    changes[i].op != CHANGE_REPLACE)
                        return &changes[i];
        return NULL;
}

/* Appends a resource that was added or removed. */
static int append_whole(struct arena *a, struct buf *b, const struct render_change *whole,
                        const struct render_change *ready, struct err *err)
{
        if (whole->op == CHANGE_ADD && ready)
                buf_appendf(b, ", ready: %.*s", STR_ARG(value_str(ready->value)));
        buf_append_char(b, '\n');
        return whole->op == CHANGE_ADD ? render_append_block(a, b, whole->value, INDENT + 4, err) : 0;
}

/* Appends all changes of one resource. */
static int append_group(struct arena *a, struct buf *b, const struct render_change *changes, size_t n, struct err *err)
{
        const struct render_change *whole = find_whole(changes, n, false);

        buf_append_repeat(b, ' ', INDENT);
        buf_appendf(b, "%c %.*s",
                    !whole                    ? '~'
                    : whole->op == CHANGE_ADD ? '+'
                                              : '-',
                    STR_ARG(changes[0].is_composite ? STR("composite") : changes[0].resource));
        if (whole)
                return append_whole(a, b, whole, find_whole(changes, n, true), err);
        buf_append_char(b, '\n');
        for (size_t i = 0; i < n; i++)
                append_line(a, b, &changes[i]);
        return 0;
}

static bool is_of_same(const struct render_change *a, const struct render_change *b)
{
        return a->is_composite == b->is_composite && str_equal(a->resource, b->resource);
}

/* A step that adds an empty composite changes nothing: this is not shown. */
static bool is_noise(const struct render_change *c)
{
        return c->is_composite && c->pointer.n == 0 && c->op == CHANGE_ADD && value_is_object(c->value) &&
               value_count(c->value) == 0;
}

static int append_changes(struct arena *a, struct buf *b, const struct step_record *record, struct err *err)
{
        const struct render_change *changes;
        size_t n = render_changes(a, record, &changes), from = 0;
        int r = 0;

        if (n > 0 && is_noise(&changes[0]))
                from = 1;
        if (from == n) {
                buf_append_repeat(b, ' ', INDENT);
                buf_append_literal(b, "nothing changed\n");
        }
        for (size_t i = from; r >= 0 && from < n; from = i) {
                while (i < n && is_of_same(&changes[from], &changes[i]))
                        i++;
                r = append_group(a, b, &changes[from], i - from, err);
        }
        return r;
}

static void append_results(struct buf *b, const struct step_record *record)
{
        for (size_t i = 0; i < record->n_results; i++) {
                buf_append_repeat(b, ' ', INDENT);
                buf_appendf(b, "%s: %.*s\n", severity_name(record->results[i].severity),
                            STR_ARG(record->results[i].message));
        }
}

static int append_steps(struct arena *a, struct buf *b, const struct value *composite, const struct render_output *out,
                        bool failed, struct err *err)
{
        int r = 0;

        render_append_name(b, composite);
        buf_append_char(b, '\n');
        for (size_t i = 0; r >= 0 && i < out->n_records; i++) {
                const struct step_record *record = &out->records[i];
                bool has_failed = failed && i + 1 == out->n_records;

                append_head(b, i + 1, record, has_failed);
                if (!has_failed)
                        r = append_changes(a, b, record, err);
                append_results(b, record);
        }
        return r;
}

/* --- JSON --- */

static struct value results_value(struct arena *a, const struct step_record *record)
{
        struct array_builder results;

        array_builder_init(&results, a, record->n_results);
        for (size_t i = 0; i < record->n_results; i++) {
                struct object_builder b;

                object_builder_init(&b, a, 2);
                object_builder_add(&b, STR("severity"),
                                   value_of_str(str_from(severity_name(record->results[i].severity))));
                object_builder_add(&b, STR("message"), value_of_str(record->results[i].message));
                array_builder_add(&results, object_builder_finish(&b));
        }
        return array_builder_finish(&results);
}

static struct value step_value(struct arena *a, const struct step_record *record)
{
        struct object_builder b;

        object_builder_init(&b, a, 7);
        object_builder_add(&b, STR("step"), value_of_str(record->step));
        object_builder_add(&b, STR("function"), value_of_str(record->function));
        object_builder_add(&b, STR("seconds"), value_of_double((double)record->duration_ns / 1e9));
        object_builder_add(&b, STR("calls"), value_of_int(record->calls));
        object_builder_add(&b, STR("cached"), value_of_bool(record->was_cached));
        object_builder_add(&b, STR("results"), results_value(a, record));
        object_builder_add(&b, STR("changes"), record->desired_diff ? *record->desired_diff : value_empty_array);
        return object_builder_finish(&b);
}

static int append_json(struct arena *a, struct buf *b, const struct value *composite, const struct render_output *out,
                       struct err *err)
{
        static const struct str identity[] = { STR_INIT("apiVersion"), STR_INIT("kind") };
        struct object_builder object;
        struct array_builder steps;
        int r;

        object_builder_init(&object, a, 5);
        for (size_t i = 0; i < ARRAY_SIZE(identity); i++)
                object_builder_add(&object, identity[i], *(value_get(composite, identity[i]) ?: &value_null));
        object_builder_add(&object, STR("name"), value_of_str(meta_name(composite)));
        if (meta_namespace(composite).n)
                object_builder_add(&object, STR("namespace"), value_of_str(meta_namespace(composite)));
        array_builder_init(&steps, a, out->n_records);
        for (size_t i = 0; i < out->n_records; i++)
                array_builder_add(&steps, step_value(a, &out->records[i]));
        object_builder_add(&object, STR("steps"), array_builder_finish(&steps));
        r = json_write(b, value_put(a, object_builder_finish(&object)), JSON_SORT_KEYS, err);
        buf_append_char(b, '\n');
        return r;
}

int render_print_steps(struct arena *a, struct buf *b, const struct value *composite, const struct render_output *out,
                       bool failed, bool as_json, struct err *err)
{
        int r = as_json ? append_json(a, b, composite, out, err) : append_steps(a, b, composite, out, failed, err);

        return r < 0 ? r : buf_check(b, "the output", err);
}
