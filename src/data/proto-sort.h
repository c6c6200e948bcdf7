/* The one order of maps. A program encodes equal messages to equal bytes but for the entries of maps, which most encode in any order:
 * sorting those makes encodings comparable without decoding anything. */
#pragma once

#include "proto.h"

/* The message with the entries of its maps, inside of other messages too, in bytewise order of their keys: the bytes themselves if they
 * are in order, else a copy in the arena. Of equal keys the order stays, as does that of everything else. Only maps with text
 * for keys are sorted. Malformed messages, and those nested deeper than a value can be, are errors: `cannot decode M: ...`. */
int proto_sort_maps(struct arena *a, const struct proto_message *m, struct str bytes, struct str *ret, struct err *err);
