/* Files that the build puts into the program (tools/embed). */
#pragma once

#include "embed.h"

/* The files of src/cli/templates/function; the last entry has a NULL path. */
extern const struct embedded_file function_template[];

/* Those of src/cli/templates/configuration. */
extern const struct embedded_file configuration_template[];
