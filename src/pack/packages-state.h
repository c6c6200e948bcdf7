/* State and functions that the controllers of packages share. Private to this layer. */
#pragma once

#include "condition.h"
#include "map.h"
#include "packages.h"
#include "xpkg.h"

#define PACKAGE_GROUP        STR("pkg.crossplane.io")
#define PACKAGE_LABEL        STR("pkg.crossplane.io/package")
#define PACKAGE_NAMESPACE    STR("crossplane-system")
#define FUNCTION_PATIENCE_MS 10000      /* for a function that cannot be reached */
#define PROGRAM_PATIENCE_MS  30000      /* for one whose program we start, again if it has ended */
#define BUILTIN              "builtin:" /* before the name of a built-in function in status.endpoint */

/* One of the three kinds of packages. */
struct package_kind {
        enum xpkg_kind kind;
        struct str package, revision;                     /* kinds: Function, FunctionRevision */
        struct str package_component, revision_component; /* of events; also the names of the controllers */
        bool has_runtime;
        bool has_client_secret; /* its program connects to the API */
};

extern const struct package_kind package_kinds[3]; /* by enum xpkg_kind */

/* The controllers of one kind; the context of their runs. */
struct package_controllers {
        struct packages *pack;
        const struct package_kind *kind;
        struct kind_controller *packages, *revisions;
        struct kind_controller *rollouts; /* of Functions, with the gate FunctionRevisionSelectors; else NULL */
};

struct packages {
        struct packages_options options;
        struct arena arena; /* the options' texts */
        struct package_controllers kinds[3];
        struct kind_controller *lock, *definitions, *policies;

        struct mutex mutex; /* guards the map */
        struct map
                registered; /* name of a revision -> what the registry knows of it, as text; both in one allocation */
};

/* Functions of a package that needs no image: built in, or run beside. */
struct source {
        bool is_found;
        struct str endpoint;
        struct str
                message; /* what people should know; if it is not found, why a built-in function does not stand for it, or "" */
};

/* Finds out whether the package is built in or run beside; the texts live in the run's arena. reference is spec.package or spec.image. */
int packages_source(struct packages *p, struct kind_run *r, const struct package_kind *kind, struct str name,
                    struct str reference, struct source *ret, struct err *err);

/* Whether several revisions of a package of this kind can be active, each with a runtime under its own name. */
static inline bool packages_have_selectors(const struct packages *p, const struct package_kind *kind)
{
        return kind->kind == XPKG_FUNCTION && feature_is_on(p->options.features, FEATURE_FUNCTION_REVISION_SELECTORS);
}

static inline struct gvk package_gvk(const struct package_kind *kind)
{
        return (struct gvk) { PACKAGE_GROUP, STR("v1"), kind->package };
}

static inline struct gvk package_revision_gvk(const struct package_kind *kind)
{
        return (struct gvk) { PACKAGE_GROUP, STR("v1"), kind->revision };
}

/* The revisions of a package, through the run's cluster. */
int packages_list_revisions(struct kind_run *r, const struct package_kind *kind, struct str package,
                            struct object_list *ret, struct err *err);

/* NULL in *ret if there is none. */
int packages_get(struct kind_run *r, struct gvk gvk, struct str ns, struct str name, const struct value **ret,
                 struct err *err);

int packages_write(struct kind_run *r, enum write_verb verb, const struct value *object, struct str subresource,
                   bool is_dry_run, const struct value **ret, struct err *err);

static inline bool package_revision_is_active(const struct value *revision)
{
        return str_equal(value_str(value_find(revision, "spec", "desiredState")), STR("Active"));
}

/* The function has answered since its program was started: it has an endpoint. */
static inline bool package_revision_has_answered(const struct value *revision)
{
        return value_str(value_find(revision, "status", "endpoint")).n > 0;
}

/* --- Status --- */

/* Sets the condition, with the time and the object's generation. */
const struct value *package_with_condition(struct arena *a, const struct value *object, struct condition c);
const struct value *package_with_status(struct arena *a, const struct value *object, struct str key,
                                        const struct value *v); /* NULL removes it */
const struct value *package_with_status_str(struct arena *a, const struct value *object, struct str key, struct str v);

/* Replaces the entries of appliedImageConfigRefs that the package client owns. */
struct package_result;
const struct value *package_with_applied(struct arena *a, const struct value *object,
                                         const struct package_result *result);

/* `crossplane.io/paused: "true"`. 1: it is paused, and its status says so. 0: it is not; conditions of a pause that has ended are gone
 * from *object. */
int package_check_pause(struct kind_run *r, struct str component, const struct value **object, struct err *err);

bool package_has_status_of(const struct value *a, const struct value *b); /* equal statuses, or none */

/* Writes the status if it differs from what was read. */
int package_save_status(struct kind_run *r, const struct value *read, const struct value *wanted, struct err *err);

/* --- Contexts: struct package_controllers --- */

kind_reconcile package_reconcile, package_revision_reconcile, package_rollout_reconcile;

/* --- Managed resource definitions; the contexts are the pack --- */

kind_reconcile managed_definition_reconcile, activation_policy_reconcile;

/* The name that the certificate of a revision's program is for. */
struct str revision_service(const struct packages *p, const struct package_kind *kind, const struct value *revision);

/* --- Functions in the registry --- */

/* Whether an Inactive function is called until an Active revision answers. package: NULL if there is none. */
int package_function_serves(struct packages *p, struct kind_run *r, const struct value *package,
                            const struct value *revision, bool *ret, struct err *err);

/* Puts the revision into the registry as it is now, and runs who calls it. serves: it is used although the revision is Inactive. */
int package_register_function(struct packages *p, struct kind_run *r, const struct value *revision, bool serves,
                              struct err *err);
/* Puts all revisions into the registry as they were when the last process ended, so that no pipeline runs without them. What cannot be
 * read or called yet is left to the controllers, which report it. */
void package_restore_functions(struct packages *p);
void package_unregister_function(struct packages *p, struct kind_run *r, struct str revision);

/* Tells the registry of the Function's spec.rollout, if it has one; before its revisions are put there. */
int package_begin_rollout(struct packages *p, struct kind_run *r, struct str function, struct err *err);
