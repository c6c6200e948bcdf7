#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "seccomp.h"

#define LAYER_OPTIONS "mode=0755,size=64m,nr_inodes=65536" /* of the layer in memory */
#define TMP_OPTIONS   "mode=1777,size=64m,nr_inodes=65536"
#define SMALL_OPTIONS "mode=0755,size=4m,nr_inodes=256"

#define MAX_PROCESSES 1024 /* with threads */
#define MAX_FILES     65536
#define MAX_LOCKED    (64u << 10)

/* The tmpfs in which the new root is put together. It covers /proc, which every system has; the covered one is not needed. */
#define BASE "/proc"

/* --- Mounts --- */

static int mount_at(const char *what, const char *type, const char *target, unsigned long flags, const char *options,
                    struct err *err)
{
        if (mount(what, target, type, flags, options) < 0)
                return err_set_errno(err, errno, "cannot mount %s", type ? type : what);
        return 0;
}

static int make_directory(const char *path, struct err *err)
{
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make %s", path);
        return 0;
}

static int make_parents(const char *path, struct err *err)
{
        char part[512];

        for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                if ((size_t)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path) >= sizeof(part))
                        return err_set(err, ERR_LIMIT, "the path %s is too long", path);
                if (make_directory(part, err) < 0)
                        return err->code;
        }
        return 0;
}

static int write_file(const char *path, struct str content, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

        if (fd < 0 || write(fd, content.p, content.n) != (ssize_t)content.n)
                return err_set_errno(err, errno, "cannot write %s", path);
        return 0;
}

/* A program that shares the host's network gets the host's files that a resolver of names needs. Copies one of them. */
static int copy_host_file(const char *path, struct err *err)
{
        _cleanup_buf_ struct buf content = BUF_INIT(1u << 20);
        _cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC);
        char to[64];
        ssize_t n = 1;

        while (from >= 0 && n > 0) {
                char block[4096];

                n = read(from, block, sizeof(block));
                if (n > 0)
                        buf_append(&content, block, (size_t)n);
        }
        if (from < 0 || n < 0)
                return 0; /* the host has none */
        snprintf(to, sizeof(to), BASE "/layer%s", path);
        return write_file(to, buf_str(&content), err);
}

static int copy_host_files(const struct launch *l, struct err *err)
{
        static const char *const paths[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf" };
        int r = 0;

        if (!l->shares_network)
                return 0;
        r = make_directory(BASE "/layer/etc", err);
        for (size_t i = 0; i < ARRAY_SIZE(paths) && r >= 0; i++)
                r = copy_host_file(paths[i], err);
        return r;
}

/* The image under a layer in memory. What is made in the layer before the mount hides what the image has at that place. */
static int mount_root(const struct launch *l, struct err *err)
{
        static const char *const directories[] = { BASE "/layer",      BASE "/work",      BASE "/root",
                                                   BASE "/layer/proc", BASE "/layer/dev", BASE "/layer/tmp",
                                                   BASE "/layer/tls",  BASE "/layer/kube" };
        int r = mount_at("tmpfs", "tmpfs", BASE, MS_NOSUID | MS_NODEV, LAYER_OPTIONS, err);

        for (size_t i = 0; i < ARRAY_SIZE(directories) && r >= 0; i++)
                r = make_directory(directories[i], err);
        if (r >= 0)
                r = copy_host_files(l, err);
        if (r >= 0 && mount("overlay", BASE "/root", "overlay", MS_NOSUID | MS_NODEV,
                            "lowerdir=.,upperdir=" BASE "/layer,workdir=" BASE "/work,userxattr") < 0)
                return err_set_errno(err, errno,
                                     "cannot mount the image (overlayfs in user namespaces needs Linux 5.11)");
        return r;
}

static int bind_device(const char *name, struct err *err)
{
        char from[64], to[64];
        int fd;

        snprintf(from, sizeof(from), "/dev/%s", name);
        snprintf(to, sizeof(to), BASE "/root/dev/%s", name);
        fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot make %s", to);
        close(fd);
        if (mount(from, to, NULL, MS_BIND, NULL) < 0)
                return err_set_errno(err, errno, "cannot mount %s", from);
        return 0;
}

static int make_devices(struct err *err)
{
        static const char *const devices[] = { "null", "zero", "full", "random", "urandom" };
        static const char *const links[][2] = { { "/proc/self/fd", BASE "/root/dev/fd" },
                                                { "/proc/self/fd/0", BASE "/root/dev/stdin" },
                                                { "/proc/self/fd/1", BASE "/root/dev/stdout" },
                                                { "/proc/self/fd/2", BASE "/root/dev/stderr" } };
        int r = mount_at("tmpfs", "tmpfs", BASE "/root/dev", MS_NOSUID | MS_NOEXEC, SMALL_OPTIONS, err);

        for (size_t i = 0; i < ARRAY_SIZE(devices) && r >= 0; i++)
                r = bind_device(devices[i], err);
        for (size_t i = 0; i < ARRAY_SIZE(links) && r >= 0; i++)
                if (symlink(links[i][0], links[i][1]) < 0)
                        r = err_set_errno(err, errno, "cannot make %s", links[i][1]);
        if (r >= 0)
                r = make_directory(BASE "/root/dev/shm", err);
        if (r >= 0)
                r = mount_at("tmpfs", "tmpfs", BASE "/root/dev/shm", MS_NOSUID | MS_NODEV, TMP_OPTIONS, err);
        if (r >= 0 &&
            mount("", BASE "/root/dev", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL) < 0)
                r = err_set_errno(err, errno, "cannot make /dev read-only");
        return r;
}

/* Files are below one directory each kind, /tls or /kube, which becomes read-only. */
static int make_files(const struct launch *l, const char *directory, struct err *err)
{
        char path[512], root[64];
        int r;

        snprintf(root, sizeof(root), BASE "/root%s", directory);
        r = mount_at("tmpfs", "tmpfs", root, MS_NOSUID | MS_NODEV | MS_NOEXEC, SMALL_OPTIONS, err);
        for (size_t i = 0; i < l->n_files && r >= 0; i++) {
                if (!str_starts_with(str_from(l->files[i].path), str_from(directory)))
                        continue;
                if ((size_t)snprintf(path, sizeof(path), BASE "/root%s", l->files[i].path) >= sizeof(path))
                        return err_set(err, ERR_LIMIT, "the path %s is too long", l->files[i].path);
                r = make_parents(path, err);
                if (r >= 0)
                        r = write_file(path, l->files[i].content, err);
        }
        if (r >= 0 &&
            mount("", root, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
                r = err_set_errno(err, errno, "cannot make %s read-only", directory);
        return r;
}

static int change_root(struct err *err)
{
        if (chdir(BASE "/root") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
                return err_set_errno(err, errno, "cannot change the root");
        /* The old root lies over the new one now; it goes with all that is mounted in it. */
        if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
                return err_set_errno(err, errno, "cannot leave the old root");
        return 0;
}

int sandbox_enter(const struct launch *l, struct err *err)
{
        int r = mount_at("none", NULL, "/", MS_REC | MS_PRIVATE, NULL, err);

        umask(022);
        if (r >= 0)
                r = mount_root(l, err);
        if (r >= 0)
                r = make_devices(err);
        if (r >= 0)
                r = mount_at("tmpfs", "tmpfs", BASE "/root/tmp", MS_NOSUID | MS_NODEV, TMP_OPTIONS, err);
        if (r >= 0)
                r = make_files(l, "/tls", err);
        if (r >= 0)
                r = make_files(l, "/kube", err);
        if (r >= 0)
                r = mount_at("proc", "proc", BASE "/root/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, err);
        if (r >= 0)
                r = change_root(err);
        return r;
}

/* --- Network --- */

int sandbox_start_loopback(struct err *err)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { .ifr_name = "lo" };

        if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
                return err_set_errno(err, errno, "cannot see the loopback");
        request.ifr_flags |= IFF_UP | IFF_RUNNING;
        if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
                return err_set_errno(err, errno, "cannot start the loopback");
        return 0;
}

/* --- Rights --- */

static int set_capabilities(uint64_t mask, struct err *err)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = {
                { .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
                { .effective = (uint32_t)(mask >> 32), .permitted = (uint32_t)(mask >> 32) },
        };

        if (syscall(SYS_capset, &head, data) < 0)
                return err_set_errno(err, errno, "cannot give up capabilities");
        return 0;
}

static int drop_bounding_set(struct err *err)
{
        for (int i = 0; i < 64; i++)
                if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EINVAL)
                        return err_set_errno(err, errno, "cannot give up capability %d", i);
        return 0;
}

static int limit(int resource, uint64_t most, struct err *err)
{
        struct rlimit now, updated;

        if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
                return err_set_errno(err, errno, "cannot read a resource limit");
        updated.rlim_max = MIN(now.rlim_max, most);
        updated.rlim_cur = updated.rlim_max;
        if (setrlimit((__rlimit_resource_t)resource, &updated) < 0)
                return err_set_errno(err, errno, "cannot set a resource limit");
        return 0;
}

static int set_limits(const struct launch *l, struct err *err)
{
        const struct {
                int resource;
                uint64_t most;
        } limits[] = {
                { RLIMIT_NPROC, MAX_PROCESSES }, { RLIMIT_NOFILE, MAX_FILES },
                { RLIMIT_MEMLOCK, MAX_LOCKED },  { RLIMIT_CORE, 0 },
                { RLIMIT_MSGQUEUE, 0 },          { RLIMIT_DATA, l->data_bytes },
        };
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(limits) && r >= 0; i++)
                r = limit(limits[i].resource, limits[i].most, err);
        return r;
}

/* Ids outside that no group of this namespace stands for (those of a user without privileges) cannot be given up, and mean nothing here. */
static int become_user(struct err *err)
{
        (void)setgroups(0, NULL);
        if (setresgid(LAUNCH_USER, LAUNCH_USER, LAUNCH_USER) < 0 ||
            setresuid(LAUNCH_USER, LAUNCH_USER, LAUNCH_USER) < 0)
                return err_set_errno(err, errno, "cannot become user %d", LAUNCH_USER);
        return 0;
}

int sandbox_drop_rights(const struct launch *l, struct err *err)
{
        int r = drop_bounding_set(err);

        if (r >= 0)
                r = become_user(err);
        if (r >= 0)
                r = set_limits(l, err);
        if (r >= 0)
                r = set_capabilities(0, err);
        if (r >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                r = err_set_errno(err, errno, "cannot refuse new privileges");
        if (r >= 0)
                r = seccomp_apply(err);
        return r;
}

int sandbox_keep_little(struct err *err)
{
        int r = drop_bounding_set(err);

        if (r >= 0)
                r = set_capabilities(UINT64_C(1) << CAP_KILL, err);
        /* No process may trace the first process or see its descriptors: it has the sockets to the host. */
        if (r >= 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
                r = err_set_errno(err, errno, "cannot hide the first process");
        return r;
}
