#include "gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "launch.h"

#define ANSWER_MS 5000 /* the first process answers at once, unless the machine is very busy */

struct program_gate {
        _Atomic unsigned references;
        struct semaphore turn; /* one question at a time */
        int fd;
        uint16_t port;
};

struct program_gate *gate_new(int requests_fd, uint16_t port)
{
        struct program_gate *g = xcalloc(1, sizeof(*g));

        atomic_init(&g->references, 1);
        semaphore_init(&g->turn, "gate of a program", 1);
        g->fd = requests_fd;
        g->port = port;
        return g;
}

struct program_gate *gate_ref(struct program_gate *g)
{
        atomic_fetch_add_explicit(&g->references, 1, memory_order_relaxed);
        return g;
}

void gate_unref(struct program_gate *g)
{
        if (!g || atomic_fetch_sub_explicit(&g->references, 1, memory_order_acq_rel) != 1)
                return;
        close(g->fd);
        semaphore_done(&g->turn);
        free(g);
}

static bool is_ready(int fd, short events, int64_t timeout_ms)
{
        struct pollfd p = { fd, events, 0 };
        int r;

        do
                r = poll(&p, 1, (int)timeout_ms);
        while (r < 0 && errno == EINTR);
        return r == 1;
}

/* The answer is at most n bytes in *ret, and a descriptor that may come with it (-1: none). An answer that came too late for the one who
 * asked goes to the next one: sockets are all alike, and a wrong count is counted again. */
static bool ask(struct program_gate *g, char what, void *ret, size_t n, int *ret_fd)
{
        union {
                struct cmsghdr head;
                char space[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec data = { ret, n };
        struct msghdr message = {
                .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
        };
        struct cmsghdr *c;
        ssize_t got;

        *ret_fd = -1;
        if (send(g->fd, &what, 1, MSG_NOSIGNAL) != 1 || !is_ready(g->fd, POLLIN, ANSWER_MS))
                return false;
        got = recvmsg(g->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        c = CMSG_FIRSTHDR(&message);
        if (got > 0 && c && c->cmsg_type == SCM_RIGHTS)
                memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
        return got == (ssize_t)n;
}

static int ask_socket(struct program_gate *g)
{
        char code;
        int fd = -1;

        if (semaphore_acquire(&g->turn, deadline_after_ms(ANSWER_MS), NULL) < 0)
                return -1;
        ask(g, REQUEST_SOCKET, &code, 1, &fd);
        semaphore_release(&g->turn);
        return fd;
}

int gate_count(struct program_gate *g)
{
        int n = -1, fd;

        if (semaphore_acquire(&g->turn, deadline_after_ms(ANSWER_MS), NULL) < 0)
                return -1;
        if (!ask(g, REQUEST_COUNT, &n, sizeof(n), &fd))
                n = -1;
        semaphore_release(&g->turn);
        if (fd >= 0)
                close(fd);
        return n;
}

static int wait_connected(int fd, int64_t timeout_ms)
{
        int code = ETIMEDOUT;
        socklen_t n = sizeof(code);

        if (is_ready(fd, POLLOUT, timeout_ms) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) < 0)
                code = errno;
        return code;
}

int gate_dial(struct program_gate *g, int64_t timeout_ms, int *ret_fd, struct err *err)
{
        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons(g->port),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        _cleanup_close_ int fd = ask_socket(g);
        int code = 0;

        if (fd < 0)
                return err_set(err, ERR_CLOSED, "the program has ended");
        if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
                code = errno == EINPROGRESS ? wait_connected(fd, timeout_ms) : errno;
        if (code)
                return err_set_errno(err, code, "cannot connect to port %u of the program", g->port);
        *ret_fd = TAKE_FD(fd);
        return 0;
}
