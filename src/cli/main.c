#include "command.h"

#include "buf.h"
#include "process-runtime.h"

#include <stdio.h>
#include <sys/ioctl.h>

static const struct command *const commands[] = {
        &command_up,
        &command_render,
        &command_trace,
        &command_runs,
        &command_why,
        &command_rollout,
        &command_server,
        &command_composition,
        &command_function,
        &command_xpkg,
        &command_json,
        &command_yaml,
        &command_backup,
        &command_restore,
        &command_check,
        &command_gates,
        &command_version,
        &command_internal,
        NULL,
};

static const struct setting help_setting = { .name = "help", .short_name = 'h', .type = SETTING_BOOL };

void command_print_error(const struct command *c, const struct err *err)
{
        fprintf(stderr, "weft %s: %s\n", c->name, err_message(err));
}

int command_print_usage_error(const struct command *c, const struct err *err)
{
        command_print_error(c, err);
        fprintf(stderr, "See `weft %s --help`.\n", c->name);
        return EXIT_USAGE;
}

/* The word that the user types for the command: the last word of its name. */
static const char *word_of(const struct command *c)
{
        const char *space = strrchr(c->name, ' ');

        return space ? space + 1 : c->name;
}

static const struct command *find_command(const struct command *const *list, const char *word)
{
        for (; *list; list++)
                if (strcmp(word_of(*list), word) == 0)
                        return *list;
        return NULL;
}

#define MAX_COMMANDS 64 /* of one list that are used for suggestions */

/* group is NULL for the top-level commands. */
static int unknown_command(const struct command *group, const char *name)
{
        const struct command *const *list = group ? group->commands : commands;
        const char *names[MAX_COMMANDS] = { "help" };
        const char *nearest;
        size_t n = group ? 0 : 1;

        for (; *list && n < MAX_COMMANDS; list++)
                names[n++] = word_of(*list);
        nearest = settings_nearest(str_from(name), names, n);
        fprintf(stderr, "weft%s%s: unknown command \"%s\"", group ? " " : "", group ? group->name : "", name);
        if (nearest)
                fprintf(stderr, "; did you mean \"%s\"?", nearest);
        fprintf(stderr, "\nSee `weft help%s%s`.\n", group ? " " : "", group ? group->name : "");
        return EXIT_USAGE;
}

static void list_commands(FILE *to, const struct command *const *list)
{
        for (; *list; list++)
                fprintf(to, "  %-11s %s\n", word_of(*list), (*list)->summary);
}

static size_t terminal_width(void)
{
        struct winsize size;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
                return MIN(size.ws_col, 120);
        return 100;
}

static int show_overview(FILE *to)
{
        fprintf(to, "Weft composes resources: Crossplane's Compositions and Functions in one small program.\n"
                    "\n"
                    "Usage: weft COMMAND [FLAGS] [ARGUMENTS]\n"
                    "\n"
                    "Commands:\n");
        list_commands(to, commands);
        fprintf(to, "  %-11s %s\n", "help", "Explain a command, or list them all");
        fprintf(to, "\nSee `weft COMMAND --help` for the flags of a command.\n");
        return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int show_group(const struct command *c, FILE *to)
{
        fprintf(to, "%s.\n\nUsage: weft %s COMMAND [FLAGS] [ARGUMENTS]\n\nCommands:\n", c->summary, c->name);
        list_commands(to, c->commands);
        fprintf(to, "\nSee `weft %s COMMAND --help` for the flags of a command.\n", c->name);
        return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int show_command(const struct command *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (c->commands)
                return show_group(c, stdout);
        buf_appendf(&b, "%s.\n\nUsage: weft %s%s%s%s\n", c->summary, c->name, c->n_settings ? " [FLAGS]" : "",
                    c->arguments[0] ? " " : "", c->arguments);
        if (c->help)
                buf_appendf(&b, "\n%s", c->help);
        if (c->append_help)
                c->append_help(&b);
        if (c->n_settings) {
                buf_append_literal(&b, "\nFlags:\n");
                settings_append_help(&b, c->settings, c->n_settings, terminal_width());
        }
        fputs(buf_cstring(&b), stdout);
        return EXIT_OK;
}

/* The command's settings with --help added, which every command has. */
static struct setting *with_help(const struct command *c)
{
        struct setting *table = xcalloc(c->n_settings + 1, sizeof(*table));

        if (c->n_settings)
                memcpy(table, c->settings, c->n_settings * sizeof(*table));
        table[c->n_settings] = help_setting;
        return table;
}

static int run_command(const struct command *c, int argc, char **argv)
{
        _cleanup_free_ struct setting *table = with_help(c);
        _cleanup_(settings_done)
        struct settings settings;
        _cleanup_err_ struct err err = { 0 };
        struct arguments arguments;
        int r;

        settings_init(&settings, table, c->n_settings + 1);
        r = settings_read_flags(&settings, argc, (const char *const *)argv, false, &arguments, &err);
        if (r >= 0)
                r = settings_read_environment(&settings, (const char *const *)environ, &err);
        if (r < 0)
                return command_print_usage_error(c, &err);
        if (settings_bool(&settings, "help"))
                return show_command(c);
        return c->run(c, &settings, arguments);
}

static bool is_help(const char *word)
{
        return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int show_help(int argc, char **argv)
{
        const struct command *c = NULL;

        if (argc == 0)
                return show_overview(stdout);
        for (int i = 0; i < argc && (i == 0 || c->commands); i++) {
                const struct command *found = find_command(c ? c->commands : commands, argv[i]);

                if (!found)
                        return unknown_command(c, argv[i]);
                c = found;
        }
        return show_command(c);
}

/* Finds the command that argv names, below the group or at top level for NULL, and runs it. */
static int dispatch_in(const struct command *group, int argc, char **argv)
{
        const struct command *c = find_command(group ? group->commands : commands, argv[0]);

        if (!c)
                return unknown_command(group, argv[0]);
        if (!c->commands)
                return run_command(c, argc - 1, argv + 1);
        if (argc < 2)
                return show_group(c, stderr);
        return is_help(argv[1]) ? show_group(c, stdout) : dispatch_in(c, argc - 1, argv + 1);
}

static int dispatch(int argc, char **argv)
{
        if (argc < 2)
                return show_overview(stderr);
        if (is_help(argv[1]))
                return show_help(argc - 2, argv + 2);
        if (strcmp(argv[1], "--version") == 0)
                return run_command(&command_version, 0, NULL);
        return dispatch_in(NULL, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
        int status;

        if (process_runtime_is_child(argc, argv))
                return process_runtime_child();
        status = dispatch(argc, argv);

        /* Output may still be in the stream's buffer: an error such as a full disk appears only here. */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                fprintf(stderr, "weft: cannot write to standard output: %m\n");
                return EXIT_ERROR;
        }
        return status;
}
