#include "program-limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "buf.h"
#include "input.h"

#define PERIOD_US 100000u

/* Where the groups of one controller are. */
struct place {
        struct buf directory; /* of this process' own group */
        bool is_second;       /* version 2 */
};

static int write_at(const char *directory, const char *name, const char *text, struct err *err)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);
        _cleanup_close_ int fd = -1;

        buf_appendf(&path, "%s/%s", directory, name);
        fd = open(buf_cstring(&path), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return err_set_errno(err, errno, "cannot write %s", buf_cstring(&path));
        return 0;
}

static bool has_word(struct str list, struct str word, char separator)
{
        struct str one;
        bool is_more = true;

        while (is_more) {
                is_more = str_split(&list, separator, &one);
                if (str_equal(str_trim(one), word))
                        return true;
        }
        return false;
}

/* In a container the path may be that of the host: then the group at the top is ours. */
static void set_directory(struct place *p, const char *root, struct str below, struct str path)
{
        struct stat st;

        buf_clear(&p->directory);
        buf_appendf(&p->directory, "%s/sys/fs/cgroup%.*s%.*s", root, STR_ARG(below), STR_ARG(path));
        if (stat(buf_cstring(&p->directory), &st) == 0)
                return;
        buf_clear(&p->directory);
        buf_appendf(&p->directory, "%s/sys/fs/cgroup%.*s", root, STR_ARG(below));
}

/* Finds the controller in /proc/self/cgroup: `N:controllers:/path`, or `0::/path` for version 2. */
static int find_place(const char *root, struct str controller, struct place *ret, struct err *err)
{
        _cleanup_buf_ struct buf file = BUF_INIT(0), text = BUF_INIT(1u << 20);
        struct str rest, line, second = STR("");
        bool is_more = true, has_second = false;

        buf_appendf(&file, "%s/proc/self/cgroup", root);
        if (input_read(buf_cstring(&file), &text, err) < 0)
                return err->code;
        for (rest = buf_str(&text); is_more;) {
                struct str number, names;

                is_more = str_split(&rest, '\n', &line);
                if (!str_split(&line, ':', &number) || !str_split(&line, ':', &names))
                        continue;
                if (names.n == 0) {
                        second = line;
                        has_second = true;
                } else if (has_word(names, controller, ',')) {
                        _cleanup_buf_ struct buf below = BUF_INIT(0);

                        buf_appendf(&below, "/%.*s", STR_ARG(names));
                        set_directory(ret, root, buf_str(&below), str_equal(line, STR("/")) ? STR("") : line);
                        return 0;
                }
        }
        if (!has_second)
                return err_set(err, ERR_NOT_FOUND, "there is no control group with the controller %.*s",
                               STR_ARG(controller));
        ret->is_second = true;
        set_directory(ret, root, STR(""), str_equal(second, STR("/")) ? STR("") : second);
        return 0;
}

/* A group of version 2 that hands controllers on has no processes of its own: this one moves into a group beside the programs'. */
static int move_aside(const char *directory, struct err *err)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        buf_appendf(&path, "%s/weft-main", directory);
        if (mkdir(buf_cstring(&path), 0755) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make %s", buf_cstring(&path));
        return write_at(buf_cstring(&path), "cgroup.procs", "0", err);
}

static int hand_on(const struct place *p, struct str controller, struct err *err)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0), text = BUF_INIT(4096), word = BUF_INIT(0);
        const char *directory = p->directory.p;

        buf_appendf(&path, "%s/cgroup.controllers", directory);
        if (input_read(buf_cstring(&path), &text, err) < 0)
                return err->code;
        if (!has_word(buf_str(&text), controller, ' '))
                return err_set(err, ERR_NOT_FOUND, "the control group %s does not have the controller %.*s", directory,
                               STR_ARG(controller));
        buf_appendf(&word, "+%.*s", STR_ARG(controller));
        if (write_at(directory, "cgroup.subtree_control", buf_cstring(&word), err) >= 0)
                return 0;
        err_done(err);
        if (move_aside(directory, err) < 0)
                return err->code;
        return write_at(directory, "cgroup.subtree_control", buf_cstring(&word), err);
}

/* One controller: makes the group and writes its limit. */
static int make_group(const char *root, struct str controller, struct str name, uint64_t amount,
                      struct program_limits *l, struct err *err)
{
        _cleanup_(buf_done)
        struct buf path = BUF_INIT(0);
        struct place place = { .directory = BUF_INIT(0) };
        bool is_memory = str_equal(controller, STR("memory"));
        char text[64];
        int r = find_place(root, controller, &place, err);

        if (r >= 0 && place.is_second)
                r = hand_on(&place, controller, err);
        if (r >= 0) {
                buf_appendf(&path, "%s/weft-%.*s", buf_cstring(&place.directory), STR_ARG(name));
                if (mkdir(buf_cstring(&path), 0755) < 0 && errno != EEXIST)
                        r = err_set_errno(err, errno, "cannot make %s", buf_cstring(&path));
        }
        buf_done(&place.directory);
        if (r < 0)
                return r;
        if (l->n == 0 || strcmp(l->groups[l->n - 1], buf_cstring(&path)) != 0)
                l->groups[l->n++] = str_to_cstring(buf_str(&path));
        if (is_memory) {
                snprintf(text, sizeof(text), "%llu", (unsigned long long)amount);
                return write_at(path.p, place.is_second ? "memory.max" : "memory.limit_in_bytes", text, err);
        }
        snprintf(text, sizeof(text), place.is_second ? "%llu %u" : "%llu",
                 (unsigned long long)(amount * (PERIOD_US / 1000)), PERIOD_US);
        return write_at(path.p, place.is_second ? "cpu.max" : "cpu.cfs_quota_us", text, err);
}

static int refuse(const char *field, struct err *err)
{
        _cleanup_free_ char *why = strdup(err_message(err));

        return err_set(err, ERR_UNSUPPORTED,
                       "the limit resources.limits.%s cannot be kept here: %s; run Weft in a control group that is "
                       "delegated to "
                       "it (systemd: Delegate=yes), or remove the limit",
                       field, why ? why : "");
}

int program_limits_make(const char *root, struct str name, uint64_t memory_bytes, uint64_t cpu_millis,
                        struct program_limits *ret, struct err *err)
{
        *ret = (struct program_limits) { 0 };
        if (memory_bytes && make_group(root, STR("memory"), name, memory_bytes, ret, err) < 0) {
                program_limits_done(ret);
                return refuse("memory", err);
        }
        if (cpu_millis && make_group(root, STR("cpu"), name, cpu_millis, ret, err) < 0) {
                program_limits_done(ret);
                return refuse("cpu", err);
        }
        return 0;
}

int program_limits_add(const struct program_limits *l, pid_t pid, struct err *err)
{
        char text[32];

        snprintf(text, sizeof(text), "%d", (int)pid);
        for (size_t i = 0; i < l->n; i++)
                if (write_at(l->groups[i], "cgroup.procs", text, err) < 0)
                        return err->code;
        return 0;
}

void program_limits_done(struct program_limits *l)
{
        for (size_t i = 0; i < l->n; i++) {
                rmdir(l->groups[i]);
                free(l->groups[i]);
        }
        l->n = 0;
}
