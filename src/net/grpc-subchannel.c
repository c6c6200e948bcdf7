#include "grpc-channel.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"
#include "stream.h"
#include "timetext.h"

static void free_subchannel_if_done(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;
        struct subchannel **at = &c->subchannels;

        if (!sub->is_removed || sub->stream || sub->http || sub->old.n > 0 || !sub->is_timer_closed)
                return;
        while (*at != sub)
                at = &(*at)->next;
        *at = sub->next;
        vec_done(&sub->old);
        free(sub);
        channel_finish_close(c); /* last: the channel may be gone afterwards */
}

static void on_subchannel_timer_closed(uv_handle_t *t)
{
        struct subchannel *sub = t->data;

        sub->is_timer_closed = true;
        free_subchannel_if_done(sub);
}

static void on_backoff_over(uv_timer_t *t)
{
        struct subchannel *sub = t->data;

        sub->state = SUBCHANNEL_IDLE;
        if (sub->channel->first_waiting)
                subchannel_connect(sub);
}

static void back_off(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;
        double pause_ms = (double)c->options.backoff_ms;

        for (unsigned i = 0; i < sub->n_failures && pause_ms < (double)c->options.max_backoff_ms; i++)
                pause_ms *= 1.6;
        pause_ms = MIN(pause_ms, (double)c->options.max_backoff_ms);
        pause_ms *= 0.8 + 0.4 * random_double(&c->random);
        sub->n_failures++;
        sub->state = SUBCHANNEL_BACKING_OFF;
        if (!sub->is_removed)
                uv_timer_start(&sub->timer, on_backoff_over, (uint64_t)pause_ms, 0);
}

static void note_error(struct grpc_channel *c, const struct address *a, const struct err *err)
{
        _cleanup_buf_ struct buf where = BUF_INIT(0);

        address_append(&where, a);
        err_set(&c->last_error, ERR_FAILED, "connection error: %s: %s", buf_cstring(&where), err_message(err));
}

static void lost(struct subchannel *sub, const struct err *err)
{
        struct grpc_channel *c = sub->channel;

        if (err)
                note_error(c, &sub->address, err);
        if (c->is_closing || sub->is_removed) {
                free_subchannel_if_done(sub);
                return;
        }
        channel_lost(c);
}

/* A connection that worked is replaced at once; one that broke before it could is tried less and less often, one that broke soon after
 * takes the first pause each time: it was ready, so the peer is there. */
static void rest_or_retry(struct subchannel *sub)
{
        int64_t enough_ns = sub->channel->options.backoff_ms * NS_PER_MS;
        bool was_ready = sub->state == SUBCHANNEL_READY;

        if (sub->is_removed)
                return;
        uv_timer_stop(&sub->timer);
        if (was_ready)
                sub->n_failures = 0;
        if (was_ready && clock_mono_ns() - sub->ready_ns >= enough_ns)
                sub->state = SUBCHANNEL_IDLE;
        else
                back_off(sub);
}

static void on_connection_drain(struct http_connection *http)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http != http)
                return;
        /* It takes no more calls; what is on it ends by itself, and a new connection takes its place. */
        sub->http = NULL;
        vec_push(&sub->old, http);
        rest_or_retry(sub);
        if (!sub->channel->is_closing && !sub->is_removed)
                channel_lost(sub->channel);
}

static void on_connection_slot(struct http_connection *http)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http == http && sub->state == SUBCHANNEL_CONNECTING) {
                uv_timer_stop(&sub->timer);
                sub->state = SUBCHANNEL_READY;
                sub->ready_ns = clock_mono_ns();
                err_done(&sub->channel->last_error);
        }
        channel_pump(sub->channel);
}

static void on_connection_closed(struct http_connection *http, const struct err *err)
{
        struct subchannel *sub = http_connection_owner(http);

        if (sub->http != http) {
                for (size_t i = 0; i < sub->old.n; i++) {
                        if (sub->old.p[i] == http) {
                                vec_remove(&sub->old, i);
                                break;
                        }
                }
                free_subchannel_if_done(sub);
                return;
        }
        sub->http = NULL;
        rest_or_retry(sub);
        lost(sub, err);
}

static const struct http_connection_callbacks connection_callbacks = {
        .on_drain = on_connection_drain,
        .on_slot = on_connection_slot,
        .on_closed = on_connection_closed,
};

static void on_no_settings(uv_timer_t *t)
{
        struct subchannel *sub = t->data;
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_TIMEOUT, "no HTTP/2 settings within %lld ms", (long long)sub->channel->options.connect_ms);
        http_connection_close(sub->http, &err);
}

static void on_stream_open(struct stream *s)
{
        struct subchannel *sub = stream_owner(s);
        struct grpc_channel *c = sub->channel;
        struct http_connection_options options = {
                .max_exchanges = 0,
                .max_head_bytes = LIMIT_HEAD_BYTES,
                .window_bytes = LIMIT_WINDOW_BYTES,
                .stall_ms = c->options.keepalive_ms,
                .keepalive_ms = c->options.keepalive_ms,
        };

        sub->stream = NULL;
        sub->http = h2_connection_new(s, &options, &connection_callbacks, sub);
        uv_timer_start(&sub->timer, on_no_settings, (uint64_t)c->options.connect_ms, 0);
}

static void on_stream_data(struct stream *s, struct str data)
{
        (void)s, (void)data; /* the connection takes over before anything can come */
}

static void on_stream_end(struct stream *s)
{
        stream_close(s, NULL);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct subchannel *sub = stream_owner(s);

        sub->stream = NULL;
        back_off(sub);
        lost(sub, err);
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open,
        .on_data = on_stream_data,
        .on_end = on_stream_end,
        .on_closed = on_stream_closed,
};

void subchannel_connect(struct subchannel *sub)
{
        struct grpc_channel *c = sub->channel;

        assert(sub->state == SUBCHANNEL_IDLE && !sub->stream && !sub->http);
        sub->state = SUBCHANNEL_CONNECTING;
        sub->stream = stream_connect(c->loop, &sub->address, c->options.tls, c->target.server_name,
                                     c->options.connect_ms, &stream_callbacks, sub);
}

bool subchannel_is_usable(const struct subchannel *sub)
{
        return !sub->is_removed && sub->state == SUBCHANNEL_READY && http_connection_has_slot(sub->http);
}

struct subchannel *subchannel_new(struct grpc_channel *c, const struct address *a)
{
        struct subchannel *sub = xcalloc(1, sizeof(*sub));

        sub->channel = c;
        sub->serial = ++c->last_serial;
        sub->address = *a;
        uv_timer_init(loop_uv(c->loop), &sub->timer);
        sub->timer.data = sub;
        return sub;
}

void subchannel_remove(struct subchannel *sub)
{
        sub->is_removed = true;
        sub->channel->n_subchannels--;
        uv_close((uv_handle_t *)&sub->timer, on_subchannel_timer_closed);
        if (sub->stream)
                stream_close(sub->stream, NULL);
        if (sub->http && !sub->channel->is_closing) {
                http_connection_drain(sub->http);
                return;
        }
        /* Nobody waits for anything any more. */
        if (sub->http)
                http_connection_close(sub->http, NULL);
        for (size_t i = 0; i < sub->old.n; i++)
                http_connection_close(sub->old.p[i], NULL);
}
