/* Struct, Value and ListValue to wire bytes. They make up nearly all messages, so their tags are constants here and texts are
 * checked while they are copied. */
#include "proto-encoder.h"

#include <math.h>

#define INSERTION_KEYS 24
#define HIGH_BITS      0x8080808080808080u

/* Keys in order */

/* A number that sorts in the same order as the first eight bytes. */
static inline uint64_t key_prefix(struct str key)
{
        uint64_t prefix = 0;
        uint32_t first, last;

        if (key.n >= 8) {
                memcpy(&prefix, key.p, 8);
                return __builtin_bswap64(prefix);
        }
        if (key.n >= 4) {
                memcpy(&first, key.p, 4);
                memcpy(&last, key.p + key.n - 4, 4);
                return (uint64_t)__builtin_bswap32(first) << 32 | (uint64_t)__builtin_bswap32(last) << (64 - 8 * key.n);
        }
        for (size_t i = 0; i < key.n; i++)
                prefix |= (uint64_t)(uint8_t)key.p[i] << (56 - 8 * i);
        return prefix;
}

static inline int compare_keys(const struct proto_key *a, const struct proto_key *b)
{
        if (LIKELY(a->order != b->order))
                return a->order < b->order ? -1 : 1;
        return str_compare(a->member->key, b->member->key);
}

static int compare_key_pointers(const void *a, const void *b)
{
        return compare_keys(a, b);
}

static void sort_keys(struct proto_key *keys, size_t n)
{
        if (n > INSERTION_KEYS) {
                qsort(keys, n, sizeof(*keys), compare_key_pointers);
                return;
        }
        for (size_t i = 1; i < n; i++) {
                struct proto_key k = keys[i];
                size_t at = i;

                for (; at > 0 && compare_keys(&keys[at - 1], &k) > 0; at--)
                        keys[at] = keys[at - 1];
                keys[at] = k;
        }
}

size_t proto_push_keys(struct encoder *e, const struct value *object)
{
        size_t base = e->keys.n;
        bool is_sorted = true;

        vec_reserve(&e->keys, object->n);
        for (uint32_t i = 0; i < object->n; i++) {
                struct proto_key *k = &e->keys.p[base + i];

                *k = (struct proto_key) { key_prefix(object->members[i].key), &object->members[i] };
                is_sorted = is_sorted && (i == 0 || compare_keys(k - 1, k) < 0);
        }
        if (!is_sorted)
                sort_keys(e->keys.p + base, object->n);
        e->keys.n += object->n;
        return base;
}

/* Struct, ListValue, Value */

static int encode_value(struct encoder *e, const struct value *v, uint32_t depth);

/* Copies the text; returns true if it is valid UTF-8. Most texts are short and ASCII: these are copied and checked in a few
 * registers, without a call. No arrays: they would bring a stack guard, and the compiler does not inline functions with one here. */
static inline bool copy_text(char *to, const char *p, size_t n)
{
        if (LIKELY(n >= 8 && n <= 32)) {
                size_t middle = n >= 16 ? 8 : 0;
                uint64_t first, second, third, last;

                memcpy(&first, p, 8);
                memcpy(&second, p + middle, 8);
                memcpy(&third, p + n - 8 - middle, 8);
                memcpy(&last, p + n - 8, 8);
                memcpy(to, &first, 8);
                memcpy(to + middle, &second, 8);
                memcpy(to + n - 8 - middle, &third, 8);
                memcpy(to + n - 8, &last, 8);
                if (LIKELY(!((first | second | third | last) & HIGH_BITS)))
                        return true;
        } else if (n > 32) {
                memcpy(to, p, n);
                return proto_text_is_valid(p, n);
        } else if (n >= 4) {
                uint32_t first, last;

                memcpy(&first, p, 4);
                memcpy(&last, p + n - 4, 4);
                memcpy(to, &first, 4);
                memcpy(to + n - 4, &last, 4);
                if (LIKELY(!((first | last) & (uint32_t)HIGH_BITS)))
                        return true;
        } else {
                for (size_t i = 0; i < n; i++)
                        to[i] = p[i];
        }
        return proto_text_is_valid(p, n);
}

/* An entry of Struct.fields with its head. */
static int encode_entry(struct encoder *e, const struct member *m, uint32_t depth)
{
        size_t before = written(e);
        struct str key = m->key;
        char *p, *end;
        int r = encode_value(e, &m->value, depth);

        if (UNLIKELY(r < 0))
                return proto_encode_at_place(e, r, "[", key, "]");
        r = make_room(e, key.n + 4 * PROTO_VARINT_BYTES);
        if (UNLIKELY(r < 0))
                return r;
        end = e->high - before;
        p = put_varint(e->p, (size_t)(end - e->p));
        p = put_byte(p, 2 << 3 | PROTO_WIRE_BYTES);
        p -= key.n;
        if (UNLIKELY(!copy_text(p, key.p, key.n)))
                return proto_encode_fail(e, "a key is not valid UTF-8");
        p = put_varint(p, key.n);
        p = put_byte(p, 1 << 3 | PROTO_WIRE_BYTES);
        p = put_varint(p, (size_t)(end - p));
        e->p = put_byte(p, 1 << 3 | PROTO_WIRE_BYTES);
        return 0;
}

static int encode_struct(struct encoder *e, const struct value *object, uint32_t depth)
{
        size_t base;
        int r = enter_container(e, depth);

        if (r < 0)
                return r;
        base = proto_push_keys(e, object);
        for (size_t i = object->n; i > 0; i--) {
                r = encode_entry(e, e->keys.p[base + i - 1].member, depth + 1);
                if (UNLIKELY(r < 0))
                        return r;
        }
        e->keys.n = base;
        return 0;
}

static int encode_list(struct encoder *e, const struct value *array, uint32_t depth)
{
        int r = enter_container(e, depth);

        if (r < 0)
                return r;
        for (size_t i = array->n; i > 0; i--) {
                size_t before = written(e);

                r = encode_value(e, &array->items[i - 1], depth + 1);
                if (UNLIKELY(r < 0))
                        return proto_encode_at_index(e, r, i - 1);
                r = put_head(e, 1, before);
                if (UNLIKELY(r < 0))
                        return r;
        }
        return 0;
}

static int encode_number(struct encoder *e, double number)
{
        int r;

        if (UNLIKELY(!isfinite(number)))
                return proto_encode_fail(e, "the number of a google.protobuf.Value is not finite");
        r = make_room(e, 1 + sizeof(number));
        if (UNLIKELY(r < 0))
                return r;
        e->p = put_byte(put_bytes(e->p, (const char *)&number, sizeof(number)), 2 << 3 | PROTO_WIRE_FIXED64);
        return 0;
}

static int encode_text(struct encoder *e, struct str text)
{
        int r = make_room(e, text.n + 2 * PROTO_VARINT_BYTES);
        char *p;

        if (UNLIKELY(r < 0))
                return r;
        p = e->p - text.n;
        if (UNLIKELY(!copy_text(p, text.p, text.n)))
                return proto_encode_fail(e, "a string is not valid UTF-8");
        e->p = put_byte(put_varint(p, text.n), 3 << 3 | PROTO_WIRE_BYTES);
        return 0;
}

/* null_value and bool_value: a tag and a byte. */
static int encode_small(struct encoder *e, unsigned tag, unsigned byte)
{
        int r = make_room(e, 2);

        if (UNLIKELY(r < 0))
                return r;
        e->p = put_byte(put_byte(e->p, byte), tag);
        return 0;
}

static int encode_value(struct encoder *e, const struct value *v, uint32_t depth)
{
        size_t before = written(e);
        int r;

        switch (value_type(v)) {
        case VALUE_NULL:
                return encode_small(e, 1 << 3 | PROTO_WIRE_VARINT, 0);
        case VALUE_BOOL:
                return encode_small(e, 4 << 3 | PROTO_WIRE_VARINT, v->boolean);
        case VALUE_INT:
                return encode_number(e, (double)v->integer);
        case VALUE_DOUBLE:
                return encode_number(e, v->number);
        case VALUE_STRING:
                return encode_text(e, value_str(v));
        case VALUE_ARRAY:
                r = encode_list(e, v, depth);
                return UNLIKELY(r < 0) ? r : put_head(e, 6, before);
        case VALUE_OBJECT:
                r = encode_struct(e, v, depth);
                return UNLIKELY(r < 0) ? r : put_head(e, 5, before);
        }
        return 0;
}

int proto_encode_dynamic(struct encoder *e, enum proto_kind kind, const struct value *v, uint32_t depth)
{
        switch (kind) {
        case PROTO_KIND_STRUCT:
                return value_is_object(v) ? encode_struct(e, v, depth) : proto_encode_fail_type(e, "an object", v);
        case PROTO_KIND_LIST_VALUE:
                return value_is_array(v) ? encode_list(e, v, depth) : proto_encode_fail_type(e, "an array", v);
        default:
                assert(kind == PROTO_KIND_VALUE);
                return encode_value(e, v, depth);
        }
}
