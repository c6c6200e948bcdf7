/* Sees when files are saved. Directories are watched, not files: many editors save by writing a new file and renaming it, and a watch of
 * the old file would see nothing. */
#include "up.h"

#include <errno.h>
#include <libgen.h>
#include <linux/limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define EVENTS    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
#define QUIET_MS  50 /* without an event: an editor or a checkout is done */
#define READ_SIZE 4096

/* A directory is watched once, however often it is added. Errors are left to the next load of the files, which names them. */
static void watch_directory(int fd, const char *path)
{
        (void)inotify_add_watch(fd, path, EVENTS | IN_ONLYDIR);
}

/* Watches the directory of the file. */
static void watch_file(int fd, const char *path)
{
        char copy[PATH_MAX];

        if ((size_t)snprintf(copy, sizeof(copy), "%s", path) < sizeof(copy))
                watch_directory(fd, dirname(copy));
}

static void watch_path(int fd, const char *path)
{
        char real[PATH_MAX];
        struct stat st;

        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
                watch_directory(fd, path);
                return;
        }
        watch_file(fd, path);
        if (realpath(path, real)) /* a link's target is saved elsewhere */
                watch_file(fd, real);
}

int up_files_watch(const struct up_options *o, int *fd, struct err *err)
{
        if (*fd < 0)
                *fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (*fd < 0)
                return err_set_errno(err, errno, "cannot watch files");
        for (size_t i = 0; i < o->n_paths; i++)
                watch_path(*fd, o->paths[i]);
        return 0;
}

/* Drops the events that came. */
static bool drain(int fd)
{
        _Alignas(struct inotify_event) char buffer[READ_SIZE];
        bool is_any = false;

        while (read(fd, buffer, sizeof(buffer)) > 0)
                is_any = true;
        return is_any;
}

bool up_files_changed(int fd)
{
        struct pollfd p = { .fd = fd, .events = POLLIN };
        bool is_any = fd >= 0 && drain(fd);

        while (is_any && poll(&p, 1, QUIET_MS) > 0 && drain(fd)) {
        }
        return is_any;
}
