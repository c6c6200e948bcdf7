/* The limits of a program that control groups keep: memory and processor time, for all of its processes together. Both versions of
 * control groups are used, below the group of this process. */
#pragma once

#include <sys/types.h>

#include "err.h"
#include "str.h"

#define LIMITS_GROUPS 2

struct program_limits {
        char *groups[LIMITS_GROUPS]; /* heap: directories */
        size_t n;
};

/* Makes the groups; 0 for no limit. A limit that this process cannot set is ERR_UNSUPPORTED with the way out. root is a prefix for /proc
 * and /sys: "" except in tests. The name has letters, digits and `-`. */
int program_limits_make(const char *root, struct str name, uint64_t memory_bytes, uint64_t cpu_millis,
                        struct program_limits *ret, struct err *err);

/* Puts a process into the groups, and what it starts later. */
int program_limits_add(const struct program_limits *l, pid_t pid, struct err *err);

/* Removes the groups; their processes have ended. */
void program_limits_done(struct program_limits *l);
