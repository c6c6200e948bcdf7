/* Decides how each function of a render is run. */
#include "render-files.h"

#include "buf.h"
#include "composition.h"
#include "functions.h"
#include "dialer.h"
#include "map.h"
#include "package-run.h"
#include "render-errors.h"
#include "render-waiting.h"
#include "settings.h"

#define ANNOTATION_RUNTIME  STR("render.crossplane.io/runtime")
#define ANNOTATION_TARGET   STR("render.crossplane.io/runtime-development-target")
#define ANNOTATION_BUILT_IN STR("weft/built-in")
#define ANNOTATION_IMAGE    STR("render.crossplane.io/runtime-docker-image")
#define ANNOTATION_PULL     STR("render.crossplane.io/runtime-docker-pull-policy")
#define ANNOTATION_ENV      STR("render.crossplane.io/runtime-docker-env")
#define LABEL_PACKAGE       STR("pkg.crossplane.io/package")

/* --- Annotations --- */

static void annotate(struct arena *a, struct manifests *functions, struct str key, struct str value)
{
        for (size_t i = 0; i < functions->n; i++)
                functions->p[i].object = meta_with_annotation(a, functions->p[i].object, key, value);
}

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
                annotate(a, &files->functions, key, value);
                annotate(a, &files->revisions, key, value);
        }
        return 0;
}

/* --- Ways to run --- */

/* The state of registering the functions of one run. */
struct finder {
        struct arena *arena;
        const struct render_files *files;
        const struct render_function_options *options;
        struct map used;    /* functions that steps use */
        struct map targets; /* struct str, by name */
        struct registry *registry;
        struct render_failures *failures;
};

struct render_failures {
        struct arena *arena;
        struct map texts; /* const char, by name */
};

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

/* The package of a Function, or the image of a FunctionRevision. */
static struct str package_of(const struct value *function)
{
        struct str package = value_str(value_find(function, "spec", "package"));

        return package.n ? package : value_str(value_find(function, "spec", "image"));
}

const struct builtin_function *render_find_builtin(struct str name)
{
        const struct builtin_function *found = builtin_find(name);

        /* The package manager names a function that is installed as a dependency after the path of its package. */
        if (!found && str_cut_prefix(&name, STR("crossplane-contrib-")))
                found = builtin_find(name);
        return found;
}

static const struct builtin_function *find_builtin(const struct value *function, struct str name)
{
        struct str package = package_of(function);

        if (str_equal(meta_annotation(function, ANNOTATION_BUILT_IN), STR("false")))
                return NULL;
        return package.n ? builtin_find(package_name(package)) : render_find_builtin(name);
}

void render_hint_ways(struct err *err, struct str function)
{
        _cleanup_buf_ struct buf names = BUF_INIT(0);

        for (size_t i = 0; i < builtin_n_functions; i++)
                buf_appendf(&names, "%s%s", i ? ", " : "", builtin_functions[i]->name);
        render_add_line(err, "built in are %s", buf_cstring(&names));
        render_add_line(err,
                        "another one is called where it runs: start it with --insecure and give --function "
                        "%.*s=HOST:PORT, or annotate its Function with render.crossplane.io/runtime: Development and "
                        "render.crossplane.io/runtime-development-target: HOST:PORT",
                        STR_ARG(function.n ? function : STR("NAME")));
}

static int cannot_run(const struct manifest *m, struct str path, struct str name, struct str package, const char *why,
                      struct err *err)
{
        err_set(err, ERR_UNSUPPORTED, "cannot run Function \"%.*s\": \"%.*s\" is not built in, and %s", STR_ARG(name),
                STR_ARG(package), why);
        manifest_error(m, path, err);
        render_hint_ways(err, name);
        return ERR_UNSUPPORTED;
}

static int connect_to(const struct finder *f, struct str name, struct str revision, struct str target,
                      struct function **ret, struct err *err)
{
        struct grpc_function_options options = { .target = target.n ? target : STR("localhost:9443") };
        int r = function_grpc_new(name, revision, &options, ret, err);

        if (r >= 0 && f->options->command)
                *ret = render_waiting_new(f->options->command, *ret, options.target);
        return r;
}

/* --- Packages that are started --- */

static enum package_pull pull_of(const struct finder *f, const struct value *function)
{
        struct str policy = meta_annotation(function, ANNOTATION_PULL);

        if (f->options->pull != PULL_MISSING)
                return (enum package_pull)f->options->pull;
        if (str_equal(policy, STR("Always")))
                return PULL_ALWAYS;
        return str_equal(policy, STR("Never")) ? PULL_NEVER : PULL_MISSING;
}

static struct str_list environment_of(const struct finder *f, const struct value *function)
{
        struct str rest = meta_annotation(function, ANNOTATION_ENV), one;
        struct str_list list;
        bool is_more = rest.n > 0;

        str_list_init(&list, f->arena);
        while (is_more) {
                is_more = str_split(&rest, ',', &one);
                str_list_add(&list, one);
        }
        return list;
}

/* Starts the package of the function and makes it callable. */
static int start(const struct finder *f, const struct manifest *m, struct str name, struct str revision,
                 struct function **ret, struct err *err)
{
        struct str image = meta_annotation(m->object, ANNOTATION_IMAGE);
        struct str_list environment = environment_of(f, m->object);
        struct package_to_run what = {
                .name = revision.n ? revision : name,
                .package = image.n ? image : package_of(m->object),
                .pull = pull_of(f, m->object),
                .environment = environment.p,
                .n_environment = environment.n,
                .deadline = f->options->deadline,
        };
        _cleanup_(dialer_unrefp)
        struct dialer *dialer = NULL;
        struct grpc_function_options options = { 0 };

        if (package_runner_start(f->options->packages, f->arena, &what, &dialer, &options.target, err) < 0) {
                struct str why = arena_printf(f->arena, "its package cannot be started: %s", err_message(err));

                return cannot_run(m, STR("spec"), name, what.package, why.p, err);
        }
        options.dialer = dialer;
        return function_grpc_new(name, revision, &options, ret, err);
}

/* Makes the callable function of a Function or of a FunctionRevision. */
static int reach(const struct finder *f, const struct manifest *m, struct str name, struct str revision,
                 struct function **ret, struct err *err)
{
        struct str runtime = meta_annotation(m->object, ANNOTATION_RUNTIME);
        const struct builtin_function *builtin = find_builtin(m->object, name);

        if (str_equal(runtime, STR("Development")))
                return connect_to(f, name, revision, meta_annotation(m->object, ANNOTATION_TARGET), ret, err) < 0
                               ? manifest_error(m, STR("metadata.annotations"), err)
                               : 0;
        if (runtime.n && !str_equal(runtime, STR("Docker")) && !str_equal(runtime, STR("InProcess"))) {
                err_set(err, ERR_INVALID,
                        "cannot get runtime for Function \"%.*s\": unsupported \"render.crossplane.io/runtime\" "
                        "annotation value \"%.*s\" (unknown runtime)",
                        STR_ARG(name), STR_ARG(runtime));
                return manifest_error(m, STR("metadata.annotations"), err);
        }
        if (!builtin && (str_equal(runtime, STR("InProcess")) || !f->options->packages))
                return cannot_run(m, STR("spec"), name, package_of(m->object), "images are not run", err);
        if (!builtin)
                return start(f, m, name, revision, ret, err);
        *ret = function_builtin(builtin);
        return 0;
}

/* --- Which are used --- */

static void find_used_by(struct arena *a, const struct value *composition, struct map *used)
{
        struct composition c;

        if (composition_read(a, composition, &c, NULL) >= 0) {
                for (size_t i = 0; i < c.n_steps; i++)
                        map_set(used, c.steps[i].function, &c.steps[i]);
                return;
        }
        /* The render reports the error in this Composition later. */
        VALUE_FOREACH_ITEM (step, value_find(composition, "spec", "pipeline"))
                map_set(used, value_str(value_find(step, "functionRef", "name")), (void *)step);
}

static void find_used(struct arena *a, const struct render_files *files, struct map *used)
{
        for (size_t i = 0; i < files->compositions.n; i++)
                find_used_by(a, files->compositions.p[i].object, used);
}

/* --- Registering --- */

static void set_target(struct arena *a, struct str pair, struct map *targets)
{
        struct str *target = ARENA_NEW(a, struct str);
        struct str name;

        *target = pair;
        if (str_split(target, '=', &name))
                map_set(targets, name, target);
}

/* The most similar name of a function that a step uses; NULL if none is similar. */
static const char *nearest_used(struct arena *a, const struct map *used, struct str name)
{
        const char **names = ARENA_NEW_ARRAY(a, const char *, used->n + 1);
        size_t n = 0;

        for (struct map_entry *e = map_first(used); e; e = map_next(used, e))
                names[n++] = arena_cstring(a, e->key);
        return settings_nearest(name, names, n);
}

void render_files_warn_of_targets(struct arena *a, const struct command *c, const struct render_files *files,
                                  const struct str *targets, size_t n_targets)
{
        _cleanup_map_ struct map used = { 0 };

        if (n_targets > 0)
                find_used(a, files, &used);
        for (size_t i = 0; i < n_targets; i++) {
                struct str rest = targets[i], name;
                _cleanup_err_ struct err err = { 0 };
                const char *near;

                if (!str_split(&rest, '=', &name) || map_has(&used, name))
                        continue;
                err_set(&err, ERR_INVALID, "--function: no step uses a function \"%.*s\"", STR_ARG(name));
                near = nearest_used(a, &used, name);
                if (near)
                        render_hint(&err, "; did you mean \"%s\"?", near);
                render_warn(c, &err);
        }
}

/* Records the error; it is reported only if a composite needs the function. */
static void fail(const struct finder *f, struct str function, const struct err *err)
{
        map_set(&f->failures->texts, function, (void *)arena_cstring(f->arena, str_from(err_message(err))));
}

/* Whether to register the function: a step uses it, and no target is given for it. Other functions are not checked. */
static bool is_wanted(const struct finder *f, struct str name)
{
        return map_has(&f->used, name) && !map_has(&f->targets, name);
}

static void register_function(const struct finder *f, const struct manifest *m)
{
        _cleanup_err_ struct err err = { 0 };
        struct str name = meta_name(m->object);
        struct function *function;

        if (!is_wanted(f, name))
                return;
        map_remove(&f->failures->texts, name);
        if (reach(f, m, name, STR(""), &function, &err) >= 0)
                registry_set(f->registry, name, function);
        else
                fail(f, name, &err);
}

static int register_revision(const struct finder *f, const struct manifest *m, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct str function = meta_label(m->object, LABEL_PACKAGE);
        struct function_revision revision = {
                .name = meta_name(m->object),
                .number = value_int(value_find(m->object, "spec", "revision"), 0),
                .labels = value_get(meta(m->object), STR("labels")),
                .is_active = !str_equal(value_str(value_find(m->object, "spec", "desiredState")), STR("Inactive")),
        };

        if (function.n == 0) {
                err_set(err, ERR_INVALID,
                        "it has no label pkg.crossplane.io/package that says of which Function it is");
                return manifest_error(m, STR("metadata"), err);
        }
        if (!is_wanted(f, function))
                return 0;
        if (reach(f, m, function, revision.name, &revision.function, &problem) >= 0)
                registry_set_revision(f->registry, function, &revision);
        else
                fail(f, function, &problem);
        return 0;
}

static int register_targets(const struct finder *f, struct err *err)
{
        for (struct map_entry *e = map_first(&f->targets); e; e = map_next(&f->targets, e)) {
                const struct str *target = e->value;
                struct function *function;

                if (!map_has(&f->used, e->key))
                        continue;
                if (connect_to(f, e->key, STR(""), *target, &function, err) < 0)
                        return err_wrap(err, "--function %.*s", STR_ARG(e->key));
                registry_set(f->registry, e->key, function);
        }
        return 0;
}

static void register_builtins(const struct finder *f)
{
        for (struct map_entry *e = map_first(&f->used); e; e = map_next(&f->used, e)) {
                const struct builtin_function *builtin = render_find_builtin(e->key);

                if (builtin && !map_has(&f->targets, e->key))
                        registry_set(f->registry, e->key, function_builtin(builtin));
        }
}

/* --- Dependencies of configurations --- */

/* The name that the package manager gives a function: `crossplane-contrib-function-auto-ready` for
 * `example.org/crossplane-contrib/function-auto-ready`. */
static struct str installed_name(struct arena *a, struct str package)
{
        ptrdiff_t slash = str_find_char(package, '/');
        struct str last = package_name(package);
        char *name;

        if (slash < 0)
                return last;
        package = str_skip(package, (size_t)slash + 1);
        package.n = (size_t)(last.p + last.n - package.p);
        name = arena_cstring(a, package);
        for (size_t i = 0; i < package.n; i++)
                if (name[i] == '/')
                        name[i] = '-';
        return str_make(name, package.n);
}

static void register_name(const struct finder *f, const struct manifest *m, struct str path, struct str name,
                          struct str package)
{
        const struct builtin_function *builtin = builtin_find(package_name(package));
        _cleanup_err_ struct err err = { 0 };

        if (!is_wanted(f, name))
                return;
        if (builtin) {
                registry_set(f->registry, name, function_builtin(builtin));
                return;
        }
        cannot_run(m, path, name, package, "it is no Function that could be started: add one that names its package",
                   &err);
        fail(f, name, &err);
}

static void register_dependencies(const struct finder *f, const struct manifest *m)
{
        size_t i = 0;

        VALUE_FOREACH_ITEM (item, value_find(m->object, "spec", "dependsOn")) {
                struct str package = value_str(value_get(item, STR("function"))), path;

                if (package.n == 0 && str_equal(value_str(value_get(item, STR("kind"))), STR("Function")))
                        package = value_str(value_get(item, STR("package")));
                path = arena_printf(f->arena, "spec.dependsOn[%zu]", i++);
                if (package.n == 0)
                        continue;
                register_name(f, m, path, package_name(package), package);
                register_name(f, m, path, installed_name(f->arena, package), package);
        }
}

/* The order is by precedence: a later, more specific source replaces an earlier one. */
static int register_all(const struct finder *f, struct err *err)
{
        const struct render_files *files = f->files;
        int r = 0;

        if (!f->options->only_given)
                register_builtins(f);
        for (size_t i = 0; i < files->packages.n; i++)
                register_dependencies(f, &files->packages.p[i]);
        for (size_t i = 0; i < files->functions.n; i++)
                register_function(f, &files->functions.p[i]);
        for (size_t i = 0; r >= 0 && i < files->revisions.n; i++)
                r = register_revision(f, &files->revisions.p[i], err);
        return r < 0 ? r : register_targets(f, err);
}

static void unref_failures(void *p)
{
        struct render_failures *failures = p;

        map_done(&failures->texts);
}

static struct render_failures *failures_new(struct arena *a)
{
        struct render_failures *failures = ARENA_NEW(a, struct render_failures);

        failures->arena = a;
        arena_pin(a, failures, unref_failures);
        return failures;
}

int render_failures_check(const struct render_failures *f, const struct value *composition, struct err *err)
{
        _cleanup_map_ struct map used = { 0 };

        if (f->texts.n == 0)
                return 0;
        find_used_by(f->arena, composition, &used);
        for (struct map_entry *e = map_first(&used); e; e = map_next(&used, e)) {
                const char *text = map_get(&f->texts, e->key);

                if (text)
                        return err_set(err, ERR_UNSUPPORTED, "%s", text);
        }
        return 0;
}

int render_files_register(struct arena *a, const struct render_files *files,
                          const struct render_function_options *options, struct registry *registry,
                          struct render_failures **ret, struct err *err)
{
        struct finder f = {
                .arena = a, .files = files, .options = options, .registry = registry, .failures = failures_new(a)
        };
        int r;

        for (size_t i = 0; i < options->n_targets; i++)
                set_target(a, options->targets[i], &f.targets);
        functions_register_native(registry);
        find_used(a, files, &f.used);
        r = register_all(&f, err);
        map_done(&f.used);
        map_done(&f.targets);
        *ret = f.failures;
        return r;
}
