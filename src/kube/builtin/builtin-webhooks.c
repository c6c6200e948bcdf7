/* Webhook configurations as objects. The webhooks themselves are called elsewhere, and so are the expressions of match conditions
 * compiled there: here an expression must only be there. */
#include "builtin-strategies.h"

#include "label-selector.h"
#include "map.h"
#include "name.h"
#include "webhook-check.h"

enum { MAX_CONDITIONS = 64, MAX_TIMEOUT_SECONDS = 30 };

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

static bool has_item(const struct value *list, const char *text)
{
        VALUE_FOREACH_ITEM (item, list)
                if (str_equal(value_str(item), str_from(text)))
                        return true;
        return false;
}

static void check_choice(struct field_errors *e, struct str field, const struct value *v, const struct str *choices,
                         size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(value_str(v), choices[i]))
                        return;
        field_error_add_unsupported(e, field, v ? v : &value_empty_string, choices, n);
}

/* --- Rules --- */

/* A list that must not be empty and, if it has `*`, has nothing else. */
static void check_list(struct field_errors *e, struct str field, const struct value *list, const char *others)
{
        if (value_count(list) == 0)
                field_error_add(e, FIELD_REQUIRED, field, NULL, "%s", "");
        else if (value_count(list) > 1 && has_item(list, "*"))
                field_error_add(e, FIELD_INVALID, field, list, "if '*' is present, must not specify other %s", others);
}

static void check_operations(struct field_errors *e, struct str field, const struct value *list)
{
        static const struct str known[] = { STR_INIT("*"), STR_INIT("CONNECT"), STR_INIT("CREATE"), STR_INIT("DELETE"),
                                            STR_INIT("UPDATE") };

        check_list(e, field, list, "operations");
        for (size_t i = 0; i < value_count(list); i++)
                check_choice(e, field_item(e, field, i), value_item(list, i), known, ARRAY_SIZE(known));
}

static void check_api_versions(struct field_errors *e, struct str field, const struct value *list)
{
        check_list(e, field, list, "API versions");
        for (size_t i = 0; i < value_count(list); i++)
                if (str_is_empty(value_str(value_item(list, i))))
                        field_error_add(e, FIELD_REQUIRED, field_item(e, field, i), NULL, "%s", "");
}

/* The resources of a rule that have been looked at. */
struct rule_resources {
        struct map with_all; /* x of each x / * */
        struct map of_all;   /* y of each * / y */
        struct str plain;    /* the last one without a subresource */
};

/* A resource must not be part of one that stands before it. */
static void check_subresource(struct field_errors *e, struct str field, const struct value *item,
                              struct rule_resources *seen)
{
        struct str text = value_str(item), resource, sub = text;

        if (!str_split(&sub, '/', &resource)) {
                seen->plain = text;
                return;
        }
        if (map_has(&seen->with_all, resource))
                field_error_add(e, FIELD_INVALID, field, item, "if '%.*s/*' is present, must not specify %.*s",
                                STR_ARG(resource), STR_ARG(text));
        if (map_has(&seen->of_all, sub))
                field_error_add(e, FIELD_INVALID, field, item, "if '*/%.*s' is present, must not specify %.*s",
                                STR_ARG(sub), STR_ARG(text));
        if (str_equal(sub, STR("*")))
                map_add(&seen->with_all, resource, seen);
        if (str_equal(resource, STR("*")))
                map_add(&seen->of_all, sub, seen);
}

static void check_resources(struct field_errors *e, struct str field, const struct value *list)
{
        struct rule_resources seen = { 0 };

        if (value_count(list) == 0)
                field_error_add(e, FIELD_REQUIRED, field, NULL, "%s", "");
        for (size_t i = 0; i < value_count(list); i++) {
                if (str_is_empty(value_str(value_item(list, i))))
                        field_error_add(e, FIELD_REQUIRED, field_item(e, field, i), NULL, "%s", "");
                else
                        check_subresource(e, field_item(e, field, i), value_item(list, i), &seen);
        }
        if (value_count(list) > 1 && has_item(list, "*/*"))
                field_error_add(e, FIELD_INVALID, field, list, "if '*/*' is present, must not specify other resources");
        /* Upstream looks at the last one only, so that `*` may stand behind others. */
        if (has_item(list, "*") && !str_equal(seen.plain, STR("*")))
                field_error_add(e, FIELD_INVALID, field, list,
                                "if '*' is present, must not specify other resources without subresources");
        map_done(&seen.with_all);
        map_done(&seen.of_all);
}

static void check_rule(struct field_errors *e, struct str field, const struct value *rule)
{
        static const struct str scopes[] = { STR_INIT("*"), STR_INIT("Cluster"), STR_INIT("Namespaced") };

        check_operations(e, field_below(e, field, "operations"), field_of(rule, "operations"));
        check_list(e, field_below(e, field, "apiGroups"), field_of(rule, "apiGroups"), "API groups");
        check_api_versions(e, field_below(e, field, "apiVersions"), field_of(rule, "apiVersions"));
        check_resources(e, field_below(e, field, "resources"), field_of(rule, "resources"));
        if (value_is_string(field_of(rule, "scope")))
                check_choice(e, field_below(e, field, "scope"), field_of(rule, "scope"), scopes, ARRAY_SIZE(scopes));
}

/* --- Match conditions --- */

static void check_condition_name(struct field_errors *e, struct str field, const struct value *name, struct map *seen)
{
        struct str text = value_str(name), texts[4];
        size_t n;

        if (str_is_empty(text)) {
                field_error_add(e, FIELD_REQUIRED, field, NULL, "%s", "");
                return;
        }
        n = name_check_qualified(e->arena, text, texts);
        for (size_t i = 0; i < n; i++)
                field_error_add(e, FIELD_INVALID, field, name, "%.*s", STR_ARG(texts[i]));
        if (!map_add(seen, text, seen))
                field_error_add(e, FIELD_DUPLICATE, field, name, "%s", "");
}

static void check_conditions(struct field_errors *e, struct str field, const struct value *conditions)
{
        _cleanup_map_ struct map seen = { 0 };
        struct value count = value_of_int((int64_t)value_count(conditions));

        if (count.integer > MAX_CONDITIONS)
                field_error_add(e, FIELD_TOO_MANY, field, &count, "must have at most %d items", MAX_CONDITIONS);
        for (size_t i = 0; i < value_count(conditions); i++) {
                const struct value *condition = value_item(conditions, i);
                struct str at = field_item(e, field, i);

                if (str_is_empty(str_trim(value_str(field_of(condition, "expression")))))
                        field_error_add(e, FIELD_REQUIRED, field_below(e, at, "expression"), NULL, "%s", "");
                check_condition_name(e, field_below(e, at, "name"), field_of(condition, "name"), &seen);
        }
}

/* --- Webhooks --- */

/* A domain name of three parts at least. */
static void check_name(struct field_errors *e, struct str field, const struct value *name)
{
        struct str text = value_str(name), texts[4];
        size_t n = name_check_subdomain(e->arena, text, false, texts), dots = 0;

        for (size_t i = 0; i < text.n; i++)
                dots += text.p[i] == '.';
        if (text.n == 0)
                field_error_add(e, FIELD_REQUIRED, field, NULL, "%s", "");
        else if (n == 0 && dots < 2)
                field_error_add(e, FIELD_INVALID, field, name,
                                "should be a domain with at least three segments separated by dots");
        for (size_t i = 0; text.n && i < n; i++)
                field_error_add(e, FIELD_INVALID, field, name, "%.*s", STR_ARG(texts[i]));
}

static void check_policies(struct field_errors *e, struct str field, const struct value *hook)
{
        static const struct str failures[] = { STR_INIT("Fail"), STR_INIT("Ignore") };
        static const struct str matches[] = { STR_INIT("Equivalent"), STR_INIT("Exact") };
        static const struct str effects[] = { STR_INIT("None"), STR_INIT("NoneOnDryRun") };
        const struct value *effect = field_of(hook, "sideEffects"), *timeout = field_of(hook, "timeoutSeconds");

        if (value_is_string(field_of(hook, "failurePolicy")))
                check_choice(e, field_below(e, field, "failurePolicy"), field_of(hook, "failurePolicy"), failures,
                             ARRAY_SIZE(failures));
        if (value_is_string(field_of(hook, "matchPolicy")))
                check_choice(e, field_below(e, field, "matchPolicy"), field_of(hook, "matchPolicy"), matches,
                             ARRAY_SIZE(matches));
        if (!effect || value_is_null(effect))
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "sideEffects"), NULL,
                                "must specify one of None, NoneOnDryRun");
        else
                check_choice(e, field_below(e, field, "sideEffects"), effect, effects, ARRAY_SIZE(effects));
        if (value_is_int(timeout) && (timeout->integer < 1 || timeout->integer > MAX_TIMEOUT_SECONDS))
                field_error_add(e, FIELD_INVALID, field_below(e, field, "timeoutSeconds"), timeout,
                                "the timeout value must be between 1 and %d seconds", MAX_TIMEOUT_SECONDS);
}

static void check_hook(struct field_errors *e, const struct value *hook, struct str field)
{
        static const struct str reinvocations[] = { STR_INIT("IfNeeded"), STR_INIT("Never") };
        const struct value *rules = field_of(hook, "rules"), *reinvocation = field_of(hook, "reinvocationPolicy");

        check_name(e, field_below(e, field, "name"), field_of(hook, "name"));
        for (size_t i = 0; i < value_count(rules); i++)
                check_rule(e, field_item(e, field_below(e, field, "rules"), i), value_item(rules, i));
        check_policies(e, field, hook);
        label_selector_check(e, field_below(e, field, "namespaceSelector"), field_of(hook, "namespaceSelector"));
        label_selector_check(e, field_below(e, field, "objectSelector"), field_of(hook, "objectSelector"));
        if (value_is_string(reinvocation)) /* of mutating webhooks */
                check_choice(e, field_below(e, field, "reinvocationPolicy"), reinvocation, reinvocations,
                             ARRAY_SIZE(reinvocations));
        webhook_check_client(e, field_below(e, field, "clientConfig"), field_of(hook, "clientConfig"));
        check_conditions(e, field_below(e, field, "matchConditions"), field_of(hook, "matchConditions"));
        webhook_check_versions(e, field_below(e, field, "admissionReviewVersions"),
                               field_of(hook, "admissionReviewVersions"), "must specify one of v1, v1beta1");
}

static void validate_webhooks(struct arena *a _unused_, const struct write_request *req _unused_,
                              const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                              struct str_list *warnings _unused_)
{
        const struct value *hooks = field_of(object, "webhooks");
        _cleanup_map_ struct map names = { 0 };

        for (size_t i = 0; i < value_count(hooks); i++) {
                const struct value *name = field_of(value_item(hooks, i), "name");
                struct str field = field_item(errors, STR("webhooks"), i);

                check_hook(errors, value_item(hooks, i), field);
                if (name && !map_add(&names, value_str(name), &names))
                        field_error_add(errors, FIELD_DUPLICATE, field_below(errors, field, "name"), name, "%s", "");
        }
}

const struct kind_strategy webhooks_strategy = { .validate = validate_webhooks };
