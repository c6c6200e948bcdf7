/* Copies and merges of maps, by the rules of mergo: objects are merged member by member; for all other values one side wins. */
#include "sprig.h"

#include "limits.h"

/* --- Copies --- */

static int deep_copy(struct gt_context *c, struct gt_value v, unsigned depth, struct gt_value *ret);

static int copy_list(struct gt_context *c, struct gt_value v, unsigned depth, struct gt_value *ret)
{
        size_t count = gt_list_count(v);

        *ret = gt_list_new(c, v.type, count);
        for (size_t i = 0; i < count; i++) {
                struct gt_value element = gt_list_at(c, v, i);
                int r = deep_copy(c, element, depth, &element);

                if (r < 0)
                        return r;
                gt_list_put(*ret, i, element);
        }
        return 0;
}

static int copy_map(struct gt_context *c, struct gt_value v, unsigned depth, struct gt_value *ret)
{
        size_t count;
        const struct gt_member *members = gt_map_members(c, v, &count);

        *ret = gt_map_new(c, v.type);
        for (size_t i = 0; i < count; i++) {
                struct gt_value member;
                int r = deep_copy(c, members[i].value, depth, &member);

                if (r < 0)
                        return r;
                gt_map_set(c, *ret, gt_str(members[i].key), member);
        }
        return 0;
}

/* Nil lists and maps stay nil; immutable values are shared. */
static int deep_copy(struct gt_context *c, struct gt_value v, unsigned depth, struct gt_value *ret)
{
        bool is_boxed = v.is_boxed;
        int r = gt_spend(c, 1);

        if (r < 0)
                return r;
        if (depth == 0)
                return gt_fail(c, "value is nested too deeply");
        *ret = v;
        if (gt_is_list(v) && v.type != GT_BYTES && v.list)
                r = copy_list(c, v, depth - 1, ret);
        else if (gt_is_map(v) && v.type != GT_ANY_MAP && v.map)
                r = copy_map(c, v, depth - 1, ret);
        ret->is_boxed = is_boxed;
        return r;
}

SPRIG(deep_copy)
{
        if (gt_is_nil(arguments[0]))
                return gt_fail(c, "reflect: call of reflect.Value.Type on zero Value");
        return deep_copy(c, arguments[0], LIMIT_DEPTH, ret);
}

/* --- Merges --- */

static int put(struct gt_context *c, struct gt_value map, struct str key, struct gt_value v)
{
        if (map.type == GT_STRING_MAP && v.type != GT_STRING)
                return gt_fail(
                        c, "reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string");
        gt_map_set(c, map, key, v);
        return 0;
}

static bool is_mergeable(struct gt_value v)
{
        return (v.type == GT_MAP || v.type == GT_STRING_MAP) && v.map;
}

static int merge_maps(struct gt_context *c, struct gt_value into, struct gt_value from, bool overwrites,
                      unsigned depth);

/* One member that both sides have. */
static int merge_member(struct gt_context *c, struct gt_value into, struct str key, struct gt_value ours,
                        struct gt_value theirs, bool overwrites, unsigned depth)
{
        if (is_mergeable(ours) && is_mergeable(theirs))
                return merge_maps(c, ours, theirs, overwrites, depth - 1);
        if (overwrites)
                return put(c, into, key, theirs);
        return sprig_is_empty(ours) && !gt_is_nil(theirs) ? put(c, into, key, theirs) : 0;
}

static int merge_maps(struct gt_context *c, struct gt_value into, struct gt_value from, bool overwrites, unsigned depth)
{
        size_t count;
        const struct gt_member *members = gt_map_members(c, from, &count);
        int r = gt_spend(c, count + 1);

        if (depth == 0)
                return gt_fail(c, "value is nested too deeply");
        for (size_t i = 0; i < count && r == 0; i++) {
                struct str key = gt_str(members[i].key);
                struct gt_value ours, theirs = members[i].value;

                if (gt_map_get(c, into, key, &ours))
                        r = merge_member(c, into, key, ours, theirs, overwrites, depth);
                else if (overwrites || !gt_is_nil(theirs))
                        r = put(c, into, key, theirs);
        }
        return r;
}

static int merge_all(struct gt_context *c, const struct gt_value *arguments, size_t n, bool overwrites,
                     struct gt_value *ret)
{
        int r = 0;

        *ret = arguments[0].map ? arguments[0] : gt_map_new(c, GT_MAP);
        for (size_t i = 1; i < n && r == 0; i++)
                if (arguments[i].map)
                        r = merge_maps(c, *ret, arguments[i], overwrites, LIMIT_DEPTH);
        return r;
}

SPRIG(merge)
{
        return merge_all(c, arguments, n, false, ret);
}

SPRIG(merge_overwrite)
{
        return merge_all(c, arguments, n, true, ret);
}
