#include "command.h"

#include "buf.h"
#include "functions.h"
#include "serve.h"

#include <stdio.h>

static const struct setting settings_table[] = {
        { .name = "network",
          .type = SETTING_STRING,
          .default_text = "tcp",
          .value_name = "NETWORK",
          .help = "Network to listen on: tcp or unix." },
        { .name = "address",
          .type = SETTING_STRING,
          .default_text = ":9443",
          .value_name = "ADDRESS",
          .help = "Address to listen at." },
        { .name = "tls-certs-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory with tls.crt, tls.key and the ca.crt that client certificates must be signed by. Without "
                  "the "
                  "flag the variable TLS_SERVER_CERTS_DIR counts." },
        { .name = "insecure",
          .type = SETTING_BOOL,
          .help = "Serve without TLS. A directory with certificates is then not used." },
        { .name = "max-recv-message-size",
          .type = SETTING_INT,
          .default_text = "64",
          .min = 1,
          .max = 2047,
          .value_name = "MIB",
          .help = "Largest request that is accepted, in MiB." },
        { .name = "max-memory",
          .type = SETTING_INT,
          .min = 16,
          .max = 1 << 20,
          .value_name = "MIB",
          .help = "Memory for all calls together, in MiB; one call may have 7/8 of it. By default 192, or half of what "
                  "the "
                  "container may have if that is less." },
        { .name = "metrics-address",
          .type = SETTING_STRING,
          .value_name = "ADDRESS",
          .help = "Serve Prometheus metrics at this address. Off by default." },
        { .name = "template-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory beneath which function-go-templating may read templates (source FileSystem). Without the "
                  "flag it "
                  "reads no files." },
        { .name = "default-source",
          .type = SETTING_STRING,
          .value_name = "PATH",
          .help = "Directory or file of templates that function-go-templating uses for an input without a source. "
                  "Without the flag the variable FUNCTION_GO_TEMPLATING_DEFAULT_SOURCE counts." },
        { .name = "default-options",
          .type = SETTING_LIST,
          .value_name = "OPTION,...",
          .help = "Options of templates that function-go-templating uses for an input without options." },
        { .name = "ttl",
          .type = SETTING_DURATION,
          .default_text = "1m",
          .value_name = "DURATION",
          .help = "How long responses of function-go-templating are valid, unless the input or an annotation of the "
                  "composite resource says otherwise." },
        { .name = "debug",
          .short_name = 'd',
          .type = SETTING_BOOL,
          .help = "Log debug messages, in a form for people." },
};

static bool has_fatal(const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++)
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return true;
        return false;
}

static enum grpc_status run_function(void *context, struct grpc_request *call, const struct fn_parts *parts,
                                     struct buf *ret, bool *ret_is_fatal, struct err *err)
{
        const struct builtin_function *function = context;
        struct run run = { .arena = call->arena, .deadline = call->deadline, .cancel = call->cancel };
        struct fn_request req;
        struct fn_response rsp;

        if (fn_request_decode(call->arena, call->message, &req, err) < 0)
                return GRPC_INTERNAL;
        if (function->run(&run, &req, &rsp, err) < 0)
                return GRPC_UNKNOWN; /* like a Go function that returns an error */
        if (fn_response_encode(call->arena, &rsp, ret, err) < 0)
                return GRPC_INTERNAL;
        *ret_is_fatal = has_fatal(&rsp);
        return GRPC_OK;
}

/* By its name, with or without `function-` before it. */
static const struct builtin_function *find_named(const char *name)
{
        _cleanup_buf_ struct buf whole = BUF_INIT(0);
        const struct builtin_function *function = builtin_find(str_from(name));

        buf_appendf(&whole, "function-%s", name);
        return function ? function : builtin_find(buf_str(&whole));
}

static const struct builtin_function *find_function(struct arguments arguments, struct err *err)
{
        const struct builtin_function *function;

        if (arguments.n != 1) {
                err_set(err, ERR_INVALID, "give the name of one built-in function");
                return NULL;
        }
        function = find_named(arguments.p[0]);
        if (!function) {
                const char *names[64];
                size_t n = MIN(builtin_n_functions, ARRAY_SIZE(names));
                const char *nearest;

                for (size_t i = 0; i < n; i++)
                        names[i] = builtin_functions[i]->name;
                nearest = settings_nearest(str_from(arguments.p[0]), names, n);
                err_set(err, ERR_INVALID, "there is no built-in function \"%s\"%s%s%s", arguments.p[0],
                        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        }
        return function;
}

static const char *certs_directory(const struct settings *settings)
{
        struct str given = settings_str(settings, "tls-certs-dir");
        const char *variable = getenv("TLS_SERVER_CERTS_DIR");

        return given.n ? given.p : variable ? variable : "";
}

/* Flags of one function are refused for the others. */
static int check_templating(const struct builtin_function *function, const struct settings *settings, struct err *err)
{
        static const char *const flags[] = { "template-dir", "default-source", "default-options", "ttl" };

        for (size_t i = 0; i < ARRAY_SIZE(flags) && function != &function_go_templating; i++)
                if (settings_value(settings, flags[i])->source == SOURCE_FLAG)
                        return err_set(err, ERR_INVALID, "--%s is a flag of %s, and %s has no templates", flags[i],
                                       function_go_templating.name, function->name);
        return 0;
}

static void set_templating(const struct settings *settings)
{
        struct str given = settings_str(settings, "default-source");
        const char *variable = getenv("FUNCTION_GO_TEMPLATING_DEFAULT_SOURCE");
        struct templating_defaults defaults = {
                .source = given.n                 ? given.p
                          : variable && *variable ? variable
                                                  : NULL,
                .options = settings_list(settings, "default-options"),
                .has_ttl = true,
                .ttl_ns = settings_int(settings, "ttl"),
        };

        functions_set_templating_defaults(&defaults);
        if (settings_str(settings, "template-dir").n > 0)
                functions_set_template_directory(settings_str(settings, "template-dir").p);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        const struct builtin_function *function = find_function(arguments, &err);
        struct serve_options options = {
                .network = settings_str(settings, "network").p,
                .address = settings_str(settings, "address").p,
                .certs_directory = certs_directory(settings),
                .metrics_address = settings_str(settings, "metrics-address").p,
                .max_receive_bytes = (size_t)settings_int(settings, "max-recv-message-size") << 20,
                .max_memory_bytes = (size_t)settings_int(settings, "max-memory") << 20,
                .is_insecure = settings_bool(settings, "insecure"),
                .is_debug = settings_bool(settings, "debug"),
                .run = run_function,
                .context = (void *)function,
        };

        if (!function)
                return command_print_usage_error(c, &err);
        options.name = function->name;
        if (check_templating(function, settings, &err) < 0)
                return command_print_usage_error(c, &err);
        set_templating(settings);
        if (serve_function(&options, &err) < 0) {
                fprintf(stderr, "%s: error: %s\n", function->name, err_message(&err));
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

static void append_names(struct buf *b)
{
        buf_append_literal(b, "\nBuilt-in functions:\n");
        for (size_t i = 0; i < builtin_n_functions; i++)
                buf_appendf(b, "  %s\n", builtin_functions[i]->name);
}

const struct command command_function_serve = {
        .name = "function serve",
        .summary = "Serve a built-in function over gRPC, in place of its image",
        .arguments = "NAME",
        .help = "The function answers as the one of that name in a container would, with the same flags and the same "
                "errors, until\n"
                "SIGTERM or SIGINT; then calls may finish.\n",
        .append_help = append_names,
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
