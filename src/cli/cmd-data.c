/* weft backup, restore and check: the data directory of a server, from outside. */
#include "command.h"

#include "buf.h"
#include "sqlite-log.h"

#include <stdio.h>

static int check_arguments(const struct command *c, struct arguments arguments, size_t n)
{
        _cleanup_err_ struct err err = { 0 };

        if (arguments.n == n)
                return 0;
        if (arguments.n < n)
                err_set(&err, ERR_INVALID, "wants %s", c->arguments);
        else
                err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[n]);
        return command_print_usage_error(c, &err);
}

static int print_result(const struct command *c, int r, const struct err *err)
{
        if (r == 0)
                return EXIT_OK;
        command_print_error(c, err);
        return EXIT_ERROR;
}

static int run_backup(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        uint64_t version = 0;
        int r = check_arguments(c, arguments, 2);

        if (r != 0)
                return r;
        r = sqlite_log_backup_directory(arguments.p[0], arguments.p[1], &version, &err);
        if (r == 0)
                printf("backed up, at resource version %llu\n", (unsigned long long)version);
        return print_result(c, r, &err);
}

const struct command command_backup = {
        .name = "backup",
        .summary = "Copy the data of a server to a file",
        .arguments = "DIR FILE",
        .help = "Copies the objects and the history in the data directory DIR to the new file FILE, as they are now.\n"
                "The server may run meanwhile. The copy is checked; FILE appears when it is complete. It contains\n"
                "Secrets: keep it private.\n",
        .run = run_backup,
};

static int run_restore(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        uint64_t version = 0;
        int r = check_arguments(c, arguments, 2);

        if (r != 0)
                return r;
        r = sqlite_log_restore(arguments.p[0], arguments.p[1], &version, &err);
        if (r == 0)
                printf("restored; resource versions go on at %llu\n", (unsigned long long)version);
        return print_result(c, r, &err);
}

const struct command command_restore = {
        .name = "restore",
        .summary = "Make the data directory of a server from a backup",
        .arguments = "FILE DIR",
        .help = "Makes the data directory DIR, which must not have data yet, from the backup FILE. Resource versions\n"
                "go on far above those of the backup, so that none is used twice; clients that watch from older ones\n"
                "are told to list again.\n",
        .run = run_restore,
};

static int run_check(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf report = BUF_INIT(0);
        int r = check_arguments(c, arguments, 1);

        if (r != 0)
                return r;
        r = sqlite_log_check(arguments.p[0], &report, &err);
        fputs(buf_cstring(&report), stdout);
        return print_result(c, r, &err);
}

const struct command command_check = {
        .name = "check",
        .summary = "Check the data directory of a server for damage",
        .arguments = "DIR",
        .help = "Reads everything in the data directory DIR of a server that does not run, and reports what is in it\n"
                "and what is damaged. Changes nothing. The exit status is 1 when there is damage.\n",
        .run = run_check,
};
