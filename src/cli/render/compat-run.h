/* `weft render --compat=v2.2`: has the arguments, checks, messages, exit statuses and output documents of Crossplane's CLI v2.2. */
#pragma once

#include "command.h"

int compat_run(const struct command *c, const struct settings *settings, struct arguments arguments);
