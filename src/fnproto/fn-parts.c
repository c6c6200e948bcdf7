#include "fn-parts.h"

#include "buf.h"
#include "digest.h"
#include "fn-gather.h"
#include "proto-sort.h"
#include "proto-wire.h"

static struct fn_gather *gather_of(struct fn_gather *gathers, const struct proto_message *message,
                                   const struct proto_raw_field *f, struct str *ret_piece)
{
        const struct proto_field *known = proto_field_by_number(message, f->number);

        if (!known || f->wire != PROTO_WIRE_BYTES || f->number > FN_MAX_FIELD) {
                *ret_piece = f->whole;
                return &gathers[0];
        }
        *ret_piece = known->is_repeated ? f->whole : f->bytes;
        return &gathers[f->number];
}

static int gather_all(struct fn_gather *gathers, const struct proto_message *message, struct str rest, struct err *err)
{
        struct proto_raw_field f;
        struct str piece;
        int r;

        while ((r = proto_next_field(&rest, &f, err)) > 0) {
                struct fn_gather *g = gather_of(gathers, message, &f, &piece);

                if (piece.p != f.bytes.p)
                        fn_gather_add(g, piece);
                else if ((r = fn_gather_merge(g, piece, err)) < 0)
                        break;
        }
        if (r < 0)
                return err_wrap(err, "cannot decode %.*s", STR_ARG(message->name));
        return 0;
}

int fn_parts_split(struct arena *a, const struct proto_message *message, struct str bytes, struct fn_parts *ret,
                   struct err *err)
{
        struct fn_gather gathers[FN_MAX_FIELD + 1] = { 0 };
        int r = gather_all(gathers, message, bytes, err);

        if (r == 0) {
                *ret = (struct fn_parts) { .message = message, .unknown = fn_gather_finish(&gathers[0], a) };
                for (size_t i = 1; i <= FN_MAX_FIELD; i++)
                        ret->part[i] = fn_gather_finish(&gathers[i], a);
        }
        for (size_t i = 0; i <= FN_MAX_FIELD; i++)
                buf_done(&gathers[i].copy);
        return r;
}

/* The longest head of a field: one byte for a number below 16, and a length of up to 10 bytes. */
#define HEAD_BYTES 11

void fn_parts_append(struct buf *b, const struct fn_parts *parts)
{
        size_t total = parts->unknown.n;

        for (size_t i = 0; i < ARRAY_SIZE(parts->part); i++)
                total += parts->part[i].n + HEAD_BYTES;
        buf_reserve(b, total);
        for (size_t i = 0; i < parts->message->n_fields; i++) {
                const struct proto_field *f = &parts->message->fields[i];
                struct str part = parts->part[f->number];

                if (!part.p)
                        continue;
                if (f->is_repeated)
                        buf_append_str(b, part);
                else
                        proto_append_bytes_field(b, f->number, part);
        }
        buf_append_str(b, parts->unknown);
}

static const struct proto_options keep_unknown = { .flags = PROTO_KEEP_UNKNOWN | PROTO_BORROW_BYTES };

int fn_parts_get(struct arena *a, const struct fn_parts *parts, uint32_t number, const struct value **ret,
                 struct err *err)
{
        const struct proto_field *f = proto_field_by_number(parts->message, number);
        struct str part = parts->part[number];
        const struct value *v;
        int r;

        if (!part.p) {
                *ret = NULL;
                return 0;
        }
        if (!f->is_repeated)
                return proto_decode(a, f->message, part, &keep_unknown, ret, err);
        r = proto_decode(a, parts->message, part, &keep_unknown, &v, err);
        if (r == 0)
                *ret = value_get(v, f->json_name);
        return r;
}

int fn_parts_set(struct arena *a, struct fn_parts *parts, uint32_t number, const struct value *v, struct err *err)
{
        const struct proto_field *f = proto_field_by_number(parts->message, number);
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (!v) {
                parts->part[number] = STR_NONE;
                return 0;
        }
        if (f->is_repeated) {
                const struct value *holder = value_with(a, &value_empty_object, f->json_name, v);

                r = proto_encode(&b, parts->message, holder, &keep_unknown, err);
        } else {
                r = proto_encode(&b, f->message, v, &keep_unknown, err);
        }
        if (r == 0)
                parts->part[number] = buf_to_arena(&b, a);
        return r;
}

static int sort_part(struct arena *a, struct fn_parts *parts, uint32_t number, struct err *err)
{
        if (!parts->part[number].p)
                return 0;
        return proto_sort_maps(a, proto_field_by_number(parts->message, number)->message, parts->part[number],
                               &parts->part[number], err);
}

static void hash_part(struct sha256 *hash, const struct proto_field *f, struct str part)
{
        char head[2 * PROTO_VARINT_BYTES], *end = head;

        if (!f->is_repeated) {
                end = proto_write_varint(end, (uint64_t)f->number << 3 | PROTO_WIRE_BYTES);
                end = proto_write_varint(end, part.n);
                sha256_add(hash, str_make(head, (size_t)(end - head)));
        }
        sha256_add(hash, part);
}

int fn_request_tag(struct arena *a, const struct fn_parts *request, struct str *ret_tag, struct err *err)
{
        _cleanup_buf_ struct buf hex = BUF_INIT(0);
        struct fn_parts parts = *request;
        struct sha256 hash;
        int r;

        parts.part[FN_REQUEST_META] = STR_NONE;
        r = sort_part(a, &parts, FN_REQUEST_DESIRED, err);
        if (r == 0)
                r = sort_part(a, &parts, FN_REQUEST_CONTEXT, err);
        if (r < 0)
                return r;
        sha256_begin(&hash);
        for (size_t i = 0; i < parts.message->n_fields; i++) {
                const struct proto_field *f = &parts.message->fields[i];

                if (parts.part[f->number].p)
                        hash_part(&hash, f, parts.part[f->number]);
        }
        sha256_add(&hash, parts.unknown);
        sha256_end_hex(&hash, &hex);
        *ret_tag = buf_to_arena(&hex, a);
        return 0;
}
