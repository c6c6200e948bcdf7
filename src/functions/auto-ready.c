/* function-auto-ready: marks desired resources as ready if their observed resources are ready, by the rules of their kind or by
 * their condition Ready (docs/spec/functions 4.1). Readiness that other functions have set stays.
 *
 * Customisation by CEL is behind an upstream feature gate that is off; its inputs are accepted and ignored, here as upstream. */
#include "auto-ready.h"

#include "conditions.h"
#include "desired.h"
#include "fn-input.h"
#include "functions.h"
#include "timetext.h"

struct auto_ready_input {
        struct str ttl;
        const struct value *checks;
        struct str checks_from;
};

static const struct input_field input_fields[] = {
        { "ttl", INPUT_STRING, offsetof(struct auto_ready_input, ttl) },
        { "celHealthCheckCustomization", INPUT_TEXTS, offsetof(struct auto_ready_input, checks) },
        { "celHealthCheckCustomizationFrom", INPUT_STRING, offsetof(struct auto_ready_input, checks_from) },
};

static const struct input_type input_type = INPUT_TYPE(struct auto_ready_input, input_fields);

/* Returns 1 when the resource is ready, 0 when it is not. */
static int is_ready(struct arena *a, const struct fn_resource *observed, struct err *err)
{
        struct fn_struct object = observed->object;
        const struct value *v;
        int r = fn_struct_value(a, &object, &v, err);

        if (r < 0)
                return r;
        return auto_ready_check(a, v) || conditions_is_true(v, STR("Ready"));
}

static int mark_ready(struct arena *a, struct fn_state *observed, struct fn_state *desired, struct err *err)
{
        struct fn_resource *resources;
        int r;

        if ((r = fn_state_open(a, observed, err)) < 0 || (r = desired_rebuild(a, desired, &resources, err)) < 0)
                return r;
        for (size_t i = 0; i < desired->n_resources; i++) {
                const struct fn_resource *there = fn_state_find(observed, resources[i].name);

                if (!there || resources[i].ready != FN_READY_UNSPECIFIED)
                        continue;
                r = is_ready(a, there, err);
                if (r < 0)
                        return r;
                if (r)
                        resources[i].ready = FN_READY_TRUE;
        }
        desired_settle_ready(resources, desired->n_resources);
        return 0;
}

static int run_auto_ready(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct auto_ready_input input = { 0 };

        fn_response_init(rsp, req);
        if (fn_input_read(run->arena, req, &input_type, "Input", &input, &problem) < 0) {
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL,
                                       "cannot get Function input from *v1.RunFunctionRequest: %s",
                                       err_message(&problem));
                return 0;
        }
        if (input.ttl.n && duration_parse(input.ttl, &rsp->ttl_ns, &problem) < 0) {
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "cannot set ttl: %s", err_message(&problem));
                return 0;
        }
        return mark_ready(run->arena, &req->observed, &rsp->desired, err);
}

const struct builtin_function function_auto_ready = {
        .name = "function-auto-ready",
        .version = "v0.7.0",
        .is_pure = true,
        .run = run_auto_ready,
};
