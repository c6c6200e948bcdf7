#include "h1.h"

#include "clock.h"
#include "timetext.h"

void h1_exchange_end(struct h1_exchange *x, const struct err *err)
{
        struct h1 *h1 = x->h1;
        bool has_answered = !err && (x->has_responded || !h1->connection.options.is_server);

        h1->current = NULL;
        h1->connection.idle_since_ns = clock_mono_ns();
        if (x->ex.callbacks)
                x->ex.callbacks->on_closed(&x->ex, err);
        connection_settle(&h1->connection, &x->ex);
        arena_done(&x->ex.arena);
        free(x);
        connection_tell_ended(&h1->connection, has_answered);
}

void h1_exchange_end_if_over(struct h1_exchange *x)
{
        struct h1 *h1 = x->h1;

        if (!x->has_finished || !x->ex.has_peer_ended)
                return;
        h1_exchange_end(x, NULL);
        /* Do not keep the connection in two cases: a server has sent more than its answer, since that cannot be the next answer; or
         * a client has closed its sending half and all its requests are answered. */
        if (h1->connection.options.is_server ? h1->has_peer_closed && h1_input_left(h1).n == 0
                                             : h1_input_left(h1).n > 0)
                h1->keeps_alive = false;
        if (!h1->keeps_alive || h1->connection.is_draining) {
                connection_set_draining(&h1->connection);
                connection_finish(&h1->connection);
                return;
        }
        h1->input = INPUT_HEAD;
        stream_resume(h1->connection.stream);
        if (h1->connection.options.is_server)
                h1_advance(h1);
        else if (h1->connection.callbacks->on_slot)
                h1->connection.callbacks->on_slot(&h1->connection);
}

static void end(struct http_connection *c)
{
        struct h1 *h1 = h1_from(c);

        if (c->is_finishing)
                return;
        h1->has_peer_closed = true;
        if (h1->current && h1->current->ex.needs_peer)
                connection_fail(c, ERR_CLOSED, "the peer closed the connection");
        else if (h1->current) /* input that is already complete is still processed */
                h1_advance(h1);
        else if (h1_input_left(h1).n > 0)
                connection_fail(c, ERR_CLOSED, "the peer closed the connection");
        else
                http_connection_close(c, NULL);
}

static void flush(struct http_connection *c)
{
        struct h1 *h1 = h1_from(c);
        struct h1_exchange *x = h1->current;

        if (!stream_has_room(c->stream))
                return;
        if (h1->is_waiting_for_room) {
                h1->is_waiting_for_room = false;
                h1_advance(h1);
                return;
        }
        if (!x || !x->was_full)
                return;
        x->was_full = false;
        if (x->ex.callbacks && x->ex.callbacks->on_room)
                x->ex.callbacks->on_room(&x->ex);
}

static void drain(struct http_connection *c)
{
        if (c->is_draining)
                return;
        connection_set_draining(c);
        if (!h1_from(c)->current)
                connection_finish(c);
}

/* Whether the peer must send the rest of a body. Servers only: a client waits for an answer as long as its caller wants. */
static bool owes_us(const struct h1 *h1)
{
        return h1->connection.options.is_server && h1->current && !h1->current->ex.has_peer_ended &&
               h1->current->unconsumed < h1->connection.options.window_bytes / 2;
}

static void tick(struct http_connection *c, int64_t now_ns)
{
        struct h1 *h1 = h1_from(c);

        if (h1->head_since_ns && now_ns - h1->head_since_ns > c->options.head_ms * NS_PER_MS)
                connection_fail(c, ERR_TIMEOUT, "the peer does not finish a head");
        else if (owes_us(h1) && now_ns - h1->progress.last_ns > c->options.stall_ms * NS_PER_MS)
                connection_fail(c, ERR_TIMEOUT, "the peer does not finish its request");
}

static bool has_slot(const struct http_connection *c)
{
        return !h1_from(c)->current;
}

static size_t count(const struct http_connection *c)
{
        return h1_from(c)->current != NULL;
}

static void end_exchanges(struct http_connection *c, const struct err *err)
{
        struct h1 *h1 = h1_from(c);

        if (h1->current)
                h1_exchange_end(h1->current, err);
}

static void free_connection(struct http_connection *c)
{
        struct h1 *h1 = h1_from(c);

        buf_done(&h1->in);
        free(h1);
}

static const struct http_connection_ops connection_ops = {
        .input = h1_input,
        .end = end,
        .flush = flush,
        .tick = tick,
        .request = h1_request,
        .has_slot = has_slot,
        .count = count,
        .drain = drain,
        .end_exchanges = end_exchanges,
        .free = free_connection,
};

struct http_connection *h1_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner)
{
        struct h1 *h1 = xcalloc(1, sizeof(*h1));

        connection_init(&h1->connection, &connection_ops, s, options, callbacks, owner);
        h1->keeps_alive = true;
        h1->progress.last_ns = clock_mono_ns();
        h1->head_since_ns = options->is_server ? clock_mono_ns() : 0;
        buf_init(&h1->in, 0);
        return &h1->connection;
}
