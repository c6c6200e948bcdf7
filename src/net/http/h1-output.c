#include "h1.h"

#include <stdio.h>

static struct h1_exchange *to_h1(const struct exchange *ex)
{
        return CONTAINER_OF(ex, struct h1_exchange, ex);
}

/* The connection is closing, and its stream may be gone already. The owner of the exchange does not know yet: on_closed follows. */
static bool is_lost(const struct h1_exchange *x)
{
        return x->h1->connection.is_closing;
}

/* Line ends are replaced: the peer would read them as the start of the next field. */
static void append_value(struct buf *b, struct str value)
{
        for (size_t i = 0; i < value.n; i++)
                buf_append_char(b, value.p[i] == '\r' || value.p[i] == '\n' || value.p[i] == '\0' ? ' ' : value.p[i]);
}

static void append_fields(struct buf *b, const struct http_fields *fields)
{
        for (size_t i = 0; fields && i < fields->n; i++) {
                buf_append_str(b, fields->p[i].name);
                buf_append_literal(b, ": ");
                append_value(b, fields->p[i].value);
                buf_append_literal(b, "\r\n");
        }
}

static void write_head(struct h1 *h1, struct buf *head)
{
        stream_write(h1->connection.stream, buf_str(head));
        stream_want_flush(h1->connection.stream);
}

/* The answer is complete, so the rest of the request is not needed. A request without a body is left alone: its end is about to be
 * reported. */
static void give_up_input(struct h1_exchange *x)
{
        if (x->ex.has_peer_ended || x->has_no_body)
                return;
        x->ex.has_peer_ended = true;
        x->h1->input = INPUT_NOTHING;
}

static void respond(struct exchange *ex, int status, const struct http_fields *fields, bool is_all)
{
        struct h1_exchange *x = to_h1(ex);
        struct h1 *h1 = x->h1;
        _cleanup_buf_ struct buf head = BUF_INIT(0);
        bool has_length = fields && http_fields_get(fields, STR("content-length")).p;
        bool may_have_body = !x->is_head && status != 204 && status != 304;

        assert(!x->has_responded);
        x->has_responded = true;
        if (is_lost(x))
                return;
        buf_appendf(&head, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
        append_fields(&head, fields);
        if (is_all && !has_length && may_have_body)
                buf_append_literal(&head, "content-length: 0\r\n");
        x->has_body_left = !is_all && may_have_body;
        if (x->has_body_left && !has_length) {
                if (x->framing.is_http10) {
                        h1->keeps_alive = false; /* the end of the connection is the end of the body */
                } else {
                        x->is_chunking = true;
                        buf_append_literal(&head, "transfer-encoding: chunked\r\n");
                }
        }
        /* The next request begins only after the unread body of this one, so the connection is closed instead of kept. */
        if (!ex->has_peer_ended && !x->has_no_body)
                h1->keeps_alive = false;
        if (!h1->keeps_alive || h1->connection.is_draining)
                buf_append_literal(&head, "connection: close\r\n");
        else if (x->framing.is_http10)
                buf_append_literal(&head, "connection: keep-alive\r\n");
        buf_append_literal(&head, "\r\n");
        write_head(h1, &head);
        if (h1->has_peer_closed && ex->needs_peer) {
                connection_fail(&h1->connection, ERR_CLOSED, "the peer closed the connection");
                return;
        }
        if (is_all) {
                x->has_finished = true;
                give_up_input(x);
                h1_exchange_end_if_over(x);
        }
}

static void send_piece(struct exchange *ex, struct bytes *b)
{
        struct h1_exchange *x = to_h1(ex);
        struct stream *s = x->h1->connection.stream;
        char size[24];

        if (b->str.n > 0 && x->has_body_left && !is_lost(x)) {
                if (x->is_chunking) {
                        snprintf(size, sizeof(size), "%zx\r\n", b->str.n);
                        stream_write(s, str_from(size));
                }
                stream_write_bytes(s, b, 0, b->str.n);
                if (x->is_chunking)
                        stream_write(s, STR("\r\n"));
                stream_want_flush(s);
        }
        bytes_unref(b);
}

static void finish(struct exchange *ex, const struct http_fields *trailers)
{
        struct h1_exchange *x = to_h1(ex);
        _cleanup_buf_ struct buf end = BUF_INIT(0);

        assert(!x->has_finished);
        x->has_finished = true;
        if (is_lost(x))
                return;
        if (x->is_chunking) {
                buf_append_literal(&end, "0\r\n");
                append_fields(&end, trailers);
                buf_append_literal(&end, "\r\n");
                stream_write(x->h1->connection.stream, buf_str(&end));
        }
        stream_want_flush(x->h1->connection.stream);
        if (x->h1->connection.options.is_server)
                give_up_input(x);
        h1_exchange_end_if_over(x);
}

static void reset(struct exchange *ex, enum http_reset why)
{
        struct h1_exchange *x = to_h1(ex);

        ex->peer_reset = why;
        connection_fail(&x->h1->connection, ERR_CANCELED, "the exchange was given up");
}

static void consume(struct exchange *ex, size_t n)
{
        struct h1_exchange *x = to_h1(ex);

        assert(n <= x->unconsumed);
        x->unconsumed -= n;
        if (!is_lost(x) && x->unconsumed < x->h1->connection.options.window_bytes) {
                stream_resume(x->h1->connection.stream);
                h1_advance(x->h1);
        }
}

static bool has_room(const struct exchange *ex)
{
        struct h1_exchange *x = to_h1(ex);

        if (is_lost(x) || stream_has_room(x->h1->connection.stream))
                return true;
        x->was_full = true;
        stream_want_flush(x->h1->connection.stream);
        return false;
}

static size_t held_bytes(const struct exchange *ex)
{
        struct h1_exchange *x = to_h1(ex);

        return is_lost(x) ? 0 : stream_held_bytes(x->h1->connection.stream);
}

static const struct exchange_ops h1_ops = {
        .respond = respond,
        .send = send_piece,
        .finish = finish,
        .reset = reset,
        .consume = consume,
        .has_room = has_room,
        .held_bytes = held_bytes,
};

struct h1_exchange *h1_exchange_new(struct h1 *h1)
{
        struct h1_exchange *x = xcalloc(1, sizeof(*x));

        x->ex.ops = &h1_ops;
        x->ex.loop = stream_loop(h1->connection.stream);
        arena_init(&x->ex.arena, "HTTP head", 0);
        x->h1 = h1;
        x->serial = ++h1->serial;
        h1->current = x;
        return x;
}

struct exchange *h1_request(struct http_connection *c, const struct http_head *head, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner)
{
        struct h1 *h1 = h1_from(c);
        struct h1_exchange *x = h1_exchange_new(h1);
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        x->ex.callbacks = callbacks;
        x->ex.owner = owner;
        x->is_head = str_equal(head->method, STR("HEAD"));
        x->ex.was_processed = true; /* from here on the peer may have processed the request */
        x->has_body_left = has_body;
        x->has_finished = !has_body;
        x->is_chunking = has_body && !http_fields_get(&head->fields, STR("content-length")).p;
        buf_appendf(&text, "%.*s %.*s HTTP/1.1\r\nhost: %.*s\r\n", STR_ARG(head->method), STR_ARG(head->path),
                    STR_ARG(head->authority));
        append_fields(&text, &head->fields);
        if (x->is_chunking)
                buf_append_literal(&text, "transfer-encoding: chunked\r\n");
        buf_append_literal(&text, "\r\n");
        h1->input = INPUT_HEAD;
        write_head(h1, &text);
        return &x->ex;
}

void h1_refuse_head(struct h1 *h1, const struct err *err)
{
        int status = err->code == ERR_LIMIT ? 431 : err->code == ERR_UNSUPPORTED ? 501 : 400;
        _cleanup_buf_ struct buf head = BUF_INIT(0);

        buf_appendf(&head, "HTTP/1.1 %d %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", status,
                    http_reason(status));
        write_head(h1, &head);
        h1->input = INPUT_NOTHING;
        connection_set_draining(&h1->connection);
        connection_finish(&h1->connection);
}
