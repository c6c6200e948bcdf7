/* One reconcile, in this order (docs/spec/engine 1.2): pause, deletion, selection, composition, publication, conditions. */
#include "reconcile-state.h"

#include "random.h"
#include "requirements-memory.h"
#include "timetext.h"

const struct reconcile_policies reconcile_policies_controller = {
        .keeps_finalizer = true,
        .selects_revision = true,
        .checks_kinds = true,
        .upgrades_managers = true,
        .skips_noops = true,
        .adopts_references = true,
        .explains_denials = true,
        .publishes_connection = true,
};

const struct reconcile_policies reconcile_policies_render = { 0 };

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

/* A conflict that the API reports is not a failure: another client wrote first, and the next run reads its change. Such an error
 * has details. Our own conflict errors (an object belongs to another owner) have no details, and are failures. */
static bool is_conflict(const struct err *err)
{
        return err->reason == REASON_CONFLICT && err->details;
}

/* Another client wrote first: ends this run and asks for another one soon. */
static int requeue(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        ret->requeues = true;
        report(r, ret);
        err_done(err);
        return 0;
}

/* Handles a failed write of the status at the end of a run. */
static int fail_status(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        if (is_conflict(err))
                return requeue(r, err, ret);
        report(r, ret);
        return err_wrap(err, "cannot update composite resource status");
}

/* Writes the conditions of a failure. A service account that may not write them does not hide the failure. */
static void put_failure(struct reconcile *r)
{
        struct run *run = r->run;

        if (reconcile_put_status(r, NULL) != ERR_FORBIDDEN || run == r->own_run)
                return;
        r->run = r->own_run;
        reconcile_put_status(r, NULL);
        r->run = run;
}

/* Reports the error in an event and in the composite's conditions. A failed write of these conditions is ignored. */
static int fail(struct reconcile *r, const char *reason, struct err *err, struct reconcile_result *ret)
{
        if (is_conflict(err))
                return requeue(r, err, ret);
        reconcile_event(r, true, str_from(reason), "%s", err_message(err));
        tell_condition(r, "Synced", CONDITION_FALSE, "ReconcileError",
                       arena_copy(r->arena, str_from(err_message(err))));
        tell_responsive(r);
        put_failure(r);
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

        r->run = r->own_run; /* the finalizer is the engine's: a missing right of the account must not keep it */
        if (r->options->steps.memory)
                requirements_memory_forget(r->options->steps.memory, meta_uid(r->xr.object));
        tell_condition(r, "Ready", CONDITION_FALSE, "Deleting", STR(""));
        if (r->options->policies->keeps_finalizer && meta_has_finalizer(r->xr.object, FINALIZER)) {
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

/* The condition's message for an error. API messages about invalid objects may differ between runs; copying them into the condition
 * would change the composite, and that change would start the next run. */
static struct str condition_text(struct reconcile *r, const struct err *err, struct str denied)
{
        struct str text = arena_copy(r->arena, str_from(err_message(err)));

        if (err->reason == REASON_INVALID && !r->is_fatal && err->details)
                text = STR("cannot compose resources: some resources were invalid, check events");
        return denied.n ? arena_printf(r->arena, "[%.*s, %.*s]", STR_ARG(text), STR_ARG(denied)) : text;
}

/* A function has no free slot: the run ends without a failure, and the whole pipeline runs again later. The events about what was
 * written before it (a selected Composition) are told now, as no later run writes that again. */
static int give_way(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        events_rewind(r);
        ret->gave_way = true;
        report(r, ret);
        err_done(err);
        return 0;
}

static int fail_composition(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        struct str denied = STR("");
        struct events_mark mark;

        if (err->code == ERR_BUSY)
                return give_way(r, err, ret);
        err_wrap(err, "cannot compose resources");
        if (is_conflict(err))
                return requeue(r, err, ret);
        mark = events_rewind(r);
        reconcile_event(r, true, STR("ComposeResources"), "%s", err_message(err));
        if (r->refused && r->options->policies->explains_denials)
                denied = reconcile_access_denied(r, r->refused);
        if (denied.n)
                reconcile_event(r, true, STR("RoleBasedAccessControl"), "%.*s", STR_ARG(denied));
        tell_condition(r, "Synced", CONDITION_FALSE, "ReconcileError", condition_text(r, err, denied));
        if (r->is_fatal) {
                events_replay(r, &mark);
                tell_function_conditions(r);
        } else {
                r->n_conditions = 0;
        }
        tell_unknown(r);
        tell_responsive(r);
        put_failure(r);
        report(r, ret);
        return err->code;
}

/* --- When to run again --- */

/* Adds or subtracts up to a tenth. Functions and users may ask for any duration, so the sum is capped at INT64_MAX. */
static int64_t with_jitter(int64_t ns)
{
        int64_t least = ns / 10 * 9, more = (int64_t)(random_system_u64() % ((uint64_t)ns / 5 + 1));

        return __builtin_add_overflow(least, more, &ns) ? INT64_MAX : ns;
}

/* The composite's annotation overrides the controller's interval. A realtime controller has none (0). */
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
        if (reconcile_publish(r, err) < 0)
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

/* A user requests a reconcile with an annotation; lastHandledReconcileAt in the status confirms that the request was handled. */
static void acknowledge_request(struct reconcile *r)
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
        if (!r->options->policies->keeps_finalizer || meta_has_finalizer(r->xr.object, FINALIZER))
                return 0;
        r->xr.object = meta_with_finalizer(r->arena, r->xr.object, FINALIZER);
        if (reconcile_put(r, STR(""), err) < 0)
                return err_wrap(err, "cannot add finalizer to composite resource");
        return 0;
}

/* All that precedes the composition. *ret_step is the step that failed, as events name it. */
static int prepare(struct reconcile *r, const char **ret_step, struct err *err)
{
        int e;

        *ret_step = "InitializeCompositeResource";
        e = initialise(r, err);
        if (e < 0)
                return e;
        *ret_step = "SelectComposition";
        e = reconcile_select(r, err);
        if (e < 0)
                return e;
        *ret_step = "ComposeResources";
        e = reconcile_fetch_revision(r, err);
        if (e >= 0)
                e = check_revision(r, err);
        return e < 0 ? e : reconcile_configure(r, err);
}

/* The same with the finalizer, the references to Composition and revision and the label in one update. If a part fails, it is done again
 * update by update: what is possible is kept, and the error is that of the part. */
static int prepare_at_once(struct reconcile *r, const char **ret_step, struct err *err)
{
        struct reconcile before = *r;
        int e;

        r->defers_puts = true;
        e = prepare(r, ret_step, err);
        if (e >= 0)
                e = reconcile_put_deferred(r, err);
        r->defers_puts = false;
        if (e >= 0 || !r->deferred)
                return e;
        *r = before; /* and the events of what was not written */
        if (is_conflict(err))
                return e;
        err_done(err);
        return prepare(r, ret_step, err);
}

static int reconcile_live(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        const char *step;

        if (prepare_at_once(r, &step, err) < 0)
                return fail(r, step, err, ret);
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
        acknowledge_request(r);
        return meta_is_deleting(r->xr.object) ? finish_deletion(r, ret, err) : reconcile_live(r, ret, err);
}

/* The cause that every write of this reconcile carries. */
static struct str cause_of(const struct run *run, const struct object_key *key)
{
        if (run->cause.n)
                return run->cause;
        return arena_printf(run->arena, "reconcile of %.*s %.*s%s%.*s", STR_ARG(key->gvk.kind), STR_ARG(key->ns),
                            key->ns.n ? "/" : "", STR_ARG(key->name));
}

/* The user of the service account that the definition names; false if it names none. */
static bool use_account(struct arena *a, const struct composite_type *type, struct user *ret)
{
        const struct value *account = value_find(type->xrd, "spec", "serviceAccountRef");
        struct str ns = value_str(value_get(account, STR("namespace")));
        struct str *groups;

        if (!value_is_object(account))
                return false;
        groups = ARENA_NEW_ARRAY(a, struct str, 3);
        groups[0] = STR("system:serviceaccounts");
        groups[1] = arena_printf(a, "system:serviceaccounts:%.*s", STR_ARG(ns));
        groups[2] = STR("system:authenticated");
        *ret = (struct user) {
                .name = arena_printf(a, "system:serviceaccount:%.*s:%.*s", STR_ARG(ns),
                                     STR_ARG(value_str(value_get(account, STR("name"))))),
                .groups = groups,
                .n_groups = 3,
        };
        return true;
}

int composite_reconcile(struct run *run, const struct reconcile_options *options, const struct object_key *key,
                        struct reconcile_result *ret, struct err *err)
{
        struct run with_cause = *run, as_account;
        struct reconcile r = {
                .run = &with_cause,
                .own_run = &with_cause,
                .arena = run->arena,
                .options = options,
                .xr = { .places = options->type->places },
        };
        _cleanup_err_ struct err inner = { 0 };
        int e;

        assert(options->policies->selects_revision == !options->revision);
        e = cluster_get_value(options->cluster, run, key, &r.xr.object, &inner);
        *ret = (struct reconcile_result) { 0 };
        if (e == ERR_NOT_FOUND)
                return 0;
        if (e < 0) {
                err_move(err, &inner);
                return err_wrap(err, "cannot get composite resource");
        }
        with_cause.cause = cause_of(run, key);
        as_account = with_cause;
        if (use_account(run->arena, options->type, &as_account.user))
                r.run = &as_account;
        r.live = r.xr.object;
        r.xr.object = places_with_single_refs(run->arena, composite_places(&r.xr), r.xr.object);
        r.is_namespaced = meta_namespace(r.xr.object).n > 0;
        e = reconcile_any(&r, ret, &inner);
        if (e < 0)
                err_move(err, &inner);
        return e;
}
