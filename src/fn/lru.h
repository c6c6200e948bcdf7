/* Named things that are bounded in number and bytes: what was used least recently goes first. Not for more than one thread at a time.
 * The things are the caller's: each embeds a struct lru_item. Private to caches. */
#pragma once

#include "map.h"

struct lru_item {
        struct lru_item *newer, *older;
        struct str name; /* lives as long as the item */
        size_t size_bytes;
};

/* Begins as { 0 } with its bounds. */
struct lru {
        struct map map;
        struct lru_item *newest, *oldest;
        size_t size_bytes;
        size_t max_bytes;
        size_t max_entries;
};

/* Frees what the list itself needs; the items are gone or the caller's. */
void lru_done(struct lru *l);

/* The item, which is the newest now, or NULL. */
struct lru_item *lru_get(struct lru *l, struct str name);

/* Puts it in front; gives back the one of the same name that it replaces, or NULL. The bounds may be passed then. */
struct lru_item *lru_put(struct lru *l, struct lru_item *item);
void lru_remove(struct lru *l, struct lru_item *item);

/* While the bounds are passed: takes out the oldest. NULL otherwise. */
struct lru_item *lru_take_excess(struct lru *l);
