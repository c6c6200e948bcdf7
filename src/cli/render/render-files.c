#include "render-files.h"

#include "buf.h"
#include "input.h"
#include "render-errors.h"
#include "render-sort.h"
#include "render-walk.h"

#include <sys/stat.h>

/* --- Directories --- */

static bool has_line(struct str text, const char *start)
{
        while (text.n > 0) {
                ptrdiff_t end = str_find_char(text, '\n');

                if (str_starts_with(text, str_from(start)))
                        return true;
                text = end < 0 ? STR("") : str_skip(text, (size_t)end + 1);
        }
        return false;
}

/* Whether an unreadable file below a directory was meant to be a manifest. Such a file counts as broken. */
static bool looks_like_manifest(const char *path)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str s;

        if (str_ends_with(str_from(path), STR(".json")) || input_read(path, &text, NULL) < 0)
                return false;
        s = buf_str(&text);
        if (!has_line(s, "apiVersion:") || !has_line(s, "kind:"))
                return false;
        /* Templates of other programs are not errors; a Composition may contain templates. */
        return str_find(s, STR("{{")) < 0 || has_line(s, "kind: Composit");
}

static void load_found(struct render_sorter *s, struct str directory, struct str path)
{
        _cleanup_err_ struct err problem = { 0 };
        struct manifests m;
        int r;

        manifests_init(&m, s->arena);
        r = manifests_load(&m, path, &problem);
        if (r >= 0 && m.n > 0)
                render_sorter_add_found(s, &m, str_skip(path, directory.n));
        else if (r < 0 && looks_like_manifest(arena_cstring(s->arena, path)))
                str_list_printf(&s->files->broken, "%s", err_message(&problem));
        else
                render_aside_add(&s->files->aside, ASIDE_NO_OBJECTS, 1);
}

static int load_directory(struct render_sorter *s, struct str directory, struct err *err)
{
        struct render_walk walk;
        int r = render_walk(s->arena, directory, &walk, err);

        if (r < 0)
                return r;
        if (walk.files.n == 0)
                return err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(directory));
        for (size_t i = 0; i < walk.files.n; i++)
                load_found(s, directory, walk.files.p[i]);
        render_aside_add(&s->files->aside, ASIDE_CHART, walk.n_chart_files);
        return 0;
}

/* --- All files --- */

static bool is_directory(struct arena *a, struct str path)
{
        struct stat st;

        return stat(arena_cstring(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

static int load_one(struct render_sorter *s, const char *path, struct err *err)
{
        struct manifests m;
        int r;

        if (strcmp(path, "-") != 0 && is_directory(s->arena, str_from(path)))
                return load_directory(s, str_from(path), err);
        manifests_init(&m, s->arena);
        r = manifests_load(&m, str_from(path), err);
        if (r >= 0 && m.n == 0)
                r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(input_name(path)));
        return r < 0 ? r : render_sorter_add_named(s, &m, err);
}

static void init(struct render_files *files, struct arena *a)
{
        manifests_init(&files->composites, a);
        manifests_init(&files->compositions, a);
        manifests_init(&files->functions, a);
        manifests_init(&files->revisions, a);
        manifests_init(&files->definitions, a);
        manifests_init(&files->publications, a);
        manifests_init(&files->refused, a);
        manifests_init(&files->observed, a);
        manifests_init(&files->required, a);
        manifests_init(&files->packages, a);
        str_list_init(&files->broken, a);
        render_aside_init(&files->aside, a);
}

int render_files_load(struct arena *a, const char *const *paths, size_t n, struct str xrd, struct render_files *ret,
                      struct err *err)
{
        _cleanup_(render_sorter_done)
        struct render_sorter s = { .arena = a, .files = ret };
        int r = 0;

        init(ret, a);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = load_one(&s, paths[i], err);
        if (r >= 0 && xrd.n)
                r = render_files_load_definitions(a, xrd, ret, err);
        if (r < 0)
                return r;
        render_sorter_finish(&s);
        render_claims_bind(a, ret);
        if (ret->composites.n == 0 && ret->broken.n == 0)
                return err_set(err, ERR_INVALID, "none of the files has a composite resource");
        if (ret->compositions.n == 0)
                return err_set(err, ERR_INVALID, "none of the files has a Composition");
        return 0;
}

/* --- The rest --- */

int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what, struct manifests *ret,
                           struct err *err)
{
        manifests_init(ret, a);
        for (size_t i = 0; i < n; i++) {
                size_t before = ret->n;
                int r = manifests_load(ret, paths[i], err);

                /* An empty file is allowed, because it may be filled later. A directory without objects is probably the wrong
                 * one. */
                if (r >= 0 && ret->n == before && is_directory(a, paths[i]))
                        r = err_set(err, ERR_INVALID, "%.*s has no objects", STR_ARG(paths[i]));
                if (r < 0)
                        return render_part_of(err, "cannot load %s", what);
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
