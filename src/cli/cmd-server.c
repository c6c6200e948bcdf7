#include "command.h"

#include "server-run.h"

/* Takes digits off the front; false if there are none. */
static bool cut_digits(struct str *s)
{
        size_t n = 0;

        while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
                n++;
        *s = str_skip(*s, n);
        return n > 0;
}

/* vMAJOR.MINOR.PATCH with anything behind it, as clients parse it. */
static bool is_version(struct str s)
{
        return str_cut_prefix(&s, STR("v")) && cut_digits(&s) && str_cut_prefix(&s, STR(".")) && cut_digits(&s) &&
               str_cut_prefix(&s, STR(".")) && cut_digits(&s) && (s.n == 0 || s.p[0] == '-' || s.p[0] == '+');
}

static int check_version(struct str text, const void *arg _unused_, struct err *err)
{
        return text.n == 0 || is_version(text) ? 0 : err_set(err, ERR_INVALID, "a version looks like v1.36.3");
}

static const struct setting settings_table[] = {
        { .name = "data",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory for objects, keys and the port. It is made when it is missing. What it holds survives "
                  "restarts, "
                  "so that a kubeconfig goes on working. One process at a time may use it." },
        { .name = "ephemeral",
          .type = SETTING_BOOL,
          .help = "Keep everything in memory instead, for tests. Nothing is left when the server ends." },
        { .name = "listen",
          .type = SETTING_STRING,
          .value_name = "ADDRESS",
          .help = "IP address and port to listen at. Port 0 stands for the port of the last start with the same data, "
                  "at the "
                  "first start for a free one. The default is 127.0.0.1:0, which only this machine reaches." },
        { .name = "kubeconfig",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "Where to write the administrator's kubeconfig, for its owner alone. A file of others is not "
                  "replaced. The default is kubeconfig in "
                  "the data "
                  "directory." },
        { .name = "tls-san",
          .type = SETTING_LIST,
          .value_name = "NAME",
          .help = "Names and IP addresses by which clients reach the server, besides localhost and the address that "
                  "it listens "
                  "at. They are added to its certificate." },
        { .name = "token-auth-file",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "Static tokens: lines of token,user,uid,\"group,group\". The file is read at the start." },
        { .name = "cluster-version",
          .type = SETTING_STRING,
          .value_name = "VERSION",
          .check = check_version,
          .help = "Version that the API says it has. The default is the version that it is tested against." },
        { .name = "max-user-requests",
          .type = SETTING_INT,
          .default_text = "400",
          .min = 1,
          .max = 100000,
          .help = "Requests that one user may have open at a time. More are answered 429 with Retry-After." },
        { .name = "max-user-watches",
          .type = SETTING_INT,
          .default_text = "2000",
          .min = 1,
          .max = 100000,
          .help = "Watches that one user may have open at a time." },
        { .name = "max-memory",
          .type = SETTING_INT,
          .min = 16,
          .max = 1 << 20,
          .value_name = "MIB",
          .help = "Memory for all requests and answers together, in MiB. By default 192, or half of what the container "
                  "may "
                  "have if that is less." },
        { .name = "debug",
          .short_name = 'd',
          .type = SETTING_BOOL,
          .help = "Log debug messages, in a form for people." },
};

static int check(const struct settings *settings, struct arguments arguments, struct err *err)
{
        bool has_data = settings_str(settings, "data").n > 0, is_ephemeral = settings_bool(settings, "ephemeral");

        if (arguments.n > 0)
                return err_set(err, ERR_INVALID, "unexpected argument \"%s\"", arguments.p[0]);
        if (has_data && is_ephemeral)
                return err_set(err, ERR_INVALID, "--data and --ephemeral exclude each other");
        if (!has_data && !is_ephemeral)
                return err_set(err, ERR_INVALID,
                               "give --data DIR to keep objects, or --ephemeral to keep them in memory only");
        return 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        struct setting_list names = settings_list(settings, "tls-san");
        struct server_options options = {
                .data = settings_bool(settings, "ephemeral") ? "" : settings_str(settings, "data").p,
                .listen = settings_str(settings, "listen").p,
                .kubeconfig = settings_str(settings, "kubeconfig").p,
                .names = names.items,
                .n_names = names.n,
                .token_file = settings_str(settings, "token-auth-file").p,
                .version = settings_str(settings, "cluster-version").p,
                .max_user_requests = (unsigned)settings_int(settings, "max-user-requests"),
                .max_user_watches = (unsigned)settings_int(settings, "max-user-watches"),
                .max_memory_bytes = (size_t)settings_int(settings, "max-memory") << 20,
                .is_debug = settings_bool(settings, "debug"),
        };

        if (check(settings, arguments, &err) < 0)
                return command_print_usage_error(c, &err);
        if (server_run(&options, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_server = {
        .name = "server",
        .summary = "Serve the Kubernetes API from one process, for kubectl and any other client",
        .arguments = "",
        .help = "The API has custom resources, server-side apply, watches, garbage collection and role-based access, "
                "but runs no pods.\n"
                "It speaks TLS with an authority of its own, and prints the kubeconfig to connect with. On SIGTERM "
                "or SIGINT it ends\n"
                "watches, finishes open requests and stops.\n\n"
                "  weft server --data ~/.weft\n"
                "  weft server --ephemeral --kubeconfig test.kubeconfig\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
