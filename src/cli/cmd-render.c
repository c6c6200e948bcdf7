#include "command.h"

#include "buf.h"
#include "input.h"
#include "render-files.h"
#include "render.h"
#include "yaml.h"

#include <stdio.h>

#define RENDER_API STR("render.crossplane.io/v1beta1")

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
                  "ask "
                  "for." },
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
        { .name = "xrd",
          .type = SETTING_STRING,
          .value_name = "PATH",
          .help = "The definition of the composite resource: its defaults are filled in, and it says whether the "
                  "resource is a legacy one." },
        { .name = "timeout",
          .type = SETTING_DURATION,
          .default_text = "1m",
          .min = 1,
          .max = INT64_MAX,
          .help = "How long the render may take." },
};

/* --- The context --- */

static int add_context(struct arena *a, struct object_builder *b, struct str pair, bool is_file, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str rest = pair, key;
        const struct value *v;
        int r;

        if (!str_split(&rest, '=', &key))
                return err_set(err, ERR_INVALID, "\"%.*s\" is no KEY=VALUE", STR_ARG(pair));
        if (is_file) {
                r = input_read(arena_cstring(a, rest), &text, err);
                if (r < 0)
                        return err_wrap(err, "cannot build context data: cannot read context value for key \"%.*s\"",
                                        STR_ARG(key));
                rest = arena_copy(a, buf_str(&text));
        }
        r = yaml_parse(a, rest, NULL, &v, err);
        if (r < 0)
                return err_wrap(err, "cannot parse context data: cannot unmarshal context value for key \"%.*s\"",
                                STR_ARG(key));
        object_builder_set(b, key, *v);
        return 0;
}

static int make_context(struct arena *a, const struct settings *settings, const struct value **ret, struct err *err)
{
        static const char *const flags[] = { "context-files", "context-values" };
        struct object_builder b;

        object_builder_init(&b, a, 4);
        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
                struct setting_list pairs = settings_list(settings, flags[i]);

                for (size_t j = 0; j < pairs.n; j++) {
                        int r = add_context(a, &b, pairs.items[j], i == 0, err);

                        if (r < 0)
                                return r;
                }
        }
        *ret = value_put(a, object_builder_finish(&b));
        return 0;
}

/* --- Input --- */

static int load_list(struct arena *a, const struct settings *settings, const char *flag, const char *what,
                     const struct value **ret, struct err *err)
{
        struct setting_list paths = settings_list(settings, flag);

        return render_files_load_list(a, paths.items, paths.n, what, ret, err);
}

static const struct value *concatenate(struct arena *a, const struct value *first, const struct value *second)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(first) + value_count(second));
        VALUE_FOREACH_ITEM (item, first)
                array_builder_add(&b, *item);
        VALUE_FOREACH_ITEM (item, second)
                array_builder_add(&b, *item);
        return value_put(a, array_builder_finish(&b));
}

static int load(struct arena *a, const struct settings *settings, struct arguments arguments,
                struct render_files *files, struct render_input *ret, struct err *err)
{
        struct str xrd = settings_str(settings, "xrd"), schemas = settings_str(settings, "required-schemas");
        const struct value *extra;
        int r = render_files_load(a, arguments.p, arguments.n, files, err);

        if (r < 0 || (xrd.n && (r = render_files_load_xrd(a, xrd, files, err)) < 0) ||
            (r = render_files_register(files, ret->registry, err)) < 0 ||
            (r = load_list(a, settings, "function-credentials", "secrets", &ret->credentials, err)) < 0 ||
            (r = load_list(a, settings, "observed-resources", "observed composed resources", &ret->observed, err)) <
                    0 ||
            (r = load_list(a, settings, "required-resources", "required resources", &ret->required, err)) < 0 ||
            (r = load_list(a, settings, "extra-resources", "extra resources", &extra, err)) < 0 ||
            (schemas.n && (r = render_files_load_schemas(a, schemas, &ret->schemas, err)) < 0) ||
            (r = make_context(a, settings, &ret->context, err)) < 0)
                return r;
        ret->required = concatenate(a, ret->required, extra);
        ret->composite = files->composite_with_defaults;
        ret->composition = files->composition.object;
        ret->xrd = files->xrd;
        return 0;
}

/* --- Output --- */

/* Output that is the same every time can be compared. */
static const struct value *with_fixed_times(struct arena *a, const struct value *composite)
{
        const struct value *status = value_get(composite, STR("status")), *list = value_get(status, STR("conditions"));
        struct value time = value_of_literal("2024-01-01T00:00:00Z");

        for (size_t i = 0; i < value_count(list); i++)
                list = value_with_item(a, list, i,
                                       value_with(a, value_item(list, i), STR("lastTransitionTime"), &time));
        if (!list)
                return composite;
        return value_with(a, composite, STR("status"), value_with(a, status, STR("conditions"), list));
}

/* Members of objects are merged; everything else is what `over` says. */
static const struct value *merge(struct arena *a, const struct value *base, const struct value *over)
{
        if (!value_is_object(base) || !value_is_object(over))
                return over;
        VALUE_FOREACH_MEMBER (m, over) {
                const struct value *there = value_get(base, m->key);

                base = value_with(a, base, m->key, there ? merge(a, there, &m->value) : &m->value);
        }
        return base;
}

static int print(struct buf *b, const struct value *document, struct err *err)
{
        buf_append_literal(b, "---\n");
        return yaml_write(b, document, 0, err);
}

static int print_results(struct arena *a, struct buf *b, const struct render_output *out, struct err *err)
{
        for (size_t i = 0; i < out->n_events; i++) {
                const struct reconcile_event *e = &out->events[i];
                struct object_builder result;
                int r;

                object_builder_init(&result, a, 5);
                object_builder_add(&result, STR("apiVersion"), value_of_str(RENDER_API));
                object_builder_add(&result, STR("kind"), value_of_literal("Result"));
                object_builder_add(&result, STR("message"), value_of_str(e->message));
                object_builder_add(&result, STR("reason"), value_of_str(e->reason));
                object_builder_add(&result, STR("severity"),
                                   value_of_str(e->is_warning ? STR("Warning") : STR("Normal")));
                r = print(b, value_put(a, object_builder_finish(&result)), err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_context(struct arena *a, struct buf *b, const struct value *fields, struct err *err)
{
        struct object_builder context;

        object_builder_init(&context, a, 3);
        object_builder_add(&context, STR("apiVersion"), value_of_str(RENDER_API));
        object_builder_add(&context, STR("fields"), *fields);
        object_builder_add(&context, STR("kind"), value_of_literal("Context"));
        return print(b, value_put(a, object_builder_finish(&context)), err);
}

static int print_all(struct arena *a, const struct settings *settings, const struct value *given,
                     const struct render_output *out, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *composite = out->composite;
        int r;

        if (settings_bool(settings, "include-full-xr"))
                composite = merge(a, given, composite);
        r = print(&b, with_fixed_times(a, composite), err);
        for (size_t i = 0; r >= 0 && i < value_count(out->composed); i++)
                r = print(&b, value_item(out->composed, i), err);
        if (r >= 0 && settings_bool(settings, "include-function-results"))
                r = print_results(a, &b, out, err);
        if (r >= 0 && settings_bool(settings, "include-context"))
                r = print_context(a, &b, out->context, err);
        if (r >= 0)
                fwrite(b.p, 1, b.n, stdout);
        return r;
}

static int render(const struct settings *settings, struct arguments arguments, struct registry *registry,
                  struct arena *a, struct err *err)
{
        struct run run = {
                .arena = a,
                .deadline = deadline_after_ns(settings_int(settings, "timeout")),
                .cause = STR("render"),
        };
        struct render_input in = { .registry = registry };
        struct render_files files;
        struct render_output out;
        int r = load(a, settings, arguments, &files, &in, err);

        if (r >= 0)
                r = render_composite(&run, &in, &out, err);
        return r < 0 ? r : print_all(a, settings, in.composite, &out, err);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct registry *registry;
        int r;

        arena_init(&a, "render", 0);
        if (arguments.n < 2 || arguments.n > 3) {
                err_set(&err, ERR_INVALID, "give a composite resource, a Composition and, if you want, functions");
                return command_print_usage_error(c, &err);
        }
        registry = registry_new();
        registry_set_hint(registry,
                          " - is it in the file of functions? Without such a file only functions that are built "
                          "in are known");
        r = render(settings, arguments, registry, &a, &err);
        registry_free(registry);
        if (r >= 0)
                return EXIT_OK;
        command_print_error(c, &err);
        return EXIT_ERROR;
}

#define RENDER_COMMAND(command_name)                                                                                   \
        {                                                                                                              \
                .name = command_name, .summary = "Show what a Composition makes of a composite resource",              \
                .arguments = "XR COMPOSITION [FUNCTIONS]",                                                             \
                .help = "Reconciles the composite resource once, without a cluster, and prints it and the resources "  \
                        "it\n"                                                                                         \
                        "is composed of as YAML. The files may be given in any order, - is standard input, and\n"      \
                        "FUNCTIONS may be a directory. PATH is a file or a directory.\n"                               \
                        "\n"                                                                                           \
                        "Functions are run in this process if they are built in, as the last part of their "           \
                        "package's\n"                                                                                  \
                        "name says, unless they are annotated with `weft/built-in: \"false\"`. One that is "           \
                        "annotated\n"                                                                                  \
                        "with `render.crossplane.io/runtime: Development` is called in plain text at the address in\n" \
                        "`render.crossplane.io/runtime-development-target`. Images are not run.\n",                    \
                .settings = settings_table, .n_settings = ARRAY_SIZE(settings_table), .run = run,                      \
        }

const struct command command_render = RENDER_COMMAND("render");
const struct command command_composition_render = RENDER_COMMAND("composition render");
