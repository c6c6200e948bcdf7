#include "loop.h"

#include "buf.h"
#include "limits.h"
#include "park.h"

#include <stdatomic.h>

#define READ_BLOCK_BYTES (64u << 10)

struct loop {
        uv_loop_t uv;
        uv_async_t wake;
        uv_prepare_t before_poll;
        struct thread *thread;
        _Atomic(struct thread *) home; /* the same thread, as it knows itself: set before anything runs on the loop */
        _Atomic(struct loop_task *) posted; /* newest first; any thread */
        _Atomic bool is_stopping;
        struct loop_flush *marked; /* loop thread only, like all below */
        char read_block[READ_BLOCK_BYTES];
};

int net_error(struct err *err, int uv_status, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        char word[128];
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        return err_set(err, ERR_SYSTEM, "%s: %s", buf_cstring(&text), uv_strerror_r(uv_status, word, sizeof(word)));
}

/* Takes what was posted and turns it round, so that the oldest runs first. */
static struct loop_task *take_posted(struct loop *l)
{
        struct loop_task *newest = atomic_exchange_explicit(&l->posted, NULL, memory_order_acquire), *oldest = NULL;

        while (newest) {
                struct loop_task *next = newest->next;

                newest->next = oldest;
                oldest = newest;
                newest = next;
        }
        return oldest;
}

static void run_posted(struct loop *l)
{
        struct loop_task *t;

        while ((t = take_posted(l))) {
                while (t) {
                        struct loop_task *next = t->next;

                        t->run(t);
                        t = next;
                }
        }
}

static void on_wake(uv_async_t *wake)
{
        struct loop *l = CONTAINER_OF(wake, struct loop, wake);

        run_posted(l);
        if (atomic_load_explicit(&l->is_stopping, memory_order_acquire) && !uv_is_closing((uv_handle_t *)wake))
                uv_close((uv_handle_t *)wake, NULL);
}

static void flush_marked(struct loop *l)
{
        struct loop_flush *f;

        while ((f = l->marked)) {
                l->marked = f->next;
                f->is_marked = false;
                f->flush(f);
        }
}

static void on_before_poll(uv_prepare_t *p)
{
        flush_marked(CONTAINER_OF(p, struct loop, before_poll));
}

void loop_mark(struct loop *l, struct loop_flush *f)
{
        if (f->is_marked)
                return;
        f->is_marked = true;
        f->next = l->marked;
        l->marked = f;
}

void loop_unmark(struct loop *l, struct loop_flush *f)
{
        struct loop_flush **at = &l->marked;

        if (!f->is_marked)
                return;
        while (*at != f)
                at = &(*at)->next;
        *at = f->next;
        f->is_marked = false;
}

static void run_loop(void *arg)
{
        struct loop *l = arg;

        atomic_store_explicit(&l->home, thread_current(), memory_order_release);
        uv_run(&l->uv, UV_RUN_DEFAULT);
        uv_close((uv_handle_t *)&l->before_poll, NULL);
        uv_run(&l->uv, UV_RUN_DEFAULT);
}

int loop_new(const char *name, struct loop **ret, struct err *err)
{
        struct loop *l = xcalloc(1, sizeof(*l));
        int r;

        r = uv_loop_init(&l->uv);
        if (r < 0) {
                free(l);
                return net_error(err, r, "cannot make an event loop");
        }
        uv_async_init(&l->uv, &l->wake, on_wake);
        uv_prepare_init(&l->uv, &l->before_poll);
        uv_prepare_start(&l->before_poll, on_before_poll);
        uv_unref((uv_handle_t *)&l->before_poll); /* it alone does not keep the loop running */
        r = thread_start(name, run_loop, l, &l->thread, err);
        if (r < 0) {
                uv_close((uv_handle_t *)&l->wake, NULL);
                uv_close((uv_handle_t *)&l->before_poll, NULL);
                uv_run(&l->uv, UV_RUN_DEFAULT);
                uv_loop_close(&l->uv);
                free(l);
                return err_wrap(err, "cannot start an event loop");
        }
        *ret = l;
        return 0;
}

void loop_free(struct loop *l)
{
        int r;

        if (!l)
                return;
        assert(!loop_is_current(l));
        atomic_store_explicit(&l->is_stopping, true, memory_order_release);
        uv_async_send(&l->wake);
        thread_join(l->thread);
        r = uv_loop_close(&l->uv);
        assert(r == 0);
        free(l);
}

void loop_post(struct loop *l, struct loop_task *t)
{
        struct loop_task *first = atomic_load_explicit(&l->posted, memory_order_relaxed);

        do
                t->next = first;
        while (!atomic_compare_exchange_weak_explicit(&l->posted, &first, t, memory_order_release,
                                                      memory_order_relaxed));
        /* Whoever made the list non-empty wakes the loop; the rest ride along. */
        if (!first)
                uv_async_send(&l->wake);
}

struct call {
        struct loop_task task;
        void (*run)(void *arg);
        void *arg;
        struct completion done;
};

static void run_call(struct loop_task *t)
{
        struct call *c = CONTAINER_OF(t, struct call, task);

        c->run(c->arg);
        completion_complete(&c->done);
}

void loop_call(struct loop *l, void (*run)(void *arg), void *arg)
{
        struct call c = { .task.run = run_call, .run = run, .arg = arg };

        if (loop_is_current(l)) {
                run(arg);
                return;
        }
        completion_init(&c.done, "loop call");
        loop_post(l, &c.task);
        completion_wait(&c.done, DEADLINE_NONE, NULL);
        completion_done(&c.done);
}

bool loop_is_current(const struct loop *l)
{
        return thread_current() == atomic_load_explicit(&l->home, memory_order_acquire);
}

uv_loop_t *loop_uv(struct loop *l)
{
        return &l->uv;
}

uv_buf_t loop_read_block(struct loop *l)
{
        return uv_buf_init(l->read_block, sizeof(l->read_block));
}

static struct mutex shared_mutex = MUTEX_INIT;
static struct loop *shared;
static size_t shared_references;

int loop_shared_ref(struct loop **ret, struct err *err)
{
        int r = 0;

        mutex_lock(&shared_mutex);
        if (!shared)
                r = loop_new("client", &shared, err);
        if (r >= 0) {
                shared_references++;
                *ret = shared;
        }
        mutex_unlock(&shared_mutex);
        return r;
}

void loop_shared_unref(struct loop *l)
{
        struct loop *last = NULL;

        if (!l)
                return;
        mutex_lock(&shared_mutex);
        assert(l == shared && shared_references > 0);
        if (--shared_references == 0)
                last = TAKE(shared);
        mutex_unlock(&shared_mutex);
        loop_free(last);
}
