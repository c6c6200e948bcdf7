/* A hostile program in the process runtime can reach nothing of the host. */
#include "runtime-test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "json.h"
#include "program-limits.h"

struct attempt {
        const char *command, *answer;
};

static void try_all(struct side *s, const char *revision, const struct attempt *attempts, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ASSERT_STR_CASE(attempts[i].command, side_ask(s, revision, attempts[i].command),
                                str_from(attempts[i].answer));
}

/* The program never changes the image by its writes. Only without privileges it owns the files of the image, and then it writes on
 * a layer above them. */
static void check_image(struct side *s, struct oci_image *image)
{
        static const struct attempt of_others[] = { { "write /probe", "EACCES" },
                                                    { "write /etc/of-image", "EACCES" },
                                                    { "write /new", "EACCES" },
                                                    { "call killinit", "EPERM" },
                                                    { "call setuid", "EPERM" },
                                                    { "open /proc/self/exe", "EACCES" },
                                                    { "open /proc/sysrq-trigger", "EACCES" } };
        static const struct attempt own[] = { { "write /etc/of-image", "ok" },
                                              { "call killinit", "ok" },   /* the kernel drops the signal */
                                              { "call setuid", "EINVAL" }, /* there is no user 0 */
                                              { "open /proc/self/exe", "ETXTBSY" } };
        char text[16] = "";
        int fd;

        if (geteuid() == 0)
                try_all(s, "hostile", of_others, access("/proc/sysrq-trigger", F_OK) == 0 ? 7 : 6);
        else
                try_all(s, "hostile", own, ARRAY_SIZE(own));
        fd = openat(oci_image_root(image), "etc/of-image", O_RDONLY | O_CLOEXEC);
        ASSERT(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
        close(fd);
        ASSERT_TEXT(text, "image");
        ASSERT(faccessat(oci_image_root(image), "new", F_OK, 0) < 0);
}

static void check_isolation(struct side *s, struct oci_image *image)
{
        static const struct attempt attempts[] = {
                /* files */
                { "list /", "dev etc kube probe proc tls tmp" },
                { "list /etc", "of-image" },
                { "list /kube", "" },
                { "list /dev", "fd full null random shm stderr stdin stdout urandom zero" },
                { "list /tls", "server" },
                { "write /tls/server/tls.crt", "EACCES" },
                { "write /tls/server/new", "EROFS" },
                { "write /dev/new", "EROFS" },
                { "write /dev/null", "ok" },
                { "write /tmp/new", "ok" },
                { "write /dev/shm/new", "ok" },
                { "read /../../etc/hostname", "ENOENT" },
                { "read /proc/1/environ", "EACCES" },
                { "open /proc/1/exe", "EACCES" },
                { "open /proc/1/mem", "EACCES" },
                { "list /proc/1/fd", "EACCES" },
                { "list /proc/1/root", "EACCES" },
                { "list /proc/1/cwd", "EACCES" },
                { "open /proc/sys/kernel/core_pattern", "EACCES" },
                { "open /proc/sys/kernel/hostname", "EACCES" },
                { "list /sys", "ENOENT" },
                /* descriptors */
                { "descriptors", "0 1 2" },
                { "list /proc/self/cwd", "dev etc kube probe proc tls tmp" },
                /* processes */
                { "call kill",
                  "ESRCH" }, /* it sees no process but its own, and the first one, which cannot be killed */
                /* rights */
                { "ids", "2000 2000 2000 2" },
                { "call mount", "EPERM" },
                { "call umount", "EPERM" },
                { "call unshare", "EPERM" },
                { "call clone", "EPERM" },
                { "call clone3", "ENOSYS" },
                { "call ptrace", "EPERM" },
                { "call bpf", "EPERM" },
                { "call keyctl", "EPERM" },
                { "call userfaultfd", "EPERM" },
                { "call io_uring", "EPERM" },
                { "call module", "EPERM" },
                { "call kexec", "EPERM" },
                { "call process_vm", "EPERM" },
                { "call handle", "EPERM" },
                { "call chroot", "EPERM" },
                { "call hostname", "EPERM" },
                { "call mknod", "EPERM" },
                /* network */
                { "call vsock", "EAFNOSUPPORT" },
                { "call packet", "EAFNOSUPPORT" },
                { "call raw", "EPERM" },
                { "connect 192.0.2.1 80", "ENETUNREACH" },
                { "connect 127.0.0.1 9443", "ok" },
        };
        struct runtime_wish wish = side_wish("hostile", image);
        struct str status;

        side_await(s, &wish, RUNTIME_READY);
        check_image(s, image);
        try_all(s, "hostile", attempts, ARRAY_SIZE(attempts));
        status = side_ask(s, "hostile", "read /proc/self/status");
        ASSERT(str_find(status,
                        STR("|CapInh:\t0000000000000000|CapPrm:\t0000000000000000|CapEff:\t0000000000000000|CapBnd:\t"
                            "0000000000000000|CapAmb:\t0000000000000000|NoNewPrivs:\t1|Seccomp:\t2|")) >= 0);
        ASSERT(str_find(status, STR("|Groups:\t |")) >= 0);
        ASSERT_STR(side_ask(s, "hostile", "list /proc/self/net/dev_snmp6"), STR("lo"));
}

TEST(isolation)
{
        struct side s;
        struct oci_image *image;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        check_isolation(&s, image);
        oci_image_unref(image);
        side_done(&s);
}

static unsigned free_port(void)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t n = sizeof(at);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ASSERT(bind(fd, (struct sockaddr *)&at, n) == 0 && getsockname(fd, (struct sockaddr *)&at, &n) == 0);
        close(fd);
        return ntohs(at.sin_port);
}

static const struct value *host_config(struct side *s, unsigned port)
{
        struct str text =
                arena_printf(&s->arena,
                             "{\"deploymentTemplate\":{\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":true,"
                             "\"containers\":[{\"name\":\"package-runtime\",\"ports\":[{\"name\":\"grpc\","
                             "\"containerPort\":%u}],\"env\":[{\"name\":\"PORT\",\"value\":\"%u\"}]}]}}}}}",
                             port, port);
        const struct value *config;

        ASSERT(json_parse(&s->arena, text, NULL, &config, NULL) >= 0);
        return config;
}

/* A provider is ready as soon as it runs, which may be before it listens. */
static struct str ask_soon(struct side *s, const char *revision, const char *command)
{
        struct deadline deadline = deadline_after_ms(PATIENCE_MS);
        int fd;

        while (runtime_dial(s->runtime, str_from(revision), &fd, NULL) < 0) {
                ASSERT(!deadline_has_passed(deadline));
                thread_sleep(deadline_after_ms(1), NULL);
        }
        close(fd);
        return side_ask(s, revision, command);
}

/* A port of the host is not to be reached, although it listens on all addresses. */
TEST(host_network)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t n = sizeof(at);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        char command[64];

        ASSERT(bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, 5) == 0 &&
               getsockname(fd, (struct sockaddr *)&at, &n) == 0);
        snprintf(command, sizeof(command), "connect 127.0.0.1 %u", ntohs(at.sin_port));
        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("alone", image);
        side_await(&s, &wish, RUNTIME_READY);
        ASSERT_STR(side_ask(&s, "alone", command), STR("ECONNREFUSED"));
        /* With the host's network it is reached. The program's own port is then one of the host. */
        wish.config = host_config(&s, free_port());
        wish.revision = STR("open");
        side_await(&s, &wish, RUNTIME_READY);
        ASSERT_STR(side_ask(&s, "open", command), STR("ok"));
        /* Providers have it without asking, and the way to the API. */
        wish.config = host_config(&s, free_port());
        wish.revision = STR("provider");
        wish.kind = XPKG_PROVIDER;
        wish.client = (struct runtime_tls) { STR("c"), STR("k"), STR("a") };
        wish.kubeconfig = STR("the way");
        side_await(&s, &wish, RUNTIME_READY);
        ASSERT_STR(ask_soon(&s, "provider", command), STR("ok"));
        ASSERT_STR(side_ask(&s, "provider", "environment KUBECONFIG"), STR("/kube/config"));
        ASSERT_STR(side_ask(&s, "provider", "read /kube/config"), STR("the way"));
        ASSERT_STR(side_ask(&s, "provider", "read /tls/client/tls.crt"), STR("c"));
        ASSERT_STR(side_ask(&s, "provider", "environment PROVIDER_NAME"), STR("function-probe"));
        close(fd);
        oci_image_unref(image);
        side_done(&s);
}

/* An image cannot put its own files in place of ours, nor lead us out of it. */
TEST(hostile_image)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        _cleanup_buf_ struct buf tar = BUF_INIT(0);

        side_init(&s);
        side_add_program(&tar);
        oci_tar_append_entry(&tar, OCI_TAR_SYMLINK, STR("tls"), STR("/etc"), 0777, 0);
        oci_tar_append_entry(&tar, OCI_TAR_SYMLINK, STR("proc"), STR("/"), 0777, 0);
        oci_tar_append_entry(&tar, OCI_TAR_SYMLINK, STR("dev"), STR("../../../dev"), 0777, 0);
        oci_tar_append_file(&tar, STR("tmp"), 0644, STR("a file"));
        oci_tar_append_file(&tar, STR("setuid"), 04755, STR("x"));
        oci_tar_append_end(&tar);
        image = side_image(&s, buf_str(&tar), PROBE_CONFIG);
        wish = side_wish("traps", image);
        side_await(&s, &wish, RUNTIME_READY);
        ASSERT_STR(side_ask(&s, "traps", "list /tls"), STR("server"));
        ASSERT_STR(side_ask(&s, "traps", "list /tmp"), STR(""));
        ASSERT_STR(side_ask(&s, "traps", "list /dev/shm"), STR(""));
        ASSERT_STR(side_ask(&s, "traps", "descriptors"), STR("0 1 2"));
        oci_image_unref(image);
        side_done(&s);
}

TEST(bombs)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        long n;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("bombs", image);
        side_await(&s, &wish, RUNTIME_READY);
        n = atol(arena_cstring(&s.arena, side_ask(&s, "bombs", "forks")));
        ASSERT(n > 100 && n <= 1024);
        ASSERT_STR(side_ask(&s, "bombs", "reserve 10000000"), STR("ENOMEM"));
        oci_image_unref(image);
        side_done(&s);
}

#define LIMITED                                                                                                     \
        "{\"deploymentTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"package-runtime\"," \
        "\"resources\":{"                                                                                           \
        "\"limits\":{\"memory\":\"64Mi\",\"cpu\":\"500m\"}}}]}}}}}"

/* Where control groups are to be had the limit holds; elsewhere the wish is refused. */
TEST(memory_limit)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;
        struct runtime_state state;
        _cleanup_err_ struct err err = { 0 };
        const struct value *config;
        int fd;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("limited", image);
        ASSERT(json_parse(&s.arena, STR(LIMITED), NULL, &config, NULL) >= 0);
        wish.config = config;
        if (runtime_ensure(s.runtime, &s.arena, &wish, &state, &err) < 0) {
                printf("# no control groups: the refusal is tested instead of the limit: %s\n", err_message(&err));
                ASSERT(str_find(str_from(err_message(&err)),
                                STR("the limit resources.limits.memory cannot be kept here: ")) >= 0);
        } else {
                side_await(&s, &wish, RUNTIME_READY);
                fd = side_dial(&s, "limited");
                ASSERT_STR(side_ask_on(&s, fd, "allocate 16"), STR("ok"));
                ASSERT_STR(side_ask_on(&s, fd, "allocate 512"), STR(""));
                close(fd);
                do
                        state = side_ensure(&s, &wish);
                while (state.phase == RUNTIME_READY && !state.message.n);
                side_await(&s, &wish, RUNTIME_READY); /* again */
        }
        oci_image_unref(image);
        side_done(&s);
}

/* --- Other processes --- */

/* Runs the function in a process of its own, which may end with a text that says what went wrong. */
static void in_process(void (*f)(int report))
{
        char text[1024] = "";
        int ends[2], status;
        ssize_t n;
        pid_t pid;

        ASSERT(pipe2(ends, O_CLOEXEC) == 0);
        fflush(stdout);
        pid = fork();
        ASSERT(pid >= 0);
        if (pid == 0) {
                f(ends[1]);
                _exit(0);
        }
        close(ends[1]);
        n = read(ends[0], text, sizeof(text) - 1);
        close(ends[0]);
        ASSERT(waitpid(pid, &status, 0) == pid);
        if (n > 0 || status != 0)
                test_fail(__FILE__, __LINE__, "status %d: %s", status, text);
}

static void report_error(int report, const char *text)
{
        (void)!write(report, text, strlen(text));
        _exit(1);
}

static void write_to(int report, const char *path, const char *text)
{
        int fd = open(path, O_WRONLY);

        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                report_error(report, path);
        close(fd);
}

/* A user namespace in which there may be no other. */
static void check_refusal(int report)
{
        static const char wanted[] = "programs of packages cannot be isolated on this machine, so they are not run: "
                                     "this machine allows no more "
                                     "namespaces: raise sysctl user.max_user_namespaces (and "
                                     "user.max_{mnt,pid,net,ipc,uts,cgroup}_namespaces)";
        _cleanup_err_ struct err err = { 0 };

        if (unshare(CLONE_NEWUSER) < 0)
                report_error(report, "unshare");
        write_to(report, "/proc/sys/user/max_user_namespaces", "0");
        if (process_runtime_check(&err) >= 0)
                report_error(report, "it was not refused");
        if (strcmp(err_message(&err), wanted) != 0)
                report_error(report, err_message(&err));
}

TEST(refusal)
{
        in_process(check_refusal);
}

/* Root of a container that has no other id would have to give programs its own. */
static void check_lonely_root(int report)
{
        _cleanup_err_ struct err err = { 0 };

        if (geteuid() != 0)
                return;
        if (unshare(CLONE_NEWUSER) < 0)
                report_error(report, "unshare");
        write_to(report, "/proc/self/setgroups", "deny");
        write_to(report, "/proc/self/uid_map", "0 0 1");
        write_to(report, "/proc/self/gid_map", "0 0 1");
        if (process_runtime_check(&err) >= 0)
                report_error(report, "it was not refused");
        if (!strstr(err_message(&err), "there is no user id for programs of packages"))
                report_error(report, err_message(&err));
}

TEST(no_ids)
{
        in_process(check_lonely_root);
}

static void run_as_user(void *arg)
{
        struct side s;
        struct oci_image *image;

        (void)arg;
        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        check_isolation(&s, image);
        oci_image_unref(image);
        side_done(&s);
}

/* On a thread, where a failed check ends the process. */
static void check_as_user(int report)
{
        struct thread *t;

        if (geteuid() == 0 &&
            (setgroups(0, NULL) < 0 || setresgid(12345, 12345, 12345) < 0 || setresuid(12345, 12345, 12345) < 0))
                report_error(report, "cannot become another user");
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* /proc/self belongs to root otherwise */
        if (thread_start("user", run_as_user, NULL, &t, NULL) < 0)
                report_error(report, "cannot start a thread");
        thread_join(t);
}

/* A user without privileges gets the same isolation. */
TEST(without_privileges)
{
        in_process(check_as_user);
}

/* --- The end of the runtime --- */

static pid_t parent_of(pid_t pid)
{
        char path[64], text[512];
        _cleanup_close_ int fd = -1;
        ssize_t n;
        int parent = -1;
        char *end;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        if (n <= 0)
                return -1;
        text[n] = '\0';
        end = strrchr(text, ')');
        if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
                return -1;
        return parent;
}

/* The processes below one, all levels. */
static size_t descendants(pid_t top, pid_t *ret, size_t most)
{
        DIR *d = opendir("/proc");
        size_t n = 0;

        ASSERT(d);
        for (struct dirent *e; (e = readdir(d)) && n < most;) {
                pid_t pid = (pid_t)atoi(e->d_name);

                for (pid_t up = pid; up > 1; up = parent_of(up))
                        if (up != pid && up == top) {
                                ret[n++] = pid;
                                break;
                        }
        }
        closedir(d);
        return n;
}

static void run_until_killed(int report)
{
        struct side s;
        struct oci_image *image;
        struct runtime_wish wish;

        side_init(&s);
        image = side_probe(&s, PROBE_CONFIG);
        wish = side_wish("orphan", image);
        side_await(&s, &wish, RUNTIME_READY);
        (void)!write(report, s.directory, strlen(s.directory));
        for (;;)
                pause();
}

static bool is_alive(pid_t pid)
{
        char path[64], text[512];
        _cleanup_close_ int fd = -1;
        ssize_t n;
        char *end;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
        if (n <= 0)
                return false;
        text[n] = '\0';
        end = strrchr(text, ')');
        return end && end[2] != 'Z' && end[2] != 'X';
}

/* Killed without a chance to clean up, the runtime takes its programs along. */
TEST(killed)
{
        struct deadline deadline = deadline_after_ms(PATIENCE_MS);
        pid_t pid, below[64];
        char directory[64] = "";
        int ends[2];
        size_t n;

        ASSERT(pipe2(ends, O_CLOEXEC) == 0);
        fflush(stdout);
        pid = fork();
        ASSERT(pid >= 0);
        if (pid == 0)
                run_until_killed(ends[1]);
        close(ends[1]);
        ASSERT(read(ends[0], directory, sizeof(directory) - 1) > 0);
        close(ends[0]);
        n = descendants(pid, below, ARRAY_SIZE(below));
        ASSERT(n >= 3); /* launcher, first process, program */
        ASSERT(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
        for (size_t i = 0; i < n; i++)
                while (is_alive(below[i])) {
                        ASSERT(!deadline_has_passed(deadline));
                        thread_sleep(deadline_after_ms(1), NULL);
                }
        ASSERT(oci_remove_tree(AT_FDCWD, directory, NULL) == 0);
}

/* --- Control groups of version 2, in a tree of files --- */

static void put_file(const char *directory, const char *name, const char *text)
{
        char path[256];
        FILE *f;

        snprintf(path, sizeof(path), "%s/%s", directory, name);
        for (char *slash = path + strlen(directory); (slash = strchr(slash + 1, '/'));) {
                *slash = '\0';
                mkdir(path, 0755);
                *slash = '/';
        }
        f = fopen(path, "w");
        ASSERT(f && fputs(text, f) >= 0);
        fclose(f);
}

static void assert_file(const char *directory, const char *name, const char *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", directory, name);
        ASSERT(input_read(path, &b, NULL) >= 0);
        ASSERT_STR_CASE(name, buf_str(&b), str_from(text));
}

TEST(groups_of_version_2)
{
        char root[] = "/tmp/weft-groups-XXXXXX";
        struct program_limits l;
        _cleanup_err_ struct err err = { 0 };

        ASSERT(mkdtemp(root));
        put_file(root, "proc/self/cgroup", "0::/service\n");
        put_file(root, "sys/fs/cgroup/service/cgroup.controllers", "cpu pids\n");
        ASSERT_INT(program_limits_make(root, STR("a"), 1 << 20, 0, &l, &err), ERR_UNSUPPORTED);
        ASSERT(strstr(err_message(&err), "the limit resources.limits.memory cannot be kept here: the control group "));
        ASSERT(strstr(err_message(&err),
                      "does not have the controller memory; run Weft in a control group that is delegated to it "
                      "(systemd: Delegate=yes), or remove the limit"));
        put_file(root, "sys/fs/cgroup/service/cgroup.controllers", "cpu memory pids\n");
        put_file(root, "sys/fs/cgroup/service/cgroup.subtree_control", "");
        put_file(root, "sys/fs/cgroup/service/weft-a/memory.max", "");
        put_file(root, "sys/fs/cgroup/service/weft-a/cpu.max", "");
        put_file(root, "sys/fs/cgroup/service/weft-a/cgroup.procs", "");
        if (program_limits_make(root, STR("a"), 1 << 20, 1500, &l, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_INT(l.n, 1);
        ASSERT(program_limits_add(&l, 77, &err) >= 0);
        assert_file(root, "sys/fs/cgroup/service/weft-a/memory.max", "1048576");
        assert_file(root, "sys/fs/cgroup/service/weft-a/cpu.max", "150000 100000");
        assert_file(root, "sys/fs/cgroup/service/weft-a/cgroup.procs", "77");
        program_limits_done(&l);
        ASSERT(oci_remove_tree(AT_FDCWD, root, NULL) == 0);
}
