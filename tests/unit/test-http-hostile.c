/* Ill-behaved peers cost an HTTP server bounded memory and a bounded time; then the server cuts them off. */
#include "test.h"

#include "certs.h"
#include "raw.h"
#include "resources.h"
#include "server.h"
#include "tls.h"

#include <openssl/ssl.h>

/* A server: GET gives its path, /big many bytes that it has once, /once the same bytes one time, /hold consumes nothing, all else
 * consumes and answers at the end. */

static struct bytes *big_piece;
static _Atomic size_t n_held;
static _Atomic int n_big_left, n_answered;

static void give_big(struct exchange *ex)
{
        while (atomic_load(&n_big_left) > 0 && exchange_has_room(ex)) {
                exchange_send(ex, bytes_ref(big_piece));
                if (atomic_fetch_sub(&n_big_left, 1) == 1)
                        exchange_finish(ex, NULL);
        }
}

static void on_body(struct exchange *ex, struct str data)
{
        if (str_equal(ex->request.path, STR("/hold")))
                atomic_fetch_add(&n_held, data.n);
        else
                exchange_consume(ex, data.n);
}

static void on_end(struct exchange *ex)
{
        exchange_respond(ex, 200, NULL, false);
        if (str_equal(ex->request.path, STR("/big"))) {
                give_big(ex);
                return;
        }
        exchange_send(ex,
                      str_equal(ex->request.path, STR("/once")) ? bytes_ref(big_piece) : bytes_copy(ex->request.path));
        exchange_finish(ex, NULL);
        atomic_fetch_add(&n_answered, 1);
}

static void on_closed(struct exchange *ex, const struct err *err)
{
        (void)ex, (void)err;
}

static const struct exchange_callbacks callbacks = {
        .on_body = on_body, .on_end = on_end, .on_room = give_big, .on_closed = on_closed
};

static void on_request(void *context, struct exchange *ex)
{
        (void)context;
        ex->callbacks = &callbacks;
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

        return raw_dial(&a);
}

static void wait_connections(struct http_server *s, size_t n)
{
        for (int i = 0; i < 20000 && http_server_stats(s).n_connections != n; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(http_server_stats(s).n_connections, n);
}

/* How much more is on the heap than before. */
static size_t grown(size_t before)
{
        size_t now = count_heap_bytes();

        return now > before ? now - before : 0;
}

/* Times in ms that a test can wait for. */
#define SHORT .handshake_ms = 200, .stall_ms = 200, .idle_ms = 200

/* HTTP/1.1 */

TEST(pipelined_requests_are_answered_in_order)
{
        struct http_server *s = start((struct http_server_options) { 0 });
        _cleanup_buf_ struct buf requests = BUF_INIT(0), answers = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        int fd = dial(s);

        arena_init(&a, "test", 0);
        for (int i = 0; i < 999; i++) {
                buf_appendf(&requests, "GET /%03d HTTP/1.1\r\nhost: a\r\n\r\n", i);
                buf_appendf(&requests, "POST /p%03d HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc", i);
                buf_appendf(&answers, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n/%03d\r\n0\r\n\r\n",
                            i);
                buf_appendf(&answers, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n/p%03d\r\n0\r\n\r\n",
                            i);
        }
        raw_say(fd, buf_str(&requests));
        shutdown(fd, SHUT_WR); /* all that was asked before is answered */
        ASSERT_STR(raw_hear(fd, NULL, &a), buf_str(&answers));
        close(fd);
        wait_connections(s, 0);
        http_server_free(s);
}

TEST(malformed_http1)
{
        static const struct {
                const char *what, *bytes, *answer; /* how the answer begins */
        } cases[] = {
                { "garbage", "\x01\x02\x03\xff\xfe garbage\r\n\r\n", "HTTP/1.1 400" },
                { "no version", "GET /\r\n\r\n", "HTTP/1.1 400" },
                { "a later version", "GET / HTTP/9.9\r\nhost: a\r\n\r\n", "HTTP/1.1 501" },
                { "no host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400" },
                { "two lengths", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
                  "HTTP/1.1 400" },
                { "length and chunks",
                  "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
                  "HTTP/1.1 400" },
                { "negative length", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", "HTTP/1.1 400" },
                { "space before the colon", "GET / HTTP/1.1\r\nhost : a\r\n\r\n", "HTTP/1.1 400" },
                { "bad chunk size", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", "" },
                { "a huge chunk size",
                  "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "" },
                { "a chunk without its end",
                  "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n", "" },
                { "bad trailers", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx\r\n\r\n",
                  "" },
        };
        struct http_server *s = start((struct http_server_options) { 0 });
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s);
                struct str got;

                raw_say(fd, str_from(cases[i].bytes));
                got = raw_hear(fd, NULL, &a); /* ends, because the server closes */
                if (*cases[i].answer ? !str_starts_with(got, str_from(cases[i].answer)) : got.n > 0)
                        test_fail(__FILE__, __LINE__, "[%s] %.*s", cases[i].what, STR_ARG(got));
                close(fd);
        }
        wait_connections(s, 0);
        http_server_free(s);
}

/* Things without end, by peers that read no answers. */
TEST(endless_http1)
{
        static const struct {
                const char *what, *begin, *repeated;
        } cases[] = {
                { "head", "GET / HTTP/1.1\r\n", "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" },
                { "request line", "GET /", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" },
                { "empty lines", "", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n" },
                { "chunk line", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n",
                  "0000000000000000000000000000000000000000000000000000000000" },
                { "trailers", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
                  "x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" },
                { "pipelined requests", "", "GET /x HTTP/1.1\r\nhost: a\r\n\r\nGET /y HTTP/1.1\r\nhost: a\r\n\r\n" },
        };
        struct http_server *s = start((struct http_server_options) { SHORT });
        size_t before = count_heap_bytes();

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s), few_bytes = 4096;
                struct str more = str_from(cases[i].repeated);
                struct http_server_stats stats;
                bool is_cut = false;

                /* The system keeps few answers for a peer that does not read, so the server soon has to. */
                ASSERT(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof(few_bytes)) == 0);
                raw_say(fd, str_from(cases[i].begin));
                for (int n = 0; n < 60000 && !is_cut; n++) {
                        for (int k = 0; k < 100 && !is_cut; k++)
                                is_cut = send(fd, more.p, more.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN;
                        /* The system may drop the reset for a peer whose window is closed; the peer then learns of it late. */
                        stats = http_server_stats(s);
                        is_cut = is_cut || (stats.n_accepted == i + 1 && stats.n_connections == 0);
                        if (grown(before) > 2 << 20)
                                test_fail(__FILE__, __LINE__, "[%s] %zu bytes", cases[i].what, grown(before));
                        if (n > 20)
                                thread_sleep(deadline_after_ms(1), NULL);
                }
                ASSERT_CASE(cases[i].what, is_cut);
                close(fd);
                wait_connections(s, 0);
        }
        http_server_free(s);
}

/* One that sends the next requests while the server is busy with the first is not read from beyond a limit. */
TEST(sending_ahead)
{
        enum { MOST = 64 << 20 };
        static char block[64 << 10];
        static const char *const heads[] = {
                "POST /hold HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n",
                "POST /hold HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3b9aca00\r\n",
        };
        struct http_server *s = start((struct http_server_options) { .stall_ms = 20000 });
        size_t before = count_heap_bytes();

        for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
                int fd = dial(s);

                atomic_store(&n_held, 0);
                raw_say(fd, str_from(heads[i]));
                ASSERT(raw_fill(fd, block, sizeof(block), MOST, 200) < MOST);
                ASSERT(atomic_load(&n_held) <= (256 << 10) + sizeof(block));
                ASSERT(grown(before) < 2 << 20);
                close(fd);
        }
        http_server_free(s);
}

enum { N_LORIS = 64 };

static void dial_loris(struct http_server *s, int fds[N_LORIS])
{
        for (size_t i = 0; i < N_LORIS; i++) {
                fds[i] = dial(s);
                raw_say(fds[i], i % 2 ? STR("GET / HTTP/1.1\r\nx: ") : STR("POST / HTTP/1.1\r\nhost: a\r\nx: "));
        }
}

static void hang_up(struct http_server *s, const int fds[N_LORIS])
{
        for (size_t i = 0; i < N_LORIS; i++)
                close(fds[i]);
        wait_connections(s, 0);
        http_server_free(s);
}

/* A whole head's time is counted from its first byte, however busily it trickles. */
TEST(slow_loris)
{
        struct http_server *s = start((struct http_server_options) { .handshake_ms = 200, .stall_ms = 20000 });
        size_t n_cut = 0;
        int fds[N_LORIS];

        dial_loris(s, fds);
        for (int round = 0; round < 20000 && n_cut < N_LORIS; round++) {
                n_cut = 0;
                for (size_t i = 0; i < N_LORIS; i++)
                        n_cut += send(fds[i], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
                thread_sleep(deadline_after_ms(1), NULL);
        }
        ASSERT_INT(n_cut, N_LORIS);
        hang_up(s, fds);
}

/* And memory is not for them. */
TEST(many_slow_loris)
{
        struct http_server *s = start((struct http_server_options) { .handshake_ms = 60000 });
        size_t before = count_heap_bytes();
        int fds[N_LORIS];

        dial_loris(s, fds);
        wait_connections(s, N_LORIS);
        ASSERT(grown(before) < N_LORIS * (16 << 10));
        hang_up(s, fds);
}

/* The longest idle connection gives way to a new one; of those that have said nothing yet there may be half as many. */
TEST(idle_connections_give_way)
{
        struct http_server *s = start((struct http_server_options) { .max_connections = 8 });
        _cleanup_arena_ struct arena a;
        char byte;
        int fds[9], silent[5];

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
                fds[i] = dial(s);
                raw_say(fds[i], STR("GET /x HTTP/1.1\r\nhost: a\r\n\r\n"));
                ASSERT(str_starts_with(raw_hear(fds[i], "\r\n\r\n", &a), STR("HTTP/1.1 200")));
        }
        raw_hear(fds[0], NULL, &a); /* until it is closed */
        for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
                silent[i] = dial(s);
        ASSERT(raw_is_readable(silent[0], 20000)); /* the fifth made the first go */
        ASSERT_INT(recv(silent[0], &byte, 1, 0), 0);
        raw_say(fds[8], STR("GET /x HTTP/1.1\r\nhost: a\r\n\r\n")); /* the newest is still there */
        ASSERT(str_starts_with(raw_hear(fds[8], "\r\n\r\n", &a), STR("HTTP/1.1 200")));
        ASSERT(http_server_stats(s).n_refused == 0);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                close(fds[i]);
        for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
                close(silent[i]);
        http_server_free(s);
}

/* A body that trickles, on either version. */
TEST(trickling_bodies)
{
        static const struct {
                const char *what;
                struct str begin;
                struct str more;
        } cases[] = {
                { "HTTP/1.1", STR_INIT("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"), STR_INIT("x") },
                /* :method POST, :scheme http, :path /, :authority a */
                { "HTTP/2",
                  STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
                           "\0\0\x06\1\4\0\0\0\1\x83\x86\x84\x41\x01\x61"),
                  STR_INIT("\0\0\1\0\0\0\0\0\1x") },
        };
        struct http_server *s = start((struct http_server_options) { .stall_ms = 200, .idle_ms = 200 });

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s);
                bool is_cut = false;

                raw_say(fd, cases[i].begin);
                for (int n = 0; n < 20000 && !is_cut; n++) {
                        is_cut = send(fd, cases[i].more.p, cases[i].more.n, MSG_NOSIGNAL) < 0;
                        thread_sleep(deadline_after_ms(1), NULL);
                }
                ASSERT_CASE(cases[i].what, is_cut);
                close(fd);
        }
        wait_connections(s, 0);
        http_server_free(s);
}

/* Large answers */

static struct str big_request(bool is_h2)
{
        /* GET http /big a, with a window of 2^30 for the stream and the connection */
        return is_h2 ? STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\6\4\0\0\0\0\0\0\4\x40\0\0\0"
                           "\0\0\4\x08\0\0\0\0\0\x40\0\0\0"
                           "\0\0\x0b\1\5\0\0\0\1\x82\x86\x41\x01\x61\x04\x04/big")
                     : STR("GET /big HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
}

/* A body is queued by reference: a hundred pieces of a megabyte that exists once; a reader that does not read is cut off. */
TEST(readers_that_do_not_read)
{
        struct buf piece = BUF_INIT(0);
        struct http_server *s = start((struct http_server_options) { .stall_ms = 300, .idle_ms = 300 });

        buf_append_repeat(&piece, 'x', 1 << 20);
        big_piece = bytes_take(&piece);
        for (int is_h2 = 0; is_h2 < 2; is_h2++) {
                size_t before = count_heap_bytes();
                int fd = dial(s);

                atomic_store(&n_big_left, 100);
                raw_say(fd, big_request(is_h2));
                while (http_server_stats(s).n_accepted <= (size_t)is_h2 || http_server_stats(s).n_connections > 0) {
                        ASSERT(grown(before) < 1 << 20);
                        thread_sleep(deadline_after_ms(5), NULL);
                }
                ASSERT(atomic_load(&n_big_left) > 50); /* it was not taken for sent */
                ASSERT_INT(atomic_load(&big_piece->references), 1);
                close(fd);
        }
        bytes_unref(big_piece);
        http_server_free(s);
}

TEST(readers_that_read)
{
        static char into[256 << 10];
        struct buf piece = BUF_INIT(0);
        struct http_server *s = start((struct http_server_options) { 0 });

        buf_append_repeat(&piece, 'x', 1 << 20);
        big_piece = bytes_take(&piece);
        for (int is_h2 = 0; is_h2 < 2; is_h2++) {
                size_t before = count_heap_bytes(), total = 0;
                int fd = dial(s);

                atomic_store(&n_big_left, 64);
                raw_say(fd, big_request(is_h2));
                while (total < 64 << 20) {
                        ssize_t n = recv(fd, into, sizeof(into), 0);

                        ASSERT(n > 0);
                        total += (size_t)n;
                        ASSERT(grown(before) < 2 << 20);
                }
                close(fd);
        }
        bytes_unref(big_piece);
        http_server_free(s);
}

/* HTTP/2 */

#define H2_BEGIN "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"

/* Frames without end, by a peer that does not read: it is cut off, and what it costs until then is bounded. */
TEST(endless_http2)
{
        static const struct {
                const char *what;
                struct str begin, repeated;
        } cases[] = {
                { "pings", STR_INIT(H2_BEGIN), STR_INIT("\0\0\x08\6\0\0\0\0\0pingpong") },
                { "settings", STR_INIT(H2_BEGIN), STR_INIT("\0\0\0\4\0\0\0\0\0") },
                { "continuations", STR_INIT(H2_BEGIN "\0\0\x06\1\1\0\0\0\1\x82\x86\x84\x41\x01\x61"),
                  STR_INIT("\0\0\x06\x09\0\0\0\0\1\0\1x\1yz") },
                { "empty data", STR_INIT(H2_BEGIN "\0\0\x06\1\4\0\0\0\1\x83\x86\x84\x41\x01\x61"),
                  STR_INIT("\0\0\0\0\0\0\0\0\1") },
                { "a stream twice", STR_INIT(H2_BEGIN), STR_INIT("\0\0\x06\1\5\0\0\0\1\x82\x86\x84\x41\x01\x61") },
        };
        struct http_server *s = start((struct http_server_options) { SHORT });
        size_t before = count_heap_bytes();

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int fd = dial(s);
                bool is_cut = false;

                raw_say(fd, cases[i].begin);
                for (int n = 0; n < 20000 && !is_cut; n++) {
                        for (int k = 0; k < 100 && !is_cut; k++)
                                is_cut = send(fd, cases[i].repeated.p, cases[i].repeated.n,
                                              MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
                                         errno != EAGAIN;
                        if (grown(before) > 2 << 20)
                                test_fail(__FILE__, __LINE__, "[%s] %zu bytes", cases[i].what, grown(before));
                        if (n > 20)
                                thread_sleep(deadline_after_ms(1), NULL);
                }
                ASSERT_CASE(cases[i].what, is_cut);
                close(fd);
                wait_connections(s, 0);
        }
        http_server_free(s);
}

TEST(a_head_too_large_over_http2)
{
        struct http_server *s = start((struct http_server_options) { .max_head_bytes = 500 });
        _cleanup_buf_ struct buf block = BUF_INIT(0);
        char value[100] = { 0 };
        struct raw_peer p;
        struct raw_frame f;

        memset(value, 'x', sizeof(value) - 1);
        buf_append_str(&block, STR("\x82\x86\x84\x41\x01\x61"));
        for (int i = 0; i < 10; i++)
                raw_field(&block, "x", value);
        raw_peer_init(&p, dial(s), false);
        raw_say(p.fd, STR(H2_BEGIN));
        raw_send_frame(p.fd, RAW_HEADERS, RAW_END_HEADERS | RAW_END_STREAM, 1, buf_str(&block));
        ASSERT(raw_find(&p, RAW_HEADERS, &f));
        ASSERT(f.id == 1 && f.flags & RAW_END_STREAM);
        /* The connection goes on. */
        raw_send_frame(p.fd, RAW_HEADERS, RAW_END_HEADERS | RAW_END_STREAM, 3, STR("\x82\x86\x84\x41\x01\x61"));
        ASSERT(raw_find(&p, RAW_DATA, &f) && f.id == 3);
        raw_peer_done(&p);
        http_server_free(s);
}

/* More streams at a time than are allowed: refused as long as the client may not have known, the end of the connection afterwards. */
TEST(too_many_streams)
{
        for (int knows = 0; knows < 2; knows++) {
                struct http_server *s = start((struct http_server_options) { .max_exchanges = 2 });
                struct raw_peer p;
                struct raw_frame f;

                raw_peer_init(&p, dial(s), false);
                raw_say(p.fd, STR(H2_BEGIN));
                ASSERT(raw_find(&p, RAW_SETTINGS, &f));
                if (knows)
                        raw_send_frame(p.fd, RAW_SETTINGS, RAW_ACK, 0, STR(""));
                for (uint32_t id = 1; id <= 5; id += 2)
                        raw_send_frame(p.fd, RAW_HEADERS, RAW_END_HEADERS, id, STR("\x83\x86\x84\x41\x01\x61"));
                if (knows) {
                        ASSERT(raw_find(&p, RAW_GOAWAY, &f));
                        ASSERT(!raw_find(&p, RAW_GOAWAY, &f));
                } else {
                        ASSERT(raw_find(&p, RAW_RST_STREAM, &f));
                        ASSERT_INT(f.id, 5);
                        ASSERT_STR(f.payload, STR("\0\0\0\7"));
                        raw_send_frame(p.fd, RAW_DATA, RAW_END_STREAM, 1, STR(""));
                        ASSERT(raw_find(&p, RAW_DATA, &f) && f.id == 1);
                }
                raw_peer_done(&p);
                http_server_free(s);
        }
}

/* TLS */

struct secure {
        char directory[64];
        struct authority ca;
        struct tls_config *config;
        SSL_CTX *client;
};

static void secure_init(struct secure *t)
{
        struct tls_options options = { .is_server = true, .directory = t->directory, .offers_http1 = true };
        _cleanup_err_ struct err err = { 0 };

        snprintf(t->directory, sizeof(t->directory), "/tmp/weft-hostile-XXXXXX");
        ASSERT(mkdtemp(t->directory));
        t->ca = authority_new("ours");
        write_certificate(t->directory, "IP:127.0.0.1", &t->ca, &t->ca, 3600);
        if (tls_config_new(&options, &t->config, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        t->client = SSL_CTX_new(TLS_client_method());
}

static void secure_done(struct secure *t)
{
        char command[128];

        snprintf(command, sizeof(command), "rm -rf %s", t->directory);
        ASSERT(system(command) == 0);
        tls_config_unref(t->config);
        authority_done(&t->ca);
        SSL_CTX_free(t->client);
}

/* NULL if the server has no patience for it. */
static SSL *try_to_shake_hands(struct secure *t, int fd, const char *alpn)
{
        SSL *ssl = SSL_new(t->client);

        SSL_set_fd(ssl, fd);
        if (alpn)
                ASSERT(SSL_set_alpn_protos(ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn)) == 0);
        if (SSL_connect(ssl) == 1)
                return ssl;
        SSL_free(ssl);
        return NULL;
}

static SSL *shake_hands(struct secure *t, int fd, const char *alpn)
{
        SSL *ssl = try_to_shake_hands(t, fd, alpn);

        ASSERT(ssl);
        return ssl;
}

struct half_open {
        const char *what;
        struct str bytes;
        const char *alpn; /* shakes hands if there is one */
};

/* False if the handshake itself took longer than the server gives it. */
static bool is_cut_off(struct secure *t, const struct half_open *how, int64_t handshake_ms)
{
        /* The times that must not count here are long. */
        struct http_server *s = start((struct http_server_options) { .tls = t->config, .handshake_ms = handshake_ms });
        _cleanup_arena_ struct arena a;
        int fd = dial(s);
        SSL *ssl = how->alpn ? try_to_shake_hands(t, fd, *how->alpn ? how->alpn : NULL) : NULL;
        bool is_well = ssl || !how->alpn;

        arena_init(&a, "test", 0);
        if (is_well) {
                raw_say(fd, how->bytes);
                raw_hear(fd, NULL, &a); /* ends, because the server closes */
        }
        SSL_free(ssl);
        close(fd);
        wait_connections(s, 0);
        http_server_free(s);
        return is_well;
}

/* Half-open in every way there is: no hello, half a hello, garbage, or all of TLS and then nothing. */
TEST(half_open_under_tls)
{
        static const struct half_open cases[] = {
                { "silent", STR_INIT(""), NULL },
                { "half a hello", STR_INIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), NULL },
                { "garbage", STR_INIT("GET / HTTP/1.1\r\nhost: a\r\n\r\n"), NULL },
                { "HTTP/2 without a preface", STR_INIT(""), "\x02h2" },
                { "HTTP/1.1 without a request", STR_INIT(""), "\x08http/1.1" },
                { "no ALPN and no word", STR_INIT(""), "" },
        };
        struct secure t;

        secure_init(&t);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                bool is_well = false;

                for (int64_t ms = 200; ms < 20000 && !is_well; ms *= 4)
                        is_well = is_cut_off(&t, &cases[i], ms);
                ASSERT_CASE(cases[i].what, is_well);
        }
        secure_done(&t);
}

TEST(both_versions_under_tls)
{
        struct secure t;
        struct http_server *s;
        SSL *ssl;
        char text[200] = "";
        int fd, n = 0;

        secure_init(&t);
        s = start((struct http_server_options) { .tls = t.config });
        fd = dial(s);
        ssl = shake_hands(&t, fd, "\x08http/1.1");
        ASSERT(SSL_write(ssl, "GET /x HTTP/1.1\r\nhost: a\r\n\r\n", 28) == 28);
        while (!strstr(text, "0\r\n\r\n")) {
                int got = SSL_read(ssl, text + n, (int)sizeof(text) - 1 - n);

                ASSERT(got > 0);
                n += got;
        }
        ASSERT(strstr(text, "\r\n2\r\n/x\r\n"));
        SSL_shutdown(ssl); /* says goodbye; the server closes */
        ASSERT(SSL_read(ssl, text, sizeof(text)) == 0);
        SSL_free(ssl);
        close(fd);
        wait_connections(s, 0);
        fd = dial(s);
        ssl = shake_hands(&t, fd, NULL); /* without ALPN the first bytes tell */
        ASSERT(SSL_write(ssl, H2_BEGIN, sizeof(H2_BEGIN) - 1) == sizeof(H2_BEGIN) - 1);
        ASSERT(SSL_read(ssl, text, sizeof(text)) >= 9 && text[3] == RAW_SETTINGS);
        SSL_free(ssl);
        close(fd);
        wait_connections(s, 0);
        http_server_free(s);
        secure_done(&t);
}

/* The body of an answer to /once, in chunks of which the first has all. Returns once the server has said goodbye. */
static void read_once(SSL *ssl)
{
        static char text[64 << 10];
        _cleanup_buf_ struct buf all = BUF_INIT(0);
        struct str body;
        size_t at = 0;
        int n;

        while ((n = SSL_read(ssl, text, sizeof(text))) > 0)
                buf_append(&all, text, (size_t)n);
        ASSERT_INT(SSL_get_error(ssl, n), SSL_ERROR_ZERO_RETURN);
        ASSERT(str_starts_with(buf_str(&all), STR("HTTP/1.1 200 ")));
        ASSERT(str_ends_with(buf_str(&all), STR("\r\n0\r\n\r\n")));
        while (at + 4 < all.n && memcmp(all.p + at, "\r\n\r\n", 4) != 0)
                at++;
        body = str_skip(buf_str(&all), at + 4);
        while (body.n > 0 && body.p[0] != '\n')
                body = str_skip(body, 1);
        ASSERT(str_equal(str_first(str_skip(body, 1), big_piece->str.n), big_piece->str));
        ASSERT_INT(str_skip(body, 1).n, big_piece->str.n + 7);
}

/* Under TLS, too, a large answer exists once, whether or not it is the last on its connection: it is encrypted as the peer reads. */
TEST(unread_answers_under_tls)
{
        enum { N = 8 };
        struct buf piece = BUF_INIT(0);
        struct http_server *s;
        struct secure t;
        SSL *ssl[N];
        int fd[N];
        size_t before;

        secure_init(&t);
        s = start((struct http_server_options) { .tls = t.config });
        for (uint32_t i = 0; i < 2 << 20; i++)
                buf_append(&piece, (const char *)&i, sizeof(i));
        big_piece = bytes_take(&piece);
        atomic_store(&n_answered, 0);
        for (size_t i = 0; i < N; i++) {
                fd[i] = dial(s);
                ssl[i] = shake_hands(&t, fd[i], "\x08http/1.1");
        }
        before = count_heap_bytes();
        for (size_t i = 0; i < N; i++) {
                const char *request = i % 2 ? "GET /once HTTP/1.1\r\nhost: a\r\n\r\n"
                                            : "GET /once HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

                ASSERT(SSL_write(ssl[i], request, (int)strlen(request)) == (int)strlen(request));
        }
        for (int i = 0; i < 20000 && atomic_load(&n_answered) < N; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(atomic_load(&n_answered), N);
        ASSERT(grown(before) < big_piece->str.n);
        http_server_drain(s); /* the others close after their answers, too */
        for (size_t i = 0; i < N; i++) {
                read_once(ssl[i]);
                SSL_free(ssl[i]);
                close(fd[i]);
        }
        wait_connections(s, 0);
        ASSERT_INT(atomic_load(&big_piece->references), 1);
        http_server_free(s);
        bytes_unref(big_piece);
        secure_done(&t);
}
