#include "test.h"

#include "clock.h"
#include "limits.h"
#include "park.h"
#include "random.h"
#include "sim.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct deadline past(void)
{
        return deadline_after_ms(0);
}

static struct thread *started(const char *name, void (*fn)(void *arg), void *arg)
{
        struct thread *t;
        int r = thread_start(name, fn, arg, &t, NULL);

        assert(r == 0);
        return t;
}

/* Runs fn in a process of its own, silent; true if it was ended by SIGABRT (or by a sanitizer on its behalf). */
static bool aborts(void (*fn)(void))
{
        int status = 0;
        pid_t child = fork();

        if (child == 0) {
                if (freopen("/dev/null", "w", stderr))
                        fn();
                _exit(0);
        }
        return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

/* --- Deadlines --- */

TEST(deadlines)
{
        struct sim_clock clock;
        struct deadline d;

        sim_clock_init(&clock, (struct instant) { 0 });
        clock_use_here(&clock);
        d = deadline_after_ms(5);
        ASSERT_INT(deadline_remaining_ns(d), 5 * NS_PER_MS);
        ASSERT_INT(deadline_remaining_ms(d), 5);
        ASSERT(!deadline_has_passed(d));
        sim_clock_advance(&clock, 1);
        ASSERT_INT(deadline_remaining_ms(d), 5); /* rounded up, so that nobody wakes too early */
        sim_clock_advance(&clock, 5 * NS_PER_MS - 2);
        ASSERT_INT(deadline_remaining_ns(d), 1);
        ASSERT_INT(deadline_remaining_ms(d), 1);
        ASSERT(!deadline_has_passed(d));
        sim_clock_advance(&clock, 1);
        ASSERT(deadline_has_passed(d));
        sim_clock_advance(&clock, 1);
        ASSERT_INT(deadline_remaining_ns(d), 0);
        ASSERT_INT(deadline_remaining_ms(d), 0);

        ASSERT(deadline_is_none(DEADLINE_NONE) && !deadline_has_passed(DEADLINE_NONE));
        ASSERT_INT(deadline_remaining_ns(DEADLINE_NONE), INT64_MAX);
        ASSERT_INT(deadline_remaining_ms(DEADLINE_NONE), -1);
        ASSERT(deadline_is_none(deadline_after_ms(INT64_MAX)));
        ASSERT(deadline_is_none(deadline_after_ns(INT64_MAX)));
        ASSERT(deadline_has_passed(deadline_after_ms(INT64_MIN)));
        ASSERT(deadline_has_passed(deadline_after_ms(-1)));
        ASSERT_INT(deadline_remaining_ms(deadline_after_ms(1ll << 40)), INT_MAX);

        d = deadline_earliest(deadline_after_ms(2), deadline_after_ms(1));
        ASSERT_INT(deadline_remaining_ms(d), 1);
        ASSERT_INT(deadline_remaining_ms(deadline_earliest(DEADLINE_NONE, d)), 1);
        ASSERT(deadline_is_none(deadline_earliest(DEADLINE_NONE, DEADLINE_NONE)));
        clock_use_here(NULL);
}

/* --- Threads --- */

struct inspection {
        struct thread *self;
        char shown[16];
        bool is_blocked, is_large;
};

static void inspect(void *arg)
{
        struct inspection *i = arg;
        pthread_attr_t attributes;
        size_t stack_bytes = 0;
        sigset_t mask;

        i->self = thread_current();
        pthread_getname_np(pthread_self(), i->shown, sizeof(i->shown));
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        i->is_blocked = sigismember(&mask, SIGTERM) && sigismember(&mask, SIGCHLD);
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstacksize(&attributes, &stack_bytes);
        pthread_attr_destroy(&attributes);
        i->is_large = stack_bytes >= LIMIT_THREAD_STACK_BYTES;
}

TEST(threads_are_named_and_sized)
{
        struct inspection i = { 0 };
        struct thread *t = started("reconcile-worker-17", inspect, &i);

        ASSERT_TEXT(thread_name(t), "reconcile-worker-17");
        thread_join(t);
        ASSERT(i.self == t);
        ASSERT_TEXT(i.shown, "reconcile-worke");
        ASSERT(i.is_blocked);
        ASSERT(i.is_large);
}

static void *note_adopted(void *arg)
{
        struct thread *self = thread_current();

        unpark(self);
        *(int *)arg = park("note_adopted", NULL, DEADLINE_NONE, NULL);
        return NULL;
}

TEST(threads_of_others_can_park)
{
        pthread_t p;
        int result = 1;

        ASSERT(strlen(thread_name(thread_current())) > 0);
        ASSERT(thread_current() == thread_current());
        ASSERT(pthread_create(&p, NULL, note_adopted, &result) == 0);
        ASSERT(pthread_join(p, NULL) == 0);
        ASSERT_INT(result, 0);
}

static void nothing(void *arg)
{
}

/* In a child without the right to start threads; exit status 0 means that all was as promised. */
static void start_without_permission(void)
{
        struct rlimit none = { 0, 0 };
        struct err err = { 0 };
        struct thread *t = NULL;

        if (setrlimit(RLIMIT_NPROC, &none) < 0 || (getuid() == 0 && setuid(65534) < 0))
                _exit(1);
        if (thread_start("late", nothing, NULL, &t, &err) != ERR_SYSTEM || t)
                _exit(2);
        if (strcmp(err_message(&err), "cannot start thread late: Resource temporarily unavailable") != 0)
                _exit(3);
        _exit(0);
}

TEST(starting_can_fail)
{
        ASSERT(!aborts(start_without_permission));
}

/* --- Park and unpark --- */

TEST(a_permit_is_kept_but_only_one)
{
        struct thread *self = thread_current();

        ASSERT_INT(park("test", NULL, past(), NULL), ERR_TIMEOUT);
        unpark(self);
        unpark(self);
        ASSERT_INT(park("test", NULL, DEADLINE_NONE, NULL), 0);
        ASSERT_INT(park("test", NULL, deadline_after_ms(1), NULL), ERR_TIMEOUT);
        unpark(self);
        ASSERT_INT(park("test", NULL, past(), NULL), 0); /* a permit comes before the deadline */
        ASSERT_INT(park("test", NULL, (struct deadline) { -5 }, NULL), ERR_TIMEOUT);
}

/* Two threads that take turns a few thousand times; a lost wake-up would hang. */
struct game {
        _Atomic int turn;
        struct thread *player[2];
        struct completion ready;
};

enum { TURNS = 5000 };

static void play(struct game *g, int me)
{
        for (int i = 0; i < TURNS; i++) {
                while (atomic_load_explicit(&g->turn, memory_order_acquire) != me)
                        park("play", NULL, DEADLINE_NONE, NULL);
                atomic_store_explicit(&g->turn, !me, memory_order_release);
                unpark(g->player[!me]);
        }
}

static void play_second(void *arg)
{
        struct game *g = arg;

        completion_wait(&g->ready, DEADLINE_NONE, NULL);
        play(g, 1);
}

static void run_game(void *arg)
{
        struct game g = { .turn = 0 };

        completion_init(&g.ready, "players");
        g.player[0] = thread_current();
        g.player[1] = started("second", play_second, &g);
        completion_complete(&g.ready);
        play(&g, 0);
        thread_join(g.player[1]);
        completion_done(&g.ready);
}

TEST(no_wakeup_is_lost)
{
        run_game(NULL);
}

static void park_with_mutex(void)
{
        struct mutex m = MUTEX_INIT;

        mutex_lock(&m);
        park("test", NULL, past(), NULL);
}

static void unlock_unlocked(void)
{
        struct mutex m = MUTEX_INIT;

        mutex_unlock(&m);
}

static void sleep_forever(void)
{
        thread_sleep(DEADLINE_NONE, NULL);
}

static void end_with_mutex(void *arg)
{
        mutex_lock(arg);
}

static void leave_mutex_locked(void)
{
        static struct mutex m = MUTEX_INIT;

        thread_join(started("keeper", end_with_mutex, &m));
}

TEST(misuse_aborts)
{
        ASSERT(aborts(park_with_mutex));
        ASSERT(aborts(unlock_unlocked));
        ASSERT(aborts(sleep_forever));
        ASSERT(aborts(leave_mutex_locked));
}

TEST(sleeping)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        int64_t before = clock_mono_ns();

        unpark(thread_current()); /* does not cut it short */
        ASSERT_INT(thread_sleep(deadline_after_ms(2), NULL), 0);
        ASSERT(clock_mono_ns() - before >= 2 * NS_PER_MS);
        thread_yield();
        cancel_trigger(cancel, "wake up");
        ASSERT_INT(thread_sleep(DEADLINE_NONE, cancel), ERR_CANCELED);
}

/* --- Cancel tokens --- */

TEST(triggered_once_with_a_reason)
{
        _cleanup_cancel_ struct cancel *c = cancel_new(NULL);
        _cleanup_err_ struct err err = { 0 };

        ASSERT(!cancel_is_triggered(c) && !cancel_is_triggered(NULL));
        ASSERT_TEXT(cancel_reason(c), "");
        ASSERT_TEXT(cancel_reason(NULL), "");
        ASSERT_INT(cancel_check(c, &err), 0);
        ASSERT_INT(cancel_check(NULL, &err), 0);
        ASSERT_INT(err.code, 0);
        cancel_trigger(c, "lost the %s", "lease");
        cancel_trigger(c, "too late");
        ASSERT(cancel_is_triggered(c));
        ASSERT_TEXT(cancel_reason(c), "lost the lease");
        ASSERT_INT(cancel_check(c, &err), ERR_CANCELED);
        ASSERT_TEXT(err_message(&err), "lost the lease");
        ASSERT_INT(park("test", NULL, DEADLINE_NONE, c), ERR_CANCELED);
        unpark(thread_current());
        ASSERT_INT(park("test", NULL, DEADLINE_NONE, c), ERR_CANCELED);          /* the token comes first ... */
        ASSERT_INT(park("test", NULL, deadline_after_ms(1), NULL), ERR_TIMEOUT); /* ... and the permit is used up */
}

TEST(children_follow_parents)
{
        struct cancel *root = cancel_new(NULL), *left = cancel_new(root), *right = cancel_new(root);
        struct cancel *leaf = cancel_new(left), *late;

        cancel_trigger(left, "left");
        ASSERT(cancel_is_triggered(left) && cancel_is_triggered(leaf));
        ASSERT(!cancel_is_triggered(root) && !cancel_is_triggered(right));
        cancel_trigger(root, "root");
        ASSERT_TEXT(cancel_reason(right), "root");
        ASSERT_TEXT(cancel_reason(leaf), "left"); /* the first reason stays */
        late = cancel_new(leaf);
        ASSERT_TEXT(cancel_reason(late), "left");
        cancel_unref(root); /* children keep it */
        cancel_unref(left);
        cancel_unref(right);
        cancel_unref(leaf);
        ASSERT_TEXT(cancel_reason(late), "left");
        cancel_unref(late);
        cancel_unref(NULL);
}

TEST(children_may_go_first_in_any_order)
{
        struct cancel *root = cancel_new(NULL), *children[5];

        for (size_t gone = 0; gone < ARRAY_SIZE(children); gone++) {
                for (size_t i = 0; i < ARRAY_SIZE(children); i++)
                        children[i] = cancel_new(root);
                cancel_unref(children[gone]);
                for (size_t i = 0; i < ARRAY_SIZE(children); i++)
                        if (i != gone)
                                cancel_unref(children[i]);
        }
        cancel_trigger(root, "nobody there");
        cancel_unref(root);
}

static void park_until_canceled(void *arg)
{
        int r;

        do
                r = park("park_until_canceled", NULL, DEADLINE_NONE, arg);
        while (r == 0);
        assert(r == ERR_CANCELED);
        cancel_unref(arg);
}

TEST(all_parked_threads_wake)
{
        struct cancel *root = cancel_new(NULL);
        struct thread *t[12];

        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                t[i] = started("parked", park_until_canceled, i % 2 ? cancel_ref(root) : cancel_new(root));
        cancel_trigger(root, "all");
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        cancel_unref(root);
}

/* Threads make children of shared tokens, park with them and drop them, while others trigger and replace the parents. */
struct storm {
        struct mutex mutex;
        struct cancel *root; /* replaced each time it is triggered */
        _Atomic bool is_over;
        _Atomic size_t canceled, timed_out;
};

static struct cancel *shared_root(struct storm *s)
{
        struct cancel *c;

        mutex_lock(&s->mutex);
        c = cancel_ref(s->root);
        mutex_unlock(&s->mutex);
        return c;
}

static void weather_storm(void *arg)
{
        struct storm *s = arg;

        for (int64_t i = 0; !atomic_load(&s->is_over); i++) {
                _cleanup_cancel_ struct cancel *root = shared_root(s);
                _cleanup_cancel_ struct cancel *child = cancel_new(root), *leaf = cancel_new(child);
                int r;

                do
                        r = park("weather_storm", NULL, i % 3 ? DEADLINE_NONE : deadline_after_ns(i * 100 % 50000),
                                 leaf);
                while (r == 0);
                if (r == ERR_TIMEOUT)
                        atomic_fetch_add(&s->timed_out, 1);
                else
                        atomic_fetch_add(&s->canceled, strcmp(cancel_reason(leaf), "storm") == 0);
                assert(r == ERR_TIMEOUT || cancel_is_triggered(root));
        }
}

static void raise_storm(void *arg)
{
        struct storm *s = arg;

        while (!atomic_load(&s->is_over)) {
                struct cancel *old;

                mutex_lock(&s->mutex);
                old = s->root;
                s->root = cancel_new(NULL);
                mutex_unlock(&s->mutex);
                cancel_trigger(old, "storm");
                cancel_unref(old);
                thread_yield();
        }
}

TEST(cancel_storm)
{
        struct storm s = { .root = cancel_new(NULL) };
        struct thread *t[8];

        mutex_init(&s.mutex);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                t[i] = started("storm", i < 2 ? raise_storm : weather_storm, &s);
        while (atomic_load(&s.canceled) < 1000 || atomic_load(&s.timed_out) < 50)
                thread_sleep(deadline_after_ms(1), NULL);
        atomic_store(&s.is_over, true);
        for (size_t i = 0; i < 2; i++)
                thread_join(t[i]);
        cancel_trigger(s.root, "storm"); /* whoever took the last token */
        for (size_t i = 2; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        cancel_unref(s.root);
        mutex_done(&s.mutex);
}

TEST(wait_errors)
{
        _cleanup_cancel_ struct cancel *c = cancel_new(NULL);
        _cleanup_err_ struct err err = { 0 };

        cancel_trigger(c, "shutting down");
        ASSERT_INT(wait_error(0, c, "cannot do it", &err), 0);
        ASSERT_INT(err.code, 0);
        ASSERT_INT(wait_error(ERR_TIMEOUT, c, "cannot do it", &err), ERR_TIMEOUT);
        ASSERT_TEXT(err_message(&err), "cannot do it: deadline exceeded");
        ASSERT_INT(wait_error(ERR_CANCELED, c, "cannot do it", &err), ERR_CANCELED);
        ASSERT_TEXT(err_message(&err), "cannot do it: shutting down");
        ASSERT_INT(wait_error(ERR_CLOSED, c, "cannot do it", &err), ERR_CLOSED);
        ASSERT_TEXT(err_message(&err), "cannot do it: closed");
}

/* --- One-shot events --- */

struct answer {
        struct completion completion;
        int value;
};

static void give_answer(void *arg)
{
        struct answer *a = arg;

        a->value = 42;
        completion_complete(&a->completion);
}

/* The completion lives on the stack of the thread that waits and is gone as soon as that returns. */
static _noinline_ void ask(void)
{
        struct answer a = { .value = 0 };
        struct thread *t;

        completion_init(&a.completion, "answer");
        t = started("answer", give_answer, &a);
        ASSERT_INT(completion_wait(&a.completion, DEADLINE_NONE, NULL), 0);
        ASSERT_INT(a.value, 42);
        completion_done(&a.completion);
        memset(&a, 0xff, sizeof(a));
        thread_join(t);
}

TEST(completions)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct completion c;

        completion_init(&c, "test");
        ASSERT(!completion_is_done(&c));
        ASSERT_INT(completion_wait(&c, past(), cancel), ERR_TIMEOUT);
        ASSERT_INT(completion_wait(&c, deadline_after_ms(1), NULL), ERR_TIMEOUT);
        cancel_trigger(cancel, "stop");
        ASSERT_INT(completion_wait(&c, DEADLINE_NONE, cancel), ERR_CANCELED);
        completion_complete(&c);
        ASSERT(completion_is_done(&c));
        ASSERT_INT(completion_wait(&c, DEADLINE_NONE, cancel), 0); /* an answer is not lost to a cancel */
        ASSERT_INT(completion_wait(&c, past(), NULL), 0);
        completion_done(&c);
        for (int i = 0; i < 200; i++)
                ask();
}

enum { WAITERS = 4 };

struct crowd {
        struct completion completion;
        struct cancel *cancel;
        int value;
        int done, canceled, timed_out;
};

static void join_crowd(void *arg)
{
        struct crowd *c = arg;
        struct deadline d =
                random_system_u64() % 2 ? DEADLINE_NONE : deadline_after_ns((int64_t)(random_system_u64() % 500));
        int r = completion_wait(&c->completion, d, c->cancel);

        SIM_ASSERT(r != 0 || c->value == 1);
        SIM_ASSERT(r != ERR_TIMEOUT || deadline_has_passed(d));
        SIM_ASSERT(r != ERR_CANCELED || cancel_is_triggered(c->cancel));
        *(r == 0 ? &c->done : r == ERR_TIMEOUT ? &c->timed_out : &c->canceled) += 1;
}

static void yield_a_little(void)
{
        for (uint64_t i = random_system_u64() % 8; i > 0; i--)
                thread_yield();
}

static void gather_crowd(void *arg)
{
        struct crowd c = { .cancel = cancel_new(NULL) }, *total = arg;
        struct thread *t[WAITERS];

        completion_init(&c.completion, "crowd");
        for (size_t i = 0; i < WAITERS; i++)
                t[i] = started("waiter", join_crowd, &c);
        yield_a_little();
        if (random_system_u64() % 2)
                cancel_trigger(c.cancel, "go home");
        yield_a_little();
        c.value = 1;
        completion_complete(&c.completion);
        for (size_t i = 0; i < WAITERS; i++)
                thread_join(t[i]);
        SIM_ASSERT(c.done + c.canceled + c.timed_out == WAITERS);
        total->done += c.done;
        total->canceled += c.canceled;
        total->timed_out += c.timed_out;
        completion_done(&c.completion);
        cancel_unref(c.cancel);
}

TEST(no_schedule_misses_a_completion)
{
        _cleanup_err_ struct err err = { 0 };
        struct crowd total = { 0 };

        sim_explore(1, 400, &(struct sim_options) { .step_ns = 50 }, gather_crowd, &total, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
        ASSERT(total.done > 100 && total.canceled > 20 && total.timed_out > 20);
}

/* --- Semaphores --- */

TEST(semaphores)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct semaphore s;

        semaphore_init(&s, "test", 2);
        ASSERT_INT(semaphore_acquire(&s, DEADLINE_NONE, cancel), 0);
        ASSERT(semaphore_try_acquire(&s));
        ASSERT(!semaphore_try_acquire(&s));
        ASSERT_INT(semaphore_acquire(&s, past(), cancel), ERR_TIMEOUT);
        ASSERT_INT(semaphore_acquire(&s, deadline_after_ms(1), NULL), ERR_TIMEOUT);
        semaphore_release(&s);
        cancel_trigger(cancel, "stop");
        ASSERT_INT(semaphore_acquire(&s, DEADLINE_NONE, cancel), ERR_CANCELED);
        ASSERT(semaphore_try_acquire(&s));
        semaphore_release(&s);
        semaphore_release(&s);
        semaphore_done(&s);
}

enum { PERMITS = 3, ROUNDS = 400 };

struct traffic {
        struct semaphore semaphore;
        _Atomic int in_flight;
        _Atomic size_t passed, gave_up;
};

static void drive(void *arg)
{
        struct traffic *t = arg;

        for (int i = 0; i < ROUNDS; i++) {
                struct deadline d = i % 3 ? DEADLINE_NONE : deadline_after_ns(i * 97 % 20000);
                int r = semaphore_acquire(&t->semaphore, d, NULL);

                if (r < 0) {
                        assert(r == ERR_TIMEOUT);
                        atomic_fetch_add(&t->gave_up, 1);
                        continue;
                }
                assert(atomic_fetch_add(&t->in_flight, 1) < PERMITS);
                thread_yield();
                atomic_fetch_sub(&t->in_flight, 1);
                atomic_fetch_add(&t->passed, 1);
                semaphore_release(&t->semaphore);
        }
}

TEST(never_more_in_flight_than_permits)
{
        struct traffic traffic = { .in_flight = 0 };
        struct thread *t[8];

        semaphore_init(&traffic.semaphore, "traffic", PERMITS);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                t[i] = started("driver", drive, &traffic);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        ASSERT_INT(traffic.passed + traffic.gave_up, ARRAY_SIZE(t) * ROUNDS);
        ASSERT_INT(traffic.semaphore.free, PERMITS);
        semaphore_done(&traffic.semaphore);
}

/* Threads that come one after the other must be served in that order; some give up while they wait. */
struct line {
        struct semaphore semaphore;
        struct cancel *cancel;
        int in_flight;
        size_t n_arrived, last_served;
        size_t passed, gave_up;
};

static size_t length_of(const struct waiters *list)
{
        size_t n = 0;

        for (const struct waiter *w = list->first; w; w = w->next)
                n++;
        return n;
}

static void stand_in_line(void *arg)
{
        struct line *l = arg;
        size_t me = ++l->n_arrived;
        bool is_patient = random_system_u64() % 3 > 0;
        int r = semaphore_acquire(&l->semaphore, is_patient ? DEADLINE_NONE : deadline_after_ns(30),
                                  is_patient ? NULL : l->cancel);

        if (r < 0) {
                SIM_ASSERT(!is_patient);
                l->gave_up++;
                return;
        }
        SIM_ASSERT(l->in_flight++ < 1);
        SIM_ASSERT(l->last_served < me);
        l->last_served = me;
        thread_yield();
        l->in_flight--;
        l->passed++;
        semaphore_release(&l->semaphore);
}

static void form_line(void *arg)
{
        struct line l = { .cancel = cancel_new(NULL) }, *total = arg;
        struct thread *t[5];

        semaphore_init(&l.semaphore, "line", 0);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
                t[i] = started("customer", stand_in_line, &l);
                while (length_of(&l.semaphore.waiters) + l.gave_up != i + 1)
                        thread_yield();
        }
        if (random_system_u64() % 2)
                cancel_trigger(l.cancel, "closing time");
        semaphore_release(&l.semaphore);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        SIM_ASSERT(l.passed + l.gave_up == ARRAY_SIZE(t));
        SIM_ASSERT(l.semaphore.free == 1); /* a permit granted to one that gave up would be missing */
        total->passed += l.passed;
        total->gave_up += l.gave_up;
        semaphore_done(&l.semaphore);
        cancel_unref(l.cancel);
}

TEST(no_schedule_loses_a_permit)
{
        _cleanup_err_ struct err err = { 0 };
        struct line total = { .passed = 0 };

        sim_explore(1, 400, &(struct sim_options) { .step_ns = 10 }, form_line, &total, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
        ASSERT(total.passed > 200 && total.gave_up > 50);
}

/* --- Cancel tokens in all orders --- */

struct family {
        struct cancel *root;
        int woken;
};

static void live_with_token(void *arg)
{
        struct family *f = arg;
        struct cancel *mine = cancel_new(f->root), *child = cancel_new(mine);
        int r;

        cancel_unref(mine); /* the child keeps it */
        do
                r = park("live_with_token", NULL, DEADLINE_NONE, child);
        while (r == 0);
        SIM_ASSERT(r == ERR_CANCELED && strcmp(cancel_reason(child), "over") == 0);
        f->woken++;
        cancel_unref(child);
}

static void trigger_family(void *arg)
{
        struct family f = { .root = cancel_new(NULL) };
        struct thread *t[4];

        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                t[i] = started("member", live_with_token, &f);
        yield_a_little();
        unpark(t[0]); /* without a reason: it parks again */
        cancel_trigger(f.root, "over");
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        SIM_ASSERT(f.woken == ARRAY_SIZE(t));
        cancel_unref(f.root);
}

TEST(no_schedule_misses_a_cancel)
{
        _cleanup_err_ struct err err = { 0 };

        sim_explore(1, 400, NULL, trigger_family, NULL, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
}
