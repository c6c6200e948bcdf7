#include "compat-run.h"
#include "render-run.h"

#include "features.h"
#include "render-print.h"
#include "render-watch.h"

/* In the order of enum render_format. */
static const char *const formats[] = { "yaml", "json", "tree", NULL };

static const char *const compat_choices[] = { "latest", "v2.2", NULL };

static const struct setting settings_table[] = {
        { .name = "include-function-results",
          .short_name = 'r',
          .type = SETTING_BOOL,
          .help = "Print what functions and the reconcile have to say, too, as Results." },
        { .name = "include-full-xr",
          .short_name = 'x',
          .type = SETTING_BOOL,
          .help = "Print the composite resource with all that its file has, not only what the render made of it." },
        { .name = "include-context",
          .short_name = 'c',
          .type = SETTING_BOOL,
          .help = "Print the context that the last step leaves, too." },
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
                  "new, "
                  "- is gone, ~ is different. With --output=json a line for each composite resource, the changes as "
                  "JSON patches." },
        { .name = "explain",
          .type = SETTING_STRING,
          .value_name = "RESOURCE[.FIELD]",
          .help = "Print which step set the field, or each field of the resource, and what it had been set to before. "
                  "RESOURCE is a name in the desired state, or `composite`." },
        { .name = "watch",
          .type = SETTING_BOOL,
          .help = "Stay, and render again whenever one of the files changes, comes or goes, until interrupted. What is "
                  "wrong "
                  "with them does not end it." },
        { .name = "until-stable",
          .type = SETTING_BOOL,
          .help = "Render again, with what was composed as observed, until nothing changes, and print the last render. "
                  "Simulated is that every composed resource exists as it was applied, has a uid, and is ready: "
                  "conditions Ready and Synced True, or for built-in kinds the status that function-auto-ready looks "
                  "for "
                  "(replicas that are all available, phase Bound or Running or Succeeded, Complete, an ingress with an "
                  "address). The composite resource keeps the status that came out. Nothing else of a provider is "
                  "simulated; give -o for the rest." },
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
          .help = "Calls the function in plain text at this address, whatever the files say of it." },
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
                  "whether a resource is a legacy one." },
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

/* What is read from standard input cannot be read again. */
static bool has_standard_input(struct arguments arguments)
{
        for (size_t i = 0; i < arguments.n; i++)
                if (strcmp(arguments.p[i], "-") == 0)
                        return true;
        return false;
}

/* The old render has no records of steps, and one layout, and says where functions are in their files alone. */
static const char *not_in_compat(const struct settings *settings)
{
        static const char *const flags[] = { "steps", "until-stable" };

        for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
                if (settings_bool(settings, flags[i]))
                        return flags[i];
        if (settings_str(settings, "explain").n)
                return "explain";
        if (settings_list(settings, "function").n)
                return "function";
        return settings_int(settings, "output") != 0 ? "output" : NULL;
}

/* Ways to print that cannot be had at once; NULL when there is no such pair. */
static const char *not_at_once(const struct settings *settings)
{
        enum render_format format = (enum render_format)settings_int(settings, "output");
        bool wants_steps = settings_bool(settings, "steps");

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
        else
                return watches ? render_watch(c, settings, arguments, run_once) : run_once(c, settings, arguments);
        return command_print_usage_error(c, &err);
}

static const char help[] =
        "Reconciles each composite resource once, without a cluster, and prints it and the resources it is composed\n"
        "of. The files may be given in any order and may be directories, - is standard input, and the kinds of the\n"
        "objects in them say what they are. Each composite resource is rendered with the Composition that is for its\n"
        "kind; of several with the one that its compositionRef or its compositionSelector chooses.\n"
        "\n"
        "Functions are run in this process if they are built in, as the last part of their package's name says,\n"
        "unless they are annotated with `weft/built-in: \"false\"`. One that is annotated with\n"
        "`render.crossplane.io/runtime: Development` is called in plain text at the address in\n"
        "`render.crossplane.io/runtime-development-target`, and one that --function names at the address there.\n"
        "Images are not run. There may be FunctionRevisions among the functions, for steps that choose one.\n"
        "\n"
        "What is wrong with one composite resource is said on standard error, the others are rendered nevertheless,\n"
        "and the exit status is 1.\n";

#define RENDER_COMMAND(command_name)                                                                          \
        {                                                                                                     \
                .name = command_name, .summary = "Show what a Composition makes of a composite resource",     \
                .arguments = "XR... COMPOSITION... [FUNCTIONS...]", .help = help, .settings = settings_table, \
                .n_settings = ARRAY_SIZE(settings_table), .run = run,                                         \
        }

const struct command command_render = RENDER_COMMAND("render");
const struct command command_composition_render = RENDER_COMMAND("composition render");
