/* Wire bytes to values.
 *
 * A message is walked once. Struct, Value and ListValue, which make up nearly all messages, have their own code; every other
 * message collects its fields in slots, one per field of its table, and turns them into members at the end. The same field may
 * come several times: the last scalar counts, repeated fields and maps grow, and the pieces of a singular sub-message are merged
 * by reading them one after the other as one message. */
#include "proto-decoder.h"

#include "budget.h"

#include "limits.h"
#include "proto-tables.h"
#include "proto-time.h"

static int decode_message(struct proto_decoder *d, const struct proto_message *m, struct proto_cursor c, uint32_t depth,
                          struct value *ret);

/* Errors */

_noinline_ int proto_decode_fail(struct proto_decoder *d, const char *problem)
{
        return err_set(d->err, ERR_INVALID, "%s", problem);
}

static _noinline_ int at_place(struct proto_decoder *d, int r, const char *before, struct str name, const char *after)
{
        proto_path_prepend(&d->path, before, name, after);
        return r;
}

static int at_field(struct proto_decoder *d, int r, const struct proto_field *f)
{
        return at_place(d, r, ".", f->json_name, "");
}

int proto_decode_at_key(struct proto_decoder *d, int r, struct str key)
{
        return at_place(d, r, "[", key, "]");
}

int proto_decode_at_index(struct proto_decoder *d, int r, size_t i)
{
        return proto_decode_at_key(d, r, arena_printf(d->arena, "%zu", i));
}

/* Duration and Timestamp */

static int decode_time(struct proto_decoder *d, const struct proto_message *m, struct proto_cursor c, struct value *ret)
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
                return proto_decode_fail(d, problem);
        proto_time_append(&d->text, m->kind, t);
        *ret = value_of_str(buf_to_arena(&d->text, d->arena));
        return 0;
}

static int check_text(struct proto_decoder *d, const struct proto_field *f, struct str bytes)
{
        if (f->type == PROTO_STRING && !proto_text_is_valid(bytes.p, bytes.n))
                return proto_decode_fail(d, "a string is not valid UTF-8");
        return 0;
}

/* Maps */

static bool is_map(const struct proto_field *f)
{
        return f->message && f->message->kind == PROTO_KIND_MAP_ENTRY;
}

static struct str key_text(struct proto_decoder *d, const struct proto_field *f, uint64_t scalar, struct str bytes)
{
        struct value v = proto_value_of_scalar(d, f, scalar, bytes);

        if (value_is_string(&v))
                return value_str(&v);
        if (value_is_bool(&v))
                return v.boolean ? STR("true") : STR("false");
        buf_append_int(&d->text, v.integer);
        return buf_to_arena(&d->text, d->arena);
}

/* Values of a map of messages are collected as pieces from the base on; others come out in *ret_value. */
static int read_map_entry(struct proto_decoder *d, const struct proto_field *key, const struct proto_field *value,
                          struct str entry, struct proto_raw_field *ret_key, struct proto_raw_field *ret_value)
{
        struct proto_cursor c = cursor_over(entry);
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

static int decode_map_entry(struct proto_decoder *d, const struct proto_field *f, struct str entry, uint32_t depth,
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
                return r < 0 ? proto_decode_at_key(d, r, ret->key) : 0;
        }
        ret->value = proto_value_of_scalar(d, value, raw_value.scalar, raw_value.bytes);
        return 0;
}

static struct value finish_map(struct proto_decoder *d, struct object_builder *b)
{
        b->n = (uint32_t)proto_sort_members(d, b->members, b->n);
        return object_builder_finish(b);
}

/* Plain messages. In all of these the message's slots begin at `base` of the stack. */

static bool accepts(const struct proto_field *f, enum proto_wire wire)
{
        enum proto_wire own = proto_wire_of((enum proto_type)f->type);

        return wire == own || (f->is_repeated && wire == PROTO_WIRE_BYTES);
}

static void add_item(struct proto_decoder *d, size_t slot, struct value item)
{
        struct proto_slot *s = &d->slots.p[slot];

        if (s->n++ == 0)
                array_builder_init(&s->array, d->arena, 0);
        array_builder_add(&s->array, item);
}

static int take_packed(struct proto_decoder *d, const struct proto_field *f, size_t slot, struct str bytes)
{
        const char *p = bytes.p, *end = p + bytes.n;
        enum proto_wire wire = proto_wire_of((enum proto_type)f->type);
        size_t fixed = wire == PROTO_WIRE_FIXED64 ? 8 : 4;

        while (p < end) {
                uint64_t scalar = 0;

                if (wire == PROTO_WIRE_VARINT) {
                        p = proto_read_varint(p, end, &scalar);
                        if (!p)
                                return proto_decode_fail(d, "a varint is malformed");
                } else {
                        if ((size_t)(end - p) < fixed)
                                return proto_decode_fail(d, "the message is truncated");
                        memcpy(&scalar, p, fixed);
                        p += fixed;
                }
                add_item(d, slot, proto_value_of_scalar(d, f, scalar, STR_NONE));
        }
        return 0;
}

static int take_repeated(struct proto_decoder *d, const struct proto_field *f, size_t slot,
                         const struct proto_raw_field *raw, uint32_t depth)
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
                        return proto_decode_at_index(d, r, d->slots.p[slot].n);
        } else {
                r = check_text(d, f, raw->bytes);
                if (r < 0)
                        return r;
                item = proto_value_of_scalar(d, f, raw->scalar, raw->bytes);
        }
        add_item(d, slot, item);
        return 0;
}

static int take_map_entry(struct proto_decoder *d, const struct proto_field *f, size_t slot,
                          const struct proto_raw_field *raw, uint32_t depth)
{
        struct member m;
        struct proto_slot *s;
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

/* Decodes the pieces of a singular message; finds them by reading again from the first piece on. */
static int decode_slot(struct proto_decoder *d, const struct proto_field *f, size_t slot, uint32_t depth,
                       struct value *ret)
{
        struct proto_cursor c = d->slots.p[slot].at;
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

/* Setting a field of a oneof clears the others. A message that is cleared is still read, so that malformed bytes are always an
 * error. */
static int clear_oneof(struct proto_decoder *d, const struct proto_message *m, size_t base, const struct proto_field *f,
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

static int take_field(struct proto_decoder *d, const struct proto_message *m, size_t base, const struct proto_field *f,
                      const struct proto_raw_field *raw, struct proto_cursor at, uint32_t depth)
{
        size_t slot = base + (size_t)(f - m->fields);
        struct proto_slot *s;
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
static struct value default_value(struct proto_decoder *d, const struct proto_field *f)
{
        if (is_map(f))
                return value_empty_object;
        if (f->is_repeated)
                return value_empty_array;
        return proto_value_of_scalar(d, f, 0, STR(""));
}

/* Returns 1 with the member's value in *ret, or 0 if the field has no member. */
static int finish_field(struct proto_decoder *d, const struct proto_field *f, size_t slot, uint32_t depth,
                        struct value *ret)
{
        struct proto_slot *s = &d->slots.p[slot];

        if (s->n == 0 || (!f->has_presence && !f->is_repeated && proto_is_default(f, s->scalar, s->bytes))) {
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
                *ret = proto_value_of_scalar(d, f, s->scalar, s->bytes);
        }
        return 1;
}

/* Unknown fields in their order, as base64. */
static struct value collect_unknown(struct proto_decoder *d, const struct proto_message *m, struct proto_cursor c)
{
        _cleanup_buf_ struct buf unknown = BUF_INIT(0);
        struct proto_raw_field raw;

        while (has_more(d, &c) && !proto_read_field(&c.p, c.end, &raw)) {
                const struct proto_field *f = proto_field_by_number(m, raw.number);

                if (!f || !accepts(f, raw.wire))
                        buf_append_str(&unknown, raw.whole);
        }
        return proto_value_of_bytes(d, buf_str(&unknown));
}

static int finish_plain(struct proto_decoder *d, const struct proto_message *m, size_t slots, uint32_t depth,
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

static int decode_plain(struct proto_decoder *d, const struct proto_message *m, struct proto_cursor c, uint32_t depth,
                        struct value *ret)
{
        struct proto_cursor start = c;
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
                struct proto_cursor at = c;
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

static int decode_message(struct proto_decoder *d, const struct proto_message *m, struct proto_cursor c, uint32_t depth,
                          struct value *ret)
{
        switch (m->kind) {
        case PROTO_KIND_STRUCT:
        case PROTO_KIND_VALUE:
        case PROTO_KIND_LIST_VALUE:
                return proto_decode_dynamic(d, m->kind, c, depth, ret);
        case PROTO_KIND_DURATION:
        case PROTO_KIND_TIMESTAMP:
                return decode_time(d, m, c, ret);
        case PROTO_KIND_PLAIN:
        case PROTO_KIND_MAP_ENTRY:
                break;
        }
        return decode_plain(d, m, c, depth, ret);
}

int proto_decode_grow(struct proto_decoder *d, size_t n, size_t size_bytes)
{
        struct budget_account *account = d->arena->account;
        size_t more = MAX(n / 2, (size_t)8) * size_bytes;

        if (!account)
                return arena_check(d->arena, d->err);
        if (!budget_take(account, more)) {
                d->arena->is_over_budget = true;
                return arena_check(d->arena, d->err);
        }
        d->stack_bytes += more;
        return 0;
}

/* The way in */

/* Initial room for members: little memory, and enough for most messages. */
#define USUAL_MEMBERS 32

static void decoder_done(struct proto_decoder *d)
{
        vec_done(&d->members);
        vec_done(&d->items);
        vec_done(&d->slots);
        vec_done(&d->pieces);
        vec_done(&d->order);
        buf_done(&d->text);
        buf_done(&d->path);
        if (d->arena->account)
                budget_credit(d->arena->account, d->stack_bytes);
}

static int run_decoder(struct proto_decoder *d, const struct proto_message *m, struct str bytes, size_t max_bytes,
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
        struct proto_decoder d = { .arena = a, .err = err ? err : &problem };
        size_t max_bytes;
        int r;

        if (!options)
                options = &defaults;
        d.flags = options->flags;
        d.max_depth = options->max_depth ? options->max_depth : LIMIT_DEPTH;
        max_bytes = options->max_bytes ? MIN(options->max_bytes, LIMIT_STRING_BYTES) : LIMIT_MESSAGE_BYTES;
        vec_reserve(&d.members, USUAL_MEMBERS);
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
