#include "command.h"

#include "buf.h"

#include <stdio.h>
#include <sys/ioctl.h>

static const struct command *const commands[] = {
        &command_json,
        &command_yaml,
        &command_version,
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

static const struct command *find_command(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                if (strcmp(commands[i]->name, name) == 0)
                        return commands[i];
        return NULL;
}

static int unknown_command(const char *name)
{
        const char *names[ARRAY_SIZE(commands) + 1] = { "help" };
        const char *nearest;

        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                names[i + 1] = commands[i]->name;
        nearest = settings_nearest(str_from(name), names, ARRAY_SIZE(names));
        fprintf(stderr, "weft: unknown command \"%s\"", name);
        if (nearest)
                fprintf(stderr, "; did you mean \"%s\"?", nearest);
        fprintf(stderr, "\nSee `weft help`.\n");
        return EXIT_USAGE;
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
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
        fprintf(to, "  %-10s %s\n", "help", "Explain a command, or list them all");
        fprintf(to, "\nSee `weft COMMAND --help` for the flags of a command.\n");
        return to == stdout ? EXIT_OK : EXIT_USAGE;
}

static int show_command(const struct command *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s.\n\nUsage: weft %s%s%s%s\n", c->summary, c->name, c->n_settings ? " [FLAGS]" : "",
                    c->arguments[0] ? " " : "", c->arguments);
        if (c->help)
                buf_appendf(&b, "\n%s", c->help);
        if (c->n_settings) {
                buf_append_literal(&b, "\nFlags:\n");
                settings_append_help(&b, c->settings, c->n_settings, terminal_width());
        }
        fputs(buf_cstring(&b), stdout);
        return EXIT_OK;
}

/* What a command's table lacks and every command has. */
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

static int show_help(int argc, char **argv)
{
        const struct command *c;

        if (argc == 0)
                return show_overview(stdout);
        c = find_command(argv[0]);
        return c ? show_command(c) : unknown_command(argv[0]);
}

static int dispatch(int argc, char **argv)
{
        const struct command *c;

        if (argc < 2)
                return show_overview(stderr);
        if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
                return show_help(argc - 2, argv + 2);
        if (strcmp(argv[1], "--version") == 0)
                return run_command(&command_version, 0, NULL);
        c = find_command(argv[1]);
        return c ? run_command(c, argc - 2, argv + 2) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
        int status = dispatch(argc, argv);

        /* What was printed may still be in the stream's buffer: a full disk shows only now. */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                fprintf(stderr, "weft: cannot write to standard output: %m\n");
                return EXIT_ERROR;
        }
        return status;
}
