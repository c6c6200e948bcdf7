/* The HTTP/1.1 client against servers by hand: what they say, byte for byte, and what comes of it. */
#include "http-side.h"

#define HEAD "HTTP/1.1 200 OK\r\n"

TEST(answers)
{
        static const struct {
                const char *what, *method, *answer;
                bool closes;
                int status;
                const char *body, *trailers, *error; /* error: of the exchange */
                bool is_kept;
        } cases[] = {
                { "length", "GET", HEAD "content-length: 5\r\n\r\nhello", false, 200, "hello", "", "", true },
                { "length 0", "GET", HEAD "content-length: 0\r\n\r\n", false, 200, "", "", "", true },
                { "chunks", "GET", HEAD "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n", false,
                  200, "abcde", "", "", true },
                { "trailers", "GET", HEAD "transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Y: z\r\n\r\n", false, 200,
                  "a", "x-y: z\n", "", true },
                { "until the end", "GET", HEAD "\r\nabc", true, 200, "abc", "", "", false },
                { "no content", "GET", "HTTP/1.1 204 No\r\n\r\n", false, 204, "", "", "", true },
                { "not modified", "GET", "HTTP/1.1 304 No\r\ncontent-length: 7\r\n\r\n", false, 304, "", "", "", true },
                { "HEAD", "HEAD", HEAD "content-length: 7\r\n\r\n", false, 200, "", "", "", true },
                { "interim", "GET", "HTTP/1.1 103 Hint\r\nlink: x\r\n\r\n" HEAD "content-length: 1\r\n\r\na", false,
                  200, "a", "", "", true },
                { "close", "GET", HEAD "connection: close\r\ncontent-length: 1\r\n\r\na", false, 200, "a", "", "",
                  false },
                { "HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", false, 200, "a", "", "", false },
                { "more than asked for", "GET", HEAD "content-length: 1\r\n\r\nab", false, 200, "a", "", "", false },
                { "no head", "GET", "nonsense\r\n\r\n", false, 0, "", "", "malformed response", false },
                { "closed at once", "GET", "", true, 0, "", "", "the peer closed the connection", false },
                { "closed in the head", "GET", HEAD, true, 0, "", "", "the peer closed the connection", false },
                { "closed in the body", "GET", HEAD "content-length: 2\r\n\r\na", true, 200, "a", "",
                  "the peer closed the connection", false },
                { "closed in a chunk", "GET", HEAD "transfer-encoding: chunked\r\n\r\n3\r\nab", true, 200, "ab", "",
                  "the peer closed the connection", false },
                { "closed in the trailers", "GET", HEAD "transfer-encoding: chunked\r\n\r\n0\r\nx: y\r\n", true, 200,
                  "", "", "the peer closed the connection", false },
                { "bad chunk size", "GET", HEAD "transfer-encoding: chunked\r\n\r\nxx\r\n", false, 200, "", "", "chunk",
                  false },
                { "no end of chunk", "GET", HEAD "transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n", false, 200, "a", "",
                  "malformed chunk", false },
                { "bad trailers", "GET", HEAD "transfer-encoding: chunked\r\n\r\n0\r\nnonsense\r\n\r\n", false, 200, "",
                  "", "malformed", false },
        };
        struct http_connection_options options = { .max_head_bytes = 1000, .window_bytes = 65535, .stall_ms = 20000 };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct side s;
                struct ask a = { 0 };
                struct str error;

                side_init(&s, false, &options);
                ask_begin(&s, &a, cases[i].method, STR_NONE, false);
                raw_say(s.fd, str_from(cases[i].answer));
                if (cases[i].closes)
                        shutdown(s.fd, SHUT_WR);
                ask_wait(&a);
                error = str_from(a.error);
                if (*cases[i].error ? str_find(error, str_from(cases[i].error)) < 0 : error.n > 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, a.error);
                ASSERT_CASE(cases[i].what, a.status == cases[i].status);
                ASSERT_STR_CASE(cases[i].what, buf_str(&a.body), str_from(cases[i].body));
                ASSERT_STR_CASE(cases[i].what, buf_str(&a.trailers), str_from(cases[i].trailers));
                ASSERT_CASE(cases[i].what, a.has_ended == !*cases[i].error);
                ASSERT_CASE(cases[i].what, side_has_slot(&s) == cases[i].is_kept);
                ASSERT_CASE(cases[i].what, a.was_processed);
                if (!cases[i].is_kept)
                        side_wait_closed(&s);
                ask_done(&a);
                side_done(&s);
        }
}

/* An answer means the same in any number of pieces. */
TEST(answers_in_pieces)
{
        struct str answer = STR("HTTP/1.1 100 Continue\r\n\r\n" HEAD
                                "transfer-encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nt: u\r\n\r\n");
        struct side s;
        struct ask a = { 0 };

        side_init(&s, false, NULL);
        for (int round = 0; round < 2; round++) { /* the connection is used again */
                ask_begin(&s, &a, "GET", STR_NONE, false);
                for (size_t i = 0; i < answer.n; i++)
                        raw_say(s.fd, str_first(str_skip(answer, i), 1));
                ask_wait(&a);
                ASSERT_STR(buf_str(&a.body), STR("abc"));
                ASSERT_STR(buf_str(&a.trailers), STR("t: u\n"));
                ask_done(&a);
        }
        WAIT_UNTIL(atomic_load(&s.n_slots) == 2);
        side_done(&s);
}

struct send {
        struct ask *ask;
        struct bytes *bytes;
        bool has_room;
        size_t held_bytes;
        bool finishes;
        struct http_fields trailers;
};

static void send_more(void *arg)
{
        struct send *m = arg;

        if (m->bytes)
                exchange_send(m->ask->ex, bytes_ref(m->bytes));
        m->has_room = exchange_has_room(m->ask->ex);
        m->held_bytes = exchange_held_bytes(m->ask->ex);
        if (m->finishes)
                exchange_finish(m->ask->ex, &m->trailers);
}

TEST(requests_with_bodies)
{
        _cleanup_arena_ struct arena arena;
        struct side s;
        struct ask a = { 0 };
        struct send m = { .ask = &a, .finishes = true };
        struct begin b = { .side = &s, .ask = &a, .body = STR("abc"), .has_body = true };

        arena_init(&arena, "test", 0);
        side_init(&s, false, NULL);
        ask_begin(&s, &a, "POST", STR("hello"), true);
        m.bytes = bytes_copy(STR(""));
        http_fields_add(&m.trailers, &arena, STR("t"), STR("a\r\nb"));
        loop_call(s.loop, send_more, &m);
        ASSERT_STR(raw_hear(s.fd, "t: a  b\r\n\r\n", &arena),
                   STR("POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                       "t: a  b\r\n\r\n"));
        raw_say(s.fd, STR(HEAD "content-length: 0\r\n\r\n"));
        ask_wait(&a);
        bytes_unref(m.bytes);
        /* With a length there are no chunks. */
        b.head = (struct http_head) { .method = STR("PUT"), .authority = STR("a"), .path = STR("/y") };
        http_fields_add(&b.head.fields, &arena, STR("content-length"), STR("3"));
        ask_done(&a);
        completion_init(&a.done, "exchange");
        buf_init(&a.body, 0);
        loop_call(s.loop, begin_ask, &b);
        ASSERT_STR(raw_hear(s.fd, "abc", &arena), STR("PUT /y HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc"));
        raw_say(s.fd, STR(HEAD "content-length: 0\r\n\r\n"));
        ask_wait(&a);
        ask_done(&a);
        side_done(&s);
}

TEST(limits)
{
        static const struct {
                const char *what, *before, *repeated, *error;
        } cases[] = {
                { "head", HEAD, "x-field: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", "limit of 1000 bytes" },
                { "one line", "", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "limit of 1000 bytes" },
                { "interim", "", "HTTP/1.1 103 Hint\r\n\r\n", "too many interim responses" },
                { "chunk line", HEAD "transfer-encoding: chunked\r\n\r\n", "000000000000000000000000", "chunk" },
                { "trailers", HEAD "transfer-encoding: chunked\r\n\r\n0\r\n",
                  "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", "the trailers are too large" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct side s;
                struct ask a = { 0 };

                side_init(&s, false, NULL);
                ask_begin(&s, &a, "GET", STR_NONE, false);
                raw_say(s.fd, str_from(cases[i].before));
                while (!completion_is_done(&a.done))
                        send(s.fd, cases[i].repeated, strlen(cases[i].repeated), MSG_NOSIGNAL | MSG_DONTWAIT);
                ask_wait(&a);
                if (str_find(str_from(a.error), str_from(cases[i].error)) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, a.error);
                ask_done(&a);
                side_done(&s);
        }
}

TEST(nobody_asked)
{
        struct side s;

        side_init(&s, false, NULL);
        raw_say(s.fd, STR(HEAD "\r\n"));
        side_wait_closed(&s);
        ASSERT_TEXT(s.error, "the server sent a response nobody asked for");
        side_done(&s);
}

static void reset_ask(void *arg)
{
        struct ask *a = arg;

        exchange_reset(a->ex, HTTP_RESET_CANCEL);
}

static void drain_side(void *arg)
{
        struct side *s = arg;

        http_connection_drain(s->http);
        http_connection_drain(s->http); /* once is enough */
}

TEST(giving_up_and_draining)
{
        struct side s;
        struct ask a = { 0 };

        side_init(&s, false, NULL);
        ask_begin(&s, &a, "GET", STR_NONE, false);
        loop_call(s.loop, reset_ask, &a);
        ask_wait(&a);
        ASSERT_TEXT(a.error, "the exchange was given up");
        side_wait_closed(&s);
        ask_done(&a);
        side_done(&s);

        side_init(&s, false, NULL);
        ask_begin(&s, &a, "GET", STR_NONE, false);
        loop_call(s.loop, drain_side, &s);
        ASSERT(!side_has_slot(&s) && atomic_load(&s.n_drained) == 1);
        raw_say(s.fd, STR(HEAD "content-length: 2\r\n\r\nok"));
        ask_wait(&a);
        ASSERT_STR(buf_str(&a.body), STR("ok"));
        side_wait_closed(&s);
        ASSERT_TEXT(s.error, "");
        ask_done(&a);
        side_done(&s);

        side_init(&s, false, NULL); /* without an exchange it closes at once, and so does one whose server closes */
        loop_call(s.loop, drain_side, &s);
        side_wait_closed(&s);
        side_done(&s);
        side_init(&s, false, NULL);
        shutdown(s.fd, SHUT_WR);
        side_wait_closed(&s);
        ASSERT_TEXT(s.error, "");
        side_done(&s);
}

TEST(idle_connections_close)
{
        struct http_connection_options options = {
                .max_head_bytes = 1000, .window_bytes = 65535, .stall_ms = 20000, .idle_ms = 50
        };
        struct side s;

        side_init(&s, false, &options);
        side_wait_closed(&s);
        ASSERT_INT(atomic_load(&s.n_drained), 1);
        side_done(&s);
}

static void consume_all(void *arg)
{
        struct ask *a = arg;
        size_t n = a->n_body;

        a->holds_back = false;
        if (a->ex)
                exchange_consume(a->ex, n);
}

/* An owner that does not consume holds the server back: what waits here is bounded. */
TEST(input_pushes_back)
{
        static const struct str heads[] = { STR_INIT(HEAD "content-length: 8388608\r\n\r\n"), STR_INIT(HEAD "\r\n") };
        enum { TOTAL = 8 << 20 };
        static char block[64 << 10];

        for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
                struct side s;
                struct ask a = { .holds_back = true };
                size_t sent;

                side_init(&s, false, NULL);
                ask_begin(&s, &a, "GET", STR_NONE, false);
                raw_say(s.fd, heads[i]);
                sent = raw_fill(s.fd, block, sizeof(block), TOTAL, 100);
                ASSERT(sent < TOTAL);
                ASSERT(a.n_body <= s.options.window_bytes + (64 << 10));
                loop_call(s.loop, consume_all, &a);
                ASSERT_INT(raw_fill(s.fd, block, sizeof(block), TOTAL - sent, 20000), TOTAL - sent);
                shutdown(s.fd, SHUT_WR);
                ask_wait(&a);
                ASSERT_TEXT(a.error, "");
                ASSERT_INT(a.n_body, TOTAL);
                ask_done(&a);
                side_done(&s);
        }
}

/* A server that does not read: the queue says that it is full, and that there is room again; large pieces are not copied. */
TEST(output_pushes_back)
{
        static char into[64 << 10];
        struct side s;
        struct ask a = { 0 };
        struct send m = { .ask = &a };
        struct buf big = BUF_INIT(0);
        size_t n_sent = 0, n_read = 0;

        buf_append_repeat(&big, 'x', 1 << 20);
        m.bytes = bytes_take(&big);
        side_init(&s, false, NULL);
        ask_begin(&s, &a, "POST", STR(""), true);
        do {
                loop_call(s.loop, send_more, &m);
                n_sent++;
        } while (m.has_room);
        ASSERT(n_sent <= 2);
        /* This queue's share of the piece that waits, once for each time that it is in the queue. */
        ASSERT(m.held_bytes > 0 && m.held_bytes < 1 << 20);
        ASSERT(atomic_load(&m.bytes->references) > 1); /* it waits as it is */
        ASSERT_INT(atomic_load(&a.n_rooms), 0);
        while (atomic_load(&a.n_rooms) == 0)
                if (raw_is_readable(s.fd, 1))
                        n_read += (size_t)recv(s.fd, into, sizeof(into), 0);
        ASSERT(n_read > 0);
        side_done(&s);
        ask_done(&a);
        bytes_unref(m.bytes);
}

TEST(a_server_that_does_not_read_is_left)
{
        struct http_connection_options options = { .max_head_bytes = 1000, .window_bytes = 65535, .stall_ms = 100 };
        struct side s;
        struct ask a = { 0 };
        struct send m = { .ask = &a };
        struct buf big = BUF_INIT(0);

        buf_append_repeat(&big, 'x', 4 << 20);
        m.bytes = bytes_take(&big);
        side_init(&s, false, &options);
        ask_begin(&s, &a, "POST", STR(""), true);
        loop_call(s.loop, send_more, &m);
        ask_wait(&a);
        ASSERT_TEXT(a.error, "the peer does not read what it is sent");
        ask_done(&a);
        side_done(&s);
        bytes_unref(m.bytes);
}
