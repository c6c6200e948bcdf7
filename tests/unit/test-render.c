/* Renders, with what `crossplane internal render` v2.3.4 answers to the same input (docs/spec/engine 12). */
#include "values.h"

#include "buf.h"
#include "functions.h"
#include "proto-tables.h"
#include "render-cluster.h"
#include "render-schema.h"
#include "render.h"

#define UID "eb117bae-5e34-5396-86f0-0d431b0d5302" /* the vector of docs/spec/engine 12 */

static struct registry *registry;
static struct render_input in;

static void set_up(const char *response)
{
        static const char composite[] = "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":"
                                        "\"web\",\"namespace\":\"default\"},\"spec\":{\"size\":3}}";
        struct str composition;

        begin();
        registry = registry_new();
        registry_set_hint(registry, " - is it listed in the render input?");
        registry_set(registry, STR("dummy"), function_builtin(&function_dummy));
        composition = arena_printf(
                &arena,
                "{\"apiVersion\":\"apiextensions.crossplane.io/v1\",\"kind\":\"Composition\",\"metadata\":{\"name\":"
                "\"apps\"},\"spec\":{\"compositeTypeRef\":{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\"},"
                "\"mode\":\"Pipeline\",\"pipeline\":[{\"step\":\"one\",\"functionRef\":{\"name\":\"dummy\"},\"input\":"
                "{\"response\":%s}}]}}",
                response);
        in = (struct render_input) {
                .composite = parse(composite),
                .composition = parse(arena_cstring(&arena, composition)),
                .steps.registry = registry,
        };
}

static void tear_down(void)
{
        registry_free(registry);
        end();
}

static int render(struct render_output *ret, struct err *err)
{
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE, .cause = STR("test") };

        return render_composite(&run, &in, ret, err);
}

static struct render_output render_ok(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct render_output out;

        if (render(&out, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return out;
}

static void refuses(const char *wanted)
{
        _cleanup_err_ struct err err = { 0 };
        struct render_output out;

        ASSERT(render(&out, &err) < 0);
        ASSERT_TEXT(err_message(&err), wanted);
        ASSERT(!out.is_fatal);
}

static void check_event(const struct render_output *out, size_t i, bool is_warning, const char *reason,
                        const char *message)
{
        ASSERT(i < out->n_events);
        ASSERT_INT(out->events[i].is_warning, is_warning);
        ASSERT_STR(out->events[i].reason, str_from(reason));
        ASSERT_STR(out->events[i].message, str_from(message));
}

/* Conditions as `type status reason message`, one to a line: their times are now. */
static struct str conditions_text(const struct value *composite)
{
        struct str_list lines;

        str_list_init(&lines, &arena);
        VALUE_FOREACH_ITEM (c, value_find(composite, "status", "conditions"))
                str_list_printf(&lines, "%.*s %.*s %.*s %.*s %lld", STR_ARG(value_str(value_get(c, STR("type")))),
                                STR_ARG(value_str(value_get(c, STR("status")))),
                                STR_ARG(value_str(value_get(c, STR("reason")))),
                                STR_ARG(value_str(value_get(c, STR("message")))),
                                (long long)value_int(value_get(c, STR("observedGeneration")), 0));
        return str_list_join(&lines, STR("\n"));
}

static const struct value *without_status(const struct value *composite)
{
        return value_without(&arena, composite, STR("status"));
}

#define BUCKET                                                                                               \
        "{\"desired\":{\"composite\":{\"resource\":{\"status\":{\"url\":\"x\"},\"spec\":{\"lost\":1}}},"     \
        "\"resources\":{\"bucket\":{\"resource\":{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\"," \
        "\"spec\":{\"size\":3}},\"ready\":\"READY_TRUE\"},\"other\":{\"resource\":{\"apiVersion\":"          \
        "\"s3.example.org/v1\",\"kind\":\"Bucket\"}}}},\"results\":[{\"severity\":\"SEVERITY_NORMAL\","      \
        "\"message\":\"hello\"},{\"message\":\"what\"}],\"conditions\":[{\"type\":\"Database\",\"status\":"  \
        "\"STATUS_CONDITION_TRUE\",\"reason\":\"Up\"},{\"type\":\"Ready\",\"status\":\"STATUS_CONDITION_TRUE\"}]}"

TEST(a_composite_becomes_its_references_and_its_status)
{
        struct render_output out;

        set_up(BUCKET);
        out = render_ok();
        check_value("composite", without_status(out.composite),
                    "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                    "\"default\"},\"spec\":{\"crossplane\":{\"resourceRefs\":[{\"apiVersion\":\"s3.example.org/v1\","
                    "\"kind\":\"Bucket\",\"name\":\"web-c4a766d202b6\"},{\"apiVersion\":\"s3.example.org/v1\",\"kind\":"
                    "\"Bucket\",\"name\":\"web-f81fed5d7b00\"}]}}}");
        ASSERT_STR(value_str(value_find(out.composite, "status", "url")), STR("x"));
        ASSERT_STR(conditions_text(out.composite), STR("Responsive True WatchCircuitClosed  0\n"
                                                       "Database True Up  0\n"
                                                       "Synced True ReconcileSuccess  0\n"
                                                       "Ready False Creating Unready resources: other 0"));
        ASSERT_INT(value_count(out.composed), 2);
        check_value("bucket", value_item(out.composed, 0),
                    "{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"metadata\":{\"annotations\":{"
                    "\"crossplane.io/composition-resource-name\":\"bucket\"},\"generateName\":\"web-\",\"labels\":{"
                    "\"crossplane.io/composite\":\"web\"},\"name\":\"web-c4a766d202b6\",\"namespace\":\"default\","
                    "\"ownerReferences\":[{\"apiVersion\":\"example.org/v1\",\"blockOwnerDeletion\":true,"
                    "\"controller\":true,\"kind\":\"App\",\"name\":\"web\",\"uid\":\"" UID
                    "\"}]},\"spec\":{\"size\":3}}");
        ASSERT_INT(out.n_events, 4);
        check_event(&out, 0, false, "SelectComposition", "Successfully selected composition: apps");
        check_event(&out, 1, false, "ComposeResources", "Pipeline step \"one\": hello");
        check_event(&out, 2, true, "ComposeResources",
                    "Pipeline step \"one\" returned a result of unknown severity (assuming warning): what");
        check_event(&out, 3, false, "ComposeResources", "Composed resource \"other\" is not yet ready");
        tear_down();
}

TEST(a_legacy_composite_refers_at_the_top_of_its_spec)
{
        struct render_output out;

        set_up("{\"conditions\":[{\"type\":\"C\",\"status\":\"STATUS_CONDITION_TRUE\",\"reason\":\"R\",\"target\":"
               "\"TARGET_COMPOSITE_AND_CLAIM\"}]}");
        in.xrd = parse("{\"apiVersion\":\"apiextensions.crossplane.io/v1\",\"kind\":\"CompositeResourceDefinition\","
                       "\"metadata\":{\"name\":\"apps.example.org\"},\"spec\":{\"group\":\"example.org\",\"names\":{"
                       "\"kind\":\"App\"}}}");
        out = render_ok();
        check_value("spec", value_get(out.composite, STR("spec")), "{\"resourceRefs\":[]}");
        check_value("types", value_find(out.composite, "status", "claimConditionTypes"), "[\"C\"]");
        in.xrd = parse("{\"metadata\":{\"name\":\"x\"},\"spec\":{\"group\":\"other.org\",\"names\":{\"kind\":"
                       "\"Foo\"}}}");
        refuses("cannot render composite resource: cannot select composite resource schema: "
                "CompositeResourceDefinition \"x\" (composite Group=other.org Kind=Foo) does not match the input "
                "XR's Group=example.org Kind=App");
        tear_down();
}

TEST(the_composite_behind_a_render_has_what_was_given_and_what_came_out)
{
        struct render_output out;
        const struct value *after;

        set_up(BUCKET);
        out = render_ok();
        after = render_composite_after(&arena, &in, &out);
        check_value("metadata", meta(after), text_of(meta(in.composite), 0));
        check_value("the Composition", value_find(after, "spec", "crossplane", "compositionRef"),
                    "{\"name\":\"apps\"}");
        ASSERT_INT(value_count(value_find(after, "spec", "crossplane", "resourceRefs")), 2);
        ASSERT(value_equal(value_get(after, STR("status")), value_get(out.composite, STR("status"))));
        tear_down();
}

#define OBSERVED(key, name, owner)                                                                   \
        "{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"metadata\":{\"name\":\"" name   \
        "\",\"namespace\":\"default\",\"uid\":\"u\",\"annotations\":{\"crossplane.io/"               \
        "composition-resource-name\":\"" key                                                         \
        "\"},\"labels\":{\"crossplane.io/composite\":\"web\"},\"ownerReferences\":[{\"apiVersion\":" \
        "\"example.org/v1\",\"kind\":\"App\",\"name\":\"web\",\"uid\":\"" owner "\",\"controller\":true}]}}"

TEST(what_is_observed_keeps_its_name_and_what_is_not_desired_goes)
{
        struct render_output out;

        set_up("{\"desired\":{\"resources\":{\"bucket\":{\"resource\":{\"apiVersion\":\"s3.example.org/v1\",\"kind\":"
               "\"Bucket\"},\"ready\":\"READY_TRUE\"}}}}");
        in.observed = parse("[" OBSERVED("bucket", "b1", UID) "," OBSERVED("gone", "g1", UID) "]");
        out = render_ok();
        ASSERT_INT(value_count(out.composed), 1);
        ASSERT_STR(meta_name(value_item(out.composed, 0)), STR("b1"));
        ASSERT_STR(meta_uid(value_item(out.composed, 0)), STR(""));
        ASSERT_INT(value_count(out.deleted), 1);
        ASSERT_STR(meta_name(value_item(out.deleted, 0)), STR("g1"));
        check_value("labels", value_get(meta(value_item(out.deleted, 0)), STR("labels")), "{}");
        check_value("refs", value_find(out.composite, "spec", "crossplane", "resourceRefs"),
                    "[{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"name\":\"b1\"}]");
        in.observed = parse("[" OBSERVED("bucket", "b1", "other") "]");
        refuses("cannot render composite resource: invalid observed resources: observed resource b1 has a "
                "controller ref but is not controlled by the XR");
        in.observed = parse("[{\"kind\":\"K\",\"metadata\":{\"name\":\"a\"}},{\"kind\":\"K\",\"metadata\":{\"name\":"
                            "\"b\",\"namespace\":\"x\"}}]");
        refuses("cannot render composite resource: invalid observed resources: [observed resource a is not in the "
                "same namespace as the XR, observed resource b is not in the same namespace as the XR]");
        tear_down();
}

TEST(a_fatal_result_leaves_the_composite_whole)
{
        _cleanup_err_ struct err err = { 0 };
        struct render_output out;

        set_up("{\"results\":[{\"severity\":\"SEVERITY_NORMAL\",\"message\":\"first\"},{\"severity\":"
               "\"SEVERITY_FATAL\",\"message\":\"boom\"}],\"conditions\":[{\"type\":\"Database\",\"status\":"
               "\"STATUS_CONDITION_TRUE\",\"reason\":\"Up\"}]}");
        in.composite = parse(
                "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                "\"default\",\"generation\":4},\"spec\":{\"size\":3},\"status\":{\"old\":1,\"conditions\":[{\"type\":"
                "\"Gone\",\"status\":\"True\",\"reason\":\"X\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}}");
        ASSERT(render(&out, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot render composite resource: cannot compose resources: pipeline step "
                                       "\"one\" returned a fatal result: boom");
        ASSERT(out.is_fatal);
        check_value("composite", without_status(out.composite),
                    "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"generation\":4,\"labels\":{"
                    "\"crossplane.io/composite\":\"web\"},\"name\":\"web\",\"namespace\":\"default\","
                    "\"resourceVersion\":\"999\",\"uid\":\"" UID "\"},\"spec\":{\"crossplane\":{\"compositionRef\":{"
                    "\"name\":\"apps\"}},\"size\":3}}");
        ASSERT_STR(conditions_text(out.composite),
                   STR("Gone Unknown FatalError A fatal error occurred before the status of this condition could be "
                       "determined. 4\n"
                       "Responsive True WatchCircuitClosed  4\n"
                       "Synced False ReconcileError cannot compose resources: pipeline step \"one\" returned a fatal "
                       "result: boom 4\n"
                       "Database True Up  0"));
        ASSERT_INT(value_int(value_find(out.composite, "status", "old"), 0), 1);
        ASSERT_INT(out.n_events, 3);
        check_event(&out, 1, true, "ComposeResources",
                    "cannot compose resources: pipeline step \"one\" returned a fatal result: boom");
        check_event(&out, 2, false, "ComposeResources", "Pipeline step \"one\": first");
        tear_down();
}

TEST(what_is_paused_or_going_stays_as_it_is)
{
        struct render_output out;

        set_up(BUCKET);
        in.composite = parse("{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\","
                             "\"namespace\":\"default\",\"annotations\":{\"crossplane.io/paused\":\"true\"}}}");
        out = render_ok();
        ASSERT_INT(value_count(out.composed), 0);
        ASSERT_STR(meta_label(out.composite, STR("crossplane.io/composite")), STR(""));
        ASSERT_STR(conditions_text(out.composite),
                   STR("Responsive True WatchCircuitClosed  0\n"
                       "Synced False ReconcilePaused Reconciliation (including deletion) is paused via the pause "
                       "annotation 0"));
        check_event(&out, 0, false, "ReconciliationPaused", "Reconciliation is paused via the pause annotation");
        in.composite = parse(
                "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                "\"default\",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\",\"annotations\":{"
                "\"crossplane.io/reconcile-requested-at\":\"now\"},\"finalizers\":["
                "\"composite.apiextensions.crossplane.io\"]}}");
        out = render_ok();
        ASSERT_INT(out.n_events, 1);
        check_event(&out, 0, false, "ReconcileRequestHandled", "Handling reconcile request");
        ASSERT_STR(value_str(value_find(out.composite, "status", "lastHandledReconcileAt")), STR("now"));
        ASSERT_INT(value_count(value_get(meta(out.composite), STR("finalizers"))), 1);
        ASSERT_STR(conditions_text(out.composite), STR("Responsive True WatchCircuitClosed  0\n"
                                                       "Ready False Deleting  0\n"
                                                       "Synced True ReconcileSuccess  0"));
        tear_down();
}

/* As function-dummy, with all of today's protocol. */
static int run_script(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *input;

        fn_response_init(rsp, req);
        ASSERT(fn_struct_value(run->arena, &req->input, &input, err) >= 0);
        ASSERT(fn_response_encode(run->arena, rsp, &b, err) >= 0);
        ASSERT(proto_encode(&b, &proto_fn_v1_RunFunctionResponse, value_get(input, STR("response")), NULL, err) >= 0);
        return fn_response_decode(run->arena, buf_to_arena(&b, run->arena), rsp, err);
}

static const struct builtin_function script = { .name = "script", .run = run_script };

TEST(what_was_asked_for_is_listed)
{
        struct render_output out;

        set_up("{\"requirements\":{\"extraResources\":{\"a\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
               "\"matchName\":\"cm\",\"namespace\":\"default\"},\"b\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
               "\"matchLabels\":{\"labels\":{\"x\":\"y\"}}},\"c\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
               "\"matchLabels\":{}}},\"schemas\":{\"s\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}}}}");
        registry_set(registry, STR("dummy"), function_builtin(&script));
        in.required = parse("[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"cm\","
                            "\"namespace\":\"default\",\"labels\":{\"x\":\"y\"}}}]");
        in.context = parse("{\"key\":[1]}");
        out = render_ok();
        check_value("resources", out.required_resources,
                    "[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"matchName\":\"cm\",\"namespace\":\"default\"},"
                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"matchLabels\":{\"labels\":{\"x\":\"y\"}}},"
                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"matchLabels\":{}}]");
        check_value("schemas", out.required_schemas, "[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}]");
        ASSERT(value_equal_numeric(out.context, in.context));
        tear_down();
}

TEST(errors_are_in_the_words_of_the_real_one)
{
        static const struct {
                const char *response, *message;
        } cases[] = {
                { "{\"desired\":{\"resources\":{\"a\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                  "\"metadata\":{\"generateName\":\"ABC-\"}}}}}}",
                  "cannot compose resources: cannot apply composed resource \"a\" because it has an invalid name "
                  "\"ABC-3f04f71d8b91\". Must be a valid RFC 1123 subdomain name." },
                { "{\"desired\":{\"resources\":{\"a\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                  "\"metadata\":{\"name\":\"n\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":"
                  "\"kn\",\"uid\":\"ku\",\"controller\":true}]}}}}}}",
                  "cannot compose resources: cannot render metadata for composed resource \"a\": cannot set controller "
                  "reference: n is already controlled by K kn (UID ku)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                set_up(cases[i].response);
                refuses(arena_cstring(&arena,
                                      arena_printf(&arena, "cannot render composite resource: reconcile failed: %s",
                                                   cases[i].message)));
                tear_down();
        }
        set_up(BUCKET);
        in.composite = NULL;
        refuses("cannot render composite resource: reconcile failed: cannot get composite resource: Object 'Kind' "
                "is missing in '{\"metadata\":{\"resourceVersion\":\"999\",\"uid\":"
                "\"a6bd0543-ba57-529f-805f-6dbe3eed1874\"}}'");
        tear_down();
        set_up(BUCKET);
        in.composition = NULL;
        refuses("cannot render composite resource: reconcile failed: cannot configure composite resource: "
                "referenced composition is not compatible with this composite resource");
        tear_down();
}

TEST(a_missing_kind_is_said_to_be_empty)
{
        struct render_output out;

        set_up("{\"desired\":{\"resources\":{\"a\":{\"resource\":{\"apiVersion\":\"v1\"}},\"b\":{\"resource\":{"
               "\"kind\":\"K\"}}}}}");
        out = render_ok();
        check_value("kind", value_get(value_item(out.composed, 0), STR("kind")), "\"\"");
        check_value("version", value_get(value_item(out.composed, 1), STR("apiVersion")), "\"\"");
        ASSERT(!value_get(value_item(value_find(out.composite, "spec", "crossplane", "resourceRefs"), 1), STR("kind")));
        tear_down();
}

/* --- The cluster --- */

static const struct object_key missing = { { STR_INIT(""), STR_INIT("v1"), STR_INIT("Secret") },
                                           STR_INIT("n"),
                                           STR_INIT("sec") };

TEST(the_cluster_has_what_it_was_given_and_no_more)
{
        static const enum write_verb verbs[] = { WRITE_UPDATE, WRITE_DELETE, WRITE_JSON_PATCH, WRITE_MERGE_PATCH };
        static const char *const messages[] = { "Secret \"sec\" not found", "Secret \"sec\" not found",
                                                "a render patches nothing", "a render patches nothing" };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct write_request req = { .key = missing, .body = &value_empty_object };
        struct list_request list = { .gvk = missing.gvk };
        struct watch_request watch = { .gvk = missing.gvk };
        struct write_result result;
        struct object_list found;
        struct watch *w;
        struct cluster *c;

        begin();
        c = render_cluster(render_cluster_new(&arena, &missing, NULL));
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
                _cleanup_err_ struct err err = { 0 };

                req.verb = verbs[i];
                ASSERT(cluster_write(c, &run, &req, &result, &err) < 0);
                ASSERT_TEXT(err_message(&err), messages[i]);
        }
        req.verb = WRITE_APPLY;
        req.subresource = STR("status");
        ASSERT_INT(cluster_write(c, &run, &req, &result, NULL), ERR_NOT_FOUND);
        ASSERT(cluster_list(c, &run, &list, &found, NULL) >= 0);
        ASSERT_INT(found.n, 0);
        ASSERT_INT(cluster_delete_collection(c, &run, &list, &req, &found, NULL), ERR_UNSUPPORTED);
        ASSERT_INT(cluster_watch(c, &run, &watch, &w, NULL), ERR_UNSUPPORTED);
        cluster_free(c);
        end();
}

TEST(clusters_stand_on_one_that_they_leave_as_it_is)
{
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct list_request list = { .gvk = missing.gvk };
        struct get_request get = { 0 };
        struct write_request req = { 0 };
        struct render_cluster *below, *first, *second;
        struct write_result result;
        struct object_list found;
        struct object *object;

        begin();
        below = render_cluster_new(&arena, &missing, NULL);
        render_cluster_add(below, parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}"));
        render_cluster_add(below, parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"b\"}}"));
        first = render_cluster_new(&arena, &missing, below);
        second = render_cluster_new(&arena, &missing, below);
        render_cluster_add(first, parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"c\"}}"));
        get.key = req.key = (struct object_key) { .gvk = missing.gvk, .name = STR("a") };
        req.verb = WRITE_UPDATE;
        req.body = parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"},\"x\":1}");
        ASSERT(cluster_write(render_cluster(first), &run, &req, &result, NULL) >= 0);
        ASSERT(cluster_list(render_cluster(first), &run, &list, &found, NULL) >= 0);
        ASSERT_INT(found.n, 3);
        ASSERT(value_equal(object_list_value(&found, 0, &arena), req.body));
        check_value("what is below", object_list_value(&found, 1, &arena),
                    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"b\"}}");
        req.verb = WRITE_DELETE;
        ASSERT(cluster_write(render_cluster(first), &run, &req, &result, NULL) >= 0);
        ASSERT_INT(cluster_get(render_cluster(first), &run, &get, &object, NULL), ERR_NOT_FOUND);
        ASSERT(cluster_list(render_cluster(first), &run, &list, &found, NULL) >= 0);
        ASSERT_INT(found.n, 2);
        req.key.name = STR("b");
        ASSERT(cluster_write(render_cluster(first), &run, &req, &result, NULL) >= 0);
        ASSERT(cluster_list(render_cluster(first), &run, &list, &found, NULL) >= 0);
        ASSERT_INT(found.n, 1);
        ASSERT(cluster_get(render_cluster(second), &run, &get, &object, NULL) >= 0);
        ASSERT(cluster_list(render_cluster(second), &run, &list, &found, NULL) >= 0);
        ASSERT_INT(found.n, 2);
        end();
}

/* --- Fields of requests: honoured or refused --- */

#define NAMED(name, more) "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"" name "\"" more "}}"

static struct render_cluster *three_secrets(void)
{
        struct render_cluster *c = render_cluster_new(&arena, &missing, NULL);

        render_cluster_add(c, parse(NAMED("b", ",\"namespace\":\"y\",\"labels\":{\"l\":\"1\"}")));
        render_cluster_add(c, parse(NAMED("a", ",\"namespace\":\"y\",\"ownerReferences\":[{\"uid\":\"other\"},{\"uid\":"
                                               "\"u\"}]")));
        render_cluster_add(c, parse(NAMED("z", ",\"namespace\":\"x\",\"uid\":\"1\",\"resourceVersion\":\"7\"")));
        return c;
}

static const char *names_of(const struct object_list *found)
{
        struct str_list names;

        str_list_init(&names, &arena);
        for (size_t i = 0; i < found->n; i++)
                str_list_add(&names, meta_name(object_list_value(found, i, &arena)));
        return arena_cstring(&arena, str_list_join(&names, STR(" ")));
}

TEST(lists_honour_or_refuse_each_field)
{
        static const struct str one = STR_INIT("1");
        static const struct label_requirement is_one = {
                .key = STR_INIT("l"), .op = SELECT_EQUALS, .values = &one, .n_values = 1
        };
        static const struct label_selector labels = { .requirements = &is_one, .n = 1 };
        static const struct field_requirement is_a = { STR_INIT("metadata.name"), STR_INIT("a"), false };
        static const struct field_requirement is_typed = { STR_INIT("type"), STR_INIT("a"), false };
        static const struct field_selector fields = { &is_a, 1 }, unknown = { &is_typed, 1 };
        static const struct {
                struct list_request list;
                const char *names, *error;
        } cases[] = {
                { {}, "z a b", NULL },
                { { .ns = STR_INIT("y") }, "a b", NULL },
                { { .labels = &labels }, "b", NULL },
                { { .fields = &fields }, "a", NULL },
                { { .fields = &unknown }, NULL, "field label not supported: type" },
                { { .owner_uid = STR_INIT("u") }, "a", NULL },
                { { .resource_version = STR_INIT("0") }, "z a b", NULL },
                { { .resource_version = STR_INIT("5") }, NULL, "a render has no older versions to read" },
                { { .match = MATCH_EXACT }, NULL, "a render has no older versions to read" },
                { { .limit = 1 }, NULL, "a render lists no parts" },
                { { .continue_token = STR_INIT("t") }, NULL, "a render lists no parts" },
        };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct cluster *c;

        begin();
        c = render_cluster(three_secrets());
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct list_request list = cases[i].list;
                _cleanup_err_ struct err err = { 0 };
                struct object_list found;
                int r;

                list.gvk = missing.gvk;
                r = cluster_list(c, &run, &list, &found, &err);
                if (cases[i].error)
                        ASSERT_STR_CASE("error", str_from(err_message(&err)), str_from(cases[i].error));
                else
                        ASSERT_STR_CASE("names", str_from(r < 0 ? err_message(&err) : names_of(&found)),
                                        str_from(cases[i].names));
        }
        end();
}

TEST(gets_honour_or_refuse_each_field)
{
        struct object_key z = { .gvk = missing.gvk, .ns = STR("x"), .name = STR("z") };
        const struct {
                struct get_request get;
                int code;
        } cases[] = {
                { { .key = z }, 0 },
                { { .key = z, .subresource = STR("status") }, 0 },
                { { .key = z, .subresource = STR("scale") }, ERR_UNSUPPORTED },
                { { .key = z, .resource_version = STR("0") }, 0 },
                { { .key = z, .resource_version = STR("7") }, ERR_UNSUPPORTED },
                { { .key = { { STR(""), STR("v2"), STR("Secret") }, STR("x"), STR("z") } }, ERR_NOT_FOUND },
        };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct cluster *c;

        begin();
        c = render_cluster(three_secrets());
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct object *object;

                ASSERT_INT(cluster_get(c, &run, &cases[i].get, &object, NULL), cases[i].code);
        }
        end();
}

TEST(writes_honour_or_refuse_each_field)
{
        static const struct str duplicate = STR_INIT("spec.a");
        static const struct {
                struct write_request req;
                const char *name, *body, *error;
        } cases[] = {
                { { .verb = WRITE_CREATE }, "z", NAMED("z", ""), "secrets \"z\" already exists" },
                { { .verb = WRITE_CREATE }, "", NAMED("n", ""), "no error" },
                { { .verb = WRITE_CREATE }, "", "{}", "a render makes no names" },
                { { .verb = WRITE_CREATE, .subresource = STR_INIT("status") },
                  "n",
                  "{}",
                  "a render creates no subresource" },
                { { .verb = WRITE_UPDATE, .subresource = STR_INIT("scale") },
                  "z",
                  "{}",
                  "a render has no subresource but status" },
                { { .verb = WRITE_UPDATE }, "z", NAMED("z", ",\"resourceVersion\":\"7\""), "no error" },
                { { .verb = WRITE_UPDATE },
                  "z",
                  NAMED("z", ",\"resourceVersion\":\"6\""),
                  "Operation cannot be fulfilled on secrets \"z\": the object has been modified; please apply your "
                  "changes "
                  "to the latest version and try again" },
                { { .verb = WRITE_APPLY, .duplicate_fields = &duplicate, .n_duplicate_fields = 1 },
                  "z",
                  NAMED("z", ""),
                  "a render takes no body with duplicate fields" },
                { { .verb = WRITE_APPLY,
                    .duplicate_fields = &duplicate,
                    .n_duplicate_fields = 1,
                    .field_validation = FIELDS_IGNORE },
                  "z",
                  NAMED("z", ""),
                  "no error" },
                { { .verb = WRITE_DELETE, .precondition_uid = STR_INIT("1"), .precondition_version = STR_INIT("7") },
                  "z",
                  NULL,
                  "no error" },
                { { .verb = WRITE_DELETE, .precondition_uid = STR_INIT("2") },
                  "z",
                  NULL,
                  "Operation cannot be fulfilled on secrets \"z\": Precondition failed: UID in precondition: 2, UID in "
                  "object meta: 1" },
                { { .verb = WRITE_DELETE, .precondition_version = STR_INIT("6") },
                  "z",
                  NULL,
                  "Operation cannot be fulfilled on secrets \"z\": Precondition failed: ResourceVersion in "
                  "precondition: "
                  "6, ResourceVersion in object meta: 7" },
                { { .verb = WRITE_DELETE, .subresource = STR_INIT("status") },
                  "z",
                  NULL,
                  "a render deletes no subresource" },
        };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct cluster *c = render_cluster(three_secrets());
                struct write_request req = cases[i].req;
                _cleanup_err_ struct err err = { 0 };
                struct write_result result;

                req.key = (struct object_key) { missing.gvk, STR("x"), str_from(cases[i].name) };
                req.body = cases[i].body ? parse(cases[i].body) : NULL;
                cluster_write(c, &run, &req, &result, &err);
                ASSERT_STR_CASE("error", str_from(err_message(&err)), str_from(cases[i].error));
        }
        end();
}

TEST(a_dry_run_changes_nothing)
{
        static const enum write_verb verbs[] = { WRITE_UPDATE, WRITE_APPLY, WRITE_DELETE };
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE };
        struct render_cluster *c;
        const struct value *const *noted, *there;

        begin();
        c = three_secrets();
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
                struct write_request req = {
                        .verb = verbs[i],
                        .key = { missing.gvk, STR("x"), STR("z") },
                        .body = parse(NAMED("z", ",\"labels\":{\"new\":\"\"}")),
                        .is_dry_run = true,
                };
                struct write_result result;

                ASSERT(cluster_write(render_cluster(c), &run, &req, &result, NULL) >= 0);
                ASSERT(!result.is_changed);
                ASSERT(verbs[i] == WRITE_DELETE || result.value == req.body);
                ASSERT(cluster_get_value(render_cluster(c), &run, &req.key, &there, NULL) >= 0);
                ASSERT(!meta_has_label(there, STR("new")));
        }
        ASSERT_INT(render_cluster_applied(c, &noted) + render_cluster_deleted(c, &noted), 0);
        end();
}

/* --- Schemas --- */

static const char openapi[] =
        "[{\"components\":{\"schemas\":{"
        "\"a\":{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{\"group\":\"g\",\"version\":\"v1\",\"kind\":"
        "\"A\"}],\"properties\":{\"b\":{\"$ref\":\"#/components/schemas/b\"},\"l\":{\"type\":\"array\",\"items\":{"
        "\"allOf\":[{\"$ref\":\"#/components/schemas/c\"}],\"default\":{}}},\"m\":{\"additionalProperties\":{\"$ref\":"
        "\"#/components/schemas/c\"},\"anyOf\":[{\"$ref\":\"#/components/schemas/c\"}]},\"t\":true}},"
        "\"b\":{\"properties\":{\"again\":{\"$ref\":\"#/components/schemas/a\"}}},"
        "\"c\":{\"type\":\"string\"},"
        "\"common\":{\"x-kubernetes-group-version-kind\":[{\"group\":\"g\",\"version\":\"v1\",\"kind\":\"C\"},{"
        "\"group\":"
        "\"g\",\"version\":\"v2\",\"kind\":\"C\"}]},"
        "\"lost\":{\"x-kubernetes-group-version-kind\":[{\"group\":\"g\",\"version\":\"v1\",\"kind\":\"L\"}],\"items\":"
        "{"
        "\"$ref\":\"#/components/schemas/none\"}}"
        "}}}]";

TEST(a_schema_has_its_references_in_place)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *documents, *schema;

        begin();
        documents = parse(openapi);
        ASSERT(render_find_schema(&arena, documents, (struct gvk) { STR("g"), STR("v1"), STR("A") }, &schema, NULL) >=
               0);
        check_value("a", schema,
                    "{\"type\":\"object\",\"x-kubernetes-group-version-kind\":[{\"group\":\"g\",\"version\":\"v1\","
                    "\"kind\":\"A\"}],\"properties\":{\"b\":{\"properties\":{\"again\":{\"type\":\"object\"}}},\"l\":{"
                    "\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"m\":{\"additionalProperties\":{\"type\":"
                    "\"string\"},\"anyOf\":[{\"$ref\":"
                    "\"#/components/schemas/c\"}]},\"t\":true}}");
        ASSERT(render_find_schema(&arena, documents, (struct gvk) { STR("g"), STR("v1"), STR("C") }, &schema, NULL) >=
               0);
        ASSERT(!schema);
        ASSERT(render_find_schema(&arena, documents, (struct gvk) { STR("g"), STR("v1"), STR("L") }, &schema, &err) <
               0);
        ASSERT_TEXT(err_message(&err), "cannot flatten schema references: internal error: cannot resolve Ref "
                                       "\"#/components/schemas/none\": schema not found");
        end();
}

/* Each refers to the next twice: the last stands in the first a billion times. */
TEST(a_schema_that_explodes_is_refused)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *schema;

        begin();
        buf_append_literal(&b, "[{\"components\":{\"schemas\":{\"s0\":{\"x-kubernetes-group-version-kind\":[{\"kind\":"
                               "\"A\"}],\"items\":{\"$ref\":\"#/components/schemas/s1\"}}");
        for (int i = 1; i < 30; i++)
                buf_appendf(&b,
                            ",\"s%d\":{\"properties\":{\"p\":{\"$ref\":\"#/components/schemas/s%d\"},\"q\":{\"$ref\":"
                            "\"#/components/schemas/s%d\"}}}",
                            i, i + 1, i + 1);
        buf_append_literal(&b, ",\"s30\":{}}}}]");
        ASSERT_INT(render_find_schema(&arena, parse(buf_cstring(&b)), (struct gvk) { STR(""), STR(""), STR("A") },
                                      &schema, &err),
                   ERR_LIMIT);
        end();
}
