/* Which users there are in the namespaces of a program, and which ones those are outside. */
#pragma once

#include <sys/types.h>

#include "err.h"

#define IDS_FIRST 1879048192u /* above the ranges that systems give to users and containers */

struct ids {
        uint32_t inside, outside, n; /* a range, for users and groups alike */
        uint32_t group_outside;      /* of a range of one: the group outside */
        uint32_t user; /* inside: who builds the sandbox. 0, or the program's own user if there is no other */
        bool denies_groups;
};

/* Without privileges there is one user: ours, who is LAUNCH_USER inside. A privileged process takes a range that begins at first_id, or, where
 * that is not to be had, one id that is not its own. root is a prefix for /proc: "" except in tests. */
int ids_choose(const char *root, uint32_t first_id, struct ids *ret, struct err *err);

/* Writes the maps of a process in a new user namespace. */
int ids_write(const struct ids *ids, pid_t pid, struct err *err);

/* Becomes a user of this namespace without losing the capabilities in it. */
int ids_become(uint32_t user, struct err *err);

/* Why clone could not make the namespaces, and the way out. */
int ids_explain_clone(int errno_value, struct err *err);
