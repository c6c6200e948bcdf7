#include "workers.h"

#include "clock.h"
#include "loop.h"
#include "park.h"

#include <sched.h>
#include <stdatomic.h>

/* How often a loop with open jobs checks them. */
#define TICK_MS 1

/* Another worker is woken when a job waits longer than this and a processor is free. */
#define PATIENCE_NS 100000

/* A worker that runs one job for longer than this counts as stuck. A job that is only interrupted, by the loop's thread or another
 * thread, takes far less time. */
#define STUCK_NS 1000000

/* A worker notifies the loop after as many finished jobs as were still waiting when it took its own job, within these bounds. So
 * the receiver has answers to handle while the worker runs the next jobs. */
#define MIN_UNTOLD 4
#define MAX_UNTOLD 32

/* The state of one loop. */
struct worker_lane {
        struct worker_lane *next; /* immutable after publish */
        struct workers *workers;
        struct loop *loop;
        _Atomic(struct job *) finished; /* newest first */
        _Atomic bool is_told;           /* the task is posted and has not begun to run */
        _Atomic bool is_alone;          /* the loop does not tick: report each job at once; only the loop sets it */
        struct loop_task task;
        struct loop_flush flush; /* this and all below: loop thread only */
        uv_timer_t timer;
};

struct worker {
        struct workers *workers;
        struct thread *thread;      /* NULL: not started yet; guarded like next_idle */
        struct worker *next_idle;   /* guarded by the mutex; after call_up by its caller, until rouse */
        bool is_idle;               /* guarded like next_idle */
        int64_t began_ns;           /* start of its job; guarded like next_idle */
        struct worker_lane *untold; /* lane with finished jobs that were not reported yet; worker only */
        unsigned n_untold;
        bool keeps_job;  /* its job goes on without it; worker only */
        size_t n_behind; /* jobs that waited when this worker took its job */
};

struct workers {
        const char *name;
        unsigned n;
        unsigned n_processors;
        size_t max_waiting;
        struct worker *all;
        _Atomic(struct worker_lane *) lanes;
        struct mutex mutex; /* guards all below */
        struct job *first, **last;
        size_t n_waiting;
        struct worker *idle; /* most recently idle first: its memory is still in the cache */
        unsigned n_active;
        size_t n_kept; /* jobs that job_finish will finish */
        struct waiters last_kept;
        bool is_closed;
};

/* --- Waking --- */

static void work(void *arg);

/* Takes the first idle worker off the list. The caller rouses it after unlocking the mutex, because the worker locks the mutex
 * first. */
static struct worker *call_up(struct workers *w, int64_t now_ns)
{
        struct worker *sleeper = w->idle;

        w->idle = sleeper->next_idle;
        sleeper->is_idle = false;
        sleeper->began_ns = now_ns;
        w->n_active++;
        return sleeper;
}

/* Wakes a worker that was called up. Threads are started when they are needed; one that cannot be started is called up again when jobs
 * wait in vain. */
static void rouse(struct worker *called)
{
        struct workers *w = called->workers;

        if (called->thread) {
                unpark(called->thread);
                return;
        }
        mutex_lock(&w->mutex); /* none is started after the end has begun: workers_free would not join it */
        if (w->is_closed || thread_start(w->name, work, called, &called->thread, NULL) < 0) {
                w->n_active--;
                called->is_idle = true;
                called->next_idle = w->idle;
                w->idle = called;
        }
        mutex_unlock(&w->mutex);
}

/* Whether all awake workers are busy with long jobs. */
static bool are_stuck(const struct workers *w, int64_t now_ns)
{
        for (unsigned i = 0; i < w->n; i++)
                if (!w->all[i].is_idle && now_ns - w->all[i].began_ns <= STUCK_NS)
                        return false;
        return true;
}

static bool should_wake(const struct workers *w, int64_t now_ns)
{
        if (!w->first || !w->idle)
                return false;
        if (w->n_active < w->n_processors && now_ns - w->first->submitted_ns > PATIENCE_NS)
                return true;
        return are_stuck(w, now_ns);
}

/* --- Workers --- */

static void tell(struct worker_lane *lane)
{
        if (!atomic_exchange(&lane->is_told, true))
                loop_post(lane->loop, &lane->task);
}

static void tell_untold(struct worker *self)
{
        if (self->untold)
                tell(self->untold);
        self->untold = NULL;
        self->n_untold = 0;
}

/* The loop may free the job as soon as it is on the list. */
static void add_finished(struct worker_lane *lane, struct job *j)
{
        j->next = atomic_load_explicit(&lane->finished, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&lane->finished, &j->next, j))
                ;
}

/* No job is missed: the loop sets is_alone before it looks at the list for the last time, so either it finds the job there, or the
 * worker sees is_alone and notifies it. */
static void give_back(struct worker *self, struct job *j)
{
        struct worker_lane *lane = j->lane;

        if (self->untold != lane)
                tell_untold(self);
        add_finished(lane, j);
        self->untold = lane;
        if (++self->n_untold >= MIN(MAX(self->n_behind, (size_t)MIN_UNTOLD), (size_t)MAX_UNTOLD) ||
            atomic_load(&lane->is_alone))
                tell_untold(self);
}

static struct job *take_first(struct worker *self, struct worker **ret_help)
{
        struct workers *w = self->workers;
        struct job *j = w->first;

        w->first = j->next;
        if (!w->first)
                w->last = &w->first;
        self->n_behind = --w->n_waiting;
        self->began_ns = clock_mono_ns();
        if (w->n_active < w->n_processors && should_wake(w, self->began_ns))
                *ret_help = call_up(w, self->began_ns);
        return j;
}

static void become_idle(struct worker *self)
{
        struct workers *w = self->workers;

        w->n_active--;
        self->is_idle = true;
        self->next_idle = w->idle;
        w->idle = self;
        while (self->is_idle) {
                mutex_unlock(&w->mutex);
                park("workers", w->name, DEADLINE_NONE, NULL);
                mutex_lock(&w->mutex);
        }
}

/* The next job, or NULL at the end. Before waiting for a job, the worker reports all finished ones. */
static struct job *next_job(struct worker *self)
{
        struct workers *w = self->workers;
        struct worker *help = NULL;
        struct job *j = NULL;

        mutex_lock(&w->mutex);
        while (!w->first && !(w->is_closed && !self->untold)) {
                if (self->untold) {
                        mutex_unlock(&w->mutex);
                        tell_untold(self);
                        mutex_lock(&w->mutex);
                } else {
                        become_idle(self);
                }
        }
        if (w->first)
                j = take_first(self, &help);
        mutex_unlock(&w->mutex);
        if (help)
                rouse(help);
        return j;
}

static void work(void *arg)
{
        struct worker *self = arg;
        struct job *j;

        while ((j = next_job(self))) {
                j->worker = self;
                self->keeps_job = false;
                j->run(j);
                if (!self->keeps_job)
                        give_back(self, j);
        }
}

/* --- Kept jobs --- */

void job_keep(struct job *j)
{
        struct workers *w = j->worker->workers;

        j->worker->keeps_job = true;
        mutex_lock(&w->mutex);
        w->n_kept++;
        mutex_unlock(&w->mutex);
}

void job_finish(struct job *j)
{
        struct worker_lane *lane = j->lane;
        struct workers *w = lane->workers;

        add_finished(lane, j);
        tell(lane);
        mutex_lock(&w->mutex);
        if (--w->n_kept == 0)
                waiters_grant(&w->last_kept);
        mutex_unlock(&w->mutex);
}

/* Called when no worker runs any more. */
static void await_kept(struct workers *w)
{
        struct waiter waiter;

        mutex_lock(&w->mutex);
        if (w->n_kept) {
                waiters_append(&w->last_kept, &waiter);
                waiters_wait(&w->last_kept, &waiter, &w->mutex, "kept jobs", w->name, DEADLINE_NONE, NULL);
        }
        mutex_unlock(&w->mutex);
}

/* --- Lanes; on their loops --- */

/* Finishes the completed jobs, oldest first. Returns whether there were any. */
static bool finish_jobs(struct worker_lane *lane)
{
        struct job *newest = atomic_exchange(&lane->finished, NULL), *oldest = NULL;

        while (newest) {
                struct job *next = newest->next;

                newest->next = oldest;
                oldest = newest;
                newest = next;
        }
        newest = oldest;
        while (oldest) {
                struct job *next = oldest->next;

                oldest->finish(oldest);
                oldest = next;
        }
        return newest != NULL;
}

static void on_told(struct loop_task *t)
{
        struct worker_lane *lane = CONTAINER_OF(t, struct worker_lane, task);

        atomic_store(&lane->is_told, false);
        finish_jobs(lane);
}

/* Wakes one worker for the waiting jobs, or as many as are awake if all of those are stuck, so that their number doubles with each
 * call: workers that only wait for a processor look stuck, too, and more of them would help nobody. Returns true when jobs wait and
 * idle workers remain: then the caller must check again later, since nothing else wakes them. */
static bool wake_as_needed(struct workers *w, bool may_double)
{
        struct worker *called = NULL, *next;
        int64_t now_ns = clock_mono_ns();
        bool may_need_more;
        size_t n = 0;

        mutex_lock(&w->mutex);
        if (should_wake(w, now_ns))
                n = may_double && are_stuck(w, now_ns) ? MIN(w->n_waiting, MAX(w->n_active, 1u)) : 1;
        for (; n > 0 && w->idle; n--) {
                next = call_up(w, now_ns);
                next->next_idle = called;
                called = next;
        }
        may_need_more = w->first && w->idle;
        mutex_unlock(&w->mutex);
        for (; called; called = next) {
                next = called->next_idle;
                rouse(called);
        }
        return may_need_more;
}

static void on_tick(uv_timer_t *t)
{
        struct worker_lane *lane = t->data;

        bool may_need_more = wake_as_needed(lane->workers, true);

        if (finish_jobs(lane) || may_need_more)
                return;
        uv_timer_stop(&lane->timer);
        atomic_store(&lane->is_alone, true);
        finish_jobs(lane);
}

/* Called at the end of a turn in which jobs were submitted. */
static void on_flush(struct loop_flush *f)
{
        struct worker_lane *lane = CONTAINER_OF(f, struct worker_lane, flush);

        if (atomic_load_explicit(&lane->is_alone, memory_order_relaxed)) {
                atomic_store(&lane->is_alone, false);
                uv_timer_start(&lane->timer, on_tick, TICK_MS, TICK_MS);
        }
        wake_as_needed(lane->workers, false);
}

static struct worker_lane *add_lane(struct workers *w, struct loop *l)
{
        struct worker_lane *lane = xcalloc(1, sizeof(*lane));

        lane->workers = w;
        lane->loop = l;
        lane->task.run = on_told;
        lane->flush.flush = on_flush;
        atomic_init(&lane->is_alone, true);
        uv_timer_init(loop_uv(l), &lane->timer);
        lane->timer.data = lane;
        lane->next = atomic_load_explicit(&w->lanes, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&w->lanes, &lane->next, lane))
                ;
        return lane;
}

static struct worker_lane *lane_of(struct workers *w, struct loop *l)
{
        struct worker_lane *lane = atomic_load_explicit(&w->lanes, memory_order_acquire);

        while (lane && lane->loop != l)
                lane = lane->next;
        return LIKELY(lane) ? lane : add_lane(w, l);
}

int workers_submit(struct workers *w, struct loop *l, struct job *j)
{
        int r = 0;

        j->lane = lane_of(w, l);
        j->next = NULL;
        j->submitted_ns = clock_mono_ns();
        mutex_lock(&w->mutex);
        if (w->is_closed) {
                r = ERR_CLOSED;
        } else if (w->n_waiting >= w->max_waiting) {
                r = ERR_LIMIT;
        } else {
                *w->last = j;
                w->last = &j->next;
                w->n_waiting++;
        }
        mutex_unlock(&w->mutex);
        if (r == 0)
                loop_mark(l, &j->lane->flush);
        return r;
}

/* --- Beginning and end --- */

static unsigned count_processors(void)
{
        cpu_set_t set;

        return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

int workers_new(const char *name, unsigned n, size_t max_waiting, struct workers **ret, struct err *err)
{
        struct workers *w = xcalloc(1, sizeof(*w));
        int r = 0;

        w->name = name;
        w->n_processors = count_processors();
        w->max_waiting = max_waiting;
        w->last = &w->first;
        w->all = xcalloc(n, sizeof(*w->all));
        w->n = n;
        mutex_init(&w->mutex);
        for (unsigned i = n; i-- > 1;) {
                w->all[i] = (struct worker) { .workers = w, .next_idle = w->idle, .is_idle = true };
                w->idle = &w->all[i];
        }
        w->all[0].workers = w;
        w->n_active = 1;
        r = thread_start(name, work, &w->all[0], &w->all[0].thread, err);
        if (r < 0) {
                workers_free(w);
                return r;
        }
        *ret = w;
        return 0;
}

static void free_lane(uv_handle_t *timer)
{
        free(timer->data);
}

static void end_lane(void *arg)
{
        struct worker_lane *lane = arg;

        finish_jobs(lane);
        loop_unmark(lane->loop, &lane->flush);
        uv_close((uv_handle_t *)&lane->timer, free_lane);
}

static void close_all(struct workers *w)
{
        mutex_lock(&w->mutex);
        w->is_closed = true;
        while (w->idle) {
                struct worker *called = call_up(w, 0);

                if (called->thread)
                        unpark(called->thread);
        }
        mutex_unlock(&w->mutex);
}

void workers_free(struct workers *w)
{
        if (!w)
                return;
        close_all(w);
        for (unsigned i = 0; i < w->n; i++)
                if (w->all[i].thread)
                        thread_join(w->all[i].thread);
        await_kept(w);
        /* Tasks that the workers posted run before this one. */
        for (struct worker_lane *lane = atomic_load(&w->lanes), *next; lane; lane = next) {
                next = lane->next;
                loop_call(lane->loop, end_lane, lane);
        }
        mutex_done(&w->mutex);
        free(w->all);
        free(w);
}
