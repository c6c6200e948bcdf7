#include "command.h"

#include <stdio.h>

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };

        if (arguments.n > 0) {
                err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[0]);
                return command_print_usage_error(c, &err);
        }
        printf("weft %s\n", WEFT_VERSION);
        return EXIT_OK;
}

const struct command command_version = {
        .name = "version",
        .summary = "Print the version",
        .arguments = "",
        .run = run,
};
