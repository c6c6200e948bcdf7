/* Two hundred callers, real sockets, real TLS, and everything that happens to a fleet on a bad day: no call fails that a retry could
 * have saved, and none outlives its deadline. */
#include "test.h"

#include "clock.h"
#include "grpc-side.h"
#include "timetext.h"

#include <netdb.h>

/* Names. libuv asks the C library; here it asks us: replicas.test has the addresses 127.0.0.N that are listed. */

static struct mutex names_mutex = MUTEX_INIT;
static bool is_named[8]; /* 127.0.0.2 + i */
static uint16_t names_port;

int getaddrinfo(const char *restrict host, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict ret)
{
        struct addrinfo *list = NULL;

        (void)service, (void)hints;
        if (strcmp(host, "replicas.test") != 0)
                return EAI_NONAME;
        mutex_lock(&names_mutex);
        for (uint32_t i = 0; i < ARRAY_SIZE(is_named); i++) {
                struct addrinfo *a;
                struct sockaddr_in *in;

                if (!is_named[i])
                        continue;
                a = xcalloc(1, sizeof(*a) + sizeof(*in));
                in = (struct sockaddr_in *)(a + 1);
                *in = (struct sockaddr_in) { .sin_family = AF_INET,
                                             .sin_port = htons(names_port),
                                             .sin_addr.s_addr = htonl(0x7f000002 + i) };
                a->ai_family = AF_INET;
                a->ai_addr = (struct sockaddr *)in;
                a->ai_addrlen = sizeof(*in);
                a->ai_next = list;
                list = a;
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

static void set_named(size_t i, bool is)
{
        mutex_lock(&names_mutex);
        is_named[i] = is;
        mutex_unlock(&names_mutex);
}

/* Replicas */

struct replica {
        struct grpc_server *s;
        _Atomic long n_served;
        struct grpc_method methods[2];
};

static enum grpc_status serve(void *replica, struct grpc_request *request, struct buf *ret, struct err *err)
{
        atomic_fetch_add(&((struct replica *)replica)->n_served, 1);
        return slow(NULL, request, ret, err);
}

static void replica_start(struct replica *r, uint32_t i, struct tls_config *tls)
{
        struct grpc_server_options options = { .http.tls = tls, .methods = r->methods, .n_methods = 2, .n_workers = 8 };
        _cleanup_err_ struct err err = { 0 };
        char ip[16];

        atomic_store(&r->n_served, 0);
        r->methods[0] = (struct grpc_method) { "/test.Test/Slow", serve, r };
        r->methods[1] = (struct grpc_method) { "/test.Test/Hang", hang, NULL };
        snprintf(ip, sizeof(ip), "127.0.0.%u", 2 + i);
        ASSERT(address_from_ip(str_from(ip), names_port, &options.http.address, &err) == 0);
        if (grpc_server_new(&options, &r->s, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        if (names_port == 0)
                names_port = ntohs(grpc_server_address(r->s).ip4.sin_port);
}

static void wait_served(struct replica *r, long more)
{
        long until = atomic_load(&r->n_served) + more;

        for (int i = 0; i < 60000 && atomic_load(&r->n_served) < until; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT(atomic_load(&r->n_served) >= until);
}

/* Callers */

#define N_CALLERS 200
#define N_HASTY   8 /* more, whose calls cannot be answered in time */

struct crowd {
        struct grpc_channel *channel;
        struct thread *threads[N_CALLERS + N_HASTY];
        _Atomic bool is_over;
        _Atomic long n_done, n_failed, n_late, n_timed_out;
};

static void call_once(struct crowd *w, const char *method, int64_t timeout_ms, int wanted)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct grpc_reply reply;
        int64_t begun_ns = clock_mono_ns();
        int r;

        arena_init(&a, "load", 0);
        r = call(w->channel, method, STR("hello"), timeout_ms, &a, &reply, &err);
        if (r != wanted) {
                fprintf(stderr, "# a call of %s failed: %s\n", method,
                        r < 0 ? err_message(&err) : "it should have timed out");
                atomic_fetch_add(&w->n_failed, 1);
        }
        /* Beyond what a loaded machine may need to wake a thread. */
        if (clock_mono_ns() - begun_ns > (timeout_ms + 20000) * NS_PER_MS)
                atomic_fetch_add(&w->n_late, 1);
        bytes_unref(reply.response);
}

static void run_caller(void *arg)
{
        struct crowd *w = arg;

        while (!atomic_load(&w->is_over)) {
                call_once(w, "/test.Test/Slow", 60000, 0);
                atomic_fetch_add(&w->n_done, 1);
        }
}

static void run_hasty(void *arg)
{
        struct crowd *w = arg;

        while (!atomic_load(&w->is_over)) {
                call_once(w, "/test.Test/Hang", 20, ERR_TIMEOUT);
                atomic_fetch_add(&w->n_timed_out, 1);
                thread_sleep(deadline_after_ms(50), NULL);
        }
}

static void crowd_start(struct crowd *w, struct grpc_channel *c)
{
        _cleanup_err_ struct err err = { 0 };

        *w = (struct crowd) { .channel = c };
        for (size_t i = 0; i < N_CALLERS + N_HASTY; i++)
                ASSERT(thread_start("caller", i < N_CALLERS ? run_caller : run_hasty, w, &w->threads[i], &err) == 0);
}

/* Until so many more calls have been answered. */
static void crowd_pass(struct crowd *w, long n)
{
        long until = atomic_load(&w->n_done) + n;

        for (int i = 0; i < 60000 && atomic_load(&w->n_done) < until; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT(atomic_load(&w->n_done) >= until);
}

/* Calls that were given up leave when the loop has told the server. */
static void wait_no_calls(struct grpc_channel *c)
{
        for (int i = 0; i < 60000 && grpc_channel_stats(c).n_calls > 0; i++)
                thread_sleep(deadline_after_ms(1), NULL);
        ASSERT_INT(grpc_channel_stats(c).n_calls, 0);
}

static void crowd_stop(struct crowd *w)
{
        atomic_store(&w->is_over, true);
        for (size_t i = 0; i < N_CALLERS + N_HASTY; i++)
                thread_join(w->threads[i]);
}

/* Files are looked at more often than this, and taken up when a connection begins: here one that goes nowhere. */
static void take_up(struct tls_config *c)
{
        _cleanup_err_ struct err err = { 0 };
        SSL *ssl;

        thread_sleep(deadline_after_ms(250), NULL);
        ASSERT(tls_new_connection(c, NULL, &ssl, &err) >= 0);
        SSL_free(ssl);
}

static void rotate(struct world *v, const struct authority *by)
{
        write_certificate(v->server, "DNS:replicas.test", by, NULL, 3600);
        write_certificate(v->client, "DNS:client", by, NULL, 3600);
}

static void trust(struct world *v, const struct authority *a, const struct authority *b)
{
        write_authorities(v->server, a, b);
        write_authorities(v->client, a, b);
}

TEST(a_bad_day)
{
        static struct replica r[4];
        static struct crowd w;
        struct grpc_channel_options options = { .backoff_ms = 20, .max_backoff_ms = 100, .resolve_ms = 200 };
        struct tls_config *server, *client;
        struct grpc_channel *c;
        struct world v;
        char target[64];
        unsigned generation;

        world_init(&v);
        rotate(&v, &v.ours);
        server = config(v.server, true);
        client = config(v.client, false);
        options.tls = client;
        for (uint32_t i = 0; i < 3; i++) {
                replica_start(&r[i], i, server);
                set_named(i, true);
        }
        snprintf(target, sizeof(target), "dns:///replicas.test:%u", names_port);
        c = open_channel(target, &options);
        crowd_start(&w, c);
        crowd_pass(&w, 400);
        for (size_t i = 0; i < 3; i++)
                wait_served(&r[i], 20);

        /* New certificates, then a replica is killed: its calls are lost and begin again elsewhere. */
        rotate(&v, &v.ours);
        grpc_server_free(r[0].s);
        crowd_pass(&w, 400);
        set_named(0, false);

        /* A new authority, which both sides trust before it signs anything; then a replica is added. */
        trust(&v, &v.ours, &v.theirs);
        take_up(client);
        take_up(server);
        rotate(&v, &v.theirs);
        replica_start(&r[3], 3, server);
        set_named(3, true);
        wait_served(&r[3], 50);
        take_up(client);

        /* The old authority is trusted no more; a replica drains, and one comes back. */
        trust(&v, &v.theirs, NULL);
        crowd_pass(&w, 200);
        grpc_server_drain(r[1].s);
        ASSERT_INT(grpc_server_wait(r[1].s, deadline_after_ms(60000), NULL), 0);
        crowd_pass(&w, 400);
        rotate(&v, &v.theirs);
        replica_start(&r[0], 0, server);
        set_named(0, true);
        wait_served(&r[0], 50);

        /* A rolling restart, each time with new certificates. */
        for (int round = 0; round < 3; round++) {
                generation = tls_config_generation(server);
                rotate(&v, &v.theirs);
                take_up(server);
                ASSERT(tls_config_generation(server) > generation);
                grpc_server_drain(r[2].s);
                ASSERT_INT(grpc_server_wait(r[2].s, deadline_after_ms(60000), NULL), 0);
                grpc_server_free(r[2].s);
                replica_start(&r[2], 2, server);
                wait_served(&r[2], 50);
        }

        crowd_stop(&w);
        ASSERT_INT(w.n_failed, 0);
        ASSERT_INT(w.n_late, 0);
        ASSERT(w.n_timed_out > 0);
        wait_no_calls(c);
        ASSERT(tls_config_generation(server) >= 5 && tls_config_generation(client) >= 5);
        printf("# %ld calls answered, %ld timed out as they should\n", atomic_load(&w.n_done),
               atomic_load(&w.n_timed_out));
        grpc_channel_unref(c);
        for (size_t i = 0; i < 4; i++)
                grpc_server_free(r[i].s);
        tls_config_unref(server);
        tls_config_unref(client);
        world_done(&v);
}
