/* The order of things (spec/engine 1.2): pause, deletion, selection, composition, publication, conditions. */
#include "reconcile-state.h"

#include "random.h"
#include "requirements-memory.h"
#include "timetext.h"

/* --- Ends --- */

static void report(struct reconcile *r, struct reconcile_result *ret)
{
        ret->is_fatal = r->is_fatal;
        ret->events = r->events;
        ret->n_events = r->n_events;
        ret->records = r->records;
        ret->n_records = r->n_records;
        ret->composite = r->xr.object;
        ret->context = r->context;
}

/* A conflict is no failure: somebody was faster, and the next run sees what they did. The API's have details; what we refuse ourselves
 * because something belongs to another has none, and is a failure. */
static bool is_conflict(const struct err *err)
{
        return err->reason == REASON_CONFLICT && err->details;
}

/* Somebody was faster: another run, soon. */
static int requeue(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        ret->requeues = true;
        report(r, ret);
        err_done(err);
        return 0;
}

/* A status that cannot be written at the end of a run that went well. */
static int fail_status(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        if (is_conflict(err))
                return requeue(r, err, ret);
        report(r, ret);
        return err_wrap(err, "cannot update composite resource status");
}

/* Says in the composite's conditions what went wrong; that this is said is worth trying, not worth failing for. */
static int fail(struct reconcile *r, const char *reason, struct err *err, struct reconcile_result *ret)
{
        if (is_conflict(err))
                return requeue(r, err, ret);
        reconcile_event(r, true, str_from(reason), "%s", err_message(err));
        tell_condition(r, "Synced", CONDITION_FALSE, "ReconcileError",
                       arena_copy(r->arena, str_from(err_message(err))));
        tell_responsive(r);
        reconcile_put_status(r, NULL);
        report(r, ret);
        return err->code;
}

/* --- Pause and deletion --- */

static int pause_reconcile(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        reconcile_event(r, false, STR("ReconciliationPaused"), "Reconciliation is paused via the pause annotation");
        tell_condition(r, "Synced", CONDITION_FALSE, "ReconcilePaused",
                       STR("Reconciliation (including deletion) is paused via the pause annotation"));
        if (reconcile_put_status(r, err) < 0)
                return fail_status(r, err, ret);
        report(r, ret);
        return 0;
}

static int finish_deletion(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        int e;

        if (r->options->memory)
                requirements_memory_forget(r->options->memory, meta_uid(r->xr.object));
        tell_condition(r, "Ready", CONDITION_FALSE, "Deleting", STR(""));
        if (!r->options->revision && meta_has_finalizer(r->xr.object, FINALIZER)) {
                r->xr.object = meta_without_finalizer(r->arena, r->xr.object, FINALIZER);
                e = reconcile_put(r, STR(""), err);
                if (e == ERR_NOT_FOUND) {
                        err_done(err);
                        r->is_removed = true;
                } else if (e < 0) {
                        err_wrap(err, "cannot remove finalizer from composite resource");
                        return fail(r, "DeleteCompositeResource", err, ret);
                }
        }
        tell_condition(r, "Synced", CONDITION_TRUE, "ReconcileSuccess", STR(""));
        e = r->is_removed ? 0 : reconcile_put_status(r, err);
        if (e < 0 && e != ERR_NOT_FOUND)
                return fail_status(r, err, ret);
        err_done(err);
        report(r, ret);
        return 0;
}

/* --- Composition --- */

static int check_revision(struct reconcile *r, struct err *err)
{
        struct condition valid;

        if (condition_get(r->revision, STR("ValidPipeline"), &valid) && valid.status == CONDITION_TRUE)
                return 0;
        return err_set(err, ERR_INVALID,
                       "selected CompositionRevision %.*s does not have a valid function pipeline: %.*s",
                       STR_ARG(meta_name(r->revision)),
                       STR_ARG(valid.message.n ? valid.message : STR("pipeline status unknown")));
}

/* What the condition says of an error. The texts of what is invalid change from time to time, and a condition that does so too would
 * bring about the next run. */
static struct str condition_text(struct reconcile *r, const struct err *err, struct str denied)
{
        struct str text = arena_copy(r->arena, str_from(err_message(err)));

        if (err->reason == REASON_INVALID && !r->is_fatal && err->details)
                text = STR("cannot compose resources: some resources were invalid, check events");
        return denied.n ? arena_printf(r->arena, "[%.*s, %.*s]", STR_ARG(text), STR_ARG(denied)) : text;
}

static int fail_composition(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        struct str denied = STR("");
        struct said said;

        err_wrap(err, "cannot compose resources");
        if (is_conflict(err))
                return requeue(r, err, ret);
        said = tell_take_back(r);
        reconcile_event(r, true, STR("ComposeResources"), "%s", err_message(err));
        if (r->refused && !r->options->revision)
                denied = access_denied(r, r->refused);
        if (denied.n)
                reconcile_event(r, true, STR("RoleBasedAccessControl"), "%.*s", STR_ARG(denied));
        tell_condition(r, "Synced", CONDITION_FALSE, "ReconcileError", condition_text(r, err, denied));
        if (r->is_fatal) {
                tell_again(r, &said);
                tell_function_conditions(r);
        } else {
                r->n_conditions = 0;
        }
        tell_unknown(r);
        tell_responsive(r);
        reconcile_put_status(r, NULL);
        report(r, ret);
        return err->code;
}

/* --- When to come again --- */

/* A tenth more or less; what functions and users ask for may be as long as there is. */
static int64_t with_jitter(int64_t ns)
{
        int64_t least = ns / 10 * 9, more = (int64_t)(random_system_u64() % ((uint64_t)ns / 5 + 1));

        return __builtin_add_overflow(least, more, &ns) ? INT64_MAX : ns;
}

/* The composite's own word comes before that of the controller, which with watches has none. */
static int64_t poll_interval(const struct reconcile *r)
{
        struct str text = meta_annotation(r->xr.object, STR("crossplane.io/poll-interval"));
        int64_t own_ns;

        if (text.n && duration_parse(text, &own_ns, NULL) >= 0 && own_ns > 0)
                return MAX(own_ns, r->options->min_poll_interval_ns);
        return r->options->is_realtime ? 0 : r->options->poll_interval_ns;
}

static void schedule(const struct reconcile *r, struct reconcile_result *ret)
{
        int64_t after_ns = poll_interval(r);

        for (size_t i = 0; i < r->n_composed && !r->options->is_realtime; i++)
                ret->requeues |= !r->composed[i].is_ready || !r->composed[i].is_synced;
        if (ret->requeues)
                return;
        if (r->options->is_realtime && r->ttl_ns)
                after_ns = r->ttl_ns;
        if (after_ns)
                ret->requeue_after_ns = with_jitter(after_ns);
}

/* --- The end --- */

static int finish(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        if (publish(r, err) < 0)
                return fail(r, "PublishConnectionSecret", err, ret);
        tell_function_conditions(r);
        tell_of_resources(r);
        tell_synced(r);
        tell_ready(r);
        tell_responsive(r);
        schedule(r, ret);
        if (reconcile_put_status(r, err) < 0)
                return fail_status(r, err, ret);
        report(r, ret);
        return 0;
}

/* --- The loop --- */

/* Somebody asks for a reconcile by an annotation and sees in the status that it was heard. */
static void hear_request(struct reconcile *r)
{
        struct str wanted = meta_annotation(r->xr.object, STR("crossplane.io/reconcile-requested-at"));
        const struct value *status = value_get(r->xr.object, STR("status"));
        struct value text = value_of_str(wanted);

        if (wanted.n == 0 || str_equal(wanted, value_str(value_get(status, STR("lastHandledReconcileAt")))))
                return;
        reconcile_event(r, false, STR("ReconcileRequestHandled"), "Handling reconcile request");
        status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object,
                            STR("lastHandledReconcileAt"), &text);
        r->xr.object = value_with(r->arena, r->xr.object, STR("status"), status);
}

static int initialise(struct reconcile *r, struct err *err)
{
        if (r->options->revision || meta_has_finalizer(r->xr.object, FINALIZER))
                return 0;
        r->xr.object = meta_with_finalizer(r->arena, r->xr.object, FINALIZER);
        if (reconcile_put(r, STR(""), err) < 0)
                return err_wrap(err, "cannot add finalizer to composite resource");
        return 0;
}

static int reconcile_live(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        if (initialise(r, err) < 0)
                return fail(r, "InitializeCompositeResource", err, ret);
        if (select_composition(r, err) < 0)
                return fail(r, "SelectComposition", err, ret);
        if (fetch_revision(r, err) < 0 || check_revision(r, err) < 0 || configure(r, err) < 0)
                return fail(r, "ComposeResources", err, ret);
        r->n_events_before = r->n_events;
        if (compose(r, err) < 0)
                return fail_composition(r, err, ret);
        return finish(r, ret, err);
}

static int reconcile_any(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        tell_responsive(r);
        if (composite_is_paused(r->xr.object))
                return pause_reconcile(r, ret, err);
        hear_request(r);
        return meta_is_deleting(r->xr.object) ? finish_deletion(r, ret, err) : reconcile_live(r, ret, err);
}

/* Every write says why it was made. */
static struct str cause_of(const struct run *run, const struct object_key *key)
{
        if (run->cause.n)
                return run->cause;
        return arena_printf(run->arena, "reconcile of %.*s %.*s%s%.*s", STR_ARG(key->gvk.kind), STR_ARG(key->namespace),
                            key->namespace.n ? "/" : "", STR_ARG(key->name));
}

int composite_reconcile(struct run *run, const struct reconcile_options *options, const struct object_key *key,
                        struct reconcile_result *ret, struct err *err)
{
        struct run with_cause = *run;
        struct reconcile r = {
                .run = &with_cause,
                .arena = run->arena,
                .options = options,
                .xr = { .is_legacy = options->type->is_legacy },
        };
        _cleanup_err_ struct err inner = { 0 };
        int e = cluster_get_value(options->cluster, run, key, &r.xr.object, &inner);

        *ret = (struct reconcile_result) { 0 };
        if (e == ERR_NOT_FOUND)
                return 0;
        if (e < 0) {
                err_move(err, &inner);
                return err_wrap(err, "cannot get composite resource");
        }
        with_cause.cause = cause_of(run, key);
        r.live = r.xr.object;
        r.is_namespaced = meta_namespace(r.xr.object).n > 0;
        e = reconcile_any(&r, ret, &inner);
        if (e < 0)
                err_move(err, &inner);
        return e;
}
