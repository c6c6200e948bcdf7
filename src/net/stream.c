#include "stream.h"

#include "arena.h"
#include "buf.h"
#include "limits.h"
#include "tls.h"
#include "vec.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/un.h>
#include <unistd.h>

/* A reference is kept instead of a copy from this size on. */
#define REFERENCE_BYTES (16u << 10)

/* How long the peer may take to close after we have said all. */
#define LINGER_MS 1000

/* Silence after which the system asks whether the peer is still there; it finds out for those who neither send nor ping. */
#define KEEPALIVE_S 60

/* Memory for output that an idle connection keeps. */
#define KEEP_BYTES (16u << 10)

/* Pieces handed to one write. */
#define WRITE_PIECES 64

enum state {
        STATE_CONNECTING,
        STATE_SHAKING_HANDS,
        STATE_OPEN,
        STATE_FINISHING, /* the owner is done; what is queued still goes out */
        STATE_LINGERING, /* all is sent; input is thrown away until the peer closes too */
        STATE_CLOSING,   /* handles are being closed; on_closed follows */
};

struct piece {
        struct bytes *bytes;
        struct str rest; /* what of it is still to be sent */
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
        uv_timer_t timer; /* connecting and shaking hands, then finishing */
        uv_connect_t connect;
        uv_write_t write;
        uv_shutdown_t shutdown;
        struct loop_flush flush;
        const struct stream_callbacks *callbacks;
        void *owner;
        struct err err;
        SSL *ssl;         /* NULL: plain */
        struct buf plain; /* output that is still to be made into records, so that many small writes share one */
        int64_t timeout_ms;
        int outcome;        /* of a connect that did not wait; told by on_outcome */
        unsigned n_closing; /* handles whose close has not been confirmed */
        bool is_accepted;
        bool has_peer_ended;
        bool is_writing;
        bool is_paused;
        bool wants_flush;

        /* Output, in order: pieces, then tail. In flight are the first n_in_flight pieces. */
        VEC(struct piece) pieces;
        struct buf tail;
        size_t queued_bytes;
        uint64_t sent_bytes;
        size_t n_in_flight;
};

static void pump(struct stream *s);

/* Closing */

static void free_stream(struct stream *s)
{
        for (size_t i = 0; i < s->pieces.n; i++)
                bytes_unref(s->pieces.p[i].bytes);
        vec_done(&s->pieces);
        buf_done(&s->tail);
        buf_done(&s->plain);
        SSL_free(s->ssl);
        err_done(&s->err);
        free(s);
}

static void on_handle_closed(uv_handle_t *h)
{
        struct stream *s = h->data;

        if (--s->n_closing > 0)
                return;
        s->callbacks->on_closed(s, s->err.code ? &s->err : NULL);
        free_stream(s);
}

static void begin_close(struct stream *s)
{
        if (s->state == STATE_CLOSING)
                return;
        s->state = STATE_CLOSING;
        loop_unmark(s->loop, &s->flush);
        s->n_closing = 2;
        uv_close(&s->handle, on_handle_closed);
        uv_close((uv_handle_t *)&s->timer, on_handle_closed);
}

/* Closes with the error in s->err, unless it is closing already. */
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
        if (err && err->code) {
                err_set(&s->err, err->code, "%s", err_message(err));
                err_set_reason(&s->err, err->reason);
        }
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

size_t stream_queued_bytes(const struct stream *s)
{
        return s->queued_bytes + s->plain.n;
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
}

static void queue_copy(struct stream *s, struct str data)
{
        buf_append_str(&s->tail, data);
        s->queued_bytes += data.n;
}

/* Moves what TLS has ready to send into the queue. */
static void take_records(struct stream *s)
{
        char *p;
        long n = BIO_get_mem_data(SSL_get_wbio(s->ssl), &p);

        if (n <= 0)
                return;
        queue_copy(s, str_make(p, (size_t)n));
        (void)BIO_reset(SSL_get_wbio(s->ssl));
}

static void write_records(struct stream *s, struct str data)
{
        _cleanup_err_ struct err err = { 0 };

        while (data.n > 0) {
                size_t written = 0;

                ERR_clear_error();
                if (SSL_write_ex(s->ssl, data.p, data.n, &written) != 1) {
                        tls_error(&err, "cannot send under TLS");
                        fail(s, &err);
                        return;
                }
                data = str_skip(data, written);
        }
        take_records(s);
}

static void empty_buffer(struct buf *b)
{
        if (b->capacity > KEEP_BYTES)
                buf_done(b);
        else
                buf_clear(b);
}

static void encrypt(struct stream *s)
{
        if (s->plain.n == 0)
                return;
        write_records(s, buf_str(&s->plain));
        empty_buffer(&s->plain);
}

static void queue_plain(struct stream *s, struct str data)
{
        if (data.n < REFERENCE_BYTES) {
                buf_append_str(&s->plain, data);
                return;
        }
        encrypt(s);
        if (s->state == STATE_OPEN)
                write_records(s, data);
}

void stream_write(struct stream *s, struct str data)
{
        if (s->state != STATE_OPEN || data.n == 0)
                return;
        if (s->ssl)
                queue_plain(s, data);
        else
                queue_copy(s, data);
        mark(s);
}

void stream_write_bytes(struct stream *s, struct bytes *b, size_t offset, size_t n)
{
        struct str data = str_first(str_skip(b->str, offset), n);

        if (s->ssl || data.n < REFERENCE_BYTES) {
                stream_write(s, data);
                return;
        }
        if (s->state != STATE_OPEN)
                return;
        seal_tail(s);
        vec_push(&s->pieces, (struct piece) { bytes_ref(b), data });
        s->queued_bytes += data.n;
        mark(s);
}

/* Takes n sent bytes off the front of the queue. */
static void drop_sent(struct stream *s, size_t n)
{
        size_t done = 0;

        s->queued_bytes -= n;
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

/* Sends what it can without waiting, then leaves the rest to the loop. */
static void pump(struct stream *s)
{
        uv_buf_t bufs[WRITE_PIECES];
        _cleanup_err_ struct err err = { 0 };
        unsigned n;
        int r;

        while (!s->is_writing && s->queued_bytes > 0) {
                if (s->pieces.n == 0) { /* the usual case: all of it is in the tail and goes out at once */
                        bufs[0] = uv_buf_init(s->tail.p, (unsigned)s->tail.n);
                        r = uv_try_write(&s->uv, bufs, 1);
                        if (r == (int)s->tail.n) {
                                s->queued_bytes = 0;
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
        (void)shutdown, (void)status; /* the peer's end or the timer closes it */
}

/* All is sent. */
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

static void on_flush(struct loop_flush *f)
{
        struct stream *s = CONTAINER_OF(f, struct stream, flush);

        if (s->state == STATE_OPEN && s->wants_flush && stream_has_room(s) && s->callbacks->on_flush) {
                s->wants_flush = false;
                s->callbacks->on_flush(s);
        }
        if (s->state == STATE_OPEN)
                encrypt(s);
        if (s->state != STATE_CLOSING)
                pump(s);
        if (s->state == STATE_FINISHING && s->queued_bytes == 0 && !s->is_writing)
                end_output(s);
        /* What on_flush did not get to for lack of room comes when the queue has drained: on_written marks again. If all went
         * out at once there is nobody to do so. */
        else if (s->state == STATE_OPEN && s->wants_flush && !s->is_writing && !s->flush.is_marked)
                mark(s);
}

void stream_finish(struct stream *s, int64_t timeout_ms)
{
        if (s->state != STATE_OPEN) {
                if (s->state != STATE_FINISHING && s->state != STATE_LINGERING)
                        begin_close(s);
                return;
        }
        if (s->ssl) {
                encrypt(s);
                if (s->state != STATE_OPEN)
                        return;
                SSL_shutdown(s->ssl);
                ERR_clear_error();
                take_records(s);
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
        long verified = SSL_get_verify_result(s->ssl);

        if (verified != X509_V_OK) {
                err_set(&err, ERR_FORBIDDEN, "%s: the peer's certificate was not accepted: %s", what,
                        X509_verify_cert_error_string(verified));
                ERR_clear_error();
        } else {
                tls_error(&err, "%s", what);
        }
        take_records(s); /* the alert that tells the peer why */
        pump(s);
        err_move(&s->err, &err); /* whatever became of the alert, this is why */
        if (!s->is_accepted || s->state != STATE_SHAKING_HANDS) {
                begin_close(s);
                return;
        }
        /* A client whose certificate is refused sends its first requests before it reads that. They must not find the socket closed, or
         * it would learn that its write failed and not why. */
        s->state = STATE_FINISHING;
        uv_timer_start(&s->timer, on_timeout, LINGER_MS, 0);
        mark(s);
}

static void shake_hands(struct stream *s)
{
        int r;

        ERR_clear_error();
        r = SSL_do_handshake(s->ssl);
        if (r == 1) {
                take_records(s);
                mark(s);
                become_open(s);
                return;
        }
        if (SSL_get_error(s->ssl, r) != SSL_ERROR_WANT_READ) {
                tls_failure(s, "TLS handshake failed");
                return;
        }
        take_records(s);
        mark(s);
}

static void read_records(struct stream *s)
{
        char plain[16 << 10];

        while (s->state == STATE_OPEN) {
                size_t n;

                ERR_clear_error();
                if (SSL_read_ex(s->ssl, plain, sizeof(plain), &n) == 1) {
                        s->callbacks->on_data(s, str_make(plain, n));
                        continue;
                }
                switch (SSL_get_error(s->ssl, 0)) {
                case SSL_ERROR_WANT_READ:
                        take_records(s);
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

static void on_input(struct stream *s, struct str data)
{
        if (!s->ssl) {
                s->callbacks->on_data(s, data);
                return;
        }
        if (BIO_write(SSL_get_rbio(s->ssl), data.p, (int)data.n) != (int)data.n) {
                tls_failure(s, "TLS failed");
                return;
        }
        if (s->state == STATE_SHAKING_HANDS)
                shake_hands(s);
        if (s->state == STATE_OPEN)
                read_records(s);
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
                err_set(&err, ERR_CLOSED, "the peer closed the connection during the TLS handshake");
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
        buf_init(&s->plain, 0);
        if (is_unix)
                uv_pipe_init(loop_uv(l), &s->pipe, 0);
        else
                uv_tcp_init(loop_uv(l), &s->tcp);
        uv_timer_init(loop_uv(l), &s->timer);
        s->handle.data = s->timer.data = s->write.data = s->connect.data = s;
        return s;
}

/* The socket is connected: reads, and shakes hands if there is TLS. */
static void start(struct stream *s)
{
        if (s->handle.type == UV_TCP) {
                uv_tcp_nodelay(&s->tcp, 1);
                uv_tcp_keepalive(&s->tcp, 1, KEEPALIVE_S);
        }
        uv_read_start(&s->uv, give_block, on_read);
        if (!s->ssl) {
                become_open(s);
                return;
        }
        s->state = STATE_SHAKING_HANDS;
        shake_hands(s);
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

/* libuv 1.44 takes no abstract names for pipes, so Unix sockets are connected here; that never waits. */
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

/* An outcome that is known at once is told from the loop all the same, so that owners meet one order of events. */
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
        if (tls && tls_new_connection(tls, server_name, &s->ssl, &s->err) < 0) {
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
                r = tls_new_connection(tls, NULL, &s->ssl, &s->err);
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

/* Small questions */

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

        if (s->ssl)
                SSL_get0_alpn_selected(s->ssl, &name, &n);
        return str_make((const char *)name, n);
}

X509 *stream_peer_certificate(const struct stream *s)
{
        return s->ssl && SSL_get_verify_result(s->ssl) == X509_V_OK ? SSL_get0_peer_certificate(s->ssl) : NULL;
}
