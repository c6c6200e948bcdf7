/* Internals of the decoder, shared by proto-decode.c (messages by their tables), proto-decode-struct.c (Struct, Value,
 * ListValue) and proto-decode-scalar.c (conversion of scalars to values).
 *
 * The decoder collects members, items, slots and pieces on stacks. Code addresses them by index, because the stacks move when
 * they grow. Finished containers go to the arena. */
#pragma once

#include "proto-wire.h"

#include "buf.h"
#include "vec.h"

/* A position in a message. The message is one run of bytes; if it came in pieces, further runs are on the stack of pieces. */
struct proto_cursor {
        const char *p;
        const char *end;
        uint32_t next;
        uint32_t last;
};

/* The data that the decoder has collected for one field of a message. */
struct proto_slot {
        uint32_t n; /* occurrences; for singular fields only those that count */
        union {
                struct {
                        uint64_t scalar;
                        struct str bytes;
                };
                struct proto_cursor at; /* of a singular message: its first occurrence */
                struct array_builder array;
                struct object_builder object;
        };
};

struct proto_decoder {
        struct arena *arena;
        struct err *err;
        unsigned flags;
        uint32_t max_depth;
        VEC(struct member) members;
        VEC(struct value) items;
        VEC(struct proto_slot) slots;
        VEC(struct str) pieces;
        VEC(uint32_t) order;
        size_t stack_bytes; /* bytes of the stacks of members and items that the arena's account has paid for */
        struct buf text;    /* scratch */
        struct buf path;    /* of the error */
};

/* proto-decode.c */

int proto_decode_fail(struct proto_decoder *d, const char *problem);

/* These prepend a place to the path of the error while it is passed up; they return r. */
int proto_decode_at_key(struct proto_decoder *d, int r, struct str key);
int proto_decode_at_index(struct proto_decoder *d, int r, size_t i);

/* Asks for room before a full stack of n elements grows: 0, or the error of an arena over its budget. Members and items can be
 * many times larger than their wire bytes, so they count in the budget. */
int proto_decode_grow(struct proto_decoder *d, size_t n, size_t size_bytes);

/* proto-decode-struct.c */

/* A Struct, Value or ListValue, as the kind says. */
int proto_decode_dynamic(struct proto_decoder *d, enum proto_kind kind, struct proto_cursor c, uint32_t depth,
                         struct value *ret);

/* Sorts by key, keeps the last of those with the same key and returns how many are left. */
size_t proto_sort_members(struct proto_decoder *d, struct member *members, size_t n);

/* proto-decode-scalar.c */

/* The value of a scalar: strings and bytes are in `bytes`, all other types are the bits of `scalar`. */
struct value proto_value_of_scalar(struct proto_decoder *d, const struct proto_field *f, uint64_t scalar,
                                   struct str bytes);
struct value proto_value_of_bytes(struct proto_decoder *d, struct str bytes);

/* True if the scalar is the type's default. Of 32-bit types only the low half counts. */
bool proto_is_default(const struct proto_field *f, uint64_t scalar, struct str bytes);

static inline int enter_container(struct proto_decoder *d, uint32_t depth)
{
        if (UNLIKELY(depth > d->max_depth))
                return err_set(d->err, ERR_LIMIT, "nested deeper than the limit of %u levels", d->max_depth);
        if (UNLIKELY(d->arena->is_over_budget))
                return arena_check(d->arena, d->err);
        return 0;
}

/* Cursors */

static inline struct proto_cursor cursor_over(struct str bytes)
{
        return (struct proto_cursor) { .p = bytes.p, .end = bytes.p + bytes.n };
}

/* A cursor over all pieces from the index `base` on. */
static inline struct proto_cursor cursor_over_pieces(struct proto_decoder *d, size_t base)
{
        return (struct proto_cursor) { .p = "", .end = "", .next = (uint32_t)base, .last = (uint32_t)d->pieces.n };
}

static inline bool has_more(const struct proto_decoder *d, struct proto_cursor *c)
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

static inline int read_field(struct proto_decoder *d, struct proto_cursor *c, struct proto_raw_field *ret)
{
        const char *problem = proto_read_field(&c->p, c->end, ret);

        return problem ? proto_decode_fail(d, problem) : 0;
}

static inline int push_piece(struct proto_decoder *d, struct str piece)
{
        if (d->pieces.n == UINT32_MAX)
                return proto_decode_fail(d, "a message comes in too many pieces");
        vec_push(&d->pieces, piece);
        return 0;
}
