#include "compat-run.h"
#include "render-run.h"

#include "features.h"
#include "package-run.h"
#include "render-print.h"
#include "render-watch.h"

/* In the order of enum render_format. */
static const char *const formats[] = { "yaml", "json", "tree", NULL };

static const char *const compat_choices[] = { "latest", "v2.2", NULL };

static const struct setting settings_table[] = {
        { .name = "include-function-results",
          .short_name = 'r',
          .type = SETTING_BOOL,
          .help = "Also print the results of functions and of the reconcile, as Results." },
        { .name = "include-full-xr",
          .short_name = 'x',
          .type = SETTING_BOOL,
          .help = "Print the composite resource with all that its file has, not only what the render made of it." },
        { .name = "include-context",
          .short_name = 'c',
          .type = SETTING_BOOL,
          .help = "Also print the context that the last step leaves." },
        { .name = "output",
          .type = SETTING_ENUM,
          .choices = formats,
          .default_text = "yaml",
          .help = "yaml: documents behind lines of three dashes. json: one document on each line, as jq reads them "
                  "(`jq -s` makes one array of them). "
                  "tree: a table of composite resources and what each is composed of, with what the pipeline says of "
                  "its "
                  "readiness." },
        { .name = "steps",
          .type = SETTING_BOOL,
          .help = "Print what each step of the pipeline changed of the desired state instead of what comes out: + is "
                  "new, - is gone, ~ is different. With --output=json a line for each composite resource, the changes "
                  "as "
                  "JSON patches." },
        { .name = "explain",
          .type = SETTING_STRING,
          .value_name = "RESOURCE[.FIELD]",
          .help = "Print which step set the field, or each field of the resource, and what it had been set to before. "
                  "RESOURCE is a name in the desired state, or `composite`." },
        { .name = "watch",
          .type = SETTING_BOOL,
          .help = "Keep running and render again when a file changes, is added or is removed, until Ctrl-C. A mistake "
                  "in "
                  "a file is reported and does not end the command." },
        { .name = "until-stable",
          .type = SETTING_BOOL,
          .help = "Render again, with what was composed as observed, until nothing changes, and print the last render. "
                  "Each composed resource is taken to exist as it was applied, with a uid, and to be ready: "
                  "conditions Ready and Synced True, or for built-in kinds the status that function-auto-ready looks "
                  "for "
                  "(replicas that are all available, phase Bound or Running or Succeeded, Complete, an ingress with an "
                  "address). The composite resource keeps the status that came out. Nothing else of a provider is "
                  "simulated: give other fields with -o." },
        { .name = "observed-resources",
          .short_name = 'o',
          .type = SETTING_LIST,
          .value_name = "PATH",
          .help = "Composed resources that exist already." },
        { .name = "required-resources",
          .short_name = 'e',
          .type = SETTING_LIST,
          .value_name = "PATH",
          .help = "Resources that functions may ask for." },
        { .name = "extra-resources",
          .type = SETTING_LIST,
          .value_name = "PATH",
          .help = "The same under its old name." },
        { .name = "required-schemas",
          .short_name = 's',
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory with OpenAPI v3 documents (*.json, also below it) of kinds whose schemas functions may "
                  "ask for." },
        { .name = "context-files",
          .type = SETTING_LIST,
          .separator = ';',
          .value_name = "KEY=PATH",
          .help = "Files with values, YAML or JSON, that the first step finds in the context. Several are separated by "
                  "semicolons." },
        { .name = "context-values",
          .type = SETTING_LIST,
          .separator = ';',
          .value_name = "KEY=YAML",
          .help = "The same with the values themselves. One of these wins over a file for the same key." },
        { .name = "function-credentials",
          .type = SETTING_LIST,
          .value_name = "PATH",
          .help = "Secrets that steps have as credentials. Only their data counts." },
        { .name = "function",
          .type = SETTING_LIST,
          .value_name = "NAME=HOST:PORT",
          .help = "Call the function in plain text at this address, whatever the files say of it." },
        { .name = "pull",
          .type = SETTING_ENUM,
          .choices = package_pulls,
          .default_text = "missing",
          .help = "When to ask registries for the packages of functions that are not built in. They are started on "
                  "this machine, "
                  "isolated, for the time of the render." },
        { .name = "cache-dir",
          .type = SETTING_STRING,
          .value_name = "DIR",
          .help = "Directory of the images that were pulled; without it, weft/images below the user's cache "
                  "directory." },
        { .name = "function-annotations",
          .short_name = 'a',
          .type = SETTING_LIST,
          .value_name = "KEY=VALUE",
          .help = "Annotations that every Function gets, over those that it has: for example "
                  "render.crossplane.io/runtime=Development." },
        { .name = "xrd",
          .type = SETTING_STRING,
          .value_name = "PATH",
          .help = "The definitions of the composite resources, which may also be among the other files: their defaults "
                  "are filled in, what they do not allow is an error (rules in CEL are not looked at), and they say "
                  "whether a resource is a legacy one or a claim." },
        { .name = "show-claim",
          .type = SETTING_BOOL,
          .help = "Also print claims, each before its composite resource: what it refers to, and its status." },
        { .name = "compat",
          .type = SETTING_ENUM,
          .choices = compat_choices,
          .default_text = "latest",
          .value_name = "VERSION",
          .help = "Whose render to do: the latest, or v2.2 for what Crossplane's CLI printed up to that version, with "
                  "its "
                  "arguments (XR COMPOSITION FUNCTIONS), errors and exit statuses." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "1m",
          .min = 1,
          .max = INT64_MAX,
          .help = "How long the render of one composite resource may take." },
        FEATURE_SETTINGS,
};

/* Whether standard input is among the files: it cannot be read again. */
static bool has_standard_input(struct arguments arguments)
{
        for (size_t i = 0; i < arguments.n; i++)
                if (strcmp(arguments.p[i], "-") == 0)
                        return true;
        return false;
}

/* The first flag that is set but not supported with --compat=v2.2; NULL if none. The old render has no records of steps and only
 * one output format, and takes the addresses of functions only from their files. */
static const char *not_in_compat(const struct settings *settings)
{
        static const char *const flags[] = { "steps", "until-stable", "show-claim" };

        for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
                if (settings_bool(settings, flags[i]))
                        return flags[i];
        if (settings_str(settings, "explain").n)
                return "explain";
        if (settings_list(settings, "function").n)
                return "function";
        return settings_int(settings, "output") != 0 ? "output" : NULL;
}

/* Flags whose values are pairs. */
static const struct {
        const char *flag;
        const char *pair;
        bool needs_both; /* neither side may be empty */
} pairs[] = {
        { "context-files", "KEY=PATH", false },
        { "context-values", "KEY=YAML", false },
        { "function", "NAME=HOST:PORT", true },
        { "function-annotations", "KEY=VALUE", false },
};

static bool is_pair(struct str text, bool needs_both)
{
        struct str key;

        return str_split(&text, '=', &key) && (!needs_both || (key.n > 0 && text.n > 0));
}

static int check_pairs(const struct settings *settings, struct err *err)
{
        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
                struct setting_list list = settings_list(settings, pairs[i].flag);

                for (size_t j = 0; j < list.n; j++)
                        if (!is_pair(list.items[j], pairs[i].needs_both))
                                return err_set(err, ERR_INVALID, "--%s: \"%.*s\" is no %s", pairs[i].flag,
                                               STR_ARG(list.items[j]), pairs[i].pair);
        }
        return 0;
}

/* Checks the values of the flags before any file is read. */
static int check_values(const struct settings *settings, struct err *err)
{
        struct features ignored;
        int r = features_read(settings, &ignored, err);

        return r < 0 ? r : check_pairs(settings, err);
}

/* Two output flags that are set and cannot be combined; NULL if there is no such pair. */
static const char *not_at_once(const struct settings *settings)
{
        enum render_format format = (enum render_format)settings_int(settings, "output");
        bool wants_steps = settings_bool(settings, "steps"), wants_claims = settings_bool(settings, "show-claim");

        if (wants_claims && (wants_steps || settings_str(settings, "explain").n))
                return wants_steps ? "--show-claim and --steps" : "--show-claim and --explain";
        if (settings_str(settings, "explain").n)
                return wants_steps ? "--explain and --steps" : format != RENDER_YAML ? "--explain and --output" : NULL;
        return wants_steps && format == RENDER_TREE ? "--steps and --output=tree" : NULL;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        bool is_compat = str_equal(settings_str(settings, "compat"), STR("v2.2"));
        bool watches = settings_bool(settings, "watch");
        const char *refused = is_compat ? not_in_compat(settings) : NULL, *both = not_at_once(settings);
        render_run_fn *run_once = is_compat ? compat_run : render_run;
        _cleanup_err_ struct err err = { 0 };

        if (arguments.n == 0 && !is_compat)
                err_set(&err, ERR_INVALID, "give composite resources, a Composition and, if you want, functions");
        else if (refused)
                err_set(&err, ERR_INVALID, "--%s cannot be had with --compat=v2.2", refused);
        else if (both)
                err_set(&err, ERR_INVALID, "%s cannot be had at once", both);
        else if (watches && has_standard_input(arguments))
                err_set(&err, ERR_INVALID, "--watch cannot be had with standard input");
        else if (is_compat || check_values(settings, &err) >= 0)
                return watches ? render_watch(c, settings, arguments, run_once) : run_once(c, settings, arguments);
        return command_print_usage_error(c, &err);
}

static const char help[] =
        "Reconciles each composite resource once, without a cluster, and prints it and the resources it is composed\n"
        "of. Files may be given in any order; - is standard input. The kind of an object says what it is for. A\n"
        "directory stands for all manifests below it; objects that a render does not use are left aside, and one line\n"
        "on standard error counts them. A composite resource is rendered with the Composition for its kind. Among\n"
        "several, its compositionRef, its compositionSelector, its definition (enforced or default) or its annotation\n"
        "`render.crossplane.io/composition-path` chooses.\n"
        "\n"
        "A function runs in this process if it is built in: the last part of its package's name, or the step's name "
        "for\n"
        "it if no file has such a Function, says so; the annotation `weft/built-in: \"false\"` prevents it. A "
        "function\n"
        "with the annotation `render.crossplane.io/runtime: Development` is called in plain text at the address in\n"
        "`render.crossplane.io/runtime-development-target`; --function gives an address as well. Any other function "
        "is\n"
        "started from its package, isolated from this machine, and ends with the render. FunctionRevisions among the\n"
        "files serve steps that choose a revision.\n"
        "\n"
        "A claim is rendered as the composite resource that it stands for, if its definition is among the files or\n"
        "given with --xrd. The composite resource gets a name that is always the same for the claim.\n"
        "\n"
        "If one composite resource cannot be rendered, standard error says why, the others are rendered, and the exit\n"
        "status is 1.\n";

#define RENDER_COMMAND(command_name)                                                                          \
        {                                                                                                     \
                .name = command_name, .summary = "Show what a Composition makes of a composite resource",     \
                .arguments = "XR... COMPOSITION... [FUNCTIONS...]", .help = help, .settings = settings_table, \
                .n_settings = ARRAY_SIZE(settings_table), .run = run,                                         \
        }

const struct command command_render = RENDER_COMMAND("render");
const struct command command_composition_render = RENDER_COMMAND("composition render");
