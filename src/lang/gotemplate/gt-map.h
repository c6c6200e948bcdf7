/* The storage of maps, private to the files that implement values. */
#pragma once

#include "gt-value.h"

struct gt_entry {
        struct str key;
        struct gt_value value;
};

/* Until its first change a map refers to an object of struct value (source), and `wrapped` holds those members that are lists or
 * maps and have been read. The first change copies the members into entries; from then on source is NULL. */
struct gt_map {
        const struct value *source;
        struct gt_value *wrapped; /* by the number of the member; GT_NONE: not wrapped yet */

        struct gt_entry *entries; /* in no order */
        uint32_t n;
        uint32_t capacity;
        uint32_t *slots; /* hash table for many entries: entry number + 1, 0 for empty */
        uint32_t n_slots;
};

struct gt_value gt_map_wrap(struct gt_context *c, const struct value *object);
