/* Lists. Every function accepts lists of any type and returns []interface {}, except slice, which keeps the type. */
#include "sprig.h"

#include <math.h>

/* Fails as the library does for values that are not lists: for nil it panics because nil has no type, for all others the error
 * names the kind. */
static int check_list(struct gt_context *c, struct gt_value v, const char *complaint, size_t *ret_n)
{
        *ret_n = 0;
        if (gt_is_list(v)) {
                *ret_n = gt_list_count(v);
                return gt_spend(c, *ret_n);
        }
        if (gt_is_nil(v))
                return gt_fail(c, "runtime error: invalid memory address or nil pointer dereference");
        return gt_fail(c, "%s %.*s", complaint, STR_ARG(gt_kind_name(gt_kind(v))));
}

static struct gt_value element_at(struct gt_context *c, struct gt_value list, size_t i)
{
        return gt_boxed(gt_list_at(c, list, i));
}

/* Copies elements from..to of the list into `into`, beginning at `at`. */
static void copy_elements(struct gt_context *c, struct gt_value into, size_t at, struct gt_value list, size_t from,
                          size_t to)
{
        for (size_t i = from; i < to; i++)
                gt_list_put(into, at++, element_at(c, list, i));
}

static struct gt_value sub_list(struct gt_context *c, struct gt_value list, size_t from, size_t to)
{
        struct gt_value copy = gt_list_new(c, GT_LIST, to - from);

        copy_elements(c, copy, 0, list, from, to);
        return copy;
}

SPRIG(list)
{
        int r = gt_spend(c, n);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_LIST, n);
        for (size_t i = 0; i < n; i++)
                gt_list_put(*ret, i, gt_boxed(arguments[i]));
        return 0;
}

/* --- Ends --- */

SPRIG(first)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot find first on type", &count);

        if (r < 0)
                return r;
        *ret = count ? element_at(c, arguments[0], 0) : gt_nil();
        return 0;
}

SPRIG(last)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot find last on type", &count);

        if (r < 0)
                return r;
        *ret = count ? element_at(c, arguments[0], count - 1) : gt_nil();
        return 0;
}

/* An empty list gives the nil list. */
SPRIG(rest)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot find rest on type", &count);

        if (r < 0)
                return r;
        *ret = count ? sub_list(c, arguments[0], 1, count) : gt_nil_of(GT_LIST);
        return 0;
}

SPRIG(initial)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot find initial on type", &count);

        if (r < 0)
                return r;
        *ret = count ? sub_list(c, arguments[0], 0, count - 1) : gt_nil_of(GT_LIST);
        return 0;
}

/* --- Growing --- */

SPRIG(append)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot push on type", &count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_LIST, count + 1);
        copy_elements(c, *ret, 0, arguments[0], 0, count);
        gt_list_put(*ret, count, gt_boxed(arguments[1]));
        return 0;
}

SPRIG(prepend)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot prepend on type", &count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_LIST, count + 1);
        gt_list_put(*ret, 0, gt_boxed(arguments[1]));
        copy_elements(c, *ret, 1, arguments[0], 0, count);
        return 0;
}

/* The result is nil if there are no elements at all. */
SPRIG(concat)
{
        size_t count = 0, at = 0;

        for (size_t i = 0; i < n; i++) {
                size_t n_elements;
                int r;

                if (!gt_is_list(arguments[i]) && !gt_is_nil(arguments[i]))
                        return gt_fail(c, "Cannot concat type %.*s as list",
                                       STR_ARG(gt_kind_name(gt_kind(arguments[i]))));
                r = check_list(c, arguments[i], "", &n_elements);
                if (r < 0)
                        return r;
                count += n_elements;
        }
        *ret = count ? gt_list_new(c, GT_LIST, count) : gt_nil_of(GT_LIST);
        for (size_t i = 0; i < n; i++) {
                copy_elements(c, *ret, at, arguments[i], 0, gt_list_count(arguments[i]));
                at += gt_list_count(arguments[i]);
        }
        return 0;
}

/* --- Choosing --- */

SPRIG(reverse)
{
        size_t count;
        int r = check_list(c, arguments[0], "Cannot find reverse on type", &count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_LIST, count);
        for (size_t i = 0; i < count; i++)
                gt_list_put(*ret, count - 1 - i, element_at(c, arguments[0], i));
        return 0;
}

SPRIG(compact)
{
        size_t count, n_kept = 0;
        int r = check_list(c, arguments[0], "Cannot compact on type", &count);
        struct gt_value list;

        if (r < 0)
                return r;
        list = gt_list_new(c, GT_LIST, count);
        for (size_t i = 0; i < count; i++) {
                struct gt_value element = element_at(c, arguments[0], i);

                if (!sprig_is_empty(element))
                        gt_list_put(list, n_kept++, element);
        }
        *ret = gt_list_slice(c, list, 0, n_kept);
        return 0;
}

/* *ret is true if one of the first `count` elements is deeply equal to v. */
static int find_equal(struct gt_context *c, struct gt_value list, size_t count, struct gt_value v, bool *ret)
{
        int r = gt_spend(c, count);

        *ret = false;
        for (size_t i = 0; i < count && r == 0 && !*ret; i++)
                r = gt_deep_equal(c, gt_list_at(c, list, i), v, ret);
        return r;
}

SPRIG(uniq)
{
        size_t count, n_kept = 0;
        int r = check_list(c, arguments[0], "Cannot find uniq on type", &count);
        struct gt_value list;

        if (r < 0)
                return r;
        list = gt_list_new(c, GT_LIST, count);
        for (size_t i = 0; i < count; i++) {
                struct gt_value element = element_at(c, arguments[0], i);
                bool is_there;

                r = find_equal(c, list, n_kept, element, &is_there);
                if (r < 0)
                        return r;
                if (!is_there)
                        gt_list_put(list, n_kept++, element);
        }
        *ret = gt_list_slice(c, list, 0, n_kept);
        return 0;
}

static int is_among(struct gt_context *c, const struct gt_value *values, size_t n, struct gt_value v, bool *ret)
{
        int r = gt_spend(c, n);

        *ret = false;
        for (size_t i = 0; i < n && r == 0 && !*ret; i++)
                r = gt_deep_equal(c, v, values[i], ret);
        return r;
}

SPRIG(without)
{
        size_t count, n_kept = 0;
        int r = check_list(c, arguments[0], "Cannot find without on type", &count);
        struct gt_value list;

        if (r < 0)
                return r;
        list = gt_list_new(c, GT_LIST, count);
        for (size_t i = 0; i < count; i++) {
                struct gt_value element = element_at(c, arguments[0], i);
                bool is_unwanted;

                r = is_among(c, arguments + 1, n - 1, element, &is_unwanted);
                if (r < 0)
                        return r;
                if (!is_unwanted)
                        gt_list_put(list, n_kept++, element);
        }
        *ret = gt_list_slice(c, list, 0, n_kept);
        return 0;
}

SPRIG(has)
{
        bool is_there = false;
        size_t count;
        int r;

        if (gt_is_nil(arguments[1]))
                return sprig_return_bool(false, ret);
        r = check_list(c, arguments[1], "Cannot find has on type", &count);
        if (r == 0)
                r = find_equal(c, arguments[1], count, arguments[0], &is_there);
        *ret = gt_bool(is_there);
        return r;
}

/* The bounds are converted to integers; an empty list gives nil for any bounds. */
SPRIG(slice)
{
        struct gt_value list = arguments[0];
        int64_t count, from = 0, to;

        if (gt_is_nil(list))
                return gt_fail(c, "runtime error: invalid memory address or nil pointer dereference");
        if (!gt_is_list(list))
                return gt_fail(c, "list should be type of slice or array but %.*s",
                               STR_ARG(gt_kind_name(gt_kind(list))));
        *ret = gt_nil();
        count = to = (int64_t)gt_list_count(list);
        if (count == 0)
                return 0;
        if (n > 1)
                from = sprig_to_int64(arguments[1]);
        if (n > 2)
                to = sprig_to_int64(arguments[2]);
        if (from < 0 || to > count || from > to)
                return gt_fail(c, "reflect.Value.Slice: slice index out of bounds");
        *ret = gt_list_slice(c, list, (size_t)from, (size_t)to);
        return 0;
}

/* Go divides before it checks the size: a negative size gives no chunks for short lists and panics for longer ones. */
static int chunk_by_none(struct gt_context *c, int64_t size, size_t count, struct gt_value *ret)
{
        double n_chunks = floor(((double)count - 1) / (double)size) + 1;

        if (n_chunks != 0)
                return gt_fail(c, "runtime error: makeslice: len out of range");
        *ret = gt_list_new(c, GT_LISTS, 0);
        return 0;
}

SPRIG(chunk)
{
        size_t count, size, n_chunks;
        int r = check_list(c, arguments[1], "Cannot chunk type", &count);

        if (r < 0)
                return r;
        if (arguments[0].integer < 1)
                return chunk_by_none(c, arguments[0].integer, count, ret);
        size = MIN((uint64_t)arguments[0].integer, count + 1);
        n_chunks = (count + size - 1) / size;
        *ret = gt_list_new(c, GT_LISTS, n_chunks);
        for (size_t i = 0; i < n_chunks; i++)
                gt_list_put(*ret, i, sub_list(c, arguments[1], i * size, MIN((i + 1) * size, count)));
        return 0;
}
