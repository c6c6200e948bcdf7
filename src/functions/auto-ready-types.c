/* Upstream converts objects of some kinds to their Go types first, and an object that does not convert is not ready. So tables hold
 * the members of these types, and objects are checked against them: null fits everything, unknown members are ignored, and a number
 * for an integer must be integral but may have any size. */
#include "auto-ready.h"

#include <math.h>

#include "quantity.h"
#include "timetext.h"

enum shape {
        ONE,
        LIST,
        MAP,
};

enum ready_kind {
        STRING,
        BOOL,
        INT32,
        INT64,
        TIME,
        QUANTITY,
        INT_OR_STRING,
        FIELDS, /* anything */
        OBJECT,
};

struct type_field {
        const char *name;
        uint8_t shape;
        uint8_t kind;
        uint16_t type; /* for OBJECT */
};

struct type {
        const struct type_field *fields;
        size_t n;
};

#define TYPE(table)                        \
        {                                  \
                (table), ARRAY_SIZE(table) \
        }

#include "auto-ready-tables.h"

static bool fits_object(struct arena *a, const struct value *v, const struct type *type);

static bool is_integer(const struct value *v)
{
        return value_is_int(v) || (value_is_double(v) && v->number == trunc(v->number));
}

static bool is_time(const struct value *v)
{
        struct instant t;

        return value_is_string(v) && time_parse_rfc3339(value_str(v), &t, NULL) >= 0;
}

/* Every JSON number is a quantity. Blanks around a quantity in a text are ignored. */
static bool is_quantity(struct arena *a, const struct value *v)
{
        struct str s = value_str(v);
        struct quantity q;

        if (!value_is_string(v))
                return value_is_number(v);
        while (str_cut_prefix(&s, STR(" ")))
                ;
        while (str_cut_suffix(&s, STR(" ")))
                ;
        return quantity_parse(a, s, &q, NULL) >= 0;
}

static bool is_int_or_string(const struct value *v)
{
        double d = value_double(v, 0);

        return value_is_string(v) || (is_integer(v) && d >= INT32_MIN && d <= INT32_MAX);
}

static bool fits_one(struct arena *a, const struct value *v, const struct type_field *f)
{
        if (value_is_null(v))
                return true;
        switch ((enum ready_kind)f->kind) {
        case STRING:
                return value_is_string(v);
        case BOOL:
                return value_is_bool(v);
        case INT32:
        case INT64:
                return is_integer(v);
        case TIME:
                return is_time(v);
        case QUANTITY:
                return is_quantity(a, v);
        case INT_OR_STRING:
                return is_int_or_string(v);
        case FIELDS:
                return true;
        case OBJECT:
                return fits_object(a, v, &types[f->type]);
        }
        return true;
}

static bool fits_field(struct arena *a, const struct value *v, const struct type_field *f)
{
        if (f->shape == ONE || value_is_null(v))
                return fits_one(a, v, f);
        if (!(f->shape == LIST ? value_is_array(v) : value_is_object(v)))
                return false;
        VALUE_FOREACH_ITEM (item, v)
                if (!fits_one(a, item, f))
                        return false;
        VALUE_FOREACH_MEMBER (m, v)
                if (!fits_one(a, &m->value, f))
                        return false;
        return true;
}

static bool fits_object(struct arena *a, const struct value *v, const struct type *type)
{
        if (!value_is_object(v))
                return false;
        for (size_t i = 0; i < type->n; i++) {
                const struct value *member = value_get(v, str_from(type->fields[i].name));

                if (member && !fits_field(a, member, &type->fields[i]))
                        return false;
        }
        return true;
}

bool auto_ready_fits_type(struct arena *a, const struct value *object, enum auto_ready_type type)
{
        static const uint16_t numbers[] = {
                [TYPE_POD] = T_POD,
                [TYPE_PERSISTENT_VOLUME_CLAIM] = T_PERSISTENT_VOLUME_CLAIM,
                [TYPE_REPLICA_SET] = T_REPLICA_SET,
                [TYPE_JOB] = T_JOB,
                [TYPE_CRON_JOB] = T_CRON_JOB,
                [TYPE_HORIZONTAL_POD_AUTOSCALER] = T_HORIZONTAL_POD_AUTOSCALER,
        };

        return type == TYPE_NONE || fits_object(a, object, &types[numbers[type]]);
}
