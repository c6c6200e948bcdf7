/* One reconcile of a composite resource, in exactly the order of docs/spec/engine 1 and 2, against any cluster. */
#pragma once

#include "places.h"
#include "step.h"

struct reconcile_event {
        bool is_warning;
        struct str reason;
        struct str message;
        struct str claim_message; /* message for the composite's claim; "": no event for the claim */
};

/* Properties of one kind of composite, from its XRD. */
struct composite_type {
        struct gvk gvk;
        const struct places *places; /* where its composites keep the engine's fields; NULL: places_modern */
        const struct value *xrd;     /* NULL when there is none (render) */
        struct str controller;       /* `composite/NAME`: the controller annotation of its events */
};

/* Parts of a reconcile besides composing. Each is useful only with an API whose objects persist. */
struct reconcile_policies {
        bool keeps_finalizer; /* a live composite gets the engine's finalizer, a deleted one loses it */
        bool selects_revision; /* the cluster has Compositions and revisions to choose from; otherwise options.revision is used */
        bool checks_kinds;         /* kinds are looked up: their scope, and whether they are served at all */
        bool upgrades_managers;    /* resets the field managers of objects from before server-side apply */
        bool skips_noops;          /* skips writes that would change nothing */
        bool adopts_references;    /* uses the result of applying the references as the composite from then on */
        bool explains_denials;     /* adds the engine's missing permissions to an error of the API */
        bool publishes_connection; /* writes a legacy composite's connection details to its Secret */
};

extern const struct reconcile_policies reconcile_policies_controller; /* all parts */
extern const struct reconcile_policies reconcile_policies_render;     /* none: the output is the written objects */

struct reconcile_options {
        struct cluster *cluster;
        const struct reconcile_policies *policies; /* required */
        const struct composite_type *type;
        struct step_options steps;
        struct step_hooks hooks;
        bool follows_reads; /* everything that a run reads is followed: pure steps need not run again by themselves */
        bool is_realtime;   /* no requeue while resources are not ready: watches report changes */
        int64_t poll_interval_ns; /* for a controller that is not realtime; a composite may set its own */
        int64_t min_poll_interval_ns;
        struct str open_circuit;      /* `KIND/NAME (NAMESPACE)`: the object with too many events; "": none */
        const struct value *context;  /* the context for the first step; NULL: empty */
        const struct value *revision; /* the revision to use; set if and only if the policies do not select one */
};

struct reconcile_result {
        bool gave_way;            /* a function had no free slot: nothing was composed, see step_hooks.enter */
        bool is_fatal;            /* a step returned a fatal result */
        bool requeues;            /* at once, with backoff */
        int64_t requeue_after_ns; /* 0: no requeue */
        const struct reconcile_event *events;
        size_t n_events;
        const struct step_record *records;
        size_t n_records;
        const struct value *composite; /* the composite in memory at the end */
        struct fn_struct context;      /* the context that the last step returned */
};

/* Returns 0 even when the composite's conditions report a problem; a work queue retries after an error. Everything in the result
 * lives in the run's arena. */
int composite_reconcile(struct run *run, const struct reconcile_options *options, const struct object_key *key,
                        struct reconcile_result *ret, struct err *err);
