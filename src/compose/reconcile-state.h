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
        struct composite xr; /* as it is in memory */
        const struct value *status_before;
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
        struct fn_condition *conditions; /* of functions */
        size_t n_conditions;

        struct reconcile_event *events;
        size_t n_events;
        size_t n_events_before; /* the composition began */
        struct fn_struct context;
        struct step_record *records;
        size_t n_records;
};

/* --- reconcile.c --- */

void reconcile_event(struct reconcile *r, bool is_warning, struct str reason, const char *format, ...) _printf_(4, 5);
void reconcile_mark(struct reconcile *r, const struct condition *c);

/* Writes the composite as it is in memory; what the API answers is what is in memory then. */
int reconcile_put(struct reconcile *r, struct str subresource, struct err *err);

/* --- select.c: composition and revision (spec/engine 1.3-1.5) --- */

int select_revision(struct reconcile *r, struct err *err);
int configure(struct reconcile *r, struct err *err);

/* --- observe.c --- */

int observe(struct reconcile *r, struct err *err);
int connection_of(struct reconcile *r, const struct value *object, struct fn_bytes_map *ret, struct err *err);

/* --- pipeline-run.c: the steps, and what they want (2.2-2.8) --- */

int run_pipeline(struct reconcile *r, struct fn_state *ret_desired, struct err *err);

/* --- compose.c: from desired state to the cluster (2.6, 2.9-2.12) --- */

int compose(struct reconcile *r, struct err *err);

/* --- publish.c: the connection secret (1.7) --- */

int publish(struct reconcile *r, bool *ret_is_published, struct err *err);
