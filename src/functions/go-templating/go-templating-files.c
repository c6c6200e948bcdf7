/* Templates in files. The author of a Composition chooses the path, so every name is opened below one directory that the operator
 * chose: neither `..` nor a link can leave it, and files outside of it count as missing. */
#include "go-templating.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "buf.h"
#include "functions.h"
#include "limits.h"
#include "vec.h"

/* Limits: depth of nested directories, and total number of files. */
#define FILES_DEPTH 32
#define FILES_COUNT 10000

static const char *directory; /* set once, before calls run */

void functions_set_template_directory(const char *path)
{
        directory = path;
}

struct walk {
        struct templating *call;
        struct arena *arena;
        struct buf text;
        size_t n_files;
        struct err *err;
};

static void close_directory(DIR **d)
{
        if (*d)
                closedir(*d);
}

/* Upstream's error for a missing path. Paths outside of the directory get the same error. */
static int not_found(struct walk *w, struct str path)
{
        return err_set(w->err, ERR_NOT_FOUND, "open %.*s: no such file or directory", STR_ARG(path));
}

static int open_beneath(int at, const char *path)
{
        struct open_how how = {
                .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
        };

        return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

static int read_file(struct walk *w, int fd, struct str path)
{
        size_t start = w->text.n;
        ssize_t n;

        if (++w->n_files > FILES_COUNT)
                return err_set(w->err, ERR_LIMIT, "more than %d files", FILES_COUNT);
        do {
                if (!buf_reserve(&w->text, 64u << 10))
                        return buf_check(&w->text, "text of the templates", w->err);
                n = read(fd, w->text.p + w->text.n, 64u << 10);
                if (n > 0)
                        w->text.n += (size_t)n;
        } while (n > 0 || (n < 0 && errno == EINTR));
        if (n < 0)
                return err_set_errno(w->err, errno, "read %.*s", STR_ARG(path));
        templating_add_part(w->call, STR("fileSystem.dirPath"), path, w->text.n - start);
        buf_append_str(&w->text, TEMPLATING_SEPARATOR);
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The sorted names in the directory that do not begin with a dot; in the arena. */
static size_t list_names(struct walk *w, DIR *d, char ***ret)
{
        VEC(char *) names = { 0 };
        size_t n;

        for (struct dirent *e = readdir(d); e; e = readdir(d))
                if (e->d_name[0] != '.')
                        vec_push(&names, arena_cstring(w->arena, str_from(e->d_name)));
        n = names.n;
        *ret = ARENA_NEW_ARRAY(w->arena, char *, n + 1);
        if (n > 0)
                memcpy(*ret, names.p, n * sizeof(char *));
        vec_done(&names);
        qsort(*ret, n, sizeof(char *), compare_names);
        return n;
}

static int read_path(struct walk *w, int at, const char *name, struct str shown, unsigned depth);

static int read_directory(struct walk *w, int fd, struct str path, unsigned depth)
{
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), r = 0;
        _cleanup_(close_directory)
        DIR *d = copy < 0 ? NULL : fdopendir(copy);
        char **names;
        size_t n;

        if (!d)
                return err_set_errno(w->err, errno, "open %.*s", STR_ARG(path));
        if (depth >= FILES_DEPTH)
                return err_set(w->err, ERR_LIMIT, "more than %d directories in each other", FILES_DEPTH);
        n = list_names(w, d, &names);
        for (size_t i = 0; i < n && r == 0; i++)
                r = read_path(w, fd, names[i], ARENA_CONCAT(w->arena, path, STR("/"), str_from(names[i])), depth + 1);
        return r;
}

/* Reads a file, or all files below a directory. Devices, pipes and sockets are not read. */
static int read_path(struct walk *w, int at, const char *name, struct str shown, unsigned depth)
{
        _cleanup_close_ int fd = open_beneath(at, name);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return not_found(w, shown);
        if (S_ISDIR(st.st_mode))
                return read_directory(w, fd, shown, depth);
        return S_ISREG(st.st_mode) ? read_file(w, fd, shown) : not_found(w, shown);
}

/* Whether the path's last element begins with a dot and is not `..`: the walk skips such names, including `.`. */
static bool is_hidden(struct str path)
{
        ptrdiff_t slash;

        while (path.n > 1 && path.p[path.n - 1] == '/')
                path.n--;
        slash = str_find_last_char(path, '/');
        path = str_skip(path, (size_t)(slash + 1));
        return path.n > 0 && path.p[0] == '.' && !str_equal(path, STR(".."));
}

/* Reads the path below the open directory. */
static int read_from(struct templating *t, int root, const char *name, struct str shown, struct str *ret,
                     struct err *err)
{
        struct walk w = { .call = t, .arena = t->arena, .text = BUF_INIT(LIMIT_TEMPLATE_BYTES), .err = err };
        int r;

        t->reads_files = true;
        if (root < 0)
                return not_found(&w, shown);
        *ret = STR("");
        if (is_hidden(shown))
                return 0;
        r = read_path(&w, root, name, shown, 0);
        if (r == 0)
                *ret = buf_to_arena(&w.text, t->arena);
        buf_done(&w.text);
        return r;
}

int templating_read_files(struct templating *t, struct str path, struct str *ret, struct err *err)
{
        bool is_name = !memchr(path.p, 0, path.n);
        _cleanup_close_ int root = directory && is_name ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

        return read_from(t, root, arena_cstring(t->arena, path), path, ret, err);
}

int templating_read_default_files(struct templating *t, const char *path, struct str *ret, struct err *err)
{
        struct str shown = str_from(path), parent;
        _cleanup_close_ int root = -1;
        ptrdiff_t slash;

        while (shown.n > 1 && shown.p[shown.n - 1] == '/')
                shown.n--;
        slash = str_find_last_char(shown, '/');
        parent = slash < 0 ? STR(".") : slash == 0 ? STR("/") : str_first(shown, (size_t)slash);
        root = open(arena_cstring(t->arena, parent), O_PATH | O_DIRECTORY | O_CLOEXEC);
        return read_from(t, root, arena_cstring(t->arena, str_skip(shown, (size_t)(slash + 1))), shown, ret, err);
}
