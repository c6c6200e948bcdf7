/* A command of the program. Adding one is one file that exports a `const struct command` and one line of the table in main.c. */
#pragma once

#include "settings.h"

struct buf;

enum exit_status {
        EXIT_OK = 0,
        EXIT_ERROR = 1, /* the input or the work failed; the message says how */
        EXIT_USAGE = 2, /* the command line was wrong */
};

struct command {
        const char *name;      /* of a command within a group with the group's before it: "function call" */
        const char *summary;   /* one line for `weft help` */
        const char *arguments; /* behind the flags in its usage line, e.g. "[FILE...]"; "" for none */
        const char *help;      /* what it does, in paragraphs */
        void (*append_help)(struct buf *b); /* what is known only when it runs, behind `help`; may be NULL */
        const struct setting *settings;
        size_t n_settings;
        const struct command *const *commands; /* of a group, up to a NULL; it has neither settings nor run */
        /* Returns the exit status of the process. */
        int (*run)(const struct command *c, const struct settings *settings, struct arguments arguments);
};

extern const struct command command_function;
extern const struct command command_function_call;
extern const struct command command_function_init;
extern const struct command command_function_serve;
extern const struct command command_gates;
extern const struct command command_internal;
extern const struct command command_internal_render;
extern const struct command command_json;
extern const struct command command_composition;
extern const struct command command_composition_render;
extern const struct command command_render;
extern const struct command command_version;
extern const struct command command_yaml;

/* Prints `weft NAME: MESSAGE` on standard error. */
void command_print_error(const struct command *c, const struct err *err);

/* The same for a wrong command line, and points at --help; gives EXIT_USAGE. */
int command_print_usage_error(const struct command *c, const struct err *err);
