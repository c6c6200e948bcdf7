/* Maps with string keys. */
#include "sprig.h"

static int key_of(struct gt_context *c, struct gt_value v, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct gt_value text;
        int r;

        if (v.type == GT_STRING) {
                *ret = gt_str(v);
                return 0;
        }
        sprig_append_text(c, &b, v);
        r = gt_take_text(c, &b, &text);
        *ret = gt_str(text);
        return r;
}

/* A key without a value gets the empty text. */
SPRIG(dict)
{
        *ret = gt_map_new(c, GT_MAP);
        for (size_t i = 0; i < n; i += 2) {
                struct str key = STR("");
                int r = key_of(c, arguments[i], &key);

                if (r == 0)
                        r = gt_spend(c, 1);
                if (r < 0)
                        return r;
                gt_map_set(c, *ret, key, i + 1 < n ? gt_boxed(arguments[i + 1]) : gt_boxed(gt_string(STR(""))));
        }
        return 0;
}

SPRIG(get)
{
        if (!gt_map_get(c, arguments[0], gt_str(arguments[1]), ret))
                *ret = gt_string(STR(""));
        return 0;
}

SPRIG(has_key)
{
        struct gt_value ignored;

        return sprig_return_bool(gt_map_get(c, arguments[0], gt_str(arguments[1]), &ignored), ret);
}

SPRIG(set)
{
        if (!arguments[0].map)
                return gt_fail(c, "assignment to entry in nil map");
        gt_map_set(c, arguments[0], gt_str(arguments[1]), gt_boxed(arguments[2]));
        *ret = arguments[0];
        return gt_spend(c, 1);
}

SPRIG(unset)
{
        if (arguments[0].map)
                gt_map_remove(c, arguments[0], gt_str(arguments[1]));
        *ret = arguments[0];
        return 0;
}

/* The order is random in Go; here the keys are sorted. */
SPRIG(keys)
{
        size_t count = 0, at = 0;
        int r;

        for (size_t i = 0; i < n; i++)
                count += gt_map_count(arguments[i]);
        r = gt_spend(c, count);
        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_STRINGS, count);
        for (size_t i = 0; i < n; i++) {
                size_t n_members;
                const struct gt_member *members = gt_map_members(c, arguments[i], &n_members);

                for (size_t j = 0; j < n_members; j++)
                        gt_list_put(*ret, at++, members[j].key);
        }
        return 0;
}

SPRIG(values)
{
        size_t count;
        const struct gt_member *members = gt_map_members(c, arguments[0], &count);
        int r = gt_spend(c, count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_LIST, count);
        for (size_t i = 0; i < count; i++)
                gt_list_put(*ret, i, gt_boxed(members[i].value));
        return 0;
}

SPRIG(pick)
{
        struct gt_value v;

        *ret = gt_map_new(c, GT_MAP);
        for (size_t i = 1; i < n; i++)
                if (gt_map_get(c, arguments[0], gt_str(arguments[i]), &v))
                        gt_map_set(c, *ret, gt_str(arguments[i]), v);
        return gt_spend(c, n);
}

SPRIG(omit)
{
        size_t count;
        const struct gt_member *members = gt_map_members(c, arguments[0], &count);
        int r = gt_spend(c, count + n);

        if (r < 0)
                return r;
        *ret = gt_map_new(c, GT_MAP);
        for (size_t i = 0; i < count; i++)
                gt_map_set(c, *ret, gt_str(members[i].key), members[i].value);
        for (size_t i = 1; i < n; i++)
                gt_map_remove(c, *ret, gt_str(arguments[i]));
        return 0;
}

SPRIG(pluck)
{
        struct gt_value list = gt_list_new(c, GT_LIST, n - 1), v;
        size_t n_found = 0;

        for (size_t i = 1; i < n; i++)
                if (gt_map_get(c, arguments[i], gt_str(arguments[0]), &v))
                        gt_list_put(list, n_found++, gt_boxed(v));
        *ret = gt_list_slice(c, list, 0, n_found);
        return gt_spend(c, n);
}

/* The text of Go's panic for a failed type assertion. */
static int wrong_type(struct gt_context *c, struct gt_value v, const char *wanted)
{
        struct str type = gt_is_nil(v) ? STR("nil") : gt_type_name(v);

        return gt_fail(c, "interface conversion: interface {} is %.*s, not %s", STR_ARG(type), wanted);
}

/* Arguments: keys, the result if one of them is missing, and the map. */
SPRIG(dig)
{
        struct gt_value v;

        if (n < 3)
                return gt_fail(c, "dig needs at least three arguments");
        if (arguments[n - 1].type != GT_MAP)
                return wrong_type(c, arguments[n - 1], "map[string]interface {}");
        for (size_t i = 0; i < n - 2; i++)
                if (arguments[i].type != GT_STRING)
                        return wrong_type(c, arguments[i], "string");
        v = arguments[n - 1];
        for (size_t i = 0; i < n - 2; i++) {
                if (v.type != GT_MAP)
                        return wrong_type(c, v, "map[string]interface {}");
                if (!gt_map_get(c, v, gt_str(arguments[i]), &v)) {
                        *ret = arguments[n - 2];
                        return 0;
                }
        }
        *ret = v;
        return 0;
}
