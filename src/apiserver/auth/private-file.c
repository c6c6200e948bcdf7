#include "private-file.h"

#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

int private_directory_make(const char *path, struct err *err)
{
        struct stat st;
        int r = directory_make(path, 0700, 0700, err);

        if (r < 0)
                return r;
        if (stat(path, &st) < 0)
                return err_set_errno(err, errno, "cannot use the directory %s", path);
        if (!S_ISDIR(st.st_mode))
                return err_set(err, ERR_INVALID, "%s is not a directory", path);
        return 0;
}

static int write_all(int fd, struct str contents)
{
        while (contents.n > 0) {
                ssize_t n = write(fd, contents.p, contents.n);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                contents = str_skip(contents, (size_t)n);
        }
        return 0;
}

static int fill(int fd, struct str contents)
{
        int r;

        if (fchmod(fd, 0600) < 0)
                return -errno;
        r = write_all(fd, contents);
        if (r < 0)
                return r;
        return fsync(fd) < 0 ? -errno : 0;
}

/* The new name is durable when its directory is. */
static int sync_directory(const char *path)
{
        _cleanup_free_ char *directory = str_to_cstring(str_from(path));
        char *slash = strrchr(directory, '/');
        _cleanup_close_ int fd = -EBADF;

        if (slash)
                slash[slash == directory] = '\0';
        fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int private_file_write(const char *path, struct str contents, struct err *err)
{
        _cleanup_buf_ struct buf temporary = BUF_INIT(0);
        _cleanup_close_ int fd = -EBADF;
        char *name;
        int r;

        buf_appendf(&temporary, "%s.XXXXXX", path);
        (void)buf_cstring(&temporary);
        name = temporary.p;
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot write %s", path);
        r = fill(fd, contents);
        if (r == 0 && rename(name, path) < 0)
                r = -errno;
        if (r < 0)
                (void)unlink(name);
        else
                r = sync_directory(path);
        return r < 0 ? err_set_errno(err, -r, "cannot write %s", path) : 0;
}

int private_file_read(const char *path, struct buf *ret, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        size_t total = 0;

        if (fd < 0 && errno == ENOENT)
                return err_set(err, ERR_NOT_FOUND, "there is no file %s", path);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot read %s", path);
        for (;;) {
                char block[4096];
                ssize_t n = read(fd, block, sizeof(block));

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_set_errno(err, errno, "cannot read %s", path);
                if (n == 0)
                        return 0;
                total += (size_t)n;
                if (total > PRIVATE_FILE_BYTES)
                        return err_set(err, ERR_LIMIT, "%s is larger than the limit of %u bytes", path,
                                       PRIVATE_FILE_BYTES);
                buf_append(ret, block, (size_t)n);
        }
}
