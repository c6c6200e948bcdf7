/* Expectations are those of docs/spec/engine 2.6, 2.7, 2.10 and the worked example 2.13. */
#include "values.h"

#include "composed.h"
#include "composite.h"

static const char app[] = "{\"apiVersion\":\"example.org/"
                          "v1\",\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":"
                          "\"11111111-2222-3333-4444-555555555555\",\"labels\":{\"crossplane.io/composite\":\"web\"}}}";

TEST(the_worked_example)
{
        struct composed_scope scope = { .is_namespaced = true };
        const struct value *object;

        begin();
        scope.composite = parse(app);
        ASSERT(composed_prepare(
                       &arena, &scope, STR("bucket"),
                       parse("{\"apiVersion\":\"s3.example.org/v1\",\"kind\":\"Bucket\",\"spec\":{\"size\":3}}"), NULL,
                       &object, NULL) >= 0);
        check_value("bucket", object,
                    "{\"apiVersion\":\"s3.example.org/"
                    "v1\",\"kind\":\"Bucket\",\"spec\":{\"size\":3},\"metadata\":{\"name\":"
                    "\"web-4f641a185937\",\"namespace\":\"default\",\"generateName\":\"web-\",\"annotations\":{"
                    "\"crossplane.io/composition-resource-name\":\"bucket\"},\"labels\":{\"crossplane.io/"
                    "composite\":\"web\"},"
                    "\"ownerReferences\":[{\"apiVersion\":\"example.org/v1\",\"kind\":\"App\",\"name\":\"web\",\"uid\":"
                    "\"11111111-2222-3333-4444-555555555555\",\"controller\":true,\"blockOwnerDeletion\":true}]}}");
        ASSERT_STR(composite_composed_manager(&arena, scope.composite),
                   STR("apiextensions.crossplane.io/composed/"
                       "099fe2c3cb7e3a84dcc751151324f31945b06b5c7bf57d1e515c058cde66719f"));
        ASSERT_STR(composed_key(object), STR("bucket"));
        check_value("labels", value_get(meta(composed_without_labels(&arena, object)), STR("labels")), "{}");
        end();
}

TEST(what_exists_keeps_its_name)
{
        struct composed_scope scope = { 0 };
        const struct value *object;

        begin();
        scope.composite = parse(app);
        ASSERT(composed_prepare(&arena, &scope, STR("k"),
                                parse("{\"kind\":\"B\",\"metadata\":{\"name\":\"other\",\"namespace\":\"ns\"}}"),
                                parse("{\"kind\":\"B\",\"metadata\":{\"name\":\"there\",\"generateName\":\"th-\"}}"),
                                &object, NULL) >= 0);
        ASSERT_STR(meta_name(object), STR("there"));
        ASSERT_STR(meta_namespace(object), STR(""));
        ASSERT_STR(meta_str(object, STR("generateName")), STR("th-"));
        end();
}

TEST(errors_name_the_resource)
{
        static const struct {
                const char *composite;
                const char *wanted;
                const char *error;
        } cases[] = {
                { "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\"}}", "{}",
                  "cannot render metadata for composed resource \"k\": cannot find top-level composite resource name "
                  "label "
                  "\"crossplane.io/composite\" in composite resource metadata" },
                { app, "{\"kind\":\"B\",\"metadata\":{\"name\":\"ABC\"}}",
                  "cannot apply composed resource \"k\" because it has an invalid name \"ABC\". Must be a valid RFC "
                  "1123 "
                  "subdomain name." },
                { app,
                  "{\"kind\":\"B\",\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"C\",\"name\":"
                  "\"c\",\"uid\":\"z\","
                  "\"controller\":true}]}}",
                  "cannot render metadata for composed resource \"k\": cannot set controller reference:  is already "
                  "controlled by "
                  "C c (UID z)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct composed_scope scope = { 0 };
                const struct value *object;

                begin();
                scope.composite = parse(cases[i].composite);
                ASSERT(composed_prepare(&arena, &scope, STR("k"), parse(cases[i].wanted), NULL, &object, &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
                end();
        }
}

TEST(names_of_rbac_kinds_may_have_colons)
{
        struct composed_scope scope = { 0 };
        const struct value *object;

        begin();
        scope.composite = parse(app);
        ASSERT(composed_prepare(&arena, &scope, STR("k"),
                                parse("{\"apiVersion\":\"rbac.authorization.k8s.io/"
                                      "v1\",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":"
                                      "\"a:b\"}}"),
                                NULL, &object, NULL) >= 0);
        ASSERT(composed_prepare(&arena, &scope, STR("k"),
                                parse("{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"a:b\"}}"), NULL, &object,
                                NULL) < 0);
        end();
}

TEST(machinery_is_where_the_composite_has_it)
{
        struct composite modern = { NULL, &places_modern }, legacy = { NULL, &places_legacy };
        const struct resource_reference *refs;

        begin();
        modern.object = parse(app);
        legacy.object = modern.object;
        modern = composite_with_ref(&arena, &modern, STR("compositionRef"), STR("c"));
        legacy = composite_with_ref(&arena, &legacy, STR("compositionRef"), STR("c"));
        check_value("modern", value_get(modern.object, STR("spec")),
                    "{\"crossplane\":{\"compositionRef\":{\"name\":\"c\"}}}");
        check_value("legacy", value_get(legacy.object, STR("spec")), "{\"compositionRef\":{\"name\":\"c\"}}");
        ASSERT_STR(composite_ref(&modern, STR("compositionRef")), STR("c"));
        ASSERT_STR(composite_update_policy(&modern), STR(""));
        ASSERT(!composite_selector(&modern, STR("compositionSelector")));
        modern = composite_with(&arena, &modern, STR("resourceRefs"),
                                parse("[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"namespace\":\"m\"}]"));
        ASSERT_INT(composite_resource_refs(&arena, &modern, &refs), 1);
        ASSERT_STR(refs[0].ns, STR("m"));
        end();
}

TEST(references_are_sorted_as_one_text)
{
        struct resource_reference refs[] = {
                { .api_version = STR("v1"), .kind = STR("Secret"), .name = STR("b"), .ns = STR("n") },
                { .api_version = STR("e.org/v1"), .kind = STR("Thing"), .name = STR("z") },
                { .api_version = STR("v1"), .kind = STR("Secret"), .name = STR("a"), .ns = STR("n"), .uid = STR("u") },
        };
        struct value list;

        begin();
        list = composite_refs_value(&arena, refs, ARRAY_SIZE(refs), false);
        check_value("refs", &list,
                    "[{\"apiVersion\":\"e.org/"
                    "v1\",\"kind\":\"Thing\",\"name\":\"z\"},{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":"
                    "\"a\",\"namespace\":\"n\",\"uid\":\"u\"},{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":"
                    "\"b\",\"namespace\":\"n\"}]");
        list = composite_refs_value(&arena, refs, 1, true);
        check_value("namespaced", &list, "[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"b\"}]");
        end();
}

TEST(lists_of_names_are_short)
{
        static const char *const wanted[] = {
                "", "a", "a, b", "a, b, and c", "a, b, c, and 1 more", "a, b, c, and 2 more"
        };

        begin();
        for (size_t n = 0; n < ARRAY_SIZE(wanted); n++) {
                struct str names[] = { STR("c"), STR("a"), STR("b"), STR("d"), STR("e") };

                /* The first n letters, in disorder. */
                for (size_t i = 0; i < n; i++)
                        names[i] = arena_printf(&arena, "%c", (int)('a' + (n - 1 - i)));
                ASSERT_STR(composite_name_list(&arena, names, n), str_from(wanted[n]));
        }
        end();
}

TEST(only_true_pauses)
{
        begin();
        ASSERT(composite_is_paused(parse("{\"metadata\":{\"annotations\":{\"crossplane.io/paused\":\"true\"}}}")));
        ASSERT(!composite_is_paused(parse("{\"metadata\":{\"annotations\":{\"crossplane.io/paused\":\"True\"}}}")));
        ASSERT(condition_is_system(STR("Synced")));
        ASSERT(!condition_is_system(STR("Database")));
        end();
}
