/* api-watchers HOST PORT TOKEN WATCHERS WATCH-PATH PATCH-PATH ROUNDS: opens so many watches over TLS, one connection each, then patches one object
 * again and again. Prints the time in milliseconds from sending a patch to the last watcher's event: the best and the median of the
 * rounds. bench-apiserver drives it against any server of the Kubernetes API. Certificates are not checked. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 1000, RECEIVE_BYTES = 65536, WAIT_MS = 30000 };

struct watcher {
        SSL *tls;
        int fd;
        size_t lines; /* ends of events so far; header lines count until the first chunk */
        bool is_open;
};

static SSL_CTX *context;

static void die(const char *what)
{
        fprintf(stderr, "api-watchers: %s: %s\n", what, strerror(errno));
        exit(1);
}

static double now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static SSL *connect_to(const char *host, const char *port, int *ret_fd)
{
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *address;
        int one = 1;

        if (getaddrinfo(host, port, &hints, &address) != 0)
                die("host");
        int fd = socket(address->ai_family, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, address->ai_addr, address->ai_addrlen) < 0)
                die("connect");
        freeaddrinfo(address);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        SSL *tls = SSL_new(context);
        if (!tls || SSL_set_fd(tls, fd) != 1 || SSL_connect(tls) != 1)
                die("TLS");
        *ret_fd = fd;
        return tls;
}

static void send_request(SSL *tls, const char *method, const char *path, const char *token, const char *body)
{
        char text[4096];
        int n = snprintf(text, sizeof text,
                         "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: application/json\r\n"
                         "Content-Type: application/merge-patch+json\r\nContent-Length: %zu\r\n\r\n%s",
                         method, path, token, strlen(body), body);
        assert(n > 0 && (size_t)n < sizeof text);
        if (SSL_write(tls, text, n) != n)
                die("write");
}

/* Reads the answer to a patch and throws it away; it must be a success. */
static void finish_patch(SSL *tls)
{
        char text[RECEIVE_BYTES];
        size_t size = 0, length = 0, head = 0;

        while (head == 0 || size < head + length) {
                int n = SSL_read(tls, text + size, (int)(sizeof text - 1 - size));
                if (n <= 0)
                        die("answer to a patch");
                size += (size_t)n;
                text[size] = 0;
                const char *end = strstr(text, "\r\n\r\n");
                if (!end || head)
                        continue;
                head = (size_t)(end - text) + 4;
                const char *field = strcasestr(text, "content-length:");
                if (strncmp(text, "HTTP/1.1 200", 12) != 0 || !field) {
                        fprintf(stderr, "api-watchers: patch: %s\n", text);
                        exit(1);
                }
                length = strtoul(field + 15, NULL, 10);
        }
}

/* Counts the ends of events: each is one line of JSON, `}` and a newline. It costs one read of the socket: this program shares the
 * machine with the server, and its own work must not be what is measured. */
static void receive(struct watcher *w)
{
        static char text[RECEIVE_BYTES];

        do {
                int n = SSL_read(w->tls, text, sizeof text);
                if (n <= 0) {
                        if (SSL_get_error(w->tls, n) != SSL_ERROR_WANT_READ)
                                die("a watch has ended");
                        return;
                }
                w->is_open = true;
                for (char *at = text, *end = text + n; (at = memchr(at, '\n', (size_t)(end - at))); at++)
                        w->lines += at > text && at[-1] == '}';
        } while (SSL_has_pending(w->tls));
}

static struct watcher *open_watches(size_t n, char **argv, int poll)
{
        struct watcher *watchers = calloc(n, sizeof *watchers);
        if (!watchers)
                die("memory");
        for (size_t i = 0; i < n; i++) {
                struct watcher *w = &watchers[i];
                w->tls = connect_to(argv[1], argv[2], &w->fd);
                send_request(w->tls, "GET", argv[5], argv[3], "");
                fcntl(w->fd, F_SETFL, O_NONBLOCK);
                struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };
                if (epoll_ctl(poll, EPOLL_CTL_ADD, w->fd, &e) < 0)
                        die("epoll");
        }
        return watchers;
}

/* Waits until each watcher has so many events, or is open for wanted == 0. Returns the time at which the last one came. */
static double await(struct watcher *watchers, size_t n, int poll, size_t wanted)
{
        struct epoll_event events[256];
        size_t left = n;

        for (size_t i = 0; i < n; i++)
                left -= wanted ? watchers[i].lines >= wanted : watchers[i].is_open;
        while (left > 0) {
                int k = epoll_wait(poll, events, 256, WAIT_MS);
                if (k <= 0)
                        die("events do not come");
                for (int i = 0; i < k; i++) {
                        struct watcher *w = events[i].data.ptr;
                        bool was = wanted ? w->lines >= wanted : w->is_open;
                        receive(w);
                        bool is = wanted ? w->lines >= wanted : w->is_open;
                        left -= is && !was;
                }
        }
        return now_ms();
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
        double times[MAX_ROUNDS];

        if (argc != 8) {
                fprintf(stderr, "usage: api-watchers HOST PORT TOKEN WATCHERS WATCH-PATH PATCH-PATH ROUNDS\n");
                return 2;
        }
        size_t n = strtoul(argv[4], NULL, 10), rounds = strtoul(argv[7], NULL, 10);
        assert(rounds > 0 && rounds <= MAX_ROUNDS);
        struct rlimit files;
        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
        context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_read_ahead(context, 1);
        int poll = epoll_create1(EPOLL_CLOEXEC), fd;
        SSL *patch = connect_to(argv[1], argv[2], &fd);
        struct watcher *watchers = open_watches(n, argv, poll);
        await(watchers, n, poll, 0);
        for (size_t r = 0; r < rounds; r++) {
                char body[128];
                snprintf(body, sizeof body, "{\"data\":{\"round\":\"%zu %d\"}}", r, (int)getpid());
                double start = now_ms();
                send_request(patch, "PATCH", argv[6], argv[3], body);
                times[r] = await(watchers, n, poll, r + 1) - start;
                finish_patch(patch);
        }
        qsort(times, rounds, sizeof *times, compare);
        printf("%.2f %.2f\n", times[0], times[rounds / 2]);
        return 0;
}
