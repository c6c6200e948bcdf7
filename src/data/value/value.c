#include "value.h"

#include "limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>

/* The keys are in strictly ascending order: lookups are binary searches, and value_sorted returns the object itself. */
#define FLAG_SORTED 1
/* The members are followed by an index of uint32_t: a hash table of member numbers + 1, 0 for empty. */
#define FLAG_INDEXED 2

/* Up to this many members a scan is fastest. */
#define SCAN_MEMBERS 12

const struct value value_null = { .type = VALUE_NULL };
const struct value value_true = { .type = VALUE_BOOL, .boolean = true };
const struct value value_false = { .type = VALUE_BOOL, .boolean = false };
const struct value value_empty_string = { .type = VALUE_STRING, .bytes = "" };
const struct value value_empty_array = { .type = VALUE_ARRAY };
const struct value value_empty_object = { .type = VALUE_OBJECT, .flags = FLAG_SORTED };

const struct value *value_put(struct arena *a, struct value v)
{
        struct value *p = arena_alloc(a, sizeof(*p));

        *p = v;
        return p;
}

int64_t value_int(const struct value *v, int64_t otherwise)
{
        if (value_is_int(v))
                return v->integer;
        if (value_is_double(v) && v->number >= -0x1p63 && v->number < 0x1p63 && v->number == trunc(v->number))
                return (int64_t)v->number;
        return otherwise;
}

double value_double(const struct value *v, double otherwise)
{
        if (value_is_int(v))
                return (double)v->integer;
        return value_is_double(v) ? v->number : otherwise;
}

/* Lookup */

/* Slots of the index for n members: the power of two at or above 2n. */
static size_t index_slots(size_t n)
{
        size_t slots = 32;

        while (slots < 2 * n)
                slots *= 2;
        return slots;
}

static const uint32_t *index_of(const struct value *object)
{
        return (const uint32_t *)(object->members + object->n);
}

static ptrdiff_t probe(const struct value *object, struct str key)
{
        const uint32_t *index = index_of(object);
        size_t mask = index_slots(object->n) - 1;

        for (size_t i = str_hash(key) & mask; index[i]; i = (i + 1) & mask)
                if (str_equal(object->members[index[i] - 1].key, key))
                        return index[i] - 1;
        return -1;
}

static ptrdiff_t bisect(const struct value *object, struct str key)
{
        size_t low = 0, high = object->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = str_compare(object->members[middle].key, key);

                if (order == 0)
                        return (ptrdiff_t)middle;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return -1;
}

static ptrdiff_t find_member(const struct value *object, struct str key)
{
        if (object->n > SCAN_MEMBERS) {
                if (object->flags & FLAG_SORTED)
                        return bisect(object, key);
                if (object->flags & FLAG_INDEXED)
                        return probe(object, key);
        }
        for (uint32_t i = 0; i < object->n; i++)
                if (str_equal(object->members[i].key, key))
                        return i;
        return -1;
}

const struct value *value_get(const struct value *object, struct str key)
{
        ptrdiff_t i;

        if (!value_is_object(object))
                return NULL;
        i = find_member(object, key);
        return i < 0 ? NULL : &object->members[i].value;
}

const struct value *value_find_keys(const struct value *v, ...)
{
        va_list keys;
        const char *key;

        va_start(keys, v);
        while (v && (key = va_arg(keys, const char *)))
                v = value_get(v, str_from(key));
        va_end(keys);
        return v;
}

const struct value *value_find_dotted(const struct value *v, struct str path)
{
        struct str key;
        bool goes_on;

        do {
                goes_on = str_split(&path, '.', &key);
                v = value_get(v, key);
        } while (goes_on && v);
        return v;
}

/* Making objects and arrays */

static bool members_are_sorted(const struct member *members, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (str_compare(members[i - 1].key, members[i].key) >= 0)
                        return false;
        return true;
}

/* Makes room for n members and, if lookups will need it, the index after them. */
static struct member *alloc_members(struct arena *a, size_t n, bool is_sorted)
{
        size_t bytes = n * sizeof(struct member);

        if (n > SCAN_MEMBERS && !is_sorted)
                bytes += index_slots(n) * sizeof(uint32_t);
        return arena_alloc(a, bytes);
}

/* Turns members from alloc_members into an object. */
static struct value seal_members(struct member *members, size_t n, bool is_sorted)
{
        struct value v = { .type = VALUE_OBJECT, .n = (uint32_t)n, .members = members };

        if (n == 0)
                return value_empty_object;
        if (is_sorted || n == 1) {
                v.flags = FLAG_SORTED;
        } else if (n > SCAN_MEMBERS) {
                uint32_t *index = (uint32_t *)(members + n);
                size_t slots = index_slots(n);

                memset(index, 0, slots * sizeof(*index));
                for (size_t i = 0; i < n; i++) {
                        size_t at = str_hash(members[i].key) & (slots - 1);

                        while (index[at])
                                at = (at + 1) & (slots - 1);
                        index[at] = (uint32_t)i + 1;
                }
                v.flags = FLAG_INDEXED;
        }
        return v;
}

struct value value_of_members(struct arena *a, const struct member *members, size_t n, bool is_sorted)
{
        struct member *copy;

        if (n == 0)
                return value_empty_object;
        assert(n <= UINT32_MAX);
        copy = alloc_members(a, n, is_sorted);
        memcpy(copy, members, n * sizeof(*members));
        return seal_members(copy, n, is_sorted);
}

struct value value_of_items(struct arena *a, const struct value *items, size_t n)
{
        struct value *copy;

        if (n == 0)
                return value_empty_array;
        assert(n <= UINT32_MAX);
        copy = arena_alloc(a, n * sizeof(*copy));
        memcpy(copy, items, n * sizeof(*copy));
        return (struct value) { .type = VALUE_ARRAY, .n = (uint32_t)n, .items = copy };
}

static int compare_members(const void *a, const void *b)
{
        return str_compare(((const struct member *)a)->key, ((const struct member *)b)->key);
}

const struct value *value_sorted(struct arena *a, const struct value *object)
{
        struct member *members;

        assert(value_is_object(object));
        if (object->flags & FLAG_SORTED || object->n < 2)
                return object;
        members = alloc_members(a, object->n, true);
        memcpy(members, object->members, object->n * sizeof(*members));
        if (!members_are_sorted(members, object->n))
                qsort(members, object->n, sizeof(*members), compare_members);
        return value_put(a, seal_members(members, object->n, true));
}

/* Edits */

static const struct value *put_members(struct arena *a, struct member *members, size_t n, bool is_sorted)
{
        return value_put(a, seal_members(members, n, is_sorted));
}

const struct value *value_with(struct arena *a, const struct value *object, struct str key, const struct value *v)
{
        struct member *members;
        ptrdiff_t at;
        size_t n;
        bool is_sorted;

        assert(value_is_object(object));
        at = find_member(object, key);
        if (at >= 0) {
                is_sorted = object->flags & FLAG_SORTED;
                n = object->n;
        } else {
                at = object->n;
                n = object->n + 1u;
                is_sorted = object->n == 0 ||
                            (object->flags & FLAG_SORTED && str_compare(object->members[object->n - 1].key, key) < 0);
        }
        members = alloc_members(a, n, is_sorted);
        if (object->n)
                memcpy(members, object->members, object->n * sizeof(*members));
        if ((size_t)at == object->n)
                members[at].key = key;
        members[at].value = *v;
        return put_members(a, members, n, is_sorted);
}

const struct value *value_without(struct arena *a, const struct value *object, struct str key)
{
        struct member *members;
        ptrdiff_t at;
        bool is_sorted;

        assert(value_is_object(object));
        at = find_member(object, key);
        if (at < 0)
                return object;
        is_sorted = object->flags & FLAG_SORTED;
        members = alloc_members(a, object->n - 1u, is_sorted);
        memcpy(members, object->members, (size_t)at * sizeof(*members));
        memcpy(members + at, object->members + at + 1, (object->n - (size_t)at - 1) * sizeof(*members));
        return put_members(a, members, object->n - 1u, is_sorted);
}

/* Copies the array without the `skip` items at `at`, and with `gap` unset items in their place, which the caller fills. */
static struct value *splice(struct arena *a, const struct value *array, size_t at, size_t skip, size_t gap,
                            const struct value **ret)
{
        size_t n = array->n - skip + gap;
        struct value *items = arena_alloc(a, n * sizeof(*items));

        if (at)
                memcpy(items, array->items, at * sizeof(*items));
        if (array->n > at + skip)
                memcpy(items + at + gap, array->items + at + skip, (array->n - at - skip) * sizeof(*items));
        assert(n <= UINT32_MAX);
        *ret = value_put(a, (struct value) { .type = VALUE_ARRAY, .n = (uint32_t)n, .items = items });
        return items + at;
}

const struct value *value_with_item(struct arena *a, const struct value *array, size_t i, const struct value *v)
{
        const struct value *result;

        assert(value_is_array(array) && i < array->n);
        *splice(a, array, i, 1, 1, &result) = *v;
        return result;
}

const struct value *value_without_item(struct arena *a, const struct value *array, size_t i)
{
        const struct value *result;

        assert(value_is_array(array) && i < array->n);
        if (array->n == 1)
                return &value_empty_array;
        splice(a, array, i, 1, 0, &result);
        return result;
}

const struct value *value_with_inserted(struct arena *a, const struct value *array, size_t i, const struct value *v)
{
        const struct value *result;

        assert(value_is_array(array) && i <= array->n);
        *splice(a, array, i, 0, 1, &result) = *v;
        return result;
}

const struct value *value_with_appended(struct arena *a, const struct value *array, const struct value *v)
{
        return value_with_inserted(a, array, value_count(array), v);
}

/* Equality, hash, copy */

static bool numbers_equal(const struct value *a, const struct value *b)
{
        if (a->type == b->type)
                return a->type == VALUE_INT ? a->integer == b->integer : a->number == b->number;
        if (a->type == VALUE_DOUBLE)
                return numbers_equal(b, a);
        return b->number >= -0x1p63 && b->number < 0x1p63 && b->number == trunc(b->number) &&
               (int64_t)b->number == a->integer;
}

static bool equal(const struct value *a, const struct value *b, bool is_numeric)
{
        if (is_numeric && value_is_number(a) && value_is_number(b))
                return numbers_equal(a, b);
        if (a->type != b->type)
                return false;
        switch (value_type(a)) {
        case VALUE_NULL:
                return true;
        case VALUE_BOOL:
                return a->boolean == b->boolean;
        case VALUE_INT:
        case VALUE_DOUBLE:
                return numbers_equal(a, b);
        case VALUE_STRING:
                return str_equal(value_str(a), value_str(b));
        case VALUE_ARRAY:
                if (a->n != b->n)
                        return false;
                if (a->items == b->items)
                        return true;
                for (uint32_t i = 0; i < a->n; i++)
                        if (!equal(&a->items[i], &b->items[i], is_numeric))
                                return false;
                return true;
        case VALUE_OBJECT:
                if (a->n != b->n)
                        return false;
                if (a->members == b->members)
                        return true;
                for (uint32_t i = 0; i < a->n; i++) {
                        const struct member *m = &a->members[i];
                        const struct value *other =
                                str_equal(m->key, b->members[i].key) ? &b->members[i].value : value_get(b, m->key);

                        if (!other || !equal(&m->value, other, is_numeric))
                                return false;
                }
                return true;
        }
        return false;
}

bool value_equal(const struct value *a, const struct value *b)
{
        return equal(a, b, false);
}

bool value_equal_numeric(const struct value *a, const struct value *b)
{
        return equal(a, b, true);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
        __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd1b54a32d192ed03u);

        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t value_hash(const struct value *v)
{
        uint64_t h = v->type + 1u, bits;

        switch (value_type(v)) {
        case VALUE_NULL:
                break;
        case VALUE_BOOL:
                h = mix(h, v->boolean);
                break;
        case VALUE_INT:
                h = mix(h, (uint64_t)v->integer);
                break;
        case VALUE_DOUBLE:
                bits = 0;
                if (v->number != 0) /* -0 equals 0 */
                        memcpy(&bits, &v->number, sizeof(bits));
                h = mix(h, bits);
                break;
        case VALUE_STRING:
                h = mix(h, str_hash_seeded(value_str(v), 0));
                break;
        case VALUE_ARRAY:
                for (uint32_t i = 0; i < v->n; i++)
                        h = mix(h, value_hash(&v->items[i]));
                break;
        case VALUE_OBJECT:
                bits = v->n;
                for (uint32_t i = 0; i < v->n; i++)
                        bits += mix(str_hash_seeded(v->members[i].key, 1), value_hash(&v->members[i].value));
                h = mix(h, bits);
                break;
        }
        return h;
}

static struct value copy(struct arena *a, const struct value *v)
{
        struct value result = *v;

        if (value_is_string(v)) {
                result.bytes = arena_cstring(a, value_str(v));
        } else if (value_is_array(v)) {
                struct value *items;

                if (v->n == 0)
                        return value_empty_array;
                items = arena_alloc(a, v->n * sizeof(*items));
                for (uint32_t i = 0; i < v->n; i++)
                        items[i] = copy(a, &v->items[i]);
                result.items = items;
        } else if (value_is_object(v)) {
                bool is_sorted = v->flags & FLAG_SORTED;
                struct member *members = alloc_members(a, v->n, is_sorted);

                for (uint32_t i = 0; i < v->n; i++) {
                        members[i].key = arena_copy(a, v->members[i].key);
                        members[i].value = copy(a, &v->members[i].value);
                }
                result = seal_members(members, v->n, is_sorted);
        }
        return result;
}

const struct value *value_copy(struct arena *a, const struct value *v)
{
        return value_put(a, copy(a, v));
}

size_t value_size_bytes(const struct value *v)
{
        size_t size = sizeof(*v);

        if (value_is_string(v))
                return size + v->n;
        VALUE_FOREACH_ITEM (item, v)
                size += value_size_bytes(item);
        VALUE_FOREACH_MEMBER (m, v)
                size += sizeof(m->key) + m->key.n + value_size_bytes(&m->value);
        if (value_is_object(v) && v->flags & FLAG_INDEXED)
                size += index_slots(v->n) * sizeof(uint32_t);
        return size;
}

/* Builders */

void object_builder_init(struct object_builder *b, struct arena *a, size_t expected)
{
        assert(expected <= UINT32_MAX);
        *b = (struct object_builder) { .arena = a };
        if (expected) {
                b->capacity = (uint32_t)expected;
                b->members = arena_alloc(a, expected * sizeof(*b->members));
        }
}

void object_builder_add(struct object_builder *b, struct str key, struct value v)
{
        if (b->n == b->capacity) {
                uint32_t grown = b->capacity ? b->capacity * 2 : 4;
                struct member *members = arena_alloc(b->arena, grown * sizeof(*members));

                assert(b->capacity <= UINT32_MAX / 2);
                if (b->n)
                        memcpy(members, b->members, b->n * sizeof(*members));
                b->members = members;
                b->capacity = grown;
        }
        b->members[b->n++] = (struct member) { .key = key, .value = v };
}

/* The slot of the key in the builder's table, or the free slot for it. */
static uint32_t *builder_slot(const struct object_builder *b, struct str key)
{
        size_t mask = b->n_slots - 1, i = str_hash(key) & mask;

        while (b->slots[i] && !str_equal(b->members[b->slots[i] - 1].key, key))
                i = (i + 1) & mask;
        return &b->slots[i];
}

/* Adds all members to the table, with room for as many again. */
static void builder_index(struct object_builder *b)
{
        if (b->n_slots < 2 * (size_t)b->n) {
                b->n_slots = index_slots(2 * (size_t)b->n);
                b->slots = arena_zalloc(b->arena, b->n_slots * sizeof(*b->slots));
                b->n_indexed = 0;
        }
        for (; b->n_indexed < b->n; b->n_indexed++)
                *builder_slot(b, b->members[b->n_indexed].key) = b->n_indexed + 1;
}

static struct member *builder_find(struct object_builder *b, struct str key)
{
        uint32_t found;

        if (b->n > SCAN_MEMBERS) {
                builder_index(b);
                found = *builder_slot(b, key);
                return found ? &b->members[found - 1] : NULL;
        }
        for (uint32_t i = 0; i < b->n; i++)
                if (str_equal(b->members[i].key, key))
                        return &b->members[i];
        return NULL;
}

void object_builder_set(struct object_builder *b, struct str key, struct value v)
{
        struct member *m = builder_find(b, key);

        if (m)
                m->value = v;
        else
                object_builder_add(b, key, v);
}

struct value object_builder_finish(struct object_builder *b)
{
        bool is_sorted = members_are_sorted(b->members, b->n);

        /* Small or sorted objects need no index after their members, so the members are not copied. */
        if (is_sorted || b->n <= SCAN_MEMBERS)
                return seal_members(b->members, b->n, is_sorted);
        return value_of_members(b->arena, b->members, b->n, false);
}

void array_builder_init(struct array_builder *b, struct arena *a, size_t expected)
{
        assert(expected <= UINT32_MAX);
        *b = (struct array_builder) { .arena = a };
        if (expected) {
                b->capacity = (uint32_t)expected;
                b->items = arena_alloc(a, expected * sizeof(*b->items));
        }
}

void array_builder_add(struct array_builder *b, struct value v)
{
        if (b->n == b->capacity) {
                uint32_t grown = b->capacity ? b->capacity * 2 : 4;
                struct value *items = arena_alloc(b->arena, grown * sizeof(*items));

                assert(b->capacity <= UINT32_MAX / 2);
                if (b->n)
                        memcpy(items, b->items, b->n * sizeof(*items));
                b->items = items;
                b->capacity = grown;
        }
        b->items[b->n++] = v;
}

struct value array_builder_finish(struct array_builder *b)
{
        if (b->n == 0)
                return value_empty_array;
        return (struct value) { .type = VALUE_ARRAY, .n = b->n, .items = b->items };
}

/* Documents */

struct document *document_new(const char *name, size_t budget_bytes)
{
        struct document *d = xcalloc(1, sizeof(*d));

        atomic_init(&d->references, 1);
        arena_init(&d->arena, name, budget_bytes);
        return d;
}

struct document *document_ref(struct document *d)
{
        atomic_fetch_add_explicit(&d->references, 1, memory_order_relaxed);
        return d;
}

void document_unref(struct document *d)
{
        if (!d || atomic_fetch_sub_explicit(&d->references, 1, memory_order_acq_rel) != 1)
                return;
        arena_done(&d->arena);
        free(d);
}

size_t document_size_bytes(const struct document *d)
{
        return sizeof(*d) + d->arena.used_bytes + d->arena.pinned_bytes;
}

static void unref_document(void *d)
{
        document_unref(d);
}

const struct value *document_borrow(struct document *d, struct arena *a)
{
        if (!arena_has_pinned(a, d)) {
                arena_pin(a, document_ref(d), unref_document);
                arena_charge(a, document_size_bytes(d));
        }
        return d->root;
}
