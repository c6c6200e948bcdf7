/* A list of named items with limits on number and bytes: the least recently used item is removed first. Only one thread at a time.
 * The caller owns the items: each embeds a struct lru_item. Private to caches. */
#pragma once

#include "map.h"

struct lru_item {
        struct lru_item *newer, *older;
        struct str name; /* must live as long as the item */
        size_t size_bytes;
};

/* Initialise it with { 0 } and its limits. */
struct lru {
        struct map map;
        struct lru_item *newest, *oldest;
        size_t size_bytes;
        size_t max_bytes;
        size_t max_entries;
};

/* Frees the list's own memory, not the items. */
void lru_done(struct lru *l);

/* Finds the item and makes it the newest; NULL if there is none. */
struct lru_item *lru_get(struct lru *l, struct str name);

/* Adds the item as the newest. Returns the item of the same name that it replaces, or NULL. The limits may be exceeded
 * afterwards. */
struct lru_item *lru_put(struct lru *l, struct lru_item *item);
void lru_remove(struct lru *l, struct lru_item *item);

/* Removes and returns the oldest item while a limit is exceeded; otherwise returns NULL. */
struct lru_item *lru_take_excess(struct lru *l);
