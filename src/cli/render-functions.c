/* How the functions of a render are run. */
#include "render-files.h"

#include "buf.h"
#include "functions.h"

#define ANNOTATION_RUNTIME  STR("render.crossplane.io/runtime")
#define ANNOTATION_TARGET   STR("render.crossplane.io/runtime-development-target")
#define ANNOTATION_BUILT_IN STR("weft/built-in")

/* --- Annotations --- */

int render_files_annotate(struct arena *a, struct render_files *files, const struct str *pairs, size_t n,
                          struct err *err)
{
        for (size_t i = 0; i < n; i++) {
                struct str value = pairs[i], key;

                if (!str_split(&value, '=', &key))
                        return err_set(err, ERR_INVALID,
                                       "cannot apply function annotation overrides: invalid function annotation format "
                                       "\"%.*s\", expected key=value",
                                       STR_ARG(pairs[i]));
                for (size_t j = 0; j < files->functions.n; j++) {
                        const struct value **object = &files->functions.p[j].object;

                        *object = meta_with_annotation(a, *object, key, value);
                }
        }
        return 0;
}

/* --- Ways to run --- */

/* `function-auto-ready` of `example.org/crossplane-contrib/function-auto-ready:v0.5.0@sha256:...`. */
static struct str package_name(struct str package)
{
        ptrdiff_t at = str_find_char(package, '@'), slash, colon;

        if (at >= 0)
                package = str_first(package, (size_t)at);
        slash = str_find_last_char(package, '/');
        if (slash >= 0)
                package = str_skip(package, (size_t)slash + 1);
        colon = str_find_char(package, ':');
        return colon >= 0 ? str_first(package, (size_t)colon) : package;
}

static const struct builtin_function *find_builtin(const struct value *function)
{
        struct str package = value_str(value_find(function, "spec", "package"));

        if (str_equal(meta_annotation(function, ANNOTATION_BUILT_IN), STR("false")))
                return NULL;
        return builtin_find(package.n ? package_name(package) : meta_name(function));
}

static int connect(const struct manifest *m, struct registry *registry, struct err *err)
{
        struct str name = meta_name(m->object), target = meta_annotation(m->object, ANNOTATION_TARGET);
        struct grpc_function_options options = { .target = target.n ? target : STR("localhost:9443") };
        struct function *f;

        if (function_grpc_new(name, STR(""), &options, &f, err) < 0)
                return manifest_error(m, STR("metadata.annotations"), err);
        registry_set(registry, name, f);
        return 0;
}

static void append_builtins(struct buf *b)
{
        for (size_t i = 0; i < builtin_n_functions; i++)
                buf_appendf(b, "%s%s", i ? ", " : "", builtin_functions[i]->name);
}

/* Names the ways to run it. */
static int cannot_run(const struct manifest *m, struct err *err)
{
        _cleanup_buf_ struct buf names = BUF_INIT(0);
        struct str package = value_str(value_find(m->object, "spec", "package"));

        append_builtins(&names);
        err_set(err, ERR_UNSUPPORTED,
                "cannot run Function \"%.*s\": \"%.*s\" is not built in, and images are not run. Either run it "
                "yourself, with --insecure, and annotate it with render.crossplane.io/runtime: Development and "
                "render.crossplane.io/runtime-development-target: HOST:PORT; or use one of the functions that are "
                "built in: %s",
                STR_ARG(meta_name(m->object)), STR_ARG(package), buf_cstring(&names));
        return manifest_error(m, STR("spec.package"), err);
}

static int register_one(const struct manifest *m, struct registry *registry, struct err *err)
{
        struct str runtime = meta_annotation(m->object, ANNOTATION_RUNTIME);
        const struct builtin_function *builtin = find_builtin(m->object);

        if (str_equal(runtime, STR("Development")))
                return connect(m, registry, err);
        if (runtime.n && !str_equal(runtime, STR("Docker")) && !str_equal(runtime, STR("InProcess"))) {
                err_set(err, ERR_INVALID,
                        "cannot get runtime for Function \"%.*s\": unsupported \"render.crossplane.io/runtime\" "
                        "annotation value \"%.*s\" (unknown runtime)",
                        STR_ARG(meta_name(m->object)), STR_ARG(runtime));
                return manifest_error(m, STR("metadata.annotations"), err);
        }
        if (!builtin)
                return cannot_run(m, err);
        registry_set(registry, meta_name(m->object), function_builtin(builtin));
        return 0;
}

/* Calls visit for the name of the function of every step, until it says so. */
static bool any_step(const struct render_files *files, bool (*visit)(void *arg, struct str name), void *arg)
{
        for (size_t i = 0; i < files->compositions.n; i++)
                VALUE_FOREACH_ITEM (step, value_find(files->compositions.p[i].object, "spec", "pipeline"))
                        if (visit(arg, value_str(value_find(step, "functionRef", "name"))))
                                return true;
        return false;
}

static bool is_name(void *arg, struct str name)
{
        const struct str *wanted = arg;

        return str_equal(name, *wanted);
}

static bool register_by_name(void *arg, struct str name)
{
        const struct builtin_function *builtin = builtin_find(name);

        if (builtin)
                registry_set(arg, name, function_builtin(builtin));
        return false;
}

int render_files_register(const struct render_files *files, struct registry *registry, struct err *err)
{
        functions_register_native(registry);
        if (files->functions.n == 0)
                any_step(files, register_by_name, registry);
        for (size_t i = 0; i < files->functions.n; i++) {
                const struct manifest *m = &files->functions.p[i];
                struct str name = meta_name(m->object);

                /* What no step uses may be of any sort. */
                if (any_step(files, is_name, &name) && register_one(m, registry, err) < 0)
                        return err_wrap(err, "cannot start function runtimes");
        }
        return 0;
}
