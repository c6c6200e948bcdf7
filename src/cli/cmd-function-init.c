#include "command.h"

#include "buf.h"
#include "embedded.h"
#include "project.h"

#include <stdio.h>

static const struct setting settings_table[] = {
        { .name = "directory",
          .short_name = 'd',
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Write the project there, not to a directory called NAME. It may exist if it is empty." },
};

static void show_what_next(const char *directory, struct str name)
{
        printf("Wrote %.*s to the directory %s\n\n", STR_ARG(name), directory);
        printf("    cd %s\n", directory);
        printf("    make test     # builds it and runs its unit test\n");
        printf("    make run      # serves it here, and says how to call it\n\n");
        printf("Then edit function.c.\n");
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        struct str directory = settings_str(settings, "directory");
        _cleanup_buf_ struct buf name = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (arguments.n != 1) {
                err_set(&err, ERR_INVALID, "give one name for the function");
                return command_print_usage_error(c, &err);
        }
        if (directory.n == 0)
                directory = str_from(arguments.p[0]);
        if (project_function_name(arguments.p[0], &name, &err) < 0 ||
            project_write(directory.p, function_template, buf_str(&name), &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        show_what_next(directory.p, buf_str(&name));
        return EXIT_OK;
}

const struct command command_function_init = {
        .name = "function init",
        .summary = "Begin a function in C: a project that builds, passes its test and runs at once",
        .arguments = "NAME",
        .help = "Writes a complete project to a new directory called NAME: the function and its unit test, a Makefile, "
                "an\n"
                "example to try it with, and what makes it a package. The function is called function-NAME if NAME "
                "does\n"
                "not begin so already. To build it takes a C compiler, make, pkg-config and an installed Weft.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
