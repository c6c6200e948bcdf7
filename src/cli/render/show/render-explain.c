/* Finds the step that set a field: replays the steps' records for one resource. */
#include "render-steps.h"

#include "buf.h"
#include "limits.h"
#include "patch.h"
#include "path.h"
#include "redact.h"
#include "render-changes.h"
#include "render-print.h"
#include "render-text.h"
#include "str-list.h"

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")
#define COMPOSITE           STR("composite")

struct explanation {
        struct arena *arena;
        struct buf *b;
        const struct manifest *composite;
        const struct render_output *out;
        bool is_composite;
        struct str resource;
        const struct value **after; /* the resource after each step; NULL where it does not exist */
        const struct value *final;  /* the resource in the output; NULL if it is not there */
        bool is_secret;
};

/* --- The resource to explain --- */

/* Whether `what` is `NAME` or `NAME.FIELD`. */
static bool begins_with_name(struct str what, struct str name, struct str *ret_field)
{
        if (!str_cut_prefix(&what, name) || (what.n && what.p[0] != '.' && what.p[0] != '['))
                return false;
        str_cut_prefix(&what, STR("."));
        *ret_field = what;
        return true;
}

static void consider(struct explanation *e, struct str what, struct str name, bool is_composite, struct str *ret_field,
                     bool *found)
{
        struct str field;

        /* A name may have dots: the longest matching name wins. */
        if (!begins_with_name(what, name, &field) || (*found && name.n <= e->resource.n))
                return;
        e->resource = name;
        e->is_composite = is_composite;
        *ret_field = field;
        *found = true;
}

static int unknown_resource(const struct explanation *e, struct str what, struct str_list *names, struct err *err)
{
        struct str all;

        str_list_sort(names);
        str_list_add(names, COMPOSITE);
        all = str_list_join(names, STR(", "));
        return err_set(err, ERR_NOT_FOUND, "cannot explain \"%.*s\": no step has such a resource; there are %.*s",
                       STR_ARG(what), STR_ARG(all));
}

static void add_once(struct str_list *names, struct str name)
{
        for (size_t i = 0; i < names->n; i++)
                if (str_equal(names->p[i], name))
                        return;
        str_list_add(names, name);
}

static int find_resource(struct explanation *e, struct str what, struct str *ret_field, struct err *err)
{
        struct str_list names;
        bool found = false;

        str_list_init(&names, e->arena);
        consider(e, what, COMPOSITE, true, ret_field, &found);
        for (size_t i = 0; i < e->out->n_records; i++) {
                const struct render_change *changes;
                size_t n = render_changes(e->arena, &e->out->records[i], &changes);

                for (size_t j = 0; j < n; j++) {
                        if (changes[j].is_composite || changes[j].pointer.n || changes[j].op == CHANGE_REMOVE)
                                continue;
                        if (e->is_composite && str_equal(changes[j].resource, COMPOSITE))
                                found = false;
                        consider(e, what, changes[j].resource, false, ret_field, &found);
                        add_once(&names, changes[j].resource);
                }
        }
        return found ? 0 : unknown_resource(e, what, &names, err);
}

/* --- Replay --- */

static struct value operation_of(struct arena *a, const struct render_change *c)
{
        struct value path = value_of_str(c->pointer);

        return *value_with(a, c->operation, STR("path"), &path);
}

static int replay_step(struct explanation *e, const struct step_record *record, const struct value *before,
                       const struct value **ret, struct err *err)
{
        const struct render_change *changes;
        size_t n = render_changes(e->arena, record, &changes);
        struct array_builder patch;

        array_builder_init(&patch, e->arena, n);
        *ret = before;
        for (size_t i = 0; i < n; i++) {
                const struct render_change *c = &changes[i];

                if (c->is_readiness || c->is_composite != e->is_composite ||
                    (!e->is_composite && !str_equal(c->resource, e->resource)))
                        continue;
                if (c->pointer.n == 0)
                        *ret = c->op == CHANGE_REMOVE ? NULL : c->value;
                else
                        array_builder_add(&patch, operation_of(e->arena, c));
        }
        if (patch.n == 0)
                return 0;
        return json_patch_apply(e->arena, *ret ?: &value_empty_object,
                                value_put(e->arena, array_builder_finish(&patch)), ret, err);
}

static int replay(struct explanation *e, struct err *err)
{
        const struct value *now = NULL;

        e->after = ARENA_NEW_ARRAY(e->arena, const struct value *, e->out->n_records + 1);
        for (size_t i = 0; i < e->out->n_records; i++) {
                int r = replay_step(e, &e->out->records[i], now, &e->after[i], err);

                if (r < 0)
                        return r;
                now = e->after[i];
        }
        if (e->is_composite)
                e->final = render_merge(e->arena, e->composite->object,
                                        render_with_fixed_times(e->arena, e->out->composite));
        else
                VALUE_FOREACH_ITEM (object, e->out->composed)
                        if (str_equal(meta_annotation(object, ANNOTATION_RESOURCE), e->resource))
                                e->final = object;
        e->is_secret = gvk_equal(gvk_of(e->final ?: now), (struct gvk) { .version = STR("v1"), .kind = STR("Secret") });
        return 0;
}

/* --- The steps that set it --- */

static const struct value *at(const struct explanation *e, const struct value *object, const struct path *path)
{
        const struct value *v;

        if (path->n == 0 || !object)
                return object;
        return path_get_segments(e->arena, object, path, &v, NULL) < 0 ? NULL : v;
}

static const struct value *after_step(const struct explanation *e, size_t i, const struct path *path)
{
        return i == 0 ? NULL : at(e, e->after[i - 1], path);
}

static bool is_same(const struct value *a, const struct value *b)
{
        return a && b ? value_equal_numeric(a, b) : a == b;
}

/* Whether the value is hidden. Records have no secrets in them, so the output cannot be compared with them. */
static bool is_hidden(const struct explanation *e, const struct path *path)
{
        const struct value *last = after_step(e, e->out->n_records, path);

        if (str_find(value_str(last), STR(REDACTED)) >= 0)
                return true;
        return e->is_secret && path->n > 0 &&
               (str_equal(path->segments[0].key, STR("data")) || str_equal(path->segments[0].key, STR("stringData")));
}

static void append_setter(const struct explanation *e, size_t step, const char *how)
{
        const struct step_record *record = &e->out->records[step - 1];

        buf_appendf(e->b, "    %s step %zu \"%.*s\" (%.*s)", how, step, STR_ARG(record->step),
                    STR_ARG(record->function));
}

/* Appends the steps that set the field, last first, each earlier one with the value it set. */
static bool append_steps(const struct explanation *e, const struct path *path, bool is_first)
{
        for (size_t i = e->out->n_records; i > 0; i--) {
                const struct value *now = after_step(e, i, path);

                if (is_same(now, after_step(e, i - 1, path)))
                        continue;
                append_setter(e, i, !is_first ? "over" : now ? "set by" : "removed by");
                if (!is_first && !is_hidden(e, path)) {
                        buf_append_literal(e->b, ": ");
                        render_append_value(e->arena, e->b, now);
                }
                buf_append_char(e->b, '\n');
                is_first = false;
        }
        return !is_first;
}

/* Appends the place of the field in the composite's own file. */
static void append_given(const struct explanation *e, struct str path)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "given");
        manifest_error(e->composite, path, &err);
        buf_appendf(e->b, "    given in %.*s:%u:%u\n", STR_ARG(e->composite->source->name), err.position.line,
                    err.position.column);
}

static void append_leaf(const struct explanation *e, const struct path *path)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *last = after_step(e, e->out->n_records, path), *final = at(e, e->final, path);
        bool is_given = e->is_composite && !last && at(e, e->composite->object, path);
        bool is_engines = e->final && !is_hidden(e, path) && !is_same(final, last) && !is_given;

        path_append(&text, path);
        buf_appendf(e->b, "  %s: ", path->n ? buf_cstring(&text) : "all of it");
        if (is_hidden(e, path))
                buf_append_literal(e->b, "(not shown)");
        else
                render_append_value(e->arena, e->b, e->final ? final : last);
        buf_append_char(e->b, '\n');
        if (is_given)
                append_given(e, buf_str(&text));
        else if (is_engines)
                buf_append_literal(e->b, "    set by the reconcile itself, after the last step\n");
        append_steps(e, path, !is_engines && !is_given);
}

/* Whether any step or the composite's file has this field: then its parts are explained one by one. */
static bool is_made_of_parts(const struct explanation *e, const struct path *path)
{
        if (path->n == 0 || (e->is_composite && at(e, e->composite->object, path)))
                return true;
        for (size_t i = 0; i < e->out->n_records; i++)
                if (at(e, e->after[i], path))
                        return true;
        return false;
}

static void walk(const struct explanation *e, const struct value *v, struct path_segment *segments, size_t n)
{
        struct path path = { segments, n };
        size_t i = 0;

        if (value_count(v) == 0 || n == LIMIT_DEPTH || !is_made_of_parts(e, &path)) {
                append_leaf(e, &path);
                return;
        }
        if (value_is_object(v))
                v = value_sorted(e->arena, v);
        VALUE_FOREACH_MEMBER (m, v) {
                segments[n] = (struct path_segment) { .key = m->key };
                walk(e, &m->value, segments, n + 1);
        }
        VALUE_FOREACH_ITEM (item, v) {
                segments[n] = (struct path_segment) { .is_index = true, .index = (uint32_t)i++ };
                walk(e, item, segments, n + 1);
        }
}

/* --- Fields that do not exist --- */

static bool was_ever_there(const struct explanation *e, const struct path *path)
{
        for (size_t i = 0; i < e->out->n_records; i++)
                if (at(e, e->after[i], path))
                        return true;
        return at(e, e->final, path);
}

/* The error lists the members of the deepest existing part of the path. */
static int unknown_field(const struct explanation *e, const struct path *path, struct err *err)
{
        const struct value *object = e->final ?: e->after[e->out->n_records - 1], *parent = NULL;
        _cleanup_buf_ struct buf text = BUF_INIT(0), above = BUF_INIT(0);
        struct str_list keys;
        struct str all;
        size_t n = path->n;

        str_list_init(&keys, e->arena);
        while (n > 0 && !parent)
                parent = at(e, object, &(struct path) { path->segments, --n });
        VALUE_FOREACH_MEMBER (m, parent)
                str_list_add(&keys, m->key);
        if (value_is_array(parent))
                str_list_printf(&keys, "%zu items", value_count(parent));
        str_list_sort(&keys);
        all = str_list_join(&keys, STR(", "));
        path_append(&text, path);
        path_append(&above, &(struct path) { path->segments, n });
        return err_set(err, ERR_NOT_FOUND, "cannot explain \"%.*s.%s\": no step has set it; %.*s%s%s has %.*s",
                       STR_ARG(e->resource), buf_cstring(&text), STR_ARG(e->resource), above.n ? "." : "",
                       buf_cstring(&above), STR_ARG(all));
}

static int explain_field(const struct explanation *e, struct str field, struct err *err)
{
        struct path_segment segments[LIMIT_DEPTH + 1];
        struct path path = { 0 };
        const struct value *v;
        int r = field.n ? path_parse(e->arena, field, &path, err) : 0;

        if (r >= 0 && path.n > LIMIT_DEPTH)
                r = err_set(err, ERR_LIMIT, "it is longer than %d fields", LIMIT_DEPTH);
        if (r < 0)
                return err_wrap(err, "cannot explain \"%.*s\"", STR_ARG(field));
        if (!was_ever_there(e, &path))
                return unknown_field(e, &path, err);
        render_append_name(e->b, e->composite->object);
        buf_appendf(e->b, ": %.*s\n", STR_ARG(e->resource));
        if (path.n)
                memcpy(segments, path.segments, path.n * sizeof(*segments));
        v = at(e, e->final ?: e->after[e->out->n_records - 1], &path);
        walk(e, v, segments, path.n);
        return 0;
}

int render_explain(struct arena *a, struct buf *b, const struct manifest *composite, const struct render_output *out,
                   struct str what, struct err *err)
{
        struct explanation e = { .arena = a, .b = b, .composite = composite, .out = out };
        struct str field;
        int r;

        if (out->n_records == 0)
                return err_set(err, ERR_NOT_FOUND, "cannot explain \"%.*s\": no step was run", STR_ARG(what));
        if ((r = find_resource(&e, what, &field, err)) < 0 || (r = replay(&e, err)) < 0 ||
            (r = explain_field(&e, field, err)) < 0)
                return r;
        return buf_check(b, "the output", err);
}
