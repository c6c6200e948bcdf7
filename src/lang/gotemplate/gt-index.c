/* index, slice, len. */
#include "gt-builtin.h"

/* Checks an index of a list or string, which may be up to n. */
static int take_index(struct gt_context *c, struct gt_value index, size_t n, size_t *ret)
{
        index = gt_basic(gt_unboxed(index));
        if (index.type == GT_NONE)
                return gt_fail(c, "cannot index slice/array with nil");
        if (!gt_is_integer(index))
                return gt_fail(c, "cannot index slice/array with type %.*s", STR_ARG(gt_type_name(index)));
        if (index.integer < 0 || (uint64_t)index.integer > n)
                return gt_fail(c, "index out of range: %lld", (long long)index.integer);
        *ret = (size_t)index.integer;
        return 0;
}

static int index_list(struct gt_context *c, struct gt_value list, struct gt_value index, struct gt_value *ret)
{
        bool is_string = gt_kind(list) == GT_KIND_STRING;
        size_t n = is_string ? gt_str(list).n : gt_list_count(list), i;
        int r = take_index(c, index, n, &i);

        if (r < 0)
                return r;
        if (i == n)
                return gt_fail(c, "reflect: %s index out of range", is_string ? "string" : "slice");
        *ret = is_string ? gt_uint8((uint8_t)gt_str(list).p[i]) : gt_list_at(c, list, i);
        return 0;
}

/* The result for a missing key of the map: the zero value of its element type. */
static struct gt_value zero_element(struct gt_value map)
{
        if (map.type == GT_STRING_MAP)
                return gt_string(STR(""));
        return map.type == GT_BYTES_MAP ? gt_nil_of(GT_BYTES) : gt_nil();
}

static bool any_map_find(struct gt_context *c, struct gt_value map, struct gt_value key, struct gt_value *ret)
{
        bool is_equal = false;

        for (size_t i = 0; i + 1 < gt_list_count(map); i += 2)
                if (gt_deep_equal(c, gt_list_at(c, map, i), key, &is_equal) == 0 && is_equal) {
                        *ret = gt_list_at(c, map, i + 1);
                        return true;
                }
        return false;
}

static int index_map(struct gt_context *c, struct gt_value map, struct gt_value key, struct gt_value *ret)
{
        struct gt_value found;

        key = gt_unboxed(key);
        if (map.type == GT_ANY_MAP) {
                *ret = any_map_find(c, map, key, &found) ? found : gt_nil();
                return 0;
        }
        if (key.type == GT_NONE)
                return gt_fail(c, "value is nil; should be of type string");
        if (key.type != GT_STRING)
                return gt_fail(c, "value has type %.*s; should be string", STR_ARG(gt_type_name(key)));
        *ret = gt_map_get(c, map, gt_str(key), &found) ? found : zero_element(map);
        return 0;
}

static int index_one(struct gt_context *c, struct gt_value item, struct gt_value index, struct gt_value *ret)
{
        if (item.type == GT_NIL || item.type == GT_NONE)
                return gt_fail(c, "index of nil pointer");
        if (gt_is_map(item))
                return index_map(c, item, index, ret);
        if (gt_is_list(item) || gt_kind(item) == GT_KIND_STRING)
                return index_list(c, item, index, ret);
        return gt_fail(c, "can't index item of type %.*s", STR_ARG(gt_type_name(item)));
}

int gt_call_index(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        struct gt_value item = gt_unboxed(arguments[0]);
        int r;

        if (item.type == GT_NONE)
                return gt_fail(c, "index of untyped nil");
        for (size_t i = 1; i < n; i++) {
                r = index_one(c, item, arguments[i], &item);
                if (r < 0)
                        return r;
        }
        *ret = item;
        return 0;
}

/* --- slice --- */

static struct gt_value cut(struct gt_context *c, struct gt_value item, size_t from, size_t to)
{
        if (gt_kind(item) == GT_KIND_STRING) {
                item = gt_basic(item);
                item.bytes += from;
                item.n = (uint32_t)(to - from);
                return item;
        }
        return gt_list_slice(c, item, from, to);
}

int gt_call_slice(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        struct gt_value item = gt_unboxed(arguments[0]);
        bool is_string = gt_kind(item) == GT_KIND_STRING;
        size_t indexes[3] = { 0 };
        int r;

        if (item.type == GT_NONE)
                return gt_fail(c, "slice of untyped nil");
        if (n - 1 > 3)
                return gt_fail(c, "too many slice indexes: %zu", n - 1);
        if (is_string && n - 1 == 3)
                return gt_fail(c, "cannot 3-index slice a string");
        if (!is_string && !gt_is_list(item))
                return gt_fail(c, "can't slice item of type %.*s", STR_ARG(gt_type_name(item)));
        indexes[1] = indexes[2] = is_string ? gt_str(item).n : gt_list_count(item);
        for (size_t i = 1; i < n; i++) {
                /* A reflect.Value of an interface does not count as an integer here: unlike index, slice does not unwrap it. */
                if (arguments[i].is_boxed)
                        return gt_fail(c, "cannot index slice/array with type interface {}");
                r = take_index(c, arguments[i], is_string ? gt_str(item).n : gt_list_count(item), &indexes[i - 1]);
                if (r < 0)
                        return r;
        }
        if (indexes[0] > indexes[1])
                return gt_fail(c, "invalid slice index: %zu > %zu", indexes[0], indexes[1]);
        if (indexes[1] > indexes[2])
                return gt_fail(c, "invalid slice index: %zu > %zu", indexes[1], indexes[2]);
        *ret = cut(c, item, indexes[0], indexes[1]);
        return 0;
}

/* The length is that of what a pointer points to. */
static int fail_len(struct gt_context *c, struct str type)
{
        str_cut_prefix(&type, STR("*"));
        return gt_fail(c, "len of type %.*s", STR_ARG(type));
}

int gt_call_len(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        struct gt_value v = arguments[0];

        if (v.type == GT_NIL)
                return gt_fail(c, "len of nil pointer");
        if (v.type == GT_NONE)
                return gt_fail(c, "reflect: call of reflect.Value.Type on zero Value");
        if (gt_kind(v) == GT_KIND_STRING)
                *ret = gt_int((int64_t)gt_str(v).n);
        else if (gt_is_list(v))
                *ret = gt_int((int64_t)gt_list_count(v));
        else if (gt_is_map(v))
                *ret = gt_int((int64_t)gt_map_count(v));
        else
                return fail_len(c, gt_type_name(v));
        return 0;
}
