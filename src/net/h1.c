/* One exchange at a time. A server that is sent the next request early (pipelining) leaves it in its buffer until the answer
 * before it is out; a client begins the next one when the one before is over and the connection may be kept. */
#include "connection.h"

#include "buf.h"
#include "clock.h"
#include "h1-head.h"
#include "limits.h"
#include "timetext.h"

#include <stdio.h>

#define TICK_MS        1000
#define TRICKLE_BYTES  1024 /* a body slower than this in stall_ms counts as stalled */
#define MAX_INTERIM    16
#define MAX_CHUNK_LINE 256
#define FINISH_MS      5000

/* What the input is read as. */
enum input {
        INPUT_HEAD,
        INPUT_BODY,        /* `left` bytes */
        INPUT_BODY_TO_END, /* until the peer closes: responses without a length */
        INPUT_CHUNK_SIZE,
        INPUT_CHUNK, /* `left` bytes and CRLF */
        INPUT_CHUNK_END,
        INPUT_TRAILERS,
        INPUT_NOTHING, /* the message is complete; what follows belongs to the next exchange */
};

struct h1_exchange {
        struct exchange ex;
        struct h1 *h1;
        struct h1_framing framing; /* of the peer's message */
        bool is_head;              /* HEAD: the response has no body whatever its head says */
        bool is_chunking;          /* our body goes out in chunks */
        bool has_body_left;        /* our head promised a body that may still be sent */
        bool has_responded;
        bool has_finished; /* our message is complete */
        bool was_full;
        bool has_no_body; /* the peer's message is its head alone */
        unsigned n_interim;
        uint64_t serial;
        size_t unconsumed; /* bytes of the peer's body */
};

struct h1 {
        struct http_connection connection;
        struct stream *stream;
        uv_timer_t timer;
        struct h1_exchange *current;
        enum input input;
        struct buf in;   /* what was read */
        size_t n_taken;  /* of it, understood */
        uint64_t serial; /* of the last exchange: an address may come back, a number does not */
        uint64_t left;
        struct err err;
        int64_t last_input_ns; /* when the peer last did its part */
        int64_t last_output_ns, idle_since_ns;
        int64_t head_since_ns; /* when the head being read began; 0: none */
        size_t n_trickled;
        uint64_t last_sent;
        unsigned n_pending;
        bool keeps_alive;
        bool is_draining;
        bool has_told_drain;
        bool is_closing;
        bool is_advancing;
        bool has_peer_closed;
        bool is_finishing; /* the last answer is out; nothing is read any more */
};

static const struct exchange_ops h1_ops;
static void advance(struct h1 *h1);

static struct h1 *from_connection(const struct http_connection *c)
{
        return CONTAINER_OF(c, struct h1, connection);
}

static struct h1_exchange *to_h1(const struct exchange *ex)
{
        return CONTAINER_OF(ex, struct h1_exchange, ex);
}

/* Closing */

static void begin_close(struct h1 *h1, const struct err *err);

static void close_for(struct h1 *h1, int code, const char *why)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, code, "%s", why);
        begin_close(h1, &err);
}

static void end_exchange(struct h1_exchange *x, const struct err *err)
{
        struct h1 *h1 = x->h1;

        h1->current = NULL;
        h1->idle_since_ns = clock_mono_ns();
        if (x->ex.callbacks)
                x->ex.callbacks->on_closed(&x->ex, err);
        arena_done(&x->ex.arena);
        free(x);
}

static void finish_close(struct h1 *h1)
{
        if (--h1->n_pending > 0)
                return;
        if (h1->current && !h1->err.code)
                err_set(&h1->err, ERR_CLOSED, "the connection was closed");
        if (h1->current)
                end_exchange(h1->current, &h1->err);
        h1->connection.callbacks->on_closed(&h1->connection, h1->err.code ? &h1->err : NULL);
        buf_done(&h1->in);
        err_done(&h1->err);
        free(h1);
}

static void on_timer_closed(uv_handle_t *t)
{
        finish_close(t->data);
}

static void stop(struct h1 *h1)
{
        if (h1->is_closing)
                return;
        h1->is_closing = true;
        uv_close((uv_handle_t *)&h1->timer, on_timer_closed);
}

static void begin_close(struct h1 *h1, const struct err *err)
{
        if (h1->is_closing)
                return;
        if (err && err->code && !h1->err.code)
                err_set(&h1->err, err->code, "%s", err_message(err));
        stop(h1);
        stream_close(h1->stream, err);
}

/* Sends what is queued, then closes. */
static void finish_stream(struct h1 *h1)
{
        if (h1->is_closing || h1->is_finishing)
                return;
        h1->is_finishing = true;
        stream_finish(h1->stream, FINISH_MS);
}

static void tell_drain(struct h1 *h1)
{
        if (h1->has_told_drain)
                return;
        h1->has_told_drain = true;
        h1->connection.callbacks->on_drain(&h1->connection);
}

/* An exchange is over when both messages are. */
static void end_if_over(struct h1_exchange *x)
{
        struct h1 *h1 = x->h1;

        if (!x->has_finished || !x->ex.has_peer_ended)
                return;
        end_exchange(x, NULL);
        if (!h1->connection.options.is_server && h1->in.n > h1->n_taken)
                h1->keeps_alive = false; /* whatever the server sent beyond its answer is not the next one */
        if (!h1->keeps_alive || h1->is_draining) {
                h1->is_draining = true;
                tell_drain(h1);
                finish_stream(h1);
                return;
        }
        h1->input = INPUT_HEAD;
        stream_resume(h1->stream);
        if (h1->connection.options.is_server)
                advance(h1);
        else if (h1->connection.callbacks->on_slot)
                h1->connection.callbacks->on_slot(&h1->connection);
}

/* Output */

/* A line end inside a value would be read as the next field. */
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
        stream_write(h1->stream, buf_str(head));
        stream_want_flush(h1->stream);
}

static const char *reason_phrase(int status)
{
        switch (status) {
        case 100:
                return "Continue";
        case 200:
                return "OK";
        case 400:
                return "Bad Request";
        case 404:
                return "Not Found";
        case 431:
                return "Request Header Fields Too Large";
        case 501:
                return "Not Implemented";
        default:
                return "";
        }
}

/* The answer is complete: nobody reads the rest of the request. One without a body is about to be told that it has ended. */
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
        buf_appendf(&head, "HTTP/1.1 %d %s\r\n", status, reason_phrase(status));
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
        /* A request whose body is not wanted any more cannot be told from the next one but by reading it to its end. */
        if (!ex->has_peer_ended && !x->has_no_body)
                h1->keeps_alive = false;
        if (!h1->keeps_alive || h1->is_draining)
                buf_append_literal(&head, "connection: close\r\n");
        else if (x->framing.is_http10)
                buf_append_literal(&head, "connection: keep-alive\r\n");
        buf_append_literal(&head, "\r\n");
        write_head(h1, &head);
        if (is_all) {
                x->has_finished = true;
                give_up_input(x);
                end_if_over(x);
        }
}

static void send_piece(struct exchange *ex, struct bytes *b)
{
        struct h1_exchange *x = to_h1(ex);
        struct stream *s = x->h1->stream;
        char size[24];

        if (b->str.n > 0 && x->has_body_left) {
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
        if (x->is_chunking) {
                buf_append_literal(&end, "0\r\n");
                append_fields(&end, trailers);
                buf_append_literal(&end, "\r\n");
                stream_write(x->h1->stream, buf_str(&end));
        }
        stream_want_flush(x->h1->stream);
        if (x->h1->connection.options.is_server)
                give_up_input(x);
        end_if_over(x);
}

static void reset(struct exchange *ex, enum http_reset why)
{
        struct h1_exchange *x = to_h1(ex);

        ex->peer_reset = why;
        close_for(x->h1, ERR_CANCELED, "the exchange was given up");
}

static void consume(struct exchange *ex, size_t n)
{
        struct h1_exchange *x = to_h1(ex);

        assert(n <= x->unconsumed);
        x->unconsumed -= n;
        if (x->unconsumed < x->h1->connection.options.window_bytes) {
                stream_resume(x->h1->stream);
                advance(x->h1);
        }
}

static bool has_room(const struct exchange *ex)
{
        struct h1_exchange *x = to_h1(ex);

        if (stream_has_room(x->h1->stream))
                return true;
        x->was_full = true;
        stream_want_flush(x->h1->stream);
        return false;
}

static const struct exchange_ops h1_ops = {
        .respond = respond,
        .send = send_piece,
        .finish = finish,
        .reset = reset,
        .consume = consume,
        .has_room = has_room,
};

static struct h1_exchange *new_exchange(struct h1 *h1)
{
        struct h1_exchange *x = xcalloc(1, sizeof(*x));

        x->ex.ops = &h1_ops;
        x->ex.loop = stream_loop(h1->stream);
        arena_init(&x->ex.arena, "HTTP head", 0);
        x->h1 = h1;
        x->serial = ++h1->serial;
        h1->current = x;
        return x;
}

/* Input */

static struct str input_left(const struct h1 *h1)
{
        return str_skip(buf_str(&h1->in), h1->n_taken);
}

static void drop_input(struct h1 *h1, size_t n)
{
        h1->n_taken += n;
        assert(h1->n_taken <= h1->in.n);
}

/* Frees the room of what was understood; once for each piece of input, however many messages are in it. */
static void compact_input(struct h1 *h1)
{
        struct str left = input_left(h1);

        if (h1->n_taken == 0)
                return;
        memmove(h1->in.p, left.p, left.n);
        h1->in.n = left.n;
        h1->n_taken = 0;
}

static bool is_current(const struct h1 *h1, uint64_t serial)
{
        return !h1->is_closing && h1->current && h1->current->serial == serial;
}

static void tell_end(struct h1 *h1)
{
        struct h1_exchange *x = h1->current;
        uint64_t serial = x->serial;

        h1->input = INPUT_NOTHING;
        x->ex.has_peer_ended = true;
        x->ex.callbacks->on_end(&x->ex);
        if (is_current(h1, serial))
                end_if_over(x);
}

static void start_body(struct h1 *h1, const struct h1_framing *f, bool has_none)
{
        if (f->is_chunked && !has_none) {
                h1->input = INPUT_CHUNK_SIZE;
        } else if ((f->has_length ? f->length == 0 : h1->connection.options.is_server) || has_none) {
                tell_end(h1);
        } else if (f->has_length) {
                h1->input = INPUT_BODY;
                h1->left = f->length;
        } else {
                h1->input = INPUT_BODY_TO_END;
                h1->keeps_alive = false;
        }
}

static void refuse_head(struct h1 *h1, const struct err *err)
{
        int status = err->code == ERR_LIMIT ? 431 : err->code == ERR_UNSUPPORTED ? 501 : 400;
        _cleanup_buf_ struct buf head = BUF_INIT(0);

        buf_appendf(&head, "HTTP/1.1 %d %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", status,
                    reason_phrase(status));
        write_head(h1, &head);
        h1->input = INPUT_NOTHING;
        h1->is_draining = true;
        tell_drain(h1);
        finish_stream(h1);
}

static void take_request(struct h1 *h1, struct str text)
{
        struct h1_exchange *x = new_exchange(h1);
        uint64_t serial = x->serial;
        _cleanup_err_ struct err err = { 0 };
        int r;

        h1->last_input_ns = clock_mono_ns();
        r = h1_parse_request(text, h1->connection.options.max_head_bytes, &x->ex.arena, &x->ex.request, &x->framing,
                             &err);
        if (r < 0) {
                end_exchange(x, NULL);
                refuse_head(h1, &err);
                return;
        }
        x->ex.request.scheme = STR("http");
        x->is_head = str_equal(x->ex.request.method, STR("HEAD"));
        x->has_no_body = !x->framing.is_chunked && (!x->framing.has_length || x->framing.length == 0);
        h1->keeps_alive = x->framing.keeps_alive;
        h1->connection.callbacks->on_request(&h1->connection, &x->ex);
        if (!is_current(h1, serial))
                return;
        if (!x->ex.callbacks) {
                close_for(h1, ERR_FAILED, "nobody takes the request");
                return;
        }
        if (x->framing.expects_continue && !x->has_responded)
                stream_write(h1->stream, STR("HTTP/1.1 100 Continue\r\n\r\n"));
        if (!x->ex.has_peer_ended)
                start_body(h1, &x->framing, false);
}

static void take_response(struct h1 *h1, struct str text)
{
        struct h1_exchange *x = h1->current;
        uint64_t serial = x->serial;
        _cleanup_err_ struct err err = { 0 };
        int r;

        r = h1_parse_response(text, h1->connection.options.max_head_bytes, &x->ex.arena, &x->ex.response, &x->framing,
                              &err);
        if (r < 0) {
                err_wrap(&err, "malformed response");
                begin_close(h1, &err);
                return;
        }
        x->ex.was_processed = true;
        if (x->ex.response.status < 200) {
                x->ex.response = (struct http_head) { 0 };
                if (++x->n_interim > MAX_INTERIM)
                        close_for(h1, ERR_LIMIT, "too many interim responses");
                return; /* the next head follows */
        }
        h1->keeps_alive = x->framing.keeps_alive;
        x->ex.callbacks->on_head(&x->ex);
        if (!is_current(h1, serial))
                return;
        start_body(h1, &x->framing, x->is_head || x->ex.response.status == 204 || x->ex.response.status == 304);
}

/* True when something was understood and there may be more to understand. */
static bool take_head(struct h1 *h1)
{
        struct str whole = input_left(h1), text = whole;
        size_t n;

        if (h1->connection.options.is_server) /* RFC 9112: empty lines before a request are ignored */
                while (str_starts_with(text, STR("\r\n")))
                        text = str_skip(text, 2);
        n = h1_head_end(text);
        if (n == 0) {
                _cleanup_err_ struct err err = { 0 };

                if (h1->head_since_ns == 0)
                        h1->head_since_ns = clock_mono_ns();
                if (text.n <= h1->connection.options.max_head_bytes)
                        return false;
                err_set(&err, ERR_LIMIT, "the headers are larger than the limit of %u bytes",
                        h1->connection.options.max_head_bytes);
                if (h1->connection.options.is_server)
                        refuse_head(h1, &err);
                else
                        begin_close(h1, &err);
                return false;
        }
        h1->head_since_ns = 0;
        if (h1->connection.options.is_server)
                take_request(h1, str_first(text, n));
        else
                take_response(h1, str_first(text, n));
        drop_input(h1, (size_t)(text.p - whole.p) + n);
        return true;
}

static bool take_body(struct h1 *h1)
{
        struct h1_exchange *x = h1->current;
        struct str data = input_left(h1);
        uint64_t serial = x->serial;
        size_t n = data.n;

        if (h1->input != INPUT_BODY_TO_END)
                n = (size_t)MIN((uint64_t)n, h1->left);
        if (n == 0)
                return false;
        x->unconsumed += n;
        if (x->unconsumed >= h1->connection.options.window_bytes)
                stream_pause(h1->stream);
        h1->left -= h1->input == INPUT_BODY_TO_END ? 0 : n;
        drop_input(h1, n);
        x->ex.callbacks->on_body(&x->ex, str_first(data, n));
        if (!is_current(h1, serial))
                return false;
        if (h1->left > 0 || h1->input == INPUT_BODY_TO_END)
                return false;
        if (h1->input == INPUT_CHUNK)
                h1->input = INPUT_CHUNK_END;
        else if (h1->input == INPUT_BODY)
                tell_end(h1);
        return true;
}

static bool take_line(struct h1 *h1)
{
        struct str text = input_left(h1);
        ptrdiff_t end = str_find(text, STR("\r\n"));
        _cleanup_err_ struct err err = { 0 };

        if (end < 0 && text.n < MAX_CHUNK_LINE)
                return false;
        if (end < 0 || (h1->input == INPUT_CHUNK_END && end != 0)) {
                close_for(h1, ERR_INVALID, "malformed chunk");
                return false;
        }
        if (h1->input == INPUT_CHUNK_END) {
                h1->input = INPUT_CHUNK_SIZE;
        } else {
                if (h1_parse_chunk_size(str_first(text, (size_t)end), &h1->left, &err) < 0) {
                        begin_close(h1, &err);
                        return false;
                }
                h1->input = h1->left ? INPUT_CHUNK : INPUT_TRAILERS;
        }
        drop_input(h1, (size_t)end + 2);
        return true;
}

static bool take_trailers(struct h1 *h1)
{
        struct str text = input_left(h1);
        _cleanup_err_ struct err err = { 0 };
        size_t n = str_starts_with(text, STR("\r\n")) ? 2 : h1_head_end(text);
        struct exchange *ex = &h1->current->ex;

        if (n == 0) {
                if (text.n > h1->connection.options.max_head_bytes)
                        close_for(h1, ERR_LIMIT, "the trailers are too large");
                return false;
        }
        if (h1_parse_fields(str_first(text, n), h1->connection.options.max_head_bytes, &ex->arena, &ex->trailers,
                            &err) < 0) {
                begin_close(h1, &err);
                return false;
        }
        drop_input(h1, n);
        tell_end(h1);
        return true;
}

static bool step(struct h1 *h1)
{
        switch (h1->input) {
        case INPUT_HEAD:
                return input_left(h1).n > 0 && take_head(h1);
        case INPUT_BODY:
        case INPUT_BODY_TO_END:
        case INPUT_CHUNK:
                return h1->current->unconsumed < h1->connection.options.window_bytes && take_body(h1);
        case INPUT_CHUNK_SIZE:
        case INPUT_CHUNK_END:
                return take_line(h1);
        case INPUT_TRAILERS:
                return take_trailers(h1);
        case INPUT_NOTHING:
                return false;
        }
        return false;
}

/* Callbacks may come back here; the outer call goes on with what they left. */
static void advance(struct h1 *h1)
{
        if (h1->is_advancing)
                return;
        h1->is_advancing = true;
        while (!h1->is_closing && step(h1))
                ;
        h1->is_advancing = false;
        if (!h1->is_closing && h1->has_peer_closed && h1->input == INPUT_BODY_TO_END && input_left(h1).n == 0)
                tell_end(h1);
}

static void on_stream_data(struct stream *s, struct str data)
{
        struct h1 *h1 = stream_owner(s);

        if (h1->is_closing || h1->is_finishing)
                return;
        if (!h1->connection.options.is_server && !h1->current) {
                close_for(h1, ERR_INVALID, "the server sent a response nobody asked for");
                return;
        }
        h1->n_trickled += data.n;
        if (h1->n_trickled >= TRICKLE_BYTES) {
                h1->n_trickled = 0;
                h1->last_input_ns = clock_mono_ns();
        }
        compact_input(h1);
        buf_append_str(&h1->in, data);
        advance(h1);
        /* A peer that sends ahead is not read from until its turn. */
        if (!h1->is_closing &&
            input_left(h1).n > h1->connection.options.max_head_bytes + h1->connection.options.window_bytes)
                stream_pause(s);
}

static void on_stream_end(struct stream *s)
{
        struct h1 *h1 = stream_owner(s);

        h1->keeps_alive = false;
        if (h1->is_closing || h1->is_finishing)
                return;
        h1->has_peer_closed = true;
        if (h1->input == INPUT_BODY_TO_END) {
                advance(h1); /* the end comes when the owner has taken the rest */
                return;
        }
        /* A client may close its half once it has asked; the answer still goes out. */
        if (h1->connection.options.is_server && h1->current && h1->current->ex.has_peer_ended)
                return;
        if (h1->current || input_left(h1).n > 0)
                close_for(h1, ERR_CLOSED, "the peer closed the connection");
        else
                begin_close(h1, NULL);
}

static void on_stream_flush(struct stream *s)
{
        struct h1 *h1 = stream_owner(s);
        struct h1_exchange *x = h1->current;

        if (!x || !x->was_full || !stream_has_room(s))
                return;
        x->was_full = false;
        if (x->ex.callbacks && x->ex.callbacks->on_room)
                x->ex.callbacks->on_room(&x->ex);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct h1 *h1 = stream_owner(s);

        if (err && !h1->err.code)
                err_set(&h1->err, err->code, "%s", err_message(err));
        stop(h1);
        finish_close(h1);
}

static void on_stream_open(struct stream *s)
{
        (void)s; /* it was open before we had it */
}

static const struct stream_callbacks stream_callbacks = {
        .on_open = on_stream_open,
        .on_data = on_stream_data,
        .on_end = on_stream_end,
        .on_flush = on_stream_flush,
        .on_closed = on_stream_closed,
};

/* Time */

static void drain(struct http_connection *c)
{
        struct h1 *h1 = from_connection(c);

        if (h1->is_closing || h1->is_draining)
                return;
        h1->is_draining = true;
        tell_drain(h1);
        if (!h1->current)
                finish_stream(h1);
}

/* A server waits for the rest of a body that has begun; a client for an answer waits as long as its caller likes. */
static bool owes_us(const struct h1 *h1)
{
        if (!h1->connection.options.is_server)
                return false;
        return h1->current && !h1->current->ex.has_peer_ended &&
               h1->current->unconsumed < h1->connection.options.window_bytes / 2;
}

static void on_tick(uv_timer_t *t)
{
        struct h1 *h1 = t->data;
        const struct http_connection_options *o = &h1->connection.options;
        int64_t now_ns = clock_mono_ns();
        uint64_t sent = stream_sent_bytes(h1->stream);

        if (stream_queued_bytes(h1->stream) == 0 || sent != h1->last_sent)
                h1->last_output_ns = now_ns;
        h1->last_sent = sent;
        if (now_ns - h1->last_output_ns > o->stall_ms * NS_PER_MS)
                close_for(h1, ERR_TIMEOUT, "the peer does not read what it is sent");
        else if (h1->head_since_ns && now_ns - h1->head_since_ns > o->head_ms * NS_PER_MS)
                close_for(h1, ERR_TIMEOUT, "the peer does not finish a head");
        else if (owes_us(h1) && now_ns - h1->last_input_ns > o->stall_ms * NS_PER_MS)
                close_for(h1, ERR_TIMEOUT, "the peer does not finish its request");
        else if (!h1->current && o->idle_ms > 0 && now_ns - h1->idle_since_ns > o->idle_ms * NS_PER_MS)
                drain(&h1->connection);
}

/* Often enough for the shortest of its times. */
static uint64_t tick_ms(const struct http_connection_options *o)
{
        int64_t ms = MIN(MIN((int64_t)TICK_MS, o->stall_ms / 4), o->head_ms / 4);

        ms = o->idle_ms ? MIN(ms, o->idle_ms / 4) : ms;
        return (uint64_t)MAX(ms, (int64_t)10);
}

/* The connection */

static void take_input(struct http_connection *c, struct str data)
{
        on_stream_data(from_connection(c)->stream, data);
}

static bool has_slot(const struct http_connection *c)
{
        const struct h1 *h1 = from_connection(c);

        return !h1->current && !h1->is_closing && !h1->is_draining;
}

static size_t count(const struct http_connection *c)
{
        return from_connection(c)->current != NULL;
}

static struct exchange *request(struct http_connection *c, const struct http_head *head, bool has_body,
                                const struct exchange_callbacks *callbacks, void *owner)
{
        struct h1 *h1 = from_connection(c);
        struct h1_exchange *x = new_exchange(h1);
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        x->ex.callbacks = callbacks;
        x->ex.owner = owner;
        x->is_head = str_equal(head->method, STR("HEAD"));
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

static void close_now(struct http_connection *c, const struct err *err)
{
        begin_close(from_connection(c), err);
}

static const struct http_connection_ops connection_ops = {
        .input = take_input,
        .request = request,
        .has_slot = has_slot,
        .count = count,
        .drain = drain,
        .close = close_now,
};

struct http_connection *h1_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner)
{
        struct h1 *h1 = xcalloc(1, sizeof(*h1));

        h1->connection = (struct http_connection) { &connection_ops, callbacks, *options, owner };
        h1->stream = s;
        h1->n_pending = 2;
        h1->keeps_alive = true;
        h1->last_input_ns = h1->last_output_ns = h1->idle_since_ns = clock_mono_ns();
        if (options->head_ms == 0)
                h1->connection.options.head_ms = options->stall_ms;
        buf_init(&h1->in, 0);
        uv_timer_init(loop_uv(stream_loop(s)), &h1->timer);
        h1->timer.data = h1;
        uv_timer_start(&h1->timer, on_tick, tick_ms(&h1->connection.options), tick_ms(&h1->connection.options));
        stream_set_owner(s, &stream_callbacks, h1);
        return &h1->connection;
}
