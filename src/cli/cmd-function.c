#include "command.h"

const struct command command_function = {
        .name = "function",
        .summary = "Work with Composition Functions",
        .arguments = "COMMAND",
        .commands = (const struct command *const[]) { &command_function_init, &command_function_build,
                                                      &command_function_push, &command_function_call,
                                                      &command_function_serve, &command_function_test, NULL },
};
