/* Maps with keys of any type. They are made once, with the members in the order in which Go prints them. */
#include "gt-value.h"

#include "gt-context.h"

/* Go orders keys of different types by the address of the type in memory. This is the order that real programs show. */
static int type_rank(struct gt_value v)
{
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
                return 0;
        case GT_STRING:
                return 1;
        case GT_INT:
        case GT_INT64:
        case GT_UINT64:
                return 2;
        case GT_FLOAT64:
                return 3;
        case GT_BOOL:
                return 4;
        default:
                return 5;
        }
}

static int compare_numbers(double a, double b)
{
        return (a > b) - (a < b);
}

static int compare_keys(const void *x, const void *y)
{
        struct gt_value a = ((const struct gt_member *)x)->key, b = ((const struct gt_member *)y)->key;

        if (type_rank(a) != type_rank(b))
                return type_rank(a) - type_rank(b);
        if (a.type == GT_STRING)
                return str_compare(gt_str(a), gt_str(b));
        if (a.type == GT_FLOAT64)
                return compare_numbers(a.number, b.number);
        if (a.type == GT_BOOL)
                return (int)a.boolean - (int)b.boolean;
        if (a.type == GT_INT || a.type == GT_INT64)
                return (a.integer > b.integer) - (a.integer < b.integer);
        return (a.natural > b.natural) - (a.natural < b.natural);
}

struct gt_value gt_any_map(struct gt_context *c, const struct gt_member *members, size_t n)
{
        struct gt_value map = gt_list_new(c, GT_ANY_MAP, 2 * n);
        struct gt_member *sorted = ARENA_NEW_ARRAY(c->arena, struct gt_member, n + 1);

        if (n > 0)
                memcpy(sorted, members, n * sizeof(*sorted));
        qsort(sorted, n, sizeof(*sorted), compare_keys);
        for (size_t i = 0; i < n; i++) {
                gt_list_put(map, 2 * i, sorted[i].key);
                gt_list_put(map, 2 * i + 1, sorted[i].value);
        }
        return map;
}
