/* The parts around calls of a step: the response cache, requirements of the last run, watches, records without secrets, time. */
#include "step-test.h"

#include "buf.h"
#include "clock.h"
#include "fn-cache.h"
#include "requirements-memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND 1000000000ll

static struct step_context context;
static struct step step;
static struct step_record record;
static struct fn_response rsp;
static unsigned calls;

#define THING(ns, name, labels)                                                                            \
        "{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"metadata\":{\"namespace\":\"" ns "\",\"name\":" \
        "\"" name "\","                                                                                    \
        "\"labels\""                                                                                       \
        ":" labels "}}"
#define SECRET_VALUE   "s3cr3t-value"
#define SECRET_ENCODED "czNjcjN0LXZhbHVl"

static void set_up(void)
{
        world_begin(true);
        calls = 0;
        put(THING("ns", "a", "{\"l\":\"1\"}"));
        put(THING("ns", "b", "{\"l\":\"1\"}"));
        put(THING("ns", "c", "{}"));
        put("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"},\"data\":{"
            "\"k\":\"" SECRET_ENCODED "\"}}");
        observed = (struct fn_state) { .is_present = true, .is_open = true, .has_composite = true };
        observed.composite.object.value =
                parse("{\"apiVersion\":\"e.org/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"x\",\"namespace\":\"ns\","
                      "\"uid\":\"u1\"}}");
        context = (struct step_context) {
                .run = &run,
                .cluster = store_cluster(store),
                .options = { .registry = registry, .wants_diff = true },
                .observed = &observed,
        };
        step = (struct step) { .name = STR("s"), .function = STR("f") };
}

static void tear_down(void)
{
        fn_cache_free(context.options.cache);
        requirements_memory_free(context.options.memory);
        world_end();
}

/* A function that is called as if it were far away: it has a revision, and requests have their tags. */
struct far {
        struct function function;
        int (*run)(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err);
};

static int far_call(struct function *f, struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        calls++;
        return CONTAINER_OF(f, struct far, function)->run(r, req, ret, err);
}

static void far_free(struct function *f)
{
        free(CONTAINER_OF(f, struct far, function));
}

static const struct function_ops far_ops = { .call = far_call, .free = far_free };

static void use(int (*f)(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err),
                const char *revision)
{
        struct far *far = xcalloc(1, sizeof(*far));

        far->function.ops = &far_ops;
        atomic_init(&far->function.references, 1);
        far->function.name = STR("f");
        far->function.revision = str_from(revision);
        far->function.wants_tag = true;
        far->run = f;
        registry_set(registry, STR("f"), &far->function);
}

static int run_step(struct err *err)
{
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct empty = { .value = &value_empty_object };

        return step_run(&context, &step, &desired, &empty, &rsp, &record, err);
}

static void run_ok(void)
{
        _cleanup_err_ struct err err = { 0 };

        if (run_step(&err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void turn_on(enum feature f)
{
        context.options.features = features_with(context.options.features, f, true);
}

/* --- The response cache --- */

static int greet(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        fn_response_init(ret, req);
        ASSERT_INT(req->tag.n, 64);
        fn_response_add_result(r->arena, ret, FN_SEVERITY_NORMAL, "hello");
        return 0;
}

static void use_cache(void)
{
        ASSERT(fn_cache_new(&(struct fn_cache_options) { 0 }, &context.options.cache, NULL) >= 0);
        turn_on(FEATURE_FUNCTION_RESPONSE_CACHE);
}

TEST(an_answer_is_taken_from_the_cache)
{
        set_up();
        use_cache();
        use(greet, "f-1");
        run_ok();
        ASSERT_INT(calls, 1);
        ASSERT(!record.was_cached);
        ASSERT_STR(record.revision, STR("f-1"));
        run_ok();
        ASSERT_INT(calls, 1);
        ASSERT(record.was_cached);
        ASSERT_INT(record.calls, 0);
        ASSERT_STR(record.results[0].message, STR("hello"));
        ASSERT(rsp.ttl_ns > 0 && rsp.ttl_ns <= 60 * SECOND);
        step.input = parse("{\"a\":1}"); /* another request */
        run_ok();
        ASSERT_INT(calls, 2);
        use(greet, "f-2"); /* another revision */
        run_ok();
        ASSERT_INT(calls, 3);
        tear_down();
}

TEST(without_its_gate_the_cache_is_not_asked)
{
        set_up();
        use_cache();
        context.options.features = (struct features) { 0 };
        use(greet, "f-1");
        run_ok();
        run_ok();
        ASSERT_INT(calls, 2);
        ASSERT_INT(fn_cache_stats(context.options.cache).n_entries, 0);
        tear_down();
}

static int fail(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        return err_set(err, ERR_FAILED, "rpc error: code = Unavailable desc = no");
}

TEST(an_error_is_not_cached)
{
        set_up();
        use_cache();
        use(fail, "f-1");
        ASSERT(run_step(NULL) < 0);
        ASSERT(run_step(NULL) < 0);
        ASSERT_INT(calls, 2);
        tear_down();
}

static int greet_locally(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        calls++;
        fn_response_init(ret, req);
        return 0;
}

TEST(a_function_in_this_process_is_called_each_time)
{
        static const struct builtin_function local = { .name = "f", .run = greet_locally };

        set_up();
        use_cache();
        registry_set(registry, STR("f"), function_builtin(&local));
        run_ok();
        run_ok();
        ASSERT_INT(calls, 2);
        tear_down();
}

/* --- What the last run asked for --- */

static struct fn_selector by_name(const char *requirement, const char *name)
{
        return (struct fn_selector) { .name = str_from(requirement),
                                      .api_version = STR("e.org/v1"),
                                      .kind = STR("Thing"),
                                      .ns = STR("ns"),
                                      .match_name = str_from(name) };
}

static size_t n_offered; /* at the last first call */
static const char *asks_for = "a";

/* Is content when it has what it asks for. */
static int ask(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        struct fn_selector one = by_name("one", asks_for);

        if (calls == 1)
                n_offered = req->required_resources.n;
        fn_response_init(ret, req);
        fn_response_require(r->arena, ret, &one);
        return 0;
}

static void use_memory(void)
{
        context.options.memory = requirements_memory_new(0, 0);
        turn_on(FEATURE_REQUIREMENTS_CACHE);
}

static unsigned calls_of_run(void)
{
        calls = 0;
        run_ok();
        return calls;
}

TEST(what_was_asked_for_last_time_comes_with_the_first_call)
{
        set_up();
        use_memory();
        use(ask, "f-1");
        asks_for = "a";
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(n_offered, 0);
        ASSERT_INT(calls_of_run(), 1);
        ASSERT_INT(n_offered, 1);
        asks_for = "b"; /* changes its mind: the answer to the old question is not the new one's */
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(calls_of_run(), 1);
        use(ask, "f-2"); /* another revision may ask for other things */
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(n_offered, 0);
        ASSERT_INT(calls_of_run(), 1);
        requirements_memory_forget(context.options.memory, STR("u1"));
        ASSERT_INT(calls_of_run(), 2);
        context.options.features = (struct features) { 0 };
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(n_offered, 0);
        tear_down();
}

TEST(what_may_no_longer_be_asked_for_is_not_offered)
{
        _cleanup_err_ struct err err = { 0 };

        set_up();
        use_memory();
        use(ask, "f-1");
        asks_for = "a";
        ASSERT_INT(calls_of_run(), 2);
        step.allowed_extra_resources = &value_empty_array;
        calls = 0;
        ASSERT_INT(run_step(&err), ERR_FORBIDDEN);
        ASSERT_INT(n_offered, 0);
        step.allowed_extra_resources = NULL;
        context.options.extra_resources = EXTRA_RESOURCES_OFF;
        calls = 0;
        ASSERT_INT(run_step(&err), ERR_FORBIDDEN);
        ASSERT_INT(n_offered, 0);
        tear_down();
}

TEST(a_bootstrap_requirement_of_the_same_name_wins)
{
        set_up();
        use_memory();
        use(ask, "f-1");
        asks_for = "a";
        ASSERT_INT(calls_of_run(), 2);
        step.requirements = parse(
                "{\"requiredResources\":[{\"requirementName\":\"one\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\","
                "\"namespace\":\"ns\",\"name\":\"c\"}],\"requiredSchemas\":[{\"requirementName\":\"x\","
                "\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\"}]}");
        ASSERT_INT(calls_of_run(), 2); /* what it has under that name is not what it asks for */
        ASSERT_INT(n_offered, 1);
        asks_for = "c";
        ASSERT_INT(calls_of_run(), 1);
        tear_down();
}

static int ask_the_old_way(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        static const struct fn_label label = { STR_INIT("l"), STR_INIT("1") };
        struct fn_selector *both = ARENA_NEW_ARRAY(r->arena, struct fn_selector, 2);

        if (calls == 1)
                n_offered = req->required_resources.n;
        fn_response_init(ret, req);
        both[0] = by_name("a", "a");
        both[1] = by_name("z", "z");
        both[1].match_name = STR_NONE;
        both[1].has_labels = true;
        both[1].labels = &label;
        both[1].n_labels = 1;
        ret->requirements.is_present = true;
        ret->requirements.extra_resources = both;
        ret->requirements.n_extra_resources = 2;
        return 0;
}

TEST(the_deprecated_field_is_offered_in_the_new_one)
{
        set_up();
        use_memory();
        use(ask_the_old_way, "f-1");
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(calls_of_run(), 2); /* it looks for the answer in the old one */
        ASSERT_INT(n_offered, 2);
        tear_down();
}

TEST(a_composite_without_a_uid_is_not_remembered)
{
        set_up();
        use_memory();
        use(ask, "f-1");
        observed.composite.object.value = parse("{\"metadata\":{\"name\":\"x\"}}");
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(calls_of_run(), 2);
        ASSERT_INT(requirements_memory_size(context.options.memory).n_composites, 0);
        tear_down();
}

static int ask_and_fail(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        fn_response_init(ret, req);
        fn_response_add_result(r->arena, ret, FN_SEVERITY_FATAL, "no");
        return 0;
}

TEST(a_fatal_result_changes_no_memory)
{
        set_up();
        use_memory();
        use(ask, "f-1");
        asks_for = "a";
        ASSERT_INT(calls_of_run(), 2);
        use(ask_and_fail, "f-1");
        ASSERT_INT(calls_of_run(), 1);
        use(ask, "f-1");
        ASSERT_INT(calls_of_run(), 1);
        tear_down();
}

/* --- Watches --- */

static const struct fn_watch *watches;
static size_t n_watches;

static int ask_and_watch(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        static const struct fn_label label = { STR_INIT("l"), STR_INIT("1") };
        struct fn_selector one = by_name("one", "c"), none = by_name("none", "later"), all = by_name("all", "");

        all.match_name = STR_NONE;
        all.ns = STR_NONE;
        all.has_labels = true;
        all.labels = &label;
        all.n_labels = 1;
        fn_response_init(ret, req);
        if (req->required_resources.n == 0) { /* asked for in the first call only, and yet in this run */
                fn_response_require(r->arena, ret, &one);
        }
        fn_response_require(r->arena, ret, &none);
        fn_response_require(r->arena, ret, &all);
        ret->requirements.watches = watches;
        ret->requirements.n_watches = n_watches;
        return 0;
}

static struct str watched_text(const struct fn_watch *list, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < n; i++)
                buf_appendf(&b, "%s%.*s:%.*s:%.*s/%.*s", i ? " " : "", STR_ARG(list[i].api_version),
                            STR_ARG(list[i].kind), STR_ARG(list[i].ns), STR_ARG(list[i].name));
        return buf_to_arena(&b, &arena);
}

TEST(what_was_asked_for_can_be_watched)
{
        static const struct fn_watch wanted[] = {
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT("ns"), STR_INIT("later") },
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT("ns"), STR_INIT("b") },
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT("ns"), STR_INIT("c") },
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT("ns"), STR_INIT("b") },
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT("other"), STR_INIT("b") },
                { STR_INIT("v1"), STR_INIT("Secret"), STR_INIT("ns"), STR_INIT("s") },
        };

        set_up();
        use_cache();
        use(ask_and_watch, "f-1");
        watches = wanted;
        n_watches = ARRAY_SIZE(wanted);
        for (int i = 0; i < 2; i++) { /* called, and then from the cache */
                run_ok();
                ASSERT_INT(record.was_cached, i);
                ASSERT_STR(watched_text(record.watched, record.n_watched),
                           STR("e.org/v1:Thing:ns/b e.org/v1:Thing:ns/c e.org/v1:Thing:ns/later"));
                ASSERT_STR(watched_text(record.refused, record.n_refused),
                           STR("e.org/v1:Thing:other/b v1:Secret:ns/s"));
        }
        tear_down();
}

TEST(a_step_can_watch_all_that_it_asks_for)
{
        set_up();
        use_cache();
        use(ask_and_watch, "f-1");
        n_watches = 0;
        run_ok();
        ASSERT_INT(record.n_watched, 0);
        step.watches_extra_resources = true;
        for (int i = 0; i < 2; i++) {
                run_ok();
                ASSERT_INT(record.was_cached, i);
                ASSERT_STR(watched_text(record.watched, record.n_watched),
                           STR("e.org/v1:Thing:ns/a e.org/v1:Thing:ns/b e.org/v1:Thing:ns/c e.org/v1:Thing:ns/later"));
        }
        tear_down();
}

/* Namespaces and the like have no namespace; one that is given all the same does not matter. */
static int watch_namespace(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        static const struct fn_watch wanted = { STR_INIT("v1"), STR_INIT("Namespace"), STR_INIT("x"), STR_INIT("ns") };
        struct fn_selector one = by_name("one", "ns");

        one.api_version = STR("v1");
        one.kind = STR("Namespace");
        fn_response_init(ret, req);
        fn_response_require(r->arena, ret, &one);
        ret->requirements.watches = &wanted;
        ret->requirements.n_watches = 1;
        return 0;
}

TEST(what_has_no_namespace_is_watched_without_one)
{
        set_up();
        use(watch_namespace, "f-1");
        run_ok();
        ASSERT_STR(watched_text(record.watched, record.n_watched), STR("v1:Namespace:/ns"));
        ASSERT_INT(record.n_refused, 0);
        tear_down();
}

/* --- Dependencies --- */

static struct str dependencies_text(void)
{
        static const char *const reads[] = { "resources", "schema", "input", "credentials" };
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < record.n_dependencies; i++) {
                const struct fn_selector *s = &record.dependencies[i].selector;

                ASSERT_INT(s->name.n, 0);
                buf_appendf(&b, "%s%s:%.*s:%.*s:%.*s/%.*s", i ? " " : "", reads[record.dependencies[i].read],
                            STR_ARG(s->api_version), STR_ARG(s->kind), STR_ARG(s->ns), STR_ARG(s->match_name));
                for (size_t j = 0; j < s->n_labels; j++)
                        buf_appendf(&b, "[%.*s=%.*s]", STR_ARG(s->labels[j].key), STR_ARG(s->labels[j].value));
        }
        return buf_to_arena(&b, &arena);
}

TEST(a_record_lists_what_was_read)
{
        set_up();
        put("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"in\",\"namespace\":\"ns\"}}");
        use(ask_and_watch, "f-1");
        n_watches = 0;
        step.input_ref = parse("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"in\"}");
        step.credentials =
                parse("[{\"name\":\"c\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}}]");
        step.requirements =
                parse("{\"requiredResources\":[{\"requirementName\":\"boot\",\"apiVersion\":\"v1\",\"kind\":"
                      "\"Namespace\",\"namespace\":\"ignored\",\"name\":\"ns\"}],\"requiredSchemas\":[{"
                      "\"requirementName\":\"x\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\"}]}");
        run_ok();
        ASSERT_STR(dependencies_text(), STR("resources:e.org/v1:Thing:/[l=1] resources:e.org/v1:Thing:ns/later "
                                            "resources:v1:Namespace:/ns schema:e.org/v1:Thing:/ "
                                            "input:v1:ConfigMap:ns/in credentials:v1:Secret:ns/s"));
        tear_down();
}

TEST(what_is_missing_is_a_dependency_too)
{
        set_up();
        use(greet, "f-1");
        step.input_ref = parse("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"missing\"}");
        ASSERT(run_step(NULL) < 0);
        ASSERT_STR(dependencies_text(), STR("input:v1:ConfigMap:ns/missing"));
        tear_down();
}

/* --- Secrets --- */

/* Tells all it knows, everywhere. */
static int blab(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        static const struct fn_bytes connection = { STR_INIT("password"), STR_INIT(SECRET_VALUE) };
        struct fn_resource secret = { .name = STR("secret") }, config = { .name = STR("config") };

        fn_response_init(ret, req);
        fn_response_require(r->arena, ret,
                            &(struct fn_selector) { .name = STR("s"),
                                                    .api_version = STR("v1"),
                                                    .kind = STR("Secret"),
                                                    .ns = STR("ns"),
                                                    .match_name = STR("s") });
        fn_response_add_result(r->arena, ret, FN_SEVERITY_WARNING, "it is " SECRET_VALUE ", or " SECRET_ENCODED "!");
        ret->results[0].reason = STR(SECRET_VALUE);
        fn_response_add_condition(r->arena, ret,
                                  &(struct fn_condition) { .type = STR("T"),
                                                           .reason = STR("R"),
                                                           .message = STR(SECRET_VALUE SECRET_VALUE) });
        secret.object.value = parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"k\":\"" SECRET_ENCODED
                                    "\"},\"stringData\":{\"j\":\"" SECRET_VALUE "\"}}");
        config.object.value =
                parse("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"k\":[\"user:" SECRET_VALUE "\",1]}}");
        config.connection = (struct fn_bytes_map) { &connection, 1 };
        fn_state_set(r->arena, &ret->desired, &secret);
        fn_state_set(r->arena, &ret->desired, &config);
        return 0;
}

static void check_no_secret(const char *text)
{
        ASSERT_CASE(text, !strstr(text, SECRET_VALUE) && !strstr(text, SECRET_ENCODED));
}

TEST(secrets_are_not_in_records)
{
        set_up();
        use(blab, "f-1");
        for (int i = 0; i < 2; i++) { /* from a Secret that it asked for; from credentials */
                run_ok();
                check_no_secret(text_of(record.desired_diff, 0));
                check_no_secret(arena_cstring(&arena, record.results[0].message));
                check_no_secret(arena_cstring(&arena, record.results[0].reason));
                check_no_secret(arena_cstring(&arena, rsp.conditions[0].message));
                ASSERT_STR(record.results[0].message, STR("it is **REDACTED**, or **REDACTED**!"));
                ASSERT_STR(rsp.conditions[0].message, STR("**REDACTED****REDACTED**"));
                check_value("diff", record.desired_diff,
                            "[{\"op\":\"add\",\"path\":\"/resources/config\",\"value\":{\"apiVersion\":\"v1\","
                            "\"kind\":\"ConfigMap\",\"data\":{\"k\":[\"user:**REDACTED**\",1]}}},{\"op\":\"add\","
                            "\"path\":\"/resources/secret\",\"value\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\","
                            "\"data\":{\"k\":\"**REDACTED**\"},\"stringData\":{\"j\":\"**REDACTED**\"}}}]");
                /* The pipeline itself goes on with the truth. */
                ASSERT_STR(fn_state_find(&rsp.desired, STR("config"))->connection.p[0].bytes, STR(SECRET_VALUE));
                step.credentials = parse("[{\"name\":\"c\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\","
                                         "\"name\":\"s\"}}]");
        }
        tear_down();
}

/* Asks for a Secret, then for another thing, and tells what it had seen. */
static int remember(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        bool is_first = calls == 1;

        fn_response_init(ret, req);
        fn_response_require(r->arena, ret,
                            &(struct fn_selector) { .name = STR("x"),
                                                    .api_version = is_first ? STR("v1") : STR("e.org/v1"),
                                                    .kind = is_first ? STR("Secret") : STR("Thing"),
                                                    .ns = STR("ns"),
                                                    .match_name = is_first ? STR("s") : STR("a") });
        fn_response_add_result(r->arena, ret, FN_SEVERITY_NORMAL, "it was " SECRET_VALUE);
        return 0;
}

TEST(secrets_of_earlier_calls_are_not_told)
{
        set_up();
        use(remember, "f-1");
        run_ok();
        ASSERT_INT(calls, 3);
        ASSERT_STR(record.results[0].message, STR("it was **REDACTED**"));
        tear_down();
}

/* Puts what it has as connection details into a Secret that another object is made of. */
static int wrap(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        struct fn_resource object = { .name = STR("object") };

        fn_response_init(ret, req);
        fn_response_add_result(r->arena, ret, FN_SEVERITY_NORMAL, "it is " SECRET_ENCODED);
        object.object.value = parse(
                "{\"apiVersion\":\"k.org/"
                "v1\",\"kind\":\"Object\",\"spec\":{\"list\":[1,{\"apiVersion\":\"v1\",\"kind\":"
                "\"Secret\",\"data\":{\"a\":\"YQ==\"}}],\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\","
                "\"stringData\":{\"b\":\"other-secret\"}},\"other\":\"other-secret\",\"encoded\":\"" SECRET_ENCODED
                "\"}}");
        fn_state_set(r->arena, &ret->desired, &object);
        return 0;
}

TEST(secrets_inside_of_others_are_not_told)
{
        static const struct fn_bytes connection = { STR_INIT("password"), STR_INIT(SECRET_VALUE) };

        set_up();
        observed.composite.connection = (struct fn_bytes_map) { &connection, 1 };
        use(wrap, "f-1");
        run_ok();
        ASSERT_STR(record.results[0].message, STR("it is **REDACTED**"));
        check_value("diff", record.desired_diff,
                    "[{\"op\":\"add\",\"path\":\"/resources/object\",\"value\":{\"apiVersion\":\"k.org/v1\",\"kind\":"
                    "\"Object\",\"spec\":{\"list\":[1,{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"a\":"
                    "\"**REDACTED**\"}}],\"manifest\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{\"b\":"
                    "\"**REDACTED**\"}},\"other\":\"**REDACTED**\",\"encoded\":\"**REDACTED**\"}}}]");
        tear_down();
}

/* Says what it is given as its input. */
static int repeat_input(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        fn_response_init(ret, req);
        fn_response_add_result(r->arena, ret, FN_SEVERITY_NORMAL, SECRET_VALUE " is " SECRET_ENCODED);
        return 0;
}

TEST(an_input_that_is_a_secret_is_not_told)
{
        set_up();
        use(repeat_input, "f-1");
        step.input_ref = parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"s\"}");
        run_ok();
        ASSERT_STR(record.results[0].message, STR("**REDACTED** is **REDACTED**"));
        tear_down();
}

static void remove_all(const char *directory)
{
        DIR *d = opendir(directory);
        struct dirent *e;

        ASSERT(d);
        while ((e = readdir(d)))
                if (e->d_name[0] != '.')
                        unlinkat(dirfd(d), e->d_name, 0);
        closedir(d);
        ASSERT(rmdir(directory) == 0);
}

/* Of a run of its own: what was observed is not encoded yet. */
static size_t files_after_a_run(void)
{
        observed.encoded = STR_NONE;
        run_ok();
        ASSERT(!record.was_cached);
        return fn_cache_stats(context.options.cache).n_files;
}

TEST(what_was_made_of_secrets_is_not_on_disk)
{
        static const struct fn_bytes connection = { STR_INIT("p"), STR_INIT("pw") };
        char directory[] = "/tmp/weft-step-XXXXXX";

        ASSERT(mkdtemp(directory));
        set_up();
        ASSERT(fn_cache_new(&(struct fn_cache_options) { .directory = str_from(directory) }, &context.options.cache,
                            NULL) >= 0);
        turn_on(FEATURE_FUNCTION_RESPONSE_CACHE);
        use(greet, "f-1");
        ASSERT_INT(files_after_a_run(), 1);
        observed.composite.connection = (struct fn_bytes_map) { &connection, 1 };
        ASSERT_INT(files_after_a_run(), 1);
        observed.composite.connection = (struct fn_bytes_map) { 0 };
        step.input_ref = parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"s\"}");
        ASSERT_INT(files_after_a_run(), 1);
        step.input_ref = NULL;
        calls = 0;
        use(remember, "f-2");
        ASSERT_INT(files_after_a_run(), 1);
        ASSERT_INT(fn_cache_stats(context.options.cache).n_entries, 4);
        tear_down();
        remove_all(directory);
}

static int repeat_observed(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        fn_response_init(ret, req);
        fn_response_add_result(r->arena, ret, FN_SEVERITY_NORMAL, "it is " SECRET_VALUE);
        return 0;
}

TEST(secrets_are_not_in_cached_results)
{
        static const struct fn_bytes connection = { STR_INIT("password"), STR_INIT(SECRET_VALUE) };
        struct fn_cached found;
        struct fn_cache_key cached = { STR("f"), STR("f-1"), STR_NONE, false };

        set_up();
        use_cache();
        observed.composite.connection = (struct fn_bytes_map) { &connection, 1 };
        use(repeat_observed, "f-1");
        run_ok();
        ASSERT_STR(record.results[0].message, STR("it is **REDACTED**"));
        cached.tag = rsp.tag;
        ASSERT(fn_cache_get(context.options.cache, &arena, &cached, &found));
        ASSERT_STR(found.response.results[0].message, STR("it is **REDACTED**"));
        tear_down();
}

static int fail_loudly(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        return err_set(err, ERR_FAILED, "rpc error: code = Unknown desc = cannot log in with " SECRET_VALUE);
}

TEST(secrets_are_not_in_errors)
{
        static const struct fn_bytes connection = { STR_INIT("password"), STR_INIT(SECRET_VALUE) };
        _cleanup_err_ struct err err = { 0 };

        set_up();
        observed.composite.connection = (struct fn_bytes_map) { &connection, 1 };
        use(fail_loudly, "f-1");
        ASSERT(run_step(&err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot run Composition pipeline step \"s\": rpc error: code = Unknown desc = "
                                       "cannot log in with **REDACTED**");
        tear_down();
}

/* --- Time --- */

static struct sim_clock sim;

static int take_too_long(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        sim_clock_advance_to(&sim, r->deadline.mono_ns + 1);
        return err_set(err, ERR_TIMEOUT, "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
}

#define UPSTREAM                                                                                                  \
        "cannot run Composition pipeline step \"s\": rpc error: code = DeadlineExceeded desc = context deadline " \
        "exceeded"

TEST(a_call_that_takes_too_long_says_what_to_do)
{
        static const struct {
                int64_t step_ns, left_ns, run_ns;
                const char *setting, *message;
        } cases[] = {
                { 20 * SECOND, 0, 0, "--step-timeout",
                  UPSTREAM ": function \"f\" of step \"s\" did not answer within 20s; --step-timeout allows more" },
                { 0, 90 * SECOND, 0, "--timeout",
                  UPSTREAM ": function \"f\" of step \"s\" did not answer within 1m30s; --timeout allows more" },
                { 20 * SECOND, 5 * SECOND, 0, "--timeout",
                  UPSTREAM ": function \"f\" of step \"s\" did not answer within 5s; --timeout allows more" },
                { 0, 59 * SECOND, 60 * SECOND, "--timeout",
                  UPSTREAM ": function \"f\" of step \"s\" did not answer within 1m0s; --timeout allows more" },
                { 20 * SECOND, 0, 0, NULL, UPSTREAM },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                set_up();
                sim_clock_init(&sim, (struct instant) { 1700000000, 0 });
                clock_use(&sim);
                use(take_too_long, "f-1");
                context.options.timeout_ns = cases[i].step_ns;
                context.options.timeout_setting = cases[i].setting;
                context.options.run_timeout_ns = cases[i].run_ns;
                if (cases[i].left_ns)
                        run.deadline = deadline_after_ns(cases[i].left_ns);
                ASSERT_INT(run_step(&err), ERR_TIMEOUT);
                ASSERT_TEXT(err_message(&err), cases[i].message);
                clock_use(NULL);
                tear_down();
        }
}

static int time_out_itself(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        return err_set(err, ERR_TIMEOUT, "rpc error: code = DeadlineExceeded desc = my database is slow");
}

TEST(a_timeout_of_the_function_itself_is_its_own)
{
        _cleanup_err_ struct err err = { 0 };

        set_up();
        use(time_out_itself, "f-1");
        context.options.timeout_ns = 1000 * SECOND;
        context.options.timeout_setting = "--timeout";
        ASSERT(run_step(&err) < 0);
        ASSERT(str_ends_with(str_from(err_message(&err)), STR("desc = my database is slow")));
        tear_down();
}
