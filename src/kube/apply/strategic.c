#include "strategic.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "status.h"

#define DIRECTIVE STR("$patch")
#define RETAIN    STR("$retainKeys")
#define DELETIONS STR("$deleteFromPrimitiveList")
#define ORDER     STR("$setElementOrder")

/* How the values at one path are merged. */
struct patch_type {
        const struct schema_node *node; /* NULL: the schema is unknown */
        bool is_root;
        bool is_metadata; /* the metadata of the root */
};

struct field_type {
        struct patch_type type;
        bool merges;          /* a list */
        bool replaces;        /* a map */
        struct str merge_key; /* of a list of objects */
};

struct merger {
        struct arena *arena;
        struct err *err;
};

/* --- Types --- */

static struct field_type metadata_field(struct str name)
{
        if (str_equal(name, STR("ownerReferences")))
                return (struct field_type) { .merges = true, .merge_key = STR("uid") };
        return (struct field_type) { .merges = str_equal(name, STR("finalizers")) };
}

static struct field_type field_type(struct patch_type t, struct str name)
{
        struct field_type f = { 0 };

        if (t.is_root && str_equal(name, STR("metadata")))
                return (struct field_type) { .type = { .is_metadata = true } };
        if (t.is_metadata)
                return metadata_field(name);
        if (!t.node)
                return f;
        f.type.node = schema_node_property(t.node, name);
        if (!f.type.node)
                f.type.node = schema_node_additional(t.node);
        if (!f.type.node)
                return f;
        f.merges = schema_node_patch_merges(f.type.node);
        f.replaces = schema_node_patch_replaces(f.type.node);
        f.merge_key = schema_node_patch_key(f.type.node);
        return f;
}

static struct patch_type item_type(const struct field_type *f)
{
        return (struct patch_type) { .node = f->type.node ? schema_node_items(f->type.node) : NULL };
}

/* --- Errors --- */

static int bad_format(struct merger *m, const char *what)
{
        return status_bad_request(m->err, "invalid patch format of %s", what);
}

static int no_merge_key(struct merger *m, const struct value *item, struct str key)
{
        _cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ERROR_BYTES);

        go_append_value(&text, item);
        return status_internal(m->err, "map: %.*s does not contain declared merge key: %.*s", STR_ARG(buf_str(&text)),
                               STR_ARG(key));
}

static int bad_directive(struct merger *m, const struct value *directive, const struct value *in)
{
        _cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ERROR_BYTES), name = BUF_INIT(LIMIT_ERROR_BYTES);

        go_append_value(&name, directive);
        go_append_value(&text, in);
        return status_internal(m->err, "unknown patch type: %.*s in map: %.*s", STR_ARG(buf_str(&name)),
                               STR_ARG(buf_str(&text)));
}

static int lists_of_lists(struct merger *m)
{
        int r = err_set(m->err, ERR_INVALID, "lists of lists are not supported");

        err_set_reason(m->err, REASON_INVALID);
        return r;
}

/* --- Directives --- */

static bool is_directive(const struct value *v, const char *name)
{
        return value_is_string(v) && str_equal(value_str(v), str_from(name));
}

/* Finds FIELD in PREFIX/FIELD. 0: the key is another one; 1: found. */
static int cut_directive(struct merger *m, struct str key, struct str prefix, const char *what, struct str *ret)
{
        if (!str_cut_prefix(&key, prefix))
                return 0;
        if (!str_cut_prefix(&key, STR("/")))
                return bad_format(m, what);
        *ret = key;
        return 1;
}

static bool is_directive_key(struct str key)
{
        return str_equal(key, DIRECTIVE) || str_equal(key, RETAIN) || str_starts_with(key, DELETIONS) ||
               str_starts_with(key, ORDER);
}

/* The values of the patch under PREFIX/FIELD, as an object by FIELD. */
static int collect_directives(struct merger *m, const struct value *patch, struct str prefix, const char *what,
                              struct value *ret)
{
        struct object_builder b;

        object_builder_init(&b, m->arena, 0);
        VALUE_FOREACH_MEMBER (member, patch) {
                struct str field;
                int r = cut_directive(m, member->key, prefix, what, &field);

                if (r < 0)
                        return r;
                if (r > 0 && !value_is_array(&member->value) && !value_is_null(&member->value))
                        return bad_format(m, what);
                if (r > 0)
                        object_builder_set(&b, field, member->value);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

/* Whether the value has a directive. If there is nothing to patch, such a value is dropped. */
static bool is_marked(const struct value *v)
{
        return value_get(v, DIRECTIVE) != NULL;
}

/* The value of the patch without its directives, which never become part of an object. */
static struct value unmarked(struct merger *m, const struct value *v)
{
        if (value_is_object(v)) {
                struct object_builder b;

                object_builder_init(&b, m->arena, v->n);
                VALUE_FOREACH_MEMBER (member, v)
                        if (!is_directive_key(member->key))
                                object_builder_add(&b, member->key, unmarked(m, &member->value));
                return object_builder_finish(&b);
        }
        if (value_is_array(v)) {
                struct array_builder b;

                array_builder_init(&b, m->arena, v->n);
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&b, unmarked(m, item));
                return array_builder_finish(&b);
        }
        return *v;
}

/* The value of the patch for a place where live has nothing: without nulls in maps, and without values that have a directive. */
static struct value adopted(struct merger *m, const struct value *v)
{
        if (value_is_object(v)) {
                struct object_builder b;

                object_builder_init(&b, m->arena, v->n);
                VALUE_FOREACH_MEMBER (member, v)
                        if (!value_is_null(&member->value) && !is_directive_key(member->key) &&
                            !is_marked(&member->value))
                                object_builder_add(&b, member->key, adopted(m, &member->value));
                return object_builder_finish(&b);
        }
        if (value_is_array(v)) {
                struct array_builder b;

                array_builder_init(&b, m->arena, v->n);
                VALUE_FOREACH_ITEM (item, v)
                        if (!is_marked(item))
                                array_builder_add(&b, adopted(m, item));
                return array_builder_finish(&b);
        }
        return *v;
}

/* --- Items by their key --- */

/* A hash table of items by their merge key; scalars are their own key. Of equal items it finds the first. */
struct item_index {
        const struct value **keys;
        uint32_t *slots; /* item number + 1, 0 for none */
        size_t n_slots;
};

static void index_init(struct item_index *x, struct arena *a, size_t n)
{
        x->n_slots = 16;
        while (x->n_slots < 2 * n)
                x->n_slots *= 2;
        x->slots = ARENA_NEW_ARRAY(a, uint32_t, x->n_slots);
        x->keys = ARENA_NEW_ARRAY(a, const struct value *, n + 1);
}

static uint32_t *index_slot(const struct item_index *x, const struct value *key)
{
        size_t at = value_hash(key) & (x->n_slots - 1);

        while (x->slots[at] && !value_equal(x->keys[x->slots[at] - 1], key))
                at = (at + 1) & (x->n_slots - 1);
        return &x->slots[at];
}

static void index_add(struct item_index *x, const struct value *key, size_t number)
{
        uint32_t *slot = index_slot(x, key);

        x->keys[number] = key;
        if (!*slot)
                *slot = (uint32_t)number + 1;
}

/* The number of the first item with the key, or -1. */
static int64_t index_find(const struct item_index *x, const struct value *key)
{
        return (int64_t)*index_slot(x, key) - 1;
}

/* The item's merge key, or a scalar item itself; NULL if the key is missing. */
static const struct value *key_of(const struct value *item, struct str merge_key)
{
        return merge_key.n ? value_get(item, merge_key) : item;
}

/* Fails on items that have no key. */
static int index_list(struct merger *m, const struct value *list, struct str merge_key, struct item_index *ret)
{
        index_init(ret, m->arena, value_count(list));
        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *item = value_item(list, i), *key = key_of(item, merge_key);

                if (!key)
                        return no_merge_key(m, item, merge_key);
                index_add(ret, key, i);
        }
        return 0;
}

/* --- Order --- */

struct ranked {
        struct value item;
        int64_t rank;
        size_t position;
};

static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->rank != y->rank)
                return x->rank < y->rank ? -1 : 1;
        return x->position < y->position ? -1 : 1;
}

/* Orders the items by two lists: items in `wanted` in its order, the rest in the order of live. A rest item goes before the next
 * wanted item if live has them in that order. */
static int order_items(struct merger *m, const struct value *items, const struct value *wanted,
                       const struct value *live, struct str merge_key, struct value *ret)
{
        size_t n = value_count(items), n_named = 0, n_rest = 0, i = 0, j = 0;
        struct ranked *named = ARENA_NEW_ARRAY(m->arena, struct ranked, n + 1);
        struct ranked *rest = ARENA_NEW_ARRAY(m->arena, struct ranked, n + 1);
        struct item_index by_wanted, by_live;
        struct array_builder b;
        int r = index_list(m, wanted, merge_key, &by_wanted);

        if (r == 0)
                r = index_list(m, live, merge_key, &by_live);
        if (r < 0)
                return r;
        VALUE_FOREACH_ITEM (item, items) {
                const struct value *key = key_of(item, merge_key);
                int64_t rank;

                if (!key)
                        return no_merge_key(m, item, merge_key);
                rank = index_find(&by_wanted, key);
                if (rank >= 0)
                        named[n_named] = (struct ranked) { *item, rank, n_named }, n_named++;
                else
                        rest[n_rest] = (struct ranked) { *item, index_find(&by_live, key), n_rest }, n_rest++;
        }
        qsort(named, n_named, sizeof(*named), compare_ranked);
        qsort(rest, n_rest, sizeof(*rest), compare_ranked);
        array_builder_init(&b, m->arena, n);
        while (i < n_rest || j < n_named) {
                int64_t place = j < n_named ? index_find(&by_live, key_of(&named[j].item, merge_key)) : -1;
                bool takes_rest = j >= n_named || (i < n_rest && rest[i].rank >= 0 && rest[i].rank < place);

                array_builder_add(&b, takes_rest ? rest[i++].item : named[j++].item);
        }
        *ret = array_builder_finish(&b);
        return 0;
}

/* --- Lists --- */

static int merge_map(struct merger *m, struct patch_type t, const struct value *live, const struct value *patch,
                     struct value *ret);

/* Finds out whether the items are objects. All must be of the same type, and none a list. */
static int check_items(struct merger *m, const struct value *live, const struct value *patch, bool *ret_are_objects)
{
        const struct value *lists[] = { live, patch }, *first = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                VALUE_FOREACH_ITEM (item, lists[i]) {
                        _cleanup_buf_ struct buf a = BUF_INIT(LIMIT_ERROR_BYTES), b = BUF_INIT(LIMIT_ERROR_BYTES);

                        if (!first)
                                first = item;
                        if (value_is_array(first))
                                return lists_of_lists(m);
                        if (value_type(item) == value_type(first))
                                continue;
                        go_append_value(&a, live);
                        go_append_value(&b, patch);
                        return status_internal(m->err, "list element types are not identical: [%.*s %.*s]",
                                               STR_ARG(buf_str(&a)), STR_ARG(buf_str(&b)));
                }
        *ret_are_objects = value_is_object(first);
        return 0;
}

/* The scalars of both lists, each once. */
static struct value union_of(struct merger *m, const struct value *live, const struct value *patch)
{
        const struct value *lists[] = { live, patch };
        struct item_index seen;
        struct array_builder b;

        index_init(&seen, m->arena, value_count(live) + value_count(patch));
        array_builder_init(&b, m->arena, value_count(live) + value_count(patch));
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                VALUE_FOREACH_ITEM (item, lists[i])
                        if (index_find(&seen, item) < 0) {
                                index_add(&seen, item, b.n);
                                array_builder_add(&b, *item);
                        }
        return array_builder_finish(&b);
}

static struct value without_items(struct merger *m, const struct value *live, const struct value *gone)
{
        struct item_index deleted;
        struct array_builder b;

        index_list(m, gone, STR(""), &deleted);
        array_builder_init(&b, m->arena, value_count(live));
        VALUE_FOREACH_ITEM (item, live)
                if (index_find(&deleted, item) < 0)
                        array_builder_add(&b, *item);
        return array_builder_finish(&b);
}

/* Applies the directives in the items of a patch: deletes or replaces items in *live, and leaves the other items in *patch. */
static int apply_item_directives(struct merger *m, struct str merge_key, struct value *live, struct value *patch)
{
        struct array_builder rest, kept;
        struct item_index deleted;
        bool replaces = false;
        size_t n_deleted = 0;

        array_builder_init(&rest, m->arena, patch->n);
        index_init(&deleted, m->arena, patch->n);
        VALUE_FOREACH_ITEM (item, patch) {
                const struct value *directive = value_get(item, DIRECTIVE), *key = value_get(item, merge_key);

                if (!directive) {
                        array_builder_add(&rest, *item);
                } else if (is_directive(directive, "replace")) {
                        replaces = true;
                } else if (is_directive(directive, "merge")) {
                        return status_internal(m->err, "merging lists cannot yet be specified in the patch");
                } else if (!is_directive(directive, "delete")) {
                        return bad_directive(m, directive, item);
                } else if (!key) {
                        return no_merge_key(m, item, merge_key);
                } else {
                        index_add(&deleted, key, n_deleted++);
                }
        }
        *patch = array_builder_finish(&rest);
        if (replaces) {
                *live = unmarked(m, patch);
                *patch = value_empty_array;
                return 0;
        }
        array_builder_init(&kept, m->arena, live->n);
        VALUE_FOREACH_ITEM (item, live) {
                const struct value *key = value_get(item, merge_key);

                if (!key || index_find(&deleted, key) < 0)
                        array_builder_add(&kept, *item);
        }
        *live = array_builder_finish(&kept);
        return 0;
}

/* Merges the items of the patch into the live items with the same key; other items are appended. */
static int merge_items(struct merger *m, const struct field_type *f, const struct value *live,
                       const struct value *patch, struct value *ret)
{
        size_t n = value_count(live);
        struct value *items = ARENA_NEW_ARRAY(m->arena, struct value, n + value_count(patch) + 1);
        struct item_index places;

        index_init(&places, m->arena, n + value_count(patch));
        for (size_t i = 0; i < n; i++) {
                const struct value *key = value_get(value_item(live, i), f->merge_key);

                items[i] = *value_item(live, i);
                if (key)
                        index_add(&places, key, i);
                else
                        places.keys[i] = &value_null;
        }
        VALUE_FOREACH_ITEM (item, patch) {
                const struct value *key = value_get(item, f->merge_key);
                int64_t place;
                int r;

                if (!key)
                        return no_merge_key(m, item, f->merge_key);
                place = index_find(&places, key);
                if (place < 0) {
                        items[n] = unmarked(m, item);
                        index_add(&places, key, n++);
                        continue;
                }
                r = merge_map(m, item_type(f), &items[place], item, &items[place]);
                if (r < 0)
                        return r;
        }
        *ret = value_of_items(m->arena, items, n);
        return 0;
}

static int merge_list(struct merger *m, const struct field_type *f, const struct value *live, const struct value *patch,
                      struct value *ret)
{
        struct value old = *live, wanted = *patch, merged;
        bool are_objects = false;
        int r;

        if (!f->merges) {
                *ret = unmarked(m, patch);
                return 0;
        }
        r = check_items(m, live, patch, &are_objects);
        if (r < 0)
                return r;
        if (!are_objects) {
                merged = union_of(m, live, patch);
                return order_items(m, &merged, patch, live, STR(""), ret);
        }
        if (f->merge_key.n == 0)
                return status_internal(m->err, "cannot merge lists without merge key for type struct");
        r = apply_item_directives(m, f->merge_key, &old, &wanted);
        if (r == 0)
                r = merge_items(m, f, &old, &wanted, &merged);
        return r < 0 ? r : order_items(m, &merged, &wanted, &old, f->merge_key, ret);
}

/* --- Lists with an order --- */

/* Checks that the items of the patch are in the order that it asks for: every item is in that list, in the same order. */
static int check_order(struct merger *m, const struct value *patch, const struct value *order, struct str merge_key)
{
        _cleanup_buf_ struct buf a = BUF_INIT(LIMIT_ERROR_BYTES), b = BUF_INIT(LIMIT_ERROR_BYTES);
        size_t i = 0, j = 0;

        if (value_count(patch) == 0 || value_count(order) == 0)
                return 0;
        while (i < value_count(patch) && j < value_count(order)) {
                const struct value *item = value_item(patch, i), *place = value_item(order, j);

                if (value_get(item, DIRECTIVE)) {
                        i++;
                        continue;
                }
                if (!key_of(item, merge_key) || !key_of(place, merge_key))
                        return no_merge_key(m, key_of(item, merge_key) ? place : item, merge_key);
                if (value_equal(key_of(item, merge_key), key_of(place, merge_key)))
                        i++;
                j++;
        }
        while (i < value_count(patch) && value_get(value_item(patch, i), DIRECTIVE))
                i++;
        if (i >= value_count(patch))
                return 0;
        go_append_value(&a, patch);
        go_append_value(&b, order);
        return status_internal(m->err, "The order in patch list:\n%.*s\n doesn't match $setElementOrder list:\n%.*s\n",
                               STR_ARG(buf_str(&a)), STR_ARG(buf_str(&b)));
}

/* Merges the list of a field and orders it as the patch says. live or patch may be NULL, but not both. */
static int merge_ordered(struct merger *m, const struct field_type *f, const struct value *live,
                         const struct value *patch, const struct value *order, struct value *ret)
{
        struct value merged;
        int r;

        if ((live && !value_is_array(live)) || (patch && !value_is_array(patch)))
                return bad_format(m, "setElementOrder list");
        r = check_order(m, patch, order, f->merge_key);
        if (r < 0)
                return r;
        if (live && patch)
                r = merge_list(m, f, live, patch, &merged);
        else
                merged = live ? *live : adopted(m, patch);
        if (r < 0)
                return r;
        return order_items(m, &merged, order, live ? live : &value_empty_array, f->merge_key, ret);
}

/* --- Maps --- */

/* The patch of one map. */
struct map_patch {
        const struct value *members; /* sorted, for the search */
        struct value deletions;      /* items to delete, by field */
        struct value orders;
        const struct value *retained; /* a list of names; NULL: all stay */
        struct item_index retained_names;
};

static int check_retained(struct merger *m, const struct map_patch *p)
{
        VALUE_FOREACH_MEMBER (member, p->members) {
                struct value name = value_of_str(member->key);

                if (value_is_null(&member->value) || is_directive_key(member->key))
                        continue;
                if (index_find(&p->retained_names, &name) < 0)
                        return bad_format(m, "retainKeys");
        }
        return 0;
}

static int map_patch_init(struct merger *m, const struct value *patch, struct map_patch *ret)
{
        int r = collect_directives(m, patch, DELETIONS, "primitive list", &ret->deletions);

        if (r == 0)
                r = collect_directives(m, patch, ORDER, "setElementOrder list", &ret->orders);
        if (r < 0)
                return r;
        ret->members = value_sorted(m->arena, patch);
        ret->retained = value_get(ret->members, RETAIN);
        if (!ret->retained)
                return 0;
        if (!value_is_array(ret->retained))
                return bad_format(m, "retainKeys");
        index_list(m, ret->retained, STR(""), &ret->retained_names);
        return check_retained(m, ret);
}

static bool is_retained(const struct map_patch *p, struct str key)
{
        struct value name = value_of_str(key);

        return !p->retained || index_find(&p->retained_names, &name) >= 0;
}

static int merge_values(struct merger *m, const struct field_type *f, const struct value *live,
                        const struct value *patch, struct value *ret)
{
        if (value_is_object(live) && value_is_object(patch) && !f->replaces)
                return merge_map(m, f->type, live, patch, ret);
        if (value_is_array(live) && value_is_array(patch))
                return merge_list(m, f, live, patch, ret);
        *ret = adopted(m, patch);
        return 0;
}

/* Merges one member of the live map. *ret_stays is false when the patch removes it. */
static int merge_member(struct merger *m, struct patch_type t, const struct map_patch *p, const struct member *live,
                        struct value *ret, bool *ret_stays)
{
        const struct value *patch = value_get(p->members, live->key), *order = value_get(&p->orders, live->key);
        const struct value *gone = value_get(&p->deletions, live->key);
        struct field_type f = field_type(t, live->key);
        int r = 0;

        *ret = live->value;
        *ret_stays = !(patch && (value_is_null(patch) || (is_marked(patch) && !value_is_object(&live->value))));
        if (!*ret_stays)
                return 0;
        if (order && !value_is_null(order))
                r = merge_ordered(m, &f, &live->value, patch, order, ret);
        else if (patch)
                r = merge_values(m, &f, &live->value, patch, ret);
        if (r == 0 && value_is_array(gone) && value_is_array(ret))
                *ret = f.merges ? without_items(m, ret, gone) : *gone;
        return r;
}

/* Adds a member of the patch that the live map does not have. */
static int take_member(struct merger *m, struct patch_type t, const struct map_patch *p, const struct member *patch,
                       struct value *ret)
{
        const struct value *order = value_get(&p->orders, patch->key);
        struct field_type f = field_type(t, patch->key);

        if (order && value_is_array(order))
                return merge_ordered(m, &f, NULL, &patch->value, order, ret);
        *ret = adopted(m, &patch->value);
        return 0;
}

static int merge_members(struct merger *m, struct patch_type t, const struct value *live, const struct value *patch,
                         struct value *ret)
{
        const struct value *sorted = value_sorted(m->arena, live);
        struct object_builder b;
        struct map_patch p = { 0 };
        struct value v;
        bool stays;
        int r = map_patch_init(m, patch, &p);

        if (r < 0)
                return r;
        object_builder_init(&b, m->arena, (size_t)live->n + patch->n);
        VALUE_FOREACH_MEMBER (member, live) {
                if (!is_retained(&p, member->key))
                        continue;
                r = merge_member(m, t, &p, member, &v, &stays);
                if (r < 0)
                        return r;
                if (stays)
                        object_builder_add(&b, member->key, v);
        }
        VALUE_FOREACH_MEMBER (member, patch) {
                bool is_there = value_get(sorted, member->key) && is_retained(&p, member->key);

                if (is_there || value_is_null(&member->value) || is_marked(&member->value) ||
                    is_directive_key(member->key))
                        continue;
                r = take_member(m, t, &p, member, &v);
                if (r < 0)
                        return r;
                object_builder_add(&b, member->key, v);
        }
        *ret = object_builder_finish(&b);
        return 0;
}

static int merge_map(struct merger *m, struct patch_type t, const struct value *live, const struct value *patch,
                     struct value *ret)
{
        const struct value *directive = value_get(patch, DIRECTIVE);
        int r = arena_check(m->arena, m->err);

        if (r < 0)
                return r;
        if (is_directive(directive, "replace") || is_directive(directive, "delete")) {
                *ret = is_directive(directive, "delete") ? value_empty_object : unmarked(m, patch);
                return 0;
        }
        return directive ? bad_directive(m, directive, patch) : merge_members(m, t, live, patch, ret);
}

int strategic_merge(struct arena *a, const struct schema *schema, const struct value *live, const struct value *patch,
                    const struct value **ret, struct err *err)
{
        struct merger m = { .arena = a, .err = err };
        struct patch_type root = { .node = schema_root(schema), .is_root = true };
        struct value merged;
        int r = merge_map(&m, root, live, patch, &merged);

        if (r == 0)
                *ret = value_put(a, merged);
        return r;
}
