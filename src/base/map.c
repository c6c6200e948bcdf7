/* Entries are in an array in order of insertion; a table of indices into the array is searched by linear probing. Removing an
 * entry leaves a gap in the array, so that iteration can go on, but none in the table: the indices behind it move up. Gaps are
 * removed when an addition finds the array full or finds more gaps than entries, which keeps every operation at constant cost on
 * average, and memory in proportion to the live entries. */
#include "map.h"

#define MIN_SLOTS 8

/* Three quarters of the slots may be in use, so the entries need no more room than that. */
static size_t capacity_of(size_t n_slots)
{
        return n_slots - n_slots / 4;
}

void map_done(struct map *m)
{
        free(m->entries);
        free(m->slots);
        *m = (struct map) { 0 };
}

void map_clear(struct map *m)
{
        m->n_entries = m->n = m->first = 0;
        if (m->n_slots)
                memset(m->slots, 0, m->n_slots * sizeof(*m->slots));
}

/* Number keys share one pointer, so the comparison returns before it reads bytes. */
static bool is_same_key(struct str a, struct str b)
{
        return a.n == b.n && (a.p == b.p || memcmp(a.p, b.p, a.n) == 0);
}

/* NULL marks a gap, so the empty key needs another pointer. */
static struct str as_key(struct str key)
{
        return key.p ? key : STR("");
}

/* The slot of a key, or the empty slot where it would go. n_slots > 0. */
static size_t find_slot(const struct map *m, struct str key, uint64_t hash)
{
        size_t mask = m->n_slots - 1;

        for (size_t i = hash & mask;; i = (i + 1) & mask) {
                const struct map_entry *e;

                if (m->slots[i] == 0)
                        return i;
                e = &m->entries[m->slots[i] - 1];
                if (e->hash == hash && is_same_key(e->key, key))
                        return i;
        }
}

static struct map_entry *find(const struct map *m, struct str key, uint64_t hash)
{
        size_t slot;

        if (m->n == 0)
                return NULL;
        slot = find_slot(m, key, hash);
        return m->slots[slot] ? &m->entries[m->slots[slot] - 1] : NULL;
}

static void index_entry(struct map *m, size_t index)
{
        size_t mask = m->n_slots - 1, i = m->entries[index].hash & mask;

        while (m->slots[i])
                i = (i + 1) & mask;
        m->slots[i] = (uint32_t)(index + 1);
}

/* Removes the gaps and makes a table with room for one more entry, and for half as many again. */
static void rebuild(struct map *m)
{
        size_t n_slots = MIN_SLOTS, n = 0;

        while (capacity_of(n_slots) < m->n + m->n / 2 + 1)
                n_slots *= 2;
        assert(n_slots <= UINT32_MAX);
        for (size_t i = m->first; i < m->n_entries; i++)
                if (m->entries[i].key.p)
                        m->entries[n++] = m->entries[i];
        m->n_entries = n;
        m->first = 0;
        if (n_slots != m->n_slots) {
                m->entries = xrealloc(m->entries, capacity_of(n_slots) * sizeof(*m->entries));
                free(m->slots);
                m->slots = xcalloc(n_slots, sizeof(*m->slots));
                m->n_slots = n_slots;
        } else {
                memset(m->slots, 0, n_slots * sizeof(*m->slots));
        }
        for (size_t i = 0; i < n; i++)
                index_entry(m, i);
}

static void append(struct map *m, struct str key, uint64_t hash, void *value)
{
        size_t n_gaps = m->n_entries - m->n;

        if (m->n_entries == capacity_of(m->n_slots) || n_gaps > m->n + MIN_SLOTS)
                rebuild(m);
        m->entries[m->n_entries] = (struct map_entry) { .key = key, .value = value, .hash = hash };
        index_entry(m, m->n_entries++);
        m->n++;
}

static void *set(struct map *m, struct str key, uint64_t hash, void *value)
{
        struct map_entry *e = find(m, key, hash);
        void *before;

        if (!e) {
                append(m, key, hash, value);
                return NULL;
        }
        before = e->value;
        e->value = value;
        return before;
}

static bool add(struct map *m, struct str key, uint64_t hash, void *value)
{
        if (find(m, key, hash))
                return false;
        append(m, key, hash, value);
        return true;
}

/* Empties a slot. Slots that linear probing placed behind it move up, so that no search meets a hole. */
static void empty_slot(struct map *m, size_t hole)
{
        size_t mask = m->n_slots - 1;

        for (size_t i = (hole + 1) & mask; m->slots[i]; i = (i + 1) & mask) {
                size_t home = m->entries[m->slots[i] - 1].hash & mask;

                /* The slot may move unless its home is between the hole and its current place. */
                if (((i - home) & mask) >= ((i - hole) & mask)) {
                        m->slots[hole] = m->slots[i];
                        hole = i;
                }
        }
        m->slots[hole] = 0;
}

static void *take_out(struct map *m, struct str key, uint64_t hash)
{
        struct map_entry *e = find(m, key, hash);
        void *value;

        if (!e)
                return NULL;
        empty_slot(m, find_slot(m, key, hash));
        value = e->value;
        *e = (struct map_entry) { 0 };
        m->n--;
        while (m->first < m->n_entries && !m->entries[m->first].key.p)
                m->first++;
        while (m->n_entries > m->first && !m->entries[m->n_entries - 1].key.p)
                m->n_entries--;
        if (m->n == 0)
                m->first = m->n_entries = 0;
        return value;
}

void *map_get(const struct map *m, struct str key)
{
        const struct map_entry *e = find(m, as_key(key), str_hash(key));

        return e ? e->value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
        return find(m, as_key(key), str_hash(key));
}

void *map_set(struct map *m, struct str key, void *value)
{
        return set(m, as_key(key), str_hash(key), value);
}

bool map_add(struct map *m, struct str key, void *value)
{
        return add(m, as_key(key), str_hash(key), value);
}

void *map_remove(struct map *m, struct str key)
{
        return take_out(m, as_key(key), str_hash(key));
}

static struct map_entry *live_from(const struct map *m, size_t i)
{
        for (; i < m->n_entries; i++)
                if (m->entries[i].key.p)
                        return &m->entries[i];
        return NULL;
}

struct map_entry *map_first(const struct map *m)
{
        return live_from(m, m->first);
}

struct map_entry *map_next(const struct map *m, const struct map_entry *e)
{
        return live_from(m, MAX((size_t)(e - m->entries) + 1, m->first));
}

/* Every number is a str of that length at one shared address; the bytes are never read. */
static struct str number_key(uint64_t number)
{
        static const char home;

        static_assert(sizeof(size_t) >= sizeof(uint64_t), "a str's length must hold any number");
        return (struct str) { &home, number };
}

static uint64_t number_hash(uint64_t number)
{
        return str_hash(str_make((const char *)&number, sizeof(number)));
}

void u64_map_done(struct u64_map *m)
{
        map_done(&m->map);
}

void *u64_map_get(const struct u64_map *m, uint64_t key)
{
        const struct map_entry *e = find(&m->map, number_key(key), number_hash(key));

        return e ? e->value : NULL;
}

bool u64_map_has(const struct u64_map *m, uint64_t key)
{
        return find(&m->map, number_key(key), number_hash(key));
}

void *u64_map_set(struct u64_map *m, uint64_t key, void *value)
{
        return set(&m->map, number_key(key), number_hash(key), value);
}

bool u64_map_add(struct u64_map *m, uint64_t key, void *value)
{
        return add(&m->map, number_key(key), number_hash(key), value);
}

void *u64_map_remove(struct u64_map *m, uint64_t key)
{
        return take_out(&m->map, number_key(key), number_hash(key));
}
