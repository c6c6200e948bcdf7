/* Whole objects are compared with a real API that has Crossplane's CRDs by the interop suite `own-kinds`; here are the rules one by
 * one, and what only we know. */
#include "values.h"

#include "manifest.h"
#include "own-kinds.h"
#include "own-kinds-data.h"
#include "store.h"
#include "yaml.h"

#define GROUP "apiextensions.crossplane.io/"

static const struct value *read_yaml(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (yaml_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

/* `GROUP/VERSION KIND` and a spec. */
static const struct value *object_of(const char *type, const char *spec)
{
        struct str kind = str_from(type), api_version;
        struct object_builder b;

        str_split(&kind, ' ', &api_version);
        object_builder_init(&b, &arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(api_version));
        object_builder_add(&b, STR("kind"), value_of_str(kind));
        object_builder_add(&b, STR("metadata"), *read_yaml("{name: a}"));
        object_builder_add(&b, STR("spec"), *read_yaml(spec));
        return value_put(&arena, object_builder_finish(&b));
}

/* The errors of the object, as `FIELD: TEXT` joined by `; `. */
static const char *judge_value(const struct value *object, const struct value *old)
{
        struct field_errors errors;
        struct str_list texts;
        int r;

        field_errors_init(&errors, &arena);
        r = own_kind_check(&arena, object, old, &errors);
        ASSERT(r == (errors.n ? ERR_INVALID : 0));
        str_list_init(&texts, &arena);
        for (size_t i = 0; i < errors.n; i++)
                str_list_printf(&texts, "%.*s: %.*s", STR_ARG(errors.p[i].field), STR_ARG(errors.p[i].text));
        return arena_cstring(&arena, str_list_join(&texts, STR("; ")));
}

static const char *judge(const char *type, const char *spec, const char *old)
{
        return judge_value(object_of(type, spec), old ? object_of(type, old) : NULL);
}

#define COMPOSITION   GROUP "v1 Composition"
#define REVISION      GROUP "v1 CompositionRevision"
#define XRD           GROUP "v1 CompositeResourceDefinition"
#define XRD2          GROUP "v2 CompositeResourceDefinition"
#define PROVIDER      "pkg.crossplane.io/v1 Provider"
#define CONFIGURATION "pkg.crossplane.io/v1 Configuration"
#define FUNCTION      "pkg.crossplane.io/v1 Function"
#define USAGE         "protection.crossplane.io/v1beta1 Usage"

#define REF        "compositeTypeRef: {apiVersion: e.org/v1, kind: X}"
#define STEP       "step: a, functionRef: {name: f}"
#define WITH(rest) "{" REF ", pipeline: [{" STEP ", " rest "}]}"
#define NAMES      "group: e.org, names: {kind: X, plural: xs}"
#define VERSIONS   "versions: [{name: v1, served: true, referenceable: true}]"
#define IMAGE_NAME "r.io/a/b:v1"
#define IMAGE      "package: " IMAGE_NAME

#define IMMUTABLE    "Invalid value: Value is immutable"
#define NEEDS_SECRET "Invalid value: the Secret source requires a secretRef"
#define NEEDS_STEPS  "spec: Invalid value: an array of pipeline steps is required in Pipeline mode"
#define BAD_IMAGE                                                                                                     \
        "spec.package: Invalid value: %s: must be a fully qualified image name, including the registry, repository, " \
        "and "                                                                                                        \
        "tag or digest. For example, 'registry.example.com/repo/package:tag' or "                                     \
        "'registry.example.com/repo/"                                                                                 \
        "package[:tag]@sha256:1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef'."

static const struct {
        const char *type;
        const char *spec;
        const char *old; /* NULL: a create */
        const char *errors;
} rules[] = {
        /* Compositions: the mode and what it needs */
        { COMPOSITION, "{" REF ", mode: Pipeline, pipeline: [{" STEP "}]}", NULL, "" },
        { COMPOSITION, "{" REF ", mode: Pipeline}", NULL, NEEDS_STEPS },
        { COMPOSITION, "{" REF "}", NULL, NEEDS_STEPS },
        { COMPOSITION, "{" REF ", pipeline: [{" STEP "}]}", NULL, "" },
        { COMPOSITION, "{" REF ", mode: Resources, resources: []}", NULL, "" },
        { COMPOSITION, "{" REF ", mode: Resources}", NULL,
          "spec: Invalid value: an array of resources or functions is required in Resources mode" },
        { COMPOSITION, "{" REF ", resources: []}", NULL, "" },
        { COMPOSITION, "{" REF ", functions: [{name: f, type: Container, container: {image: i}}]}", NULL, "" },
        { COMPOSITION, "{" REF ", pipeline: [{" STEP "}], resources: []}", NULL,
          "spec: Invalid value: mode is required beside both a pipeline and resources or functions" },
        { COMPOSITION, "{" REF ", mode: Pipeline, pipeline: [{" STEP "}], resources: []}", NULL, "" },
        /* The type it composes */
        { COMPOSITION, "{" REF ", pipeline: [{" STEP "}]}", "{" REF ", pipeline: [{" STEP "}, {step: b}]}", "" },
        { COMPOSITION, "{" REF ", pipeline: [{" STEP "}]}", "{compositeTypeRef: {apiVersion: e.org/v1, kind: Z}}",
          "spec.compositeTypeRef: " IMMUTABLE },
        { REVISION, "{" REF ", revision: 1}", "{" REF ", revision: 2}", "" },
        { REVISION, "{" REF ", revision: 1}", "{compositeTypeRef: {apiVersion: e.org/v1, kind: Z}, revision: 1}",
          "spec.compositeTypeRef: " IMMUTABLE },
        /* Credentials */
        { COMPOSITION, WITH("credentials: [{name: c, source: Secret, secretRef: {namespace: ns, name: s}}]"), NULL,
          "" },
        { COMPOSITION, WITH("credentials: [{name: c, source: Secret}]"), NULL,
          "spec.pipeline[0].credentials[0]: " NEEDS_SECRET },
        { COMPOSITION, WITH("credentials: [{name: c, source: None}]"), NULL,
          "spec.pipeline[0].credentials[0]: " NEEDS_SECRET },
        /* An unchanged mistake is forgiven, a moved one too */
        { COMPOSITION,
          "{" REF ", pipeline: [{step: b, functionRef: {name: f}}, {" STEP
          ", credentials: [{name: c, source: None}]}]}",
          WITH("credentials: [{name: c, source: None}]"), "" },
        /* Requirements */
        { COMPOSITION,
          WITH("requirements: {requiredResources: [{requirementName: r, apiVersion: v1, kind: K, name: o}]}"), NULL,
          "" },
        { COMPOSITION,
          WITH("requirements: {requiredResources: [{requirementName: r, apiVersion: v1, kind: K, matchLabels: {}}]}"),
          NULL, "" },
        { COMPOSITION,
          WITH("requirements: {requiredResources: [{requirementName: r, apiVersion: v1, kind: K, name: o, "
               "matchLabels: {}}]}"),
          NULL,
          "spec.pipeline[0].requirements.requiredResources[0]: Invalid value: name and matchLabels are mutually "
          "exclusive" },
        /* Fields of steps that only we know */
        { COMPOSITION, WITH("allowedExtraResources: [{apiVersion: v1, kind: K}]"), NULL, "" },
        { COMPOSITION, WITH("allowedExtraResources: [{apiVersion: v1, kind: K, name: a, matchName: b}]"), NULL,
          "spec.pipeline[0].allowedExtraResources[0]: Invalid value: name and matchName are the same and mutually "
          "exclusive" },
        { COMPOSITION, WITH("allowedExtraResources: [{apiVersion: v1, kind: K, matchLabels: {a: b}}]"), NULL, "" },
        { COMPOSITION, WITH("allowedExtraResources: [{apiVersion: v1, kind: K, matchName: b, matchLabels: {a: b}}]"),
          NULL,
          "spec.pipeline[0].allowedExtraResources[0]: Invalid value: name and matchLabels are mutually exclusive" },
        { COMPOSITION, WITH("maxIterations: 1"), NULL, "" },
        { COMPOSITION, WITH("maxIterations: -1"), NULL, "" },
        { COMPOSITION, WITH("maxIterations: 0"), NULL,
          "spec.pipeline[0].maxIterations: Invalid value: 0: must be at least 1, or -1 for no limit" },
        { COMPOSITION, WITH("maxIterations: -2"), NULL,
          "spec.pipeline[0].maxIterations: Invalid value: -2: must be at least 1, or -1 for no limit" },
        { COMPOSITION, WITH("inputRef: {apiVersion: v1, kind: K, name: o}"), NULL, "" },
        { COMPOSITION, WITH("inputRef: {apiVersion: v1, kind: K, name: o}, input: {apiVersion: v1, kind: K}"), NULL,
          "spec.pipeline[0]: Invalid value: input and inputRef are mutually exclusive" },
        { COMPOSITION, WITH("functionRevisionRef: {name: r}, functionRevisionSelector: {matchLabels: {a: b}}"), NULL,
          "" },
        { COMPOSITION, WITH("watchExtraResources: true"), NULL, "" },
        { COMPOSITION, "{" REF ", pipeline: [{name: a, functionRef: {name: f}}]}", NULL, "" },
        { COMPOSITION, "{" REF ", pipeline: [{name: b, " STEP "}]}", NULL,
          "spec.pipeline[0]: Invalid value: name is another way to write step: give one of them" },
        { COMPOSITION, "{" REF ", pipeline: [{name: a, " STEP "}]}", NULL, "" },
        { COMPOSITION, "{" REF ", functions: [{name: f, type: Container}]}", NULL,
          "spec.functions[0]: Invalid value: the Container type requires a container" },
        /* Definitions */
        { XRD, "{" NAMES ", " VERSIONS "}", NULL, "" },
        { XRD, "{" NAMES ", " VERSIONS "}", "{" NAMES ", scope: LegacyCluster, versions: []}", "" },
        { XRD, "{" NAMES ", " VERSIONS "}", "{group: x.org, names: {kind: X, plural: xs}, versions: []}",
          "spec.group: Invalid value: \"e.org\": Value is immutable" },
        { XRD, "{" NAMES ", " VERSIONS "}", "{group: e.org, names: {kind: Z, plural: xs}, versions: []}",
          "spec.names: " IMMUTABLE },
        { XRD2, "{" NAMES ", " VERSIONS "}", "{" NAMES ", scope: Cluster, versions: []}",
          "spec.scope: Invalid value: \"Namespaced\": Value is immutable" },
        { XRD, "{" NAMES ", " VERSIONS ", enforcedCompositionRef: {name: a}}", "{" NAMES ", " VERSIONS "}", "" },
        { XRD, "{" NAMES ", " VERSIONS ", enforcedCompositionRef: {name: a}}",
          "{" NAMES ", " VERSIONS ", enforcedCompositionRef: {name: b}}", "spec.enforcedCompositionRef: " IMMUTABLE },
        { XRD, "{" NAMES ", " VERSIONS ", claimNames: {kind: C, plural: cs}}",
          "{" NAMES ", " VERSIONS ", claimNames: {kind: C, plural: ds}}", "spec.claimNames: " IMMUTABLE },
        { XRD, "{group: e.org, names: {kind: X, plural: Xs, singular: X}, " VERSIONS "}", NULL,
          "spec.names: Invalid value: Plural name must be lowercase; spec.names: Invalid value: Singular name must be "
          "lowercase" },
        { XRD, "{group: e.org, names: {kind: X, plural: xs, singular: x}, " VERSIONS "}", NULL, "" },
        { XRD, "{" NAMES ", " VERSIONS ", scope: LegacyCluster, claimNames: {kind: C, plural: cs}}", NULL, "" },
        { XRD, "{" NAMES ", " VERSIONS ", scope: Namespaced, claimNames: {kind: C, plural: cs}}", NULL,
          "spec: Invalid value: Only LegacyCluster composite resources can offer claims" },
        { XRD, "{" NAMES ", " VERSIONS ", connectionSecretKeys: [a]}", NULL, "" },
        { XRD, "{" NAMES ", " VERSIONS ", scope: Cluster, connectionSecretKeys: [a]}", NULL,
          "spec: Invalid value: Only LegacyCluster composite resources support connection secrets" },
        { XRD2, "{" NAMES ", " VERSIONS "}", NULL, "" },
        { XRD2, "{" NAMES ", " VERSIONS ", claimNames: {kind: C, plural: cs}}", NULL,
          "spec: Invalid value: Claims aren't supported in apiextensions.crossplane.io/v2" },
        { XRD2, "{" NAMES ", " VERSIONS ", connectionSecretKeys: []}", NULL,
          "spec: Invalid value: XR connection secrets aren't supported in apiextensions.crossplane.io/v2" },
        { XRD, "{" NAMES ", " VERSIONS ", conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}}",
          NULL, "" },
        { XRD, "{" NAMES ", " VERSIONS ", conversion: {strategy: None}}", NULL,
          "spec.conversion: Invalid value: Webhook configuration is required when conversion strategy is Webhook" },
        { XRD2, "{" NAMES ", " VERSIONS ", conversion: {strategy: None}}", NULL, "" },
        /* Functions */
        { FUNCTION, "{" IMAGE "}", NULL, "" },
#define TWO ", activeRevisionLimit: 2, revisionHistoryLimit: 2"
        { FUNCTION, "{" IMAGE TWO ", rollout: {from: f-1, to: " IMAGE_NAME ", percent: 100}}", NULL, "" },
        { FUNCTION, "{" IMAGE TWO ", rollout: {from: f-1, to: xpkg.example.org/f:v2}}", NULL,
          "spec: Invalid value: rollout.to must be the same as package" },
        { FUNCTION, "{" IMAGE ", rollout: {from: f-1, to: " IMAGE_NAME "}}", NULL,
          "spec: Invalid value: a rollout needs an activeRevisionLimit of at least 2, because two revisions serve" },
        { FUNCTION, "{" IMAGE TWO ", rollout: {from: f-1, to: " IMAGE_NAME ", percent: 101}}", NULL,
          "spec.rollout.percent: Invalid value: 101: spec.rollout.percent in body should be less than or equal to "
          "100" },
        { FUNCTION, "{" IMAGE TWO ", rollout: {from: f-1, to: " IMAGE_NAME ", maxLatencyPercent: 99}}", NULL,
          "spec.rollout.maxLatencyPercent: Invalid value: 99: spec.rollout.maxLatencyPercent in body should be greater "
          "than or equal to 100" },
        { FUNCTION, "{" IMAGE TWO ", rollout: {to: " IMAGE_NAME "}}", NULL, "spec.rollout.from: Required value" },
#undef TWO
        { FUNCTION, "{" IMAGE ", activeRevisionLimit: 2, revisionHistoryLimit: 2}", NULL, "" },
        { FUNCTION, "{" IMAGE ", activeRevisionLimit: 2, revisionHistoryLimit: 0}", NULL, "" },
        { FUNCTION, "{" IMAGE ", activeRevisionLimit: 2}", NULL,
          "spec: Invalid value: activeRevisionLimit must not exceed revisionHistoryLimit" },
        { FUNCTION, "{" IMAGE ", activeRevisionLimit: 0}", NULL,
          "spec.activeRevisionLimit: Invalid value: 0: spec.activeRevisionLimit in body should be greater than or "
          "equal to 1" },
        { PROVIDER, "{" IMAGE ", activeRevisionLimit: 1}", NULL, "" },
        { PROVIDER, "{" IMAGE ", activeRevisionLimit: 2}", NULL,
          "spec.activeRevisionLimit: Invalid value: 2: spec.activeRevisionLimit in body should be less than or equal "
          "to "
          "1" },
        { CONFIGURATION, "{" IMAGE ", activeRevisionLimit: 2}", NULL,
          "spec.activeRevisionLimit: Invalid value: 2: spec.activeRevisionLimit in body should be less than or equal "
          "to "
          "1" },
        /* Usages */
        { USAGE, "{of: {resourceRef: {name: a}}, reason: r}", NULL, "" },
        { USAGE, "{of: {resourceSelector: {}}, by: {resourceRef: {name: b}}}", NULL, "" },
        { USAGE, "{of: {resourceRef: {name: a}}}", NULL,
          "spec: Invalid value: either \"spec.by\" or \"spec.reason\" must be specified." },
        { USAGE, "{of: {}, reason: r}", NULL,
          "spec.of: Invalid value: either a resource reference or a resource selector should be set." },
        { USAGE, "{of: {resourceRef: {name: a, namespace: b}}, by: {resourceRef: {name: b}}}", NULL, "" },
        { USAGE, "{of: {resourceRef: {name: a, namespace: b}}, reason: r}", NULL,
          "spec: Invalid value: cross-namespace \"spec.of\" is not allowed without \"spec.by\" resource." },
        { USAGE, "{of: {resourceSelector: {namespace: b}}, reason: r}", NULL,
          "spec: Invalid value: cross-namespace \"spec.of\" is not allowed without \"spec.by\" resource." },
};

TEST(every_rule_accepts_and_refuses)
{
        begin();
        for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
                ASSERT_STR_CASE(rules[i].spec, str_from(judge(rules[i].type, rules[i].spec, rules[i].old)),
                                str_from(rules[i].errors));
        end();
}

static size_t count_rules(const struct value *schema, bool *is_known)
{
        size_t n = 0;

        VALUE_FOREACH_ITEM (rule, value_get(schema, STR("x-kubernetes-validations"))) {
                bool found = false;

                for (size_t i = 0; i < n_own_kind_rules; i++)
                        found |= str_equal(own_kind_rules[i].text, value_str(value_get(rule, STR("rule"))));
                if (!found)
                        test_fail(__FILE__, __LINE__, "nobody enforces %s", text_of(rule, 0));
                *is_known &= found;
                n++;
        }
        VALUE_FOREACH_MEMBER (m, schema)
                n += count_rules(&m->value, is_known);
        VALUE_FOREACH_ITEM (item, schema)
                n += count_rules(item, is_known);
        return n;
}

TEST(no_rule_is_forgotten)
{
        const struct value *crd;
        bool is_known = true;
        size_t n = 0;

        begin();
        for (size_t i = 0; (crd = own_kind_crd(&arena, i)); i++)
                n += count_rules(crd, &is_known);
        ASSERT(is_known && n >= n_own_kind_rules);
        end();
}

TEST(images)
{
        static const struct {
                const char *image;
                bool is_good;
        } cases[] = {
                { "r.io/a:v1", true },
                { "a.b.c/d/e:f", true },
                { "r.io:5000/a:v1", true }, /* the port belongs to the host */
                { "r.io/a@sha256:1", true },
                { "r.io/a:v1@sha256:1", true },
                { "r.io/a:b/c", true }, /* a tag may be anything */
                { "r.io/a@sha256:a:b", true },
                { "localhost/a:v1", false },
                { "r.io/a", false },
                { "r.io/a:", false },
                { "r.io/:v1", false },
                { "r.io//a:v1", false },
                { "r.io/a/:v1", false },
                { ".io/a:v1", false },
                { "r./a:v1", false },
                { "r..io/a:v1", false },
                { "/a:v1", false },
                { "r.io", false },
                { "r.io/a:v1:v2", false },
                { "r.io/a:v1@sha512:1", false },
                { "r.io/a@sha256", false },
                { "r.io/a:@sha256:1", false },
                { "r.io/a@sha256:1\n", false },
                { "", false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct value image = value_of_str(str_from(cases[i].image));
                const struct value *object = object_of(FUNCTION, "{}");

                object = value_with(&arena, object, STR("spec"),
                                    value_with(&arena, &value_empty_object, STR("package"), &image));
                ASSERT_STR_CASE(cases[i].image, str_from(judge_value(object, NULL)),
                                cases[i].is_good ? STR("") : arena_printf(&arena, BAD_IMAGE, text_of(&image, 0)));
        }
        end();
}

TEST(schemas_are_enforced_too)
{
        static const struct {
                const char *type;
                const char *spec;
                const char *errors;
        } cases[] = {
                { COMPOSITION, WITH("functionRefs: {name: f}"), "spec.pipeline[0].functionRefs: unknown field" },
                { COMPOSITION, "{" REF ", pipelines: []}", "spec.pipelines: unknown field; " NEEDS_STEPS },
                /* rules wait until the schema is content */
                { COMPOSITION,
                  "{" REF ", pipeline: [{step: a, functionRef: {}, credentials: [{name: c, source: None}]}]}",
                  "spec.pipeline[0].functionRef.name: Required value" },
                { COMPOSITION, "{" REF ", pipeline: []}",
                  "spec.pipeline: Invalid value: 0: spec.pipeline in body should have at least 1 items" },
                { COMPOSITION, "{" REF ", pipeline: [{" STEP "}, {" STEP "}]}",
                  "spec.pipeline[1]: Duplicate value: {\"step\":\"a\"}" },
                { COMPOSITION, "{" REF ", mode: Magic}",
                  "spec.mode: Unsupported value: \"Magic\": supported values: \"Pipeline\", \"Resources\"" },
                { COMPOSITION, WITH("input: {a: b}"),
                  "spec.pipeline[0].input.kind: Required value; spec.pipeline[0].input.apiVersion: Required value" },
                { XRD2, "{" NAMES ", " VERSIONS ", scope: LegacyCluster}",
                  "spec.scope: Unsupported value: \"LegacyCluster\": supported values: \"Namespaced\", \"Cluster\"" },
                { GROUP "v1 Widget", "{a: b}", "" },
                { GROUP "v3 Composition", "{a: b}", "" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].spec, str_from(judge(cases[i].type, cases[i].spec, NULL)),
                                str_from(cases[i].errors));
        ASSERT_STR(str_from(judge_value(read_yaml("{apiVersion: " GROUP "v1beta1, kind: EnvironmentConfig, "
                                                  "metadata: {nam: a}, data: {x: {y: [1]}}, dat: 1}"),
                                        NULL)),
                   STR("metadata.nam: unknown field; dat: unknown field"));
        ASSERT_STR(str_from(judge_value(read_yaml("{apiVersion: " GROUP "v1beta1, kind: EnvironmentConfig, "
                                                  "metadata: {name: 1}}"),
                                        NULL)),
                   STR("metadata: json: cannot unmarshal number into Go struct field ObjectMeta.name of type "
                       "string"));
        end();
}

TEST(defaults)
{
        static const struct {
                const char *type;
                const char *spec;
                const char *wanted;
        } cases[] = {
                { COMPOSITION, "{}", "{mode: Pipeline}" },
                { COMPOSITION, "{pipeline: [{step: a}]}", "{pipeline: [{step: a}], mode: Pipeline}" },
                { COMPOSITION, "{resources: []}", "{resources: [], mode: Resources}" },
                { COMPOSITION, "{functions: []}", "{functions: [], mode: Resources}" },
                { COMPOSITION, "{mode: null, functions: null, resources: []}",
                  "{mode: Resources, functions: null, resources: []}" },
                { COMPOSITION, "{functions: [], pipeline: [a]}", "{functions: [], pipeline: [a]}" },
                { COMPOSITION, "{mode: x, pipeline: [{name: a}, {step: b}, {name: c, step: d}, {name: 1}]}",
                  "{mode: x, pipeline: [{step: a}, {step: b}, {name: c, step: d}, {name: 1}]}" },
                { GROUP "v2alpha1 Composition", "{resources: []}", "{resources: [], mode: Resources}" },
                { REVISION, "{}", "{mode: Pipeline}" },
                { COMPOSITION, "text", "text" },
                { XRD, "{}",
                  "{scope: LegacyCluster, defaultCompositeDeletePolicy: Background, defaultCompositionUpdatePolicy: "
                  "Automatic}" },
                { XRD2, "{}", "{scope: Namespaced, defaultCompositionUpdatePolicy: Automatic}" },
                { FUNCTION, "{packagePullSecrets: [{}]}",
                  "{packagePullSecrets: [{name: ''}], packagePullPolicy: IfNotPresent, revisionActivationPolicy: "
                  "Automatic, revisionHistoryLimit: 1, ignoreCrossplaneConstraints: false, skipDependencyResolution: "
                  "false, runtimeConfigRef: {apiVersion: pkg.crossplane.io/v1beta1, kind: DeploymentRuntimeConfig, "
                  "name: default}}" },
                { GROUP "v1 Widget", "{}", "{}" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *object = own_kind_default(&arena, object_of(cases[i].type, cases[i].spec));

                if (!value_equal(value_get(object, STR("spec")), read_yaml(cases[i].wanted)))
                        test_fail(__FILE__, __LINE__, "[%s] is %s", cases[i].spec, text_of(object, 0));
        }
        end();
}

TEST(kinds_and_versions)
{
        static const struct {
                const char *api_version;
                const char *kind;
                bool is_known;
        } cases[] = {
                { GROUP "v1", "Composition", true },
                { GROUP "v2alpha1", "Composition", true },
                { GROUP "v2", "Composition", false },
                { GROUP "v1", "CompositionRevision", true },
                { GROUP "v1", "CompositeResourceDefinition", true },
                { GROUP "v2", "CompositeResourceDefinition", true },
                { GROUP "v1beta1", "EnvironmentConfig", true },
                { GROUP "v1alpha1", "EnvironmentConfig", true },
                { "pkg.crossplane.io/v1", "Function", true },
                { "pkg.crossplane.io/v1beta1", "Function", true },
                { "pkg.crossplane.io/v1", "FunctionRevision", true },
                { "protection.crossplane.io/v1beta1", "Usage", true },
                { "protection.crossplane.io/v1beta1", "ClusterUsage", true },
                { GROUP "v1alpha1", "Usage", true },
                { "v1", "Composition", false },
                { GROUP "v1", "Widget", false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct gvk gvk = { .kind = str_from(cases[i].kind) };

                ASSERT(gvk_split_api_version(str_from(cases[i].api_version), &gvk.group, &gvk.version, NULL) == 0);
                ASSERT_CASE(cases[i].api_version, own_kind_known(gvk) == cases[i].is_known);
        }
        ASSERT(own_kind_strategy(read_yaml("{spec: {group: pkg.crossplane.io, names: {kind: Function}}}")));
        ASSERT(!own_kind_strategy(read_yaml("{spec: {group: pkg.crossplane.io, names: {kind: Composition}}}")));
        end();
}

/* --- In the store --- */

struct control_plane {
        struct store *store;
        struct run run;
        struct str_list warnings;
};

static struct write_result write_object(struct control_plane *p, enum write_verb verb, const struct value *object,
                                        const char *refusal)
{
        struct write_request req = { .verb = verb, .key = object_key_of(object), .body = object, .manager = STR("me") };
        struct write_result result = { 0 };
        _cleanup_err_ struct err err = { 0 };
        int r = cluster_write(store_cluster(p->store), &p->run, &req, &result, &err);

        ASSERT_STR(str_from(r < 0 ? err_message(&err) : ""), str_from(refusal));
        return result;
}

static void control_plane_begin(struct control_plane *p)
{
        struct store_options options = { .strategy_of = own_kind_strategy };
        const struct value *crd;

        begin();
        *p = (struct control_plane) { .run = { .arena = &arena, .deadline = DEADLINE_NONE } };
        str_list_init(&p->warnings, &arena);
        ASSERT(store_new(&options, &p->store, NULL) == 0);
        for (size_t i = 0; (crd = own_kind_crd(&arena, i)); i++)
                write_object(p, WRITE_CREATE, crd, "");
        p->run.warnings = &p->warnings;
}

static void control_plane_end(struct control_plane *p)
{
        store_free(p->store);
        end();
}

/* Each CRD can be installed and makes the kind that it says, in the versions that it says. */
TEST(crds_are_served)
{
        struct control_plane p;
        size_t n = 0;

        control_plane_begin(&p);
        for (const struct value *crd; (crd = own_kind_crd(&arena, n)); n++) {
                struct gvk gvk = { .group = value_str(value_find(crd, "spec", "group")),
                                   .kind = value_str(value_find(crd, "spec", "names", "kind")) };
                const struct kind *kind;

                VALUE_FOREACH_ITEM (version, value_find(crd, "spec", "versions")) {
                        gvk.version = value_str(value_get(version, STR("name")));
                        ASSERT(own_kind_known(gvk));
                        ASSERT(cluster_kind(store_cluster(p.store), &p.run, gvk, &kind, NULL) == 0);
                        ASSERT(kind->storage == 0);
                }
        }
        ASSERT(n == 21);
        control_plane_end(&p);
}

TEST(the_store_enforces_the_rules)
{
        struct control_plane p;
        const struct value *stored;

        control_plane_begin(&p);
        write_object(&p, WRITE_CREATE, object_of(COMPOSITION, "{" REF "}"),
                     "Composition.apiextensions.crossplane.io \"a\" is invalid: " NEEDS_STEPS);
        stored = write_object(&p, WRITE_CREATE,
                              object_of(GROUP "v2alpha1 Composition",
                                        "{" REF ", pipeline: [{name: a, functionRef: {name: f}}]}"),
                              "")
                         .value;
        ASSERT(value_equal(value_get(stored, STR("spec")),
                           read_yaml("{" REF ", mode: Pipeline, pipeline: [{" STEP "}]}")));
        write_object(&p, WRITE_MERGE_PATCH, object_of(COMPOSITION, "{compositeTypeRef: {kind: Z}}"),
                     "Composition.apiextensions.crossplane.io \"a\" is invalid: spec.compositeTypeRef: " IMMUTABLE);
        /* an apply is completed too */
        stored = write_object(&p, WRITE_APPLY,
                              object_of(COMPOSITION, "{" REF ", writeConnectionSecretsToNamespace: ns}"), "")
                         .value;
        ASSERT_STR(value_str(value_find(stored, "spec", "mode")), STR("Pipeline"));
        control_plane_end(&p);
}

TEST(a_definition_has_two_forms)
{
        struct control_plane p;
        const struct value *legacy, *v2;

        control_plane_begin(&p);
        legacy = write_object(&p, WRITE_CREATE,
                              object_of(XRD, "{" NAMES ", " VERSIONS ", claimNames: {kind: C, plural: cs}}"), "")
                         .value;
        ASSERT_STR(value_str(value_find(legacy, "spec", "scope")), STR("LegacyCluster"));
        v2 = value_with(&arena, legacy, STR("apiVersion"),
                        value_put(&arena, value_of_literal("apiextensions.crossplane.io/v2")));
        /* A spec that v2 would refuse causes only a warning while it does not change. */
        p.warnings.n = 0;
        write_object(&p, WRITE_UPDATE, meta_with_label(&arena, v2, STR("a"), STR("b")), "");
        ASSERT_STR(str_list_join(&p.warnings, STR("; ")),
                   STR("spec: Invalid value: Claims aren't supported in apiextensions.crossplane.io/v2"));
        control_plane_end(&p);
}

TEST(fields_for_suggestions)
{
        static const struct {
                const char *path;
                const char *fields;
        } cases[] = {
                { "", "apiVersion kind metadata spec" },
                { "spec.pipeline[3].functionRef", "name" },
                { "spec.resources[0].patches[1].combine.string", "fmt" },
                { "spec.pipeline[0].input", "" },
                { "spec.pipeline[0].functionRef.name", "" },
                { "spec.nothing.here", "" },
                { "spec.pipeline[0].functionRevisionSelector.matchLabels.a", "" },
                { "spec.[", "" },
        };
        struct gvk gvk = { STR("apiextensions.crossplane.io"), STR("v2alpha1"), STR("Composition") };
        const struct str *fields;

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str_list list;
                size_t n = own_kind_fields(&arena, gvk, str_from(cases[i].path), &fields);

                str_list_init(&list, &arena);
                for (size_t j = 0; j < n; j++)
                        str_list_add(&list, fields[j]);
                ASSERT_STR_CASE(cases[i].path, str_list_join(&list, STR(" ")), str_from(cases[i].fields));
        }
        gvk.version = STR("v7");
        ASSERT(own_kind_fields(&arena, gvk, STR(""), &fields) == 0);
        end();
}

/* All objects of our own kinds in the tree are valid: those to be read, to be run and to be compared with. */
TEST(examples_are_good)
{
        static const char *const places[] = {
                "examples/render",
                "tests/golden/seeds/003-1-native-environment",
                "tests/golden/seeds/003-2-environment-configs",
                "tests/golden/seeds/003-3-patch-and-transform",
                "tests/golden/seeds/003-4-allowed-extra-resources",
                "tests/golden/seeds/003-environment",
        };
        size_t n = 0;

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                struct str path = arena_printf(&arena, "%s/%s", TEST_SOURCE_DIR, places[i]);
                _cleanup_err_ struct err err = { 0 };
                struct manifests m;

                manifests_init(&m, &arena);
                if (manifests_load(&m, path, &err) < 0)
                        test_fail(__FILE__, __LINE__, "%s", err_message(&err));
                for (size_t j = 0; j < m.n; j++) {
                        n += own_kind_known(gvk_of(m.p[j].object));
                        ASSERT_STR_CASE(places[i], str_from(judge_value(m.p[j].object, NULL)), STR(""));
                }
        }
        ASSERT(n >= 8);
        end();
}
