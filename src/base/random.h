/* Random numbers: from a seeded generator that repeats (tests, jitter, simulation), or from the system for names, seeds and
 * keys. */
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

/* From the kernel, fit for secrets; aborts if the kernel has no randomness. In a simulation (sim.h) the numbers come from its
 * seed. */
void random_system(void *p, size_t n);
uint64_t random_system_u64(void);

/* As random_system, for ids and names: a few bytes, at most RANDOM_ID_BYTES. Not for secrets, because the bytes come from a block that
 * the thread has read from the kernel before, and a fork would copy the rest of the block. */
#define RANDOM_ID_BYTES 16
void random_id(void *p, size_t n);
uint64_t random_id_u64(void);

/* From the kernel even in a simulation: for secrets that have no effect that a test can see. */
void random_kernel(void *p, size_t n);

/* From now on random_system uses r in the calling thread; with NULL it uses the kernel again. Returns the generator that it used
 * before. For simulations (sim.h). */
struct random *random_use_here(struct random *r);

/* As random_use_here, for the whole process; a lock guards r. A generator set by random_use_here has precedence in its thread. */
struct random *random_use_seeded(struct random *r);
