/* The client against servers by hand, which answer wrongly, slowly, too much or not at all, and which go away at bad moments. */
#include "http-client-test.h"

#include "clock.h"
#include "timetext.h"

#define HEAD "HTTP/1.1 200 OK\r\n"

/* One request on a thread of its own; the test is the server. */
struct caller {
        struct http_client *client;
        struct http_request request;
        struct cancel *cancel; /* also of reading */
        struct thread *thread;
        int result; /* of opening or reading */
        int status;
        struct buf body;
        char error[512];
};

static void run_caller(void *arg)
{
        struct caller *c = arg;
        _cleanup_err_ struct err err = { 0 };
        struct http_response *r = NULL;
        struct str piece;

        c->request.cancel = c->cancel;
        if (!c->request.deadline.mono_ns)
                c->request.deadline = deadline_after_ms(20000);
        c->result = http_client_open(c->client, &c->request, &r, &err);
        if (r) {
                c->status = r->status;
                while ((c->result = http_response_read(r, c->request.deadline, c->cancel, &piece, &err)) > 0)
                        buf_append_str(&c->body, str_first(piece, (64u << 10) - MIN(c->body.n, (size_t)64 << 10)));
        }
        snprintf(c->error, sizeof(c->error), "%s", c->result < 0 ? err_message(&err) : "");
        http_response_free(r);
}

static void caller_start(struct caller *c, struct http_client *client, const char *method, const char *path)
{
        _cleanup_err_ struct err err = { 0 };

        c->client = client;
        c->request.method = str_from(method);
        c->request.path = str_from(path);
        buf_init(&c->body, 0);
        ASSERT(thread_start("caller", run_caller, c, &c->thread, &err) == 0);
}

/* Ends the caller; its error must contain the text, or be empty. */
static void caller_end(struct caller *c, const char *what, const char *error)
{
        thread_join(c->thread);
        if (*error ? !strstr(c->error, error) : *c->error)
                test_fail(__FILE__, __LINE__, "[%s] the error is \"%s\", wanted \"%s\"", what, c->error, error);
        buf_done(&c->body);
}

static struct http_client *client_to(const struct address *a, const char *scheme, struct http_client_options options)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf target = BUF_INIT(0);
        struct http_client *c;

        options.backoff_ms = 10;
        buf_appendf(&target, "%s://", scheme);
        address_append(&target, a);
        if (http_client_new(buf_str(&target), &options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

/* The next request, up to its head. */
static struct str take_request(int fd, struct arena *a)
{
        return raw_hear(fd, "\r\n\r\n", a);
}

static void wait_closed(int fd)
{
        char block[4096];

        while (raw_is_readable(fd, 20000) && recv(fd, block, sizeof(block), 0) > 0)
                ;
        close(fd);
}

static void reset_connection(int fd)
{
        struct linger now = { 1, 0 };

        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        close(fd);
}

/* HTTP/1.1 */

enum ending { STAYS, ENDS, RESETS };

TEST(answers)
{
        static const struct {
                const char *what, *answer;
                enum ending ending;
                int status;
                const char *body, *error;
        } cases[] = {
                { "fine", HEAD "content-length: 2\r\n\r\nok", STAYS, 200, "ok", "" },
                { "to the end", HEAD "\r\nok", ENDS, 200, "ok", "" },
                { "HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", ENDS, 200, "ok", "" },
                { "nothing", "", ENDS, 0, "", "the peer closed the connection" },
                { "reset at once", "", RESETS, 0, "", "connection" },
                { "half a status line", "HTTP/1.1 2", ENDS, 0, "", "the peer closed the connection" },
                { "half a head", HEAD "content-length: 2\r\n", ENDS, 0, "", "the peer closed the connection" },
                { "half a body", HEAD "content-length: 5\r\n\r\nok", ENDS, 200, "ok",
                  "reading the response: the peer closed the connection" },
                { "reset in the body", HEAD "content-length: 5\r\n\r\n", RESETS, 200, "", "reading the response: " },
                { "no HTTP", "220 mail.example.com ESMTP\r\n\r\n", STAYS, 0, "", "malformed response" },
                { "another version", "HTTP/3.0 200 OK\r\n\r\n", STAYS, 0, "", "unknown HTTP version" },
                { "bad status", "HTTP/1.1 2x0 OK\r\n\r\n", STAYS, 0, "", "malformed response" },
                { "bad header", HEAD "content length: 1\r\n\r\n", STAYS, 0, "", "malformed header line" },
                { "folded header", HEAD "a: b\r\n c\r\n\r\n", STAYS, 0, "", "malformed header line" },
                { "two lengths", HEAD "content-length: 1\r\ncontent-length: 2\r\n\r\n", STAYS, 0, "",
                  "two different content-lengths" },
                { "negative length", HEAD "content-length: -1\r\n\r\n", STAYS, 0, "", "malformed content-length" },
                { "huge length", HEAD "content-length: 99999999999999999999\r\n\r\n", STAYS, 0, "",
                  "malformed content-length" },
                { "length and chunks", HEAD "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", STAYS, 0, "",
                  "both content-length and transfer-encoding" },
                { "unknown encoding", HEAD "transfer-encoding: gzip, chunked\r\n\r\n", STAYS, 0, "",
                  "unknown transfer-encoding" },
                { "chunks", HEAD "transfer-encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n", STAYS, 200,
                  "ok", "" },
                { "no chunk size", HEAD "transfer-encoding: chunked\r\n\r\nzz\r\n", STAYS, 200, "",
                  "malformed chunk size" },
                { "huge chunk size", HEAD "transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", STAYS, 200, "",
                  "malformed chunk size" },
                { "a chunk too long", HEAD "transfer-encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n", STAYS, 200, "o",
                  "malformed chunk" },
                { "half a chunk", HEAD "transfer-encoding: chunked\r\n\r\n5\r\nok", ENDS, 200, "ok",
                  "reading the response: the peer closed the connection" },
                { "no last chunk", HEAD "transfer-encoding: chunked\r\n\r\n2\r\nok\r\n", ENDS, 200, "ok",
                  "reading the response: the peer closed the connection" },
                { "more than announced", HEAD "content-length: 2\r\n\r\nok, and more", STAYS, 200, "ok", "" },
                { "an answer twice", HEAD "content-length: 0\r\n\r\n" HEAD "content-length: 0\r\n\r\n", STAYS, 200, "",
                  "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena arena;
                struct address a;
                int listening = raw_listen(&a), fd;
                struct http_client *client = client_to(&a, "http", (struct http_client_options) { 0 });
                struct caller c = { 0 };

                arena_init(&arena, "test", 0);
                caller_start(&c, client, "GET", "/x");
                fd = raw_accept(listening);
                ASSERT(str_starts_with(take_request(fd, &arena), STR("GET /x HTTP/1.1\r\nhost: 127.0.0.1:")));
                raw_say(fd, str_from(cases[i].answer));
                if (cases[i].ending == ENDS)
                        shutdown(fd, SHUT_WR);
                if (cases[i].ending == RESETS && cases[i].status) /* after the head was read */
                        thread_sleep(deadline_after_ms(50), NULL);
                if (cases[i].ending == RESETS)
                        reset_connection(fd);
                thread_join(c.thread);
                if (*cases[i].error ? !strstr(c.error, cases[i].error) : *c.error)
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, c.error);
                if (*c.error)
                        ASSERT_CASE(cases[i].what, str_starts_with(str_from(c.error), STR("GET http://127.0.0.1:")));
                ASSERT_CASE(cases[i].what, c.status == cases[i].status);
                ASSERT_STR_CASE(cases[i].what, buf_str(&c.body), str_from(cases[i].body));
                buf_done(&c.body);
                http_client_unref(client);
                if (cases[i].ending != RESETS)
                        wait_closed(fd);
                close(listening);
        }
}

/* Answers without end, and answers that take too long. */
TEST(endless_and_slow_answers)
{
        static const struct {
                const char *what, *first, *repeated;
                int pause_ms;
                struct http_client_options options;
                const char *error;
        } cases[] = {
                { "endless line", "", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0, { 0 }, "the headers are larger than" },
                { "endless head",
                  HEAD,
                  "a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n",
                  0,
                  { 0 },
                  "the headers are larger than" },
                { "endless interim responses",
                  "",
                  "HTTP/1.1 102 Wait\r\n\r\n",
                  0,
                  { 0 },
                  "too many interim responses" },
                { "endless chunk line", HEAD "transfer-encoding: chunked\r\n\r\n", "00000000", 0, { 0 }, "chunk" },
                { "endless trailers",
                  HEAD "transfer-encoding: chunked\r\n\r\n0\r\n",
                  "a: bbbbbbbbbbbbbbbbbb\r\n",
                  0,
                  { 0 },
                  "the trailers are too large" },
                { "slow head", HEAD, "a: b\r\n", 10, { .stall_ms = 100 }, "the peer does not finish a head" },
                { "no head",
                  "",
                  "",
                  10,
                  { .head_ms = 100 },
                  "waiting for the response: nothing happened within 100 ms" },
                { "slow body",
                  HEAD "content-length: 100\r\n\r\n12345",
                  "",
                  10,
                  { .read_stall_ms = 100 },
                  "reading the response: nothing happened within 100 ms" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena arena;
                struct address a;
                int listening = raw_listen(&a), fd;
                struct http_client *client = client_to(&a, "http", cases[i].options);
                struct caller c = { 0 };

                arena_init(&arena, "test", 0);
                caller_start(&c, client, "POST", "/x");
                fd = raw_accept(listening);
                take_request(fd, &arena);
                raw_say(fd, str_from(cases[i].first));
                for (;;) { /* until the client closes */
                        char byte;

                        if (raw_is_readable(fd, cases[i].pause_ms) && recv(fd, &byte, 1, 0) <= 0)
                                break;
                        send(fd, cases[i].repeated, strlen(cases[i].repeated), MSG_NOSIGNAL | MSG_DONTWAIT);
                }
                caller_end(&c, cases[i].what, cases[i].error);
                http_client_unref(client);
                close(fd);
                close(listening);
        }
}

/* A server that takes no more of a body. */
TEST(a_server_that_does_not_read)
{
        struct http_client_options options = { .stall_ms = 200 };
        _cleanup_buf_ struct buf big = BUF_INIT(0);
        struct address a;
        int listening = raw_listen(&a), fd;
        struct http_client *client = client_to(&a, "http", options);
        struct caller c = { 0 };

        buf_append_repeat(&big, 'x', 32 << 20);
        c.request.body = bytes_take(&big);
        caller_start(&c, client, "POST", "/x");
        fd = raw_accept(listening);
        caller_end(&c, "body", "the peer does not read what it is sent");
        bytes_unref(c.request.body);
        http_client_unref(client);
        close(fd);
        close(listening);
}

/* A connection that had an answer before is closed when the next request comes. Only requests that may be sent twice are. */
TEST(a_kept_connection_is_closed)
{
        static const struct {
                const char *method;
                bool is_idempotent, is_again;
        } cases[] = { { "GET", false, true },
                      { "HEAD", false, true },
                      { "POST", false, false },
                      { "DELETE", false, false },
                      { "POST", true, true } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena arena;
                struct address a;
                int listening = raw_listen(&a), fd, again = -1;
                struct http_client *client = client_to(&a, "http", (struct http_client_options) { 0 });
                struct caller c = { 0 };

                arena_init(&arena, "test", 0);
                caller_start(&c, client, "GET", "/first");
                fd = raw_accept(listening);
                take_request(fd, &arena);
                raw_say(fd, STR(HEAD "content-length: 0\r\n\r\n"));
                caller_end(&c, "first", "");
                c = (struct caller) { .request.is_idempotent = cases[i].is_idempotent };
                caller_start(&c, client, cases[i].method, "/second");
                take_request(fd, &arena);
                shutdown(fd, SHUT_RDWR);
                if (cases[i].is_again) {
                        again = raw_accept(listening);
                        ASSERT(str_find(take_request(again, &arena), STR("/second")) > 0);
                        raw_say(again, STR(HEAD "content-length: 0\r\n\r\n"));
                }
                caller_end(&c, cases[i].method, cases[i].is_again ? "" : "the peer closed the connection");
                http_client_unref(client);
                wait_closed(fd);
                if (again >= 0)
                        wait_closed(again);
                close(listening);
        }
}

/* A server that closes after each answer is asked again at once. */
TEST(connections_that_close)
{
        _cleanup_arena_ struct arena arena;
        struct address a;
        int listening = raw_listen(&a);
        struct http_client *client = client_to(&a, "http", (struct http_client_options) { .max_h1_connections = 1 });

        arena_init(&arena, "test", 0);
        for (int i = 0; i < 20; i++) {
                struct caller c = { 0 };
                int fd;

                caller_start(&c, client, "GET", "/x");
                fd = raw_accept(listening);
                take_request(fd, &arena);
                raw_say(fd, i % 2 ? STR(HEAD "connection: close\r\ncontent-length: 0\r\n\r\n") : STR(HEAD "\r\n"));
                shutdown(fd, SHUT_WR);
                caller_end(&c, "close", "");
                wait_closed(fd);
        }
        ASSERT_INT(http_client_stats(client).n_connected, 20);
        http_client_unref(client);
        close(listening);
}

/* HTTP/1.1: as many connections as allowed, the others wait in line. */
TEST(more_requests_than_connections)
{
        _cleanup_arena_ struct arena arena;
        struct address a;
        int listening = raw_listen(&a), fd[2];
        struct http_client *client = client_to(&a, "http", (struct http_client_options) { .max_h1_connections = 2 });
        struct caller c[6] = { 0 };

        arena_init(&arena, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                caller_start(&c[i], client, "GET", "/x");
        for (size_t i = 0; i < 2; i++)
                fd[i] = raw_accept(listening);
        WAIT_UNTIL(http_client_stats(client).n_turns == ARRAY_SIZE(c));
        for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
                take_request(fd[i % 2], &arena);
                ASSERT(!raw_is_readable(listening, 10));
                raw_say(fd[i % 2], STR(HEAD "content-length: 0\r\n\r\n"));
        }
        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                caller_end(&c[i], "in line", "");
        http_client_unref(client);
        wait_closed(fd[0]);
        wait_closed(fd[1]);
        close(listening);
}

/* HTTP/2 */

static const struct http_client_options h2_options = { .version = HTTP_VERSION_2 };

static void take_connection(struct raw_peer *p, int listening, struct str settings)
{
        raw_peer_init(p, raw_accept(listening), true);
        raw_send_frame(p->fd, RAW_SETTINGS, 0, 0, settings);
}

static uint32_t take_call(struct raw_peer *p)
{
        struct raw_frame f;

        ASSERT(raw_find(p, RAW_HEADERS, &f));
        return f.id;
}

static void answer(struct raw_peer *p, uint32_t id)
{
        raw_send_headers(p->fd, id, 0, RAW_FIELDS(":status", "200"));
        raw_send_frame(p->fd, RAW_DATA, RAW_END_STREAM, id, STR("ok"));
}

static void goaway(struct raw_peer *p, uint32_t last)
{
        char payload[8] = { 0 };

        raw_u32(payload, last);
        raw_send_frame(p->fd, RAW_GOAWAY, 0, 0, str_make(payload, 8));
}

/* Even a POST is sent again when the server says that it was not processed. */
TEST(refused_requests)
{
        for (int with_goaway = 0; with_goaway < 2; with_goaway++) {
                struct address a;
                int listening = raw_listen(&a);
                struct http_client *client = client_to(&a, "http", h2_options);
                struct raw_peer p[2];
                struct caller c = { 0 };
                char code[4];
                uint32_t id;

                c.request.body = bytes_copy(STR("body"));
                caller_start(&c, client, "POST", "/x");
                take_connection(&p[0], listening, STR(""));
                id = take_call(&p[0]);
                if (with_goaway) {
                        goaway(&p[0], 0);
                        take_connection(&p[1], listening, STR(""));
                        answer(&p[1], take_call(&p[1]));
                } else {
                        raw_send_frame(p[0].fd, RAW_RST_STREAM, 0, id, raw_u32(code, 7));
                        answer(&p[0], take_call(&p[0]));
                }
                thread_join(c.thread);
                ASSERT_TEXT(c.error, "");
                ASSERT_STR(buf_str(&c.body), STR("ok"));
                buf_done(&c.body);
                bytes_unref(c.request.body);
                http_client_unref(client);
                for (int i = 0; i <= with_goaway; i++)
                        raw_peer_done(&p[i]);
                close(listening);
        }
}

/* A request that is refused over and over fails in the end. */
TEST(a_request_that_is_always_refused)
{
        struct address a;
        int listening = raw_listen(&a), n = 0;
        struct http_client *client = client_to(&a, "http", h2_options);
        struct caller c = { 0 };
        struct raw_peer p;
        struct raw_frame f;
        char code[4];

        caller_start(&c, client, "GET", "/x");
        take_connection(&p, listening, STR(""));
        while (n < 6 && raw_find(&p, RAW_HEADERS, &f)) {
                n++;
                raw_send_frame(p.fd, RAW_RST_STREAM, 0, f.id, raw_u32(code, 7));
        }
        caller_end(&c, "refused", "REFUSED_STREAM");
        http_client_unref(client);
        raw_peer_done(&p);
        close(listening);
}

/* Streams that were begun before the GOAWAY end by themselves; new requests go to a new connection. */
TEST(goaway_in_the_middle)
{
        struct address a;
        int listening = raw_listen(&a);
        struct http_client *client = client_to(&a, "http", h2_options);
        struct caller c[2] = { 0 };
        struct raw_peer old, newer;
        uint32_t id;

        caller_start(&c[0], client, "GET", "/x");
        take_connection(&old, listening, STR(""));
        id = take_call(&old);
        raw_send_headers(old.fd, id, 0, RAW_FIELDS(":status", "200"));
        raw_send_frame(old.fd, RAW_DATA, 0, id, STR("first "));
        goaway(&old, id);
        /* Settings are acknowledged after the GOAWAY was read. */
        raw_send_frame(old.fd, RAW_PING, 0, 0, STR("pingpong"));
        for (struct raw_frame f = { 0 }; f.type != RAW_PING;)
                ASSERT(raw_next(&old, &f));
        caller_start(&c[1], client, "GET", "/y");
        take_connection(&newer, listening, STR(""));
        answer(&newer, take_call(&newer));
        caller_end(&c[1], "new", "");
        raw_send_frame(old.fd, RAW_DATA, RAW_END_STREAM, id, STR("last"));
        thread_join(c[0].thread);
        ASSERT_TEXT(c[0].error, "");
        ASSERT_STR(buf_str(&c[0].body), STR("first last"));
        buf_done(&c[0].body);
        http_client_unref(client);
        raw_peer_done(&old);
        raw_peer_done(&newer);
        close(listening);
}

/* A response that breaks off is not complete. */
TEST(broken_responses)
{
        static const char *const cases[][2] = { { "reset", "reading the response: stream terminated by RST_STREAM" },
                                                { "lost", "reading the response: the peer closed the connection" },
                                                { "length", "reading the response: stream terminated by RST_STREAM" } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct address a;
                int listening = raw_listen(&a);
                struct http_client *client = client_to(&a, "http", h2_options);
                struct caller c = { 0 };
                struct raw_peer p;
                char code[4];
                uint32_t id;

                caller_start(&c, client, "GET", "/x");
                take_connection(&p, listening, STR(""));
                id = take_call(&p);
                raw_send_headers(p.fd, id, 0, RAW_FIELDS(":status", "200", "content-length", "5"));
                raw_send_frame(p.fd, RAW_DATA, i == 2 ? RAW_END_STREAM : 0, id, STR("ok"));
                if (i == 0)
                        raw_send_frame(p.fd, RAW_RST_STREAM, 0, id, raw_u32(code, 2));
                if (i == 1)
                        shutdown(p.fd, SHUT_WR);
                caller_end(&c, cases[i][0], cases[i][1]);
                http_client_unref(client);
                raw_peer_done(&p);
                close(listening);
        }
}

/* A second connection is opened when the first has no free stream, then requests wait. */
TEST(more_requests_than_streams)
{
        struct address a;
        int listening = raw_listen(&a);
        struct http_client *client = client_to(&a, "http", h2_options);
        struct caller c[4] = { 0 };
        struct raw_peer p[2];
        uint32_t id[2];

        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                caller_start(&c[i], client, "GET", "/x");
        for (size_t i = 0; i < 2; i++) {
                take_connection(&p[i], listening, STR("\0\3\0\0\0\1"));
                id[i] = take_call(&p[i]);
        }
        WAIT_UNTIL(http_client_stats(client).n_turns == ARRAY_SIZE(c));
        ASSERT(!raw_is_readable(listening, 20));
        for (size_t i = 0; i < 2; i++) { /* the other connection is busy, so the freed stream is used again */
                answer(&p[i], id[i]);
                id[i] = take_call(&p[i]);
        }
        for (size_t i = 0; i < 2; i++)
                answer(&p[i], id[i]);
        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                caller_end(&c[i], "in line", "");
        http_client_unref(client);
        raw_peer_done(&p[0]);
        raw_peer_done(&p[1]);
        close(listening);
}

TEST(another_protocol)
{
        static const struct {
                const char *what, *says, *error;
        } cases[] = {
                { "HTTP/1.1", HEAD "\r\n", "the peer does not speak HTTP/2: it began with \"HTTP/1.1 200 OK\"" },
                { "TLS", "\x15\3\1\0\2\2\x46", "the peer speaks TLS" },
                { "silence", "", "no HTTP/2 settings within 1000 ms" },
                { "silence under TLS", "", "no TLS handshake within 1000 ms" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct http_client_options options = { .version = HTTP_VERSION_2, .connect_ms = i >= 2 ? 1000 : 0 };
                struct address a;
                int listening = raw_listen(&a), fd;
                struct http_client *client = client_to(&a, i == 3 ? "https" : "http", options);
                struct caller c = { 0 };

                caller_start(&c, client, "GET", "/x");
                fd = raw_accept(listening);
                raw_say(fd, i == 1 ? str_make(cases[i].says, 7) : str_from(cases[i].says));
                caller_end(&c, cases[i].what, cases[i].error);
                http_client_unref(client);
                close(fd);
                close(listening);
        }
}

/* Cancelling and deadlines, at every point */

enum point { POINT_CONNECTING, POINT_TLS, POINT_HEAD, POINT_BODY, POINT_SENDING, POINT_CONTINUE, _POINT_COUNT };

static int produce_forever(void *context, struct bytes **ret, struct err *err)
{
        static const char block[64 << 10];

        (void)context, (void)err;
        *ret = bytes_copy(str_make(block, sizeof(block)));
        return 1;
}

/* Brings a request to the point where it waits for us. */
static int reach(enum point point, struct caller *c, int listening, struct http_client *client)
{
        _cleanup_arena_ struct arena arena;
        int fd = -1;

        arena_init(&arena, "test", 0);
        if (point == POINT_SENDING || point == POINT_CONTINUE) {
                c->request.produce = produce_forever;
                c->request.expects_continue = point == POINT_CONTINUE;
        }
        caller_start(c, client, "GET", "/x");
        if (point == POINT_CONNECTING)
                return fd;
        fd = raw_accept(listening);
        if (point != POINT_TLS)
                take_request(fd, &arena);
        if (point == POINT_BODY)
                raw_say(fd, STR(HEAD "content-length: 5\r\n\r\nab"));
        return fd;
}

TEST(cancelling_and_deadlines)
{
        static const char *const steps[] = { "waiting for a connection", "waiting for a connection",
                                             "waiting for the response", "reading the response",
                                             "sending the request",      "sending the request" };

        for (enum point point = 0; point < _POINT_COUNT; point++)
                for (int by_deadline = 0; by_deadline < (point == POINT_HEAD || point == POINT_BODY ? 2 : 1);
                     by_deadline++) {
                        struct http_client_options options = { .continue_ms = 60000 };
                        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
                        struct caller c = { .cancel = cancel };
                        struct http_client *client;
                        struct address a;
                        int listening = raw_listen(&a), fd;

                        client = client_to(&a, point == POINT_TLS ? "https" : "http", options);
                        if (by_deadline)
                                c.request.deadline = deadline_after_ms(1000);
                        fd = reach(point, &c, listening, client);
                        thread_sleep(deadline_after_ms(20), NULL);
                        if (!by_deadline)
                                cancel_trigger(cancel, "enough");
                        thread_join(c.thread);
                        if (point != POINT_CONNECTING) /* the system accepts the connection without us */
                                ASSERT_CASE(c.error, strstr(c.error, steps[point]) != NULL);
                        ASSERT_CASE(c.error, strstr(c.error, by_deadline ? "deadline exceeded" : "enough") != NULL);
                        ASSERT_INT(c.result, by_deadline ? ERR_TIMEOUT : ERR_CANCELED);
                        buf_done(&c.body);
                        if (point > POINT_TLS)
                                wait_closed(fd); /* the server hears of it */
                        else if (fd >= 0)
                                close(fd); /* the connection is still begun, for later requests */
                        WAIT_UNTIL(http_client_stats(client).n_turns == 0);
                        http_client_unref(client);
                        close(listening);
                }
}
