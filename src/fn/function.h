/* A function, built-in or remote, and the interface to call it. */
#pragma once

#include "cluster.h"
#include "message.h"

struct function;

struct function_ops {
        /* Calls the function and fills rsp. Errors read as gRPC words them (`rpc error: code = X desc = Y`). */
        int (*call)(struct function *f, struct run *run, struct fn_request *req, struct fn_response *rsp,
                    struct err *err);
        void (*free)(struct function *f);
};

struct function {
        const struct function_ops *ops;
        _Atomic unsigned references;
        struct str name;     /* as errors name it */
        struct str revision; /* part of cache keys; changes when the function changes */
        char *package;       /* heap: the reference of its package, see function_describe; NULL: unknown */
        char *target;        /* heap: where it is called; NULL: unknown */
        bool is_pure;        /* equal requests always get equal answers */
        _Atomic bool
                is_replaced; /* the registry has another one in its place, or none: a call that it lost is tried there */
        bool wants_tag; /* requests carry a tag. Built-in functions have none: making one encodes the whole request */
};

/* Says where the function comes from and where it is called, for metrics. Before others see the function. */
void function_describe(struct function *f, struct str package, struct str target);

struct function *function_ref(struct function *f);
void function_unref(struct function *f);

/* --- Built-in functions: one file and one table entry each (src/functions) --- */

struct builtin_function {
        const char *name;    /* `function-patch-and-transform`: the last element of its package */
        const char *version; /* `v0.10.8`: the version of the package that it behaves like; NULL: it has no package */
        bool is_pure;
        /* Plain code on values. A failure of the function is a fatal result; an error stands for a failed gRPC call. */
        int (*run)(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err);
};

struct function *function_builtin(const struct builtin_function *b);

/* The same for a FunctionRevision that the built-in function stands for. */
struct function *function_builtin_as(const struct builtin_function *b, struct str revision);
