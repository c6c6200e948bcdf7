/* Lists of type set and map: no two items, or no two keys of items, are equal. */
#include "schema-check.h"

/* Up to this many items, every pair is compared. */
#define FEW_ITEMS 16

struct list_check {
        struct schema_check *check;
        const struct schema_node *node;
        const struct value *list;
        const struct schema_step *at;
        const struct str *keys;
        size_t n_keys;
};

static bool equal_items(const struct list_check *l, const struct value *a, const struct value *b)
{
        if (l->node->list_type == SCHEMA_LIST_SET)
                return value_equal(a, b);
        for (size_t i = 0; i < l->n_keys; i++) {
                const struct value *x = value_get(a, l->keys[i]), *y = value_get(b, l->keys[i]);

                if (!x != !y || (x && !value_equal(x, y)))
                        return false;
        }
        return true;
}

static uint64_t hash_item(const struct list_check *l, const struct value *item)
{
        uint64_t hash = 0;

        if (l->node->list_type == SCHEMA_LIST_SET)
                return value_hash(item);
        for (size_t i = 0; i < l->n_keys; i++) {
                const struct value *v = value_get(item, l->keys[i]);

                hash = hash * 0x9e3779b97f4a7c15u + (v ? value_hash(v) : 1);
        }
        return hash;
}

/* Only the keys of the item, as errors show them. */
static struct value keys_of(const struct list_check *l, const struct value *item)
{
        struct object_builder b;

        object_builder_init(&b, l->check->errors->arena, l->n_keys);
        for (size_t i = 0; i < l->n_keys; i++) {
                const struct value *v = value_get(item, l->keys[i]);

                if (v)
                        object_builder_set(&b, l->keys[i], *v);
        }
        return object_builder_finish(&b);
}

static bool fail_duplicate(const struct list_check *l, uint32_t i)
{
        struct schema_step at = { .up = l->at, .index = i };
        struct value shown;

        if (!l->check->errors)
                return false;
        shown = l->node->list_type == SCHEMA_LIST_SET ? l->list->items[i] : keys_of(l, &l->list->items[i]);
        return check_fail(l->check, FIELD_DUPLICATE, &at, &shown, "%s", "");
}

/* The number of items before i that equal it, at most two. Only the second of several equal items is reported. */
static unsigned count_earlier(const struct list_check *l, uint32_t i)
{
        unsigned n = 0;

        for (uint32_t k = 0; k < i && n < 2; k++)
                n += equal_items(l, &l->list->items[k], &l->list->items[i]);
        return n;
}

static bool check_few(const struct list_check *l)
{
        bool ok = true;

        for (uint32_t i = 1; i < l->list->n; i++)
                if (count_earlier(l, i) == 1)
                        ok = fail_duplicate(l, i);
        return ok;
}

/* Many items go into a hash table of item numbers; a slot counts how often its item occurred. */
struct slot {
        uint32_t item; /* item number + 1 */
        uint32_t n;
};

static bool check_many(const struct list_check *l)
{
        size_t n_slots = 64;
        _cleanup_free_ struct slot *slots = NULL;
        bool ok = true;

        while (n_slots < 2 * (size_t)l->list->n)
                n_slots *= 2;
        slots = xcalloc(n_slots, sizeof(*slots));
        for (uint32_t i = 0; i < l->list->n; i++) {
                size_t at = hash_item(l, &l->list->items[i]) & (n_slots - 1);
                while (slots[at].item && !equal_items(l, &l->list->items[slots[at].item - 1], &l->list->items[i]))
                        at = (at + 1) & (n_slots - 1);
                if (!slots[at].item)
                        slots[at].item = i + 1;
                if (++slots[at].n == 2)
                        ok = fail_duplicate(l, i);
        }
        return ok;
}

/* Reports the first item in a list of type map that cannot have keys. A null has no keys, but is allowed. */
static bool check_items_are_objects(const struct list_check *l)
{
        for (uint32_t i = 0; i < l->list->n; i++) {
                struct schema_step at = { .up = l->at, .index = i };

                if (!value_is_object(&l->list->items[i]) && !value_is_null(&l->list->items[i]))
                        return check_fail(l->check, FIELD_INVALID, &at, &l->list->items[i],
                                          "must be an object for an array of list-type map");
        }
        return true;
}

static bool check_list(struct schema_check *c, const struct schema_node *n, const struct value *v,
                       const struct schema_step *at)
{
        struct list_check l = { .check = c, .node = n, .list = v, .at = at };

        if (n->list_type == SCHEMA_LIST_MAP) {
                l.n_keys = schema_node_list_keys(n, &l.keys);
                if (!check_items_are_objects(&l))
                        return false;
        }
        return v->n <= FEW_ITEMS ? check_few(&l) : check_many(&l);
}

bool check_lists(struct schema_check *c, const struct schema_node *n, const struct value *v,
                 const struct schema_step *at)
{
        const struct schema_node *items = schema_node_items(n);
        bool ok = true;

        if (!(n->flags & NODE_LIST_RULES_BELOW))
                return true;
        if (value_is_object(v))
                return check_members(c, n, v, at, NODE_LIST_RULES_BELOW, check_lists);
        if (!value_is_array(v))
                return true;
        if (n->list_type != SCHEMA_LIST_ATOMIC)
                ok = check_list(c, n, v, at);
        for (uint32_t i = 0; items && items->flags & NODE_LIST_RULES_BELOW && i < v->n; i++) {
                struct schema_step item_at = { .up = at, .index = i };

                ok &= check_lists(c, items, &v->items[i], &item_at);
        }
        return ok;
}
