#include "render-files.h"

#include "input.h"
#include "settings.h"

#include <sys/stat.h>

#define EXTENSIONS_GROUP STR("apiextensions.crossplane.io")
#define PACKAGES_GROUP   STR("pkg.crossplane.io")

/* --- Which is which --- */

static int no_function(const struct manifest *m, struct err *err)
{
        err_set(err, ERR_INVALID, "not a function: %.*s/%.*s", STR_ARG(gvk_of(m->object).kind),
                STR_ARG(meta_name(m->object)));
        return manifest_error(m, STR("kind"), err);
}

/* A kind beside Composition that is nearly one of those that are looked for here. */
static int misspelt(const struct manifest *m, const char *near, struct err *err)
{
        err_set(err, ERR_INVALID, "\"%.*s\" is not known; did you mean \"%s\"?", STR_ARG(gvk_of(m->object).kind), near);
        return manifest_error(m, STR("kind"), err);
}

/* What names are made of has to be a name. */
static int check_metadata(const struct manifest *m, struct err *err)
{
        static const struct str fields[] = { STR_INIT("name"), STR_INIT("namespace") };
        const struct value *metadata = value_get(m->object, STR("metadata"));

        if (metadata && !value_is_null(metadata) && !value_is_object(metadata)) {
                err_set(err, ERR_INVALID, "must be an object");
                return manifest_error(m, STR("metadata"), err);
        }
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *v = value_get(metadata, fields[i]);

                if (!v || value_is_null(v) || value_is_string(v))
                        continue;
                err_set(err, ERR_INVALID, "must be a string: put it in quotes");
                return manifest_error(m, i == 0 ? STR("metadata.name") : STR("metadata.namespace"), err);
        }
        return 0;
}

static int sort_in(struct render_files *files, const struct manifest *m, struct err *err)
{
        static const char *const kinds[] = { "Composition", "CompositeResourceDefinition" };
        struct gvk gvk = gvk_of(m->object);
        struct manifests *to = &files->composites;
        const char *near;
        int r = check_metadata(m, err);

        if (r < 0)
                return r;

        if (str_equal(gvk.group, PACKAGES_GROUP)) {
                if (str_equal(gvk.kind, STR("Function")))
                        to = &files->functions;
                else if (str_equal(gvk.kind, STR("FunctionRevision")))
                        to = &files->revisions;
                else
                        return no_function(m, err);
        } else if (str_equal(gvk.group, EXTENSIONS_GROUP)) {
                if (str_equal(gvk.kind, STR("Composition")))
                        to = &files->compositions;
                else if (str_equal(gvk.kind, STR("CompositeResourceDefinition")))
                        to = &files->definitions;
                else if ((near = settings_nearest(gvk.kind, kinds, ARRAY_SIZE(kinds))))
                        return misspelt(m, near, err);
        }
        manifests_add(to, *m);
        return 0;
}

static int load_one(struct arena *a, const char *path, struct render_files *files, struct err *err)
{
        struct manifests m;
        int r;

        manifests_init(&m, a);
        r = manifests_load(&m, str_from(path), err);
        if (r >= 0 && m.n == 0)
                r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(input_name(path)));
        for (size_t i = 0; r >= 0 && i < m.n; i++)
                r = sort_in(files, &m.p[i], err);
        return r;
}

int render_files_load(struct arena *a, const char *const *paths, size_t n, struct render_files *ret, struct err *err)
{
        manifests_init(&ret->composites, a);
        manifests_init(&ret->compositions, a);
        manifests_init(&ret->functions, a);
        manifests_init(&ret->revisions, a);
        manifests_init(&ret->definitions, a);
        manifests_init(&ret->observed, a);
        for (size_t i = 0; i < n; i++) {
                int r = load_one(a, paths[i], ret, err);

                if (r < 0)
                        return r;
        }
        if (ret->composites.n == 0)
                return err_set(err, ERR_INVALID, "none of the files has a composite resource");
        if (ret->compositions.n == 0)
                return err_set(err, ERR_INVALID, "none of the files has a Composition");
        return 0;
}

/* --- The rest --- */

static bool is_directory(struct arena *a, struct str path)
{
        struct stat st;

        return stat(arena_cstring(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what, struct manifests *ret,
                           struct err *err)
{
        manifests_init(ret, a);
        for (size_t i = 0; i < n; i++) {
                size_t before = ret->n;
                int r = manifests_load(ret, paths[i], err);

                /* A file may be empty, and fill later; a directory that has none is another than was meant. */
                if (r >= 0 && ret->n == before && is_directory(a, paths[i]))
                        r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(paths[i]));
                if (r < 0)
                        return err_wrap(err, "cannot load %s", what);
        }
        return 0;
}

const struct value *render_files_list(struct arena *a, const struct manifests *m)
{
        struct array_builder list;

        array_builder_init(&list, a, m->n);
        for (size_t i = 0; i < m->n; i++)
                array_builder_add(&list, *m->p[i].object);
        return value_put(a, array_builder_finish(&list));
}
