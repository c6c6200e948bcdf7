/* The whole of it is compared with Crossplane's own library by the interop suite `xrd`; here are its rules one by one. */
#include "values.h"

#include "xrd.h"

static const struct value *xrd_with(const char *spec)
{
        return value_with(&arena,
                          parse("{\"apiVersion\":\"apiextensions.crossplane.io/"
                                "v1\",\"kind\":\"CompositeResourceDefinition\",\"metadata\":"
                                "{\"name\":\"xs.e.org\",\"uid\":\"u\",\"labels\":{\"a\":\"xrd\"}}}"),
                          STR("spec"), parse(spec));
}

#define NAMES "\"group\":\"e.org\",\"names\":{\"kind\":\"X\",\"plural\":\"xs\"},"
#define VERSIONS                                                                                                  \
        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"referenceable\":true,\"schema\":{\"openAPIV3Schema\":{" \
        "\"type\":\"object\","                                                                                    \
        "\"required\":[\"gone\"],\"properties\":{\"spec\":{\"type\":\"object\",\"default\":{},\"properties\":{"   \
        "\"size\":{\"type\":"                                                                                     \
        "\"integer\"},\"crossplane\":{\"type\":\"string\"}}}}}}}]"

TEST(the_scope_decides)
{
        static const struct {
                const char *version;
                const char *spec;
                enum xrd_scope scope;
        } cases[] = {
                { "v1", "{}", XRD_LEGACY_CLUSTER },
                { "v2", "{}", XRD_NAMESPACED },
                { "v2", "{\"scope\":\"LegacyCluster\"}", XRD_LEGACY_CLUSTER },
                { "v1", "{\"scope\":\"Namespaced\"}", XRD_NAMESPACED },
                { "v1", "{\"scope\":\"Cluster\"}", XRD_CLUSTER },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct value version =
                        value_of_str(arena_printf(&arena, "apiextensions.crossplane.io/%s", cases[i].version));
                const struct value *xrd = value_with(&arena, xrd_with(cases[i].spec), STR("apiVersion"), &version);

                ASSERT_CASE(cases[i].spec, xrd_scope(xrd) == cases[i].scope);
        }
        end();
}

TEST(a_composite_has_its_machinery_where_its_scope_says)
{
        const struct value *crd, *spec;
        struct gvk gvk;

        begin();
        ASSERT(xrd_composite_crd(&arena, xrd_with("{" NAMES "\"scope\":\"Namespaced\"," VERSIONS "}"), &crd, NULL) >=
               0);
        check_value("scope", value_find(crd, "spec", "scope"), "\"Namespaced\"");
        check_value("categories", value_find(crd, "spec", "names", "categories"), "[\"composite\"]");
        spec = value_find(value_item(value_find(crd, "spec", "versions"), 0), "schema", "openAPIV3Schema", "properties",
                          "spec");
        ASSERT(!value_get(spec, STR("default")));
        ASSERT(value_find(spec, "properties", "size"));
        ASSERT(value_find(spec, "properties", "crossplane", "properties", "resourceRefs"));
        ASSERT(!value_find(spec, "properties", "crossplane", "properties", "resourceRefs", "items", "properties",
                           "namespace"));
        ASSERT(xrd_composite_crd(&arena, xrd_with("{" NAMES VERSIONS "}"), &crd, NULL) >= 0);
        spec = value_find(value_item(value_find(crd, "spec", "versions"), 0), "schema", "openAPIV3Schema", "properties",
                          "spec");
        ASSERT(value_find(spec, "properties", "claimRef"));
        gvk = xrd_composite_gvk(xrd_with("{" NAMES VERSIONS "}"));
        ASSERT_STR(gvk_text(&arena, gvk), STR("e.org/v1, Kind=X"));
        end();
}

TEST(what_cannot_be_made_is_said)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *crd;
        struct gvk gvk;

        begin();
        ASSERT(xrd_composite_crd(&arena, xrd_with("{" NAMES "\"versions\":[{\"name\":\"v1\"}]}"), &crd, &err) < 0);
        ASSERT_TEXT(err_message(&err), "cannot generate CRD for \"Composite Resource\" \"xs.e.org\": custom resource "
                                       "validation cannot be nil");
        ASSERT(xrd_claim_crd(&arena, xrd_with("{" NAMES VERSIONS "}"), &crd, &err) < 0);
        ASSERT_TEXT(err_message(&err), "invalid resource claim names: missing names");
        ASSERT(xrd_claim_crd(&arena, xrd_with("{" NAMES "\"claimNames\":{\"kind\":\"X\"}," VERSIONS "}"), &crd, &err) <
               0);
        ASSERT_TEXT(err_message(&err), "invalid resource claim names: \"X\" conflicts with composite resource name");
        ASSERT(!xrd_claim_gvk(xrd_with("{}"), &gvk));
        ASSERT(xrd_claim_gvk(xrd_with("{" NAMES "\"claimNames\":{\"kind\":\"C\",\"plural\":\"cs\"}," VERSIONS "}"),
                             &gvk));
        ASSERT_STR(gvk.kind, STR("C"));
        end();
}
