/* Tests of values of any kind. */
#include "sprig.h"

bool sprig_is_empty(struct gt_value v)
{
        v = gt_basic(v);
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
                return true;
        case GT_BOOL:
                return !v.boolean;
        case GT_INT:
        case GT_INT64:
                return v.integer == 0;
        case GT_UINT8:
        case GT_UINT64:
                return v.natural == 0;
        case GT_FLOAT64:
                return v.number == 0;
        case GT_COMPLEX128:
                return v.parts[0] == 0 && v.parts[1] == 0;
        case GT_STRING:
                return v.n == 0;
        case GT_BYTES:
        case GT_LIST:
        case GT_STRINGS:
        case GT_INTS:
        case GT_LISTS:
                return gt_list_count(v) == 0;
        case GT_MAP:
        case GT_STRING_MAP:
        case GT_BYTES_MAP:
        case GT_ANY_MAP:
                return gt_map_count(v) == 0;
        case GT_OBJECT:
        case _GT_TYPES:
                return false;
        }
        return false;
}

SPRIG(empty)
{
        return sprig_return_bool(sprig_is_empty(arguments[0]), ret);
}

SPRIG(default)
{
        *ret = n < 2 || sprig_is_empty(arguments[1]) ? arguments[0] : arguments[1];
        return 0;
}

SPRIG(coalesce)
{
        for (size_t i = 0; i < n; i++)
                if (!sprig_is_empty(arguments[i])) {
                        *ret = arguments[i];
                        return 0;
                }
        *ret = gt_nil();
        return 0;
}

SPRIG(all)
{
        for (size_t i = 0; i < n; i++)
                if (sprig_is_empty(arguments[i]))
                        return sprig_return_bool(false, ret);
        return sprig_return_bool(true, ret);
}

SPRIG(any)
{
        for (size_t i = 0; i < n; i++)
                if (!sprig_is_empty(arguments[i]))
                        return sprig_return_bool(true, ret);
        return sprig_return_bool(false, ret);
}

SPRIG(ternary)
{
        *ret = arguments[2].boolean ? arguments[0] : arguments[1];
        return 0;
}

SPRIG(fail)
{
        return gt_fail(c, "%.*s", STR_ARG(gt_str(arguments[0])));
}

SPRIG(deep_equal)
{
        bool is_equal = false;
        int r = gt_deep_equal(c, arguments[0], arguments[1], &is_equal);

        *ret = gt_bool(is_equal);
        return r;
}

SPRIG(type_of)
{
        return sprig_return_text(gt_type_name(arguments[0]), ret);
}

SPRIG(type_is)
{
        return sprig_return_bool(str_equal(gt_str(arguments[0]), gt_type_name(arguments[1])), ret);
}

/* A pointer to the type is accepted too. */
SPRIG(type_is_like)
{
        struct str wanted = gt_str(arguments[0]), type = gt_type_name(arguments[1]);

        return sprig_return_bool(
                str_equal(wanted, type) || (str_cut_prefix(&type, STR("*")) && str_equal(wanted, type)), ret);
}

SPRIG(kind_of)
{
        return sprig_return_text(gt_kind_name(gt_kind(arguments[0])), ret);
}

SPRIG(kind_is)
{
        return sprig_return_bool(str_equal(gt_str(arguments[0]), gt_kind_name(gt_kind(arguments[1]))), ret);
}
