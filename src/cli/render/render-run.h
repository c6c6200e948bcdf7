/* One run of `weft render`: loads everything once and renders each composite. */
#pragma once

#include "command.h"

/* Prints the output and the errors; returns the exit status. An error in one composite does not stop the others. */
int render_run(const struct command *c, const struct settings *settings, struct arguments arguments);
