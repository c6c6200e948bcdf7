/* Remembers what each step of a composite required in its last run, so that the next run can fetch it before the first call (seed
 * 003, docs/spec/engine 2.2). Any thread. Bytes and composites are limited: the composites that ran least recently are forgotten
 * first.
 *
 * A step is identified by the composite's uid and its own name. Its requirements are forgotten when its function or the function's
 * revision changes. Only the requirements are kept, never the resources that were found. */
#pragma once

#include "message.h"

struct requirements_memory;

/* 0: the limits in limits.h. */
struct requirements_memory *requirements_memory_new(size_t max_bytes, size_t max_composites);
void requirements_memory_free(struct requirements_memory *m);

struct remembered_step {
        struct str uid; /* of the composite */
        struct str step;
        struct str function;
        struct str revision;
};

/* Gives the selectors, sorted by name, in the arena; returns their number. */
size_t requirements_memory_get(struct requirements_memory *m, struct arena *a, const struct remembered_step *step,
                               const struct fn_selector **ret);

/* Remembers the resources of both fields; if both have the same name, `resources` takes precedence. With no requirements, the step
 * is forgotten. */
void requirements_memory_set(struct requirements_memory *m, const struct remembered_step *step,
                             const struct fn_requirements *asked);

/* Call it when the composite was deleted. */
void requirements_memory_forget(struct requirements_memory *m, struct str uid);

struct requirements_memory_size {
        size_t n_composites;
        size_t size_bytes;
};

struct requirements_memory_size requirements_memory_size(struct requirements_memory *m);
