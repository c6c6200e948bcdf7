#include "test.h"

#include <limits.h>

#include <unistd.h>

#include "json.h"
#include "log.h"
#include "weft/fn.h"

/* Runs the function on the request and compares the whole response, as JSON with sorted keys. */
static void check(const char *what, void (*run)(struct weft_request *, struct weft_response *), const char *request,
                  const char *wanted)
{
        struct weft_function f = { .name = "function-test", .run = run, .data = (void *)what };
        char *got;

        log_set_level(LOG_ERROR);
        got = weft_run_text(&f, request);
        if (!got || strcmp(got, wanted) != 0)
                test_fail(__FILE__, __LINE__, "[%s]\n# got    %s\n# wanted %s", what, got ? got : "nothing", wanted);
        free(got);
}

/* Runs the function and compares the texts of its fatal results. */
static void check_fatal(void (*run)(struct weft_request *, struct weft_response *), const char *request,
                        const char *const *wanted, size_t n)
{
        struct weft_function f = { .name = "function-test", .run = run };
        _cleanup_arena_ struct arena a;
        const struct value *response, *results;
        size_t n_fatal = 0;
        char *got;

        log_set_level(LOG_ERROR);
        arena_init(&a, "test", 0);
        got = weft_run_text(&f, request);
        ASSERT(got && json_parse(&a, str_from(got), NULL, &response, NULL) == 0);
        results = value_find(response, "results");
        VALUE_FOREACH_ITEM (r, results) {
                if (!str_equal(value_str(value_find(r, "severity")), STR("SEVERITY_FATAL")))
                        continue;
                ASSERT(n_fatal < n);
                ASSERT_STR(value_str(value_find(r, "message")), str_from(wanted[n_fatal]));
                n_fatal++;
        }
        ASSERT_INT(n_fatal, n);
        free(got);
}

#define FATAL(text) "{\"message\":\"" text "\",\"severity\":\"SEVERITY_FATAL\",\"target\":\"TARGET_COMPOSITE\"}"

static void run_nothing(struct weft_request *req, struct weft_response *rsp)
{
}

/* Spec: for an empty request only meta.ttl is answered; absent stays absent, empty stays empty, the tag is echoed. */
TEST(a_response_passes_on_what_it_was_given)
{
        static const struct {
                const char *request, *wanted;
        } cases[] = {
                { "{}", "{\"meta\":{\"ttl\":\"60s\"}}" },
                { "desired: {}", "{\"desired\":{},\"meta\":{\"ttl\":\"60s\"}}" },
                { "meta: {tag: t}\ncontext: {a: 1}\ninput: {b: 2}",
                  "{\"context\":{\"a\":1},\"meta\":{\"tag\":\"t\",\"ttl\":\"60s\"}}" },
                { "desired: {resources: {x: {resource: {kind: K}, ready: READY_FALSE, connectionDetails: {k: eA==}}}}",
                  "{\"desired\":{\"resources\":{\"x\":{\"connectionDetails\":{\"k\":\"eA==\"},\"ready\":\"READY_"
                  "FALSE\","
                  "\"resource\":{\"kind\":\"K\"}}}},\"meta\":{\"ttl\":\"60s\"}}" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check(cases[i].request, run_nothing, cases[i].request, cases[i].wanted);
}

static void run_reads(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);

        weft_normal(rsp, "%s %s %d %.1f %d", weft_tag(req), weft_get_string(xr, "spec.s"),
                    (int)weft_get_int(xr, "spec.i"), weft_get_double(xr, "spec.d"), weft_get_bool(xr, "spec.b"));
        weft_normal(rsp, "%s %d %.1f %d", weft_get_string_or(xr, "spec.no", "or"), (int)weft_get_int_or(xr, "no.i", 7),
                    weft_get_double_or(xr, "spec.null", 2.5), weft_get_bool_or(xr, "spec.no", true));
        weft_normal(rsp, "%d %d %zu %s %s %zu", weft_exists(xr, "spec.list[1]"), weft_exists(xr, "spec.list[9]"),
                    weft_count(xr, "spec.list"), weft_get_string(weft_at(xr, "spec.list", 1), ""),
                    weft_key_at(xr, "spec.map", 0), weft_count(xr, "spec.nothing"));
        weft_normal(rsp, "%s %d", weft_to_json(weft_get(xr, "spec.map")),
                    (int)weft_get_int(weft_at(xr, "spec.map", 0), NULL));
        weft_normal(rsp, "%d %d %d", weft_type(weft_find(xr, "spec.no")) == WEFT_MISSING,
                    weft_type(weft_find(xr, "spec.list")) == WEFT_ARRAY,
                    weft_type(weft_find(xr, "spec.i")) == WEFT_NUMBER);
}

#define NORMAL(text) "{\"message\":\"" text "\",\"severity\":\"SEVERITY_NORMAL\",\"target\":\"TARGET_COMPOSITE\"}"

TEST(reading_values)
{
        check("reads", run_reads,
              "meta: {tag: tag1}\nobserved: {composite: {resource: {spec: {s: text, i: 3, d: 1.5, b: true, 'null': "
              "null,"
              " list: [a, b], map: {k: 4}}}}}",
              "{\"meta\":{\"tag\":\"tag1\",\"ttl\":\"60s\"},\"results\":[" NORMAL("tag1 text 3 1.5 1") "," NORMAL(
                      "or 7 2.5 1") "," NORMAL("1 0 2 b k 0") "," NORMAL("{\\\"k\\\":4} 4") "," NORMAL("1 1 1") "]}");
}

static void run_fails(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);

        ASSERT(!weft_has_failed(rsp));
        ASSERT_INT(weft_get_int(xr, "spec.count"), 0);
        ASSERT(weft_has_failed(rsp));
        ASSERT_INT(weft_get_int(xr, "spec.count"), 0); /* told once */
        ASSERT_TEXT(weft_get_string(xr, "spec.half"), "");
        ASSERT_INT(weft_get_int(xr, "spec.half"), 0);
        ASSERT_INT(weft_get_int_or(xr, "spec.text", 5), 0); /* optional may be missing, not wrong */
        weft_get_bool(xr, "spec.text");
        weft_get_double(xr, "spec.text");
        weft_get_string_or(xr, "spec[", "");
        weft_get_string(weft_observed(req, "db"), "spec.x");
        weft_at(xr, "spec.list", 5);
        weft_key_at(xr, "spec.list", 0);
        ASSERT_TEXT(weft_credential(req, "aws", "key", NULL), "");
}

TEST(failed_reads_are_fatal_and_name_the_path)
{
        static const char *const wanted[] = {
                "observed composite resource: spec.count: no such field",
                "observed composite resource: spec.half: not a string",
                "observed composite resource: spec.half: not a (int64) number",
                "observed composite resource: spec.text: not a (int64) number",
                "observed composite resource: spec.text: not a bool",
                "observed composite resource: spec.text: not a (float64) number",
                "observed composite resource: cannot parse path \"spec[\": unterminated '[' at position 4",
                "observed resource \"db\": there is no such value",
                "observed composite resource: spec.list: no such element",
                "observed composite resource: spec.list: not an object",
                "aws: credential not found",
        };

        check_fatal(run_fails, "observed: {composite: {resource: {spec: {half: 1.5, text: x, list: [1]}}}}", wanted,
                    ARRAY_SIZE(wanted));
}

static void run_fails_often(struct weft_request *req, struct weft_response *rsp)
{
        char path[32];

        for (int i = 0; i < 1000; i++) {
                snprintf(path, sizeof(path), "f%d", i);
                weft_get_int(weft_observed_composite(req), path);
        }
}

TEST(failures_are_bounded)
{
        struct weft_function f = { .name = "function-test", .run = run_fails_often };
        size_t n = 0;
        char *got;

        log_set_level(LOG_ERROR);
        got = weft_run_text(&f, "{}");
        for (const char *p = got; (p = strstr(p, "SEVERITY_FATAL")); p++)
                n++;
        ASSERT_INT(n, 100);
        free(got);
}

static void run_composes(struct weft_request *req, struct weft_response *rsp)
{
        struct weft_value *a = weft_compose(rsp, "a", "v1", "A");
        struct weft_value *b = weft_compose_yaml(rsp, "b", "{apiVersion: v1, kind: B}");

        weft_set_int(a, "spec.n", 2);
        weft_set_bool(a, "spec.list[1]", true);
        weft_set_double(a, "spec.d", 0.5);
        weft_set(a, "spec.copy", weft_find(weft_observed_composite(req), "spec"));
        weft_set(a, "spec.missing", weft_find(weft_observed_composite(req), "nothing"));
        weft_set_yaml(a, "spec.yaml", "[1, {x: why}]");
        weft_delete(a, "spec.old");
        weft_set_external_name(b, "ext");
        weft_set_ready(rsp, "a", WEFT_READY_TRUE);
        weft_remove(rsp, "gone");
        weft_remove(rsp, "never");
        weft_set_composite_ready(rsp, WEFT_READY_FALSE);
        weft_set_string(weft_status(rsp), "phase", "Running");
        weft_set_connection(rsp, "user", "x", 1);
}

TEST(composing)
{
        check("composes", run_composes,
              "observed: {composite: {resource: {apiVersion: g/v1, kind: X, spec: {s: t}}}}\n"
              "desired: {composite: {resource: {status: {kept: 1}}},"
              " resources: {a: {resource: {spec: {old: 1, kept: 2}}}, gone: {}, untouched: {ready: READY_TRUE},"
              " b: {resource: {spec: {earlier: 1}}}}}",
              "{\"desired\":{\"composite\":{\"connectionDetails\":{\"user\":\"eA==\"},\"ready\":\"READY_FALSE\","
              "\"resource\":{\"apiVersion\":\"g/v1\",\"kind\":\"X\",\"status\":{\"kept\":1,\"phase\":\"Running\"}}},"
              "\"resources\":{\"a\":{\"ready\":\"READY_TRUE\",\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"A\","
              "\"spec\":"
              "{\"copy\":{\"s\":\"t\"},\"d\":0.5,\"kept\":2,\"list\":[null,true],\"n\":2,\"yaml\":[1,{\"x\":\"why\"}]}}"
              "},"
              "\"b\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"B\",\"metadata\":{\"annotations\":"
              "{\"crossplane.io/external-name\":\"ext\"}}}},"
              "\"untouched\":{\"ready\":\"READY_TRUE\"}}},\"meta\":{\"ttl\":\"60s\"}}");
}

/* Paths and texts are the function's own again when a call returns. */
static void run_reuses_buffers(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);
        char path[16], text[700];

        for (int i = 0; i < 3; i++) {
                snprintf(path, sizeof(path), "spec.k%d", i);
                snprintf(text, sizeof(text), "v%d", i);
                weft_set_string(weft_compose(rsp, "a", "v1", "A"), path, text);
                weft_normal(rsp, "%s %s", path, weft_get_string(xr, path));
        }
        memset(path, 'x', sizeof(path));
        memset(text, 'y', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        weft_set_int(weft_output(rsp), "n", (int64_t)strlen(text));
        weft_set_ready(rsp, "e", WEFT_READY_FALSE);
        weft_result_reason(weft_warning(rsp, "%s", text), "Long");
        weft_condition_message(weft_condition(rsp, "T", WEFT_TRUE, "R"), "%s", "");
}

TEST(buffers_may_be_used_again)
{
        char text[700], wanted[2000];

        memset(text, 'y', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        snprintf(wanted, sizeof(wanted),
                 "{\"conditions\":[{\"message\":\"\",\"reason\":\"R\",\"status\":\"STATUS_CONDITION_TRUE\","
                 "\"target\":\"TARGET_COMPOSITE\",\"type\":\"T\"}],"
                 "\"desired\":{\"resources\":{\"a\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"A\","
                 "\"spec\":{\"k0\":\"v0\",\"k1\":\"v1\",\"k2\":\"v2\"}}},"
                 "\"e\":{\"connectionDetails\":{\"k\":\"eA==\"},\"ready\":\"READY_FALSE\"}}},"
                 "\"meta\":{\"ttl\":\"60s\"},\"output\":{\"n\":699},\"results\":[" NORMAL("spec.k0 a") "," NORMAL(
                         "spec.k1 b") "," NORMAL("spec.k2 c") ",{\"message\":\"%s\",\"reason\":\"Long\",\"severity\":"
                                                              "\"SEVERITY_WARNING\",\"target\":\"TARGET_COMPOSITE\"}]}",
                 text);
        check("buffers", run_reuses_buffers,
              "observed: {composite: {resource: {spec: {k0: a, k1: b, k2: c}}}}\n"
              "desired: {resources: {e: {ready: READY_TRUE, connectionDetails: {k: eA==}}}}",
              wanted);
}

#define FORMAT(...)                                                 \
        do {                                                        \
                char wanted[1000];                                  \
                                                                    \
                snprintf(wanted, sizeof(wanted), __VA_ARGS__);      \
                ASSERT_TEXT(weft_format(req, __VA_ARGS__), wanted); \
        } while (0)

static void run_formats(struct weft_request *req, struct weft_response *rsp)
{
        char text[600];

        memset(text, 'x', sizeof(text) - 1);
        FORMAT("plain");
        FORMAT("%s", "");
        FORMAT("a%sb%%c%s", "-", "=");
        FORMAT("%d %i %u", INT_MIN, -1, UINT_MAX);
        FORMAT("%ld %lld %zu %lu", LONG_MIN, LLONG_MAX, SIZE_MAX, 0ul);
        FORMAT("%5d|%-5s|%05.1f|%x|%c|%.*s", 42, "ab", 2.25, 255, 'c', 2, "xyz");
        FORMAT("%d%s%p", 1, "x", NULL);
        for (size_t n = 500; n < 520; n++) { /* around what is formatted at once */
                text[n] = '\0';
                FORMAT("%s", text);
                FORMAT("%s%d", text, 12);
                text[n] = 'x';
        }
        ASSERT_TEXT(weft_format(req, "%s", "\xff"), "\xef\xbf\xbd");
}

TEST(formatting)
{
        check("formats", run_formats, "{}", "{\"meta\":{\"ttl\":\"60s\"}}");
}

static void run_composes_badly(struct weft_request *req, struct weft_response *rsp)
{
        struct weft_value *a = weft_compose(rsp, "a", "v1", "A");

        weft_set_string(a, "kind.x", "y");
        weft_set_string(a, "s", "\xff");
        weft_set_string(a, "s", NULL);
        weft_set_double(a, "d", 1.0 / 0.0);
        weft_set_yaml(a, "y", "{");
        weft_delete(a, "x[");
        weft_compose_yaml(rsp, "b", "just text");
        weft_set_ready(rsp, "nobody", WEFT_READY_TRUE);
        weft_remove(rsp, "kept");
        weft_set_ready(rsp, "kept", WEFT_READY_TRUE);
        weft_set_ttl(rsp, -1);
        weft_set_int(weft_output(rsp), NULL, 5);
        weft_set_string(weft_status(rsp), "", "no object");
}

TEST(bad_writes_are_fatal)
{
        static const char *const wanted[] = {
                "desired resource \"a\": kind is not an object",
                "desired resource \"a\": s: the text to set is not valid UTF-8",
                "desired resource \"a\": s: the text to set is NULL",
                "desired resource \"a\": d: the number to set is not finite",
                "desired resource \"a\": y: yaml: line 1: did not find expected node content",
                "desired resource \"a\": cannot parse path \"x[\": unterminated '[' at position 1",
                "desired resource \"b\": the manifest is not an object",
                "cannot set readiness: resource \"nobody\" is not desired",
                "cannot set readiness: resource \"kept\" is not desired",
                "cannot set TTL: -1 seconds is not between 0 and 1e9",
                "status of the composite resource: not an object",
                "cannot encode the response: cannot encode google.protobuf.Struct: wanted an object, got a number",
        };

        check_fatal(run_composes_badly, "desired: {resources: {kept: {}}}", wanted, ARRAY_SIZE(wanted));
}

static void run_tells(struct weft_request *req, struct weft_response *rsp)
{
        weft_result_reason(weft_warning(rsp, "w %d", 1), "Why");
        weft_result_target(weft_fatal(rsp, "f\xff"), WEFT_COMPOSITE_AND_CLAIM);
        weft_condition(rsp, "DatabaseReady", WEFT_TRUE, "Available");
        weft_condition_target(weft_condition_message(weft_condition(rsp, "C", WEFT_FALSE, "R"), "m %s", "x"),
                              WEFT_COMPOSITE_AND_CLAIM);
        weft_set_ttl(rsp, 1.5);
        weft_set_string(weft_context_edit(rsp, "k.io/x"), "a", "b");
        weft_set_string(weft_output(rsp), "o", "p");
}

TEST(telling)
{
        check("tells", run_tells, "context: {old: 1}",
              "{\"conditions\":[{\"reason\":\"Available\",\"status\":\"STATUS_CONDITION_TRUE\",\"target\":\"TARGET_"
              "COMPOSITE\","
              "\"type\":\"DatabaseReady\"},{\"message\":\"m x\",\"reason\":\"R\",\"status\":\"STATUS_CONDITION_FALSE\","
              "\"target\":\"TARGET_COMPOSITE_AND_CLAIM\",\"type\":\"C\"}],\"context\":{\"k.io/"
              "x\":{\"a\":\"b\"},\"old\":1},"
              "\"meta\":{\"ttl\":\"1.500s\"},\"output\":{\"o\":\"p\"},\"results\":[{\"message\":\"w "
              "1\",\"reason\":\"Why\","
              "\"severity\":\"SEVERITY_WARNING\",\"target\":\"TARGET_COMPOSITE\"},{\"message\":\"f\xef\xbf\xbd\","
              "\"severity\":\"SEVERITY_FATAL\",\"target\":\"TARGET_COMPOSITE_AND_CLAIM\"}]}");
}

static void run_requires(struct weft_request *req, struct weft_response *rsp)
{
        static const char *const labels[] = { "app", "db", "tier", "x", NULL };

        weft_require_name(rsp, "n", "v1", "Secret", "ns", "s");
        weft_require_labels(rsp, "l", "v1", "Pod", NULL, labels);
        weft_require_labels(rsp, "all", "v1", "Node", NULL, NULL);
        weft_require_schema(rsp, "s", "v1", "Pod");
        weft_watch_resource(rsp, "v1", "Secret", "ns", "s");
        weft_watch_resource(rsp, "v1", "Node", NULL, "n1");
        weft_set_ttl(rsp, 0);
        ASSERT(weft_has_required(req, "found") && weft_has_required(req, "none") && !weft_has_required(req, "other"));
        ASSERT(weft_has_required(req, "older"));
        ASSERT_INT(weft_required_count(req, "found"), 1);
        ASSERT_INT(weft_required_count(req, "none"), 0);
        ASSERT_TEXT(weft_get_string(weft_required(req, "found", 0), "kind"), "Secret");
        ASSERT(weft_type(weft_required(req, "found", 1)) == WEFT_MISSING);
        ASSERT(weft_has_required_schema(req, "s") && weft_has_required_schema(req, "e") &&
               !weft_has_required_schema(req, "x"));
        ASSERT_TEXT(weft_get_string(weft_required_schema(req, "s"), "type"), "object");
        ASSERT(weft_type(weft_required_schema(req, "e")) == WEFT_MISSING);
        ASSERT(weft_has_capability(req, WEFT_CAPABILITY_CAPABILITIES));
        ASSERT(weft_has_capability(req, WEFT_CAPABILITY_CONDITIONS));
        ASSERT(!weft_has_capability(req, WEFT_CAPABILITY_CREDENTIALS));
        ASSERT(!weft_has_capability(req, 99) && !weft_has_capability(req, 0));
        ASSERT_TEXT(weft_data(req), "requires");
}

TEST(requiring)
{
        check("requires", run_requires,
              "meta: {capabilities: [CAPABILITY_CAPABILITIES, CAPABILITY_CONDITIONS]}\n"
              "requiredResources: {found: {items: [{resource: {kind: Secret}}]}, none: {}}\n"
              "extraResources: {older: {}}\n"
              "requiredSchemas: {s: {openapiV3: {type: object}}, e: {}}",
              "{\"meta\":{\"ttl\":\"0s\"},\"requirements\":{\"resources\":{\"all\":{\"apiVersion\":\"v1\",\"kind\":"
              "\"Node\","
              "\"matchLabels\":{}},\"l\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"matchLabels\":{\"labels\":{\"app\":"
              "\"db\","
              "\"tier\":\"x\"}}},\"n\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"matchName\":\"s\",\"namespace\":"
              "\"ns\"}},"
              "\"schemas\":{\"s\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}},\"watchResources\":[{\"apiVersion\":\"v1\","
              "\"kind\":\"Secret\",\"name\":\"s\",\"namespace\":\"ns\"},{\"apiVersion\":\"v1\",\"kind\":\"Node\","
              "\"name\":\"n1\"}]}}");
}

static void run_looks(struct weft_request *req, struct weft_response *rsp)
{
        size_t n;

        ASSERT_INT(weft_observed_count(req), 2);
        ASSERT_TEXT(weft_observed_name(req, 0), "a");
        ASSERT_TEXT(weft_observed_name(req, 1), "b");
        ASSERT(weft_type(weft_observed(req, "c")) == WEFT_MISSING);
        ASSERT(weft_is_ready(weft_observed(req, "a")) && !weft_is_ready(weft_observed(req, "b")));
        ASSERT_TEXT(weft_condition_status(weft_observed(req, "a"), "Synced"), "False");
        ASSERT_TEXT(weft_condition_status(weft_observed(req, "b"), "Synced"), "Unknown");
        ASSERT_TEXT(weft_external_name(weft_observed(req, "a")), "ext-a");
        ASSERT_TEXT(weft_external_name(weft_observed(req, "b")), "");
        ASSERT_TEXT(weft_get_string(weft_find_condition(weft_observed(req, "a"), "Synced"), "reason"), "Why");
        ASSERT(weft_type(weft_find_condition(weft_observed(req, "a"), "Other")) == WEFT_MISSING);
        ASSERT(weft_type(weft_find_condition(weft_observed(req, "c"), "Ready")) == WEFT_MISSING);
        ASSERT_INT(weft_desired_count(req), 1);
        ASSERT_TEXT(weft_desired_name(req, 0), "d");
        ASSERT_TEXT(weft_get_string(weft_desired(req, "d"), "kind"), "D");
        ASSERT_TEXT(weft_get_string(weft_desired_composite(req), "status.s"), "t");
        ASSERT_TEXT(weft_observed_connection(req, NULL, "u", &n), "user");
        ASSERT_INT(n, 4);
        ASSERT_TEXT(weft_observed_connection(req, "a", "p", NULL), "pw");
        ASSERT(!weft_observed_connection(req, "a", "q", NULL) && !weft_observed_connection(req, "zz", "q", NULL));
        ASSERT(weft_has_credential(req, "aws") && !weft_has_credential(req, "empty"));
        ASSERT_TEXT(weft_credential(req, "aws", "key", &n), "user");
        ASSERT_TEXT(weft_get_string(weft_input(req), "region"), "eu");
        ASSERT_TEXT(weft_get_string(weft_context(req, WEFT_CONTEXT_ENVIRONMENT), "x"), "why");
        ASSERT(weft_type(weft_context(req, "none")) == WEFT_MISSING);
        ASSERT_TEXT(weft_observed_name(req, 9), "");
        weft_credential(req, "aws", "nokey", &n);
}

TEST(looking)
{
        check("looks", run_looks,
              "observed:\n"
              "  composite: {connectionDetails: {u: dXNlcg==}}\n"
              "  resources:\n"
              "    b: {}\n"
              "    a:\n"
              "      connectionDetails: {p: cHc=}\n"
              "      resource:\n"
              "        metadata: {annotations: {crossplane.io/external-name: ext-a}}\n"
              "        status: {conditions: [{type: Synced, status: 'False', reason: Why}, {type: Ready, status: "
              "'True'}]}\n"
              "desired: {composite: {resource: {status: {s: t}}}, resources: {d: {resource: {kind: D}}}}\n"
              "credentials: {aws: {credentialData: {data: {key: dXNlcg==}}}, empty: {}}\n"
              "input: {region: eu}\n"
              "context: {apiextensions.crossplane.io/environment: {x: why}}",
              "{\"context\":{\"apiextensions.crossplane.io/"
              "environment\":{\"x\":\"why\"}},\"desired\":{\"composite\":{\"resource\":"
              "{\"status\":{\"s\":\"t\"}}},\"resources\":{\"d\":{\"resource\":{\"kind\":\"D\"}}}},\"meta\":{\"ttl\":"
              "\"60s\"},"
              "\"results\":[" FATAL("there is no observed resource number 9") "," FATAL(
                      "aws: credential has no key \\\"nokey\\\"") "]}");
}

static void run_lists(struct weft_request *req, struct weft_response *rsp)
{
        size_t n;

        ASSERT(weft_desired_ready(req, "up") == WEFT_READY_TRUE);
        ASSERT(weft_desired_ready(req, "down") == WEFT_READY_FALSE);
        ASSERT(weft_desired_ready(req, "unsaid") == WEFT_READY_UNSPECIFIED);
        ASSERT(weft_desired_ready(req, "absent") == WEFT_READY_UNSPECIFIED);
        ASSERT(weft_desired_ready(req, NULL) == WEFT_READY_FALSE);
        ASSERT_INT(weft_observed_connection_count(req, NULL), 0);
        ASSERT_INT(weft_observed_connection_count(req, "db"), 2);
        ASSERT_TEXT(weft_observed_connection_key(req, "db", 0), "a");
        ASSERT_TEXT(weft_observed_connection_key(req, "db", 1), "b");
        ASSERT_INT(weft_desired_connection_count(req), 1);
        ASSERT_TEXT(weft_desired_connection_key(req, 0), "host");
        ASSERT_TEXT(weft_desired_connection(req, "host", &n), "user");
        ASSERT_INT(n, 4);
        ASSERT(!weft_desired_connection(req, "none", NULL));
        ASSERT_INT(weft_credential_count(req, "aws"), 2);
        ASSERT_TEXT(weft_credential_key(req, "aws", 0), "id");
        ASSERT_TEXT(weft_credential_key(req, "aws", 1), "key");
        ASSERT_INT(weft_required_key_count(req), 3);
        ASSERT_TEXT(weft_required_key(req, 0), "both");
        ASSERT_TEXT(weft_required_key(req, 1), WEFT_WATCHED_RESOURCE);
        ASSERT_TEXT(weft_required_key(req, 2), "z");
        ASSERT_TEXT(weft_get_string(weft_required(req, "both", 0), "kind"), "New");
        ASSERT_TEXT(weft_format(req, "%s-%d \xff", "a", 1), "a-1 \xef\xbf\xbd");
        ASSERT(!weft_has_failed(rsp));
        ASSERT_TEXT(weft_observed_connection_key(req, "db", 2), "");
        ASSERT_TEXT(weft_desired_connection_key(req, 1), "");
        ASSERT_TEXT(weft_credential_key(req, "aws", 2), "");
        ASSERT_INT(weft_credential_count(req, "gcp"), 0);
        ASSERT_TEXT(weft_required_key(req, 3), "");
        ASSERT_TEXT(weft_desired_name(req, 3), "");
}

TEST(listing)
{
        static const char *const wanted[] = {
                "there is no observed connection detail number 2", "there is no desired connection detail number 1",
                "there is no key of credential aws number 2",      "gcp: credential not found",
                "there is no required resource number 3",          "there is no desired resource number 3",
        };

        check_fatal(run_lists,
                    "observed: {resources: {db: {connectionDetails: {b: eA==, a: eA==}}}}\n"
                    "desired:\n"
                    "  composite: {ready: READY_FALSE, connectionDetails: {host: dXNlcg==}}\n"
                    "  resources: {up: {ready: READY_TRUE}, down: {ready: READY_FALSE}, unsaid: {}}\n"
                    "credentials: {aws: {credentialData: {data: {key: dXNlcg==, id: eA==}}}}\n"
                    "requiredResources:\n"
                    "  both: {items: [{resource: {kind: New}}]}\n"
                    "  ops.crossplane.io/watched-resource: {}\n"
                    "extraResources: {both: {items: [{resource: {kind: Old}}]}, z: {}}\n",
                    wanted, ARRAY_SIZE(wanted));
}

static void run_checks_keys(struct weft_request *req, struct weft_response *rsp)
{
        static const char *const keys[] = { "region", "size", NULL }, *const none[] = { NULL };
        const struct weft_value *input = weft_input(req);

        weft_check_keys(input, "missing", none);
        weft_check_keys(input, "good", keys);
        ASSERT(!weft_has_failed(rsp));
        weft_check_keys(input, NULL, (const char *const[]) { "good", "list", "bad", NULL });
        weft_check_keys(input, "bad", keys);
        weft_check_keys(input, "list", keys);
        weft_check_keys(input, "bad[", keys);
}

/* Only the value itself may have apiVersion, kind and metadata besides. */
TEST(checking_keys)
{
        static const char *const wanted[] = {
                "function input: unknown field \"other\"",
                "function input: bad: unknown field \"kind\"",
                "function input: bad: unknown field \"regoin\"; did you mean \"region\"?",
                "function input: list: not an object",
                "function input: cannot parse path \"bad[\": unterminated '[' at position 3",
        };

        check_fatal(run_checks_keys,
                    "input: {apiVersion: v1, kind: Input, metadata: {}, good: {size: 1}, other: 1, list: [],"
                    " bad: {kind: x, regoin: y}}",
                    wanted, ARRAY_SIZE(wanted));
}

/* --- Flags --- */

static const struct weft_flag flags[] = {
        { .name = "region", .value = "eu", .environment = "REGION" },
        { .name = "count", .type = WEFT_FLAG_INT, .value = "3" },
        { .name = "strict", .type = WEFT_FLAG_BOOL },
        { .name = "ttl", .type = WEFT_FLAG_DURATION, .value = "1m30s" },
};

static void run_flags(struct weft_request *req, struct weft_response *rsp)
{
        weft_normal(rsp, "%s %d %d", weft_flag_text(req, "region"), (int)weft_flag_int(req, "count"),
                    weft_flag_bool(req, "strict"));
        weft_set_ttl(rsp, weft_flag_seconds(req, "ttl"));
}

static void run_wrong_flags(struct weft_request *req, struct weft_response *rsp)
{
        ASSERT_TEXT(weft_flag_text(req, "nosuch"), "");
        ASSERT_INT(weft_flag_int(req, "address"), 0);
        ASSERT(!weft_flag_bool(req, "debug"));
}

TEST(flags_that_are_not_declared_are_fatal)
{
        static const char *const wanted[] = {
                "the function does not declare a flag --nosuch of this type",
                "the function does not declare a flag --address of this type",
                "the function does not declare a flag --debug of this type",
        };

        check_fatal(run_wrong_flags, "{}", wanted, ARRAY_SIZE(wanted));
}

/* --- The helper for tests --- */

static int quiet_weft_test(const struct weft_function *f, const struct weft_test *tests, size_t n, char *ret_output,
                           size_t size)
{
        int out = dup(STDOUT_FILENO), r;
        FILE *file = tmpfile();
        ssize_t got;

        fflush(stdout);
        dup2(fileno(file), STDOUT_FILENO);
        r = weft_test(f, tests, n);
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        close(out);
        got = pread(fileno(file), ret_output, size - 1, 0);
        ret_output[got > 0 ? got : 0] = 0;
        fclose(file);
        return r;
}

TEST(the_test_helper_shows_differences)
{
        static const struct weft_test tests[] = {
                { "wrong", "{}",
                  "meta: {ttl: 1.5s}\ncontext: {k.io/x: {a: c}}\noutput: {o: p}\n"
                  "conditions: [{type: DatabaseReady, status: STATUS_CONDITION_TRUE, reason: Available, target: "
                  "TARGET_COMPOSITE},"
                  " {type: C, status: STATUS_CONDITION_FALSE, reason: R, message: m x, target: "
                  "TARGET_COMPOSITE_AND_CLAIM}]\n"
                  "results: [{message: w 1, reason: Why, severity: SEVERITY_WARNING, target: TARGET_COMPOSITE}]" },
                { "bad request", "nosuch: 1", "{}" },
                { "bad response", "{}", "nosuch: 1" },
        };
        struct weft_function f = { .name = "function-test", .run = run_tells };
        char output[4096];

        ASSERT_INT(quiet_weft_test(&f, tests, ARRAY_SIZE(tests), output, sizeof(output)), 1);
        ASSERT(str_starts_with(
                str_from(output),
                STR("1..3\nnot ok 1 - wrong\n#   /context/k.io~1x/a\n#     wanted \"c\"\n#     got    \"b\"\n"
                    "#   /results/1\n#     wanted nothing\n#     got    {\"message\":")));
        ASSERT(str_find(str_from(output), STR("not ok 2 - bad request\n#   the request: cannot encode ")) > 0);
        ASSERT(str_find(str_from(output), STR("not ok 3 - bad response\n#   the wanted response: cannot encode ")) > 0);
}

TEST(the_test_helper_compares_parts)
{
        static const struct weft_test tests[] = {
                { .name = "a field", .request = "{}", .contains = "context: {k.io/x: {a: b}}" },
                { .name = "an item of each list",
                  .request = "{}",
                  .contains = "conditions: [{type: DatabaseReady}, {message: m x}]" },
                { .name = "nothing", .request = "{}", .contains = "{}" },
                { .name = "another value", .request = "{}", .contains = "context: {k.io/x: {a: c}}\noutput: {o: p}" },
                { .name = "a field that is not there", .request = "{}", .contains = "context: {other: 1}" },
                { .name = "fewer items", .request = "{}", .contains = "conditions: [{type: DatabaseReady}]" },
                { .name = "both, of which one fails", .request = "{}", .response = "{}", .contains = "output: {o: p}" },
                { .name = "neither", .request = "{}" },
        };
        struct weft_function f = { .name = "function-test", .run = run_tells };
        char output[8192];

        ASSERT_INT(quiet_weft_test(&f, tests, ARRAY_SIZE(tests), output, sizeof(output)), 1);
        ASSERT(str_starts_with(
                str_from(output),
                STR("1..8\nok 1 - a field\nok 2 - an item of each list\nok 3 - nothing\nnot ok 4 - another "
                    "value\n#   /context/k.io~1x/a\n#     wanted \"c\"\n#     got    \"b\"\nnot ok 5 - a field "
                    "that is not there\n#   /context/other\n#     wanted 1\n#     got    nothing\nnot ok 6 - "
                    "fewer items\n#   /conditions/1\n#     wanted nothing\n")));
        ASSERT(str_find(str_from(output), STR("\nnot ok 7 - ")) > 0);
        ASSERT(str_find(str_from(output),
                        STR("\nnot ok 8 - neither\n#   the case has neither a response nor what it contains\n")) > 0);
}

/* The environment does not matter to a test; its own flags do. */
TEST(the_test_helper_sets_flags)
{
        const struct weft_test tests[] = {
                { "defaults", "{}",
                  "meta: {ttl: 90s}\nresults: [{message: eu 3 0, severity: SEVERITY_NORMAL, target: "
                  "TARGET_COMPOSITE}]" },
                { "flags", "{}",
                  "meta: {ttl: 0.5s}\nresults: [{message: us 0 1, severity: SEVERITY_NORMAL, target: "
                  "TARGET_COMPOSITE}]",
                  (const char *const[]) { "--region=us", "--count=0", "--strict", "--ttl=500ms", NULL } },
                { "wrong", "{}", "{}", (const char *const[]) { "--regoin=us", NULL } },
        };
        struct weft_function f = {
                .name = "function-test", .run = run_flags, .flags = flags, .n_flags = ARRAY_SIZE(flags)
        };
        char output[4096];

        setenv("REGION", "wrong", 1);
        ASSERT_INT(quiet_weft_test(&f, tests, ARRAY_SIZE(tests), output, sizeof(output)), 1);
        unsetenv("REGION");
        ASSERT_TEXT(output, "1..3\nok 1 - defaults\nok 2 - flags\nnot ok 3 - wrong\n"
                            "#   the flags: unknown flag --regoin, did you mean \"--region\"?\n");
}
