#include "command.h"

#include "buf.h"
#include "features.h"

#include <stdio.h>

static const struct setting settings_table[] = { FEATURE_SETTINGS };

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct features features;

        if (arguments.n > 0)
                err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[0]);
        else
                features_read(settings, &features, &err);
        if (err.code < 0)
                return command_print_usage_error(c, &err);
        features_append_list(&b, features);
        fputs(buf_cstring(&b), stdout);
        return EXIT_OK;
}

const struct command command_gates = {
        .name = "gates",
        .summary = "List the features that can be switched on and off",
        .arguments = "",
        .help = "Prints every feature that has a gate: its stage, whether it is on by default, and whether it is on "
                "now, with\n"
                "the flags and variables that are given. A gate is set by --feature-gates=NAME=true,... or "
                "WEFT_FEATURE_GATES.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
