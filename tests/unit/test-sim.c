#include "test.h"

#include "buf.h"
#include "clock.h"
#include "park.h"
#include "queue.h"
#include "random.h"
#include "sim.h"

#include <sys/wait.h>
#include <unistd.h>

static void must_start(const char *name, void (*fn)(void *arg), void *arg, struct thread **ret)
{
        SIM_ASSERT(thread_start(name, fn, arg, ret, NULL) == 0);
}

/* --- The schedule --- */

/* Three threads that each write their letter a few times: the text is the schedule. */
struct letters {
        char text[64];
        size_t n;
        char next;
};

static void write_letter(void *arg)
{
        struct letters *l = arg;
        char mine = l->next++;

        for (int i = 0; i < 4; i++) {
                l->text[l->n++] = mine;
                thread_yield();
        }
}

static void write_letters(void *arg)
{
        struct letters *l = arg;
        struct thread *t[3];

        *l = (struct letters) { .next = 'a' };
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                must_start("writer", write_letter, l, &t[i]);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
}

TEST(equal_seeds_give_equal_schedules)
{
        for (uint64_t seed = 0; seed < 50; seed++) {
                struct letters first, again;
                struct sim_report first_report, again_report;

                ASSERT_INT(sim_run(seed, NULL, write_letters, &first, &first_report, NULL), 0);
                ASSERT_INT(sim_run(seed, NULL, write_letters, &again, &again_report, NULL), 0);
                ASSERT_STR(str_make(first.text, first.n), str_make(again.text, again.n));
                ASSERT_INT(first.n, 12);
                ASSERT(memcmp(&first_report, &again_report, sizeof(first_report)) == 0);
                ASSERT_INT(first_report.seed, seed);
                ASSERT_INT(first_report.threads, 4);
                ASSERT(first_report.switches > 0 && first_report.switches <= first_report.steps);
        }
}

TEST(different_seeds_give_different_schedules)
{
        enum { SEEDS = 300 };
        static char seen[SEEDS][16];
        static uint64_t hashes[SEEDS];
        size_t n_seen = 0, n_hashes = 0;

        for (uint64_t seed = 0; seed < SEEDS; seed++) {
                struct letters l;
                struct sim_report report;
                bool is_new = true, is_new_hash = true;

                ASSERT_INT(sim_run(seed, NULL, write_letters, &l, &report, NULL), 0);
                for (size_t i = 0; i < n_seen; i++)
                        is_new &= memcmp(seen[i], l.text, 12) != 0;
                if (is_new)
                        memcpy(seen[n_seen++], l.text, 12);
                for (size_t i = 0; i < n_hashes; i++)
                        is_new_hash &= hashes[i] != report.trace_hash;
                if (is_new_hash)
                        hashes[n_hashes++] = report.trace_hash;
        }
        /* 34650 orders exist; nearly every seed must find another one. */
        ASSERT(n_seen > SEEDS / 2);
        ASSERT(n_hashes >= n_seen);
}

/* --- The same schedule in another process --- */

/* Something of everything: queue, semaphore, cancel, deadlines, randomness. */
struct mix {
        struct queue queue;
        struct semaphore semaphore;
        struct cancel *cancel;
        uint64_t sum;
};

static void mix_produce(void *arg)
{
        struct mix *m = arg;

        for (size_t i = 1; i <= 6; i++) {
                thread_sleep(deadline_after_ms((int64_t)(random_system_u64() % 5)), NULL);
                queue_push(&m->queue, (void *)i, i, deadline_after_ms(3), m->cancel);
        }
}

static void mix_consume(void *arg)
{
        struct mix *m = arg;
        void *item;

        while (queue_pop(&m->queue, &item, NULL, DEADLINE_NONE, m->cancel) == 0) {
                if (semaphore_acquire(&m->semaphore, deadline_after_ms(1), NULL) == 0) {
                        thread_sleep(deadline_after_ms(2), NULL);
                        semaphore_release(&m->semaphore);
                }
                m->sum = m->sum * 31 + (uintptr_t)item + (uint64_t)clock_mono_ns() + (uint64_t)clock_wall().nanos;
        }
}

static void mix_everything(void *arg)
{
        struct mix *m = arg;
        struct thread *t[4];
        void *item;

        *m = (struct mix) { .cancel = cancel_new(NULL) };
        queue_init(&m->queue, "mix", 3, 8);
        semaphore_init(&m->semaphore, "mix", 1);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                must_start("mixer", i % 2 ? mix_consume : mix_produce, m, &t[i]);
        thread_sleep(deadline_after_ms(15), NULL);
        cancel_trigger(m->cancel, "enough");
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        while (queue_try_pop(&m->queue, &item, NULL) == 0)
                m->sum += (uintptr_t)item;
        queue_done(&m->queue);
        semaphore_done(&m->semaphore);
        cancel_unref(m->cancel);
}

static void describe_runs(struct buf *b)
{
        const struct sim_options options = { .step_ns = 50000 };

        for (uint64_t seed = 1; seed <= 30; seed++) {
                struct mix m;
                struct sim_report report;

                ASSERT_INT(sim_run(seed, seed % 2 ? &options : NULL, mix_everything, &m, &report, NULL), 0);
                buf_appendf(b, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIx64 "\n", report.trace_hash,
                            report.steps, report.switches, report.elapsed_ns, m.sum);
        }
}

/* Run by the next test in a process of its own; a test like any other when run directly. */
TEST(runs_to_compare)
{
        const char *fd = getenv("TEST_SIM_FD");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        describe_runs(&b);
        if (fd)
                ASSERT(write(atoi(fd), b.p, b.n) == (ssize_t)b.n);
        ASSERT(b.n > 0);
}

TEST(equal_seeds_give_equal_schedules_in_another_process)
{
        _cleanup_buf_ struct buf here = BUF_INIT(0), there = BUF_INIT(0);
        int fds[2], status;
        char chunk[4096], fd[16];
        ssize_t got;
        pid_t child;

        describe_runs(&here);
        ASSERT(pipe(fds) == 0);
        child = fork();
        ASSERT(child >= 0);
        if (child == 0) {
                snprintf(fd, sizeof(fd), "%d", fds[1]);
                setenv("TEST_SIM_FD", fd, 1);
                if (!freopen("/dev/null", "w", stdout))
                        _exit(126);
                execl("/proc/self/exe", "test-sim", "runs_to_compare", (char *)NULL);
                _exit(127);
        }
        close(fds[1]);
        while ((got = read(fds[0], chunk, sizeof(chunk))) > 0)
                buf_append(&there, chunk, (size_t)got);
        close(fds[0]);
        ASSERT(waitpid(child, &status, 0) == child && status == 0);
        ASSERT_STR(buf_str(&there), buf_str(&here));
}

/* --- Finding bugs --- */

static void add_racily(void *arg)
{
        size_t *counter = arg;

        for (int i = 0; i < 3; i++) {
                size_t seen = *counter;

                sim_point("between read and write");
                *counter = seen + 1;
        }
}

static void lose_an_update(void *arg)
{
        size_t counter = 0;
        struct thread *t[2];

        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                must_start("adder", add_racily, &counter, &t[i]);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        SIM_ASSERT(counter == 6);
}

TEST(a_lost_update_is_found)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        ASSERT_INT(sim_explore(1, 100, NULL, lose_an_update, NULL, &report, &err), ERR_FAILED);
        ASSERT(strstr(err_message(&err), "counter == 6 is false"));
        ASSERT(report.seed < 20);
}

/* A queue with a famous mistake: it wakes one waiter per push only when it was empty before, so that of two quick pushes
 * the second wakes nobody although a second consumer sleeps. */
struct naive_queue {
        struct mutex mutex;
        struct waiters waiters;
        int n;
};

static void naive_push(struct naive_queue *q)
{
        mutex_lock(&q->mutex);
        if (q->n++ == 0)
                waiters_grant(&q->waiters);
        mutex_unlock(&q->mutex);
}

static void naive_pop(void *arg)
{
        struct naive_queue *q = arg;

        mutex_lock(&q->mutex);
        while (q->n == 0) {
                struct waiter w;

                waiters_append(&q->waiters, &w);
                waiters_wait(&q->waiters, &w, &q->mutex, "naive_pop", "naive", DEADLINE_NONE, NULL);
        }
        q->n--;
        mutex_unlock(&q->mutex);
}

static void use_naive_queue(void *arg)
{
        struct naive_queue q = { .n = 0 };
        struct thread *t[2];

        mutex_init(&q.mutex);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                must_start("consumer", naive_pop, &q, &t[i]);
        naive_push(&q);
        naive_push(&q);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        mutex_done(&q.mutex);
}

TEST(a_lost_wakeup_is_found)
{
        _cleanup_err_ struct err err = { 0 }, again = { 0 };
        struct sim_report report, again_report;

        ASSERT_INT(sim_explore(1, 200, NULL, use_naive_queue, NULL, &report, &err), ERR_CONFLICT);
        ASSERT(report.seed <= 50);
        ASSERT(strstr(err_message(&err), "deadlock"));
        ASSERT(strstr(err_message(&err), "consumer waits in naive_pop of naive"));
        ASSERT(strstr(err_message(&err), "main waits in completion_wait of consumer"));
        /* The seed is all that is needed to see it again. */
        ASSERT_INT(sim_run(report.seed, NULL, use_naive_queue, NULL, &again_report, &again), ERR_CONFLICT);
        ASSERT_INT(again_report.trace_hash, report.trace_hash);
        ASSERT_TEXT(err_message(&again), err_message(&err));
}

/* --- Time --- */

static void sleep_for_a_year(void *arg)
{
        int64_t *elapsed_ns = arg, before = clock_mono_ns();
        struct instant wall = clock_wall();

        SIM_ASSERT(thread_sleep(deadline_after_ms(365ll * 24 * 3600 * 1000), NULL) == 0);
        *elapsed_ns = clock_mono_ns() - before;
        SIM_ASSERT(clock_wall().seconds - wall.seconds == 365ll * 24 * 3600);
}

TEST(time_jumps_when_all_wait)
{
        struct sim_report report;
        int64_t elapsed_ns = 0, before = clock_mono_ns();

        ASSERT_INT(sim_run(1, NULL, sleep_for_a_year, &elapsed_ns, &report, NULL), 0);
        ASSERT_INT(elapsed_ns, 365ll * 24 * 3600 * NS_PER_SECOND);
        ASSERT_INT(report.elapsed_ns, elapsed_ns);
        ASSERT(clock_mono_ns() - before < 3600 * NS_PER_SECOND); /* the clock out here is another one */
}

static void note_wall(void *arg)
{
        *(struct instant *)arg = clock_wall();
}

TEST(time_of_day_is_given)
{
        struct instant wall;

        ASSERT_INT(sim_run(1, NULL, note_wall, &wall, NULL, NULL), 0);
        ASSERT_INT(wall.seconds, 1893456000);
        ASSERT_INT(sim_run(1, &(struct sim_options) { .wall = { 1000, 7 } }, note_wall, &wall, NULL, NULL), 0);
        ASSERT_INT(wall.seconds, 1000);
        ASSERT_INT(wall.nanos, 7);
}

struct sleeper {
        struct letters *letters;
        int64_t ms;
};

static void sleep_then_write(void *arg)
{
        struct sleeper *s = arg;

        thread_sleep(deadline_after_ms(s->ms), NULL);
        s->letters->text[s->letters->n++] = (char)('0' + s->ms);
}

static void sleep_in_order(void *arg)
{
        struct letters *l = arg;
        struct sleeper s[4] = { { l, 3 }, { l, 1 }, { l, 4 }, { l, 2 } };
        struct thread *t[4];

        l->n = 0;
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                must_start("sleeper", sleep_then_write, &s[i], &t[i]);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
}

TEST(deadlines_come_in_their_order)
{
        for (uint64_t seed = 0; seed < 100; seed++) {
                struct letters l;
                struct sim_report report;

                ASSERT_INT(sim_run(seed, NULL, sleep_in_order, &l, &report, NULL), 0);
                ASSERT_STR(str_make(l.text, l.n), STR("1234"));
                ASSERT_INT(report.elapsed_ns, 4 * NS_PER_MS);
        }
}

static void count_steps_of_time(void *arg)
{
        struct deadline d = deadline_after_ms(1);
        int *n = arg;

        for (*n = 0; !deadline_has_passed(d); (*n)++)
                thread_yield();
}

TEST(steps_can_take_time)
{
        struct sim_report report;
        int n;

        ASSERT_INT(sim_run(1, &(struct sim_options) { .step_ns = 1000 }, count_steps_of_time, &n, &report, NULL), 0);
        ASSERT(n > 1000 && n < 4000);
        ASSERT(report.elapsed_ns >= NS_PER_MS && report.elapsed_ns < NS_PER_MS + 3000);
}

/* --- Randomness --- */

static void draw(void *arg)
{
        random_system(arg, 20);
}

TEST(system_randomness_follows_the_seed)
{
        unsigned char a[20], b[20], c[20], outside[20];

        ASSERT_INT(sim_run(7, NULL, draw, a, NULL, NULL), 0);
        random_system(outside, sizeof(outside));
        ASSERT_INT(sim_run(7, NULL, draw, b, NULL, NULL), 0);
        ASSERT_INT(sim_run(8, NULL, draw, c, NULL, NULL), 0);
        ASSERT(memcmp(a, b, sizeof(a)) == 0);
        ASSERT(memcmp(a, c, sizeof(a)) != 0);
        ASSERT(memcmp(a, outside, sizeof(a)) != 0);
}

/* --- How it ends --- */

static void wait_forever(void *arg)
{
        struct completion c;

        completion_init(&c, "the end");
        completion_wait(&c, DEADLINE_NONE, NULL);
}

static void park_forever(void *arg)
{
        while (park("park_forever", NULL, DEADLINE_NONE, NULL) == 0)
                ;
}

static void deadlock(void *arg)
{
        struct thread *t;

        must_start("parker", park_forever, NULL, &t);
        wait_forever(NULL);
}

TEST(a_deadlock_names_the_threads)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        ASSERT_INT(sim_run(3, NULL, deadlock, NULL, &report, &err), ERR_CONFLICT);
        ASSERT_STR(str_first(str_from(err_message(&err)), strlen("seed 3: deadlock after ")),
                   STR("seed 3: deadlock after "));
        ASSERT(strstr(err_message(&err), ": main waits in completion_wait of the end; parker waits in park_forever"));
        ASSERT_INT(report.threads, 2);
}

static void end_first(void *arg)
{
        struct thread *t;

        must_start("parker", park_forever, NULL, &t);
}

TEST(a_deadlock_is_found_when_the_first_thread_ends)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(sim_run(3, NULL, end_first, NULL, NULL, &err), ERR_CONFLICT);
        ASSERT(strstr(err_message(&err), "steps: parker waits in park_forever"));
}

static void yield_forever(void *arg)
{
        for (;;)
                thread_yield();
}

TEST(steps_are_limited)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        ASSERT_INT(sim_run(9, &(struct sim_options) { .max_steps = 500 }, yield_forever, NULL, &report, &err),
                   ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "seed 9: step limit reached after 501 steps: main can run");
        ASSERT_INT(report.steps, 501);
}

static void fail_at_once(void *arg)
{
        sim_fail("planet %d is missing", 9);
}

TEST(a_failure_ends_it)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(sim_run(4, NULL, fail_at_once, NULL, NULL, &err), ERR_FAILED);
        ASSERT(strstr(err_message(&err), "seed 4: planet 9 is missing after "));
        ASSERT_INT(sim_run(4, NULL, fail_at_once, NULL, NULL, NULL), ERR_FAILED);
}

TEST(a_failure_outside_aborts)
{
        int status;
        pid_t child = fork();

        ASSERT(child >= 0);
        if (child == 0) {
                if (freopen("/dev/null", "w", stderr))
                        fail_at_once(NULL);
                _exit(0);
        }
        ASSERT(waitpid(child, &status, 0) == child);
        ASSERT(status != 0);
}

static void do_nothing(void *arg)
{
}

TEST(exploring_ends_well)
{
        struct sim_report report;

        ASSERT_INT(sim_explore(10, 5, NULL, do_nothing, NULL, &report, NULL), 0);
        ASSERT_INT(report.seed, 14);
        ASSERT_INT(report.threads, 1);
}

/* --- Inside and outside --- */

static void note_inside(void *arg)
{
        *(bool *)arg = sim_is_running();
}

TEST(threads_know_where_they_are)
{
        bool is_inside = false;

        ASSERT(!sim_is_running());
        sim_point("nothing happens");
        ASSERT_INT(sim_run(1, NULL, note_inside, &is_inside, NULL, NULL), 0);
        ASSERT(is_inside);
}

static void complete_both(void *arg)
{
        struct completion *c = arg;

        completion_wait(&c[0], DEADLINE_NONE, NULL);
        completion_complete(&c[1]);
}

static void signal_outside(void *arg)
{
        completion_complete(arg);
}

/* A thread out here runs on while a simulation runs, and a simulation may wake it. */
TEST(threads_outside_are_not_driven)
{
        struct completion c[2];
        struct thread *t;

        completion_init(&c[0], "from inside");
        completion_init(&c[1], "from outside");
        ASSERT_INT(thread_start("outside", complete_both, c, &t, NULL), 0);
        ASSERT_INT(sim_run(1, NULL, signal_outside, &c[0], NULL, NULL), 0);
        ASSERT_INT(completion_wait(&c[1], DEADLINE_NONE, NULL), 0);
        thread_join(t);
        completion_done(&c[0]);
        completion_done(&c[1]);
}

/* --- Trace --- */

struct trace {
        struct buf text;
        uint64_t steps;
};

static void note_step(void *arg, const struct sim_step *step)
{
        struct trace *trace = arg;

        trace->steps = step->number;
        buf_appendf(&trace->text, "%s>%s ", step->what, step->thread);
        SIM_ASSERT(step->n_runnable >= 1 && step->now_ns >= 0);
}

static void sleep_once(void *arg)
{
        thread_sleep(deadline_after_ms(1), NULL);
}

TEST(steps_can_be_traced)
{
        struct trace trace = { .steps = 0 };
        struct sim_report report;

        ASSERT_INT(sim_run(1, &(struct sim_options) { .trace = note_step, .trace_arg = &trace }, sleep_once, NULL,
                           &report, NULL),
                   0);
        ASSERT_STR(buf_str(&trace.text), STR("thread_sleep>main "));
        ASSERT_INT(report.steps, trace.steps + 1); /* the last step is the end, where nobody goes on */
        buf_done(&trace.text);
}
