/* Ordered sets of entries, as B+trees: the cost of an insert or a lookup grows by only a few cache lines with the number of
 * entries, and a walk in order follows the leaves.
 *
 * A tree is either ordered by key, or an index. An index is ordered by a number, which is a hash, and for equal numbers by the
 * entry's address. Guarded by the store's mutex. */
#pragma once

#include "str.h"

struct store_entry;
struct tree_node;

struct tree_item {
        uint64_t head; /* the number; unused in a tree by key */
        struct store_entry *entry;
};

/* Begins as { .is_by_key = ... }. */
struct tree {
        struct tree_node *root;
        size_t n;
        size_t n_bytes; /* bytes of all nodes */
        bool is_by_key;
};

/* The position of a walk; valid until the tree changes. */
struct tree_cursor {
        const struct tree_node *leaf; /* NULL: at the end */
        size_t i;
};

void tree_done(struct tree *t);

/* tree_insert returns false when the item exists, tree_remove when it does not; the tree is then unchanged. */
bool tree_insert(struct tree *t, struct tree_item item);
bool tree_remove(struct tree *t, struct tree_item item);

/* In a tree by key an entry is present while it has an object; other entries are there only for the history. tree_insert reads this
 * state from the entry. Code that later sets or removes the entry's object must call this function. Repeated calls are harmless. */
void tree_set_present(struct tree *t, struct store_entry *e, bool is_present);

/* The number of present entries whose keys are before this one. Costs one search. */
size_t tree_count_before(const struct tree *t, struct str key);

/* Trees by key. tree_find: the entry, or NULL. tree_seek_key: the first entry whose key is not before `key`. */
struct store_entry *tree_find(const struct tree *t, struct str key);
struct tree_cursor tree_seek_key(const struct tree *t, struct str key);

/* In an index: the first item that is not before the given one. Its entry may be NULL, or an address that no longer holds an
 * entry. */
struct tree_cursor tree_seek(const struct tree *t, struct tree_item item);

/* The entry n items behind the one that tree_next gives next, or NULL when it is in neither the same leaf nor the next one. */
struct store_entry *tree_ahead(const struct tree_cursor *c, size_t n);

/* Gives the item at the cursor and moves on; false at the end. */
bool tree_next(struct tree_cursor *c, struct tree_item *ret);
