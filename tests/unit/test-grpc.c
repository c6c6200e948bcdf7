#include "test.h"

#include "grpc-reflection.h"
#include "grpc-side.h"

#include <netinet/in.h>
#include <sys/socket.h>

TEST(echo_and_errors)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct server s = start_server(NULL);
        struct grpc_channel *c = open_channel(s.target, NULL);
        struct grpc_reply reply;
        char *big = malloc(41 << 20);

        arena_init(&a, "test", 0);
        ASSERT_INT(call(c, "/test.Test/Echo", STR("hello"), 20000, &a, &reply, &err), 0);
        ASSERT_STR(reply.response->str, STR("hello"));
        bytes_unref(reply.response);
        ASSERT_INT(call(c, "/test.Test/Echo", STR("fail"), 20000, &a, &reply, &err), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&err), "rpc error: code = NotFound desc = no such thing: 100% ü");
        ASSERT_INT(call(c, "/test.Test/Nope", STR(""), 20000, &a, &reply, &err), ERR_UNSUPPORTED);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = Unimplemented desc = unknown method Nope for service test.Test");
        ASSERT_INT(call(c, "/test.Other/Nope", STR(""), 20000, &a, &reply, &err), ERR_UNSUPPORTED);
        ASSERT_TEXT(err_message(&err), "rpc error: code = Unimplemented desc = unknown service test.Other");
        ASSERT_INT(call(c, "/nope", STR(""), 20000, &a, &reply, &err), ERR_UNSUPPORTED);
        ASSERT_TEXT(err_message(&err), "rpc error: code = Unimplemented desc = malformed method name: \"/nope\"");
        memset(big, 'x', 41 << 20);
        ASSERT_INT(call(c, "/test.Test/Echo", str_make(big, 32 << 20), 60000, &a, &reply, &err), 0);
        ASSERT_INT(reply.response->str.n, 32 << 20);
        bytes_unref(reply.response);
        ASSERT_INT(call(c, "/test.Test/Echo", str_make(big, 41 << 20), 60000, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = grpc: received message larger than max "
                    "(42991616 vs. 41943040); raise it with --max-recv-message-size");
        free(big);
        for (int i = 0; i < 500; i++) {
                ASSERT_INT(call(c, "/test.Test/Echo", STR("hello"), 20000, &a, &reply, &err), 0);
                bytes_unref(reply.response);
        }
        grpc_channel_unref(c);
        grpc_server_free(s.s);
}

static void wait_for(_Atomic int *count, int wanted)
{
        for (int i = 0; i < 20000 && atomic_load(count) < wanted; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT(atomic_load(count) >= wanted);
}

static void cancel_when_hanging(void *cancel)
{
        wait_for(&n_hanging, 2);
        cancel_trigger(cancel, "enough");
}

TEST(deadlines_and_cancellation_reach_the_handler)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR(""));
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000), .cancel = cancel };
        struct server s = start_server(NULL);
        struct grpc_channel *c = open_channel(s.target, NULL);
        struct grpc_reply reply;
        struct thread *t;

        arena_init(&a, "test", 0);
        n_hanging = n_canceled = 0;
        ASSERT_INT(call(c, "/test.Test/Echo", STR(""), 60000, &a, &reply, &err), 0); /* there is a connection */
        bytes_unref(reply.response);
        for (int64_t ms = 50; n_hanging == 0; ms *= 2) { /* until one gets to the handler in time */
                ASSERT_INT(call(c, "/test.Test/Hang", STR(""), ms, &a, &reply, &err), ERR_TIMEOUT);
                ASSERT_TEXT(err_message(&err), "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
        }
        wait_for(&n_canceled, 1);
        ASSERT(thread_start("cancel", cancel_when_hanging, cancel, &t, &err) == 0);
        ASSERT_INT(grpc_call(c, STR("/test.Test/Hang"), request, &options, &a, &reply, &err), ERR_CANCELED);
        ASSERT_TEXT(err_message(&err), "rpc error: code = Canceled desc = context canceled");
        thread_join(t);
        wait_for(&n_canceled, 2);
        grpc_channel_unref(c);
        grpc_server_free(s.s);
}

struct hanging {
        struct grpc_channel *channel;
        struct cancel *cancel;
        int result;
};

static void call_hanging(void *arg)
{
        struct hanging *h = arg;
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000), .cancel = h->cancel };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR(""));
        _cleanup_arena_ struct arena a;
        struct grpc_reply reply;

        arena_init(&a, "call", 0);
        h->result = grpc_call(h->channel, STR("/test.Test/Hang"), request, &options, &a, &reply, NULL);
}

TEST(closing_the_server_cancels_handlers)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct server s = start_server(NULL);
        struct hanging h = { .channel = open_channel(s.target, NULL), .cancel = cancel };
        struct thread *t;

        n_hanging = n_canceled = 0;
        ASSERT(thread_start("caller", call_hanging, &h, &t, &err) == 0);
        wait_for(&n_hanging, 1);
        grpc_server_free(s.s); /* returns although the handler would sleep for a minute */
        ASSERT_INT(n_canceled, 1);
        cancel_trigger(cancel, "enough"); /* the call waits for a server to come back */
        thread_join(t);
        ASSERT_INT(h.result, ERR_CANCELED);
        grpc_channel_unref(h.channel);
}

TEST(metadata_and_limits_of_the_client)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("hello"));
        struct http_fields metadata = { 0 };
        struct grpc_call_options options = { .deadline = deadline_after_ms(20000), .metadata = &metadata };
        struct grpc_channel_options small = { .max_receive_bytes = 4, .max_send_bytes = 10 };
        struct grpc_channel_options named = { .max_receive_bytes = 4, .max_send_bytes = 10, .limit_flag = "--max" };
        struct server s = start_server(NULL);
        struct grpc_channel *c = open_channel(s.target, &small);
        struct grpc_reply reply;

        arena_init(&a, "test", 0);
        http_fields_add(&metadata, &a, STR("traceparent"),
                        STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        ASSERT_INT(grpc_call(c, STR("/test.Test/Echo"), request, &options, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = grpc: received message larger than max (5 vs. 4)");
        ASSERT_INT(call(c, "/test.Test/Echo", STR("hello world"), 20000, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = trying to send message larger than max (11 vs. 10)");
        grpc_channel_unref(c);
        c = open_channel(s.target, &named);
        ASSERT_INT(call(c, "/test.Test/Give", STR("5"), 20000, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = grpc: received message larger than max "
                    "(5 vs. 4); raise it with --max");
        ASSERT_INT(call(c, "/test.Test/Echo", STR("hello world"), 20000, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = trying to send message larger than max "
                    "(11 vs. 10); raise it with --max");
        grpc_channel_unref(c);
        c = open_channel(s.target, NULL);
        ASSERT_INT(grpc_call(c, STR("/test.Test/Echo"), request, &options, &a, &reply, &err), 0);
        ASSERT_STR(http_fields_get(&reply.metadata, STR("x-trace")), metadata.p[0].value);
        ASSERT_STR(http_fields_get(&reply.trailers, STR("grpc-status")), STR("0"));
        bytes_unref(reply.response);
        grpc_channel_unref(c);
        grpc_server_free(s.s);
}

TEST(health)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct server s = start_server(NULL);
        struct grpc_channel *c = open_channel(s.target, NULL);
        struct grpc_reply reply;

        arena_init(&a, "test", 0);
        ASSERT_INT(call(c, "/grpc.health.v1.Health/Check", STR(""), 20000, &a, &reply, &err), 0);
        ASSERT_STR(reply.response->str, STR("\x08\x01"));
        bytes_unref(reply.response);
        ASSERT_INT(call(c, "/grpc.health.v1.Health/Check", STR("\x0a\x01x"), 20000, &a, &reply, &err), ERR_NOT_FOUND);
        grpc_server_set_serving(s.s, STR("x"), false);
        ASSERT_INT(call(c, "/grpc.health.v1.Health/Check", STR("\x0a\x01x"), 20000, &a, &reply, &err), 0);
        ASSERT_STR(reply.response->str, STR("\x08\x02"));
        bytes_unref(reply.response);
        ASSERT_INT(call(c, "/grpc.health.v1.Health/Check", STR("\x0a\x09x"), 20000, &a, &reply, &err), ERR_FAILED);
        grpc_channel_unref(c);
        grpc_server_free(s.s);
}

TEST(reflection_answers)
{
        static const struct {
                struct str request, answer; /* the answer without the request that it repeats */
        } cases[] = {
                { STR_INIT("\x3a\x01*"), STR_INIT("\x32\x07\x0a\x05\x0a\x03"
                                                  "a.B") },
                { STR_INIT("\x1a\x01x"), STR_INIT("\x3a\x15\x08\x05\x12\x11"
                                                  "file not found: x") },
                { STR_INIT("\x22\x01x"), STR_INIT("\x3a\x17\x08\x05\x12\x13"
                                                  "symbol not found: x") },
                { STR_INIT("\x32\x01x"), STR_INIT("\x3a\x15\x08\x05\x12\x11"
                                                  "type not found: x") },
        };
        const struct str services[] = { STR("a.B") };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf answer = BUF_INIT(0);
                struct str rest;

                grpc_reflect(cases[i].request, services, 1, &answer);
                rest = buf_str(&answer);
                ASSERT(str_cut_prefix(&rest, STR("\x12\x03")) && str_cut_prefix(&rest, cases[i].request));
                ASSERT_STR(rest, cases[i].answer);
        }
}

/* Files come with what they import, so that a client has all it needs; a symbol may be anything inside the file. */
TEST(reflection_gives_files)
{
        static const struct {
                int number;
                const char *text, *wanted; /* wanted: in the answer */
                char answer;               /* the field of the answer that has it */
                const char *import;        /* NULL: none */
        } cases[] = {
                { 3, "google/protobuf/struct.proto", "ListValue", 4, NULL },
                { 3, "apiextensions/fn/proto/v1/run_function.proto", "RunFunctionRequest", 4, "ListValue" },
                { 4, "apiextensions.fn.proto.v1.FunctionRunnerService", "RunFunctionRequest", 4, "ListValue" },
                { 4, "apiextensions.fn.proto.v1.FunctionRunnerService.RunFunction", "RunFunctionRequest", 4,
                  "ListValue" },
                { 4, "google.protobuf.Struct.FieldsEntry", "ListValue", 4, NULL },
                { 4, "google.protobuf.NullValue", "ListValue", 4, NULL },
                { 4, "google.protobuf.Structure", "symbol not found: google.protobuf.Structure", 7, NULL },
                { 5, "\x0a\x01x", "extension not found: x", 7, NULL },
                { 6, "google.protobuf.Struct", "google.protobuf.Struct", 5, NULL },
                { 2, "x", "the request asks for nothing known", 7, NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf question = BUF_INIT(0), answer = BUF_INIT(0);
                struct str rest;

                buf_append_str(&question, STR("\x0a\x01h")); /* the host is repeated */
                buf_append_char(&question, (char)(cases[i].number << 3 | 2));
                buf_append_char(&question, (char)strlen(cases[i].text));
                buf_append_str(&question, str_from(cases[i].text));
                grpc_reflect(buf_str(&question), NULL, 0, &answer);
                rest = buf_str(&answer);
                ASSERT_CASE(cases[i].text, str_cut_prefix(&rest, STR("\x0a\x01h\x12")));
                rest = str_skip(rest, 1 + question.n);
                ASSERT_CASE(cases[i].text, rest.n > 0 && rest.p[0] == (cases[i].answer << 3 | 2));
                ASSERT_CASE(cases[i].text, str_find(rest, str_from(cases[i].wanted)) > 0);
                ASSERT_CASE(cases[i].text, !cases[i].import || str_find(rest, str_from(cases[i].import)) > 0);
        }
}

TEST(unix_sockets)
{
        static const char *const targets[] = { "unix:%s/s", "unix-abstract:%s" };
        char directory[] = "/tmp/weft-grpc-XXXXXX";

        ASSERT(mkdtemp(directory));
        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                struct grpc_server_options options = { .methods = methods, .n_methods = ARRAY_SIZE(methods) };
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct grpc_server *s;
                struct grpc_channel *c;
                struct grpc_reply reply;
                struct str target, name;

                arena_init(&a, "test", 0);
                target = arena_printf(&a, i ? "unix-abstract:%s" : "unix:%s/s", directory);
                name = str_skip(target, i ? 14 : 5);
                ASSERT(address_from_unix(name, i == 1, &options.http.address, &err) == 0);
                ASSERT(grpc_server_new(&options, &s, &err) == 0);
                c = open_channel(target.p, NULL);
                ASSERT_INT(call(c, "/test.Test/Echo", STR("hello"), 20000, &a, &reply, &err), 0);
                bytes_unref(reply.response);
                grpc_channel_unref(c);
                grpc_server_free(s);
        }
        ASSERT(rmdir(directory) == 0); /* the socket file is gone */
}

TEST(targets)
{
        static const struct {
                const char *target;
                int code;
        } cases[] = {
                { "dns:///localhost:1", 0 },
                { "localhost:1", 0 },
                { "passthrough:///127.0.0.1:1", 0 },
                { "ipv4:127.0.0.1:1,127.0.0.1:2", 0 },
                { "ipv6:[::1]:1", 0 },
                { "ipv4:localhost:1", ERR_INVALID },
                { "http://localhost", ERR_INVALID },
                { ":1", ERR_INVALID },
                { "a:b:c", ERR_INVALID },
                { "unix:", ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct grpc_channel *c = NULL;

                ASSERT_CASE(cases[i].target,
                            grpc_channel_new(str_from(cases[i].target), NULL, &c, &err) == cases[i].code);
                grpc_channel_unref(c);
        }
}

TEST(nobody_listens)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR(""));
        struct grpc_call_options options = { .deadline = deadline_after_ms(20000), .fails_fast = true };
        struct grpc_channel *c = open_channel("127.0.0.1:1", NULL);
        struct grpc_reply reply;

        arena_init(&a, "test", 0);
        ASSERT_INT(grpc_call(c, STR("/x.Y/Z"), request, &options, &a, &reply, &err), ERR_CLOSED);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = Unavailable desc = connection error: 127.0.0.1:1: cannot connect: "
                    "connection refused");
        /* One that waits says at its deadline what it waited for. */
        ASSERT_INT(call(c, "/x.Y/Z", STR(""), 50, &a, &reply, &err), ERR_TIMEOUT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = DeadlineExceeded desc = context deadline exceeded: connection error: "
                    "127.0.0.1:1: cannot connect: connection refused");
        grpc_channel_unref(c);
        c = open_channel("no-such-host.invalid:1", NULL);
        ASSERT_INT(grpc_call(c, STR("/x.Y/Z"), request, &options, &a, &reply, &err), ERR_CLOSED);
        ASSERT(str_find(str_from(err_message(&err)), STR("cannot resolve no-such-host.invalid")) >= 0);
        grpc_channel_unref(c);
}

/* TLS */

/* One call that does not wait for a better day; its error, or "". */
static struct str attempt(const char *target, struct tls_config *tls, const char *authority, struct arena *a)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("hello"));
        struct grpc_call_options options = { .deadline = deadline_after_ms(20000), .fails_fast = true };
        struct grpc_channel_options channel = { .tls = tls, .authority = authority };
        struct grpc_channel *c = open_channel(target, &channel);
        struct grpc_reply reply;
        struct str text = STR("");

        if (grpc_call(c, STR("/test.Test/Echo"), request, &options, a, &reply, &err) < 0)
                text = arena_copy(a, str_from(err_message(&err)));
        else
                bytes_unref(reply.response);
        grpc_channel_unref(c);
        return text;
}

static void expect(struct str got, const char *wanted)
{
        if (*wanted ? str_find(got, str_from(wanted)) < 0 : got.n > 0)
                test_fail(__FILE__, __LINE__, "got |%.*s|, wanted |%s|", STR_ARG(got), wanted);
}

TEST(mutual_tls_and_who_is_refused)
{
        struct world w;
        struct tls_config *server, *good, *none, *foreign, *expired, *suspicious;
        struct server s;
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct tls_options no_certificate = { 0 };

        arena_init(&a, "test", 0);
        world_init(&w);
        server = config(w.server, true);
        s = start_server(server);
        good = config(w.client, false);
        expect(attempt(s.target, good, NULL, &a), "");
        expect(attempt(s.target, good, "fn.example", &a), "");
        expect(attempt(s.target, good, "other.example", &a), "hostname mismatch");
        no_certificate.ca_file = arena_printf(&a, "%s/ca.crt", w.client).p;
        ASSERT(tls_config_new(&no_certificate, &none, &err) == 0);
        expect(attempt(s.target, none, NULL, &a), "certificate required");
        expect(attempt(s.target, NULL, NULL, &a), "rpc error: code = Unavailable");
        write_certificate(w.client, "DNS:client", &w.theirs, &w.ours, 3600);
        foreign = config(w.client, false);
        expect(attempt(s.target, foreign, NULL, &a), "unknown ca");
        write_certificate(w.client, "DNS:client", &w.ours, &w.ours, -60);
        expired = config(w.client, false);
        expect(attempt(s.target, expired, NULL, &a), "certificate expired");
        write_certificate(w.client, "DNS:client", &w.ours, &w.theirs, 3600);
        suspicious = config(w.client, false);
        expect(attempt(s.target, suspicious, NULL, &a), "unable to get local issuer certificate");
        grpc_server_free(s.s);
        tls_config_unref(server);
        tls_config_unref(good);
        tls_config_unref(none);
        tls_config_unref(foreign);
        tls_config_unref(expired);
        tls_config_unref(suspicious);
        world_done(&w);
}

/* The end of what the server sends may come before the client has sent all that it wants to. */
TEST(who_is_refused_can_send_on_and_read_why)
{
        struct world w;
        struct tls_config *tls;
        struct server s;
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char text[64];
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        world_init(&w);
        tls = config(w.server, true);
        s = start_server(tls);
        address.sin_port = htons((uint16_t)atoi(strrchr(s.target, ':') + 1));
        ASSERT(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
        ASSERT(send(fd, "\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9, MSG_NOSIGNAL) == 9); /* a server's hello */
        ASSERT(recv(fd, text, sizeof(text), 0) == 7);                                   /* an alert */
        ASSERT(text[0] == 21);
        ASSERT(recv(fd, text, sizeof(text), 0) == 0);
        for (int i = 0; i < 10; i++)
                ASSERT(send(fd, "more", 4, MSG_NOSIGNAL) == 4);
        close(fd);
        grpc_server_free(s.s);
        tls_config_unref(tls);
        world_done(&w);
}

/* Certificates of a server, and the errors of a client that does not accept them. */
TEST(servers_that_are_refused)
{
        static const struct {
                const char *names;
                bool is_foreign;
                long valid_s;
                const char *error;
        } cases[] = {
                { "IP:127.0.0.1", false, 3600, "" },
                { "IP:127.0.0.1", false, -60, "certificate has expired" },
                { "IP:127.0.0.1", true, 3600, "unable to get local issuer certificate" },
                { "IP:127.0.0.2", false, 3600, "IP address mismatch" },
                { "DNS:127.0.0.1", false, 3600, "IP address mismatch" },
        };
        struct world w;
        struct tls_config *client;

        world_init(&w);
        client = config(w.client, false);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct tls_config *server;
                struct server s;

                arena_init(&a, "test", 0);
                write_certificate(w.server, cases[i].names, cases[i].is_foreign ? &w.theirs : &w.ours, NULL,
                                  cases[i].valid_s);
                server = config(w.server, true);
                s = start_server(server);
                expect(attempt(s.target, client, NULL, &a), cases[i].error);
                grpc_server_free(s.s);
                tls_config_unref(server);
        }
        tls_config_unref(client);
        world_done(&w);
}

TEST(large_messages_under_tls)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct world w;
        struct tls_config *server, *client;
        struct grpc_channel_options options = { .max_receive_bytes = 33 << 20 };
        struct grpc_channel *c;
        struct grpc_reply reply;
        struct buf big = BUF_INIT(0);
        struct server s;

        arena_init(&a, "test", 0);
        world_init(&w);
        server = config(w.server, true);
        options.tls = client = config(w.client, false);
        s = start_server(server);
        c = open_channel(s.target, &options);
        buf_append_repeat(&big, 'x', 32 << 20);
        ASSERT_INT(call(c, "/test.Test/Echo", buf_str(&big), 60000, &a, &reply, &err), 0);
        ASSERT_INT(reply.response->str.n, 32 << 20);
        bytes_unref(reply.response);
        ASSERT_INT(call(c, "/test.Test/Give", STR("34603009"), 60000, &a, &reply, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "rpc error: code = ResourceExhausted desc = grpc: received message larger than max "
                    "(34603009 vs. 34603008)");
        grpc_channel_unref(c);
        grpc_server_free(s.s);
        buf_done(&big);
        tls_config_unref(server);
        tls_config_unref(client);
        world_done(&w);
}

/* Files that are there and are no good are named too, and what is in use stays in use. */
TEST(broken_files)
{
        static const struct {
                const char *file, *text, *error;
        } cases[] = {
                { "tls.crt", "nonsense", "tls.crt: no start line" },
                { "tls.crt", "", "tls.crt: no start line" },
                { "tls.key", "nonsense", "cannot use the private key in" },
                { "ca.crt", "nonsense", "cannot use the certificate authorities in" },
                { "tls.key", NULL, "does not belong to the certificate in" }, /* another's */
        };
        _cleanup_arena_ struct arena a;
        struct world w;
        struct tls_config *server, *client;
        struct server s;

        arena_init(&a, "test", 0);
        world_init(&w);
        server = config(w.server, true);
        client = config(w.client, false);
        s = start_server(server);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct tls_options options = { .is_server = true, .directory = w.server };
                _cleanup_err_ struct err err = { 0 };
                struct tls_config *c = NULL;
                char path[128];
                FILE *f;

                write_certificate(w.server, "IP:127.0.0.1", &w.ours, &w.ours, 3600);
                snprintf(path, sizeof(path), "%s/%s", w.server, cases[i].file);
                if (cases[i].text) {
                        f = fopen(path, "w");
                        ASSERT(f && fputs(cases[i].text, f) >= 0 && fclose(f) == 0);
                } else {
                        char other[128];

                        snprintf(other, sizeof(other), "%s/%s", w.client, cases[i].file);
                        ASSERT(unlink(path) == 0 && link(other, path) == 0);
                }
                ASSERT_CASE(cases[i].error, tls_config_new(&options, &c, &err) < 0);
                expect(str_from(err_message(&err)), cases[i].error);
                expect(attempt(s.target, client, NULL, &a), "");
        }
        grpc_server_free(s.s);
        tls_config_unref(server);
        tls_config_unref(client);
        world_done(&w);
}

TEST(missing_files_are_named)
{
        struct tls_options options = { .directory = "/nonexistent" };
        _cleanup_err_ struct err err = { 0 };
        struct tls_config *c;

        ASSERT(tls_config_new(&options, &c, &err) < 0);
        expect(str_from(err_message(&err)), "/nonexistent/tls.crt");
}
