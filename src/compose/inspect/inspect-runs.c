/* The last runs of a composite. */
#include "inspect.h"

#include "buf.h"
#include "inspect-private.h"
#include "json.h"
#include "places.h"

#define LONGEST_VALUE 120 /* bytes of a changed value as text */

/* --- Reading --- */

struct value inspect_run_value(struct arena *a, const struct run_record *record)
{
        const struct value *steps = value_get(record->run, STR("steps")), *run = record->run;
        struct array_builder all;
        struct value list;

        if (value_count(steps) == 0)
                return *run;
        array_builder_init(&all, a, value_count(steps));
        for (size_t i = 0; i < value_count(steps); i++) {
                const struct value *step = value_item(steps, i);

                if (i < record->n_changes && record->changes[i])
                        step = value_with(a, step, STR("changes"), record->changes[i]);
                array_builder_add(&all, *step);
        }
        list = array_builder_finish(&all);
        return *value_with(a, run, STR("steps"), &list);
}

int inspect_get(struct cluster *c, struct run *run, const struct inspect_target *target, struct object_key *ret_key,
                const struct value **ret, struct err *err)
{
        const struct kind *kind;
        int r = inspect_kind(c, run, target->type, &ret_key->gvk, &kind, err);

        if (r < 0)
                return r;
        if (target->name.n == 0)
                return status_bad_request(err, "give the name of the object");
        ret_key->name = target->name;
        ret_key->ns = kind->is_namespaced ? target->ns : STR("");
        return cluster_get_value(c, run, ret_key, ret, err);
}

struct object_key inspect_composite_key(const struct value *object)
{
        const struct value *ref = places_find_field(places_of_claims, object, STR("resourceRef"));
        struct object_key key = object_key_of(object);
        struct str name = value_str(value_get(ref, STR("name")));

        if (name.n == 0 || gvk_of(ref).kind.n == 0 || places_find(places_of_composites, object, STR("resourceRefs")))
                return key;
        return (struct object_key) { .gvk = gvk_of(ref), .name = name };
}

int inspect_runs(struct cluster *c, struct run *run, struct run_records *records, const struct inspect_target *target,
                 size_t most, const struct value **ret, struct err *err)
{
        const struct run_record *found;
        const struct value *object;
        struct object_builder b;
        struct array_builder all;
        struct object_key key;
        size_t n;
        int r = inspect_get(c, run, target, &key, &object, err);

        if (r < 0)
                return r;
        key = inspect_composite_key(object);
        r = cluster_get_value(c, run, &key, &object,
                              err); /* the user must be allowed to read the composite of a claim, too */
        if (r < 0)
                return r;
        n = run_records_get(records, &key, most, run->arena, &found);
        array_builder_init(&all, run->arena, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&all, inspect_run_value(run->arena, &found[i]));
        object_builder_init(&b, run->arena, 4);
        object_builder_add(&b, STR("kind"), value_of_str(key.gvk.kind));
        if (key.ns.n)
                object_builder_add(&b, STR("namespace"), value_of_str(key.ns));
        object_builder_add(&b, STR("name"), value_of_str(key.name));
        object_builder_add(&b, STR("runs"), array_builder_finish(&all));
        *ret = value_put(run->arena, object_builder_finish(&b));
        return arena_check(run->arena, err);
}

/* --- As text --- */

static struct str text_of(const struct value *v, const char *key)
{
        return value_str(value_get(v, str_from(key)));
}

static void append_object(struct buf *b, const struct value *v)
{
        struct str ns = text_of(v, "namespace");

        buf_appendf(b, "%.*s %.*s%s%.*s", STR_ARG(text_of(v, "kind")), STR_ARG(ns), ns.n ? "/" : "",
                    STR_ARG(text_of(v, "name")));
}

static void append_ms(struct buf *b, const struct value *v)
{
        buf_appendf(b, "%.3g ms", value_double(value_get(v, STR("durationMs")), 0));
}

static size_t count_writes(const struct value *run)
{
        size_t n = 0;

        VALUE_FOREACH_ITEM (w, value_get(run, STR("writes")))
                n += !str_equal(text_of(w, "outcome"), STR("unchanged"));
        return n;
}

static void append_none(struct buf *b, const struct value *runs)
{
        buf_append_literal(b, "There is no record of a run of ");
        append_object(b, runs);
        buf_append_literal(b, ". Records are of composites, of the last runs since the start. To have it run again:\n\n"
                              "  kubectl annotate --overwrite ");
        buf_appendf(b, "%.*s %.*s", STR_ARG(text_of(runs, "kind")), STR_ARG(text_of(runs, "name")));
        if (text_of(runs, "namespace").n)
                buf_appendf(b, " -n %.*s", STR_ARG(text_of(runs, "namespace")));
        buf_append_literal(b, " crossplane.io/reconcile-requested-at=$(date +%s)\n");
}

void inspect_print_runs(struct buf *b, const struct value *runs)
{
        size_t number = 0;

        if (value_count(value_get(runs, STR("runs"))) == 0) {
                append_none(b, runs);
                return;
        }
        buf_appendf(b, "%-5s%-26s%-12s%-14s%-7s%-8s%s\n", "RUN", "TIME", "TOOK", "OUTCOME", "STEPS", "WRITES", "CAUSE");
        VALUE_FOREACH_ITEM (run, value_get(runs, STR("runs"))) {
                _cleanup_buf_ struct buf took = BUF_INIT(0);

                append_ms(&took, run);
                buf_appendf(b, "%-5zu%-26.*s%-12s%-14.*s%-7zu%-8zu%.*s\n", ++number, STR_ARG(text_of(run, "time")),
                            buf_cstring(&took), STR_ARG(text_of(run, "outcome")),
                            value_count(value_get(run, STR("steps"))), count_writes(run),
                            STR_ARG(text_of(run, "cause")));
        }
}

/* Values as JSON on one line, cut if they are long. */
void inspect_append_value(struct buf *b, const struct value *v)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        size_t n;

        json_write(&text, v, 0, NULL);
        n = MIN(text.n, (size_t)LONGEST_VALUE);
        while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
                n--;
        buf_append(b, text.p, n);
        if (n < text.n)
                buf_append_literal(b, "...");
}

static void append_changes(struct buf *b, const struct value *changes)
{
        if (value_is_string(changes))
                buf_appendf(b, "      %.*s\n", STR_ARG(value_str(changes)));
        VALUE_FOREACH_ITEM (op, changes) {
                const struct value *v = value_get(op, STR("value"));

                buf_appendf(b, "      %.*s %.*s", STR_ARG(text_of(op, "op")), STR_ARG(text_of(op, "path")));
                if (v) {
                        buf_append_literal(b, " ");
                        inspect_append_value(b, v);
                }
                buf_append_char(b, '\n');
        }
}

static void append_step(struct buf *b, const struct value *step)
{
        struct str revision = text_of(step, "revision");
        int64_t calls = value_int(value_get(step, STR("calls")), 0);

        buf_appendf(b, "  step %.*s: %.*s", STR_ARG(text_of(step, "step")), STR_ARG(text_of(step, "function")));
        if (revision.n)
                buf_appendf(b, ", revision %.*s", STR_ARG(revision));
        buf_append_literal(b, ", ");
        append_ms(b, step);
        if (value_bool(value_get(step, STR("isCached")), false))
                buf_append_literal(b, ", answered by the cache");
        else
                buf_appendf(b, ", %lld call%s", (long long)calls, calls == 1 ? "" : "s");
        buf_append_char(b, '\n');
        VALUE_FOREACH_ITEM (result, value_get(step, STR("results")))
                buf_appendf(b, "      %.*s: %.*s\n", STR_ARG(text_of(result, "severity")),
                            STR_ARG(text_of(result, "message")));
        append_changes(b, value_get(step, STR("changes")));
}

static void append_write(struct buf *b, const struct value *w)
{
        struct str subresource = text_of(w, "subresource"), resource = text_of(w, "resource"),
                   cause = text_of(w, "cause"), error = text_of(w, "error");

        buf_appendf(b, "  %.*s ", STR_ARG(text_of(w, "verb")));
        append_object(b, w);
        if (subresource.n)
                buf_appendf(b, " %.*s", STR_ARG(subresource));
        if (resource.n)
                buf_appendf(b, " (%.*s)", STR_ARG(resource));
        buf_appendf(b, ": %.*s", STR_ARG(text_of(w, "outcome")));
        if (error.n)
                buf_appendf(b, ": %.*s", STR_ARG(error));
        if (cause.n)
                buf_appendf(b, ", because %.*s", STR_ARG(cause));
        buf_append_char(b, '\n');
}

static void append_run(struct buf *b, const struct value *runs, const struct value *run)
{
        append_object(b, runs);
        buf_appendf(b, " at %.*s, ", STR_ARG(text_of(run, "time")));
        append_ms(b, run);
        buf_appendf(b, ": %.*s\n", STR_ARG(text_of(run, "outcome")));
        buf_appendf(b, "  cause: %.*s\n", STR_ARG(text_of(run, "cause")));
        if (text_of(run, "error").n)
                buf_appendf(b, "  error: %.*s\n", STR_ARG(text_of(run, "error")));
        if (text_of(run, "composition").n)
                buf_appendf(b, "  Composition %.*s, revision %.*s\n", STR_ARG(text_of(run, "composition")),
                            STR_ARG(text_of(run, "revision")));
        if (text_of(run, "againAfter").n)
                buf_appendf(b, "  runs again after %.*s\n", STR_ARG(text_of(run, "againAfter")));
        VALUE_FOREACH_ITEM (step, value_get(run, STR("steps")))
                append_step(b, step);
        VALUE_FOREACH_ITEM (w, value_get(run, STR("writes")))
                append_write(b, w);
        if (value_count(value_get(run, STR("writes"))) == 0)
                buf_append_literal(b, "  nothing was written\n");
        VALUE_FOREACH_ITEM (e, value_get(run, STR("events")))
                buf_appendf(b, "  event %.*s %.*s: %.*s\n", STR_ARG(text_of(e, "type")), STR_ARG(text_of(e, "reason")),
                            STR_ARG(text_of(e, "message")));
}

int inspect_print_run(struct buf *b, const struct value *runs, size_t number, struct err *err)
{
        const struct value *all = value_get(runs, STR("runs"));

        if (value_count(all) == 0) {
                append_none(b, runs);
                return 0;
        }
        if (number == 0 || number > value_count(all))
                return err_set(err, ERR_NOT_FOUND,
                               "there is no run %zu: the last %zu are recorded, and 1 is the newest", number,
                               value_count(all));
        append_run(b, runs, value_item(all, number - 1));
        return 0;
}
