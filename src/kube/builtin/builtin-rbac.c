/* Roles and bindings as objects: what the API refuses to store (docs/spec/apiserver 9.5). What they allow is in src/kube/access. */
#include "builtin-strategies.h"

#include "name.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static bool is_empty(const struct value *v, const char *list)
{
        return value_count(value_get(v, str_from(list))) == 0;
}

/* --- Roles --- */

static void check_rule(struct field_errors *e, const struct value *rule, struct str field, bool is_namespaced)
{
        const struct value *urls = value_get(rule, STR("nonResourceURLs"));

        if (is_empty(rule, "verbs"))
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "verbs"), NULL,
                                "verbs must contain at least one value");
        if (value_count(urls)) {
                if (is_namespaced)
                        field_error_add(e, FIELD_INVALID, field_below(e, field, "nonResourceURLs"), urls,
                                        "namespaced rules cannot apply to non-resource URLs");
                if (!is_empty(rule, "apiGroups") || !is_empty(rule, "resources") || !is_empty(rule, "resourceNames"))
                        field_error_add(e, FIELD_INVALID, field_below(e, field, "nonResourceURLs"), urls,
                                        "rules cannot apply to both regular resources and non-resource URLs");
                return;
        }
        if (is_empty(rule, "apiGroups"))
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "apiGroups"), NULL,
                                "resource rules must supply at least one api group");
        if (is_empty(rule, "resources"))
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "resources"), NULL,
                                "resource rules must supply at least one resource");
}

static void check_rules(struct field_errors *e, const struct value *object, bool is_namespaced)
{
        const struct value *rules = value_get(object, STR("rules"));

        for (size_t i = 0; i < value_count(rules); i++)
                check_rule(e, value_item(rules, i), arena_printf(e->arena, "rules[%zu]", i), is_namespaced);
}

static void validate_role(struct arena *a _unused_, const struct write_request *req _unused_,
                          const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                          struct str_list *warnings _unused_)
{
        check_rules(errors, object, true);
}

static void validate_cluster_role(struct arena *a _unused_, const struct write_request *req _unused_,
                                  const struct value *old _unused_, const struct value *object,
                                  struct field_errors *errors, struct str_list *warnings _unused_)
{
        check_rules(errors, object, false);
}

const struct kind_strategy role_strategy = { .validate = validate_role };
const struct kind_strategy cluster_role_strategy = { .validate = validate_cluster_role };

/* --- Bindings --- */

static void check_group(struct field_errors *e, const struct value *v, struct str field, struct str wanted)
{
        const struct value *group = value_get(v, STR("apiGroup"));

        if (!str_equal(value_str(group), wanted))
                field_error_add_unsupported(e, field_below(e, field, "apiGroup"), group ? group : &value_empty_string,
                                            &wanted, 1);
}

static void add_name_texts(struct field_errors *e, struct str field, const struct value *name, const struct str *texts,
                           size_t n)
{
        for (size_t i = 0; i < n; i++)
                field_error_add(e, FIELD_INVALID, field, name, "%.*s", STR_ARG(texts[i]));
}

static void check_role_reference(struct field_errors *e, const struct value *object, bool is_namespaced)
{
        static const struct str kinds[] = { STR_INIT("Role"), STR_INIT("ClusterRole") };
        const struct value *reference = value_get(object, STR("roleRef")), *name = value_get(reference, STR("name"));
        const struct value *kind = value_get(reference, STR("kind"));
        bool is_known = str_equal(value_str(kind), kinds[1]) || (is_namespaced && str_equal(value_str(kind), kinds[0]));
        struct str texts[4];

        check_group(e, reference, STR("roleRef"), STR(RBAC_GROUP));
        if (!is_known)
                field_error_add_unsupported(e, STR("roleRef.kind"), kind ? kind : &value_empty_string,
                                            is_namespaced ? kinds : kinds + 1, is_namespaced ? 2 : 1);
        if (value_str(name).n == 0)
                field_error_add(e, FIELD_REQUIRED, STR("roleRef.name"), NULL, "%s", "");
        else
                add_name_texts(e, STR("roleRef.name"), name, texts,
                               name_check_path_segment(e->arena, value_str(name), false, texts));
}

static void check_service_account(struct field_errors *e, const struct value *subject, struct str field,
                                  bool is_namespaced)
{
        const struct value *name = value_get(subject, STR("name"));
        struct str texts[4];

        if (value_str(name).n)
                add_name_texts(e, field_below(e, field, "name"), name, texts,
                               name_check_subdomain(e->arena, value_str(name), false, texts));
        check_group(e, subject, field, STR(""));
        if (!is_namespaced && value_str(value_get(subject, STR("namespace"))).n == 0)
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "namespace"), NULL, "%s", "");
}

static void check_subject(struct field_errors *e, const struct value *subject, struct str field, bool is_namespaced)
{
        static const struct str kinds[] = { STR_INIT("ServiceAccount"), STR_INIT("User"), STR_INIT("Group") };
        const struct value *kind = value_get(subject, STR("kind"));

        if (value_str(value_get(subject, STR("name"))).n == 0)
                field_error_add(e, FIELD_REQUIRED, field_below(e, field, "name"), NULL, "%s", "");
        if (str_equal(value_str(kind), kinds[0]))
                check_service_account(e, subject, field, is_namespaced);
        else if (str_equal(value_str(kind), kinds[1]) || str_equal(value_str(kind), kinds[2]))
                check_group(e, subject, field, STR(RBAC_GROUP));
        else
                field_error_add_unsupported(e, field_below(e, field, "kind"), kind ? kind : &value_empty_string, kinds,
                                            ARRAY_SIZE(kinds));
}

/* The reference as Go's internal type shows it. */
static struct value shown_reference(struct arena *a, const struct value *reference)
{
        struct member members[] = { { STR("APIGroup"), value_of_str(value_str(value_get(reference, STR("apiGroup")))) },
                                    { STR("Kind"), value_of_str(value_str(value_get(reference, STR("kind")))) },
                                    { STR("Name"), value_of_str(value_str(value_get(reference, STR("name")))) } };

        return value_of_members(a, members, ARRAY_SIZE(members), true);
}

static void check_binding(struct field_errors *e, const struct value *old, const struct value *object,
                          bool is_namespaced)
{
        const struct value *subjects = value_get(object, STR("subjects"));
        const struct value *before = value_get(old, STR("roleRef")), *now = value_get(object, STR("roleRef"));

        check_role_reference(e, object, is_namespaced);
        for (size_t i = 0; i < value_count(subjects); i++)
                check_subject(e, value_item(subjects, i), arena_printf(e->arena, "subjects[%zu]", i), is_namespaced);
        if (before && now && !value_equal(before, now)) {
                struct value shown = shown_reference(e->arena, now);

                field_error_add(e, FIELD_INVALID, STR("roleRef"), &shown, "cannot change roleRef");
        }
}

static void validate_role_binding(struct arena *a _unused_, const struct write_request *req _unused_,
                                  const struct value *old, const struct value *object, struct field_errors *errors,
                                  struct str_list *warnings _unused_)
{
        check_binding(errors, old, object, true);
}

static void validate_cluster_role_binding(struct arena *a _unused_, const struct write_request *req _unused_,
                                          const struct value *old, const struct value *object,
                                          struct field_errors *errors, struct str_list *warnings _unused_)
{
        check_binding(errors, old, object, false);
}

const struct kind_strategy role_binding_strategy = { .validate = validate_role_binding };
const struct kind_strategy cluster_role_binding_strategy = { .validate = validate_cluster_role_binding };
