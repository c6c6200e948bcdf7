/* The server against raw sockets: what well-behaved and ill-behaved peers see. */
#include "test.h"

#include "raw.h"
#include "server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Echoes the body of a request, in a response without a length; a GET gets its path. */
static void on_body(struct exchange *ex, struct str data)
{
        exchange_send(ex, bytes_copy(data));
        exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        if (str_equal(ex->request.path, STR("/now")))
                return; /* it was answered at once */
        if (str_equal(ex->request.method, STR("GET")))
                exchange_send(ex, bytes_copy(ex->request.path));
        exchange_finish(ex, NULL);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
}

static const struct exchange_callbacks callbacks = { .on_body = on_body, .on_end = on_end, .on_closed = on_closed };

static void on_request(void *context, struct exchange *ex)
{
        (void)context;
        ex->callbacks = &callbacks;
        if (str_equal(ex->request.path, STR("/now")))
                exchange_respond(ex, 404, NULL, true);
        else if (str_equal(ex->request.path, STR("/no")))
                exchange_reset(ex, HTTP_RESET_REFUSED);
        else
                exchange_respond(ex, 200, NULL, false);
}

static struct http_server *start(struct http_server_options options)
{
        _cleanup_err_ struct err err = { 0 };
        struct http_server *s;

        options.on_request = on_request;
        ASSERT(address_from_ip(STR("127.0.0.1"), 0, &options.address, &err) == 0);
        if (http_server_new(&options, &s, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return s;
}

static int dial(struct http_server *s)
{
        struct address a = http_server_address(s);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ASSERT(fd >= 0 && connect(fd, &a.any, sizeof(a.ip4)) == 0);
        return fd;
}

static void say(int fd, struct str text)
{
        ASSERT(send(fd, text.p, text.n, MSG_NOSIGNAL) == (ssize_t)text.n);
}

/* Everything until the server closes, or until `until` has come. */
static struct str hear(int fd, const char *until, struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char block[4096];

        for (;;) {
                struct pollfd p = { fd, POLLIN, 0 };
                ssize_t n;

                if (until && str_find(buf_str(&b), str_from(until)) >= 0)
                        break;
                ASSERT(poll(&p, 1, 20000) == 1);
                n = recv(fd, block, sizeof(block), 0);
                if (n <= 0)
                        break;
                buf_append(&b, block, (size_t)n);
        }
        return arena_copy(a, buf_str(&b));
}

TEST(http1)
{
        static const struct {
                const char *request, *response;
        } cases[] = {
                { "GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
                  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n/x\r\n0\r\n\r\n" },
                { "GET /x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n/x" },
                { "HEAD / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" },
                { "GET /now HTTP/1.1\r\nhost: a\r\n\r\nGET /now HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
                  "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
                  "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" },
                { "POST /now HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello",
                  "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" },
                { "GET /no HTTP/1.1\r\nhost: a\r\n\r\n", "" },
                { "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" },
                { "GET / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: x\r\n\r\n",
                  "HTTP/1.1 501 Not Implemented\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" },
        };
        struct http_server *s = start((struct http_server_options) { 0 });
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s);

                say(fd, str_from(cases[i].request));
                ASSERT_STR_CASE(cases[i].request, hear(fd, NULL, &a), str_from(cases[i].response));
                close(fd);
        }
        http_server_free(s);
}

TEST(http1_bodies_in_any_pieces)
{
        struct str request =
                STR("\r\nPOST /y HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n"
                    "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n");
        struct http_server *s = start((struct http_server_options) { .n_loops = 2 });
        _cleanup_arena_ struct arena a;
        struct str got;
        int fd = dial(s);

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < request.n; i++)
                say(fd, str_first(str_skip(request, i), 1));
        got = hear(fd, "0\r\n\r\n", &a);
        ASSERT(str_starts_with(got, STR("HTTP/1.1 200 OK\r\n")));
        close(fd);
        /* A client that has closed its half still gets the answer. */
        fd = dial(s);
        say(fd, STR("POST /y HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello"));
        shutdown(fd, SHUT_WR);
        got = hear(fd, NULL, &a);
        ASSERT(str_find(got, STR("hello")) >= 0);
        close(fd);
        http_server_free(s);
}

TEST(bad_peers_are_cut_off)
{
        static const struct {
                const char *what;
                struct str bytes; /* silence follows */
        } cases[] = {
                { "silent", STR_INIT("") },
                { "half a head", STR_INIT("GET / HT") },
                { "half a body", STR_INIT("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx") },
                { "half a preface", STR_INIT("PRI * HTTP/2.0\r\n") },
                { "garbage after the preface", STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense nonsense") },
                { "bad chunk", STR_INIT("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n") },
                { "half a frame", STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\5\1\0\0\0\0\1") },
        };
        struct http_server_options options = { .handshake_ms = 150, .stall_ms = 150, .idle_ms = 150 };
        struct http_server *s = start(options);
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s);

                say(fd, cases[i].bytes);
                hear(fd, NULL, &a); /* ends, because the server closes */
                close(fd);
        }
        for (int i = 0; i < 20000 && http_server_stats(s).n_connections > 0; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(http_server_stats(s).n_connections, 0);
        http_server_free(s);
}

TEST(trickling_peers_are_cut_off)
{
        struct http_server_options options = { .handshake_ms = 200, .stall_ms = 200 };
        struct http_server *s = start(options);
        int fd = dial(s);
        bool is_cut = false;

        say(fd, STR("GET / HTTP/1.1\r\n"));
        for (int i = 0; i < 20000 && !is_cut; i++) {
                is_cut = send(fd, "x", 1, MSG_NOSIGNAL) < 0;
                thread_sleep(deadline_after_ms(1), NULL);
        }
        ASSERT(is_cut);
        close(fd);
        http_server_free(s);
}

TEST(oversized_heads_and_too_many_connections)
{
        struct http_server *s = start((struct http_server_options) { .max_head_bytes = 1000, .max_connections = 1 });
        _cleanup_arena_ struct arena a;
        int fd = dial(s), other;
        char long_line[4000];

        arena_init(&a, "test", 0);
        say(fd, STR("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n"));
        hear(fd, "200 OK", &a);
        other = dial(s); /* the first one is busy */
        ASSERT_STR(hear(other, NULL, &a), STR(""));
        close(other);
        ASSERT_INT(http_server_stats(s).n_refused, 1);
        close(fd);
        for (int i = 0; i < 20000 && http_server_stats(s).n_connections > 0; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        fd = dial(s);
        say(fd, STR("GET / HTTP/1.1\r\n"));
        memset(long_line, 'x', sizeof(long_line));
        say(fd, str_make(long_line, sizeof(long_line)));
        ASSERT_STR(
                hear(fd, NULL, &a),
                STR("HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
        close(fd);
        http_server_free(s);
}

/* Until the server has cut us off, at the latest. */
static void open_and_reset(int fd, uint32_t count)
{
        static const char frames[] = "\0\0\x06\1\5\0\0\0\0\x82\x86\x84\x41\x01\x61\0\0\4\3\0\0\0\0\0\0\0\0\x08";

        say(fd, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
        for (uint32_t i = 0; i < count; i++) {
                char pair[sizeof(frames) - 1];
                uint32_t id = htonl(2 * i + 1);

                memcpy(pair, frames, sizeof(pair));
                memcpy(pair + 5, &id, 4);
                memcpy(pair + 20, &id, 4);
                if (send(fd, pair, sizeof(pair), MSG_NOSIGNAL) < 0)
                        return;
        }
}

/* A client that opens and resets streams without end is cut off; one that cancels a few is not. */
TEST(reset_flood)
{
        struct http_server *s = start((struct http_server_options) { 0 });
        _cleanup_arena_ struct arena a;
        int fd = dial(s);
        struct str got;

        arena_init(&a, "test", 0);
        open_and_reset(fd, 500);
        say(fd, STR("\0\0\x08\6\0\0\0\0\0pingpong"));
        got = hear(fd, "pingpong", &a);
        ASSERT(str_find(got, STR("pingpong")) >= 0);
        close(fd);
        fd = dial(s);
        open_and_reset(fd, 3000);
        hear(fd, NULL, &a); /* ends, because the server closes */
        close(fd);
        http_server_free(s);
}

TEST(drain_serves_what_is_under_way)
{
        struct http_server *s = start((struct http_server_options) { 0 });
        _cleanup_arena_ struct arena a;
        int busy = dial(s), idle = dial(s);

        arena_init(&a, "test", 0);
        say(idle, STR("GET /x HTTP/1.1\r\nhost: a\r\n\r\n"));
        hear(idle, "0\r\n\r\n", &a);
        say(busy, STR("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\na"));
        hear(busy, "1\r\na\r\n", &a);
        http_server_drain(s);
        ASSERT_STR(hear(idle, NULL, &a), STR(""));
        ASSERT_INT(http_server_wait(s, deadline_after_ms(20), NULL), ERR_TIMEOUT);
        say(busy, STR("b"));
        ASSERT_STR(hear(busy, NULL, &a), STR("1\r\nb\r\n0\r\n\r\n"));
        close(busy);
        close(idle);
        ASSERT_INT(http_server_wait(s, deadline_after_ms(20000), NULL), 0);
        http_server_free(s);
}

/* A request that was on its way when the client had not heard of the drain is served, also if an older ping comes back meanwhile. */
TEST(drain_serves_what_is_on_the_wire)
{
        struct http_server *s = start((struct http_server_options) { .keepalive_ms = 20, .stall_ms = 20000 });
        struct raw_peer p;
        struct raw_frame f;
        char ping[8];

        raw_peer_init(&p, dial(s), false);
        raw_say(p.fd, RAW_PREFACE);
        raw_send_frame(p.fd, RAW_SETTINGS, 0, 0, STR(""));
        raw_send_frame(p.fd, RAW_HEADERS, RAW_END_HEADERS, 1, STR("\x83\x86\x84\x41\x01\x61")); /* POST / */
        ASSERT(raw_find(&p, RAW_PING, &f)); /* whether we are still there */
        memcpy(ping, f.payload.p, sizeof(ping));
        http_server_drain(s);
        ASSERT(raw_find(&p, RAW_GOAWAY, &f));
        ASSERT_STR(f.payload, STR("\x7f\xff\xff\xff\0\0\0\0"));
        raw_send_frame(p.fd, RAW_PING, RAW_ACK, 0, str_make(ping, sizeof(ping)));
        raw_send_frame(p.fd, RAW_HEADERS, RAW_END_HEADERS | RAW_END_STREAM, 3, STR("\x82\x86\x84\x41\x01\x61"));
        ASSERT(raw_find(&p, RAW_PING, &f)); /* the drain's own follows its notice */
        memcpy(ping, f.payload.p, sizeof(ping));
        ASSERT(raw_find(&p, RAW_DATA, &f));
        ASSERT_INT(f.id, 3);
        raw_send_frame(p.fd, RAW_PING, RAW_ACK, 0, str_make(ping, sizeof(ping)));
        ASSERT(raw_find(&p, RAW_GOAWAY, &f));
        ASSERT_STR(f.payload, STR("\0\0\0\3\0\0\0\0"));
        raw_send_frame(p.fd, RAW_DATA, RAW_END_STREAM, 1, STR("end"));
        ASSERT(raw_find(&p, RAW_DATA, &f));
        ASSERT_STR(f.payload, STR("end"));
        while (raw_next(&p, &f)) /* until the server closes */
                ;
        raw_peer_done(&p);
        ASSERT_INT(http_server_wait(s, deadline_after_ms(20000), NULL), 0);
        http_server_free(s);
}

/* A peer that is gone, or does not answer, does not hold up the drain for as long as it may be silent otherwise. */
TEST(drain_with_a_silent_peer)
{
        struct http_server *s = start((struct http_server_options) { .stall_ms = 120000 });
        struct raw_peer p;
        struct raw_frame f;

        raw_peer_init(&p, dial(s), false);
        raw_say(p.fd, RAW_PREFACE);
        raw_send_frame(p.fd, RAW_SETTINGS, 0, 0, STR(""));
        ASSERT(raw_find(&p, RAW_SETTINGS, &f));
        http_server_drain(s);
        ASSERT(raw_find(&p, RAW_GOAWAY, &f));
        ASSERT_STR(f.payload, STR("\x7f\xff\xff\xff\0\0\0\0"));
        ASSERT(raw_find(&p, RAW_GOAWAY, &f));
        ASSERT_STR(f.payload, STR("\0\0\0\0\0\0\0\0"));
        ASSERT_INT(http_server_wait(s, deadline_after_ms(20000), NULL), 0);
        raw_peer_done(&p);
        http_server_free(s);
}

/* The file of a socket that nobody listens at is replaced; any other file is somebody's. */
TEST(files_in_the_place_of_a_socket)
{
        char directory[] = "/tmp/weft-http-XXXXXX", path[64];
        struct http_server_options options = { .on_request = on_request };
        _cleanup_err_ struct err err = { 0 };
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        struct http_server *s, *other;
        struct stat st;
        int fd;

        ASSERT(mkdtemp(directory));
        snprintf(path, sizeof(path), "%s/socket", directory);
        ASSERT(address_from_unix(str_from(path), false, &options.address, &err) == 0);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ASSERT(fd >= 0 && write(fd, "precious", 8) == 8);
        close(fd);
        ASSERT(http_server_new(&options, &s, &err) < 0);
        ASSERT(stat(path, &st) == 0 && st.st_size == 8);
        ASSERT(unlink(path) == 0);

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* of one that died */
        memcpy(name.sun_path, path, sizeof(path));
        ASSERT(bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
        close(fd);
        ASSERT(http_server_new(&options, &s, &err) == 0);
        ASSERT(http_server_new(&options, &other, &err) < 0); /* somebody listens */
        ASSERT(stat(path, &st) == 0);
        http_server_free(s);
        ASSERT(stat(path, &st) < 0);
        rmdir(directory);
}

/* Also if both servers have several loops, which share the port among themselves. */
TEST(address_in_use)
{
        for (unsigned n_loops = 1; n_loops <= 3; n_loops++) {
                struct http_server *s = start((struct http_server_options) { .n_loops = n_loops }), *other;
                struct http_server_options options = { .address = http_server_address(s),
                                                       .n_loops = n_loops,
                                                       .on_request = on_request };
                _cleanup_err_ struct err err = { 0 };

                ASSERT(http_server_new(&options, &other, &err) < 0);
                ASSERT(str_find(str_from(err_message(&err)), STR("cannot listen at 127.0.0.1:")) >= 0);
                http_server_free(s);
        }
}
