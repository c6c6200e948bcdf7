#include "h2.h"

#include "clock.h"
#include "timetext.h"

/* How long a peer may take to acknowledge a drain notice. */
#define NOTICE_MS 5000

void h2_wake(struct h2 *h2)
{
        if (!h2->connection.is_closing && !h2->connection.is_finishing)
                stream_want_flush(h2->connection.stream);
}

static bool is_over(struct h2 *h2)
{
        return !nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session);
}

static void fail_session(struct h2 *h2, int code)
{
        connection_fail(&h2->connection, ERR_INVALID, "HTTP/2 failed: %s", nghttp2_strerror(code));
}

static void flush(struct http_connection *c)
{
        struct h2 *h2 = h2_from(c);
        int r;

        h2->now_ns = clock_mono_ns();
        r = nghttp2_session_send(h2->session);
        if (r < 0) {
                fail_session(h2, r);
                return;
        }
        h2_give_room(h2);
        if (is_over(h2) || (c->is_draining && h2->n_exchanges == 0 && !c->options.is_server)) {
                if (h2->n_exchanges > 0 && !c->err.code)
                        err_set(&c->err, ERR_INVALID, "HTTP/2 failed: %s",
                                h2->invalid ? nghttp2_strerror(h2->invalid) : "the session was ended");
                connection_finish(c);
        } else if (nghttp2_session_want_write(h2->session) && !stream_has_room(c->stream)) {
                stream_want_flush(c->stream);
        }
}

/* An HTTP/2 server must begin with SETTINGS. Other input is another protocol; the error shows its first line, so that users
 * recognise it. */
static bool is_other_protocol(const struct h2 *h2, struct str data)
{
        return !h2->connection.options.is_server && !h2->has_input && data.n >= 4 && data.p[3] != NGHTTP2_SETTINGS;
}

static void fail_protocol(struct http_connection *c, struct str data)
{
        char line[64];
        size_t n = 0;

        if (data.p[0] == 0x15 || data.p[0] == 0x16) {
                connection_fail(c, ERR_INVALID, "the peer speaks TLS, not plain HTTP/2");
                return;
        }
        for (; n < data.n && n < sizeof(line) - 1 && data.p[n] != '\r' && data.p[n] != '\n'; n++)
                line[n] = data.p[n] >= ' ' && data.p[n] < 0x7F ? data.p[n] : '.';
        line[n] = 0;
        connection_fail(c, ERR_INVALID, "the peer does not speak HTTP/2: it began with \"%s\"", line);
}

static void input(struct http_connection *c, struct str data)
{
        struct h2 *h2 = h2_from(c);
        ssize_t r;

        if (is_other_protocol(h2, data)) {
                fail_protocol(c, data);
                return;
        }
        h2->has_input = true;
        h2->now_ns = h2->last_input_ns = clock_mono_ns();
        h2->ping_ns = 0;
        r = nghttp2_session_mem_recv(h2->session, (const uint8_t *)data.p, data.n);
        if (r < 0)
                fail_session(h2, (int)r);
        else
                h2_wake(h2);
}

static void end(struct http_connection *c)
{
        connection_fail(c, ERR_CLOSED, "the peer closed the connection");
}

/* A client only stops beginning requests. A server first sends a notice that it will stop. When the peer has surely received the
 * notice, the server names the last request, so that no request on its way is lost. */
static void drain(struct http_connection *c)
{
        struct h2 *h2 = h2_from(c);

        if (h2->drain != DRAIN_NONE)
                return;
        h2->drain = DRAIN_NOTICE;
        h2->notice_ns = clock_mono_ns();
        if (c->options.is_server)
                nghttp2_submit_shutdown_notice(h2->session); /* a ping follows it */
        connection_set_draining(c);
        h2_wake(h2);
}

static void say_goodbye(struct http_connection *c)
{
        struct h2 *h2 = h2_from(c);

        h2->drain = DRAIN_NOTICE;
        h2_name_last_request(h2);
        h2->now_ns = clock_mono_ns();
        if (nghttp2_session_send(h2->session) < 0)
                http_connection_close(c, NULL);
}

/* Time */

/* Whether the peer does not send the rest of its request, or does not make room for the answer. Input that our owner holds back
 * does not count. */
static bool is_stalled(const struct h2_exchange *x, int64_t now_ns)
{
        const struct http_connection_options *o = &x->h2->connection.options;
        int64_t input_ms = x->has_head ? o->stall_ms : o->head_ms;

        if (!x->ex.has_peer_ended && x->unconsumed < o->window_bytes / 2 &&
            now_ns - x->input.last_ns > input_ms * NS_PER_MS)
                return true;
        return x->queued_bytes > 0 && now_ns - x->output.last_ns > o->stall_ms * NS_PER_MS;
}

/* Servers only: a client's caller has a deadline and a cancel token instead. */
static void reset_stalled(struct h2 *h2, int64_t now_ns)
{
        for (struct h2_exchange *x = h2->exchanges, *next; x; x = next) {
                next = x->next;
                if (!is_stalled(x, now_ns))
                        continue;
                if (!x->has_head) { /* the library accepts nothing but the rest of this head */
                        connection_fail(&h2->connection, ERR_TIMEOUT, "the peer does not finish a head");
                        return;
                }
                exchange_reset(&x->ex, HTTP_RESET_CANCEL);
        }
}

/* The timeout starts with the ping, not with the last input, because the connection may have been idle before. */
static void keep_alive(struct h2 *h2, int64_t now_ns)
{
        const struct http_connection_options *o = &h2->connection.options;

        if (o->keepalive_ms == 0 || now_ns - h2->last_input_ns <= o->keepalive_ms * NS_PER_MS)
                return;
        if (h2->ping_ns == 0) {
                h2->ping_ns = now_ns;
                nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL);
                h2_wake(h2);
        } else if (now_ns - h2->ping_ns > o->stall_ms * NS_PER_MS) {
                connection_fail(&h2->connection, ERR_TIMEOUT, "the peer does not answer pings");
        }
}

static void tick(struct http_connection *c, int64_t now_ns)
{
        struct h2 *h2 = h2_from(c);
        const struct http_connection_options *o = &c->options;

        if (o->is_server && !h2->has_settings && now_ns - h2->begun_ns > o->head_ms * NS_PER_MS) {
                connection_fail(c, ERR_TIMEOUT, "the peer does not begin to speak HTTP/2");
                return;
        }
        if (o->is_server && h2->drain == DRAIN_NOTICE &&
            now_ns - h2->notice_ns > MIN(o->stall_ms, (int64_t)NOTICE_MS) * NS_PER_MS)
                h2_name_last_request(h2);
        if (o->is_server)
                reset_stalled(h2, now_ns);
        if (h2->n_exchanges > 0 && !c->is_closing)
                keep_alive(h2, now_ns);
}

/* The connection */

static bool has_slot(const struct http_connection *c)
{
        const struct h2 *h2 = h2_from(c);

        return h2->n_exchanges <
                       nghttp2_session_get_remote_settings(h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) &&
               nghttp2_session_check_request_allowed(h2->session);
}

static size_t count(const struct http_connection *c)
{
        return h2_from(c)->n_exchanges;
}

static void end_exchanges(struct http_connection *c, const struct err *err)
{
        struct h2 *h2 = h2_from(c);

        while (h2->exchanges) {
                struct h2_exchange *x = h2->exchanges;

                nghttp2_session_set_stream_user_data(h2->session, x->id, NULL);
                h2_exchange_remove(x, err);
        }
}

static void free_connection(struct http_connection *c)
{
        struct h2 *h2 = h2_from(c);

        nghttp2_session_del(h2->session);
        free(h2);
}

static const struct http_connection_ops connection_ops = {
        .input = input,
        .end = end,
        .flush = flush,
        .tick = tick,
        .request = h2_request,
        .has_slot = has_slot,
        .count = count,
        .drain = drain,
        .say_goodbye = say_goodbye,
        .end_exchanges = end_exchanges,
        .free = free_connection,
};

struct http_connection *h2_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner)
{
        struct h2 *h2 = xcalloc(1, sizeof(*h2));

        connection_init(&h2->connection, &connection_ops, s, options, callbacks, owner);
        h2->now_ns = h2->begun_ns = h2->last_input_ns = clock_mono_ns();
        h2_session_new(h2);
        h2_wake(h2);
        return &h2->connection;
}
