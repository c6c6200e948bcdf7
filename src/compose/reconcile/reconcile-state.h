/* The state of one running reconcile. Private to the reconcile. */
#pragma once

#include "composite.h"
#include "composition.h"
#include "reconcile.h"
#include "vec.h"

#define MANAGER_CONTROLLER STR("crossplane") /* field manager of plain updates */
#define MANAGER_COMPOSITE  STR("apiextensions.crossplane.io/composite")
#define FINALIZER          STR("composite.apiextensions.crossplane.io")

/* A composed resource that exists in the cluster. */
struct observed_resource {
        struct str key;
        size_t place; /* index of the reference to it */
        struct object *object;
        const struct value *value;
        struct fn_bytes_map connection;
};

/* A composed resource that the pipeline wants, and the result of applying it. */
struct composed_resource {
        struct str key;
        const struct value *object;
        bool is_ready;
        bool is_synced;
        struct str waits_for; /* a reference of it that cannot be resolved yet; "": none */
        bool is_kept;         /* left unchanged: not applied, not deleted */
};

struct reconcile {
        struct run *run;     /* as the definition's service account, if it names one */
        struct run *own_run; /* as the engine itself */
        struct arena *arena; /* the run's */
        const struct reconcile_options *options;
        struct composite xr;          /* the composite in memory, with changes that are not written yet */
        const struct value *live;     /* the composite as the API last returned it */
        bool is_removed;              /* the last write removed the composite */
        bool defers_puts;             /* updates of the composite wait, so that several become one */
        const struct value *deferred; /* the composite that the last one of them writes; NULL: none waits */
        const struct value *revision;
        struct composition composition; /* the steps of the revision */
        bool is_namespaced;

        struct observed_resource *observed; /* by key */
        size_t n_observed;
        struct composed_resource *composed; /* by key */
        size_t n_composed;
        struct fn_bytes_map connection; /* the composite's connection details that the pipeline wants */
        enum fn_ready ready;            /* the composite's readiness, from the pipeline */
        int64_t ttl_ns;                 /* the smallest TTL of all steps; 0: none */
        bool is_fatal;
        const struct value *refused;     /* the composed resource whose apply failed, which ended the composition */
        struct fn_condition *conditions; /* from functions */
        size_t n_conditions;
        const struct fn_watch *watched; /* resources that the steps watch; sorted */
        size_t n_watched;

        struct reconcile_event *events;
        size_t n_events;
        size_t n_events_before; /* events before the composition began */
        struct fn_struct context;
        struct step_record *records;
        size_t n_records;
};

/* --- tell.c: events and conditions (1.8, 1.9) --- */

void reconcile_event(struct reconcile *r, bool is_warning, struct str reason, const char *format, ...) _printf_(4, 5);
void reconcile_tell_claim(struct reconcile *r,
                          struct str message); /* sends the last event to the claim too, with this message */

/* Events of the composition, removed from the list so that they can be appended again later. */
struct events_mark {
        struct reconcile_event *events;
        size_t n;
};

struct events_mark events_rewind(struct reconcile *r);
void events_replay(struct reconcile *r, const struct events_mark *mark);

void tell_condition(struct reconcile *r, const char *type, enum condition_status status, const char *reason,
                    struct str message);
void tell_responsive(struct reconcile *r);
void tell_function_conditions(struct reconcile *r);
void tell_unknown(struct reconcile *r); /* sets functions' conditions that were not returned to Unknown */
void tell_of_resources(struct reconcile *r);
void tell_synced(struct reconcile *r);
void tell_ready(struct reconcile *r);

/* --- write.c: writes, without those that change nothing --- */

/* Writes the composite in memory; afterwards the composite in memory is the one that the API returned. While updates are deferred, the
 * composite's own (no subresource) waits for reconcile_put_deferred. That is an error when the composite in memory has changed since:
 * that change must not be written. */
int reconcile_put(struct reconcile *r, struct str subresource, struct err *err);
int reconcile_put_deferred(struct reconcile *r, struct err *err);
int reconcile_put_status(struct reconcile *r, struct err *err);

/* Applies the object. live is the object as last read, NULL if unknown; *ret is the object as the API has it after the apply. */
int reconcile_apply(struct reconcile *r, const struct value *object, struct str manager, const struct value *live,
                    const struct value **ret, struct err *err);
/* Applies the status that functions want. brings_conditions: it has conditions that the composite does not have. */
int reconcile_apply_status(struct reconcile *r, const struct value *wanted, bool brings_conditions, struct err *err);

/* Takes the object that the API returned as the composite, with the conditions that are in memory. */
void reconcile_adopt(struct reconcile *r, const struct value *live);

/* --- access.c: permissions of the engine (1.6) --- */

/* A message with the verbs that the engine may not use on objects of this kind in this namespace; "" when all are allowed. */
struct str reconcile_access_denied(struct reconcile *r, const struct value *object);

/* --- select.c: composition and revision (docs/spec/engine 1.3-1.5) --- */

int reconcile_select(struct reconcile *r, struct err *err);
int reconcile_fetch_revision(struct reconcile *r, struct err *err);
int reconcile_configure(struct reconcile *r, struct err *err);

/* --- observe.c --- */

int reconcile_observe(struct reconcile *r, struct err *err);
/* The connection details of an object, from the Secret that the reference names. */
int reconcile_connection_of(struct reconcile *r, const struct value *object, const struct value *reference,
                            struct fn_bytes_map *ret, struct err *err);

/* --- pipeline-run.c: runs the steps and collects their results (2.2-2.8) --- */

int reconcile_run_pipeline(struct reconcile *r, struct fn_state *ret_desired, struct err *err);

/* --- watched.c --- */

/* Adds the resources that a step watches, and sends an event for each that it may not watch. */
void reconcile_collect_watches(struct reconcile *r, const struct step_record *record);

/* The object with status.watchedResourceRefs set to the resources that all steps watch; removed when there are none. */
const struct value *reconcile_with_watched(struct reconcile *r, const struct value *object);

/* --- compose.c: from desired state to the cluster (2.6, 2.9-2.12) --- */

int compose(struct reconcile *r, struct err *err);

/* --- composite-patch.c: fields of the composite that are not its status (8.3) --- */

int reconcile_patch_composite(struct reconcile *r, struct fn_state *desired, struct err *err);

/* --- publish.c: the connection secret (1.7) --- */

int reconcile_publish(struct reconcile *r, struct err *err);

/* The keys that the definition promises and that the composed resources do not give yet, as text; "" when none is missing, or when
 * no Secret is wanted. */
struct str publish_missing_keys(struct reconcile *r);

/* --- resolve.c: references that are chosen by selectors --- */

int reconcile_resolve_selectors(struct reconcile *r, struct err *err);
