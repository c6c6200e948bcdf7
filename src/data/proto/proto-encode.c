/* Values to wire bytes, last field first (proto-encoder.h gives the reason). */
#include "proto-encoder.h"

#include "limits.h"
#include "number.h"
#include "proto-tables.h"
#include "proto-time.h"

#include <stdio.h>

#define GROW_BYTES ((size_t)4096)

static int encode_contents(struct encoder *e, const struct proto_message *m, const struct value *v, uint32_t depth);

/* Errors */

_noinline_ int proto_encode_fail(struct encoder *e, const char *problem)
{
        return err_set(e->err, ERR_INVALID, "%s", problem);
}

_noinline_ int proto_encode_fail_type(struct encoder *e, const char *wanted, const struct value *v)
{
        static const char *const names[] = {
                [VALUE_NULL] = "null",        [VALUE_BOOL] = "a bool",     [VALUE_INT] = "a number",
                [VALUE_DOUBLE] = "a number",  [VALUE_STRING] = "a string", [VALUE_ARRAY] = "an array",
                [VALUE_OBJECT] = "an object",
        };

        return err_set(e->err, ERR_INVALID, "wanted %s, got %s", wanted, names[v->type]);
}

_noinline_ int proto_encode_at_place(struct encoder *e, int r, const char *before, struct str name, const char *after)
{
        proto_path_prepend(&e->path, before, name, after);
        return r;
}

_noinline_ int proto_encode_at_index(struct encoder *e, int r, size_t i)
{
        char text[24];

        snprintf(text, sizeof(text), "%zu", i);
        return proto_encode_at_place(e, r, "[", str_from(text), "]");
}

/* Writing */

_noinline_ int proto_encode_grow(struct encoder *e, size_t n)
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

/* Writes the contents of a scalar field, with their length if there is one, but without a tag. */
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
        int r = proto_scalar_of(e, f, v, &scalar, &bytes);

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
                int r = proto_scalar_of(e, f, &array->items[i - 1], &scalar, &bytes);

                if (r >= 0)
                        r = put_scalar(e, wire, scalar, bytes);
                if (r < 0)
                        return proto_encode_at_index(e, r, i - 1);
        }
        return array->n ? put_head(e, f->number, before) : 0;
}

static int encode_repeated(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        int r;

        if (!value_is_array(v))
                return proto_encode_fail_type(e, "an array", v);
        r = enter_container(e, depth + 1);
        if (r < 0)
                return r;
        if (f->is_packed)
                return encode_packed(e, f, v);
        for (size_t i = v->n; i > 0; i--) {
                r = encode_one(e, f, &v->items[i - 1], depth + 2);
                if (r < 0)
                        return proto_encode_at_index(e, r, i - 1);
        }
        return 0;
}

/* Maps */

/* The number that a map key denotes. */
static int key_scalar(struct encoder *e, const struct proto_field *f, struct str key, uint64_t *ret)
{
        struct value integer;
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        int64_t number;

        if (f->type == PROTO_BOOL) {
                *ret = str_equal(key, STR("true"));
                return *ret || str_equal(key, STR("false")) ? 0 : proto_encode_fail(e, "the key is no bool");
        }
        /* Only plain digits: a numeric key in JSON allows fewer forms than a numeric value. */
        if (f->type == PROTO_UINT64 || f->type == PROTO_FIXED64 || f->type == PROTO_UINT32 ||
            f->type == PROTO_FIXED32) {
                if (number_parse_uint(key, ret, NULL) < 0 ||
                    ((f->type == PROTO_UINT32 || wire == PROTO_WIRE_FIXED32) && *ret > UINT32_MAX))
                        return proto_encode_fail(e, "the key is not an unsigned integer");
                return 0;
        }
        if (number_parse_int(key, &number, NULL) < 0)
                return proto_encode_fail(e, "the key is not an integer");
        integer = value_of_int(number);
        return proto_scalar_of(e, f, &integer, ret, &(struct str) { 0 });
}

/* The sort key of a number, so that signed types sort by sign too. */
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
        const struct proto_key *x = a, *y = b;

        return (x->order > y->order) - (x->order < y->order);
}

/* As proto_push_keys, for a map whose keys are numbers. */
static int push_number_keys(struct encoder *e, const struct proto_field *key, const struct value *object,
                            size_t *ret_base)
{
        size_t base = e->keys.n;

        vec_reserve(&e->keys, object->n);
        for (uint32_t i = 0; i < object->n; i++) {
                uint64_t scalar;
                int r = key_scalar(e, key, object->members[i].key, &scalar);

                if (r < 0)
                        return proto_encode_at_place(e, r, "[", object->members[i].key, "]");
                e->keys.p[base + i] = (struct proto_key) { key_order(key, scalar), &object->members[i] };
        }
        if (object->n)
                qsort(e->keys.p + base, object->n, sizeof(*e->keys.p), compare_numbers);
        for (size_t i = 1; i < object->n; i++)
                if (e->keys.p[base + i].order == e->keys.p[base + i - 1].order)
                        return proto_encode_at_place(e, proto_encode_fail(e, "the key is there twice"), "[",
                                                     e->keys.p[base + i].member->key, "]");
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
                r = proto_encode_fail(e, "a key is not valid UTF-8");
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
                return proto_encode_at_place(e, r, "[", m->key, "]");
        r = encode_map_key(e, &f->message->fields[0], m->key);
        return r < 0 ? r : put_head(e, f->number, before);
}

static int encode_map(struct encoder *e, const struct proto_field *f, const struct value *v, uint32_t depth)
{
        const struct proto_field *key = &f->message->fields[0];
        size_t base = 0;
        int r;

        if (!value_is_object(v))
                return proto_encode_fail_type(e, "an object", v);
        r = enter_container(e, depth + 1);
        if (r < 0)
                return r;
        if (key->type == PROTO_STRING)
                base = proto_push_keys(e, v);
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

/* Finds the member for the field under either name; NULL if there is none or if it is a null that means absent. */
static int find_member(struct encoder *e, struct plain *plain, const struct proto_field *f, const struct value **ret)
{
        const struct value *v = value_get(plain->object, f->json_name), *other = NULL;

        if (!str_equal(f->json_name, f->name))
                other = value_get(plain->object, f->name);
        if (v && other)
                return proto_encode_fail(e, "the field is there under both of its names");
        v = v ? v : other;
        plain->n_found += v != NULL;
        if (value_is_null(v) && !(f->message && f->message->kind == PROTO_KIND_VALUE && !f->is_repeated))
                v = NULL;
        if (v && f->oneof >= 0) {
                uint64_t bit = (uint64_t)1 << f->oneof;

                assert(f->oneof < 64);
                if (plain->oneofs & bit)
                        return proto_encode_fail(e, "another field of the same oneof is set");
                plain->oneofs |= bit;
        }
        *ret = v;
        return 0;
}

/* Writes the fields that are in a oneof, or those that are not, last field first. */
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
                        return proto_encode_at_place(e, r, ".", f->json_name, "");
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
        r = proto_bytes_of(e, v, &bytes);
        if (r >= 0)
                r = make_room(e, bytes.n);
        if (r < 0)
                return proto_encode_at_place(e, r, ".", PROTO_UNKNOWN_KEY, "");
        e->p = put_bytes(e->p, bytes.p, bytes.n);
        return 0;
}

/* Sets the error for the first member that is not a field. */
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
                return proto_encode_fail_type(e, "an object", v);
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
                return proto_encode_fail_type(e, m->kind == PROTO_KIND_DURATION ? "a duration" : "a time", v);
        problem = proto_time_parse(m->kind, value_str(v), &t);
        if (problem)
                return proto_encode_fail(e, problem);
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
        case PROTO_KIND_VALUE:
        case PROTO_KIND_LIST_VALUE:
                return proto_encode_dynamic(e, m->kind, v, depth);
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
        if (b->p || buf_reserve(b, 1)) { /* b->p is not NULL here unless the buffer has failed */
                e.low = b->p + b->n;
                e.high = e.p = b->p + b->capacity;
        }
        r = run_encoder(&e, m, v);
        return r < 0 ? proto_report(e.err, "encode", m, buf_str(&e.path)) : 0;
}

int proto_encode_struct(struct buf *b, const struct value *object, struct err *err)
{
        return proto_encode(b, &proto_google_Struct, object, NULL, err);
}
