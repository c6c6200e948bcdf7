/* PriorityClasses and EndpointSlices. */
#include "builtin-strategies.h"

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
