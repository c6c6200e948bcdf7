/* The internals of a gRPC client: channel and calls. grpc-client.h is the public part.
 *
 * A channel is a pool of connections (http-pool.h) that keeps one connection to every address of the target, on the shared client
 * loop. A caller posts its call to the loop and waits for the completion. There the call takes a turn in the pool, gets a
 * connection and begins its exchange. Calls are reference counted, so that a caller may give up and return while the loop still
 * cleans up the call. */
#pragma once

#include "grpc-client.h"
#include "http-pool.h"

struct grpc_channel {
        _Atomic unsigned references;
        struct grpc_channel_options options;
        struct arena arena;
        struct http_target target;
        struct http_pool *pool;
};

struct grpc_call {
        _Atomic unsigned references;  /* one of the caller, one of the loop */
        struct grpc_channel *channel; /* alive while the caller waits; calls on the loop keep it alive too */
        struct loop_task start;
        struct str method;
        struct bytes *request;
        struct http_fields metadata;
        struct arena arena;
        struct deadline deadline;
        struct completion done;

        /* Loop thread only until the completion. */
        struct http_turn turn;
        struct exchange *ex;
        struct grpc_reader reader;
        unsigned n_refused;
        bool was_retried;
        bool is_aborted;
        bool is_done;

        /* The answer. */
        enum grpc_status status;
        struct str message;
        struct bytes *response;
        struct http_fields head, trailers;
};
