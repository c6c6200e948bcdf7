/* The gRPC client against servers by hand, which do what ours would not. The words of the errors are what the Go client says to the
 * same frames. */
#include "test.h"

#include "clock.h"
#include "grpc-client.h"
#include "park.h"
#include "raw.h"
#include "server.h"
#include "timetext.h"

#include <signal.h>

/* A call on a thread of its own. */
struct caller {
        struct grpc_channel *channel;
        struct thread *thread;
        int64_t timeout_ms;
        bool fails_fast;
        int r;
        enum grpc_status status;
        char text[300];
        size_t n_response;
};

static void run_call(void *arg)
{
        struct caller *c = arg;
        struct grpc_call_options options = { .deadline = deadline_after_ms(c->timeout_ms),
                                             .fails_fast = c->fails_fast };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("hello"));
        struct grpc_reply reply;

        arena_init(&a, "call", 0);
        c->r = grpc_call(c->channel, STR("/a.B/C"), request, &options, &a, &reply, &err);
        c->status = reply.status;
        snprintf(c->text, sizeof(c->text), "%s", c->r < 0 ? err_message(&err) : "");
        c->n_response = reply.response ? reply.response->str.n : 0;
        bytes_unref(reply.response);
}

static void caller_start(struct caller *c, struct grpc_channel *channel)
{
        _cleanup_err_ struct err err = { 0 };

        *c = (struct caller) { .channel = channel, .timeout_ms = 20000 };
        ASSERT(thread_start("caller", run_call, c, &c->thread, &err) == 0);
}

static struct grpc_channel *channel_to(const struct address *addresses, size_t n,
                                       const struct grpc_channel_options *options)
{
        _cleanup_buf_ struct buf target = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct grpc_channel *c;

        buf_append_literal(&target, "ipv4:");
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_char(&target, ',');
                address_append(&target, &addresses[i]);
        }
        if (grpc_channel_new(buf_str(&target), options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

/* A connection of the client, up to its settings. */
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
        raw_send_headers(p->fd, id, 0, RAW_FIELDS(":status", "200", "content-type", "application/grpc"));
        raw_send_frame(p->fd, RAW_DATA, 0, id, STR("\0\0\0\0\2ok"));
        raw_send_headers(p->fd, id, RAW_END_STREAM, RAW_FIELDS("grpc-status", "0"));
}

#define GRPC ":status", "200", "content-type", "application/grpc"

TEST(answers)
{
        static const struct {
                const char *what;
                const char *head[9];
                struct str body;
                const char *trailers[5];
                int reset;            /* -1: none */
                const char *expected; /* behind `rpc error: code = `; NULL: it goes well */
        } cases[] = {
                { "well", { GRPC }, STR_INIT("\0\0\0\0\2ok"), { "grpc-status", "0" }, -1, NULL },
                { "not found",
                  { GRPC },
                  STR_INIT(""),
                  { "grpc-status", "5", "grpc-message", "a%20b%zz" },
                  -1,
                  "NotFound desc = a b%zz" },
                { "trailers only",
                  { GRPC, "grpc-status", "14", "grpc-message", "x" },
                  STR_INIT(""),
                  { NULL },
                  -1,
                  "Unavailable desc = x" },
                { "status of another head",
                  { ":status", "404", "content-type", "application/grpc" },
                  STR_INIT(""),
                  { "grpc-status", "5", "grpc-message", "x" },
                  -1,
                  "NotFound desc = x" },
                { "no such status", { GRPC }, STR_INIT(""), { "grpc-status", "99" }, -1, "Unknown desc = " },
                { "bad status",
                  { GRPC },
                  STR_INIT(""),
                  { "grpc-status", "abc" },
                  -1,
                  "Unknown desc = transport: malformed grpc-status: \"abc\"" },
                { "empty status",
                  { GRPC },
                  STR_INIT(""),
                  { "grpc-status", "" },
                  -1,
                  "Unknown desc = transport: malformed grpc-status: \"\"" },
                { "no trailers",
                  { GRPC },
                  STR_INIT("\0\0\0\0\2ok"),
                  { NULL },
                  -1,
                  "Internal desc = server closed the stream without sending trailers" },
                { "no message",
                  { GRPC },
                  STR_INIT(""),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = cardinality violation: received no response message from non-server-streaming RPC" },
                { "two messages",
                  { GRPC },
                  STR_INIT("\0\0\0\0\0\0\0\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = cardinality violation: expected <EOF> for non server-streaming RPCs, but received "
                  "another message" },
                { "half a message",
                  { GRPC },
                  STR_INIT("\0\0\0\0\5ab"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = unexpected EOF" },
                { "unknown flag",
                  { GRPC },
                  STR_INIT("\2\0\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = grpc: received unexpected payload format 2" },
                { "compressed in no way",
                  { GRPC },
                  STR_INIT("\1\0\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = grpc: compressed flag set with identity or empty encoding" },
                { "compressed in another way",
                  { GRPC, "grpc-encoding", "zstd" },
                  STR_INIT("\1\0\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = grpc: Decompressor is not installed for grpc-encoding \"zstd\"" },
                { "gzip",
                  { GRPC, "grpc-encoding", "gzip" },
                  STR_INIT("\1\0\0\0\x16\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\xcf\x06\0\x47\xdd\xdc\x79\2\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  NULL },
                { "bad gzip",
                  { GRPC, "grpc-encoding", "gzip" },
                  STR_INIT("\1\0\0\0\3abc"),
                  { "grpc-status", "0" },
                  -1,
                  "Internal desc = grpc: failed to decompress the message: it is damaged" },
                { "too large",
                  { GRPC },
                  STR_INIT("\0\x7f\0\0\0"),
                  { "grpc-status", "0" },
                  -1,
                  "ResourceExhausted desc = grpc: received message larger than max (2130706432 vs. 1048576); raise it "
                  "with --limit" },
                { "reset 0",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  0,
                  "Internal desc = stream terminated by RST_STREAM with error code: NO_ERROR" },
                { "reset 1",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  1,
                  "Internal desc = stream terminated by RST_STREAM with error code: PROTOCOL_ERROR" },
                { "reset 2",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  2,
                  "Internal desc = stream terminated by RST_STREAM with error code: INTERNAL_ERROR" },
                { "reset 3",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  3,
                  "ResourceExhausted desc = stream terminated by RST_STREAM with error code: FLOW_CONTROL_ERROR" },
                { "reset 8",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  8,
                  "Canceled desc = stream terminated by RST_STREAM with error code: CANCEL" },
                { "reset 8 after the head",
                  { GRPC },
                  STR_INIT(""),
                  { NULL },
                  8,
                  "Canceled desc = stream terminated by RST_STREAM with error code: CANCEL" },
                { "reset 11",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  11,
                  "ResourceExhausted desc = stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM" },
                { "reset 12",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  12,
                  "PermissionDenied desc = stream terminated by RST_STREAM with error code: INADEQUATE_SECURITY" },
                { "reset 99",
                  { NULL },
                  STR_INIT(""),
                  { NULL },
                  99,
                  "Unknown desc = stream terminated by RST_STREAM with error code: unknown" },
        };
        struct grpc_channel_options options = { .max_receive_bytes = 1 << 20, .limit_flag = "--limit" };
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, &options);
        struct raw_peer p;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct caller c;
                char expected[300] = "", number[4];
                uint32_t id;

                caller_start(&c, channel);
                if (i == 0)
                        take_connection(&p, listening, STR(""));
                id = take_call(&p);
                if (cases[i].head[0])
                        raw_send_headers(p.fd, id, 0, cases[i].head);
                if (cases[i].body.n > 0 || (!cases[i].trailers[0] && cases[i].reset < 0))
                        raw_send_frame(p.fd, RAW_DATA, cases[i].trailers[0] || cases[i].reset >= 0 ? 0 : RAW_END_STREAM,
                                       id, cases[i].body);
                if (cases[i].trailers[0])
                        raw_send_headers(p.fd, id, RAW_END_STREAM, cases[i].trailers);
                if (cases[i].reset >= 0)
                        raw_send_frame(p.fd, RAW_RST_STREAM, 0, id, raw_u32(number, (uint32_t)cases[i].reset));
                thread_join(c.thread);
                if (cases[i].expected)
                        snprintf(expected, sizeof(expected), "rpc error: code = %s", cases[i].expected);
                ASSERT_STR_CASE(cases[i].what, str_from(c.text), str_from(expected));
                ASSERT_CASE(cases[i].what, c.n_response == (cases[i].expected ? 0 : 2));
        }
        grpc_channel_unref(channel);
        raw_peer_done(&p);
        close(listening);
}

/* A web server that knows nothing of gRPC. */

static void on_web_body(struct exchange *ex, struct str data)
{
        exchange_consume(ex, data.n);
}

static void on_web_end(struct exchange *ex)
{
        struct http_fields fields = { 0 };
        int status = *(_Atomic int *)ex->owner;

        if (status < 1000)
                http_fields_add(&fields, &ex->arena, STR("content-type"), STR("text/html"));
        exchange_respond(ex, status % 1000, &fields, false);
        exchange_send(ex, bytes_copy(STR("<html>")));
        exchange_finish(ex, NULL);
}

static void on_web_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
}

static const struct exchange_callbacks web_callbacks = { .on_body = on_web_body,
                                                         .on_end = on_web_end,
                                                         .on_closed = on_web_closed };

static void on_web_request(void *status, struct exchange *ex)
{
        ex->callbacks = &web_callbacks;
        ex->owner = status;
}

TEST(a_server_that_does_not_speak_grpc)
{
        static const struct {
                int status; /* and 1000: without a content type */
                const char *expected;
        } cases[] = {
                { 200, "Unknown desc = unexpected HTTP status code received from server: 200 (OK)" },
                { 302, "Unknown desc = unexpected HTTP status code received from server: 302 (Found)" },
                { 400, "Internal desc = unexpected HTTP status code received from server: 400 (Bad Request)" },
                { 401, "Unauthenticated desc = unexpected HTTP status code received from server: 401 (Unauthorized)" },
                { 403, "PermissionDenied desc = unexpected HTTP status code received from server: 403 (Forbidden)" },
                { 404, "Unimplemented desc = unexpected HTTP status code received from server: 404 (Not Found)" },
                { 418, "Unknown desc = unexpected HTTP status code received from server: 418 (I'm a teapot)" },
                { 429, "Unavailable desc = unexpected HTTP status code received from server: 429 (Too Many Requests)" },
                { 500, "Unknown desc = unexpected HTTP status code received from server: 500 (Internal Server Error)" },
                { 502, "Unavailable desc = unexpected HTTP status code received from server: 502 (Bad Gateway)" },
                { 503,
                  "Unavailable desc = unexpected HTTP status code received from server: 503 (Service Unavailable)" },
                { 504, "Unavailable desc = unexpected HTTP status code received from server: 504 (Gateway Timeout)" },
                { 1200, "Unknown desc = unexpected HTTP status code received from server: 200 (OK)" },
                { 1503,
                  "Unavailable desc = unexpected HTTP status code received from server: 503 (Service Unavailable)" },
        };
        _Atomic int status = 0;
        struct http_server_options options = { .on_request = on_web_request, .context = &status };
        _cleanup_err_ struct err err = { 0 };
        struct http_server *s;
        struct grpc_channel *channel;
        struct address a;

        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.address, &err) == 0);
        ASSERT(http_server_new(&options, &s, &err) == 0);
        a = http_server_address(s);
        channel = channel_to(&a, 1, NULL);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct caller c;
                char expected[300];

                atomic_store(&status, cases[i].status);
                caller_start(&c, channel);
                thread_join(c.thread);
                snprintf(expected, sizeof(expected), "rpc error: code = %s; %s", cases[i].expected,
                         cases[i].status < 1000 ? "transport: received unexpected content-type \"text/html\""
                                                : "malformed header: missing HTTP content-type");
                ASSERT_TEXT(c.text, expected);
        }
        grpc_channel_unref(channel);
        http_server_free(s);
}

/* Retries */

TEST(refused_streams_are_tried_again)
{
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, NULL);
        struct raw_peer p;
        struct caller c;
        char number[4];

        caller_start(&c, channel);
        take_connection(&p, listening, STR(""));
        for (int i = 0; i < 3; i++)
                raw_send_frame(p.fd, RAW_RST_STREAM, 0, take_call(&p), raw_u32(number, HTTP_RESET_REFUSED));
        answer(&p, take_call(&p));
        thread_join(c.thread);
        ASSERT_TEXT(c.text, "");
        /* Not without end. */
        caller_start(&c, channel);
        for (int i = 0; i < 6; i++)
                raw_send_frame(p.fd, RAW_RST_STREAM, 0, take_call(&p), raw_u32(number, HTTP_RESET_REFUSED));
        thread_join(c.thread);
        ASSERT_TEXT(c.text, "rpc error: code = Unavailable desc = stream terminated by RST_STREAM with error code: "
                            "REFUSED_STREAM");
        grpc_channel_unref(channel);
        raw_peer_done(&p);
        close(listening);
}

/* The server goes away in order: what it will not look at begins again on a new connection, what it took is answered on the old. */
TEST(goaway)
{
        struct grpc_channel_options options = { .backoff_ms = 10 };
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, &options);
        struct raw_peer old, newer;
        struct caller c[3];

        for (size_t i = 0; i < 3; i++)
                caller_start(&c[i], channel);
        take_connection(&old, listening, STR(""));
        for (size_t i = 0; i < 3; i++)
                take_call(&old);
        raw_send_frame(old.fd, RAW_GOAWAY, 0, 0, STR("\0\0\0\1\0\0\0\0"));
        take_connection(&newer, listening, STR(""));
        answer(&newer, take_call(&newer));
        answer(&newer, take_call(&newer));
        answer(&old, 1);
        for (size_t i = 0; i < 3; i++) {
                thread_join(c[i].thread);
                ASSERT_TEXT(c[i].text, "");
        }
        grpc_channel_unref(channel);
        raw_peer_done(&old);
        raw_peer_done(&newer);
        close(listening);
}

TEST(a_connection_lost_before_the_answer)
{
        struct grpc_channel_options options = { .backoff_ms = 10 };
        struct address a[2];
        int listening[2] = { raw_listen(&a[0]), raw_listen(&a[1]) };
        struct grpc_channel *channel = channel_to(a, 2, &options);
        struct raw_peer p[2];
        struct caller c;
        size_t first;

        caller_start(&c, channel);
        take_connection(&p[0], listening[0], STR(""));
        take_connection(&p[1], listening[1], STR(""));
        /* One of them has the call; it loses it, and the other one gets it. */
        for (first = 0;; first = !first) {
                struct raw_frame f;

                if (raw_has_more(&p[first], 10) && raw_next(&p[first], &f) && f.type == RAW_HEADERS)
                        break;
        }
        shutdown(p[first].fd, SHUT_RDWR);
        answer(&p[!first], take_call(&p[!first]));
        thread_join(c.thread);
        ASSERT_TEXT(c.text, "");
        grpc_channel_unref(channel);
        for (size_t i = 0; i < 2; i++) {
                raw_peer_done(&p[i]);
                close(listening[i]);
        }
}

/* Once is enough: it may be the call that brings the server down. An answer that has begun is never asked for again. */
TEST(a_connection_lost_again)
{
        struct grpc_channel_options options = { .backoff_ms = 10 };

        for (int with_head = 0; with_head < 2; with_head++) {
                struct address a;
                int listening = raw_listen(&a);
                struct grpc_channel *channel = channel_to(&a, 1, &options);
                struct raw_peer p;
                struct caller c;

                caller_start(&c, channel);
                for (int i = 0; i < (with_head ? 1 : 2); i++) {
                        uint32_t id;

                        take_connection(&p, listening, STR(""));
                        id = take_call(&p);
                        if (with_head) {
                                raw_send_headers(p.fd, id, 0, RAW_FIELDS(GRPC));
                                raw_send_frame(p.fd, RAW_DATA, 0, id, STR("\0\0\0\0\2o"));
                        }
                        shutdown(p.fd, SHUT_WR);
                        while (raw_need(&p, p.in.n - p.n_taken + 1)) /* until the client has closed too */
                                ;
                        raw_peer_done(&p);
                }
                thread_join(c.thread);
                ASSERT_TEXT(c.text, "rpc error: code = Unavailable desc = the peer closed the connection");
                grpc_channel_unref(channel);
                close(listening);
        }
}

/* A peer that vanishes: no answer, no end. Its calls go to another address when pings have told. The other one is this thread, which
 * must not be held up for as long as to be taken for gone as well. */
TEST(keepalive_finds_a_peer_that_vanished)
{
        struct grpc_channel_options options = { .backoff_ms = 10, .keepalive_ms = 1000 };
        struct address a[2];
        int listening[2] = { raw_listen(&a[0]), raw_listen(&a[1]) };
        struct grpc_channel *channel = channel_to(a, 2, &options);
        struct raw_peer gone, p;
        struct caller c[2];

        caller_start(&c[0], channel);
        caller_start(&c[1], channel);
        take_connection(&gone, listening[0], STR(""));
        take_connection(&p, listening[1], STR(""));
        answer(&p, take_call(&p)); /* round robin: its own, or both */
        answer(&p, take_call(&p));
        for (size_t i = 0; i < 2; i++) {
                thread_join(c[i].thread);
                ASSERT_TEXT(c[i].text, "");
        }
        grpc_channel_unref(channel);
        raw_peer_done(&gone);
        raw_peer_done(&p);
        for (size_t i = 0; i < 2; i++)
                close(listening[i]);
}

TEST(keepalive_without_another_address)
{
        struct grpc_channel_options options = { .backoff_ms = 10, .keepalive_ms = 50 };
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, &options);
        struct raw_peer p[2];
        struct caller c;

        caller_start(&c, channel);
        for (size_t i = 0; i < 2; i++)
                take_connection(&p[i], listening, STR(""));
        thread_join(c.thread);
        ASSERT_TEXT(c.text, "rpc error: code = Unavailable desc = the peer does not answer pings");
        grpc_channel_unref(channel);
        raw_peer_done(&p[0]);
        raw_peer_done(&p[1]);
        close(listening);
}

/* Limits of the peer */

TEST(more_calls_than_the_peer_takes)
{
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, NULL);
        struct raw_peer p;
        struct caller c[7];
        uint32_t open[2];

        for (size_t i = 0; i < ARRAY_SIZE(c); i++)
                caller_start(&c[i], channel);
        take_connection(&p, listening, STR("\0\3\0\0\0\2"));
        open[0] = take_call(&p);
        open[1] = take_call(&p);
        for (size_t i = 2; i < ARRAY_SIZE(c); i++) {
                struct raw_frame f;

                /* A ping comes back before another call begins. */
                raw_send_frame(p.fd, RAW_PING, 0, 0, STR("pingpong"));
                do {
                        ASSERT(raw_next(&p, &f));
                        ASSERT(f.type != RAW_HEADERS);
                } while (f.type != RAW_PING);
                answer(&p, open[i % 2]);
                open[i % 2] = take_call(&p);
        }
        answer(&p, open[0]);
        answer(&p, open[1]);
        for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
                thread_join(c[i].thread);
                ASSERT_TEXT(c[i].text, "");
        }
        grpc_channel_unref(channel);
        raw_peer_done(&p);
        close(listening);
}

/* Connecting takes its part of the time too; on a machine that is too busy for it there is more the next time. */
TEST(a_server_without_settings)
{
        char wanted[64] = "";
        struct caller c = { 0 };

        for (int64_t ms = 50; ms < 20000 && !strstr(c.text, "no HTTP/2 settings"); ms *= 4) {
                struct grpc_channel_options options = { .connect_ms = ms };
                struct address a;
                int listening = raw_listen(&a), fd;
                _cleanup_err_ struct err err = { 0 };

                c = (struct caller) { .channel = channel_to(&a, 1, &options), .timeout_ms = 60000, .fails_fast = true };
                ASSERT(thread_start("caller", run_call, &c, &c.thread, &err) == 0);
                fd = raw_accept(listening);
                thread_join(c.thread);
                ASSERT_INT(c.status, GRPC_UNAVAILABLE);
                snprintf(wanted, sizeof(wanted), "no HTTP/2 settings within %d ms", (int)ms);
                grpc_channel_unref(c.channel);
                close(fd);
                close(listening);
        }
        if (!strstr(c.text, wanted))
                test_fail(__FILE__, __LINE__, "%s", c.text);
}

/* Up to the answer to a ping: whether a call has come, and was taken back. */
static bool take_canceled_call(struct raw_peer *p)
{
        struct raw_frame f;
        uint32_t id = 0, canceled = 0;

        raw_send_frame(p->fd, RAW_PING, 0, 0, STR("pingpong"));
        do {
                ASSERT(raw_next(p, &f));
                if (f.type == RAW_HEADERS)
                        id = f.id;
                if (f.type == RAW_RST_STREAM && str_equal(f.payload, STR("\0\0\0\x08")))
                        canceled = f.id;
        } while (f.type != RAW_PING);
        ASSERT_INT(canceled, id);
        return id > 0;
}

/* The caller's deadline holds whatever the server does, and the server hears of it. A call that did not get to the server in time
 * tries again with more of it. */
TEST(a_deadline_passes)
{
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, NULL);
        struct caller c;
        struct raw_peer p;
        bool has_come = false;

        caller_start(&c, channel);
        take_connection(&p, listening, STR(""));
        answer(&p, take_call(&p));
        thread_join(c.thread);
        for (int64_t ms = 50; ms < 20000 && !has_come; ms *= 4) {
                _cleanup_err_ struct err err = { 0 };
                int64_t begun_ns = clock_mono_ns();

                c = (struct caller) { .channel = channel, .timeout_ms = ms };
                ASSERT(thread_start("caller", run_call, &c, &c.thread, &err) == 0);
                thread_join(c.thread);
                ASSERT_TEXT(c.text, "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
                ASSERT(clock_mono_ns() - begun_ns >= ms * NS_PER_MS);
                has_come = take_canceled_call(&p);
        }
        ASSERT(has_come);
        grpc_channel_unref(channel);
        raw_peer_done(&p);
        close(listening);
}

/* A busy machine may run the loop before the caller whose deadline has passed. A signal handler holds the caller up here. */

static int held_up[2], go_on[2];

static void hold_up(int signal)
{
        char byte = (char)signal;

        if (write(held_up[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1)
                abort();
}

struct held_caller {
        struct caller caller;
        pthread_t pthread;
        _Atomic bool has_pthread;
};

static void run_held_call(void *arg)
{
        struct held_caller *c = arg;
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* threads start with all signals blocked */
        c->pthread = pthread_self();
        atomic_store(&c->has_pthread, true);
        run_call(&c->caller);
}

static void wait_no_calls(struct grpc_channel *channel)
{
        for (int i = 0; i < 60000 && grpc_channel_stats(channel).n_calls > 0; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(grpc_channel_stats(channel).n_calls, 0);
}

/* The caller cannot use an answer that says to try again: its time is over. */
TEST(a_connection_lost_after_the_deadline)
{
        struct grpc_channel_options options = { .backoff_ms = 10 };
        const int64_t timeout_ms = 3000;
        struct address a;
        int listening = raw_listen(&a);
        struct grpc_channel *channel = channel_to(&a, 1, &options);
        struct held_caller c = { .caller = { .channel = channel, .timeout_ms = timeout_ms } };
        struct sigaction action = { .sa_handler = hold_up }, before;
        _cleanup_err_ struct err err = { 0 };
        struct raw_peer p;
        char byte;

        ASSERT(pipe(held_up) == 0 && pipe(go_on) == 0);
        ASSERT(sigaction(SIGUSR1, &action, &before) == 0);
        ASSERT(thread_start("caller", run_held_call, &c, &c.caller.thread, &err) == 0);
        take_connection(&p, listening, STR(""));
        take_call(&p);
        ASSERT(atomic_load(&c.has_pthread) && pthread_kill(c.pthread, SIGUSR1) == 0);
        ASSERT(read(held_up[0], &byte, 1) == 1);
        thread_sleep(deadline_after_ms(timeout_ms + 1), NULL);
        shutdown(p.fd, SHUT_RDWR);
        wait_no_calls(channel);
        ASSERT(write(go_on[1], "", 1) == 1);
        thread_join(c.caller.thread);
        ASSERT_TEXT(c.caller.text, "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
        ASSERT_INT(c.caller.r, ERR_TIMEOUT);
        sigaction(SIGUSR1, &before, NULL);
        for (size_t i = 0; i < 2; i++) {
                close(held_up[i]);
                close(go_on[i]);
        }
        grpc_channel_unref(channel);
        raw_peer_done(&p);
        close(listening);
}
