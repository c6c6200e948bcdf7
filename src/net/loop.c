#include "loop.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"
#include "park.h"
#include "timetext.h"

#include <stdatomic.h>

#define READ_BLOCK_BYTES (64u << 10)
#define SLICE_TASKS      32              /* that run between two flushes */
#define FLUSH_ROUNDS     4               /* in one flush */
#define FLUSH_NS         (5 * NS_PER_MS) /* about the time for output in one flush, however many objects have some */

struct flush_list {
        struct loop_flush *first, *last;
};

struct loop {
        uv_loop_t uv;
        uv_async_t wake;
        uv_prepare_t before_poll;
        struct thread *thread;
        _Atomic(struct thread *) home; /* the same thread as a struct thread; set before anything runs on the loop */
        _Atomic(struct loop_task *) posted; /* newest first; any thread */
        _Atomic bool is_stopping;
        struct flush_list marked;   /* this and all below: loop thread only */
        struct flush_list flushing; /* the rest of the current round */
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

/* Takes the posted tasks in reverse, so that the oldest runs first. */
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

static void list_append(struct flush_list *list, struct loop_flush *f)
{
        f->next = NULL;
        *(list->first ? &list->last->next : &list->first) = f;
        list->last = f;
}

static struct loop_flush *list_take(struct flush_list *list)
{
        struct loop_flush *f = list->first;

        if (f)
                list->first = f->next;
        return f;
}

/* The rest of a round is first in the next turn. */
static void put_back(struct loop *l)
{
        if (!l->flushing.first)
                return;
        l->flushing.last->next = l->marked.first;
        if (l->marked.first)
                l->flushing.last = l->marked.last;
        l->marked = l->flushing;
        l->flushing = (struct flush_list) { 0 };
}

/* A flush may mark its own object again. Objects that still have output after a few rounds, or when the time is over, wait for the
 * next turn: otherwise peers that take output as fast as it is made would keep the loop from reading. */
static void flush_marked(struct loop *l)
{
        bool is_last_turn = uv_is_closing((uv_handle_t *)&l->wake);
        int64_t end_ns = l->marked.first ? clock_mono_ns() + FLUSH_NS : 0;
        struct loop_flush *f;

        for (unsigned round = 0; l->marked.first && (round < FLUSH_ROUNDS || is_last_turn); round++) {
                l->flushing = l->marked;
                l->marked = (struct flush_list) { 0 };
                while ((is_last_turn || clock_mono_ns() < end_ns) && (f = list_take(&l->flushing))) {
                        f->is_marked = false;
                        f->flush(f);
                }
                if (l->flushing.first)
                        break;
        }
        put_back(l);
        if (l->marked.first)
                uv_async_send(&l->wake); /* the next turn does not wait for input */
}

/* The output of a slice of tasks goes out before the next slice runs: what its tasks have touched is still in the processor's cache, and
 * a change that wakes thousands of connections reaches the first ones at once. */
static void run_posted(struct loop *l)
{
        struct loop_task *t;
        unsigned n = 0;

        while ((t = take_posted(l))) {
                while (t) {
                        struct loop_task *next = t->next;

                        t->run(t);
                        t = next;
                        if (++n % SLICE_TASKS == 0)
                                flush_marked(l);
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

static void on_before_poll(uv_prepare_t *p)
{
        flush_marked(CONTAINER_OF(p, struct loop, before_poll));
}

void loop_mark(struct loop *l, struct loop_flush *f)
{
        if (f->is_marked)
                return;
        f->is_marked = true;
        list_append(&l->marked, f);
}

static bool list_remove(struct flush_list *list, const struct loop_flush *f)
{
        struct loop_flush *before = NULL;

        for (struct loop_flush *at = list->first; at; before = at, at = at->next) {
                if (at != f)
                        continue;
                *(before ? &before->next : &list->first) = f->next;
                if (list->last == f)
                        list->last = before;
                return true;
        }
        return false;
}

void loop_unmark(struct loop *l, struct loop_flush *f)
{
        if (!f->is_marked)
                return;
        if (!list_remove(&l->marked, f))
                list_remove(&l->flushing, f);
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
        uv_unref((uv_handle_t *)&l->before_poll); /* this handle must not keep the loop running */
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
        /* Only the thread that finds the list empty wakes the loop; later tasks use the same wake-up. */
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
