/* A hash map from text to a pointer, with deletion; iteration is in order of insertion and skips deleted entries. The map
 * borrows its keys: a key must live as long as its entry, for example because it is part of the value. Only one thread at a time
 * may use a map. */
#pragma once

#include "str.h"

struct map_entry {
        struct str key; /* .p == NULL: deleted; in a u64_map .n is the key */
        void *value;
        uint64_t hash;
};

struct map {
        struct map_entry *entries; /* in order of insertion, with gaps */
        size_t n_entries;          /* gaps included */
        size_t n;                  /* live entries */
        size_t first;              /* every entry before this one is a gap */
        uint32_t *slots;           /* index into entries + 1, 0 empty */
        size_t n_slots;            /* a power of two, or 0 */
};

/* A map begins as { 0 }. The caller owns the values. */
void map_done(struct map *m);

/* Removes all entries and keeps the memory. */
void map_clear(struct map *m);

/* NULL when absent. */
void *map_get(const struct map *m, struct str key);
bool map_has(const struct map *m, struct str key);

/* Adds or replaces; returns the earlier value of the key, or NULL. On replacement the old key stays. */
void *map_set(struct map *m, struct str key, void *value);

/* Adds the key only if it is absent; otherwise changes nothing and returns false. */
bool map_add(struct map *m, struct str key, void *value);

/* Returns the removed value, or NULL. */
void *map_remove(struct map *m, struct str key);

/* for (struct map_entry *e = map_first(m); e; e = map_next(m, e)). Removing the current entry (or any other) while
 * iterating is fine; adding is not. `while ((e = map_first(m))) map_remove(m, e->key);` is a queue: its cost is linear. */
struct map_entry *map_first(const struct map *m);
struct map_entry *map_next(const struct map *m, const struct map_entry *e);

/* The same map with numbers for keys; iterate over .map and read a key with u64_map_key. */
struct u64_map {
        struct map map;
};

void u64_map_done(struct u64_map *m);
void *u64_map_get(const struct u64_map *m, uint64_t key);
bool u64_map_has(const struct u64_map *m, uint64_t key);
void *u64_map_set(struct u64_map *m, uint64_t key, void *value);
bool u64_map_add(struct u64_map *m, uint64_t key, void *value);
void *u64_map_remove(struct u64_map *m, uint64_t key);

static inline uint64_t u64_map_key(const struct map_entry *e)
{
        return e->key.n;
}

#define _cleanup_map_     _cleanup_(map_done)
#define _cleanup_u64_map_ _cleanup_(u64_map_done)
