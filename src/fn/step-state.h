/* The state of a running step. Private to the steps. */
#pragma once

#include "step.h"

/* A read and its result. */
struct step_fetch {
        struct step_dependency dependency;
        struct fn_resources found; /* for STEP_READ_RESOURCES */
};

/* The answers to requirements, sorted by name. */
struct answers {
        struct fn_resources *resources;
        size_t n_resources;
        struct fn_schema *schemas;
        size_t n_schemas;
};

struct step_state {
        struct step_context *c;
        const struct step *step;
        struct step_record *record;
        struct function *function;
        struct function *candidate; /* of a dry run, counted; NULL: there is none */
        bool gives_credentials;     /* to the candidate */
        struct fn_request req;
        struct fn_request first;     /* the request as it was first sent */
        struct answers given;        /* before the first call: bootstrap requirements, and those of the last run */
        struct fn_selector *offered; /* the selectors of given.resources */
        size_t n_offered;
        struct fn_selector *offered_schemas; /* the selectors of given.schemas */
        size_t n_offered_schemas;
        struct step_fetch *fetches;
        size_t n_fetches;
        struct redactor *redactor; /* NULL until it is needed */
};

static inline struct arena *step_arena(const struct step_state *s)
{
        return s->c->run->arena;
}

/* --- step.c --- */

/* A copy with room for so many more resources and schemas. */
struct answers answers_copy(struct arena *a, const struct answers *from, size_t n_resources, size_t n_schemas);

/* Inserts in the order of names and replaces an answer of the same name. There must be room. */
void answers_put(struct answers *answers, const struct fn_resources *r);

/* Calls the function until it has all that it asks for. */
int step_call_until_stable(struct step_state *s, struct fn_response *rsp, struct err *err);

/* --- step-compare.c: the dry run of a rollout --- */

/* Sends the request once more and to the candidate, and tells the hook what differs. rsp NULL: the call failed with err. */
void step_compare(struct step_state *s, const struct fn_response *rsp, const struct err *err);

/* --- step-remember.c: requirements of the last run (seed 003) --- */

/* Fetches the requirements of the last run and adds them to `given`. Leaves out those that cannot be fetched. */
void step_recall(struct step_state *s);

/* True when the function was already given everything that it asks for. */
bool step_has_all(const struct step_state *s, const struct fn_requirements *wanted);

/* Remembers the requirements of a finished step for the next run. */
void step_remember(struct step_state *s, const struct fn_response *rsp);

/* --- step-record.c --- */

/* Fills in the record's watches; cached are the watches of a response from the cache, or NULL. */
void step_note_watches(struct step_state *s, const struct fn_response *rsp, const struct fn_watch *cached,
                       size_t n_cached);

/* Remove secrets from results and conditions, and from an error whose text may come from a function. */
void step_redact(struct step_state *s, struct fn_response *rsp);
void step_redact_error(struct step_state *s, struct err *err);

/* The value without secrets of the request, of what was fetched, and of the state. */
const struct value *step_redact_value(struct step_state *s, const struct fn_state *state, const struct value *v);

/* A state as a value: {composite, compositeReady, resources, ready}. Connection details are left out. Values of Secrets only show
 * whether they changed against before, which is an open state or NULL. */
const struct value *step_state_value(struct arena *a, struct fn_state *s, const struct fn_state *before);

/* Whether the function saw secrets; they may be anywhere in its answer. */
bool step_saw_secrets(struct step_state *s);

void step_note_dependencies(struct step_state *s);

/* Completes the record of a successful step. */
void step_finish(struct step_state *s, const struct fn_state *desired, const struct fn_response *rsp);
