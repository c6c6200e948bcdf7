#include "command.h"

#include "buf.h"
#include "fn-client.h"
#include "fn-parts.h"
#include "request-file.h"
#include "tls.h"

#include <stdio.h>

enum { OUTPUT_JSON, OUTPUT_YAML };

static const char *const outputs[] = { "json", "yaml", NULL };

static const struct setting settings_table[] = {
        { .name = "tls-certs-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory with the tls.crt and tls.key to show the function and the ca.crt that its certificate "
                  "must be "
                  "signed by." },
        { .name = "insecure", .type = SETTING_BOOL, .help = "Call in plain text." },
        { .name = "server-name",
          .type = SETTING_STRING,
          .value_name = "NAME",
          .help = "Name that the function's certificate must have, if it is not the target's host." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "20s",
          .min = 1,
          .max = INT64_MAX,
          .help = "How long to wait for the response." },
        { .name = "output",
          .short_name = 'o',
          .type = SETTING_ENUM,
          .choices = outputs,
          .default_text = "json",
          .help = "How to print the response." },
};

static int open_channel(const struct settings *settings, const char *target, struct grpc_channel **ret, struct err *err)
{
        struct str directory = settings_str(settings, "tls-certs-dir"), name = settings_str(settings, "server-name");
        struct grpc_channel_options options = { .authority = name.n ? name.p : NULL };
        int r;

        if (!settings_bool(settings, "insecure")) {
                r = tls_config_new(&(struct tls_options) { .directory = directory.p }, &options.tls, err);
                if (r < 0)
                        return r;
        }
        r = grpc_channel_new(str_from(target), &options, ret, err);
        tls_config_unref(options.tls);
        return r;
}

static int call(struct arena *a, const struct settings *settings, const char *target, struct bytes *request,
                const struct value **ret, struct err *err)
{
        struct grpc_call_options options = {
                .deadline = deadline_after_ns(settings_int(settings, "timeout")),
                .fails_fast = true,
        };
        struct grpc_channel *channel;
        struct grpc_reply reply;
        int r = open_channel(settings, target, &channel, err);

        if (r < 0)
                return r;
        r = fn_call(channel, request, &options, a, &reply, err);
        if (r == 0) {
                r = proto_decode(a, &proto_fn_v1_RunFunctionResponse, reply.response->str, NULL, ret, err);
                bytes_unref(reply.response);
        }
        grpc_channel_unref(channel);
        return r;
}

static int check_usage(const struct settings *settings, struct arguments arguments, struct err *err)
{
        if (arguments.n != 2)
                return err_set(err, ERR_INVALID, "give a target and a file with the request");
        if (!settings_bool(settings, "insecure") && settings_str(settings, "tls-certs-dir").n == 0)
                return err_set(err, ERR_INVALID, "give --tls-certs-dir, or --insecure to call in plain text");
        return 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = NULL;
        const struct value *response;

        arena_init(&a, "call", 0);
        if (check_usage(settings, arguments, &err) < 0)
                return command_print_usage_error(c, &err);
        if (request_file_read(&a, arguments.p[1], &proto_fn_v1_RunFunctionRequest, &request, &err) < 0 ||
            call(&a, settings, arguments.p[0], request, &response, &err) < 0 ||
            response_print(response, settings_int(settings, "output") == OUTPUT_YAML, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return response_is_fatal(response) ? EXIT_ERROR : EXIT_OK;
}

const struct command command_function_call = {
        .name = "function call",
        .summary = "Call a running function once and print its response",
        .arguments = "TARGET REQUEST",
        .help = "TARGET is where the function listens: host:port, dns:///host:port, unix:path. REQUEST is a file with "
                "a\n"
                "RunFunctionRequest in YAML or JSON, or - for standard input. The exit status is 1 when the call fails "
                "and when\n"
                "the response has a fatal result.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
