/* Detects renders whose output differs each time. */
#pragma once

#include "command.h"
#include "manifest.h"
#include "render.h"

/* If templates of the Composition may give another result each time, renders once more and warns on standard error if the output
 * differs. The second render counts against the run's deadline. */
void render_warn_of_chance(struct run *run, const struct command *c, const struct manifest *composition,
                           const struct render_input *in, const struct render_output *out);
