/* `weft xpkg install` and `weft xpkg update`: a package object in the API of a control plane. */
#include "command.h"

#include "api-client.h"
#include "condition.h"
#include "oci-reference.h"
#include "park.h"
#include "xpkg.h"

#include <stdio.h>

#define POLL_MS  500
#define ATTEMPTS 5 /* to update a package that others write too */

#define IMPERSONATION                                                          \
        { .name = "as",                                                        \
          .type = SETTING_STRING,                                              \
          .value_name = "USER",                                                \
          .help = "Username to impersonate for the operation." },              \
                { .name = "as-group",                                          \
                  .type = SETTING_LIST,                                        \
                  .value_name = "GROUP,...",                                   \
                  .help = "Groups to impersonate for the operation." },        \
        {                                                                      \
                .name = "as-uid", .type = SETTING_STRING, .value_name = "UID", \
                .help = "UID to impersonate for "                              \
                        "the operation."                                       \
        }

static const struct setting install_settings[] = {
        { .name = "runtime-config",
          .type = SETTING_STRING,
          .value_name = "NAME",
          .help = "Install the package with a runtime configuration (for example a DeploymentRuntimeConfig)." },
        { .name = "manual-activation",
          .short_name = 'm',
          .type = SETTING_BOOL,
          .help = "Require the new package's first revision to be manually activated." },
        { .name = "package-pull-secrets",
          .type = SETTING_LIST,
          .value_name = "NAME,...",
          .help = "Secrets that the package manager uses to pull the package from the registry." },
        { .name = "revision-history-limit",
          .short_name = 'r',
          .type = SETTING_INT,
          .min = 0,
          .max = INT64_MAX,
          .value_name = "LIMIT",
          .help = "Number of package revisions that can exist before garbage collection. 0, the default of this "
                  "command, keeps all of them." },
        { .name = "wait",
          .short_name = 'w',
          .type = SETTING_DURATION,
          .default_text = "0s",
          .help = "How long to wait for the package to become healthy before returning. The command does not wait by "
                  "default." },
        API_CLIENT_ADDRESS_SETTINGS,
        IMPERSONATION,
};

static const struct setting update_settings[] = {
        API_CLIENT_ADDRESS_SETTINGS,
        IMPERSONATION,
};

/* The kinds of packages, as the command line names them. */
static const struct {
        struct str name, kind, plural;
        bool has_runtime;
} kinds[] = {
        { STR_INIT("provider"), STR_INIT("Provider"), STR_INIT("providers"), true },
        { STR_INIT("configuration"), STR_INIT("Configuration"), STR_INIT("configurations"), false },
        { STR_INIT("function"), STR_INIT("Function"), STR_INIT("functions"), true },
};

/* The package that the arguments name. */
struct target {
        size_t kind; /* index in kinds */
        struct str package;
        struct str name;
        struct str path; /* of its kind in the API */
};

static int read_target(struct arena *a, struct arguments arguments, struct target *ret, struct err *err)
{
        struct str kind = str_from(arguments.p[0]);
        struct oci_reference ref;

        ret->kind = 0;
        while (ret->kind < ARRAY_SIZE(kinds) && !str_equal(kinds[ret->kind].name, kind))
                ret->kind++;
        if (ret->kind == ARRAY_SIZE(kinds))
                return err_set(err, ERR_INVALID,
                               "<kind> must be one of \"provider\",\"configuration\",\"function\" but got \"%.*s\"",
                               STR_ARG(kind));
        ret->package = str_from(arguments.p[1]);
        if (oci_reference_parse(a, ret->package, OCI_NEEDS_REGISTRY | OCI_NEEDS_TAG, &ref, NULL) < 0)
                return err_set(err, ERR_FAILED,
                               "invalid package image identifier: could not parse reference: %.*s. Give the registry, "
                               "the repository and a tag or digest: registry.example.com/acme/package:v1.0.0",
                               STR_ARG(ret->package));
        ret->name = arguments.n > 2 ? str_from(arguments.p[2]) : xpkg_dns_label(a, ref.repository);
        ret->path = ARENA_CONCAT(a, STR("/apis/pkg.crossplane.io/v1/"), kinds[ret->kind].plural);
        return 0;
}

static int open_client(const struct settings *settings, struct api_client **ret, struct err *err)
{
        struct setting_list groups = settings_list(settings, "as-group");
        struct api_impersonation as = { .user = settings_str(settings, "as"),
                                        .uid = settings_str(settings, "as-uid"),
                                        .groups = groups.items,
                                        .n_groups = groups.n };
        int r = api_client_new(settings, ret, err);

        if (r >= 0)
                api_client_impersonate(*ret, &as);
        return r;
}

/* --- install --- */

static struct value names_of(struct arena *a, struct setting_list list)
{
        struct array_builder b;

        array_builder_init(&b, a, list.n);
        for (size_t i = 0; i < list.n; i++) {
                struct member name = { STR("name"), value_of_str(list.items[i]) };

                array_builder_add(&b, value_of_members(a, &name, 1, true));
        }
        return array_builder_finish(&b);
}

static const struct value *new_package(struct arena *a, const struct settings *settings, const struct target *t)
{
        struct str config = settings_str(settings, "runtime-config");
        struct setting_list secrets = settings_list(settings, "package-pull-secrets");
        struct member name = { STR("name"), value_of_str(t->name) };
        struct member config_name = { STR("name"), value_of_str(config) };
        struct object_builder b, spec;

        object_builder_init(&spec, a, 5);
        object_builder_add(&spec, STR("package"), value_of_str(t->package));
        object_builder_add(&spec, STR("revisionActivationPolicy"),
                           settings_bool(settings, "manual-activation") ? value_of_literal("Manual")
                                                                        : value_of_literal("Automatic"));
        object_builder_add(&spec, STR("revisionHistoryLimit"),
                           value_of_int(settings_int(settings, "revision-history-limit")));
        if (secrets.n > 0)
                object_builder_add(&spec, STR("packagePullSecrets"), names_of(a, secrets));
        if (config.n > 0)
                object_builder_add(&spec, STR("runtimeConfigRef"), value_of_members(a, &config_name, 1, true));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("pkg.crossplane.io/v1"));
        object_builder_add(&b, STR("kind"), value_of_str(kinds[t->kind].kind));
        object_builder_add(&b, STR("metadata"), value_of_members(a, &name, 1, true));
        object_builder_add(&b, STR("spec"), object_builder_finish(&spec));
        return value_put(a, object_builder_finish(&b));
}

/* Waits until the package is healthy. */
static int wait_until_healthy(struct api_client *client, struct arena *a, const struct target *t, int64_t wait_ns,
                              struct err *err)
{
        struct deadline deadline = deadline_after_ms(wait_ns / 1000000);
        struct str path = ARENA_CONCAT(a, t->path, STR("/"), t->name);
        struct condition healthy = { 0 };

        for (;;) {
                const struct value *package;
                int r = api_client_call(client, a, STR("GET"), path, NULL, &package, err);

                if (r < 0)
                        return err_wrap(err, "cannot get package");
                if (condition_get(package, STR("Healthy"), &healthy) && healthy.status == CONDITION_TRUE)
                        return 0;
                if (deadline_has_passed(deadline))
                        return err_set(err, ERR_TIMEOUT,
                                       "Package did not become ready: context deadline exceeded%s%.*s",
                                       healthy.message.n > 0 ? ": " : "", STR_ARG(healthy.message));
                thread_sleep(deadline_earliest(deadline, deadline_after_ms(POLL_MS)), NULL);
        }
}

static int install(const struct settings *settings, struct arena *a, struct arguments arguments, struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *client = NULL;
        int64_t wait_ns = settings_int(settings, "wait");
        const struct value *created;
        struct target t;
        int r = read_target(a, arguments, &t, err);

        if (r >= 0 && !kinds[t.kind].has_runtime && settings_str(settings, "runtime-config").n > 0)
                r = err_set(err, ERR_INVALID, "--runtime-config: a configuration has no runtime");
        if (r >= 0)
                r = open_client(settings, &client, err);
        if (r < 0)
                return r;
        r = api_client_call(client, a, STR("POST"), t.path, new_package(a, settings, &t), &created, err);
        if (r < 0)
                return err_wrap(err, "cannot create package");
        if (wait_ns > 0)
                r = wait_until_healthy(client, a, &t, wait_ns, err);
        if (r >= 0)
                printf("%.*s/%.*s created\n", STR_ARG(kinds[t.kind].name), STR_ARG(t.name));
        return r;
}

/* --- update --- */

/* Reads the package and writes it back with another reference. ERR_CONFLICT: somebody wrote in between. */
static int set_reference(struct api_client *client, struct arena *a, const struct target *t, struct err *err)
{
        struct str path = ARENA_CONCAT(a, t->path, STR("/"), t->name);
        struct value reference = value_of_str(t->package);
        const struct value *package, *spec;
        int r = api_client_call(client, a, STR("GET"), path, NULL, &package, err);

        if (r < 0)
                return err_wrap(err, "cannot get package");
        spec = value_with(a, value_get(package, STR("spec")), STR("package"), &reference);
        return api_client_call(client, a, STR("PUT"), path, value_with(a, package, STR("spec"), spec), &package, err);
}

static int update(const struct settings *settings, struct arena *a, struct arguments arguments, struct err *err)
{
        _cleanup_(api_client_freep)
        struct api_client *client = NULL;
        struct target t;
        int r = read_target(a, arguments, &t, err);

        if (r >= 0)
                r = open_client(settings, &client, err);
        if (r < 0)
                return r;
        for (int i = 0; i < ATTEMPTS; i++) {
                r = set_reference(client, a, &t, err);
                if (r != ERR_CONFLICT)
                        break;
        }
        if (r < 0)
                return err_wrap(err, "cannot update %.*s/%.*s", STR_ARG(kinds[t.kind].name), STR_ARG(t.name));
        printf("%.*s/%.*s updated\n", STR_ARG(kinds[t.kind].name), STR_ARG(t.name));
        return 0;
}

/* --- Both --- */

typedef int work_fn(const struct settings *settings, struct arena *a, struct arguments arguments, struct err *err);

static int run_work(const struct command *c, const struct settings *settings, struct arguments arguments, work_fn *work)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "package", 0);
        if (arguments.n < 2 || arguments.n > 3) {
                err_set(&err, ERR_INVALID, "give the kind of the package, its reference and, if you like, a name");
                return command_print_usage_error(c, &err);
        }
        if (work(settings, &a, arguments, &err) >= 0)
                return EXIT_OK;
        if (err.code == ERR_INVALID && str_starts_with(str_from(err_message(&err)), STR("<kind>")))
                return command_print_usage_error(c, &err);
        command_print_error(c, &err);
        return EXIT_ERROR;
}

static int run_install(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return run_work(c, settings, arguments, install);
}

static int run_update(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return run_work(c, settings, arguments, update);
}

const struct command command_xpkg_install = {
        .name = "xpkg install",
        .summary = "Install a package in a control plane",
        .arguments = "KIND PACKAGE [NAME]",
        .help = "Creates a package in the API that the kubeconfig names. KIND is provider, configuration or function. "
                "PACKAGE\n"
                "names registry, repository and a tag or digest. NAME is made from the repository if it is not "
                "given.\n\n"
                "  weft xpkg install function xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0 "
                "--wait=1m\n",
        .settings = install_settings,
        .n_settings = ARRAY_SIZE(install_settings),
        .run = run_install,
};

const struct command command_xpkg_update = {
        .name = "xpkg update",
        .summary = "Update a package in a control plane",
        .arguments = "KIND PACKAGE [NAME]",
        .help = "Sets the reference of an installed package. NAME is made from the repository if it is not given.\n",
        .settings = update_settings,
        .n_settings = ARRAY_SIZE(update_settings),
        .run = run_update,
};
