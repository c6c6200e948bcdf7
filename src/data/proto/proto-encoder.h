/* Internals of the encoder, shared by proto-encode.c (messages by their tables), proto-encode-struct.c (Struct, Value,
 * ListValue) and proto-encode-scalar.c (conversion of values to scalars).
 *
 * On the wire a length comes before its contents. The encoder therefore writes the message backwards, from its last byte to its
 * first: when it writes a length, the contents are already written and their size is known. The message grows down from the end
 * of the buffer's free space and is moved to its final place once, at the end. */
#pragma once

#include "proto-wire.h"

#include "buf.h"
#include "vec.h"

/* A member of a map with its sort key: a number, or the first eight bytes of its key and then the key. */
struct proto_key {
        uint64_t order;
        const struct member *member;
};

struct encoder {
        struct buf *b;
        char *p;    /* first byte of the written part */
        char *low;  /* lower end of the free space */
        char *high; /* end of the written part */
        size_t max_bytes;
        unsigned flags;
        uint32_t max_depth;
        struct err *err;
        VEC(struct proto_key) keys; /* keys of the maps that are being written */
        struct buf scratch;
        struct buf path; /* of the error */
};

/* proto-encode.c */

int proto_encode_fail(struct encoder *e, const char *problem);
int proto_encode_fail_type(struct encoder *e, const char *wanted, const struct value *v);

/* These prepend a place to the path of the error while it is passed up; they return r. */
int proto_encode_at_place(struct encoder *e, int r, const char *before, struct str name, const char *after);
int proto_encode_at_index(struct encoder *e, int r, size_t i);

/* Slow path of make_room. */
int proto_encode_grow(struct encoder *e, size_t n);

/* proto-encode-struct.c */

/* The contents of a Struct, Value or ListValue, as the kind says. */
int proto_encode_dynamic(struct encoder *e, enum proto_kind kind, const struct value *v, uint32_t depth);

/* Puts the object's members on the stack of keys, in order; returns where they begin. */
size_t proto_push_keys(struct encoder *e, const struct value *object);

/* proto-encode-scalar.c */

/* The scalar in its wire form: in *ret_bytes for strings and bytes (valid until the next call), else in *ret_scalar. */
int proto_scalar_of(struct encoder *e, const struct proto_field *f, const struct value *v, uint64_t *ret_scalar,
                    struct str *ret_bytes);

/* The decoded base64 text; valid until the next call. */
int proto_bytes_of(struct encoder *e, const struct value *v, struct str *ret);

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

/* Makes room for n bytes before e->p. */
static inline int make_room(struct encoder *e, size_t n)
{
        if (LIKELY((size_t)(e->p - e->low) >= n))
                return 0;
        return proto_encode_grow(e, n);
}

/* These write before p, where room has been made, and return the new first byte. They take p by value because the compiler must
 * assume that a store through a char pointer may change e->p. */
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

/* Puts tag and length before the contents that were written after the first `before` bytes. */
static inline int put_head(struct encoder *e, uint32_t number, size_t before)
{
        size_t n = written(e) - before;

        if (UNLIKELY(make_room(e, 2 * PROTO_VARINT_BYTES) < 0))
                return ERR_LIMIT;
        e->p = put_varint(put_varint(e->p, n), number << 3 | PROTO_WIRE_BYTES);
        return 0;
}
