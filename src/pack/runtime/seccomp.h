/* The system calls that programs of packages may not make. */
#pragma once

#include "err.h"

/* Filters the calling thread and all that it starts, for good. It needs no_new_privs. */
int seccomp_apply(struct err *err);
