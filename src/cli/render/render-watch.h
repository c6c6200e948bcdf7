/* Renders again whenever a file is saved. */
#pragma once

#include "command.h"

typedef int render_run_fn(const struct command *c, const struct settings *settings, struct arguments arguments);

/* Calls `run` at once, and then each time that a file of the command line changes, is replaced, appears or disappears; ignores its
 * result. Returns EXIT_OK after SIGINT, EXIT_ERROR when it cannot watch the files or write its output. */
int render_watch(const struct command *c, const struct settings *settings, struct arguments arguments,
                 render_run_fn *run);
