/* Which conditions a nop resource has at a time. */
#pragma once

#include "condition.h"

struct nop_plan {
        struct condition *conditions; /* that are due: one for each type, in the order in which types first appear */
        size_t n;
        int64_t next_ns; /* until another one is due; 0: none is */
};

/* Reads spec.forProvider.conditionAfter of the object at this time. Of several conditions of one type that are due, the one with the
 * longest time counts, and of equal times the first. A time that is no duration is ERR_INVALID, with its path. */
int nop_plan(struct arena *a, const struct value *object, struct instant now, struct nop_plan *ret, struct err *err);
