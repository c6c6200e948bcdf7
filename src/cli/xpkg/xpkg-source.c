#include "xpkg-source.h"

#include "buf.h"
#include "input.h"
#include "limits.h"
#include "str-list.h"
#include "xpkg-image.h"
#include "yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/stat.h>

/* Called for each file of a directory. */
typedef int visit_fn(void *context, const char *path, struct str relative, struct err *err);

struct walk {
        visit_fn *visit;
        void *context;
        size_t n_root; /* bytes of the root's path */
};

static bool is_yaml(struct str name)
{
        return str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml"));
}

static int list(struct arena *a, const char *directory, struct str_list *ret, struct err *err)
{
        DIR *d = opendir(directory);

        if (!d)
                return err_set_errno(err, errno, "cannot read %s", directory);
        str_list_init(ret, a);
        for (struct dirent *e; (e = readdir(d));)
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        str_list_add(ret, arena_copy(a, str_from(e->d_name)));
        closedir(d);
        str_list_sort(ret);
        return 0;
}

/* In lexical order; links are not followed. */
static int walk(const struct walk *w, const char *directory, unsigned level, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct str_list names;
        int r;

        arena_init(&a, "directory", 0);
        if (level > LIMIT_DIRECTORY_LEVELS)
                return err_set(err, ERR_LIMIT, "%s is more than %d directories deep", directory,
                               LIMIT_DIRECTORY_LEVELS);
        r = list(&a, directory, &names, err);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                const char *path = arena_printf(&a, "%s/%.*s", directory, STR_ARG(names.p[i])).p;
                struct stat st;

                if (lstat(path, &st) < 0)
                        r = err_set_errno(err, errno, "cannot read %s", path);
                else if (S_ISDIR(st.st_mode))
                        r = walk(w, path, level + 1, err);
                else if (S_ISREG(st.st_mode) && st.st_size > 0 && is_yaml(names.p[i]))
                        r = w->visit(w->context, path, str_skip(str_from(path), w->n_root + 1), err);
        }
        return r;
}

static int walk_root(const char *root, visit_fn *visit, void *context, struct err *err)
{
        struct walk w = { visit, context, strlen(root) };

        return walk(&w, root, 0, err);
}

/* The absolute path without links; for a path that does not exist, the working directory and the path. */
static char *absolute(const char *path)
{
        char *real = realpath(path, NULL), *cwd, *joined;

        if (real)
                return real;
        cwd = getcwd(NULL, 0);
        while (strncmp(path, "./", 2) == 0)
                path += 2;
        if (asprintf(&joined, "%s/%s", path[0] == '/' ? "" : cwd, path) < 0)
                abort();
        free(cwd);
        return joined;
}

struct reading {
        const struct xpkg_source *source;
        const char *examples;
        struct xpkg_reader reader;
};

static bool is_ignored(const struct xpkg_source *s, struct str relative)
{
        for (size_t i = 0; i < s->n_ignore; i++) {
                _cleanup_free_ char *pattern = NULL, *path = str_to_cstring(relative);
                struct str glob = str_trim(s->ignore[i]);

                while (str_cut_prefix(&glob, STR("./")))
                        ;
                pattern = str_to_cstring(glob);
                if (fnmatch(pattern, path, FNM_PATHNAME) == 0)
                        return true;
        }
        return false;
}

static int read_file(void *context, const char *path, struct str relative, struct err *err)
{
        struct reading *r = context;
        _cleanup_buf_ struct buf text = BUF_INIT(LIMIT_PACKAGE_YAML_BYTES);
        int result;

        if (is_ignored(r->source, relative) || strstr(path, r->examples))
                return 0;
        result = input_read(path, &text, err);
        buf_append_literal(&text, "\n...\n"); /* as Crossplane's CLI joins files: a document ends with its file */
        return result < 0 ? result : xpkg_reader_add(&r->reader, path, buf_to_arena(&text, r->reader.arena), err);
}

int xpkg_source_read(const struct xpkg_source *s, struct arena *a, struct xpkg *ret, struct err *err)
{
        _cleanup_free_ char *root = absolute(s->root), *examples = absolute(s->examples);
        struct reading reading = { .source = s, .examples = examples };
        int r;

        xpkg_reader_init(&reading.reader, a);
        r = walk_root(root, read_file, &reading, err);
        return r < 0 ? r : xpkg_finish(&reading.reader, ret, err);
}

/* Every document must be an object with a kind. */
static int check_example(const char *path, struct str text, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct yaml_document document;
        struct yaml_stream stream;
        int r;

        arena_init(&a, "example", 0);
        yaml_stream_init(&stream, text);
        while ((r = yaml_stream_next(&stream, &document, err)) > 0) {
                const struct value *object;

                r = yaml_parse(&a, document.text, NULL, &object, err);
                if (r >= 0 && !value_is_null(object) && gvk_of(object).kind.n == 0)
                        r = err_set(err, ERR_INVALID, "Object 'Kind' is missing");
                if (r < 0)
                        break;
        }
        return r < 0 ? err_wrap(err, "failed to parse examples: {path:%s position:0}", path) : 0;
}

static int read_example(void *context, const char *path, struct str relative, struct err *err)
{
        struct buf *b = context;
        _cleanup_buf_ struct buf text = BUF_INIT(LIMIT_PACKAGE_YAML_BYTES);
        int r = input_read(path, &text, err);

        (void)relative;
        if (r >= 0)
                r = check_example(path, buf_str(&text), err);
        if (r < 0)
                return r;
        buf_append_str(b, buf_str(&text));
        buf_append_literal(b, "\n...\n\n---\n");
        return 0;
}

int xpkg_source_examples(const struct xpkg_source *s, struct buf *b, struct err *err)
{
        _cleanup_free_ char *examples = absolute(s->examples);

        if (access(examples, F_OK) < 0)
                return 0;
        return walk_root(examples, read_example, b, err);
}

int xpkg_find_file(struct arena *a, struct str *ret, struct err *err)
{
        struct str_list names;
        size_t n = 0;
        int r = list(a, ".", &names, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < names.n; i++)
                if (str_ends_with(names.p[i], STR(".xpkg")) && n++ == 0)
                        *ret = names.p[i];
        if (n == 1)
                return 0;
        return err_set(err, n == 0 ? ERR_NOT_FOUND : ERR_INVALID,
                       "failed to find a package in current working directory: directory %s",
                       n == 0 ? "does not contain a compiled crossplane package"
                              : "contains multiple compiled crossplane packages");
}

/* Beside, then renamed: a reader never sees a part of it. */
int xpkg_write_with(struct arena *a, struct str path, xpkg_write_fn *write, void *context, struct err *err)
{
        const char *beside = arena_printf(a, "%.*s.tmp-%d", STR_ARG(path), (int)getpid()).p;
        _cleanup_close_ int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        int r;

        if (fd < 0)
                return err_set_errno(err, errno, "failed to create package file %.*s", STR_ARG(path));
        r = write(context, fd, err);
        if (r >= 0 && rename(beside, path.p) < 0)
                r = err_set_errno(err, errno, "failed to create package file %.*s", STR_ARG(path));
        if (r < 0)
                unlink(beside);
        return r;
}

static int write_image(void *image, int fd, struct err *err)
{
        return xpkg_image_write(image, fd, NULL, NULL, err);
}

int xpkg_write_file(struct arena *a, struct str path, struct xpkg_image *image, struct err *err)
{
        return xpkg_write_with(a, path, write_image, image, err);
}
