/* Prometheus metrics of a function: what was called, how it ended and how long it took, by the names gRPC servers in Go use; and how
 * many calls had a fatal result, which to gRPC is a success. */
#pragma once

#include <stdatomic.h>

#include "grpc-server.h"

#define METRICS_N_BOUNDS 14

/* Any thread. */
struct metrics {
        _Atomic uint64_t n_started;
        _Atomic uint64_t n_handled[_GRPC_STATUS_COUNT];
        _Atomic uint64_t n_fatal;
        _Atomic uint64_t
                n_within[METRICS_N_BOUNDS + 1]; /* by duration, each call in one; the last are beyond all bounds */
        _Atomic uint64_t handling_ns;
};

/* Around each call. */
void metrics_start(struct metrics *m);
void metrics_finish(struct metrics *m, enum grpc_status status, bool is_fatal, int64_t duration_ns);

/* The text that Prometheus reads. Calls that end meanwhile may be in some of the numbers only. */
void metrics_append(struct buf *b, const struct metrics *m);

/* Answers every path with the metrics. The server is the caller's to free, before m. */
int metrics_serve(const struct metrics *m, const struct address *address, struct http_server **ret, struct err *err);
