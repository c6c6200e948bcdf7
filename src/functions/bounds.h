/* What a call of a built-in function may use. Inputs are small texts that can ask for much work: whoever loops over what they
 * multiply (patches of sets, transforms, pairs of resources) asks here. */
#pragma once

#include "cluster.h"

/* 0, or an error once the call's memory or time is used up or it was cancelled. */
int bounds_check(const struct run *run, struct err *err);
