/* Prometheus metrics of a function: what was called, how it ended and how long it took, by the names gRPC servers in Go use. */
#pragma once

#include <stdatomic.h>

#include "grpc-server.h"

/* Any thread. */
struct metrics {
        _Atomic uint64_t n_started;
        _Atomic uint64_t n_handled[_GRPC_STATUS_COUNT];
        _Atomic uint64_t handling_ns;
};

void metrics_append(struct buf *b, const struct metrics *m);

/* Answers every path with the metrics. The server is the caller's to free, before m. */
int metrics_serve(const struct metrics *m, const struct address *address, struct http_server **ret, struct err *err);
