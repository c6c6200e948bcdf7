/* Struct, Value and ListValue from wire bytes. They make up nearly all messages, so each is first tried in the one shape that
 * every writer produces, and read field by field only if it has another shape. */
#include "proto-decoder.h"

#include <math.h>

/* Up to this many members, insertion sort is faster. */
#define INSERTION_MEMBERS 24

/* Objects */

static int compare_order(const void *a, const void *b, void *context)
{
        const struct member *members = context;
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
        int order = str_compare(members[x].key, members[y].key);

        return order ? order : (x > y) - (x < y);
}

static void sort_many(struct proto_decoder *d, struct member *members, size_t n)
{
        _cleanup_free_ struct member *sorted = xmalloc(n * sizeof(*sorted));

        vec_clear(&d->order);
        vec_reserve(&d->order, n);
        for (size_t i = 0; i < n; i++)
                d->order.p[i] = (uint32_t)i;
        qsort_r(d->order.p, n, sizeof(*d->order.p), compare_order, members);
        for (size_t i = 0; i < n; i++)
                sorted[i] = members[d->order.p[i]];
        memcpy(members, sorted, n * sizeof(*sorted));
}

static inline bool stands_before(struct str a, struct str b)
{
        if (LIKELY(a.n && b.n && *a.p != *b.p))
                return (uint8_t)*a.p < (uint8_t)*b.p;
        return str_compare(a, b) < 0;
}

static void sort_few(struct member *members, size_t n)
{
        for (size_t i = 1; i < n; i++) {
                struct member m = members[i];
                size_t at = i;

                for (; at > 0 && stands_before(m.key, members[at - 1].key); at--)
                        members[at] = members[at - 1];
                members[at] = m;
        }
}

size_t proto_sort_members(struct proto_decoder *d, struct member *members, size_t n)
{
        size_t kept = 0;

        if (n > INSERTION_MEMBERS)
                sort_many(d, members, n);
        else
                sort_few(members, n);
        for (size_t i = 0; i < n; i++) {
                if (kept > 0 && str_equal(members[kept - 1].key, members[i].key))
                        kept--;
                members[kept++] = members[i];
        }
        return kept;
}

/* Struct, ListValue, Value */

#define LARGE_CONTAINER_BYTES (64u << 10)

enum value_field { /* of google.protobuf.Value */
                   VALUE_FIELD_NONE = 0,
                   VALUE_FIELD_NULL = 1,
                   VALUE_FIELD_NUMBER = 2,
                   VALUE_FIELD_STRING = 3,
                   VALUE_FIELD_BOOL = 4,
                   VALUE_FIELD_STRUCT = 5,
                   VALUE_FIELD_LIST = 6,
};

#define VALUE_TAG(field, wire) (VALUE_FIELD_##field << 3 | PROTO_WIRE_##wire)

static int number_of_bits(struct proto_decoder *d, uint64_t bits, struct value *ret)
{
        double number;

        memcpy(&number, &bits, sizeof(number));
        if (UNLIKELY(!isfinite(number)))
                return proto_decode_fail(d, "the number of a google.protobuf.Value is not finite");
        *ret = (struct value) { .type = VALUE_DOUBLE, .number = number };
        return 0;
}

/* Moves past the next field. Returns 1 with its contents if it is field 1 of a Struct or ListValue; 0 for any other field. */
static inline int next_element(struct proto_decoder *d, struct proto_cursor *c, struct str *ret)
{
        struct proto_raw_field f;
        int r;

        if (LIKELY(*c->p == (1 << 3 | PROTO_WIRE_BYTES))) {
                size_t n;
                const char *p = proto_read_length(c->p + 1, c->end, &n);

                if (LIKELY(p)) {
                        *ret = str_make(p, n);
                        c->p = p + n;
                        return 1;
                }
        }
        r = read_field(d, c, &f);
        if (r < 0)
                return r;
        *ret = f.bytes;
        return f.number == 1 && f.wire == PROTO_WIRE_BYTES;
}

static int decode_value(struct proto_decoder *d, struct str bytes, uint32_t depth, struct value *ret);
static int decode_value_pieces(struct proto_decoder *d, struct proto_cursor c, uint32_t depth, struct value *ret);

/* An entry of Struct.fields in any shape; the fast path below handles the usual shape. */
static _noinline_ int decode_odd_entry(struct proto_decoder *d, struct str entry, uint32_t depth, struct member *ret)
{
        size_t base = d->pieces.n;
        struct proto_cursor c = cursor_over(entry);
        struct proto_raw_field f;
        int r;

        ret->key = STR("");
        while (has_more(d, &c)) {
                r = read_field(d, &c, &f);
                if (r >= 0 && f.number == 1 && f.wire == PROTO_WIRE_BYTES) {
                        if (!proto_text_is_valid(f.bytes.p, f.bytes.n))
                                return proto_decode_fail(d, "a key is not valid UTF-8");
                        ret->key = f.bytes;
                } else if (r >= 0 && f.number == 2 && f.wire == PROTO_WIRE_BYTES) {
                        r = push_piece(d, f.bytes);
                }
                if (r < 0)
                        return r;
        }
        r = decode_value_pieces(d, cursor_over_pieces(d, base), depth, &ret->value);
        d->pieces.n = base;
        return r < 0 ? proto_decode_at_key(d, r, ret->key) : 0;
}

/* Finds key and value of an entry of the usual shape: the key, the value, nothing else. */
static inline bool split_entry(struct str entry, struct str *ret_key, struct str *ret_value)
{
        const char *p = entry.p, *end = p + entry.n, *value;

        if (UNLIKELY(p == end || *p != (1 << 3 | PROTO_WIRE_BYTES)))
                return false;
        ret_key->p = proto_read_length(p + 1, end, &ret_key->n);
        if (UNLIKELY(!ret_key->p))
                return false;
        value = ret_key->p + ret_key->n;
        if (UNLIKELY(value == end || *value != (2 << 3 | PROTO_WIRE_BYTES)))
                return false;
        ret_value->p = proto_read_length(value + 1, end, &ret_value->n);
        return LIKELY(ret_value->p && ret_value->p + ret_value->n == end);
}

/* Returns 1 for a Value of the usual shape (exactly one field) that is not a container, 0 for anything else. It stores directly
 * to the final place, because copying data that was just stored in parts is slow. */
static inline int decode_leaf(struct proto_decoder *d, struct str bytes, struct value *ret)
{
        const char *p = bytes.p, *end = p + bytes.n, *text;
        uint64_t bits;
        size_t n;

        if (UNLIKELY(bytes.n < 2))
                return 0;
        switch (*p) {
        case VALUE_TAG(STRING, BYTES):
                text = proto_read_length(p + 1, end, &n);
                if (UNLIKELY(!text || text + n != end))
                        return 0;
                if (UNLIKELY(!proto_text_is_valid(text, n)))
                        return proto_decode_fail(d, "a string is not valid UTF-8");
                *ret = (struct value) { .type = VALUE_STRING, .n = (uint32_t)n, .bytes = text };
                return 1;
        case VALUE_TAG(NUMBER, FIXED64):
                if (UNLIKELY(bytes.n != 1 + sizeof(bits)))
                        return 0;
                memcpy(&bits, p + 1, sizeof(bits));
                return UNLIKELY(number_of_bits(d, bits, ret) < 0) ? ERR_INVALID : 1;
        case VALUE_TAG(BOOL, VARINT):
        case VALUE_TAG(NULL, VARINT):
                if (UNLIKELY(bytes.n != 2 || (p[1] & 0x80)))
                        return 0;
                if (*p == VALUE_TAG(NULL, VARINT))
                        *ret = (struct value) { .type = VALUE_NULL };
                else
                        *ret = (struct value) { .type = VALUE_BOOL, .boolean = p[1] };
                return 1;
        default:
                return 0;
        }
}

/* Pushes the entry's member. Nested members are pushed above it, so it is pushed before its value is known. */
static int push_entry(struct proto_decoder *d, struct str entry, uint32_t depth)
{
        size_t at = d->members.n++;
        struct member *m = &d->members.p[at], odd;
        struct str value;
        int r;

        if (UNLIKELY(!split_entry(entry, &m->key, &value))) {
                r = decode_odd_entry(d, entry, depth, &odd);
                if (r >= 0)
                        d->members.p[at] = odd;
                return r;
        }
        if (UNLIKELY(!proto_text_is_valid(m->key.p, m->key.n)))
                return proto_decode_fail(d, "a key is not valid UTF-8");
        r = decode_leaf(d, value, &m->value);
        if (r == 0) {
                r = decode_value(d, value, depth, &odd.value);
                if (r >= 0)
                        d->members.p[at].value = odd.value;
        }
        return UNLIKELY(r < 0) ? proto_decode_at_key(d, r, d->members.p[at].key) : 0;
}

/* A container may be many times larger than its wire bytes, so a large one reserves memory first. */
static inline int reserve_container(struct proto_decoder *d, size_t bytes)
{
        if (LIKELY(bytes < LARGE_CONTAINER_BYTES) || arena_reserve(d->arena, bytes))
                return 0;
        return arena_check(d->arena, d->err);
}

static int decode_struct(struct proto_decoder *d, struct proto_cursor c, uint32_t depth, struct value *ret)
{
        size_t base = d->members.n, n;
        bool is_sorted = true;
        struct str entry = STR_NONE;
        int r = enter_container(d, depth);

        if (r < 0)
                return r;
        while (has_more(d, &c)) {
                r = next_element(d, &c, &entry);
                if (r == 0)
                        continue;
                if (UNLIKELY(d->members.n == d->members.capacity) &&
                    proto_decode_grow(d, d->members.n, sizeof(*d->members.p)) < 0)
                        return ERR_LIMIT;
                vec_reserve(&d->members, 1);
                if (r > 0)
                        r = push_entry(d, entry, depth + 1);
                if (UNLIKELY(r < 0))
                        return r;
                n = d->members.n;
                is_sorted =
                        is_sorted && (n - base == 1 || stands_before(d->members.p[n - 2].key, d->members.p[n - 1].key));
        }
        n = d->members.n - base;
        if (!is_sorted)
                n = proto_sort_members(d, d->members.p + base, n);
        r = reserve_container(d, n * sizeof(struct member));
        if (r >= 0)
                *ret = value_of_members(d->arena, d->members.p + base, n, true);
        d->members.n = base;
        return r;
}

static int decode_list(struct proto_decoder *d, struct proto_cursor c, uint32_t depth, struct value *ret)
{
        size_t base = d->items.n;
        struct str element;
        int r = enter_container(d, depth);

        if (r < 0)
                return r;
        while (has_more(d, &c)) {
                struct value item;
                size_t at = d->items.n;

                r = next_element(d, &c, &element);
                if (r == 0)
                        continue;
                if (UNLIKELY(r < 0))
                        return r;
                if (UNLIKELY(d->items.n == d->items.capacity) &&
                    proto_decode_grow(d, d->items.n, sizeof(*d->items.p)) < 0)
                        return ERR_LIMIT;
                vec_reserve(&d->items, 1);
                d->items.n++;
                r = decode_leaf(d, element, &d->items.p[at]);
                if (r == 0) {
                        r = decode_value(d, element, depth + 1, &item);
                        if (r >= 0)
                                d->items.p[at] = item;
                }
                if (UNLIKELY(r < 0))
                        return proto_decode_at_index(d, r, at - base);
        }
        r = reserve_container(d, (d->items.n - base) * sizeof(struct value));
        if (r >= 0)
                *ret = d->items.n > base ? value_of_items(d->arena, d->items.p + base, d->items.n - base)
                                         : value_empty_array;
        d->items.n = base;
        return r;
}

/* Decodes the Struct or ListValue whose pieces are on the stack from the base on, and removes the pieces. */
static int decode_value_container(struct proto_decoder *d, enum value_field field, size_t base, uint32_t depth,
                                  struct value *ret)
{
        struct proto_cursor c = cursor_over_pieces(d, base);
        int r = 0;

        if (field == VALUE_FIELD_STRUCT)
                r = decode_struct(d, c, depth, ret);
        else if (field == VALUE_FIELD_LIST)
                r = decode_list(d, c, depth, ret);
        d->pieces.n = base;
        return r;
}

/* The kind of Value that the field sets, if any. */
static enum value_field value_field_of(const struct proto_raw_field *f)
{
        static const enum proto_wire wires[] = {
                [VALUE_FIELD_NULL] = PROTO_WIRE_VARINT,  [VALUE_FIELD_NUMBER] = PROTO_WIRE_FIXED64,
                [VALUE_FIELD_STRING] = PROTO_WIRE_BYTES, [VALUE_FIELD_BOOL] = PROTO_WIRE_VARINT,
                [VALUE_FIELD_STRUCT] = PROTO_WIRE_BYTES, [VALUE_FIELD_LIST] = PROTO_WIRE_BYTES,
        };

        if (f->number >= ARRAY_SIZE(wires) || f->wire != wires[f->number])
                return VALUE_FIELD_NONE;
        return (enum value_field)f->number;
}

/* A Value in any shape: with no kind, with several (the last counts), or in pieces. A container that a later field replaces is
 * still read, so that malformed bytes are always an error. */
static _noinline_ int decode_value_pieces(struct proto_decoder *d, struct proto_cursor c, uint32_t depth,
                                          struct value *ret)
{
        enum value_field field = VALUE_FIELD_NONE, next;
        struct proto_raw_field f, last = { 0 };
        size_t base = d->pieces.n;
        int r;

        *ret = value_of_null();
        while (has_more(d, &c)) {
                r = read_field(d, &c, &f);
                if (r < 0)
                        return r;
                next = value_field_of(&f);
                if (next == VALUE_FIELD_NONE)
                        continue;
                if (next != field) {
                        r = decode_value_container(d, field, base, depth, ret);
                        if (r < 0)
                                return r;
                }
                if (next == VALUE_FIELD_STRING && !proto_text_is_valid(f.bytes.p, f.bytes.n))
                        return proto_decode_fail(d, "a string is not valid UTF-8");
                if (next >= VALUE_FIELD_STRUCT) {
                        r = push_piece(d, f.bytes);
                        if (r < 0)
                                return r;
                }
                last = f;
                field = next;
        }
        switch (field) {
        case VALUE_FIELD_NONE:
        case VALUE_FIELD_NULL:
                *ret = value_of_null();
                break;
        case VALUE_FIELD_NUMBER:
                return number_of_bits(d, last.scalar, ret);
        case VALUE_FIELD_STRING:
                *ret = value_of_str(last.bytes);
                break;
        case VALUE_FIELD_BOOL:
                *ret = value_of_bool(last.scalar != 0);
                break;
        case VALUE_FIELD_STRUCT:
        case VALUE_FIELD_LIST:
                return decode_value_container(d, field, base, depth, ret);
        }
        return 0;
}

/* A Value that decode_leaf does not handle: a container in the usual shape, or a Value of another shape. */
static int decode_value(struct proto_decoder *d, struct str bytes, uint32_t depth, struct value *ret)
{
        const char *p = bytes.p, *end = p + bytes.n, *contents;
        size_t n;

        if (LIKELY(bytes.n >= 2 && (*p == VALUE_TAG(STRUCT, BYTES) || *p == VALUE_TAG(LIST, BYTES)))) {
                contents = proto_read_length(p + 1, end, &n);
                if (LIKELY(contents && contents + n == end)) {
                        struct proto_cursor c = cursor_over(str_make(contents, n));

                        return *p == VALUE_TAG(STRUCT, BYTES) ? decode_struct(d, c, depth, ret)
                                                              : decode_list(d, c, depth, ret);
                }
        }
        return decode_value_pieces(d, cursor_over(bytes), depth, ret);
}

int proto_decode_dynamic(struct proto_decoder *d, enum proto_kind kind, struct proto_cursor c, uint32_t depth,
                         struct value *ret)
{
        switch (kind) {
        case PROTO_KIND_STRUCT:
                return decode_struct(d, c, depth, ret);
        case PROTO_KIND_LIST_VALUE:
                return decode_list(d, c, depth, ret);
        default:
                assert(kind == PROTO_KIND_VALUE);
                return decode_value_pieces(d, c, depth, ret);
        }
}
