/* The first design as functions over values: places, definitions, Compositions, the connection contract. What controllers make of them
 * is in test-plane and in tests/e2e/first-design. */
#include "values.h"

#include "claim.h"
#include "first-design.h"
#include "xrd.h"
#include "yaml.h"

static const struct value *yaml(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (yaml_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

/* --- Places --- */

TEST(each_design_has_its_places)
{
        static const struct {
                const struct places *places;
                const char *field;
                const char *path;
        } cases[] = {
                { &places_modern, "resourceRefs", "spec.crossplane.resourceRefs" },
                { &places_legacy, "resourceRefs", "spec.resourceRefs" },
                { &places_legacy, "claimRef", "spec.claimRef" },
                { &places_application, "resourceRefs", "spec.application.composedRefs" },
                { &places_infrastructure, "resourceRefs", "spec.infrastructure.composedRefs" },
                { &places_infrastructure, "claimRef", "spec.infrastructure.requirementRef" },
                { &places_infrastructure, "reclaimPolicy", "spec.infrastructure.reclaimPolicy" },
                { &places_claim, "resourceRef", "spec.resourceRef" },
                { &places_requirement, "resourceRef", "spec.infrastructure.resourceRef" },
                { &places_requirement, "writeConnectionSecretToRef", "spec.infrastructure.writeConnectionSecretToRef" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str field = str_from(cases[i].field);
                const struct value *object, *v = parse("{\"name\":\"a\"}");

                ASSERT_STR_CASE(cases[i].path, places_path(&arena, cases[i].places, field), str_from(cases[i].path));
                object = places_with(&arena, cases[i].places, parse("{\"spec\":{\"mine\":1}}"), field, v);
                ASSERT_CASE(cases[i].path, value_equal(value_find_dotted(object, str_from(cases[i].path)), v));
                ASSERT_CASE(cases[i].path, value_equal(places_get(cases[i].places, object, field), v));
                ASSERT_CASE(cases[i].path, value_find(object, "spec", "mine") != NULL);
                object = places_with(&arena, cases[i].places, object, field, NULL);
                ASSERT_CASE(cases[i].path, !places_get(cases[i].places, object, field));
        }
        end();
}

TEST(a_field_that_a_design_lacks_is_nowhere)
{
        const struct value *object;

        begin();
        object = parse("{\"spec\":{}}");
        ASSERT(places_with(&arena, &places_modern, object, STR("claimRef"), &value_true) == object);
        ASSERT(!places_get(&places_application, parse("{\"spec\":{\"application\":{\"\":1}}}"), STR("claimRef")));
        ASSERT(places_at(&places_infrastructure, STR("compositionRevisionRef")).n == 0);
        end();
}

TEST(the_design_of_an_object_is_found)
{
        begin();
        ASSERT(places_find(places_of_composites, parse("{\"spec\":{\"application\":{\"composedRefs\":[]}}}"),
                           STR("resourceRefs")) == &places_application);
        ASSERT(places_find(places_of_composites, parse("{\"spec\":{\"resourceRefs\":[]}}"), STR("resourceRefs")) ==
               &places_legacy);
        ASSERT(!places_find(places_of_composites, parse("{\"spec\":{}}"), STR("resourceRefs")));
        end();
}

TEST(references_may_be_lists_of_one)
{
        static const struct {
                const char *given, *wanted;
        } cases[] = {
                { "{spec: {application: {compositionRef: [{name: a}]}}}",
                  "{\"spec\":{\"application\":{\"compositionRef\":{\"name\":\"a\"}}}}" },
                { "{spec: {infrastructure: {resourceRef: [{name: a}], compositionRef: {name: b}}}}",
                  "{\"spec\":{\"infrastructure\":{\"resourceRef\":{\"name\":\"a\"},\"compositionRef\":{\"name\":"
                  "\"b\"}}}}" },
                { "{spec: {application: {compositionRef: [{name: a}, {name: b}]}}}",
                  "{\"spec\":{\"application\":{\"compositionRef\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}}" },
                { "{spec: {application: {compositionRef: [a]}}}",
                  "{\"spec\":{\"application\":{\"compositionRef\":[\"a\"]}}}" },
                { "{spec: {compositionRef: [{name: a}]}}", "{\"spec\":{\"compositionRef\":[{\"name\":\"a\"}]}}" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                check_value(cases[i].given, first_design_complete(&arena, yaml(cases[i].given)), cases[i].wanted);
        end();
}

/* --- Definitions --- */

#define DEFINITION(kind, spec)                                                                                      \
        "{apiVersion: apiextensions.crossplane.io/v1alpha1, kind: " kind                                            \
        ", metadata: {name: dbs.e.org, uid: u}, spec: {crdSpecTemplate: {group: e.org, version: v2, names: {kind: " \
        "DB, plural: dbs}" spec "}}"

static const struct value *xrd_of(const char *definition, bool is_published)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *xrd;

        if (first_design_xrd(&arena, yaml(definition), is_published ? &value_empty_object : NULL, &xrd, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return xrd;
}

TEST(a_definition_becomes_an_xrd)
{
        const struct value *xrd, *crd;

        begin();
        xrd = xrd_of(DEFINITION("ApplicationDefinition",
                                "}, defaultComposition: {name: a}, forceComposition: {name: b}"),
                     true);
        check_value("scope", value_find(xrd, "spec", "scope"), "\"Namespaced\"");
        check_value("label", value_find(xrd, "metadata", "labels"), "{\"weft.dev/from\":\"ApplicationDefinition\"}");
        check_value("default", value_find(xrd, "spec", "defaultCompositionRef"), "{\"name\":\"a\"}");
        check_value("forced", value_find(xrd, "spec", "enforcedCompositionRef"), "{\"name\":\"b\"}");
        ASSERT(!value_find(xrd, "spec", "claimNames")); /* applications cannot be published */
        ASSERT(xrd_places(xrd) == &places_application);
        check_value("owner", value_find(value_item(value_find(xrd, "metadata", "ownerReferences"), 0), "kind"),
                    "\"ApplicationDefinition\"");
        ASSERT(xrd_composite_crd(&arena, xrd, &crd, NULL) == 0);
        check_value("scope of the CRD", value_find(crd, "spec", "scope"), "\"Namespaced\"");
        ASSERT(value_find(value_item(value_find(crd, "spec", "versions"), 0), "schema", "openAPIV3Schema", "properties",
                          "spec", "properties", "application", "properties", "composedRefs"));
        end();
}

TEST(published_infrastructure_offers_requirements)
{
        const struct value *xrd, *crd, *spec;

        begin();
        xrd = xrd_of(DEFINITION("InfrastructureDefinition", "}, connectionDetails: [a, b]"), true);
        check_value("names", value_find(xrd, "spec", "claimNames"),
                    "{\"kind\":\"DBRequirement\",\"listKind\":\"DBRequirementList\",\"plural\":\"dbrequirements\","
                    "\"singular\":\"dbrequirement\"}");
        check_value("keys", value_find(xrd, "spec", "connectionSecretKeys"), "[\"a\",\"b\"]");
        ASSERT(xrd_places(xrd) == &places_infrastructure && xrd_claim_places(xrd) == &places_requirement);
        ASSERT(xrd_claim_crd(&arena, xrd, &crd, NULL) == 0);
        check_value("name", value_find(crd, "metadata", "name"), "\"dbrequirements.e.org\"");
        check_value("scope", value_find(crd, "spec", "scope"), "\"Namespaced\"");
        spec = value_find(value_item(value_find(crd, "spec", "versions"), 0), "schema", "openAPIV3Schema", "properties",
                          "spec", "properties", "infrastructure", "properties");
        ASSERT(value_get(spec, STR("resourceRef")) && value_get(spec, STR("writeConnectionSecretToRef")));
        ASSERT(!value_get(spec, STR("requirementRef")));
        ASSERT(!value_find(xrd_of(DEFINITION("InfrastructureDefinition", "}"), false), "spec", "claimNames"));
        end();
}

#define SCHEMA "spec.crdSpecTemplate.validation.openAPIV3Schema"

TEST(a_definition_is_checked_by_what_it_defines)
{
        static const struct {
                const char *schema;
                const char *field; /* of the first error; NULL: none */
                const char *warning;
        } cases[] = {
                { "{type: object, properties: {a: {type: string}}}", NULL, NULL },
                { "{type: object, properties: {a: {type: int}}}", NULL,
                  SCHEMA ".properties[a].type: \"int\" is read as \"integer\"" },
                { "{type: object, properties: {a: {type: object, additionalProperties: {type: int}}}}", NULL,
                  SCHEMA ".properties[a].additionalProperties.type: \"int\" is read as \"integer\"" },
                { "{type: object, properties: {type: {type: string}}}", NULL, NULL },
                { "{type: object, properties: {infrastructure: {type: string}}}", SCHEMA ".properties[infrastructure]",
                  NULL },
                { "{type: object, properties: {application: {type: string}}}", NULL, NULL },
                { "{type: object, properties: {spec: {type: object, properties: {infrastructure: {}}}}}",
                  SCHEMA ".properties[spec].properties[infrastructure]", NULL },
                { "{type: object, properties: {a: {type: text}}}", SCHEMA ".properties[a].type", NULL },
                { "{type: object, properties: {a: {}}}", SCHEMA ".properties[a].type", NULL },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct field_errors errors;
                struct str_list warnings;
                struct str text =
                        arena_printf(&arena,
                                     DEFINITION("InfrastructureDefinition", ", validation: {openAPIV3Schema: %s}}"),
                                     cases[i].schema);

                field_errors_init(&errors, &arena);
                str_list_init(&warnings, &arena);
                first_design_check(&arena, yaml(arena_cstring(&arena, text)), &errors, &warnings);
                ASSERT_STR_CASE(cases[i].schema, errors.n ? errors.p[0].field : STR(""),
                                cases[i].field ? str_from(cases[i].field) : STR(""));
                ASSERT_STR_CASE(cases[i].schema, warnings.n ? warnings.p[0] : STR(""),
                                cases[i].warning ? str_from(cases[i].warning) : STR(""));
        }
        end();
}

/* --- Compositions --- */

TEST(compositions_convert_both_ways)
{
        static const char first[] =
                "{apiVersion: apiextensions.crossplane.io/v1alpha1, kind: Composition, spec: {from: "
                "{apiVersion: a/v1, kind: A}, to: [{base: {kind: B}}], reclaimPolicy: Retain}}";
        static const char modern[] = "{\"apiVersion\":\"apiextensions.crossplane.io/"
                                     "v1\",\"kind\":\"Composition\",\"spec\":{\"compositeTypeRef\":{\"apiVersion\":"
                                     "\"a/v1\",\"kind\":\"A\"},\"resources\":[{\"base\":{\"kind\":\"B\"}}],"
                                     "\"reclaimPolicy\":\"Retain\"}}";
        const struct value *back;

        begin();
        check_value("to v1", first_design_composition(&arena, yaml(first)), modern);
        ASSERT(convert_object(&arena, first_design_conversions, ARRAY_SIZE(first_design_conversions), parse(modern),
                              STR("apiextensions.crossplane.io/v1alpha1"), &back, NULL) == 0);
        ASSERT(value_equal(back, yaml(first)));
        back = parse(modern);
        ASSERT(first_design_composition(&arena, back) == back);
        end();
}

TEST(the_contract_names_keys_and_places)
{
        static const struct {
                const char *resources;
                const char *problem;
        } cases[] = {
                { "[{connectionDetails: [{fromConnectionSecretKey: a}, {name: b, fromConnectionSecretKey: c}]}]", "" },
                { "[{connectionDetails: [{name: a}]}, {connectionDetails: [{name: b}]}]", "" },
                { "[{connectionDetails: [{name: a}]}, {}]",
                  "connection detail \"b\" is missing: expose it in one of to[].connectionDetails" },
                { "[{connectionDetails: [{name: a}, {name: b}]}, {connectionDetails: [{name: a}]}]",
                  "connection detail \"a\" is exposed 2 times, at to[0].connectionDetails[0] and "
                  "to[1].connectionDetails[0]: expose it once" },
                { "[{connectionDetails: [{name: a}, {name: b}, {name: c}]}]",
                  "connection detail \"c\" at to[0].connectionDetails[2] is not one of the definition: remove it, or "
                  "add it to the definition's connectionDetails" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *composition =
                        value_with(&arena, parse("{\"spec\":{}}"), STR("spec"),
                                   value_with(&arena, &value_empty_object, STR("resources"), yaml(cases[i].resources)));

                ASSERT_STR_CASE(cases[i].resources, first_design_contract(&arena, parse("[\"a\",\"b\"]"), composition),
                                str_from(cases[i].problem));
        }
        ASSERT(first_design_contract(&arena, parse("[\"a\"]"), yaml("{spec: {mode: Pipeline, pipeline: []}}")).n == 0);
        end();
}

/* --- Requirements --- */

TEST(a_requirement_makes_its_composite)
{
        _cleanup_err_ struct err err = { 0 };
        struct claim_bound bound;
        struct claim_request request = { .name = STR("r-1") };

        begin();
        request.xrd = xrd_of(DEFINITION("InfrastructureDefinition", "}"), true);
        request.claim =
                yaml("{apiVersion: e.org/v2, kind: DBRequirement, metadata: {name: r, namespace: ns}, spec: {size: "
                     "1, infrastructure: {compositionSelector: {matchLabels: {a: b}}, "
                     "writeConnectionSecretToRef: {name: s}, reclaimPolicy: Retain}}}");
        ASSERT(claim_bind(&arena, &request, &bound, &err) == 0);
        check_value("spec", value_get(bound.composite, STR("spec")),
                    "{\"size\":1,\"infrastructure\":{\"compositionSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
                    "\"requirementRef\":{\"apiVersion\":\"e.org/"
                    "v2\",\"kind\":\"DBRequirement\",\"name\":\"r\",\"namespace\":\"ns\"}}}");
        check_value("reference", value_find(bound.claim, "spec", "infrastructure", "resourceRef"),
                    "{\"apiVersion\":\"e.org/v2\",\"kind\":\"DB\",\"name\":\"r-1\"}");

        request.composite = bound.composite;
        request.claim = meta_with_str(&arena, bound.claim, STR("name"), STR("other"));
        ASSERT(claim_bind(&arena, &request, &bound, &err) == ERR_CONFLICT);
        ASSERT_TEXT(err_message(&err), "refusing to operate on composite resource \"r-1\" that is not bound to this "
                                       "requirement: bound to requirement \"r\"");
        err_done(&err);
        request.composite = claim_release(&arena, request.xrd, request.composite);
        ASSERT(!value_find(request.composite, "spec", "infrastructure", "requirementRef"));
        check_value("kept", value_find(request.composite, "spec", "size"), "1");
        ASSERT(claim_bind(&arena, &request, &bound, &err) == 0);
        end();
}
