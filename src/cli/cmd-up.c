#include "command.h"

#include "data-directory.h"
#include "own-kinds.h"
#include "up.h"

static const char *const builtin_choices[] = { "by-version", "always", NULL };

static const struct setting settings_table[] = {
        { .name = "data",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory for objects, keys and the port; it is made when it is missing. The default is weft in "
                  "$XDG_STATE_HOME, which "
                  "is ~/.local/state if unset." },
        { .name = "ephemeral",
          .type = SETTING_BOOL,
          .help = "Keep everything in memory. Nothing is left when the command ends but packages that were pulled." },
        { .name = "listen",
          .type = SETTING_STRING,
          .value_name = "ADDRESS",
          .help = "IP address and port of the API. The default is 127.0.0.1 with the port of the last start, at the "
                  "first start a free one." },
        { .name = "kubeconfig",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "Where to write the administrator's kubeconfig. The default is kubeconfig in the data directory." },
        { .name = "once",
          .type = SETTING_BOOL,
          .help = "End when everything is ready, with status 0; with status 1 if that takes too long." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "5m",
          .value_name = "TIME",
          .help = "How long --once waits." },
        { .name = "watch",
          .type = SETTING_BOOL,
          .help = "Apply files again when they are saved. Objects that leave the files stay, unless --prune is "
                  "given." },
        { .name = "prune", .type = SETTING_BOOL, .help = "With --watch: delete objects that leave the files." },
        { .name = "function",
          .type = SETTING_LIST,
          .value_name = "NAME=HOST:PORT",
          .help = "A function that runs beside, for the Function of that name. Plain text, or mutual TLS with "
                  "--tls-certs-dir." },
        { .name = "tls-certs-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory with tls.crt, tls.key and ca.crt, for calls of functions that run beside." },
        { .name = "builtin-functions",
          .type = SETTING_ENUM,
          .choices = builtin_choices,
          .default_text = "by-version",
          .value_name = "WHEN",
          .help = "When a built-in function stands for a package: by-version, for the version it behaves like and "
                  "older ones; or always, for "
                  "every version and for digests." },
        { .name = "package-runtime",
          .type = SETTING_STRING,
          .default_text = "Process",
          .value_name = "RUNTIME",
          .help = "Where the programs of packages run: Process, on this machine; External, started by others, who fill "
                  "in "
                  "status.endpoint; or one for each kind, Function=External;Provider=Process." },
        { .name = "xpkg-cache-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory for packages that were pulled. The default is weft in $XDG_CACHE_HOME, which is ~/.cache "
                  "if unset; for root with a home that is closed to others, /var/cache/weft." },
        { .name = "ca-bundle-path",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "Authorities besides the system's, for registries that packages are pulled from." },
        { .name = "xfn-cache-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "With the gate FunctionResponseCache: a directory that keeps responses across starts. The default is "
                  "memory alone." },
        { .name = "xfn-cache-max-ttl",
          .type = SETTING_DURATION,
          .default_text = "24h",
          .value_name = "TIME",
          .help = "The longest time that a response is kept; 0 for as long as its function says." },
        { .name = "pipeline-inspector-socket",
          .type = SETTING_STRING,
          .default_text = "/var/run/pipeline-inspector/socket",
          .value_name = "PATH",
          .help = "With the gate PipelineInspector: the Unix socket of the program that is told requests and "
                  "responses." },
        FEATURE_SETTINGS,
        { .name = "debug",
          .short_name = 'd',
          .type = SETTING_BOOL,
          .help = "Log debug messages, in a form for people." },
};

static bool reads_standard_input(struct arguments arguments)
{
        for (size_t i = 0; i < arguments.n; i++)
                if (str_equal(str_from(arguments.p[i]), STR("-")))
                        return true;
        return false;
}

static int check_flags(const struct up_options *o, bool has_both, struct arguments arguments, struct err *err)
{
        if (has_both)
                return err_set(err, ERR_INVALID, "--data and --ephemeral exclude each other");
        if (o->prunes && !o->watches)
                return err_set(err, ERR_INVALID,
                               "--prune deletes what leaves the files while they are watched: give --watch too");
        if (o->watches && o->is_once)
                return err_set(err, ERR_INVALID, "--watch and --once exclude each other");
        if (o->watches && o->n_paths == 0)
                return err_set(err, ERR_INVALID, "--watch needs files or directories to watch");
        if (o->watches && reads_standard_input(arguments))
                return err_set(err, ERR_INVALID,
                               "--watch cannot read standard input (-) again: give files or directories");
        if (!o->server.data)
                return err_set(err, ERR_INVALID, "HOME is not set: give --data DIR or --ephemeral");
        return 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_free_ char *data = data_directory_default();
        bool is_ephemeral = settings_bool(settings, "ephemeral");
        struct setting_list functions = settings_list(settings, "function");
        struct str given = settings_str(settings, "data");
        struct up_options options = {
                .server = { .data = is_ephemeral ? ""
                                    : given.n    ? given.p
                                                 : data,
                            .listen = settings_str(settings, "listen").p,
                            .kubeconfig = settings_str(settings, "kubeconfig").p,
                            .token_file = "",
                            .version = "",
                            .is_debug = settings_bool(settings, "debug"),
                            .strategy_of = own_kind_strategy,
                            .protects_usages = true },
                .paths = (const char *const *)arguments.p,
                .n_paths = arguments.n,
                .functions = functions.items,
                .n_functions = functions.n,
                .tls_certs_dir = settings_str(settings, "tls-certs-dir"),
                .ignores_versions = str_equal(settings_str(settings, "builtin-functions"), STR("always")),
                .package_runtime = settings_str(settings, "package-runtime"),
                .package_directory = settings_str(settings, "xpkg-cache-dir"),
                .ca_file = settings_str(settings, "ca-bundle-path"),
                .cache_directory = settings_str(settings, "xfn-cache-dir"),
                .cache_max_ttl_ns = settings_int(settings, "xfn-cache-max-ttl"),
                .inspector_socket = settings_str(settings, "pipeline-inspector-socket"),
                .is_once = settings_bool(settings, "once"),
                .timeout_ns = settings_int(settings, "timeout"),
                .watches = settings_bool(settings, "watch"),
                .prunes = settings_bool(settings, "prune"),
        };

        if (features_read(settings, &options.features, &err) < 0 ||
            check_flags(&options, is_ephemeral && given.n, arguments, &err) < 0)
                return command_print_usage_error(c, &err);
        if (up_run(&options, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_up = {
        .name = "up",
        .summary = "Run a control plane here: the API, all controllers, and your manifests",
        .arguments = "[FILE|DIR|-]...",
        .help = "Starts the Kubernetes API and the controllers of compositions in this process, applies the manifests "
                "in an order that\n"
                "works, shows what becomes of each object, prints what was composed when all is ready, and serves "
                "until Ctrl-C.\n\n"
                "  weft up examples/platform\n"
                "  weft up --ephemeral --once examples/platform\n"
                "  weft up --watch --prune examples/platform\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
