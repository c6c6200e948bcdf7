/* Which function a name means. A registry is filled by whoever knows (render from its files, the control plane from
 * FunctionRevisions) and read by pipelines of any thread. */
#pragma once

#include "function.h"

struct registry;

/* Names under which a registry holds the functions that stand for fields of a Composition (spec/engine 8), which names none. No
 * Function can have such a name. */
#define NATIVE_PATCH_AND_TRANSFORM STR("native:patch-and-transform")
#define NATIVE_ENVIRONMENT_CONFIGS STR("native:environment-configs")

struct registry *registry_new(void);
void registry_free(struct registry *r);

/* What the name means as long as the function has no revisions. Takes over one reference; replaces what was set before. */
void registry_set(struct registry *r, struct str name, struct function *f);

/* A revision of a function, as a FunctionRevision describes it. */
struct function_revision {
        struct str name;            /* metadata.name */
        int64_t number;             /* spec.revision */
        const struct value *labels; /* metadata.labels; NULL: none */
        bool is_active;             /* spec.desiredState is Active */
        struct function *function;  /* one reference, which the registry takes over; NULL: status.endpoint is empty */
};

/* Adds the revision to those of the function (its label pkg.crossplane.io/package), or replaces the one of that name. All but the
 * function is copied. */
void registry_set_revision(struct registry *r, struct str function, const struct function_revision *revision);

/* False when there is none. A function without revisions left is unknown again, unless registry_set has named one. */
bool registry_remove_revision(struct registry *r, struct str function, struct str revision);

/* What errors about unknown names say behind `unknown function "F"`, e.g. ` - is it listed in the render input?`. Static. */
void registry_set_hint(struct registry *r, const char *hint);

/* Which revision a step wants (spec/seeds 3). Both empty: the step does not say. */
struct function_choice {
        struct str revision;              /* functionRevisionRef.name; it wins over labels */
        const struct value *match_labels; /* functionRevisionSelector.matchLabels; NULL without a selector */
};

static inline bool function_choice_is_given(const struct function_choice *c)
{
        return c->revision.n > 0 || c->match_labels;
}

/* Counted. choice may be NULL. Of several revisions that fit it is the highest-numbered active one that has an endpoint; one that was
 * just activated and has none yet does not end what serves. ERR_NOT_FOUND: `unknown function "F"HINT`, or upstream's texts about
 * revisions (spec/engine 4.2) and behind them which were asked for and why none of them will do. */
int registry_find(struct registry *r, struct str name, const struct function_choice *choice, struct function **ret,
                  struct err *err);

/* --- Functions over gRPC --- */

struct grpc_function_options {
        struct str target;        /* dns:///host:port, unix:path, ... */
        struct str tls_certs_dir; /* tls.crt, tls.key, ca.crt; empty: plain text */
        struct str server_name;
        size_t max_in_flight; /* 0: no limit */
        bool names_itself;    /* errors begin with `cannot run Function "F": ` */
};

int function_grpc_new(struct str name, struct str revision, const struct grpc_function_options *options,
                      struct function **ret, struct err *err);
