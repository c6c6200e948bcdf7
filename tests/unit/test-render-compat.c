/* Renders as Crossplane's CLI v2.2.1 did them; what is expected is what it gave (tests/interop/compat runs it on many more). */
#include "values.h"

#include "functions.h"
#include "render-compat.h"

static struct registry *registry;
static struct compat_input in;

/* --- A function that says what it sees and asks for what it is told --- */

static struct fn_requirements asked; /* on every call */
static bool is_insatiable;           /* asks for something else each time */
static unsigned n_calls;

static void say_resources(struct str_list *words, const char *what, const struct fn_resources_map *map)
{
        for (size_t i = 0; i < map->n; i++) {
                str_list_printf(words, "%s %.*s:", what, STR_ARG(map->p[i].name));
                for (size_t j = 0; j < map->p[i].n_items; j++) {
                        const struct value *v = map->p[i].items[j].object.value;

                        str_list_printf(words, "%.*s/%.*s", STR_ARG(meta_namespace(v)), STR_ARG(meta_name(v)));
                }
        }
}

static void say(struct run *run, const struct fn_request *req, struct fn_response *rsp)
{
        struct str_list words;

        str_list_init(&words, run->arena);
        if (req->tag.n)
                str_list_add(&words, STR("a tag"));
        for (size_t i = 0; i < req->n_credentials; i++)
                str_list_printf(&words, "credential %.*s=%.*s", STR_ARG(req->credentials[i].name),
                                STR_ARG(req->credentials[i].data.p[0].bytes));
        say_resources(&words, "required", &req->required_resources);
        say_resources(&words, "extra", &req->extra_resources);
        for (size_t i = 0; i < req->n_schemas; i++)
                str_list_printf(&words, "schema %.*s%s", STR_ARG(req->schemas[i].name),
                                fn_struct_is_present(&req->schemas[i].openapi) ? "" : " of none");
        fn_response_add_result(run->arena, rsp, FN_SEVERITY_NORMAL, "%.*s", STR_ARG(str_list_join(&words, STR(" "))));
}

static int run_seer(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        fn_response_init(rsp, req);
        rsp->requirements = asked;
        if (is_insatiable) {
                struct fn_selector s = { .name = arena_printf(run->arena, "%u", n_calls), .api_version = STR("v1") };

                fn_response_require(run->arena, rsp, &s);
        }
        n_calls++;
        say(run, req, rsp);
        return 0;
}

static const struct builtin_function seer = { .name = "seer", .run = run_seer };

/* --- What is rendered --- */

static void set_up(const char *steps)
{
        static const char composite[] =
                "{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\"}}";

        begin();
        asked = (struct fn_requirements) { 0 };
        is_insatiable = false;
        n_calls = 0;
        registry = registry_new();
        registry_set(registry, STR("dummy"), function_builtin(&function_dummy));
        registry_set(registry, STR("seer"), function_builtin(&seer));
        in = (struct compat_input) {
                .composite = parse(composite),
                .composition = parse(arena_printf(&arena, "{\"spec\":{\"pipeline\":[%s]}}", steps).p),
                .registry = registry,
        };
}

static void tear_down(void)
{
        registry_free(registry);
        end();
}

static int render(struct compat_output *ret, struct err *err)
{
        struct run run = { .arena = &arena, .deadline = DEADLINE_NONE, .cause = STR("test") };

        return render_compat(&run, &in, ret, err);
}

static struct compat_output render_ok(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct compat_output out;

        if (render(&out, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return out;
}

static void refuses(const char *wanted)
{
        _cleanup_err_ struct err err = { 0 };
        struct compat_output out;

        ASSERT(render(&out, &err) < 0);
        ASSERT_TEXT(err_message(&err), wanted);
}

/* The words of the last step. */
static void sees(const char *wanted)
{
        struct compat_output out = render_ok();

        ASSERT(out.n_results > 0);
        ASSERT_STR(out.results[out.n_results - 1].message, str_from(wanted));
}

#define STEP(name, function, rest) "{\"step\":\"" name "\",\"functionRef\":{\"name\":\"" function "\"}" rest "}"
#define SAYS(response)             STEP("one", "dummy", ",\"input\":{\"response\":" response "}")
#define POOL                                                                                                          \
        "[{\"apiVersion\":\"v1\",\"kind\":\"M\",\"metadata\":{\"name\":\"b\",\"namespace\":\"y\",\"labels\":{\"x\":"  \
        "\"1\"}}},"                                                                                                   \
        "{\"apiVersion\":\"v1\",\"kind\":\"M\",\"metadata\":{\"name\":\"a\",\"namespace\":\"z\",\"labels\":{\"x\":"   \
        "\"1\"}}},"                                                                                                   \
        "{\"apiVersion\":\"v1\",\"kind\":\"M\",\"metadata\":{\"name\":\"c\"}},{\"apiVersion\":\"v1\",\"kind\":\"N\"," \
        "\"metadata\":{\"name\":\"b\"}}]"
#define EXTRA "[{\"apiVersion\":\"v1\",\"kind\":\"M\",\"metadata\":{\"name\":\"b\",\"namespace\":\"extra\"}}]"

static const struct fn_label label = { STR_INIT("x"), STR_INIT("1") };
static const struct fn_selector selectors[] = {
        { .name = STR_INIT("all"), .api_version = STR_INIT("v1"), .kind = STR_INIT("M") },
        { .name = STR_INIT("labels"),
          .api_version = STR_INIT("v1"),
          .kind = STR_INIT("M"),
          .has_labels = true,
          .labels = &label,
          .n_labels = 1 },
        { .name = STR_INIT("name"),
          .api_version = STR_INIT("v1"),
          .kind = STR_INIT("M"),
          .match_name = STR_INIT("b"),
          .ns = STR_INIT("nowhere") },
        { .name = STR_INIT("none"), .api_version = STR_INIT("v1"), .kind = STR_INIT("Z") },
};

TEST(requirements_are_looked_for_without_namespaces)
{
        set_up(STEP("one", "seer", ""));
        in.required = parse(POOL);
        in.extra = parse(EXTRA);
        asked = (struct fn_requirements) { .is_present = true, .resources = selectors, .n_resources = 4 };
        sees("required all: z/a extra/b y/b /c required labels: z/a y/b required name: extra/b required none:");
        ASSERT_INT(n_calls, 2);
        asked = (struct fn_requirements) { .is_present = true,
                                           .extra_resources = &selectors[2],
                                           .n_extra_resources = 1 };
        sees("extra name: extra/b");
        tear_down();
}

TEST(requirements_of_the_composition_are_looked_for_in_the_required_alone)
{
        set_up(STEP(
                "one", "seer",
                ",\"requirements\":{\"requiredResources\":[{\"requirementName\":\"z\",\"apiVersion\":\"v1\",\"kind\":"
                "\"M\",\"name\":\"c\"},{\"requirementName\":\"name\",\"apiVersion\":\"v1\",\"kind\":\"M\",\"name\":"
                "\"b\"}],\"requiredSchemas\":[{\"requirementName\":\"s\",\"apiVersion\":\"v1\",\"kind\":\"M\"}]}"));
        in.required = parse(POOL);
        in.extra = parse(EXTRA);
        sees("required name: y/b required z: /c schema s of none");
        ASSERT_INT(n_calls, 1);
        asked = (struct fn_requirements) { .is_present = true, .resources = &selectors[2], .n_resources = 1 };
        sees("required name: extra/b required z: /c schema s of none");
        tear_down();
}

TEST(requirements_that_never_end)
{
        set_up(STEP("one", "seer", ""));
        is_insatiable = true;
        refuses("cannot render composite resource: cannot run pipeline step \"one\": requirements didn't stabilize "
                "after "
                "the maximum number of iterations (5)");
        ASSERT_INT(n_calls, 6);
        tear_down();
}

TEST(schemas)
{
        static const struct fn_selector wanted[] = {
                { .name = STR_INIT("a"), .api_version = STR_INIT("g/v1"), .kind = STR_INIT("K") },
                { .name = STR_INIT("b"), .api_version = STR_INIT("g/v1"), .kind = STR_INIT("None") },
        };
        static const struct fn_selector bad = { .name = STR_INIT("a"), .api_version = STR_INIT("a/b/c") };

        set_up(STEP("one", "seer", ""));
        in.schemas =
                parse("[{\"components\":{\"schemas\":{\"k\":{\"x-kubernetes-group-version-kind\":[{\"group\":\"g\","
                      "\"version\":\"v1\",\"kind\":\"K\"}]}}}}]");
        asked = (struct fn_requirements) { .is_present = true, .schemas = wanted, .n_schemas = 2 };
        sees("schema a schema b of none");
        asked = (struct fn_requirements) { .is_present = true, .schemas = &bad, .n_schemas = 1 };
        refuses("cannot render composite resource: cannot run pipeline step \"one\": fetching schema for a: cannot "
                "parse "
                "apiVersion \"a/b/c\": unexpected GroupVersion string: a/b/c");
        tear_down();
        set_up(STEP("one", "seer",
                    ",\"requirements\":{\"requiredSchemas\":[{\"requirementName\":\"s\",\"apiVersion\":\"a/b/c\"}]}"));
        refuses("cannot render composite resource: cannot fetch bootstrap required schema for requirement \"s\": "
                "cannot "
                "parse apiVersion \"a/b/c\": unexpected GroupVersion string: a/b/c");
        tear_down();
}

#define CREDENTIAL(name) \
        "{\"name\":\"" name "\",\"source\":\"Secret\",\"secretRef\":{\"name\":\"sec\",\"namespace\":\"n\"}}"

TEST(credentials)
{
        set_up(STEP("one", "seer",
                    ",\"credentials\":[" CREDENTIAL("z") "," CREDENTIAL("a") "," CREDENTIAL(
                            "z") ",{\"name\":\"m\",\"source\":\"Secret\"},{\"name\":\"n\",\"source\":\"None\"}]"));
        refuses("cannot render composite resource: cannot get credentials from secret \"sec\": secret \"sec\" not "
                "found");
        in.credentials =
                parse("[{\"metadata\":{\"name\":\"sec\",\"namespace\":\"other\"}},{\"kind\":\"Sauce\",\"metadata\":{"
                      "\"name\":\"sec\",\"namespace\":\"n\"},\"data\":{\"k\":\"djE=\"}}]");
        sees("credential a=v1 credential z=v1");
        in.credentials = parse("[{\"metadata\":{\"name\":\"sec\",\"namespace\":\"n\"},\"data\":{\"k\":\"%\"}}]");
        refuses("cannot render composite resource: cannot get credentials from secret \"sec\": data[k]: illegal base64 "
                "data "
                "at input byte 0");
        tear_down();
}

TEST(ends)
{
        set_up(STEP("one", "nope", ""));
        refuses("cannot render composite resource: cannot run pipeline step \"one\": unknown Function \"nope\" - does "
                "it "
                "exist in your Functions file?");
        tear_down();
        set_up(SAYS("{\"results\":[{\"severity\":\"SEVERITY_FATAL\",\"message\":\"boom\"}]}") "," STEP("two", "seer",
                                                                                                       ""));
        refuses("cannot render composite resource: pipeline step \"one\" returned a fatal result: boom");
        ASSERT_INT(n_calls, 0);
        tear_down();
        set_up(SAYS(
                "{\"desired\":{\"resources\":{\"a\":{\"resource\":{\"metadata\":{\"name\":\"n\",\"ownerReferences\":[{"
                "\"kind\":\"K\",\"name\":\"kn\",\"uid\":\"u\",\"controller\":true}]}}}}}}"));
        refuses("cannot render composite resource: cannot render composed resource \"a\" metadata: cannot set "
                "composite "
                "resource \"web\" as controller ref of composed resource: n is already controlled by K kn (UID u)");
        tear_down();
}

TEST(the_composite_as_functions_return_it)
{
        struct compat_output out;

        set_up(SAYS(
                "{\"desired\":{\"composite\":{\"resource\":{\"apiVersion\":\"o/"
                "v1\",\"metadata\":{\"name\":\"o\",\"namespace\":"
                "\"p\",\"labels\":{\"l\":\"x\"}},\"spec\":{\"n\":1}}},\"resources\":{\"b\":{},\"a\":{\"ready\":"
                "\"READY_TRUE\"}}},\"conditions\":[{\"type\":\"Ready\",\"status\":\"STATUS_CONDITION_TRUE\"},{\"type\":"
                "\"Responsive\",\"status\":\"STATUS_CONDITION_FALSE\",\"reason\":\"R\"}],\"results\":[{\"message\":"
                "\"m\"}]}"));
        out = render_ok();
        check_value("composite", out.composite,
                    "{\"apiVersion\":\"example.org/"
                    "v1\",\"kind\":\"App\",\"metadata\":{\"labels\":{\"l\":\"x\"},\"name\":\"web\"},"
                    "\"spec\":{\"n\":1},\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2024-01-01T00:00:00Z\","
                    "\"message\":"
                    "\"Unready resources: b\",\"reason\":\"Creating\",\"status\":\"False\",\"type\":\"Ready\"},{"
                    "\"lastTransitionTime\":\"2024-01-01T00:00:00Z\",\"reason\":\"R\",\"status\":\"False\",\"type\":"
                    "\"Responsive\"}]}}");
        check_value(
                "composed", value_item(out.composed, 0),
                "{\"metadata\":{\"annotations\":{\"crossplane.io/"
                "composition-resource-name\":\"a\"},\"generateName\":\"web-\","
                "\"labels\":{\"crossplane.io/composite\":\"web\"},\"ownerReferences\":[{\"apiVersion\":\"example.org/"
                "v1\","
                "\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"App\",\"name\":\"web\",\"uid\":\"\"}]}}");
        ASSERT_INT(value_count(out.composed), 2);
        ASSERT_INT(out.n_results, 1);
        ASSERT_INT(out.results[0].severity, FN_SEVERITY_UNSPECIFIED);
        ASSERT_STR(out.results[0].step, STR("one"));
        ASSERT(value_is_null(out.context));
        tear_down();
}

TEST(what_is_observed_keeps_its_name_and_the_last_of_one_key_counts)
{
        struct compat_output out;

        set_up(SAYS("{\"desired\":{\"composite\":{\"ready\":\"READY_TRUE\"},\"resources\":{\"a\":{}}}}"));
        in.observed =
                parse("[{\"metadata\":{\"name\":\"first\",\"annotations\":{\"crossplane.io/composition-resource-name\":"
                      "\"a\"}}},{\"metadata\":{\"name\":\"last\",\"namespace\":\"n\",\"annotations\":{"
                      "\"crossplane.io/composition-resource-name\":\"a\"}}},{\"metadata\":{\"name\":\"nobody\"}}]");
        out = render_ok();
        ASSERT_STR(meta_name(value_item(out.composed, 0)), STR("last"));
        ASSERT_STR(meta_namespace(value_item(out.composed, 0)), STR("n"));
        ASSERT_STR(value_str(
                           value_get(value_item(value_find(out.composite, "status", "conditions"), 0), STR("reason"))),
                   STR("Available"));
        tear_down();
}

TEST(the_context)
{
        struct compat_output out;

        set_up("");
        out = render_ok();
        check_value("of no steps", out.context, "{}");
        tear_down();
        set_up(STEP("one", "seer", ""));
        in.context = parse("{\"k\":1}");
        out = render_ok();
        check_value("passed on", out.context, "{\"k\":1}");
        tear_down();
}
