/* Decisions of the package manager as functions of values: which revisions are active, which one goes, what a package's health is, which
 * ImageConfig counts. The controllers are compared with a real Crossplane by the interop suite `packages`. */
#include "values.h"

#include "image-config.h"
#include "managed-definitions.h"
#include "package-revisions.h"
#include "provider-account.h"
#include "yaml.h"

static const char *as_json(const struct value *v)
{
        return v ? text_of(v, JSON_SORT_KEYS) : "none";
}

static const struct value *read_yaml(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (yaml_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

/* --- Plans --- */

/* Revisions as `a1+! b2 c3`: name, number, + if it is Active, and ! if it has answered. */
static size_t read_revisions(const char *text, const struct value **ret)
{
        struct str rest = str_from(text), one;
        size_t n = 0;

        while (rest.n > 0) {
                bool is_active, has_answered;

                str_split(&rest, ' ', &one);
                has_answered = str_cut_suffix(&one, STR("!"));
                is_active = str_cut_suffix(&one, STR("+"));
                ret[n++] = read_yaml(arena_cstring(
                        &arena, arena_printf(&arena,
                                             "{metadata: {name: %c}, spec: {revision: %.*s, desiredState: %s}, status: "
                                             "{endpoint: '%s'}}",
                                             one.p[0], STR_ARG(str_skip(one, 1)), is_active ? "Active" : "Inactive",
                                             has_answered ? "dns:///f" : "")));
        }
        return n;
}

/* The plan for the revisions, as `a- b+`, with the current one as `c=3+`, and `x a` for the one that is deleted. */
static const char *plan_text(const struct package_policy *policy, const char *revisions, const char *current)
{
        const struct value *list[8];
        size_t n = read_revisions(revisions, list);
        struct package_plan plan;
        struct str_list words;

        str_list_init(&words, &arena);
        package_plan(&arena, policy, list, n, str_from(current), &plan);
        for (size_t i = 0; i < n; i++)
                if (i != plan.current)
                        str_list_printf(&words, "%.*s%c", STR_ARG(meta_name(list[i])), "?+-"[plan.states[i]]);
        str_list_printf(&words, "%s=%d%s", current, (int)plan.number, plan.is_current_active ? "+" : "");
        if (plan.garbage != PACKAGE_NONE)
                str_list_printf(&words, "x %.*s", STR_ARG(meta_name(list[plan.garbage])));
        return arena_cstring(&arena, str_list_join(&words, STR(" ")));
}

TEST(plans)
{
        begin();
        static const struct {
                struct package_policy policy;
                const char *revisions, *current, *wanted;
        } cases[] = {
                { { .history_limit = 1 }, "", "a", "a=1+" },
                { { .history_limit = 1 }, "a1+", "a", "a=1+" },
                { { .history_limit = 1 }, "a1+", "b", "a- b=2+" },
                { { .history_limit = 1 }, "a1 b2+", "a", "b- a=3+" },
                { { .history_limit = 1 }, "a1 b2 c3+", "c", "a- b- c=3+ x a" },
                { { .history_limit = 1 }, "b2 a1 c3+", "c", "b- a- c=3+ x a" },
                { { .history_limit = 0 }, "a1 b2 c3+", "c", "a- b- c=3+" },
                { { .history_limit = 2 }, "a1 b2 c3+", "c", "a- b- c=3+" },
                /* the one to roll back to stays */
                { { .history_limit = 1 }, "a1 b2 c3+", "a", "b- c- a=4+ x b" },
                { { .history_limit = 1, .is_manual = true }, "", "a", "a=1" },
                { { .history_limit = 1, .is_manual = true }, "a1+", "a", "a=1+" },
                { { .history_limit = 1, .is_manual = true }, "a1+", "b", "a- b=2" },
                /* the one that serves until the current one answers stays */
                { { .history_limit = 1 }, "a1! b2 c3+", "c", "a- b- c=3+ x b" },
                { { .history_limit = 1 }, "a1! b2! c3+", "c", "a- b- c=3+ x a" },
                { { .history_limit = 1 }, "a1! b2 c3+!", "c", "a- b- c=3+ x a" },
                { { .history_limit = 1 }, "a1! b2 c3+", "d", "a- b- c- d=4+ x b" },
                { { .history_limit = 2, .active_limit = 1 }, "a1! b2 c3 d4+", "d", "a- b- c- d=4+ x b" },
                /* with the gate FunctionRevisionSelectors */
                { { .history_limit = 2, .active_limit = 1 }, "a1+ b2", "b", "a- b=2+" },
                { { .history_limit = 2, .active_limit = 2 }, "a1+ b2+", "c", "a- b+ c=3+" },
                { { .history_limit = 2, .active_limit = 2 }, "a1 b2+ c3+", "c", "a- b+ c=3+" },
                { { .history_limit = 2, .active_limit = 2 }, "a1 b2 c3 d4+ e5+", "e", "a- b- c- d+ e=5+ x a" },
                /* the revision that a rollout leaves stays active, in place of a newer one */
                { { .history_limit = 2, .active_limit = 2, .kept = STR_INIT("a") }, "a1+ b2+", "c", "a+ b- c=3+" },
                { { .history_limit = 1, .active_limit = 2, .kept = STR_INIT("a") },
                  "a1+ b2 c3+",
                  "d",
                  "a+ b- c- d=4+ x b" },
                { { .history_limit = 2, .active_limit = 3, .kept = STR_INIT("a") },
                  "a1+ b2 c3+",
                  "d",
                  "a+ b- c+ d=4+" },
                { { .history_limit = 5, .active_limit = 9 }, "a1 b2 c3", "c", "a+ b+ c=3+" },
                { { .history_limit = 1, .active_limit = 2, .is_manual = true }, "a1+ b2+ c3+", "c", "a? b? c=3+" },
                { { .history_limit = 1, .active_limit = 2, .is_manual = true }, "a1 b2 c3+", "c", "a? b? c=3+ x a" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_TEXT(plan_text(&cases[i].policy, cases[i].revisions, cases[i].current), cases[i].wanted);
        end();
}

TEST(a_revision_is_found_by_its_image)
{
        begin();
        const struct value *revisions[] = {
                read_yaml("{metadata: {name: a}, spec: {image: r.io/f:v1, revision: 1}}"),
                read_yaml("{metadata: {name: b, annotations: {weft.dev/package-digest: sha256:1}}, spec: {image: "
                          "r.io/f:v1, revision: 2}}"),
                read_yaml("{metadata: {name: c, annotations: {weft.dev/package-digest: sha256:1}}, spec: {image: "
                          "r.io/f:v1, revision: 4}}"),
                read_yaml("{metadata: {name: d, annotations: {weft.dev/package-digest: sha256:2}}, spec: {image: "
                          "r.io/f:v1, revision: 5}}"),
        };
        static const struct {
                const char *reference, *digest, *name;
        } cases[] = {
                { "r.io/f:v1", "sha256:1", "c" }, /* the newest */
                { "r.io/f:v1", "sha256:2", "d" },
                { "r.io/f:v1", "sha256:3", "" }, /* the tag has moved */
                { "r.io/f:v2", "sha256:1", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR(package_revision_of_image(revisions, ARRAY_SIZE(revisions), str_from(cases[i].reference),
                                                     str_from(cases[i].digest)),
                           str_from(cases[i].name));
        end();
}

/* --- The current revision --- */

static const struct value *wanted_revision(const char *package, const char *old, struct package_revision_wish wish)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        wish.kind = &package_kinds[XPKG_FUNCTION];
        wish.package = read_yaml(package);
        wish.name = STR("f-1");
        if (package_revision_wanted(&arena, &wish, old ? read_yaml(old) : NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return v;
}

#define PACKAGE                                                                                                  \
        "{apiVersion: pkg.crossplane.io/v1, kind: Function, metadata: {name: f, uid: u, labels: {a: b}}, spec: " \
        "{package: "                                                                                             \
        "example.org/f:v1, packagePullPolicy: Always, runtimeConfigRef: {name: default}, commonLabels: {c: d}}}"

TEST(current_revisions)
{
        begin();
        const struct value *v =
                wanted_revision(PACKAGE, NULL,
                                (struct package_revision_wish) { .number = 3, .is_active = true, .has_runtime = true });

        ASSERT_TEXT(
                as_json(value_get(v, STR("spec"))),
                "{\"commonLabels\":{\"c\":\"d\"},\"desiredState\":\"Active\",\"image\":\"example.org/"
                "f:v1\",\"packagePullPolicy\":\"Always\",\"revision\":3,\"runtimeConfigRef\":{\"name\":\"default\"},"
                "\"tlsServerSecretName\":\"f-tls-server\"}");
        ASSERT_TEXT(as_json(value_get(meta(v), STR("labels"))), "{\"pkg.crossplane.io/package\":\"f\"}");

        /* A user activates the revision of a package with the policy Manual. */
        v = wanted_revision(PACKAGE, NULL, (struct package_revision_wish) { .number = 1 });
        ASSERT_TEXT(as_json(value_find(v, "spec", "desiredState")), "\"\"");

        /* Labels of others stay; those of the package come with the gate; fields that left the package leave. */
        v = wanted_revision(
                PACKAGE,
                "{metadata: {name: f-1, labels: {hand: made}}, spec: {desiredState: Active, "
                "commonAnnotations: {x: y}}}",
                (struct package_revision_wish) {
                        .number = 1, .copies_labels = true, .has_runtime = true, .names_by_revision = true });
        ASSERT_TEXT(as_json(value_get(meta(v), STR("labels"))),
                    "{\"a\":\"b\",\"hand\":\"made\",\"pkg.crossplane.io/package\":\"f\"}");
        ASSERT_TEXT(as_json(value_find(v, "spec", "desiredState")), "\"Active\"");
        ASSERT_TEXT(as_json(value_find(v, "spec", "tlsServerSecretName")), "\"f-1-tls-server\"");
        ASSERT(!value_find(v, "spec", "commonAnnotations"));
        end();
}

TEST(revisions_of_others)
{
        begin();
        struct package_revision_wish wish = { .kind = &package_kinds[XPKG_FUNCTION],
                                              .package = read_yaml(PACKAGE),
                                              .name = STR("f-1") };
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        ASSERT(package_revision_wanted(
                       &arena, &wish,
                       read_yaml("{metadata: {name: f-1, ownerReferences: [{controller: true, uid: other, kind: "
                                 "Function, name: g}]}, spec: {}}"),
                       &v, &err) < 0);
        ASSERT_TEXT(err_message(&err), "f-1 is already controlled by Function g (UID other)");
        end();
}

/* --- Health --- */

static const char *health(enum xpkg_kind kind, const char *conditions)
{
        struct condition c = package_health(
                &arena, &package_kinds[kind],
                read_yaml(arena_cstring(
                        &arena, arena_printf(&arena, "{spec: {desiredState: Active}, status: {conditions: [%s]}}",
                                             conditions))));

        return arena_cstring(&arena, arena_printf(&arena, "%s %.*s %.*s", condition_status_name(c.status),
                                                  STR_ARG(c.reason), STR_ARG(c.message)));
}

TEST(health_of_packages)
{
        begin();
#define REVISION "{type: RevisionHealthy, status: 'True', reason: HealthyPackageRevision}"
        ASSERT_TEXT(health(XPKG_CONFIGURATION, ""),
                    "False UnhealthyPackageRevision Package revision health is \"Unknown\"");
        ASSERT_TEXT(health(XPKG_CONFIGURATION, "{type: RevisionHealthy, status: 'False', reason: X, message: why}"),
                    "False UnhealthyPackageRevision Package revision health is \"False\" with message: why");
        ASSERT_TEXT(health(XPKG_CONFIGURATION, REVISION), "True HealthyPackageRevision ");
        ASSERT_TEXT(health(XPKG_FUNCTION, REVISION),
                    "False UnhealthyPackageRevision Package runtime health is \"Unknown\"");
        ASSERT_TEXT(health(XPKG_FUNCTION, REVISION ", {type: RuntimeHealthy, status: 'True', reason: A}"),
                    "True HealthyPackageRevision ");
        ASSERT_TEXT(health(XPKG_PROVIDER,
                           REVISION ", {type: RuntimeHealthy, status: 'True', reason: A}, {type: RuntimeActive, "
                                    "status: 'False', reason: AwaitingActivation, message: zero}"),
                    "True AwaitingActivation zero");
        end();
}

/* --- ImageConfigs --- */

static const char *rewritten(const char *config, const char *reference)
{
        _cleanup_err_ struct err err = { 0 };
        struct str text;

        if (image_config_rewrite(&arena, read_yaml(config), str_from(reference), &text, &err) < 0)
                return arena_cstring(&arena, str_from(err_message(&err)));
        return arena_cstring(&arena, text);
}

TEST(image_configs)
{
        begin();
        ASSERT_TEXT(
                rewritten(
                        "{spec: {matchImages: [{prefix: example.org}, {prefix: example.org/a}], rewriteImage: {prefix: "
                        "mirror.org/x}}}",
                        "example.org/a/b:v1"),
                "mirror.org/x/b:v1");
        ASSERT_TEXT(rewritten("{metadata: {name: c}, spec: {matchImages: [{prefix: example.org}], rewriteImage: "
                              "{prefix: ''}}}",
                              "example.org/a:v1"),
                    "rewriteImage.prefix of ImageConfig \"c\" is empty: give it a prefix");
        end();
}

/* --- Definitions --- */

static const char *definition(const char *kind, const char *capability)
{
        struct str one = str_from(capability);
        struct xpkg package = { .kind = XPKG_PROVIDER, .capabilities = &one, .n_capabilities = one.n > 0 };
        const struct value *v = managed_definition_of_crd(
                &arena, &package,
                read_yaml(arena_cstring(
                        &arena, arena_printf(&arena,
                                             "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
                                             "spec: {names: {kind: %s}}}",
                                             kind))));

        return arena_cstring(&arena, arena_printf(&arena, "%.*s %.*s", STR_ARG(gvk_of(v).kind),
                                                  STR_ARG(value_str(value_find(v, "spec", "state")))));
}

/* As Crossplane v2.4.2 does it. */
TEST(definitions)
{
        begin();
        ASSERT_TEXT(definition("Thing", ""), "ManagedResourceDefinition Active");
        ASSERT_TEXT(definition("Thing", "safe-start"), "ManagedResourceDefinition Inactive");
        ASSERT_TEXT(definition("Thing", "SafeStart"), "ManagedResourceDefinition Inactive");
        ASSERT_TEXT(definition("Thing", "unsafe-start"), "ManagedResourceDefinition Active");
        ASSERT_TEXT(definition("StoreConfig", ""), "ManagedResourceDefinition Active");
        ASSERT_TEXT(definition("ProviderConfig", ""), "CustomResourceDefinition ");
        ASSERT_TEXT(definition("ClusterProviderConfig", ""), "CustomResourceDefinition ");
        ASSERT_TEXT(definition("ProviderConfigUsage", ""), "CustomResourceDefinition ");
        ASSERT_TEXT(definition("ClusterProviderConfigUsage", ""), "CustomResourceDefinition ");
        end();
}

TEST(groups_of_providers)
{
        static const char *const good[] = { "nop.crossplane.io", "s3.aws.m.upbound.io", "example.org" };
        static const char *const bad[] = {
                "", "apps", "rbac.authorization.k8s.io", "pkg.crossplane.io", "apiextensions.crossplane.io", "batch"
        };

        for (size_t i = 0; i < ARRAY_SIZE(good); i++)
                ASSERT(provider_may_have_group(str_from(good[i])));
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                ASSERT(!provider_may_have_group(str_from(bad[i])));
}
