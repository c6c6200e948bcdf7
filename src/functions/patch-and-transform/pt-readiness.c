/* Checks whether an observed resource is ready, by the checks of its template. */
#include "pt.h"

#include "conditions.h"

const char *const pt_check_names[PT_N_CHECK_TYPES] = { "NonEmpty",   "MatchString",    "MatchInteger", "MatchTrue",
                                                       "MatchFalse", "MatchCondition", "None" };

/* --- Checks ---
 *
 * Each check returns 1, 0 or an error. */

static int wrong_type(const struct pt_check *c, const char *text, struct err *err)
{
        return err_set(err, ERR_INVALID, "%.*s: %s", STR_ARG(c->path.text), text);
}

static int match_string(const struct pt_check *c, const struct value *v, struct err *err)
{
        if (!value_is_string(v))
                return wrong_type(c, "not a string", err);
        return str_equal(value_str(v), c->match_string);
}

/* Every number on the wire is a double, so upstream's check never passes; here an integral double counts as an integer. */
static int match_integer(const struct pt_check *c, const struct value *v, struct err *err)
{
        if (!value_is_int(v) && !(value_is_double(v) && (value_int(v, 0) != 0 || v->number == 0)))
                return wrong_type(c, "not a (int64) number", err);
        return value_int(v, 0) == c->match_integer.value;
}

static int match_bool(const struct pt_check *c, const struct value *v, bool wanted, struct err *err)
{
        if (!value_is_bool(v))
                return wrong_type(c, "not a bool", err);
        return value_bool(v, false) == wanted;
}

static int check_value(const struct pt_check *c, enum pt_check_type type, const struct value *v, struct err *err)
{
        switch (type) {
        case PT_NON_EMPTY:
                return 1;
        case PT_MATCH_STRING:
                return match_string(c, v, err);
        case PT_MATCH_INTEGER:
                return match_integer(c, v, err);
        case PT_MATCH_TRUE:
        case PT_MATCH_FALSE:
                return match_bool(c, v, type == PT_MATCH_TRUE, err);
        case PT_MATCH_CONDITION:
        case PT_NONE:
        case PT_N_CHECK_TYPES:
                break;
        }
        return 1;
}

static int check(struct arena *a, struct pt_check *c, const struct pt_object *object, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        enum pt_check_type type = (enum pt_check_type)pt_find(c->type, pt_check_names, PT_N_CHECK_TYPES);
        const struct value *v;
        int r;

        if (type == PT_NONE)
                return 1;
        if (type == PT_MATCH_CONDITION) {
                if (!c->match_condition)
                        return err_set(err, ERR_INVALID, "matchCondition: cannot be absent for type MatchCondition");
                return str_equal(conditions_status(object->root, c->match_condition->type), c->match_condition->status);
        }
        r = pt_get(a, object, &c->path, &v, &problem);
        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0)
                return err_move(err, &problem);
        return check_value(c, type, v, err);
}

int pt_check_readiness(struct arena *a, const struct input_list *checks, const struct pt_object *object,
                       struct err *err)
{
        struct pt_check *list = checks->p;

        if (checks->n == 0)
                return conditions_is_true(object->root, STR("Ready"));
        for (size_t i = 0; i < checks->n; i++) {
                int r = check(a, &list[i], object, err);

                if (r < 0)
                        return err_wrap(err, "cannot run readiness check at index %zu", i);
                if (r == 0)
                        return 0;
        }
        return 1;
}
