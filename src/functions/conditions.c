#include "conditions.h"

#include <math.h>

#include "timetext.h"

static bool is_text(const struct value *v)
{
        return !v || value_is_null(v) || value_is_string(v);
}

static bool is_time(const struct value *v)
{
        struct instant t;

        if (!v || value_is_null(v))
                return true;
        return value_is_string(v) && time_parse_rfc3339(value_str(v), &t, NULL) >= 0;
}

/* Upstream reads the number from JSON text: -2^63 is written as -9223372036854776000, which no longer fits an int64. */
static bool is_int64(const struct value *v)
{
        double d = value_double(v, 0.5);

        if (!v || value_is_null(v) || value_is_int(v))
                return true;
        return value_is_double(v) && d > -0x1p63 && d < 0x1p63 && d == trunc(d);
}

static bool is_condition(const struct value *v)
{
        if (value_is_null(v))
                return true;
        return value_is_object(v) && is_text(value_get(v, STR("type"))) && is_text(value_get(v, STR("status"))) &&
               is_text(value_get(v, STR("reason"))) && is_text(value_get(v, STR("message"))) &&
               is_time(value_get(v, STR("lastTransitionTime"))) && is_int64(value_get(v, STR("observedGeneration")));
}

static bool are_conditions(const struct value *v)
{
        if (!v || value_is_null(v))
                return true;
        if (!value_is_array(v))
                return false;
        VALUE_FOREACH_ITEM (item, v)
                if (!is_condition(item))
                        return false;
        return true;
}

struct str conditions_status(const struct value *object, struct str type)
{
        const struct value *status = value_get(object, STR("status"));
        const struct value *conditions = value_get(status, STR("conditions"));

        if (!status || (!value_is_null(status) && !value_is_object(status)) || !are_conditions(conditions))
                return STR("");
        VALUE_FOREACH_ITEM (item, conditions)
                if (str_equal(value_str(value_get(item, STR("type"))), type))
                        return value_str(value_get(item, STR("status")));
        return STR("Unknown");
}

bool conditions_is_true(const struct value *object, struct str type)
{
        return str_equal(conditions_status(object, type), STR("True"));
}
