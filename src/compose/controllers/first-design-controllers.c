/* The first design (docs/spec/seeds 5): each definition keeps an XRD true, and a publication makes its definition's XRD offer
 * requirements. The XRD's own controllers do the rest. Everything that one of these objects depends on is read in each run, so that
 * a change of it runs the object again; an XRD that was edited by hand is written again. */
#include "plane-state.h"

#include "clock.h"
#include "condition.h"
#include "first-design.h"
#include "owner.h"

#define FINALIZER STR("weft.dev/first-design")

/* One reconcile of a definition or a publication. */
struct first_run {
        struct kind_run *r;
        struct arena *arena;
        const struct value *object; /* as the API has it */
        struct str component;
};

#define TELL(f, is_warning, reason, ...)                                                                           \
        kind_run_event((f)->r, (f)->object, &(struct recorder_source) { .component = (f)->component }, is_warning, \
                       reason, __VA_ARGS__)

/* --- Objects --- */

/* Gets an object; *ret is NULL if it does not exist. */
static int get_object(struct first_run *f, struct gvk gvk, struct str name, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = gvk, .name = name };
        int e;

        *ret = NULL;
        e = cluster_get_value(f->r->cluster, f->r->run, &key, ret, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        return e < 0 ? err_wrap(err, "cannot get %.*s \"%.*s\"", STR_ARG(gvk.kind), STR_ARG(name)) : 0;
}

static int get_xrd(struct first_run *f, struct str name, const struct value **ret, struct err *err)
{
        return get_object(f, (struct gvk) { CROSSPLANE_GROUP, STR("v2"), STR("CompositeResourceDefinition") }, name,
                          ret, err);
}

static int get_crd(struct first_run *f, struct str name, const struct value **ret, struct err *err)
{
        return get_object(f, (struct gvk) { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
                          name, ret, err);
}

static int get_own(struct first_run *f, struct str kind, struct str name, const struct value **ret, struct err *err)
{
        return get_object(f, (struct gvk) { CROSSPLANE_GROUP, STR("v1alpha1"), kind }, name, ret, err);
}

static bool is_controlled(const struct value *object, const struct value *by)
{
        struct owner_reference owner;

        return object && by && owner_controller(object, &owner) && str_equal(owner.uid, meta_uid(by));
}

/* `CompositeResourceDefinition "x"`, or that nobody controls it. */
static struct str controller_of(struct first_run *f, const struct value *object)
{
        struct owner_reference owner;

        if (!owner_controller(object, &owner))
                return STR("no one");
        return arena_printf(f->arena, "%.*s \"%.*s\"", STR_ARG(owner.kind), STR_ARG(owner.name));
}

/* --- Conditions --- */

static struct condition make_condition(struct first_run *f, const char *type, bool is_true, struct str reason,
                                       struct str message)
{
        return (struct condition) {
                .type = str_from(type),
                .status = is_true ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = reason,
                .message = message,
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(f->object),
        };
}

static int put_conditions(struct first_run *f, struct condition synced, struct condition state, struct err *err)
{
        struct condition both[] = { synced, state };
        const struct value *object = f->object;
        int e;

        if (!value_is_object(value_get(object, STR("status"))))
                object = value_with(f->arena, object, STR("status"), &value_empty_object);
        object = conditions_set(f->arena, object, both, ARRAY_SIZE(both));
        if (value_equal(object, f->object))
                return 0;
        e = kind_run_update(f->r, object, STR("status"), &f->object, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        return e < 0 ? kind_run_retry_conflict(f->r, err, "cannot update status") : 0;
}

/* The object cannot do its work until somebody changes something; that change runs it again. */
static int refuse(struct first_run *f, const char *state, const char *reason, struct str message, struct err *err)
{
        TELL(f, true, reason, "%.*s", STR_ARG(message));
        return put_conditions(f, make_condition(f, "Synced", false, STR("ReconcileError"), message),
                              make_condition(f, state, false, str_from(reason), message), err);
}

/* Reports the error in an event and in the condition, and returns it: it is tried again. */
static int fail(struct first_run *f, const char *state, const char *reason, struct err *err)
{
        struct str message = arena_copy(f->arena, str_from(err_message(err)));
        _cleanup_err_ struct err ignored = { 0 };

        if (err->reason == REASON_CONFLICT && err->details)
                return kind_run_retry_conflict(f->r, err, "");
        refuse(f, state, reason, message, &ignored);
        return err->code;
}

/* The condition of the XRD, as this object's own. */
static struct condition mirror(struct first_run *f, const struct value *xrd, const char *type)
{
        struct condition c;

        if (!condition_get(xrd, str_from(type), &c))
                return make_condition(f, type, false, STR("Creating"),
                                      STR("Waiting for the CompositeResourceDefinition"));
        return make_condition(f, type, c.status == CONDITION_TRUE, c.reason, c.message);
}

/* --- Finalizers and deletion --- */

static int add_finalizer(struct first_run *f, struct err *err)
{
        if (meta_has_finalizer(f->object, FINALIZER))
                return 0;
        if (kind_run_update(f->r, meta_with_finalizer(f->arena, f->object, FINALIZER), STR(""), &f->object, err) < 0)
                return kind_run_retry_conflict(f->r, err, "cannot add finalizer");
        return 0;
}

static int remove_finalizer(struct first_run *f, struct err *err)
{
        int e;

        if (!meta_has_finalizer(f->object, FINALIZER))
                return 0;
        e = kind_run_update(f->r, meta_without_finalizer(f->arena, f->object, FINALIZER), STR(""), &f->object, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        return e < 0 ? kind_run_retry_conflict(f->r, err, "cannot remove finalizer") : 0;
}

/* *ret_is_gone: the XRD is no more. A run that removed it itself is not told of its end. */
static int delete_xrd(struct first_run *f, const struct value *xrd, bool *ret_is_gone, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = object_key_of(xrd),
                                     .precondition_uid = meta_uid(xrd) };
        struct write_result result;
        int e = cluster_write(f->r->cluster, f->r->run, &req, &result, err);

        *ret_is_gone = e == ERR_NOT_FOUND || (e == 0 && result.is_removed);
        if (e == ERR_NOT_FOUND || e == ERR_CONFLICT) {
                err_done(err);
                return 0;
        }
        return e;
}

/* The XRD takes its resources and CRDs with it. Its end runs this again. */
static int terminate(struct first_run *f, struct err *err)
{
        const struct value *xrd;
        bool is_gone = false;

        if (get_xrd(f, meta_name(f->object), &xrd, err) < 0)
                return fail(f, "Established", "TerminateDefinition", err);
        if (!is_controlled(xrd, f->object))
                return remove_finalizer(f, err);
        if (!meta_is_deleting(xrd) && delete_xrd(f, xrd, &is_gone, err) < 0) {
                err_wrap(err, "cannot delete CompositeResourceDefinition");
                return fail(f, "Established", "TerminateDefinition", err);
        }
        if (is_gone)
                return remove_finalizer(f, err);
        return put_conditions(f, make_condition(f, "Synced", true, STR("ReconcileSuccess"), STR("")),
                              make_condition(f, "Established", false, STR("Terminating"),
                                             STR("Waiting until all resources of the defined kind are deleted")),
                              err);
}

/* --- Definitions --- */

/* A message if another object has the definition's name already, "" otherwise. Nothing of another is taken over. */
static int find_clash(struct first_run *f, const struct value *xrd, struct str *ret, struct err *err)
{
        const struct value *crd;

        *ret = STR("");
        if (xrd && !is_controlled(xrd, f->object)) {
                *ret = arena_printf(f->arena,
                                    "CompositeResourceDefinition \"%.*s\" exists and is controlled by %.*s: delete it, "
                                    "or define a kind of another name",
                                    STR_ARG(meta_name(xrd)), STR_ARG(controller_of(f, xrd)));
                return 0;
        }
        if (get_crd(f, meta_name(f->object), &crd, err) < 0)
                return err->code;
        if (crd && !is_controlled(crd, xrd))
                *ret = arena_printf(f->arena,
                                    "CustomResourceDefinition \"%.*s\" exists and is controlled by %.*s: delete it, or "
                                    "define a kind of another name",
                                    STR_ARG(meta_name(crd)), STR_ARG(controller_of(f, crd)));
        return 0;
}

/* The publication of the definition; NULL without one. One that is being deleted does not count. */
static int get_publication(struct first_run *f, const struct value **ret, struct err *err)
{
        int e;

        *ret = NULL;
        if (!first_design_kind(gvk_of(f->object))->can_be_published)
                return 0;
        e = get_own(f, STR("InfrastructurePublication"), meta_name(f->object), ret, err);
        if (e == 0 && *ret && meta_is_deleting(*ret))
                *ret = NULL;
        return e;
}

/* A requirement's kind must be free too; otherwise the publication says why it is not offered. */
static int may_publish(struct first_run *f, const struct value *xrd, const struct value **publication, struct err *err)
{
        const struct value *crd;

        if (!*publication)
                return 0;
        if (get_crd(f, first_design_requirement_crd(f->arena, f->object), &crd, err) < 0)
                return err->code;
        if (crd && !is_controlled(crd, xrd))
                *publication = NULL;
        return 0;
}

/* The existing XRD with the wanted label and spec; its other metadata and its status are its own. */
static const struct value *merged(struct first_run *f, const struct value *xrd, const struct value *wanted)
{
        struct str from = meta_label(wanted, FIRST_DESIGN_LABEL);

        xrd = meta_with_label(f->arena, xrd, FIRST_DESIGN_LABEL, from);
        return value_with(f->arena, xrd, STR("spec"), value_get(wanted, STR("spec")));
}

static int write_xrd(struct first_run *f, const struct value *xrd, const struct value *wanted, const struct value **ret,
                     struct err *err)
{
        struct write_request req = {
                .verb = xrd ? WRITE_UPDATE : WRITE_CREATE,
                .key = object_key_of(wanted),
                .body = xrd ? merged(f, xrd, wanted) : wanted,
                .manager = CROSSPLANE_MANAGER,
        };
        struct write_result result;
        int e = cluster_write(f->r->cluster, f->r->run, &req, &result, err);

        if (e < 0)
                return err_wrap(err, "cannot %s CompositeResourceDefinition", xrd ? "update" : "create");
        *ret = result.value;
        if (result.is_changed || !xrd)
                TELL(f, false, "ApplyDefinition", "%s CompositeResourceDefinition %.*s", xrd ? "Updated" : "Created",
                     STR_ARG(meta_name(wanted)));
        return 0;
}

static int establish(struct first_run *f, struct err *err)
{
        const struct value *xrd, *publication, *wanted;
        struct str clash;

        if (get_xrd(f, meta_name(f->object), &xrd, err) < 0 || find_clash(f, xrd, &clash, err) < 0 ||
            get_publication(f, &publication, err) < 0 || may_publish(f, xrd, &publication, err) < 0)
                return fail(f, "Established", "ApplyDefinition", err);
        if (clash.n)
                return refuse(f, "Established", "NameTaken", clash, err);
        if (meta_is_deleting(xrd))
                return 0; /* its end runs this again, and makes another */
        if (first_design_xrd(f->arena, f->object, publication, &wanted, NULL, err) < 0) {
                struct str message = arena_copy(f->arena, str_from(err_message(err)));

                err_done(err);
                return refuse(f, "Established", "InvalidDefinition", message, err);
        }
        if (write_xrd(f, xrd, wanted, &xrd, err) < 0)
                return fail(f, "Established", "ApplyDefinition", err);
        return put_conditions(f, make_condition(f, "Synced", true, STR("ReconcileSuccess"), STR("")),
                              mirror(f, xrd, "Established"), err);
}

static int reconcile_definition(struct kind_run *r, const char *component, struct err *err)
{
        struct first_run f = { .r = r, .arena = r->run->arena, .component = str_from(component) };
        int e = kind_run_get(r, &f.object, err);

        if (e < 0 || !f.object)
                return e;
        if (meta_is_deleting(f.object))
                return terminate(&f, err);
        e = add_finalizer(&f, err);
        return e < 0 || r->answer->requeues ? e : establish(&f, err);
}

int application_definition_reconcile(struct kind_run *r, struct err *err)
{
        return reconcile_definition(r, "defined/applicationdefinition.apiextensions.crossplane.io", err);
}

int infrastructure_definition_reconcile(struct kind_run *r, struct err *err)
{
        return reconcile_definition(r, "defined/infrastructuredefinition.apiextensions.crossplane.io", err);
}

/* --- Publications --- */

static struct str published_name(const struct value *publication)
{
        return value_str(value_find(publication, "spec", "infrastructureDefinitionReference", "name"));
}

/* Why there is nothing to publish: only kinds that an InfrastructureDefinition defines can be. */
static int tell_unpublishable(struct first_run *f, struct str name, struct err *err)
{
        const struct value *application;

        if (get_own(f, STR("ApplicationDefinition"), name, &application, err) < 0)
                return fail(f, "Offered", "OfferRequirement", err);
        return refuse(f, "Offered", "NoDefinition",
                      arena_printf(f->arena,
                                   "InfrastructureDefinition \"%.*s\" does not exist%s: only kinds that an "
                                   "InfrastructureDefinition defines can be published",
                                   STR_ARG(name), application ? ", an ApplicationDefinition of that name does" : ""),
                      err);
}

static int check_requirement_name(struct first_run *f, const struct value *definition, const struct value *xrd,
                                  struct str *ret, struct err *err)
{
        const struct value *crd;

        *ret = STR("");
        if (get_crd(f, first_design_requirement_crd(f->arena, definition), &crd, err) < 0)
                return err->code;
        if (crd && !is_controlled(crd, xrd))
                *ret = arena_printf(f->arena,
                                    "CustomResourceDefinition \"%.*s\" exists and is controlled by %.*s: delete it, "
                                    "then the requirement can have its name",
                                    STR_ARG(meta_name(crd)), STR_ARG(controller_of(f, crd)));
        return 0;
}

static int offer(struct first_run *f, struct err *err)
{
        struct str name = published_name(f->object), clash;
        const struct value *definition, *xrd;

        if (!str_equal(name, meta_name(f->object)))
                return refuse(f, "Offered", "WrongName",
                              arena_printf(f->arena,
                                           "InfrastructureDefinition \"%.*s\" is published by the "
                                           "InfrastructurePublication of the same name, not by this one",
                                           STR_ARG(name)),
                              err);
        if (get_own(f, STR("InfrastructureDefinition"), name, &definition, err) < 0 || get_xrd(f, name, &xrd, err) < 0)
                return fail(f, "Offered", "OfferRequirement", err);
        if (!definition)
                return tell_unpublishable(f, name, err);
        if (check_requirement_name(f, definition, xrd, &clash, err) < 0)
                return fail(f, "Offered", "OfferRequirement", err);
        if (clash.n)
                return refuse(f, "Offered", "NameTaken", clash, err);
        return put_conditions(f, make_condition(f, "Synced", true, STR("ReconcileSuccess"), STR("")),
                              mirror(f, xrd, "Offered"), err);
}

/* Whether the definition's XRD still offers requirements. */
static bool is_offered(const struct value *publication, const struct value *xrd)
{
        return xrd && str_equal(published_name(publication), meta_name(publication)) &&
               (value_find(xrd, "spec", "claimNames") ||
                meta_has_finalizer(xrd, STR("offered.apiextensions.crossplane.io")));
}

/* The definition withdraws the offer, with all requirements; then the publication may go. */
static int withdraw(struct first_run *f, struct err *err)
{
        const struct value *xrd;

        if (get_xrd(f, published_name(f->object), &xrd, err) < 0)
                return fail(f, "Offered", "WithdrawRequirement", err);
        if (!is_offered(f->object, xrd))
                return remove_finalizer(f, err);
        return put_conditions(f, make_condition(f, "Synced", true, STR("ReconcileSuccess"), STR("")),
                              make_condition(f, "Offered", false, STR("Terminating"),
                                             STR("Waiting until all requirements are deleted")),
                              err);
}

int publication_reconcile(struct kind_run *r, struct err *err)
{
        struct first_run f = { .r = r,
                               .arena = r->run->arena,
                               .component = STR("offered/infrastructurepublication.apiextensions.crossplane.io") };
        int e = kind_run_get(r, &f.object, err);

        if (e < 0 || !f.object)
                return e;
        if (meta_is_deleting(f.object))
                return withdraw(&f, err);
        e = add_finalizer(&f, err);
        return e < 0 || r->answer->requeues ? e : offer(&f, err);
}
