/* A gRPC server: a table of unary methods whose handlers run on worker threads; health and reflection come with it. */
#pragma once

#include "grpc.h"
#include "server.h"

struct grpc_server;

/* One call, as a handler sees it. It lives until the handler has returned. */
struct grpc_request {
        struct str method;  /* /package.Service/Method */
        struct str message; /* the request's bytes */
        const struct http_fields *metadata;
        struct deadline deadline;          /* from grpc-timeout; none without it */
        struct cancel *cancel;             /* triggered when the client gives up or the connection is lost */
        struct arena *arena;               /* for the handler's own use; ends with it */
        struct http_fields reply_metadata; /* sent with the response's head; add with the arena above */
};

struct grpc_method {
        const char *name; /* /package.Service/Method */
        /* On a worker thread. Appends the response's message and returns GRPC_OK, or another status with its text in err. */
        enum grpc_status (*handle)(void *context, struct grpc_request *request, struct buf *ret_message,
                                   struct err *err);
        void *context;
};

struct grpc_server_options {
        struct http_server_options http; /* on_request and context are ours */
        const struct grpc_method *methods;
        size_t n_methods;
        unsigned n_workers;           /* 0: 2 per processor, at least 4 */
        size_t max_receive_bytes;     /* 0: LIMIT_MESSAGE_BYTES */
        const char *max_receive_flag; /* how the user raises it; named in the error, may be NULL */
        size_t max_waiting_bytes; /* 0: 4 times the message limit, at least 256 MiB; requests being received or waiting for a worker
                                         * beyond it are refused with RESOURCE_EXHAUSTED */
        bool has_reflection; /* grpc.reflection v1 and v1alpha over proto_files */
};

int grpc_server_new(const struct grpc_server_options *options, struct grpc_server **ret, struct err *err);
struct address grpc_server_address(const struct grpc_server *s);

/* What grpc.health.v1 answers for the service ("" for the server as a whole). It begins as serving. */
void grpc_server_set_serving(struct grpc_server *s, struct str service, bool is_serving);

/* Health turns to not serving, then http_server_drain. */
void grpc_server_drain(struct grpc_server *s);
int grpc_server_wait(struct grpc_server *s, struct deadline deadline, struct cancel *cancel);
void grpc_server_free(struct grpc_server *s);
