/* function-environment-configs: asks for EnvironmentConfigs and merges their data into the environment in the context
 * (docs/spec/functions 4.2). */
#include "environment.h"
#include "functions.h"

struct config_input {
        struct environment_spec *spec;
        struct environment_spec *selectors; /* its name in docs/spec/seeds 1: kind ExtraResourceSelectors */
};

static const struct input_field spec_fields[] = {
        { "defaultData", INPUT_MAP, offsetof(struct environment_spec, default_data) },
        { "policy", INPUT_OBJECT, offsetof(struct environment_spec, policy), &selection_policy_type },
        { "environmentConfigs", INPUT_OBJECTS, offsetof(struct environment_spec, sources), &environment_source_type },
};
static const struct input_type spec_type = INPUT_TYPE(struct environment_spec, spec_fields);

static const struct input_field input_fields[] = {
        { "spec", INPUT_OBJECT, offsetof(struct config_input, spec), &spec_type },
        { "extraResourceSelectors", INPUT_OBJECT, offsetof(struct config_input, selectors), &spec_type },
};
static const struct input_type input_type = INPUT_TYPE(struct config_input, input_fields);

/* A native environment, from the Composition itself, may have default data without any config. */
static int answer(struct arena *a, struct fn_request *req, struct fn_response *rsp, bool is_native, struct err *err)
{
        struct config_input input = { 0 };
        const struct environment_spec *spec;
        int r = fn_input_read(a, req, &input_type, "Input", &input, err);

        if (r < 0)
                return err_wrap(err, "cannot get Function input from *v1.RunFunctionRequest");
        spec = input.spec ?: input.selectors;
        if (!spec || (!spec->sources.is_set && !is_native))
                return 0;
        r = environment_require(a, req, spec, rsp, err);
        if (r < 0)
                return err_wrap(err, "cannot build requirements");
        if (req->required_resources.n || (is_native && rsp->requirements.n_resources == 0))
                return environment_build(a, req, spec, rsp, err);
        return 0;
}

static int run(struct run *run, struct fn_request *req, struct fn_response *rsp, bool is_native)
{
        _cleanup_err_ struct err problem = { 0 };

        fn_response_init(rsp, req);
        if (answer(run->arena, req, rsp, is_native, &problem) < 0)
                fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "%s", err_message(&problem));
        return 0;
}

static int run_environment_configs(struct run *r, struct fn_request *req, struct fn_response *rsp,
                                   struct err *err _unused_)
{
        return run(r, req, rsp, false);
}

static int run_native(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err _unused_)
{
        return run(r, req, rsp, true);
}

const struct builtin_function function_environment_configs = {
        .name = "function-environment-configs",
        .version = "v0.7.1",
        .is_pure = true,
        .run = run_environment_configs,
};

const struct builtin_function function_native_environment_configs = {
        .name = "native:environment-configs",
        .is_pure = true,
        .run = run_native,
};
