/* api-watchers floor WATCHERS BYTES ROUNDS: what no server can avoid. Writes so many plain bytes to each of so many connections, which another
 * process reads, and prints the same times as below.
 *
 * api-watchers HOST PORT TOKEN WATCHERS CONNECTIONS WATCH-PATH PATCH-PATH ROUNDS: opens so many watches over TLS, then patches one object
 * again and again. Prints the time in milliseconds from sending a patch to the last watcher's event: the best and the median of the
 * rounds. With as many connections as watchers, each watch is an HTTP/1.1 request on its own connection. With fewer connections, the
 * watches are spread evenly over them as streams of HTTP/2, as the informers of one client-go program share a connection.
 * bench-apiserver drives it against any server of the Kubernetes API. Certificates are not checked. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
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
        size_t seen; /* 1 when the watch is open, and 1 more for each event */
        char last;   /* the last byte received: an event can be split before its newline */
};

struct connection {
        SSL *tls;
        nghttp2_session *session; /* NULL for HTTP/1.1, which has a single watcher */
        struct watcher *watchers; /* borrowed: a part of all watchers */
        size_t n;
};

static SSL_CTX *context;
static struct {
        size_t wanted; /* the value of `seen` that each watcher must reach */
        size_t left;   /* number of watchers below it */
} goal;

static void fail(const char *what, const char *why)
{
        fprintf(stderr, "api-watchers: %s: %s\n", what, why);
        exit(1);
}

static void die(const char *what)
{
        fail(what, strerror(errno));
}

static double now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die_of_tls(void)
{
        const char *why = ERR_reason_error_string(ERR_peek_error());

        fail("TLS", why ? why : strerror(errno));
}

/* A shared connection speaks HTTP/2, and its read buffer holds the events of many streams. */
static SSL *start_tls(int fd, bool is_shared)
{
        static const unsigned char offer[] = { 2, 'h', '2' };
        const unsigned char *chosen;
        unsigned chosen_bytes;

        SSL *tls = SSL_new(context);
        if (!tls || SSL_set_fd(tls, fd) != 1)
                die_of_tls();
        if (is_shared) {
                SSL_set_alpn_protos(tls, offer, sizeof offer);
                SSL_set_default_read_buffer_len(tls, RECEIVE_BYTES);
        }
        if (SSL_connect(tls) != 1)
                die_of_tls();
        SSL_get0_alpn_selected(tls, &chosen, &chosen_bytes);
        if (is_shared && (chosen_bytes != 2 || memcmp(chosen, "h2", 2) != 0))
                fail("TLS", "the server did not choose HTTP/2 (ALPN h2), which shared connections need");
        return tls;
}

static SSL *connect_to(const char *host, const char *port, bool is_shared)
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
        return start_tls(fd, is_shared);
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
                if (strncmp(text, "HTTP/1.1 200", 12) != 0 || !field)
                        fail("patch", text);
                length = strtoul(field + 15, NULL, 10);
        }
}

static void advance(struct watcher *w, size_t steps)
{
        bool was = w->seen >= goal.wanted;

        w->seen += steps;
        goal.left -= !was && w->seen >= goal.wanted;
}

/* Counts the ends of events: each is one line of JSON, `}` and a newline. */
static void count_events(struct watcher *w, const char *text, size_t n)
{
        const char *end = text + n;
        size_t events = 0;

        for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
                events += (at > text ? at[-1] : w->last) == '}';
        w->last = end[-1];
        advance(w, events);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n_name,
                     const uint8_t *value, size_t n_value, uint8_t flags, void *arg)
{
        (void)n_name, (void)n_value, (void)flags, (void)arg;
        if (strcmp((const char *)name, ":status") != 0)
                return 0;
        if (strcmp((const char *)value, "200") != 0)
                fail("status of a watch", (const char *)value);
        advance(nghttp2_session_get_stream_user_data(session, frame->hd.stream_id), 1);
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t n, void *arg)
{
        (void)flags, (void)arg;
        count_events(nghttp2_session_get_stream_user_data(session, id), (const char *)data, n);
        return 0;
}

static int on_stream_closed(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
        (void)session, (void)id, (void)arg;
        fail("a watch has ended", nghttp2_http2_strerror(code));
        return 0;
}

/* Windows are as large as the protocol allows: flow control never stalls a watch. */
static nghttp2_session *session_new(void)
{
        nghttp2_settings_entry settings[] = {
                { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, INT32_MAX },
                { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        };
        nghttp2_session_callbacks *callbacks;
        nghttp2_session *session;

        if (nghttp2_session_callbacks_new(&callbacks) != 0)
                die("memory");
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_closed);
        if (nghttp2_session_client_new(&session, callbacks, NULL) != 0 ||
            nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
            nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, INT32_MAX) != 0)
                die("memory");
        nghttp2_session_callbacks_del(callbacks);
        return session;
}

static nghttp2_nv header(const char *name, const char *value)
{
        return (nghttp2_nv) { (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static void submit_watch(nghttp2_session *session, struct watcher *w, const char *path, const char *token)
{
        char bearer[4096];
        int n = snprintf(bearer, sizeof bearer, "Bearer %s", token);
        assert(n > 0 && (size_t)n < sizeof bearer);
        nghttp2_nv head[] = {
                header(":method", "GET"), header(":scheme", "https"),      header(":authority", "localhost"),
                header(":path", path),    header("authorization", bearer), header("accept", "application/json"),
        };
        if (nghttp2_submit_request(session, NULL, head, sizeof head / sizeof *head, NULL, w) < 0)
                die("memory");
}

/* Requests and acknowledgements are small, so the socket always takes a frame whole. */
static void send_frames(struct connection *c)
{
        const uint8_t *data;
        ssize_t n;

        while ((n = nghttp2_session_mem_send(c->session, &data)) > 0)
                if (SSL_write(c->tls, data, (int)n) != n)
                        die("write");
        if (n < 0)
                fail("HTTP/2", nghttp2_strerror((int)n));
}

static void receive_frames(struct connection *c, const char *data, size_t n)
{
        ssize_t r = nghttp2_session_mem_recv(c->session, (const uint8_t *)data, n);
        if (r < 0)
                fail("HTTP/2", nghttp2_strerror((int)r));
}

/* Costs one read of the socket, as a rule: this program shares the machine with the server, and its own work must not be what is measured. */
static void receive(struct connection *c)
{
        static char text[RECEIVE_BYTES];

        do {
                int n = SSL_read(c->tls, text, sizeof text);
                if (n <= 0) {
                        if (SSL_get_error(c->tls, n) != SSL_ERROR_WANT_READ)
                                die("a watch has ended");
                        break;
                }
                if (c->session) {
                        receive_frames(c, text, (size_t)n);
                        continue;
                }
                advance(c->watchers, c->watchers->seen == 0);
                count_events(c->watchers, text, (size_t)n);
        } while (SSL_has_pending(c->tls));
        if (c->session)
                send_frames(c);
}

static void request_watches(struct connection *c, const char *path, const char *token)
{
        if (!c->session) {
                send_request(c->tls, "GET", path, token, "");
                return;
        }
        for (size_t i = 0; i < c->n; i++)
                submit_watch(c->session, &c->watchers[i], path, token);
        send_frames(c);
}

static void open_watches(struct watcher *watchers, size_t n, size_t n_connections, char **argv, int poll)
{
        struct connection *connections = calloc(n_connections, sizeof *connections);
        bool is_shared = n_connections != n;

        if (!connections)
                die("memory");
        for (size_t i = 0; i < n_connections; i++) {
                struct connection *c = &connections[i];
                size_t first = i * n / n_connections;
                c->watchers = watchers + first;
                c->n = (i + 1) * n / n_connections - first;
                c->tls = connect_to(argv[1], argv[2], is_shared);
                c->session = is_shared ? session_new() : NULL;
                request_watches(c, argv[6], argv[3]);
                fcntl(SSL_get_fd(c->tls), F_SETFL, O_NONBLOCK);
                struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };
                if (epoll_ctl(poll, EPOLL_CTL_ADD, SSL_get_fd(c->tls), &e) < 0)
                        die("epoll");
        }
}

/* Waits until each watcher's `seen` is at least `wanted`. Returns the time at which the last watcher got there. */
static double await(const struct watcher *watchers, size_t n, int poll, size_t wanted)
{
        struct epoll_event events[256];

        goal.wanted = wanted;
        goal.left = n;
        for (size_t i = 0; i < n; i++)
                goal.left -= watchers[i].seen >= wanted;
        while (goal.left > 0) {
                int k = epoll_wait(poll, events, 256, WAIT_MS);
                if (k <= 0)
                        die("events do not come");
                for (int i = 0; i < k; i++)
                        receive(events[i].data.ptr);
        }
        return now_ms();
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static void print_times(double *times, size_t rounds)
{
        qsort(times, rounds, sizeof *times, compare);
        printf("%.2f %.2f\n", times[0], times[rounds / 2]);
}

/* --- The floor --- */

/* The child: connects n times, reads `bytes` from each connection in each round, and reports each round by a byte. */
static void read_rounds(const struct sockaddr_in *to, size_t n, size_t bytes, size_t rounds, int report)
{
        struct epoll_event events[256];
        char text[RECEIVE_BYTES];
        int poll = epoll_create1(EPOLL_CLOEXEC);

        for (size_t i = 0; i < n; i++) {
                int fd = socket(AF_INET, SOCK_STREAM, 0);
                struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
                if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 ||
                    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) < 0)
                        die("connect");
        }
        for (size_t r = 0; r < rounds; r++) {
                for (size_t left = n * bytes; left > 0;) {
                        int k = epoll_wait(poll, events, 256, WAIT_MS);
                        for (int i = 0; i < k; i++) {
                                ssize_t got = read(events[i].data.fd, text, sizeof text);
                                if (got <= 0)
                                        die("read");
                                left -= (size_t)got;
                        }
                }
                if (write(report, "", 1) != 1)
                        die("report");
        }
}

static void accept_all(int listening, int *fds, size_t n)
{
        int one = 1;

        for (size_t i = 0; i < n; i++) {
                fds[i] = accept(listening, NULL, NULL);
                if (fds[i] < 0)
                        die("accept");
                setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        }
}

static void write_rounds(const int *fds, size_t n, size_t bytes, size_t rounds, int report, double *times)
{
        char *text = calloc(1, bytes), done;

        if (!text)
                die("memory");
        for (size_t r = 0; r < rounds; r++) {
                double start = now_ms();
                for (size_t i = 0; i < n; i++)
                        if (write(fds[i], text, bytes) != (ssize_t)bytes)
                                die("write");
                if (read(report, &done, 1) != 1)
                        die("report");
                times[r] = now_ms() - start;
        }
        free(text);
}

static void measure_floor(size_t n, size_t bytes, size_t rounds, double *times)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof at;
        int listening = socket(AF_INET, SOCK_STREAM, 0), report[2], *fds = calloc(n, sizeof *fds);

        if (!fds || listening < 0 || pipe(report) < 0 || bind(listening, (struct sockaddr *)&at, sizeof at) < 0 ||
            listen(listening, SOMAXCONN) < 0 || getsockname(listening, (struct sockaddr *)&at, &size) < 0)
                die("listen");
        pid_t child = fork();
        if (child < 0)
                die("fork");
        if (child == 0) {
                read_rounds(&at, n, bytes, rounds, report[1]);
                _exit(0);
        }
        close(report[1]);
        accept_all(listening, fds, n);
        write_rounds(fds, n, bytes, rounds, report[0], times);
}

static void raise_descriptor_limit(void)
{
        struct rlimit files;

        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
        double times[MAX_ROUNDS];
        bool is_floor = argc == 5 && strcmp(argv[1], "floor") == 0;

        if (argc != 9 && !is_floor) {
                fprintf(stderr,
                        "usage: api-watchers HOST PORT TOKEN WATCHERS CONNECTIONS WATCH-PATH PATCH-PATH ROUNDS\n"
                        "       api-watchers floor WATCHERS BYTES ROUNDS\n");
                return 2;
        }
        size_t rounds = strtoul(argv[argc - 1], NULL, 10);
        assert(rounds > 0 && rounds <= MAX_ROUNDS);
        raise_descriptor_limit();
        if (is_floor) {
                measure_floor(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), rounds, times);
                print_times(times, rounds);
                return 0;
        }
        size_t n = strtoul(argv[4], NULL, 10), n_connections = strtoul(argv[5], NULL, 10);
        assert(n_connections > 0 && n_connections <= n);
        context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_read_ahead(context, 1);
        int poll = epoll_create1(EPOLL_CLOEXEC);
        SSL *patch = connect_to(argv[1], argv[2], false);
        struct watcher *watchers = calloc(n, sizeof *watchers);
        if (!watchers)
                die("memory");
        open_watches(watchers, n, n_connections, argv, poll);
        await(watchers, n, poll, 1);
        for (size_t r = 0; r < rounds; r++) {
                char body[128];
                snprintf(body, sizeof body, "{\"data\":{\"round\":\"%zu %d\"}}", r, (int)getpid());
                double start = now_ms();
                send_request(patch, "PATCH", argv[7], argv[3], body);
                times[r] = await(watchers, n, poll, r + 2) - start;
                finish_patch(patch);
        }
        print_times(times, rounds);
        return 0;
}
