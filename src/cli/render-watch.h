/* Renders again whenever a file is saved. */
#pragma once

#include "command.h"

typedef int render_run_fn(const struct command *c, const struct settings *settings, struct arguments arguments);

/* Runs it at once, and then each time that one of the files of the command line changes, is replaced, comes or goes; what it gives does
 * not matter. Gives 0 when it is interrupted by SIGINT. */
int render_watch(const struct command *c, const struct settings *settings, struct arguments arguments,
                 render_run_fn *run);
