/* Webhook configurations, PriorityClasses and EndpointSlices as objects. The webhooks themselves are called elsewhere. */
#include "builtin-strategies.h"

#include "name.h"

/* --- Webhooks --- */

static struct str below(struct field_errors *e, struct str field, const char *name)
{
        return arena_printf(e->arena, "%.*s.%s", STR_ARG(field), name);
}

static bool is_one_of(struct str text, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(text, str_from(list[i])))
                        return true;
        return false;
}

static void check_client(struct field_errors *e, const struct value *client, struct str field)
{
        bool has_url = value_get(client, STR("url")), has_service = value_get(client, STR("service"));

        if (has_url == has_service)
                field_error_add(e, FIELD_REQUIRED, below(e, field, "clientConfig"), NULL,
                                "exactly one of url or service is required");
}

static void check_versions(struct field_errors *e, const struct value *hook, struct str field)
{
        static const char *const known[] = { "v1", "v1beta1" };
        const struct value *versions = value_get(hook, STR("admissionReviewVersions"));
        bool is_readable = false;

        VALUE_FOREACH_ITEM (version, versions)
                is_readable |= is_one_of(value_str(version), known, ARRAY_SIZE(known));
        field = below(e, field, "admissionReviewVersions");
        if (value_count(versions) == 0)
                field_error_add(e, FIELD_REQUIRED, field, NULL, "must specify one of v1, v1beta1");
        else if (!is_readable)
                field_error_add(e, FIELD_INVALID, field, versions, "must include at least one of v1, v1beta1");
}

static void check_hook(struct field_errors *e, const struct value *hook, struct str field)
{
        static const char *const effects[] = { "None", "NoneOnDryRun" };
        static const struct str supported[] = { STR_INIT("None"), STR_INIT("NoneOnDryRun") };
        const struct value *name = value_get(hook, STR("name")), *effect = value_get(hook, STR("sideEffects"));
        struct str text = value_str(name), texts[4];
        size_t n = name_check_subdomain(e->arena, text, false, texts), dots = 0;

        for (size_t i = 0; i < text.n; i++)
                dots += text.p[i] == '.';
        if (text.n == 0)
                field_error_add(e, FIELD_REQUIRED, below(e, field, "name"), NULL, "%s", "");
        else if (n == 0 && dots < 2)
                field_error_add(e, FIELD_INVALID, below(e, field, "name"), name,
                                "should be a domain with at least three segments separated by dots");
        for (size_t i = 0; text.n && i < n; i++)
                field_error_add(e, FIELD_INVALID, below(e, field, "name"), name, "%.*s", STR_ARG(texts[i]));
        if (!effect || value_is_null(effect))
                field_error_add(e, FIELD_REQUIRED, below(e, field, "sideEffects"), NULL,
                                "must specify one of None, NoneOnDryRun");
        else if (!is_one_of(value_str(effect), effects, ARRAY_SIZE(effects)))
                field_error_add_unsupported(e, below(e, field, "sideEffects"), effect, supported,
                                            ARRAY_SIZE(supported));
        check_client(e, value_get(hook, STR("clientConfig")), field);
        check_versions(e, hook, field);
}

static void check_name_is_new(struct field_errors *e, const struct value *hooks, size_t i)
{
        const struct value *name = value_get(value_item(hooks, i), STR("name"));

        for (size_t j = 0; name && j < i; j++) {
                const struct value *other = value_get(value_item(hooks, j), STR("name"));

                if (other && value_equal(name, other)) {
                        field_error_add(e, FIELD_DUPLICATE, arena_printf(e->arena, "webhooks[%zu].name", i), name, "%s",
                                        "");
                        return;
                }
        }
}

static void validate_webhooks(struct arena *a _unused_, const struct write_request *req _unused_,
                              const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                              struct str_list *warnings _unused_)
{
        const struct value *hooks = value_get(object, STR("webhooks"));

        for (size_t i = 0; i < value_count(hooks); i++) {
                check_hook(errors, value_item(hooks, i), arena_printf(errors->arena, "webhooks[%zu]", i));
                check_name_is_new(errors, hooks, i);
        }
}

const struct kind_strategy webhooks_strategy = { .validate = validate_webhooks };

/* --- PriorityClasses --- */

#define MAX_PRIORITY 1000000000

static const struct value *prepare_priority_class(struct arena *a, const struct write_request *req _unused_,
                                                  const struct value *old, const struct value *object)
{
        return old ? meta_with(a, object, STR("generation"), value_get(meta(old), STR("generation"))) : object;
}

static void validate_priority_class(struct arena *a _unused_, const struct write_request *req _unused_,
                                    const struct value *old, const struct value *object, struct field_errors *errors,
                                    struct str_list *warnings _unused_)
{
        static const struct str policies[] = { STR_INIT("PreemptLowerPriority"), STR_INIT("Never") };
        const struct value *priority = value_get(object, STR("value"));
        const struct value *policy = value_get(object, STR("preemptionPolicy"));
        bool is_system = str_starts_with(meta_name(object), STR("system-"));

        if (!is_system && value_int(priority, 0) > MAX_PRIORITY)
                field_error_add(errors, FIELD_FORBIDDEN, STR("value"), NULL,
                                "maximum allowed value of a user defined priority is %d", MAX_PRIORITY);
        if (!str_equal(value_str(policy), policies[0]) && !str_equal(value_str(policy), policies[1]))
                field_error_add_unsupported(errors, STR("preemptionPolicy"), policy ? policy : &value_empty_string,
                                            policies, ARRAY_SIZE(policies));
        if (old && value_int(priority, 0) != value_int(value_get(old, STR("value")), 0))
                field_error_add(errors, FIELD_FORBIDDEN, STR("value"), NULL, "may not be changed in an update.");
}

const struct kind_strategy priority_class_strategy = { .prepare = prepare_priority_class,
                                                       .validate = validate_priority_class };

/* --- EndpointSlices --- */

/* Changed labels count as well. */
static const struct value *prepare_endpoint_slice(struct arena *a, const struct write_request *req _unused_,
                                                  const struct value *old, const struct value *object)
{
        const struct value *now = value_get(meta(object), STR("labels")), *before = value_get(meta(old), STR("labels"));

        if (!old || meta_generation(object) != meta_generation(old) || now == before ||
            (now && before && value_equal(now, before)))
                return object;
        return meta_with(a, object, STR("generation"), value_put(a, value_of_int(meta_generation(old) + 1)));
}

const struct kind_strategy endpoint_slice_strategy = { .prepare = prepare_endpoint_slice };
