/* Loads OpenAPI documents from a directory, for functions that request schemas. */
#include "render-files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "buf.h"
#include "input.h"
#include "json.h"

#define MAX_LEVELS 64 /* of directories: links may form a loop */

/* Adds the paths of all *.json below the directory. */
static int find_files(struct str_list *files, const char *path, unsigned level, struct err *err)
{
        struct dirent **entries;
        int n = level < MAX_LEVELS ? scandir(path, &entries, NULL, alphasort) : 0, r = 0;

        if (n < 0)
                return err_set_errno(err, errno, "cannot read directory %s", path);
        for (int i = 0; i < n; i++) {
                struct str name = str_from(entries[i]->d_name);
                struct str whole = arena_printf(files->arena, "%s/%.*s", path, STR_ARG(name));
                struct stat st;

                if (r >= 0 && !str_equal(name, STR(".")) && !str_equal(name, STR("..")) && stat(whole.p, &st) == 0) {
                        if (S_ISDIR(st.st_mode))
                                r = find_files(files, whole.p, level + 1, err);
                        else if (str_ends_with(name, STR(".json")))
                                str_list_add(files, whole);
                }
                free(entries[i]);
        }
        if (n > 0)
                free(entries);
        return r;
}

static int load_one(struct arena *a, struct str path, struct array_builder *documents, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *document;
        int r = input_read(path.p, &text, err);

        if (r < 0)
                return r;
        r = json_parse(a, arena_copy(a, buf_str(&text)), NULL, &document, err);
        if (r < 0)
                return err_wrap(err, "cannot parse OpenAPI JSON from \"%.*s\"", STR_ARG(path));
        array_builder_add(documents, *document);
        return 0;
}

int render_files_load_schemas(struct arena *a, struct str directory, const struct value **ret, struct err *err)
{
        struct array_builder documents;
        struct str_list files;
        int r;

        str_list_init(&files, a);
        r = find_files(&files, arena_cstring(a, directory), 0, err);
        if (r >= 0 && files.n == 0)
                r = err_set(err, ERR_NOT_FOUND, "no JSON files found in \"%.*s\"", STR_ARG(directory));
        array_builder_init(&documents, a, files.n);
        for (size_t i = 0; r >= 0 && i < files.n; i++)
                r = load_one(a, files.p[i], &documents, err);
        if (r < 0)
                return err_wrap(err, "cannot load OpenAPI schemas from \"%.*s\"", STR_ARG(directory));
        *ret = value_put(a, array_builder_finish(&documents));
        return 0;
}
