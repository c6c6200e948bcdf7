#include "connection-base.h"

#include "buf.h"
#include "clock.h"
#include "timetext.h"

/* The longest and the shortest interval between two checks of a connection. */
#define TICK_MS     1000
#define MIN_TICK_MS 10

/* A body counts as stalled when, within stall_ms, it moves fewer bytes than this, or less than this part of the waiting bytes. */
#define TRICKLE_BYTES 1024
#define TRICKLE_PART  16

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

void progress_add(struct progress *p, size_t n, size_t waiting_bytes, int64_t now_ns)
{
        p->n_bytes += n;
        if (p->n_bytes < MAX((size_t)TRICKLE_BYTES, waiting_bytes / TRICKLE_PART))
                return;
        p->n_bytes = 0;
        p->last_ns = now_ns;
}

/* Memory of queued output */

static void pay_debts(struct http_connection *c, uint64_t sent_bytes)
{
        while (c->first_debt < c->debts.n && c->debts.p[c->first_debt].end <= sent_bytes)
                budget_keep(&c->debts.p[c->first_debt++].account, 0);
        if (c->first_debt == c->debts.n) {
                vec_clear(&c->debts);
                c->first_debt = 0;
        }
}

/* Moves the open debts to the front when more than half of the list is paid. */
static void compact_debts(struct http_connection *c)
{
        size_t n = c->debts.n - c->first_debt;

        if (c->first_debt <= n)
                return;
        memmove(c->debts.p, c->debts.p + c->first_debt, n * sizeof(*c->debts.p));
        c->debts.n = n;
        c->first_debt = 0;
}

void connection_settle(struct http_connection *c, struct exchange *ex)
{
        size_t queued = c->is_closing ? 0 : stream_queued_bytes(c->stream);
        struct debt d = { 0 };

        if (ex->account.taken_bytes == 0)
                return;
        if (queued == 0) {
                budget_keep(&ex->account, 0);
                return;
        }
        d.end = stream_sent_bytes(c->stream) + queued;
        budget_move(&d.account, &ex->account);
        compact_debts(c);
        vec_push(&c->debts, d);
}

/* The end */

/* Tells the exchanges first, then the owner of the connection. */
static void finish_close(struct http_connection *c)
{
        if (--c->n_pending > 0)
                return;
        if (c->ops->count(c) > 0 && !c->err.code)
                err_set(&c->err, ERR_CLOSED, "the connection was closed");
        c->ops->end_exchanges(c, &c->err);
        pay_debts(c, UINT64_MAX);
        vec_done(&c->debts);
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
                err_copy(&c->err, err);
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

void http_connection_give_way(struct http_connection *c)
{
        if (c->is_closing || c->is_finishing)
                return;
        if (stream_queued_bytes(c->stream) > 0) { /* a peer that does not read would otherwise keep its place */
                http_connection_close(c, NULL);
                return;
        }
        connection_set_draining(c);
        if (c->ops->say_goodbye)
                c->ops->say_goodbye(c);
        connection_finish(c);
}

void connection_tell_ended(struct http_connection *c, bool has_answered)
{
        if (c->callbacks->on_ended)
                c->callbacks->on_ended(c, has_answered);
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

/* Stream callbacks */

static void on_stream_open(struct stream *s)
{
        (void)s; /* the stream was open before the connection took it over */
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

static void on_stream_sent(struct stream *s)
{
        pay_debts(stream_owner(s), stream_sent_bytes(s));
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
        .on_sent = on_stream_sent,
        .on_closed = on_stream_closed,
};

/* Time */

/* The interval of ticks: short enough for the shortest timeout. */
static int64_t tick_ms(const struct http_connection_options *o)
{
        int64_t ms = MIN(MIN((int64_t)TICK_MS, o->stall_ms / 4), o->head_ms / 4);

        ms = o->idle_ms ? MIN(ms, o->idle_ms / 4) : ms;
        ms = o->keepalive_ms ? MIN(ms, o->keepalive_ms / 4) : ms;
        return MAX(ms, (int64_t)MIN_TICK_MS);
}

/* After a time in which this process could not run, timers run before the waiting input is read, so a late tick is skipped: the
 * peer is not to blame. A second late tick in a row is not skipped, because the input was read in between. */
static bool is_too_late(struct http_connection *c, int64_t now_ns)
{
        bool is_late = now_ns - c->last_tick_ns > 2 * tick_ms(&c->options) * NS_PER_MS;

        c->last_tick_ns = now_ns;
        c->was_late = is_late && !c->was_late;
        return c->was_late;
}

/* False for a peer that reads too slowly while output waits. With no output queued, a peer is never slow. */
static bool is_reading(struct http_connection *c, int64_t now_ns)
{
        uint64_t sent = stream_sent_bytes(c->stream);
        size_t queued = stream_queued_bytes(c->stream);

        if (queued == 0)
                c->output = (struct progress) { .last_ns = now_ns };
        else
                progress_add(&c->output, (size_t)(sent - c->last_sent), queued, now_ns);
        c->last_sent = sent;
        return now_ns - c->output.last_ns <= c->options.stall_ms * NS_PER_MS;
}

static void on_tick(uv_timer_t *t)
{
        struct http_connection *c = CONTAINER_OF(t, struct http_connection, timer);
        const struct http_connection_options *o = &c->options;
        int64_t now_ns = clock_mono_ns();

        if (is_too_late(c, now_ns))
                return;
        if (!is_reading(c, now_ns)) {
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
        c->output.last_ns = c->idle_since_ns = c->last_tick_ns = clock_mono_ns();
        uv_timer_init(loop_uv(stream_loop(s)), &c->timer);
        uv_timer_start(&c->timer, on_tick, (uint64_t)tick_ms(&c->options), (uint64_t)tick_ms(&c->options));
        stream_set_owner(s, &stream_callbacks, c);
}
