/* The dry run of a rollout: a step's request goes to both revisions, and what differs is told (docs/spec/seeds 3.1). */
#include "step-test.h"

static unsigned n_old, n_new; /* calls */
static size_t old_credentials, new_credentials;
static const struct value *compared; /* what the hook was told; NULL: nothing */
static bool new_is_fatal, old_is_fatal, new_asks;

static void on_comparison(void *arg _unused_, const struct step *step, const struct value *difference)
{
        ASSERT_STR(step->name, STR("s"));
        compared = value_copy(&arena, difference);
}

static void add_resource(struct fn_response *rsp, const char *name, const char *json)
{
        struct fn_resource resource = { .name = str_from(name), .object = { .value = parse(json) } };

        fn_state_set(&arena, &rsp->desired, &resource);
}

static int answer_old(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err _unused_)
{
        const char *counted = arena_cstring(&arena, arena_printf(&arena, "{\"a\":1,\"calls\":%u}", n_old++));

        old_credentials = req->n_credentials;
        fn_response_init(rsp, req);
        add_resource(rsp, "x", counted);
        add_resource(rsp, "gone", "{\"b\":1}");
        add_resource(rsp, "secret",
                     "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"p\":\"b2xkLXBhc3N3b3Jk\"}}");
        fn_response_add_result(r->arena, rsp, FN_SEVERITY_NORMAL, "call %u", n_old);
        if (old_is_fatal)
                fn_response_add_result(r->arena, rsp, FN_SEVERITY_FATAL, "the old one cannot");
        return 0;
}

static int answer_new(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err _unused_)
{
        struct fn_selector things = { .name = STR("t"),
                                      .api_version = STR("e.org/v1"),
                                      .kind = STR("Thing"),
                                      .match_name = STR("b"),
                                      .ns = STR("ns") };

        n_new++;
        new_credentials = req->n_credentials;
        fn_response_init(rsp, req);
        add_resource(rsp, "x", "{\"a\":2,\"calls\":77}");
        add_resource(rsp, "secret",
                     "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"p\":\"bmV3LXBhc3N3b3Jk\"}}");
        fn_response_add_result(r->arena, rsp, FN_SEVERITY_NORMAL, "something else");
        if (new_is_fatal)
                fn_response_add_result(r->arena, rsp, FN_SEVERITY_FATAL, "no: secret-token");
        if (new_asks)
                fn_response_require(r->arena, rsp, &things);
        if (new_asks && req->required_resources.n > 0)
                add_resource(rsp, "asked", "{\"got\":1}");
        return 0;
}

static const struct builtin_function old = { .name = "old", .run = answer_old },
                                     new = { .name = "new", .run = answer_new };

static void set_up(void)
{
        world_begin(true);
        n_old = n_new = 0;
        compared = NULL;
        new_is_fatal = old_is_fatal = new_asks = false;
        put("{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\"}}");
        put("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"},\"data\":{"
            "\"k\":\"c2VjcmV0LXRva2Vu\"}}"); /* secret-token */
        registry_set_revision(registry, STR("f"),
                              &(struct function_revision) { .name = STR("f-1"),
                                                            .number = 1,
                                                            .is_active = true,
                                                            .function = function_builtin_as(&old, STR("f-1")) });
        registry_set_revision(registry, STR("f"),
                              &(struct function_revision) { .name = STR("f-2"),
                                                            .number = 2,
                                                            .is_active = true,
                                                            .function = function_builtin_as(&new, STR("f-2")) });
}

static void plan(bool is_dry_run, bool gives_credentials)
{
        static int64_t generation;
        struct rollout_plan p = { .uid = STR("u"),
                                  .generation = ++generation,
                                  .is_on = true,
                                  .from = STR("f-1"),
                                  .to = STR("f-2"),
                                  .is_dry_run = is_dry_run,
                                  .gives_credentials = gives_credentials };

        registry_set_rollout(registry, STR("f"), &p);
}

/* Runs the step and returns what was told, as JSON. */
static const char *compare(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct step step = {
                .name = STR("s"),
                .function = STR("f"),
                .credentials = parse(
                        "[{\"name\":\"c\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}}]"),
        };
        struct step_context c = {
                .run = &run,
                .cluster = store_cluster(store),
                .options = { .registry = registry },
                .hooks = { .on_comparison = on_comparison },
                .observed = &observed,
        };
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct context = { .value = &value_empty_object };
        struct step_record record;
        struct fn_response rsp;

        compared = NULL;
        ASSERT(step_run(&c, &step, &desired, &context, &rsp, &record, &err) >= 0);
        ASSERT_STR(record.revision, STR("f-1")); /* its answer counts */
        ASSERT_INT(record.calls, 1);
        ASSERT(rsp.desired.n_resources == 3 || old_is_fatal);
        return compared ? text_of(compared, 0) : "nothing";
}

#define CHANGES                                                                                                        \
        "{\"changes\":[{\"op\":\"remove\",\"path\":\"/resources/gone\",\"old\":{\"b\":1}},"                            \
        "{\"op\":\"replace\",\"path\":\"/resources/secret/data/p\",\"old\":\"**REDACTED**\",\"value\":\"**REDACTED** " \
        "(changed)\"},"                                                                                                \
        "{\"op\":\"replace\",\"path\":\"/resources/x/a\",\"old\":1,\"value\":2}]}"

TEST(what_differs_is_told_and_what_varies_is_not)
{
        set_up();
        plan(false, false);
        ASSERT_TEXT(compare(), "nothing");
        ASSERT_INT(n_new, 0);
        plan(true, false);
        check_value("changes", parse(compare()), CHANGES);
        ASSERT_INT(n_old, 3); /* once before, and now twice */
        ASSERT_INT(n_new, 1);
        world_end();
}

TEST(credentials_are_withheld)
{
        set_up();
        plan(true, false);
        compare();
        ASSERT_INT(old_credentials, 1);
        ASSERT_INT(new_credentials, 0);
        plan(true, true);
        compare();
        ASSERT_INT(new_credentials, 1);
        world_end();
}

TEST(the_new_revision_may_ask_for_resources)
{
        set_up();
        plan(true, false);
        new_asks = true;
        ASSERT(strstr(compare(), "{\"op\":\"add\",\"path\":\"/resources/asked\",\"value\":{\"got\":1}}"));
        ASSERT_INT(n_new, 2);
        world_end();
}

TEST(failures_are_told_without_secrets)
{
        set_up();
        plan(true, true);
        new_is_fatal = true;
        ASSERT_TEXT(compare(), "{\"fatal\":\"no: **REDACTED**\"}");
        old_is_fatal = true;
        ASSERT_TEXT(compare(), "{\"changes\":[]}");
        new_is_fatal = false;
        ASSERT_TEXT(compare(), "{\"recovers\":\"the old one cannot\"}");
        world_end();
}
