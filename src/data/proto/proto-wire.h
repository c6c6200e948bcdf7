/* The protobuf wire format: the functions that the decoder and the encoder share.
 *
 * A message is a run of fields. A field is a tag (varint: number << 3 | wire type) and contents by wire type: 0 varint, 1 eight
 * bytes, 2 a varint length and so many bytes, 5 four bytes, 3 fields up to the tag of wire type 4 with the same number. A varint
 * is little-endian in groups of seven bits; the high bit of a byte says that another byte follows. Fixed numbers are
 * little-endian. */
#pragma once

#include "proto.h"
#include "utf8.h"

#define PROTO_WIRE_END_GROUP 4
#define PROTO_MAX_NUMBER     536870911u /* 2^29 - 1 */
#define PROTO_VARINT_BYTES   10

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "fixed numbers are copied as they are"
#endif

const char *proto_read_varint_slow(const char *p, const char *end, uint64_t *ret);

/* Returns the position after the varint at p, or NULL if it is truncated or does not fit 64 bits. */
static inline const char *proto_read_varint(const char *p, const char *end, uint64_t *ret)
{
        if (LIKELY(p < end && !(*p & 0x80))) {
                *ret = (uint8_t)*p;
                return p + 1;
        }
        return proto_read_varint_slow(p, end, ret);
}

/* Returns the position after the length at p, or NULL if it is malformed or larger than the remaining bytes. */
static inline const char *proto_read_length(const char *p, const char *end, size_t *ret)
{
        uint64_t n;

        p = proto_read_varint(p, end, &n);
        if (UNLIKELY(!p || n > (size_t)(end - p)))
                return NULL;
        *ret = n;
        return p;
}

/* Reads the next field in [*p, end) and moves *p after it. Returns NULL, or the problem as text. *p < end. */
const char *proto_read_field(const char **p, const char *end, struct proto_raw_field *ret);

/* The wire type of one value of the type. */
enum proto_wire proto_wire_of(enum proto_type type);

/* The length of a varint in bytes. */
static inline size_t proto_varint_size(uint64_t v)
{
        return (size_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

static inline char *proto_write_varint(char *p, uint64_t v)
{
        while (v >= 0x80) {
                *p++ = (char)(v | 0x80);
                v >>= 7;
        }
        *p++ = (char)v;
        return p;
}

static inline uint64_t proto_zigzag(int64_t v)
{
        return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t proto_unzigzag(uint64_t v)
{
        return (int64_t)(v >> 1 ^ -(v & 1));
}

/* As utf8_is_valid, but fast for short ASCII strings, which are most strings in messages. */
static inline bool proto_text_is_valid(const char *p, size_t n)
{
        uint64_t word, last, high = 0;
        uint32_t half, last_half;

        if (n >= 8) {
                for (size_t i = 0; i + 8 <= n; i += 8) {
                        memcpy(&word, p + i, 8);
                        high |= word;
                }
                memcpy(&last, p + n - 8, 8);
                high |= last;
        } else if (n >= 4) {
                memcpy(&half, p, 4);
                memcpy(&last_half, p + n - 4, 4);
                high = half | last_half;
        } else {
                for (size_t i = 0; i < n; i++)
                        high |= (uint8_t)p[i];
        }
        return LIKELY(!(high & 0x8080808080808080u)) || utf8_is_valid(str_make(p, n));
}

/* Prepends a place to the path of an error; each level does so while the error is passed up. Very long paths lose their
 * beginning. */
void proto_path_prepend(struct buf *path, const char *before, struct str name, const char *after);

/* Wraps an error as `cannot VERB MESSAGE: field PATH: ...`. */
int proto_report(struct err *err, const char *verb, const struct proto_message *m, struct str path);
