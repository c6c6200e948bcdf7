/* Maps names to functions. Render fills a registry from its files, the control plane fills it from FunctionRevisions; pipelines of
 * any thread read it. */
#pragma once

#include "function.h"
#include "rollout.h"

struct registry;

/* Names of the functions that implement fields of a Composition (docs/spec/engine 8); the Composition does not name them. No
 * Function can have such a name. */
#define NATIVE_PATCH_AND_TRANSFORM STR("native:patch-and-transform")
#define NATIVE_ENVIRONMENT_CONFIGS STR("native:environment-configs")

struct registry *registry_new(void);
void registry_free(struct registry *r);

/* Sets the function for a name, used while the name has no revisions. Takes over one reference; replaces the function that was set
 * before. */
void registry_set(struct registry *r, struct str name, struct function *f);

/* A revision of a function, as a FunctionRevision describes it. */
struct function_revision {
        struct str name;            /* metadata.name */
        int64_t number;             /* spec.revision */
        const struct value *labels; /* metadata.labels; NULL: none */
        bool is_active;             /* spec.desiredState is Active */
        struct function *function;  /* the registry takes over one reference; NULL: status.endpoint is empty */
};

/* Adds a revision of the function (label pkg.crossplane.io/package), or replaces the one of the same name. Everything but the
 * function is copied. */
void registry_set_revision(struct registry *r, struct str function, const struct function_revision *revision);

/* False when there is no such revision. Without its last revision, a function is unknown again unless registry_set has set one. */
bool registry_remove_revision(struct registry *r, struct str function, struct str revision);

/* The name of the function that has this revision; "" if there is none. */
struct str registry_owner(struct registry *r, struct arena *a, struct str revision);

/* Sets the text that errors append to `unknown function "F"`, e.g. ` - is it listed in the render input?`. Static. */
void registry_set_hint(struct registry *r, const char *hint);

/* Which revision a step wants (docs/spec/seeds 3). Both empty: the step does not choose. */
struct function_choice {
        struct str revision;              /* functionRevisionRef.name; takes precedence over labels */
        const struct value *match_labels; /* functionRevisionSelector.matchLabels; NULL without a selector */
        struct str uid;                   /* of the composite, for a rollout; does not choose by itself */
};

static inline bool function_choice_is_given(const struct function_choice *c)
{
        return c->revision.n > 0 || c->match_labels;
}

/* The returned function is counted. choice may be NULL. Among several matching revisions, it is the active one with an endpoint and
 * the highest number; a newly activated revision without an endpoint does not replace a serving one. During a rollout, a step that
 * does not choose gets one of the rollout's two revisions: the new one if the composite is in its share and the revision is active
 * with an endpoint, else the old one, and never a third. ERR_NOT_FOUND: `unknown
 * function "F"HINT`, or upstream's texts about revisions (docs/spec/engine 4.2), followed by the revisions that were asked for and
 * why none can be used. */
int registry_find(struct registry *r, struct str name, const struct function_choice *choice, struct function **ret,
                  struct err *err);

/* --- Rollouts (rollout.h) --- */

/* Sets the plan of the function's rollout. True if composites that call the function should run again. A plan that is off, of a
 * function that never had one, is not kept. */
bool registry_set_rollout(struct registry *r, struct str function, const struct rollout_plan *plan);

/* Counts the outcome of a run; false if no rollout wants it. */
bool registry_count_run(struct registry *r, const struct rollout_run *run);

/* Keeps the difference that a dry run found. */
void registry_compare(struct registry *r, const struct rollout_run *of, const struct value *difference);

/* The composite is gone, for all rollouts; only its type and name need be given. */
void registry_forget_composite(struct registry *r, const struct rollout_run *of);

/* A copy of the state, in the arena; false if the function has no rollout. */
bool registry_read_rollout(struct registry *r, struct arena *a, struct str function, struct rollout_state *ret);

/* The name of the revision that steps get without a choice and without a rollout, in the arena; "": there is none. */
struct str registry_newest(struct registry *r, struct arena *a, struct str function);

/* The new revision of a dry run, counted, if the step does not choose a revision itself and the new one can be called; else NULL. */
struct function *registry_find_candidate(struct registry *r, struct str name, const struct function_choice *choice,
                                         bool *ret_gives_credentials);

/* --- Functions over gRPC --- */

struct grpc_function_options {
        struct str target;        /* dns:///host:port, unix:path, ... */
        struct str tls_certs_dir; /* tls.crt, tls.key, ca.crt; empty: plain text */
        struct str server_name;   /* what the function's certificate must name; "": the target's host */
        struct dialer
                *dialer; /* makes the connections, instead of the target's address; NULL: none; a reference is taken */
        size_t max_in_flight; /* 0: no limit */
        bool names_itself;    /* errors begin with `cannot run Function "F": ` */
        int64_t patience_ms; /* how long a call waits for a function that cannot be reached; 0: until the run's deadline */
};

int function_grpc_new(struct str name, struct str revision, const struct grpc_function_options *options,
                      struct function **ret, struct err *err);
