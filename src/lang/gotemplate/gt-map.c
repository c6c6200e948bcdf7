#include "gt-map.h"

#include "gt-context.h"
#include "gt-list.h"

#define MAP_SCANNED 8 /* maps of up to this many entries are searched one by one */

struct gt_value gt_map_wrap(struct gt_context *c, const struct value *object)
{
        struct gt_map *map = ARENA_NEW(c->arena, struct gt_map);

        map->source = object;
        return (struct gt_value) { .type = GT_MAP, .map = map };
}

struct gt_value gt_map_new(struct gt_context *c, enum gt_type type)
{
        return (struct gt_value) { .type = (uint8_t)type, .map = ARENA_NEW(c->arena, struct gt_map) };
}

size_t gt_map_count(struct gt_value map)
{
        if (map.type == GT_ANY_MAP)
                return gt_list_count(map) / 2;
        if (!gt_is_map(map) || !map.map)
                return 0;
        return map.map->source ? value_count(map.map->source) : map.map->n;
}

/* --- Members of a wrapped object --- */

static struct gt_value source_member(struct gt_context *c, struct gt_map *map, const struct member *m)
{
        size_t i = (size_t)(m - map->source->members);

        if (m->value.type < VALUE_ARRAY)
                return gt_boxed(gt_from_value(c, &m->value));
        if (!map->wrapped)
                map->wrapped = ARENA_NEW_ARRAY(c->arena, struct gt_value, map->source->n);
        if (map->wrapped[i].type == GT_NONE)
                map->wrapped[i] = gt_boxed(gt_from_value(c, &m->value));
        return map->wrapped[i];
}

static bool source_get(struct gt_context *c, struct gt_map *map, struct str key, struct gt_value *ret)
{
        const struct value *v = value_get(map->source, key);

        if (!v)
                return false;
        *ret = source_member(c, map, CONTAINER_OF(v, struct member, value));
        return true;
}

/* --- Entries --- */

static uint32_t *slot_of(const struct gt_map *map, struct str key)
{
        uint32_t mask = map->n_slots - 1;
        uint32_t at = (uint32_t)str_hash(key) & mask;

        while (map->slots[at] && !str_equal(map->entries[map->slots[at] - 1].key, key))
                at = (at + 1) & mask;
        return &map->slots[at];
}

static struct gt_entry *find_entry(const struct gt_map *map, struct str key)
{
        if (map->slots) {
                uint32_t number = *slot_of(map, key);

                return number ? &map->entries[number - 1] : NULL;
        }
        for (uint32_t i = 0; i < map->n; i++)
                if (str_equal(map->entries[i].key, key))
                        return &map->entries[i];
        return NULL;
}

static void index_entries(struct gt_context *c, struct gt_map *map)
{
        map->slots = NULL;
        if (map->capacity <= MAP_SCANNED)
                return;
        map->n_slots = map->capacity * 2;
        map->slots = ARENA_NEW_ARRAY(c->arena, uint32_t, map->n_slots);
        for (uint32_t i = 0; i < map->n; i++)
                *slot_of(map, map->entries[i].key) = i + 1;
}

static void grow(struct gt_context *c, struct gt_map *map, uint32_t capacity)
{
        struct gt_entry *entries = ARENA_NEW_ARRAY(c->arena, struct gt_entry, capacity);

        if (map->n > 0)
                memcpy(entries, map->entries, map->n * sizeof(*entries));
        map->entries = entries;
        map->capacity = capacity;
        index_entries(c, map);
}

static void add_entry(struct gt_context *c, struct gt_map *map, struct str key, struct gt_value v)
{
        if (map->n == map->capacity)
                grow(c, map, map->capacity ? map->capacity * 2 : 4);
        map->entries[map->n++] = (struct gt_entry) { key, v };
        if (map->slots)
                *slot_of(map, key) = map->n;
}

/* Copies the members of the wrapped object into entries. */
static void make_own(struct gt_context *c, struct gt_map *map)
{
        const struct value *source = map->source;
        uint32_t capacity = 4;

        if (!source)
                return;
        while (capacity <= value_count(source))
                capacity *= 2;
        grow(c, map, capacity);
        VALUE_FOREACH_MEMBER (m, source)
                add_entry(c, map, m->key, source_member(c, map, m));
        map->source = NULL;
}

static bool any_map_get(struct gt_context *c, struct gt_value map, struct str key, struct gt_value *ret)
{
        for (size_t i = 0; i + 1 < gt_list_count(map); i += 2) {
                struct gt_value k = gt_list_at(c, map, i);

                if (k.type == GT_STRING && str_equal(gt_str(k), key)) {
                        *ret = gt_list_at(c, map, i + 1);
                        return true;
                }
        }
        return false;
}

bool gt_map_get(struct gt_context *c, struct gt_value map, struct str key, struct gt_value *ret)
{
        const struct gt_entry *e;

        if (map.type == GT_ANY_MAP)
                return any_map_get(c, map, key, ret);
        if (!map.map)
                return false;
        if (map.map->source)
                return source_get(c, map.map, key, ret);
        e = find_entry(map.map, key);
        if (!e)
                return false;
        *ret = e->value;
        return true;
}

void gt_map_set(struct gt_context *c, struct gt_value map, struct str key, struct gt_value v)
{
        struct gt_entry *e;

        assert(map.map && map.type != GT_ANY_MAP);
        make_own(c, map.map);
        if (map.type == GT_MAP)
                v = gt_boxed(v);
        else
                v.is_boxed = false;
        e = find_entry(map.map, key);
        if (e)
                e->value = v;
        else
                add_entry(c, map.map, key, v);
}

void gt_map_remove(struct gt_context *c, struct gt_value map, struct str key)
{
        struct gt_entry *e;

        if (!map.map)
                return;
        make_own(c, map.map);
        e = find_entry(map.map, key);
        if (!e)
                return;
        *e = map.map->entries[--map.map->n];
        index_entries(c, map.map);
}

/* --- Members in order --- */

static int compare_members(const void *a, const void *b)
{
        const struct gt_member *x = a, *y = b;

        return str_compare(str_make(x->key.bytes, x->key.n), str_make(y->key.bytes, y->key.n));
}

static void sort_members(struct gt_member *members, size_t n)
{
        bool is_sorted = true;

        for (size_t i = 1; i < n && is_sorted; i++)
                is_sorted = compare_members(&members[i - 1], &members[i]) < 0;
        if (!is_sorted)
                qsort(members, n, sizeof(*members), compare_members);
}

const struct gt_member *gt_map_members(struct gt_context *c, struct gt_value map, size_t *ret_n)
{
        size_t n = gt_map_count(map);
        struct gt_member *members = arena_alloc(c->arena, (n + 1) * sizeof(*members));

        *ret_n = n;
        for (size_t i = 0; i < n; i++) {
                if (map.type == GT_ANY_MAP)
                        members[i] = (struct gt_member) { gt_list_at(c, map, 2 * i), gt_list_at(c, map, 2 * i + 1) };
                else if (map.map->source)
                        members[i] = (struct gt_member) { gt_string(map.map->source->members[i].key),
                                                          source_member(c, map.map, &map.map->source->members[i]) };
                else
                        members[i] =
                                (struct gt_member) { gt_string(map.map->entries[i].key), map.map->entries[i].value };
        }
        if (map.type != GT_ANY_MAP)
                sort_members(members, n);
        return members;
}
