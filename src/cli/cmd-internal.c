#include "command.h"

const struct command command_internal = {
        .name = "internal",
        .summary = "What other programs call",
        .arguments = "COMMAND",
        .commands = (const struct command *const[]) { &command_internal_render, NULL },
};
