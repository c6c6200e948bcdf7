/* Prometheus metrics of a function: number, status and duration of calls, with the names that gRPC servers in Go use; and the
 * number of calls with a fatal result, which are successes for gRPC. */
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
                n_within[METRICS_N_BOUNDS + 1]; /* by duration, each call in one bucket; the last bucket has no bound */
        _Atomic uint64_t handling_ns;
};

/* Call them before and after each call. */
void metrics_start(struct metrics *m);
void metrics_finish(struct metrics *m, enum grpc_status status, bool is_fatal, int64_t duration_ns);

/* Appends the metrics as Prometheus text. A call that ends meanwhile may be counted in only some of the numbers. */
void metrics_append(struct buf *b, const struct metrics *m);

/* Starts a server that answers every path with the metrics. The caller frees the server, before m. */
int metrics_serve(const struct metrics *m, const struct address *address, struct http_server **ret, struct err *err);
