/* Counted immutable bytes: what is queued for sending by reference instead of being copied, and shared between queues. */
#pragma once

#include "str.h"

struct buf;

struct bytes {
        _Atomic unsigned references;
        struct str str;
        char *heap; /* freed with it; NULL when the bytes stand behind the struct */
};

/* Each gives one reference to the caller. */
struct bytes *bytes_copy(struct str s);
struct bytes *bytes_take(struct buf *b); /* takes over the buffer's memory and empties it */
struct bytes *bytes_ref(struct bytes *b);
void bytes_unref(struct bytes *b); /* NULL is fine */

static inline void bytes_unrefp(struct bytes **b)
{
        bytes_unref(*b);
}

#define _cleanup_bytes_ _cleanup_(bytes_unrefp)
