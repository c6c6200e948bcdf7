/* One side of an HTTP connection on its own loop, over a socket pair; the test holds the other end. The test's thread sends
 * requests; the events of the connection are stored for the test to check. */
#pragma once

#include "connection.h"
#include "loop.h"
#include "park.h"
#include "raw.h"

struct side {
        struct loop *loop;
        struct http_connection *http;
        int fd; /* the test's end */
        struct http_connection_options options;
        bool is_h2;
        _Atomic int n_drained, n_slots;
        struct completion closed;
        char error[256]; /* the reason, after it is closed */
};

/* A request and its result. Loop thread only until done. */
struct ask {
        struct exchange *ex;
        struct completion done;
        _Atomic size_t n_body;
        _Atomic int n_rooms;
        _Atomic bool has_ended;
        bool holds_back; /* does not consume the body */
        int status;
        struct buf body; /* the first 64 KiB */
        struct buf fields, trailers;
        char error[256];
        enum http_reset reset;
        bool was_processed;
};

static inline void on_ask_head(struct exchange *ex)
{
        struct ask *a = ex->owner;

        a->status = ex->response.status;
        for (size_t i = 0; i < ex->response.fields.n; i++)
                buf_appendf(&a->fields, "%.*s: %.*s\n", STR_ARG(ex->response.fields.p[i].name),
                            STR_ARG(ex->response.fields.p[i].value));
}

static inline void on_ask_body(struct exchange *ex, struct str data)
{
        struct ask *a = ex->owner;

        buf_append_str(&a->body, str_first(data, (64u << 10) - MIN(a->body.n, (size_t)64 << 10)));
        atomic_fetch_add(&a->n_body, data.n);
        if (!a->holds_back)
                exchange_consume(ex, data.n);
}

static inline void on_ask_end(struct exchange *ex)
{
        struct ask *a = ex->owner;

        for (size_t i = 0; i < ex->trailers.n; i++)
                buf_appendf(&a->trailers, "%.*s: %.*s\n", STR_ARG(ex->trailers.p[i].name),
                            STR_ARG(ex->trailers.p[i].value));
        atomic_store(&a->has_ended, true);
}

static inline void on_ask_room(struct exchange *ex)
{
        struct ask *a = ex->owner;

        atomic_fetch_add(&a->n_rooms, 1);
}

static inline void on_ask_closed(struct exchange *ex, const struct err *err)
{
        struct ask *a = ex->owner;

        a->ex = NULL;
        a->reset = ex->peer_reset;
        a->was_processed = ex->was_processed;
        snprintf(a->error, sizeof(a->error), "%s", err ? err_message(err) : "");
        completion_complete(&a->done);
}

static const struct exchange_callbacks ask_callbacks = {
        .on_head = on_ask_head,
        .on_body = on_ask_body,
        .on_end = on_ask_end,
        .on_room = on_ask_room,
        .on_closed = on_ask_closed,
};

static inline void ask_done(struct ask *a)
{
        buf_done(&a->body);
        buf_done(&a->fields);
        buf_done(&a->trailers);
        completion_done(&a->done);
}

static inline void on_side_drain(struct http_connection *c)
{
        struct side *s = http_connection_owner(c);

        atomic_fetch_add(&s->n_drained, 1);
}

static inline void on_side_slot(struct http_connection *c)
{
        struct side *s = http_connection_owner(c);

        atomic_fetch_add(&s->n_slots, 1);
}

static inline void on_side_closed(struct http_connection *c, const struct err *err)
{
        struct side *s = http_connection_owner(c);

        s->http = NULL;
        snprintf(s->error, sizeof(s->error), "%s", err ? err_message(err) : "");
        completion_complete(&s->closed);
}

static const struct http_connection_callbacks side_callbacks = {
        .on_drain = on_side_drain,
        .on_slot = on_side_slot,
        .on_closed = on_side_closed,
};

static inline void on_side_stream(struct stream *stream)
{
        struct side *s = stream_owner(stream);

        s->http = s->is_h2 ? h2_connection_new(stream, &s->options, &side_callbacks, s)
                           : h1_connection_new(stream, &s->options, &side_callbacks, s);
}

static const struct stream_callbacks side_stream_callbacks = { .on_open = on_side_stream };

static inline void open_side(void *arg)
{
        struct side *s = arg;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                abort();
        s->fd = pair[1];
        stream_from_fd(s->loop, pair[0], 20000, &side_stream_callbacks, s);
}

/* Opens a client connection with short timeouts. options may be NULL. */
static inline void side_init(struct side *s, bool is_h2, const struct http_connection_options *options)
{
        _cleanup_err_ struct err err = { 0 };

        *s = (struct side) { .is_h2 = is_h2 };
        s->options = options ? *options
                             : (struct http_connection_options) { .max_head_bytes = 1000,
                                                                  .window_bytes = 65535,
                                                                  .stall_ms = 20000 };
        completion_init(&s->closed, "connection");
        ASSERT(loop_new("side", &s->loop, &err) == 0);
        loop_call(s->loop, open_side, s);
}

static inline void close_side(void *arg)
{
        struct side *s = arg;

        if (s->http)
                http_connection_close(s->http, NULL);
}

static inline void side_done(struct side *s)
{
        loop_call(s->loop, close_side, s);
        loop_free(s->loop);
        completion_done(&s->closed);
        close(s->fd);
}

struct begin {
        struct side *side;
        struct ask *ask;
        struct http_head head;
        struct str body;
        bool has_body, has_more;
};

static inline void begin_ask(void *arg)
{
        struct begin *b = arg;

        if (!http_connection_has_slot(b->side->http))
                abort();
        b->ask->ex = http_connection_request(b->side->http, &b->head, b->has_body, &ask_callbacks, b->ask);
        if (b->body.n > 0)
                exchange_send(b->ask->ex, bytes_copy(b->body));
        if (b->has_body && !b->has_more)
                exchange_finish(b->ask->ex, NULL);
}

/* Begins a request. body.p NULL: no body; has_more: more of the body follows. */
static inline void ask_begin(struct side *s, struct ask *a, const char *method, struct str body, bool has_more)
{
        struct begin b = {
                .side = s,
                .ask = a,
                .head = { .method = str_from(method), .scheme = STR("http"), .authority = STR("a"), .path = STR("/x") },
                .body = body,
                .has_body = body.p != NULL,
                .has_more = has_more,
        };
        bool holds_back = a->holds_back;

        *a = (struct ask) { .holds_back = holds_back };
        buf_init(&a->body, 0);
        buf_init(&a->fields, 0);
        buf_init(&a->trailers, 0);
        completion_init(&a->done, "exchange");
        loop_call(s->loop, begin_ask, &b);
}

static inline void ask_wait(struct ask *a)
{
        ASSERT_INT(completion_wait(&a->done, deadline_after_ms(20000), NULL), 0);
}

static inline void ask_slot(void *arg)
{
        struct begin *b = arg;

        b->has_body = b->side->http && http_connection_has_slot(b->side->http);
}

static inline bool side_has_slot(struct side *s)
{
        struct begin b = { .side = s };

        loop_call(s->loop, ask_slot, &b);
        return b.has_body;
}

static inline void side_wait_closed(struct side *s)
{
        ASSERT_INT(completion_wait(&s->closed, deadline_after_ms(20000), NULL), 0);
}

/* Waits until a condition holds; it must read only atomic variables. */
#define WAIT_UNTIL(condition)                                      \
        do {                                                       \
                for (int _i = 0; _i < 20000 && !(condition); _i++) \
                        thread_sleep(deadline_after_ms(1), NULL);  \
                ASSERT(condition);                                 \
        } while (0)
