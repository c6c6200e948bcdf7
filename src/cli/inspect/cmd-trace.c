#include "command.h"

#include "api-client.h"
#include "buf.h"
#include "inspect.h"
#include "park.h"

#include <stdio.h>

#define WATCH_MS 500 /* between two looks */

enum output {
        OUTPUT_DEFAULT,
        OUTPUT_WIDE,
        OUTPUT_JSON,
        OUTPUT_DOT,
        OUTPUT_YAML,
};

static const char *const outputs[] = { "default", "wide", "json", "dot", "yaml", NULL };
static const char *const dependencies[] = { "unique", "all", "none", NULL };
static const char *const revisions[] = { "active", "all", "none", NULL };

static const struct setting settings_table[] = {
        API_CLIENT_SETTINGS,
        { .name = "output",
          .short_name = 'o',
          .type = SETTING_ENUM,
          .choices = outputs,
          .default_text = "default",
          .value_name = "FORM",
          .help = "Form of the output: default, wide, json, dot or yaml." },
        { .name = "show-connection-secrets",
          .short_name = 's',
          .type = SETTING_BOOL,
          .help = "Show connection secrets, without their values." },
        { .name = "show-package-dependencies",
          .type = SETTING_ENUM,
          .choices = dependencies,
          .default_text = "unique",
          .value_name = "WHICH",
          .help = "Dependencies of packages: unique, all or none." },
        { .name = "show-package-revisions",
          .type = SETTING_ENUM,
          .choices = revisions,
          .default_text = "active",
          .value_name = "WHICH",
          .help = "Revisions of packages: active, all or none." },
        { .name = "watch",
          .short_name = 'w',
          .type = SETTING_BOOL,
          .help = "Keep running and show the tree again when it has changed, until Ctrl-C or until the object is gone. "
                  "Needs a name." },
        { .name = "concurrency", .type = SETTING_INT, .default_text = "5" }, /* upstream's; one request needs none */
};

static int append_trace(struct buf *b, const struct value *trace, enum output output, struct err *err)
{
        switch (output) {
        case OUTPUT_DEFAULT:
        case OUTPUT_WIDE:
                if (value_get(trace, STR("items")) && value_count(value_get(trace, STR("items"))) == 0)
                        return err_set(err, ERR_NOT_FOUND,
                                       "cannot print output: cannot print resource tree: resource list is empty");
                inspect_print_table(b, trace, output == OUTPUT_WIDE);
                return 0;
        case OUTPUT_JSON:
                return inspect_print_json(b, trace, err);
        case OUTPUT_DOT:
                inspect_print_dot(b, trace);
                return 0;
        case OUTPUT_YAML:
                break;
        }
        return inspect_print_yaml(b, trace, err);
}

/* One request, and its answer as text. */
static int read_trace(struct api_client *client, const struct settings *settings, struct str type, struct str name,
                      struct buf *b, struct err *err)
{
        struct api_parameter parameters[] = {
                { STR("type"), type },
                { STR("name"), name },
                { STR("namespace"), api_client_namespace(client) },
                { STR("secrets"), settings_bool(settings, "show-connection-secrets") ? STR("true") : STR("") },
                { STR("revisions"), settings_str(settings, "show-package-revisions") },
                { STR("dependencies"), settings_str(settings, "show-package-dependencies") },
        };
        _cleanup_arena_ struct arena a;
        const struct value *trace;
        int r;

        arena_init(&a, "trace", 0);
        r = api_client_read(client, &a, "trace", parameters, ARRAY_SIZE(parameters), &trace, err);
        return r < 0 ? r : append_trace(b, trace, (enum output)settings_int(settings, "output"), err);
}

static void show(const struct buf *text, bool clears)
{
        if (clears && isatty(STDOUT_FILENO))
                fputs("\033[H\033[2J", stdout);
        fwrite(text->p, 1, text->n, stdout);
        fflush(stdout);
}

/* Shows the tree whenever it has changed. Ends when the object is gone. */
static int watch_trace(struct api_client *client, const struct settings *settings, struct str type, struct str name,
                       struct buf *shown, struct err *err)
{
        for (;;) {
                _cleanup_buf_ struct buf now = BUF_INIT(SIZE_MAX);
                int r;

                thread_sleep(deadline_after_ms(WATCH_MS), NULL);
                r = read_trace(client, settings, type, name, &now, err);
                if (r == ERR_NOT_FOUND) {
                        err_done(err);
                        return 0;
                }
                if (r < 0)
                        return r;
                if (str_equal(buf_str(&now), buf_str(shown)))
                        continue;
                show(&now, true);
                buf_clear(shown);
                buf_append_str(shown, buf_str(&now));
        }
}

static int trace_target(const struct settings *settings, struct str type, struct str name, struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *client = NULL;
        _cleanup_buf_ struct buf text = BUF_INIT(SIZE_MAX);
        bool watches = settings_bool(settings, "watch");
        int r = api_client_new(settings, &client, err);

        if (r == 0)
                r = read_trace(client, settings, type, name, &text, err);
        if (r < 0)
                return r;
        show(&text, watches);
        return watches ? watch_trace(client, settings, type, name, &text, err) : 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        struct str type, name;
        size_t used = 0;

        if (api_client_target(arguments, true, &type, &name, &used, &err) < 0)
                return command_print_usage_error(c, &err);
        if (arguments.n > used) {
                err_set(&err, ERR_INVALID,
                        used == 1 ? "invalid resource and name: name provided twice, must be provided separately "
                                    "'TYPE[.VERSION][.GROUP] [NAME]' or in the 'TYPE[.VERSION][.GROUP][/NAME]' format"
                                  : "unexpected argument \"%s\"",
                        arguments.p[used]);
                command_print_error(c, &err);
                return used == 1 ? EXIT_ERROR : EXIT_USAGE;
        }
        if (name.n == 0 && settings_bool(settings, "watch")) {
                err_set(&err, ERR_INVALID, "--watch needs the name of one object");
                return command_print_usage_error(c, &err);
        }
        if (trace_target(settings, type, name, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_trace = {
        .name = "trace",
        .summary = "Show what an object of a running control plane is made of, as a tree",
        .arguments = "TYPE[.VERSION][.GROUP][/NAME] [NAME]",
        .help = "Shows a claim, composite or package of a running `weft up` with all that it is made of, and the state "
                "of each, as\n"
                "`crossplane resource trace` does. Without a name it shows all objects of the type.\n\n"
                "  weft trace site shop\n"
                "  weft trace site/shop -n default -o wide\n"
                "  weft trace sites.platform.example.org -o json\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
