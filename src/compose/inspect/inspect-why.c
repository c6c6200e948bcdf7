/* Why an object is as it is:
 *
 *     {object: {apiVersion, kind, namespace, name, generation, version},
 *      field: see inspect_field,
 *      lastWrite: {manager, operation, subresource, time, run, cause, verb},
 *      states: [{type, status, reason, message}],      conditions that are not True
 *      unready: [{resource, kind, namespace, name, why}],
 *      run: {time, outcome, error, refused: [text]},   the last one, if it did not succeed
 *      deletion: see inspect_deletion} */
#include "inspect-private.h"

#include "buf.h"
#include "composite.h"
#include "places.h"

#define COMPOSED_NAME STR("crossplane.io/composition-resource-name")

static struct str text_of(const struct value *v, const char *key)
{
        return value_str(value_get(v, str_from(key)));
}

/* The object, its runs and the arena, which all parts of the answer use. */
struct why {
        struct cluster *cluster;
        struct run *run;
        struct arena *arena;
        struct run_records *records;
        const struct value *object;
        const struct run_record *runs; /* of the object itself, or of the composite of a claim */
        size_t n_runs;
};

/* --- The last write --- */

/* A write of the object that a run recorded, at this version; NULL: none. */
static const struct value *find_write(const struct run_record *runs, size_t n, const struct value *object,
                                      const struct value **ret_run)
{
        for (size_t i = 0; i < n; i++)
                VALUE_FOREACH_ITEM (w, value_get(runs[i].run, STR("writes"))) {
                        if (!str_equal(text_of(w, "version"), meta_resource_version(object)) ||
                            !str_equal(text_of(w, "name"), meta_name(object)) ||
                            str_equal(text_of(w, "outcome"), STR("unchanged")))
                                continue;
                        *ret_run = runs[i].run;
                        return w;
                }
        return NULL;
}

/* The runs of the composite that controls the object, if the user may read it. */
static size_t controller_runs(struct why *w, const struct run_record **ret)
{
        struct object_key key;

        if (!inspect_controller(w->cluster, w->run, w->object, &key))
                return 0;
        return run_records_get(w->records, &key, SIZE_MAX, w->arena, ret);
}

static void put_last_write(struct object_builder *b, struct why *w)
{
        const struct value *manager = inspect_last_manager(w->object), *run = NULL, *write;
        const struct run_record *runs;
        struct object_builder last;

        write = find_write(w->runs, w->n_runs, w->object, &run);
        if (!write) {
                size_t n = controller_runs(w, &runs);

                write = find_write(runs, n, w->object, &run);
        }
        if (!manager && !write)
                return;
        object_builder_init(&last, w->arena, 8);
        inspect_put(&last, STR("manager"), text_of(manager, "manager"));
        inspect_put(&last, STR("operation"), text_of(manager, "operation"));
        inspect_put(&last, STR("subresource"), text_of(manager, "subresource"));
        inspect_put(&last, STR("time"), text_of(manager, "time"));
        if (write) {
                inspect_put(&last, STR("manager"), text_of(write, "manager"));
                inspect_put(&last, STR("verb"), text_of(write, "verb"));
                inspect_put(&last, STR("subresource"), text_of(write, "subresource"));
                inspect_put(&last, STR("run"), text_of(run, "time"));
                inspect_put(&last, STR("cause"), text_of(run, "cause"));
                inspect_put(&last, STR("detail"), text_of(write, "cause"));
        }
        object_builder_add(b, STR("lastWrite"), object_builder_finish(&last));
}

/* --- Readiness --- */

static void put_states(struct object_builder *b, struct why *w)
{
        struct array_builder all;

        array_builder_init(&all, w->arena, 4);
        VALUE_FOREACH_ITEM (item, value_find(w->object, "status", "conditions")) {
                struct condition c = condition_of(item);
                struct object_builder state;

                if (c.status == CONDITION_TRUE)
                        continue;
                object_builder_init(&state, w->arena, 4);
                inspect_put(&state, STR("type"), c.type);
                inspect_put(&state, STR("status"), str_from(condition_status_name(c.status)));
                inspect_put(&state, STR("reason"), c.reason);
                inspect_put(&state, STR("message"), c.message);
                array_builder_add(&all, object_builder_finish(&state));
        }
        if (all.n)
                object_builder_add(b, STR("states"), array_builder_finish(&all));
}

/* The readiness that the last step of a run gave the resource. */
static struct str readiness(struct why *w, struct str name)
{
        struct str said = STR("");

        for (size_t i = 0; w->n_runs && i < w->runs[0].n_changes; i++)
                VALUE_FOREACH_ITEM (op, w->runs[0].changes[i]) {
                        struct str path = text_of(op, "path");
                        const struct value *v = value_get(op, STR("value"));

                        if (str_equal(path, STR("/ready")))
                                said = value_get(v, name) ? value_str(value_get(v, name)) : said;
                        else if (str_cut_prefix(&path, STR("/ready/")) && str_equal(path, name))
                                said = v ? value_str(v) : STR("");
                }
        return said;
}

/* Why a composed resource is not ready; "" if it seems to be. */
static struct str reason_of_child(struct why *w, const struct value *child, const struct err *err)
{
        struct condition synced, ready;
        bool has_ready = condition_get(child, STR("Ready"), &ready);
        struct str said;

        if (!child)
                return arena_copy(w->arena, str_from(err_message(err)));
        if (meta_is_deleting(child))
                return STR("it is being deleted");
        if (condition_get(child, STR("Synced"), &synced) && synced.status != CONDITION_TRUE)
                return arena_printf(w->arena, "Synced is %s: %.*s: %.*s", condition_status_name(synced.status),
                                    STR_ARG(synced.reason), STR_ARG(synced.message));
        said = readiness(w, meta_annotation(child, COMPOSED_NAME));
        if (has_ready && ready.status != CONDITION_TRUE)
                return arena_printf(w->arena, "Ready is %s: %.*s%s%.*s", condition_status_name(ready.status),
                                    STR_ARG(ready.reason), ready.message.n ? ": " : "", STR_ARG(ready.message));
        if (w->n_runs == 0 || w->runs[0].n_changes == 0 || str_equal(said, STR("True")))
                return STR("");
        if (said.n)
                return STR("a step said that it is not ready");
        return STR("no step said that it is ready: a step such as function-auto-ready, or readiness checks, must");
}

static void add_unready(struct array_builder *all, struct why *w, const struct value *ref)
{
        struct str ns = text_of(ref, "namespace");
        struct object_key key = { .gvk = gvk_of(ref), .name = text_of(ref, "name") };
        _cleanup_err_ struct err err = { 0 };
        const struct value *child = NULL;
        const struct kind *kind;
        struct object_builder b;
        struct str reason;

        key.ns = ns.n ? ns : meta_namespace(w->object);
        if (cluster_kind(w->cluster, w->run, key.gvk, &kind, &err) == 0) {
                if (!kind->is_namespaced)
                        key.ns = STR("");
                if (cluster_get_value(w->cluster, w->run, &key, &child, &err) < 0)
                        child = NULL;
        }
        reason = reason_of_child(w, child, &err);
        if (reason.n == 0)
                return;
        object_builder_init(&b, w->arena, 5);
        inspect_put(&b, STR("resource"), meta_annotation(child, COMPOSED_NAME));
        inspect_put(&b, STR("kind"), key.gvk.kind);
        inspect_put(&b, STR("namespace"), key.ns);
        inspect_put(&b, STR("name"), key.name);
        inspect_put(&b, STR("why"), reason);
        array_builder_add(all, object_builder_finish(&b));
}

static void put_unready(struct object_builder *b, struct why *w)
{
        const struct value *bound = places_find_field(places_of_claims, w->object, STR("resourceRef"));
        struct array_builder all;
        struct condition ready;

        if (condition_get(w->object, STR("Ready"), &ready) && ready.status == CONDITION_TRUE)
                return;
        array_builder_init(&all, w->arena, 4);
        if (meta_namespace(w->object).n && value_is_object(bound))
                add_unready(&all, w, bound);
        VALUE_FOREACH_ITEM (ref, places_find_field(places_of_composites, w->object, STR("resourceRefs")))
                add_unready(&all, w, ref);
        if (all.n)
                object_builder_add(b, STR("unready"), array_builder_finish(&all));
}

/* --- The last run --- */

static void put_run(struct object_builder *b, struct why *w)
{
        const struct value *run = w->n_runs ? w->runs[0].run : NULL;
        struct array_builder refused;
        struct object_builder last;

        if (!run)
                return;
        array_builder_init(&refused, w->arena, 2);
        VALUE_FOREACH_ITEM (write, value_get(run, STR("writes")))
                if (text_of(write, "error").n)
                        array_builder_add(&refused, value_of_str(text_of(write, "error")));
        if (refused.n == 0 && str_equal(text_of(run, "outcome"), STR("success")))
                return;
        object_builder_init(&last, w->arena, 4);
        inspect_put(&last, STR("time"), text_of(run, "time"));
        inspect_put(&last, STR("outcome"), text_of(run, "outcome"));
        inspect_put(&last, STR("error"), text_of(run, "error"));
        if (refused.n)
                object_builder_add(&last, STR("refused"), array_builder_finish(&refused));
        object_builder_add(b, STR("run"), object_builder_finish(&last));
}

/* --- The answer --- */

static struct value object_value_of(struct arena *a, const struct value *object)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        inspect_put(&b, STR("apiVersion"), text_of(object, "apiVersion"));
        inspect_put(&b, STR("kind"), text_of(object, "kind"));
        inspect_put(&b, STR("namespace"), meta_namespace(object));
        inspect_put(&b, STR("name"), meta_name(object));
        if (meta_generation(object))
                object_builder_add(&b, STR("generation"), value_of_int(meta_generation(object)));
        inspect_put(&b, STR("version"), meta_resource_version(object));
        return object_builder_finish(&b);
}

int inspect_why(struct cluster *c, struct run *run, struct run_records *records, const struct inspect_target *target,
                struct str field, const struct value **ret, struct err *err)
{
        struct why w = { .cluster = c, .run = run, .arena = run->arena, .records = records };
        struct object_builder b;
        struct object_key key;
        struct value part;
        int r = inspect_get(c, run, target, &key, &w.object, err);

        if (r < 0)
                return r;
        w.n_runs = run_records_get(records, &key, SIZE_MAX, run->arena, &w.runs);
        object_builder_init(&b, run->arena, 7);
        object_builder_add(&b, STR("object"), object_value_of(run->arena, w.object));
        if (field.n) {
                r = inspect_field(c, run, records, w.object, field, &part, err);
                if (r < 0)
                        return r;
                object_builder_add(&b, STR("field"), part);
        }
        put_last_write(&b, &w);
        put_states(&b, &w);
        put_unready(&b, &w);
        put_run(&b, &w);
        if (inspect_deletion(c, run, w.object, &part))
                object_builder_add(&b, STR("deletion"), part);
        *ret = value_put(run->arena, object_builder_finish(&b));
        return arena_check(run->arena, err);
}

/* --- As text --- */

static void append_reference(struct buf *b, const struct value *v)
{
        struct str ns = text_of(v, "namespace");

        buf_appendf(b, "%.*s/%.*s", STR_ARG(text_of(v, "kind")), STR_ARG(text_of(v, "name")));
        if (ns.n)
                buf_appendf(b, " (%.*s)", STR_ARG(ns));
}

static void append_step(struct buf *b, const struct value *step)
{
        struct str revision = text_of(step, "revision"), ns = text_of(step, "compositeNamespace");

        buf_appendf(b, "  %.*s by step %.*s: %.*s", STR_ARG(text_of(step, "how")), STR_ARG(text_of(step, "step")),
                    STR_ARG(text_of(step, "function")));
        if (revision.n)
                buf_appendf(b, ", revision %.*s", STR_ARG(revision));
        buf_appendf(b, "\n    of CompositionRevision %.*s, in the run of %.*s/%.*s%s%.*s%s at %.*s\n",
                    STR_ARG(text_of(step, "compositionRevision")), STR_ARG(text_of(step, "compositeKind")),
                    STR_ARG(text_of(step, "composite")), ns.n ? " (" : "", STR_ARG(ns), ns.n ? ")" : "",
                    STR_ARG(text_of(step, "run")));
}

static void append_manager(struct buf *b, const struct value *m)
{
        buf_appendf(b, "%.*s (%.*s", STR_ARG(text_of(m, "manager")), STR_ARG(text_of(m, "operation")));
        if (text_of(m, "subresource").n)
                buf_appendf(b, " of %.*s", STR_ARG(text_of(m, "subresource")));
        buf_appendf(b, ") at %.*s", STR_ARG(text_of(m, "time")));
}

static void append_field(struct buf *b, const struct value *field)
{
        const struct value *v = value_get(field, STR("value")), *step = value_get(field, STR("step")),
                           *managers = value_get(field, STR("managers"));

        buf_appendf(b, "%.*s", STR_ARG(text_of(field, "path")));
        if (v) {
                buf_append_literal(b, " is ");
                inspect_append_value(b, v);
        } else {
                buf_append_literal(b, " is not set");
        }
        buf_append_char(b, '\n');
        if (step)
                append_step(b, step);
        VALUE_FOREACH_ITEM (m, managers) {
                buf_append_literal(b, "  owned by ");
                append_manager(b, m);
                buf_append_char(b, '\n');
        }
        if (!step && value_count(managers) == 0)
                buf_append_str(b, v ? STR("  set by the API: a default, or a field that has no manager\n")
                                    : STR("  no step of the last run set it, and no manager owns it\n"));
}

static void append_last_write(struct buf *b, const struct value *w)
{
        struct str verb = text_of(w, "verb"), operation = text_of(w, "operation"),
                   subresource = text_of(w, "subresource");

        if (!w)
                return;
        buf_appendf(b, "last write: %.*s", STR_ARG(verb.n ? verb : operation));
        if (subresource.n)
                buf_appendf(b, " of %.*s", STR_ARG(subresource));
        buf_appendf(b, " by %.*s at %.*s\n", STR_ARG(text_of(w, "manager")),
                    STR_ARG(text_of(w, verb.n ? "run" : "time")));
        if (text_of(w, "cause").n)
                buf_appendf(b, "  its run was caused by: %.*s\n", STR_ARG(text_of(w, "cause")));
        if (text_of(w, "detail").n)
                buf_appendf(b, "  because %.*s\n", STR_ARG(text_of(w, "detail")));
}

static void append_states(struct buf *b, const struct value *why)
{
        VALUE_FOREACH_ITEM (s, value_get(why, STR("states"))) {
                buf_appendf(b, "%.*s is %.*s: %.*s", STR_ARG(text_of(s, "type")), STR_ARG(text_of(s, "status")),
                            STR_ARG(text_of(s, "reason")));
                if (text_of(s, "message").n)
                        buf_appendf(b, ": %.*s", STR_ARG(text_of(s, "message")));
                buf_append_char(b, '\n');
        }
        VALUE_FOREACH_ITEM (u, value_get(why, STR("unready"))) {
                buf_append_literal(b, "  ");
                if (text_of(u, "resource").n)
                        buf_appendf(b, "%.*s, ", STR_ARG(text_of(u, "resource")));
                append_reference(b, u);
                buf_appendf(b, ": %.*s\n", STR_ARG(text_of(u, "why")));
        }
}

static void append_run(struct buf *b, const struct value *run)
{
        if (!run)
                return;
        buf_appendf(b, "last run at %.*s: %.*s\n", STR_ARG(text_of(run, "time")), STR_ARG(text_of(run, "outcome")));
        if (text_of(run, "error").n)
                buf_appendf(b, "  %.*s\n", STR_ARG(text_of(run, "error")));
        VALUE_FOREACH_ITEM (text, value_get(run, STR("refused")))
                buf_appendf(b, "  refused: %.*s\n", STR_ARG(value_str(text)));
}

static void append_list(struct buf *b, const struct value *list, const char *what)
{
        VALUE_FOREACH_ITEM (item, list) {
                buf_appendf(b, "  %s ", what);
                append_reference(b, item);
                if (text_of(item, "why").n)
                        buf_appendf(b, ": %.*s", STR_ARG(text_of(item, "why")));
                buf_append_char(b, '\n');
        }
}

static void append_deletion(struct buf *b, const struct value *d)
{
        const struct value *composite = value_get(d, STR("composite"));

        if (!d)
                return;
        if (text_of(d, "since").n)
                buf_appendf(b, "being deleted since %.*s; it waits for\n", STR_ARG(text_of(d, "since")));
        else
                buf_append_literal(b, "a deletion would be refused\n");
        VALUE_FOREACH_ITEM (f, value_get(d, STR("finalizers"))) {
                buf_appendf(b, "  finalizer %.*s: %.*s", STR_ARG(text_of(f, "name")), STR_ARG(text_of(f, "meaning")));
                if (text_of(f, "setBy").n)
                        buf_appendf(b, " (set by %.*s)", STR_ARG(text_of(f, "setBy")));
                buf_append_char(b, '\n');
        }
        if (composite) {
                buf_append_literal(b, "  composite ");
                append_reference(b, composite);
                buf_append_char(b, '\n');
        }
        append_list(b, value_get(d, STR("dependents")), "child");
        append_list(b, value_get(d, STR("usages")), "usage");
}

void inspect_print_why(struct buf *b, const struct value *why)
{
        append_reference(b, value_get(why, STR("object")));
        buf_append_char(b, '\n');
        if (value_get(why, STR("field")))
                append_field(b, value_get(why, STR("field")));
        append_last_write(b, value_get(why, STR("lastWrite")));
        append_states(b, why);
        append_run(b, value_get(why, STR("run")));
        append_deletion(b, value_get(why, STR("deletion")));
        if (!value_get(why, STR("states")) && !value_get(why, STR("deletion")))
                buf_append_literal(b, "nothing is wrong with it: no condition says so, and it is not being deleted\n");
}
