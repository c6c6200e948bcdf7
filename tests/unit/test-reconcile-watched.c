/* The watches, the memory and the messages of a composite's steps, as seen on the composite (docs/spec/seeds 2). */
#include "values.h"

#include "condition.h"
#include "fn-cache.h"
#include "functions.h"
#include "reconcile.h"
#include "requirements-memory.h"
#include "revision.h"
#include "store.h"
#include "xrd.h"

#define SECRET         "correct-horse-battery"
#define SECRET_ENCODED "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"

static struct store *store;
static struct registry *registry;
static struct run run;
static struct composite_type type;
static struct reconcile_options options;
static const struct object_key key = {
        .gvk = { STR_INIT("example.org"), STR_INIT("v1"), STR_INIT("App") },
        .ns = STR_INIT("default"),
        .name = STR_INIT("web"),
};

static const struct value *put(const struct value *object)
{
        _cleanup_err_ struct err err = { 0 };
        struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(object), .body = object };
        struct write_result result;

        if (cluster_write(store_cluster(store), &run, &req, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return result.value;
}

static const struct value *composite(void)
{
        const struct value *v = NULL;

        cluster_get_value(store_cluster(store), &run, &key, &v, NULL);
        return v;
}

static void put_composition(const char *steps)
{
        static const char text[] = "{\"apiVersion\":\"apiextensions.crossplane.io/"
                                   "v1\",\"kind\":\"Composition\",\"metadata\":{\"name\":\"apps\"},"
                                   "\"spec\":{\"compositeTypeRef\":{\"apiVersion\":\"example.org/"
                                   "v1\",\"kind\":\"App\"},\"mode\":\"Pipeline\"}}";
        const struct value *composition = parse(text), *revision;
        struct condition valid = { .type = STR("ValidPipeline"), .status = CONDITION_TRUE };
        struct write_request status = { .verb = WRITE_UPDATE, .subresource = STR("status") };
        struct write_result result;

        composition =
                put(value_with(&arena, composition, STR("spec"),
                               value_with(&arena, value_get(composition, STR("spec")), STR("pipeline"), parse(steps))));
        ASSERT(revision_make(&arena, composition, 1, &revision, NULL) >= 0);
        status.body = conditions_set(&arena, put(revision), &valid, 1);
        status.key = object_key_of(status.body);
        ASSERT(cluster_write(store_cluster(store), &run, &status, &result, NULL) >= 0);
}

static void put_definition(const char *scope)
{
        const struct value *xrd = parse(arena_cstring(
                &arena,
                arena_printf(
                        &arena,
                        "{\"apiVersion\":\"apiextensions.crossplane.io/v2\",\"kind\":\"CompositeResourceDefinition\","
                        "\"metadata\":{\"name\":\"apps.example.org\",\"uid\":\"x\"},\"spec\":{\"group\":\"example."
                        "org\","
                        "\"names\":{\"kind\":\"App\",\"plural\":\"apps\"},\"scope\":\"%s\",\"versions\":[{\"name\":"
                        "\"v1\","
                        "\"served\":true,\"referenceable\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
                        "]}}",
                        scope)));
        const struct value *crd;

        ASSERT(xrd_composite_crd(&arena, xrd, &crd, NULL) >= 0);
        put(meta_with(&arena, crd, STR("ownerReferences"), NULL));
        type = (struct composite_type) { .gvk = key.gvk, .xrd = xrd };
}

/* --- A function that does what the test wants --- */

static struct fn_watch watches[4];
static size_t n_watches;
static bool is_fatal;
static unsigned calls;

static int act(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        static const char *const names[] = { "a", "b" };

        calls++;
        fn_response_init(rsp, req);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                fn_response_require(r->arena, rsp,
                                    &(struct fn_selector) { .name = str_from(names[i]),
                                                            .api_version = STR("v1"),
                                                            .kind = STR("ConfigMap"),
                                                            .ns = STR("default"),
                                                            .match_name = str_from(names[i]) });
        rsp->requirements.watches = watches;
        rsp->requirements.n_watches = n_watches;
        if (is_fatal)
                fn_response_add_result(r->arena, rsp, FN_SEVERITY_FATAL, "no");
        return 0;
}

static const struct builtin_function actor = { .name = "actor", .run = act };

#define STEPS                                                                                                 \
        "[{\"step\":\"s1\",\"functionRef\":{\"name\":\"actor\"}},{\"step\":\"s2\",\"functionRef\":{\"name\":" \
        "\"actor\"}}]"

static void set_up(const char *steps)
{
        struct store_options store_options = { .accepts_any_kind = true, .creates_namespaces = true };

        begin();
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE, .cause = STR("test") };
        ASSERT(store_new(&store_options, &store, NULL) >= 0);
        registry = registry_new();
        registry_set(registry, STR("actor"), function_builtin(&actor));
        put_definition("Namespaced");
        options = (struct reconcile_options) {
                .cluster = store_cluster(store),
                .policies = &reconcile_policies_controller,
                .steps = { .registry = registry, .wants_diff = true },
                .type = &type,
                .is_realtime = true,
        };
        put_composition(steps);
        put(parse("{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                  "\"default\"},\"spec\":{}}"));
        n_watches = 0;
        calls = 0;
        is_fatal = false;
}

static void tear_down(void)
{
        registry_free(registry);
        arena_done(&arena);
        store_free(store);
}

static struct reconcile_result reconcile(struct err *err)
{
        struct reconcile_result result;

        composite_reconcile(&run, &options, &key, &result, err);
        return result;
}

static void watch(const char *name)
{
        watches[n_watches++] = (struct fn_watch) { STR("v1"), STR("ConfigMap"), STR("default"), str_from(name) };
}

static const struct value *refs(void)
{
        return value_find(composite(), "status", "watchedResourceRefs");
}

#define REF(name) "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"" name "\",\"namespace\":\"default\"}"

TEST(what_is_watched_stands_in_the_status)
{
        uint64_t version = 0;

        set_up(STEPS);
        watch("b");
        watch("a");
        watch("b");
        for (int i = 0; i < 6; i++) {
                version = store_version(store);
                reconcile(NULL);
                check_value("refs", refs(), "[" REF("a") "," REF("b") "]");
        }
        ASSERT_INT(store_version(store), version); /* nothing changes, nothing is written */
        n_watches = 1;
        reconcile(NULL);
        check_value("refs", refs(), "[" REF("b") "]");
        is_fatal = true;
        n_watches = 0;
        reconcile(NULL);
        check_value("refs", refs(), "[" REF("b") "]"); /* a fatal result changes nothing */
        is_fatal = false;
        reconcile(NULL);
        ASSERT(!refs());
        tear_down();
}

TEST(a_step_may_watch_all_it_asks_for)
{
        set_up("[{\"step\":\"s1\",\"functionRef\":{\"name\":\"actor\"},\"watchExtraResources\":true}]");
        reconcile(NULL);
        check_value("refs", refs(), "[" REF("a") "," REF("b") "]");
        tear_down();
}

TEST(what_was_not_asked_for_is_told_and_not_watched)
{
        struct reconcile_result result;

        set_up(STEPS);
        watch("a");
        watch("stranger");
        result = reconcile(NULL);
        check_value("refs", refs(), "[" REF("a") "]");
        ASSERT_INT(result.n_events >= 2, 1);
        ASSERT(result.events[result.n_events - 1].is_warning);
        ASSERT_STR(result.events[result.n_events - 1].reason, STR("ComposeResources"));
        ASSERT_STR(
                result.events[result.n_events - 1].message,
                STR("Pipeline step \"s2\": cannot watch v1 ConfigMap \"default/stranger\", which the step did not ask "
                    "for in this run"));
        tear_down();
}

static int echo_status(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        const struct value *xr, *status;

        fn_response_init(rsp, req);
        ASSERT(fn_struct_value(r->arena, &req->observed.composite.object, &xr, err) >= 0);
        status = value_get(xr, STR("status"));
        if (status) {
                rsp->desired.has_composite = true;
                rsp->desired.composite.object.value = value_with(r->arena, &value_empty_object, STR("status"), status);
        }
        return 0;
}

static const struct builtin_function echo = { .name = "echo", .run = echo_status };

TEST(a_function_that_returns_the_status_it_was_shown_watches_nothing)
{
        set_up(STEPS);
        watch("a");
        reconcile(NULL);
        check_value("refs", refs(), "[" REF("a") "]");
        registry_set(registry, STR("actor"), function_builtin(&echo));
        reconcile(NULL);
        ASSERT(!refs());
        tear_down();
}

TEST(a_deleted_composite_is_forgotten)
{
        struct write_request removal = { .verb = WRITE_DELETE, .key = key };
        struct write_result result;

        set_up(STEPS);
        options.steps.memory = requirements_memory_new(0, 0);
        options.steps.features = features_with(options.steps.features, FEATURE_REQUIREMENTS_CACHE, true);
        reconcile(NULL);
        ASSERT_INT(calls, 4);
        ASSERT_INT(requirements_memory_size(options.steps.memory).n_composites, 1);
        reconcile(NULL);
        ASSERT_INT(calls, 6); /* one for each step */
        ASSERT(cluster_write(store_cluster(store), &run, &removal, &result, NULL) >= 0);
        reconcile(NULL);
        ASSERT(!composite());
        ASSERT_INT(requirements_memory_size(options.steps.memory).n_composites, 0);
        requirements_memory_free(options.steps.memory);
        tear_down();
}

/* --- The response cache --- */

/* As if it were far away: requests have their tags. */
static int far_call(struct function *f, struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        return act(r, req, rsp, err);
}

static void far_free(struct function *f)
{
        free(f);
}

TEST(a_settled_composite_calls_no_function_that_is_cached)
{
        static const struct function_ops ops = { .call = far_call, .free = far_free };
        struct function *far = xcalloc(1, sizeof(*far));

        set_up(STEPS);
        *far = (struct function) { .ops = &ops, .name = STR("f"), .revision = STR("f-1"), .wants_tag = true };
        atomic_init(&far->references, 1);
        registry_set(registry, STR("actor"), far);
        ASSERT(fn_cache_new(&(struct fn_cache_options) { 0 }, &options.steps.cache, NULL) >= 0);
        options.steps.features = features_with(options.steps.features, FEATURE_FUNCTION_RESPONSE_CACHE, true);
        watch("a");
        for (int i = 0; i < 4; i++)
                reconcile(NULL);
        calls = 0;
        for (int i = 0; i < 3; i++) {
                struct reconcile_result result = reconcile(NULL);

                ASSERT(result.records[0].was_cached && result.records[1].was_cached);
                ASSERT(result.requeue_after_ns > 0); /* when the answer is no longer good */
                check_value("refs", refs(), "[" REF("a") "]");
        }
        ASSERT_INT(calls, 0);
        fn_cache_free(options.steps.cache);
        tear_down();
}

/* --- Secrets --- */

static bool fails;

static int blab(struct run *r, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        struct fn_resource copy = { .name = STR("copy"), .ready = FN_READY_TRUE };

        ASSERT_STR(req->credentials[0].data.p[0].bytes, STR(SECRET));
        if (fails)
                return err_set(err, ERR_FAILED, "cannot log in as " SECRET);
        fn_response_init(rsp, req);
        fn_response_add_result(r->arena, rsp, is_fatal ? FN_SEVERITY_FATAL : FN_SEVERITY_WARNING, "I know " SECRET);
        fn_response_add_condition(r->arena, rsp,
                                  &(struct fn_condition) { .type = STR("Told"),
                                                           .status = 2,
                                                           .reason = STR("R"),
                                                           .message = STR("It is " SECRET_ENCODED) });
        fn_response_add_condition(
                r->arena, rsp,
                &(struct fn_condition) {
                        .type = STR("ToldAgain"), .status = 2, .reason = STR("R"), .message = STR("It is " SECRET) });
        copy.object.value =
                parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"k\":\"" SECRET_ENCODED "\"}}");
        fn_state_set(r->arena, &rsp->desired, &copy);
        return 0;
}

static const struct builtin_function blabber = { .name = "blabber", .run = blab };

static void check_clean(const char *what, struct str text)
{
        ASSERT_CASE(what, str_find(text, STR(SECRET)) < 0 && str_find(text, STR(SECRET_ENCODED)) < 0);
}

static void check_result(const struct reconcile_result *result, const struct err *err)
{
        check_clean("error", str_from(err_message(err)));
        for (size_t i = 0; i < result->n_events; i++)
                check_clean("event", result->events[i].message);
        for (size_t i = 0; i < result->n_records; i++) {
                if (result->records[i].desired_diff)
                        check_clean("diff", str_from(text_of(result->records[i].desired_diff, 0)));
                for (size_t j = 0; j < result->records[i].n_results; j++)
                        check_clean("result", result->records[i].results[j].message);
        }
        check_clean("composite", str_from(text_of(composite(), 0)));
}

TEST(secrets_reach_neither_events_nor_records_nor_conditions)
{
        set_up("[{\"step\":\"s1\",\"functionRef\":{\"name\":\"actor\"},\"credentials\":[{\"name\":\"c\",\"source\":"
               "\"Secret\","
               "\"secretRef\":{\"namespace\":\"default\",\"name\":\"c\"}}]}]");
        registry_set(registry, STR("actor"), function_builtin(&blabber));
        put(parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"c\",\"namespace\":\"default\"},"
                  "\"data\":"
                  "{\"password\":\"" SECRET_ENCODED "\"}}"));
        for (int i = 0; i < 4; i++) { /* twice well: the second time it is observed, too */
                _cleanup_err_ struct err err = { 0 };
                struct reconcile_result result;

                is_fatal = i == 2;
                fails = i == 3;
                result = reconcile(&err);
                ASSERT_INT(err.code < 0, i >= 2);
                ASSERT(result.n_events > 0 && result.n_records == 1);
                check_result(&result, &err);
        }
        tear_down();
}
