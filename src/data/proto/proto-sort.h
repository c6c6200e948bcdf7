/* Puts the entries of protobuf maps into one fixed order. One program encodes equal messages to equal bytes, except for the
 * entries of maps, which most programs encode in any order. After sorting, encodings can be compared without decoding. */
#pragma once

#include "proto.h"

/* Sorts the entries of all maps, those of nested messages included, in bytewise order of their keys. *ret is `bytes` itself if
 * all maps are in order, else a copy in the arena. Entries with equal keys, and everything else, keep their order. Only maps
 * with string keys are sorted. Malformed messages, and messages nested deeper than a value can be, are errors:
 * `cannot decode M: ...`. */
int proto_sort_maps(struct arena *a, const struct proto_message *m, struct str bytes, struct str *ret, struct err *err);
