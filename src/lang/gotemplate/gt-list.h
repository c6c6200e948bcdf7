/* The storage of lists, private to the files that implement values. */
#pragma once

#include "gt-value.h"

/* Elements are in items, or still in source: an element whose item is GT_NONE has not been wrapped yet. An array whose
 * elements are all scalars is never wrapped. */
struct gt_list {
        uint32_t n;
        struct gt_value *items;     /* n, or NULL while no element of source needed one */
        const struct value *source; /* n, or NULL */
};

struct gt_value gt_list_wrap(struct gt_context *c, const struct value *array);
