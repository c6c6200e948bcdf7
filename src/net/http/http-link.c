#include "http-pool-base.h"

#include "buf.h"
#include "clock.h"
#include "timetext.h"

/* The end of links and endpoints */

static void free_endpoint_if_done(struct http_endpoint *e)
{
        struct http_pool *p = e->pool;
        struct http_endpoint **at = &p->endpoints;

        if (!e->is_removed || e->links || !e->is_timer_closed)
                return;
        while (*at != e)
                at = &(*at)->next;
        *at = e->next;
        free(e);
        pool_finish_close(p); /* last: the pool may be freed afterwards */
}

static void on_endpoint_timer_closed(uv_handle_t *t)
{
        struct http_endpoint *e = t->data;

        e->is_timer_closed = true;
        free_endpoint_if_done(e);
}

static void on_link_timer_closed(uv_handle_t *t)
{
        struct http_link *l = t->data;
        struct http_endpoint *e = l->endpoint;
        struct http_link **at = &e->links;

        while (*at != l)
                at = &(*at)->next;
        *at = l->next;
        free(l);
        free_endpoint_if_done(e);
}

static bool is_active(const struct http_link *l)
{
        return l->state == LINK_CONNECTING || l->state == LINK_READY;
}

static void set_state(struct http_link *l, enum link_state state)
{
        l->endpoint->n_active -= is_active(l);
        l->state = state;
        l->endpoint->n_active += is_active(l);
}

/* The stream or the connection is gone. */
static void close_link(struct http_link *l)
{
        l->stream = NULL;
        l->http = NULL;
        set_state(l, LINK_CLOSED);
        uv_close((uv_handle_t *)&l->timer, on_link_timer_closed);
}

/* Failures */

static void on_backoff_over(uv_timer_t *t)
{
        struct http_endpoint *e = t->data;

        e->is_backing_off = false;
        if (e->pool->first_waiting)
                pool_pump(e->pool);
}

static void back_off(struct http_endpoint *e)
{
        struct http_pool *p = e->pool;
        double pause_ms = (double)p->options.backoff_ms;

        e->failed = ++p->n_failures;
        if (e->is_removed || e->is_backing_off)
                return;
        for (unsigned i = 0; i < e->n_failures && pause_ms < (double)p->options.max_backoff_ms; i++)
                pause_ms *= 1.6;
        pause_ms = MIN(pause_ms, (double)p->options.max_backoff_ms);
        pause_ms *= 0.8 + 0.4 * random_double(&p->random);
        e->n_failures++;
        e->is_backing_off = true;
        uv_timer_start(&e->timer, on_backoff_over, (uint64_t)pause_ms, 0);
}

static void note_error(struct http_endpoint *e, const struct err *err)
{
        _cleanup_buf_ struct buf where = BUF_INIT(0);

        pool_append_place(e->pool, &where, e);
        err_set(&e->pool->last_error, ERR_FAILED, "connection error: %s: %s", buf_cstring(&where), err_message(err));
}

/* Chooses the pause before the next connection. One that was ready for at least backoff_ms is replaced at once. One that was ready
 * for a shorter time waits the first backoff each time, because the peer is reachable. One that never became ready waits longer and
 * longer. An HTTP/1.1 server may close after each answer, so a connection with an answer is replaced at once; an HTTP/2 server that
 * does so is going away. Returns whether there is a pause. */
static bool rest(struct http_link *l)
{
        struct http_endpoint *e = l->endpoint;
        int64_t enough_ns = e->pool->options.backoff_ms * NS_PER_MS;

        if (l->state == LINK_READY) {
                e->n_failures = 0;
                if ((l->is_h1 && l->has_answered) || clock_mono_ns() - l->ready_ns >= enough_ns)
                        return false;
        }
        back_off(e);
        return true;
}

/* The connection takes no more requests. Its open ones end by themselves, and a new connection replaces it. */
static void on_connection_drain(struct http_connection *http)
{
        struct http_link *l = http_connection_owner(http);
        struct http_endpoint *e = l->endpoint;
        bool has_failed = false;

        if (l->state == LINK_DRAINING)
                return;
        uv_timer_stop(&l->timer);
        if (!e->is_removed)
                has_failed = rest(l);
        set_state(l, LINK_DRAINING);
        if (!e->pool->is_closing && !e->is_removed)
                pool_lost(e->pool, has_failed);
}

static void make_ready(struct http_link *l)
{
        uv_timer_stop(&l->timer);
        set_state(l, LINK_READY);
        l->ready_ns = clock_mono_ns();
        l->endpoint->pool->n_connected++;
        err_done(&l->endpoint->pool->last_error);
}

static void on_connection_slot(struct http_connection *http)
{
        struct http_link *l = http_connection_owner(http);

        if (l->state == LINK_CONNECTING)
                make_ready(l);
        pool_pump(l->endpoint->pool);
}

static void on_connection_ended(struct http_connection *http, bool has_answered)
{
        struct http_link *l = http_connection_owner(http);

        if (has_answered)
                l->has_answered = true;
}

static void on_connection_closed(struct http_connection *http, const struct err *err)
{
        struct http_link *l = http_connection_owner(http);
        struct http_endpoint *e = l->endpoint;
        bool was_active = is_active(l);

        /* We gave up a request of HTTP/1.1, or the server closed a connection without requests. */
        if (l->state == LINK_READY && (!err || err->code == ERR_CANCELED))
                err = NULL;
        else if (was_active && !e->is_removed)
                rest(l);
        if (err && was_active)
                note_error(e, err);
        close_link(l);
        if (was_active && !e->is_removed && !e->pool->is_closing)
                pool_lost(e->pool, err != NULL);
}

static const struct http_connection_callbacks connection_callbacks = {
        .on_drain = on_connection_drain,
        .on_slot = on_connection_slot,
        .on_ended = on_connection_ended,
        .on_closed = on_connection_closed,
};

/* Connecting */

static void on_no_settings(uv_timer_t *t)
{
        struct http_link *l = t->data;
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_TIMEOUT, "no HTTP/2 settings within %lld ms",
                (long long)l->endpoint->pool->options.connect_ms);
        http_connection_close(l->http, &err);
}

static bool is_h1(const struct http_pool *p, const struct stream *s)
{
        if (p->options.version != HTTP_VERSION_ANY)
                return p->options.version == HTTP_VERSION_1;
        return !str_equal(stream_protocol(s), STR("h2"));
}

/* The TLS configuration offers HTTP/2, although the client does not want it. */
static void fail_version(struct stream *s)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_UNSUPPORTED, "the server chose HTTP/2, but only HTTP/1.1 is allowed");
        stream_close(s, &err);
}

static void on_stream_open(struct stream *s)
{
        struct http_link *l = stream_owner(s);
        struct http_pool *p = l->endpoint->pool;
        struct http_connection_options options = {
                .max_exchanges = 0,
                .max_head_bytes = p->options.max_head_bytes,
                .window_bytes = p->options.window_bytes,
                .head_ms = p->options.head_ms,
                .stall_ms = p->options.stall_ms,
                .idle_ms = p->options.idle_ms,
                .keepalive_ms = p->options.keepalive_ms,
        };

        if (p->options.version == HTTP_VERSION_1 && str_equal(stream_protocol(s), STR("h2"))) {
                fail_version(s);
                return;
        }
        l->stream = NULL;
        p->is_h1 = l->is_h1 = is_h1(p, s);
        if (l->is_h1) {
                l->http = h1_connection_new(s, &options, &connection_callbacks, l);
                make_ready(l);
                pool_pump(p);
                return;
        }
        l->http = h2_connection_new(s, &options, &connection_callbacks, l);
        uv_timer_start(&l->timer, on_no_settings, (uint64_t)p->options.connect_ms, 0);
}

static void on_stream_data(struct stream *s, struct str data)
{
        (void)s, (void)data; /* the HTTP connection takes over before any data can arrive */
}

static void on_stream_end(struct stream *s)
{
        stream_close(s, NULL);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct http_link *l = stream_owner(s);
        struct http_endpoint *e = l->endpoint;

        back_off(e);
        if (err)
                note_error(e, err);
        close_link(l);
        if (!e->is_removed && !e->pool->is_closing)
                pool_lost(e->pool, true);
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open,
        .on_data = on_stream_data,
        .on_end = on_stream_end,
        .on_closed = on_stream_closed,
};

void endpoint_connect(struct http_endpoint *e)
{
        struct http_pool *p = e->pool;
        struct http_link *l = xcalloc(1, sizeof(*l));

        assert(!e->is_backing_off && !e->is_removed);
        l->endpoint = e;
        l->next = e->links;
        e->links = l;
        e->n_active++; /* its state is connecting */
        uv_timer_init(loop_uv(p->loop), &l->timer);
        l->timer.data = l;
        if (p->options.dialer)
                l->stream = stream_dial(p->loop, p->options.dialer, p->options.tls, p->target->server_name,
                                        p->options.connect_ms, &stream_callbacks, l);
        else
                l->stream = stream_connect(p->loop, &e->address, p->options.tls, p->target->server_name,
                                           p->options.connect_ms, &stream_callbacks, l);
        if (p->target->tunnel.n > 0)
                stream_tunnel(l->stream, p->target->tunnel);
}

struct http_link *endpoint_ready_link(const struct http_endpoint *e)
{
        struct http_link *best = NULL;

        for (struct http_link *l = e->links; l; l = l->next)
                if (l->state == LINK_READY && (!best || l->used > best->used) && http_connection_has_slot(l->http))
                        best = l;
        return best;
}

struct http_endpoint *endpoint_new(struct http_pool *p, const struct address *a)
{
        struct http_endpoint *e = xcalloc(1, sizeof(*e));

        e->pool = p;
        e->serial = ++p->last_serial;
        e->address = *a;
        uv_timer_init(loop_uv(p->loop), &e->timer);
        e->timer.data = e;
        return e;
}

static void remove_link(struct http_link *l, bool is_closing)
{
        if (l->stream)
                stream_close(l->stream, NULL);
        else if (l->http && is_closing)
                http_connection_close(l->http, NULL);
        else if (l->http)
                http_connection_drain(l->http);
}

void endpoint_remove(struct http_endpoint *e)
{
        if (!e->is_removed) {
                e->is_removed = true;
                e->pool->n_endpoints--;
                uv_close((uv_handle_t *)&e->timer, on_endpoint_timer_closed);
        }
        for (struct http_link *l = e->links, *next; l; l = next) {
                next = l->next;
                remove_link(l, e->pool->is_closing);
        }
}
