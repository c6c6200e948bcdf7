#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "clock.h"
#include "launch.h"
#include "program-limits.h"
#include "log.h"
#include "timetext.h"

#define MAX_LINE   (8u << 10) /* longer lines of a program's log are cut into several */
#define KILL_MS    5000       /* until a launcher that does not end is killed */
#define FIRST_SAFE 20         /* descriptors from here on are not those of the new process */

struct process {
        struct loop *loop;
        struct program *program;
        const struct process_callbacks *callbacks;
        void *owner;
        struct program_gate *gate;
        struct program_limits limits;
        pid_t pid;
        int pidfd, events, log;
        uv_poll_t exit_poll, events_poll, log_poll;
        uv_timer_t timer; /* looks whether it answers; later, whether it has ended */
        unsigned n_handles;
        int64_t started_ns;
        bool is_ready, is_ending;
        char why[2200];
        struct buf line;
        char last_line[256];
        char taken_port[256]; /* where it said that a port is taken */
};

void *process_owner(const struct process *p)
{
        return p->owner;
}

struct program_gate *process_gate(const struct process *p)
{
        return p->gate;
}

/* --- The log --- */

/* Programs word it as the system does, perhaps in the middle of a line of JSON. */
static void look_for_port(struct process *p, struct str line)
{
        struct str phrase = STR("ddress already in use");
        ptrdiff_t at = str_find(line, phrase);
        size_t before;

        if (at < 0)
                return;
        before = MIN((size_t)at, (size_t)100);
        snprintf(p->taken_port, sizeof(p->taken_port), "%.*s",
                 STR_ARG(str_first(str_skip(line, (size_t)at - before), before + phrase.n)));
}

static void emit_line(struct process *p)
{
        struct str line = buf_str(&p->line);

        if (line.n > 0 && line.p[line.n - 1] == '\r')
                line.n--;
        if (line.n > 0)
                snprintf(p->last_line, sizeof(p->last_line), "%.*s", STR_ARG(line));
        look_for_port(p, line);
        p->callbacks->on_line(p, line);
        buf_clear(&p->line);
}

static void take_log(struct process *p, struct str data)
{
        for (size_t i = 0; i < data.n; i++)
                if (data.p[i] == '\n') {
                        emit_line(p);
                } else {
                        buf_append_char(&p->line, data.p[i]);
                        if (p->line.n >= MAX_LINE)
                                emit_line(p);
                }
}

/* Returns false at the end. A program that writes without end gets no more than a block in each turn of the loop. */
static bool read_log(struct process *p)
{
        char block[16 << 10];
        ssize_t n = read(p->log, block, sizeof(block));

        if (n > 0)
                take_log(p, str_make(block, (size_t)n));
        return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void on_log(uv_poll_t *h, int status, int events)
{
        struct process *p = h->data;

        (void)events;
        if (status < 0 || !read_log(p))
                uv_poll_stop(h);
}

static void finish_log(struct process *p)
{
        struct pollfd on = { p->log, POLLIN, 0 };

        for (int i = 0; i < 64 && poll(&on, 1, 0) == 1 && (on.revents & POLLIN) && read_log(p); i++)
                ;
        if (p->line.n > 0)
                emit_line(p);
}

/* --- Readiness --- */

static void become_ready(struct process *p)
{
        p->is_ready = true;
        uv_timer_stop(&p->timer);
        p->callbacks->on_ready(p);
}

static void on_probe(uv_timer_t *t)
{
        struct process *p = t->data;
        int64_t age_ns = clock_mono_ns() - p->started_ns;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_close_ int fd = -1;

        if (gate_dial(p->gate, 100, &fd, &err) >= 0) {
                become_ready(p);
                return;
        }
        uv_timer_start(t, on_probe, age_ns < 200 * NS_PER_MS ? 1 : age_ns < 2000 * NS_PER_MS ? 10 : 100, 0);
}

/* --- Events --- */

static void describe_end(struct process *p, int status)
{
        char how[128];
        bool has_line = p->last_line[0] != '\0';

        if (WIFSIGNALED(status))
                snprintf(how, sizeof(how), "the program was ended by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
        else
                snprintf(how, sizeof(how), "the program ended with status %d", WEXITSTATUS(status));
        if (p->program->shares_network && p->taken_port[0])
                snprintf(
                        p->why, sizeof(p->why),
                        "%s; another program has a port of this machine that it wants (%s): give it a port of its "
                        "own, or none, with args or env of the container package-runtime in a DeploymentRuntimeConfig; "
                        "many providers have --metrics-bind-address=0",
                        how, p->taken_port);
        else
                snprintf(p->why, sizeof(p->why), "%s%s%s", how, has_line ? "; its last line is: " : "",
                         has_line ? p->last_line : "");
}

/* Returns false when there is no more. */
static bool read_event(struct process *p)
{
        char packet[4096];
        ssize_t n = recv(p->events, packet, sizeof(packet), MSG_DONTWAIT);

        if (n <= 0)
                return n < 0 && errno == EINTR;
        switch (packet[0]) {
        case EVENT_RUNNING:
                if (p->is_ending)
                        break;
                if (p->program->answers_calls)
                        uv_timer_start(&p->timer, on_probe, 1, 0);
                else
                        become_ready(p);
                break;
        case EVENT_FAILED:
                snprintf(p->why, sizeof(p->why), "%.*s", (int)(n - 1), packet + 1);
                break;
        case EVENT_ENDED:
                if (n == 1 + (ssize_t)sizeof(int)) {
                        int status;

                        memcpy(&status, packet + 1, sizeof(status));
                        finish_log(p);
                        describe_end(p, status);
                }
                break;
        }
        return true;
}

static void on_event(uv_poll_t *h, int status, int events)
{
        struct process *p = h->data;

        (void)events;
        if (status < 0 || !read_event(p))
                uv_poll_stop(h);
}

/* --- The end --- */

static void on_handle_closed(uv_handle_t *h)
{
        struct process *p = h->data;

        if (--p->n_handles > 0)
                return;
        p->callbacks->on_ended(p, p->why);
        close(p->pidfd);
        close(p->events);
        close(p->log);
        program_limits_done(&p->limits);
        gate_unref(p->gate);
        program_unref(p->program);
        buf_done(&p->line);
        free(p);
}

static void on_process_exit(uv_poll_t *h, int status, int events)
{
        struct process *p = h->data;

        (void)status, (void)events;
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        p->is_ending = true;
        while (read_event(p))
                ;
        finish_log(p);
        if (!p->why[0])
                snprintf(p->why, sizeof(p->why), "the program was killed");
        uv_close((uv_handle_t *)&p->exit_poll, on_handle_closed);
        uv_close((uv_handle_t *)&p->events_poll, on_handle_closed);
        uv_close((uv_handle_t *)&p->log_poll, on_handle_closed);
        uv_close((uv_handle_t *)&p->timer, on_handle_closed);
}

static void on_still_there(uv_timer_t *t)
{
        struct process *p = t->data;

        kill(p->pid, SIGKILL);
}

void process_kill(struct process *p)
{
        p->is_ending = true;
        shutdown(p->events, SHUT_RDWR);
        if (!uv_is_closing((uv_handle_t *)&p->timer))
                uv_timer_start(&p->timer, on_still_there, KILL_MS, 0);
}

void process_terminate(struct process *p)
{
        char order = EVENT_TERM;

        (void)!send(p->events, &order, 1, MSG_NOSIGNAL);
}

/* --- The start --- */

/* The descriptors of the new process, by number. */
struct descriptors {
        int fds[LAUNCH_FD_END];
};

static void descriptors_done(struct descriptors *d)
{
        for (size_t i = 0; i < ARRAY_SIZE(d->fds); i++)
                if (d->fds[i] >= 0)
                        close(d->fds[i]);
}

/* Copies to numbers that the new process does not use, so that putting one in its place hides no other. */
static bool put_descriptor(struct descriptors *d, int number, int fd)
{
        d->fds[number] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_SAFE);
        return d->fds[number] >= 0;
}

static int open_channels(struct process *p, struct descriptors *d, struct err *err)
{
        int events[2] = { -1, -1 }, requests[2] = { -1, -1 }, log[2] = { -1, -1 }, null;
        bool is_good = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) == 0 &&
                       socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests) == 0 &&
                       pipe2(log, O_CLOEXEC) == 0 && (null = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;

        if (is_good) {
                is_good = put_descriptor(d, 0, null) && put_descriptor(d, 1, log[1]) && put_descriptor(d, 2, log[1]) &&
                          put_descriptor(d, LAUNCH_FD_EVENTS, events[1]) &&
                          put_descriptor(d, LAUNCH_FD_REQUESTS, requests[1]) &&
                          put_descriptor(d, LAUNCH_FD_SPEC, p->program->spec_fd) &&
                          put_descriptor(d, LAUNCH_FD_ROOT, oci_image_root(p->program->image));
                close(null);
        }
        if (!is_good)
                err_set_errno(err, errno, "cannot open channels to a program");
        p->events = events[0];
        p->log = log[0];
        if (requests[0] >= 0)
                p->gate = gate_new(requests[0], p->program->port);
        if (log[0] >= 0)
                fcntl(log[0], F_SETFL, O_NONBLOCK);
        close(events[1]);
        close(requests[1]);
        close(log[1]);
        return is_good ? 0 : (int)ERR_SYSTEM;
}

static int spawn(struct process *p, const struct descriptors *d, struct err *err)
{
        char *arguments[] = { (char *)"weft", (char *)"internal", (char *)"run-package", NULL };
        char *environment[] = { NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, all;
        int r;

        sigemptyset(&none);
        sigfillset(&all);
        posix_spawn_file_actions_init(&actions);
        for (int i = 0; i < LAUNCH_FD_END; i++)
                posix_spawn_file_actions_adddup2(&actions, d->fds[i], i);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        r = posix_spawn(&p->pid, "/proc/self/exe", &actions, &attributes, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        if (r)
                return err_set_errno(err, r, "cannot start a process");
        p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
        if (p->pidfd < 0) {
                r = errno;
                kill(p->pid, SIGKILL);
                waitpid(p->pid, NULL, 0);
                return err_set_errno(err, r, "cannot watch a process (pidfd_open needs Linux 5.3)");
        }
        return 0;
}

static void watch(struct process *p)
{
        uv_loop_t *uv = loop_uv(p->loop);

        uv_poll_init(uv, &p->exit_poll, p->pidfd);
        uv_poll_init(uv, &p->events_poll, p->events);
        uv_poll_init(uv, &p->log_poll, p->log);
        uv_timer_init(uv, &p->timer);
        p->n_handles = 4;
        p->exit_poll.data = p->events_poll.data = p->log_poll.data = p->timer.data = p;
        uv_poll_start(&p->exit_poll, UV_READABLE, on_process_exit);
        uv_poll_start(&p->events_poll, UV_READABLE, on_event);
        uv_poll_start(&p->log_poll, UV_READABLE, on_log);
}

static void free_unstarted(struct process *p)
{
        if (p->events >= 0)
                close(p->events);
        if (p->log >= 0)
                close(p->log);
        program_limits_done(&p->limits);
        gate_unref(p->gate);
        program_unref(p->program);
        free(p);
}

/* The limits hold before anything runs. */
static int let_go(struct process *p, struct err *err)
{
        char go = EVENT_GO;
        int r = program_limits_add(&p->limits, p->pid, err);

        if (r >= 0 && send(p->events, &go, 1, MSG_NOSIGNAL) == 1)
                return 0;
        if (r >= 0)
                r = err_set_errno(err, errno, "cannot start a process");
        kill(p->pid, SIGKILL);
        waitpid(p->pid, NULL, 0);
        close(p->pidfd);
        return r;
}

int process_start(struct loop *l, struct program *program, struct str name, const struct process_callbacks *callbacks,
                  void *owner, struct process **ret, struct err *err)
{
        struct process *p = xcalloc(1, sizeof(*p));
        struct descriptors d;
        int r;

        memset(&d, 0xff, sizeof(d));
        *p = (struct process) { .loop = l,
                                .program = program_ref(program),
                                .callbacks = callbacks,
                                .owner = owner,
                                .events = -1,
                                .log = -1,
                                .pidfd = -1,
                                .started_ns = clock_mono_ns() };
        buf_init(&p->line, 0);
        r = program_limits_make("", name, program->memory_bytes, program->cpu_millis, &p->limits, err);
        if (r >= 0)
                r = open_channels(p, &d, err);
        if (r >= 0)
                r = spawn(p, &d, err);
        descriptors_done(&d);
        if (r >= 0)
                r = let_go(p, err);
        if (r < 0) {
                free_unstarted(p);
                return r;
        }
        watch(p);
        *ret = p;
        return 0;
}
