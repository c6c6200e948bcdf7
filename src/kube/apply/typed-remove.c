/* P4: a value without the members of a set.
 *
 * A map or list becomes null when nothing is left of it, or when it is atomic and the set has a member below it. A member of the
 * set also removes everything below it. */
#include "typed.h"

/* False when nothing is left. */
static bool remove_items(struct arena *a, struct typed_type t, const struct value *v, const struct field_set *set,
                         struct value *ret);

/* The new value of one child; false when it is removed. */
static bool remove_child(struct arena *a, struct typed_type t, const struct value *v, const struct field_node *node,
                         struct value *ret)
{
        if (node && node->is_member)
                return false;
        *ret = *v;
        if (node && node->below && !remove_items(a, t, v, node->below, ret))
                *ret = value_null;
        return true;
}

static bool remove_from_list(struct arena *a, const struct typed_shape *s, const struct value *list,
                             const struct field_set *set, struct value *ret)
{
        struct list_items items = shape_list_items(a, s, list);
        struct typed_type t = shape_items(s);
        struct array_builder b;
        bool is_changed = false;

        array_builder_init(&b, a, items.n);
        for (size_t i = 0; i < items.n; i++) {
                const struct field_node *node = field_set_find(set, &items.p[i].element);
                struct value v;

                if (!remove_child(a, t, items.p[i].value, node, &v)) {
                        is_changed = true;
                        continue;
                }
                is_changed |= !typed_same(&v, items.p[i].value);
                array_builder_add(&b, v);
        }
        if (b.n == 0)
                return false;
        *ret = is_changed ? array_builder_finish(&b) : *list;
        return true;
}

static bool remove_from_map(struct arena *a, const struct typed_shape *s, const struct value *map,
                            const struct field_set *set, struct value *ret)
{
        struct object_builder b;
        bool is_changed = false;

        object_builder_init(&b, a, map->n);
        VALUE_FOREACH_MEMBER (m, map) {
                const struct field_node *node = field_set_find_field(set, m->key);
                struct typed_type t = { .kind = TYPE_NONE };
                bool is_declared;
                struct value v;

                if (node && node->below)
                        t = shape_field(s, m->key, &is_declared);
                if (!remove_child(a, t, &m->value, node, &v)) {
                        is_changed = true;
                        continue;
                }
                is_changed |= !typed_same(&v, &m->value);
                object_builder_add(&b, m->key, v);
        }
        if (b.n == 0)
                return false;
        *ret = is_changed ? object_builder_finish(&b) : *map;
        return true;
}

static bool remove_items(struct arena *a, struct typed_type t, const struct value *v, const struct field_set *set,
                         struct value *ret)
{
        struct typed_shape s = type_shape(t, v);

        *ret = *v;
        if (s.form == FORM_SCALAR)
                return true;
        if (s.is_atomic || value_count(v) == 0)
                return false;
        return s.form == FORM_LIST ? remove_from_list(a, &s, v, set, ret) : remove_from_map(a, &s, v, set, ret);
}

const struct value *typed_remove(struct arena *a, struct typed_type t, const struct value *v, const struct field_set *s)
{
        struct value result;

        if (!s)
                return v;
        if (!remove_items(a, t, v, s, &result))
                return NULL;
        return typed_same(&result, v) ? v : value_put(a, result);
}
