/* function-dummy: returns the response in its input, merged into the standard response as protobuf merges: scalars replace,
 * messages merge, lists append, map entries replace. On the wire that is concatenation. */
#include "dummy.h"

#include "buf.h"
#include "fn-input.h"
#include "functions.h"
#include "proto-tables.h"

struct dummy_input {
        const struct value *response;
};

static const struct input_field dummy_fields[] = {
        { "response", INPUT_ANY, offsetof(struct dummy_input, response) },
};

static const struct input_type dummy_type = INPUT_TYPE(struct dummy_input, dummy_fields);

/* The upstream function's protocol version has requirements under one name, resources, in the field that other versions call
 * extra_resources. */
static const struct value *rename_requirements(struct arena *a, const struct value *response)
{
        const struct value *requirements = value_get(response, STR("requirements"));
        const struct value *resources = value_get(requirements, STR("resources"));

        if (!resources)
                return response;
        requirements =
                value_with(a, value_without(a, requirements, STR("resources")), STR("extraResources"), resources);
        return value_with(a, response, STR("requirements"), requirements);
}

static int overlay(struct arena *a, const struct value *response, struct fn_response *rsp, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (!response)
                return err_set(err, ERR_INVALID, "proto: syntax error (line 1:1): unexpected token ");
        r = dummy_check(a, response, err);
        if (r < 0)
                return err_wrap(err, "proto");
        if (value_count(response) == 0)
                return 0;
        r = fn_response_encode(a, rsp, &b, err);
        if (r < 0)
                return r;
        r = proto_encode(&b, &proto_fn_v1_RunFunctionResponse, rename_requirements(a, response), NULL, err);
        if (r < 0)
                return err_wrap(err, "proto");
        return fn_response_decode(a, buf_to_arena(&b, a), rsp, err);
}

static int run_dummy(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct dummy_input input = { 0 };
        struct fn_response merged;
        int r;

        fn_response_init(rsp, req);
        r = fn_input_read(run->arena, req, &dummy_type, "Response", &input, &problem);
        if (r < 0) {
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "cannot get Function input from %s: %s",
                                       "*v1.RunFunctionRequest", err_message(&problem));
                return 0;
        }
        merged = *rsp;
        r = overlay(run->arena, input.response, &merged, &problem);
        if (r < 0)
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL,
                                       "cannot unmarshal RunFunctionResponse from *v1.RunFunctionRequest: %s",
                                       err_message(&problem));
        else
                *rsp = merged;
        return 0;
}

const struct builtin_function function_dummy = {
        .name = "function-dummy", .version = "v0.4.0", .is_pure = true, .run = run_dummy
};
