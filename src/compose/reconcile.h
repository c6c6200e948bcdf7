/* One reconcile of a composite resource: the exact order of spec/engine 1 and 2, against any cluster. */
#pragma once

#include "step.h"

struct reconcile_event {
        bool is_warning;
        struct str reason;
        struct str message;
        struct str claim_message; /* what the composite's claim is told as well; "": nothing */
};

/* What one kind of composite is, from its XRD. */
struct composite_type {
        struct gvk gvk;
        bool is_legacy;          /* machinery at spec.*, not spec.crossplane.* */
        const struct value *xrd; /* NULL when nobody gave one (render) */
        struct str controller;   /* `composite/NAME`: the annotation of its events */
};

struct reconcile_options {
        struct cluster *cluster;
        struct registry *registry;
        const struct composite_type *type;
        struct features features;
        enum extra_resources_policy extra_resources;
        int64_t step_timeout_ns;
        int64_t timeout_ns;          /* of the run, for the error of a call that takes all that is left; 0: not known */
        const char *timeout_setting; /* see struct step_context */
        struct fn_cache *cache;      /* of responses; NULL: none */
        struct requirements_memory *memory; /* of what steps asked for; NULL: none */
        bool is_realtime;                   /* no requeue while resources are not ready: watches will tell */
        int64_t poll_interval_ns;           /* of a controller that is not realtime; a composite may have its own */
        int64_t min_poll_interval_ns;
        struct str open_circuit;     /* `KIND/NAME (NAMESPACE)`: whose events are too many; "": nobody's */
        bool wants_records;          /* per-step diffs too */
        const struct value *context; /* what the first step finds in the context; NULL: nothing */
        /* See struct step_context; either may be NULL. */
        int (*find_schema)(void *arg, struct run *run, struct gvk gvk, const struct value **ret, struct err *err);
        void (*on_fetch)(void *arg, const struct step *step, const struct fn_selector *selector);
        void *hooks_arg; /* of both */
        /* Render: the parts of the loop that only make sense against a real API are left out (spec/engine 12), and the revision is
         * this one, of a Composition that nobody has to look for. NULL: not a render. */
        const struct value *revision;
};

struct reconcile_result {
        bool is_fatal;            /* a step returned a fatal result */
        bool requeues;            /* at once, with backoff */
        int64_t requeue_after_ns; /* 0: not */
        const struct reconcile_event *events;
        size_t n_events;
        const struct step_record *records;
        size_t n_records;
        const struct value *composite; /* as it is in memory at the end */
        struct fn_struct context;      /* as the last step left it */
};

/* 0 also when the composite says in its conditions that something is wrong; an error is what a work queue retries. Everything in
 * the result lives in the run's arena. */
int composite_reconcile(struct run *run, const struct reconcile_options *options, const struct object_key *key,
                        struct reconcile_result *ret, struct err *err);
