/* Structural diff: a JSON Patch from one value to another. */
#include "patch.h"

#include "buf.h"

struct diff {
        struct arena *arena;
        struct array_builder operations;
        struct buf path; /* JSON pointer to the current value */
        bool with_old;
};

static void compare(struct diff *d, const struct value *from, const struct value *to);

/* old and new may be NULL: then the operation lacks that member. */
static void add_operation(struct diff *d, struct str op, const struct value *old, const struct value *updated)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, 4);
        object_builder_add(&b, STR("op"), value_of_str(op));
        object_builder_add(&b, STR("path"), value_of_str(arena_copy(d->arena, buf_str(&d->path))));
        if (updated)
                object_builder_add(&b, STR("value"), *updated);
        if (old && d->with_old)
                object_builder_add(&b, STR("old"), *old);
        array_builder_add(&d->operations, object_builder_finish(&b));
}

void json_pointer_append(struct buf *b, struct str key)
{
        buf_append_char(b, '/');
        for (size_t i = 0; i < key.n; i++) {
                if (key.p[i] == '~')
                        buf_append_literal(b, "~0");
                else if (key.p[i] == '/')
                        buf_append_literal(b, "~1");
                else
                        buf_append_char(b, key.p[i]);
        }
}

/* Compares one member or item; one of from and to may be NULL. Restores the path afterwards. */
static void compare_child(struct diff *d, const struct value *from, const struct value *to, size_t path_before)
{
        if (!from)
                add_operation(d, STR("add"), NULL, to);
        else if (!to)
                add_operation(d, STR("remove"), from, NULL);
        else
                compare(d, from, to);
        d->path.n = path_before;
}

static void compare_member(struct diff *d, struct str key, const struct value *from, const struct value *to)
{
        size_t before = d->path.n;

        json_pointer_append(&d->path, key);
        compare_child(d, from, to, before);
}

static void compare_item(struct diff *d, size_t i, const struct value *from, const struct value *to)
{
        size_t before = d->path.n;

        buf_append_char(&d->path, '/');
        buf_append_uint(&d->path, i);
        compare_child(d, from, to, before);
}

static void compare_objects(struct diff *d, const struct value *from, const struct value *to)
{
        size_t i = 0, j = 0;

        from = value_sorted(d->arena, from);
        to = value_sorted(d->arena, to);
        while (i < from->n || j < to->n) {
                const struct member *x = i < from->n ? &from->members[i] : NULL;
                const struct member *y = j < to->n ? &to->members[j] : NULL;
                int order = !x ? 1 : !y ? -1 : str_compare(x->key, y->key);

                compare_member(d, order <= 0 ? x->key : y->key, order <= 0 ? &x->value : NULL,
                               order >= 0 ? &y->value : NULL);
                i += order <= 0;
                j += order >= 0;
        }
}

/* Equal items at both ends are set aside; the rest is compared item by item. Surplus items are removed from the last to the
 * first, so that every index is the item's original one; new items are added in order. */
static void compare_arrays(struct diff *d, const struct value *from, const struct value *to)
{
        size_t head = 0, n_from = from->n, n_to = to->n, both;

        while (head < n_from && head < n_to && value_equal(&from->items[head], &to->items[head]))
                head++;
        while (n_from > head && n_to > head && value_equal(&from->items[n_from - 1], &to->items[n_to - 1]))
                n_from--, n_to--;
        both = MIN(n_from, n_to);
        for (size_t i = head; i < both; i++)
                compare_item(d, i, &from->items[i], &to->items[i]);
        for (size_t i = n_from; i > both; i--)
                compare_item(d, i - 1, &from->items[i - 1], NULL);
        for (size_t i = both; i < n_to; i++)
                compare_item(d, i, NULL, &to->items[i]);
}

static void compare(struct diff *d, const struct value *from, const struct value *to)
{
        if (value_is_object(from) && value_is_object(to))
                compare_objects(d, from, to);
        else if (value_is_array(from) && value_is_array(to))
                compare_arrays(d, from, to);
        else if (!value_equal(from, to))
                add_operation(d, STR("replace"), from, to);
}

const struct value *value_diff(struct arena *a, const struct value *from, const struct value *to, bool with_old)
{
        _cleanup_(buf_done)
        struct buf path = BUF_INIT(0);
        struct diff d = { .arena = a, .path = path, .with_old = with_old };

        array_builder_init(&d.operations, a, 0);
        compare(&d, from, to);
        buf_done(&d.path);
        return value_put(a, array_builder_finish(&d.operations));
}
