/* Kubernetes' protobuf form, decoded by the table (docs/spec/apiserver 8.2).
 *
 * A body is `k8s`, a zero byte, and a message Unknown: 1 the type (1 apiVersion, 2 kind), 2 the object, 3 its encoding, 4 its content
 * type. Clients write fields that are no pointers even if they are zero, so that the table says which of them JSON would have. Structs
 * that are inlined in JSON are messages of their own. The items of a list or map are anywhere in their message: at the first one, the rest
 * of the message is searched for the others. */
#include "builtin.h"

#include "base64.h"
#include "buf.h"
#include "builtin-typed.h"
#include "json.h"
#include "limits.h"
#include "proto.h"
#include "quantity.h"
#include "timetext.h"
#include "utf8.h"

#define MAGIC STR("k8s\0")

/* Whole numbers below this are integers. */
#define MAX_WHOLE 9e18

struct decoder {
        struct arena *arena;
        struct err *err;
        unsigned depth;
};

static int decode_struct(struct decoder *d, const struct builtin_type *t, struct str bytes, struct value *ret);

bool builtin_is_protobuf(struct str bytes)
{
        return str_starts_with(bytes, MAGIC);
}

/* --- Fields on the wire --- */

static int refuse(struct decoder *d, const char *text)
{
        return err_set(d->err, ERR_INVALID, "the protobuf body is wrong: %s", text);
}

static int need_bytes(struct decoder *d, const struct proto_raw_field *f)
{
        return f->wire == PROTO_WIRE_BYTES ? 0 : refuse(d, "a field has another wire type than its type");
}

static int need_varint(struct decoder *d, const struct proto_raw_field *f)
{
        return f->wire == PROTO_WIRE_VARINT ? 0 : refuse(d, "a field has another wire type than its type");
}

static int decode_text(struct decoder *d, struct str bytes, struct value *ret)
{
        if (!utf8_is_valid(bytes))
                return refuse(d, "a string is not valid UTF-8");
        *ret = value_of_str(arena_copy(d->arena, bytes));
        return 0;
}

/* The next field of a message; 0 at its end. */
static int next(struct decoder *d, struct str *rest, struct proto_raw_field *f)
{
        return proto_next_field(rest, f, d->err);
}

/* --- Messages that are one value in JSON --- */

/* The first two fields of a message of small numbers: seconds and nanos, or one of them. */
static int decode_numbers(struct decoder *d, struct str bytes, int64_t numbers[2])
{
        struct proto_raw_field f;
        int r;

        numbers[0] = numbers[1] = 0;
        while ((r = next(d, &bytes, &f)) > 0) {
                if (f.number != 1 && f.number != 2)
                        continue;
                r = need_varint(d, &f);
                if (r < 0)
                        return r;
                numbers[f.number - 1] = (int64_t)f.scalar;
        }
        return r;
}

/* The bytes of field 1 of a message. */
static int decode_inner_bytes(struct decoder *d, struct str bytes, struct str *ret)
{
        struct proto_raw_field f;
        int r;

        *ret = STR("");
        while ((r = next(d, &bytes, &f)) > 0) {
                if (f.number != 1)
                        continue;
                r = need_bytes(d, &f);
                if (r < 0)
                        return r;
                *ret = f.bytes;
        }
        return r;
}

static int decode_time(struct decoder *d, struct str bytes, bool has_microseconds, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int64_t numbers[2];
        int r = decode_numbers(d, bytes, numbers);

        *ret = value_of_null();
        if (r < 0 || bytes.n == 0)
                return r;
        if (numbers[0] < -62135596800ll || numbers[0] > 253402300799ll || numbers[1] < 0 || numbers[1] >= NS_PER_SECOND)
                return refuse(d, "a time is outside the years 1 to 9999");
        time_append_rfc3339(&b, (struct instant) { numbers[0], has_microseconds ? (int32_t)numbers[1] : 0 },
                            has_microseconds ? 6 : 0);
        *ret = value_of_str(buf_to_arena(&b, d->arena));
        return 0;
}

static int decode_duration(struct decoder *d, struct str bytes, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int64_t numbers[2];
        int r = decode_numbers(d, bytes, numbers);

        if (r < 0)
                return r;
        duration_append(&b, numbers[0]);
        *ret = value_of_str(buf_to_arena(&b, d->arena));
        return 0;
}

static int decode_quantity(struct decoder *d, struct str bytes, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct quantity q;
        struct str text;
        int r = decode_inner_bytes(d, bytes, &text);

        if (r == 0 && bytes.n == 0)
                text = STR("0");
        if (r == 0)
                r = quantity_parse(d->arena, text, &q, d->err);
        if (r < 0)
                return r;
        quantity_append(&b, &q);
        *ret = value_of_str(buf_to_arena(&b, d->arena));
        return 0;
}

static int decode_int_or_string(struct decoder *d, struct str bytes, struct value *ret)
{
        struct value text = value_empty_string;
        struct proto_raw_field f;
        int64_t numbers[2] = { 0 };
        int r;

        while ((r = next(d, &bytes, &f)) > 0) {
                r = f.number == 3 ? need_bytes(d, &f) : f.number < 3 ? need_varint(d, &f) : 0;
                if (r == 0 && f.number == 3)
                        r = decode_text(d, f.bytes, &text);
                else if (r == 0 && f.number < 3)
                        numbers[f.number - 1] = (int64_t)f.scalar;
                if (r < 0)
                        return r;
        }
        *ret = numbers[0] == 1 ? text : value_of_int((int32_t)numbers[1]);
        return r;
}

static int decode_json(struct decoder *d, struct str bytes, struct value *ret)
{
        const struct value *v = &value_null;
        struct str text;
        int r = decode_inner_bytes(d, bytes, &text);

        if (r == 0 && text.n)
                r = json_parse(d->arena, text, NULL, &v, d->err);
        *ret = *v;
        return r;
}

/* Strings of field `number`. */
static int decode_strings(struct decoder *d, struct str bytes, uint32_t number, struct value *ret)
{
        struct array_builder b;
        struct proto_raw_field f;
        int r;

        array_builder_init(&b, d->arena, 4);
        while ((r = next(d, &bytes, &f)) > 0) {
                struct value v;

                if (f.number != number)
                        continue;
                r = need_bytes(d, &f);
                if (r == 0)
                        r = decode_text(d, f.bytes, &v);
                if (r < 0)
                        return r;
                array_builder_add(&b, v);
        }
        *ret = array_builder_finish(&b);
        return r;
}

/* The unions of JSON schemas. The schema is field 1, and field 2 of the one with a boolean. */
static int decode_schema_or(struct decoder *d, enum builtin_base base, struct str bytes, struct value *ret)
{
        const struct builtin_type *schema = builtin_type_named(STR("apiextensions/v1.JSONSchemaProps"));
        uint32_t at = base == BASE_SCHEMA_OR_BOOL ? 2 : 1;
        struct str rest = bytes;
        struct proto_raw_field f;
        struct array_builder list;
        bool allows = false;
        int r;

        array_builder_init(&list, d->arena, 1);
        while ((r = next(d, &rest, &f)) > 0) {
                struct value v;

                if (f.number != 1 && f.number != 2)
                        continue;
                if (base == BASE_SCHEMA_OR_BOOL && f.number == 1) {
                        r = need_varint(d, &f);
                        if (r < 0)
                                return r;
                        allows = f.scalar != 0;
                        continue;
                }
                if (base == BASE_SCHEMA_OR_STRINGS && f.number == 2)
                        continue;
                r = need_bytes(d, &f);
                if (r == 0)
                        r = decode_struct(d, schema, f.bytes, &v);
                if (r < 0)
                        return r;
                if (f.number == at) {
                        *ret = v;
                        return 0;
                }
                array_builder_add(&list, v);
        }
        if (r < 0)
                return r;
        if (base == BASE_SCHEMA_OR_STRINGS)
                return decode_strings(d, bytes, 2, ret);
        *ret = base == BASE_SCHEMA_OR_BOOL ? value_of_bool(allows) : array_builder_finish(&list);
        return 0;
}

/* --- One value --- */

static int decode_bytes(struct decoder *d, struct str bytes, struct value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, bytes, BASE64_STD);
        *ret = value_of_str(buf_to_arena(&b, d->arena));
        return 0;
}

static int decode_double(struct decoder *d, const struct proto_raw_field *f, struct value *ret)
{
        double number;

        if (f->wire != PROTO_WIRE_FIXED64)
                return refuse(d, "a field has another wire type than its type");
        memcpy(&number, &f->scalar, sizeof(number));
        if (number != number || number - number != 0)
                return refuse(d, "a number is infinite or not a number");
        *ret = value_of_double(number);
        if (number > -MAX_WHOLE && number < MAX_WHOLE && number == (double)(int64_t)number)
                *ret = value_of_int((int64_t)number); /* as JSON has it */
        return 0;
}

static int decode_varint(struct decoder *d, const struct builtin_field *f, const struct proto_raw_field *raw,
                         struct value *ret)
{
        int r = need_varint(d, raw);

        if (r < 0)
                return r;
        *ret = f->base == BASE_BOOL    ? value_of_bool(raw->scalar != 0)
               : f->base == BASE_INT32 ? value_of_int((int32_t)raw->scalar)
                                       : value_of_int((int64_t)raw->scalar);
        return 0;
}

static int decode_base(struct decoder *d, const struct builtin_field *f, const struct proto_raw_field *raw,
                       struct value *ret)
{
        enum builtin_base base = (enum builtin_base)f->base;
        int r;

        if (base == BASE_BOOL || base == BASE_INT32 || base == BASE_INT64)
                return decode_varint(d, f, raw, ret);
        if (base == BASE_DOUBLE)
                return decode_double(d, raw, ret);
        r = need_bytes(d, raw);
        if (r < 0)
                return r;
        switch (base) {
        case BASE_STRING:
                return decode_text(d, raw->bytes, ret);
        case BASE_BYTES:
                return decode_bytes(d, raw->bytes, ret);
        case BASE_TIME:
        case BASE_MICROTIME:
                return decode_time(d, raw->bytes, base == BASE_MICROTIME, ret);
        case BASE_DURATION:
                return decode_duration(d, raw->bytes, ret);
        case BASE_QUANTITY:
                return decode_quantity(d, raw->bytes, ret);
        case BASE_INT_OR_STRING:
                return decode_int_or_string(d, raw->bytes, ret);
        case BASE_RAW:
        case BASE_FIELDS:
        case BASE_JSON:
                return decode_json(d, raw->bytes, ret);
        case BASE_EXTRA:
                return decode_strings(d, raw->bytes, 1, ret);
        case BASE_SCHEMA_OR_ARRAY:
        case BASE_SCHEMA_OR_BOOL:
        case BASE_SCHEMA_OR_STRINGS:
                return decode_schema_or(d, base, raw->bytes, ret);
        case BASE_STRUCT:
                return decode_struct(d, f->type, raw->bytes, ret);
        case BASE_BOOL:
        case BASE_INT32:
        case BASE_INT64:
        case BASE_DOUBLE:
                break;
        }
        return 0;
}

/* --- Lists and maps --- */

/* Numbers may come packed: several varints in one field. */
static int decode_packed(struct decoder *d, const struct builtin_field *f, struct str bytes, struct array_builder *b)
{
        while (bytes.n) {
                uint64_t number = 0;
                unsigned shift = 0;
                bool has_more = true;

                for (; has_more && bytes.n && shift < 64; shift += 7) {
                        number |= (uint64_t)(bytes.p[0] & 0x7f) << shift;
                        has_more = bytes.p[0] & 0x80;
                        bytes = str_skip(bytes, 1);
                }
                if (has_more)
                        return refuse(d, "a packed number is cut off");
                array_builder_add(b, value_of_int(f->base == BASE_INT32 ? (int32_t)number : (int64_t)number));
        }
        return 0;
}

/* `rest` begins with the first item. */
static int decode_list(struct decoder *d, const struct builtin_field *f, struct str rest, struct value *ret)
{
        struct array_builder b;
        struct proto_raw_field raw;
        int r;

        array_builder_init(&b, d->arena, 2);
        while ((r = next(d, &rest, &raw)) > 0) {
                struct value v;

                if (raw.number != f->number)
                        continue;
                if (raw.wire == PROTO_WIRE_BYTES && (f->base == BASE_INT32 || f->base == BASE_INT64)) {
                        r = decode_packed(d, f, raw.bytes, &b);
                } else {
                        r = decode_base(d, f, &raw, &v);
                        if (r == 0)
                                array_builder_add(&b, v);
                }
                if (r < 0)
                        return r;
        }
        *ret = array_builder_finish(&b);
        return r;
}

static int decode_entry(struct decoder *d, const struct builtin_field *f, struct str bytes, struct object_builder *b)
{
        static const struct proto_raw_field empty = { .wire = PROTO_WIRE_BYTES, .bytes = STR_INIT("") };
        struct value key = value_empty_string, v;
        struct proto_raw_field raw, content = empty;
        int r;

        while ((r = next(d, &bytes, &raw)) > 0) {
                if (raw.number == 1) {
                        r = need_bytes(d, &raw);
                        if (r == 0)
                                r = decode_text(d, raw.bytes, &key);
                        if (r < 0)
                                return r;
                }
                if (raw.number == 2)
                        content = raw;
        }
        if (r == 0)
                r = decode_base(d, f, &content, &v);
        if (r == 0)
                object_builder_set(b, value_str(&key), v);
        return r;
}

static int decode_map(struct decoder *d, const struct builtin_field *f, struct str rest, struct value *ret)
{
        struct object_builder b;
        struct proto_raw_field raw;
        int r;

        object_builder_init(&b, d->arena, 2);
        while ((r = next(d, &rest, &raw)) > 0) {
                if (raw.number != f->number)
                        continue;
                r = need_bytes(d, &raw);
                if (r == 0)
                        r = decode_entry(d, f, raw.bytes, &b);
                if (r < 0)
                        return r;
        }
        *ret = object_builder_finish(&b);
        return r;
}

/* --- Structs --- */

static const struct builtin_field *find_number(const struct builtin_type *t, uint32_t number, size_t *ret_flat)
{
        *ret_flat = 0;
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct builtin_field *f = &t->fields[i];

                if (f->number == number)
                        return f;
                *ret_flat += f->name.n ? 1 : f->type->n_flat;
        }
        return NULL;
}

/* The members of a message. `seen` has a bit for each field of the JSON object, `first` is the bit of this message's first field. */
static int decode_members(struct decoder *d, const struct builtin_type *t, struct str bytes, struct object_builder *b,
                          uint64_t *seen, size_t first)
{
        struct str rest = bytes;
        struct proto_raw_field raw;
        int r;

        while ((r = next(d, &rest, &raw)) > 0) {
                struct str whole = { raw.whole.p, raw.whole.n + rest.n };
                size_t flat;
                const struct builtin_field *f = find_number(t, raw.number, &flat);
                struct value v;

                if (!f)
                        continue;
                if (f->name.n == 0) {
                        r = need_bytes(d, &raw);
                        if (r == 0)
                                r = decode_members(d, f->type, raw.bytes, b, seen, first + flat);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (*seen & 1ull << (first + flat) && (f->shape == SHAPE_LIST || f->shape == SHAPE_MAP))
                        continue;
                *seen |= 1ull << (first + flat);
                r = f->shape == SHAPE_LIST  ? decode_list(d, f, whole, &v)
                    : f->shape == SHAPE_MAP ? decode_map(d, f, whole, &v)
                                            : decode_base(d, f, &raw, &v);
                if (r < 0)
                        return r;
                object_builder_set(b, f->name, v);
        }
        return r;
}

/* Leaves out what Go's JSON does not have, and adds the zero values that it has. */
static struct value as_written(struct decoder *d, const struct builtin_type *t, const struct value *v)
{
        struct object_builder b;

        object_builder_init(&b, d->arena, value_count(v));
        for (size_t i = 0; i < t->n_flat; i++) {
                const struct value *m = value_get(v, t->flat[i]->name);
                struct value zero;

                if (m && !builtin_is_omitted(t->flat[i], m))
                        object_builder_add(&b, t->flat[i]->name, *m);
                else if (!m && builtin_field_zero(d->arena, t->flat[i], &zero))
                        object_builder_add(&b, t->flat[i]->name, zero);
        }
        return object_builder_finish(&b);
}

static int decode_struct(struct decoder *d, const struct builtin_type *t, struct str bytes, struct value *ret)
{
        struct object_builder b;
        struct value v;
        uint64_t seen = 0;
        int r = arena_check(d->arena, d->err);

        if (r < 0)
                return r;
        if (d->depth >= LIMIT_BUILTIN_DEPTH)
                return err_set(d->err, ERR_LIMIT, "the protobuf body is nested more than %d levels deep",
                               LIMIT_BUILTIN_DEPTH);
        d->depth++;
        object_builder_init(&b, d->arena, 4);
        r = decode_members(d, t, bytes, &b, &seen, 0);
        d->depth--;
        if (r < 0)
                return r;
        v = object_builder_finish(&b);
        *ret = as_written(d, t, &v);
        return 0;
}

/* --- The envelope --- */

struct envelope {
        struct gvk gvk;
        struct str api_version;
        struct str object;
};

static int decode_type(struct decoder *d, struct str bytes, struct envelope *e)
{
        struct proto_raw_field f;
        struct value v;
        int r;

        while ((r = next(d, &bytes, &f)) > 0) {
                if (f.number != 1 && f.number != 2)
                        continue;
                r = need_bytes(d, &f);
                if (r == 0)
                        r = decode_text(d, f.bytes, &v);
                if (r < 0)
                        return r;
                if (f.number == 1)
                        e->api_version = value_str(&v);
                else
                        e->gvk.kind = value_str(&v);
        }
        return r;
}

static int decode_envelope(struct decoder *d, struct str bytes, struct envelope *e)
{
        struct proto_raw_field f;
        int r;

        while ((r = next(d, &bytes, &f)) > 0) {
                if (f.number < 1 || f.number > 4)
                        continue;
                r = need_bytes(d, &f);
                if (r == 0 && f.number == 1)
                        r = decode_type(d, f.bytes, e);
                if (r == 0 && f.number == 3 && f.bytes.n)
                        r = refuse(d, "its object is compressed");
                if (r < 0)
                        return r;
                if (f.number == 2)
                        e->object = f.bytes;
        }
        return r < 0 ? r : gvk_split_api_version(e->api_version, &e->gvk.group, &e->gvk.version, d->err);
}

/* Every group version has DeleteOptions, and they are all the same. */
static const struct builtin_kind *kind_of(struct gvk gvk)
{
        if (str_equal(gvk.kind, STR("DeleteOptions")))
                gvk = (struct gvk) { STR(""), STR("v1"), STR("DeleteOptions") };
        return builtin_kind_of(gvk);
}

int builtin_decode(struct arena *a, struct str bytes, const struct value **ret, struct err *err)
{
        struct decoder d = { .arena = a, .err = err };
        struct envelope e = { .object = STR("") };
        const struct builtin_kind *kind;
        struct value v;
        int r;

        if (!str_cut_prefix(&bytes, MAGIC))
                return refuse(&d, "it does not begin with the four bytes of Kubernetes");
        r = decode_envelope(&d, bytes, &e);
        if (r < 0)
                return r;
        kind = kind_of(e.gvk);
        if (!kind)
                return err_set(err, ERR_NOT_FOUND, "%.*s", STR_ARG(gvk_unknown_text(a, e.gvk.kind, e.api_version)));
        r = decode_struct(&d, kind->type, e.object, &v);
        if (r < 0)
                return r;
        *ret = value_put(a, v);
        v = value_of_str(e.api_version);
        *ret = value_with(a, *ret, STR("apiVersion"), &v);
        v = value_of_str(e.gvk.kind);
        *ret = value_with(a, *ret, STR("kind"), &v);
        return 0;
}
