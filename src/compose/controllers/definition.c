/* Definitions (docs/spec/engine 5.4 to 5.6): an XRD becomes a CRD for its composites and one for its claims, each with a controller. The
 * two sides do the same in other words. */
#include "plane-state.h"

#include "clock.h"
#include "condition.h"
#include "owner.h"
#include "xrd.h"

struct side {
        const char *what; /* in messages */
        const char *things;
        struct str finalizer;
        struct str component;
        const char *condition;
        const char *watching, *terminating; /* reasons of the condition */
        const char *apply_reason, *delete_reason;
        const char *status_field;
        const char *prefix;                                    /* of the controller's name */
        bool (*gvk)(const struct value *xrd, struct gvk *ret); /* false: there is no such side */
        int (*crd)(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err);
        int (*start)(struct plane *p, const struct value *xrd, struct err *err);
        bool tells_restarts;
        bool is_of_claims;
};

static bool composite_gvk(const struct value *xrd, struct gvk *ret)
{
        *ret = xrd_composite_gvk(xrd);
        return true;
}

static const struct side composites = {
        .what = "composite resource",
        .things = "composite resources",
        .finalizer = STR_INIT("defined.apiextensions.crossplane.io"),
        .component = STR_INIT("defined/compositeresourcedefinition.apiextensions.crossplane.io"),
        .condition = "Established",
        .watching = "WatchingCompositeResource",
        .terminating = "TerminatingCompositeResource",
        .apply_reason = "EstablishComposite",
        .delete_reason = "TerminateComposite",
        .status_field = "compositeResourceType",
        .prefix = "composite",
        .gvk = composite_gvk,
        .crd = xrd_composite_crd,
        .start = composite_controller_start,
        .tells_restarts = true,
};

static const struct side claims = {
        .what = "composite resource claim",
        .things = "composite resource claims",
        .finalizer = STR_INIT("offered.apiextensions.crossplane.io"),
        .component = STR_INIT("offered/compositeresourcedefinition.apiextensions.crossplane.io"),
        .condition = "Offered",
        .watching = "WatchingCompositeResourceClaim",
        .terminating = "TerminatingCompositeResourceClaim",
        .apply_reason = "OfferClaim",
        .delete_reason = "RedactClaim",
        .status_field = "compositeResourceClaimType",
        .prefix = "claim",
        .gvk = xrd_claim_gvk,
        .crd = xrd_claim_crd,
        .start = claim_controller_start,
        .is_of_claims = true,
};

/* Claims of the first design, in its words. */
static const struct side requirements = {
        .what = "requirement",
        .things = "requirements",
        .finalizer = STR_INIT("offered.apiextensions.crossplane.io"),
        .component = STR_INIT("offered/compositeresourcedefinition.apiextensions.crossplane.io"),
        .condition = "Offered",
        .watching = "WatchingRequirement",
        .terminating = "TerminatingRequirement",
        .apply_reason = "OfferRequirement",
        .delete_reason = "WithdrawRequirement",
        .status_field = "compositeResourceClaimType",
        .prefix = "claim",
        .gvk = xrd_claim_gvk,
        .crd = xrd_claim_crd,
        .start = claim_controller_start,
        .is_of_claims = true,
};

/* One reconcile of one side. */
struct definition {
        struct kind_run *r;
        const struct side *side;
        const struct value *xrd;
        struct arena *arena;
};

#define TELL(d, is_warning, reason, ...)                                                                              \
        kind_run_event((d)->r, (d)->xrd, &(struct recorder_source) { .component = (d)->side->component }, is_warning, \
                       reason, __VA_ARGS__)

/* Reports the error in an event, and returns it with the context in front. */
static int fail(struct definition *d, const char *reason, struct err *err, const char *what)
{
        if (err->reason == REASON_CONFLICT && err->details)
                return kind_run_retry_conflict(d->r, err, what);
        err_wrap(err, "%s", what);
        TELL(d, true, reason, "%s", err_message(err));
        return err->code;
}

static struct str controller_name_of(struct definition *d)
{
        return arena_printf(d->arena, "%s/%.*s", d->side->prefix, STR_ARG(meta_name(d->xrd)));
}

/* --- Status --- */

static struct value type_reference(struct definition *d, const struct gvk *gvk)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, 2);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk ? gvk_api_version(d->arena, *gvk) : STR("")));
        object_builder_add(&b, STR("kind"), value_of_str(gvk ? gvk->kind : STR("")));
        return object_builder_finish(&b);
}

/* status.controllers always has both sides; one that does not exist is empty. */
static const struct value *with_controllers(struct definition *d, const struct value *xrd)
{
        const struct value *status = value_get(xrd, STR("status")), *types = value_get(status, STR("controllers"));
        struct value none = type_reference(d, NULL);
        struct gvk gvk;

        types = value_is_object(types) ? types : &value_empty_object;
        if (!value_get(types, STR("compositeResourceClaimType")))
                types = value_with(d->arena, types, STR("compositeResourceClaimType"), &none);
        if (!value_get(types, STR("compositeResourceType")))
                types = value_with(d->arena, types, STR("compositeResourceType"), &none);
        if (d->side->gvk(xrd, &gvk))
                types = value_with(d->arena, types, str_from(d->side->status_field),
                                   value_put(d->arena, type_reference(d, &gvk)));
        status =
                value_with(d->arena, value_is_object(status) ? status : &value_empty_object, STR("controllers"), types);
        return value_with(d->arena, xrd, STR("status"), status);
}

static const struct value *with_condition(struct definition *d, const struct value *xrd, bool is_true,
                                          const char *reason, struct str message)
{
        struct condition c = {
                .type = str_from(d->side->condition),
                .status = is_true ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = str_from(reason),
                .message = message,
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(xrd),
        };

        if (!value_is_object(value_get(xrd, STR("status"))))
                xrd = value_with(d->arena, xrd, STR("status"), &value_empty_object);
        return conditions_set(d->arena, xrd, &c, 1);
}

static int put_status(struct definition *d, const struct value *xrd, struct err *err)
{
        return value_equal(xrd, d->xrd) ? 0 : kind_run_update(d->r, xrd, STR("status"), &d->xrd, err);
}

/* An XRD that cannot work says so in its condition too, not only in an event. */
static void tell_invalid(struct definition *d, const struct err *err)
{
        _cleanup_err_ struct err ignored = { 0 };
        struct str message = arena_copy(d->arena, str_from(err_message(err)));

        put_status(d, with_condition(d, d->xrd, false, "InvalidDefinition", message), &ignored);
}

/* The way out of mistakes whose errors come from the CRD, which the user did not write; "": none is known. */
static struct str hint_of(struct definition *d)
{
        const struct value *names = value_find(d->xrd, "spec", "names"),
                           *versions = value_find(d->xrd, "spec", "versions");
        struct str name = arena_printf(d->arena, "%.*s.%.*s", STR_ARG(value_str(value_get(names, STR("plural")))),
                                       STR_ARG(value_str(value_find(d->xrd, "spec", "group"))));
        size_t n_referenceable = 0;

        if (!str_equal(name, meta_name(d->xrd)))
                return arena_printf(d->arena, "; name it %.*s", STR_ARG(name));
        for (size_t i = 0; i < value_count(versions); i++) {
                const struct value *version = value_item(versions, i);

                if (!value_is_object(value_find(version, "schema", "openAPIV3Schema")))
                        return arena_printf(d->arena, "; give spec.versions[%zu].schema an openAPIV3Schema", i);
                n_referenceable += value_bool(value_get(version, STR("referenceable")), false);
        }
        if (n_referenceable != 1)
                return STR("; set referenceable: true on exactly one of spec.versions");
        if (d->side->is_of_claims)
                return STR("; spec.claimNames and spec.names must differ in kind, plural, singular and listKind");
        return STR("");
}

static void add_hint(struct definition *d, struct err *err)
{
        _cleanup_err_ struct err why = { 0 };

        if (err->reason == REASON_CONFLICT || err->code == ERR_FORBIDDEN || hint_of(d).n == 0)
                return;
        err_move(&why, err);
        err_set(err, why.code, "%s%.*s", err_message(&why), STR_ARG(hint_of(d)));
}

/* --- Deletion --- */

static int remove_finalizer(struct definition *d, struct err *err)
{
        int e;

        if (!meta_has_finalizer(d->xrd, d->side->finalizer))
                return 0;
        e = kind_run_update(d->r, meta_without_finalizer(d->arena, d->xrd, d->side->finalizer), STR(""), &d->xrd, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        return e < 0 ? fail(d, d->side->delete_reason, err, "cannot remove finalizer") : 0;
}

/* *ret_is_gone: the object is no more. A run that removed an object itself is not told of its end. */
static int delete_object(struct definition *d, const struct value *object, bool *ret_is_gone, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = object_key_of(object),
                                     .precondition_uid = meta_uid(object) };
        struct write_result result;
        int e = cluster_write(d->r->cluster, d->r->run, &req, &result, err);

        *ret_is_gone = e == ERR_NOT_FOUND || (e == 0 && result.is_removed);
        if (e == ERR_NOT_FOUND || e == ERR_CONFLICT) {
                err_done(err);
                return 0;
        }
        return e;
}

/* Deletes all objects that the side defines, in all namespaces; *ret_n is the number of those that were there. The kind may be gone
 * although this run has read its CRD: then there are none, and the end of the CRD runs this again. */
static int delete_instances(struct definition *d, struct gvk gvk, size_t *ret_n, struct err *err)
{
        struct list_request req = { .gvk = gvk };
        struct object_list list = { 0 };
        bool is_gone; /* the list is followed */
        int e = cluster_list(d->r->cluster, d->r->run, &req, &list, err);

        if (e == ERR_NOT_FOUND) {
                err_done(err);
                list.n = 0;
                e = 0;
        }
        for (size_t i = 0; e == 0 && i < list.n; i++) {
                const struct value *object = object_list_value(&list, i, d->arena);

                if (!meta_is_deleting(object))
                        e = delete_object(d, object, &is_gone, err);
        }
        *ret_n = e == 0 ? list.n : 0;
        return e;
}

static bool is_controlled(const struct value *object, const struct value *by)
{
        struct owner_reference owner;

        return object && owner_controller(object, &owner) && str_equal(owner.uid, meta_uid(by));
}

/* Called when the CRD is gone or another's. */
static int finish_deletion(struct definition *d, struct err *err)
{
        plane_stop_started(d->r->context, controller_name_of(d));
        return remove_finalizer(d, err);
}

/* After a restart no controller runs yet for a definition that is being deleted, but the finalizers of its objects need one. The kind
 * of claims that are withdrawn is known from the status alone. */
static int keep_running(struct definition *d, struct gvk gvk, struct err *err)
{
        const struct value *xrd = d->xrd, *spec = value_get(xrd, STR("spec"));
        struct value kind = value_of_str(gvk.kind);

        if (plane_has_started(d->r->context, controller_name_of(d)))
                return 0;
        if (d->side->is_of_claims && !value_get(spec, STR("claimNames")))
                xrd = value_with(d->arena, xrd, STR("spec"),
                                 value_with(d->arena, spec, STR("claimNames"),
                                            value_with(d->arena, &value_empty_object, STR("kind"), &kind)));
        return d->side->start(d->r->context, xrd, err);
}

/* The controller outlives its objects, so that their finalizers are processed. It runs until the CRD is gone: a claim may make its
 * composite again in the moment before the CRD is deleted. */
static int delete_definition(struct definition *d, const struct value *crd, struct gvk gvk, struct err *err)
{
        struct str name = meta_name(crd);
        bool is_gone;
        size_t n;
        int e = delete_instances(d, gvk, &n, err);

        if (e < 0)
                return fail(d, d->side->delete_reason, err,
                            arena_printf(d->arena, "cannot delete defined %s", d->side->things).p);
        if (n > 0 && keep_running(d, gvk, err) < 0)
                return fail(d, d->side->delete_reason, err, "cannot start controller");
        if (n > 0) {
                TELL(d, false, d->side->delete_reason, "waiting for defined %s to be deleted", d->side->things);
                return 0; /* the list is followed: their end runs this again */
        }
        if (meta_is_deleting(crd))
                return 0; /* its end runs this again */
        e = delete_object(d, crd, &is_gone, err);
        if (e < 0)
                return fail(d, d->side->delete_reason, err, "cannot delete CustomResourceDefinition");
        TELL(d, false, d->side->delete_reason, "Deleted %s CustomResourceDefinition: %.*s", d->side->what,
             STR_ARG(name));
        return is_gone ? finish_deletion(d, err) : 0;
}

static int get_crd(struct definition *d, struct str name, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
                                  .name = name };
        int e;

        *ret = NULL;
        e = cluster_get_value(d->r->cluster, d->r->run, &key, ret, err);
        if (e != ERR_NOT_FOUND)
                return e;
        err_done(err);
        return 0;
}

static int terminate(struct definition *d, struct str crd_name, struct gvk gvk, struct err *err)
{
        const struct value *crd;
        int e;

        if (!meta_has_finalizer(d->xrd, d->side->finalizer))
                return finish_deletion(d, err);
        e = put_status(d, with_condition(d, d->xrd, false, d->side->terminating, STR("")), err);
        if (e < 0)
                return kind_run_retry_conflict(d->r, err, "cannot update status of CompositeResourceDefinition");
        e = get_crd(d, crd_name, &crd, err);
        if (e < 0)
                return fail(d, d->side->delete_reason, err, "cannot get CustomResourceDefinition");
        if (!is_controlled(crd, d->xrd))
                return finish_deletion(d, err);
        return delete_definition(d, crd, gvk, err);
}

/* --- The CRD --- */

/* Creates or updates the CRD; *ret is the CRD as the API has it. */
static int apply_crd(struct definition *d, const struct value *wanted, const struct value **ret, struct err *err)
{
        const struct value *existing;
        struct write_request req = {
                .verb = WRITE_CREATE, .key = object_key_of(wanted), .body = wanted, .manager = CROSSPLANE_MANAGER
        };
        struct write_result result;
        struct owner_reference owner;
        int e = get_crd(d, meta_name(wanted), &existing, err);

        if (e < 0)
                return err_wrap(err, "cannot get object");
        if (existing && owner_controller(existing, &owner) && !str_equal(owner.uid, meta_uid(d->xrd)))
                return err_set(
                        err, ERR_FORBIDDEN,
                        "existing object is not controlled by UID \"%.*s\"; CustomResourceDefinition \"%.*s\" is "
                        "controlled by %.*s \"%.*s\": choose other names, or delete that one",
                        STR_ARG(meta_uid(d->xrd)), STR_ARG(meta_name(existing)), STR_ARG(owner.kind),
                        STR_ARG(owner.name));
        if (existing) {
                req.verb = WRITE_UPDATE;
                req.body = meta_with_str(d->arena, wanted, STR("resourceVersion"), meta_resource_version(existing));
        }
        e = cluster_write(d->r->cluster, d->r->run, &req, &result, err);
        if (e < 0)
                return err_wrap(err, existing ? "cannot update object" : "cannot create object");
        *ret = result.value;
        if (result.is_changed)
                TELL(d, false, d->side->apply_reason, "Applied %s CustomResourceDefinition: %.*s", d->side->what,
                     STR_ARG(meta_name(wanted)));
        return 0;
}

static bool is_established(const struct value *crd)
{
        struct condition c;

        return condition_get(crd, STR("Established"), &c) && c.status == CONDITION_TRUE && !meta_is_deleting(crd);
}

static int add_finalizer(struct definition *d, struct err *err)
{
        int e;

        if (meta_has_finalizer(d->xrd, d->side->finalizer))
                return 0;
        e = kind_run_update(d->r, meta_with_finalizer(d->arena, d->xrd, d->side->finalizer), STR(""), &d->xrd, err);
        return e;
}

static void tell_restart(struct definition *d)
{
        struct condition c;

        if (d->side->tells_restarts && condition_get(d->xrd, str_from(d->side->condition), &c) &&
            str_equal(c.reason, str_from(d->side->watching)) && c.observed_generation &&
            c.observed_generation != meta_generation(d->xrd))
                TELL(d, false, "RestartComposite", "XRD specification changed; restarting controller to apply updates");
}

static int serve(struct definition *d, struct err *err)
{
        int e;

        tell_restart(d);
        e = d->side->start(d->r->context, d->xrd, err);
        if (e < 0)
                return fail(d, d->side->apply_reason, err, "cannot start controller");
        e = put_status(d, with_condition(d, with_controllers(d, d->xrd), true, d->side->watching, STR("")), err);
        return e < 0 ? kind_run_retry_conflict(d->r, err, "cannot update status of CompositeResourceDefinition") : 0;
}

/* The API serves no CRD whose kind or other names another one of its group has. The condition says so; the CRD is followed. */
static int wait_for_crd(struct definition *d, const struct value *crd, struct err *err)
{
        struct condition names;
        struct str message;

        TELL(d, false, d->side->apply_reason, "waiting for %s CustomResourceDefinition to be established",
             d->side->what);
        if (!condition_get(crd, STR("NamesAccepted"), &names) || names.status != CONDITION_FALSE)
                return 0;
        message = arena_printf(d->arena,
                               "CustomResourceDefinition \"%.*s\" is not served: %.*s by another one of its group; "
                               "choose other names, or delete that one",
                               STR_ARG(meta_name(crd)), STR_ARG(names.message));
        if (put_status(d, with_condition(d, d->xrd, false, "NameTaken", message), err) < 0)
                return kind_run_retry_conflict(d->r, err, "cannot update status of CompositeResourceDefinition");
        return 0;
}

static int establish(struct definition *d, const struct value *wanted, struct err *err)
{
        const struct value *crd = NULL;
        int e = add_finalizer(d, err);

        if (e < 0)
                return fail(d, d->side->apply_reason, err, "cannot add finalizer");
        e = apply_crd(d, wanted, &crd, err);
        if (e < 0) {
                bool is_conflict = err->reason == REASON_CONFLICT && err->details;

                add_hint(d, err);
                e = fail(d, d->side->apply_reason, err,
                         arena_printf(d->arena, "cannot apply rendered %s CustomResourceDefinition", d->side->what).p);
                if (!is_conflict)
                        tell_invalid(d, err);
                return e;
        }
        return is_established(crd) ? serve(d, err) : wait_for_crd(d, crd, err);
}

/* The XRD does not offer claims, or no longer does: what it offered goes, with its claims. */
static int withdraw(struct definition *d, struct err *err)
{
        const struct value *type = value_find(d->xrd, "status", "controllers", d->side->status_field);
        struct gvk gvk = gvk_of(type);
        const struct kind *kind = NULL;
        int e;

        if (!meta_has_finalizer(d->xrd, d->side->finalizer))
                return 0;
        e = gvk.kind.n ? cluster_kind(d->r->cluster, d->r->run, gvk, &kind, err) : ERR_NOT_FOUND;
        if (e < 0 && e != ERR_NOT_FOUND)
                return fail(d, d->side->delete_reason, err,
                            arena_printf(d->arena, "cannot find the %s that were offered", d->side->things).p);
        err_done(err);
        return kind ? terminate(d, arena_printf(d->arena, "%.*s.%.*s", STR_ARG(kind->plural), STR_ARG(kind->group)),
                                gvk, err)
                    : finish_deletion(d, err);
}

static int reconcile_side(struct kind_run *r, const struct side *side, struct err *err)
{
        struct definition d = { .r = r, .side = side, .arena = r->run->arena };
        const struct value *crd = NULL;
        struct gvk gvk;
        int e = kind_run_get(r, &d.xrd, err);

        if (e < 0)
                return err_wrap(err, "cannot get CompositeResourceDefinition");
        if (!d.xrd) {
                plane_stop_started(r->context, arena_printf(d.arena, "%s/%.*s", side->prefix, STR_ARG(r->key.name)));
                return 0;
        }
        if (side->is_of_claims && xrd_claim_places(d.xrd) == &places_requirement)
                d.side = side = &requirements;
        if (!side->gvk(d.xrd, &gvk))
                return withdraw(&d, err);
        e = side->crd(d.arena, d.xrd, &crd, err);
        if (e < 0) {
                add_hint(&d, err);
                e = fail(&d, "RenderCRD", err,
                         arena_printf(d.arena, "cannot render %s CustomResourceDefinition", side->what).p);
                if (!meta_is_deleting(d.xrd)) {
                        tell_invalid(&d, err);
                        return e;
                }
        }
        if (meta_is_deleting(d.xrd)) {
                err_done(err);
                return terminate(&d, crd ? meta_name(crd) : meta_name(d.xrd), gvk, err);
        }
        return establish(&d, crd, err);
}

int definition_reconcile(struct kind_run *r, struct err *err)
{
        return reconcile_side(r, &composites, err);
}

int offer_reconcile(struct kind_run *r, struct err *err)
{
        return reconcile_side(r, &claims, err);
}
