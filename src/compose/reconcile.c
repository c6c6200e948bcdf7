/* The order of things (spec/engine 1.2): pause, deletion, selection, composition, publication, conditions. */
#include "reconcile-state.h"

#include <stdarg.h>
#include <stdio.h>

#include "buf.h"
#include "clock.h"
#include "timetext.h"

/* --- What the parts share --- */

void reconcile_event(struct reconcile *r, bool is_warning, struct str reason, const char *format, ...)
{
        struct reconcile_event *all;
        char *text;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0)
                abort();
        if ((r->n_events & (r->n_events - 1)) == 0) {
                all = ARENA_NEW_ARRAY(r->arena, struct reconcile_event, r->n_events ? 2 * r->n_events : 1);
                if (r->n_events)
                        memcpy(all, r->events, r->n_events * sizeof(*all));
                r->events = all;
        }
        r->events[r->n_events++] = (struct reconcile_event) {
                .is_warning = is_warning,
                .reason = arena_copy(r->arena, reason),
                .message = arena_copy(r->arena, str_make(text, (size_t)n)),
        };
        free(text);
}

void reconcile_mark(struct reconcile *r, const struct condition *c)
{
        struct condition marked = *c;

        marked.last_transition = clock_wall();
        r->xr.object = conditions_set(r->arena, r->xr.object, &marked, 1);
}

int reconcile_put(struct reconcile *r, struct str subresource, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(r->xr.object),
                .subresource = subresource,
                .body = r->xr.object,
                .manager = MANAGER_CONTROLLER,
        };
        struct write_result result;
        int e = cluster_write(r->options->cluster, r->run, &req, &result, err);

        if (e >= 0)
                r->xr.object = result.value;
        return e;
}

/* The engine's own conditions say which generation they speak of. */
static void mark(struct reconcile *r, const char *type, enum condition_status status, const char *reason,
                 struct str message)
{
        struct condition c = {
                .type = str_from(type),
                .status = status,
                .reason = str_from(reason),
                .message = message,
                .observed_generation = meta_generation(r->xr.object),
        };

        reconcile_mark(r, &c);
}

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

/* Says in the composite's conditions what went wrong; that this is said is worth trying, not worth failing for. */
static int fail(struct reconcile *r, struct str reason, struct err *err, struct reconcile_result *ret)
{
        if (is_conflict(err)) {
                ret->requeues = true;
                report(r, ret);
                err_done(err);
                return 0;
        }
        reconcile_event(r, true, reason, "%s", err_message(err));
        mark(r, "Synced", CONDITION_FALSE, "ReconcileError", arena_copy(r->arena, str_from(err_message(err))));
        reconcile_put(r, STR("status"), NULL);
        report(r, ret);
        return err->code;
}

/* --- Pause and deletion --- */

static int pause_reconcile(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        int e;

        reconcile_event(r, false, STR("ReconciliationPaused"), "Reconciliation is paused via the pause annotation");
        mark(r, "Synced", CONDITION_FALSE, "ReconcilePaused",
             STR("Reconciliation (including deletion) is paused via the pause annotation"));
        e = reconcile_put(r, STR("status"), err);
        report(r, ret);
        return e < 0 ? err_wrap(err, "cannot update composite resource status") : 0;
}

static int finish_deletion(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        int e = 0;

        mark(r, "Ready", CONDITION_FALSE, "Deleting", STR(""));
        if (!r->options->revision && meta_has_finalizer(r->xr.object, FINALIZER)) {
                r->xr.object = meta_without_finalizer(r->arena, r->xr.object, FINALIZER);
                e = reconcile_put(r, STR(""), err);
                if (e < 0) {
                        err_wrap(err, "cannot remove finalizer from composite resource");
                        return fail(r, STR("DeleteCompositeResource"), err, ret);
                }
        }
        mark(r, "Synced", CONDITION_TRUE, "ReconcileSuccess", STR(""));
        e = reconcile_put(r, STR("status"), NULL);
        report(r, ret);
        return e == ERR_NOT_FOUND || e >= 0 ? 0 : err_set(err, e, "cannot update composite resource status");
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

static enum condition_status status_of(int32_t wire)
{
        return wire == 2 ? CONDITION_TRUE : wire == 3 ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

/* Claims copy the conditions whose types are listed. */
static void show_claim(struct reconcile *r, struct str type)
{
        const struct value *status = value_get(r->xr.object, STR("status"));
        const struct value *types = value_get(status, STR("claimConditionTypes"));
        struct value text = value_of_str(type);

        VALUE_FOREACH_ITEM (item, types)
                if (str_equal(value_str(item), type))
                        return;
        types = value_with_appended(r->arena, value_is_array(types) ? types : &value_empty_array, &text);
        status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object,
                            STR("claimConditionTypes"), types);
        r->xr.object = value_with(r->arena, r->xr.object, STR("status"), status);
}

static void set_function_conditions(struct reconcile *r)
{
        for (size_t i = 0; i < r->n_conditions; i++) {
                const struct fn_condition *c = &r->conditions[i];
                struct condition condition = {
                        .type = c->type,
                        .status = status_of(c->status),
                        .reason = c->reason,
                        .message = c->message,
                };

                if (condition_is_system(c->type))
                        continue;
                reconcile_mark(r, &condition);
                if (r->xr.is_legacy && c->target == FN_TARGET_COMPOSITE_AND_CLAIM)
                        show_claim(r, c->type);
        }
}

static bool was_returned(const struct reconcile *r, struct str type)
{
        for (size_t i = 0; i < r->n_conditions; i++)
                if (str_equal(r->conditions[i].type, type))
                        return true;
        return false;
}

/* What functions said before and could not say now is unknown; since when is not. */
static void forget_conditions(struct reconcile *r)
{
        const struct value *conditions = value_find(r->xr.object, "status", "conditions");

        VALUE_FOREACH_ITEM (item, conditions) {
                struct condition c = condition_of(item);

                if (condition_is_system(c.type) || was_returned(r, c.type))
                        continue;
                c.status = CONDITION_UNKNOWN;
                c.reason = STR("FatalError");
                c.message = STR("A fatal error occurred before the status of this condition could be determined.");
                c.observed_generation = meta_generation(r->xr.object);
                r->xr.object = conditions_set(r->arena, r->xr.object, &c, 1);
        }
}

static int fail_composition(struct reconcile *r, struct err *err, struct reconcile_result *ret)
{
        size_t n_events = r->n_events - r->n_events_before;
        struct reconcile_event *said = ARENA_NEW_ARRAY(r->arena, struct reconcile_event, n_events + 1);

        err_wrap(err, "cannot compose resources");
        if (is_conflict(err)) {
                ret->requeues = true;
                report(r, ret);
                err_done(err);
                return 0;
        }
        /* What steps said before counts only with a fatal result, and stands behind it. */
        if (n_events)
                memcpy(said, r->events + r->n_events_before, n_events * sizeof(*said));
        r->n_events = r->n_events_before;
        reconcile_event(r, true, STR("ComposeResources"), "%s", err_message(err));
        for (size_t i = 0; r->is_fatal && i < n_events; i++)
                reconcile_event(r, said[i].is_warning, said[i].reason, "%.*s", STR_ARG(said[i].message));
        mark(r, "Synced", CONDITION_FALSE, "ReconcileError",
             err->reason == REASON_INVALID && !r->is_fatal && err->details
                     ? STR("cannot compose resources: some resources were invalid, check events")
                     : arena_copy(r->arena, str_from(err_message(err))));
        if (r->is_fatal)
                set_function_conditions(r);
        else
                r->n_conditions = 0;
        forget_conditions(r);
        reconcile_put(r, STR("status"), NULL);
        report(r, ret);
        return err->code;
}

/* --- Conditions at the end --- */

static void tell_of_resources(struct reconcile *r)
{
        for (size_t i = 0; i < r->n_composed; i++) {
                const struct composed_resource *c = &r->composed[i];
                struct str id = c->key.n ? c->key : arena_printf(r->arena, "%zu", i);

                if (!c->is_synced)
                        reconcile_event(r, false, STR("ComposeResources"),
                                        "Composed resource \"%.*s\" is not yet valid", STR_ARG(id));
                if (!c->is_ready)
                        reconcile_event(r, false, STR("ComposeResources"),
                                        "Composed resource \"%.*s\" is not yet ready", STR_ARG(id));
        }
}

static struct str names_where(struct reconcile *r, bool wants_unsynced)
{
        struct str *names = ARENA_NEW_ARRAY(r->arena, struct str, r->n_composed + 1);
        size_t n = 0;

        for (size_t i = 0; i < r->n_composed; i++) {
                const struct composed_resource *c = &r->composed[i];

                if (wants_unsynced ? !c->is_synced : !c->is_ready)
                        names[n++] = c->key.n ? c->key : arena_printf(r->arena, "%zu", i);
        }
        return n ? composite_name_list(r->arena, names, n) : STR("");
}

static void mark_synced(struct reconcile *r)
{
        struct str names = names_where(r, true);

        if (names.n)
                mark(r, "Synced", CONDITION_FALSE, "ReconcileError",
                     arena_printf(r->arena, "Unsynced resources: %.*s", STR_ARG(names)));
        else
                mark(r, "Synced", CONDITION_TRUE, "ReconcileSuccess", STR(""));
}

static void mark_ready(struct reconcile *r)
{
        struct str names = names_where(r, false);

        if (r->ready == FN_READY_FALSE)
                mark(r, "Ready", CONDITION_FALSE, "Creating", STR(""));
        else if (r->ready == FN_READY_TRUE || names.n == 0)
                mark(r, "Ready", CONDITION_TRUE, "Available", STR(""));
        else
                mark(r, "Ready", CONDITION_FALSE, "Creating",
                     arena_printf(r->arena, "Unready resources: %.*s", STR_ARG(names)));
}

static void schedule(const struct reconcile *r, struct reconcile_result *ret)
{
        bool is_settled = true;

        for (size_t i = 0; i < r->n_composed; i++)
                is_settled = is_settled && r->composed[i].is_ready && r->composed[i].is_synced;
        if (r->options->is_realtime) {
                ret->requeue_after_ns = r->ttl_ns;
                return;
        }
        ret->requeues = !is_settled;
        if (is_settled)
                ret->requeue_after_ns = r->options->poll_interval_ns;
}

static int publish_connection(struct reconcile *r, struct err *err)
{
        const struct value *status;
        struct object_builder details;
        _cleanup_buf_ struct buf now = BUF_INIT(0);
        bool is_published;
        int e = publish(r, &is_published, err);

        if (e < 0 || !is_published)
                return e;
        time_append_rfc3339(&now, clock_wall(), 0);
        object_builder_init(&details, r->arena, 1);
        object_builder_add(&details, STR("lastPublishedTime"), value_of_str(buf_to_arena(&now, r->arena)));
        status = value_get(r->xr.object, STR("status"));
        status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object, STR("connectionDetails"),
                            value_put(r->arena, object_builder_finish(&details)));
        r->xr.object = value_with(r->arena, r->xr.object, STR("status"), status);
        reconcile_event(r, false, STR("PublishConnectionSecret"), "Successfully published connection details");
        return 0;
}

static int finish(struct reconcile *r, struct reconcile_result *ret, struct err *err)
{
        const struct value *status;
        int e = publish_connection(r, err);

        if (e < 0)
                return fail(r, STR("PublishConnectionSecret"), err, ret);
        set_function_conditions(r);
        tell_of_resources(r);
        mark_synced(r);
        mark_ready(r);
        schedule(r, ret);
        status = value_get(r->xr.object, STR("status"));
        if (!(status && r->status_before && value_equal(status, r->status_before))) {
                e = reconcile_put(r, STR("status"), err);
                if (e < 0 && !is_conflict(err))
                        return err_wrap(err, "cannot update composite resource status");
                if (e < 0) {
                        ret->requeues = true;
                        err_done(err);
                }
        }
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
                return fail(r, STR("InitializeCompositeResource"), err, ret);
        if (select_revision(r, err) < 0)
                return fail(r, STR("SelectComposition"), err, ret);
        if (check_revision(r, err) < 0 || configure(r, err) < 0)
                return fail(r, STR("ComposeResources"), err, ret);
        r->n_events_before = r->n_events;
        if (compose(r, err) < 0)
                return fail_composition(r, err, ret);
        return finish(r, ret, err);
}

int composite_reconcile(struct run *run, const struct reconcile_options *options, const struct object_key *key,
                        struct reconcile_result *ret, struct err *err)
{
        struct reconcile r = {
                .run = run,
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
        r.is_namespaced = meta_namespace(r.xr.object).n > 0;
        r.status_before = value_get(r.xr.object, STR("status"));
        mark(&r, "Responsive", CONDITION_TRUE, "WatchCircuitClosed", STR(""));
        if (!composite_is_paused(r.xr.object))
                hear_request(&r);
        if (composite_is_paused(r.xr.object))
                e = pause_reconcile(&r, ret, &inner);
        else if (meta_is_deleting(r.xr.object))
                e = finish_deletion(&r, ret, &inner);
        else
                e = reconcile_live(&r, ret, &inner);
        if (e < 0)
                err_move(err, &inner);
        return e;
}
