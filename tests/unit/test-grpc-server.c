/* The gRPC server against clients by hand: requests that no client library would send, and streams. */
#include "test.h"

#include "grpc-side.h"
#include "raw.h"
#include "resources.h"

#include <nghttp2/nghttp2.h>

struct client {
        struct raw_peer p;
        nghttp2_hd_inflater *hpack;
        uint32_t id; /* of the last request */
};

/* The answer to a request, up to the end of the stream. */
struct answer {
        char status[8], grpc_status[8], message[200];
        struct buf body;
        bool was_reset;
};

static void client_init(struct client *c, struct server *s)
{
        struct address a = grpc_server_address(s->s);

        *c = (struct client) { 0 };
        raw_peer_init(&c->p, raw_dial(&a), false);
        ASSERT(nghttp2_hd_inflate_new(&c->hpack) == 0);
        raw_say(c->p.fd, RAW_PREFACE);
        raw_send_frame(c->p.fd, RAW_SETTINGS, 0, 0, STR(""));
}

static void client_done(struct client *c)
{
        nghttp2_hd_inflate_del(c->hpack);
        raw_peer_done(&c->p);
}

static void answer_done(struct answer *a)
{
        buf_done(&a->body);
}

static void keep(char *into, size_t n, const nghttp2_nv *nv)
{
        snprintf(into, n, "%.*s", (int)nv->valuelen, (const char *)nv->value);
}

static void read_head(struct client *c, struct str block, struct answer *a)
{
        for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
                nghttp2_nv nv;
                ssize_t n = nghttp2_hd_inflate_hd2(c->hpack, &nv, &flags, (const uint8_t *)block.p, block.n, 1);
                struct str name;

                ASSERT(n >= 0);
                block = str_skip(block, (size_t)n);
                if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
                        continue;
                name = str_make((const char *)nv.name, nv.namelen);
                if (str_equal(name, STR(":status")))
                        keep(a->status, sizeof(a->status), &nv);
                else if (str_equal(name, STR("grpc-status")))
                        keep(a->grpc_status, sizeof(a->grpc_status), &nv);
                else if (str_equal(name, STR("grpc-message")))
                        keep(a->message, sizeof(a->message), &nv);
        }
        nghttp2_hd_inflate_end_headers(c->hpack);
}

/* Sends a head; the body and the end are the caller's. */
static void begin(struct client *c, const char *method, const char *path, const char *const *more)
{
        _cleanup_buf_ struct buf block = BUF_INIT(0);

        c->id = c->id ? c->id + 2 : 1;
        raw_field(&block, ":method", method);
        raw_field(&block, ":scheme", "http");
        raw_field(&block, ":path", path);
        raw_field(&block, ":authority", "a");
        for (; *more; more += 2)
                raw_field(&block, more[0], more[1]);
        raw_send_frame(c->p.fd, RAW_HEADERS, RAW_END_HEADERS, c->id, buf_str(&block));
}

/* One frame of the request's stream; false when it was its last. */
static bool take(struct client *c, struct answer *a)
{
        struct raw_frame f;

        do
                ASSERT(raw_next(&c->p, &f));
        while (f.id != c->id || f.type == RAW_WINDOW_UPDATE);
        if (f.type == RAW_HEADERS)
                read_head(c, f.payload, a);
        else if (f.type == RAW_DATA)
                buf_append_str(&a->body, f.payload);
        a->was_reset = f.type == RAW_RST_STREAM;
        return !a->was_reset && !(f.flags & RAW_END_STREAM);
}

static void finish(struct client *c, struct answer *a)
{
        *a = (struct answer) { 0 };
        buf_init(&a->body, 0);
        while (take(c, a))
                ;
}

#define GRPC "content-type", "application/grpc"

/* The end of what "0123..." compressed is: gzip of ok. */
#define GZIP_OK "\1\0\0\0\x16\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\xcf\x06\0\x47\xdd\xdc\x79\2\0\0\0"

TEST(requests)
{
        static const struct {
                const char *what, *method, *path;
                const char *head[7];
                struct str body;
                const char *status, *grpc_status, *message;
                struct str answer;
        } cases[] = {
                { "echo",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\0\0\0\0\2ok"),
                  "200",
                  "0",
                  "",
                  STR_INIT("\0\0\0\0\2ok") },
                { "a kind of gRPC",
                  "POST",
                  "/test.Test/Echo",
                  { "content-type", "application/grpc+proto" },
                  STR_INIT("\0\0\0\0\2ok"),
                  "200",
                  "0",
                  "",
                  STR_INIT("\0\0\0\0\2ok") },
                { "gzip",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC, "grpc-encoding", "gzip" },
                  STR_INIT(GZIP_OK),
                  "200",
                  "0",
                  "",
                  STR_INIT("\0\0\0\0\2ok") },
                { "gzip that is not",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC, "grpc-encoding", "gzip" },
                  STR_INIT("\1\0\0\0\3abc"),
                  "200",
                  "13",
                  "grpc: failed to decompress the message: it is damaged",
                  STR_INIT("") },
                { "zstd",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC, "grpc-encoding", "zstd" },
                  STR_INIT("\1\0\0\0\0"),
                  "200",
                  "12",
                  "grpc: Decompressor is not installed for grpc-encoding \"zstd\"",
                  STR_INIT("") },
                { "compressed in no way",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\1\0\0\0\0"),
                  "200",
                  "13",
                  "grpc: compressed flag set with identity or empty encoding",
                  STR_INIT("") },
                { "GET",
                  "GET",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT(""),
                  "405",
                  "",
                  "",
                  STR_INIT("this server speaks gRPC alone\n") },
                { "not gRPC",
                  "POST",
                  "/test.Test/Echo",
                  { "content-type", "text/plain" },
                  STR_INIT("x"),
                  "415",
                  "",
                  "",
                  STR_INIT("this server speaks gRPC alone\n") },
                { "no content type",
                  "POST",
                  "/test.Test/Echo",
                  { NULL },
                  STR_INIT(""),
                  "415",
                  "",
                  "",
                  STR_INIT("this server speaks gRPC alone\n") },
                { "bad timeout",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC, "grpc-timeout", "1x" },
                  STR_INIT(""),
                  "200",
                  "13",
                  "malformed grpc-timeout: 1x",
                  STR_INIT("") },
                { "too late",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC, "grpc-timeout", "1n" },
                  STR_INIT("\0\0\0\0\2ok"),
                  "200",
                  "4",
                  "context deadline exceeded",
                  STR_INIT("") },
                { "no message",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT(""),
                  "200",
                  "13",
                  "the body holds no message",
                  STR_INIT("") },
                { "half a message",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\0\0\0\0\5ab"),
                  "200",
                  "13",
                  "unexpected EOF",
                  STR_INIT("") },
                { "two messages",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\0\0\0\0\1a\0\0\0\0\1b"),
                  "200",
                  "13",
                  "more than one message in a unary call",
                  STR_INIT("") },
                { "unknown flag",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\7\0\0\0\0"),
                  "200",
                  "13",
                  "grpc: received unexpected payload format 7",
                  STR_INIT("") },
                { "too large",
                  "POST",
                  "/test.Test/Echo",
                  { GRPC },
                  STR_INIT("\0\x7f\0\0\0"),
                  "200",
                  "8",
                  "grpc: received message larger than max (2130706432 vs. 41943040); raise it with "
                  "--max-recv-message-size",
                  STR_INIT("") },
                { "bad reflection",
                  "POST",
                  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                  { GRPC },
                  STR_INIT("\7\0\0\0\0"),
                  "",
                  "",
                  "",
                  STR_INIT("") },
                { "no reflection at all",
                  "POST",
                  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                  { GRPC },
                  STR_INIT(""),
                  "200",
                  "0",
                  "",
                  STR_INIT("") },
        };
        struct server s = start_server(NULL);
        struct client c;

        client_init(&c, &s);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct answer a;

                begin(&c, cases[i].method, cases[i].path, cases[i].head);
                raw_send_frame(c.p.fd, RAW_DATA, RAW_END_STREAM, c.id, cases[i].body);
                finish(&c, &a);
                ASSERT_STR_CASE(cases[i].what, str_from(a.status), str_from(cases[i].status));
                ASSERT_STR_CASE(cases[i].what, str_from(a.grpc_status), str_from(cases[i].grpc_status));
                ASSERT_STR_CASE(cases[i].what, str_from(a.message), str_from(cases[i].message));
                ASSERT_STR_CASE(cases[i].what, buf_str(&a.body), cases[i].answer);
                ASSERT_CASE(cases[i].what, a.was_reset == !*cases[i].status);
                answer_done(&a);
        }
        client_done(&c);
        grpc_server_free(s.s);
}

/* A message that is too large is refused when its length is known, not when it has come. */
TEST(refused_before_it_has_come)
{
        struct server s = start_server(NULL);
        struct client c;
        struct answer a;

        client_init(&c, &s);
        begin(&c, "POST", "/test.Test/Echo", RAW_FIELDS(GRPC));
        raw_send_frame(c.p.fd, RAW_DATA, 0, c.id, STR("\0\x7f\0\0\0"));
        finish(&c, &a);
        ASSERT_TEXT(a.grpc_status, "8");
        answer_done(&a);
        client_done(&c);
        grpc_server_free(s.s);
}

/* Memory */

static struct server start_small_server(size_t max_memory_bytes, int64_t wait_ms, int64_t stall_ms)
{
        struct grpc_server_options options = { .methods = methods,
                                               .n_methods = ARRAY_SIZE(methods),
                                               .max_memory_bytes = max_memory_bytes,
                                               .max_memory_flag = "--max-memory",
                                               .wait_ms = wait_ms,
                                               .has_reflection = true,
                                               .http.stall_ms = stall_ms };
        _cleanup_err_ struct err err = { 0 };
        struct server s = { 0 };

        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.http.address, &err) == 0);
        ASSERT(grpc_server_new(&options, &s.s, &err) == 0);
        return s;
}

/* Sends a whole request with a message of n bytes. */
static void ask_bytes(struct client *c, const char *path, struct str message)
{
        _cleanup_buf_ struct buf body = BUF_INIT(0);
        struct str rest;

        grpc_append_prefix(&body, message.n);
        buf_append_str(&body, message);
        begin(c, "POST", path, RAW_FIELDS(GRPC));
        for (rest = buf_str(&body); rest.n > 16384; rest = str_skip(rest, 16384))
                raw_send_frame(c->p.fd, RAW_DATA, 0, c->id, str_first(rest, 16384));
        raw_send_frame(c->p.fd, RAW_DATA, RAW_END_STREAM, c->id, rest);
}

static void open_window(struct client *c, uint32_t id, uint32_t n)
{
        char payload[] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };

        raw_send_frame(c->p.fd, RAW_WINDOW_UPDATE, 0, id, str_make(payload, 4));
}

/* A client that lets nothing but heads through: its streams have no window. */
static void close_windows(struct client *c)
{
        raw_send_frame(c->p.fd, RAW_SETTINGS, 0, 0, STR("\0\4\0\0\0\0"));
}

static void expect(struct client *c, uint32_t id, const char *status, size_t n_body)
{
        struct answer a;

        c->id = id;
        finish(c, &a);
        ASSERT_TEXT(a.grpc_status, status);
        ASSERT_INT(a.body.n, n_body);
        answer_done(&a);
}

/* Asks with a ping, so that what came before it has come. */
static bool is_answered(struct client *c)
{
        struct raw_frame f;

        raw_send_frame(c->p.fd, RAW_PING, 0, 0, STR("12345678"));
        do {
                ASSERT(raw_next(&c->p, &f));
                if (f.type == RAW_HEADERS)
                        return true;
        } while (f.type != RAW_PING || !(f.flags & RAW_ACK));
        return false;
}

#define MIB (1u << 20)

TEST(calls_that_never_fit)
{
        struct server s = start_small_server(MIB, 0, 0);
        struct client c;
        struct answer a;

        client_init(&c, &s);
        for (int i = 0; i < 3; i++) { /* what was refused is not counted for ever */
                begin(&c, "POST", "/test.Test/Echo", RAW_FIELDS(GRPC));
                raw_send_frame(c.p.fd, RAW_DATA, 0, c.id, STR("\0\0\x08\0\0"));
                finish(&c, &a);
                ASSERT_TEXT(a.grpc_status, "8");
                ASSERT_TEXT(a.message, "the call needs more memory than one call may have: all calls together may use "
                                       "1 MiB; raise it with --max-memory");
                answer_done(&a);
        }
        ask_bytes(&c, "/test.Test/Give", STR("1000000")); /* the answer is too large */
        finish(&c, &a);
        ASSERT_TEXT(a.grpc_status, "8");
        ASSERT_TEXT(a.message, "there is not enough memory for the call: all calls together may use 1 MiB; raise it "
                               "with --max-memory");
        answer_done(&a);
        ask_bytes(&c, "/test.Test/Echo", STR("ok"));
        expect(&c, c.id, "0", 7);
        client_done(&c);
        grpc_server_free(s.s);
}

/* Replies count until they are read: 30 of a megabyte each in 4 MiB. */
TEST(unread_replies_are_bounded)
{
        struct server s = start_small_server(4 * MIB, 50, 0);
        size_t before = count_heap_bytes(), n_given = 0;
        uint32_t given[30], last;
        struct client c;
        struct answer a;

        client_init(&c, &s);
        close_windows(&c);
        for (int i = 0; i < 30; i++)
                ask_bytes(&c, "/test.Test/Give", STR("1000000"));
        last = c.id;
        /* Heads of those that have an answer; all else is refused. */
        for (size_t n_heads = 0; n_heads < 30;) {
                struct raw_frame f;

                ASSERT(raw_next(&c.p, &f));
                if (f.type != RAW_HEADERS)
                        continue;
                n_heads++;
                a = (struct answer) { 0 };
                read_head(&c, f.payload, &a);
                ASSERT_TEXT(a.status, "200");
                if (*a.grpc_status)
                        ASSERT_TEXT(a.grpc_status, "8");
                else
                        given[n_given++] = f.id;
        }
        ASSERT(n_given >= 2 && n_given <= 4);
        ASSERT(count_heap_bytes() < before + 6 * MIB);
        open_window(&c, 0, 100 * MIB);
        for (size_t i = 0; i < n_given; i++) {
                open_window(&c, given[i], 2 * MIB);
                expect(&c, given[i], "0", 1000005);
        }
        c.id = last;
        ask_bytes(&c, "/test.Test/Give", STR("1000000")); /* there is memory again */
        open_window(&c, c.id, 2 * MIB);
        expect(&c, c.id, "0", 1000005);
        client_done(&c);
        grpc_server_free(s.s);
}

/* A large call waits until an answer before it was read; a small one does not. */
TEST(calls_wait_for_memory)
{
        struct server s = start_small_server(8 * MIB, 20000, 0);
        static char large[64000];
        struct client slow, c, small;

        client_init(&slow, &s);
        close_windows(&slow);
        ask_bytes(&slow, "/test.Test/Give", STR("7300000"));
        for (struct raw_frame f = { 0 }; f.type != RAW_HEADERS;)
                ASSERT(raw_next(&slow.p, &f));
        client_init(&c, &s);
        open_window(&c, 0, MIB);
        ask_bytes(&c, "/test.Test/Echo", str_make(large, sizeof(large)));
        open_window(&c, c.id, MIB);
        client_init(&small, &s);
        ask_bytes(&small, "/test.Test/Echo", STR("ok"));
        expect(&small, small.id, "0", 7);
        ASSERT(!is_answered(&c));
        open_window(&slow, 0, 100 * MIB);
        open_window(&slow, slow.id, 100 * MIB);
        expect(&slow, slow.id, "0", 7300005);
        expect(&c, c.id, "0", sizeof(large) + 5);
        client_done(&small);
        client_done(&c);
        client_done(&slow);
        grpc_server_free(s.s);
}

/* A byte now and then is no reading; an answer that is read steadily is given whole. */
TEST(readers_that_trickle)
{
        struct server s = start_small_server(8 * MIB, 0, 300);
        struct client c;
        struct answer a = { 0 };
        bool goes_on = true;

        client_init(&c, &s);
        close_windows(&c);
        ask_bytes(&c, "/test.Test/Give", STR("1000000"));
        for (int i = 0; i < 20000 && goes_on; i++) {
                if (raw_is_readable(c.p.fd, 5))
                        goes_on = take(&c, &a);
                else
                        open_window(&c, c.id, 1);
        }
        ASSERT(a.was_reset);
        ASSERT(a.body.n < 1000000);
        answer_done(&a);
        client_done(&c);
        grpc_server_free(s.s);
}

/* Streams */

TEST(reflection_answers_each_message)
{
        struct server s = start_server(NULL);
        struct client c;
        struct answer a = { 0 };
        size_t one;

        buf_init(&a.body, 0);
        client_init(&c, &s);
        begin(&c, "POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RAW_FIELDS(GRPC));
        raw_send_frame(c.p.fd, RAW_DATA, 0, c.id, STR("\0\0\0\0\3\x3a\1*"));
        while (a.body.n == 0)
                ASSERT(take(&c, &a)); /* an answer comes before the end of the questions */
        ASSERT(str_find(buf_str(&a.body), STR("test.Test")) > 0);
        ASSERT(str_find(buf_str(&a.body), STR("grpc.health.v1.Health")) > 0);
        one = a.body.n;
        raw_send_frame(c.p.fd, RAW_DATA, RAW_END_STREAM, c.id, STR("\0\0\0\0\3\x3a\1*"));
        while (take(&c, &a))
                ;
        ASSERT_INT(a.body.n, 2 * one);
        ASSERT_TEXT(a.grpc_status, "0");
        answer_done(&a);
        client_done(&c);
        grpc_server_free(s.s);
}

/* A client that asks without end and reads nothing is not read from. */
TEST(reflection_pushes_back)
{
        struct server s = start_server(NULL);
        struct client c;
        struct raw_frame f;
        size_t before;
        _cleanup_buf_ struct buf questions = BUF_INIT(0), frame = BUF_INIT(0);

        for (int i = 0; i < 2000; i++)
                buf_append_str(&questions, STR("\0\0\0\0\3\x3a\1*"));
        client_init(&c, &s);
        begin(&c, "POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RAW_FIELDS(GRPC));
        raw_frame(&frame, RAW_DATA, 0, c.id, buf_str(&questions));
        before = count_heap_bytes();
        for (int i = 0; i < 16; i++) /* 256 KB, as much as the window allows; the answers would be megabytes */
                raw_say(c.p.fd, buf_str(&frame));
        raw_send_frame(c.p.fd, RAW_PING, 0, 0, STR("pingpong"));
        ASSERT(raw_find(&c.p, RAW_PING, &f)); /* all was read */
        ASSERT(count_heap_bytes() < before + (1536 << 10));
        client_done(&c);
        grpc_server_free(s.s);
}

static void expect_health(struct client *c, struct answer *a, char serving)
{
        size_t n = a->body.n + 7;
        char wanted[7] = { 0, 0, 0, 0, 2, 8, serving };

        while (a->body.n < n)
                ASSERT(take(c, a));
        ASSERT_STR(str_skip(buf_str(&a->body), n - 7), str_make(wanted, 7));
}

TEST(watching_health)
{
        struct server s = start_server(NULL);
        struct client all, one;
        struct answer a = { 0 }, b = { 0 };

        buf_init(&a.body, 0);
        buf_init(&b.body, 0);
        client_init(&all, &s);
        begin(&all, "POST", "/grpc.health.v1.Health/Watch", RAW_FIELDS(GRPC));
        raw_send_frame(all.p.fd, RAW_DATA, RAW_END_STREAM, all.id, STR("\0\0\0\0\0"));
        expect_health(&all, &a, 1);
        client_init(&one, &s);
        begin(&one, "POST", "/grpc.health.v1.Health/Watch", RAW_FIELDS(GRPC));
        raw_send_frame(one.p.fd, RAW_DATA, RAW_END_STREAM, one.id, STR("\0\0\0\0\3\x0a\1x"));
        expect_health(&one, &b, 3); /* nobody knows it yet */
        grpc_server_set_serving(s.s, STR("x"), true);
        expect_health(&one, &b, 1);
        grpc_server_set_serving(s.s, STR("x"), true); /* no news */
        grpc_server_set_serving(s.s, STR("x"), false);
        expect_health(&one, &b, 2);
        grpc_server_set_serving(s.s, STR(""), false);
        expect_health(&all, &a, 2);
        grpc_server_set_serving(s.s, STR(""), true);
        expect_health(&all, &a, 1);
        /* A client that goes is forgotten; a server that drains tells and ends. */
        client_done(&one);
        grpc_server_drain(s.s);
        expect_health(&all, &a, 2);
        while (take(&all, &a))
                ;
        ASSERT_TEXT(a.grpc_status, "14");
        shutdown(all.p.fd, SHUT_WR);
        ASSERT_INT(grpc_server_wait(s.s, deadline_after_ms(20000), NULL), 0);
        answer_done(&a);
        answer_done(&b);
        client_done(&all);
        grpc_server_free(s.s);
}

TEST(watching_badly)
{
        static const struct {
                struct str body;
                const char *grpc_status;
        } cases[] = {
                { STR_INIT(""), "13" },
                { STR_INIT("\0\0\0\0\5ab"), "13" },
                { STR_INIT("\0\0\0\0\2\x0a\x09"), "13" },
                { STR_INIT("\7\0\0\0\0"), "13" },
                { STR_INIT("\0\x7f\0\0\0"), "8" },
        };
        struct server s = start_server(NULL);
        struct client c;

        client_init(&c, &s);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct answer a;

                begin(&c, "POST", "/grpc.health.v1.Health/Watch", RAW_FIELDS(GRPC));
                raw_send_frame(c.p.fd, RAW_DATA, RAW_END_STREAM, c.id, cases[i].body);
                finish(&c, &a);
                ASSERT_TEXT(a.grpc_status, cases[i].grpc_status);
                answer_done(&a);
        }
        /* One that is watching when the server is freed. */
        begin(&c, "POST", "/grpc.health.v1.Health/Watch", RAW_FIELDS(GRPC));
        raw_send_frame(c.p.fd, RAW_DATA, RAW_END_STREAM, c.id, STR("\0\0\0\0\0"));
        grpc_server_free(s.s);
        client_done(&c);
}
