/* A gRPC server: a table of unary methods whose handlers run on worker threads. It includes the health and reflection services. */
#pragma once

#include "grpc.h"
#include "server.h"

struct grpc_server;

/* One call, as a handler sees it. It is valid until the handler returns. */
struct grpc_request {
        struct str method;  /* /package.Service/Method */
        struct str message; /* the request's bytes */
        const struct http_fields *metadata;
        struct deadline deadline;          /* from grpc-timeout; no deadline without that field */
        struct cancel *cancel;             /* triggered when the client cancels or the connection is lost */
        struct arena *arena;               /* for the handler's own use; freed after the handler returns */
        struct http_fields reply_metadata; /* sent with the response's head; fill it with the arena above */
};

struct grpc_method {
        const char *name; /* /package.Service/Method */
        /* Called on a worker thread. Appends the response message and returns GRPC_OK, or returns another status with its text in
         * err. */
        enum grpc_status (*handle)(void *context, struct grpc_request *request, struct buf *ret_message,
                                   struct err *err);
        void *context;
};

struct grpc_server_options {
        struct http_server_options http; /* the gRPC server sets on_request and context */
        const struct grpc_method *methods;
        size_t n_methods;
        unsigned n_workers;           /* 0: 2 per processor, at least 4 */
        size_t max_receive_bytes;     /* 0: LIMIT_MESSAGE_BYTES */
        const char *max_receive_flag; /* how the user raises it; named in the error, may be NULL */
        size_t max_memory_bytes; /* 0: 4 times the message limit, at least 256 MiB; for all calls together: requests, the handlers'
                                  * arenas, and replies until they are sent. One call may use 7/8 of it. Calls that do not fit wait
                                  * (wait_ms), then they are refused with RESOURCE_EXHAUSTED */
        const char *max_memory_flag; /* how the user raises it; named in the error, may be NULL */
        int64_t wait_ms;             /* 0: 5 s; how long a call may wait for memory */
        bool has_reflection;         /* serves grpc.reflection v1 and v1alpha from proto_files */
};

int grpc_server_new(const struct grpc_server_options *options, struct grpc_server **ret, struct err *err);
struct address grpc_server_address(const struct grpc_server *s);

/* Sets the answer of grpc.health.v1 for the service ("" for the whole server). At first it is serving. */
void grpc_server_set_serving(struct grpc_server *s, struct str service, bool is_serving);

/* Sets health to not serving, then calls http_server_drain. */
void grpc_server_drain(struct grpc_server *s);
int grpc_server_wait(struct grpc_server *s, struct deadline deadline, struct cancel *cancel);
void grpc_server_free(struct grpc_server *s);
