/* The requirements loop against the embedded store (docs/spec/engine 2.2-2.5, docs/spec/seeds 2). */
#include "step-test.h"

static struct features features;
static unsigned calls;

static void set_up(void)
{
        world_begin(true);
        calls = 0;
        features = (struct features) { 0 };
        put("{\"apiVersion\":\"e.org/"
            "v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\",\"labels\":{\"l\":\"1\"}}}");
        put("{\"apiVersion\":\"e.org/"
            "v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ns-2\",\"labels\":{\"l\":\"1\"}}}");
        put("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"},\"data\":{"
            "\"k\":\"djE=\"}}");
}

static void tear_down(void)
{
        world_end();
}

static int run_step(const struct builtin_function *f, struct step *step, struct fn_response *rsp,
                    struct step_record *record, struct err *err)
{
        struct step_context c = {
                .run = &run,
                .cluster = store_cluster(store),
                .options = { .registry = registry, .wants_diff = true, .features = features },
                .observed = &observed,
        };
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct context = { .value = &value_empty_object };

        step->name = STR("s");
        step->function = STR("f");
        if (f)
                registry_set(registry, STR("f"), function_builtin(f));
        return step_run(&c, step, &desired, &context, rsp, record, err);
}

static size_t tag_bytes;

static int answer_nothing(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        calls++;
        fn_response_init(rsp, req);
        tag_bytes = req->tag.n;
        ASSERT_INT(req->capabilities, 0x3e);
        return 0;
}

static const struct builtin_function nothing = { .name = "f", .run = answer_nothing };

TEST(a_function_without_requirements_is_called_once)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        ASSERT(run_step(&nothing, &step, &rsp, &record, &err) >= 0);
        ASSERT_INT(calls, 1);
        ASSERT_INT(record.calls, 1);
        ASSERT_INT(value_count(record.desired_diff), 0);
        ASSERT_INT(tag_bytes, 0);
        tear_down();
}

static int answer_one(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        static struct fn_resource resource;

        fn_response_init(rsp, req);
        resource = (struct fn_resource) { .name = STR("x"),
                                          .object = { .value = parse("{\"a\":1}") },
                                          .ready = FN_READY_TRUE };
        rsp->desired.has_composite = true;
        rsp->desired.composite =
                (struct fn_resource) { .object = { .value = parse("{\"c\":1}") }, .ready = FN_READY_FALSE };
        rsp->desired.resources = &resource;
        rsp->desired.n_resources = 1;
        return 0;
}

static const struct builtin_function one_resource = { .name = "f", .run = answer_one };

TEST(a_record_says_what_the_step_changed)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        ASSERT(run_step(&one_resource, &step, &rsp, &record, &err) >= 0);
        check_value("record", record.desired_diff,
                    "[{\"op\":\"add\",\"path\":\"/composite\",\"value\":{\"c\":1}},"
                    "{\"op\":\"add\",\"path\":\"/compositeReady\",\"value\":\"False\"},"
                    "{\"op\":\"add\",\"path\":\"/ready/x\",\"value\":\"True\"},"
                    "{\"op\":\"add\",\"path\":\"/resources/x\",\"value\":{\"a\":1}}]");
        tear_down();
}

TEST(only_functions_that_want_a_tag_get_one)
{
        _cleanup_err_ struct err err = { 0 };
        struct function *f = function_builtin(&nothing);
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        f->wants_tag = true;
        registry_set(registry, STR("f"), f);
        ASSERT(run_step(NULL, &step, &rsp, &record, &err) >= 0);
        ASSERT_INT(tag_bytes, 64);
        tear_down();
}

/* The states that the steps of a pipeline were given, by call. */
static struct str seen_observed[2], seen_desired[2];

static int answer_bytes(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        static const char state[] = "\x12\x03\x0a\x01z\x12\x03\x0a\x01y"; /* two resources, not in order */

        ASSERT(calls < 2);
        seen_observed[calls] = req->observed.encoded;
        seen_desired[calls++] = req->desired.encoded;
        fn_response_init(rsp, req);
        rsp->desired = (struct fn_state) { .is_present = true, .encoded = str_make(state, sizeof(state) - 1) };
        return 0;
}

static const struct builtin_function far = { .name = "far", .run = answer_bytes };

TEST(observed_state_is_encoded_once_and_desired_state_travels_as_it_came)
{
        _cleanup_err_ struct err err = { 0 };
        struct function *f = function_builtin(&far);
        struct step_context c = { .run = &run, .observed = &observed };
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct context = { .value = &value_empty_object };
        struct step step = { .name = STR("s"), .function = STR("far") };
        struct step_record record;
        struct fn_response first, second;

        set_up();
        c.cluster = store_cluster(store);
        c.options.registry = registry;
        f->wants_tag = true;
        registry_set(registry, STR("far"), f);
        observed.has_composite = true;
        observed.composite.object.value = &value_empty_object;
        ASSERT(step_run(&c, &step, &desired, &context, &first, &record, &err) >= 0);
        ASSERT(step_run(&c, &step, &first.desired, &first.context, &second, &record, &err) >= 0);
        ASSERT_INT(calls, 2);
        ASSERT(seen_observed[0].p && seen_observed[0].p == seen_observed[1].p);
        ASSERT_STR(seen_observed[0], STR("\x0a\x02\x0a\x00"));
        ASSERT(seen_desired[0].p && seen_desired[0].n == 0);
        ASSERT(seen_desired[1].p == first.desired.encoded.p);
        ASSERT(!first.desired.is_open);
        tear_down();
}

TEST(an_unknown_function_is_named)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        registry_set_hint(registry, " - is it listed in the render input?");
        ASSERT(run_step(NULL, &step, &rsp, &record, &err) < 0);
        ASSERT_TEXT(err_message(&err),
                    "cannot run Composition pipeline step \"s\": unknown function \"f\" - is it listed in "
                    "the render input?");
        tear_down();
}

/* Asks by name for one that is there and one that is not, and by labels; adds what it got to the context. */
static int ask(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        static const struct fn_label label = { STR_INIT("l"), STR_INIT("1") };
        const struct value *v;

        calls++;
        fn_response_init(rsp, req);
        fn_response_require(r->arena, rsp,
                            &(struct fn_selector) { .name = STR("one"),
                                                    .api_version = STR("e.org/v1"),
                                                    .kind = STR("Thing"),
                                                    .ns = STR("ns"),
                                                    .match_name = STR("b") });
        fn_response_require(r->arena, rsp,
                            &(struct fn_selector) { .name = STR("none"),
                                                    .api_version = STR("e.org/v1"),
                                                    .kind = STR("Thing"),
                                                    .ns = STR("ns"),
                                                    .match_name = STR("z") });
        fn_response_require(r->arena, rsp,
                            &(struct fn_selector) { .name = STR("all"),
                                                    .api_version = STR("e.org/v1"),
                                                    .kind = STR("Thing"),
                                                    .has_labels = true,
                                                    .labels = &label,
                                                    .n_labels = 1 });
        if (calls == 1) {
                ASSERT_INT(req->required_resources.n, 0);
                rsp->context.value = parse("{\"from\":\"the first call\"}");
                return 0;
        }
        ASSERT_INT(req->required_resources.n, 3);
        ASSERT_STR(req->required_resources.p[0].name, STR("all"));
        ASSERT_INT(req->required_resources.p[0].n_items, 2);
        ASSERT(fn_struct_value(r->arena, (struct fn_struct *)&req->required_resources.p[0].items[0].object, &v, err) >=
               0);
        ASSERT_STR(meta_name(v), STR("a")); /* `ns-2/a` sorts before `ns/b` */
        ASSERT_INT(req->required_resources.p[1].n_items, 0);
        ASSERT_INT(req->required_resources.p[2].n_items, 1);
        ASSERT_STR(value_str(value_get(req->context.value, STR("from"))), STR("the first call"));
        fn_response_add_result(r->arena, rsp, FN_SEVERITY_NORMAL, "got them");
        return 0;
}

static const struct builtin_function asking = { .name = "f", .run = ask };

TEST(requirements_are_answered_until_they_do_not_change)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        ASSERT(run_step(&asking, &step, &rsp, &record, &err) >= 0);
        ASSERT_INT(calls, 2);
        ASSERT_INT(rsp.n_results, 1);
        tear_down();
}

static int ask_more(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        calls++;
        fn_response_init(rsp, req);
        fn_response_require(r->arena, rsp,
                            &(struct fn_selector) { .name = arena_printf(r->arena, "r%u", calls),
                                                    .api_version = STR("e.org/v1"),
                                                    .kind = STR("Thing"),
                                                    .match_name = STR("z") });
        return 0;
}

static const struct builtin_function insatiable = { .name = "f", .run = ask_more };

TEST(a_function_that_never_has_enough_is_stopped)
{
        static const struct {
                int64_t max_iterations;
                unsigned calls;
                const char *error;
        } cases[] = {
                { 0, 6, "requirements didn't stabilize after the maximum number of iterations (5)" },
                { 1, 1, "requirements didn't stabilize after the maximum number of iterations (0)" },
                { 3, 3, "requirements didn't stabilize after the maximum number of iterations (2)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct step step = { .max_iterations = cases[i].max_iterations };
                struct step_record record;
                struct fn_response rsp;

                set_up();
                ASSERT(run_step(&insatiable, &step, &rsp, &record, &err) < 0);
                ASSERT_INT(calls, cases[i].calls);
                ASSERT(str_ends_with(str_from(err_message(&err)), str_from(cases[i].error)));
                tear_down();
        }
}

static int fail_fatally(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        ask_more(r, req, rsp, err);
        fn_response_add_result(r->arena, rsp, FN_SEVERITY_FATAL, "boom");
        return 0;
}

static const struct builtin_function fatal = { .name = "f", .run = fail_fatally };

TEST(a_fatal_result_ends_the_loop)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        ASSERT(run_step(&fatal, &step, &rsp, &record, &err) >= 0);
        ASSERT_INT(calls, 1);
        ASSERT_STR(record.results[0].message, STR("boom"));
        tear_down();
}

TEST(extra_resources_are_allowed_or_refused)
{
        static const struct {
                const char *rules;
                bool is_allowed;
        } cases[] = {
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\"}]", true },
                { "[{\"apiVersion\":\"*\",\"kind\":\"*\",\"name\":\"z\"}]", true },
                { "[{\"apiVersion\":\"e.org/.*\",\"kind\":\"Th.*\",\"matchName\":\"[a-z]\"}]", true },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"name\":\"y\"}]", false },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thin\"}]", false },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"l\":\"*\"}}]", false },
                { "[]", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct step step = { .max_iterations = 2 };
                struct step_record record;
                struct fn_response rsp;
                int r;

                set_up();
                step.allowed_extra_resources = parse(cases[i].rules);
                r = run_step(&insatiable, &step, &rsp, &record, &err);
                ASSERT_CASE(cases[i].rules, r < 0 && (err.code != ERR_FORBIDDEN) == cases[i].is_allowed);
                if (!cases[i].is_allowed)
                        ASSERT_TEXT(
                                err_message(&err),
                                "cannot run Composition pipeline step \"s\": function \"f\" of step \"s\" may not have "
                                "requirement \"r1\" (e.org/v1 Thing named \"z\"): no entry of the step's "
                                "allowedExtraResources matches");
                tear_down();
        }
}

static int ask_for_configs(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        fn_response_init(rsp, req);
        fn_response_require(r->arena, rsp,
                            &(struct fn_selector) { .name = STR("r"),
                                                    .api_version = STR("apiextensions.crossplane.io/v1alpha1"),
                                                    .kind = STR("EnvironmentConfig"),
                                                    .match_name = STR("z") });
        return 0;
}

TEST(a_rule_knows_the_other_name_of_a_version)
{
        static const struct builtin_function asks = { .name = "f", .run = ask_for_configs };
        static const char *const versions[] = { "v1alpha1", "v1beta1", "v1" };

        for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct step step = { 0 };
                struct step_record record;
                struct fn_response rsp;
                struct str rules;

                set_up();
                rules = arena_printf(
                        &arena, "[{\"apiVersion\":\"apiextensions.crossplane.io/%s\",\"kind\":\"EnvironmentConfig\"}]",
                        versions[i]);
                step.allowed_extra_resources = parse(arena_cstring(&arena, rules));
                run_step(&asks, &step, &rsp, &record, &err);
                ASSERT_CASE(versions[i], (err.code == ERR_FORBIDDEN) == (i == 2));
                tear_down();
        }
}

static int look_at_bootstrap(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        fn_response_init(rsp, req);
        ASSERT_INT(req->n_credentials, 1);
        ASSERT_STR(req->credentials[0].data.p[0].bytes, STR("v1"));
        ASSERT_INT(req->required_resources.n, 1);
        ASSERT_INT(req->required_resources.p[0].n_items, 1);
        ASSERT_INT(req->n_schemas, 1);
        ASSERT(!fn_struct_is_present(&req->schemas[0].openapi));
        return 0;
}

static const struct builtin_function looking = { .name = "f", .run = look_at_bootstrap };

TEST(credentials_and_bootstrap_requirements_are_there_from_the_start)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        step.credentials =
                parse("[{\"name\":\"c\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}},"
                      "{\"name\":\"n\",\"source\":\"None\"}]");
        step.requirements = parse(
                "{\"requiredResources\":[{\"requirementName\":\"r\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\","
                "\"namespace\":\"ns\",\"name\":\"b\"}],\"requiredSchemas\":[{\"requirementName\":\"x\","
                "\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\"}]}");
        ASSERT(run_step(&looking, &step, &rsp, &record, &err) >= 0);
        tear_down();
}

TEST(a_missing_secret_is_an_error_that_names_the_credential)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        step.credentials =
                parse("[{\"name\":\"c\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"zz\"}}]");
        ASSERT(run_step(&nothing, &step, &rsp, &record, &err) < 0);
        ASSERT_TEXT(err_message(&err),
                    "cannot get Composition pipeline step \"s\" credential \"c\" from Secret: secrets \"zz\" not "
                    "found");
        ASSERT_INT(calls, 0);
        tear_down();
}

/* --- Revisions of functions --- */

TEST(a_revision_is_chosen_behind_its_gate)
{
        struct function_revision revision = { .name = STR("f-1"), .number = 1, .is_active = true };
        static const struct {
                const char *revision, *labels;
                bool is_on;
                const char *error;
        } cases[] = {
                { "f-1", NULL, true, NULL },
                { "", "{\"a\":\"b\"}", true,
                  "cannot run Composition pipeline step \"s\": cannot get gRPC client connection for Function \"f\": "
                  "cannot find an active FunctionRevision (a FunctionRevision with spec.desiredState: Active) with "
                  "labels a=b: none of the Function's 1 revisions has them" },
                { "f-1", NULL, false,
                  "Composition pipeline step \"s\" has a functionRevisionRef, which needs the feature gate "
                  "FunctionRevisionSelectors (--feature-gates=FunctionRevisionSelectors=true)" },
                { "", "{}", false,
                  "Composition pipeline step \"s\" has a functionRevisionSelector, which needs the feature gate "
                  "FunctionRevisionSelectors (--feature-gates=FunctionRevisionSelectors=true)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct step step = { 0 };
                struct step_record record;
                struct fn_response rsp;
                int r;

                set_up();
                features = features_with((struct features) { 0 }, FEATURE_FUNCTION_REVISION_SELECTORS, cases[i].is_on);
                revision.function = function_builtin(&nothing);
                registry_set_revision(registry, STR("f"), &revision);
                step.choice.revision = str_from(cases[i].revision);
                step.choice.match_labels = cases[i].labels ? parse(cases[i].labels) : NULL;
                r = run_step(NULL, &step, &rsp, &record, &err);
                ASSERT_CASE(err_message(&err), (r < 0) == (cases[i].error != NULL));
                ASSERT_TEXT(err_message(&err), cases[i].error ? cases[i].error : "no error");
                ASSERT_INT(calls, cases[i].error ? 0 : 1);
                tear_down();
        }
}

static const struct function_revision successor = { .name = STR_INIT("f-2"), .number = 2, .is_active = true };

/* The function is replaced while it is called, and the call is lost. */
static int lose_call(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        struct function_revision next = successor;

        calls++;
        next.function = function_builtin_as(&nothing, next.name);
        registry_set_revision(registry, STR("f"), &next);
        registry_remove_revision(registry, STR("f"), STR("f-1"));
        return err_set(err, ERR_CLOSED, "the program has ended");
}

static const struct builtin_function loser = { .name = "f", .run = lose_call };

TEST(a_call_that_a_replaced_function_loses_goes_to_its_successor)
{
        struct function_revision first = { .name = STR("f-1"), .number = 1, .is_active = true };
        _cleanup_err_ struct err err = { 0 };
        struct step step = { 0 };
        struct step_record record;
        struct fn_response rsp;

        set_up();
        first.function = function_builtin_as(&loser, first.name);
        registry_set_revision(registry, STR("f"), &first);
        ASSERT_INT(run_step(NULL, &step, &rsp, &record, &err), 0);
        ASSERT_INT(calls, 2);
        ASSERT_STR(record.revision, STR("f-2"));
        tear_down();
}

/* --- Input by reference --- */

static int look_at_input(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        const struct value *input;

        calls++;
        fn_response_init(rsp, req);
        ASSERT(fn_struct_value(r->arena, &req->input, &input, err) >= 0);
        rsp->context.value = input;
        return 0;
}

static const struct builtin_function input_taker = { .name = "f", .run = look_at_input };

TEST(the_input_may_be_an_object_of_the_cluster)
{
        static const struct {
                const char *composite, *ref, *input, *spec, *error;
        } cases[] = {
                { "{\"metadata\":{\"namespace\":\"ns\"}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"in\"}", NULL, "{\"a\":\"b\"}", NULL },
                { "{\"metadata\":{\"name\":\"x\"}}",
                  "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"name\":\"in\"}",
                  NULL, NULL,
                  "cannot get the input of Composition pipeline step \"s\", apiextensions.k8s.io/v1 "
                  "CustomResourceDefinition \"in\": customresourcedefinitions.apiextensions.k8s.io \"in\" not found" },
                { "{\"metadata\":{\"name\":\"x\"}}", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"in\"}",
                  NULL, NULL,
                  "cannot get the input of Composition pipeline step \"s\", v1 ConfigMap \"in\": its kind is "
                  "namespaced, "
                  "and the composite resource has no namespace to find it in: use a cluster scoped kind" },
                { "{\"metadata\":{\"namespace\":\"other\"}}",
                  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"in\"}", NULL, NULL,
                  "cannot get the input of Composition pipeline step \"s\", v1 ConfigMap \"in\": configmaps \"in\" not "
                  "found" },
                { "{}", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"in\"}", "{}", NULL,
                  "Composition pipeline step \"s\" has both an input and an inputRef: give one of them" },
                { "{}", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}", NULL, NULL,
                  "inputRef of Composition pipeline step \"s\" must have an apiVersion, a kind and a name" },
                { "{}", "{\"apiVersion\":\"a/b/c\",\"kind\":\"Thing\",\"name\":\"in\"}", NULL, NULL,
                  "cannot get the input of Composition pipeline step \"s\", a/b/c Thing \"in\": unexpected "
                  "GroupVersion "
                  "string: a/b/c" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct step step = { 0 };
                struct step_record record;
                struct fn_response rsp;

                set_up();
                put("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"in\",\"namespace\":\"ns\"},"
                    "\"data\":{\"a\":\"b\"}}");
                observed.has_composite = true;
                observed.composite.object.value = parse(cases[i].composite);
                step.input_ref = parse(cases[i].ref);
                step.input = cases[i].input ? parse(cases[i].input) : NULL;
                run_step(&input_taker, &step, &rsp, &record, &err);
                ASSERT_TEXT(err_message(&err), cases[i].error ? cases[i].error : "no error");
                if (cases[i].spec)
                        check_value("input", value_get(rsp.context.value, STR("data")), cases[i].spec);
                ASSERT_INT(calls, cases[i].error ? 0 : 1);
                tear_down();
        }
}
