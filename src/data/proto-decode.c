/* Wire bytes to values.
 *
 * A message is walked once. Struct, Value and ListValue, which make up nearly all of what travels, have code of their own;
 * every other message collects its fields in slots, one per field of its table, and turns them into members at the end.
 * The same field may come several times: the last scalar counts, repeated fields and maps grow, and the pieces of a
 * singular sub-message are merged, which is to read them one after the other as if they were one message.
 * Members, items, slots and pieces that are being collected stand on stacks in the decoder, addressed by index because
 * the stacks move when they grow; finished containers go to the arena. */
#include "proto-wire.h"

#include "base64.h"
#include "buf.h"
#include "limits.h"
#include "number.h"
#include "proto-tables.h"
#include "proto-time.h"
#include "vec.h"

#include <math.h>

/* Up to this many members, insertion beats a real sort. */
#define INSERTION_MEMBERS 24

/* A place in a message that is one run of bytes and, when it came in pieces, some further runs on the stack of pieces. */
struct cursor {
        const char *p;
        const char *end;
        uint32_t next;
        uint32_t last;
};

/* What was seen of one field of a message. */
struct slot {
        uint32_t n; /* times; for singular ones those that count */
        union {
                struct {
                        uint64_t scalar;
                        struct str bytes;
                };
                struct cursor at; /* of a singular message: where it first stands */
                struct array_builder array;
                struct object_builder object;
        };
};

struct decoder {
        struct arena *arena;
        struct err *err;
        unsigned flags;
        uint32_t max_depth;
        VEC(struct member) members;
        VEC(struct value) items;
        VEC(struct slot) slots;
        VEC(struct str) pieces;
        VEC(uint32_t) order;
        struct buf text; /* scratch */
        struct buf path; /* of the error */
};

static int decode_message(struct decoder *d, const struct proto_message *m, struct cursor c, uint32_t depth,
                          struct value *ret);
static int decode_value(struct decoder *d, struct str bytes, uint32_t depth, struct value *ret);

/* Errors */

static _noinline_ int fail(struct decoder *d, const char *problem)
{
        return err_set(d->err, ERR_INVALID, "%s", problem);
}

static _noinline_ int at_place(struct decoder *d, int r, const char *before, struct str name, const char *after)
{
        proto_path_prepend(&d->path, before, name, after);
        return r;
}

static int at_field(struct decoder *d, int r, const struct proto_field *f)
{
        return at_place(d, r, ".", f->json_name, "");
}

static int at_key(struct decoder *d, int r, struct str key)
{
        return at_place(d, r, "[", key, "]");
}

static int at_index(struct decoder *d, int r, size_t i)
{
        return at_key(d, r, arena_printf(d->arena, "%zu", i));
}

static inline int enter_container(struct decoder *d, uint32_t depth)
{
        if (UNLIKELY(depth > d->max_depth))
                return err_set(d->err, ERR_LIMIT, "nested deeper than the limit of %u levels", d->max_depth);
        if (UNLIKELY(d->arena->is_over_budget))
                return arena_check(d->arena, d->err);
        return 0;
}

/* Cursors */

static struct cursor cursor_over(struct str bytes)
{
        return (struct cursor) { .p = bytes.p, .end = bytes.p + bytes.n };
}

/* Over all pieces from the base on. */
static struct cursor cursor_over_pieces(struct decoder *d, size_t base)
{
        return (struct cursor) { .p = "", .end = "", .next = (uint32_t)base, .last = (uint32_t)d->pieces.n };
}

static bool has_more(const struct decoder *d, struct cursor *c)
{
        while (UNLIKELY(c->p == c->end)) {
                if (c->next == c->last)
                        return false;
                c->p = d->pieces.p[c->next].p;
                c->end = c->p + d->pieces.p[c->next].n;
                c->next++;
        }
        return true;
}

static int read_field(struct decoder *d, struct cursor *c, struct proto_raw_field *ret)
{
        const char *problem = proto_read_field(&c->p, c->end, ret);

        return problem ? fail(d, problem) : 0;
}

static int push_piece(struct decoder *d, struct str piece)
{
        if (d->pieces.n == UINT32_MAX)
                return fail(d, "a message comes in too many pieces");
        vec_push(&d->pieces, piece);
        return 0;
}

/* Objects */

static int compare_order(const void *a, const void *b, void *context)
{
        const struct member *members = context;
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
        int order = str_compare(members[x].key, members[y].key);

        return order ? order : (x > y) - (x < y);
}

static void sort_many(struct decoder *d, struct member *members, size_t n)
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

/* Sorts by key, keeps the last of those with the same key and returns how many are left. */
static size_t sort_members(struct decoder *d, struct member *members, size_t n)
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

static int number_of_bits(struct decoder *d, uint64_t bits, struct value *ret)
{
        double number;

        memcpy(&number, &bits, sizeof(number));
        if (UNLIKELY(!isfinite(number)))
                return fail(d, "the number of a google.protobuf.Value is not finite");
        *ret = (struct value) { .type = VALUE_DOUBLE, .number = number };
        return 0;
}

/* Moves over the next field. 1 and its contents if it is field 1 of a Struct or ListValue; 0 for any other. */
static inline int next_element(struct decoder *d, struct cursor *c, struct str *ret)
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

static int decode_value_pieces(struct decoder *d, struct cursor c, uint32_t depth, struct value *ret);

/* An entry of Struct.fields in any shape; the quick way below takes the usual one. */
static _noinline_ int decode_odd_entry(struct decoder *d, struct str entry, uint32_t depth, struct member *ret)
{
        size_t base = d->pieces.n;
        struct cursor c = cursor_over(entry);
        struct proto_raw_field f;
        int r;

        ret->key = STR("");
        while (has_more(d, &c)) {
                r = read_field(d, &c, &f);
                if (r >= 0 && f.number == 1 && f.wire == PROTO_WIRE_BYTES) {
                        if (!proto_text_is_valid(f.bytes.p, f.bytes.n))
                                return fail(d, "a key is not valid UTF-8");
                        ret->key = f.bytes;
                } else if (r >= 0 && f.number == 2 && f.wire == PROTO_WIRE_BYTES) {
                        r = push_piece(d, f.bytes);
                }
                if (r < 0)
                        return r;
        }
        r = decode_value_pieces(d, cursor_over_pieces(d, base), depth, &ret->value);
        d->pieces.n = base;
        return r < 0 ? at_key(d, r, ret->key) : 0;
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

/* A Value of the usual shape, exactly one field, that is no container: 1. Anything else: 0. The stores go straight to
 * where the value will stay; a copy of what was just stored in parts would wait for them. */
static inline int decode_leaf(struct decoder *d, struct str bytes, struct value *ret)
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
                        return fail(d, "a string is not valid UTF-8");
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

/* Pushes the entry's member. Nested members are pushed above it, so it stands there before its value is known. */
static int push_entry(struct decoder *d, struct str entry, uint32_t depth)
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
                return fail(d, "a key is not valid UTF-8");
        r = decode_leaf(d, value, &m->value);
        if (r == 0) {
                r = decode_value(d, value, depth, &odd.value);
                if (r >= 0)
                        d->members.p[at].value = odd.value;
        }
        return UNLIKELY(r < 0) ? at_key(d, r, d->members.p[at].key) : 0;
}

static int decode_struct(struct decoder *d, struct cursor c, uint32_t depth, struct value *ret)
{
        size_t base = d->members.n, n;
        bool is_sorted = true;
        struct str entry;
        int r = enter_container(d, depth);

        if (r < 0)
                return r;
        while (has_more(d, &c)) {
                r = next_element(d, &c, &entry);
                if (r == 0)
                        continue;
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
                n = sort_members(d, d->members.p + base, n);
        *ret = value_of_members(d->arena, d->members.p + base, n, true);
        d->members.n = base;
        return 0;
}

static int decode_list(struct decoder *d, struct cursor c, uint32_t depth, struct value *ret)
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
                vec_reserve(&d->items, 1);
                d->items.n++;
                r = decode_leaf(d, element, &d->items.p[at]);
                if (r == 0) {
                        r = decode_value(d, element, depth + 1, &item);
                        if (r >= 0)
                                d->items.p[at] = item;
                }
                if (UNLIKELY(r < 0))
                        return at_index(d, r, at - base);
        }
        *ret = value_of_items(d->arena, d->items.p + base, d->items.n - base);
        d->items.n = base;
        return 0;
}

/* The Struct or ListValue whose pieces stand from the base on; takes them off. */
static int decode_value_container(struct decoder *d, enum value_field field, size_t base, uint32_t depth,
                                  struct value *ret)
{
        struct cursor c = cursor_over_pieces(d, base);
        int r = 0;

        if (field == VALUE_FIELD_STRUCT)
                r = decode_struct(d, c, depth, ret);
        else if (field == VALUE_FIELD_LIST)
                r = decode_list(d, c, depth, ret);
        d->pieces.n = base;
        return r;
}

/* Which kind of Value the field sets, if any. */
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

/* A Value in any shape: no kind, several of which the last counts, or one in pieces. A container that is replaced by what
 * follows is still read, so that malformed bytes are refused wherever they stand. */
static _noinline_ int decode_value_pieces(struct decoder *d, struct cursor c, uint32_t depth, struct value *ret)
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
                        return fail(d, "a string is not valid UTF-8");
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

/* A Value that decode_leaf does not know: a container in the usual shape, or an odd one. */
static int decode_value(struct decoder *d, struct str bytes, uint32_t depth, struct value *ret)
{
        const char *p = bytes.p, *end = p + bytes.n, *contents;
        size_t n;

        if (LIKELY(bytes.n >= 2 && (*p == VALUE_TAG(STRUCT, BYTES) || *p == VALUE_TAG(LIST, BYTES)))) {
                contents = proto_read_length(p + 1, end, &n);
                if (LIKELY(contents && contents + n == end)) {
                        struct cursor c = cursor_over(str_make(contents, n));

                        return *p == VALUE_TAG(STRUCT, BYTES) ? decode_struct(d, c, depth, ret)
                                                              : decode_list(d, c, depth, ret);
                }
        }
        return decode_value_pieces(d, cursor_over(bytes), depth, ret);
}

/* Duration and Timestamp */

static int decode_time(struct decoder *d, const struct proto_message *m, struct cursor c, struct value *ret)
{
        struct proto_time t = { 0 };
        struct proto_raw_field f;
        const char *problem;
        int r;

        while (has_more(d, &c)) {
                r = read_field(d, &c, &f);
                if (r < 0)
                        return r;
                if (f.number == 1 && f.wire == PROTO_WIRE_VARINT)
                        t.seconds = (int64_t)f.scalar;
                else if (f.number == 2 && f.wire == PROTO_WIRE_VARINT)
                        t.nanos = (int32_t)(uint32_t)f.scalar;
        }
        problem = proto_time_check(m->kind, t);
        if (problem)
                return fail(d, problem);
        proto_time_append(&d->text, m->kind, t);
        *ret = value_of_str(buf_to_arena(&d->text, d->arena));
        return 0;
}

/* Scalars */

static struct value value_of_text(struct decoder *d)
{
        return value_of_str(buf_to_arena(&d->text, d->arena));
}

static struct value value_of_int64(struct decoder *d, int64_t i)
{
        buf_append_int(&d->text, i);
        return value_of_text(d);
}

static struct value value_of_uint64(struct decoder *d, uint64_t u)
{
        buf_append_uint(&d->text, u);
        return value_of_text(d);
}

static struct value value_of_any_double(double number)
{
        if (isnan(number))
                return value_of_literal("NaN");
        if (isinf(number))
                return number > 0 ? value_of_literal("Infinity") : value_of_literal("-Infinity");
        return value_of_double(number);
}

/* A float prints with the fewest digits that tell it from other floats, so the value is the double of those digits. */
static struct value value_of_float(struct decoder *d, uint64_t bits)
{
        uint32_t low = (uint32_t)bits;
        double shortest = 0;
        float number;

        memcpy(&number, &low, sizeof(number));
        if (!isfinite(number))
                return value_of_any_double(number);
        for (int digits = 1; digits <= 9; digits++) {
                number_append_go(&d->text, number, 'e', digits - 1);
                number_parse_double(buf_str(&d->text), &shortest, NULL);
                buf_clear(&d->text);
                if ((float)shortest == number)
                        break;
        }
        return value_of_double(shortest);
}

static struct value value_of_enum(const struct proto_enum *e, int32_t number)
{
        for (size_t i = 0; i < e->n_values; i++)
                if (e->values[i].number == number)
                        return value_of_str(e->values[i].name);
        return value_of_int(number);
}

static struct value value_of_bytes(struct decoder *d, struct str bytes)
{
        base64_encode(&d->text, bytes, BASE64_STD);
        return value_of_text(d);
}

static struct value value_of_scalar(struct decoder *d, const struct proto_field *f, uint64_t scalar, struct str bytes)
{
        double number;

        switch ((enum proto_type)f->type) {
        case PROTO_DOUBLE:
                memcpy(&number, &scalar, sizeof(number));
                return value_of_any_double(number);
        case PROTO_FLOAT:
                return value_of_float(d, scalar);
        case PROTO_INT64:
        case PROTO_SFIXED64:
                return value_of_int64(d, (int64_t)scalar);
        case PROTO_SINT64:
                return value_of_int64(d, proto_unzigzag(scalar));
        case PROTO_UINT64:
        case PROTO_FIXED64:
                return value_of_uint64(d, scalar);
        case PROTO_INT32:
        case PROTO_SFIXED32:
                return value_of_int((int32_t)(uint32_t)scalar);
        case PROTO_SINT32:
                return value_of_int((int32_t)proto_unzigzag((uint32_t)scalar));
        case PROTO_UINT32:
        case PROTO_FIXED32:
                return value_of_int((uint32_t)scalar);
        case PROTO_BOOL:
                return value_of_bool(scalar != 0);
        case PROTO_STRING:
                return value_of_str(bytes);
        case PROTO_BYTES:
                return value_of_bytes(d, bytes);
        case PROTO_ENUM:
                return value_of_enum(f->enumeration, (int32_t)(uint32_t)scalar);
        case PROTO_MESSAGE:
                break;
        }
        return value_of_null();
}

/* Whether the bits are the type's default. Of 32-bit types only the low half counts. */
static bool is_default(const struct proto_field *f, uint64_t scalar, struct str bytes)
{
        switch ((enum proto_type)f->type) {
        case PROTO_STRING:
        case PROTO_BYTES:
                return bytes.n == 0;
        case PROTO_INT32:
        case PROTO_UINT32:
        case PROTO_SINT32:
        case PROTO_ENUM:
                return (uint32_t)scalar == 0;
        default:
                return scalar == 0;
        }
}

static int check_text(struct decoder *d, const struct proto_field *f, struct str bytes)
{
        if (f->type == PROTO_STRING && !proto_text_is_valid(bytes.p, bytes.n))
                return fail(d, "a string is not valid UTF-8");
        return 0;
}

/* Maps */

static bool is_map(const struct proto_field *f)
{
        return f->message && f->message->kind == PROTO_KIND_MAP_ENTRY;
}

static struct str key_text(struct decoder *d, const struct proto_field *f, uint64_t scalar, struct str bytes)
{
        struct value v = value_of_scalar(d, f, scalar, bytes);

        if (value_is_string(&v))
                return value_str(&v);
        if (value_is_bool(&v))
                return v.boolean ? STR("true") : STR("false");
        buf_append_int(&d->text, v.integer);
        return buf_to_arena(&d->text, d->arena);
}

/* Values of a map of messages are collected as pieces from the base on; others come out in *ret_value. */
static int read_map_entry(struct decoder *d, const struct proto_field *key, const struct proto_field *value,
                          struct str entry, struct proto_raw_field *ret_key, struct proto_raw_field *ret_value)
{
        struct cursor c = cursor_over(entry);
        struct proto_raw_field f;
        int r;

        while (has_more(d, &c)) {
                r = read_field(d, &c, &f);
                if (r < 0)
                        return r;
                if (f.number == 1 && f.wire == proto_wire_of((enum proto_type)key->type)) {
                        r = check_text(d, key, f.bytes);
                        *ret_key = f;
                } else if (f.number == 2 && f.wire == proto_wire_of((enum proto_type)value->type)) {
                        r = value->message ? push_piece(d, f.bytes) : check_text(d, value, f.bytes);
                        *ret_value = f;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

static int decode_map_entry(struct decoder *d, const struct proto_field *f, struct str entry, uint32_t depth,
                            struct member *ret)
{
        const struct proto_field *key = &f->message->fields[0], *value = &f->message->fields[1];
        struct proto_raw_field raw_key = { 0 }, raw_value = { 0 };
        size_t base = d->pieces.n;
        int r;

        r = read_map_entry(d, key, value, entry, &raw_key, &raw_value);
        if (r < 0)
                return r;
        ret->key = key_text(d, key, raw_key.scalar, raw_key.bytes);
        if (value->message) {
                r = decode_message(d, value->message, cursor_over_pieces(d, base), depth, &ret->value);
                d->pieces.n = base;
                return r < 0 ? at_key(d, r, ret->key) : 0;
        }
        ret->value = value_of_scalar(d, value, raw_value.scalar, raw_value.bytes);
        return 0;
}

static struct value finish_map(struct decoder *d, struct object_builder *b)
{
        b->n = (uint32_t)sort_members(d, b->members, b->n);
        return object_builder_finish(b);
}

/* Plain messages. In all of these the message's slots begin at `base` of the stack. */

static bool accepts(const struct proto_field *f, enum proto_wire wire)
{
        enum proto_wire own = proto_wire_of((enum proto_type)f->type);

        return wire == own || (f->is_repeated && wire == PROTO_WIRE_BYTES);
}

static void add_item(struct decoder *d, size_t slot, struct value item)
{
        struct slot *s = &d->slots.p[slot];

        if (s->n++ == 0)
                array_builder_init(&s->array, d->arena, 0);
        array_builder_add(&s->array, item);
}

static int take_packed(struct decoder *d, const struct proto_field *f, size_t slot, struct str bytes)
{
        const char *p = bytes.p, *end = p + bytes.n;
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        size_t fixed = wire == PROTO_WIRE_FIXED64 ? 8 : 4;

        while (p < end) {
                uint64_t scalar = 0;

                if (wire == PROTO_WIRE_VARINT) {
                        p = proto_read_varint(p, end, &scalar);
                        if (!p)
                                return fail(d, "a varint is malformed");
                } else {
                        if ((size_t)(end - p) < fixed)
                                return fail(d, "the message is truncated");
                        memcpy(&scalar, p, fixed);
                        p += fixed;
                }
                add_item(d, slot, value_of_scalar(d, f, scalar, STR_NONE));
        }
        return 0;
}

static int take_repeated(struct decoder *d, const struct proto_field *f, size_t slot, const struct proto_raw_field *raw,
                         uint32_t depth)
{
        struct value item;
        int r = enter_container(d, depth + 1);

        if (r < 0)
                return r;
        if (raw->wire == PROTO_WIRE_BYTES && proto_wire_of((enum proto_type)f->type) != PROTO_WIRE_BYTES)
                return take_packed(d, f, slot, raw->bytes);
        if (f->message) {
                r = decode_message(d, f->message, cursor_over(raw->bytes), depth + 2, &item);
                if (r < 0)
                        return at_index(d, r, d->slots.p[slot].n);
        } else {
                r = check_text(d, f, raw->bytes);
                if (r < 0)
                        return r;
                item = value_of_scalar(d, f, raw->scalar, raw->bytes);
        }
        add_item(d, slot, item);
        return 0;
}

static int take_map_entry(struct decoder *d, const struct proto_field *f, size_t slot,
                          const struct proto_raw_field *raw, uint32_t depth)
{
        struct member m;
        struct slot *s;
        int r = enter_container(d, depth + 1);

        if (r >= 0)
                r = decode_map_entry(d, f, raw->bytes, depth + 2, &m);
        if (r < 0)
                return r;
        s = &d->slots.p[slot];
        if (s->n++ == 0)
                object_builder_init(&s->object, d->arena, 0);
        object_builder_add(&s->object, m.key, m.value);
        return 0;
}

/* Decodes the pieces of a singular message by reading them again from where the first one stood. */
static int decode_slot(struct decoder *d, const struct proto_field *f, size_t slot, uint32_t depth, struct value *ret)
{
        struct cursor c = d->slots.p[slot].at;
        size_t base = d->pieces.n;
        struct proto_raw_field raw;
        int r;

        while (d->pieces.n - base < d->slots.p[slot].n && has_more(d, &c)) {
                r = read_field(d, &c, &raw);
                if (r >= 0 && raw.number == f->number && raw.wire == PROTO_WIRE_BYTES)
                        r = push_piece(d, raw.bytes);
                if (r < 0)
                        return r;
        }
        r = decode_message(d, f->message, cursor_over_pieces(d, base), depth + 1, ret);
        d->pieces.n = base;
        return r;
}

/* Setting a field of a oneof clears the others. A message that is cleared is still read, so that malformed bytes are
 * refused wherever they stand. */
static int clear_oneof(struct decoder *d, const struct proto_message *m, size_t base, const struct proto_field *f,
                       uint32_t depth)
{
        struct value dropped;

        for (size_t i = 0; i < m->n_fields; i++) {
                const struct proto_field *other = &m->fields[i];

                if (other == f || other->oneof != f->oneof || d->slots.p[base + i].n == 0)
                        continue;
                if (other->message) {
                        int r = decode_slot(d, other, base + i, depth, &dropped);

                        if (r < 0)
                                return r;
                }
                d->slots.p[base + i].n = 0;
        }
        return 0;
}

static int take_field(struct decoder *d, const struct proto_message *m, size_t base, const struct proto_field *f,
                      const struct proto_raw_field *raw, struct cursor at, uint32_t depth)
{
        size_t slot = base + (size_t)(f - m->fields);
        struct slot *s;
        int r = 0;

        if (is_map(f))
                return take_map_entry(d, f, slot, raw, depth);
        if (f->is_repeated)
                return take_repeated(d, f, slot, raw, depth);
        if (f->oneof >= 0)
                r = clear_oneof(d, m, base, f, depth);
        if (r >= 0)
                r = check_text(d, f, raw->bytes);
        if (r < 0)
                return r;
        s = &d->slots.p[slot];
        if (f->message) {
                if (s->n++ == 0)
                        s->at = at;
        } else {
                s->n = 1;
                s->scalar = raw->scalar;
                s->bytes = raw->bytes;
        }
        return 0;
}

/* The member for a field that was not seen, with PROTO_EMIT_DEFAULTS. */
static struct value default_value(struct decoder *d, const struct proto_field *f)
{
        if (is_map(f))
                return value_empty_object;
        if (f->is_repeated)
                return value_empty_array;
        return value_of_scalar(d, f, 0, STR(""));
}

/* 1 and the member for the field, 0 when it has none. */
static int finish_field(struct decoder *d, const struct proto_field *f, size_t slot, uint32_t depth, struct value *ret)
{
        struct slot *s = &d->slots.p[slot];

        if (s->n == 0 || (!f->has_presence && !f->is_repeated && is_default(f, s->scalar, s->bytes))) {
                if (!(d->flags & PROTO_EMIT_DEFAULTS) || f->has_presence)
                        return 0;
                *ret = default_value(d, f);
                return 1;
        }
        if (is_map(f)) {
                *ret = finish_map(d, &s->object);
        } else if (f->is_repeated) {
                *ret = array_builder_finish(&s->array);
        } else if (f->message) {
                int r = decode_slot(d, f, slot, depth, ret);

                if (r < 0)
                        return r;
        } else {
                *ret = value_of_scalar(d, f, s->scalar, s->bytes);
        }
        return 1;
}

/* Unknown fields in their order, as base64. */
static struct value collect_unknown(struct decoder *d, const struct proto_message *m, struct cursor c)
{
        _cleanup_buf_ struct buf unknown = BUF_INIT(0);
        struct proto_raw_field raw;

        while (has_more(d, &c) && !proto_read_field(&c.p, c.end, &raw)) {
                const struct proto_field *f = proto_field_by_number(m, raw.number);

                if (!f || !accepts(f, raw.wire))
                        buf_append_str(&unknown, raw.whole);
        }
        return value_of_bytes(d, buf_str(&unknown));
}

static int finish_plain(struct decoder *d, const struct proto_message *m, size_t slots, uint32_t depth,
                        struct value *ret_unknown, struct value *ret)
{
        size_t base = d->members.n;

        for (size_t i = 0; i < m->n_fields; i++) {
                struct value v;
                int r = finish_field(d, &m->fields[i], slots + i, depth, &v);

                if (r < 0)
                        return at_field(d, r, &m->fields[i]);
                if (r > 0)
                        vec_push(&d->members, (struct member) { m->fields[i].json_name, v });
        }
        if (ret_unknown)
                vec_push(&d->members, (struct member) { PROTO_UNKNOWN_KEY, *ret_unknown });
        *ret = value_of_members(d->arena, d->members.p + base, d->members.n - base, d->members.n - base < 2);
        d->members.n = base;
        return 0;
}

static int decode_plain(struct decoder *d, const struct proto_message *m, struct cursor c, uint32_t depth,
                        struct value *ret)
{
        struct cursor start = c;
        size_t base = d->slots.n;
        struct value unknown;
        bool has_unknown = false;
        int r = enter_container(d, depth);

        if (r < 0)
                return r;
        vec_reserve(&d->slots, m->n_fields);
        for (size_t i = 0; i < m->n_fields; i++)
                d->slots.p[base + i].n = 0;
        d->slots.n += m->n_fields;
        while (has_more(d, &c)) {
                struct cursor at = c;
                const struct proto_field *f;
                struct proto_raw_field raw;

                r = read_field(d, &c, &raw);
                if (r < 0)
                        return r;
                f = proto_field_by_number(m, raw.number);
                if (!f || !accepts(f, raw.wire)) {
                        has_unknown = true;
                        continue;
                }
                r = take_field(d, m, base, f, &raw, at, depth);
                if (r < 0)
                        return at_field(d, r, f);
        }
        has_unknown = has_unknown && d->flags & PROTO_KEEP_UNKNOWN;
        if (has_unknown)
                unknown = collect_unknown(d, m, start);
        r = finish_plain(d, m, base, depth, has_unknown ? &unknown : NULL, ret);
        d->slots.n = base;
        return r;
}

static int decode_message(struct decoder *d, const struct proto_message *m, struct cursor c, uint32_t depth,
                          struct value *ret)
{
        switch (m->kind) {
        case PROTO_KIND_STRUCT:
                return decode_struct(d, c, depth, ret);
        case PROTO_KIND_VALUE:
                return decode_value_pieces(d, c, depth, ret);
        case PROTO_KIND_LIST_VALUE:
                return decode_list(d, c, depth, ret);
        case PROTO_KIND_DURATION:
        case PROTO_KIND_TIMESTAMP:
                return decode_time(d, m, c, ret);
        case PROTO_KIND_PLAIN:
        case PROTO_KIND_MAP_ENTRY:
                break;
        }
        return decode_plain(d, m, c, depth, ret);
}

/* The way in */

static void decoder_done(struct decoder *d)
{
        vec_done(&d->members);
        vec_done(&d->items);
        vec_done(&d->slots);
        vec_done(&d->pieces);
        vec_done(&d->order);
        buf_done(&d->text);
        buf_done(&d->path);
}

static int run_decoder(struct decoder *d, const struct proto_message *m, struct str bytes, size_t max_bytes,
                       const struct value **ret)
{
        struct value root;
        int r;

        if (bytes.n > max_bytes)
                return err_set(d->err, ERR_LIMIT, "%zu bytes are more than the limit of %zu bytes", bytes.n, max_bytes);
        if (bytes.n == 0)
                bytes = STR("");
        else if (!(d->flags & PROTO_BORROW_BYTES))
                bytes = arena_copy(d->arena, bytes);
        r = decode_message(d, m, cursor_over(bytes), 1, &root);
        if (r >= 0)
                r = arena_check(d->arena, d->err);
        if (r < 0)
                return r;
        *ret = value_put(d->arena, root);
        return 0;
}

int proto_decode(struct arena *a, const struct proto_message *m, struct str bytes, const struct proto_options *options,
                 const struct value **ret, struct err *err)
{
        static const struct proto_options defaults;
        _cleanup_err_ struct err problem = { 0 };
        _cleanup_(decoder_done)
        struct decoder d = { .arena = a, .err = err ? err : &problem };
        size_t max_bytes;
        int r;

        if (!options)
                options = &defaults;
        d.flags = options->flags;
        d.max_depth = options->max_depth ? options->max_depth : LIMIT_DEPTH;
        max_bytes = options->max_bytes ? MIN(options->max_bytes, LIMIT_STRING_BYTES) : LIMIT_MESSAGE_BYTES;
        r = run_decoder(&d, m, bytes, max_bytes, ret);
        return r < 0 ? proto_report(d.err, "decode", m, buf_str(&d.path)) : 0;
}

int proto_decode_struct(struct arena *a, struct str bytes, const struct proto_options *options,
                        const struct value **ret, struct err *err)
{
        return proto_decode(a, &proto_google_Struct, bytes, options, ret, err);
}

int proto_lazy_get(struct arena *a, struct proto_lazy *lazy, const struct proto_options *options,
                   const struct value **ret, struct err *err)
{
        if (!lazy->decoded) {
                int r = proto_decode(a, lazy->message, lazy->bytes, options, &lazy->decoded, err);

                if (r < 0)
                        return r;
        }
        *ret = lazy->decoded;
        return 0;
}
