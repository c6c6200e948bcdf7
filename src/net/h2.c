#include "connection.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"
#include "timetext.h"
#include "vec.h"

#include <nghttp2/nghttp2.h>

/* Output of one exchange that may wait for the peer's window before exchange_has_room says no. */
#define ROOM_BYTES (256u << 10)

/* How often a connection is looked at for stalls, at most. */
#define TICK_MS 1000

/* A body that trickles slower than this many bytes in stall_ms counts as stalled. */
#define TRICKLE_BYTES 1024

/* Interim responses before the real one. */
#define MAX_INTERIM 16

/* Streams that a peer may open and reset: a bucket of this many that fills by so many a second. An honest client that
 * cancels calls stays far below it. */
#define RESET_BURST 1000
#define RESET_RATE  100

struct piece {
        struct bytes *bytes;
        size_t offset;
};

struct h2_exchange {
        struct exchange ex;
        struct h2 *h2;
        struct h2_exchange *next, *prev;
        int32_t id;
        size_t head_bytes; /* of the head or trailers being received */
        VEC(struct piece) pieces;
        size_t first_piece;
        size_t queued_bytes;
        size_t unconsumed;      /* bytes of the peer's body that the owner has, and the connection's window lacks */
        size_t n_trickled;      /* bytes of the peer's body since last_input_ns */
        int64_t last_input_ns;  /* when the peer last did its part of the request */
        int64_t last_output_ns; /* when the queue last shrank, or began to fill */
        unsigned n_interim;
        struct http_fields our_trailers;
        bool has_head;     /* the peer's head is complete; more fields are trailers */
        bool is_reset;     /* by us: the owner hears nothing more but on_closed */
        bool has_told;     /* the owner knows the exchange: its callbacks are set */
        bool is_too_large; /* the head passed the limit: it is answered with 431 */
        bool is_deferred;  /* the library waits for nghttp2_session_resume_data */
        bool has_finished; /* our side is complete once the queue is empty */
        bool has_trailers;
        bool has_responded;
        bool was_full; /* on_room is owed */
};

/* How far a server is with saying goodbye. */
enum drain {
        DRAIN_NONE,
        DRAIN_NOTICE, /* told not to begin anything; what was under way until the ping comes back is served */
        DRAIN_FINAL,  /* told which request is the last */
};

struct h2 {
        struct http_connection connection;
        struct stream *stream;
        nghttp2_session *session;
        uv_timer_t timer;
        struct h2_exchange *exchanges;
        size_t n_exchanges;
        struct err err;
        int64_t now_ns; /* of the turn; for what happens often */
        int64_t last_input_ns;
        int64_t last_output_ns;
        uint64_t last_sent;
        int64_t idle_since_ns;
        int64_t notice_ns; /* when the drain began */
        enum drain drain;
        int invalid;               /* the library's word for the last frame that broke the rules; 0: none */
        int32_t last_id;           /* server: of the newest request */
        int32_t gap_low, gap_high; /* ids that the newest request skipped: they can never be used */
        bool is_draining;
        bool has_told_drain;
        bool is_finishing; /* nothing new goes out */
        bool is_closing;
        bool is_pinging;
        unsigned n_pending; /* stream and timer that are still to be closed */
};

static void wake(struct h2 *h2)
{
        if (!h2->is_closing && !h2->is_finishing)
                stream_want_flush(h2->stream);
}

static struct h2_exchange *to_h2(const struct exchange *ex)
{
        return CONTAINER_OF(ex, struct h2_exchange, ex);
}

/* Exchanges */

static const struct exchange_ops h2_ops;

static struct h2_exchange *add_exchange(struct h2 *h2)
{
        struct h2_exchange *x = xcalloc(1, sizeof(*x));

        arena_init(&x->ex.arena, "HTTP head", 0);
        x->ex.ops = &h2_ops;
        x->ex.loop = stream_loop(h2->stream);
        x->h2 = h2;
        x->next = h2->exchanges;
        if (x->next)
                x->next->prev = x;
        x->last_input_ns = x->last_output_ns = clock_mono_ns();
        h2->exchanges = x;
        h2->n_exchanges++;
        return x;
}

static void remove_exchange(struct h2_exchange *x, const struct err *err)
{
        struct h2 *h2 = x->h2;

        if (x->prev)
                x->prev->next = x->next;
        else
                h2->exchanges = x->next;
        if (x->next)
                x->next->prev = x->prev;
        if (--h2->n_exchanges == 0)
                h2->idle_since_ns = clock_mono_ns();
        if (x->unconsumed > 0)
                nghttp2_session_consume_connection(h2->session, x->unconsumed);
        if (x->has_told)
                x->ex.callbacks->on_closed(&x->ex, err);
        for (size_t i = x->first_piece; i < x->pieces.n; i++)
                bytes_unref(x->pieces.p[i].bytes);
        vec_done(&x->pieces);
        arena_done(&x->ex.arena);
        free(x);
}

static nghttp2_nv field(struct str name, struct str value)
{
        return (nghttp2_nv) { (uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n, NGHTTP2_NV_FLAG_NONE };
}

/* The library copies names and values when they are submitted. */
static size_t add_fields(nghttp2_nv *out, size_t n, const struct http_fields *fields)
{
        for (size_t i = 0; fields && i < fields->n; i++)
                out[n++] = field(fields->p[i].name, fields->p[i].value);
        return n;
}

static void submit_trailers(struct h2_exchange *x)
{
        nghttp2_nv *fields = arena_alloc(&x->ex.arena, (x->our_trailers.n + 1) * sizeof(*fields));
        size_t n = add_fields(fields, 0, &x->our_trailers);

        nghttp2_submit_trailer(x->h2->session, x->id, fields, n);
}

/* Tells the library how much of the body comes next; on_send_data then puts it on the stream without a copy in between. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *into, size_t n, uint32_t *flags,
                         nghttp2_data_source *source, void *h2)
{
        struct h2_exchange *x = source->ptr;
        size_t give = MIN(n, x->queued_bytes);

        (void)session, (void)id, (void)into, (void)h2;
        if (give == x->queued_bytes && x->has_finished) {
                *flags |= NGHTTP2_DATA_FLAG_EOF;
                if (x->has_trailers) {
                        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                        submit_trailers(x);
                }
        } else if (give == 0) {
                x->is_deferred = true;
                return NGHTTP2_ERR_DEFERRED;
        }
        if (give > 0)
                *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
        return (ssize_t)give;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                        nghttp2_data_source *source, void *arg)
{
        struct h2_exchange *x = source->ptr;
        struct h2 *h2 = arg;

        (void)session, (void)frame;
        if (!stream_has_room(h2->stream))
                return NGHTTP2_ERR_WOULDBLOCK;
        stream_write(h2->stream, str_make((const char *)head, 9));
        x->queued_bytes -= n;
        x->last_output_ns = h2->now_ns;
        while (n > 0) {
                struct piece *p = &x->pieces.p[x->first_piece];
                size_t part = MIN(n, p->bytes->str.n - p->offset);

                stream_write_bytes(h2->stream, p->bytes, p->offset, part);
                p->offset += part;
                n -= part;
                if (p->offset == p->bytes->str.n) {
                        bytes_unref(p->bytes);
                        x->first_piece++;
                }
        }
        if (x->first_piece == x->pieces.n) {
                x->first_piece = 0;
                vec_clear(&x->pieces);
        }
        return 0;
}

static void resume(struct h2_exchange *x)
{
        if (x->is_deferred) {
                x->is_deferred = false;
                nghttp2_session_resume_data(x->h2->session, x->id);
        }
        wake(x->h2);
}

static void respond(struct exchange *ex, int status, const struct http_fields *fields, bool is_all)
{
        struct h2_exchange *x = to_h2(ex);
        nghttp2_data_provider body = { { .ptr = x }, read_body };
        nghttp2_nv *out = arena_alloc(&ex->arena, ((fields ? fields->n : 0) + 1) * sizeof(*out));
        struct str text = arena_printf(&ex->arena, "%d", status);
        size_t n;

        assert(!x->has_responded);
        x->has_responded = true;
        out[0] = field(STR(":status"), text);
        n = add_fields(out, 1, fields);
        x->has_finished = is_all;
        nghttp2_submit_response(x->h2->session, x->id, out, n, is_all ? NULL : &body);
        wake(x->h2);
}

static void send_piece(struct exchange *ex, struct bytes *b)
{
        struct h2_exchange *x = to_h2(ex);

        assert(!x->has_finished);
        if (b->str.n == 0) {
                bytes_unref(b);
                return;
        }
        if (x->queued_bytes == 0)
                x->last_output_ns = clock_mono_ns();
        vec_push(&x->pieces, (struct piece) { b, 0 });
        x->queued_bytes += b->str.n;
        resume(x);
}

static void finish(struct exchange *ex, const struct http_fields *trailers)
{
        struct h2_exchange *x = to_h2(ex);

        assert(!x->has_finished);
        x->has_finished = true;
        if (trailers && trailers->n > 0) {
                for (size_t i = 0; i < trailers->n; i++)
                        http_fields_add(&x->our_trailers, &ex->arena, trailers->p[i].name, trailers->p[i].value);
                x->has_trailers = true;
        }
        resume(x);
}

static void reset(struct exchange *ex, enum http_reset why)
{
        struct h2_exchange *x = to_h2(ex);

        if (x->is_reset)
                return;
        x->is_reset = true;
        nghttp2_submit_rst_stream(x->h2->session, NGHTTP2_FLAG_NONE, x->id, (uint32_t)why);
        wake(x->h2);
}

static void consume(struct exchange *ex, size_t n)
{
        struct h2_exchange *x = to_h2(ex);

        assert(n <= x->unconsumed);
        x->unconsumed -= n;
        nghttp2_session_consume(x->h2->session, x->id, n);
        wake(x->h2);
}

static bool has_room(const struct exchange *ex)
{
        struct h2_exchange *x = to_h2(ex);

        if (x->queued_bytes < ROOM_BYTES)
                return true;
        x->was_full = true;
        return false;
}

static const struct exchange_ops h2_ops = {
        .respond = respond,
        .send = send_piece,
        .finish = finish,
        .reset = reset,
        .consume = consume,
        .has_room = has_room,
};

/* What the library tells us */

static struct h2_exchange *find(nghttp2_session *session, int32_t id)
{
        return nghttp2_session_get_stream_user_data(session, id);
}

/* The library ignores requests on numbers that were skipped; RFC 9113 5.1.1 wants the connection to end. */
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *arg)
{
        struct h2 *h2 = arg;

        if (head->type == NGHTTP2_HEADERS && head->stream_id > 0 && head->stream_id >= h2->gap_low &&
            head->stream_id <= h2->gap_high)
                nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
        return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct h2 *h2 = arg;
        struct h2_exchange *x;

        if (h2->connection.options.is_server && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
                x = add_exchange(h2);
                x->id = frame->hd.stream_id;
                if (x->id > h2->last_id + 2) {
                        h2->gap_low = h2->last_id + 1;
                        h2->gap_high = x->id - 1;
                }
                h2->last_id = x->id;
                nghttp2_session_set_stream_user_data(session, x->id, x);
                return 0;
        }
        x = find(session, frame->hd.stream_id);
        if (!x)
                return 0;
        x->head_bytes = 0;
        if (!x->has_head)
                x->ex.response = (struct http_head) { 0 }; /* of an interim response */
        return 0;
}

/* Pseudo-fields go to their own places. The library has checked that they are the right ones. */
static void keep_field(struct h2_exchange *x, struct str name, struct str value)
{
        struct exchange *ex = &x->ex;
        struct http_head *head = x->h2->connection.options.is_server ? &ex->request : &ex->response;
        static const struct {
                struct str name;
                size_t offset;
        } pseudo[] = {
                { STR_INIT(":method"), offsetof(struct http_head, method) },
                { STR_INIT(":scheme"), offsetof(struct http_head, scheme) },
                { STR_INIT(":authority"), offsetof(struct http_head, authority) },
                { STR_INIT(":path"), offsetof(struct http_head, path) },
        };

        if (name.n == 0 || name.p[0] != ':') {
                http_fields_add(x->has_head ? &ex->trailers : &head->fields, &ex->arena, name, value);
                return;
        }
        if (str_equal(name, STR(":status"))) {
                head->status = 0;
                for (size_t i = 0; i < value.n; i++)
                        head->status = head->status * 10 + (value.p[i] - '0');
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(pseudo); i++)
                if (str_equal(name, pseudo[i].name))
                        *(struct str *)((char *)head + pseudo[i].offset) = arena_copy(&ex->arena, value);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n_name,
                     const uint8_t *value, size_t n_value, uint8_t flags, void *arg)
{
        struct h2_exchange *x = find(session, frame->hd.stream_id);
        struct h2 *h2 = arg;

        (void)flags;
        if (!x)
                return 0;
        x->head_bytes += n_name + n_value + 32;
        if (x->head_bytes > h2->connection.options.max_head_bytes) {
                x->is_too_large = true;
                return 0; /* the rest is not kept, so a longer head costs nothing more */
        }
        keep_field(x, str_make((const char *)name, n_name), str_make((const char *)value, n_value));
        return 0;
}

static void tell_end(struct h2_exchange *x)
{
        if (x->ex.has_peer_ended || !x->has_told || x->is_reset)
                return;
        x->ex.has_peer_ended = true;
        x->ex.callbacks->on_end(&x->ex);
        /* A server that has answered does not want the rest of the request. */
        if (!x->h2->connection.options.is_server && (!x->has_finished || x->queued_bytes > 0))
                reset(&x->ex, HTTP_RESET_CANCEL);
}

static void refuse_head(struct h2_exchange *x)
{
        struct http_fields none = { 0 };

        if (x->h2->connection.options.is_server && !x->has_told)
                respond(&x->ex, 431, &none, true);
        else
                reset(&x->ex, HTTP_RESET_ENHANCE_YOUR_CALM);
}

static void on_headers(struct h2 *h2, struct h2_exchange *x, const nghttp2_frame *frame)
{
        if (x->is_too_large) {
                x->has_head = true;
                refuse_head(x);
                return;
        }
        x->last_input_ns = h2->now_ns;
        if (x->is_reset)
                return;
        if (h2->connection.options.is_server && !x->has_head) {
                x->has_head = true;
                h2->connection.callbacks->on_request(&h2->connection, &x->ex);
                x->has_told = x->ex.callbacks != NULL;
                if (!x->has_told && !x->is_reset)
                        reset(&x->ex, HTTP_RESET_INTERNAL_ERROR);
        } else if (!x->has_head) {
                x->ex.was_processed = true;
                if (x->ex.response.status < 200) {
                        if (++x->n_interim > MAX_INTERIM)
                                reset(&x->ex, HTTP_RESET_ENHANCE_YOUR_CALM);
                        return;
                }
                x->has_head = true;
                x->ex.callbacks->on_head(&x->ex);
        }
        if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
                tell_end(x);
}

static void tell_drain(struct h2 *h2)
{
        if (h2->has_told_drain)
                return;
        h2->has_told_drain = true;
        h2->connection.callbacks->on_drain(&h2->connection);
}

/* A drain's second step: whatever came in until now is served, nothing after it. */
static void name_last_request(struct h2 *h2)
{
        if (h2->drain != DRAIN_NOTICE)
                return;
        h2->drain = DRAIN_FINAL;
        nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2->session),
                              NGHTTP2_NO_ERROR, NULL, 0);
        wake(h2);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct h2 *h2 = arg;
        struct h2_exchange *x = find(session, frame->hd.stream_id);

        switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
                if (x)
                        on_headers(h2, x, frame);
                break;
        case NGHTTP2_DATA:
                if (x && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
                        tell_end(x);
                break;
        case NGHTTP2_PING:
                if (frame->hd.flags & NGHTTP2_FLAG_ACK) {
                        h2->is_pinging = false;
                        name_last_request(h2);
                }
                break;
        case NGHTTP2_SETTINGS:
                if (h2->connection.callbacks->on_slot && !h2->connection.options.is_server)
                        h2->connection.callbacks->on_slot(&h2->connection);
                break;
        case NGHTTP2_GOAWAY:
                h2->is_draining = true;
                tell_drain(h2);
                break;
        }
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t n, void *arg)
{
        struct h2_exchange *x = find(session, id);
        struct h2 *h2 = arg;

        (void)flags;
        if (!x || !x->has_told || x->is_reset) {
                nghttp2_session_consume(session, id, n);
                return 0;
        }
        x->n_trickled += n;
        if (x->n_trickled >= TRICKLE_BYTES) {
                x->n_trickled = 0;
                x->last_input_ns = h2->now_ns;
        }
        x->unconsumed += n;
        x->ex.callbacks->on_body(&x->ex, str_make((const char *)data, n));
        return 0;
}

static int on_exchange_closed(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
        struct h2_exchange *x = find(session, id);
        struct h2 *h2 = arg;
        _cleanup_err_ struct err err = { 0 };

        if (!x)
                return 0;
        nghttp2_session_set_stream_user_data(session, id, NULL);
        x->ex.peer_reset = (enum http_reset)code;
        if (code != NGHTTP2_NO_ERROR) {
                err_set(&err, ERR_CLOSED, "the HTTP/2 stream was reset: %s", nghttp2_http2_strerror(code));
                if (code != NGHTTP2_REFUSED_STREAM)
                        x->ex.was_processed = true;
        } else if (!x->ex.has_peer_ended) {
                err_set(&err, ERR_CLOSED, "the HTTP/2 stream ended early");
        }
        remove_exchange(x, err.code ? &err : NULL);
        if (h2->connection.callbacks->on_slot && !h2->connection.options.is_server)
                h2->connection.callbacks->on_slot(&h2->connection);
        return 0;
}

/* A request of ours that the library could not put on the wire: nothing was done by the peer. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int code, void *arg)
{
        struct h2_exchange *x;
        _cleanup_err_ struct err err = { 0 };

        (void)arg;
        if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
                return 0;
        x = find(session, frame->hd.stream_id);
        if (!x)
                return 0;
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, NULL);
        err_set(&err, ERR_CLOSED, "the request was not sent: %s", nghttp2_strerror(code));
        x->ex.peer_reset = HTTP_RESET_REFUSED;
        remove_exchange(x, &err);
        return 0;
}

/* A server whose answer is complete before the request is asks the peer to stop sending. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct h2 *h2 = arg;
        struct h2_exchange *x;

        if (!h2->connection.options.is_server || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
            (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
                return 0;
        x = find(session, frame->hd.stream_id);
        if (x && nghttp2_session_get_stream_remote_close(session, x->id) == 0)
                reset(&x->ex, HTTP_RESET_NONE);
        return 0;
}

static int on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int code, void *arg)
{
        struct h2 *h2 = arg;

        (void)session, (void)frame;
        h2->invalid = code;
        return 0;
}

static ssize_t on_send(nghttp2_session *session, const uint8_t *data, size_t n, int flags, void *arg)
{
        struct h2 *h2 = arg;

        (void)session, (void)flags;
        if (!stream_has_room(h2->stream))
                return NGHTTP2_ERR_WOULDBLOCK;
        stream_write(h2->stream, str_make((const char *)data, n));
        return (ssize_t)n;
}

/* Output and the end */

static void give_room(struct h2 *h2)
{
        for (struct h2_exchange *x = h2->exchanges, *next; x; x = next) {
                next = x->next;
                if (!x->was_full || x->queued_bytes >= ROOM_BYTES)
                        continue;
                x->was_full = false;
                if (x->has_told && !x->is_reset && x->ex.callbacks->on_room)
                        x->ex.callbacks->on_room(&x->ex);
        }
}

static bool is_over(struct h2 *h2)
{
        return !nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session);
}

static void close_now(struct h2 *h2, const struct err *err);

static void fail_session(struct h2 *h2, int code)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "HTTP/2 failed: %s", nghttp2_strerror(code));
        close_now(h2, &err);
}

static void on_stream_flush(struct stream *s)
{
        struct h2 *h2 = stream_owner(s);
        int r;

        h2->now_ns = clock_mono_ns();
        r = nghttp2_session_send(h2->session);
        if (r < 0) {
                fail_session(h2, r);
                return;
        }
        give_room(h2);
        if (is_over(h2) || (h2->is_draining && h2->n_exchanges == 0 && !h2->connection.options.is_server)) {
                if (h2->n_exchanges > 0 && !h2->err.code)
                        err_set(&h2->err, ERR_INVALID, "HTTP/2 failed: %s",
                                h2->invalid ? nghttp2_strerror(h2->invalid) : "the session was ended");
                h2->is_finishing = true;
                stream_finish(s, h2->connection.options.stall_ms);
        } else if (nghttp2_session_want_write(h2->session) && !stream_has_room(s))
                stream_want_flush(s);
}

static void take_input(struct h2 *h2, struct str data)
{
        ssize_t r;

        if (h2->is_closing)
                return;
        h2->now_ns = h2->last_input_ns = clock_mono_ns();
        h2->is_pinging = false;
        r = nghttp2_session_mem_recv(h2->session, (const uint8_t *)data.p, data.n);
        if (r < 0) {
                fail_session(h2, (int)r);
                return;
        }
        wake(h2);
}

static void on_stream_data(struct stream *s, struct str data)
{
        take_input(stream_owner(s), data);
}

static void on_stream_end(struct stream *s)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_CLOSED, "the peer closed the connection");
        close_now(stream_owner(s), &err);
}

static void finish_close(struct h2 *h2)
{
        if (--h2->n_pending > 0)
                return;
        if (h2->exchanges && !h2->err.code)
                err_set(&h2->err, ERR_CLOSED, "the connection was closed");
        while (h2->exchanges) {
                struct h2_exchange *x = h2->exchanges;

                nghttp2_session_set_stream_user_data(h2->session, x->id, NULL);
                remove_exchange(x, h2->err.code ? &h2->err : NULL);
        }
        h2->connection.callbacks->on_closed(&h2->connection, h2->err.code ? &h2->err : NULL);
        nghttp2_session_del(h2->session);
        err_done(&h2->err);
        free(h2);
}

static void on_timer_closed(uv_handle_t *t)
{
        finish_close(t->data);
}

static void begin_close(struct h2 *h2)
{
        if (h2->is_closing)
                return;
        h2->is_closing = true;
        uv_close((uv_handle_t *)&h2->timer, on_timer_closed);
}

static void on_stream_closed(struct stream *s, const struct err *err)
{
        struct h2 *h2 = stream_owner(s);

        if (err && !h2->err.code)
                err_set(&h2->err, err->code, "%s", err_message(err));
        begin_close(h2);
        finish_close(h2);
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

static void close_now(struct h2 *h2, const struct err *err)
{
        if (h2->is_closing)
                return;
        if (err && err->code && !h2->err.code)
                err_set(&h2->err, err->code, "%s", err_message(err));
        begin_close(h2);
        stream_close(h2->stream, err);
}

/* Time */

static void close_for(struct h2 *h2, const char *why)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_TIMEOUT, "%s", why);
        close_now(h2, &err);
}

/* A client just begins nothing more. A server first says that it will stop, and which request was the last when the peer has
 * surely heard it, so that no request that was on its way is lost. */
static void drain_now(struct h2 *h2)
{
        if (h2->is_closing || h2->drain != DRAIN_NONE)
                return;
        h2->is_draining = true;
        h2->drain = DRAIN_NOTICE;
        h2->notice_ns = clock_mono_ns();
        if (h2->connection.options.is_server) {
                nghttp2_submit_shutdown_notice(h2->session);
                nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL);
        }
        tell_drain(h2);
        wake(h2);
}

/* A peer that owes the rest of a request, or does not make room for its answer. What the owner holds back is not its fault. */
static bool is_stalled(const struct h2_exchange *x, int64_t now_ns)
{
        const struct http_connection_options *o = &x->h2->connection.options;
        int64_t input_ms = x->has_head ? o->stall_ms : o->head_ms;

        if (!x->ex.has_peer_ended && x->unconsumed < o->window_bytes / 2 &&
            now_ns - x->last_input_ns > input_ms * NS_PER_MS)
                return true;
        return x->queued_bytes > 0 && now_ns - x->last_output_ns > o->stall_ms * NS_PER_MS;
}

/* Servers only: a client's caller has a deadline and a cancel token instead. */
static void reset_stalled(struct h2 *h2, int64_t now_ns)
{
        for (struct h2_exchange *x = h2->exchanges, *next; x; x = next) {
                next = x->next;
                if (!is_stalled(x, now_ns))
                        continue;
                if (!x->has_head) { /* the library waits for the rest of it and for nothing else */
                        close_for(h2, "the peer does not finish a head");
                        return;
                }
                reset(&x->ex, HTTP_RESET_CANCEL);
        }
}

static void keep_alive(struct h2 *h2, int64_t silent_ms)
{
        const struct http_connection_options *o = &h2->connection.options;

        if (o->keepalive_ms == 0 || silent_ms <= o->keepalive_ms)
                return;
        if (!h2->is_pinging) {
                h2->is_pinging = true;
                nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL);
                wake(h2);
        } else if (silent_ms > o->keepalive_ms + o->stall_ms) {
                close_for(h2, "the peer does not answer pings");
        }
}

static void on_tick(uv_timer_t *t)
{
        struct h2 *h2 = t->data;
        const struct http_connection_options *o = &h2->connection.options;
        int64_t now_ns = clock_mono_ns();
        uint64_t sent = stream_sent_bytes(h2->stream);

        if (stream_queued_bytes(h2->stream) == 0 || sent != h2->last_sent)
                h2->last_output_ns = now_ns;
        h2->last_sent = sent;
        if (now_ns - h2->last_output_ns > o->stall_ms * NS_PER_MS) {
                close_for(h2, "the peer does not read what it is sent");
                return;
        }
        if (h2->drain == DRAIN_NOTICE && o->is_server && now_ns - h2->notice_ns > o->stall_ms * NS_PER_MS)
                name_last_request(h2);
        if (o->is_server)
                reset_stalled(h2, now_ns);
        if (h2->n_exchanges > 0)
                keep_alive(h2, (now_ns - h2->last_input_ns) / NS_PER_MS);
        else if (o->idle_ms > 0 && now_ns - h2->idle_since_ns > o->idle_ms * NS_PER_MS)
                drain_now(h2);
}

/* Often enough for the shortest of its times. */
static uint64_t tick_ms(const struct http_connection_options *o)
{
        int64_t ms = MIN((int64_t)TICK_MS, o->stall_ms / 4);

        ms = MIN(ms, o->head_ms / 4);
        ms = o->idle_ms ? MIN(ms, o->idle_ms / 4) : ms;
        ms = o->keepalive_ms ? MIN(ms, o->keepalive_ms / 4) : ms;
        return (uint64_t)MAX(ms, (int64_t)10);
}

/* Beginning */

static nghttp2_session *new_session(struct h2 *h2)
{
        nghttp2_session_callbacks *c;
        nghttp2_option *o;
        nghttp2_session *session;
        int r;

        nghttp2_session_callbacks_new(&c);
        nghttp2_session_callbacks_set_send_callback(c, on_send);
        nghttp2_session_callbacks_set_send_data_callback(c, on_send_data);
        nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(c, on_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(c, on_exchange_closed);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(c, on_not_sent);
        nghttp2_session_callbacks_set_on_frame_send_callback(c, on_sent);
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, on_invalid);
        nghttp2_option_new(&o);
        nghttp2_option_set_no_auto_window_update(o, 1);
        nghttp2_option_set_max_outbound_ack(o, 100);
        nghttp2_option_set_stream_reset_rate_limit(o, RESET_BURST, RESET_RATE);
        nghttp2_option_set_max_continuations(o, 8);
        r = h2->connection.options.is_server ? nghttp2_session_server_new2(&session, c, h2, o)
                                             : nghttp2_session_client_new2(&session, c, h2, o);
        assert(r == 0);
        nghttp2_option_del(o);
        nghttp2_session_callbacks_del(c);
        return session;
}

static void submit_settings(struct h2 *h2)
{
        nghttp2_settings_entry settings[] = {
                { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, h2->connection.options.max_exchanges },
                { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, h2->connection.options.window_bytes },
                { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, h2->connection.options.max_head_bytes },
                { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        };
        size_t n = ARRAY_SIZE(settings) - h2->connection.options.is_server; /* only clients speak of push */

        nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, n);
        nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                              (int32_t)MIN(h2->connection.options.window_bytes * 8ull, INT32_MAX));
}

static struct h2 *from_connection(const struct http_connection *c)
{
        return CONTAINER_OF(c, struct h2, connection);
}

static void h2_input(struct http_connection *c, struct str data)
{
        take_input(from_connection(c), data);
}

static bool h2_has_slot(const struct http_connection *c)
{
        const struct h2 *h2 = from_connection(c);

        return !h2->is_closing && !h2->is_draining && !h2->is_finishing &&
               h2->n_exchanges <
                       nghttp2_session_get_remote_settings(h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) &&
               nghttp2_session_check_request_allowed(h2->session);
}

static size_t h2_count(const struct http_connection *c)
{
        return from_connection(c)->n_exchanges;
}

static void h2_drain(struct http_connection *c)
{
        drain_now(from_connection(c));
}

static void h2_close(struct http_connection *c, const struct err *err)
{
        close_now(from_connection(c), err);
}

static struct exchange *h2_request(struct http_connection *c, const struct http_head *request, bool has_body,
                                   const struct exchange_callbacks *callbacks, void *owner)
{
        struct h2 *h2 = from_connection(c);
        struct h2_exchange *x = add_exchange(h2);
        nghttp2_data_provider body = { { .ptr = x }, read_body };
        nghttp2_nv *fields = arena_alloc(&x->ex.arena, (request->fields.n + 4) * sizeof(*fields));
        size_t n;

        x->ex.callbacks = callbacks;
        x->ex.owner = owner;
        x->has_told = true;
        x->has_finished = !has_body;
        fields[0] = field(STR(":method"), request->method);
        fields[1] = field(STR(":scheme"), request->scheme);
        fields[2] = field(STR(":authority"), request->authority);
        fields[3] = field(STR(":path"), request->path);
        n = add_fields(fields, 4, &request->fields);
        x->id = nghttp2_submit_request(h2->session, NULL, fields, n, has_body ? &body : NULL, x);
        assert(x->id > 0); /* http_connection_has_slot said yes */
        wake(h2);
        return &x->ex;
}

static const struct http_connection_ops connection_ops = {
        .input = h2_input,
        .request = h2_request,
        .has_slot = h2_has_slot,
        .count = h2_count,
        .drain = h2_drain,
        .close = h2_close,
};

struct http_connection *h2_connection_new(struct stream *s, const struct http_connection_options *options,
                                          const struct http_connection_callbacks *callbacks, void *owner)
{
        struct h2 *h2 = xcalloc(1, sizeof(*h2));

        h2->connection = (struct http_connection) { &connection_ops, callbacks, *options, owner };
        h2->stream = s;
        h2->n_pending = 2;
        h2->now_ns = h2->last_input_ns = h2->last_output_ns = h2->idle_since_ns = clock_mono_ns();
        h2->session = new_session(h2);
        uv_timer_init(loop_uv(stream_loop(s)), &h2->timer);
        h2->timer.data = h2;
        if (options->head_ms == 0)
                h2->connection.options.head_ms = options->stall_ms;
        uv_timer_start(&h2->timer, on_tick, tick_ms(&h2->connection.options), tick_ms(&h2->connection.options));
        stream_set_owner(s, &stream_callbacks, h2);
        submit_settings(h2);
        wake(h2);
        return &h2->connection;
}
