#include "function.h"

#include <stdatomic.h>

struct function *function_ref(struct function *f)
{
        atomic_fetch_add_explicit(&f->references, 1, memory_order_relaxed);
        return f;
}

void function_unref(struct function *f)
{
        if (f && atomic_fetch_sub_explicit(&f->references, 1, memory_order_acq_rel) == 1)
                f->ops->free(f);
}

struct builtin {
        struct function function;
        const struct builtin_function *table;
};

static int builtin_call(struct function *f, struct run *run, struct fn_request *req, struct fn_response *rsp,
                        struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct builtin *b = CONTAINER_OF(f, struct builtin, function);
        int r = b->table->run(run, req, rsp, &problem);

        /* As a server on the Go SDK answers an error that has no code of its own. */
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
        struct builtin *b = xcalloc(1, sizeof(*b));

        b->table = table;
        b->function.ops = &builtin_ops;
        atomic_init(&b->function.references, 1);
        b->function.name = str_from(table->name);
        b->function.revision = STR("built-in");
        b->function.is_pure = table->is_pure;
        return &b->function;
}
