/* A function as a server, as functions in Go are deployed: see the flags of flags.h. For the SDK, and for built-in functions that serve
 * others. */
#pragma once

#include "fn-parts.h"
#include "grpc-server.h"

struct serve_options {
        const char *name; /* in the log */
        const char *network;
        const char *address;
        const char *certs_directory; /* "": none */
        const char *metrics_address; /* "": none */
        size_t max_receive_bytes;
        bool is_insecure;
        bool is_debug;
        /* On a worker thread; appends the response. *ret_is_fatal says whether it has a fatal result. Another status than GRPC_OK comes
         * with a text in err. */
        enum grpc_status (*run)(void *context, struct grpc_request *call, const struct fn_parts *request,
                                struct buf *ret, bool *ret_is_fatal, struct err *err);
        void *context;
};

/* Serves until SIGTERM or SIGINT, then lets calls finish. The error is what the program should say before it ends with status 1. */
int serve_function(const struct serve_options *options, struct err *err);
