#include "fn-cache-dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "fault.h"
#include "fn-cache-entry.h"
#include "limits.h"

#define NAME_BYTES  64
#define TEMPORARY   ".tmp-"
#define NS_PER_S    1000000000
#define ABANDONED_S 600 /* a temporary file of this age is abandoned */

/* --- The directory --- */

static int check_directory(int fd, const char *path, struct err *err)
{
        struct stat st;

        if (fstat(fd, &st) < 0)
                return err_set_errno(err, errno, "cannot look at cache directory %s", path);
        if (st.st_uid != geteuid() || (st.st_mode & 022))
                return err_set(err, ERR_FORBIDDEN,
                               "cache directory %s can be written by others: it must be yours, with mode 0700", path);
        return 0;
}

int fn_cache_dir_open(struct str path, int *ret_fd, struct err *err)
{
        _cleanup_free_ char *text = str_to_cstring(path);
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (mkdir(text, 0700) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make cache directory %s", text);
        fd = open(text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot open cache directory %s", text);
        r = check_directory(fd, text, err);
        if (r >= 0)
                *ret_fd = TAKE_FD(fd);
        return r;
}

static bool is_entry_name(struct str name)
{
        for (size_t i = 0; i < name.n; i++)
                if (!(name.p[i] >= '0' && name.p[i] <= '9') && !(name.p[i] >= 'a' && name.p[i] <= 'f'))
                        return false;
        return name.n == NAME_BYTES;
}

static bool is_abandoned(struct str name, const struct stat *st)
{
        return str_starts_with(name, STR(TEMPORARY)) && st->st_mtim.tv_sec < clock_wall().seconds - ABANDONED_S;
}

static int64_t ns_of(struct timespec t)
{
        int64_t ns;

        if (__builtin_mul_overflow((int64_t)t.tv_sec, NS_PER_S, &ns) || __builtin_add_overflow(ns, t.tv_nsec, &ns))
                return 0;
        return ns;
}

int fn_cache_dir_scan(int fd, void (*found)(void *arg, struct str name, size_t size_bytes, int64_t deadline_ns),
                      void *arg, struct err *err)
{
        _cleanup_close_ int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = own < 0 ? NULL : fdopendir(own);
        struct dirent *item;

        if (!d)
                return err_set_errno(err, errno, "cannot list the cache directory");
        TAKE_FD(own); /* closedir closes the descriptor */
        while ((item = readdir(d))) {
                struct str name = str_from(item->d_name);
                struct stat st;

                if (fstatat(fd, item->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
                        continue;
                if (is_entry_name(name))
                        found(arg, name, (size_t)st.st_size, ns_of(st.st_mtim));
                else if (is_abandoned(name, &st))
                        unlinkat(fd, item->d_name, 0);
        }
        closedir(d);
        return 0;
}

/* --- Files --- */

static int read_all(int fd, size_t n, struct buf *b, struct err *err)
{
        while (b->n < n) {
                int injected = FAULT("fn-cache.read");
                ssize_t got = injected ? injected : read(fd, b->p + b->n, n - b->n);

                if (got < 0 && !injected && errno == EINTR)
                        continue;
                if (got < 0)
                        return err_set_errno(err, injected ? -injected : errno, "cannot read");
                if (got == 0)
                        return err_set(err, ERR_INVALID, "it became shorter while it was read");
                b->n += (size_t)got;
        }
        return 0;
}

int fn_cache_dir_read(int fd, struct str name, struct bytes **ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_FN_CACHE_ENTRY_BYTES);
        _cleanup_free_ char *text = str_to_cstring(name);
        _cleanup_close_ int file = openat(fd, text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        int r;

        if (file < 0 && errno == ENOENT)
                return ERR_NOT_FOUND;
        if (file < 0 || fstat(file, &st) < 0)
                return err_set_errno(err, errno, "cannot open");
        if (!S_ISREG(st.st_mode) || !buf_reserve(&b, (size_t)st.st_size))
                return err_set(err, ERR_INVALID, "it is no file, or too large");
        r = read_all(file, (size_t)st.st_size, &b, err);
        if (r >= 0)
                *ret = bytes_take(&b);
        return r;
}

static int write_all(int fd, struct str contents, struct err *err)
{
        while (contents.n) {
                int injected = FAULT("fn-cache.write");
                ssize_t put = injected ? injected : write(fd, contents.p, contents.n);

                if (put < 0 && !injected && errno == EINTR)
                        continue;
                if (put < 0)
                        return err_set_errno(err, injected ? -injected : errno, "cannot write");
                contents = str_skip(contents, (size_t)put);
        }
        return 0;
}

static int fill(int fd, const char *temporary, const char *name, struct str contents, int64_t deadline_ns,
                struct err *err)
{
        _cleanup_close_ int file = openat(fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        const struct timespec deadline = { deadline_ns / NS_PER_S, deadline_ns % NS_PER_S };
        int r;

        if (file < 0)
                return err_set_errno(err, errno, "cannot make a file");
        r = write_all(file, contents, err);
        if (r < 0)
                return r;
        r = FAULT("fn-cache.rename");
        if (r == 0 &&
            (futimens(file, (struct timespec[]) { deadline, deadline }) < 0 || renameat(fd, temporary, fd, name) < 0))
                r = -errno;
        return r < 0 ? err_set_errno(err, -r, "cannot move a file to its place") : 0;
}

int fn_cache_dir_write(int fd, struct str name, struct str contents, int64_t deadline_ns, struct err *err)
{
        static _Atomic unsigned counter;
        _cleanup_free_ char *text = str_to_cstring(name);
        char temporary[64];
        int r = FAULT("fn-cache.open");

        if (r < 0)
                return err_set_errno(err, -r, "cannot make a file");
        snprintf(temporary, sizeof(temporary), TEMPORARY "%d-%u", (int)getpid(), atomic_fetch_add(&counter, 1));
        r = fill(fd, temporary, text, contents, deadline_ns, err);
        if (r < 0)
                unlinkat(fd, temporary, 0);
        return r;
}

void fn_cache_dir_remove(int fd, struct str name)
{
        _cleanup_free_ char *text = str_to_cstring(name);

        unlinkat(fd, text, 0);
}
