#include "log-directory.h"

#include "buf.h"
#include "park.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_LINE_BYTES 64

/* How long the children of a process that has ended may keep its lock. */
#define GONE_MS 5000

char *log_directory_file(const char *directory, const char *name)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s/%s", directory, name);
        return buf_take(&b);
}

int log_directory_sync(const char *path, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0 || fsync(fd) < 0)
                return err_set_errno(err, errno, "cannot sync directory %s", path);
        return 0;
}

/* --- The directory itself --- */

/* Whether there is nothing in the directory, or a log. */
static bool is_ours(const char *path)
{
        _cleanup_free_ char *database = log_directory_file(path, "log.db");
        const struct dirent *e;
        bool is_empty = true;
        DIR *d;

        if (access(database, F_OK) == 0)
                return true;
        d = opendir(path);
        if (!d)
                return false;
        while (is_empty && (e = readdir(d)))
                is_empty =
                        strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, "lock") == 0;
        closedir(d);
        return is_empty;
}

/* Makes sure that only the owner can read the objects: there are Secrets among them. */
static int make_private(const char *path, struct err *err)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return err_set_errno(err, errno, "cannot use directory %s", path);
        if (!S_ISDIR(st.st_mode))
                return err_set(err, ERR_INVALID, "%s is not a directory", path);
        if ((st.st_mode & 077) == 0)
                return 0;
        if (!is_ours(path))
                return err_set(err, ERR_INVALID,
                               "directory %s has other files in it and others may read it (mode %04o): give a "
                               "directory that is empty, or run `chmod 700 %s`",
                               path, st.st_mode & 07777, path);
        if (chmod(path, 0700) < 0)
                return err_set_errno(err, errno, "cannot make directory %s private", path);
        return 0;
}

static int make_directory(const char *path, struct err *err)
{
        _cleanup_free_ char *parent = log_directory_file(path, "..");

        if (mkdir(path, 0700) < 0)
                return errno == EEXIST ? 0 : err_set_errno(err, errno, "cannot create directory %s", path);
        return log_directory_sync(parent, err);
}

/* --- The lock --- */

static void read_line(int fd, unsigned long *ret_pid, uint64_t *ret_version)
{
        char line[LOCK_LINE_BYTES + 1] = "";
        unsigned long long version = 0;
        ssize_t n = pread(fd, line, LOCK_LINE_BYTES, 0);

        *ret_pid = 0;
        *ret_version = 0;
        if (n != LOCK_LINE_BYTES || line[LOCK_LINE_BYTES - 1] != '\n')
                return;
        if (sscanf(line, "pid %lu version %llu", ret_pid, &version) == 2)
                *ret_version = version;
}

void log_directory_acknowledge(struct log_directory *d, uint64_t version)
{
        char line[LOCK_LINE_BYTES + 1];
        int n = snprintf(line, sizeof(line), "pid %lu version %llu", (unsigned long)getpid(),
                         (unsigned long long)version);

        memset(line + n, ' ', sizeof(line) - (size_t)n);
        line[LOCK_LINE_BYTES - 1] = '\n';
        n = (int)pwrite(d->lock_fd, line, LOCK_LINE_BYTES, 0);
        (void)n;
}

/* Whether the process that the file names has ended. A child that it forked may still have the lock, until the child executes its own
 * program or ends. */
static bool is_gone(unsigned long pid)
{
        return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* 0, ERR_EXISTS if another process has the lock, ERR_SYSTEM. */
static int try_lock(struct log_directory *d, unsigned long *ret_pid)
{
        read_line(d->lock_fd, ret_pid, &d->acknowledged);
        if (flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? ERR_EXISTS : ERR_SYSTEM;
        read_line(d->lock_fd, ret_pid, &d->acknowledged);
        log_directory_acknowledge(d, d->acknowledged);
        return 0;
}

static int take_lock(struct log_directory *d, struct err *err)
{
        _cleanup_free_ char *path = log_directory_file(d->path, "lock");
        struct deadline end = deadline_after_ms(GONE_MS);
        unsigned long pid;
        int r;

        d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (d->lock_fd < 0)
                return err_set_errno(err, errno, "cannot open %s", path);
        while ((r = try_lock(d, &pid)) == ERR_EXISTS && is_gone(pid) && !deadline_has_passed(end))
                thread_sleep(deadline_after_ms(10), NULL);
        if (r == ERR_SYSTEM)
                return err_set_errno(err, errno, "cannot lock %s", path);
        if (r == ERR_EXISTS && (pid == 0 || is_gone(pid)))
                return err_set(err, ERR_EXISTS, "directory %s is in use by another process", d->path);
        if (r == ERR_EXISTS)
                return err_set(err, ERR_EXISTS, "directory %s is in use by process %lu: stop that process first",
                               d->path, pid);
        return 0;
}

int log_directory_open(const char *path, bool creates, struct log_directory *ret, struct err *err)
{
        struct log_directory d = { .lock_fd = -1 };
        int r = creates ? make_directory(path, err) : 0;

        if (r == 0)
                r = make_private(path, err);
        if (r < 0)
                return r;
        d.path = str_to_cstring(str_from(path));
        r = take_lock(&d, err);
        if (r < 0) {
                log_directory_close(&d);
                return r;
        }
        *ret = d;
        return 0;
}

void log_directory_close(struct log_directory *d)
{
        if (!d->path)
                return;
        if (d->lock_fd >= 0)
                close(d->lock_fd);
        free(d->path);
        *d = (struct log_directory) { .lock_fd = -1 };
}
