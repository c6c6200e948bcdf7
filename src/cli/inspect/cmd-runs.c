#include "command.h"

#include "api-client.h"
#include "api-output.h"
#include "buf.h"
#include "inspect.h"
#include "number.h"

#include <stdio.h>

static const struct setting settings_table[] = {
        API_CLIENT_SETTINGS,
        API_OUTPUT_SETTING(" json and yaml have everything that is recorded."),
};

/* The whole answer, or run `number` of it. */
static const struct value *part_of(const struct value *runs, size_t number)
{
        const struct value *one = number ? value_item(value_get(runs, STR("runs")), number - 1) : NULL;

        return one ? one : runs;
}

static int print_runs(const struct value *runs, size_t number, enum api_output output, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(SIZE_MAX);
        int r = 0;

        if (output != API_OUTPUT_DEFAULT)
                r = api_output_append(&b, part_of(runs, number), output, err);
        else if (number)
                r = inspect_print_run(&b, runs, number, err);
        else
                inspect_print_runs(&b, runs);
        if (r == 0)
                fwrite(b.p, 1, b.n, stdout);
        return r;
}

static int show_runs(const struct settings *settings, struct str type, struct str name, size_t number, struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *client = NULL;
        _cleanup_arena_ struct arena a;
        const struct value *runs;
        int r;

        arena_init(&a, "runs", 0);
        r = api_client_new(settings, &client, err);
        if (r == 0) {
                struct api_parameter parameters[] = {
                        { STR("type"), type },
                        { STR("name"), name },
                        { STR("namespace"), api_client_namespace(client) },
                };

                r = api_client_read(client, &a, "runs", parameters, ARRAY_SIZE(parameters), &runs, err);
        }
        return r < 0 ? r : print_runs(runs, number, (enum api_output)settings_int(settings, "output"), err);
}

static int read_arguments(struct arguments arguments, struct str *ret_type, struct str *ret_name, uint64_t *ret_number,
                          struct err *err)
{
        size_t used = 0;
        int r = api_client_target(arguments, false, ret_type, ret_name, &used, err);

        *ret_number = 0;
        if (r < 0)
                return r;
        if (arguments.n > used + 1)
                return err_set(err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[used + 1]);
        if (arguments.n > used &&
            (number_parse_uint(str_from(arguments.p[used]), ret_number, NULL) < 0 || *ret_number == 0))
                return err_set(err, ERR_INVALID, "\"%s\" is not the number of a run: the newest is 1",
                               arguments.p[used]);
        return 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        struct str type, name;
        uint64_t number;

        if (read_arguments(arguments, &type, &name, &number, &err) < 0)
                return command_print_usage_error(c, &err);
        if (show_runs(settings, type, name, (size_t)number, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_runs = {
        .name = "runs",
        .summary = "Show the last runs of a composite: cause, steps, changes and writes",
        .arguments = "TYPE[.VERSION][.GROUP] NAME [N]",
        .help = "Lists the last runs of a composite of a running `weft up`, or of the composite of a claim: when each "
                "was, what caused it,\n"
                "and how it ended. With N it shows run N in full, 1 being the newest: each step with its function, "
                "revision, time, results\n"
                "and changes, and each write with its outcome. Values of secrets are not recorded.\n\n"
                "  weft runs site shop\n"
                "  weft runs site shop 1\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
