/* One step of a pipeline: the call of its function, with the requirements loop around it, the response cache before it and a
 * record behind it (spec/engine 2.2-2.5, spec/seeds 2). */
#pragma once

#include "features.h"
#include "registry.h"

enum extra_resources_policy {
        EXTRA_RESOURCES_ALLOW, /* the step's own list, if it has one, decides */
        EXTRA_RESOURCES_DENY,  /* only what the step lists */
        EXTRA_RESOURCES_OFF,   /* none: the function does not get the capability */
};

/* What a Composition says about a step. Borrowed from it.
 *
 * input_ref {apiVersion, kind, name} names an object of the cluster that is the input, whole (seed 000). Where its kind is namespaced it
 * is looked for in the composite's namespace; a composite that has none can refer to cluster-scoped kinds only. That it is not there is
 * an error, and so are input and input_ref together. */
struct step {
        struct str name;
        struct str function;
        struct function_choice choice;               /* functionRevisionRef, functionRevisionSelector */
        const struct value *input;                   /* NULL without */
        const struct value *input_ref;               /* instead of input; NULL without */
        const struct value *credentials;             /* the list as in the Composition; NULL without */
        const struct value *requirements;            /* bootstrap, as in the Composition */
        const struct value *allowed_extra_resources; /* NULL: no list */
        int64_t max_iterations;                      /* 0: the default; -1: until stable */
        bool watches_extra_resources;
};

enum step_read {
        STEP_READ_RESOURCES, /* bootstrap requirements, what the function asked for, what it asked for in the last run */
        STEP_READ_SCHEMA,
        STEP_READ_INPUT,
        STEP_READ_CREDENTIALS, /* a Secret */
};

/* What was read for a step: the run depends on it. Also what was looked for and is not there. */
struct step_dependency {
        enum step_read read;
        struct fn_selector
                selector; /* its name is empty; its namespace is the one that was looked in, "" for all or none */
};

/* What a step did, for people, and what follows from it for later runs. Secrets are not in it (redact.h). */
struct step_record {
        struct str step;
        struct str function;
        struct str revision; /* of the function; "" when it has none */
        int64_t duration_ns;
        unsigned calls;
        bool was_cached;      /* answered by the response cache: no calls */
        size_t request_bytes; /* of all calls; 0 for built-in functions, which see no bytes */
        size_t response_bytes;
        /* A JSON Patch from the desired state before to that after, whose operations also have `old`, what was there; NULL unless asked
         * for. The state is {composite, compositeReady, resources: {NAME: object}, ready: {NAME: "True" | "False"}}. */
        const struct value *desired_diff;
        const struct fn_result *results;
        size_t n_results;
        const struct step_dependency *dependencies; /* each once, sorted */
        size_t n_dependencies;
        const struct fn_watch *watched; /* what changes of re-run the composite (spec/seeds 2); each once, sorted */
        size_t n_watched;
        const struct fn_watch *refused; /* what the function wants to watch and has not asked for */
        size_t n_refused;
};

/* By apiVersion, kind, namespace, name. */
int fn_watch_compare(const struct fn_watch *a, const struct fn_watch *b);

/* Sorts them and drops what is there twice; returns how many are left. */
size_t fn_watches_sort(struct fn_watch *watches, size_t n);

struct fn_cache;
struct requirements_memory;

struct step_context {
        struct run *run;
        struct cluster *cluster;
        struct registry *registry;
        struct features features;
        enum extra_resources_policy policy;
        int64_t timeout_ns; /* of one call; 0: the run's deadline alone */
        /* For the error of a call that takes all the time there is: what allows more, e.g. "--timeout", or NULL and it says neither; and
         * how long the whole run may take, 0 when that is not known. */
        const char *timeout_setting;
        int64_t run_timeout_ns;
        struct fn_cache *cache;             /* FunctionResponseCache; NULL: none */
        struct requirements_memory *memory; /* RequirementsCache; NULL: none */
        bool wants_diff;
        struct fn_state *observed; /* of the whole run, encoded at most once */
        /* The OpenAPI schema of a kind, NULL when there is none; asked instead of the cluster if given. */
        int (*find_schema)(void *arg, struct run *run, struct gvk gvk, const struct value **ret, struct err *err);
        void *find_schema_arg;
        /* Called for every selector that is fetched; may be NULL. */
        void (*on_fetch)(void *arg, const struct step *step, const struct fn_selector *selector);
        void *on_fetch_arg;
};

/* Runs the step on desired state and context and gives its last response. Errors are whole, as spec/engine 1.6 and 2.2-2.5 word
 * them. */
int step_run(struct step_context *c, const struct step *step, const struct fn_state *desired,
             const struct fn_struct *context, struct fn_response *ret, struct step_record *record, struct err *err);
