/* Attacks on a served function, run against the program as users have it: ADDRESS and PID name a function that listens in plain text.
 * Under each attack its resident memory stays bounded, a good client is served, and afterwards the memory goes back to the system. */
#include "test.h"

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "grpc-client.h"
#include "raw.h"
#include "timetext.h"
#include "vec.h"

#include <nghttp2/nghttp2.h>
#include <stdatomic.h>
#include <zlib.h>

#define MIB              ((size_t)1 << 20)
#define MAX_RESIDENT     (256 * MIB)
#define MAX_LEFT         (32 * MIB)
#define MAX_P99_MS       2000
#define MAX_MS           10000
#define GIVE_BACK_MS     10000
#define RUN_FUNCTION     "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
#define CONNECTION_LIMIT 4096

/* The victim */

static size_t resident_bytes(void)
{
        char path[64];
        unsigned long total = 0, resident = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%s/statm", getenv("PID"));
        f = fopen(path, "r");
        ASSERT(f);
        ASSERT(fscanf(f, "%lu %lu", &total, &resident) == 2);
        fclose(f);
        return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static struct address victim(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct address a;
        struct str host;
        uint16_t port;

        ASSERT(address_split(str_from(getenv("ADDRESS")), &host, &port, &err) == 0);
        ASSERT(address_from_ip(host, port, &a, &err) == 0);
        return a;
}

/* The good client: small calls, one after the other. */

struct good {
        struct thread *thread;
        bool opens_anew; /* a connection for each call */
        _Atomic bool is_over;
        VEC(int64_t) ms;
        size_t n_failed;
        char error[300];
};

static void call_once(struct good *g, struct grpc_channel *channel)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("\x0a\x03\x0a\x01t")); /* meta { tag: "t" } */
        struct grpc_call_options options = { .deadline = deadline_after_ms(2 * MAX_MS) };
        struct grpc_reply reply = { 0 };
        int64_t begun_ns = clock_mono_ns();

        arena_init(&a, "call", 0);
        if (grpc_call(channel, STR(RUN_FUNCTION), request, &options, &a, &reply, &err) < 0) {
                g->n_failed++;
                snprintf(g->error, sizeof(g->error), "%s", err_message(&err));
        } else {
                bytes_unref(reply.response);
        }
        vec_push(&g->ms, (clock_mono_ns() - begun_ns) / NS_PER_MS);
}

static struct grpc_channel *open_channel(void)
{
        _cleanup_err_ struct err err = { 0 };
        struct grpc_channel *c;

        if (grpc_channel_new(str_from(getenv("ADDRESS")), NULL, &c, &err) < 0)
                abort();
        return c;
}

static void be_good(void *arg)
{
        struct good *g = arg;
        struct grpc_channel *channel = open_channel();

        while (!atomic_load(&g->is_over)) {
                if (g->opens_anew) {
                        grpc_channel_unref(channel);
                        channel = open_channel();
                }
                call_once(g, channel);
                thread_sleep(deadline_after_ms(5), NULL);
        }
        grpc_channel_unref(channel);
}

static int compare_ms(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

        return (x > y) - (x < y);
}

static void good_start(struct good *g, bool opens_anew)
{
        _cleanup_err_ struct err err = { 0 };

        *g = (struct good) { .opens_anew = opens_anew };
        ASSERT(thread_start("good", be_good, g, &g->thread, &err) == 0);
}

static void good_end(struct good *g)
{
        int64_t p99, most;

        atomic_store(&g->is_over, true);
        thread_join(g->thread);
        ASSERT(g->ms.n > 10);
        qsort(g->ms.p, g->ms.n, sizeof(*g->ms.p), compare_ms);
        p99 = g->ms.p[g->ms.n * 99 / 100];
        most = g->ms.p[g->ms.n - 1];
        printf("# good client: %zu calls, p99 %lld ms, most %lld ms, %zu failed %s\n", g->ms.n, (long long)p99,
               (long long)most, g->n_failed, g->error);
        ASSERT_INT(g->n_failed, 0); /* small calls always fit */
        ASSERT(p99 <= MAX_P99_MS);
        ASSERT(most <= MAX_MS);
        vec_done(&g->ms);
}

/* Bad clients: HTTP/2 with windows that stay closed unless a byte is let through. */

struct bad {
        int fd;
        nghttp2_session *session;
        struct str body; /* of every request */
        size_t n_open;   /* requests without an answer */
        size_t n_answered;
        VEC(int32_t) ids;
        VEC(size_t *) sent; /* of each body */
};

static ssize_t send_some(nghttp2_session *session, const uint8_t *data, size_t n, int flags, void *arg)
{
        struct bad *b = arg;
        ssize_t sent = send(b->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        (void)session, (void)flags;
        if (sent < 0)
                return errno == EAGAIN ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
        return sent;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *into, size_t n, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
        struct bad *b = arg;
        size_t *at = source->ptr, give = MIN(n, b->body.n - *at);

        (void)session, (void)id;
        memcpy(into, b->body.p + *at, give);
        *at += give;
        if (*at == b->body.n)
                *flags |= NGHTTP2_DATA_FLAG_EOF;
        return (ssize_t)give;
}

static int count_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
        struct bad *b = arg;

        (void)session, (void)id, (void)code;
        b->n_open--;
        b->n_answered++;
        return 0;
}

static void bad_init(struct bad *b, struct str body)
{
        nghttp2_settings_entry closed = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
        struct address a = victim();
        nghttp2_session_callbacks *c;
        nghttp2_option *o;

        *b = (struct bad) { .fd = raw_dial(&a), .body = body };
        nghttp2_session_callbacks_new(&c);
        nghttp2_session_callbacks_set_send_callback(c, send_some);
        nghttp2_session_callbacks_set_on_stream_close_callback(c, count_close);
        nghttp2_option_new(&o);
        nghttp2_option_set_no_auto_window_update(o, 1);
        ASSERT(nghttp2_session_client_new2(&b->session, c, b, o) == 0);
        nghttp2_option_del(o);
        nghttp2_session_callbacks_del(c);
        nghttp2_submit_settings(b->session, NGHTTP2_FLAG_NONE, &closed, 1);
}

static void bad_done(struct bad *b)
{
        nghttp2_session_del(b->session);
        close(b->fd);
        for (size_t i = 0; i < b->sent.n; i++)
                free(b->sent.p[i]);
        vec_done(&b->sent);
        vec_done(&b->ids);
}

static void bad_ask(struct bad *b, bool is_gzip)
{
#define NV(name, value) { (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE }
        nghttp2_nv fields[] = { NV(":method", "POST"),
                                NV(":scheme", "http"),
                                NV(":path", RUN_FUNCTION),
                                NV(":authority", "a"),
                                NV("content-type", "application/grpc"),
                                NV("grpc-encoding", "gzip") };
        nghttp2_data_provider body = { { .ptr = xcalloc(1, sizeof(size_t)) }, read_body };
        int32_t id = nghttp2_submit_request(b->session, NULL, fields, is_gzip ? 6 : 5, &body, NULL);

        ASSERT(id > 0);
        vec_push(&b->sent, body.source.ptr);
        b->n_open++;
        vec_push(&b->ids, id);
}

/* Sends and reads what there is; false when the victim has closed. */
static bool bad_turn(struct bad *b)
{
        uint8_t block[16384];
        ssize_t n;

        if (nghttp2_session_send(b->session) < 0)
                return false;
        n = recv(b->fd, block, sizeof(block), MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN;
        return n > 0 && nghttp2_session_mem_recv(b->session, block, (size_t)n) >= 0;
}

/* Lets one byte of every answer through. */
static void bad_sip(struct bad *b)
{
        for (size_t i = 0; i < b->ids.n; i++)
                nghttp2_submit_window_update(b->session, NGHTTP2_FLAG_NONE, b->ids.p[i], 1);
}

/* Messages */

static void append_length(struct buf *b, unsigned field, size_t n)
{
        buf_append_char(b, (char)(field << 3 | 2));
        for (; n >= 128; n >>= 7)
                buf_append_char(b, (char)(n | 128));
        buf_append_char(b, (char)n);
}

static void append_field(struct buf *b, unsigned field, struct buf *content)
{
        append_length(b, field, content->n);
        buf_append_str(b, buf_str(content));
        buf_done(content);
}

/* One that comes back as it is: context { x: "aaa..." }. */
static void append_echo(struct buf *b, size_t n)
{
        struct buf value = BUF_INIT(0), member = BUF_INIT(0), object = BUF_INIT(0);

        append_length(&value, 3, n); /* string_value */
        buf_append_repeat(&value, 'a', n);
        buf_append_literal(&member, "\x0a\x01x");
        append_field(&member, 2, &value);
        append_field(&object, 1, &member);
        append_field(b, 5, &object);
}

/* One that grows when it is read: observed and desired resource x, the observed one with a list of as many bytes of empty objects. */
static void append_growing(struct buf *b, size_t n)
{
        struct buf list = BUF_INIT(0), value = BUF_INIT(0), member = BUF_INIT(0), object = BUF_INIT(0),
                   resource = BUF_INIT(0), entry = BUF_INIT(0), state = BUF_INIT(0);

        while (list.n < n)
                buf_append_literal(&list, "\x0a\x02\x2a\x00"); /* values { struct_value {} } */
        append_field(&value, 6, &list);
        buf_append_literal(&member, "\x0a\x06status");
        append_field(&member, 2, &value);
        append_field(&object, 1, &member);
        append_field(&resource, 1, &object);
        buf_append_literal(&entry, "\x0a\x01x");
        append_field(&entry, 2, &resource);
        append_field(&state, 2, &entry);
        append_field(b, 2, &state);
        buf_append_literal(b, "\x1a\x07\x12\x05\x0a\x01x\x12\x00"); /* desired { resources { x {} } } */
}

/* The body of a request. */
static struct bytes *frame_message(struct str message, bool is_gzip)
{
        _cleanup_buf_ struct buf body = BUF_INIT(0);
        size_t n = message.n;

        if (is_gzip) {
                z_stream z = { .next_in = (Bytef *)message.p, .avail_in = (uInt)message.n };

                ASSERT(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) == Z_OK);
                buf_reserve(&body, 5 + deflateBound(&z, message.n));
                z.next_out = (Bytef *)body.p + 5;
                z.avail_out = (uInt)(body.capacity - 5);
                ASSERT(deflate(&z, Z_FINISH) == Z_STREAM_END);
                n = z.total_out;
                body.n = 5 + n;
                deflateEnd(&z);
        } else {
                buf_append_repeat(&body, 0, 5);
                buf_append_str(&body, message);
        }
        body.p[0] = is_gzip;
        for (int i = 0; i < 4; i++)
                body.p[4 - i] = (char)(n >> (8 * i));
        return bytes_take(&body);
}

static struct bytes *echo_body(size_t n, bool is_gzip)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0);

        append_echo(&message, n);
        return frame_message(buf_str(&message), is_gzip);
}

/* Watching */

struct watch {
        size_t before;
        size_t most;
};

static void watch_begin(struct watch *w)
{
        *w = (struct watch) { .before = resident_bytes() };
}

static void watch_look(struct watch *w)
{
        w->most = MAX(w->most, resident_bytes());
}

/* The attack is over: in a while the memory is back. */
static void watch_end(struct watch *w)
{
        struct deadline deadline = deadline_after_ms(GIVE_BACK_MS);
        size_t now = resident_bytes();

        while (now > w->before + MAX_LEFT && !deadline_has_passed(deadline)) {
                thread_sleep(deadline_after_ms(50), NULL);
                now = resident_bytes();
        }
        printf("# resident: %zu MiB before, %zu at most, %zu afterwards\n", w->before / MIB, w->most / MIB, now / MIB);
        ASSERT(w->most <= MAX_RESIDENT);
        ASSERT(now <= w->before + MAX_LEFT);
}

/* Runs until nothing of it is open any more or the time is over. */
static void attack(struct bad *bad, size_t n, int64_t ms, struct watch *w)
{
        struct deadline deadline = deadline_after_ms(ms);
        int64_t sipped_ns = clock_mono_ns();
        size_t n_open = 1;

        while (n_open > 0 && !deadline_has_passed(deadline)) {
                bool sips = clock_mono_ns() - sipped_ns > NS_PER_SECOND;

                n_open = 0;
                for (size_t i = 0; i < n; i++) {
                        if (sips)
                                bad_sip(&bad[i]);
                        if (bad_turn(&bad[i]))
                                n_open += bad[i].n_open;
                }
                if (sips)
                        sipped_ns = clock_mono_ns();
                watch_look(w);
                thread_sleep(deadline_after_ms(1), NULL);
        }
        for (size_t i = 0; i < n; i++)
                bad_done(&bad[i]);
}

/* Thirty requests of 58 KB that become 60 MB each and come back, to a client that reads a byte now and then. */
TEST(unread_replies_of_compressed_requests)
{
        struct bytes *body = echo_body(60 * MIB, true);
        struct bad bad[1];
        struct good good;
        struct watch w;

        watch_begin(&w);
        good_start(&good, false);
        bad_init(&bad[0], body->str);
        for (int i = 0; i < 30; i++)
                bad_ask(&bad[0], true);
        attack(bad, 1, 12000, &w);
        good_end(&good);
        watch_end(&w);
        bytes_unref(body);
}

/* Six connections with large requests as they are, and then many with small ones. */
TEST(unread_replies_of_plain_requests)
{
        static const struct {
                size_t n_connections, n_requests, n_bytes;
        } cases[] = { { 6, 30, 20 * MIB }, { 100, 20, 300 << 10 } };
        struct bad bad[100];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct bytes *body = echo_body(cases[i].n_bytes, false);
                struct good good;
                struct watch w;

                watch_begin(&w);
                good_start(&good, false);
                for (size_t j = 0; j < cases[i].n_connections; j++) {
                        bad_init(&bad[j], body->str);
                        for (size_t k = 0; k < cases[i].n_requests; k++)
                                bad_ask(&bad[j], false);
                }
                attack(bad, cases[i].n_connections, 8000, &w);
                good_end(&good);
                watch_end(&w);
                bytes_unref(body);
        }
}

/* Requests that are refused at their limit, because they grow when they are read: nothing of them stays. */
TEST(refused_at_the_limit)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0);
        struct bad bad[8];
        struct good good;
        struct bytes *body;
        struct watch w;

        append_growing(&message, 50 * MIB);
        body = frame_message(buf_str(&message), true);
        buf_done(&message);
        watch_begin(&w);
        good_start(&good, false);
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                bad_init(&bad[i], body->str);
                bad_ask(&bad[i], true);
        }
        attack(bad, ARRAY_SIZE(bad), 15000, &w);
        good_end(&good);
        watch_end(&w);
        bytes_unref(body);
}

/* More connections than the victim takes, which then say nothing. Those who come later are served all the same. */
TEST(idle_connections)
{
        static int fds[CONNECTION_LIMIT + 500];
        static const struct str hello = STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0");
        struct address a = victim();
        struct good good;
        struct watch w;

        watch_begin(&w);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
                fds[i] = raw_dial(&a);
                send(fds[i], hello.p, hello.n, MSG_NOSIGNAL); /* it may have been refused */
                watch_look(&w);
        }
        good_start(&good, true); /* it comes when all places are taken */
        for (int i = 0; i < 500; i++) {
                watch_look(&w);
                thread_sleep(deadline_after_ms(10), NULL);
        }
        good_end(&good);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                close(fds[i]);
        watch_end(&w);
}
