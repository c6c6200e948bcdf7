#include "h1.h"

#include "clock.h"

#define MAX_INTERIM    16
#define MAX_CHUNK_LINE 256

struct str h1_input_left(const struct h1 *h1)
{
        return str_skip(buf_str(&h1->in), h1->n_taken);
}

static void drop_input(struct h1 *h1, size_t n)
{
        h1->n_taken += n;
        assert(h1->n_taken <= h1->in.n);
}

/* Drops processed input; called once for each piece of input, however many messages it holds. */
static void compact_input(struct h1 *h1)
{
        struct str left = h1_input_left(h1);

        if (h1->n_taken == 0)
                return;
        memmove(h1->in.p, left.p, left.n);
        h1->in.n = left.n;
        h1->n_taken = 0;
}

static bool is_current(const struct h1 *h1, uint64_t serial)
{
        return !h1->connection.is_closing && h1->current && h1->current->serial == serial;
}

static void tell_end(struct h1 *h1)
{
        struct h1_exchange *x = h1->current;
        uint64_t serial = x->serial;

        h1->input = INPUT_NOTHING;
        x->ex.has_peer_ended = true;
        x->ex.callbacks->on_end(&x->ex);
        if (is_current(h1, serial))
                h1_exchange_end_if_over(x);
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

static void take_request(struct h1 *h1, struct str text)
{
        struct h1_exchange *x = h1_exchange_new(h1);
        uint64_t serial = x->serial;
        _cleanup_err_ struct err err = { 0 };
        int r;

        h1->progress.last_ns = clock_mono_ns();
        r = h1_parse_request(text, h1->connection.options.max_head_bytes, &x->ex.arena, &x->ex.request, &x->framing,
                             &err);
        if (r < 0) {
                h1_exchange_end(x, NULL);
                h1_refuse_head(h1, &err);
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
                connection_fail(&h1->connection, ERR_FAILED, "nobody takes the request");
                return;
        }
        if (x->framing.expects_continue && !x->has_responded)
                stream_write(h1->connection.stream, STR("HTTP/1.1 100 Continue\r\n\r\n"));
        if (!x->ex.has_peer_ended)
                start_body(h1, &x->framing, false);
}

static void take_interim(struct h1 *h1)
{
        struct h1_exchange *x = h1->current;
        uint64_t serial = x->serial;

        if (++x->n_interim > MAX_INTERIM)
                connection_fail(&h1->connection, ERR_LIMIT, "too many interim responses");
        else if (x->ex.callbacks->on_interim)
                x->ex.callbacks->on_interim(&x->ex);
        if (is_current(h1, serial))
                x->ex.response = (struct http_head) { 0 };
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
                http_connection_close(&h1->connection, &err);
                return;
        }
        if (x->ex.response.status < 200) {
                take_interim(h1);
                return; /* the next head follows */
        }
        h1->keeps_alive = x->framing.keeps_alive;
        x->ex.callbacks->on_head(&x->ex);
        if (!is_current(h1, serial))
                return;
        start_body(h1, &x->framing, x->is_head || x->ex.response.status == 204 || x->ex.response.status == 304);
}

/* True when a part was processed and more input may follow. */
static bool take_head(struct h1 *h1)
{
        struct str whole = h1_input_left(h1), text = whole;
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
                        h1_refuse_head(h1, &err);
                else
                        http_connection_close(&h1->connection, &err);
                return false;
        }
        h1->head_since_ns = 0;
        drop_input(h1, (size_t)(text.p - whole.p) + n); /* before the callbacks, which may end the exchange */
        if (h1->connection.options.is_server)
                take_request(h1, str_first(text, n));
        else
                take_response(h1, str_first(text, n));
        return true;
}

static bool take_body(struct h1 *h1)
{
        struct h1_exchange *x = h1->current;
        struct str data = h1_input_left(h1);
        uint64_t serial = x->serial;
        size_t n = data.n;

        if (h1->input != INPUT_BODY_TO_END)
                n = (size_t)MIN((uint64_t)n, h1->left);
        if (n == 0)
                return false;
        x->unconsumed += n;
        if (x->unconsumed >= h1->connection.options.window_bytes)
                stream_pause(h1->connection.stream);
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
        struct str text = h1_input_left(h1);
        ptrdiff_t end = str_find(text, STR("\r\n"));
        _cleanup_err_ struct err err = { 0 };

        if (end < 0 && text.n < MAX_CHUNK_LINE)
                return false;
        if (end < 0 || (h1->input == INPUT_CHUNK_END && end != 0)) {
                connection_fail(&h1->connection, ERR_INVALID, "malformed chunk");
                return false;
        }
        if (h1->input == INPUT_CHUNK_END) {
                h1->input = INPUT_CHUNK_SIZE;
        } else {
                if (h1_parse_chunk_size(str_first(text, (size_t)end), &h1->left, &err) < 0) {
                        http_connection_close(&h1->connection, &err);
                        return false;
                }
                h1->input = h1->left ? INPUT_CHUNK : INPUT_TRAILERS;
        }
        drop_input(h1, (size_t)end + 2);
        return true;
}

static bool take_trailers(struct h1 *h1)
{
        struct str text = h1_input_left(h1);
        _cleanup_err_ struct err err = { 0 };
        size_t n = str_starts_with(text, STR("\r\n")) ? 2 : h1_head_end(text);
        struct exchange *ex = &h1->current->ex;

        if (n == 0) {
                if (text.n > h1->connection.options.max_head_bytes)
                        connection_fail(&h1->connection, ERR_LIMIT, "the trailers are too large");
                return false;
        }
        if (h1_parse_fields(str_first(text, n), h1->connection.options.max_head_bytes, &ex->arena, &ex->trailers,
                            &err) < 0) {
                http_connection_close(&h1->connection, &err);
                return false;
        }
        drop_input(h1, n);
        tell_end(h1);
        return true;
}

/* Whether the owner must consume more of the body before more is delivered. */
static bool is_held_back(const struct h1 *h1)
{
        return h1->current && h1->current->unconsumed >= h1->connection.options.window_bytes;
}

/* A client that sends requests but does not read answers must wait until there is room for another answer; then flush continues
 * here. */
static bool waits_for_room(struct h1 *h1)
{
        if (!h1->connection.options.is_server || stream_has_room(h1->connection.stream))
                return false;
        h1->is_waiting_for_room = true;
        stream_want_flush(h1->connection.stream);
        return true;
}

static bool step(struct h1 *h1)
{
        switch (h1->input) {
        case INPUT_HEAD:
                return h1_input_left(h1).n > 0 && !waits_for_room(h1) && take_head(h1);
        case INPUT_BODY:
        case INPUT_BODY_TO_END:
        case INPUT_CHUNK:
                return !is_held_back(h1) && take_body(h1);
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

/* The peer has closed its sending half: handle the complete input, since no more follows. */
static void settle_end(struct h1 *h1)
{
        if (h1->is_waiting_for_room)
                return;
        if (h1->input == INPUT_BODY_TO_END && h1_input_left(h1).n == 0)
                tell_end(h1);
        else if (h1->input != INPUT_NOTHING && h1->input != INPUT_BODY_TO_END && !is_held_back(h1))
                connection_fail(&h1->connection, ERR_CLOSED, "the peer closed the connection");
}

/* Callbacks may call this function again; such a call returns at once, and the outer call continues with the remaining input. */
void h1_advance(struct h1 *h1)
{
        if (h1->is_advancing)
                return;
        h1->is_advancing = true;
        while (!h1->connection.is_closing && step(h1))
                ;
        h1->is_advancing = false;
        if (h1->has_peer_closed && !h1->connection.is_closing && !h1->connection.is_finishing)
                settle_end(h1);
}

void h1_input(struct http_connection *c, struct str data)
{
        struct h1 *h1 = h1_from(c);

        if (c->is_finishing)
                return;
        if (!h1->connection.options.is_server && !h1->current) {
                connection_fail(&h1->connection, ERR_INVALID, "the server sent a response nobody asked for");
                return;
        }
        progress_add(&h1->progress, data.n, 0, clock_mono_ns());
        compact_input(h1);
        buf_append_str(&h1->in, data);
        h1_advance(h1);
        /* Stop reading from a peer that sends far ahead. */
        if (!h1->connection.is_closing &&
            h1_input_left(h1).n > h1->connection.options.max_head_bytes + h1->connection.options.window_bytes)
                stream_pause(c->stream);
}
