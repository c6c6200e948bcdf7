/* Claims and their composites, as Crossplane makes them: the tables of docs/spec/engine 6.2, and the conditions of 6.1. */
#include "values.h"

#include "claim.h"
#include "clock.h"

static struct sim_clock test_clock;

static const struct value *xrd_with(const char *more)
{
        return parse(
                arena_printf(&arena,
                             "{\"apiVersion\":\"apiextensions.crossplane.io/v1\",\"kind\":"
                             "\"CompositeResourceDefinition\",\"metadata\":{\"name\":\"xdbs.e.org\"},\"spec\":{"
                             "\"group\":\"e.org\",\"names\":{\"kind\":\"XDb\",\"plural\":\"xdbs\"},\"claimNames\":"
                             "{\"kind\":\"Db\",\"plural\":\"dbs\"},%s\"versions\":[{\"name\":\"v1beta1\",\"served\":"
                             "true},{\"name\":\"v1\",\"served\":true,\"referenceable\":true}]}}",
                             more)
                        .p);
}

static const struct value *claim_with(const char *metadata, const char *spec)
{
        return parse(
                arena_printf(&arena,
                             "{\"apiVersion\":\"e.org/v1\",\"kind\":\"Db\",\"metadata\":{\"name\":\"d\",\"namespace\":"
                             "\"team\"%s},\"spec\":%s}",
                             metadata, spec)
                        .p);
}

static void set_up(void)
{
        begin();
        sim_clock_init(&test_clock, (struct instant) { .seconds = 1900000000 });
        clock_use(&test_clock);
}

static void tear_down(void)
{
        clock_use(NULL);
        end();
}

#define CLAIM_REF "\"claimRef\":{\"apiVersion\":\"e.org/v1\",\"kind\":\"Db\",\"name\":\"d\",\"namespace\":\"team\"}"
#define LABELS    "\"crossplane.io/claim-name\":\"d\",\"crossplane.io/claim-namespace\":\"team\""

/* --- The composite --- */

TEST(a_composite_is_what_its_claim_wants)
{
        static const struct {
                const char *what, *xrd, *metadata, *spec, *composite, *wanted_metadata, *wanted_spec;
        } cases[] = {
                { "new", "", "", "{\"size\":3}", NULL,
                  "{\"generateName\":\"d-\",\"name\":\"given\",\"labels\":{" LABELS "}}",
                  "{\"size\":3," CLAIM_REF "}" },
                { "it has a reference", "", "", "{\"resourceRef\":{\"name\":\"r\"}}", NULL,
                  "{\"name\":\"r\",\"labels\":{" LABELS "}}", "{" CLAIM_REF "}" },
                { "Kubernetes' own keys", "",
                  ",\"labels\":{\"a\":\"1\",\"x.k8s.io/a\":\"2\",\"kubernetes.io\":\"3\"},\"annotations\":{"
                  "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\",\"e.org/kubernetes.io\":\"4\"}",
                  "{\"resourceRef\":{\"name\":\"r\"}}", NULL,
                  "{\"name\":\"r\",\"annotations\":{\"e.org/kubernetes.io\":\"4\"},\"labels\":{\"a\":\"1\"," LABELS
                  "}}",
                  "{" CLAIM_REF "}" },
                { "an external name that is there wins", "",
                  ",\"annotations\":{\"crossplane.io/external-name\":\"mine\"}", "{\"resourceRef\":{\"name\":\"r\"}}",
                  "{\"metadata\":{\"name\":\"r\",\"annotations\":{\"crossplane.io/external-name\":\"real\"}}}",
                  "{\"name\":\"r\",\"annotations\":{\"crossplane.io/external-name\":\"real\"},\"labels\":{" LABELS "}}",
                  "{" CLAIM_REF "}" },
                { "fields of claims and of composites stay", "", "",
                  "{\"resourceRef\":{\"name\":\"r\"},\"compositeDeletePolicy\":\"Foreground\","
                  "\"writeConnectionSecretToRef\":{\"name\":\"s\"},\"resourceRefs\":[{\"name\":\"theirs\"}],"
                  "\"claimRef\":{\"name\":\"other\"},\"compositionRevisionRef\":{\"name\":\"c-1\"},"
                  "\"compositionRef\":{\"name\":\"c\"},\"compositionSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
                  "\"compositionUpdatePolicy\":\"Automatic\",\"compositionRevisionSelector\":{\"matchLabels\":{}}}",
                  NULL, "{\"name\":\"r\",\"labels\":{" LABELS "}}",
                  "{\"compositionRef\":{\"name\":\"c\"},\"compositionSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
                  "\"compositionUpdatePolicy\":\"Automatic\",\"compositionRevisionSelector\":{\"matchLabels\":{}}"
                  "," CLAIM_REF "}" },
                { "a revision is the claim's where updates are manual", "", "",
                  "{\"resourceRef\":{\"name\":\"r\"},\"compositionRevisionRef\":{\"name\":\"c-1\"}}",
                  "{\"spec\":{\"compositionUpdatePolicy\":\"Manual\"}}", "{\"name\":\"r\",\"labels\":{" LABELS "}}",
                  "{\"compositionRevisionRef\":{\"name\":\"c-1\"}," CLAIM_REF "}" },
                { "an enforced Composition is not the claim's", "\"enforcedCompositionRef\":{\"name\":\"e\"},", "",
                  "{\"resourceRef\":{\"name\":\"r\"},\"compositionRef\":{\"name\":\"c\"}}", NULL,
                  "{\"name\":\"r\",\"labels\":{" LABELS "}}", "{" CLAIM_REF "}" },
        };

        set_up();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct claim_request in = {
                        .xrd = xrd_with(cases[i].xrd),
                        .claim = claim_with(cases[i].metadata, cases[i].spec),
                        .composite = cases[i].composite ? parse(cases[i].composite) : NULL,
                        .name = STR("given"),
                };
                struct claim_bound bound;

                ASSERT_CASE(cases[i].what, claim_bind(&arena, &in, &bound, NULL) >= 0);
                ASSERT_STR(value_str(value_get(bound.composite, STR("apiVersion"))), STR("e.org/v1"));
                ASSERT_STR(value_str(value_get(bound.composite, STR("kind"))), STR("XDb"));
                check_value(cases[i].what, meta(bound.composite), cases[i].wanted_metadata);
                check_value(cases[i].what, value_get(bound.composite, STR("spec")), cases[i].wanted_spec);
                ASSERT_INT(value_count(bound.composite), 4);
        }
        tear_down();
}

TEST(names_are_made_from_the_claims)
{
        struct claim_request in;
        struct claim_bound bound;
        struct str stable;

        set_up();
        in = (struct claim_request) { .xrd = xrd_with(""), .claim = claim_with("", "{}") };
        ASSERT(claim_bind(&arena, &in, &bound, NULL) >= 0);
        ASSERT(str_starts_with(meta_name(bound.composite), STR("d-")));
        ASSERT_INT(meta_name(bound.composite).n, 7);
        stable = claim_stable_name(&arena, in.claim);
        ASSERT(str_starts_with(stable, STR("d-")));
        ASSERT_STR(stable, claim_stable_name(&arena, in.claim));
        ASSERT(!str_equal(stable,
                          claim_stable_name(&arena, meta_with_str(&arena, in.claim, STR("namespace"), STR("b")))));
        tear_down();
}

/* A claim may be written in any version; Crossplane reads it in the referenceable one. */
TEST(references_are_in_the_referenceable_version)
{
        struct value old = value_of_literal("e.org/v1beta1");
        struct claim_request in;
        struct claim_bound bound;

        set_up();
        in = (struct claim_request) {
                .xrd = xrd_with(""),
                .claim = value_with(&arena, claim_with("", "{}"), STR("apiVersion"), &old),
                .name = STR("n"),
        };
        ASSERT(claim_is_offered(in.xrd, in.claim));
        ASSERT(claim_bind(&arena, &in, &bound, NULL) >= 0);
        check_value("spec", value_get(bound.composite, STR("spec")), "{" CLAIM_REF "}");
        tear_down();
}

TEST(what_is_wrong_is_said)
{
        static const struct {
                const char *xrd, *claim, *composite, *error;
        } cases[] = {
                { "{\"metadata\":{\"name\":\"x\"},\"spec\":{}}", NULL, NULL,
                  "CompositeResourceDefinition \"x\" offers no claims" },
                { NULL, "{\"apiVersion\":\"e.org/v1\",\"kind\":\"XDb\"}", NULL,
                  "CompositeResourceDefinition \"xdbs.e.org\" offers claims of kind Db.e.org, not XDb.e.org" },
                { NULL, NULL,
                  "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"claimRef\":{\"apiVersion\":\"e.org/v1\",\"kind\":\"Db\","
                  "\"name\":\"other\",\"namespace\":\"team\"}}}",
                  "refusing to operate on composite resource \"r\" that is not bound to this claim: bound to claim "
                  "\"other\"" },
                { NULL, "{\"apiVersion\":\"e.org/v1\",\"kind\":\"Db\",\"metadata\":{\"name\":\"d\"}}", NULL,
                  "cannot bind and sync claim with composite resource: claim spec was not an object" },
        };

        set_up();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct claim_request in = {
                        .xrd = cases[i].xrd ? parse(cases[i].xrd) : xrd_with(""),
                        .claim = cases[i].claim ? parse(cases[i].claim) : claim_with("", "{}"),
                        .composite = cases[i].composite ? parse(cases[i].composite) : NULL,
                };
                _cleanup_err_ struct err err = { 0 };
                struct claim_bound bound;

                ASSERT_CASE(cases[i].error, claim_bind(&arena, &in, &bound, &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
        }
        tear_down();
}

/* --- The claim --- */

#define RESOURCE_REF "\"resourceRef\":{\"apiVersion\":\"e.org/v1\",\"kind\":\"XDb\",\"name\":\"n\"}"

TEST(a_claim_refers_to_its_composite_and_follows_it)
{
        static const struct {
                const char *what, *xrd, *spec, *composite, *wanted;
        } cases[] = {
                { "new", "", "{\"size\":3}", NULL, "{\"size\":3," RESOURCE_REF "}" },
                { "the Composition that was chosen", "", "{}", "{\"spec\":{\"compositionRef\":{\"name\":\"c\"}}}",
                  "{" RESOURCE_REF ",\"compositionRef\":{\"name\":\"c\"}}" },
                { "its own Composition", "", "{\"compositionRef\":{\"name\":\"own\"}}",
                  "{\"spec\":{\"compositionRef\":{\"name\":\"c\"}}}",
                  "{\"compositionRef\":{\"name\":\"own\"}," RESOURCE_REF "}" },
                { "an enforced Composition", "\"enforcedCompositionRef\":{\"name\":\"c\"},",
                  "{\"compositionRef\":{\"name\":\"own\"}}", "{\"spec\":{\"compositionRef\":{\"name\":\"c\"}}}",
                  "{\"compositionRef\":{\"name\":\"c\"}," RESOURCE_REF "}" },
                { "a selector of revisions", "", "{}",
                  "{\"spec\":{\"compositionRevisionSelector\":{\"matchLabels\":{\"a\":\"b\"}}}}",
                  "{" RESOURCE_REF ",\"compositionRevisionSelector\":{\"matchLabels\":{\"a\":\"b\"}}}" },
                { "a revision, automatic", "", "{\"compositionRevisionRef\":{\"name\":\"old\"}}",
                  "{\"spec\":{\"compositionUpdatePolicy\":\"Automatic\",\"compositionRevisionRef\":{\"name\":\"new\"}}"
                  "}",
                  "{\"compositionRevisionRef\":{\"name\":\"new\"}," RESOURCE_REF "}" },
                { "a revision, manual", "", "{\"compositionRevisionRef\":{\"name\":\"own\"}}",
                  "{\"spec\":{\"compositionUpdatePolicy\":\"Manual\",\"compositionRevisionRef\":{\"name\":\"new\"}}}",
                  "{\"compositionRevisionRef\":{\"name\":\"own\"}," RESOURCE_REF "}" },
        };

        set_up();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct claim_request in = {
                        .xrd = xrd_with(cases[i].xrd),
                        .claim = claim_with("", cases[i].spec),
                        .composite = cases[i].composite ? parse(cases[i].composite) : NULL,
                        .name = STR("n"),
                };
                struct claim_bound bound;

                ASSERT_CASE(cases[i].what, claim_bind(&arena, &in, &bound, NULL) >= 0);
                check_value(cases[i].what, value_get(bound.claim, STR("spec")), cases[i].wanted);
                check_value(cases[i].what, meta(bound.claim), "{\"name\":\"d\",\"namespace\":\"team\"}");
        }
        tear_down();
}

#define NOW "\"2030-03-17T17:46:40Z\""
#define SYNCED                                                                                                 \
        "{\"type\":\"Synced\",\"status\":\"True\",\"reason\":\"ReconcileSuccess\",\"lastTransitionTime\":" NOW \
        ",\"observedGeneration\":2}"
#define WAITING                                                                                               \
        "{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Waiting\",\"message\":\"Claim is waiting for " \
        "composite "                                                                                          \
        "resource to become Ready\",\"lastTransitionTime\":" NOW ",\"observedGeneration\":2}"

TEST(a_claim_reports_the_composites_status)
{
        static const struct {
                const char *what, *status, *composite, *wanted;
        } cases[] = {
                { "nothing yet", NULL, "{}", "{\"conditions\":[" SYNCED "," WAITING "]}" },
                { "ready", NULL,
                  "{\"status\":{\"url\":\"u\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                  "{\"url\":\"u\",\"conditions\":[" SYNCED
                  ",{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Available\",\"lastTransitionTime\":" NOW
                  ",\"observedGeneration\":2}]}" },
                { "what is not the claim's", "{\"gone\":1,\"connectionDetails\":{\"lastPublishedTime\":\"own\"}}",
                  "{\"status\":{\"connectionDetails\":{\"lastPublishedTime\":\"xr\"},\"claimConditionTypes\":[]}}",
                  "{\"connectionDetails\":{\"lastPublishedTime\":\"own\"},\"conditions\":[" SYNCED "," WAITING "]}" },
                { "conditions for the claim", NULL,
                  "{\"status\":{\"claimConditionTypes\":[\"Database\",\"Missing\"],\"conditions\":[{\"type\":"
                  "\"Database\","
                  "\"status\":\"True\",\"reason\":\"Up\",\"message\":\"m\",\"lastTransitionTime\":\"2020-01-01T00:00:"
                  "00Z\"},"
                  "{\"type\":\"Other\",\"status\":\"True\"}]}}",
                  "{\"conditions\":[" SYNCED ",{\"type\":\"Database\",\"status\":\"True\",\"reason\":\"Up\","
                  "\"message\":\"m\",\"lastTransitionTime\":"
                  "\"2020-01-01T00:00:00Z\",\"observedGeneration\":2},{\"type\":\"Missing\",\"status\":\"Unknown\","
                  "\"reason\":\"\",\"lastTransitionTime\":null,\"observedGeneration\":2}," WAITING "]}" },
        };

        set_up();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *claim = claim_with(",\"generation\":2", "{}"), *got;

                if (cases[i].status)
                        claim = value_with(&arena, claim, STR("status"), parse(cases[i].status));
                ASSERT_CASE(cases[i].what,
                            claim_report(&arena, NULL, claim, parse(cases[i].composite), &got, NULL) >= 0);
                check_value(cases[i].what, value_get(got, STR("status")), cases[i].wanted);
        }
        tear_down();
}

TEST(a_status_that_is_none_is_an_error)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *got;

        set_up();
        ASSERT(claim_report(&arena, NULL, claim_with("", "{}"), parse("{\"status\":1}"), &got, &err) < 0);
        ASSERT_TEXT(err_message(&err),
                    "cannot bind and sync claim with composite resource: composite resource status was not an object");
        tear_down();
}
