/* Watches directories, not files: many editors save by writing a new file and renaming it, and a watch of the old file would see
 * nothing. Also watches the directories above, because a whole directory may be renamed, or a link to a directory may change. All
 * watches are added again before each render, because directories may appear and disappear; for a directory that is watched already
 * the kernel returns the same number. */
#include "render-watch.h"

#include "limits.h"
#include "render-walk.h"
#include "vec.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS        (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ONLYDIR)
#define QUIET_MS      30 /* without another event: then a saved file is complete */
#define MAX_LINKS     40 /* on the path to one file; the kernel has the same limit */
#define CLEAR_SCREEN  "\033[H\033[2J\033[3J"
#define BUFFER_EVENTS 64

enum interest {
        WATCH_NAME,      /* one name in the directory */
        WATCH_MANIFESTS, /* all manifests in the directory, and directories below it */
        WATCH_ALL,
};

struct watched {
        int wd;
        enum interest interest;
        struct str directory;
        struct str name;
};

struct watcher {
        int fd;
        struct arena arena; /* of the watches; reset before each render */
        VEC(struct watched) watched;
        unsigned n_links; /* followed so far for this path */
};

/* --- Watches --- */

/* Cuts the last part off a path; false when nothing is left. */
static bool go_up(struct str *path, struct str *ret_last)
{
        ptrdiff_t slash = str_find_last_char(*path, '/');

        if (str_equal(*path, STR(".")) || str_equal(*path, STR("/")))
                return false;
        *ret_last = str_skip(*path, (size_t)(slash + 1));
        *path = slash < 0 ? STR(".") : slash == 0 ? STR("/") : str_first(*path, (size_t)slash);
        return true;
}

static void watch_directory(struct watcher *w, struct str directory, enum interest interest, struct str name)
{
        struct watched watched = { .interest = interest, .directory = directory, .name = name };

        watched.wd = inotify_add_watch(w->fd, arena_cstring(&w->arena, directory), EVENTS);
        if (watched.wd >= 0)
                vec_push(&w->watched, watched);
}

/* The target of a link, even if it does not exist. False if path is not a link. */
static bool follow(struct watcher *w, struct str path, struct str *ret)
{
        struct str directory = path, name;
        char target[PATH_MAX];
        ssize_t n = readlink(arena_cstring(&w->arena, path), target, sizeof(target));

        if (n <= 0 || w->n_links >= MAX_LINKS || !go_up(&directory, &name))
                return false;
        w->n_links++;
        *ret = target[0] == '/' ? arena_copy(&w->arena, str_make(target, (size_t)n))
                                : arena_printf(&w->arena, "%.*s/%.*s", STR_ARG(directory), (int)n, target);
        return true;
}

/* Watches each name on the path to the file or directory, and on the paths of the links in it. */
static void watch_way(struct watcher *w, struct str path)
{
        struct str name, target;
        bool is_link;

        for (;;) {
                is_link = follow(w, path, &target);
                if (!go_up(&path, &name))
                        return;
                watch_directory(w, path, WATCH_NAME, name);
                if (is_link)
                        watch_way(w, target);
        }
}

/* Whether to watch a directory below this one. Schemas are read from all directories, manifests from those that are not hidden. */
static bool is_below(const struct dirent *e, enum interest interest)
{
        if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                return false;
        return interest == WATCH_ALL || e->d_name[0] != '.';
}

/* Watches a directory and all directories below it. */
static void watch_tree(struct watcher *w, struct str path, enum interest interest, unsigned level)
{
        DIR *directory = level < LIMIT_DIRECTORY_LEVELS ? opendir(arena_cstring(&w->arena, path)) : NULL;

        watch_directory(w, path, interest, STR(""));
        for (struct dirent *e; directory && (e = readdir(directory));)
                if (is_below(e, interest))
                        watch_tree(w, arena_printf(&w->arena, "%.*s/%s", STR_ARG(path), e->d_name), interest,
                                   level + 1);
        if (directory)
                closedir(directory);
}

static void watch_path(struct watcher *w, struct str path)
{
        struct stat st;

        w->n_links = 0;
        if (stat(arena_cstring(&w->arena, path), &st) == 0 && S_ISDIR(st.st_mode))
                watch_tree(w, path, WATCH_MANIFESTS, 0);
        watch_way(w, path);
}

static void watch_list(struct watcher *w, struct setting_list paths)
{
        for (size_t i = 0; i < paths.n; i++)
                watch_path(w, paths.items[i]);
}

static void watch_all(struct watcher *w, const struct settings *settings, struct arguments arguments)
{
        static const char *const lists[] = { "observed-resources", "required-resources", "extra-resources",
                                             "function-credentials" };
        struct setting_list context = settings_list(settings, "context-files");
        struct str xrd = settings_str(settings, "xrd"), schemas = settings_str(settings, "required-schemas");

        arena_reset(&w->arena);
        vec_clear(&w->watched);
        for (size_t i = 0; i < arguments.n; i++)
                watch_path(w, str_from(arguments.p[i]));
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                watch_list(w, settings_list(settings, lists[i]));
        for (size_t i = 0; i < context.n; i++) {
                struct str path = context.items[i], key;

                if (str_split(&path, '=', &key))
                        watch_path(w, path);
        }
        if (xrd.n)
                watch_path(w, xrd);
        if (schemas.n) {
                watch_tree(w, schemas, WATCH_ALL, 0);
                watch_path(w, schemas);
        }
}

/* --- Changes --- */

/* Whether the new name is a symbolic or hard link. A link is complete at once; a new file is empty until it is closed. */
static bool is_link(const struct watched *w, struct str name)
{
        char path[PATH_MAX];
        struct stat st;
        int n = snprintf(path, sizeof(path), "%.*s/%.*s", STR_ARG(w->directory), STR_ARG(name));

        return n > 0 && (size_t)n < sizeof(path) && lstat(path, &st) == 0 && (S_ISLNK(st.st_mode) || st.st_nlink > 1);
}

static bool concerns(const struct watched *w, const struct inotify_event *e, struct str name)
{
        if (w->wd != e->wd)
                return false;
        switch (w->interest) {
        case WATCH_NAME:
                if (!str_equal(name, w->name))
                        return false;
                break;
        case WATCH_MANIFESTS:
                if (!render_walk_is_manifest(name) && !(e->mask & IN_ISDIR && !str_starts_with(name, STR("."))))
                        return false;
                break;
        case WATCH_ALL:
                break;
        }
        return !(e->mask & IN_CREATE) || e->mask & IN_ISDIR || is_link(w, name);
}

static bool is_relevant(const struct watcher *w, const struct inotify_event *e, struct str *ret_name)
{
        struct str name = e->len ? str_from(e->name) : STR("");

        if (e->mask & (IN_Q_OVERFLOW | IN_IGNORED))
                return true;
        for (size_t i = 0; i < w->watched.n; i++)
                if (concerns(&w->watched.p[i], e, name)) {
                        *ret_name = name;
                        return true;
                }
        return false;
}

/* Reads the pending events. Returns whether any is relevant; name is that of the last relevant one. */
static bool read_events(struct watcher *w, char name[NAME_MAX + 1])
{
        _Alignas(struct inotify_event) char buffer[BUFFER_EVENTS * (sizeof(struct inotify_event) + NAME_MAX + 1)];
        ssize_t n = read(w->fd, buffer, sizeof(buffer));
        const struct inotify_event *e;
        bool is_any = false;

        for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
                struct str changed = STR("");

                e = (const void *)(buffer + at);
                if (!is_relevant(w, e, &changed))
                        continue;
                is_any = true;
                if (changed.n > 0 && changed.n <= NAME_MAX) {
                        memcpy(name, changed.p, changed.n);
                        name[changed.n] = '\0';
                }
        }
        return is_any;
}

/* SIGINT ends the process at once during a render; while waiting it ends the loop. */
static volatile sig_atomic_t is_waiting, is_interrupted;

static void interrupt(int number)
{
        if (!is_waiting)
                _exit(EXIT_OK);
        is_interrupted = 1;
}

/* Waits for a relevant change, and then until no event comes for QUIET_MS. Returns 1 when interrupted. SIGINT is blocked except
 * during the wait itself, so that none is missed. */
static int wait_for_change(struct watcher *w, const sigset_t *unblocked, char name[NAME_MAX + 1])
{
        const struct timespec quiet = { .tv_nsec = QUIET_MS * 1000000L };
        struct pollfd p = { .fd = w->fd, .events = POLLIN };
        bool has_changed = false;
        int n;

        name[0] = '\0';
        while ((n = ppoll(&p, 1, has_changed ? &quiet : NULL, unblocked)) != 0) {
                if (is_interrupted)
                        return 1;
                if (n < 0 && errno != EINTR)
                        return ERR_SYSTEM;
                if (n > 0)
                        has_changed |= read_events(w, name);
        }
        return 0;
}

static int wait_blocked(struct watcher *w, char name[NAME_MAX + 1])
{
        sigset_t interrupts, before;
        int r;

        sigemptyset(&interrupts);
        sigaddset(&interrupts, SIGINT);
        sigprocmask(SIG_BLOCK, &interrupts, &before);
        is_waiting = 1;
        r = wait_for_change(w, &before, name);
        is_waiting = 0;
        sigprocmask(SIG_SETMASK, &before, NULL);
        return r;
}

/* --- The loop --- */

static int cannot_watch(const struct command *c, const char *why)
{
        _cleanup_err_ struct err err = { 0 };

        err_set_errno(&err, errno, "%s", why);
        command_print_error(c, &err);
        return EXIT_ERROR;
}

static void begin_again(const struct command *c, const char *name)
{
        if (isatty(STDOUT_FILENO))
                fputs(CLEAR_SCREEN, stdout);
        else
                fprintf(stderr, "weft %s: %s changed\n", c->name, name[0] ? name : "something");
}

/* Renders and waits until it ends; returns the exit status. */
static int watch(struct watcher *w, const struct command *c, const struct settings *settings,
                 struct arguments arguments, render_run_fn *run)
{
        char name[NAME_MAX + 1];
        int r;

        for (;;) {
                /* Watch before the files are read, so that a change during the render is not missed. */
                watch_all(w, settings, arguments);
                run(c, settings, arguments);
                if (fflush(stdout) != 0 || ferror(stdout))
                        return cannot_watch(c, "cannot write to standard output");
                r = wait_blocked(w, name);
                if (r < 0)
                        return cannot_watch(c, "cannot wait for changes");
                if (r > 0)
                        return EXIT_OK;
                begin_again(c, name);
        }
}

int render_watch(const struct command *c, const struct settings *settings, struct arguments arguments,
                 render_run_fn *run)
{
        struct sigaction action = { .sa_handler = interrupt };
        struct watcher w = { .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
        int status;

        if (w.fd < 0)
                return cannot_watch(c, "cannot watch files");
        arena_init(&w.arena, "watch", 0);
        sigaction(SIGINT, &action, NULL);
        status = watch(&w, c, settings, arguments, run);
        vec_done(&w.watched);
        arena_done(&w.arena);
        close(w.fd);
        return status;
}
