/* A function that prints a message on standard error while it keeps a render waiting. */
#pragma once

#include "command.h"
#include "function.h"

/* Calls `inner`, and takes over its reference. If a call has no answer after a second, prints a message with the state of the
 * target. */
struct function *render_waiting_new(const struct command *c, struct function *inner, struct str target);
