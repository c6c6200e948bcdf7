#include "project.h"

#include "embed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX          "function-"
#define MAX_LABEL_BYTES 63
#define PLACEHOLDER     STR("@NAME@")

bool project_is_label(struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                bool is_inner = i > 0 && i + 1 < s.n && s.p[i] == '-';

                if (!is_inner && !(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9'))
                        return false;
        }
        return s.n > 0;
}

/* The name of the package and the program: by convention the names of functions begin with `function-`. */
int project_function_name(const char *name, struct buf *ret, struct err *err)
{
        if (!project_is_label(str_from(name)))
                return err_set(err, ERR_INVALID,
                               "\"%s\" cannot be a function's name: it takes lower-case letters, digits and dashes, "
                               "and begins and ends with a letter or digit",
                               name);
        if (!str_starts_with(str_from(name), STR(PREFIX)))
                buf_append_literal(ret, PREFIX);
        buf_append_str(ret, str_from(name));
        if (ret->n > MAX_LABEL_BYTES)
                return err_set(err, ERR_INVALID, "\"%s\" is too long for a name: it takes %d characters at most",
                               buf_cstring(ret), MAX_LABEL_BYTES);
        return 0;
}

static int check_empty(const char *directory, struct err *err)
{
        DIR *d = opendir(directory);
        bool is_empty = true;

        if (!d)
                return err_set_errno(err, errno, "cannot open %s", directory);
        for (struct dirent *e; is_empty && (e = readdir(d));)
                is_empty =
                        strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, ".git") == 0;
        closedir(d);
        if (!is_empty)
                return err_set(err, ERR_EXISTS,
                               "%s is not empty: choose another directory with --directory, or empty it", directory);
        return 0;
}

/* Makes the directory, or checks that the existing one is empty. */
static int open_directory(const char *directory, int *ret_fd, struct err *err)
{
        int r;

        if (mkdir(directory, 0777) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make %s", directory);
        r = check_empty(directory, err);
        if (r < 0)
                return r;
        *ret_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return *ret_fd < 0 ? err_set_errno(err, errno, "cannot open %s", directory) : 0;
}

static void fill_in(struct buf *b, struct str text, struct str name)
{
        for (ptrdiff_t i; (i = str_find(text, PLACEHOLDER)) >= 0;) {
                buf_append_str(b, str_first(text, (size_t)i));
                buf_append_str(b, name);
                text = str_skip(text, (size_t)i + PLACEHOLDER.n);
        }
        buf_append_str(b, text);
}

static int make_parents(int directory, const char *path)
{
        for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
                _cleanup_free_ char *parent = str_to_cstring(str_make(path, (size_t)(slash - path)));

                if (mkdirat(directory, parent, 0777) < 0 && errno != EEXIST)
                        return -1;
        }
        return 0;
}

static int write_all(int fd, struct str text)
{
        while (text.n > 0) {
                ssize_t n = write(fd, text.p, text.n);

                if (n < 0 && errno != EINTR)
                        return -1;
                if (n > 0)
                        text = str_skip(text, (size_t)n);
        }
        return 0;
}

static int write_file(int directory, const struct embedded_file *file, struct str name, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_close_ int fd = -1;

        fill_in(&text, file->text, name);
        if (make_parents(directory, file->path) == 0)
                fd = openat(directory, file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 || write_all(fd, buf_str(&text)) < 0)
                return err_set_errno(err, errno, "cannot write %s", file->path);
        return 0;
}

int project_write(const char *directory, const struct embedded_file *files, struct str name, struct err *err)
{
        _cleanup_close_ int fd = -1;
        int r = open_directory(directory, &fd, err);

        for (const struct embedded_file *f = files; r == 0 && f->path; f++)
                r = write_file(fd, f, name, err);
        return r;
}
