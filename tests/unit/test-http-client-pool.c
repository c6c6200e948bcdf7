/* The client's pool: many threads at once, several addresses, servers that come and go, connections that become idle. */
#include "http-client-test.h"

#include "random.h"

#include <netdb.h>

/* ThreadSanitizer does not see how libuv closes descriptors. When a loop ends and another thread gets the same number for a socket, it
 * reports the number as shared. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
        return "race:uv_pipe\nrace:uv_loop_init\nrace:uv__socket\n";
}

/* The names of this test: servers.test is what the test says. */

static struct mutex names_mutex = MUTEX_INIT;
static bool is_named[4]; /* 127.0.0.2 + i */
static uint16_t names_port;

int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict ret)
{
        struct addrinfo *list = NULL, **last = &list;

        (void)service, (void)hints;
        if (strcmp(host, "servers.test") != 0 && strcmp(host, "127.0.0.1") != 0)
                return EAI_NONAME;
        mutex_lock(&names_mutex);
        for (uint32_t i = 0; i < ARRAY_SIZE(is_named); i++) {
                struct addrinfo *a;
                struct sockaddr_in *in;

                if (*host == '1' ? i > 0 : !is_named[i])
                        continue;
                a = calloc(1, sizeof(*a) + sizeof(*in));
                in = (struct sockaddr_in *)(a + 1);
                *in = (struct sockaddr_in) { .sin_family = AF_INET,
                                             .sin_port = htons(*host == '1' ? (uint16_t)atoi(service) : names_port),
                                             .sin_addr.s_addr = htonl(*host == '1' ? 0x7f000001 : 0x7f000002 + i) };
                a->ai_family = AF_INET;
                a->ai_addr = (struct sockaddr *)in;
                a->ai_addrlen = sizeof(*in);
                *last = a;
                last = &a->ai_next;
        }
        mutex_unlock(&names_mutex);
        *ret = list;
        return list ? 0 : EAI_NODATA;
}

void freeaddrinfo(struct addrinfo *list)
{
        while (list) {
                struct addrinfo *next = list->ai_next;

                free(list);
                list = next;
        }
}

static void set_named(uint32_t i, bool yes)
{
        mutex_lock(&names_mutex);
        is_named[i] = yes;
        mutex_unlock(&names_mutex);
}

/* A server at 127.0.0.2 + i; all have the same port. */
static struct http_server *start_server(uint32_t i)
{
        struct http_server_options options = { .on_request = on_served_request };
        _cleanup_err_ struct err err = { 0 };
        struct http_server *s;
        char ip[32];

        snprintf(ip, sizeof(ip), "127.0.0.%u", 2 + i);
        ASSERT(address_from_ip(str_from(ip), names_port, &options.address, &err) == 0);
        if (http_server_new(&options, &s, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        if (names_port == 0)
                names_port = ntohs(http_server_address(s).ip4.sin_port);
        return s;
}

static struct http_client *open_client(struct http_client_options options)
{
        _cleanup_err_ struct err err = { 0 };
        struct http_client *c;
        char target[64];

        snprintf(target, sizeof(target), "http://servers.test:%u", names_port);
        if (http_client_new(str_from(target), &options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

static int ask(struct http_client *c, const char *path, struct err *err)
{
        struct http_request q = get(path);
        struct http_response *r;
        _cleanup_bytes_ struct bytes *body = NULL;
        int result;

        q.deadline = deadline_after_ms(20000);
        result = http_client_open(c, &q, &r, err);
        if (result < 0)
                return result;
        result = http_response_read_all(r, 1 << 20, q.deadline, NULL, &body, err);
        http_response_free(r);
        return result;
}

/* The first address refuses, the second one serves; when both are gone, a third one that the name got is found. */
TEST(several_addresses)
{
        for (int is_h2 = 0; is_h2 < 2; is_h2++) {
                struct http_client_options options = { .version = is_h2 ? HTTP_VERSION_2 : HTTP_VERSION_1,
                                                       .backoff_ms = 10,
                                                       .max_backoff_ms = 20 };
                struct http_server *first = start_server(1), *second;
                struct http_client *c = open_client(options);
                _cleanup_err_ struct err err = { 0 };
                int r = -1;

                set_named(0, true);
                set_named(1, true);
                for (int i = 0; i < 20; i++)
                        if (ask(c, "/status/200", &err) < 0)
                                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
                ASSERT_INT(http_client_stats(c).n_addresses, 2);
                http_server_free(first);
                ASSERT(ask(c, "/status/200", &err) < 0);
                second = start_server(2);
                set_named(0, false);
                set_named(2, true);
                for (int i = 0; i < 2000 && r < 0; i++) {
                        r = ask(c, "/status/200", &err);
                        thread_sleep(deadline_after_ms(1), NULL);
                }
                if (r < 0)
                        test_fail(__FILE__, __LINE__, "%s", err_message(&err));
                http_client_unref(c);
                http_server_free(second);
                for (uint32_t i = 0; i < ARRAY_SIZE(is_named); i++)
                        set_named(i, false);
        }
}

TEST(an_unknown_name)
{
        _cleanup_err_ struct err err = { 0 };
        struct http_client *c;

        ASSERT_INT(http_client_new(STR("http://nowhere.test"), NULL, &c, &err), 0);
        ASSERT(ask(c, "/", &err) < 0);
        ASSERT_CASE(err_message(&err),
                    strstr(err_message(&err), "GET http://nowhere.test/: name resolver error: cannot "
                                              "resolve nowhere.test"));
        http_client_unref(c);
}

/* Connections that are not needed any more are closed; the next request opens one again. */
TEST(idle_connections)
{
        for (enum form f = FORM_H1; f <= FORM_H2; f++) {
                struct stage s;
                _cleanup_err_ struct err err = { 0 };

                stage_init(&s, f, (struct http_server_options) { 0 }, (struct http_client_options) { .idle_ms = 50 });
                ASSERT_INT(ask(s.client, "/status/200", &err), 0);
                WAIT_UNTIL(http_client_stats(s.client).n_connections == 0);
                WAIT_UNTIL(http_server_stats(s.server).n_connections == 0);
                ASSERT_INT(ask(s.client, "/status/200", &err), 0);
                ASSERT_INT(http_client_stats(s.client).n_connected, 2);
                stage_done(&s);
        }
}

/* Many threads */

#define N_THREADS 8

struct crowd {
        struct http_client *client;
        int n_each;
        bool is_strict; /* every request must succeed, unless its thread gives it up */
        _Atomic long n_done, n_failed;
        struct thread *threads[N_THREADS];
        _Atomic unsigned seed;
};

struct source {
        size_t left_bytes;
};

static int produce_some(void *context, struct bytes **ret, struct err *err)
{
        struct source *s = context;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t n = MIN(s->left_bytes, (size_t)7000);

        (void)err;
        if (n == 0)
                return 0;
        buf_append_repeat(&b, 'c', n);
        s->left_bytes -= n;
        *ret = bytes_take(&b);
        return 1;
}

/* One of several kinds of requests; some are given up on the way. Returns whether the result is as it must be. */
static bool play(struct crowd *w, struct random *random)
{
        unsigned kind = (unsigned)(random_u64(random) % 6);
        struct source source = { random_u64(random) % 200000 };
        struct http_request q = get(kind == 1 ? "/bytes/300000" : "/fields");
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *body = NULL;
        struct http_response *r = NULL;
        size_t wanted = source.left_bytes;
        int result;

        q.deadline = deadline_after_ms(60000);
        if (kind == 2 || kind == 3) {
                q.method = STR("POST");
                q.path = STR("/echo");
                q.produce = produce_some;
                q.producer = &source;
                q.body_bytes = kind == 3 ? (int64_t)wanted : 0;
        } else if (kind == 4) {
                q.path = STR("/hang");
                q.deadline = deadline_after_ms((int64_t)(random_u64(random) % 10));
        }
        result = http_client_open(w->client, &q, &r, &err);
        if (kind == 4)
                return result == ERR_TIMEOUT;
        if (result >= 0 && kind != 5) /* the last kind does not read its response */
                result = http_response_read_all(r, 1 << 20, q.deadline, NULL, &body, &err);
        if (result >= 0 && body && kind >= 1 && kind <= 3 && body->str.n != (kind == 1 ? 300000 : wanted))
                result = err_set(&err, ERR_FAILED, "the body has %zu bytes", body->str.n);
        http_response_free(r);
        if (result < 0 && w->is_strict)
                fprintf(stderr, "# %s\n", err_message(&err));
        return result >= 0;
}

static void run_crowd(void *arg)
{
        struct crowd *w = arg;
        struct random random;

        random_seed(&random, atomic_fetch_add(&w->seed, 1));
        for (int i = 0; i < w->n_each; i++) {
                if (play(w, &random))
                        atomic_fetch_add(&w->n_done, 1);
                else
                        atomic_fetch_add(&w->n_failed, 1);
        }
}

static void crowd_start(struct crowd *w)
{
        _cleanup_err_ struct err err = { 0 };

        for (size_t i = 0; i < N_THREADS; i++)
                ASSERT(thread_start("crowd", run_crowd, w, &w->threads[i], &err) == 0);
}

static void crowd_join(struct crowd *w)
{
        for (size_t i = 0; i < N_THREADS; i++)
                thread_join(w->threads[i]);
}

TEST(many_threads)
{
        for (enum form f = 0; f < _FORM_COUNT; f++) {
                struct http_client_options options = { .max_h1_connections = 4 };
                struct crowd w = { .n_each = 20, .is_strict = true };
                struct stage s;

                stage_init(&s, f, (struct http_server_options) { 0 }, options);
                w.client = s.client;
                crowd_start(&w);
                crowd_join(&w);
                ASSERT_CASE(form_names[f], w.n_failed == 0 && w.n_done == 20 * N_THREADS);
                WAIT_UNTIL(http_client_stats(s.client).n_turns == 0);
                ASSERT_CASE(form_names[f], http_client_stats(s.client).n_ready <= 4);
                stage_done(&s);
        }
}

/* Servers are killed and come back while requests run: some fail, none hangs, and nothing is left behind. */
TEST(servers_come_and_go)
{
        for (int is_h2 = 0; is_h2 < 2; is_h2++) {
                struct http_client_options options = { .version = is_h2 ? HTTP_VERSION_2 : HTTP_VERSION_1,
                                                       .backoff_ms = 5,
                                                       .max_backoff_ms = 20 };
                struct crowd w = { .n_each = 40 };
                struct http_server *s[2] = { start_server(0), start_server(1) };
                _cleanup_err_ struct err err = { 0 };
                bool is_over = false;

                set_named(0, true);
                set_named(1, true);
                w.client = open_client(options);
                crowd_start(&w);
                for (int i = 0; !is_over; i++) {
                        http_server_free(s[i % 2]);
                        thread_sleep(deadline_after_ms(10), NULL);
                        s[i % 2] = start_server((uint32_t)(i % 2));
                        is_over = w.n_done + w.n_failed == 40 * N_THREADS;
                }
                crowd_join(&w);
                ASSERT(w.n_done > 0);
                if (ask(w.client, "/status/200", &err) < 0)
                        test_fail(__FILE__, __LINE__, "%s", err_message(&err));
                http_client_unref(w.client);
                http_server_free(s[0]);
                http_server_free(s[1]);
                ASSERT_INT(atomic_load(&n_open), 0);
        }
}
