#include "h2.h"

#include "clock.h"

/* exchange_has_room is false when more output than this waits for the peer's window. */
#define ROOM_BYTES (256u << 10)

static struct h2_exchange *to_h2(const struct exchange *ex)
{
        return CONTAINER_OF(ex, struct h2_exchange, ex);
}

static const struct exchange_ops h2_ops;

struct h2_exchange *h2_exchange_add(struct h2 *h2)
{
        struct h2_exchange *x = xcalloc(1, sizeof(*x));

        arena_init(&x->ex.arena, "HTTP head", 0);
        x->ex.ops = &h2_ops;
        x->ex.loop = stream_loop(h2->connection.stream);
        x->h2 = h2;
        x->next = h2->exchanges;
        if (x->next)
                x->next->prev = x;
        x->input.last_ns = x->output.last_ns = clock_mono_ns();
        h2->exchanges = x;
        h2->n_exchanges++;
        return x;
}

void h2_exchange_remove(struct h2_exchange *x, const struct err *err)
{
        struct h2 *h2 = x->h2;
        bool has_answered = !err && (x->has_responded || !h2->connection.options.is_server);

        if (x->prev)
                x->prev->next = x->next;
        else
                h2->exchanges = x->next;
        if (x->next)
                x->next->prev = x->prev;
        if (--h2->n_exchanges == 0)
                h2->connection.idle_since_ns = clock_mono_ns();
        if (x->unconsumed > 0)
                nghttp2_session_consume_connection(h2->session, x->unconsumed);
        if (x->has_told)
                x->ex.callbacks->on_closed(&x->ex, err);
        for (size_t i = x->first_piece; i < x->pieces.n; i++)
                bytes_unref(x->pieces.p[i].bytes);
        vec_done(&x->pieces);
        connection_settle(&h2->connection, &x->ex);
        arena_done(&x->ex.arena);
        free(x);
        connection_tell_ended(&h2->connection, has_answered);
}

/* Values that never come again must not fill the table of fields, which is searched for each answer. */
static nghttp2_nv field(struct str name, struct str value)
{
        uint8_t flags = str_equal(name, STR("audit-id")) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;

        return (nghttp2_nv) { (uint8_t *)name.p, (uint8_t *)value.p, name.n, value.n, flags };
}

/* No copies are needed: the library copies names and values when they are submitted. */
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

/* Tells the library the length of the next body piece; h2_send_data then writes it to the stream without a further copy. */
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

int h2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                 nghttp2_data_source *source, void *arg)
{
        struct h2_exchange *x = source->ptr;
        struct h2 *h2 = arg;

        (void)session, (void)frame;
        if (!stream_has_room(h2->connection.stream))
                return NGHTTP2_ERR_WOULDBLOCK;
        stream_write(h2->connection.stream, str_make((const char *)head, 9));
        x->queued_bytes -= n;
        progress_add(&x->output, n, x->queued_bytes, h2->now_ns);
        while (n > 0) {
                struct h2_piece *p = &x->pieces.p[x->first_piece];
                size_t part = MIN(n, p->bytes->str.n - p->offset);

                stream_write_bytes(h2->connection.stream, p->bytes, p->offset, part);
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
        h2_wake(x->h2);
}

static void respond(struct exchange *ex, int status, const struct http_fields *fields, bool is_all)
{
        struct h2_exchange *x = to_h2(ex);
        nghttp2_data_provider body = { { .ptr = x }, read_body };
        nghttp2_nv *out = arena_alloc(&ex->arena, ((fields ? fields->n : 0) + 1) * sizeof(*out));
        char digits[] = { (char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10) };
        size_t n;

        assert(!x->has_responded);
        x->has_responded = true;
        out[0] = field(STR(":status"), str_make(digits, sizeof(digits)));
        n = add_fields(out, 1, fields);
        x->drops_body = str_equal(ex->request.method, STR("HEAD")) || status == 204 || status == 304;
        x->has_finished = is_all;
        nghttp2_submit_response(x->h2->session, x->id, out, n, is_all ? NULL : &body);
        h2_wake(x->h2);
}

static void send_piece(struct exchange *ex, struct bytes *b)
{
        struct h2_exchange *x = to_h2(ex);

        assert(!x->has_finished);
        if (b->str.n == 0 || x->drops_body) {
                bytes_unref(b);
                return;
        }
        if (x->queued_bytes == 0)
                x->output = (struct progress) { .last_ns = clock_mono_ns() };
        vec_push(&x->pieces, (struct h2_piece) { b, 0 });
        x->queued_bytes += b->str.n;
        resume(x);
}

static void finish(struct exchange *ex, const struct http_fields *trailers)
{
        struct h2_exchange *x = to_h2(ex);

        assert(!x->has_finished);
        x->has_finished = true;
        if (trailers && trailers->n > 0 && !x->drops_body) {
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
        h2_wake(x->h2);
}

static void consume(struct exchange *ex, size_t n)
{
        struct h2_exchange *x = to_h2(ex);

        assert(n <= x->unconsumed);
        x->unconsumed -= n;
        nghttp2_session_consume(x->h2->session, x->id, n);
        h2_wake(x->h2);
}

static bool has_room(const struct exchange *ex)
{
        struct h2_exchange *x = to_h2(ex);

        if (x->queued_bytes < ROOM_BYTES)
                return true;
        x->was_full = true;
        return false;
}

/* Without the part that waits for the kernel: all exchanges of a connection share a small queue for that. */
static size_t held_bytes(const struct exchange *ex)
{
        struct h2_exchange *x = to_h2(ex);
        size_t n = 0;

        for (size_t i = x->first_piece; i < x->pieces.n; i++)
                n += bytes_share(x->pieces.p[i].bytes);
        return n;
}

static const struct exchange_ops h2_ops = {
        .respond = respond,
        .send = send_piece,
        .finish = finish,
        .reset = reset,
        .consume = consume,
        .has_room = has_room,
        .held_bytes = held_bytes,
};

void h2_exchange_end_input(struct h2_exchange *x)
{
        if (x->ex.has_peer_ended || !x->has_told || x->is_reset)
                return;
        x->ex.has_peer_ended = true;
        x->ex.callbacks->on_end(&x->ex);
        /* The server has answered, so it does not need the rest of our request. */
        if (!x->h2->connection.options.is_server && (!x->has_finished || x->queued_bytes > 0))
                reset(&x->ex, HTTP_RESET_CANCEL);
}

void h2_exchange_refuse_head(struct h2_exchange *x)
{
        struct http_fields none = { 0 };

        if (x->h2->connection.options.is_server && !x->has_told)
                respond(&x->ex, 431, &none, true);
        else
                reset(&x->ex, HTTP_RESET_ENHANCE_YOUR_CALM);
}

void h2_give_room(struct h2 *h2)
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

struct exchange *h2_request(struct http_connection *c, const struct http_head *request, bool has_body,
                            const struct exchange_callbacks *callbacks, void *owner)
{
        struct h2 *h2 = h2_from(c);
        struct h2_exchange *x = h2_exchange_add(h2);
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
        assert(x->id > 0); /* http_connection_has_slot was true */
        h2_wake(h2);
        return &x->ex;
}
