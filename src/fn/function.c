#include "function.h"

#include <stdatomic.h>

void function_describe(struct function *f, struct str package, struct str target)
{
        free(f->package);
        free(f->target);
        f->package = str_to_cstring(package);
        f->target = str_to_cstring(target);
}

struct function *function_ref(struct function *f)
{
        atomic_fetch_add_explicit(&f->references, 1, memory_order_relaxed);
        return f;
}

void function_unref(struct function *f)
{
        if (!f || atomic_fetch_sub_explicit(&f->references, 1, memory_order_acq_rel) != 1)
                return;
        free(f->package);
        free(f->target);
        f->ops->free(f);
}

struct builtin {
        struct function function;
        const struct builtin_function *table;
        char revision[];
};

static int builtin_call(struct function *f, struct run *run, struct fn_request *req, struct fn_response *rsp,
                        struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct builtin *b = CONTAINER_OF(f, struct builtin, function);
        int r = b->table->run(run, req, rsp, &problem);

        /* Error text as from a server with the Go SDK, for an error without its own code. */
        if (r < 0)
                return err_set(err, r, "rpc error: code = Unknown desc = %s", err_message(&problem));
        return 0;
}

static void builtin_free(struct function *f)
{
        free(CONTAINER_OF(f, struct builtin, function));
}

static const struct function_ops builtin_ops = { .call = builtin_call, .free = builtin_free };

struct function *function_builtin(const struct builtin_function *table)
{
        return function_builtin_as(table, STR("built-in"));
}

struct function *function_builtin_as(const struct builtin_function *table, struct str revision)
{
        struct builtin *b = xcalloc(1, sizeof(*b) + revision.n);

        memcpy(b->revision, revision.p, revision.n);
        b->table = table;
        b->function.ops = &builtin_ops;
        atomic_init(&b->function.references, 1);
        b->function.name = str_from(table->name);
        b->function.revision = str_make(b->revision, revision.n);
        b->function.is_pure = table->is_pure;
        return &b->function;
}
