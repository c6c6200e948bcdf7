/* The world of a program, built from inside its new namespaces by their first process. */
#pragma once

#include "launch.h"

/* Makes the image that the working directory is in the root of this mount namespace: under a layer in memory, with /proc, /dev, /tmp and
 * the files of the launch. */
int sandbox_enter(const struct launch *l, struct err *err);

/* Brings the loopback of this network namespace up. */
int sandbox_start_loopback(struct err *err);

/* Gives up everything that a program must not have: capabilities, ids, the right to get new ones, memory and processes without end,
 * the system calls of seccomp.h. The calling process becomes the program next. */
int sandbox_drop_rights(const struct launch *l, struct err *err);

/* The same for the first process, which only serves sockets and signals the program. */
int sandbox_keep_little(struct err *err);
