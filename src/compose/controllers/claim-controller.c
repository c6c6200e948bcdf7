/* Claims (docs/spec/engine 6): claim.h, run by the work queue, with deletion and connection secrets. */
#include "claim-run.h"

#include "buf.h"
#include "clock.h"
#include "composite.h"
#include "condition.h"
#include "managers.h"
#include "owner.h"
#include "started.h"
#include "timetext.h"
#include "xrd.h"

#define TIMEOUT_MS 60000
#define COMPONENT  STR("offered/compositeresourcedefinition.apiextensions.crossplane.io")
#define PAUSED     "Reconciliation (including deletion) is paused via the pause annotation"

#define TELL(c, is_warning, reason, ...)                                                                             \
        kind_run_event((c)->r, (c)->claim,                                                                           \
                       &(struct recorder_source) { .component = COMPONENT, .controller = (c)->s->name }, is_warning, \
                       reason, __VA_ARGS__)

/* --- Status --- */

static const struct value *with_condition(struct claim_run *c, const struct value *claim, const char *type,
                                          bool is_true, const char *reason, struct str message)
{
        struct condition condition = {
                .type = str_from(type),
                .status = is_true ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = str_from(reason),
                .message = message,
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(claim),
        };

        if (!value_is_object(value_get(claim, STR("status"))))
                claim = value_with(c->arena, claim, STR("status"), &value_empty_object);
        return conditions_set(c->arena, claim, &condition, 1);
}

/* Writes the status if it differs from what the API has. A claim that is gone needs none. */
static int put_status(struct claim_run *c, const struct value *claim, struct err *err)
{
        int e;

        if (value_equal(claim, c->claim))
                return 0;
        e = kind_run_update(c->r, claim, STR("status"), &c->claim, err);
        if (e != ERR_NOT_FOUND)
                return e < 0 ? kind_run_retry_conflict(c->r, err, "cannot update status") : 0;
        err_done(err);
        return 0;
}

/* Says what is wrong in an event and in the claim's condition, and returns the error. A conflict is retried silently. */
static int fail(struct claim_run *c, const char *reason, struct err *err)
{
        _cleanup_err_ struct err ignored = { 0 };

        if (err->reason == REASON_CONFLICT && err->details)
                return kind_run_retry_conflict(c->r, err, "");
        TELL(c, true, reason, "%s", err_message(err));
        put_status(c,
                   with_condition(c, c->claim, "Synced", false, "ReconcileError",
                                  arena_copy(c->arena, str_from(err_message(err)))),
                   &ignored);
        return err->code;
}

/* --- The composite --- */

static bool is_requirement(const struct claim_run *c)
{
        return xrd_claim_places(c->s->xrd) == &places_requirement;
}

static struct object_key composite_key(const struct claim_run *c)
{
        return (struct object_key) { .gvk = c->s->type.gvk, .name = claim_composite_name(c->s->xrd, c->claim) };
}

static int get_composite(struct claim_run *c, struct err *err)
{
        struct object_key key = composite_key(c);
        int e;

        if (str_is_empty(key.name))
                return 0;
        e = cluster_get_value(c->r->cluster, c->r->run, &key, &c->composite, err);
        if (e != ERR_NOT_FOUND)
                return e;
        err_done(err);
        return 0;
}

static bool deletes_in_foreground(const struct claim_run *c)
{
        return str_equal(value_str(claim_run_field(c, STR("compositeDeletePolicy"))), STR("Foreground"));
}

static int delete_composite(struct claim_run *c, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_DELETE,
                .key = object_key_of(c->composite),
                .propagation = deletes_in_foreground(c) ? PROPAGATE_FOREGROUND : PROPAGATE_UNSET,
                .precondition_uid = meta_uid(c->composite),
        };
        struct write_result result;
        int e;

        /* A requirement's resource is deleted in the state in which it was not to be retained. */
        if (is_requirement(c))
                req.precondition_version = meta_resource_version(c->composite);
        e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);
        if (e != ERR_NOT_FOUND)
                return e;
        err_done(err);
        return 0;
}

/* A composite that was made without a claim is applied from now on. */
static int upgrade_managers(struct claim_run *c, struct err *err)
{
        struct write_request req = { .verb = WRITE_JSON_PATCH, .manager = CROSSPLANE_MANAGER };
        struct write_result result;
        int e;

        req.body = c->composite ? managers_upgrade(c->arena, c->composite, CLAIM_MANAGER, false) : NULL;
        if (!req.body)
                return 0;
        req.key = object_key_of(c->composite);
        e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);
        if (e == 0)
                c->composite = result.value;
        if (e != ERR_NOT_FOUND)
                return e;
        err_done(err);
        return 0;
}

static bool is_bound_elsewhere(struct claim_run *c, struct err *err)
{
        struct claim_request in = { .xrd = c->s->xrd, .claim = c->claim, .composite = c->composite };
        struct claim_bound bound;

        return c->composite && claim_bind(c->arena, &in, &bound, err) == ERR_CONFLICT;
}

/* --- Deletion --- */

static int remove_finalizer(struct claim_run *c, struct err *err)
{
        const struct value *claim = meta_without_finalizer(c->arena, c->claim, CLAIM_FINALIZER);
        int e;

        if (!meta_has_finalizer(c->claim, CLAIM_FINALIZER))
                return 0;
        e = kind_run_update(c->r, claim, STR(""), &c->claim, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        if (e < 0) {
                err_wrap(err, "cannot remove finalizer from %s", claim_run_design(c));
                return fail(c, "DeleteCompositeResource", err);
        }
        return 0;
}

/* The composite's reclaimPolicy is Retain: it stays, with all that it composes, and another requirement may bind to it. */
static bool is_retained(const struct claim_run *c)
{
        return c->composite && str_equal(value_str(claim_run_composite_field(c, STR("reclaimPolicy"))), STR("Retain"));
}

static int release(struct claim_run *c, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(c->composite),
                .body = claim_release(c->arena, c->s->xrd, c->composite),
                .manager = CROSSPLANE_MANAGER,
        };
        struct write_result result;
        int e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);

        if (e == ERR_NOT_FOUND) {
                err_done(err);
                e = 0;
        }
        if (e < 0) {
                err_wrap(err, "cannot release composite resource");
                return fail(c, "ReleaseCompositeResource", err);
        }
        TELL(c, false, "ReleaseCompositeResource",
             "Released composite resource \"%.*s\": its reclaimPolicy is Retain, so it stays",
             STR_ARG(meta_name(c->composite)));
        return 0;
}

static int delete_claim(struct claim_run *c, struct err *err)
{
        bool waits = c->composite && deletes_in_foreground(c);
        int e = 0;

        if (is_retained(c)) {
                e = release(c, err);
                return e < 0 || c->r->answer->requeues ? e : remove_finalizer(c, err);
        }
        if (c->composite && !(waits && meta_is_deleting(c->composite)))
                e = delete_composite(c, err);
        if (e < 0) {
                err_wrap(err, "cannot delete composite resource");
                return fail(c, "DeleteCompositeResource", err);
        }
        if (waits) /* until the composite is gone; it is followed */
                return put_status(c, with_condition(c, c->claim, "Ready", false, "Deleting", STR("")), err);
        if (meta_has_finalizer(c->claim, CLAIM_FINALIZER))
                TELL(c, false, "DeleteCompositeResource", "Successfully deleted composite resource");
        return remove_finalizer(c, err);
}

/* --- Connection details --- */

static const struct value *stamp(struct claim_run *c, const struct value *claim)
{
        const struct value *status = value_get(claim, STR("status"));
        _cleanup_buf_ struct buf now = BUF_INIT(0);
        struct object_builder details;

        time_append_rfc3339(&now, clock_wall(), 0);
        object_builder_init(&details, c->arena, 1);
        object_builder_add(&details, STR("lastPublishedTime"), value_of_str(buf_to_arena(&now, c->arena)));
        status = value_with(c->arena, value_is_object(status) ? status : &value_empty_object, STR("connectionDetails"),
                            value_put(c->arena, object_builder_finish(&details)));
        return value_with(c->arena, claim, STR("status"), status);
}

/* --- Binding --- */

/* Two requirements may name one resource at the same time. The one that binds to it second must see that it is bound: a resource that is
 * there is only bound in the version that was read, and one that is not there is created, not applied. */
static int reserve_composite(struct claim_run *c, const struct value **wanted, bool is_named, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_CREATE, .key = object_key_of(*wanted), .body = *wanted, .manager = CROSSPLANE_MANAGER
        };
        struct write_result result;
        int e;

        if (!is_requirement(c) || !is_named)
                return 0;
        if (c->composite && !claim_run_composite_field(c, STR("claimRef"))) {
                *wanted = meta_with_str(c->arena, *wanted, STR("uid"), meta_uid(c->composite));
                *wanted = meta_with_str(c->arena, *wanted, STR("resourceVersion"), meta_resource_version(c->composite));
        }
        if (c->composite)
                return 0;
        e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);
        if (e < 0 && err->reason == REASON_ALREADY_EXISTS) {
                err_done(err);
                c->r->answer->requeues = true;
                return 0;
        }
        if (e < 0)
                return err_wrap(err, "cannot create composite resource");
        c->composite = result.value;
        return upgrade_managers(c, err);
}

static int apply_composite(struct claim_run *c, const struct value *wanted, struct err *err)
{
        struct write_request req = { .verb = WRITE_APPLY,
                                     .key = object_key_of(wanted),
                                     .body = wanted,
                                     .manager = CLAIM_MANAGER,
                                     .force = true };
        struct write_result result;
        int e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);

        if (e < 0)
                return err_wrap(err, "cannot bind and sync %s with composite resource: cannot apply composite resource",
                                claim_run_design(c));
        c->composite = result.value;
        return 0;
}

/* A claim takes over fields of its composite, such as the selected Composition. This passes them on to the composite as the claim's
 * own in the same run; Crossplane does so in the next one. */
static int bind_again(struct claim_run *c, struct claim_bound *ret, struct err *err)
{
        struct claim_request in = { .xrd = c->s->xrd, .claim = c->claim, .composite = c->composite };
        struct claim_bound again;
        int e = c->composite ? claim_bind(c->arena, &in, &again, err) : 0;

        if (e == 0 && c->composite)
                ret->composite = again.composite;
        return e;
}

/* The claim refers to its composite before the composite exists, so that a crash cannot lose one. */
static int bind(struct claim_run *c, struct err *err)
{
        struct claim_request in = { .xrd = c->s->xrd, .claim = c->claim, .composite = c->composite };
        bool was_bound = c->composite && claim_run_composite_field(c, STR("claimRef"));
        bool is_named = claim_composite_name(c->s->xrd, c->claim).n > 0;
        struct claim_bound bound;
        int e = claim_bind(c->arena, &in, &bound, err);

        if (e == 0 && !value_equal(bound.claim, c->claim)) {
                e = kind_run_update(c->r, bound.claim, STR(""), &c->claim, err);
                if (e < 0)
                        err_wrap(err, "cannot bind and sync %s with composite resource: cannot update %s",
                                 claim_run_design(c), claim_run_design(c));
                else
                        e = bind_again(c, &bound, err);
        }
        if (e == 0)
                e = reserve_composite(c, &bound.composite, is_named, err);
        if (e == 0 && !c->r->answer->requeues)
                e = apply_composite(c, bound.composite, err);
        if (e < 0)
                return fail(c, "BindCompositeResource", err);
        if (!was_bound && !c->r->answer->requeues)
                TELL(c, false, "BindCompositeResource", "Successfully bound composite resource");
        return 0;
}

static bool is_ready(const struct value *composite)
{
        struct condition ready;

        return condition_get(composite, STR("Ready"), &ready) && ready.status == CONDITION_TRUE;
}

/* Ready of a claim keeps its old value, as upstream's does. A requirement says that it waits for its Secret: its resource is ready. */
static int fail_without_secret(struct claim_run *c, struct err *err)
{
        const struct value *reference = claim_run_field(c, STR("writeConnectionSecretToRef"));
        struct str message = arena_printf(c->arena, "Requirement is waiting for its connection Secret \"%.*s\"",
                                          STR_ARG(value_str(value_get(reference, STR("name")))));
        _cleanup_err_ struct err ignored = { 0 };

        if (is_requirement(c) && !(err->reason == REASON_CONFLICT && err->details))
                put_status(c, with_condition(c, c->claim, "Ready", false, "Waiting", message), &ignored);
        return fail(c, "PropagateConnectionSecret", err);
}

static int report(struct claim_run *c, struct err *err)
{
        const struct value *claim;
        bool is_changed = false;
        int e = claim_report(c->arena, c->s->xrd, c->claim, c->composite, &claim, err);

        if (e < 0)
                return fail(c, "BindCompositeResource", err);
        if (!is_ready(c->composite)) {
                TELL(c, false, "BindCompositeResource", "Composite resource is not yet ready");
                return put_status(c, claim, err);
        }
        e = claim_run_propagate(c, &is_changed, err);
        if (e < 0) {
                err_wrap(err, "cannot propagate connection details from composite resource");
                return fail_without_secret(c, err);
        }
        if (is_changed) {
                TELL(c, false, "PropagateConnectionSecret",
                     "Successfully propagated connection details from composite resource");
                claim = stamp(c, claim);
        }
        return put_status(c, claim, err);
}

static int add_finalizer(struct claim_run *c, struct err *err)
{
        int e;

        if (meta_has_finalizer(c->claim, CLAIM_FINALIZER))
                return 0;
        e = kind_run_update(c->r, meta_with_finalizer(c->arena, c->claim, CLAIM_FINALIZER), STR(""), &c->claim, err);
        if (e < 0) {
                err_wrap(err, "cannot add finalizer to %s", claim_run_design(c));
                return fail(c, "BindCompositeResource", err);
        }
        return 0;
}

/* A retry would change nothing; the composite is followed. */
static int refuse(struct claim_run *c, struct err *err)
{
        struct str message =
                arena_printf(c->arena, "%s; name another one in %.*s, or none to have one made", err_message(err),
                             STR_ARG(places_path(c->arena, xrd_claim_places(c->s->xrd), STR("resourceRef"))));

        err_done(err);
        TELL(c, true, "BindCompositeResource", "%.*s", STR_ARG(message));
        return put_status(c, with_condition(c, c->claim, "Synced", false, "ReconcileError", message), err);
}

static int reconcile_claim(struct kind_run *r, struct err *err)
{
        struct claim_run c = { .r = r, .s = r->context, .arena = r->run->arena };
        int e = kind_run_get(r, &c.claim, err);

        if (e < 0)
                return err_wrap(err, "cannot get %s", claim_run_design(&c));
        if (!c.claim)
                return 0;
        c.claim = places_with_single_refs(c.arena, xrd_claim_places(c.s->xrd), c.claim);
        if (composite_is_paused(c.claim)) {
                TELL(&c, false, "ReconciliationPaused", PAUSED);
                return put_status(&c, with_condition(&c, c.claim, "Synced", false, "ReconcilePaused", STR(PAUSED)),
                                  err);
        }
        e = get_composite(&c, err);
        if (e < 0) {
                err_wrap(err, "cannot get composite resource");
                return fail(&c, "BindCompositeResource", err);
        }
        if (is_bound_elsewhere(&c, err)) {
                /* A requirement lets go of a resource that another one has; claims stay, as upstream's do. */
                if (!meta_is_deleting(c.claim) || !is_requirement(&c))
                        return refuse(&c, err);
                err_done(err);
                return remove_finalizer(&c, err);
        }
        err_done(err);
        e = upgrade_managers(&c, err);
        if (e < 0) {
                err_wrap(err,
                         "cannot upgrade composite resource's managed fields from client-side to server-side apply");
                return fail(&c, "BindCompositeResource", err);
        }
        if (meta_is_deleting(c.claim))
                return delete_claim(&c, err);
        e = add_finalizer(&c, err);
        if (e == 0 && !r->answer->requeues)
                e = bind(&c, err);
        return e < 0 || r->answer->requeues ? e : report(&c, err);
}

int claim_controller_start(struct plane *p, const struct value *xrd, struct err *err)
{
        struct started_options options = { .prefix = "claim",
                                           .watch_type = "Claim",
                                           .reconcile = reconcile_claim,
                                           .knows_writes = true,
                                           .timeout_ms = TIMEOUT_MS };
        struct arena scratch;
        int r;

        arena_init(&scratch, "start", 0);
        options.scratch = &scratch;
        xrd_claim_gvk(xrd, &options.gvk);
        r = started_start(p, xrd, &options, err);
        arena_done(&scratch);
        return r;
}
