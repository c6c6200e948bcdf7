/* P3: config over live.
 *
 * Config wins on leaves; maps are merged. Associative lists are merged by element: items that only live has keep their order, items
 * that both have follow config's relative order, and items that only config has come after their predecessor in config. If one side
 * is empty, the other one is taken as it is. */
#include "typed.h"

struct merging {
        struct arena *arena;
};

static struct value merge(struct merging *m, struct typed_type t, const struct value *l, const struct value *r);

/* --- Maps --- */

/* Appends config's members that live does not have. */
static void add_missing(struct merging *m, struct object_builder *b, const struct value *l, const struct value *r)
{
        VALUE_FOREACH_MEMBER (member, r)
                if (!value_get(l, member->key))
                        object_builder_add(b, member->key, member->value);
}

static struct value merge_maps(struct merging *m, const struct typed_shape *s, const struct value *l,
                               const struct value *r)
{
        struct object_builder b;
        bool is_changed = false;
        size_t shared = 0;

        object_builder_init(&b, m->arena, l->n);
        VALUE_FOREACH_MEMBER (member, l) {
                const struct value *other = value_get(r, member->key);
                struct value v = member->value;

                if (other) {
                        bool is_declared;

                        shared++;
                        v = merge(m, shape_field(s, member->key, &is_declared), &member->value, other);
                        is_changed |= !typed_same(&v, &member->value);
                }
                object_builder_add(&b, member->key, v);
        }
        if (!is_changed && shared == r->n)
                return *l;
        if (shared < r->n)
                add_missing(m, &b, l, r);
        return object_builder_finish(&b);
}

/* --- Lists --- */

#define NONE UINT32_MAX

/* Two lists and how their items match. */
struct match {
        struct list_items left, right;
        uint32_t *to_right; /* for each item on the left: its counterpart, or NONE */
        uint32_t *to_left;  /* for each item on the right: one of its counterparts, or NONE */
        bool *is_taken;     /* for each item on the right */
};

static struct match match_items(struct merging *m, const struct typed_shape *s, const struct value *l,
                                const struct value *r)
{
        struct match x = { .left = shape_list_items(m->arena, s, l), .right = shape_list_items(m->arena, s, r) };
        size_t j = 0;

        x.to_right = arena_alloc(m->arena, x.left.n * sizeof(*x.to_right));
        x.to_left = arena_alloc(m->arena, x.right.n * sizeof(*x.to_left));
        x.is_taken = ARENA_NEW_ARRAY(m->arena, bool, x.right.n);
        memset(x.to_right, 0xff, x.left.n * sizeof(*x.to_right));
        memset(x.to_left, 0xff, x.right.n * sizeof(*x.to_left));
        for (size_t i = 0; i < x.left.n; i++) {
                int order = 1;

                while (j < x.right.n) {
                        order = path_element_compare(&x.left.sorted[i]->element, &x.right.sorted[j]->element);
                        if (order <= 0)
                                break;
                        j++;
                }
                if (j == x.right.n || order != 0)
                        continue;
                x.to_right[x.left.sorted[i]->position] = x.right.sorted[j]->position;
                x.to_left[x.right.sorted[j]->position] = x.left.sorted[i]->position;
        }
        return x;
}

/* Item j of the right, merged with its counterpart. If the left has the element several times, the right item is taken as it is. */
static struct value take_right(struct merging *m, struct match *x, struct typed_type items, uint32_t j)
{
        uint32_t i = x->to_left[j];

        x->is_taken[j] = true;
        if (i == NONE || x->left.p[i].is_duplicate)
                return *x->right.p[j].value;
        return merge(m, items, x->left.p[i].value, x->right.p[j].value);
}

/* The next item of the right, from j on, that the left has too; NONE if there is none. */
static uint32_t next_shared(const struct match *x, uint32_t j)
{
        while (j < x->right.n && x->to_left[j] == NONE)
                j++;
        return j < x->right.n ? j : NONE;
}

static struct value merge_lists(struct merging *m, const struct typed_shape *s, const struct value *l,
                                const struct value *r)
{
        struct match x = match_items(m, s, l, r);
        struct typed_type items = shape_items(s);
        uint32_t i = 0, j = 0, shared = next_shared(&x, 0);
        struct array_builder b;
        bool is_changed = false;

        array_builder_init(&b, m->arena, MAX(x.left.n, x.right.n));
        while (i < x.left.n || j < x.right.n) {
                uint32_t other = i < x.left.n ? x.to_right[i] : NONE;

                if (i < x.left.n && other == NONE) {
                        array_builder_add(&b, *x.left.p[i++].value);
                        continue;
                }
                if (i < x.left.n && j < x.right.n && shared != NONE && shared != other) {
                        i++; /* config has this item later */
                        is_changed = true;
                        continue;
                }
                if (i < x.left.n && x.is_taken[other]) {
                        i++; /* a duplicate of an item that is already merged */
                        is_changed = true;
                        if (j == x.right.n)
                                continue;
                }

                struct value v = take_right(m, &x, items, j);

                is_changed |= other != j || !typed_same(&v, x.left.p[i].value);
                array_builder_add(&b, v);
                if (other == j)
                        i++;
                if (shared == j)
                        shared = next_shared(&x, j + 1);
                j++;
        }
        return is_changed ? array_builder_finish(&b) : *l;
}

/* --- All --- */

static struct value merge(struct merging *m, struct typed_type t, const struct value *l, const struct value *r)
{
        struct typed_shape left, right;

        if (typed_same(l, r))
                return *l;
        left = type_shape(t, l);
        right = type_shape(t, r);
        if (left.form != right.form)
                return *r;
        if (right.form == FORM_SCALAR || right.is_atomic)
                return value_equal(l, r) ? *l : *r;
        if (value_count(l) == 0)
                return *r;
        if (value_count(r) == 0)
                return *l;
        return right.form == FORM_MAP ? merge_maps(m, &right, l, r) : merge_lists(m, &right, l, r);
}

const struct value *typed_merge(struct arena *a, struct typed_type t, const struct value *live,
                                const struct value *config)
{
        struct merging m = { a };
        struct value v = merge(&m, t, live, config);

        return typed_same(&v, live) ? live : value_put(a, v);
}
