/* Calls that fail, each in one of the ways in which calls fail, leave nothing behind: file descriptors, threads and memory are where
 * they were. WEFT_TEST_CALLS says how many; `make soak` asks for 100,000. */
#include "test.h"

#include "grpc-side.h"
#include "raw.h"
#include "resources.h"

#include <netinet/tcp.h>

#define N_THREADS 16

enum kind { REFUSED, HANDSHAKE, RESET, DEADLINE, CANCELED_BEFORE, CANCELED, UNIMPLEMENTED, STATUS, _N_KINDS };

/* Of a thousand calls, how many fail in this way, and what the caller is told. */
static const struct {
        const char *name;
        unsigned share;
        int code;
} kinds[_N_KINDS] = {
        [REFUSED] = { "connection refused", 20, ERR_CLOSED },
        [HANDSHAKE] = { "handshake refused", 10, ERR_CLOSED },
        [RESET] = { "connection reset", 20, ERR_CLOSED },
        [DEADLINE] = { "deadline", 50, ERR_TIMEOUT },
        [CANCELED_BEFORE] = { "canceled before", 100, ERR_CANCELED },
        [CANCELED] = { "canceled", 100, ERR_CANCELED },
        [UNIMPLEMENTED] = { "unimplemented", 300, ERR_UNSUPPORTED },
        [STATUS] = { "status", 400, ERR_NOT_FOUND },
};

struct stage {
        struct server plain, secure;
        struct tls_config *server_tls, *client_tls; /* the client has no certificate */
        struct grpc_channel *good[N_THREADS]; /* one each: a server ends a connection on which too much is canceled */
        struct grpc_channel *reset;
        _Atomic size_t n_threads;
        char nobody[64]; /* a target where nobody listens */
        int nobody_fd;   /* keeps others from it */
        long n_calls;
        _Atomic long n_begun, n_wrong, n_of[_N_KINDS];
};

/* A server that takes a request and resets the connection. */

struct resetter {
        int listening;
        struct thread *thread;
        char target[64];
        _Atomic bool is_over;
        _Atomic long n_reset;
};

static void reset_connections(void *arg)
{
        struct resetter *r = arg;
        struct linger at_once = { 1, 0 };

        while (!atomic_load(&r->is_over)) {
                struct raw_peer peer;
                struct raw_frame f;
                int fd;

                if (!raw_is_readable(r->listening, 10))
                        continue;
                fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC);
                raw_peer_init(&peer, fd, true);
                if (send(fd, "\0\0\0\4\0\0\0\0\0", 9, MSG_NOSIGNAL) == 9 && raw_find(&peer, RAW_HEADERS, &f))
                        atomic_fetch_add(&r->n_reset, 1);
                setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
                raw_peer_done(&peer);
        }
}

static void target_of(const struct address *a, char target[64])
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        address_append(&text, a);
        snprintf(target, 64, "%s", buf_cstring(&text));
}

static void resetter_start(struct resetter *r)
{
        _cleanup_err_ struct err err = { 0 };
        struct address a;

        *r = (struct resetter) { 0 };
        r->listening = raw_listen(&a);
        target_of(&a, r->target);
        ASSERT(thread_start("resetter", reset_connections, r, &r->thread, &err) == 0);
}

static void resetter_stop(struct resetter *r)
{
        atomic_store(&r->is_over, true);
        thread_join(r->thread);
        close(r->listening);
}

/* Calls */

static enum kind kind_of(long number)
{
        unsigned left = (unsigned)(number * 7 % 1000);

        for (enum kind k = 0; k < _N_KINDS; k++) {
                if (left < kinds[k].share)
                        return k;
                left -= kinds[k].share;
        }
        return STATUS;
}

/* On a channel that nobody has used, so that it has to find out by itself. */
static int call_anew(const char *target, struct tls_config *tls, struct arena *a, struct err *err)
{
        struct grpc_channel_options channel = { .tls = tls };
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000), .fails_fast = true };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("x"));
        struct grpc_channel *c = open_channel(target, &channel);
        struct grpc_reply reply;
        int r;

        r = grpc_call(c, STR("/test.Test/Echo"), request, &options, a, &reply, err);
        bytes_unref(reply.response);
        grpc_channel_unref(c);
        return r;
}

static int call_canceled(struct grpc_channel *good, bool is_before, struct arena *a, struct err *err)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000), .cancel = cancel };
        _cleanup_bytes_ struct bytes *request = bytes_copy(str_make((const char *)&cancel, sizeof(cancel)));
        struct grpc_reply reply;

        if (is_before)
                cancel_trigger(cancel, "enough");
        else
                cancel_ref(cancel); /* the handler's */
        return grpc_call(good, is_before ? STR("/test.Test/Echo") : STR("/test.Test/CancelMe"), request, &options, a,
                         &reply, err);
}

static int fail_call(struct stage *s, struct grpc_channel *good, enum kind kind, struct arena *a, struct err *err)
{
        struct grpc_reply reply;

        switch (kind) {
        case REFUSED:
                return call_anew(s->nobody, NULL, a, err);
        case HANDSHAKE:
                return call_anew(s->secure.target, s->client_tls, a, err);
        case RESET:
                return call(s->reset, "/test.Test/Echo", STR("x"), 60000, a, &reply, err);
        case DEADLINE:
                return call(good, "/test.Test/Hang", STR("x"), 1, a, &reply, err);
        case CANCELED_BEFORE:
        case CANCELED:
                return call_canceled(good, kind == CANCELED_BEFORE, a, err);
        case UNIMPLEMENTED:
                return call(good, "/test.Test/Nope", STR("x"), 60000, a, &reply, err);
        case STATUS:
        case _N_KINDS:
                break;
        }
        return call(good, "/test.Test/Echo", STR("fail"), 60000, a, &reply, err);
}

static void run_calls(void *arg)
{
        struct stage *s = arg;
        struct grpc_channel *good = s->good[atomic_fetch_add(&s->n_threads, 1)];
        long number;

        while ((number = atomic_fetch_add(&s->n_begun, 1)) < s->n_calls) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                enum kind kind = kind_of(number);
                int r;

                arena_init(&a, "failing call", 0);
                r = fail_call(s, good, kind, &a, &err);
                atomic_fetch_add(&s->n_of[kind], 1);
                if (r == kinds[kind].code)
                        continue;
                fprintf(stderr, "# %s: %d %s\n", kinds[kind].name, r, r < 0 ? err_message(&err) : "");
                atomic_fetch_add(&s->n_wrong, 1);
        }
}

static void run_round(struct stage *s, long n_calls)
{
        _cleanup_err_ struct err err = { 0 };
        struct thread *threads[N_THREADS];

        s->n_calls = n_calls;
        s->n_begun = 0;
        s->n_threads = 0;
        for (size_t i = 0; i < N_THREADS; i++)
                ASSERT(thread_start("failing", run_calls, s, &threads[i], &err) == 0);
        for (size_t i = 0; i < N_THREADS; i++)
                thread_join(threads[i]);
        ASSERT_INT(s->n_wrong, 0);
}

struct holdings {
        int n_fds, n_threads;
        size_t heap_bytes;
};

static struct holdings look(void)
{
        return (struct holdings) { count_fds(), count_threads(), count_heap_bytes() };
}

/* Waits until the holdings are as small as before: closing may take a moment. */
static struct holdings settle(const struct holdings *before, size_t slack_bytes)
{
        struct holdings now = look();

        for (int i = 0; i < 5000 && (now.n_fds > before->n_fds || now.n_threads > before->n_threads ||
                                     now.heap_bytes > before->heap_bytes + slack_bytes);
             i++) {
                thread_sleep(deadline_after_ms(1), NULL);
                now = look();
        }
        return now;
}

/* The holdings after they have stopped changing. */
static struct holdings rest(void)
{
        struct holdings last = look(), now = last;

        for (int i = 0; i < 100 && (i == 0 || memcmp(&last, &now, sizeof(now)) != 0); i++) {
                last = now;
                thread_sleep(deadline_after_ms(50), NULL);
                now = look();
        }
        return now;
}

static void stage_init(struct stage *s, struct world *v, struct resetter *r)
{
        struct grpc_channel_options options = { .backoff_ms = 1, .max_backoff_ms = 1 };
        _cleanup_err_ struct err err = { 0 };
        struct tls_options no_certificate = { 0 };
        struct address a;
        char path[128];

        world_init(v);
        resetter_start(r);
        snprintf(path, sizeof(path), "%s/ca.crt", v->client);
        no_certificate.ca_file = path;
        ASSERT(tls_config_new(&no_certificate, &s->client_tls, &err) == 0);
        s->server_tls = config(v->server, true);
        s->plain = start_server(NULL);
        s->secure = start_server(s->server_tls);
        for (size_t i = 0; i < N_THREADS; i++)
                s->good[i] = open_channel(s->plain.target, NULL);
        s->reset = open_channel(r->target, &options);
        s->nobody_fd = raw_bind(&a);
        target_of(&a, s->nobody);
}

static void stage_done(struct stage *s, struct world *v, struct resetter *r)
{
        for (size_t i = 0; i < N_THREADS; i++)
                grpc_channel_unref(s->good[i]);
        grpc_channel_unref(s->reset);
        close(s->nobody_fd);
        resetter_stop(r);
        grpc_server_free(s->plain.s);
        grpc_server_free(s->secure.s);
        tls_config_unref(s->server_tls);
        tls_config_unref(s->client_tls);
        world_done(v);
}

TEST(failing_calls_leave_nothing_behind)
{
        enum { SLACK_BYTES = 256 << 10 };
        const char *wanted = getenv("WEFT_TEST_CALLS");
        long n_calls = wanted ? atol(wanted) : 25000;
        static struct stage s;
        static struct world v;
        static struct resetter r;
        struct holdings before, after;

        stage_init(&s, &v, &r);
        run_round(&s, 8000); /* until every part has what it keeps, the last 256 streams of each connection too */
        before = rest();
        run_round(&s, n_calls);
        after = settle(&before, SLACK_BYTES);
        ASSERT_INT(after.n_fds, before.n_fds);
        ASSERT_INT(after.n_threads, before.n_threads);
        printf("# %ld calls: heap %zu KiB before, %zu KiB after\n", n_calls, before.heap_bytes >> 10,
               after.heap_bytes >> 10);
        ASSERT(after.heap_bytes <= before.heap_bytes + SLACK_BYTES);
        /* A connection takes all its calls with it. */
        ASSERT(atomic_load(&r.n_reset) * N_THREADS >= atomic_load(&s.n_of[RESET]));
        for (size_t i = 0; i < N_THREADS; i++)
                ASSERT_INT(grpc_channel_stats(s.good[i]).n_calls, 0);
        stage_done(&s, &v, &r);
}
