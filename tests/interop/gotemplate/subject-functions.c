/* Functions whose parameters are of one type each, as the oracle has them. */
#include "buf.h"
#include "gt-print.h"
#include "subject.h"

#define CALLBACK(name) \
        static int name(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)

CALLBACK(fn_string)
{
        *ret = gt_string(ARENA_CONCAT(c->arena, STR("<"), gt_str(arguments[0]), STR(">")));
        return 0;
}

CALLBACK(fn_int)
{
        *ret = gt_int((int64_t)((uint64_t)arguments[0].integer + 1));
        return 0;
}

CALLBACK(fn_int64)
{
        *ret = gt_int64((int64_t)((uint64_t)arguments[0].integer + 1));
        return 0;
}

CALLBACK(fn_float)
{
        *ret = gt_float64(arguments[0].number * 2);
        return 0;
}

CALLBACK(fn_bool)
{
        *ret = gt_bool(!arguments[0].boolean);
        return 0;
}

CALLBACK(fn_map)
{
        *ret = gt_int((int64_t)gt_map_count(arguments[0]));
        return 0;
}

CALLBACK(fn_list)
{
        *ret = gt_int((int64_t)gt_list_count(arguments[0]));
        return 0;
}

CALLBACK(fn_any)
{
        *ret = arguments[0];
        return 0;
}

CALLBACK(fn_two)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gt_append_sprint(c, &b, arguments, n);
        return gt_take_text(c, &b, ret);
}

CALLBACK(fn_many)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct gt_value list = gt_list_new(c, GT_INTS, n - 1);

        for (size_t i = 1; i < n; i++)
                gt_list_put(list, i - 1, arguments[i]);
        gt_append_sprint(c, &b, (struct gt_value[]) { arguments[0], list }, 2);
        return gt_take_text(c, &b, ret);
}

CALLBACK(fn_nil_map)
{
        *ret = gt_nil_of(GT_MAP);
        return 0;
}

CALLBACK(fn_nil_list)
{
        *ret = gt_nil_of(GT_LIST);
        return 0;
}

CALLBACK(fn_strings)
{
        *ret = gt_list_new(c, GT_STRINGS, 2);
        gt_list_put(*ret, 0, gt_string(STR("p")));
        gt_list_put(*ret, 1, gt_string(STR("q")));
        return 0;
}

CALLBACK(fn_ints)
{
        *ret = gt_list_new(c, GT_INTS, 2);
        gt_list_put(*ret, 0, gt_int(4));
        gt_list_put(*ret, 1, gt_int(5));
        return 0;
}

CALLBACK(fn_split)
{
        *ret = gt_map_new(c, GT_STRING_MAP);
        gt_map_set(c, *ret, STR("_0"), gt_string(STR("a")));
        gt_map_set(c, *ret, STR("_1"), gt_string(STR("b")));
        return 0;
}

CALLBACK(fn_bytes)
{
        *ret = gt_bytes(STR("hi"));
        return 0;
}

CALLBACK(fn_fail)
{
        return gt_fail(c, "failed: %.*s", STR_ARG(gt_str(arguments[0])));
}

CALLBACK(fn_panic)
{
        return gt_fail(c, "oops");
}

static const struct gt_func functions[] = {
        { "fnAny", "a", fn_any, 'a', 0 },      { "fnBool", "b", fn_bool, 0, 0 },
        { "fnBytes", "", fn_bytes, 0, 0 },     { "fnFail", "s", fn_fail, 0, 0 },
        { "fnFloat", "f", fn_float, 0, 0 },    { "fnInt", "i", fn_int, 0, 0 },
        { "fnInt64", "l", fn_int64, 0, 0 },    { "fnInts", "", fn_ints, 0, 0 },
        { "fnList", "L", fn_list, 0, 0 },      { "fnMany", "si*", fn_many, 0, 0 },
        { "fnMap", "m", fn_map, 0, 0 },        { "fnNilList", "", fn_nil_list, 0, 0 },
        { "fnNilMap", "", fn_nil_map, 0, 0 },  { "fnPanic", "", fn_panic, 0, 0 },
        { "fnSplit", "", fn_split, 0, 0 },     { "fnString", "s", fn_string, 0, 0 },
        { "fnStrings", "", fn_strings, 0, 0 }, { "fnTwo", "si", fn_two, 0, 0 },
};

const struct gt_func_table subject_test_functions = { functions, ARRAY_SIZE(functions) };
