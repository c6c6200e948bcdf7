/* A command of the program. To add one, write a file that exports a `const struct command` and add one line to the table in
 * main.c. */
#pragma once

#include "settings.h"

struct buf;

enum exit_status {
        EXIT_OK = 0,
        EXIT_ERROR = 1, /* the input or the work failed; the message says how */
        EXIT_USAGE = 2, /* the command line was wrong */
};

struct command {
        const char *name;      /* for a command in a group, with the group's name before it: "function call" */
        const char *summary;   /* one line for `weft help` */
        const char *arguments; /* after the flags in its usage line, e.g. "[FILE...]"; "" for none */
        const char *help;      /* describes the command, in paragraphs */
        void (*append_help)(struct buf *b); /* appends text that is known only at run time, after `help`; may be NULL */
        const struct setting *settings;
        size_t n_settings;
        const struct command *const *commands; /* of a group, ends with NULL; a group has neither settings nor run */
        /* Returns the exit status of the process. */
        int (*run)(const struct command *c, const struct settings *settings, struct arguments arguments);
};

extern const struct command command_backup;
extern const struct command command_check;
extern const struct command command_function;
extern const struct command command_function_build;
extern const struct command command_function_call;
extern const struct command command_function_init;
extern const struct command command_function_push;
extern const struct command command_function_serve;
extern const struct command command_function_test;
extern const struct command command_gates;
extern const struct command command_internal;
extern const struct command command_internal_render;
extern const struct command command_json;
extern const struct command command_composition;
extern const struct command command_composition_render;
extern const struct command command_render;
extern const struct command command_restore;
extern const struct command command_rollout;
extern const struct command command_runs;
extern const struct command command_server;
extern const struct command command_trace;
extern const struct command command_up;
extern const struct command command_version;
extern const struct command command_why;
extern const struct command command_xpkg;
extern const struct command command_xpkg_build;
extern const struct command command_xpkg_extract;
extern const struct command command_xpkg_init;
extern const struct command command_xpkg_install;
extern const struct command command_xpkg_pull;
extern const struct command command_xpkg_push;
extern const struct command command_xpkg_update;
extern const struct command command_yaml;

/* Prints `weft NAME: MESSAGE` on standard error. */
void command_print_error(const struct command *c, const struct err *err);

/* The same for a wrong command line, and points to --help; returns EXIT_USAGE. */
int command_print_usage_error(const struct command *c, const struct err *err);
