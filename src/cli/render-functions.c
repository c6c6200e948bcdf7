/* How the functions of a render are run. */
#include "render-files.h"

#include "buf.h"
#include "composition.h"
#include "functions.h"
#include "map.h"
#include "render-errors.h"
#include "settings.h"

#define ANNOTATION_RUNTIME  STR("render.crossplane.io/runtime")
#define ANNOTATION_TARGET   STR("render.crossplane.io/runtime-development-target")
#define ANNOTATION_BUILT_IN STR("weft/built-in")
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

/* What a Function says, or a FunctionRevision. */
static struct str package_of(const struct value *function)
{
        struct str package = value_str(value_find(function, "spec", "package"));

        return package.n ? package : value_str(value_find(function, "spec", "image"));
}

static const struct builtin_function *find_builtin(const struct value *function, struct str name)
{
        struct str package = package_of(function);

        if (str_equal(meta_annotation(function, ANNOTATION_BUILT_IN), STR("false")))
                return NULL;
        return builtin_find(package.n ? package_name(package) : name);
}

static void append_ways(struct buf *b, struct str name)
{
        buf_append_literal(b, "use one that is built in, by its name or by the last part of a Function's package (");
        for (size_t i = 0; i < builtin_n_functions; i++)
                buf_appendf(b, "%s%s", i ? ", " : "", builtin_functions[i]->name);
        buf_appendf(
                b,
                "); or start it with --insecure and give --function %.*s=HOST:PORT; or start it so and annotate its "
                "Function with render.crossplane.io/runtime: Development and "
                "render.crossplane.io/runtime-development-target: HOST:PORT",
                STR_ARG(name));
}

/* Names the ways to run it. */
static int cannot_run(const struct manifest *m, struct str name, struct err *err)
{
        _cleanup_buf_ struct buf ways = BUF_INIT(0);

        append_ways(&ways, name);
        err_set(err, ERR_UNSUPPORTED,
                "cannot run Function \"%.*s\": \"%.*s\" is not built in, and images are not run. Either %s",
                STR_ARG(name), STR_ARG(package_of(m->object)), buf_cstring(&ways));
        return manifest_error(m, STR("spec"), err);
}

static int connect(struct str name, struct str revision, struct str target, struct function **ret, struct err *err)
{
        struct grpc_function_options options = { .target = target.n ? target : STR("localhost:9443") };

        return function_grpc_new(name, revision, &options, ret, err);
}

/* The function of a Function or of a FunctionRevision. */
static int reach(const struct manifest *m, struct str name, struct str revision, struct function **ret, struct err *err)
{
        struct str runtime = meta_annotation(m->object, ANNOTATION_RUNTIME);
        const struct builtin_function *builtin = find_builtin(m->object, name);

        if (str_equal(runtime, STR("Development")))
                return connect(name, revision, meta_annotation(m->object, ANNOTATION_TARGET), ret, err) < 0
                               ? manifest_error(m, STR("metadata.annotations"), err)
                               : 0;
        if (runtime.n && !str_equal(runtime, STR("Docker")) && !str_equal(runtime, STR("InProcess"))) {
                err_set(err, ERR_INVALID,
                        "cannot get runtime for Function \"%.*s\": unsupported \"render.crossplane.io/runtime\" "
                        "annotation value \"%.*s\" (unknown runtime)",
                        STR_ARG(name), STR_ARG(runtime));
                return manifest_error(m, STR("metadata.annotations"), err);
        }
        if (!builtin)
                return cannot_run(m, name, err);
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
        /* What is wrong with it is said when it is rendered. */
        VALUE_FOREACH_ITEM (step, value_find(composition, "spec", "pipeline"))
                map_set(used, value_str(value_find(step, "functionRef", "name")), (void *)step);
}

static void find_used(struct arena *a, const struct render_files *files, struct map *used)
{
        for (size_t i = 0; i < files->compositions.n; i++)
                find_used_by(a, files->compositions.p[i].object, used);
}

/* --- Who runs what --- */

static int set_target(struct arena *a, struct str pair, struct map *targets, struct err *err)
{
        struct str *target = ARENA_NEW(a, struct str);
        struct str name;

        *target = pair;
        if (!str_split(target, '=', &name) || name.n == 0 || target->n == 0)
                return err_set(err, ERR_INVALID, "--function: \"%.*s\" is no NAME=HOST:PORT", STR_ARG(pair));
        map_set(targets, name, target);
        return 0;
}

/* A function that one of the steps uses, nearly of this name. */
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

static int register_function(const struct manifest *m, const struct map *used, const struct map *targets,
                             struct registry *registry, struct err *err)
{
        struct str name = meta_name(m->object);
        struct function *f;
        int r;

        /* What no step uses may be of any sort. */
        if (!map_has(used, name) || map_has(targets, name))
                return 0;
        r = reach(m, name, STR(""), &f, err);
        if (r >= 0)
                registry_set(registry, name, f);
        return r;
}

static int register_revision(const struct manifest *m, const struct map *used, const struct map *targets,
                             struct registry *registry, struct err *err)
{
        struct str function = meta_label(m->object, LABEL_PACKAGE);
        struct function_revision revision = {
                .name = meta_name(m->object),
                .number = value_int(value_find(m->object, "spec", "revision"), 0),
                .labels = value_get(meta(m->object), STR("labels")),
                .is_active = !str_equal(value_str(value_find(m->object, "spec", "desiredState")), STR("Inactive")),
        };
        int r;

        if (function.n == 0) {
                err_set(err, ERR_INVALID,
                        "it has no label pkg.crossplane.io/package that says of which Function it is");
                return manifest_error(m, STR("metadata"), err);
        }
        if (!map_has(used, function) || map_has(targets, function))
                return 0;
        r = reach(m, function, revision.name, &revision.function, err);
        if (r >= 0)
                registry_set_revision(registry, function, &revision);
        return r;
}

static int register_used(const struct map *used, const struct map *targets, bool by_name, struct registry *registry,
                         struct err *err)
{
        for (struct map_entry *e = map_first(used); e; e = map_next(used, e)) {
                const struct builtin_function *builtin = by_name ? builtin_find(e->key) : NULL;
                const struct str *target = map_get(targets, e->key);
                struct function *f = NULL;

                if (target && connect(e->key, STR(""), *target, &f, err) < 0)
                        return err_wrap(err, "--function %.*s", STR_ARG(e->key));
                if (!target && builtin)
                        f = function_builtin(builtin);
                if (f)
                        registry_set(registry, e->key, f);
        }
        return 0;
}

static int register_all(const struct render_files *files, const struct map *used, const struct map *targets,
                        struct registry *registry, struct err *err)
{
        int r = register_used(used, targets, files->functions.n + files->revisions.n == 0, registry, err);

        for (size_t i = 0; r >= 0 && i < files->functions.n; i++)
                r = register_function(&files->functions.p[i], used, targets, registry, err);
        for (size_t i = 0; r >= 0 && i < files->revisions.n; i++)
                r = register_revision(&files->revisions.p[i], used, targets, registry, err);
        return r < 0 ? err_wrap(err, "cannot start function runtimes") : 0;
}

const char *render_functions_hint(struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, " - is it in the files of functions? Either ");
        append_ways(&b, STR("NAME"));
        return buf_to_arena(&b, a).p;
}

int render_files_register(struct arena *a, const struct render_files *files, const struct str *targets,
                          size_t n_targets, struct registry *registry, struct err *err)
{
        _cleanup_map_ struct map used = { 0 }, by_name = { 0 };

        for (size_t i = 0; i < n_targets; i++) {
                int r = set_target(a, targets[i], &by_name, err);

                if (r < 0)
                        return r;
        }
        functions_register_native(registry);
        find_used(a, files, &used);
        return register_all(files, &used, &by_name, registry, err);
}
