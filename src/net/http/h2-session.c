#include "h2.h"

/* The limit of interim responses before the final one. */
#define MAX_INTERIM 16

/* How many streams a peer may open and reset: a token bucket of RESET_BURST that refills by RESET_RATE per second. An honest client
 * that cancels calls stays far below it. */
#define RESET_BURST 1000
#define RESET_RATE  100

/* Limits: CONTINUATION frames of one head, and queued answers to pings and settings. */
#define MAX_CONTINUATIONS 8
#define MAX_OUTBOUND_ACKS 100

static struct h2_exchange *find(nghttp2_session *session, int32_t id)
{
        return nghttp2_session_get_stream_user_data(session, id);
}

/* RFC 9113 5.1.1 requires the connection to end on a request with a skipped stream number; the library would ignore it. */
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
                x = h2_exchange_add(h2);
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
                x->ex.response = (struct http_head) { 0 }; /* drop the interim response */
        return 0;
}

/* Stores a field; pseudo-fields go to their own members. The library has checked that they are valid. */
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
                return 0; /* further fields are dropped, so a longer head needs no more memory */
        }
        keep_field(x, str_make((const char *)name, n_name), str_make((const char *)value, n_value));
        return 0;
}

static void on_headers(struct h2 *h2, struct h2_exchange *x, const nghttp2_frame *frame)
{
        if (x->is_too_large) {
                x->has_head = true;
                h2_exchange_refuse_head(x);
                return;
        }
        x->input.last_ns = h2->now_ns;
        if (x->is_reset)
                return;
        if (h2->connection.options.is_server && !x->has_head) {
                x->has_head = true;
                h2->connection.callbacks->on_request(&h2->connection, &x->ex);
                x->has_told = x->ex.callbacks != NULL;
                if (!x->has_told && !x->is_reset)
                        exchange_reset(&x->ex, HTTP_RESET_INTERNAL_ERROR);
        } else if (!x->has_head) {
                if (x->ex.response.status < 200) {
                        if (++x->n_interim > MAX_INTERIM)
                                exchange_reset(&x->ex, HTTP_RESET_ENHANCE_YOUR_CALM);
                        else if (x->ex.callbacks->on_interim)
                                x->ex.callbacks->on_interim(&x->ex);
                        return;
                }
                x->has_head = true;
                x->ex.callbacks->on_head(&x->ex);
        }
        if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
                h2_exchange_end_input(x);
}

/* Marks the drain's ping, to distinguish it from a keepalive ping. */
static const uint8_t drain_ping[8] = "drain";

/* Called when the notice was sent. The ping is not submitted together with the notice, because the library lets pings overtake
 * other frames. */
static void ping_after_notice(struct h2 *h2)
{
        if (h2->connection.options.is_server && h2->drain == DRAIN_NOTICE)
                nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, drain_ping);
}

void h2_name_last_request(struct h2 *h2)
{
        if (h2->drain != DRAIN_NOTICE)
                return;
        h2->drain = DRAIN_FINAL;
        nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2->session),
                              NGHTTP2_NO_ERROR, NULL, 0);
        h2_wake(h2);
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
                        h2_exchange_end_input(x);
                break;
        case NGHTTP2_RST_STREAM:
                if (x)
                        x->ex.was_reset = true;
                break;
        case NGHTTP2_PING:
                if (frame->hd.flags & NGHTTP2_FLAG_ACK &&
                    memcmp(frame->ping.opaque_data, drain_ping, sizeof(drain_ping)) == 0)
                        h2_name_last_request(h2);
                break;
        case NGHTTP2_SETTINGS:
                h2->has_settings = true;
                if (h2->connection.callbacks->on_slot && !h2->connection.options.is_server)
                        h2->connection.callbacks->on_slot(&h2->connection);
                break;
        case NGHTTP2_GOAWAY:
                connection_set_draining(&h2->connection);
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
        /* The library resets the stream at the end of the turn; until then, data beyond the window is dropped. */
        if (x->unconsumed + n > MAX(h2->connection.options.window_bytes, (uint32_t)NGHTTP2_INITIAL_WINDOW_SIZE)) {
                x->is_reset = true;
                nghttp2_session_consume(session, id, n);
                return 0;
        }
        progress_add(&x->input, n, 0, h2->now_ns);
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
        if (code != NGHTTP2_NO_ERROR || (x->ex.was_reset && !x->ex.has_peer_ended)) {
                err_set(&err, ERR_CLOSED, "stream terminated by RST_STREAM with error code: %s",
                        nghttp2_http2_strerror(code));
                if (code == NGHTTP2_REFUSED_STREAM)
                        x->ex.was_processed = false;
        }
        h2_exchange_remove(x, err.code ? &err : NULL);
        if (h2->connection.callbacks->on_slot && !h2->connection.options.is_server)
                h2->connection.callbacks->on_slot(&h2->connection);
        return 0;
}

/* The library could not send our request, so the peer has not processed it. */
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
        h2_exchange_remove(x, &err);
        return 0;
}

/* After sending, the peer may act on a request. A server whose answer is complete before the request is complete asks the peer to
 * stop sending. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
        struct h2 *h2 = arg;
        struct h2_exchange *x;

        if (!h2->connection.options.is_server && frame->hd.type == NGHTTP2_HEADERS) {
                x = find(session, frame->hd.stream_id);
                if (x)
                        x->ex.was_processed = true;
                return 0;
        }
        if (frame->hd.type == NGHTTP2_GOAWAY)
                ping_after_notice(h2);
        if (!h2->connection.options.is_server || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
            (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
                return 0;
        x = find(session, frame->hd.stream_id);
        if (x && nghttp2_session_get_stream_remote_close(session, x->id) == 0)
                exchange_reset(&x->ex, HTTP_RESET_NONE);
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
        if (!stream_has_room(h2->connection.stream))
                return NGHTTP2_ERR_WOULDBLOCK;
        stream_write(h2->connection.stream, str_make((const char *)data, n));
        return (ssize_t)n;
}

static void submit_settings(struct h2 *h2)
{
        nghttp2_settings_entry settings[] = {
                { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, h2->connection.options.max_exchanges },
                { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, h2->connection.options.window_bytes },
                { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, h2->connection.options.max_head_bytes },
                { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        };
        size_t n = ARRAY_SIZE(settings) - h2->connection.options.is_server; /* only clients send the push setting */

        nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, n);
        nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                              (int32_t)MIN(h2->connection.options.window_bytes * 8ull, INT32_MAX));
}

void h2_session_new(struct h2 *h2)
{
        nghttp2_session_callbacks *c;
        nghttp2_option *o;
        int r;

        nghttp2_session_callbacks_new(&c);
        nghttp2_session_callbacks_set_send_callback(c, on_send);
        nghttp2_session_callbacks_set_send_data_callback(c, h2_send_data);
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
        nghttp2_option_set_max_outbound_ack(o, MAX_OUTBOUND_ACKS);
        nghttp2_option_set_stream_reset_rate_limit(o, RESET_BURST, RESET_RATE);
        nghttp2_option_set_max_continuations(o, MAX_CONTINUATIONS);
        /* `Bearer ` with nothing behind it is a wrong token and not a broken connection. */
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(o, 1);
        r = h2->connection.options.is_server ? nghttp2_session_server_new2(&h2->session, c, h2, o)
                                             : nghttp2_session_client_new2(&h2->session, c, h2, o);
        assert(r == 0);
        nghttp2_option_del(o);
        nghttp2_session_callbacks_del(c);
        submit_settings(h2);
}
