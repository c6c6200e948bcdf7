#include "sim.h"

#include "buf.h"
#include "park-driver.h"
#include "random.h"
#include "vec.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#define DEFAULT_MAX_STEPS    1000000
#define DEFAULT_WALL_SECONDS 1893456000 /* 2030-01-01T00:00:00Z */

/* Home: the thread that has the turn. The turn is passed with release and acquire, so no lock is needed. The last thread signals
 * `finished` to the thread in sim_run. */
struct sim {
        struct random choices; /* chooses the next thread and how long it runs */
        struct random system;  /* source of random_system inside */
        struct sim_clock clock;
        int64_t started_ns;
        struct sim_options options;
        struct sim_report report;
        VEC(struct thread *) threads; /* started and not joined, in order of start */
        size_t n_alive;               /* of `threads`, those that have not ended */
        struct err failure;
        _Atomic uint32_t finished;
};

static int64_t now_ns(struct sim *sim)
{
        return atomic_load_explicit(&sim->clock.mono_ns, memory_order_relaxed);
}

/* A parked thread has a wait_what; it may run once its permit is given or its deadline has passed. */
static bool is_runnable(struct sim *sim, struct thread *t)
{
        if (t->has_ended)
                return false;
        return !t->wait_what || t->wait_until.mono_ns <= now_ns(sim) ||
               atomic_load_explicit(&t->permit, memory_order_relaxed) == PERMIT_GIVEN;
}

static size_t count_runnable(struct sim *sim)
{
        size_t n = 0;

        for (size_t i = 0; i < sim->threads.n; i++)
                n += is_runnable(sim, sim->threads.p[i]);
        return n;
}

static struct thread *nth_runnable(struct sim *sim, uint64_t n)
{
        for (size_t i = 0; i < sim->threads.n; i++)
                if (is_runnable(sim, sim->threads.p[i]) && n-- == 0)
                        return sim->threads.p[i];
        abort();
}

static struct deadline earliest_deadline(struct sim *sim)
{
        struct deadline d = DEADLINE_NONE;

        for (size_t i = 0; i < sim->threads.n; i++)
                d = deadline_earliest(d, sim->threads.p[i]->wait_until);
        return d;
}

/* Ends the simulation: no thread gets the turn any more, and sim_run returns. */
static void finish(struct sim *sim)
{
        sim->report.elapsed_ns = now_ns(sim) - sim->started_ns;
        atomic_store_explicit(&sim->finished, 1, memory_order_release);
        futex_wake(&sim->finished);
}

static void describe_threads(struct sim *sim, struct buf *b)
{
        for (size_t i = 0; i < sim->threads.n; i++) {
                const struct thread *t = sim->threads.p[i];

                if (t->has_ended)
                        continue;
                buf_appendf(b, "%s%s", b->n ? "; " : "", t->name);
                if (!t->wait_what)
                        buf_append_literal(b, " can run");
                else if (t->wait_name)
                        buf_appendf(b, " waits in %s of %s", t->wait_what, t->wait_name);
                else
                        buf_appendf(b, " waits in %s", t->wait_what);
        }
}

static void fail(struct sim *sim, int code, const char *what)
{
        _cleanup_buf_ struct buf threads = BUF_INIT(0);

        describe_threads(sim, &threads);
        err_set(&sim->failure, code, "seed %" PRIu64 ": %s after %" PRIu64 " steps: %s", sim->report.seed, what,
                sim->report.steps, buf_cstring(&threads));
        for (size_t i = 0; i < sim->threads.n; i++)
                pthread_detach(sim->threads.p[i]->pthread); /* threads that have not ended never run again */
        finish(sim);
}

static void record(struct sim *sim, const struct thread *next, size_t n_runnable, const char *what)
{
        uint64_t decision[] = { next->number, n_runnable, (uint64_t)now_ns(sim) };

        sim->report.trace_hash =
                str_hash_seeded(str_make((const char *)decision, sizeof(decision)), sim->report.trace_hash);
        if (sim->options.trace)
                sim->options.trace(sim->options.trace_arg, &(struct sim_step) { .number = sim->report.steps,
                                                                                .now_ns = now_ns(sim) - sim->started_ns,
                                                                                .what = what,
                                                                                .thread = next->name,
                                                                                .n_runnable = n_runnable });
}

/* Chooses the next thread; NULL if the simulation has ended, with success or failure. */
static struct thread *choose(struct sim *sim, const char *what)
{
        struct thread *next;
        size_t n;

        sim->report.steps++;
        if (sim->n_alive == 0) {
                finish(sim);
                return NULL;
        }
        if (sim->report.steps > sim->options.max_steps) {
                fail(sim, ERR_LIMIT, "step limit reached");
                return NULL;
        }
        if (sim->options.step_ns > 0)
                sim_clock_advance(&sim->clock,
                                  (int64_t)random_below(&sim->choices, (uint64_t)sim->options.step_ns + 1));
        n = count_runnable(sim);
        if (n == 0) {
                struct deadline d = earliest_deadline(sim);

                if (deadline_is_none(d)) {
                        fail(sim, ERR_CONFLICT, "deadlock");
                        return NULL;
                }
                sim_clock_advance_to(&sim->clock, d.mono_ns);
                n = count_runnable(sim);
        }
        next = nth_runnable(sim, n > 1 ? random_below(&sim->choices, n) : 0);
        record(sim, next, n, what);
        return next;
}

static void give_turn(struct thread *t)
{
        atomic_store_explicit(&t->has_turn, 1, memory_order_release);
        futex_wake(&t->has_turn);
}

static void await_turn(struct thread *self)
{
        while (!atomic_load_explicit(&self->has_turn, memory_order_acquire))
                futex_wait(&self->has_turn, 0, DEADLINE_NONE);
}

static void pass_turn(struct thread *self, struct thread *next)
{
        if (next == self)
                return;
        atomic_store_explicit(&self->has_turn, 0, memory_order_relaxed);
        if (next) {
                self->sim->report.switches++;
                give_turn(next);
        }
        await_turn(self);
}

static void driver_point(struct thread *self, const char *what)
{
        assert(self->mutexes_held == 0);
        self->has_pending_point = false;
        pass_turn(self, choose(self->sim, what));
}

static void driver_begin(struct thread *self)
{
        await_turn(self);
        clock_use_here(&self->sim->clock);
        random_use_here(&self->sim->system);
}

static void add_thread(struct sim *sim, struct thread *t)
{
        t->number = sim->report.threads++;
        t->wait_until = DEADLINE_NONE;
        vec_push(&sim->threads, t);
        sim->n_alive++;
}

static void driver_started(struct thread *self, struct thread *child)
{
        add_thread(self->sim, child);
        driver_point(self, "thread_start");
}

static void driver_end(struct thread *self)
{
        struct sim *sim = self->sim;
        struct thread *next;

        clock_use_here(NULL);
        random_use_here(NULL);
        self->has_ended = true;
        sim->n_alive--;
        next = choose(sim, "end");
        if (next) {
                sim->report.switches++;
                give_turn(next);
        }
}

static void driver_joined(struct thread *self, struct thread *t)
{
        struct sim *sim = self->sim;
        size_t i = 0;

        assert(t->sim == sim);
        while (sim->threads.p[i] != t)
                i++;
        vec_remove(&sim->threads, i);
}

static void driver_wait(struct thread *self, struct deadline deadline)
{
        self->wait_until = deadline;
        pass_turn(self, choose(self->sim, self->wait_what));
        self->wait_until = DEADLINE_NONE;
}

static void driver_wake(struct thread *t)
{
        struct thread *self = thread_current();

        assert(self->sim ==
               t->sim); /* a thread outside must not unpark a thread inside: the run would not be repeatable */
        if (self->mutexes_held > 0)
                self->has_pending_point = true;
        else
                driver_point(self, "unpark");
}

static const struct park_driver driver = {
        .begin = driver_begin,
        .started = driver_started,
        .end = driver_end,
        .joined = driver_joined,
        .wait = driver_wait,
        .wake = driver_wake,
        .point = driver_point,
};

static struct sim *new_sim(uint64_t seed, const struct sim_options *options)
{
        struct sim *sim = xcalloc(1, sizeof(*sim));

        if (options)
                sim->options = *options;
        if (sim->options.max_steps == 0)
                sim->options.max_steps = DEFAULT_MAX_STEPS;
        if (sim->options.wall.seconds == 0 && sim->options.wall.nanos == 0)
                sim->options.wall.seconds = DEFAULT_WALL_SECONDS;
        random_seed(&sim->choices, seed);
        random_seed(&sim->system, ~seed);
        sim_clock_init(&sim->clock, sim->options.wall);
        sim->started_ns = now_ns(sim);
        sim->report.seed = seed;
        return sim;
}

static void free_sim(struct sim *sim)
{
        vec_done(&sim->threads);
        err_done(&sim->failure);
        free(sim);
}

/* One thread of a simulation runs at a time. On one processor a turn passes to the next thread without waking another processor, which
 * halves the time of a simulation. Threads that are started later inherit the processor. */
static void use_one_processor(cpu_set_t *ret_before)
{
        int here = sched_getcpu();
        cpu_set_t one;

        CPU_ZERO(ret_before);
        if (here < 0 || sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
                return;
        CPU_ZERO(&one);
        CPU_SET((size_t)here, &one);
        sched_setaffinity(0, sizeof(one), &one);
}

static void use_processors(const cpu_set_t *before)
{
        if (CPU_COUNT(before) > 0)
                sched_setaffinity(0, sizeof(*before), before);
}

int sim_run(uint64_t seed, const struct sim_options *options, void (*fn)(void *arg), void *arg,
            struct sim_report *report, struct err *err)
{
        struct sim *sim;
        struct thread *first;
        cpu_set_t processors;
        int r;

        assert(!sim_is_running());
        str_hash(STR(
                "")); /* chooses the hash seed of the process now, so that this does not consume the simulation's randomness */
        sim = new_sim(seed, options);
        use_one_processor(&processors);
        r = thread_start_driven("main", fn, arg, &driver, sim, &first, err);
        if (r < 0) {
                use_processors(&processors);
                free_sim(sim);
                return r;
        }
        add_thread(sim, first);
        give_turn(first);
        while (!atomic_load_explicit(&sim->finished, memory_order_acquire))
                futex_wait(&sim->finished, 0, DEADLINE_NONE);
        use_processors(&processors);
        if (report)
                *report = sim->report;
        if (sim->failure.code < 0)
                return err_move(err, &sim->failure); /* the other fields stay allocated for the stopped threads */
        thread_join(first);
        free_sim(sim);
        return 0;
}

int sim_explore(uint64_t first_seed, uint64_t count, const struct sim_options *options, void (*fn)(void *arg),
                void *arg, struct sim_report *report, struct err *err)
{
        for (uint64_t i = 0; i < count; i++) {
                int r = sim_run(first_seed + i, options, fn, arg, report, err);

                if (r < 0)
                        return r;
        }
        return 0;
}

void sim_fail(const char *format, ...)
{
        struct thread *self = thread_current();
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        if (!self->sim) {
                fprintf(stderr, "%s\n", buf_cstring(&text));
                abort();
        }
        atomic_store_explicit(&self->has_turn, 0, memory_order_relaxed);
        fail(self->sim, ERR_FAILED, buf_cstring(&text));
        await_turn(self);
        abort();
}

void sim_point(const char *what)
{
        struct thread *self = thread_current();

        if (self->driver && self->mutexes_held == 0)
                self->driver->point(self, what);
}

bool sim_is_running(void)
{
        return thread_current()->sim != NULL;
}
