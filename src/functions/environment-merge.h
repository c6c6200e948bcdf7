/* Merges the data of many EnvironmentConfigs. */
#pragma once

#include "err.h"
#include "value.h"

/* Merges the objects, later ones over earlier ones: objects merge, other values replace. Time and memory grow with the size of the
 * data, not with the number of objects; merging one by one would copy the result for each object. */
int environment_merge(struct arena *a, const struct value *const *objects, size_t n, const struct value **ret,
                      struct err *err);
