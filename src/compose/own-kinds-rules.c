/* The CEL rules of kinds/, in C. Each function implements one rule, whose text stands beside it in the table. A value that has
 * passed its schema has the right types; an absent field is NULL, and every test of NULL is false. */
#include "own-kinds-data.h"

#define HAS(v, key)  (value_get((v), STR(key)) != NULL)
#define TEXT(v, key) value_str(value_get((v), STR(key)))

static bool is_lower(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] >= 'A' && s.p[i] <= 'Z')
                        return false;
        return true;
}

/* --- Any kind --- */

static bool is_unchanged(const struct value *self, const struct value *old)
{
        return value_equal_numeric(self, old);
}

/* --- Compositions --- */

static bool has_templates(const struct value *spec)
{
        return HAS(spec, "resources") || HAS(spec, "functions");
}

static bool pipeline_has_steps(const struct value *self, const struct value *old _unused_)
{
        if (HAS(self, "pipeline"))
                return true;
        return HAS(self, "mode") ? str_equal(TEXT(self, "mode"), STR("Resources")) : has_templates(self);
}

static bool resources_has_templates(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "mode") || str_equal(TEXT(self, "mode"), STR("Pipeline")) || has_templates(self);
}

static bool mode_is_clear(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "mode") || !HAS(self, "pipeline") || !has_templates(self);
}

static bool credentials_have_secret(const struct value *self, const struct value *old _unused_)
{
        return str_equal(TEXT(self, "source"), STR("Secret")) && HAS(self, "secretRef");
}

static bool requirement_is_name_or_labels(const struct value *self, const struct value *old _unused_)
{
        return !(HAS(self, "name") && HAS(self, "matchLabels"));
}

static bool allowance_has_one_name(const struct value *self, const struct value *old _unused_)
{
        return !(HAS(self, "name") && HAS(self, "matchName"));
}

static bool allowance_is_name_or_labels(const struct value *self, const struct value *old _unused_)
{
        return !((HAS(self, "name") || HAS(self, "matchName")) && HAS(self, "matchLabels"));
}

static bool is_iteration_count(const struct value *self, const struct value *old _unused_)
{
        return value_int(self, 0) == -1 || value_int(self, 0) >= 1;
}

static bool step_has_one_input(const struct value *self, const struct value *old _unused_)
{
        return !(HAS(self, "input") && HAS(self, "inputRef"));
}

static bool step_has_one_name(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "name");
}

static bool function_has_container(const struct value *self, const struct value *old _unused_)
{
        return !str_equal(TEXT(self, "type"), STR("Container")) || HAS(self, "container");
}

/* --- CompositeResourceDefinitions --- */

static bool plural_is_lower(const struct value *self, const struct value *old _unused_)
{
        return is_lower(TEXT(self, "plural"));
}

static bool singular_is_lower(const struct value *self, const struct value *old _unused_)
{
        return is_lower(TEXT(self, "singular"));
}

static bool has_no_claims(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "machinery") || !HAS(self, "claimNames");
}

static bool has_no_secrets(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "machinery") || !HAS(self, "connectionSecretKeys");
}

static bool claims_need_legacy(const struct value *self, const struct value *old _unused_)
{
        return str_equal(TEXT(self, "scope"), STR("LegacyCluster")) || has_no_claims(self, NULL);
}

static bool secrets_need_legacy(const struct value *self, const struct value *old _unused_)
{
        return str_equal(TEXT(self, "scope"), STR("LegacyCluster")) || has_no_secrets(self, NULL);
}

static bool conversion_has_webhook(const struct value *self, const struct value *old _unused_)
{
        return str_equal(TEXT(self, "strategy"), STR("Webhook")) && HAS(self, "webhook");
}

/* --- The first design --- */

static bool kind_is_composition(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "kind") || str_equal(TEXT(self, "kind"), STR("Composition"));
}

static bool version_is_of_compositions(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "apiVersion") ||
               str_starts_with(TEXT(self, "apiVersion"), STR("apiextensions.crossplane.io/"));
}

static bool first_has_resources(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "to") || HAS(self, "pipeline") || HAS(self, "functions");
}

static bool template_has_one_version(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "versions");
}

static bool definition_has_name(const struct value *self, const struct value *old _unused_)
{
        const struct value *tmpl = value_find(self, "spec", "crdSpecTemplate");
        struct str name = value_str(value_find(self, "metadata", "name"));

        return str_cut_prefix(&name, value_str(value_find(tmpl, "names", "plural"))) &&
               str_cut_prefix(&name, STR(".")) && str_equal(name, TEXT(tmpl, "group"));
}

static bool publication_has_name(const struct value *self, const struct value *old _unused_)
{
        return str_equal(value_str(value_find(self, "metadata", "name")),
                         value_str(value_find(self, "spec", "infrastructureDefinitionReference", "name")));
}

/* --- Packages --- */

/* Whether s, split at the separator, has at least at_least parts and none of them is empty. */
static bool has_parts(struct str s, char separator, size_t at_least)
{
        struct str part;
        size_t n = 0;
        bool goes_on = true;

        while (goes_on) {
                goes_on = str_split(&s, separator, &part);
                if (part.n == 0)
                        return false;
                n++;
        }
        return n >= at_least;
}

static size_t find_either(struct str s, char a, char b)
{
        size_t i = 0;

        while (i < s.n && s.p[i] != a && s.p[i] != b)
                i++;
        return i;
}

static bool is_digest(struct str s)
{
        return str_cut_prefix(&s, STR("@sha256")) && s.n > 0 && str_find_char(s, '\n') < 0;
}

/* HOST.DOMAIN/PATH:TAG, HOST.DOMAIN/PATH@sha256..., or both. */
static bool is_image(const struct value *self, const struct value *old _unused_)
{
        struct str rest = value_str(self), host;
        size_t n;

        if (!str_split(&rest, '/', &host) || !has_parts(host, '.', 2))
                return false;
        n = find_either(rest, ':', '@');
        if (!has_parts(str_first(rest, n), '/', 1))
                return false;
        rest = str_skip(rest, n);
        if (!str_cut_prefix(&rest, STR(":")))
                return is_digest(rest);
        n = find_either(rest, ':', '@');
        return n > 0 && (n == rest.n || is_digest(str_skip(rest, n)));
}

static bool limits_agree(const struct value *self, const struct value *old _unused_)
{
        int64_t history = value_int(value_get(self, STR("revisionHistoryLimit")), 0);

        return !HAS(self, "activeRevisionLimit") || history == 0 ||
               value_int(value_get(self, STR("activeRevisionLimit")), 0) <= history;
}

static bool rollout_is_of_package(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "rollout") || str_equal(TEXT(value_get(self, STR("rollout")), "to"), TEXT(self, "package"));
}

static bool rollout_has_room(const struct value *self, const struct value *old _unused_)
{
        return !HAS(self, "rollout") || value_int(value_get(self, STR("activeRevisionLimit")), 0) >= 2;
}

static bool list_has_items(const struct value *self, const struct value *old _unused_)
{
        return value_count(self) > 0;
}

/* --- Managed resource definitions --- */

static bool state_stays_active(const struct value *self, const struct value *old)
{
        return value_equal(self, old) || !str_equal(value_str(old), STR("Active"));
}

/* --- Usages --- */

static bool usage_has_resource(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "resourceRef") || HAS(self, "resourceSelector");
}

static bool usage_has_cause(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "by") || HAS(self, "reason");
}

static bool usage_stays_in_namespace(const struct value *self, const struct value *old _unused_)
{
        return HAS(self, "by") || (!value_find(self, "of", "resourceRef", "namespace") &&
                                   !value_find(self, "of", "resourceSelector", "namespace"));
}

#define RULE(text, holds)                      \
        {                                      \
                STR_INIT(text), false, (holds) \
        }

const struct schema_rule own_kind_rules[] = {
        { STR_INIT("self == oldSelf"), true, is_unchanged },
        RULE("has(self.pipeline) || (has(self.mode) ? self.mode == 'Resources' : has(self.resources) || "
             "has(self.functions))",
             pipeline_has_steps),
        RULE("!has(self.mode) || self.mode == 'Pipeline' || has(self.resources) || has(self.functions)",
             resources_has_templates),
        RULE("has(self.mode) || !has(self.pipeline) || !(has(self.resources) || has(self.functions))", mode_is_clear),
        RULE("self.source == 'Secret' && has(self.secretRef)", credentials_have_secret),
        RULE("!(has(self.name) && has(self.matchLabels))", requirement_is_name_or_labels),
        RULE("!(has(self.name) && has(self.matchName))", allowance_has_one_name),
        RULE("!((has(self.name) || has(self.matchName)) && has(self.matchLabels))", allowance_is_name_or_labels),
        RULE("self == -1 || self >= 1", is_iteration_count),
        RULE("!(has(self.input) && has(self.inputRef))", step_has_one_input),
        RULE("!has(self.name)", step_has_one_name),
        RULE("self.type != 'Container' || has(self.container)", function_has_container),
        RULE("self.plural == self.plural.lowerAscii()", plural_is_lower),
        RULE("!has(self.singular) || self.singular == self.singular.lowerAscii()", singular_is_lower),
        RULE("self.scope == 'LegacyCluster' || has(self.machinery) || !has(self.claimNames)", claims_need_legacy),
        RULE("self.scope == 'LegacyCluster' || has(self.machinery) || !has(self.connectionSecretKeys)",
             secrets_need_legacy),
        RULE("has(self.machinery) || !has(self.claimNames)", has_no_claims),
        RULE("has(self.machinery) || !has(self.connectionSecretKeys)", has_no_secrets),
        RULE("!has(self.kind) || self.kind == 'Composition'", kind_is_composition),
        RULE("!has(self.apiVersion) || self.apiVersion.startsWith('apiextensions.crossplane.io/')",
             version_is_of_compositions),
        RULE("!has(self.versions)", template_has_one_version),
        RULE("has(self.to) || has(self.pipeline) || has(self.functions)", first_has_resources),
        RULE("self.metadata.name == self.spec.crdSpecTemplate.names.plural + '.' + self.spec.crdSpecTemplate.group",
             definition_has_name),
        RULE("self.metadata.name == self.spec.infrastructureDefinitionReference.name", publication_has_name),
        RULE("self.strategy == 'Webhook' && has(self.webhook)", conversion_has_webhook),
        RULE("self.matches('^[^\\\\.\\\\/]+(\\\\.[^\\\\.\\\\/]+)+(\\\\/[^\\\\/:@]+)+(:[^:@]+(@sha256.+)?|@sha256.+)$')",
             is_image),
        RULE("!has(self.activeRevisionLimit) || self.revisionHistoryLimit == 0 || self.activeRevisionLimit <= "
             "self.revisionHistoryLimit",
             limits_agree),
        RULE("!has(self.rollout) || self.rollout.to == self.__package__", rollout_is_of_package),
        RULE("!has(self.rollout) || has(self.activeRevisionLimit) && self.activeRevisionLimit >= 2", rollout_has_room),
        RULE("size(self) > 0", list_has_items),
        { STR_INIT("self == oldSelf || oldSelf != 'Active'"), true, state_stays_active },
        RULE("has(self.resourceRef) || has(self.resourceSelector)", usage_has_resource),
        RULE("has(self.by) || has(self.reason)", usage_has_cause),
        RULE("has(self.by) || (!has(self.of.resourceRef) || !has(self.of.resourceRef.__namespace__)) && "
             "(!has(self.of.resourceSelector) || !has(self.of.resourceSelector.__namespace__))",
             usage_stays_in_namespace),
};
const size_t n_own_kind_rules = ARRAY_SIZE(own_kind_rules);
