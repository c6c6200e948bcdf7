/* Counted immutable bytes: shared by reference between threads, queues and caches instead of being copied. */
#pragma once

#include "str.h"

struct buf;

struct bytes {
        _Atomic unsigned references;
        struct str str;
        char *heap; /* freed with the struct; NULL if the bytes follow the struct in the same allocation */
};

/* Each function returns one reference, which the caller owns. */
struct bytes *bytes_copy(struct str s);
struct bytes *bytes_take(struct buf *b); /* takes over the buffer's memory and empties it */
struct bytes *bytes_ref(struct bytes *b);
void bytes_unref(struct bytes *b); /* NULL is fine */

/* The number of bytes divided by the number of references: what one of the holders is to pay for the memory. */
size_t bytes_share(const struct bytes *b);

void bytes_unpin(void *b); /* as bytes_unref, with the type that arena_pin needs */

static inline void bytes_unrefp(struct bytes **b)
{
        bytes_unref(*b);
}

#define _cleanup_bytes_ _cleanup_(bytes_unrefp)
