/* The server side of a function: both versions of the service with one handler. */
#pragma once

#include "fn-parts.h"
#include "grpc-server.h"

struct fn_handler {
        /* Called on a worker thread. The request's parts point into its message. The handler appends the response's bytes to ret.
         * As in a grpc_method, a status other than GRPC_OK comes with a text in err. */
        enum grpc_status (*run)(void *context, struct grpc_request *call, const struct fn_parts *request,
                                struct buf *ret, struct err *err);
        void *context;
};

#define FN_N_METHODS 2

/* Fills the method table for grpc_server_options. Handler and table must outlive the server. */
void fn_server_methods(const struct fn_handler *handler, struct grpc_method ret_methods[FN_N_METHODS]);
