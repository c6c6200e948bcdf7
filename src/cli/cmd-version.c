#include "command.h"

#include <stdio.h>

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        printf("weft %s\n", WEFT_VERSION);
        return EXIT_OK;
}

const struct command command_version = {
        .name = "version",
        .summary = "Print the version",
        .arguments = "",
        .run = run,
};
