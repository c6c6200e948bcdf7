#include "features.h"

const struct gate feature_table[_FEATURE_COUNT] = {
        [FEATURE_DEPENDENCY_VERSION_DOWNGRADES] = {
                .name = "DependencyVersionDowngrades",
                .stage = GATE_ALPHA,
                .help = "Upgrade and downgrade packages to versions that all packages that depend on them accept.",
        },
        [FEATURE_DEPENDENCY_VERSION_UPGRADES] = {
                .name = "DependencyVersionUpgrades",
                .stage = GATE_ALPHA,
                .help = "Upgrade packages to versions that all packages that depend on them accept.",
        },
        [FEATURE_FIRST_DESIGN_KINDS] = {
                .name = "FirstDesignKinds",
                .stage = GATE_ALPHA,
                .is_on_by_default = true,
                .help = "Serve ApplicationDefinition, InfrastructureDefinition and InfrastructurePublication.",
        },
        [FEATURE_FUNCTION_RESPONSE_CACHE] = {
                .name = "FunctionResponseCache",
                .stage = GATE_ALPHA,
                .help = "Keep what functions answer for as long as their TTL says.",
        },
        [FEATURE_FUNCTION_REVISION_SELECTORS] = {
                .name = "FunctionRevisionSelectors",
                .stage = GATE_ALPHA,
                .help = "Let pipeline steps choose a revision of their function.",
        },
        [FEATURE_PIPELINE_INSPECTOR] = {
                .name = "PipelineInspector",
                .stage = GATE_ALPHA,
                .help = "Tell a program behind a socket each request to a function and each response.",
        },
        [FEATURE_REQUIREMENTS_CACHE] = {
                .name = "RequirementsCache",
                .stage = GATE_ALPHA,
                .help = "Give functions at their first call what they asked for in the last run.",
        },
        [FEATURE_RESOLVE_SELECTORS] = {
                .name = "ResolveSelectors",
                .stage = GATE_ALPHA,
                .help = "Set references of composed resources that have a selector for them.",
        },
        [FEATURE_SIGNATURE_VERIFICATION] = {
                .name = "SignatureVerification",
                .stage = GATE_ALPHA,
                .help = "Check the signatures of packages as ImageConfigs ask for.",
        },
};

const struct gates feature_gates_default = { .table = feature_table, .n = _FEATURE_COUNT };

static const char *const enable_settings[_FEATURE_COUNT] = {
        [FEATURE_DEPENDENCY_VERSION_DOWNGRADES] = "enable-dependency-version-downgrades",
        [FEATURE_DEPENDENCY_VERSION_UPGRADES] = "enable-dependency-version-upgrades",
        [FEATURE_FIRST_DESIGN_KINDS] = "enable-first-design-kinds",
        [FEATURE_FUNCTION_RESPONSE_CACHE] = "enable-function-response-cache",
        [FEATURE_FUNCTION_REVISION_SELECTORS] = "enable-function-revision-selectors",
        [FEATURE_PIPELINE_INSPECTOR] = "enable-pipeline-inspector",
        [FEATURE_REQUIREMENTS_CACHE] = "enable-requirements-cache",
        [FEATURE_RESOLVE_SELECTORS] = "enable-resolve-selectors",
        [FEATURE_SIGNATURE_VERIFICATION] = "enable-signature-verification",
};

struct features features_with(struct features f, enum feature which, bool is_on)
{
        if (feature_is_on(f, which) != is_on)
                f.changed ^= 1ull << which;
        return f;
}

/* Applies the settings of one source over those of lesser sources. */
static int read_source(const struct settings *settings, enum setting_source source, struct gates *g, struct err *err)
{
        int r = gates_set(g, settings_value(settings, "feature-gates")->from[source], err);

        for (size_t i = 0; r >= 0 && i < _FEATURE_COUNT; i++) {
                const struct setting_value *v = settings_value(settings, enable_settings[i]);

                if (v->source == source && source != SOURCE_DEFAULT)
                        g->is_on[i] = v->b;
        }
        return r;
}

int features_read(const struct settings *settings, struct features *ret, struct err *err)
{
        struct features f = { 0 };
        struct gates g;
        int r = 0;

        gates_init(&g, feature_table, _FEATURE_COUNT);
        for (enum setting_source s = SOURCE_DEFAULT; r >= 0 && s < _SOURCE_COUNT; s++)
                r = read_source(settings, s, &g, err);
        for (enum feature i = 0; r >= 0 && i < _FEATURE_COUNT; i++)
                f = features_with(f, i, g.is_on[i]);
        gates_done(&g);
        if (r >= 0)
                *ret = f;
        return r;
}

void features_append_list(struct buf *b, struct features f)
{
        struct gates g;

        gates_init(&g, feature_table, _FEATURE_COUNT);
        for (enum feature i = 0; i < _FEATURE_COUNT; i++)
                g.is_on[i] = feature_is_on(f, i);
        gates_append_list(b, &g);
        gates_done(&g);
}
