/* Files that the build puts into the program (tools/embed). */
#pragma once

#include "str.h"

struct embedded_file {
        const char *path;
        struct str text;
};

/* src/cli/templates/function; ends in a path of NULL. */
extern const struct embedded_file function_template[];
