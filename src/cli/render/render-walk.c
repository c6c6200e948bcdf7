#include "render-walk.h"

#include "err.h"
#include "limits.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool render_walk_is_manifest(struct str name)
{
        return name.n > 0 && name.p[0] != '.' &&
               (str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml")) ||
                str_ends_with(name, STR(".json")));
}

bool render_walk_is_test(struct str name)
{
        static const struct str names[] = { STR_INIT("test"), STR_INIT("tests"), STR_INIT("testdata"),
                                            STR_INIT("e2e") };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (str_equal(name, names[i]))
                        return true;
        return false;
}

static struct str join(struct arena *a, struct str directory, const char *name)
{
        return arena_printf(a, "%.*s%s%s", STR_ARG(directory), str_ends_with(directory, STR("/")) ? "" : "/", name);
}

/* Compares bytes, independent of the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

static int walk_into(struct arena *a, struct str directory, unsigned level, bool is_chart, struct render_walk *ret,
                     struct err *err);

static int walk_directory(struct arena *a, struct str parent, const char *name, unsigned level, bool is_chart,
                          struct render_walk *ret, struct err *err)
{
        bool has_chart = access(join(a, parent, "Chart.yaml").p, F_OK) == 0;

        if (level == LIMIT_DIRECTORY_LEVELS)
                return err_set(err, ERR_LIMIT, "%.*s has more than %d levels of directories", STR_ARG(parent),
                               LIMIT_DIRECTORY_LEVELS);
        is_chart |= has_chart && strcmp(name, "templates") == 0;
        return walk_into(a, join(a, parent, name), level + 1, is_chart, ret, err);
}

static int walk_entry(struct arena *a, struct str directory, const char *name, unsigned level, bool is_chart,
                      struct render_walk *ret, struct err *err)
{
        struct str path = join(a, directory, name);
        struct stat st, target;

        if (lstat(path.p, &st) < 0)
                return 0;
        if (S_ISDIR(st.st_mode))
                return walk_directory(a, directory, name, level, is_chart, ret, err);
        if (!render_walk_is_manifest(str_from(name)) || (stat(path.p, &target) == 0 && !S_ISREG(target.st_mode)))
                return 0;
        if (is_chart)
                ret->n_chart_files++;
        else
                str_list_add(&ret->files, path);
        return 0;
}

static int walk_into(struct arena *a, struct str directory, unsigned level, bool is_chart, struct render_walk *ret,
                     struct err *err)
{
        struct dirent **entries;
        int n = scandir(arena_cstring(a, directory), &entries, NULL, by_name), r = 0;

        if (n < 0)
                return err_set_errno(err, errno, "cannot read directory %.*s", STR_ARG(directory));
        for (int i = 0; i < n; i++) {
                if (r == 0 && entries[i]->d_name[0] != '.')
                        r = walk_entry(a, directory, entries[i]->d_name, level, is_chart, ret, err);
                free(entries[i]);
        }
        free(entries);
        return r;
}

int render_walk(struct arena *a, struct str directory, struct render_walk *ret, struct err *err)
{
        ret->n_chart_files = 0;
        str_list_init(&ret->files, a);
        return walk_into(a, directory, 0, false, ret, err);
}
