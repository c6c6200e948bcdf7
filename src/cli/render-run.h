/* One run of `weft render`: everything is loaded once, and each composite rendered. */
#pragma once

#include "command.h"

/* Prints what comes out, and errors; gives the exit status. What is wrong with one composite does not keep the others from being
 * rendered. */
int render_run(const struct command *c, const struct settings *settings, struct arguments arguments);
