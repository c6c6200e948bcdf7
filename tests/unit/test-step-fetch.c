/* The requirements of a step: those that are allowed (docs/spec/seeds 2), the objects that the step gets, and the errors when it
 * gets none (docs/spec/engine 2.2, 2.5). */
#include "faulty-cluster.h"
#include "step-test.h"

#include "buf.h"
#include "limits.h"
#include "redact.h"

static struct faulty_cluster faulty;
static struct step_context context;
static struct step step;
static struct step_record record;
static struct fn_response rsp;

static void set_up(const struct builtin_function *f)
{
        world_begin(false); /* kinds must be known */
        registry_set(registry, STR("f"), function_builtin(f));
        faulty_init(&faulty, store_cluster(store), &arena);
        context = (struct step_context) {
                .run = &run, .cluster = &faulty.cluster, .options.registry = registry, .observed = &observed
        };
        step = (struct step) { .name = STR("s"), .function = STR("f") };
        put("{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
            "\"things.e.org\"},\"spec\":{\"group\":\"e.org\",\"scope\":\"Cluster\",\"names\":{\"kind\":\"Thing\","
            "\"plural\":\"things\"},\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,\"storage\":false,\"schema\":{"
            "\"openAPIV3Schema\":{\"type\":\"object\"}}},{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
            "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"string\"}}}}}]}}");
}

static void tear_down(void)
{
        world_end();
}

static int run_step(struct err *err)
{
        struct fn_state desired = { .is_present = true, .is_open = true };
        struct fn_struct empty = { .value = &value_empty_object };
        const char *late = getenv("WEFT_LATE_READS");

        if (late && *late)
                late_begin(&faulty.late, store, store_version(store), 0);
        return step_run(&context, &step, &desired, &empty, &rsp, &record, err);
}

/* --- Asking --- */

static struct fn_selector wanted;
static size_t n_wanted; /* of one name each */
static enum { ASK_RESOURCES, ASK_EXTRA, ASK_SCHEMAS } how;
static unsigned calls;
static const struct value *got_schema;
static size_t n_credentials;

static int ask(struct run *r, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        struct fn_selector *all = ARENA_NEW_ARRAY(r->arena, struct fn_selector, n_wanted + 1);

        calls++;
        n_credentials = req->n_credentials;
        for (size_t i = 1; i < req->n_credentials; i++)
                ASSERT(str_compare(req->credentials[i - 1].name, req->credentials[i].name) < 0);
        fn_response_init(ret, req);
        if (req->n_schemas)
                got_schema = req->schemas[req->n_schemas - 1].openapi.value;
        for (size_t i = 0; i < n_wanted; i++) {
                all[i] = wanted;
                if (n_wanted > 1)
                        all[i].name = arena_printf(r->arena, "r%08zu", i);
        }
        ret->requirements.is_present = n_wanted > 0;
        if (how == ASK_RESOURCES) {
                ret->requirements.resources = all;
                ret->requirements.n_resources = n_wanted;
        } else if (how == ASK_EXTRA) {
                ret->requirements.extra_resources = all;
                ret->requirements.n_extra_resources = n_wanted;
        } else {
                ret->requirements.schemas = all;
                ret->requirements.n_schemas = n_wanted;
        }
        return 0;
}

static const struct builtin_function asking = { .name = "f", .run = ask };

static void want(const char *api_version, const char *kind, const char *name)
{
        wanted = (struct fn_selector) { .name = STR("r"),
                                        .api_version = str_from(api_version),
                                        .kind = str_from(kind),
                                        .match_name = name ? str_from(name) : STR_NONE };
        n_wanted = 1;
        how = ASK_RESOURCES;
        calls = 0;
}

TEST(labels_are_allowed_by_rules_that_name_all_of_them)
{
        static const struct fn_label labels[] = { { STR_INIT("a"), STR_INIT("1") }, { STR_INIT("b"), STR_INIT("22") } };
        static const struct {
                const char *rules;
                bool is_allowed;
        } cases[] = {
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"a\":\"1\",\"b\":\"2+\"}}]",
                  true },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"b\":\"*\",\"a\":\"*\"}}]",
                  true },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\"}]", true },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"a\":\"1\"}}]", false },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"a\":\"1\",\"c\":\"22\"}}]",
                  false },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}]",
                  false },
                { "[{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"name\":\"*\"}]", false },
                { "[{\"apiVersion\":\"(\",\"kind\":\"*\"}]", false }, /* what is no expression matches nothing */
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                int r;

                set_up(&asking);
                want("e.org/v1", "Thing", NULL);
                wanted.has_labels = true;
                wanted.labels = labels;
                wanted.n_labels = 2;
                wanted.ns = STR("ns");
                step.allowed_extra_resources = parse(cases[i].rules);
                r = run_step(&err);
                ASSERT_CASE(cases[i].rules, (r >= 0) == cases[i].is_allowed);
                if (r < 0)
                        ASSERT_TEXT(err_message(&err),
                                    "cannot run Composition pipeline step \"s\": function \"f\" of step \"s\" may not "
                                    "have requirement \"r\" (e.org/v1 Thing with labels a=1,b=22 in namespace \"ns\"): "
                                    "no entry of the step's allowedExtraResources matches");
                tear_down();
        }
}

TEST(the_operator_has_the_last_word)
{
        static const struct {
                enum extra_resources_policy policy;
                const char *rules, *error;
        } cases[] = {
                { EXTRA_RESOURCES_ALLOW, NULL, NULL },
                { EXTRA_RESOURCES_DENY, "[{\"apiVersion\":\"*\",\"kind\":\"*\"}]", NULL },
                { EXTRA_RESOURCES_DENY, NULL,
                  "the step has no allowedExtraResources, which --extra-resources-policy=deny asks for" },
                { EXTRA_RESOURCES_OFF, "[{\"apiVersion\":\"*\",\"kind\":\"*\"}]",
                  "extra resources are switched off (--extra-resources-policy=off)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                for (how = ASK_RESOURCES; how <= ASK_SCHEMAS; how++) {
                        _cleanup_err_ struct err err = { 0 };
                        unsigned was = how;

                        set_up(&asking);
                        want("e.org/v1", "Thing", "x");
                        how = was;
                        context.options.extra_resources = cases[i].policy;
                        step.allowed_extra_resources = cases[i].rules ? parse(cases[i].rules) : NULL;
                        ASSERT_INT(run_step(&err), cases[i].error ? ERR_FORBIDDEN : 0);
                        ASSERT_INT(record.n_dependencies, cases[i].error ? 0 : 1); /* refused: nothing is read */
                        if (cases[i].error)
                                ASSERT(str_ends_with(str_from(err_message(&err)), str_from(cases[i].error)));
                        tear_down();
                }
        }
}

TEST(what_cannot_be_fetched_is_named)
{
        static const struct {
                const char *api_version, *kind, *name;
                int how;
                const char *error;
        } cases[] = {
                { "e.org/v1", "None", "x", ASK_RESOURCES,
                  "fetching resources for r: cannot get required resource by name: no matches for kind \"None\" in "
                  "version \"e.org/v1\"" },
                { "e.org/v1", "None", NULL, ASK_EXTRA,
                  "fetching resources for r: cannot list required resources: no matches for kind \"None\" in version "
                  "\"e.org/v1\"" },
                { "a/b/c", "None", "x", ASK_SCHEMAS,
                  "fetching schema for r: cannot parse apiVersion \"a/b/c\": unexpected GroupVersion string: a/b/c" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct str message;

                set_up(&asking);
                want(cases[i].api_version, cases[i].kind, cases[i].name);
                how = (unsigned)cases[i].how;
                ASSERT(run_step(&err) < 0);
                message = str_from(err_message(&err));
                ASSERT(str_cut_prefix(&message, STR("cannot run Composition pipeline step \"s\": ")));
                ASSERT_STR(message, str_from(cases[i].error));
                tear_down();
        }
}

TEST(bootstrap_errors_have_upstreams_words)
{
        static const struct {
                const char *requirements, *error;
        } cases[] = {
                { "{\"requiredResources\":[{\"requirementName\":\"r\",\"apiVersion\":\"e.org/v1\",\"kind\":\"None\","
                  "\"matchLabels\":{\"b\":\"1\",\"a\":\"2\"}}]}",
                  "cannot fetch bootstrap required resources for requirement \"r\": cannot list required resources: no "
                  "matches for kind \"None\" in version \"e.org/v1\"" },
                { "{\"requiredSchemas\":[{\"requirementName\":\"r\",\"apiVersion\":\"a/b/c\",\"kind\":\"None\"}]}",
                  "cannot fetch bootstrap required schema for requirement \"r\": cannot parse apiVersion \"a/b/c\": "
                  "unexpected GroupVersion string: a/b/c" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                set_up(&asking);
                n_wanted = 0;
                step.requirements = parse(cases[i].requirements);
                ASSERT(run_step(&err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
                tear_down();
        }
}

TEST(schemas_come_from_definitions)
{
        set_up(&asking);
        want("e.org/v1", "Thing", NULL);
        how = ASK_SCHEMAS;
        step.requirements =
                parse("{\"requiredSchemas\":[{\"requirementName\":\"z\",\"apiVersion\":\"e.org/v1\",\"kind\":"
                      "\"None\"},{\"requirementName\":\"b\",\"apiVersion\":\"e.org/v1\",\"kind\":\"None\"},"
                      "{\"requirementName\":\"b\",\"apiVersion\":\"e.org/v1\",\"kind\":\"None\"}]}");
        ASSERT(run_step(NULL) >= 0);
        ASSERT(!got_schema); /* `z`, the last by name, has none */
        step.requirements = NULL;
        ASSERT(run_step(NULL) >= 0);
        check_value(
                "schema", got_schema,
                "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"string\"}},"
                "\"x-kubernetes-group-version-kind\":[{\"group\":\"e.org\",\"kind\":\"Thing\",\"version\":\"v1\"}]}");
        tear_down();
}

static int find_schema(void *arg, struct run *r, struct gvk gvk, const struct value **ret, struct err *err)
{
        *ret = parse("{\"from\":\"elsewhere\"}");
        return 0;
}

static unsigned fetches;

static void count_fetch(void *arg, const struct step *of, const struct fn_selector *selector)
{
        fetches++;
}

TEST(hooks_are_asked_and_told)
{
        set_up(&asking);
        want("e.org/v1", "Thing", NULL);
        how = ASK_SCHEMAS;
        context.hooks.find_schema = find_schema;
        context.hooks.on_fetch = count_fetch;
        fetches = 0;
        ASSERT(run_step(NULL) >= 0);
        check_value("schema", got_schema, "{\"from\":\"elsewhere\"}");
        how = ASK_RESOURCES;
        ASSERT(run_step(NULL) >= 0);
        ASSERT_INT(fetches, 1);
        tear_down();
}

TEST(requirements_are_bounded)
{
        _cleanup_err_ struct err err = { 0 };

        set_up(&asking);
        want("e.org/v1", "Thing", "x");
        n_wanted = LIMIT_REQUIREMENTS + 1;
        ASSERT_INT(run_step(&err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "cannot run Composition pipeline step \"s\": function \"f\" has 10001 "
                                       "requirements, the limit is 10000");
        ASSERT_INT(record.n_dependencies, 0);
        tear_down();
}

TEST(a_run_that_has_no_memory_left_ends)
{
        _cleanup_err_ struct err err = { 0 };

        set_up(&asking);
        want("e.org/v1", "Thing", "x");
        arena.budget_bytes = 1;
        arena.is_over_budget = true;
        ASSERT_INT(run_step(&err), ERR_LIMIT);
        ASSERT_INT(calls, 1);
        tear_down();
}

/* A function that asks for what it has been given is not called again: it would be told the same. */
TEST(a_first_answer_that_asks_for_nothing_new_is_final)
{
        static const struct {
                const char *requirements, *name;
                unsigned calls;
        } cases[] = {
                { "{\"requiredResources\":[{\"requirementName\":\"r\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\","
                  "\"name\":\"x\"}]}",
                  "x", 1 },
                { "{\"requiredResources\":[{\"requirementName\":\"r\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\","
                  "\"name\":\"none\"}]}",
                  "none", 1 },
                { "{\"requiredResources\":[{\"requirementName\":\"r\",\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\","
                  "\"name\":\"none\"}]}",
                  "x", 2 },
                { "{\"requiredResources\":[{\"requirementName\":\"other\",\"apiVersion\":\"e.org/v1\",\"kind\":"
                  "\"Thing\",\"name\":\"x\"}]}",
                  "x", 2 },
                { "{}", "x", 2 },
                { "{}", "none", 2 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                set_up(&asking);
                put("{\"apiVersion\":\"e.org/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"x\"}}");
                want("e.org/v1", "Thing", cases[i].name);
                step.requirements = parse(cases[i].requirements);
                ASSERT(run_step(NULL) >= 0);
                ASSERT_CASE(cases[i].requirements, calls == cases[i].calls);
                tear_down();
        }
}

TEST(credentials_are_in_the_order_of_names)
{
        set_up(&asking);
        n_wanted = 0;
        put("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ns\"}}");
        step.credentials =
                parse("[{\"name\":\"z\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}},"
                      "{\"name\":\"a\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}},"
                      "{\"name\":\"m\",\"source\":\"Secret\",\"secretRef\":{\"namespace\":\"ns\",\"name\":\"s\"}}]");
        ASSERT(run_step(NULL) >= 0);
        ASSERT_INT(n_credentials, 3);
        tear_down();
}

/* --- Redaction on its own --- */

TEST(secrets_are_found_wherever_they_stand)
{
        static const struct {
                const char *text, *wanted;
        } cases[] = {
                { "", "" },
                { "nothing", "nothing" },
                { "abcdef", "**REDACTED**" },
                { "abcdefgh", "**REDACTED**" }, /* the longest one */
                { "abcdefg", "**REDACTED**g" },
                { "xabcdefabcdefy", "x**REDACTED****REDACTED**y" },
                { "abcde", "abcde" },
                { "short", "short" }, /* too short to be looked for */
                { "secret-00 secret-39 secret-40", "**REDACTED** **REDACTED** secret-40" },
        };
        struct fn_bytes bytes[43];
        struct fn_state state = { .is_present = true, .is_open = true, .has_composite = true };
        struct redactor r;

        begin();
        for (size_t i = 0; i < 40; i++)
                bytes[i] = (struct fn_bytes) { STR("k"), arena_printf(&arena, "secret-%02zu", i) };
        bytes[40] = (struct fn_bytes) { STR("k"), STR("abcdef") };
        bytes[41] = (struct fn_bytes) { STR("k"), STR("abcdefgh") };
        bytes[42] = (struct fn_bytes) { STR("k"), STR("short") };
        state.composite.connection = (struct fn_bytes_map) { bytes, 43 };
        redactor_init(&r, &arena);
        ASSERT_STR(redact_text(&r, STR("secret-00")), STR("secret-00"));
        redactor_add_state(&r, &(struct fn_state) { .is_present = true, .encoded = STR("\xff") });
        redactor_add_state(&r, &state);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].text, redact_text(&r, str_from(cases[i].text)), str_from(cases[i].wanted));
        end();
}

/* Values that begin alike, as keys of one issuer do, and texts that nearly are some of them: as looking for each of them finds them. */
TEST(secrets_that_begin_alike_are_found)
{
        enum { N = 200 };
        struct fn_bytes bytes[N];
        struct fn_state state = { .is_present = true, .is_open = true, .has_composite = true };
        struct redactor r;
        uint32_t seed = 1;

        begin();
        for (size_t i = 0; i < N; i++) {
                char *p = arena_alloc(&arena, 20);
                size_t n = REDACT_MIN_BYTES + i % 14;

                for (size_t j = 0; j < n; j++)
                        p[j] = (seed = seed * 1103515245 + 12345) >> 16 & 3 ? 'a' : 'b';
                bytes[i] = (struct fn_bytes) { STR("k"), str_make(p, n) };
        }
        state.composite.connection = (struct fn_bytes_map) { bytes, N };
        redactor_init(&r, &arena);
        redactor_add_state(&r, &state);
        for (int n = 0; n < 300; n++) {
                _cleanup_buf_ struct buf expected = BUF_INIT(0);
                char text[60];
                size_t longest;

                for (size_t j = 0; j < sizeof(text); j++)
                        text[j] = "aaab-"[(seed = seed * 1103515245 + 12345) >> 16 & 3 ? 0 : seed >> 20 & 7 ? 3 : 4];
                for (size_t at = 0; at < sizeof(text); at += MAX(longest, (size_t)1)) {
                        longest = 0;
                        for (size_t i = 0; i < N; i++)
                                if (bytes[i].bytes.n > longest &&
                                    str_starts_with(str_make(text + at, sizeof(text) - at), bytes[i].bytes))
                                        longest = bytes[i].bytes.n;
                        if (longest > 0)
                                buf_append_literal(&expected, REDACTED);
                        else
                                buf_append_char(&expected, text[at]);
                }
                ASSERT_STR(redact_text(&r, str_make(text, sizeof(text))), buf_str(&expected));
        }
        end();
}

TEST(secrets_of_any_shape_are_replaced)
{
        begin();
        check_value("no data", redact_object(&arena, parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}")),
                    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}");
        check_value("odd data",
                    redact_object(&arena, parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":\"x\","
                                                "\"stringData\":{\"a\":[1],\"b\":{}}}")),
                    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":\"**REDACTED**\",\"stringData\":{\"a\":"
                    "\"**REDACTED**\",\"b\":\"**REDACTED**\"}}");
        check_value("another kind",
                    redact_object(&arena,
                                  parse("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}")),
                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}");
        end();
}
