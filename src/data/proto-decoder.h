/* The insides of the decoder, shared by proto-decode.c (messages by their tables), proto-decode-struct.c (Struct, Value,
 * ListValue) and proto-decode-scalar.c (what a scalar is as a value).
 *
 * Members, items, slots and pieces that are being collected stand on stacks in the decoder, addressed by index because
 * the stacks move when they grow; finished containers go to the arena. */
#pragma once

#include "proto-wire.h"

#include "buf.h"
#include "vec.h"

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

/* proto-decode.c */

int proto_decode_fail(struct decoder *d, const char *problem);

/* These put a place before the path of the error on its way up; they return r. */
int proto_decode_at_key(struct decoder *d, int r, struct str key);
int proto_decode_at_index(struct decoder *d, int r, size_t i);

/* proto-decode-struct.c */

/* A Struct, Value or ListValue, as the kind says. */
int proto_decode_dynamic(struct decoder *d, enum proto_kind kind, struct cursor c, uint32_t depth, struct value *ret);

/* Sorts by key, keeps the last of those with the same key and returns how many are left. */
size_t proto_sort_members(struct decoder *d, struct member *members, size_t n);

/* proto-decode-scalar.c */

/* What travelled as `bytes` for strings and bytes, else as the bits of `scalar`. */
struct value proto_value_of_scalar(struct decoder *d, const struct proto_field *f, uint64_t scalar, struct str bytes);
struct value proto_value_of_bytes(struct decoder *d, struct str bytes);

/* Whether the bits are the type's default. Of 32-bit types only the low half counts. */
bool proto_is_default(const struct proto_field *f, uint64_t scalar, struct str bytes);

static inline int enter_container(struct decoder *d, uint32_t depth)
{
        if (UNLIKELY(depth > d->max_depth))
                return err_set(d->err, ERR_LIMIT, "nested deeper than the limit of %u levels", d->max_depth);
        if (UNLIKELY(d->arena->is_over_budget))
                return arena_check(d->arena, d->err);
        return 0;
}

/* Cursors */

static inline struct cursor cursor_over(struct str bytes)
{
        return (struct cursor) { .p = bytes.p, .end = bytes.p + bytes.n };
}

/* Over all pieces from the base on. */
static inline struct cursor cursor_over_pieces(struct decoder *d, size_t base)
{
        return (struct cursor) { .p = "", .end = "", .next = (uint32_t)base, .last = (uint32_t)d->pieces.n };
}

static inline bool has_more(const struct decoder *d, struct cursor *c)
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

static inline int read_field(struct decoder *d, struct cursor *c, struct proto_raw_field *ret)
{
        const char *problem = proto_read_field(&c->p, c->end, ret);

        return problem ? proto_decode_fail(d, problem) : 0;
}

static inline int push_piece(struct decoder *d, struct str piece)
{
        if (d->pieces.n == UINT32_MAX)
                return proto_decode_fail(d, "a message comes in too many pieces");
        vec_push(&d->pieces, piece);
        return 0;
}
