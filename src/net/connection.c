#include "connection-base.h"

#include "buf.h"
#include "clock.h"
#include "timetext.h"

/* How often a connection is looked at, at most and at least. */
#define TICK_MS     1000
#define MIN_TICK_MS 10

/* A body slower than this many bytes in stall_ms counts as stalled. */
#define TRICKLE_BYTES 1024

void *http_connection_owner(const struct http_connection *c)
{
        return c->owner;
}

void http_connection_input(struct http_connection *c, struct str data)
{
        if (!c->is_closing)
                c->ops->input(c, data);
}

struct exchange *http_connection_request(struct http_connection *c, const struct http_head *request, bool has_body,
                                         const struct exchange_callbacks *callbacks, void *owner)
{
        return c->ops->request(c, request, has_body, callbacks, owner);
}

bool http_connection_has_slot(const struct http_connection *c)
{
        return !c->is_closing && !c->is_draining && !c->is_finishing && c->ops->has_slot(c);
}

size_t http_connection_count(const struct http_connection *c)
{
        return c->ops->count(c);
}

void progress_add(struct progress *p, size_t n, int64_t now_ns)
{
        p->n_bytes += n;
        if (p->n_bytes < TRICKLE_BYTES)
                return;
        p->n_bytes = 0;
        p->last_ns = now_ns;
}

/* The end */

/* The exchanges hear it first, then the owner of the connection. */
static void finish_close(struct http_connection *c)
{
        if (--c->n_pending > 0)
                return;
        if (c->ops->count(c) > 0 && !c->err.code)
                err_set(&c->err, ERR_CLOSED, "the connection was closed");
        c->ops->end_exchanges(c, &c->err);
        c->callbacks->on_closed(c, c->err.code ? &c->err : NULL);
        err_done(&c->err);
        c->ops->free(c);
}

static void on_timer_closed(uv_handle_t *t)
{
        finish_close(CONTAINER_OF(t, struct http_connection, timer));
}

static void begin_close(struct http_connection *c, const struct err *err)
{
        if (err && err->code && !c->err.code)
                err_set(&c->err, err->code, "%s", err_message(err));
        if (c->is_closing)
                return;
        c->is_closing = true;
        uv_close((uv_handle_t *)&c->timer, on_timer_closed);
}

void http_connection_close(struct http_connection *c, const struct err *err)
{
        if (c->is_closing)
                return;
        begin_close(c, err);
        stream_close(c->stream, err);
}

void connection_fail(struct http_connection *c, int code, const char *format, ...)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        err_set(&err, code, "%s", buf_cstring(&text));
        http_connection_close(c, &err);
}

void connection_finish(struct http_connection *c)
{
        if (c->is_closing || c->is_finishing)
                return;
        c->is_finishing = true;
        stream_finish(c->stream, c->options.stall_ms);
}

void connection_set_draining(struct http_connection *c)
{
        if (c->is_draining)
                return;
        c->is_draining = true;
        c->callbacks->on_drain(c);
}

void http_connection_drain(struct http_connection *c)
{
        if (!c->is_closing)
                c->ops->drain(c);
}

/* What the stream tells */

static void on_stream_open(struct stream *s)
{
        (void)s; /* it was open before we had it */
}

static void on_stream_data(struct stream *s, struct str data)
{
        http_connection_input(stream_owner(s), data);
}

static void on_stream_end(struct stream *s)
{
        struct http_connection *c = stream_owner(s);

        if (!c->is_closing)
                c->ops->end(c);
}

static void on_stream_flush(struct stream *s)
{
        struct http_connection *c = stream_owner(s);

        if (!c->is_closing && !c->is_finishing)
                c->ops->flush(c);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct http_connection *c = stream_owner(s);

        begin_close(c, err);
        finish_close(c);
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open,
        .on_data = on_stream_data,
        .on_end = on_stream_end,
        .on_flush = on_stream_flush,
        .on_closed = on_stream_closed,
};

/* Time */

/* Often enough for the shortest of its times. */
static int64_t tick_ms(const struct http_connection_options *o)
{
        int64_t ms = MIN(MIN((int64_t)TICK_MS, o->stall_ms / 4), o->head_ms / 4);

        ms = o->idle_ms ? MIN(ms, o->idle_ms / 4) : ms;
        ms = o->keepalive_ms ? MIN(ms, o->keepalive_ms / 4) : ms;
        return MAX(ms, (int64_t)MIN_TICK_MS);
}

/* After a time in which this process could not run, timers come before the input that has been waiting: the peer is not to blame
 * for what was not read. Two late ticks in a row have seen the input in between. */
static bool is_too_late(struct http_connection *c, int64_t now_ns)
{
        bool is_late = now_ns - c->last_tick_ns > 2 * tick_ms(&c->options) * NS_PER_MS;

        c->last_tick_ns = now_ns;
        c->was_late = is_late && !c->was_late;
        return c->was_late;
}

static void on_tick(uv_timer_t *t)
{
        struct http_connection *c = CONTAINER_OF(t, struct http_connection, timer);
        const struct http_connection_options *o = &c->options;
        int64_t now_ns = clock_mono_ns();
        uint64_t sent = stream_sent_bytes(c->stream);

        if (is_too_late(c, now_ns))
                return;
        if (stream_queued_bytes(c->stream) == 0 || sent != c->last_sent)
                c->last_output_ns = now_ns;
        c->last_sent = sent;
        if (now_ns - c->last_output_ns > o->stall_ms * NS_PER_MS) {
                connection_fail(c, ERR_TIMEOUT, "the peer does not read what it is sent");
                return;
        }
        c->ops->tick(c, now_ns);
        if (o->idle_ms > 0 && c->ops->count(c) == 0 && now_ns - c->idle_since_ns > o->idle_ms * NS_PER_MS)
                http_connection_drain(c);
}

void connection_init(struct http_connection *c, const struct http_connection_ops *ops, struct stream *s,
                     const struct http_connection_options *options, const struct http_connection_callbacks *callbacks,
                     void *owner)
{
        *c = (struct http_connection) {
                .ops = ops, .callbacks = callbacks, .options = *options, .owner = owner, .stream = s, .n_pending = 2
        };
        if (c->options.head_ms == 0)
                c->options.head_ms = c->options.stall_ms;
        c->last_output_ns = c->idle_since_ns = c->last_tick_ns = clock_mono_ns();
        uv_timer_init(loop_uv(stream_loop(s)), &c->timer);
        uv_timer_start(&c->timer, on_tick, (uint64_t)tick_ms(&c->options), (uint64_t)tick_ms(&c->options));
        stream_set_owner(s, &stream_callbacks, c);
}
