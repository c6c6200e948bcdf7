/* A built-in function: the request of a case, over the wire's bytes, to its response. */
#include "subject.h"

#include "buf.h"
#include "functions.h"
#include "proto-tables.h"

static int call(struct arena *a, const struct builtin_function *f, const struct value *request,
                const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf in = BUF_INIT(0), out = BUF_INIT(0);
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req;
        struct fn_response rsp;
        int r = proto_encode(&in, &proto_fn_v1_RunFunctionRequest, request, NULL, err);

        if (r >= 0)
                r = fn_request_decode(a, buf_to_arena(&in, a), &req, err);
        if (r >= 0)
                r = f->run(&run, &req, &rsp, err);
        if (r >= 0)
                r = fn_response_encode(a, &rsp, &out, err);
        if (r >= 0)
                r = proto_decode(a, &proto_fn_v1_RunFunctionResponse, buf_to_arena(&out, a), NULL, ret, err);
        return r;
}

const struct value *run_builtin(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct builtin_function *f = builtin_find(value_str(value_get(c, STR("function"))));
        const struct value *rsp;

        assert(f);
        return call(a, f, value_get(c, STR("request")), &rsp, &err) < 0 ? result_error(a, &err) : rsp;
}
