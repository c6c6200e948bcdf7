/* A step on its way. Private to the steps. */
#pragma once

#include "step.h"

/* What was read, and what was found. */
struct step_fetch {
        struct step_dependency dependency;
        struct fn_resources found; /* of STEP_READ_RESOURCES */
};

/* What answers requirements, by name. */
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
        struct fn_request req;
        struct answers given;        /* from the start: bootstrap requirements, and what the last run asked for */
        struct fn_selector *offered; /* what was asked for to have given.resources */
        size_t n_offered;
        struct fn_selector *offered_schemas; /* and given.schemas */
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

/* With room for so many more. */
struct answers answers_copy(struct arena *a, const struct answers *from, size_t n_resources, size_t n_schemas);

/* In the order of names; an equal one is replaced. There must be room. */
void answers_put(struct answers *answers, const struct fn_resources *r);

/* --- step-remember.c: what the last run asked for (seed 003) --- */

/* Adds it to what the function is given from the start. What cannot be had is left out. */
void step_recall(struct step_state *s);

/* True when all that the function asks for was given to it already. */
bool step_has_all(const struct step_state *s, const struct fn_requirements *wanted);

/* What a step asked for when it was done, for the next run. */
void step_remember(struct step_state *s, const struct fn_response *rsp);

/* --- step-record.c --- */

/* Fills in what is known about reads and watches; cached are the watches of a response that came from the cache, or NULL. */
void step_note_watches(struct step_state *s, const struct fn_response *rsp, const struct fn_watch *cached,
                       size_t n_cached);

/* Takes secrets out of results and conditions, and out of an error that a function may have worded. */
void step_redact(struct step_state *s, struct fn_response *rsp);
void step_redact_error(struct step_state *s, struct err *err);

/* Whether the function was told anything secret, which may be anywhere in its answer. */
bool step_saw_secrets(struct step_state *s);

void step_note_dependencies(struct step_state *s);

/* Ends the record of a step that went well. */
void step_finish(struct step_state *s, const struct fn_state *desired, const struct fn_response *rsp);
