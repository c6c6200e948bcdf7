/* Directories on disk. */
#pragma once

#include "err.h"

#include <sys/types.h>

/* Makes the directory, and the missing ones above it with the mode `above`. A path that exists is left as it is, whatever it is. The
 * error names the directory that cannot be made. */
int directory_make(const char *path, mode_t mode, mode_t above, struct err *err);
