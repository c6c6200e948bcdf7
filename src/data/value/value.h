/* The value: one immutable tree type for JSON, YAML and protobuf Struct.
 *
 * Ownership: a value never changes once other code can see it, and it lives as long as the arena (or counted document) it was
 * made in; code that puts a value of one arena into a tree of another must either make sure that the first arena outlives the
 * second (arena_pin does that for counted documents) or copy the value with value_copy.
 *
 * A value is 16 bytes. Strings are borrowed bytes, arrays and objects point at a block of items or members in the arena.
 * Objects keep the order of insertion; a lookup is a scan in small ones, a binary search in sorted ones and a hash probe
 * in the rest. Edits (value_with and friends) return a new root that shares every child they did not touch. */
#pragma once

#include "arena.h"
#include "str.h"

enum value_type {
        VALUE_NULL,
        VALUE_BOOL,
        VALUE_INT,    /* int64 */
        VALUE_DOUBLE, /* never equal to an int: Go treats them as different types, and users can see that */
        VALUE_STRING,
        VALUE_ARRAY,
        VALUE_OBJECT,
};

struct value {
        uint8_t type;  /* enum value_type */
        uint8_t flags; /* value.c only */
        uint16_t _unused;
        uint32_t n; /* bytes of a string, items of an array, members of an object */
        union {
                bool boolean;
                int64_t integer;
                double number;
                const char *bytes;
                const struct value *items;
                const struct member *members;
        };
};

struct member {
        struct str key;
        struct value value;
};

/* Values as structs, for building. The string's bytes are borrowed. */
static inline struct value value_of_null(void)
{
        return (struct value) { .type = VALUE_NULL };
}

static inline struct value value_of_bool(bool b)
{
        return (struct value) { .type = VALUE_BOOL, .boolean = b };
}

static inline struct value value_of_int(int64_t i)
{
        return (struct value) { .type = VALUE_INT, .integer = i };
}

static inline struct value value_of_double(double d)
{
        return (struct value) { .type = VALUE_DOUBLE, .number = d };
}

/* s.n must be below LIMIT_STRING_BYTES: parsers check it, everything else is far smaller. */
static inline struct value value_of_str(struct str s)
{
        assert(s.n <= UINT32_MAX);
        return (struct value) { .type = VALUE_STRING, .n = (uint32_t)s.n, .bytes = s.n ? s.p : "" };
}

#define value_of_literal(literal) value_of_str(STR(literal))

/* Shared constants. */
extern const struct value value_null, value_true, value_false, value_empty_string, value_empty_array,
        value_empty_object;

/* Copies the struct into the arena (shallow: bytes, items and members are borrowed). */
const struct value *value_put(struct arena *a, struct value v);

static inline enum value_type value_type(const struct value *v)
{
        return (enum value_type)v->type;
}

/* Tests of the type. All are false for a NULL pointer, so that lookups can be chained. */
static inline bool value_is(const struct value *v, enum value_type type)
{
        return v && v->type == type;
}
#define value_is_null(v)   value_is((v), VALUE_NULL)
#define value_is_bool(v)   value_is((v), VALUE_BOOL)
#define value_is_int(v)    value_is((v), VALUE_INT)
#define value_is_double(v) value_is((v), VALUE_DOUBLE)
#define value_is_string(v) value_is((v), VALUE_STRING)
#define value_is_array(v)  value_is((v), VALUE_ARRAY)
#define value_is_object(v) value_is((v), VALUE_OBJECT)
static inline bool value_is_number(const struct value *v)
{
        return v && (v->type == VALUE_INT || v->type == VALUE_DOUBLE);
}

/* The bytes of a string; the empty str for NULL and every other type. */
static inline struct str value_str(const struct value *v)
{
        return value_is_string(v) ? (struct str) { v->bytes, v->n } : STR("");
}

static inline bool value_bool(const struct value *v, bool otherwise)
{
        return value_is_bool(v) ? v->boolean : otherwise;
}

/* An int, or a double that is integral and fits; otherwise `otherwise`. */
int64_t value_int(const struct value *v, int64_t otherwise);

/* An int or a double as double; otherwise `otherwise`. */
double value_double(const struct value *v, double otherwise);

/* Items of an array or members of an object; 0 for everything else and NULL. */
static inline size_t value_count(const struct value *v)
{
        return v && v->type >= VALUE_ARRAY ? v->n : 0;
}

/* Item i of an array, or NULL. */
static inline const struct value *value_item(const struct value *v, size_t i)
{
        return value_is_array(v) && i < v->n ? &v->items[i] : NULL;
}

/* Member i of an object, in order of insertion; i < value_count(v). */
static inline const struct member *value_member(const struct value *v, size_t i)
{
        assert(value_is_object(v) && i < v->n);
        return &v->members[i];
}

/* for (size_t i = 0; i < value_count(v); i++) ... or: */
#define VALUE_FOREACH_MEMBER(m, v)                                                                                \
        for (const struct member *m = value_is_object(v) ? (v)->members : NULL, *m##_end = m ? m + (v)->n : NULL; \
             m != m##_end; m++)
#define VALUE_FOREACH_ITEM(item, v)                                            \
        for (const struct value *item = value_is_array(v) ? (v)->items : NULL, \
                                *item##_end = item ? item + (v)->n : NULL;     \
             item != item##_end; item++)

/* The member's value, or NULL if the object lacks the key, or if v is not an object or is NULL. */
const struct value *value_get(const struct value *object, struct str key);

/* Follows keys through objects: value_find(v, "metadata", "name"). NULL when anything is missing on the way. */
const struct value *value_find_keys(const struct value *v, ...) __attribute__((sentinel));
#define value_find(v, ...) value_find_keys((v), __VA_ARGS__, (const char *)NULL)

/* The same along a path of keys joined by dots: `spec.color`. */
const struct value *value_find_dotted(const struct value *v, struct str path);

/* The object with its members in bytewise key order: v itself when they already are, else a shallow copy in the arena. */
const struct value *value_sorted(struct arena *a, const struct value *object);

/* Edits. Each returns a new value in the arena that shares all unchanged values; the old value is not changed. */
const struct value *value_with(struct arena *a, const struct value *object, struct str key, const struct value *v);
const struct value *value_without(struct arena *a, const struct value *object, struct str key); /* itself if absent */
const struct value *value_with_item(struct arena *a, const struct value *array, size_t i, const struct value *v);
const struct value *value_without_item(struct arena *a, const struct value *array, size_t i);
const struct value *value_with_inserted(struct arena *a, const struct value *array, size_t i, const struct value *v);
const struct value *value_with_appended(struct arena *a, const struct value *array, const struct value *v);

/* Deep equality. Order of members does not matter; int 1 and double 1 differ. NaN differs from itself, except inside an array or
 * object that both sides share, because shared children are not walked (as in Go's DeepEqual). */
bool value_equal(const struct value *a, const struct value *b);

/* As value_equal, but numbers are equal when they have the same mathematical value. */
bool value_equal_numeric(const struct value *a, const struct value *b);

/* Equal values have equal hashes, on every run and machine of the same byte order, independent of the order of their members. */
uint64_t value_hash(const struct value *v);

/* A deep copy, keys and strings included, that depends on nothing outside the arena. */
const struct value *value_copy(struct arena *a, const struct value *v);

/* Bytes of the tree below v, its own 16 included; shared children count each time. For budgets of caches. */
size_t value_size_bytes(const struct value *v);

/* Builders. They live in the caller's frame and grow in the arena; nothing to clean up. Keys and strings are borrowed. */
struct object_builder {
        struct arena *arena;
        struct member *members;
        uint32_t n;
        uint32_t capacity;
        uint32_t *slots; /* hash table of member numbers + 1; object_builder_set uses it once there are many members */
        size_t n_slots;
        uint32_t n_indexed;
};

struct array_builder {
        struct arena *arena;
        struct value *items;
        uint32_t n;
        uint32_t capacity;
};

void object_builder_init(struct object_builder *b, struct arena *a, size_t expected);
void object_builder_add(struct object_builder *b, struct str key,
                        struct value v); /* the caller guarantees that the key is new */
void object_builder_set(struct object_builder *b, struct str key, struct value v); /* replaces an equal key in place */
struct value object_builder_finish(struct object_builder *b);

void array_builder_init(struct array_builder *b, struct arena *a, size_t expected);
void array_builder_add(struct array_builder *b, struct value v);
struct value array_builder_finish(struct array_builder *b);

/* For parsers that collect members elsewhere: an object of n members whose keys are all different. The members are copied into
 * the arena. is_sorted says that the keys are in strictly ascending order. */
struct value value_of_members(struct arena *a, const struct member *members, size_t n, bool is_sorted);
struct value value_of_items(struct arena *a, const struct value *items, size_t n);

/* A counted document: an arena with one root, shared by reference between threads once published. */
struct document {
        _Atomic unsigned references;
        struct arena arena;
        const struct value *root;
};

struct document *document_new(const char *name, size_t budget_bytes); /* one reference; root is NULL */
struct document *document_ref(struct document *d);
void document_unref(struct document *d); /* NULL is fine */

size_t document_size_bytes(const struct document *d); /* its own memory and that of pinned objects */

/* Returns the document's root and keeps it alive until the arena is done: pins a new reference. Its size counts in the arena's
 * budget. */
const struct value *document_borrow(struct document *d, struct arena *a);

static inline void document_unrefp(struct document **d)
{
        document_unref(*d);
}
