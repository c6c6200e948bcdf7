#include "command.h"

#include "api-client.h"
#include "api-output.h"
#include "buf.h"
#include "inspect.h"

#include <stdio.h>

static const struct setting settings_table[] = {
        API_CLIENT_SETTINGS,
        API_OUTPUT_SETTING(""),
};

static int print_why(const struct value *why, enum api_output output, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(SIZE_MAX);
        int r = 0;

        if (output == API_OUTPUT_DEFAULT)
                inspect_print_why(&b, why);
        else
                r = api_output_append(&b, why, output, err);
        if (r == 0)
                fwrite(b.p, 1, b.n, stdout);
        return r;
}

static int show_why(const struct settings *settings, struct str type, struct str name, struct str field,
                    struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *client = NULL;
        _cleanup_arena_ struct arena a;
        const struct value *why;
        int r;

        arena_init(&a, "why", 0);
        r = api_client_new(settings, &client, err);
        if (r == 0) {
                struct api_parameter parameters[] = {
                        { STR("type"), type },
                        { STR("name"), name },
                        { STR("namespace"), api_client_namespace(client) },
                        { STR("field"), field },
                };

                r = api_client_read(client, &a, "why", parameters, ARRAY_SIZE(parameters), &why, err);
        }
        return r < 0 ? r : print_why(why, (enum api_output)settings_int(settings, "output"), err);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        struct str type, name;
        size_t used = 0;
        int r = api_client_target(arguments, false, &type, &name, &used, &err);

        if (r == 0 && arguments.n > used + 1)
                err_set(&err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[used + 1]);
        if (err.code)
                return command_print_usage_error(c, &err);
        if (show_why(settings, type, name, arguments.n > used ? str_from(arguments.p[used]) : STR(""), &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_why = {
        .name = "why",
        .summary = "Say why an object is as it is: who set a field, why it is not ready, what it waits for",
        .arguments = "TYPE[.VERSION][.GROUP] NAME [FIELD]",
        .help = "Explains an object of a running `weft up`: the cause of its last write, why it is not ready, and what "
                "holds its deletion\n"
                "up: a finalizer, a usage or a child. With FIELD it also says which step, function and revision set "
                "the "
                "field, and which\n"
                "manager owns it.\n\n"
                "  weft why site shop\n"
                "  weft why site shop status.address\n"
                "  weft why configmap shop-892ff42e9e6f 'data[title]'\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
