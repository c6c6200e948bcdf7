/* The two processes around a program. The launcher is this executable, started anew: it makes the namespaces, says which ids they have,
 * and ends with them. The first process inside them builds the sandbox, starts the program, gives sockets to the runtime, and ends when
 * the program or the runtime does; the kernel then ends all others inside. */
#include "process-runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ids.h"
#include "launch.h"
#include "sandbox.h"

bool process_runtime_is_child(int argc, char **argv)
{
        static const char *const words[] = { PROCESS_RUNTIME_ARGUMENTS };

        if ((size_t)argc != ARRAY_SIZE(words) + 1)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strcmp(argv[i + 1], words[i]) != 0)
                        return false;
        return true;
}

/* --- What is told --- */

static void tell(char what, const void *data, size_t n)
{
        char packet[4096];

        packet[0] = what;
        n = MIN(n, sizeof(packet) - 1);
        memcpy(packet + 1, data, n);
        (void)!send(LAUNCH_FD_EVENTS, packet, n + 1, MSG_NOSIGNAL);
}

static _Noreturn void give_up(const char *what, const struct err *err)
{
        char text[2048];
        int n = snprintf(text, sizeof(text), "%s%s%s", what, what[0] ? ": " : "", err_message(err));

        tell(EVENT_FAILED, text, MIN((size_t)n, sizeof(text) - 1));
        _exit(1);
}

/* --- The program --- */

static void unblock_signals(void)
{
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs the program in place of this process, or writes the reason why not. */
static _Noreturn void become_program(const struct launch *l, int report)
{
        _cleanup_err_ struct err err = { 0 };
        char text[1024]; /* not from the heap, which may be at its limit */

        if (sandbox_drop_rights(l, &err) < 0) {
                snprintf(text, sizeof(text), "%s", err_message(&err));
        } else if (chdir(l->directory) < 0) {
                snprintf(text, sizeof(text), "cannot enter the working directory %s: %s", l->directory,
                         strerror(errno));
        } else {
                setsid();
                unblock_signals();
                execvpe(l->arguments[0], (char *const *)l->arguments, (char *const *)l->environment);
                snprintf(text, sizeof(text), "cannot run %s: %s", l->arguments[0], strerror(errno));
        }
        (void)!write(report, text, strlen(text));
        _exit(127);
}

/* Returns its process id; the program has begun. */
static pid_t start_program(const struct launch *l)
{
        _cleanup_err_ struct err err = { 0 };
        char text[1024];
        int ends[2];
        ssize_t n;
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
                err_set_errno(&err, errno, "cannot start a process");
                give_up("", &err);
        }
        if (pid == 0)
                become_program(l, ends[1]);
        close(ends[1]);
        n = read(ends[0], text, sizeof(text));
        if (n > 0) {
                tell(EVENT_FAILED, text, (size_t)n);
                _exit(1);
        }
        close(ends[0]);
        tell(EVENT_RUNNING, "", 0);
        return pid;
}

/* --- The first process --- */

struct first {
        pid_t program;
        int signals;
        int connections[2]; /* /proc/net/tcp and tcp6 of this network */
        uint16_t port;
};

/* Connections of one file whose own end is the program's port. */
static int count_in(int fd, uint16_t port)
{
        char text[64 << 10], *line, *rest = text;
        size_t n = 0;
        ssize_t got;
        int count = 0;

        if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return 0;
        while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
                n += (size_t)got;
        text[n] = '\0';
        while ((line = strsep(&rest, "\n"))) {
                unsigned own_port, state;

                if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &own_port, &state) == 2 && own_port == port &&
                    state == 1)
                        count++;
        }
        return count;
}

static int count_connections(const struct first *f)
{
        if (f->connections[0] < 0)
                return -1;
        return count_in(f->connections[0], f->port) + count_in(f->connections[1], f->port);
}

static void send_socket(void)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        union {
                struct cmsghdr head;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { .head = {
                              .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
        char code = fd < 0 ? 'n' : 'y';
        struct iovec data = { &code, 1 };
        struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

        if (fd >= 0) {
                memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
                message.msg_control = &control;
                message.msg_controllen = sizeof(control);
        }
        (void)!sendmsg(LAUNCH_FD_REQUESTS, &message, MSG_NOSIGNAL);
}

static void answer_request(const struct first *f)
{
        char what;
        int n;

        if (recv(LAUNCH_FD_REQUESTS, &what, 1, MSG_DONTWAIT) != 1)
                return;
        if (what == REQUEST_SOCKET) {
                send_socket();
                return;
        }
        n = count_connections(f);
        (void)!send(LAUNCH_FD_REQUESTS, &n, sizeof(n), MSG_NOSIGNAL);
}

static void take_order(const struct first *f)
{
        char what;
        ssize_t n = recv(LAUNCH_FD_EVENTS, &what, 1, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN))
                _exit(0); /* the runtime is gone, or wants an end */
        if (n == 1 && what == EVENT_TERM)
                kill(f->program, SIGTERM);
}

static void reap(const struct first *f)
{
        struct signalfd_siginfo info;
        int status;
        pid_t pid;

        (void)!read(f->signals, &info, sizeof(info));
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                if (pid == f->program) {
                        tell(EVENT_ENDED, &status, sizeof(status));
                        _exit(0);
                }
}

static _Noreturn void serve(const struct first *f)
{
        struct pollfd on[] = { { LAUNCH_FD_EVENTS, POLLIN, 0 },
                               { LAUNCH_FD_REQUESTS, POLLIN, 0 },
                               { f->signals, POLLIN, 0 } };

        for (;;) {
                if (poll(on, ARRAY_SIZE(on), -1) < 0 && errno != EINTR)
                        _exit(1);
                if (on[0].revents)
                        take_order(f);
                if (on[1].revents & POLLIN)
                        answer_request(f);
                else if (on[1].revents)
                        on[1].fd = -1;
                if (on[2].revents)
                        reap(f);
        }
}

static int watch_children(void)
{
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        sigprocmask(SIG_SETMASK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void die_with_parent(void)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* In the new namespaces, as process 1. go is readable when the ids hold. */
static _Noreturn void be_first(const struct launch *l, uint32_t user, int go)
{
        _cleanup_err_ struct err err = { 0 };
        struct first f = { .port = l->port };
        char byte;
        int r;

        die_with_parent();
        if (read(go, &byte, 1) != 1)
                _exit(1);
        close(go);
        r = ids_become(user, &err);
        die_with_parent(); /* a change of ids forgets it */
        f.signals = watch_children();
        f.connections[0] = open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC);
        f.connections[1] = open("/proc/self/net/tcp6", O_RDONLY | O_CLOEXEC);
        if (r >= 0 && sethostname(l->hostname, strlen(l->hostname)) < 0)
                r = err_set_errno(&err, errno, "cannot set the host name");
        if (r >= 0)
                r = sandbox_enter(l, &err);
        if (r >= 0 && !l->shares_network)
                r = sandbox_start_loopback(&err);
        if (r < 0)
                give_up("cannot isolate the program", &err);
        f.program = start_program(l);
        if (sandbox_keep_little(&err) < 0)
                give_up("", &err);
        close(STDOUT_FILENO); /* the log ends with the program */
        close(STDERR_FILENO);
        serve(&f);
}

/* --- The launcher --- */

static void read_launch(struct arena *a, struct launch *ret)
{
        struct stat st;
        void *text;

        if (fstat(LAUNCH_FD_SPEC, &st) < 0)
                _exit(1);
        text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, LAUNCH_FD_SPEC, 0);
        if (text == MAP_FAILED)
                _exit(1);
        launch_decode(a, str_make(text, (size_t)st.st_size), ret);
}

static void hide_descriptors(void)
{
        static const int fds[] = { LAUNCH_FD_EVENTS, LAUNCH_FD_REQUESTS, LAUNCH_FD_SPEC, LAUNCH_FD_ROOT };

        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        syscall(SYS_close_range, LAUNCH_FD_END, ~0u, 0);
}

/* The kernel ends programs of packages first when memory is short. */
static void be_killed_first(void)
{
        _cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

        if (fd >= 0)
                (void)!write(fd, "500", 3);
}

static pid_t clone_with(unsigned long flags)
{
        return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int launch_first(const struct launch *l, struct err *err)
{
        unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                              CLONE_NEWCGROUP | (l->shares_network ? 0 : CLONE_NEWNET);
        struct ids ids;
        int go[2], status = 0;
        pid_t pid;

        if (ids_choose("", l->first_id, &ids, err) < 0)
                return err->code;
        if (fchdir(LAUNCH_FD_ROOT) < 0 || pipe2(go, O_CLOEXEC) < 0)
                return err_set_errno(err, errno, "cannot enter the image");
        pid = clone_with(flags);
        if (pid < 0)
                return ids_explain_clone(errno, err);
        if (pid == 0) {
                close(go[1]);
                be_first(l, ids.user, go[0]);
        }
        close(go[0]);
        if (ids_write(&ids, pid, err) < 0)
                return err_wrap(err, "cannot set the user ids of the namespaces");
        (void)!write(go[1], "g", 1);
        close(LAUNCH_FD_EVENTS);
        close(LAUNCH_FD_REQUESTS);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return 0;
}

int process_runtime_child(void)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct launch l;
        char byte;

        die_with_parent();
        hide_descriptors();
        if (recv(LAUNCH_FD_EVENTS, &byte, 1, 0) != 1)
                return 1;
        arena_init(&a, "launch", 0);
        read_launch(&a, &l);
        be_killed_first();
        if (launch_first(&l, &err) < 0)
                give_up("", &err);
        return 0;
}
