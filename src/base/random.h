/* Random numbers: seeded ones that repeat (tests, jitter, simulation), and the system's for names, seeds and keys. */
#pragma once

#include "str.h"

/* A small generator; equal seeds give equal sequences on every machine. One home thread. Not for secrets. */
struct random {
        uint64_t state[4];
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_u64(struct random *r);

/* Uniform in [0, bound); bound > 0. */
uint64_t random_below(struct random *r, uint64_t bound);

/* Uniform in [0, 1). */
double random_double(struct random *r);

/* From the kernel, fit for secrets; aborts if it has none. Under a simulation (sim.h) these come from its seed. */
void random_system(void *p, size_t n);
uint64_t random_system_u64(void);

/* From the kernel even under a simulation: for what must not be guessed and has no effect that a test could see. */
void random_kernel(void *p, size_t n);

/* From now on the calling thread's random_system draws on r, or on the kernel again with NULL. Returns what it drew on
 * before. For simulations (sim.h). */
struct random *random_use_here(struct random *r);

/* The same for the whole process; threads take turns. What a thread uses alone comes before it. */
struct random *random_use_seeded(struct random *r);
