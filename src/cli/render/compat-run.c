#include "compat-run.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "compat-read.h"
#include "input.h"
#include "render-compat.h"
#include "render-files.h"
#include "schema.h"
#include "yaml.h"

#define EXIT_COMPAT_USAGE 80 /* exit status of Crossplane's CLI for a wrong command line */
#define RENDER_API        STR("render.crossplane.io/v1beta1")

struct compat_session {
        struct arena *arena;
        const struct settings *settings;
        struct str composite, composition, functions, xrd; /* paths */
        struct render_files files;                         /* only the Composition and the functions */
        struct compat_input in;
        struct object_builder context; /* unparsed texts of values; parsed by parse_context */
};

/* --- The command line --- */

static int check_file(struct str path, const char *what, struct err *err)
{
        struct stat st;

        if (stat(path.p, &st) < 0)
                compat_set_errno(err, errno, "stat", path);
        else if (S_ISDIR(st.st_mode))
                err_set(err, ERR_INVALID, "\"%.*s\" exists but is a directory", STR_ARG(path));
        else
                return 0;
        return err_wrap(err, "%s", what);
}

static int check_pairs(const struct compat_session *s, const char *flag, struct err *err)
{
        struct setting_list pairs = settings_list(s->settings, flag);

        for (size_t i = 0; i < pairs.n; i++)
                if (str_find_char(pairs.items[i], '=') < 0)
                        return err_set(err, ERR_INVALID, "--%s: expected \"<key>=<value>\" but got \"%.*s\"", flag,
                                       STR_ARG(pairs.items[i]));
        return 0;
}

static int read_arguments(struct compat_session *s, struct arguments arguments, struct err *err)
{
        static const char *const names[] = { "<composite-resource>", "<composition>", "<functions>" };
        static const char *const missing[] = {
                "<composite-resource> <composition> <functions>",
                "<composition> <functions>",
                "<functions>",
        };
        struct str *const paths[] = { &s->composite, &s->composition, &s->functions };
        struct str xrd = settings_str(s->settings, "xrd");
        int r;

        for (size_t i = 0; i < arguments.n; i++) {
                if (i == ARRAY_SIZE(paths))
                        return err_set(err, ERR_INVALID, "unexpected argument %s", arguments.p[i]);
                *paths[i] = compat_path(s->arena, str_from(arguments.p[i]));
                if (i < 2 && (r = check_file(*paths[i], names[i], err)) < 0)
                        return r;
        }
        if (arguments.n < ARRAY_SIZE(paths))
                return err_set(err, ERR_INVALID, "expected \"%s\"", missing[arguments.n]);
        if ((r = check_pairs(s, "context-files", err)) < 0 || (r = check_pairs(s, "context-values", err)) < 0)
                return r;
        s->xrd = xrd.n ? compat_path(s->arena, xrd) : STR("");
        return xrd.n ? check_file(s->xrd, "--xrd", err) : 0;
}

/* --- The composite and its Composition --- */

static int load_composite(struct compat_session *s, struct err *err)
{
        static const struct compat_type type = { "composite resource YAML", NULL };
        int r = compat_read_first(s->arena, s->composite, &type, &s->in.composite, err);

        return r < 0 ? err_wrap(err, "cannot load composite resource from \"%.*s\"", STR_ARG(s->composite)) : 0;
}

static bool has_type(const struct value *object, struct str api_version, struct str kind)
{
        return str_equal(value_str(value_get(object, STR("apiVersion"))), api_version) &&
               str_equal(value_str(value_get(object, STR("kind"))), kind);
}

static int load_composition(struct compat_session *s, struct err *err)
{
        static const struct compat_type type = { "composition resource YAML", "v1.Composition" };
        const struct value *c = NULL;
        int r = compat_read_first(s->arena, s->composition, &type, &c, err);

        if (r >= 0 && !has_type(c, STR("apiextensions.crossplane.io/v1"), STR("Composition")))
                r = err_set(err, ERR_INVALID, "not a composition: %.*s/%.*s",
                            STR_ARG(value_str(value_get(c, STR("kind")))), STR_ARG(meta_name(c)));
        if (r < 0)
                return err_wrap(err, "cannot load Composition from \"%.*s\"", STR_ARG(s->composition));
        s->in.composition = c;
        manifests_add(&s->files.compositions, (struct manifest) { .object = c });
        return 0;
}

static int check_composition(const struct compat_session *s, struct err *err)
{
        struct str mode = value_str(value_find(s->in.composition, "spec", "mode"));
        int r = render_files_check(&s->files.compositions.p[0], s->in.composite, err);

        if (r < 0 || str_equal(mode, STR("Pipeline")))
                return r;
        return err_set(err, ERR_UNSUPPORTED,
                       "render only supports Composition Function pipelines: Composition \"%.*s\" must use spec.mode: "
                       "Pipeline",
                       STR_ARG(meta_name(s->in.composition)));
}

/* --- Functions --- */

static int check_function(const struct value *object, struct err *err)
{
        if (has_type(object, STR("pkg.crossplane.io/v1"), STR("Function")) ||
            has_type(object, STR("pkg.crossplane.io/v1beta1"), STR("Function")))
                return 0;
        return err_set(err, ERR_INVALID, "not a function: %.*s/%.*s",
                       STR_ARG(value_str(value_get(object, STR("kind")))), STR_ARG(meta_name(object)));
}

static int load_functions(struct compat_session *s, struct err *err)
{
        static const struct compat_type type = { "YAML Function manifest", "v1.Function" };
        struct setting_list annotations = settings_list(s->settings, "function-annotations");
        int r = compat_read_all(s->arena, s->functions, &type, &s->files.functions, err);

        for (size_t i = 0; r >= 0 && i < s->files.functions.n; i++)
                r = check_function(s->files.functions.p[i].object, err);
        if (r < 0)
                return err_wrap(err, "cannot load functions from \"%.*s\"", STR_ARG(s->functions));
        return render_files_annotate(s->arena, &s->files, annotations.items, annotations.n, err);
}

/* --- Other files --- */

static int default_composite(struct compat_session *s, struct err *err)
{
        static const struct compat_type type = { "XRD YAML", "v1.CompositeResourceDefinition" };
        struct manifest xrd = { 0 };
        struct schema *schema;
        int r;

        if (s->xrd.n == 0)
                return 0;
        r = compat_read_first(s->arena, s->xrd, &type, &xrd.object, err);
        if (r < 0)
                return err_wrap(err, "cannot load XRD from \"%.*s\"", STR_ARG(s->xrd));
        r = render_schema_compile(s->arena, &xrd, gvk_of(s->in.composite), &schema, err);
        if (r < 0)
                return err_wrap(err, "cannot default values for XR \"%.*s\"", STR_ARG(meta_name(s->in.composite)));
        s->in.composite = schema_default(schema, s->arena, s->in.composite);
        schema_unref(schema);
        return 0;
}

static int load_list(struct compat_session *s, const char *flag, const char *what, const struct compat_type *type,
                     const struct value **ret, struct err *err)
{
        struct setting_list paths = settings_list(s->settings, flag);
        struct array_builder list;

        array_builder_init(&list, s->arena, 0);
        for (size_t i = 0; i < paths.n; i++) {
                struct str path = compat_path(s->arena, paths.items[i]);
                struct manifests m;

                manifests_init(&m, s->arena);
                if (compat_read_all(s->arena, path, type, &m, err) < 0)
                        return err_wrap(err, "cannot load %s from \"%.*s\"", what, STR_ARG(path));
                for (size_t j = 0; j < m.n; j++)
                        array_builder_add(&list, *m.p[j].object);
        }
        *ret = value_put(s->arena, array_builder_finish(&list));
        return 0;
}

static int load_schemas(struct compat_session *s, struct err *err)
{
        struct str given = settings_str(s->settings, "required-schemas"), path;
        struct stat st;

        if (given.n == 0)
                return 0;
        path = compat_path(s->arena, given);
        if (stat(path.p, &st) < 0) {
                compat_set_errno(err, errno, "stat", path);
                return err_wrap(err, "cannot load OpenAPI schemas from \"%.*s\": cannot walk directory", STR_ARG(path));
        }
        return render_files_load_schemas(s->arena, path, &s->in.schemas, err);
}

static int read_context_files(struct compat_session *s, struct err *err)
{
        struct setting_list pairs = settings_list(s->settings, "context-files");

        for (size_t i = 0; i < pairs.n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);
                struct str path = pairs.items[i], key = STR("");

                str_split(&path, '=', &key);
                path = str_from(arena_cstring(s->arena, path));
                if (access(path.p, R_OK) < 0)
                        compat_set_errno(err, errno, "open", path);
                else if (input_read(path.p, &text, err) >= 0) {
                        object_builder_set(&s->context, key, value_of_str(buf_to_arena(&text, s->arena)));
                        continue;
                }
                return err_wrap(err, "cannot read context value for key \"%.*s\"", STR_ARG(key));
        }
        return 0;
}

static int load(struct compat_session *s, struct err *err)
{
        static const struct compat_type secret = { "YAML secret manifest", "v1.Secret" };
        static const struct compat_type composed = { "YAML composed resource manifest", NULL };
        static const struct compat_type resource = { "YAML resource manifest", NULL };
        int r;

        manifests_init(&s->files.compositions, s->arena);
        manifests_init(&s->files.functions, s->arena);
        object_builder_init(&s->context, s->arena, 4);
        if ((r = load_composite(s, err)) < 0 || (r = load_composition(s, err)) < 0 ||
            (r = check_composition(s, err)) < 0 || (r = load_functions(s, err)) < 0 ||
            (r = default_composite(s, err)) < 0 ||
            (r = load_list(s, "function-credentials", "secrets", &secret, &s->in.credentials, err)) < 0 ||
            (r = load_list(s, "observed-resources", "observed composed resources", &composed, &s->in.observed, err)) <
                    0 ||
            (r = load_list(s, "extra-resources", "extra resources", &resource, &s->in.extra, err)) < 0 ||
            (r = load_list(s, "required-resources", "required resources", &resource, &s->in.required, err)) < 0 ||
            (r = read_context_files(s, err)) < 0)
                return r;
        return load_schemas(s, err);
}

/* --- The run --- */

static int parse_context(struct compat_session *s, struct err *err)
{
        struct setting_list pairs = settings_list(s->settings, "context-values");
        struct object_builder b;
        struct value texts;

        for (size_t i = 0; i < pairs.n; i++) {
                struct str text = pairs.items[i], key = STR("");

                str_split(&text, '=', &key);
                object_builder_set(&s->context, key, value_of_str(text));
        }
        texts = object_builder_finish(&s->context);
        object_builder_init(&b, s->arena, value_count(&texts));
        VALUE_FOREACH_MEMBER (m, &texts) {
                const struct value *v;

                if (yaml_parse(s->arena, value_str(&m->value), NULL, &v, err) < 0)
                        return err_wrap(err,
                                        "cannot unmarshal YAML/JSON for context key \"%.*s\": error converting YAML to "
                                        "JSON",
                                        STR_ARG(m->key));
                object_builder_add(&b, m->key, *v);
        }
        s->in.context = value_put(s->arena, object_builder_finish(&b));
        return 0;
}

static int start_functions(struct compat_session *s, struct err *err)
{
        struct render_function_options options = { .only_given = true };
        struct render_failures *failures;
        int r = render_files_register(s->arena, &s->files, &options, s->in.registry, &failures, err);

        if (r >= 0)
                r = render_failures_check(failures, s->in.composition, err);
        return r < 0 ? err_wrap(err, "cannot start function runtimes") : 0;
}

static int render(struct compat_session *s, struct compat_output *out, struct err *err)
{
        struct run run = {
                .arena = s->arena,
                .deadline = deadline_after_ns(settings_int(s->settings, "timeout")),
                .cause = STR("render"),
        };
        int r;

        if ((r = start_functions(s, err)) < 0 || (r = parse_context(s, err)) < 0)
                return err_wrap(err, "cannot render composite resource");
        return render_compat(&run, &s->in, out, err);
}

/* --- Output --- */

static int print(struct buf *b, const struct value *document, struct err *err)
{
        buf_append_literal(b, "---\n");
        return yaml_write(b, document, 0, err);
}

/* Replaces spec and metadata of the composite by those of its file. */
static int copy_given(struct compat_session *s, const struct value **composite, struct err *err)
{
        static const char *const parts[] = { "spec", "metadata" };

        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                const struct value *part = value_get(s->in.composite, str_from(parts[i]));

                if (!part)
                        return err_set(err, ERR_NOT_FOUND, "cannot get composite resource %s: %s: no such field",
                                       parts[i], parts[i]);
                *composite = value_with(s->arena, *composite, str_from(parts[i]), part);
        }
        return 0;
}

static struct str severity_name(struct arena *a, enum fn_severity severity)
{
        static const char *const names[] = {
                [FN_SEVERITY_UNSPECIFIED] = "SEVERITY_UNSPECIFIED",
                [FN_SEVERITY_FATAL] = "SEVERITY_FATAL",
                [FN_SEVERITY_WARNING] = "SEVERITY_WARNING",
                [FN_SEVERITY_NORMAL] = "SEVERITY_NORMAL",
        };

        return (unsigned)severity < ARRAY_SIZE(names) ? str_from(names[severity]) : arena_printf(a, "%d", severity);
}

static int print_result(struct compat_session *s, struct buf *b, const struct compat_result *result, struct err *err)
{
        struct object_builder o;

        object_builder_init(&o, s->arena, 5);
        object_builder_add(&o, STR("apiVersion"), value_of_str(RENDER_API));
        object_builder_add(&o, STR("kind"), value_of_literal("Result"));
        object_builder_add(&o, STR("message"), value_of_str(result->message));
        object_builder_add(&o, STR("severity"), value_of_str(severity_name(s->arena, result->severity)));
        object_builder_add(&o, STR("step"), value_of_str(result->step));
        return print(b, value_put(s->arena, object_builder_finish(&o)), err);
}

static int print_context(struct compat_session *s, struct buf *b, const struct value *context, struct err *err)
{
        struct object_builder o;

        if (!context)
                return print(b, &value_null, err);
        object_builder_init(&o, s->arena, 3);
        object_builder_add(&o, STR("apiVersion"), value_of_str(RENDER_API));
        object_builder_add(&o, STR("fields"), *context);
        object_builder_add(&o, STR("kind"), value_of_literal("Context"));
        return print(b, value_put(s->arena, object_builder_finish(&o)), err);
}

static int print_all(struct compat_session *s, const struct compat_output *out, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *composite = out->composite;
        int r = settings_bool(s->settings, "include-full-xr") ? copy_given(s, &composite, err) : 0;

        if (r >= 0)
                r = print(&b, composite, err);
        for (size_t i = 0; r >= 0 && i < value_count(out->composed); i++)
                r = print(&b, value_item(out->composed, i), err);
        if (settings_bool(s->settings, "include-function-results"))
                for (size_t i = 0; r >= 0 && i < out->n_results; i++)
                        r = print_result(s, &b, &out->results[i], err);
        if (r >= 0 && settings_bool(s->settings, "include-context"))
                r = print_context(s, &b, out->context, err);
        if (r >= 0)
                fwrite(b.p, 1, b.n, stdout);
        return r;
}

int compat_run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct compat_session s = { .arena = &a, .settings = settings, .in.registry = registry_new() };
        struct compat_output out;
        int r, exit_status = EXIT_OK;

        arena_init(&a, "render", 0);
        r = read_arguments(&s, arguments, &err);
        if (r < 0)
                exit_status = EXIT_COMPAT_USAGE;
        if (r < 0 || (r = load(&s, &err)) < 0 || (r = render(&s, &out, &err)) < 0 ||
            (r = print_all(&s, &out, &err)) < 0) {
                command_print_error(c, &err);
                exit_status = exit_status ?: EXIT_ERROR;
        }
        registry_free(s.in.registry);
        return exit_status;
}
