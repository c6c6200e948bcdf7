/* reflect.DeepEqual on template values. */
#include "gt-context.h"
#include "limits.h"

struct comparison {
        struct gt_context *context;
        unsigned depth;
        int r; /* negative if the comparison had to stop */
};

static bool equal(struct comparison *x, struct gt_value a, struct gt_value b);

static bool equal_lists(struct comparison *x, struct gt_value a, struct gt_value b)
{
        size_t n = gt_list_count(a);

        if (n != gt_list_count(b) || (a.list == NULL) != (b.list == NULL))
                return false;
        if (a.list == b.list)
                return true;
        for (size_t i = 0; i < n; i++)
                if (!equal(x, gt_list_at(x->context, a, i), gt_list_at(x->context, b, i)))
                        return false;
        return true;
}

static bool equal_maps(struct comparison *x, struct gt_value a, struct gt_value b)
{
        const struct gt_member *members;
        struct gt_value other;
        size_t n;

        if (gt_map_count(a) != gt_map_count(b) || (a.map == NULL) != (b.map == NULL))
                return false;
        if (a.map == b.map)
                return true;
        members = gt_map_members(x->context, a, &n);
        for (size_t i = 0; i < n; i++)
                if (!gt_map_get(x->context, b, gt_str(members[i].key), &other) || !equal(x, members[i].value, other))
                        return false;
        return true;
}

static bool equal_objects(struct gt_object *a, struct gt_object *b)
{
        if (a == b)
                return true;
        return a->class_of == b->class_of && a->class_of->equal && a->class_of->equal(a, b);
}

static bool equal_containers(struct comparison *x, struct gt_value a, struct gt_value b)
{
        bool is_equal;

        if (x->depth >= LIMIT_DEPTH)
                x->r = gt_fail(x->context, "value is nested too deeply");
        if (x->r < 0)
                return false;
        x->depth++;
        is_equal = gt_is_list(a) || a.type == GT_ANY_MAP ? equal_lists(x, a, b) : equal_maps(x, a, b);
        x->depth--;
        return is_equal;
}

static bool equal(struct comparison *x, struct gt_value a, struct gt_value b)
{
        if (gt_is_nil(a) && gt_is_nil(b))
                return true;
        if (x->r < 0 || a.type != b.type)
                return false;
        if (gt_spend(x->context, 1) < 0) {
                x->r = ERR_LIMIT;
                return false;
        }
        switch ((enum gt_type)a.type) {
        case GT_BOOL:
                return a.boolean == b.boolean;
        case GT_FLOAT64:
                return a.number == b.number;
        case GT_COMPLEX128:
                return a.parts[0] == b.parts[0] && a.parts[1] == b.parts[1];
        case GT_BYTES:
                return (a.bytes == NULL) == (b.bytes == NULL) && str_equal(gt_str(a), gt_str(b));
        case GT_STRING:
                return str_equal(gt_str(a), gt_str(b));
        case GT_OBJECT:
                return equal_objects(a.object, b.object);
        default:
                return gt_is_list(a) || gt_is_map(a) ? equal_containers(x, a, b) : a.integer == b.integer;
        }
}

int gt_deep_equal(struct gt_context *c, struct gt_value a, struct gt_value b, bool *ret)
{
        struct comparison x = { .context = c };
        bool is_equal = equal(&x, a, b);

        if (x.r < 0)
                return x.r;
        *ret = is_equal;
        return 0;
}
