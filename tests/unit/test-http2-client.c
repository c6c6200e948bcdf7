/* The HTTP/2 client against servers by hand, frame for frame. */
#include "http-side.h"

struct world {
        struct side s;
        struct raw_peer peer; /* the server */
};

static void world_init(struct world *w, const struct http_connection_options *options, struct str settings)
{
        side_init(&w->s, true, options);
        raw_peer_init(&w->peer, dup(w->s.fd), true);
        raw_send_frame(w->s.fd, RAW_SETTINGS, 0, 0, settings);
        WAIT_UNTIL(atomic_load(&w->s.n_slots) >= 1);
}

static void world_done(struct world *w)
{
        raw_peer_done(&w->peer);
        side_done(&w->s);
}

/* The id of the next request that comes in. */
static uint32_t take_request(struct world *w)
{
        struct raw_frame f;

        ASSERT(raw_find(&w->peer, RAW_HEADERS, &f));
        return f.id;
}

static void answer(struct world *w, uint32_t id, const char *body)
{
        raw_send_headers(w->s.fd, id, 0, RAW_FIELDS(":status", "200"));
        raw_send_frame(w->s.fd, RAW_DATA, RAW_END_STREAM, id, str_from(body));
}

TEST(interim_responses_and_trailers)
{
        struct world w;
        struct ask a = { 0 };
        uint32_t id;

        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        id = take_request(&w);
        raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "100"));
        raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "103", "link", "x"));
        raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "200", "x", "y"));
        raw_send_frame(w.s.fd, RAW_DATA, 0, id, STR("hello"));
        raw_send_headers(w.s.fd, id, RAW_END_STREAM, RAW_FIELDS("t", "u"));
        ask_wait(&a);
        ASSERT_TEXT(a.error, "");
        ASSERT_INT(a.status, 200);
        ASSERT_STR(buf_str(&a.fields), STR("x: y\n"));
        ASSERT_STR(buf_str(&a.body), STR("hello"));
        ASSERT_STR(buf_str(&a.trailers), STR("t: u\n"));
        ASSERT(a.was_processed);
        ask_done(&a);
        world_done(&w);
}

TEST(too_many_interim_responses)
{
        struct world w;
        struct ask a = { 0 };
        struct raw_frame f;
        uint32_t id;

        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        id = take_request(&w);
        for (int i = 0; i < 17; i++)
                raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "103"));
        ask_wait(&a);
        ASSERT_TEXT(a.error, "stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM");
        ASSERT(raw_find(&w.peer, RAW_RST_STREAM, &f));
        ASSERT_STR(f.payload, STR("\0\0\0\x0b"));
        ask_done(&a);
        world_done(&w);
}

/* Requests that the server will not look at are told so; those that it will go on. */
TEST(goaway_with_queued_requests)
{
        struct world w;
        struct ask a[3] = { 0 };

        world_init(&w, NULL, STR(""));
        for (size_t i = 0; i < 3; i++)
                ask_begin(&w.s, &a[i], "GET", STR_NONE, false);
        for (size_t i = 0; i < 3; i++)
                ASSERT_INT(take_request(&w), 2 * i + 1);
        raw_send_frame(w.s.fd, RAW_GOAWAY, 0, 0, STR("\0\0\0\1\0\0\0\0"));
        for (size_t i = 1; i < 3; i++) {
                ask_wait(&a[i]);
                ASSERT_INT(a[i].reset, HTTP_RESET_REFUSED);
                ASSERT(!a[i].was_processed);
        }
        ASSERT_INT(atomic_load(&w.s.n_drained), 1);
        ASSERT(!side_has_slot(&w.s));
        answer(&w, 1, "ok");
        ask_wait(&a[0]);
        ASSERT_TEXT(a[0].error, "");
        ASSERT_STR(buf_str(&a[0].body), STR("ok"));
        side_wait_closed(&w.s);
        ASSERT_TEXT(w.s.error, "");
        for (size_t i = 0; i < 3; i++)
                ask_done(&a[i]);
        world_done(&w);
}

TEST(the_peers_limit_of_streams)
{
        struct world w;
        struct ask a[2] = { 0 };
        char number[4];

        world_init(&w, NULL, STR("\0\3\0\0\0\1")); /* one at a time */
        ask_begin(&w.s, &a[0], "GET", STR_NONE, false);
        ASSERT(!side_has_slot(&w.s));
        raw_send_frame(w.s.fd, RAW_SETTINGS, 0, 0, STR("\0\3\0\0\0\2"));
        WAIT_UNTIL(side_has_slot(&w.s));
        ask_begin(&w.s, &a[1], "GET", STR_NONE, false);
        ASSERT(!side_has_slot(&w.s));
        take_request(&w);
        take_request(&w);
        answer(&w, 1, "");
        ask_wait(&a[0]);
        ASSERT(side_has_slot(&w.s));
        raw_send_frame(w.s.fd, RAW_RST_STREAM, 0, 3, raw_u32(number, HTTP_RESET_REFUSED));
        ask_wait(&a[1]);
        ASSERT(a[1].reset == HTTP_RESET_REFUSED && !a[1].was_processed);
        ask_done(&a[0]);
        ask_done(&a[1]);
        world_done(&w);
}

TEST(resets)
{
        static const struct {
                uint32_t code;
                const char *error;
                bool was_processed;
        } cases[] = {
                { HTTP_RESET_REFUSED, "stream terminated by RST_STREAM with error code: REFUSED_STREAM", false },
                { HTTP_RESET_CANCEL, "stream terminated by RST_STREAM with error code: CANCEL", true },
                { HTTP_RESET_INTERNAL_ERROR, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR", true },
                { HTTP_RESET_NONE, "stream terminated by RST_STREAM with error code: NO_ERROR", true },
        };
        struct world w;

        world_init(&w, NULL, STR(""));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct ask a = { 0 };
                char number[4];

                ask_begin(&w.s, &a, "GET", STR_NONE, false);
                raw_send_frame(w.s.fd, RAW_RST_STREAM, 0, take_request(&w), raw_u32(number, cases[i].code));
                ask_wait(&a);
                ASSERT_STR(str_from(a.error), str_from(cases[i].error));
                ASSERT_CASE(cases[i].error, a.reset == (enum http_reset)cases[i].code);
                ASSERT_CASE(cases[i].error, a.was_processed == cases[i].was_processed);
                ask_done(&a);
        }
        world_done(&w);
}

/* Keepalive */

#define KEEPALIVE                                                                                  \
        (struct http_connection_options)                                                           \
        {                                                                                          \
                .max_head_bytes = 1000, .window_bytes = 65535, .stall_ms = 200, .keepalive_ms = 50 \
        }

static ssize_t send_ack(struct world *w, struct str payload)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        raw_frame(&b, RAW_PING, RAW_ACK, 0, payload);
        return send(w->s.fd, b.p, b.n, MSG_NOSIGNAL);
}

TEST(a_peer_that_vanished)
{
        struct world w;
        struct ask a = { 0 };

        world_init(&w, &KEEPALIVE, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        ask_wait(&a); /* nobody answers, nobody closes */
        ASSERT_TEXT(a.error, "the peer does not answer pings");
        ASSERT(a.was_processed);
        side_wait_closed(&w.s);
        ask_done(&a);
        world_done(&w);
}

/* Answers every ping, until so many have come that the call has been open for longer than silence may last. False if the connection
 * was lost meanwhile. */
static bool answer_pings(struct world *w, unsigned n, uint32_t *ret_id)
{
        struct raw_frame f;

        while (*ret_id == 0 || w->peer.n_pings < n) { /* a ping may be faster than the request */
                if (!raw_next(&w->peer, &f))
                        return false;
                if (f.type == RAW_HEADERS)
                        *ret_id = f.id;
                if (f.type == RAW_PING && send_ack(w, f.payload) < 0)
                        return false;
        }
        return true;
}

/* A machine that holds this thread up for longer than silence may last makes it a peer that vanished: then it tries again with more
 * patience. */
TEST(a_slow_peer_that_answers_pings)
{
        struct http_connection_options options = KEEPALIVE;
        bool is_answered = false;

        for (options.stall_ms = 200; !is_answered && options.stall_ms < 20000; options.stall_ms *= 4) {
                struct world w;
                struct ask a = { 0 };
                uint32_t id = 0;

                world_init(&w, &options, STR(""));
                /* Idle for longer than both times: that is no loss. */
                thread_sleep(deadline_after_ms(options.stall_ms + 2 * options.keepalive_ms), NULL);
                ask_begin(&w.s, &a, "GET", STR_NONE, false);
                if (answer_pings(&w, (unsigned)(options.stall_ms / options.keepalive_ms) + 2, &id))
                        answer(&w, id, "at last");
                ask_wait(&a);
                is_answered = str_equal(buf_str(&a.body), STR("at last"));
                if (!is_answered)
                        ASSERT_TEXT(a.error, "the peer does not answer pings");
                ask_done(&a);
                world_done(&w);
        }
        ASSERT(is_answered);
}

/* A task that keeps the loop busy when the first ping is out, and answers that ping meanwhile. */
struct holdup {
        struct world *w;
        uv_timer_t timer; /* looks for the ping */
        struct loop_task task;
        char ping[8];
        uint32_t id;
        struct completion over;
};

/* Timers that are due by now run next, before input. */
static void hold_up(struct loop_task *t)
{
        struct holdup *h = CONTAINER_OF(t, struct holdup, task);

        send_ack(h->w, str_make(h->ping, sizeof(h->ping)));
        thread_sleep(deadline_after_ms(2 * h->w->s.options.stall_ms), NULL);
        completion_complete(&h->over);
}

static void on_holdup_closed(uv_handle_t *t)
{
        struct holdup *h = t->data;

        loop_post(h->w->s.loop, &h->task);
}

static void find_ping(uv_timer_t *t)
{
        struct holdup *h = t->data;
        struct raw_frame f;

        while (raw_has_more(&h->w->peer, 0) && raw_next(&h->w->peer, &f)) {
                if (f.type == RAW_HEADERS)
                        h->id = f.id;
                if (f.type != RAW_PING)
                        continue;
                memcpy(h->ping, f.payload.p, sizeof(h->ping));
                uv_close((uv_handle_t *)t, on_holdup_closed);
                return;
        }
}

static void begin_holdup(void *arg)
{
        struct holdup *h = arg;

        uv_timer_init(loop_uv(h->w->s.loop), &h->timer);
        h->timer.data = h;
        uv_timer_start(&h->timer, find_ping, 1, 1);
}

/* An answer that came in time counts, however late it is read. */
TEST(a_loop_that_is_held_up)
{
        struct world w;
        struct holdup h = { .w = &w, .task.run = hold_up };
        struct ask a = { 0 };

        world_init(&w, &KEEPALIVE, STR(""));
        completion_init(&h.over, "holdup");
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        loop_call(w.s.loop, begin_holdup, &h);
        ASSERT_INT(completion_wait(&h.over, deadline_after_ms(20000), NULL), 0);
        ASSERT(h.id > 0);
        answer(&w, h.id, "ok");
        ask_wait(&a);
        ASSERT_TEXT(a.error, "");
        ask_done(&a);
        world_done(&w);
        completion_done(&h.over);
}

/* Flow control */

static void consume_all(void *arg)
{
        struct ask *a = arg;

        a->holds_back = false;
        exchange_consume(a->ex, a->n_body);
}

TEST(input_pushes_back)
{
        struct world w;
        struct ask a = { .holds_back = true };
        struct raw_frame f;
        static char block[16 << 10];
        size_t sent = 0;
        uint32_t id;

        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        id = take_request(&w);
        raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "200"));
        while (sent < 65535) {
                size_t part = MIN(sizeof(block), 65535 - sent);

                raw_send_frame(w.s.fd, RAW_DATA, 0, id, str_make(block, part));
                sent += part;
        }
        raw_send_frame(w.s.fd, RAW_PING, 0, 0, STR("pingpong"));
        ASSERT(raw_find(&w.peer, RAW_PING, &f)); /* no window was given in between, as the next frame shows */
        ASSERT_INT(atomic_load(&a.n_body), 65535);
        loop_call(w.s.loop, consume_all, &a);
        ASSERT(raw_next(&w.peer, &f));
        ASSERT(f.type == RAW_WINDOW_UPDATE && f.id == id);
        raw_send_frame(w.s.fd, RAW_DATA, RAW_END_STREAM, id, STR("end"));
        ask_wait(&a);
        ASSERT_INT(atomic_load(&a.n_body), 65538);
        ask_done(&a);
        world_done(&w);
}

TEST(a_server_that_ignores_the_window)
{
        struct world w;
        struct ask a = { .holds_back = true };
        static char block[16 << 10];
        uint32_t id;

        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        id = take_request(&w);
        raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "200"));
        for (int i = 0; i < 5; i++)
                raw_send_frame(w.s.fd, RAW_DATA, 0, id, str_make(block, sizeof(block)));
        ask_wait(&a);
        ASSERT(a.n_body <= 65535);
        ASSERT_TEXT(a.error, "stream terminated by RST_STREAM with error code: FLOW_CONTROL_ERROR");
        ask_done(&a);
        world_done(&w);
}

struct send {
        struct ask *ask;
        struct bytes *bytes;
        bool has_room;
        size_t held_bytes;
};

static void look_at_queue(void *arg)
{
        struct send *m = arg;

        m->has_room = exchange_has_room(m->ask->ex);
        m->held_bytes = exchange_held_bytes(m->ask->ex);
}

static void send_more(void *arg)
{
        struct send *m = arg;

        exchange_send(m->ask->ex, bytes_ref(m->bytes));
        look_at_queue(m);
}

static size_t take_data(struct world *w, size_t n)
{
        struct raw_frame f;
        size_t got = 0;

        while (got < n) {
                ASSERT(raw_find(&w->peer, RAW_DATA, &f));
                got += f.payload.n;
        }
        return got;
}

/* A body goes as far as the server's window and waits there, without being copied. */
TEST(output_pushes_back)
{
        struct world w;
        struct ask a = { 0 };
        struct send m = { .ask = &a };
        struct buf big = BUF_INIT(0);
        char number[4];
        uint32_t id;

        buf_append_repeat(&big, 'x', 1 << 20);
        m.bytes = bytes_take(&big);
        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "POST", STR(""), true);
        loop_call(w.s.loop, send_more, &m);
        ASSERT(!m.has_room);
        ASSERT_INT(m.held_bytes, 1 << 19); /* the other half is ours */
        id = take_request(&w);
        ASSERT_INT(take_data(&w, 65535), 65535);
        ASSERT(!raw_is_readable(w.peer.fd, 50));
        ASSERT(atomic_load(&m.bytes->references) == 2); /* ours and the queue's */
        ASSERT_INT(atomic_load(&a.n_rooms), 0);
        raw_send_frame(w.s.fd, RAW_WINDOW_UPDATE, 0, 0, raw_u32(number, 1 << 20));
        raw_send_frame(w.s.fd, RAW_WINDOW_UPDATE, 0, id, raw_u32(number, 1 << 20));
        ASSERT_INT(take_data(&w, (1 << 20) - 65535), (1 << 20) - 65535);
        WAIT_UNTIL(atomic_load(&a.n_rooms) == 1);
        loop_call(w.s.loop, look_at_queue, &m);
        ASSERT_INT(m.held_bytes, 0);
        raw_send_headers(w.s.fd, id, RAW_END_STREAM, RAW_FIELDS(":status", "200")); /* it wants no more */
        ask_wait(&a);
        ASSERT_INT(a.status, 200);
        ask_done(&a);
        world_done(&w);
        bytes_unref(m.bytes);
}

static void reset_ask(void *arg)
{
        struct ask *a = arg;

        exchange_reset(a->ex, HTTP_RESET_CANCEL);
        exchange_reset(a->ex, HTTP_RESET_CANCEL); /* once is enough */
}

/* Data that still comes for exchanges that were given up does not use up the connection's window. */
TEST(data_of_exchanges_given_up)
{
        struct world w;
        static char block[16 << 10];
        struct ask a;

        world_init(&w, NULL, STR(""));
        for (int round = 0; round < 16; round++) { /* 1 MiB: twice the connection's window */
                uint32_t id;

                a = (struct ask) { .holds_back = round % 2 };
                ask_begin(&w.s, &a, "GET", STR_NONE, false);
                id = take_request(&w);
                raw_send_headers(w.s.fd, id, 0, RAW_FIELDS(":status", "200"));
                raw_send_frame(w.s.fd, RAW_DATA, 0, id, str_make(block, sizeof(block)));
                WAIT_UNTIL(atomic_load(&a.n_body) == sizeof(block));
                loop_call(w.s.loop, reset_ask, &a);
                for (int i = 0; i < 3; i++)
                        raw_send_frame(w.s.fd, RAW_DATA, 0, id, str_make(block, sizeof(block)));
                ask_wait(&a);
                ask_done(&a);
        }
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        answer(&w, take_request(&w), "ok");
        ask_wait(&a);
        ASSERT_TEXT(a.error, "");
        ask_done(&a);
        world_done(&w);
}

/* Bad servers */

TEST(bad_servers)
{
        static const struct {
                const char *what;
                struct str bytes;
                const char *error; /* of the connection */
        } cases[] = {
                { "closes", STR_INIT(""), "the peer closed the connection" },
                { "a frame too large", STR_INIT("\xff\xff\xff\0\0\0\0\0\1"), "HTTP/2 failed" },
                { "data for nobody", STR_INIT("\0\0\1\0\0\0\0\0\x63x"), "HTTP/2 failed" },
                { "a window of nothing", STR_INIT("\0\0\4\x08\0\0\0\0\0\0\0\0\0"), "HTTP/2 failed" },
                { "bad HPACK", STR_INIT("\0\0\1\1\4\0\0\0\1\xff"), "HTTP/2 failed" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct world w;
                struct ask a = { 0 };

                world_init(&w, NULL, STR(""));
                ask_begin(&w.s, &a, "GET", STR_NONE, false);
                take_request(&w);
                raw_say(w.s.fd, cases[i].bytes);
                shutdown(w.s.fd, SHUT_WR);
                side_wait_closed(&w.s);
                if (str_find(str_from(w.s.error), str_from(cases[i].error)) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, w.s.error);
                ask_wait(&a);
                ASSERT(*a.error);
                ask_done(&a);
                world_done(&w);
        }
}

TEST(a_head_too_large)
{
        struct world w;
        struct ask a = { 0 };
        _cleanup_buf_ struct buf block = BUF_INIT(0);
        char value[100] = { 0 };
        uint32_t id;

        memset(value, 'x', sizeof(value) - 1);
        raw_field(&block, ":status", "200");
        for (int i = 0; i < 10; i++)
                raw_field(&block, "x", value);
        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        id = take_request(&w);
        raw_send_frame(w.s.fd, RAW_HEADERS, RAW_END_HEADERS, id, buf_str(&block));
        ask_wait(&a);
        ASSERT_TEXT(a.error, "stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM");
        ask_done(&a);
        world_done(&w);
}

static void drain_side(void *arg)
{
        struct side *s = arg;

        http_connection_drain(s->http);
        http_connection_drain(s->http);
}

TEST(draining)
{
        struct world w;
        struct ask a = { 0 };

        world_init(&w, NULL, STR(""));
        ask_begin(&w.s, &a, "GET", STR_NONE, false);
        loop_call(w.s.loop, drain_side, &w.s);
        ASSERT(!side_has_slot(&w.s) && atomic_load(&w.s.n_drained) == 1);
        answer(&w, take_request(&w), "ok");
        ask_wait(&a);
        ASSERT_STR(buf_str(&a.body), STR("ok"));
        side_wait_closed(&w.s);
        ASSERT_TEXT(w.s.error, "");
        ask_done(&a);
        world_done(&w);
}
