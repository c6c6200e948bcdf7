/* Values to wire bytes.
 *
 * A length stands before what it measures, so the message is written backwards, from its last byte to its first: when the
 * length is due, the contents are there and measured. It grows down from the end of the buffer's free space and is moved
 * to where it belongs once, at the end. */
#include "proto-wire.h"

#include "base64.h"
#include "buf.h"
#include "limits.h"
#include "number.h"
#include "proto-tables.h"
#include "proto-time.h"
#include "vec.h"

#include <math.h>
#include <stdio.h>

#define INSERTION_KEYS 24
#define HIGH_BITS      0x8080808080808080u
#define GROW_BYTES     ((size_t)4096)

/* The bits that Go's NaN has. */
#define NAN_BITS       0x7FF8000000000001u
#define NAN_FLOAT_BITS 0x7FC00000u

/* A member of a map and what it is sorted by: a number, or the first eight bytes of its key and then the key. */
struct key {
        uint64_t order;
        const struct member *member;
};

struct encoder {
        struct buf *b;
        char *p;    /* first byte of what is written */
        char *low;  /* the free space ends here, downwards */
        char *high; /* what is written ends here */
        size_t max_bytes;
        unsigned flags;
        uint32_t max_depth;
        struct err *err;
        VEC(struct key) keys; /* of the maps that are being written */
        struct buf scratch;
        struct buf path; /* of the error */
};

static int encode_contents(struct encoder *e, const struct proto_message *m, const struct value *v, uint32_t depth);

/* Errors */

static _noinline_ int fail(struct encoder *e, const char *problem)
{
        return err_set(e->err, ERR_INVALID, "%s", problem);
}

static _noinline_ int fail_type(struct encoder *e, const char *wanted, const struct value *v)
{
        static const char *const names[] = {
                [VALUE_NULL] = "null",        [VALUE_BOOL] = "a bool",     [VALUE_INT] = "a number",
                [VALUE_DOUBLE] = "a number",  [VALUE_STRING] = "a string", [VALUE_ARRAY] = "an array",
                [VALUE_OBJECT] = "an object",
        };

        return err_set(e->err, ERR_INVALID, "wanted %s, got %s", wanted, names[v->type]);
}

static _noinline_ int at_place(struct encoder *e, int r, const char *before, struct str name, const char *after)
{
        proto_path_prepend(&e->path, before, name, after);
        return r;
}

static _noinline_ int at_index(struct encoder *e, int r, size_t i)
{
        char text[24];

        snprintf(text, sizeof(text), "%zu", i);
        return at_place(e, r, "[", str_from(text), "]");
}

static inline int enter_container(struct encoder *e, uint32_t depth)
{
        if (UNLIKELY(depth > e->max_depth))
                return err_set(e->err, ERR_LIMIT, "nested deeper than the limit of %u levels", e->max_depth);
        return 0;
}

/* Writing backwards */

/* Bytes written so far. */
static inline size_t written(const struct encoder *e)
{
        return (size_t)(e->high - e->p);
}

static _noinline_ int grow(struct encoder *e, size_t n)
{
        size_t used = written(e), at = (size_t)(e->p - e->b->p);
        size_t limit = e->b->max_bytes ? e->b->max_bytes : LIMIT_BUFFER_BYTES;
        size_t wanted, spare;

        if (!size_add(used, n, &wanted) || wanted > e->max_bytes)
                return err_set(e->err, ERR_LIMIT, "the message is larger than the limit of %zu bytes", e->max_bytes);
        spare = e->b->n + wanted < limit ? MIN(GROW_BYTES, limit - e->b->n - wanted) : 0;
        if (!buf_reserve(e->b, wanted + spare))
                return buf_check(e->b, "the message", e->err);
        e->high = e->b->p + e->b->capacity;
        e->p = e->high - used;
        memmove(e->p, e->b->p + at, used);
        e->low = e->b->p + e->b->n;
        return 0;
}

/* Makes room for n bytes before e->p. */
static inline int make_room(struct encoder *e, size_t n)
{
        if (LIKELY((size_t)(e->p - e->low) >= n))
                return 0;
        return grow(e, n);
}

/* These write before p, where there is room already, and return what is then the first byte. They take p by value because a
 * store through a char pointer might change e->p as far as the compiler knows. */
static inline char *put_byte(char *p, unsigned byte)
{
        *--p = (char)byte;
        return p;
}

static inline char *put_varint(char *p, uint64_t v)
{
        if (LIKELY(v < 0x80))
                return put_byte(p, (unsigned)v);
        p -= proto_varint_size(v);
        proto_write_varint(p, v);
        return p;
}

static inline char *put_bytes(char *p, const char *from, size_t n)
{
        p -= n;
        if (LIKELY(n))
                memcpy(p, from, n);
        return p;
}

/* Copies the text and says whether it is valid UTF-8. Most texts are short and ASCII: these are copied and checked in a few
 * registers, without a call. */
static inline bool copy_text(char *to, const char *p, size_t n)
{
        uint64_t words[4];
        uint32_t halves[2];

        if (LIKELY(n >= 8 && n <= 32)) {
                size_t middle = n >= 16 ? 8 : 0;

                memcpy(&words[0], p, 8);
                memcpy(&words[1], p + middle, 8);
                memcpy(&words[2], p + n - 8 - middle, 8);
                memcpy(&words[3], p + n - 8, 8);
                memcpy(to, &words[0], 8);
                memcpy(to + middle, &words[1], 8);
                memcpy(to + n - 8 - middle, &words[2], 8);
                memcpy(to + n - 8, &words[3], 8);
                if (LIKELY(!((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS)))
                        return true;
        } else if (n > 32) {
                memcpy(to, p, n);
                return proto_text_is_valid(p, n);
        } else if (n >= 4) {
                memcpy(&halves[0], p, 4);
                memcpy(&halves[1], p + n - 4, 4);
                memcpy(to, &halves[0], 4);
                memcpy(to + n - 4, &halves[1], 4);
                if (LIKELY(!((halves[0] | halves[1]) & (uint32_t)HIGH_BITS)))
                        return true;
        } else {
                for (size_t i = 0; i < n; i++)
                        to[i] = p[i];
        }
        return proto_text_is_valid(p, n);
}

/* Puts tag and length before the contents written since `before` bytes were. */
static inline int put_head(struct encoder *e, uint32_t number, size_t before)
{
        size_t n = written(e) - before;

        if (UNLIKELY(make_room(e, 2 * PROTO_VARINT_BYTES) < 0))
                return ERR_LIMIT;
        e->p = put_varint(put_varint(e->p, n), number << 3 | PROTO_WIRE_BYTES);
        return 0;
}

/* Keys in order */

/* Sorts as the first eight bytes do. */
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

static inline int compare_keys(const struct key *a, const struct key *b)
{
        if (LIKELY(a->order != b->order))
                return a->order < b->order ? -1 : 1;
        return str_compare(a->member->key, b->member->key);
}

static int compare_key_pointers(const void *a, const void *b)
{
        return compare_keys(a, b);
}

static void sort_keys(struct key *keys, size_t n)
{
        if (n > INSERTION_KEYS) {
                qsort(keys, n, sizeof(*keys), compare_key_pointers);
                return;
        }
        for (size_t i = 1; i < n; i++) {
                struct key k = keys[i];
                size_t at = i;

                for (; at > 0 && compare_keys(&keys[at - 1], &k) > 0; at--)
                        keys[at] = keys[at - 1];
                keys[at] = k;
        }
}

/* Puts the object's members on the stack of keys, in order; returns where they begin. */
static size_t push_keys(struct encoder *e, const struct value *object)
{
        size_t base = e->keys.n;
        bool is_sorted = true;

        vec_reserve(&e->keys, object->n);
        for (uint32_t i = 0; i < object->n; i++) {
                struct key *k = &e->keys.p[base + i];

                *k = (struct key) { key_prefix(object->members[i].key), &object->members[i] };
                is_sorted = is_sorted && (i == 0 || compare_keys(k - 1, k) < 0);
        }
        if (!is_sorted)
                sort_keys(e->keys.p + base, object->n);
        e->keys.n += object->n;
        return base;
}

/* Struct, ListValue, Value */

static int encode_value(struct encoder *e, const struct value *v, uint32_t depth);

/* An entry of Struct.fields with its head. */
static int encode_entry(struct encoder *e, const struct member *m, uint32_t depth)
{
        size_t before = written(e);
        struct str key = m->key;
        char *p, *end;
        int r = encode_value(e, &m->value, depth);

        if (UNLIKELY(r < 0))
                return at_place(e, r, "[", key, "]");
        r = make_room(e, key.n + 4 * PROTO_VARINT_BYTES);
        if (UNLIKELY(r < 0))
                return r;
        end = e->high - before;
        p = put_varint(e->p, (size_t)(end - e->p));
        p = put_byte(p, 2 << 3 | PROTO_WIRE_BYTES);
        p -= key.n;
        if (UNLIKELY(!copy_text(p, key.p, key.n)))
                return fail(e, "a key is not valid UTF-8");
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
        base = push_keys(e, object);
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
                        return at_index(e, r, i - 1);
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
                return fail(e, "the number of a google.protobuf.Value is not finite");
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
                return fail(e, "a string is not valid UTF-8");
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

/* Scalars from values */

static size_t count_digits(struct str s)
{
        size_t n = 0;

        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                n++;
        return n;
}

/* A JSON number as its parts. */
struct decimal {
        bool is_negative;
        struct str whole;
        struct str fraction;
        int64_t exponent; /* clamped far beyond what matters */
};

static bool read_exponent(struct str *s, int64_t *ret)
{
        bool is_negative = str_cut_prefix(s, STR("-"));
        size_t n;

        if (!is_negative)
                str_cut_prefix(s, STR("+"));
        n = count_digits(*s);
        *ret = 0;
        for (size_t i = 0; i < n && *ret < INT32_MAX; i++)
                *ret = *ret * 10 + (s->p[i] - '0');
        if (is_negative)
                *ret = -*ret;
        *s = str_skip(*s, n);
        return n > 0;
}

/* Whether all of the text is a number by JSON's grammar. */
static bool read_decimal(struct str s, struct decimal *ret)
{
        *ret = (struct decimal) { .is_negative = str_cut_prefix(&s, STR("-")) };
        ret->whole = str_first(s, count_digits(s));
        if (ret->whole.n == 0 || (ret->whole.n > 1 && ret->whole.p[0] == '0'))
                return false;
        s = str_skip(s, ret->whole.n);
        if (str_cut_prefix(&s, STR("."))) {
                ret->fraction = str_first(s, count_digits(s));
                if (ret->fraction.n == 0)
                        return false;
                s = str_skip(s, ret->fraction.n);
        }
        if ((str_cut_prefix(&s, STR("e")) || str_cut_prefix(&s, STR("E"))) && !read_exponent(&s, &ret->exponent))
                return false;
        return s.n == 0;
}

/* Appends the digits to the number; false when it no longer fits. */
static bool append_digits(uint64_t *number, struct str digits)
{
        for (size_t i = 0; i < digits.n; i++)
                if (__builtin_mul_overflow(*number, 10, number) ||
                    __builtin_add_overflow(*number, (uint64_t)(digits.p[i] - '0'), number))
                        return false;
        return true;
}

static struct str without_trailing_zeros(struct str digits)
{
        while (digits.n && digits.p[digits.n - 1] == '0')
                digits.n--;
        return digits;
}

/* The absolute value of an integral decimal, exactly; false when it is not integral or does not fit 64 bits. */
static bool decimal_to_integer(const struct decimal *d, uint64_t *ret)
{
        struct str whole = d->whole, fraction = without_trailing_zeros(d->fraction);
        int64_t zeros;

        *ret = 0;
        if (fraction.n == 0)
                whole = without_trailing_zeros(whole);
        if (whole.n + fraction.n == 0)
                return true;
        zeros = d->exponent - (int64_t)fraction.n + (fraction.n ? 0 : (int64_t)(d->whole.n - whole.n));
        if (zeros < 0 || zeros > 20 || !append_digits(ret, whole) || !append_digits(ret, fraction))
                return false;
        while (zeros-- > 0)
                if (__builtin_mul_overflow(*ret, 10, ret))
                        return false;
        return true;
}

/* An integer as sign and absolute value, whichever way the value spells it. */
static bool read_integer(const struct value *v, bool *ret_is_negative, uint64_t *ret)
{
        struct decimal d;

        if (value_is_int(v)) {
                *ret_is_negative = v->integer < 0;
                *ret = *ret_is_negative ? -(uint64_t)v->integer : (uint64_t)v->integer;
                return true;
        }
        if (value_is_double(v)) {
                *ret_is_negative = v->number < 0;
                if (!(fabs(v->number) < 0x1p64) || v->number != trunc(v->number))
                        return false;
                *ret = (uint64_t)fabs(v->number);
                return true;
        }
        if (!value_is_string(v) || !read_decimal(value_str(v), &d))
                return false;
        *ret_is_negative = d.is_negative;
        return decimal_to_integer(&d, ret);
}

static int signed_of(struct encoder *e, const struct value *v, int bits, int64_t *ret)
{
        uint64_t n, most = (uint64_t)1 << (bits - 1);
        bool is_negative;

        if (!read_integer(v, &is_negative, &n) || n > most - !is_negative)
                return err_set(e->err, ERR_INVALID, "wanted an integer of %d bits", bits);
        *ret = (int64_t)(is_negative ? -n : n);
        return 0;
}

static int unsigned_of(struct encoder *e, const struct value *v, int bits, uint64_t *ret)
{
        bool is_negative;

        if (!read_integer(v, &is_negative, ret) || (is_negative && *ret) || (bits < 64 && *ret >> bits))
                return err_set(e->err, ERR_INVALID, "wanted an unsigned integer of %d bits", bits);
        return 0;
}

static int double_of(struct encoder *e, const struct value *v, double *ret)
{
        struct str text = value_str(v);
        struct decimal d;

        if (value_is_number(v))
                *ret = value_double(v, 0);
        else if (!value_is_string(v))
                return fail_type(e, "a number", v);
        else if (str_equal(text, STR("NaN")))
                *ret = NAN;
        else if (str_equal(text, STR("Infinity")))
                *ret = INFINITY;
        else if (str_equal(text, STR("-Infinity")))
                *ret = -INFINITY;
        else if (!read_decimal(text, &d) || number_parse_double(text, ret, NULL) < 0)
                return fail(e, "wanted a number");
        return 0;
}

static int float_bits_of(struct encoder *e, const struct value *v, uint64_t *ret)
{
        uint32_t bits;
        double wide;
        float number;
        int r = double_of(e, v, &wide);

        if (r < 0)
                return r;
        /* Half a step above the largest float is where rounding would give infinity. */
        if (isfinite(wide) && fabs(wide) >= 0x1.ffffffp127)
                return fail(e, "the number is out of the range of float");
        number = (float)wide;
        memcpy(&bits, &number, sizeof(bits));
        *ret = isnan(wide) ? NAN_FLOAT_BITS : bits;
        return 0;
}

static int double_bits_of(struct encoder *e, const struct value *v, uint64_t *ret)
{
        double number;
        int r = double_of(e, v, &number);

        if (r < 0)
                return r;
        if (isnan(number))
                *ret = NAN_BITS;
        else
                memcpy(ret, &number, sizeof(*ret));
        return 0;
}

static int enum_of(struct encoder *e, const struct proto_enum *enumeration, const struct value *v, uint64_t *ret)
{
        int64_t number;
        int r;

        if (value_is_string(v)) {
                for (size_t i = 0; i < enumeration->n_values; i++) {
                        if (str_equal(enumeration->values[i].name, value_str(v))) {
                                *ret = (uint64_t)(int64_t)enumeration->values[i].number;
                                return 0;
                        }
                }
                return err_set(e->err, ERR_INVALID, "%.*s has no value \"%.*s\"", STR_ARG(enumeration->name),
                               STR_ARG(str_first(value_str(v), 100)));
        }
        r = signed_of(e, v, 32, &number);
        *ret = r < 0 ? 0 : (uint64_t)number;
        return r;
}

static int bytes_of(struct encoder *e, const struct value *v, struct str *ret)
{
        int r;

        if (!value_is_string(v))
                return fail_type(e, "base64 text", v);
        buf_clear(&e->scratch);
        r = base64_decode_any(&e->scratch, value_str(v), e->err);
        *ret = buf_str(&e->scratch);
        return r;
}

static int text_of(struct encoder *e, const struct value *v, struct str *ret)
{
        if (!value_is_string(v))
                return fail_type(e, "a string", v);
        *ret = value_str(v);
        return proto_text_is_valid(ret->p, ret->n) ? 0 : fail(e, "a string is not valid UTF-8");
}

/* The scalar as it travels: in *ret_bytes for strings and bytes (valid until the next call), else in *ret_scalar. */
static int scalar_of(struct encoder *e, const struct proto_field *f, const struct value *v, uint64_t *ret_scalar,
                     struct str *ret_bytes)
{
        int64_t number = 0;
        int r = 0;

        switch ((enum proto_type)f->type) {
        case PROTO_DOUBLE:
                return double_bits_of(e, v, ret_scalar);
        case PROTO_FLOAT:
                return float_bits_of(e, v, ret_scalar);
        case PROTO_INT64:
        case PROTO_SFIXED64:
                r = signed_of(e, v, 64, &number);
                break;
        case PROTO_INT32:
                r = signed_of(e, v, 32, &number);
                break;
        case PROTO_SFIXED32:
                r = signed_of(e, v, 32, &number);
                number = (uint32_t)number;
                break;
        case PROTO_SINT64:
                r = signed_of(e, v, 64, &number);
                number = (int64_t)proto_zigzag(number);
                break;
        case PROTO_SINT32:
                r = signed_of(e, v, 32, &number);
                number = (int64_t)proto_zigzag(number);
                break;
        case PROTO_UINT64:
        case PROTO_FIXED64:
                return unsigned_of(e, v, 64, ret_scalar);
        case PROTO_UINT32:
        case PROTO_FIXED32:
                return unsigned_of(e, v, 32, ret_scalar);
        case PROTO_BOOL:
                if (!value_is_bool(v))
                        return fail_type(e, "a bool", v);
                *ret_scalar = v->boolean;
                return 0;
        case PROTO_STRING:
                return text_of(e, v, ret_bytes);
        case PROTO_BYTES:
                return bytes_of(e, v, ret_bytes);
        case PROTO_ENUM:
                return enum_of(e, f->enumeration, v, ret_scalar);
        case PROTO_MESSAGE:
                break;
        }
        *ret_scalar = (uint64_t)number;
        return r;
}

/* The contents of a scalar field, with their length if they have one, but without a tag. */
static int put_scalar(struct encoder *e, enum proto_wire wire, uint64_t scalar, struct str bytes)
{
        int r = make_room(e, bytes.n + 2 * PROTO_VARINT_BYTES);

        if (r < 0)
                return r;
        switch (wire) {
        case PROTO_WIRE_VARINT:
                e->p = put_varint(e->p, scalar);
                break;
        case PROTO_WIRE_FIXED64:
                e->p = put_bytes(e->p, (const char *)&scalar, 8);
                break;
        case PROTO_WIRE_FIXED32:
                e->p = put_bytes(e->p, (const char *)&scalar, 4);
                break;
        case PROTO_WIRE_BYTES:
        case PROTO_WIRE_GROUP:
                e->p = put_varint(put_bytes(e->p, bytes.p, bytes.n), bytes.n);
                break;
        }
        return 0;
}

static int put_tag(struct encoder *e, const struct proto_field *f, enum proto_wire wire)
{
        int r = make_room(e, PROTO_VARINT_BYTES);

        if (r < 0)
                return r;
        e->p = put_varint(e->p, f->number << 3 | wire);
        return 0;
}

/* Fields. Depth is that of the message they are in. */

static int encode_message_field(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        size_t before = written(e);
        int r = encode_contents(e, f->message, v, depth);

        return r < 0 ? r : put_head(e, f->number, before);
}

/* One scalar with its tag; skips_default leaves out the type's default. */
static int encode_scalar_field(struct encoder *e, const struct proto_field *f, const struct value *v,
                               bool skips_default)
{
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        struct str bytes = STR_NONE;
        uint64_t scalar = 0;
        int r = scalar_of(e, f, v, &scalar, &bytes);

        if (r < 0)
                return r;
        if (skips_default && scalar == 0 && bytes.n == 0)
                return 0;
        r = put_scalar(e, wire, scalar, bytes);
        return r < 0 ? r : put_tag(e, f, wire);
}

static int encode_one(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        if (f->message)
                return encode_message_field(e, f, v, depth);
        return encode_scalar_field(e, f, v, false);
}

static int encode_packed(struct encoder *e, const struct proto_field *f, const struct value *array)
{
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        size_t before = written(e);

        for (size_t i = array->n; i > 0; i--) {
                struct str bytes = STR_NONE;
                uint64_t scalar = 0;
                int r = scalar_of(e, f, &array->items[i - 1], &scalar, &bytes);

                if (r >= 0)
                        r = put_scalar(e, wire, scalar, bytes);
                if (r < 0)
                        return at_index(e, r, i - 1);
        }
        return array->n ? put_head(e, f->number, before) : 0;
}

static int encode_repeated(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        int r;

        if (!value_is_array(v))
                return fail_type(e, "an array", v);
        r = enter_container(e, depth + 1);
        if (r < 0)
                return r;
        if (f->is_packed)
                return encode_packed(e, f, v);
        for (size_t i = v->n; i > 0; i--) {
                r = encode_one(e, f, &v->items[i - 1], depth + 2);
                if (r < 0)
                        return at_index(e, r, i - 1);
        }
        return 0;
}

/* Maps */

/* The number that a key of a map stands for. */
static int key_scalar(struct encoder *e, const struct proto_field *f, struct str key, uint64_t *ret)
{
        struct value integer;
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        int64_t number;

        if (f->type == PROTO_BOOL) {
                *ret = str_equal(key, STR("true"));
                return *ret || str_equal(key, STR("false")) ? 0 : fail(e, "the key is no bool");
        }
        /* Plain digits alone: what JSON allows in a number that is a key is less than in one that is a value. */
        if (f->type == PROTO_UINT64 || f->type == PROTO_FIXED64 || f->type == PROTO_UINT32 ||
            f->type == PROTO_FIXED32) {
                if (number_parse_uint(key, ret, NULL) < 0 ||
                    ((f->type == PROTO_UINT32 || wire == PROTO_WIRE_FIXED32) && *ret > UINT32_MAX))
                        return fail(e, "the key is not an unsigned integer");
                return 0;
        }
        if (number_parse_int(key, &number, NULL) < 0)
                return fail(e, "the key is not an integer");
        integer = value_of_int(number);
        return scalar_of(e, f, &integer, ret, &(struct str) { 0 });
}

/* What the number is sorted by: signed types by their sign, too. */
static uint64_t key_order(const struct proto_field *f, uint64_t scalar)
{
        switch ((enum proto_type)f->type) {
        case PROTO_INT64:
        case PROTO_SFIXED64:
        case PROTO_INT32:
                return scalar ^ (uint64_t)1 << 63;
        case PROTO_SFIXED32:
                return scalar ^ (uint64_t)1 << 31;
        case PROTO_SINT64:
        case PROTO_SINT32:
                return (uint64_t)proto_unzigzag(scalar) ^ (uint64_t)1 << 63;
        default:
                return scalar;
        }
}

static int compare_numbers(const void *a, const void *b)
{
        const struct key *x = a, *y = b;

        return (x->order > y->order) - (x->order < y->order);
}

/* As push_keys, for a map whose keys are numbers. */
static int push_number_keys(struct encoder *e, const struct proto_field *key, const struct value *object,
                            size_t *ret_base)
{
        size_t base = e->keys.n;

        vec_reserve(&e->keys, object->n);
        for (uint32_t i = 0; i < object->n; i++) {
                uint64_t scalar;
                int r = key_scalar(e, key, object->members[i].key, &scalar);

                if (r < 0)
                        return at_place(e, r, "[", object->members[i].key, "]");
                e->keys.p[base + i] = (struct key) { key_order(key, scalar), &object->members[i] };
        }
        if (object->n)
                qsort(e->keys.p + base, object->n, sizeof(*e->keys.p), compare_numbers);
        for (size_t i = 1; i < object->n; i++)
                if (e->keys.p[base + i].order == e->keys.p[base + i - 1].order)
                        return at_place(e, fail(e, "the key is there twice"), "[", e->keys.p[base + i].member->key,
                                        "]");
        e->keys.n += object->n;
        *ret_base = base;
        return 0;
}

static int encode_map_key(struct encoder *e, const struct proto_field *f, struct str key)
{
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        uint64_t scalar = 0;
        int r = 0;

        if (f->type != PROTO_STRING)
                r = key_scalar(e, f, key, &scalar);
        else if (!proto_text_is_valid(key.p, key.n))
                r = fail(e, "a key is not valid UTF-8");
        if (r >= 0)
                r = put_scalar(e, wire, scalar, f->type == PROTO_STRING ? key : STR_NONE);
        return r < 0 ? r : put_tag(e, f, wire);
}

/* Both fields of an entry are always written. */
static int encode_map_entry(struct encoder *e, const struct proto_field *f, const struct member *m, uint32_t depth)
{
        size_t before = written(e);
        int r = encode_one(e, &f->message->fields[1], &m->value, depth);

        if (r < 0)
                return at_place(e, r, "[", m->key, "]");
        r = encode_map_key(e, &f->message->fields[0], m->key);
        return r < 0 ? r : put_head(e, f->number, before);
}

static int encode_map(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        const struct proto_field *key = &f->message->fields[0];
        size_t base = 0;
        int r;

        if (!value_is_object(v))
                return fail_type(e, "an object", v);
        r = enter_container(e, depth + 1);
        if (r < 0)
                return r;
        if (key->type == PROTO_STRING)
                base = push_keys(e, v);
        else
                r = push_number_keys(e, key, v, &base);
        if (r < 0)
                return r;
        for (size_t i = v->n; i > 0; i--) {
                r = encode_map_entry(e, f, e->keys.p[base + i - 1].member, depth + 2);
                if (r < 0)
                        return r;
        }
        e->keys.n = base;
        return 0;
}

/* Messages */

static int encode_field(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        if (f->message && f->message->kind == PROTO_KIND_MAP_ENTRY)
                return encode_map(e, f, v, depth);
        if (f->is_repeated)
                return encode_repeated(e, f, v, depth);
        if (f->message)
                return encode_message_field(e, f, v, depth + 1);
        return encode_scalar_field(e, f, v, !f->has_presence);
}

/* A plain message that is being written. */
struct plain {
        const struct proto_message *message;
        const struct value *object;
        uint32_t depth;
        size_t n_found;  /* members that are fields */
        uint64_t oneofs; /* that are set */
};

/* The member for the field under either of its names; NULL when there is none or it is a null that means absent. */
static int find_member(struct encoder *e, struct plain *plain, const struct proto_field *f, const struct value **ret)
{
        const struct value *v = value_get(plain->object, f->json_name), *other = NULL;

        if (!str_equal(f->json_name, f->name))
                other = value_get(plain->object, f->name);
        if (v && other)
                return fail(e, "the field is there under both of its names");
        v = v ? v : other;
        plain->n_found += v != NULL;
        if (value_is_null(v) && !(f->message && f->message->kind == PROTO_KIND_VALUE && !f->is_repeated))
                v = NULL;
        if (v && f->oneof >= 0) {
                uint64_t bit = (uint64_t)1 << f->oneof;

                assert(f->oneof < 64);
                if (plain->oneofs & bit)
                        return fail(e, "another field of the same oneof is set");
                plain->oneofs |= bit;
        }
        *ret = v;
        return 0;
}

/* Writes the fields that are, or are not, in a oneof: last first. */
static int encode_fields(struct encoder *e, struct plain *plain, bool in_oneofs)
{
        for (size_t i = plain->message->n_fields; i > 0; i--) {
                const struct proto_field *f = &plain->message->fields[i - 1];
                const struct value *v = NULL;
                int r;

                if ((f->oneof >= 0) != in_oneofs)
                        continue;
                r = find_member(e, plain, f, &v);
                if (r >= 0 && v)
                        r = encode_field(e, f, v, plain->depth);
                if (r < 0)
                        return at_place(e, r, ".", f->json_name, "");
        }
        return 0;
}

static int encode_unknown(struct encoder *e, struct plain *plain)
{
        const struct value *v = NULL;
        struct str bytes;
        int r;

        if (e->flags & PROTO_KEEP_UNKNOWN)
                v = value_get(plain->object, PROTO_UNKNOWN_KEY);
        if (!v)
                return 0;
        plain->n_found++;
        r = bytes_of(e, v, &bytes);
        if (r >= 0)
                r = make_room(e, bytes.n);
        if (r < 0)
                return at_place(e, r, ".", PROTO_UNKNOWN_KEY, "");
        e->p = put_bytes(e->p, bytes.p, bytes.n);
        return 0;
}

/* Complains of the first member that is no field. */
static int fail_unknown(struct encoder *e, struct plain *plain)
{
        VALUE_FOREACH_MEMBER (m, plain->object) {
                if (proto_field_by_name(plain->message, m->key))
                        continue;
                if (e->flags & PROTO_KEEP_UNKNOWN && str_equal(m->key, PROTO_UNKNOWN_KEY))
                        continue;
                return err_set(e->err, ERR_INVALID, "%.*s has no field \"%.*s\"", STR_ARG(plain->message->name),
                               STR_ARG(str_first(m->key, 100)));
        }
        return 0;
}

static int encode_plain(struct encoder *e, const struct proto_message *m, const struct value *v, uint32_t depth)
{
        struct plain plain = { .message = m, .object = v, .depth = depth };
        int r;

        if (!value_is_object(v))
                return fail_type(e, "an object", v);
        r = enter_container(e, depth);
        if (r >= 0)
                r = encode_unknown(e, &plain);
        if (r >= 0)
                r = encode_fields(e, &plain, true);
        if (r >= 0)
                r = encode_fields(e, &plain, false);
        if (r >= 0 && plain.n_found != v->n && !(e->flags & PROTO_IGNORE_UNKNOWN))
                r = fail_unknown(e, &plain);
        return r;
}

static int encode_time(struct encoder *e, const struct proto_message *m, const struct value *v)
{
        struct proto_time t;
        const char *problem;
        int r;

        if (!value_is_string(v))
                return fail_type(e, m->kind == PROTO_KIND_DURATION ? "a duration" : "a time", v);
        problem = proto_time_parse(m->kind, value_str(v), &t);
        if (problem)
                return fail(e, problem);
        r = make_room(e, 2 * (1 + PROTO_VARINT_BYTES));
        if (r < 0)
                return r;
        if (t.nanos)
                e->p = put_byte(put_varint(e->p, (uint64_t)(int64_t)t.nanos), 2 << 3 | PROTO_WIRE_VARINT);
        if (t.seconds)
                e->p = put_byte(put_varint(e->p, (uint64_t)t.seconds), 1 << 3 | PROTO_WIRE_VARINT);
        return 0;
}

static int encode_contents(struct encoder *e, const struct proto_message *m, const struct value *v, uint32_t depth)
{
        switch (m->kind) {
        case PROTO_KIND_STRUCT:
                return value_is_object(v) ? encode_struct(e, v, depth) : fail_type(e, "an object", v);
        case PROTO_KIND_VALUE:
                return encode_value(e, v, depth);
        case PROTO_KIND_LIST_VALUE:
                return value_is_array(v) ? encode_list(e, v, depth) : fail_type(e, "an array", v);
        case PROTO_KIND_DURATION:
        case PROTO_KIND_TIMESTAMP:
                return encode_time(e, m, v);
        case PROTO_KIND_PLAIN:
        case PROTO_KIND_MAP_ENTRY:
                break;
        }
        return encode_plain(e, m, v, depth);
}

/* The way in */

static void encoder_done(struct encoder *e)
{
        vec_done(&e->keys);
        buf_done(&e->scratch);
        buf_done(&e->path);
}

static int run_encoder(struct encoder *e, const struct proto_message *m, const struct value *v)
{
        size_t n;
        int r = buf_check(e->b, "the message", e->err);

        if (r >= 0)
                r = encode_contents(e, m, v, 1);
        if (r < 0)
                return r;
        n = written(e);
        if (n > e->max_bytes)
                return err_set(e->err, ERR_LIMIT, "the message is larger than the limit of %zu bytes", e->max_bytes);
        if (n)
                memmove(e->low, e->p, n);
        e->b->n += n;
        return 0;
}

int proto_encode(struct buf *b, const struct proto_message *m, const struct value *v,
                 const struct proto_options *options, struct err *err)
{
        static const struct proto_options defaults;
        _cleanup_err_ struct err problem = { 0 };
        _cleanup_(encoder_done)
        struct encoder e = { .b = b, .err = err ? err : &problem };
        int r;

        if (!options)
                options = &defaults;
        e.flags = options->flags;
        e.max_depth = options->max_depth ? options->max_depth : LIMIT_DEPTH;
        e.max_bytes = options->max_bytes ? MIN(options->max_bytes, LIMIT_STRING_BYTES) : LIMIT_MESSAGE_BYTES;
        if (!b->p)
                buf_reserve(b, 1); /* so that there is something to point at */
        e.low = b->p + b->n;
        e.high = e.p = b->p + b->capacity;
        r = run_encoder(&e, m, v);
        return r < 0 ? proto_report(e.err, "encode", m, buf_str(&e.path)) : 0;
}

int proto_encode_struct(struct buf *b, const struct value *object, struct err *err)
{
        return proto_encode(b, &proto_google_Struct, object, NULL, err);
}
