/* Values as compact bytes: what a stored object is while nobody looks at it. A format of ours; the file says how it looks. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

void compact_encode(struct buf *b, const struct value *v);

/* Strings of the result point into bytes where they can; the bytes must outlive it. Bytes that we did not write are refused:
 * never read past, never more memory than they could have been written from. */
int compact_decode(struct arena *a, struct str bytes, const struct value **ret, struct err *err);
