#include "command.h"

const struct command command_composition = {
        .name = "composition",
        .summary = "Work with Compositions",
        .arguments = "COMMAND",
        .commands = (const struct command *const[]) { &command_composition_render, NULL },
};
