/* One reconcile on its way. Private to the reconcile. */
#pragma once

#include "composite.h"
#include "composition.h"
#include "reconcile.h"
#include "vec.h"

#define MANAGER_CONTROLLER STR("crossplane") /* of plain updates */
#define MANAGER_COMPOSITE  STR("apiextensions.crossplane.io/composite")
#define FINALIZER          STR("composite.apiextensions.crossplane.io")

/* What there is of a composed resource. */
struct observed_resource {
        struct str key;
        size_t place; /* of the reference to it */
        struct object *object;
        const struct value *value;
        struct fn_bytes_map connection;
};

/* What is wanted of one, and how it went. */
struct composed_resource {
        struct str key;
        const struct value *object;
        bool is_ready;
        bool is_synced;
        bool is_kept; /* as it is: not applied, not deleted */
};

struct reconcile {
        struct run *run;
        struct arena *arena; /* the run's */
        const struct reconcile_options *options;
        struct composite xr;      /* as it is in memory */
        const struct value *live; /* the composite as the API last answered it */
        bool is_removed;          /* and with that answer it was gone */
        const struct value *revision;
        struct composition composition; /* what the revision means */
        bool is_namespaced;

        struct observed_resource *observed; /* by key */
        size_t n_observed;
        struct composed_resource *composed; /* by key */
        size_t n_composed;
        struct fn_bytes_map connection; /* of the composite, as the pipeline wants it */
        enum fn_ready ready;            /* what the pipeline says of the composite */
        int64_t ttl_ns;                 /* the smallest of all steps; 0: none */
        bool is_fatal;
        const struct value *refused; /* the composed resource that the API did not take, which ended the composition */
        struct fn_condition *conditions; /* of functions */
        size_t n_conditions;
        const struct fn_watch *watched; /* by the steps; sorted */
        size_t n_watched;

        struct reconcile_event *events;
        size_t n_events;
        size_t n_events_before; /* the composition began */
        struct fn_struct context;
        struct step_record *records;
        size_t n_records;
};

/* --- tell.c: events and conditions (1.8, 1.9) --- */

void reconcile_event(struct reconcile *r, bool is_warning, struct str reason, const char *format, ...) _printf_(4, 5);
void reconcile_tell_claim(struct reconcile *r,
                          struct str message); /* the last event is for the claim too, in these words */

/* Events of the composition, taken back and told again. */
struct said {
        struct reconcile_event *events;
        size_t n;
};

struct said tell_take_back(struct reconcile *r);
void tell_again(struct reconcile *r, const struct said *said);

void tell_condition(struct reconcile *r, const char *type, enum condition_status status, const char *reason,
                    struct str message);
void tell_responsive(struct reconcile *r);
void tell_function_conditions(struct reconcile *r);
void tell_unknown(struct reconcile *r); /* of functions' conditions that were not returned */
void tell_of_resources(struct reconcile *r);
void tell_synced(struct reconcile *r);
void tell_ready(struct reconcile *r);

/* --- write.c: nothing that changes nothing is written --- */

/* Writes the composite as it is in memory; what the API answers is what is in memory then. */
int reconcile_put(struct reconcile *r, struct str subresource, struct err *err);
int reconcile_put_status(struct reconcile *r, struct err *err);

/* live is what is known of the object, NULL if nothing; *ret is the object as the API has it then. */
int reconcile_apply(struct reconcile *r, const struct value *object, struct str manager, const struct value *live,
                    const struct value **ret, struct err *err);
/* The status that functions want. brings_conditions: they want conditions in it that the composite does not have. */
int reconcile_apply_status(struct reconcile *r, const struct value *wanted, bool brings_conditions, struct err *err);

/* The API has answered with this: it is the composite now, with the conditions that are in memory. */
void reconcile_adopt(struct reconcile *r, const struct value *live);

/* --- access.c: who may do what (1.6) --- */

/* What the engine may not do with objects of this kind there, in words; "" when it may do everything. */
struct str access_denied(struct reconcile *r, const struct value *object);

/* --- select.c: composition and revision (spec/engine 1.3-1.5) --- */

int select_composition(struct reconcile *r, struct err *err);
int fetch_revision(struct reconcile *r, struct err *err);
int configure(struct reconcile *r, struct err *err);

/* --- observe.c --- */

int observe(struct reconcile *r, struct err *err);
int connection_of(struct reconcile *r, const struct value *object, struct fn_bytes_map *ret, struct err *err);

/* --- pipeline-run.c: the steps, and what they want (2.2-2.8) --- */

int run_pipeline(struct reconcile *r, struct fn_state *ret_desired, struct err *err);

/* --- watched.c --- */

/* Adds what a step watches, and says what it may not. */
void collect_watches(struct reconcile *r, const struct step_record *record);

/* The object, with what all steps watch in its status and nothing else there. */
const struct value *reconcile_with_watched(struct reconcile *r, const struct value *object);

/* --- compose.c: from desired state to the cluster (2.6, 2.9-2.12) --- */

int compose(struct reconcile *r, struct err *err);

/* --- composite-patch.c: fields of the composite that are not its status (8.3) --- */

int patch_composite(struct reconcile *r, struct fn_state *desired, struct err *err);

/* --- publish.c: the connection secret (1.7) --- */

int publish(struct reconcile *r, struct err *err);
