/* Limits for a call of a built-in function. Small inputs can ask for much work, so every loop over products of the input (patches
 * of sets, transforms, pairs of resources) must call bounds_check. */
#pragma once

#include "cluster.h"

/* Returns 0, or an error once the call's memory or time is used up or it was cancelled. */
int bounds_check(const struct run *run, struct err *err);
