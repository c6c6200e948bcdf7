#include "server.h"

#include "budget.h"
#include "buf.h"
#include "clock.h"
#include "connection.h"
#include "limits.h"
#include "log.h"
#include "loop.h"
#include "stream.h"
#include "timetext.h"
#include "tls.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 1024

/* Connections that a loop accepts in one turn. The others wait for the next turn, so that a flood of connections does not keep the loop
 * from those that are there: one whose handshake takes too many turns would have to give way to newer ones. */
#define TURN_CONNECTIONS 64

/* At most one in FRESH_PART connections may be one that has not finished a request yet. */
#define FRESH_PART 2

/* Connections that are being closed may exceed the limit by one in LEAVING_PART, at least by MIN_LEAVING. */
#define LEAVING_PART 8
#define MIN_LEAVING  16

/* The shortest interval between two log lines about replaced connections. */
#define TELL_NS (60 * NS_PER_SECOND)

/* Free memory returns to the system after a burst: when TRIM_BYTES of it, or the memory of TRIM_CONNECTIONS connections, became
 * free. */
#define TRIM_MS          1000
#define TRIM_BYTES       (8u << 20)
#define TRIM_CONNECTIONS 128

/* Descriptors that are reserved for other uses than connections. */
#define OTHER_DESCRIPTORS 64
#define PREFACE           STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

/* Idle connections, the longest idle first. */
struct idle_list {
        struct client *first, *last;
};

/* One loop of the server with its listening socket. */
struct lane {
        struct http_server *server;
        struct loop *loop;
        union {
                uv_handle_t handle;
                uv_stream_t stream;
                uv_tcp_t tcp;
                uv_pipe_t pipe;
        } listening;
        struct client *clients;  /* this and all below: loop thread only */
        struct loop_flush turn;  /* marked in turns that accept connections */
        unsigned n_turn;         /* accepted in this turn */
        bool has_waiting;        /* a connection waits for the next turn; the library takes no further one meanwhile */
        struct idle_list fresh;  /* idle connections that have not finished a request yet */
        struct idle_list proven; /* idle connections that have finished one */
        size_t n_clients, most_clients;
        uv_timer_t trim_timer;
        uv_work_t trim;
        bool is_trimming;
        bool is_listening;
};

/* A connection: first a stream whose protocol is not known yet, then an HTTP connection. Loop thread only. */
struct client {
        struct lane *lane;
        struct client *next, *prev;
        struct stream *stream; /* until http is set */
        struct http_connection *http;
        uv_timer_t timer;       /* limits the wait for the first bytes */
        struct idle_list *idle; /* the list that holds it; NULL: it has exchanges, or is leaving */
        struct client *next_idle, *prev_idle;
        int64_t idle_ns;                     /* when it became idle */
        struct arena arena;                  /* of the identity */
        const struct tls_identity *identity; /* NULL: the peer sent no certificate */
        bool is_proven;                      /* this connection has finished a request */
        bool is_leaving;                     /* it is being closed for a new connection */
        bool is_timer_closed;
        bool is_gone;   /* on_closed was called */
        char first[24]; /* first bytes of a plain connection, up to the length of the preface */
        size_t n_first;
};

struct http_server {
        struct http_server_options options;
        struct address address;
        struct lane *lanes;
        unsigned n_lanes;
        char *unix_path; /* the socket file to remove at the end, or NULL */

        struct mutex mutex; /* guards all below */
        struct http_server_stats stats;
        size_t n_fresh;   /* connections that have finished no request and are not leaving */
        size_t n_leaving; /* connections that are leaving */
        int64_t told_ns;  /* when the last log line was written; 0: never */
        unsigned n_listening;
        struct waiters waiters; /* threads that wait for the last connection to close */
        bool is_draining;
};

/* Counting */

static bool is_drained(const struct http_server *s)
{
        return s->is_draining && s->n_listening == 0 && s->stats.n_connections == 0;
}

static void wake_if_drained(struct http_server *s)
{
        if (is_drained(s))
                while (waiters_grant(&s->waiters))
                        ;
}

/* How a new connection gets its place. */
enum place {
        PLACE_FREE,
        PLACE_OF_FRESH, /* an idle connection that has not finished a request is closed for it */
        PLACE_OF_IDLE,  /* the longest idle connection is closed for it */
        PLACE_NONE,
        PLACE_CLOSED, /* the server is draining */
};

static enum place find_place(const struct http_server *s)
{
        size_t max = s->options.max_connections;

        if (s->is_draining)
                return PLACE_CLOSED;
        if (s->stats.n_connections >= max + MAX(max / LEAVING_PART, (size_t)MIN_LEAVING))
                return PLACE_NONE;
        if (s->n_fresh >= MAX(max / FRESH_PART, (size_t)1) && max > 1)
                return PLACE_OF_FRESH;
        return s->stats.n_connections - s->n_leaving >= max ? PLACE_OF_IDLE : PLACE_FREE;
}

/* Counts the new connection until it is closed, even if it will be refused. */
static enum place count_connection(struct http_server *s)
{
        enum place place;

        mutex_lock(&s->mutex);
        place = find_place(s);
        s->stats.n_connections++;
        s->n_fresh++;
        mutex_unlock(&s->mutex);
        return place;
}

static void count_outcome(struct http_server *s, bool is_accepted)
{
        mutex_lock(&s->mutex);
        if (is_accepted)
                s->stats.n_accepted++;
        else
                s->stats.n_refused++;
        mutex_unlock(&s->mutex);
}

/* True at most once per TELL_NS. */
static bool should_tell(struct http_server *s)
{
        int64_t now_ns = clock_mono_ns();
        bool is_time;

        mutex_lock(&s->mutex);
        is_time = s->told_ns == 0 || now_ns - s->told_ns > TELL_NS;
        s->told_ns = is_time ? now_ns : s->told_ns;
        mutex_unlock(&s->mutex);
        return is_time;
}

static void uncount_connection(struct http_server *s, const struct client *c)
{
        mutex_lock(&s->mutex);
        s->stats.n_connections--;
        s->n_fresh -= !c->is_proven && !c->is_leaving;
        s->n_leaving -= c->is_leaving;
        s->stats.n_yielded += c->is_leaving;
        wake_if_drained(s);
        mutex_unlock(&s->mutex);
}

struct http_server_stats http_server_stats(struct http_server *s)
{
        struct http_server_stats stats;

        mutex_lock(&s->mutex);
        stats = s->stats;
        mutex_unlock(&s->mutex);
        return stats;
}

/* Idle connections */

static void leave_idle(struct client *c)
{
        struct idle_list *list = c->idle;

        if (!list)
                return;
        *(c->prev_idle ? &c->prev_idle->next_idle : &list->first) = c->next_idle;
        *(c->next_idle ? &c->next_idle->prev_idle : &list->last) = c->prev_idle;
        c->idle = NULL;
}

static void join_idle(struct client *c)
{
        struct idle_list *list = c->is_proven ? &c->lane->proven : &c->lane->fresh;

        if (c->idle || c->is_leaving)
                return;
        c->idle = list;
        c->next_idle = NULL;
        c->prev_idle = list->last;
        c->idle_ns = clock_mono_ns();
        *(list->last ? &list->last->next_idle : &list->first) = c;
        list->last = c;
}

static void become_proven(struct client *c)
{
        struct http_server *s = c->lane->server;

        c->is_proven = true;
        mutex_lock(&s->mutex);
        s->n_fresh -= !c->is_leaving;
        mutex_unlock(&s->mutex);
}

static void on_http_ended(struct http_connection *http, bool has_answered)
{
        struct client *c = http_connection_owner(http);

        if (has_answered && !c->is_proven)
                become_proven(c);
        if (http_connection_count(http) == 0)
                join_idle(c);
}

static struct client *longest_idle(struct lane *lane, enum place place)
{
        struct client *fresh = lane->fresh.first, *proven = lane->proven.first;

        if (place == PLACE_OF_FRESH || !proven || !fresh)
                return place == PLACE_OF_FRESH || !proven ? fresh : proven;
        return fresh->idle_ns <= proven->idle_ns ? fresh : proven;
}

static void give_way(struct client *c)
{
        struct http_server *s = c->lane->server;

        leave_idle(c);
        mutex_lock(&s->mutex);
        s->n_fresh -= !c->is_proven;
        s->n_leaving++;
        mutex_unlock(&s->mutex);
        c->is_leaving = true;
        if (c->http)
                http_connection_give_way(c->http);
        else
                stream_close(c->stream, NULL);
}

/* Makes place for a new connection; false when that is not possible. */
static bool make_place(struct lane *lane, enum place place)
{
        struct http_server *s = lane->server;
        struct client *c = place == PLACE_NONE ? NULL : longest_idle(lane, place);

        if (place == PLACE_FREE || place == PLACE_CLOSED)
                return place == PLACE_FREE;
        if (should_tell(s))
                log_warn(c ? "too many connections: idle connections give way to new ones"
                           : "too many connections: new connections are refused",
                         LOG_UINT("limit", s->options.max_connections));
        if (!c)
                return false;
        give_way(c);
        return true;
}

/* Memory */

static void trim(uv_work_t *w)
{
        (void)w;
        memory_trim();
}

static void on_trimmed(uv_work_t *w, int status)
{
        struct lane *lane = w->data;

        (void)status;
        lane->is_trimming = false;
}

static bool has_much_to_trim(struct lane *lane)
{
        struct budget *b = lane->server->options.budget;

        return (b && budget_has_fallen(b, TRIM_BYTES)) || lane->most_clients - lane->n_clients >= TRIM_CONNECTIONS;
}

/* Whether trimming may become useful later. */
static bool may_have_to_trim(struct lane *lane)
{
        struct budget *b = lane->server->options.budget;

        return (b && atomic_load_explicit(&b->peak_bytes, memory_order_relaxed) >= TRIM_BYTES) ||
               lane->most_clients >= TRIM_CONNECTIONS;
}

/* Trimming scans the heap and takes a while, so another thread does it. */
static void on_trim_time(uv_timer_t *t)
{
        struct lane *lane = t->data;

        if (!lane->is_trimming && has_much_to_trim(lane)) {
                if (lane->server->options.budget)
                        budget_reset_peak(lane->server->options.budget);
                lane->most_clients = lane->n_clients;
                lane->is_trimming = uv_queue_work(loop_uv(lane->loop), &lane->trim, trim, on_trimmed) == 0;
        }
        if (!may_have_to_trim(lane))
                uv_timer_stop(t);
}

static void watch_memory(struct lane *lane)
{
        if (!uv_is_active((uv_handle_t *)&lane->trim_timer) && !uv_is_closing((uv_handle_t *)&lane->trim_timer))
                uv_timer_start(&lane->trim_timer, on_trim_time, TRIM_MS, TRIM_MS);
}

/* Connections */

static void free_client(struct client *c)
{
        struct lane *lane = c->lane;

        if (!c->is_gone || !c->is_timer_closed)
                return;
        if (c->prev)
                c->prev->next = c->next;
        else
                lane->clients = c->next;
        if (c->next)
                c->next->prev = c->prev;
        lane->n_clients--;
        uncount_connection(lane->server, c);
        arena_done(&c->arena);
        free(c);
}

static void on_timer_closed(uv_handle_t *t)
{
        struct client *c = t->data;

        c->is_timer_closed = true;
        free_client(c);
}

static void stop_timer(struct client *c)
{
        if (!uv_is_closing((uv_handle_t *)&c->timer))
                uv_close((uv_handle_t *)&c->timer, on_timer_closed);
}

static void client_is_gone(struct client *c, const struct err *err)
{
        if (err)
                log_debug("connection ended", LOG_ERR("error", err));
        c->is_gone = true;
        leave_idle(c);
        stop_timer(c);
        free_client(c);
}

static void on_request(struct http_connection *http, struct exchange *ex)
{
        struct client *c = http_connection_owner(http);
        const struct http_server_options *o = &c->lane->server->options;

        leave_idle(c);
        watch_memory(c->lane);
        if (c->identity)
                ex->identity = tls_identity_copy(c->identity, &ex->arena);
        o->on_request(o->context, ex);
}

static void on_http_drain(struct http_connection *http)
{
        (void)http; /* nothing to do: the connection closes when its exchanges are done */
}

static void on_http_closed(struct http_connection *http, const struct err *err)
{
        client_is_gone(http_connection_owner(http), err);
}

static const struct http_connection_callbacks http_callbacks = {
        .on_request = on_request,
        .on_drain = on_http_drain,
        .on_ended = on_http_ended,
        .on_closed = on_http_closed,
};

static void speak(struct client *c, bool is_h2)
{
        const struct http_server_options *o = &c->lane->server->options;
        struct http_connection_options options = {
                .is_server = true,
                .max_exchanges = o->max_exchanges,
                .max_head_bytes = o->max_head_bytes,
                .window_bytes = o->window_bytes,
                .head_ms = o->handshake_ms,
                .stall_ms = o->stall_ms,
                .idle_ms = o->idle_ms,
                .keepalive_ms = o->keepalive_ms,
        };
        struct stream *s = c->stream;

        stop_timer(c);
        c->stream = NULL;
        c->http = is_h2 ? h2_connection_new(s, &options, &http_callbacks, c)
                        : h1_connection_new(s, &options, &http_callbacks, c);
}

static void refuse(struct client *c, const char *why)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "%s", why);
        stream_close(c->stream, &err);
}

static void on_open(struct stream *s)
{
        struct client *c = stream_owner(s);
        struct str protocol = stream_protocol(s);

        c->identity = stream_peer_identity(s, &c->arena);
        if (str_equal(protocol, STR("h2")))
                speak(c, true);
        else if (str_equal(protocol, STR("http/1.1")))
                speak(c, false);
        /* Without ALPN, the first bytes show the protocol. */
}

/* Plain text: HTTP/2 begins with its preface, anything else is HTTP/1.1. */
static void on_first_data(struct stream *s, struct str data)
{
        struct client *c = stream_owner(s);
        size_t part = MIN(data.n, sizeof(c->first) - c->n_first);
        struct str first;
        bool is_h2;

        memcpy(c->first + c->n_first, data.p, part);
        c->n_first += part;
        first = str_make(c->first, c->n_first);
        is_h2 = str_starts_with(PREFACE, first);
        if (is_h2 && c->n_first < PREFACE.n)
                return;
        if (!is_h2 && c->lane->server->options.refuses_http1) {
                refuse(c, "the peer does not speak HTTP/2");
                return;
        }
        speak(c, is_h2);
        http_connection_input(c->http, first);
        if (data.n > part)
                http_connection_input(c->http, str_skip(data, part));
}

static void on_first_end(struct stream *s)
{
        stream_close(s, NULL);
}

static void on_first_closed(struct stream *s, const struct err *err)
{
        client_is_gone(stream_owner(s), err);
}

static const struct stream_callbacks first_callbacks = {
        .on_open = on_open,
        .on_data = on_first_data,
        .on_end = on_first_end,
        .on_closed = on_first_closed,
};

static void on_silence(uv_timer_t *t)
{
        struct client *c = t->data;

        refuse(c, "the peer says nothing");
}

static void add_client(struct lane *lane, bool has_place)
{
        struct http_server *s = lane->server;
        struct client *c = xcalloc(1, sizeof(*c));

        c->lane = lane;
        arena_init_pieces(&c->arena, "identity of a peer", 0);
        c->next = lane->clients;
        if (c->next)
                c->next->prev = c;
        lane->clients = c;
        lane->most_clients = MAX(lane->most_clients, ++lane->n_clients);
        watch_memory(lane);
        join_idle(c);
        uv_timer_init(loop_uv(lane->loop), &c->timer);
        c->timer.data = c;
        uv_timer_start(&c->timer, on_silence, (uint64_t)s->options.handshake_ms, 0);
        c->stream = stream_accept(lane->loop, &lane->listening.stream, has_place ? s->options.tls : NULL,
                                  s->options.handshake_ms, &first_callbacks, c);
        if (!has_place && c->stream)
                refuse(c, "there are too many connections");
}

static void accept_connection(struct lane *lane)
{
        bool has_place = make_place(lane, count_connection(lane->server));

        loop_mark(lane->loop, &lane->turn);
        lane->n_turn++;
        count_outcome(lane->server, has_place);
        add_client(lane, has_place);
}

static void on_connection(uv_stream_t *listening, int status)
{
        struct lane *lane = listening->data;
        _cleanup_err_ struct err err = { 0 };

        if (status < 0) {
                net_error(&err, status, "cannot accept a connection");
                log_error("cannot accept a connection", LOG_ERR("error", &err));
        } else if (lane->n_turn < TURN_CONNECTIONS) {
                accept_connection(lane);
        } else {
                lane->has_waiting = true;
        }
}

/* At the end of a turn that accepted connections. */
static void on_turn(struct loop_flush *f)
{
        struct lane *lane = CONTAINER_OF(f, struct lane, turn);

        lane->n_turn = 0;
        if (!lane->has_waiting)
                return;
        lane->has_waiting = false;
        if (lane->is_listening)
                accept_connection(lane);
}

/* Listening */

static void share_port(int fd)
{
        int on = 1;

        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
}

/* The loops of a server share its port. The first socket is bound before it may share: so it fails if another server has the port,
 * which would otherwise get a part of the connections. */
static int bind_socket(struct http_server *s, const struct lane *lane, int *ret, struct err *err)
{
        const struct address *a = &s->address;
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_close_ int fd = -1;
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        const struct sockaddr *to = &a->any;
        socklen_t n = a->any.sa_family == AF_INET ? sizeof(a->ip4) : sizeof(a->ip6);
        int on = 1;

        address_append(&text, a);
        if (a->n_unix_name > 0) {
                memcpy(name.sun_path, a->unix_name, a->n_unix_name);
                to = (const struct sockaddr *)&name;
                n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + a->n_unix_name);
        }
        fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot listen at %s", buf_cstring(&text));
        if (a->n_unix_name == 0)
                setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (lane != s->lanes)
                share_port(fd);
        /* Set the mode before bind: the socket file takes it over, so that other users can never connect. */
        if (a->n_unix_name > 0 && a->unix_name[0] && fchmod(fd, 0600) < 0)
                return err_set_errno(err, errno, "cannot listen at %s", buf_cstring(&text));
        if (bind(fd, to, n) < 0)
                return err_set_errno(err, errno, "cannot listen at %s", buf_cstring(&text));
        if (lane == s->lanes && s->n_lanes > 1)
                share_port(fd);
        *ret = TAKE_FD(fd);
        return 0;
}

/* Removes a socket file that a dead process left behind: connecting to it is refused. Only sockets are removed, because connecting
 * to a file of another kind is refused as well. */
static void remove_stale_file(const struct address *a)
{
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct stat st;

        memcpy(name.sun_path, a->unix_name, a->n_unix_name);
        if (lstat(name.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
                return;
        if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof(name)) < 0 && errno == ECONNREFUSED)
                unlink(name.sun_path);
}

/* Reads the port that the system chose. */
static void learn_address(struct http_server *s, int fd)
{
        struct address real = { 0 };
        socklen_t n = sizeof(real.ip6);

        if (s->address.n_unix_name == 0 && getsockname(fd, &real.any, &n) == 0)
                s->address = real;
}

struct listen {
        struct lane *lane;
        int fd;
        int status;
};

static void start_listening(void *arg)
{
        struct listen *l = arg;
        struct lane *lane = l->lane;

        uv_timer_init(loop_uv(lane->loop), &lane->trim_timer);
        lane->trim_timer.data = lane->trim.data = lane;
        if (lane->server->address.n_unix_name > 0) {
                uv_pipe_init(loop_uv(lane->loop), &lane->listening.pipe, 0);
                l->status = uv_pipe_open(&lane->listening.pipe, l->fd);
        } else {
                uv_tcp_init(loop_uv(lane->loop), &lane->listening.tcp);
                l->status = uv_tcp_open(&lane->listening.tcp, l->fd);
        }
        lane->listening.handle.data = lane;
        lane->turn.flush = on_turn;
        lane->is_listening = true;
        if (l->status >= 0)
                l->status = uv_listen(&lane->listening.stream, BACKLOG, on_connection);
        else
                close(l->fd);
}

static int open_lane(struct http_server *s, struct lane *lane, struct err *err)
{
        struct listen l = { .lane = lane, .fd = -1 };
        int r;

        lane->server = s;
        r = bind_socket(s, lane, &l.fd, err);
        if (r < 0)
                return r;
        learn_address(s, l.fd);
        r = loop_new("http", &lane->loop, err);
        if (r < 0) {
                close(l.fd);
                return r;
        }
        loop_call(lane->loop, start_listening, &l);
        mutex_lock(&s->mutex);
        s->n_listening++;
        mutex_unlock(&s->mutex);
        if (l.status < 0)
                return net_error(err, l.status, "cannot listen");
        return 0;
}

/* The most connections for which there are descriptors, with room for connections that are being closed. */
static uint32_t default_connections(void)
{
        struct rlimit limit;
        uint64_t descriptors;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
                return LIMIT_CONNECTIONS;
        descriptors = limit.rlim_cur > OTHER_DESCRIPTORS ? limit.rlim_cur - OTHER_DESCRIPTORS : 1;
        return (uint32_t)MAX(MIN(descriptors * LEAVING_PART / (LEAVING_PART + 1), (uint64_t)LIMIT_CONNECTIONS), 1u);
}

static void set_defaults(struct http_server_options *o)
{
        o->n_loops = o->n_loops && !o->address.n_unix_name ? o->n_loops : 1;
        o->max_connections = o->max_connections ? o->max_connections : default_connections();
        o->max_exchanges = o->max_exchanges ? o->max_exchanges : LIMIT_EXCHANGES;
        o->max_head_bytes = o->max_head_bytes ? o->max_head_bytes : LIMIT_HEAD_BYTES;
        o->window_bytes = o->window_bytes ? o->window_bytes : LIMIT_WINDOW_BYTES;
        o->handshake_ms = o->handshake_ms ? o->handshake_ms : 10000;
        o->stall_ms = o->stall_ms ? o->stall_ms : 30000;
        o->idle_ms = o->idle_ms ? o->idle_ms : 300000;
        o->keepalive_ms = o->keepalive_ms ? o->keepalive_ms : 120000;
}

int http_server_new(const struct http_server_options *options, struct http_server **ret, struct err *err)
{
        struct http_server *s = xcalloc(1, sizeof(*s));
        int r = 0;

        s->options = *options;
        set_defaults(&s->options);
        if (s->options.tls)
                tls_config_ref(s->options.tls);
        s->address = options->address;
        mutex_init(&s->mutex);
        s->lanes = xcalloc(s->options.n_loops, sizeof(*s->lanes));
        if (s->address.n_unix_name > 0 && s->address.unix_name[0]) {
                remove_stale_file(&s->address);
                s->unix_path = str_to_cstring(str_make(s->address.unix_name, s->address.n_unix_name));
        }
        s->n_lanes = s->options.n_loops;
        for (unsigned i = 0; i < s->n_lanes && r >= 0; i++)
                r = open_lane(s, &s->lanes[i], err);
        if (r < 0) {
                if (s->lanes[0].loop == NULL) { /* the socket file belongs to another process */
                        free(s->unix_path);
                        s->unix_path = NULL;
                }
                http_server_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct address http_server_address(const struct http_server *s)
{
        return s->address;
}

/* The end */

static void on_listening_closed(uv_handle_t *h)
{
        struct lane *lane = h->data;
        struct http_server *s = lane->server;

        mutex_lock(&s->mutex);
        s->n_listening--;
        wake_if_drained(s);
        mutex_unlock(&s->mutex);
}

static void stop_listening(struct lane *lane)
{
        if (!lane->is_listening)
                return;
        lane->is_listening = false;
        uv_close(&lane->listening.handle, on_listening_closed);
}

static void drain_lane(void *arg)
{
        struct lane *lane = arg;

        stop_listening(lane);
        for (struct client *c = lane->clients; c; c = c->next) {
                if (c->http)
                        http_connection_drain(c->http);
                else if (!c->is_gone)
                        stream_close(c->stream, NULL);
        }
}

static void close_lane(void *arg)
{
        struct lane *lane = arg;

        stop_listening(lane);
        if (!uv_is_closing((uv_handle_t *)&lane->trim_timer))
                uv_close((uv_handle_t *)&lane->trim_timer, NULL);
        for (struct client *c = lane->clients; c; c = c->next) {
                if (c->is_gone)
                        continue;
                if (c->http)
                        http_connection_close(c->http, NULL);
                else
                        stream_close(c->stream, NULL);
        }
}

void http_server_drain(struct http_server *s)
{
        bool was_draining;

        mutex_lock(&s->mutex);
        was_draining = s->is_draining;
        s->is_draining = true;
        mutex_unlock(&s->mutex);
        for (unsigned i = 0; i < s->n_lanes && !was_draining; i++)
                if (s->lanes[i].loop)
                        loop_call(s->lanes[i].loop, drain_lane, &s->lanes[i]);
}

int http_server_wait(struct http_server *s, struct deadline deadline, struct cancel *cancel)
{
        struct waiter w;
        int r = 0;

        mutex_lock(&s->mutex);
        if (!is_drained(s)) {
                waiters_append(&s->waiters, &w);
                r = waiters_wait(&s->waiters, &w, &s->mutex, "drain", "HTTP server", deadline, cancel);
        }
        mutex_unlock(&s->mutex);
        return r;
}

void http_server_close(struct http_server *s)
{
        http_server_drain(s);
        for (unsigned i = 0; i < s->n_lanes; i++)
                if (s->lanes[i].loop)
                        loop_call(s->lanes[i].loop, close_lane, &s->lanes[i]);
}

void http_server_free(struct http_server *s)
{
        if (!s)
                return;
        http_server_close(s);
        for (unsigned i = 0; i < s->n_lanes; i++)
                loop_free(s->lanes[i].loop);
        if (s->unix_path)
                unlink(s->unix_path);
        free(s->unix_path);
        free(s->lanes);
        tls_config_unref(s->options.tls);
        mutex_done(&s->mutex);
        free(s);
}
