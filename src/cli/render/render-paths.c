/* Files that composite resources name in their annotations, as the makefiles of many repositories use them. */
#include "render-files.h"

#include "limits.h"

#include <sys/stat.h>

#define ANNOTATION_COMPOSITION STR("render.crossplane.io/composition-path")
#define ANNOTATION_FUNCTIONS   STR("render.crossplane.io/function-path")
#define ANNOTATION_ENVIRONMENT STR("render.crossplane.io/environment-path")
#define ANNOTATION_OBSERVED    STR("render.crossplane.io/observe-path")

/* Replaces the path by its directory; false when the path has no part left to cut off. */
static bool go_up(struct str *path)
{
        ptrdiff_t slash = str_find_last_char(*path, '/');

        if (path->n == 0 || str_equal(*path, STR("/")))
                return false;
        *path = slash < 0 ? STR("") : slash == 0 ? STR("/") : str_first(*path, (size_t)slash);
        return true;
}

static bool exists(struct str path, struct stat *ret)
{
        return stat(path.p, ret) == 0;
}

/* Finds the file that an annotation of the composite names: relative to the composite's directory, then to each directory above
 * it. */
static bool find_file(struct arena *a, const struct manifest *composite, struct str named, struct str *ret,
                      struct stat *ret_stat)
{
        struct str directory = composite->source->name;

        while (go_up(&directory)) {
                *ret = arena_printf(a, "%.*s%s%.*s", STR_ARG(directory),
                                    directory.n == 0 || str_ends_with(directory, STR("/")) ? "" : "/", STR_ARG(named));
                if (exists(*ret, ret_stat))
                        return true;
        }
        return false;
}

static bool is_of_file(const struct manifest *m, const struct stat *file, struct arena *a)
{
        struct stat st;

        return m->source && exists(arena_printf(a, "%.*s", STR_ARG(m->source->name)), &st) &&
               st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool is_loaded(const struct manifests *list, const struct stat *file, struct arena *a)
{
        for (size_t i = 0; i < list->n; i++)
                if (is_of_file(&list->p[i], file, a))
                        return true;
        return false;
}

static int not_there(struct arena *a, const struct manifest *composite, struct str annotation, struct str named,
                     struct err *err)
{
        err_set(err, ERR_NOT_FOUND, "annotation %.*s: no file %.*s beside this one or below a directory above it",
                STR_ARG(annotation), STR_ARG(named));
        return manifest_error(composite, arena_printf(a, "metadata.annotations['%.*s']", STR_ARG(annotation)), err);
}

/* Adds the objects of the kind, because the file may contain others. NULL adds all: any object may be required. */
static void add_of_kind(struct manifests *to, const struct manifests *from, const char *kind)
{
        for (size_t i = 0; i < from->n; i++)
                if (!kind || str_equal(gvk_of(from->p[i].object).kind, str_from(kind)))
                        manifests_add(to, from->p[i]);
}

/* Loads the file that the annotation names into the list, unless it is loaded already. kind may be NULL. */
static int load(struct arena *a, const struct manifest *composite, struct str annotation, const char *kind,
                struct manifests *to, struct err *err)
{
        struct manifests m;
        struct str named = meta_annotation(composite->object, annotation), path;
        struct stat file;
        int r;

        if (named.n == 0 || !composite->source)
                return 0;
        if (!find_file(a, composite, named, &path, &file))
                return not_there(a, composite, annotation, named, err);
        if (is_loaded(to, &file, a))
                return 0;
        manifests_init(&m, a);
        r = manifests_load(&m, path, err);
        if (r >= 0)
                add_of_kind(to, &m, kind);
        return r;
}

int render_paths_load(struct arena *a, const struct manifest *composite, bool with_composition,
                      struct render_files *files, struct err *err)
{
        int r = 0;

        if (with_composition)
                r = load(a, composite, ANNOTATION_COMPOSITION, "Composition", &files->compositions, err);
        if (r >= 0)
                r = load(a, composite, ANNOTATION_FUNCTIONS, "Function", &files->functions, err);
        if (r >= 0)
                r = load(a, composite, ANNOTATION_ENVIRONMENT, NULL, &files->required, err);
        return r;
}

int render_paths_load_observed(struct arena *a, const struct manifest *composite, struct manifests *to, struct err *err)
{
        return load(a, composite, ANNOTATION_OBSERVED, NULL, to, err);
}

bool render_paths_name_composition(struct arena *a, const struct manifest *composite,
                                   const struct manifest *composition)
{
        struct str named = meta_annotation(composite->object, ANNOTATION_COMPOSITION), path;
        struct stat file;

        return named.n && composite->source && find_file(a, composite, named, &path, &file) &&
               is_of_file(composition, &file, a);
}
