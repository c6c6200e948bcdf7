/* Serves a function in the same way as functions in Go are deployed; see the flags in flags.h. Used by the SDK, and to serve
 * built-in functions to others. */
#pragma once

#include "fn-parts.h"
#include "grpc-server.h"

struct serve_options {
        const char *name; /* shown in the log */
        const char *network;
        const char *address;
        const char *certs_directory; /* "": none */
        const char *metrics_address; /* "": none */
        size_t max_receive_bytes;
        size_t max_memory_bytes; /* 0: LIMIT_SERVED_BYTES, or half of the control group's limit if that is lower */
        bool is_insecure;
        bool is_debug;
        /* Called on a worker thread; appends the response. *ret_is_fatal tells whether it has a fatal result. A status other than
         * GRPC_OK comes with a text in err. */
        enum grpc_status (*run)(void *context, struct grpc_request *call, const struct fn_parts *request,
                                struct buf *ret, bool *ret_is_fatal, struct err *err);
        void *context;
};

/* Serves until SIGTERM or SIGINT, then lets open calls finish. The program should print the error and exit with status 1. */
int serve_function(const struct serve_options *options, struct err *err);
