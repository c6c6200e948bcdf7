/* Ordered sets of entries: B+trees, so that neither an insert nor a lookup depends on how many there are by more than a few
 * cache lines, and a walk in order is a walk along the leaves.
 *
 * There are trees by key, and indexes: by a number, which is a hash, and among equal numbers by the entry's address. Guarded by
 * the store's mutex. */
#pragma once

#include "str.h"

struct entry;
struct tree_node;

struct tree_item {
        uint64_t head; /* the number; of no meaning in a tree by key */
        struct entry *entry;
};

/* Begins as { .is_by_key = ... }. */
struct tree {
        struct tree_node *root;
        size_t n;
        size_t n_bytes; /* of nodes */
        bool is_by_key;
};

/* Where a walk is; valid until the tree changes. */
struct tree_cursor {
        const struct tree_node *leaf; /* NULL: at the end */
        size_t i;
};

void tree_done(struct tree *t);

/* False, and nothing changed, when the item is (not) there. */
bool tree_insert(struct tree *t, struct tree_item item);
bool tree_remove(struct tree *t, struct tree_item item);

/* By key: the entry, or NULL; the first entry whose key is not before `key`. */
struct entry *tree_find(const struct tree *t, struct str key);
struct tree_cursor tree_seek_key(const struct tree *t, struct str key);

/* In an index: the first item that is not before it. The entry may be NULL, or an address where none is any more. */
struct tree_cursor tree_seek(const struct tree *t, struct tree_item item);

/* Gives the item at the cursor and moves on; false at the end. */
bool tree_next(struct tree_cursor *c, struct tree_item *ret);
