#include "proto-wire.h"

#include "buf.h"
#include "limits.h"

const char *proto_read_varint_slow(const char *p, const char *end, uint64_t *ret)
{
        uint64_t v = 0;

        for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
                uint8_t byte = (uint8_t)*p++;

                if (shift == 63 && byte > 1)
                        return NULL;
                v |= (uint64_t)(byte & 0x7F) << shift;
                if (!(byte & 0x80)) {
                        *ret = v;
                        return p;
                }
        }
        return NULL;
}

/* The reason why proto_read_varint failed. */
static const char *varint_problem(const char *p, const char *end)
{
        for (size_t i = 0; i < PROTO_VARINT_BYTES; i++, p++) {
                if (p == end)
                        return "the message is truncated";
                if (!(*p & 0x80))
                        break;
        }
        return "a varint does not fit 64 bits";
}

static const char *read_tag(const char **p, const char *end, uint32_t *ret_number, unsigned *ret_wire)
{
        uint64_t tag;
        const char *next = proto_read_varint(*p, end, &tag);

        if (!next)
                return varint_problem(*p, end);
        if (tag >> 3 == 0 || tag >> 3 > PROTO_MAX_NUMBER)
                return "a field number is not valid";
        *ret_number = (uint32_t)(tag >> 3);
        *ret_wire = tag & 7;
        *p = next;
        return NULL;
}

static const char *read_fixed(const char **p, const char *end, size_t n, uint64_t *ret)
{
        if ((size_t)(end - *p) < n)
                return "the message is truncated";
        *ret = 0;
        memcpy(ret, *p, n);
        *p += n;
        return NULL;
}

static const char *read_contents(const char **p, const char *end, unsigned wire, struct proto_raw_field *ret)
{
        const char *next;
        size_t n;

        switch (wire) {
        case PROTO_WIRE_VARINT:
                next = proto_read_varint(*p, end, &ret->scalar);
                if (!next)
                        return varint_problem(*p, end);
                *p = next;
                return NULL;
        case PROTO_WIRE_FIXED64:
                return read_fixed(p, end, 8, &ret->scalar);
        case PROTO_WIRE_FIXED32:
                return read_fixed(p, end, 4, &ret->scalar);
        case PROTO_WIRE_BYTES:
                next = proto_read_length(*p, end, &n);
                if (!next)
                        return "a length goes beyond the end of the message";
                ret->bytes = str_make(next, n);
                *p = next + n;
                return NULL;
        case PROTO_WIRE_END_GROUP:
                return "a group ends that did not begin";
        default:
                return "a wire type is not valid";
        }
}

/* Skips the fields of a group up to its end tag. Groups inside it are counted, not recursed into. */
static const char *read_group(const char **p, const char *end, struct proto_raw_field *ret)
{
        uint32_t open[LIMIT_PROTO_GROUPS];
        struct proto_raw_field inner;
        const char *problem, *at;
        size_t depth = 1;
        uint32_t number;
        unsigned wire;

        open[0] = ret->number;
        ret->bytes.p = *p;
        while (depth > 0) {
                if (*p == end)
                        return "a group does not end";
                at = *p;
                problem = read_tag(p, end, &number, &wire);
                if (problem)
                        return problem;
                if (wire == PROTO_WIRE_GROUP) {
                        if (depth == ARRAY_SIZE(open))
                                return "groups are nested too deep";
                        open[depth++] = number;
                } else if (wire == PROTO_WIRE_END_GROUP) {
                        if (number != open[--depth])
                                return "a group ends that did not begin";
                } else {
                        problem = read_contents(p, end, wire, &inner);
                        if (problem)
                                return problem;
                }
        }
        ret->bytes.n = (size_t)(at - ret->bytes.p);
        return NULL;
}

const char *proto_read_field(const char **p, const char *end, struct proto_raw_field *ret)
{
        const char *start = *p, *problem;
        struct proto_raw_field field = { 0 };
        unsigned wire;

        problem = read_tag(p, end, &field.number, &wire);
        if (!problem)
                problem = wire == PROTO_WIRE_GROUP ? read_group(p, end, &field) : read_contents(p, end, wire, &field);
        if (problem)
                return problem;
        field.wire = (enum proto_wire)wire;
        field.whole = str_make(start, (size_t)(*p - start));
        *ret = field;
        return NULL;
}

int proto_next_field(struct str *rest, struct proto_raw_field *ret, struct err *err)
{
        const char *p = rest->p, *problem;

        if (rest->n == 0)
                return 0;
        problem = proto_read_field(&p, rest->p + rest->n, ret);
        if (problem)
                return err_set(err, ERR_INVALID, "malformed protobuf message: %s", problem);
        *rest = str_skip(*rest, (size_t)(p - rest->p));
        return 1;
}

enum proto_wire proto_wire_of(enum proto_type type)
{
        switch (type) {
        case PROTO_DOUBLE:
        case PROTO_FIXED64:
        case PROTO_SFIXED64:
                return PROTO_WIRE_FIXED64;
        case PROTO_FLOAT:
        case PROTO_FIXED32:
        case PROTO_SFIXED32:
                return PROTO_WIRE_FIXED32;
        case PROTO_STRING:
        case PROTO_BYTES:
        case PROTO_MESSAGE:
                return PROTO_WIRE_BYTES;
        case PROTO_INT64:
        case PROTO_UINT64:
        case PROTO_INT32:
        case PROTO_BOOL:
        case PROTO_UINT32:
        case PROTO_ENUM:
        case PROTO_SINT32:
        case PROTO_SINT64:
                break;
        }
        return PROTO_WIRE_VARINT;
}

void proto_append_bytes_field(struct buf *b, uint32_t number, struct str contents)
{
        char head[2 * PROTO_VARINT_BYTES], *p;

        p = proto_write_varint(head, (uint64_t)number << 3 | PROTO_WIRE_BYTES);
        p = proto_write_varint(p, contents.n);
        buf_append(b, head, (size_t)(p - head));
        buf_append_str(b, contents);
}

void proto_append_map_entry(struct buf *b, uint32_t number, struct str key, struct str value)
{
        size_t n = 2 + proto_varint_size(key.n) + key.n + proto_varint_size(value.n) + value.n;
        char head[2 * PROTO_VARINT_BYTES], *p;

        p = proto_write_varint(head, (uint64_t)number << 3 | PROTO_WIRE_BYTES);
        p = proto_write_varint(p, n);
        buf_append(b, head, (size_t)(p - head));
        proto_append_bytes_field(b, 1, key);
        proto_append_bytes_field(b, 2, value);
}

void proto_append_varint_field(struct buf *b, uint32_t number, uint64_t v)
{
        char field[2 * PROTO_VARINT_BYTES], *p;

        p = proto_write_varint(field, (uint64_t)number << 3 | PROTO_WIRE_VARINT);
        p = proto_write_varint(p, v);
        buf_append(b, field, (size_t)(p - field));
}
