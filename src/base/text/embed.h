/* Files that the build puts into the program (tools/embed). */
#pragma once

#include "str.h"

/* A table of them ends with an entry whose path is NULL. */
struct embedded_file {
        const char *path;
        struct str text;
};
