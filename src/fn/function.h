/* A function, however it is reached, and who knows which name is which function. */
#pragma once

#include "cluster.h"
#include "message.h"

struct function;

struct function_ops {
        /* One call. rsp is filled; an error is what gRPC would say (`rpc error: code = X desc = Y`). */
        int (*call)(struct function *f, struct run *run, struct fn_request *req, struct fn_response *rsp,
                    struct err *err);
        void (*free)(struct function *f);
};

struct function {
        const struct function_ops *ops;
        _Atomic unsigned references;
        struct str name;     /* as errors call it */
        struct str revision; /* in cache keys: changes when the function does */
        bool is_pure;        /* equal requests get equal answers, for ever */
        bool wants_tag; /* requests carry their tag; making one encodes all of the request, so functions in this process have none */
};

struct function *function_ref(struct function *f);
void function_unref(struct function *f);

/* --- Built-in functions: one file and one table entry each (src/functions) --- */

struct builtin_function {
        const char *name; /* `function-patch-and-transform`: the last element of its package */
        bool is_pure;
        /* Straight-line code over values. What goes wrong is a fatal result; an error is for what gRPC would call one. */
        int (*run)(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err);
};

struct function *function_builtin(const struct builtin_function *b);
