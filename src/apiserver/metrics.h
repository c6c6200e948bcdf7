/* The server's own counters (docs/spec/apiserver 1.4), in Prometheus' text form. Any thread. */
#pragma once

#include <stdatomic.h>

#include "route.h"

#define METRICS_BUCKETS 12

struct histogram {
        _Atomic uint64_t buckets[METRICS_BUCKETS + 1]; /* the last: all that are longer */
        _Atomic uint64_t sum_ns;
};

struct metrics {
        _Atomic uint64_t requests[_API_VERB_COUNT][6]; /* by verb and hundreds of the status */
        struct histogram durations[_API_VERB_COUNT];   /* without watches */
        _Atomic uint64_t watches_cut_off;
        _Atomic uint64_t too_many_requests;
        _Atomic int64_t open_watches;
        _Atomic int64_t open_requests; /* watches included */
};

void metrics_count(struct metrics *m, enum api_verb verb, int status, int64_t duration_ns);
void metrics_write(struct metrics *m, struct buf *b);
