/* Limits of the control group of this process. */
#pragma once

#include "str.h"

/* The smallest memory limit of the group and of all groups above it, in bytes; UINT64_MAX: none. Both versions of control groups
 * are understood. root is a prefix for /proc and /sys: "" except in tests. */
uint64_t cgroup_memory_limit(const char *root);
