/* P2: the differences between two values of one type.
 *
 * Atomic values are compared as a whole, and the order of associative lists is ignored. A map or list that only one side has is
 * itself added or removed, with everything in it. Items with the same element are compared as one. */
#include "typed.h"

enum change {
        REMOVED,
        MODIFIED,
        ADDED,
        _CHANGE_COUNT,
};

/* The changes of one node, for each kind of change. */
struct delta {
        bool is_member[_CHANGE_COUNT];
        const struct field_set *below[_CHANGE_COUNT];
};

struct comparing {
        struct arena *arena;
        struct field_stack stacks[_CHANGE_COUNT];
};

static struct delta compare(struct comparing *c, struct typed_type t, const struct value *l, const struct value *r);

static void push(struct comparing *c, struct path_element e, const struct delta *d)
{
        for (size_t i = 0; i < _CHANGE_COUNT; i++)
                field_stack_push(&c->stacks[i], e, d->is_member[i], d->below[i]);
}

static void push_change(struct comparing *c, struct path_element e, enum change change)
{
        field_stack_push(&c->stacks[change], e, true, NULL);
}

static struct delta leaf(const struct value *l, const struct value *r)
{
        struct delta d = { 0 };

        if (!l)
                d.is_member[ADDED] = true;
        else if (!r)
                d.is_member[REMOVED] = true;
        else
                d.is_member[MODIFIED] = !value_equal_numeric(l, r);
        return d;
}

/* --- Maps --- */

/* The member with the key. The search begins after the last found member. */
static const struct value *get_near(const struct value *map, struct str key, uint32_t *cursor)
{
        if (!map)
                return NULL;
        if (*cursor < map->n && str_equal(map->members[*cursor].key, key))
                return &map->members[(*cursor)++].value;

        const struct value *v = value_get(map, key);

        if (v)
                *cursor = (uint32_t)(CONTAINER_OF(v, const struct member, value) - map->members) + 1;
        return v;
}

static void compare_members(struct comparing *c, const struct typed_shape *s, const struct value *l,
                            const struct value *r)
{
        uint32_t cursor = 0, shared = 0;
        bool is_declared;

        VALUE_FOREACH_MEMBER (m, l) {
                const struct value *other = get_near(r, m->key, &cursor);

                shared += other != NULL;
                if (typed_same(&m->value, other))
                        continue;

                struct delta d = compare(c, shape_field(s, m->key, &is_declared), &m->value, other);

                push(c, path_element_field(m->key), &d);
        }
        if (shared == value_count(r))
                return;
        cursor = 0;
        VALUE_FOREACH_MEMBER (m, r) {
                if (get_near(l, m->key, &cursor))
                        continue;

                struct delta d = compare(c, shape_field(s, m->key, &is_declared), NULL, &m->value);

                push(c, path_element_field(m->key), &d);
        }
}

/* --- Lists --- */

/* The number of items from `at` on that have the same element. */
static size_t group(const struct list_items *l, size_t at)
{
        size_t n = 1;

        while (at + n < l->n && path_element_compare(&l->sorted[at]->element, &l->sorted[at + n]->element) == 0)
                n++;
        return n;
}

static bool groups_are_equal(const struct list_item **l, const struct list_item **r, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!value_equal_numeric(l[i]->value, r[i]->value))
                        return false;
        return true;
}

/* Compares n_l left and n_r right items with the same element; one of the numbers may be 0. */
static void compare_group(struct comparing *c, struct typed_type items, const struct list_item **l, size_t n_l,
                          const struct list_item **r, size_t n_r)
{
        struct path_element e = n_l > 0 ? l[0]->element : r[0]->element;
        struct delta d;

        if (n_l <= 1 && n_r <= 1) {
                d = compare(c, items, n_l ? l[0]->value : NULL, n_r ? r[0]->value : NULL);
                push(c, e, &d);
                return;
        }
        if (n_l > 1 && n_r > 1) {
                if (n_l != n_r || !groups_are_equal(l, r, n_l))
                        push_change(c, e, MODIFIED);
                return;
        }
        if (n_l > 1)
                push_change(c, e, REMOVED);
        if (n_r > 1)
                push_change(c, e, ADDED);
        if (n_l == 1 || n_r == 1) {
                d = compare(c, items, n_l == 1 ? l[0]->value : NULL, n_r == 1 ? r[0]->value : NULL);
                push(c, e, &d);
        }
}

static void compare_items(struct comparing *c, const struct typed_shape *s, const struct value *l,
                          const struct value *r)
{
        struct list_items left = shape_list_items(c->arena, s, l), right = shape_list_items(c->arena, s, r);
        struct typed_type items = shape_items(s);
        size_t i = 0, j = 0;

        while (i < left.n || j < right.n) {
                int order = i == left.n    ? 1
                            : j == right.n ? -1
                                           : path_element_compare(&left.sorted[i]->element, &right.sorted[j]->element);
                size_t n_l = order <= 0 ? group(&left, i) : 0, n_r = order >= 0 ? group(&right, j) : 0;

                if (n_l != 1 || n_r != 1 || !typed_same(left.sorted[i]->value, right.sorted[j]->value))
                        compare_group(c, items, left.sorted + i, n_l, right.sorted + j, n_r);
                i += n_l;
                j += n_r;
        }
}

/* --- All --- */

static struct delta compare_as(struct comparing *c, const struct typed_shape *s, const struct value *l,
                               const struct value *r)
{
        enum value_type type = s->form == FORM_MAP ? VALUE_OBJECT : VALUE_ARRAY;
        const struct value *left = value_is(l, type) ? l : NULL, *right = value_is(r, type) ? r : NULL;
        size_t marks[_CHANGE_COUNT];
        struct delta d = { 0 };

        if (s->form == FORM_SCALAR || s->is_atomic || (value_count(left) == 0 && value_count(right) == 0))
                return leaf(l, r);
        for (size_t i = 0; i < _CHANGE_COUNT; i++)
                marks[i] = c->stacks[i].n;
        if (s->form == FORM_MAP)
                compare_members(c, s, left, right);
        else
                compare_items(c, s, left, right);
        for (size_t i = 0; i < _CHANGE_COUNT; i++)
                d.below[i] = field_stack_take(&c->stacks[i], c->arena, marks[i]);
        d.is_member[REMOVED] = !r;
        d.is_member[ADDED] = !l;
        return d;
}

/* If a free type has changed its form, the values are compared in both forms, the old and the new. */
static struct delta compare(struct comparing *c, struct typed_type t, const struct value *l, const struct value *r)
{
        struct typed_shape left = type_shape(t, l), right = type_shape(t, r);
        struct delta d, other;

        if (!r)
                return compare_as(c, &left, l, r);
        if (!l || left.form == right.form)
                return compare_as(c, &right, l, r);
        d = compare_as(c, &left, l, r);
        other = compare_as(c, &right, l, r);
        for (size_t i = 0; i < _CHANGE_COUNT; i++) {
                d.is_member[i] |= other.is_member[i];
                d.below[i] = field_set_union(c->arena, d.below[i], other.below[i]);
        }
        return d;
}

struct comparison typed_compare(struct arena *a, struct typed_type t, const struct value *old_value,
                                const struct value *new_value)
{
        struct comparing c = { .arena = a };
        struct delta d = { 0 };

        if (!typed_same(old_value, new_value))
                d = compare(&c, t, old_value, new_value);
        for (size_t i = 0; i < _CHANGE_COUNT; i++)
                field_stack_done(&c.stacks[i]);
        return (struct comparison) { d.below[REMOVED], d.below[MODIFIED], d.below[ADDED] };
}
