/* Memory limits of control groups, in trees as the kernel shows them. */
#include "test.h"

#include "buf.h"
#include "cgroup.h"

#include <stdio.h>
#include <sys/stat.h>

struct file {
        const char *path, *text;
};

static void make_file(const char *root, const struct file *f)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);
        FILE *out;

        buf_appendf(&path, "%s%s", root, f->path);
        for (size_t i = strlen(root) + 1; i < path.n; i++) {
                if (path.p[i] != '/')
                        continue;
                path.p[i] = '\0';
                mkdir(buf_cstring(&path), 0700);
                path.p[i] = '/';
        }
        out = fopen(buf_cstring(&path), "w");
        ASSERT(out);
        fputs(f->text, out);
        fclose(out);
}

TEST(limits)
{
        static const struct {
                const char *what;
                struct file files[4];
                uint64_t limit;
        } cases[] = {
                { "version 2",
                  { { "/proc/self/cgroup", "0::/a/b\n" }, { "/sys/fs/cgroup/a/b/memory.max", "1000\n" } },
                  1000 },
                { "none",
                  { { "/proc/self/cgroup", "0::/a\n" }, { "/sys/fs/cgroup/a/memory.max", "max\n" } },
                  UINT64_MAX },
                { "a group above has less",
                  { { "/proc/self/cgroup", "0::/a/b\n" },
                    { "/sys/fs/cgroup/a/b/memory.max", "1000\n" },
                    { "/sys/fs/cgroup/a/memory.max", "500\n" } },
                  500 },
                { "in a container whose tree begins at its own group",
                  { { "/proc/self/cgroup", "0::/kubepods/pod1\n" }, { "/sys/fs/cgroup/memory.max", "700\n" } },
                  700 },
                { "version 1",
                  { { "/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n" },
                    { "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "800\n" } },
                  800 },
                { "version 1 in a container",
                  { { "/proc/self/cgroup", "4:memory:/docker/1\n" },
                    { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "900\n" } },
                  900 },
                { "both versions",
                  { { "/proc/self/cgroup", "4:memory:/\n0::/\n" },
                    { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "900\n" } },
                  900 },
                { "no groups", { { "/proc/nothing", "" } }, UINT64_MAX },
                { "damaged", { { "/proc/self/cgroup", "0:\n::\n\nx" } }, UINT64_MAX },
                { "a number too large",
                  { { "/proc/self/cgroup", "0::/\n" }, { "/sys/fs/cgroup/memory.max", "99999999999999999999999\n" } },
                  UINT64_MAX },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char root[] = "/tmp/test-cgroup-XXXXXX", command[100];

                ASSERT(mkdtemp(root));
                for (size_t j = 0; j < 4 && cases[i].files[j].path; j++)
                        make_file(root, &cases[i].files[j]);
                ASSERT_CASE(cases[i].what, cgroup_memory_limit(root) == cases[i].limit);
                snprintf(command, sizeof(command), "rm -rf %s", root);
                ASSERT(system(command) == 0);
        }
}
