#include "ids.h"

#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define RANGE 65536u

/* Whether all of the ids are known in the user namespace of this process. */
static bool are_mapped(const char *root, const char *name, uint32_t first, uint32_t n)
{
        char path[256], line[256];
        bool found = false;
        FILE *f;

        snprintf(path, sizeof(path), "%s/proc/self/%s", root, name);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f)) {
                unsigned long long inside, outside, count;

                if (sscanf(line, "%llu %llu %llu", &inside, &outside, &count) == 3 && first >= inside &&
                    first + (unsigned long long)n <= inside + count)
                        found = true;
        }
        if (f)
                fclose(f);
        return found;
}

static bool has_range(const char *root, uint32_t first, uint32_t n)
{
        return are_mapped(root, "uid_map", first, n) && are_mapped(root, "gid_map", first, n);
}

static bool has_capability(int capability)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = { 0 };

        return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & (1u << capability));
}

int ids_choose(const char *root, uint32_t first_id, struct ids *ret, struct err *err)
{
        *ret = (struct ids) { .inside = LAUNCH_USER, .n = 1, .user = LAUNCH_USER, .denies_groups = true };
        if (!has_capability(CAP_SETUID) || !has_capability(CAP_SETGID)) {
                ret->outside = (uint32_t)geteuid();
                ret->group_outside = (uint32_t)getegid();
                if (ret->outside == 0)
                        return err_set(
                                err, ERR_FORBIDDEN,
                                "programs of packages would run as root: this process is root without the capabilities "
                                "SETUID and SETGID; run it as another user, or give it these capabilities");
                return 0;
        }
        ret->denies_groups = false;
        if (has_range(root, first_id, RANGE)) {
                *ret = (struct ids) { .outside = first_id, .group_outside = first_id, .n = RANGE };
                return 0;
        }
        ret->outside = ret->group_outside = LAUNCH_USER;
        if (has_range(root, LAUNCH_USER, 1))
                return 0;
        return err_set(err, ERR_FORBIDDEN,
                       "there is no user id for programs of packages: neither %u to %u nor %u is mapped in this "
                       "container; map "
                       "one of them (/etc/subuid and /etc/subgid of the container's host)",
                       first_id, first_id + RANGE - 1, LAUNCH_USER);
}

static int write_text(pid_t pid, const char *name, const char *text, struct err *err)
{
        char path[64];
        _cleanup_close_ int fd = -1;

        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return err_set_errno(err, errno, "cannot write %s", path);
        return 0;
}

int ids_write(const struct ids *ids, pid_t pid, struct err *err)
{
        char text[64];
        int r = 0;

        if (ids->denies_groups)
                r = write_text(pid, "setgroups", "deny", err);
        snprintf(text, sizeof(text), "%u %u %u", ids->inside, ids->outside, ids->n);
        if (r >= 0)
                r = write_text(pid, "uid_map", text, err);
        snprintf(text, sizeof(text), "%u %u %u", ids->inside, ids->group_outside, ids->n);
        if (r >= 0)
                r = write_text(pid, "gid_map", text, err);
        return r;
}

int ids_become(uint32_t user, struct err *err)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2];

        if (syscall(SYS_capget, &head, data) < 0 || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ||
            setresgid(user, user, user) < 0 || setresuid(user, user, user) < 0)
                return err_set_errno(err, errno, "cannot become user %u", user);
        data[0].effective = data[0].permitted;
        data[1].effective = data[1].permitted;
        if (syscall(SYS_capset, &head, data) < 0)
                return err_set_errno(err, errno, "cannot keep capabilities");
        return 0;
}

int ids_explain_clone(int errno_value, struct err *err)
{
        switch (errno_value) {
        case ENOSPC:
                return err_set(err, ERR_UNSUPPORTED,
                               "this machine allows no more namespaces: raise sysctl user.max_user_namespaces (and "
                               "user.max_{mnt,pid,net,ipc,uts,cgroup}_namespaces)");
        case EPERM:
                return err_set(
                        err, ERR_UNSUPPORTED,
                        "this process may not make user namespaces: set sysctl kernel.unprivileged_userns_clone=1 and "
                        "kernel.apparmor_restrict_unprivileged_userns=0 where they exist, or, in a container, allow "
                        "clone with CLONE_NEWUSER in its seccomp profile");
        case EINVAL:
                return err_set(err, ERR_UNSUPPORTED,
                               "this kernel lacks namespaces: it needs CONFIG_USER_NS, CONFIG_PID_NS, "
                               "CONFIG_NET_NS, CONFIG_IPC_NS, CONFIG_UTS_NS and CONFIG_CGROUPS");
        default:
                return err_set_errno(err, errno_value, "cannot make namespaces");
        }
}
