/* One step of a pipeline: looks in the response cache, calls the function in the requirements loop, and makes a record
 * (docs/spec/engine 2.2-2.5, docs/spec/seeds 2). */
#pragma once

#include "features.h"
#include "registry.h"

enum extra_resources_policy {
        EXTRA_RESOURCES_ALLOW, /* the step's own list decides, if it has one */
        EXTRA_RESOURCES_DENY,  /* only resources that the step lists */
        EXTRA_RESOURCES_OFF,   /* none: the function does not get the capability */
};

/* A step of a Composition. Borrowed from it.
 *
 * input_ref {apiVersion, kind, name} names an object of the cluster; the whole object is the input (seed 000). An object of a
 * namespaced kind is looked up in the composite's namespace; a composite without a namespace can refer to cluster-scoped kinds
 * only. A missing object is an error, and so are input and input_ref together. */
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
        STEP_READ_RESOURCES, /* bootstrap requirements, and requirements of the function in this run and in the last one */
        STEP_READ_SCHEMA,
        STEP_READ_INPUT,
        STEP_READ_CREDENTIALS, /* a Secret */
};

/* A read of a step, on which the run depends; also a read that found nothing. */
struct step_dependency {
        enum step_read read;
        struct fn_selector selector; /* its name is empty; namespace: the one that was read, "" for all or none */
};

/* The record of a step, for people to read and for later runs. It contains no secrets (redact.h). */
struct step_record {
        struct str step;
        struct str function;
        struct str revision; /* of the function; "" when it has none */
        int64_t duration_ns;
        unsigned calls;
        bool is_pure;         /* equal requests always get equal answers from the function */
        bool was_cached;      /* answered by the response cache, without a call */
        bool is_chosen;       /* the step names the function's revision itself */
        size_t request_bytes; /* of all calls; 0 for built-in functions, which are not sent bytes */
        size_t response_bytes;
        /* A JSON Patch from the desired state before the step to that after it; its operations also have `old`, the previous value.
         * NULL unless asked for. The state is {composite, compositeReady, resources: {NAME: object}, ready: {NAME: "True" |
         * "False"}}. */
        const struct value *desired_diff;
        const struct fn_result *results;
        size_t n_results;
        const struct step_dependency *dependencies; /* sorted, without duplicates */
        size_t n_dependencies;
        const struct fn_watch
                *watched; /* objects whose changes re-run the composite (docs/spec/seeds 2); sorted, no duplicates */
        size_t n_watched;
        const struct fn_watch *refused; /* wanted by the function, but not among its requirements */
        size_t n_refused;
};

/* Compares by apiVersion, kind, namespace, name. */
int fn_watch_compare(const struct fn_watch *a, const struct fn_watch *b);

/* Sorts the watches and drops duplicates; returns how many are left. */
size_t fn_watches_sort(struct fn_watch *watches, size_t n);

struct fn_cache;
struct requirements_memory;

/* Options for all steps of a pipeline. */
struct step_options {
        struct registry *registry;
        struct features features;
        enum extra_resources_policy extra_resources;
        int64_t timeout_ns; /* limit of one call; 0: only the run's deadline */
        /* For the error of a call that times out: the setting that allows more time, e.g. "--timeout" (NULL: the error names
         * neither setting nor time), and the time limit of the whole run (0: unknown). */
        const char *timeout_setting;
        int64_t run_timeout_ns;
        struct fn_cache *cache;             /* FunctionResponseCache; NULL: none */
        struct requirements_memory *memory; /* RequirementsCache; NULL: none */
        bool wants_diff;                    /* records contain what each step changed */
};

/* One call of a step's function. */
struct step_call {
        const struct step *step;
        const struct function *function;
        const struct fn_response *response; /* NULL: it failed */
        const struct err *err;
        int64_t duration_ns;
};

/* Each function may be NULL. */
struct step_hooks {
        /* Finds the OpenAPI schema of a kind, NULL when there is none; if set, it is asked instead of the cluster. */
        int (*find_schema)(void *arg, struct run *run, struct gvk gvk, const struct value **ret, struct err *err);
        /* Called for every selector that is fetched. */
        void (*on_fetch)(void *arg, const struct step *step, const struct fn_selector *selector);
        /* Called before the function of a step is looked up in the registry. */
        void (*on_function)(void *arg, struct str function);
        /* Called before a function outside this process is called, and after it has answered. enter returns false if too many calls
         * are open: the step then ends with ERR_BUSY, and leave is not called. */
        bool (*enter)(void *arg, struct str function);
        void (*leave)(void *arg, struct str function);
        /* Called before the function or the cache is asked, and after it has answered; response NULL: with the error. */
        void (*on_request)(void *arg, const struct step *step, struct fn_request *request);
        void (*on_response)(void *arg, const struct step *step, const struct fn_response *response,
                            const struct err *err);
        /* Called after each call of a function, with its response, or NULL and its error. */
        void (*on_call)(void *arg, const struct step_call *call);
        /* Called after a step of a function whose rollout is a dry run (rollout.h): {changes: JSON Patch from the old revision's answer
         * to the new one's}, {fatal: TEXT} if only the new revision failed, {recovers: TEXT} if only the old one did. It has no
         * secrets. */
        void (*on_comparison)(void *arg, const struct step *step, const struct value *difference);
        void *arg; /* passed to all */
};

struct step_context {
        struct run *run;
        struct cluster *cluster;
        struct step_options options;
        struct step_hooks hooks;
        struct fn_state *observed; /* for the whole run; encoded at most once */
};

/* Runs the step on desired state and context and returns its last response. Errors have the complete texts of docs/spec/engine 1.6
 * and 2.2-2.5. */
int step_run(struct step_context *c, const struct step *step, const struct fn_state *desired,
             const struct fn_struct *context, struct fn_response *ret, struct step_record *record, struct err *err);
