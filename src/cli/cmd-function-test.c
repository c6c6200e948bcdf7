#include "command.h"

#include "buf.h"
#include "dialer.h"
#include "fn-client.h"
#include "fn-parts.h"
#include "json.h"
#include "package-run.h"
#include "request-file.h"

#include <stdio.h>

enum { OUTPUT_JSON, OUTPUT_YAML };

static const char *const outputs[] = { "json", "yaml", NULL };

static const struct setting settings_table[] = {
        { .name = "expect",
          .type = SETTING_LIST,
          .value_name = "FILE,...",
          .help = "Files with the expected responses (RunFunctionResponse in YAML or JSON), one for each request in "
                  "their order. "
                  "Responses are then compared and not printed." },
        { .name = "pull",
          .type = SETTING_ENUM,
          .choices = package_pulls,
          .default_text = "missing",
          .help = "When to ask the registry for the package." },
        { .name = "env", .type = SETTING_LIST, .value_name = "NAME=VALUE,...", .help = "Environment of the function." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "1m",
          .min = 1,
          .max = INT64_MAX,
          .help = "How long pulling, starting and all calls together may take." },
        { .name = "cache-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory of the images that were pulled; without it, weft/images below the user's cache "
                  "directory." },
        { .name = "insecure-skip-tls-verify",
          .type = SETTING_BOOL,
          .help = "Do not verify the registry's certificate." },
        { .name = "output",
          .short_name = 'o',
          .type = SETTING_ENUM,
          .choices = outputs,
          .default_text = "json",
          .help = "How to print the responses." },
};

/* One test: the function, and how its answers are looked at. */
struct trial {
        const struct command *command;
        const struct settings *settings;
        struct arena *arena;
        struct grpc_channel *channel;
        struct deadline deadline;
};

static int start(struct trial *t, struct package_runner *runner, const char *package, struct err *err)
{
        struct setting_list environment = settings_list(t->settings, "env");
        struct package_to_run what = {
                .name = STR("function"),
                .package = str_from(package),
                .pull = (enum package_pull)settings_int(t->settings, "pull"),
                .environment = environment.items,
                .n_environment = environment.n,
                .deadline = t->deadline,
        };
        _cleanup_(dialer_unrefp)
        struct dialer *dialer = NULL;
        struct str target;

        if (package_runner_start(runner, t->arena, &what, &dialer, &target, err) < 0)
                return err_wrap(err, "cannot start %s", package);
        return grpc_channel_new(target, &(struct grpc_channel_options) { .dialer = dialer }, &t->channel, err);
}

/* Both as JSON with one member in a line, so that people can compare them. */
static int print_difference(const struct value *expected, const struct value *got, struct err *err)
{
        _cleanup_buf_ struct buf a = BUF_INIT(0), b = BUF_INIT(0);
        int r = json_write(&a, expected, JSON_SORT_KEYS | JSON_PRETTY, err);

        if (r >= 0)
                r = json_write(&b, got, JSON_SORT_KEYS | JSON_PRETTY, err);
        if (r >= 0)
                fprintf(stderr, "--- expected\n%s\n+++ the function answered\n%s\n", buf_cstring(&a), buf_cstring(&b));
        return r;
}

/* 1 if they are equal: as messages, so that order and notation do not count. */
static int compare(struct trial *t, const char *request, struct str file, const struct value *got, struct err *err)
{
        _cleanup_bytes_ struct bytes *expected = NULL;
        _cleanup_buf_ struct buf answered = BUF_INIT(0);
        const struct value *decoded;
        int r = request_file_read(t->arena, arena_cstring(t->arena, file), &proto_fn_v1_RunFunctionResponse, &expected,
                                  err);

        if (r >= 0)
                r = proto_encode(&answered, &proto_fn_v1_RunFunctionResponse, got, NULL, err);
        if (r < 0)
                return r;
        if (str_equal(expected->str, buf_str(&answered))) {
                printf("ok %s\n", request);
                return 1;
        }
        printf("not ok %s: the response is not that of %.*s\n", request, STR_ARG(file));
        fflush(stdout);
        r = proto_decode(t->arena, &proto_fn_v1_RunFunctionResponse, expected->str, NULL, &decoded, err);
        return r < 0 ? r : print_difference(decoded, got, err);
}

/* 1 if the function answered as it should. */
static int try_request(struct trial *t, const char *request, struct str expected, struct err *err)
{
        struct grpc_call_options options = { .deadline = t->deadline };
        _cleanup_bytes_ struct bytes *message = NULL;
        const struct value *response;
        struct grpc_reply reply;
        int r = request_file_read(t->arena, request, &proto_fn_v1_RunFunctionRequest, &message, err);

        if (r < 0)
                return r;
        r = fn_call(t->channel, message, &options, t->arena, &reply, err);
        if (r < 0)
                return err_wrap(err, "%s", request);
        r = proto_decode(t->arena, &proto_fn_v1_RunFunctionResponse, reply.response->str, NULL, &response, err);
        bytes_unref(reply.response);
        if (r < 0)
                return err_wrap(err, "%s", request);
        if (expected.n)
                return compare(t, request, expected, response, err);
        r = response_print(response, settings_int(t->settings, "output") == OUTPUT_YAML, err);
        return r < 0 ? r : !response_is_fatal(response);
}

static int try_all(struct trial *t, struct arguments arguments, struct err *err)
{
        struct setting_list expected = settings_list(t->settings, "expect");
        bool is_good = true;

        for (size_t i = 1; i < arguments.n; i++) {
                int r = try_request(t, arguments.p[i], i <= expected.n ? expected.items[i - 1] : STR(""), err);

                if (r < 0)
                        return r;
                is_good &= r > 0;
        }
        return is_good ? 1 : 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct trial t = { .command = c,
                           .settings = settings,
                           .arena = &a,
                           .deadline = deadline_after_ns(settings_int(settings, "timeout")) };
        size_t n_expected = settings_list(settings, "expect").n;
        struct package_runner *runner;
        int r;

        if (arguments.n < 2 || (n_expected && n_expected != arguments.n - 1)) {
                err_set(&err, ERR_INVALID,
                        arguments.n < 2 ? "give a package and at least one file with a request"
                                        : "give as many files to --expect as there are requests");
                return command_print_usage_error(c, &err);
        }
        arena_init(&a, "function test", 0);
        runner = package_runner_new(&(struct package_runner_options) {
                .cache_directory = settings_str(settings, "cache-dir"),
                .skips_verification = settings_bool(settings, "insecure-skip-tls-verify"),
                .shows_logs = true,
        });
        r = start(&t, runner, arguments.p[0], &err);
        if (r >= 0)
                r = try_all(&t, arguments, &err);
        grpc_channel_unref(t.channel);
        package_runner_free(runner);
        if (r < 0)
                command_print_error(c, &err);
        return r > 0 ? EXIT_OK : EXIT_ERROR;
}

const struct command command_function_test = {
        .name = "function test",
        .summary = "Start the function of a package, call it with requests and look at its responses",
        .arguments = "PACKAGE REQUEST...",
        .help = "PACKAGE is a reference (registry.example.org/acme/function-a:v1) or a .xpkg file. Its function runs "
                "isolated from this\n"
                "machine, without a network, and ends with the command. Each REQUEST is a file with a "
                "RunFunctionRequest in YAML or\n"
                "JSON. The exit status is 1 when a call fails, when a response is not the expected one, and when a "
                "response that nobody\n"
                "expects has a fatal result.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
