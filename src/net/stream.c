#include "stream.h"

#include "arena.h"
#include "buf.h"
#include "dialer.h"
#include "limits.h"
#include "tls-records.h"
#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/un.h>
#include <unistd.h>

/* Pieces of at least this size are kept by reference instead of copied. */
#define REFERENCE_BYTES (16u << 10)

/* How long the peer may take to close after our last output. */
#define LINGER_MS 1000

/* TCP keepalive: after this much silence the system probes the peer. It detects lost peers for owners that neither send nor
 * ping. */
#define KEEPALIVE_S 60

/* How much output memory an idle connection keeps. */
#define KEEP_BYTES (16u << 10)

/* The most pieces in one write. */
#define WRITE_PIECES 64

/* How much output is encrypted ahead of the kernel: encrypted bytes belong to one stream, plain pieces may be shared by many. */
#define ENCRYPTED_BYTES (64u << 10)

#define MAX_TUNNEL_BYTES (16u << 10) /* of a proxy's answer */

enum state {
        STATE_CONNECTING,
        STATE_TUNNELING, /* the proxy has not answered yet */
        STATE_SHAKING_HANDS,
        STATE_OPEN,
        STATE_FINISHING, /* the owner is done; queued output is still sent */
        STATE_LINGERING, /* all output is sent; input is discarded until the peer closes too */
        STATE_CLOSING,   /* handles are being closed; on_closed follows */
};

/* A dial that another thread does. */
struct dialing {
        uv_work_t work;
        struct dialer *dialer;
        int fd;
        struct err err;
};

struct stream {
        struct loop *loop;
        enum state state;
        union {
                uv_handle_t handle;
                uv_stream_t uv;
                uv_tcp_t tcp;
                uv_pipe_t pipe;
        };
        uv_timer_t timer; /* limits connecting and the handshake, later finishing */
        uv_connect_t connect;
        uv_write_t write;
        uv_shutdown_t shutdown;
        struct loop_flush flush;
        const struct stream_callbacks *callbacks;
        void *owner;
        struct err err;
        struct tls_records tls;
        struct dialing *dialing; /* NULL: none is under way */
        struct buf tunnel;       /* the head for a proxy, later its answer; empty: there is no proxy */

        int64_t timeout_ms;
        int outcome;        /* of a connect that ended at once; on_outcome reports it */
        unsigned n_closing; /* handles whose close has not been confirmed */
        bool is_accepted;
        bool has_peer_ended;
        bool is_writing;
        bool is_paused;
        bool wants_flush;

        /* Output, in order: pieces, then tail. The first n_in_flight pieces are being written. */
        VEC(struct piece) pieces;
        struct buf tail;
        size_t pieces_bytes;
        uint64_t sent_bytes;
        uint64_t told_bytes; /* the part of them that on_sent has reported */
        size_t n_in_flight;
};

static void pump(struct stream *s);

/* Closing */

static void free_stream(struct stream *s)
{
        for (size_t i = 0; i < s->pieces.n; i++)
                bytes_unref(s->pieces.p[i].bytes);
        vec_done(&s->pieces);
        tls_records_done(&s->tls);
        buf_done(&s->tail);
        buf_done(&s->tunnel);
        err_done(&s->err);
        free(s);
}

static void finish_closing(struct stream *s)
{
        if (--s->n_closing > 0)
                return;
        s->callbacks->on_closed(s, s->err.code ? &s->err : NULL);
        free_stream(s);
}

static void on_handle_closed(uv_handle_t *h)
{
        finish_closing(h->data);
}

static void begin_close(struct stream *s)
{
        if (s->state == STATE_CLOSING)
                return;
        s->state = STATE_CLOSING;
        loop_unmark(s->loop, &s->flush);
        s->n_closing = s->dialing ? 3 : 2;
        uv_close(&s->handle, on_handle_closed);
        uv_close((uv_handle_t *)&s->timer, on_handle_closed);
}

/* Closes with the error, which is moved; an error while the stream is already closing is ignored. */
static void fail(struct stream *s, struct err *err)
{
        if (s->state != STATE_CLOSING)
                err_move(&s->err, err);
        begin_close(s);
}

void stream_close(struct stream *s, const struct err *err)
{
        if (s->state == STATE_CLOSING)
                return;
        if (err && err->code)
                err_copy(&s->err, err);
        begin_close(s);
}

static void on_timeout(uv_timer_t *t)
{
        struct stream *s = t->data;
        _cleanup_err_ struct err err = { 0 };

        if (s->state == STATE_FINISHING || s->state == STATE_LINGERING) {
                begin_close(s);
                return;
        }
        err_set(&err, ERR_TIMEOUT, "%s within %lld ms",
                s->state == STATE_CONNECTING ? "no connection" : "no TLS handshake", (long long)s->timeout_ms);
        fail(s, &err);
}

/* Output */

/* The output that the kernel can take now. */
static size_t ready_bytes(const struct stream *s)
{
        return s->pieces_bytes + s->tail.n;
}

size_t stream_queued_bytes(const struct stream *s)
{
        return ready_bytes(s) + s->tls.plain_bytes;
}

size_t stream_held_bytes(const struct stream *s)
{
        size_t n = s->tail.n + tls_records_held_bytes(&s->tls);

        for (size_t i = 0; i < s->pieces.n; i++)
                n += bytes_share(s->pieces.p[i].bytes);
        return n;
}

uint64_t stream_sent_bytes(const struct stream *s)
{
        return s->sent_bytes;
}

bool stream_has_room(const struct stream *s)
{
        return stream_queued_bytes(s) < LIMIT_STREAM_QUEUE_BYTES;
}

static void mark(struct stream *s)
{
        if (s->state != STATE_CLOSING)
                loop_mark(s->loop, &s->flush);
}

void stream_want_flush(struct stream *s)
{
        s->wants_flush = true;
        mark(s);
}

static void seal_tail(struct stream *s)
{
        struct piece p;

        if (s->tail.n == 0)
                return;
        p.bytes = bytes_take(&s->tail);
        p.rest = p.bytes->str;
        vec_push(&s->pieces, p);
        s->pieces_bytes += p.rest.n;
}

static void empty_buffer(struct buf *b)
{
        if (b->capacity > KEEP_BYTES)
                buf_done(b);
        else
                buf_clear(b);
}

/* Encrypts waiting output, as much as there is room for. */
static void encrypt(struct stream *s)
{
        _cleanup_err_ struct err err = { 0 };

        if (s->pieces_bytes < ENCRYPTED_BYTES &&
            tls_records_encrypt(&s->tls, ENCRYPTED_BYTES - s->pieces_bytes, &err) < 0)
                fail(s, &err);
}

/* Ends the TLS output when all of it is encrypted. */
static void say_goodbye(struct stream *s)
{
        if (s->tls.ssl && s->tls.plain_bytes == 0 && s->state == STATE_FINISHING)
                tls_records_end(&s->tls);
}

void stream_write(struct stream *s, struct str data)
{
        if (s->state != STATE_OPEN || data.n == 0)
                return;
        if (s->tls.ssl)
                tls_records_copy(&s->tls, data);
        else
                buf_append_str(&s->tail, data);
        mark(s);
}

void stream_write_bytes(struct stream *s, struct bytes *b, size_t offset, size_t n)
{
        struct str data = str_first(str_skip(b->str, offset), n);

        if (data.n < REFERENCE_BYTES) {
                stream_write(s, data);
                return;
        }
        if (s->state != STATE_OPEN)
                return;
        if (s->tls.ssl) {
                tls_records_refer(&s->tls, b, data);
        } else {
                seal_tail(s);
                vec_push(&s->pieces, (struct piece) { bytes_ref(b), data });
                s->pieces_bytes += data.n;
        }
        mark(s);
}

/* Removes n sent bytes from the front of the queue. */
static void drop_sent(struct stream *s, size_t n)
{
        size_t done = 0;

        s->pieces_bytes -= n;
        s->sent_bytes += n;
        while (n > 0) {
                struct piece *p = &s->pieces.p[done];
                size_t part = MIN(n, p->rest.n);

                p->rest = str_skip(p->rest, part);
                n -= part;
                if (p->rest.n == 0) {
                        bytes_unref(p->bytes);
                        done++;
                }
        }
        if (done) {
                memmove(s->pieces.p, s->pieces.p + done, (s->pieces.n - done) * sizeof(*s->pieces.p));
                s->pieces.n -= done;
        }
}

static unsigned collect(struct stream *s, uv_buf_t *bufs)
{
        unsigned n = 0;

        for (; n < WRITE_PIECES && n < s->pieces.n; n++)
                bufs[n] = uv_buf_init((char *)s->pieces.p[n].rest.p,
                                      (unsigned)MIN(s->pieces.p[n].rest.n, UINT32_MAX / 2));
        return n;
}

static void on_written(uv_write_t *w, int status)
{
        struct stream *s = w->data;
        _cleanup_err_ struct err err = { 0 };
        size_t sent = 0;

        s->is_writing = false;
        for (size_t i = 0; i < s->n_in_flight; i++)
                sent += s->pieces.p[i].rest.n;
        s->n_in_flight = 0;
        if (s->state == STATE_CLOSING)
                return;
        if (status < 0) {
                net_error(&err, status, "cannot send");
                fail(s, &err);
                return;
        }
        drop_sent(s, sent);
        mark(s);
}

/* Sends as much as possible without waiting; the loop sends the rest. */
static void pump(struct stream *s)
{
        uv_buf_t bufs[WRITE_PIECES];
        _cleanup_err_ struct err err = { 0 };
        unsigned n;
        int r;

        while (!s->is_writing && ready_bytes(s) > 0) {
                if (s->pieces.n == 0) { /* the usual case: all output is in the tail and is sent at once */
                        bufs[0] = uv_buf_init(s->tail.p, (unsigned)s->tail.n);
                        r = uv_try_write(&s->uv, bufs, 1);
                        if (r == (int)s->tail.n) {
                                s->sent_bytes += s->tail.n;
                                empty_buffer(&s->tail);
                                return;
                        }
                        seal_tail(s);
                } else {
                        seal_tail(s);
                        n = collect(s, bufs);
                        r = uv_try_write(&s->uv, bufs, n);
                }
                if (r < 0 && r != UV_EAGAIN) {
                        net_error(&err, r, "cannot send");
                        fail(s, &err);
                        return;
                }
                if (r > 0) {
                        drop_sent(s, (size_t)r);
                        continue;
                }
                n = collect(s, bufs);
                r = uv_write(&s->write, &s->uv, bufs, n, on_written);
                if (r < 0) {
                        net_error(&err, r, "cannot send");
                        fail(s, &err);
                        return;
                }
                s->is_writing = true;
                s->n_in_flight = n;
        }
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
        (void)shutdown, (void)status; /* the end of the peer's input or the timer closes the stream */
}

/* Called when all output is sent. */
static void end_output(struct stream *s)
{
        if (!s->is_accepted || s->has_peer_ended || uv_shutdown(&s->shutdown, &s->uv, on_shutdown) < 0) {
                begin_close(s);
                return;
        }
        s->state = STATE_LINGERING;
        uv_timer_start(&s->timer, on_timeout, LINGER_MS, 0);
        stream_resume(s);
}

static void tell_sent(struct stream *s)
{
        if (s->told_bytes == s->sent_bytes || s->state == STATE_CLOSING)
                return;
        s->told_bytes = s->sent_bytes;
        if (s->callbacks->on_sent)
                s->callbacks->on_sent(s);
}

static void on_flush(struct loop_flush *f)
{
        struct stream *s = CONTAINER_OF(f, struct stream, flush);

        if (s->state == STATE_OPEN && s->wants_flush && stream_has_room(s) && s->callbacks->on_flush) {
                s->wants_flush = false;
                s->callbacks->on_flush(s);
        }
        if (s->state == STATE_OPEN || s->state == STATE_FINISHING)
                encrypt(s);
        say_goodbye(s);
        if (s->state != STATE_CLOSING)
                pump(s);
        tell_sent(s);
        if (s->state == STATE_FINISHING && stream_queued_bytes(s) == 0 && !s->is_writing)
                end_output(s);
        /* Call this again for output that had no room. Usually on_written marks the stream when the queue has drained; if
         * everything was sent at once, on_written is not called, so mark the stream here. */
        else if (!s->is_writing && (s->tls.plain_bytes > 0 || (s->state == STATE_OPEN && s->wants_flush)))
                mark(s);
}

void stream_finish(struct stream *s, int64_t timeout_ms)
{
        if (s->state != STATE_OPEN) {
                if (s->state != STATE_FINISHING && s->state != STATE_LINGERING)
                        begin_close(s);
                return;
        }
        s->state = STATE_FINISHING;
        uv_timer_start(&s->timer, on_timeout, (uint64_t)timeout_ms, 0);
        mark(s);
}

/* Input */

static void become_open(struct stream *s)
{
        s->state = STATE_OPEN;
        uv_timer_stop(&s->timer);
        s->callbacks->on_open(s);
}

static void tls_failure(struct stream *s, const char *what)
{
        _cleanup_err_ struct err err = { 0 };
        long verified = SSL_get_verify_result(s->tls.ssl);

        if (verified != X509_V_OK) {
                err_set(&err, ERR_FORBIDDEN, "%s: the peer's certificate was not accepted: %s", what,
                        X509_verify_cert_error_string(verified));
                ERR_clear_error();
        } else {
                tls_error(&err, "%s", what);
        }
        s->tls.has_ended = true;
        pump(s);                 /* the alert tells the peer the reason */
        err_move(&s->err, &err); /* report this error, even if sending the alert failed */
        if (!s->is_accepted || s->state != STATE_SHAKING_HANDS) {
                begin_close(s);
                return;
        }
        /* A client whose certificate is refused sends its first requests before it reads the alert. Keep the socket open for them:
         * otherwise the client would report a failed write and not the reason. */
        s->state = STATE_FINISHING;
        uv_timer_start(&s->timer, on_timeout, LINGER_MS, 0);
        mark(s);
}

static void shake_hands(struct stream *s)
{
        int r;

        ERR_clear_error();
        r = SSL_do_handshake(s->tls.ssl);
        if (r == 1) {
                mark(s);
                become_open(s);
                return;
        }
        if (SSL_get_error(s->tls.ssl, r) != SSL_ERROR_WANT_READ) {
                tls_failure(s, "TLS handshake failed");
                return;
        }
        mark(s);
}

static void read_records(struct stream *s)
{
        char plain[16 << 10];

        while (s->state == STATE_OPEN) {
                size_t n;

                ERR_clear_error();
                if (SSL_read_ex(s->tls.ssl, plain, sizeof(plain), &n) == 1) {
                        s->callbacks->on_data(s, str_make(plain, n));
                        continue;
                }
                switch (SSL_get_error(s->tls.ssl, 0)) {
                case SSL_ERROR_WANT_READ:
                        if (s->tail.n > 0)
                                mark(s);
                        return;
                case SSL_ERROR_ZERO_RETURN:
                        s->has_peer_ended = true;
                        s->callbacks->on_end(s);
                        return;
                default:
                        tls_failure(s, "TLS failed");
                        return;
                }
        }
}

/* The connection to the peer stands: begins TLS, if there is any. */
static void begin_peer(struct stream *s)
{
        if (!s->tls.ssl) {
                become_open(s);
                return;
        }
        s->state = STATE_SHAKING_HANDS;
        shake_hands(s);
}

/* The proxy's answer. Nothing may follow it: the peer speaks only after us. */
static void on_proxy_input(struct stream *s, struct str data)
{
        _cleanup_err_ struct err err = { 0 };
        struct str answer, line;

        buf_append_str(&s->tunnel, data);
        answer = buf_str(&s->tunnel);
        if (!s->tunnel.has_failed && str_find(answer, STR("\r\n\r\n")) < 0)
                return;
        str_split(&answer, '\r', &line);
        if (s->tunnel.has_failed || line.n < 12 || !str_starts_with(line, STR("HTTP/1.")) ||
            !str_equal(str_first(str_skip(line, 8), 5), STR(" 200 "))) {
                err_set(&err, ERR_FORBIDDEN, "the proxy refuses to connect: %.*s", STR_ARG(str_first(line, 128)));
                fail(s, &err);
                return;
        }
        buf_done(&s->tunnel);
        begin_peer(s);
}

static void on_input(struct stream *s, struct str data)
{
        if (s->state == STATE_TUNNELING) {
                on_proxy_input(s, data);
                return;
        }
        if (!s->tls.ssl) {
                s->callbacks->on_data(s, data);
                return;
        }
        s->tls.in = data;
        if (s->state == STATE_SHAKING_HANDS)
                shake_hands(s);
        if (s->state == STATE_OPEN)
                read_records(s);
        s->tls.in = STR("");
}

static void on_read(uv_stream_t *uv, ssize_t n, const uv_buf_t *block)
{
        struct stream *s = CONTAINER_OF(uv, struct stream, uv);
        _cleanup_err_ struct err err = { 0 };

        if (n == 0 || s->state == STATE_CLOSING)
                return;
        if (n < 0)
                s->has_peer_ended = true;
        if (s->state == STATE_LINGERING && n < 0) {
                begin_close(s);
                return;
        }
        if (s->state == STATE_FINISHING || s->state == STATE_LINGERING) {
                if (n < 0)
                        uv_read_stop(uv);
                return;
        }
        if (n > 0) {
                on_input(s, str_make(block->base, (size_t)n));
                return;
        }
        uv_read_stop(uv);
        if (n == UV_EOF && s->state == STATE_OPEN) {
                s->callbacks->on_end(s);
                return;
        }
        if (n == UV_EOF)
                err_set(&err, ERR_CLOSED, "the %s closed the connection during the %s",
                        s->state == STATE_TUNNELING ? "proxy" : "peer",
                        s->state == STATE_TUNNELING ? "CONNECT request" : "TLS handshake");
        else
                net_error(&err, (int)n, "connection lost");
        fail(s, &err);
}

static void give_block(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
        struct stream *s = CONTAINER_OF(h, struct stream, handle);

        (void)suggested;
        *ret = loop_read_block(s->loop);
}

void stream_pause(struct stream *s)
{
        if (s->is_paused || s->state == STATE_CLOSING)
                return;
        s->is_paused = true;
        uv_read_stop(&s->uv);
}

void stream_resume(struct stream *s)
{
        if (!s->is_paused || s->state == STATE_CLOSING)
                return;
        s->is_paused = false;
        uv_read_start(&s->uv, give_block, on_read);
}

/* Beginning */

static struct stream *new_stream(struct loop *l, bool is_unix, const struct stream_callbacks *callbacks, void *owner,
                                 int64_t timeout_ms)
{
        struct stream *s = xcalloc(1, sizeof(*s));

        s->loop = l;
        s->callbacks = callbacks;
        s->owner = owner;
        s->timeout_ms = timeout_ms;
        s->flush.flush = on_flush;
        buf_init(&s->tail, 0);
        buf_init(&s->tunnel, MAX_TUNNEL_BYTES);
        if (is_unix)
                uv_pipe_init(loop_uv(l), &s->pipe, 0);
        else
                uv_tcp_init(loop_uv(l), &s->tcp);
        uv_timer_init(loop_uv(l), &s->timer);
        s->handle.data = s->timer.data = s->write.data = s->connect.data = s;
        return s;
}

/* Called when the socket is connected: starts reading, and the handshake if there is TLS. */
static void start(struct stream *s)
{
        if (s->handle.type == UV_TCP) {
                uv_tcp_nodelay(&s->tcp, 1);
                uv_tcp_keepalive(&s->tcp, 1, KEEPALIVE_S);
        }
        uv_read_start(&s->uv, give_block, on_read);
        if (s->tunnel.n == 0) {
                begin_peer(s);
                return;
        }
        s->state = STATE_TUNNELING;
        buf_append_str(&s->tail, buf_str(&s->tunnel));
        buf_clear(&s->tunnel);
        mark(s);
}

static void on_connected(uv_connect_t *c, int status)
{
        struct stream *s = c->data;
        _cleanup_err_ struct err err = { 0 };

        if (s->state == STATE_CLOSING)
                return;
        if (status < 0) {
                net_error(&err, status, "cannot connect");
                fail(s, &err);
                return;
        }
        start(s);
}

/* Unix sockets are connected here, because libuv 1.44 does not support abstract names. Connecting a Unix socket never blocks. */
static int connect_unix(struct stream *s, const struct address *to)
{
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int r;

        if (fd < 0)
                return -errno;
        memcpy(name.sun_path, to->unix_name, to->n_unix_name);
        if (connect(fd, (struct sockaddr *)&name,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + to->n_unix_name)) < 0)
                return -errno;
        r = uv_pipe_open(&s->pipe, fd);
        if (r >= 0)
                TAKE_FD(fd);
        return r;
}

static void on_outcome(uv_timer_t *t)
{
        struct stream *s = t->data;

        uv_timer_start(t, on_timeout, (uint64_t)s->timeout_ms, 0);
        on_connected(&s->connect, s->outcome);
}

/* Reports an immediate result from the loop, so that owners always see the same order of events. */
static void tell_later(struct stream *s, int status)
{
        s->outcome = status;
        uv_timer_start(&s->timer, on_outcome, 0, 0);
}

struct stream *stream_connect(struct loop *l, const struct address *to, struct tls_config *tls, const char *server_name,
                              int64_t timeout_ms, const struct stream_callbacks *callbacks, void *owner)
{
        struct stream *s = new_stream(l, to->n_unix_name > 0, callbacks, owner, timeout_ms);
        int r;

        s->state = STATE_CONNECTING;
        uv_timer_start(&s->timer, on_timeout, (uint64_t)timeout_ms, 0);
        if (tls && tls_records_begin(&s->tls, tls, server_name, &s->tail, &s->err) < 0) {
                begin_close(s);
                return s;
        }
        if (to->n_unix_name > 0) {
                tell_later(s, connect_unix(s, to));
                return s;
        }
        r = uv_tcp_connect(&s->connect, &s->tcp, &to->any, on_connected);
        if (r < 0)
                tell_later(s, r);
        return s;
}

/* In a thread of libuv. */
static void do_dial(uv_work_t *w)
{
        struct dialing *d = CONTAINER_OF(w, struct dialing, work);

        if (dialer_dial(d->dialer, &d->fd, &d->err) < 0)
                d->fd = -1;
}

static void use_dialed(struct stream *s, struct dialing *d)
{
        int r;

        if (d->fd < 0) {
                fail(s, &d->err);
                return;
        }
        r = uv_tcp_open(&s->tcp, d->fd);
        if (r >= 0)
                TAKE_FD(d->fd);
        on_connected(&s->connect, r);
}

static void on_dialed(uv_work_t *w, int status)
{
        struct stream *s = w->data;
        struct dialing *d = TAKE(s->dialing);

        (void)status; /* it is never canceled */
        if (s->state == STATE_CLOSING)
                finish_closing(s);
        else
                use_dialed(s, d);
        if (d->fd >= 0)
                close(d->fd);
        dialer_unref(d->dialer);
        err_done(&d->err);
        free(d);
}

struct stream *stream_dial(struct loop *l, struct dialer *dialer, struct tls_config *tls, const char *server_name,
                           int64_t timeout_ms, const struct stream_callbacks *callbacks, void *owner)
{
        struct stream *s = new_stream(l, false, callbacks, owner, timeout_ms);

        s->state = STATE_CONNECTING;
        uv_timer_start(&s->timer, on_timeout, (uint64_t)timeout_ms, 0);
        if (tls && tls_records_begin(&s->tls, tls, server_name, &s->tail, &s->err) < 0) {
                begin_close(s);
                return s;
        }
        s->dialing = xcalloc(1, sizeof(*s->dialing));
        s->dialing->dialer = dialer_ref(dialer);
        s->dialing->fd = -1;
        s->dialing->work.data = s;
        if (uv_queue_work(loop_uv(l), &s->dialing->work, do_dial, on_dialed) < 0)
                abort(); /* it fails for a NULL callback alone */
        return s;
}

void stream_tunnel(struct stream *s, struct str head)
{
        assert(s->state == STATE_CONNECTING || s->state == STATE_CLOSING);
        buf_append_str(&s->tunnel, head);
}

struct stream *stream_accept(struct loop *l, uv_stream_t *listening, struct tls_config *tls, int64_t timeout_ms,
                             const struct stream_callbacks *callbacks, void *owner)
{
        struct stream *s = new_stream(l, listening->type == UV_NAMED_PIPE, callbacks, owner, timeout_ms);
        int r;

        s->is_accepted = true;
        s->state = STATE_SHAKING_HANDS;
        uv_timer_start(&s->timer, on_timeout, (uint64_t)timeout_ms, 0);
        r = uv_accept(listening, &s->uv);
        if (r < 0)
                net_error(&s->err, r, "cannot accept a connection");
        else if (tls)
                r = tls_records_begin(&s->tls, tls, NULL, &s->tail, &s->err);
        if (r < 0)
                begin_close(s);
        else
                start(s);
        return s;
}

struct stream *stream_from_fd(struct loop *l, int fd, int64_t timeout_ms, const struct stream_callbacks *callbacks,
                              void *owner)
{
        struct stream *s = new_stream(l, true, callbacks, owner, timeout_ms);
        int r;

        r = uv_pipe_open(&s->pipe, fd);
        if (r < 0) {
                close(fd);
                net_error(&s->err, r, "cannot use a socket");
                begin_close(s);
                return s;
        }
        start(s);
        return s;
}

/* Accessors */

void *stream_owner(const struct stream *s)
{
        return s->owner;
}

void stream_set_owner(struct stream *s, const struct stream_callbacks *callbacks, void *owner)
{
        s->callbacks = callbacks;
        s->owner = owner;
}

struct loop *stream_loop(const struct stream *s)
{
        return s->loop;
}

struct str stream_protocol(const struct stream *s)
{
        const unsigned char *name = NULL;
        unsigned n = 0;

        if (s->tls.ssl)
                SSL_get0_alpn_selected(s->tls.ssl, &name, &n);
        return str_make((const char *)name, n);
}

const struct tls_identity *stream_peer_identity(const struct stream *s, struct arena *a)
{
        return s->tls.ssl ? tls_peer_identity(s->tls.ssl, a) : NULL;
}
