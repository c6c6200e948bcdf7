/* /proc/self/cgroup names the group of the process, `0::/path` in version 2 and `N:controllers:/path` in version 1. Inside a
 * container the path may be that of the host, while /sys/fs/cgroup begins at the container's own group. If the path does not
 * exist, the group at the top is used, which is the right one in that case. */
#include "cgroup.h"

#include "buf.h"
#include "input.h"

static bool read_file(const char *root, struct str directory, struct str path, const char *name, struct buf *ret)
{
        _cleanup_buf_ struct buf file = BUF_INIT(0);

        buf_appendf(&file, "%s/sys/fs/cgroup%.*s%.*s/%s", root, STR_ARG(directory), STR_ARG(path), name);
        buf_clear(ret);
        return input_read(buf_cstring(&file), ret, NULL) == 0;
}

/* Reads a number of bytes; `max`, or any other text that is not a number, means no limit. */
static uint64_t read_limit(struct str text)
{
        uint64_t limit = 0;

        if (text.n == 0 || text.p[0] < '0' || text.p[0] > '9')
                return UINT64_MAX;
        for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
                if (__builtin_mul_overflow(limit, 10u, &limit) ||
                    __builtin_add_overflow(limit, (unsigned)(text.p[i] - '0'), &limit))
                        return UINT64_MAX;
        return limit;
}

/* The smallest limit on the way from the group up to the top. */
static uint64_t smallest_limit(const char *root, struct str directory, struct str path, const char *name)
{
        _cleanup_buf_ struct buf text = BUF_INIT(4096);
        uint64_t smallest = UINT64_MAX;

        for (;;) {
                ptrdiff_t slash = str_find_last_char(path, '/');

                if (read_file(root, directory, path, name, &text))
                        smallest = MIN(smallest, read_limit(buf_str(&text)));
                if (path.n == 0)
                        return smallest;
                path = str_first(path, slash < 0 ? 0 : (size_t)slash);
        }
}

static bool has_controller(struct str list, struct str name)
{
        struct str one;

        while (list.n > 0) {
                str_split(&list, ',', &one);
                if (str_equal(one, name))
                        return true;
        }
        return false;
}

static uint64_t limit_of_line(const char *root, struct str line)
{
        struct str number, controllers;

        if (!str_split(&line, ':', &number) || !str_split(&line, ':', &controllers))
                return UINT64_MAX;
        if (controllers.n == 0)
                return smallest_limit(root, STR(""), line, "memory.max");
        if (has_controller(controllers, STR("memory")))
                return smallest_limit(root, STR("/memory"), line, "memory.limit_in_bytes");
        return UINT64_MAX;
}

uint64_t cgroup_memory_limit(const char *root)
{
        _cleanup_buf_ struct buf file = BUF_INIT(0), text = BUF_INIT(0);
        uint64_t smallest = UINT64_MAX;
        struct str lines, line;

        buf_appendf(&file, "%s/proc/self/cgroup", root);
        if (input_read(buf_cstring(&file), &text, NULL) < 0)
                return UINT64_MAX;
        lines = buf_str(&text);
        while (lines.n > 0) {
                str_split(&lines, '\n', &line);
                smallest = MIN(smallest, limit_of_line(root, line));
        }
        return smallest;
}
