#include "test.h"

#include "clock.h"
#include "meter.h"
#include "random.h"
#include "sim.h"
#include "vec.h"
#include "workqueue.h"

static struct deadline now(void)
{
        return deadline_after_ms(0);
}

static void init(struct workqueue *q)
{
        static const struct workqueue_options options = { .name = "test",
                                                          .backoff_first_ms = 10,
                                                          .backoff_most_ms = 1000 };

        workqueue_init(q, &options);
}

/* The key that is taken now, or "" when none is ready. */
static struct work *taken(struct workqueue *q)
{
        struct work *w = NULL;
        int r = workqueue_take(q, &w, now(), NULL);

        ASSERT(r == 0 ? w != NULL : r == ERR_TIMEOUT && !w);
        return w;
}

#define ASSERT_TAKES(q, text)                   \
        do {                                    \
                struct work *_w = taken(q);     \
                ASSERT(_w);                     \
                ASSERT_STR(_w->key, STR(text)); \
                workqueue_finish((q), _w);      \
        } while (0)

/* --- One thread --- */

TEST(keys_are_taken_once_and_in_order)
{
        struct workqueue q;
        struct workqueue_counts counts;

        init(&q);
        workqueue_add(&q, STR("b"), NULL);
        workqueue_add(&q, STR("a"), NULL);
        workqueue_add(&q, STR("b"), NULL);
        workqueue_add(&q, STR(""), NULL);
        workqueue_add(&q, STR("a\0b"), NULL);
        counts = workqueue_counts(&q);
        ASSERT_INT(counts.n_ready, 4);
        ASSERT_TAKES(&q, "b");
        ASSERT_TAKES(&q, "a");
        ASSERT_TAKES(&q, "");
        ASSERT_TAKES(&q, "a\0b");
        ASSERT(!taken(&q));
        ASSERT_INT(q.lane.entries.n, 0);
        workqueue_done(&q);
}

TEST(a_key_that_is_added_while_it_is_worked_on_runs_once_more)
{
        struct workqueue q;
        struct work *w;

        init(&q);
        workqueue_add(&q, STR("a"), NULL);
        w = taken(&q);
        workqueue_add(&q, STR("a"), NULL);
        workqueue_add(&q, STR("a"), NULL);
        ASSERT(!taken(&q));
        workqueue_add(&q, STR("b"), NULL);
        workqueue_finish(&q, w);
        ASSERT_TAKES(&q, "b");
        ASSERT_TAKES(&q, "a");
        ASSERT(!taken(&q));
        workqueue_done(&q);
}

TEST(keys_wait_for_their_time)
{
        struct sim_clock clock, *before;
        struct workqueue q;

        sim_clock_init(&clock, (struct instant) { 0 });
        before = clock_use_here(&clock);
        init(&q);
        workqueue_add_after(&q, STR("c"), NULL, 30);
        workqueue_add_after(&q, STR("a"), NULL, 10);
        workqueue_add_after(&q, STR("b"), NULL, 20);
        workqueue_add_after(&q, STR("b2"), NULL, 20);
        ASSERT(!taken(&q));
        sim_clock_advance(&clock, 10 * 1000000);
        ASSERT_TAKES(&q, "a");
        ASSERT(!taken(&q));
        sim_clock_advance(&clock, 25 * 1000000);
        ASSERT_TAKES(&q, "b");
        ASSERT_TAKES(&q, "b2");
        ASSERT_TAKES(&q, "c");
        workqueue_add_after(&q, STR("zero"), NULL, 0);
        workqueue_add_after(&q, STR("negative"), NULL, -5);
        ASSERT_TAKES(&q, "zero");
        ASSERT_TAKES(&q, "negative");
        workqueue_done(&q);
        clock_use_here(before);
}

TEST(the_earliest_time_counts)
{
        struct sim_clock clock, *before;
        struct workqueue q;
        struct work *w;

        sim_clock_init(&clock, (struct instant) { 0 });
        before = clock_use_here(&clock);
        init(&q);
        workqueue_add_after(&q, STR("a"), NULL, 50);
        workqueue_add_after(&q, STR("a"), NULL, 10);
        workqueue_add_after(&q, STR("a"), NULL, 70);
        ASSERT_INT(workqueue_counts(&q).n_delayed, 1);
        sim_clock_advance(&clock, 10 * 1000000);
        w = taken(&q);
        ASSERT(w);
        workqueue_add_after(&q, STR("a"), NULL, 30); /* while it is worked on */
        workqueue_add_after(&q, STR("a"), NULL, 20);
        sim_clock_advance(&clock, 5 * 1000000);
        workqueue_finish(&q, w);
        ASSERT(!taken(&q));
        sim_clock_advance(&clock, 15 * 1000000);
        ASSERT_TAKES(&q, "a");
        workqueue_add_after(&q, STR("a"), NULL, INT64_MAX);
        workqueue_add(&q, STR("a"), NULL); /* now is earlier than later */
        ASSERT_TAKES(&q, "a");
        sim_clock_advance(&clock, 1000 * 1000000);
        ASSERT(!taken(&q));
        workqueue_done(&q);
        clock_use_here(before);
}

TEST(failures_double_the_time_until_they_are_forgotten)
{
        static const int64_t wanted_ms[] = { 10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000 };
        struct sim_clock clock, *before;
        struct workqueue q;

        sim_clock_init(&clock, (struct instant) { 0 });
        before = clock_use_here(&clock);
        init(&q);
        workqueue_add(&q, STR("a"), NULL);
        for (size_t i = 0; i < ARRAY_SIZE(wanted_ms); i++) {
                struct work *w = taken(&q);

                ASSERT(w);
                ASSERT_INT(w->failures, i);
                ASSERT_INT(workqueue_add_after_failure(&q, w->key, NULL), i + 1);
                workqueue_finish(&q, w);
                sim_clock_advance(&clock, wanted_ms[i] * 1000000 - 1);
                ASSERT(!taken(&q));
                sim_clock_advance(&clock, 1);
        }
        ASSERT_INT(workqueue_failures(&q, STR("a")), ARRAY_SIZE(wanted_ms));
        ASSERT_TAKES(&q, "a");
        ASSERT_INT(workqueue_failures(&q, STR("a")), ARRAY_SIZE(wanted_ms)); /* nobody has said that it went well */
        workqueue_forget(&q, STR("a"));
        ASSERT_INT(workqueue_failures(&q, STR("a")), 0);
        ASSERT_INT(q.lane.entries.n, 0);
        ASSERT_INT(workqueue_add_failed(&q, STR("a"), NULL), 1);
        ASSERT_INT(workqueue_add_failed(&q, STR("a"), NULL), 2);
        workqueue_forget(&q, STR("a")); /* its work stays */
        ASSERT_TAKES(&q, "a");
        ASSERT_INT(q.lane.entries.n, 0);
        workqueue_done(&q);
        clock_use_here(before);
}

static size_t n_freed;

static void count_free(void *payload)
{
        n_freed++;
        free(payload);
}

static int *number(int n)
{
        int *p = xmalloc(sizeof(*p));

        *p = n;
        return p;
}

TEST(payloads_belong_to_the_queue)
{
        struct workqueue_options options = { .name = "test", .free_payload = count_free };
        struct workqueue q;
        struct work *w;

        n_freed = 0;
        workqueue_init(&q, &options);
        workqueue_add(&q, STR("a"), number(1));
        workqueue_add(&q, STR("a"), number(2));
        ASSERT_INT(n_freed, 1);
        w = taken(&q);
        ASSERT_INT(*(int *)w->payload, 1);
        workqueue_add(&q, STR("a"), number(3));
        ASSERT_INT(*(int *)w->payload, 1);
        workqueue_finish(&q, w);
        ASSERT_INT(n_freed, 2);
        w = taken(&q);
        ASSERT_INT(*(int *)w->payload, 1);
        workqueue_finish(&q, w);
        ASSERT_INT(n_freed, 3);
        workqueue_add(&q, STR("left"), number(4));
        workqueue_add_after(&q, STR("later"), number(5), 1000);
        workqueue_add_after_failure(&q, STR("failed"), number(6));
        workqueue_close(&q);
        workqueue_add(&q, STR("refused"), number(7));
        ASSERT_INT(n_freed, 4);
        workqueue_done(&q);
        ASSERT_INT(n_freed, 7);
}

TEST(a_closed_queue_gives_nothing)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct workqueue q;
        struct work *w = NULL;

        init(&q);
        workqueue_add(&q, STR("a"), NULL);
        cancel_trigger(cancel, "stop");
        ASSERT_INT(workqueue_take(&q, &w, DEADLINE_NONE, cancel), ERR_CANCELED);
        ASSERT_INT(workqueue_settle(&q, DEADLINE_NONE, cancel), ERR_CANCELED);
        ASSERT_INT(workqueue_settle(&q, now(), NULL), ERR_TIMEOUT);
        workqueue_close(&q);
        workqueue_close(&q);
        ASSERT_INT(workqueue_take(&q, &w, DEADLINE_NONE, NULL), ERR_CLOSED);
        ASSERT_INT(workqueue_settle(&q, DEADLINE_NONE, NULL), ERR_CLOSED);
        ASSERT(!w);
        workqueue_done(&q);
}

/* Against a plain list: what is taken is always the earliest. */
TEST(lanes_take_turns)
{
        static const struct workqueue_options options = { .backoff_first_ms = 20, .backoff_most_ms = 1000 };
        struct workqueue_lane busy, quiet;
        struct workqueue q;
        struct work *w;

        init(&q);
        workqueue_lane_init(&busy, &q, &options);
        workqueue_lane_init(&quiet, &q, &options);
        workqueue_lane_add(&busy, STR("a"), NULL);
        workqueue_lane_add(&busy, STR("b"), NULL);
        workqueue_lane_add(&busy, STR("c"), NULL);
        workqueue_lane_add(&quiet, STR("a"), NULL);
        workqueue_lane_add(&quiet, STR("z"), NULL);
        ASSERT(!workqueue_has_taker(&q));
        ASSERT_TAKES(&q, "a");
        w = taken(&q);
        ASSERT_STR(w->key, STR("a"));
        ASSERT(w->lane == &quiet);
        ASSERT_INT(workqueue_lane_add_after_failure(&quiet, w->key, NULL), 1);
        workqueue_finish(&q, w);
        ASSERT_TAKES(&q, "b");
        ASSERT_TAKES(&q, "z");
        ASSERT_TAKES(&q, "c");
        ASSERT(!taken(&q));
        workqueue_lane_done(&quiet);
        workqueue_lane_done(&busy);
        ASSERT_INT(workqueue_counts(&q).n_delayed, 0);
        workqueue_done(&q);
}

TEST(a_lane_that_ends_takes_its_keys_with_it)
{
        static const struct workqueue_options options = { .backoff_first_ms = 1 };
        struct workqueue_lane first, second;
        struct workqueue q;

        init(&q);
        workqueue_lane_init(&first, &q, &options);
        workqueue_lane_init(&second, &q, &options);
        for (int i = 0; i < 200; i++) {
                char text[16];
                int n = snprintf(text, sizeof(text), "%d", i);

                workqueue_lane_add_after(i % 3 ? &first : &second, str_make(text, (size_t)n), NULL,
                                         3600000 + i * 7919 % 100);
        }
        workqueue_lane_add(&first, STR("x"), NULL);
        workqueue_lane_add(&second, STR("y"), NULL);
        workqueue_add(&q, STR("z"), NULL);
        workqueue_lane_done(&first);
        ASSERT_INT(workqueue_counts(&q).n_delayed, 67);
        ASSERT_TAKES(&q, "y");
        ASSERT_TAKES(&q, "z");
        ASSERT_INT(workqueue_counts(&q).n_ready, 0);
        workqueue_lane_done(&second);
        ASSERT_INT(workqueue_counts(&q).n_delayed, 0);
        workqueue_done(&q);
}

/* As client-go counts: a key that is ready already is no addition; one that is added while it is worked on is, when it is ready. */
TEST(a_lane_counts_its_keys)
{
        static const struct meter_options adds = { "adds", "", METER_COUNTER, { "a", "b" } };
        static const struct meter_options depth = { "depth", "", METER_GAUGE, { "a", "b" } };
        static const struct meter_options waiting = { "waiting", "", METER_HISTOGRAM, { "a", "b" } };
        struct meters *meters = meters_new();
        struct workqueue_options options = { .name = "lane",
                                             .meters = { meters_get(meters, &adds),
                                                         meters_get(meters, &depth),
                                                         meters_get(meters, &waiting),
                                                         { STR("x"), STR("y") } } };
        const struct workqueue_meters *m = &options.meters;
        struct workqueue_lane lane;
        struct workqueue q;
        struct work *w;

        init(&q);
        workqueue_lane_init(&lane, &q, &options);
        workqueue_lane_add(&lane, STR("a"), NULL);
        workqueue_lane_add(&lane, STR("a"), NULL);
        workqueue_lane_add(&lane, STR("b"), NULL);
        workqueue_lane_add_after(&lane, STR("later"), NULL, 1000000);
        ASSERT_INT(meter_value(m->adds, m->labels), 2);
        ASSERT_INT(meter_value(m->depth, m->labels), 2);
        ASSERT_INT(meter_value(m->waiting, m->labels), 0);
        w = taken(&q);
        ASSERT(w);
        ASSERT_INT(meter_value(m->depth, m->labels), 1);
        ASSERT_INT(meter_value(m->waiting, m->labels), 1);
        workqueue_lane_add(&lane, STR("a"), NULL);
        workqueue_finish(&q, w);
        ASSERT_INT(meter_value(m->adds, m->labels), 3);
        ASSERT_INT(meter_value(m->depth, m->labels), 2);
        workqueue_lane_done(&lane);
        ASSERT_INT(meter_value(m->depth, m->labels), 0);
        workqueue_done(&q);
        meters_free(meters);
}

TEST(a_heap_of_many)
{
        struct sim_clock clock, *before;
        struct workqueue q;
        int64_t times[500];
        struct random r;

        sim_clock_init(&clock, (struct instant) { 0 });
        before = clock_use_here(&clock);
        init(&q);
        random_seed(&r, 1);
        for (size_t i = 0; i < ARRAY_SIZE(times); i++)
                times[i] = INT64_MAX; /* it is not asked for */
        for (size_t n = 0; n < 5000; n++) {
                size_t i = random_below(&r, ARRAY_SIZE(times));
                int64_t ms = 1 + (int64_t)random_below(&r, 200);

                workqueue_add_after(&q, str_make((const char *)&i, sizeof(i)), NULL, ms);
                times[i] = MIN(times[i], clock_mono_ns() + ms * 1000000);
                if (n % 7 == 0)
                        sim_clock_advance(&clock, 1000000);
                for (struct work *w; (w = taken(&q)); workqueue_finish(&q, w)) {
                        size_t j;

                        ASSERT_INT(w->key.n, sizeof(j));
                        memcpy(&j, w->key.p, sizeof(j));
                        ASSERT(times[j] <= clock_mono_ns());
                        times[j] = INT64_MAX;
                }
                for (size_t j = 0; n % 100 == 0 && j < ARRAY_SIZE(times); j++)
                        ASSERT(times[j] > clock_mono_ns());
        }
        workqueue_done(&q);
        clock_use_here(before);
}

/* --- Many threads: on real ones and in simulation --- */

enum { KEYS = 5, WORKERS = 3, ADDERS = 3 };

struct crowd {
        struct workqueue queue;
        _Atomic unsigned wanted[KEYS], done[KEYS]; /* how often a key was added; which of those its last run has seen */
        _Atomic unsigned running[KEYS];
        _Atomic unsigned n_runs, n_failures, n_canceled;
        unsigned per_adder;
        struct cancel *cancel; /* of the workers that leave early */
};

#define CHECK(condition)                                                                \
        do {                                                                            \
                bool _holds = (condition);                                              \
                                                                                        \
                if (!_holds && sim_is_running())                                        \
                        sim_fail("%s:%d: %s is false", __FILE__, __LINE__, #condition); \
                assert(_holds);                                                         \
        } while (0)

static size_t number_of(const struct work *w)
{
        CHECK(w->key.n == 1 && (size_t)w->key.p[0] < KEYS);
        return (size_t)w->key.p[0];
}

static void work_on(struct crowd *c, struct work *w)
{
        size_t i = number_of(w);

        CHECK(c->running[i]++ == 0); /* nobody else has this key */
        c->done[i] = c->wanted[i];
        sim_point("work");
        if (c->n_runs++ % 4 == 0) {
                c->n_failures++;
                workqueue_add_after_failure(&c->queue, w->key, NULL);
        } else {
                workqueue_forget(&c->queue, w->key);
        }
        CHECK(c->running[i]-- == 1);
        workqueue_finish(&c->queue, w);
}

static void work(void *arg)
{
        struct crowd *c = arg;
        struct work *w;

        while (workqueue_take(&c->queue, &w, DEADLINE_NONE, NULL) == 0)
                work_on(c, w);
}

/* Waits with deadlines and a token that is triggered in the middle: keys that it was woken for must not get lost. */
static void work_a_little(void *arg)
{
        struct crowd *c = arg;
        int r = 0;

        while (r == 0 || r == ERR_TIMEOUT) {
                struct work *w;

                r = workqueue_take(&c->queue, &w, deadline_after_ms((int64_t)(random_system_u64() % 20)), c->cancel);
                if (r == 0)
                        work_on(c, w);
        }
        c->n_canceled += r == ERR_CANCELED;
}

static void add_some(void *arg)
{
        struct crowd *c = arg;

        for (unsigned n = 0; n < c->per_adder; n++) {
                char key = (char)(random_system_u64() % KEYS);

                c->wanted[(size_t)key]++;
                switch (random_system_u64() % 3) {
                case 0:
                        workqueue_add_after(&c->queue, str_make(&key, 1), NULL, (int64_t)(random_system_u64() % 30));
                        break;
                default:
                        workqueue_add(&c->queue, str_make(&key, 1), NULL);
                        break;
                }
        }
}

static void start(void (*fn)(void *), const char *name, struct crowd *c, struct thread **threads, size_t n)
{
        for (size_t i = 0; i < n; i++)
                CHECK(thread_start(name, fn, c, &threads[i], NULL) == 0);
}

static void join(struct thread **threads, size_t n)
{
        for (size_t i = 0; i < n; i++)
                thread_join(threads[i]);
}

/* Settles until nothing is delayed either: a condition, in simulated time or real. */
static void settle_all(struct crowd *c)
{
        struct workqueue_counts counts;

        do {
                CHECK(workqueue_settle(&c->queue, DEADLINE_NONE, NULL) == 0);
                counts = workqueue_counts(&c->queue);
                if (counts.n_delayed)
                        thread_sleep(deadline_after_ms(1), NULL);
        } while (counts.n_ready || counts.n_running || counts.n_delayed);
}

static void crowd_run(struct crowd *c)
{
        struct thread *workers[WORKERS], *little[2], *adders[ADDERS];

        init(&c->queue);
        c->cancel = cancel_new(NULL);
        start(work, "worker", c, workers, WORKERS);
        start(work_a_little, "guest", c, little, ARRAY_SIZE(little));
        start(add_some, "adder", c, adders, ADDERS);
        thread_yield();
        cancel_trigger(c->cancel, "enough");
        join(adders, ADDERS);
        join(little, ARRAY_SIZE(little));
        settle_all(c);
        for (size_t i = 0; i < KEYS; i++)
                CHECK(c->done[i] == c->wanted[i] && c->running[i] == 0);
        CHECK(c->n_canceled == ARRAY_SIZE(little));
        workqueue_close(&c->queue);
        join(workers, WORKERS);
        workqueue_done(&c->queue);
        cancel_unref(c->cancel);
}

static void schedule(void *arg)
{
        struct crowd c = { .per_adder = 5 };

        crowd_run(&c);
}

TEST(schedules)
{
        _cleanup_err_ struct err err = { 0 };
        const char *text = getenv("WEFT_SCHEDULES");
        uint64_t n = text && *text ? strtoull(text, NULL, 10) : 500;

        if (sim_explore(1, n, NULL, schedule, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

TEST(threads)
{
        static struct crowd c = { .per_adder = 500 };

        crowd_run(&c);
        ASSERT(c.n_runs > 0 && c.n_failures > 0);
}

/* One key that waits for its time wakes one of many takers, not all of them. */
static struct workqueue many_takers;
static unsigned n_parks;

static void count_park(void *arg, const struct sim_step *step)
{
        n_parks += strcmp(step->what, "park") == 0;
}

static void take_until_closed(void *arg)
{
        struct work *w;

        while (workqueue_take(&many_takers, &w, DEADLINE_NONE, NULL) == 0)
                workqueue_finish(&many_takers, w);
}

static void wait_in_a_crowd(void *arg)
{
        struct thread *threads[40];

        init(&many_takers);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                SIM_ASSERT(thread_start("taker", take_until_closed, NULL, &threads[i], NULL) == 0);
        thread_sleep(deadline_after_ms(1), NULL); /* in simulated time that passes when all of them wait */
        n_parks = 0;
        for (int i = 0; i < 10; i++) {
                workqueue_add_after(&many_takers, STR("k"), NULL, 10);
                thread_sleep(deadline_after_ms(20), NULL);
        }
        SIM_ASSERT(n_parks <= 10 * 6);
        workqueue_close(&many_takers);
        join(threads, ARRAY_SIZE(threads));
        workqueue_done(&many_takers);
}

TEST(one_taker_watches_the_time)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_options options = { .trace = count_park };

        if (sim_run(1, &options, wait_in_a_crowd, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}
