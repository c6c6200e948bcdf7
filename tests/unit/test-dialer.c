/* Calls over sockets that a dialer makes. */
#include "test.h"

#include "clock.h"
#include "dialer.h"
#include "grpc-client.h"
#include "park.h"
#include "raw.h"

struct caller {
        struct grpc_channel *channel;
        struct thread *thread;
        bool fails_fast;
        int r;
        char text[300];
};

static void run_call(void *arg)
{
        struct caller *c = arg;
        struct grpc_call_options options = { .deadline = deadline_after_ms(60000), .fails_fast = c->fails_fast };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_bytes_ struct bytes *request = bytes_copy(STR("hello"));
        struct grpc_reply reply;

        arena_init(&a, "call", 0);
        c->r = grpc_call(c->channel, STR("/a.B/C"), request, &options, &a, &reply, &err);
        snprintf(c->text, sizeof(c->text), "%s", c->r < 0 ? err_message(&err) : "");
        bytes_unref(reply.response);
}

static void caller_start(struct caller *c, struct grpc_channel *channel)
{
        _cleanup_err_ struct err err = { 0 };

        *c = (struct caller) { .channel = channel };
        ASSERT(thread_start("caller", run_call, c, &c->thread, &err) == 0);
}

/* Leads to the listening socket whose address it has; with a port of 0 it leads nowhere. */
struct way {
        struct mutex mutex;
        struct address to;
        unsigned n_dials;
        bool is_freed;
};

static int dial(void *context, int *ret_fd, struct err *err)
{
        struct way *w = context;
        struct address to;
        _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        mutex_lock(&w->mutex);
        to = w->to;
        w->n_dials++;
        mutex_unlock(&w->mutex);
        if (to.ip4.sin_port == 0)
                return err_set(err, ERR_FAILED, "the way is closed");
        if (connect(fd, &to.any, sizeof(to.ip4)) < 0)
                return err_set_errno(err, errno, "cannot connect");
        *ret_fd = TAKE_FD(fd);
        return 0;
}

static void free_way(void *context)
{
        ((struct way *)context)->is_freed = true;
}

static const struct dialer_ops ops = { .dial = dial, .free = free_way };

static void lead_to(struct way *w, struct address to)
{
        mutex_lock(&w->mutex);
        w->to = to;
        mutex_unlock(&w->mutex);
}

static struct grpc_channel *channel_of(struct dialer *d)
{
        struct grpc_channel_options options = { .dialer = d, .backoff_ms = 10, .max_backoff_ms = 10 };
        _cleanup_err_ struct err err = { 0 };
        struct grpc_channel *c;

        if (grpc_channel_new(STR("dns:///function.example:9443"), &options, &c, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return c;
}

static void take_connection(struct raw_peer *p, int listening)
{
        raw_peer_init(p, raw_accept(listening), true);
        raw_send_frame(p->fd, RAW_SETTINGS, 0, 0, STR(""));
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

static void finish(struct caller *c)
{
        thread_join(c->thread);
        ASSERT_TEXT(c->text, "");
        ASSERT_INT(c->r, 0);
}

/* A call in flight ends on the old connection, and the next one goes where the dialer leads now; none fails. */
TEST(renew)
{
        struct address first, second;
        int a = raw_listen(&first), b = raw_listen(&second);
        struct way way = { .mutex = MUTEX_INIT, .to = first };
        struct dialer *d = dialer_new(&ops, &way);
        struct grpc_channel *c = channel_of(d);
        struct raw_peer old, newer;
        struct caller one, two;
        struct raw_frame f;
        uint32_t id;

        caller_start(&one, c);
        take_connection(&old, a);
        id = take_call(&old);
        lead_to(&way, second);
        dialer_renew(d);
        caller_start(&two, c);
        take_connection(&newer, b);
        answer(&newer, take_call(&newer));
        finish(&two);
        answer(&old, id);
        finish(&one);
        while (raw_next(&old, &f)) /* until it is closed, because its calls are done */
                ;
        ASSERT_INT(way.n_dials, 2);
        dialer_unref(d);
        ASSERT(!way.is_freed);
        grpc_channel_unref(c);
        ASSERT(way.is_freed);
        raw_peer_done(&old);
        raw_peer_done(&newer);
        close(a);
        close(b);
}

TEST(width)
{
        struct address address;
        int listening = raw_listen(&address);
        struct way way = { .mutex = MUTEX_INIT, .to = address };
        struct dialer *d = dialer_new(&ops, &way);
        struct raw_peer first, second;
        struct grpc_channel *c;
        struct caller one, two;

        dialer_set_width(d, 2);
        c = channel_of(d);
        dialer_unref(d);
        caller_start(&one, c);
        take_connection(&first, listening);
        answer(&first, take_call(&first));
        finish(&one);
        take_connection(&second, listening);
        while (grpc_channel_stats(c).n_ready < 2)
                thread_yield();
        ASSERT_INT(way.n_dials, 2);
        caller_start(&two, c);
        answer(&second, take_call(&second));
        finish(&two);
        grpc_channel_unref(c);
        ASSERT(way.is_freed);
        raw_peer_done(&first);
        raw_peer_done(&second);
        close(listening);
}

TEST(failure)
{
        struct way way = { .mutex = MUTEX_INIT, .to.ip4.sin_family = AF_INET };
        struct dialer *d = dialer_new(&ops, &way);
        struct grpc_channel *c = channel_of(d);
        struct caller one = { .channel = c, .fails_fast = true };

        run_call(&one);
        ASSERT_TEXT(one.text,
                    "rpc error: code = Unavailable desc = connection error: function.example:9443: the way is closed");
        dialer_renew(d);
        grpc_channel_unref(c);
        dialer_renew(d); /* no one listens */
        dialer_unref(d);
        ASSERT(way.is_freed);
}
