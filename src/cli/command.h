/* A command of the program. Adding one is one file that exports a `const struct command` and one line of the table in main.c. */
#pragma once

#include "err.h"
#include "str.h"

enum exit_status {
        EXIT_OK = 0,
        EXIT_ERROR = 1, /* the input or the work failed; the message says how */
        EXIT_USAGE = 2, /* the command line was wrong */
};

struct command {
        const char *name;
        const char *summary; /* one line for `weft help` */
        /* argv[0] is the command's own name. Returns the exit status of the process. */
        int (*run)(int argc, char **argv);
};

extern const struct command command_json;
extern const struct command command_version;
extern const struct command command_yaml;

/* Prints `weft NAME: MESSAGE` on standard error. */
void command_print_error(const struct command *c, const struct err *err);
