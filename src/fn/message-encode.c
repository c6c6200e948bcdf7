/* Encodes messages in Go's deterministic order: fields outside of oneofs by number, then fields inside oneofs; maps sorted by
 * key. */
#include "message.h"

#include "buf.h"
#include "bytes.h"
#include "fn-parts.h"
#include "object.h"
#include "proto-wire.h"

/* Starts a field whose contents are appended between begin and end; end inserts the length in front of the contents. */
static size_t begin(struct buf *b, uint32_t number)
{
        char tag[PROTO_VARINT_BYTES];

        buf_append(b, tag, (size_t)(proto_write_varint(tag, (uint64_t)number << 3 | PROTO_WIRE_BYTES) - tag));
        return b->n;
}

static void end(struct buf *b, size_t start)
{
        size_t n = b->n - start, size_bytes = proto_varint_size(n);

        if (!buf_reserve(b, size_bytes))
                return;
        memmove(b->p + start + size_bytes, b->p + start, n);
        proto_write_varint(b->p + start, n);
        b->n += size_bytes;
}

static void append_text(struct buf *b, uint32_t number, struct str s)
{
        if (s.n)
                proto_append_bytes_field(b, number, s);
}

/* A field with presence: an empty one is encoded too. */
static void append_optional(struct buf *b, uint32_t number, struct str s)
{
        if (s.p)
                proto_append_bytes_field(b, number, s);
}

static void append_number(struct buf *b, uint32_t number, int64_t v)
{
        if (v)
                proto_append_varint_field(b, number, (uint64_t)v);
}

static int append_struct(struct buf *b, uint32_t number, const struct fn_struct *s, struct err *err)
{
        size_t start;
        int r;

        if (s->encoded.p) {
                proto_append_bytes_field(b, number, s->encoded);
                return 0;
        }
        if (s->object) {
                _cleanup_bytes_ struct bytes *encoded = object_struct(s->object);

                proto_append_bytes_field(b, number, encoded->str);
                return 0;
        }
        if (!s->value)
                return 0;
        start = begin(b, number);
        r = proto_encode_struct(b, s->value, err);
        end(b, start);
        return r;
}

static void append_bytes_map(struct buf *b, uint32_t number, const struct fn_bytes_map *map)
{
        for (size_t i = 0; i < map->n; i++) {
                size_t entry = begin(b, number);

                proto_append_bytes_field(b, 1, map->p[i].key);
                proto_append_bytes_field(b, 2, map->p[i].bytes);
                end(b, entry);
        }
}

static int append_resource(struct buf *b, uint32_t number, const struct fn_resource *resource, struct err *err)
{
        size_t start = begin(b, number);
        int r = append_struct(b, 1, &resource->object, err);

        append_bytes_map(b, 2, &resource->connection);
        append_number(b, 3, resource->ready);
        end(b, start);
        return r;
}

static int append_state_contents(struct buf *b, const struct fn_state *s, struct err *err)
{
        int r = 0;

        if (s->has_composite)
                r = append_resource(b, 1, &s->composite, err);
        for (size_t i = 0; i < s->n_resources && r >= 0; i++) {
                size_t entry = begin(b, 2);

                proto_append_bytes_field(b, 1, s->resources[i].name);
                r = append_resource(b, 2, &s->resources[i], err);
                end(b, entry);
        }
        return r;
}

static int append_state(struct buf *b, uint32_t number, const struct fn_state *s, struct err *err)
{
        size_t start;
        int r;

        if (!s->is_present)
                return 0;
        if (s->encoded.p) {
                proto_append_bytes_field(b, number, s->encoded);
                return 0;
        }
        start = begin(b, number);
        r = append_state_contents(b, s, err);
        end(b, start);
        return r;
}

static int append_resources_map(struct buf *b, uint32_t number, const struct fn_resources_map *map, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < map->n && r >= 0; i++) {
                size_t entry = begin(b, number), resources;

                proto_append_bytes_field(b, 1, map->p[i].name);
                resources = begin(b, 2);
                for (size_t j = 0; j < map->p[i].n_items && r >= 0; j++)
                        r = append_resource(b, 1, &map->p[i].items[j], err);
                end(b, resources);
                end(b, entry);
        }
        return r;
}

static void append_request_meta(struct buf *b, const struct fn_request *req)
{
        size_t start, packed;

        if (req->tag.n == 0 && req->capabilities == 0)
                return;
        start = begin(b, FN_REQUEST_META);
        append_text(b, 1, req->tag);
        if (req->capabilities) {
                packed = begin(b, 2);
                for (unsigned i = 0; i < 32; i++)
                        if (req->capabilities & 1u << i)
                                buf_append_char(b, (char)i);
                end(b, packed);
        }
        end(b, start);
}

static void append_credentials(struct buf *b, const struct fn_request *req)
{
        for (size_t i = 0; i < req->n_credentials; i++) {
                size_t entry = begin(b, FN_REQUEST_CREDENTIALS), credentials, data;

                proto_append_bytes_field(b, 1, req->credentials[i].name);
                credentials = begin(b, 2);
                data = begin(b, 1);
                append_bytes_map(b, 1, &req->credentials[i].data);
                end(b, data);
                end(b, credentials);
                end(b, entry);
        }
}

static int append_schemas(struct buf *b, const struct fn_request *req, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < req->n_schemas && r >= 0; i++) {
                size_t entry = begin(b, FN_REQUEST_REQUIRED_SCHEMAS), schema;

                proto_append_bytes_field(b, 1, req->schemas[i].name);
                schema = begin(b, 2);
                r = append_struct(b, 1, &req->schemas[i].openapi, err);
                end(b, schema);
                end(b, entry);
        }
        return r;
}

/* --- Parts that keep their encoding --- */

/* Pins bytes to the arena, without a copy. p is not NULL even if they are empty, so that the part counts as present. */
static struct str pin_bytes(struct arena *a, struct bytes *b)
{
        arena_pin(a, b, bytes_unpin);
        return b->str.p ? b->str : STR("");
}

static struct str keep(struct arena *a, struct buf *b)
{
        return pin_bytes(a, bytes_take(b));
}

static int encode_struct(struct arena *a, struct fn_struct *s, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = 0;

        if (s->encoded.p || !fn_struct_is_present(s))
                return 0;
        if (s->object) {
                s->encoded = pin_bytes(a, object_struct(s->object));
                return 0;
        }
        r = proto_encode_struct(&b, s->value, err);
        if (r >= 0)
                r = buf_check(&b, "Struct", err);
        if (r >= 0)
                s->encoded = keep(a, &b);
        return r;
}

static int encode_state(struct arena *a, struct fn_state *s, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (s->encoded.p || !s->is_present)
                return 0;
        r = append_state_contents(&b, s, err);
        if (r >= 0)
                r = buf_check(&b, "State", err);
        if (r >= 0)
                s->encoded = keep(a, &b);
        return r;
}

static int encode_maps(struct arena *a, const struct fn_request *req, struct fn_parts *parts, struct err *err)
{
        struct buf b[4] = { BUF_INIT(0), BUF_INIT(0), BUF_INIT(0), BUF_INIT(0) };
        static const uint32_t numbers[ARRAY_SIZE(b)] = { FN_REQUEST_EXTRA_RESOURCES, FN_REQUEST_CREDENTIALS,
                                                         FN_REQUEST_REQUIRED_RESOURCES, FN_REQUEST_REQUIRED_SCHEMAS };
        int r = append_resources_map(&b[0], numbers[0], &req->extra_resources, err);

        append_credentials(&b[1], req);
        if (r >= 0)
                r = append_resources_map(&b[2], numbers[2], &req->required_resources, err);
        if (r >= 0)
                r = append_schemas(&b[3], req, err);
        for (size_t i = 0; i < ARRAY_SIZE(b); i++) {
                if (r >= 0)
                        r = buf_check(&b[i], "RunFunctionRequest", err);
                if (r >= 0 && b[i].n)
                        parts->part[numbers[i]] = keep(a, &b[i]);
                buf_done(&b[i]);
        }
        return r;
}

/* The parts of the request without meta. Parts that are values are encoded here and keep their encoded form. */
static int make_parts(struct arena *a, struct fn_request *req, struct fn_parts *ret, struct err *err)
{
        int r;

        *ret = (struct fn_parts) { .message = &proto_fn_v1_RunFunctionRequest };
        if ((r = encode_state(a, &req->observed, err)) < 0 || (r = encode_state(a, &req->desired, err)) < 0 ||
            (r = encode_struct(a, &req->input, err)) < 0 || (r = encode_struct(a, &req->context, err)) < 0 ||
            (r = encode_maps(a, req, ret, err)) < 0)
                return err_wrap(err, "cannot encode RunFunctionRequest");
        if (req->observed.is_present)
                ret->part[FN_REQUEST_OBSERVED] = req->observed.encoded;
        if (req->desired.is_present)
                ret->part[FN_REQUEST_DESIRED] = req->desired.encoded;
        ret->part[FN_REQUEST_INPUT] = req->input.encoded;
        ret->part[FN_REQUEST_CONTEXT] = req->context.encoded;
        return 0;
}

int fn_request_encode(struct arena *a, struct fn_request *req, struct buf *b, struct err *err)
{
        struct fn_parts parts;
        int r = make_parts(a, req, &parts, err);

        if (r < 0)
                return r;
        append_request_meta(b, req);
        fn_parts_append(b, &parts);
        return buf_check(b, "RunFunctionRequest", err);
}

int fn_request_make_tag(struct arena *a, struct fn_request *req, struct str *ret, struct err *err)
{
        struct fn_parts parts;
        int r = make_parts(a, req, &parts, err);

        return r < 0 ? r : fn_request_tag(a, &parts, ret, err);
}

/* --- Responses --- */

static void append_response_meta(struct buf *b, const struct fn_response *rsp)
{
        size_t start, duration;

        if (rsp->tag.n == 0 && rsp->ttl_ns == FN_TTL_ABSENT)
                return;
        start = begin(b, FN_RESPONSE_META);
        append_text(b, 1, rsp->tag);
        if (rsp->ttl_ns != FN_TTL_ABSENT) {
                duration = begin(b, 2);
                append_number(b, 1, rsp->ttl_ns / 1000000000);
                append_number(b, 2, rsp->ttl_ns % 1000000000);
                end(b, duration);
        }
        end(b, start);
}

static void append_target(struct buf *b, uint32_t number, enum fn_target target)
{
        if (target != FN_TARGET_ABSENT)
                proto_append_varint_field(b, number, (uint64_t)target);
}

static void append_results(struct buf *b, const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++) {
                size_t start = begin(b, FN_RESPONSE_RESULTS);

                append_number(b, 1, rsp->results[i].severity);
                append_text(b, 2, rsp->results[i].message);
                append_optional(b, 3, rsp->results[i].reason);
                append_target(b, 4, rsp->results[i].target);
                end(b, start);
        }
}

static void append_conditions(struct buf *b, const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_conditions; i++) {
                size_t start = begin(b, FN_RESPONSE_CONDITIONS);

                append_text(b, 1, rsp->conditions[i].type);
                append_number(b, 2, rsp->conditions[i].status);
                append_text(b, 3, rsp->conditions[i].reason);
                append_optional(b, 4, rsp->conditions[i].message);
                append_target(b, 5, rsp->conditions[i].target);
                end(b, start);
        }
}

static void append_labels(struct buf *b, uint32_t number, const struct fn_selector *s)
{
        size_t start = begin(b, number);

        for (size_t i = 0; i < s->n_labels; i++) {
                size_t entry = begin(b, 1);

                proto_append_bytes_field(b, 1, s->labels[i].key);
                proto_append_bytes_field(b, 2, s->labels[i].value);
                end(b, entry);
        }
        end(b, start);
}

static void append_selectors(struct buf *b, uint32_t number, const struct fn_selector *selectors, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct fn_selector *s = &selectors[i];
                size_t entry = begin(b, number), selector;

                proto_append_bytes_field(b, 1, s->name);
                selector = begin(b, 2);
                append_text(b, 1, s->api_version);
                append_text(b, 2, s->kind);
                append_optional(b, 5, s->ns);
                append_optional(b, 3, s->match_name);
                if (s->has_labels)
                        append_labels(b, 4, s);
                end(b, selector);
                end(b, entry);
        }
}

static void append_watch(struct buf *b, const struct fn_watch *watch)
{
        size_t start = begin(b, 1000);

        append_text(b, 1, watch->api_version);
        append_text(b, 2, watch->kind);
        append_text(b, 3, watch->name);
        append_text(b, 4, watch->ns);
        end(b, start);
}

static void append_requirements(struct buf *b, const struct fn_requirements *r)
{
        size_t start;

        if (!r->is_present)
                return;
        start = begin(b, FN_RESPONSE_REQUIREMENTS);
        append_selectors(b, 1, r->extra_resources, r->n_extra_resources);
        append_selectors(b, 2, r->resources, r->n_resources);
        append_selectors(b, 3, r->schemas, r->n_schemas);
        for (size_t i = 0; i < r->n_watches; i++)
                append_watch(b, &r->watches[i]);
        end(b, start);
}

int fn_response_encode(struct arena *a, const struct fn_response *rsp, struct buf *b, struct err *err)
{
        int r;

        append_response_meta(b, rsp);
        r = append_state(b, FN_RESPONSE_DESIRED, &rsp->desired, err);
        if (r < 0)
                return err_wrap(err, "cannot encode RunFunctionResponse");
        append_results(b, rsp);
        r = append_struct(b, FN_RESPONSE_CONTEXT, &rsp->context, err);
        if (r < 0)
                return err_wrap(err, "cannot encode RunFunctionResponse");
        append_requirements(b, &rsp->requirements);
        append_conditions(b, rsp);
        r = append_struct(b, FN_RESPONSE_OUTPUT, &rsp->output, err);
        return r < 0 ? err_wrap(err, "cannot encode RunFunctionResponse") : buf_check(b, "RunFunctionResponse", err);
}
