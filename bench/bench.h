/* Measuring two ways of doing one thing in one run, taking turns, so that a noisy machine disturbs both alike. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct contender {
        const char *name;
        void (*run)(void *context); /* one unit of work */
        void *context;
};

/* Runs the contenders (at most 8, on this thread alone) in turn for about `seconds` altogether, after a warm-up, and stores
 * each one's best processor time per unit in ret_ns. */
void bench_compare(const struct contender *contenders, size_t n, double seconds, double *ret_ns);

/* The same for contenders that work on other threads as well: the processor time of the whole process. */
void bench_compare_process(const struct contender *contenders, size_t n, double seconds, double *ret_ns);

/* Prints `NAME: OURS vs PEER = RATIO (wanted >= WANTED) ok|MISSED` and returns whether it was met. */
int bench_report(const char *what, const char *ours, double ours_value, const char *peer, double peer_value,
                 double wanted);
