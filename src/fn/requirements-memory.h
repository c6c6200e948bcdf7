/* What the steps of composites asked for in their last run, so that the next run can bring it along with the first call (seed 003,
 * spec/engine 2.2). Any thread. Bounded in bytes and composites: those that ran least recently are forgotten first.
 *
 * A step is known by the composite's uid and its name; what it asked for is forgotten when its function, or the function's revision,
 * is another one. Only what was asked for is kept, never what was found. */
#pragma once

#include "message.h"

struct requirements_memory;

/* 0: what limits.h says. */
struct requirements_memory *requirements_memory_new(size_t max_bytes, size_t max_composites);
void requirements_memory_free(struct requirements_memory *m);

struct remembered_step {
        struct str uid; /* of the composite */
        struct str step;
        struct str function;
        struct str revision;
};

/* Selectors in the order of their names, in the arena; returns how many there are. */
size_t requirements_memory_get(struct requirements_memory *m, struct arena *a, const struct remembered_step *step,
                               const struct fn_selector **ret);

/* Resources of both fields; where they share a name the one of `resources` counts. Nothing asked for forgets the step. */
void requirements_memory_set(struct requirements_memory *m, const struct remembered_step *step,
                             const struct fn_requirements *asked);

/* The composite is gone. */
void requirements_memory_forget(struct requirements_memory *m, struct str uid);

struct requirements_memory_size {
        size_t n_composites;
        size_t size_bytes;
};

struct requirements_memory_size requirements_memory_size(struct requirements_memory *m);
