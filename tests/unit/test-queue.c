#include "test.h"

#include "clock.h"
#include "queue.h"
#include "random.h"
#include "sim.h"

#define ITEM(n) ((void *)(uintptr_t)(n))

static void *popped(struct queue *q)
{
        void *item = NULL;

        return queue_try_pop(q, &item, NULL) == 0 ? item : NULL;
}

static struct deadline now(void)
{
        return deadline_after_ms(0);
}

/* --- One thread --- */

TEST(first_in_first_out)
{
        struct queue q;
        void *item = NULL;
        size_t size_bytes;

        queue_init(&q, "test", 1000, 0);
        for (uintptr_t i = 1; i <= 700; i++) { /* the ring grows while it is turned */
                ASSERT_INT(queue_push(&q, ITEM(i), i, now(), NULL), 0);
                if (i % 3 == 0) {
                        ASSERT_INT(queue_pop(&q, &item, &size_bytes, now(), NULL), 0);
                        ASSERT_INT((uintptr_t)item, i / 3);
                        ASSERT_INT(size_bytes, i / 3);
                }
        }
        ASSERT_INT(queue_count(&q), 700 - 233);
        for (uintptr_t i = 234; i <= 700; i++)
                ASSERT_INT((uintptr_t)popped(&q), i);
        ASSERT_INT(queue_count(&q), 0);
        queue_done(&q);
}

TEST(bounded_by_count)
{
        struct queue q;

        queue_init(&q, "test", 2, 0);
        ASSERT_INT(queue_try_push(&q, ITEM(1), SIZE_MAX), 0);
        ASSERT_INT(queue_try_push(&q, ITEM(2), SIZE_MAX), 0);
        ASSERT_INT(queue_try_push(&q, ITEM(3), 0), ERR_TIMEOUT);
        ASSERT_INT(queue_push(&q, ITEM(3), 0, now(), NULL), ERR_TIMEOUT);
        ASSERT_INT((uintptr_t)popped(&q), 1);
        ASSERT_INT(queue_try_push(&q, ITEM(3), 0), 0);
        ASSERT_INT((uintptr_t)popped(&q), 2);
        ASSERT_INT((uintptr_t)popped(&q), 3);
        ASSERT(!popped(&q));
        queue_done(&q);
}

TEST(bounded_by_bytes)
{
        struct queue q;

        queue_init(&q, "test", 10, 100);
        ASSERT_INT(queue_try_push(&q, ITEM(1), 101), ERR_LIMIT);
        ASSERT_INT(queue_push(&q, ITEM(1), SIZE_MAX, DEADLINE_NONE, NULL), ERR_LIMIT);
        ASSERT_INT(queue_try_push(&q, ITEM(1), 60), 0);
        ASSERT_INT(queue_try_push(&q, ITEM(2), 41), ERR_TIMEOUT);
        ASSERT_INT(queue_try_push(&q, ITEM(2), 40), 0);
        ASSERT_INT(queue_try_push(&q, ITEM(3), 0), 0);
        ASSERT_INT(queue_size_bytes(&q), 100);
        ASSERT_INT((uintptr_t)popped(&q), 1);
        ASSERT_INT(queue_size_bytes(&q), 40);
        ASSERT_INT(queue_try_push(&q, ITEM(4), 60), 0);
        ASSERT_INT((uintptr_t)popped(&q), 2);
        ASSERT_INT((uintptr_t)popped(&q), 3);
        ASSERT_INT((uintptr_t)popped(&q), 4);
        ASSERT_INT(queue_size_bytes(&q), 0);
        queue_done(&q);
}

TEST(closed_queues_drain)
{
        struct queue q;
        void *item = ITEM(77);

        queue_init(&q, "test", 10, 0);
        ASSERT_INT(queue_try_push(&q, ITEM(1), 0), 0);
        queue_close(&q);
        queue_close(&q);
        ASSERT_INT(queue_try_push(&q, ITEM(2), 0), ERR_CLOSED);
        ASSERT_INT(queue_push(&q, ITEM(2), 0, DEADLINE_NONE, NULL), ERR_CLOSED);
        ASSERT_INT((uintptr_t)popped(&q), 1);
        ASSERT_INT(queue_try_pop(&q, &item, NULL), ERR_CLOSED);
        ASSERT_INT(queue_pop(&q, &item, NULL, DEADLINE_NONE, NULL), ERR_CLOSED);
        ASSERT_INT((uintptr_t)item, 77);
        queue_done(&q);
}

TEST(timeouts_and_cancels)
{
        _cleanup_cancel_ struct cancel *cancel = cancel_new(NULL);
        struct queue q;
        void *item = ITEM(77);

        queue_init(&q, "test", 1, 0);
        ASSERT_INT(queue_pop(&q, &item, NULL, now(), cancel), ERR_TIMEOUT);
        ASSERT_INT(queue_pop(&q, &item, NULL, deadline_after_ms(1), NULL), ERR_TIMEOUT);
        ASSERT_INT(queue_push(&q, ITEM(1), 0, now(), cancel), 0);
        ASSERT_INT(queue_push(&q, ITEM(2), 0, deadline_after_ms(1), cancel), ERR_TIMEOUT);
        cancel_trigger(cancel, "stop");
        /* Also when there is an item: a worker with a full queue must notice that it shall stop. */
        ASSERT_INT(queue_pop(&q, &item, NULL, DEADLINE_NONE, cancel), ERR_CANCELED);
        ASSERT_INT(queue_push(&q, ITEM(2), 0, DEADLINE_NONE, cancel), ERR_CANCELED);
        ASSERT_INT((uintptr_t)item, 77);
        ASSERT_INT((uintptr_t)popped(&q), 1);
        ASSERT_INT(queue_push(&q, ITEM(2), 0, DEADLINE_NONE, cancel), ERR_CANCELED);
        queue_done(&q);
}

/* --- Real threads, exact accounting --- */

enum { SIDES = 8, PER_PRODUCER = 1500 };

/* Each item is a producer and a number; every one that was pushed must come out once, in its producer's order. */
struct stress {
        struct queue queue;
        _Atomic uint64_t pushed, popped, refused;
        _Atomic uint8_t fate[SIDES][PER_PRODUCER]; /* 1 pushed, 2 popped */
        _Atomic size_t producers_left;
};

struct side {
        struct stress *stress;
        size_t number;
        struct thread *thread;
        struct cancel *parent;
};

/* A wait that ends one way or another: no limit, a short one, or a token that is about to be triggered. */
static int random_wait(struct side *s, struct random *r, struct deadline *ret_deadline, struct cancel **ret_cancel)
{
        int kind = (int)random_below(r, 4);

        *ret_deadline = kind == 1 ? deadline_after_ns((int64_t)random_below(r, 100000)) : DEADLINE_NONE;
        *ret_cancel = kind >= 2 ? cancel_new(s->parent) : NULL;
        return kind;
}

struct canceler {
        struct queue tokens; /* counted tokens, triggered by a thread of their own */
        struct thread *thread;
};

static struct canceler canceler;

static void cancel_all(void *arg)
{
        void *token;

        while (queue_pop(&canceler.tokens, &token, NULL, DEADLINE_NONE, NULL) == 0) {
                cancel_trigger(token, "storm");
                cancel_unref(token);
        }
}

static void let_cancel(struct cancel *cancel, int kind)
{
        if (kind == 3) {
                int r = queue_push(&canceler.tokens, cancel_ref(cancel), 0, DEADLINE_NONE, NULL);

                assert(r == 0);
        }
}

static void produce(void *arg)
{
        struct side *s = arg;
        struct stress *stress = s->stress;
        struct random r;

        random_seed(&r, s->number);
        for (size_t i = 0; i < PER_PRODUCER; i++) {
                struct deadline deadline;
                _cleanup_cancel_ struct cancel *cancel = NULL;
                int kind = random_wait(s, &r, &deadline, &cancel), result;

                let_cancel(cancel, kind);
                atomic_store(&stress->fate[s->number][i], 1);
                result = queue_push(&stress->queue, ITEM(s->number * PER_PRODUCER + i + 1), random_below(&r, 50),
                                    deadline, cancel);
                if (result == 0) {
                        atomic_fetch_add(&stress->pushed, 1);
                } else {
                        assert(result == (kind == 1 ? ERR_TIMEOUT : ERR_CANCELED));
                        atomic_store(&stress->fate[s->number][i], 0);
                        atomic_fetch_add(&stress->refused, 1);
                }
        }
        if (atomic_fetch_sub(&stress->producers_left, 1) == 1)
                queue_close(&stress->queue);
}

static void note_popped(struct stress *stress, void *item, size_t *last_of)
{
        size_t number = (uintptr_t)item - 1, producer = number / PER_PRODUCER, i = number % PER_PRODUCER;
        uint8_t before = atomic_exchange(&stress->fate[producer][i], 2);

        assert(before == 1);
        assert(last_of[producer] < i + 1); /* FIFO, as seen by one consumer */
        last_of[producer] = i + 1;
        atomic_fetch_add(&stress->popped, 1);
}

static void consume(void *arg)
{
        struct side *s = arg;
        size_t last_of[SIDES] = { 0 };
        struct random r;
        int result = 0;

        random_seed(&r, 1000 + s->number);
        while (result != ERR_CLOSED) {
                struct deadline deadline;
                _cleanup_cancel_ struct cancel *cancel = NULL;
                int kind = random_wait(s, &r, &deadline, &cancel);
                void *item;

                let_cancel(cancel, kind);
                result = queue_pop(&s->stress->queue, &item, NULL, deadline, cancel);
                if (result == 0)
                        note_popped(s->stress, item, last_of);
                else
                        assert(result == ERR_CLOSED || result == (kind == 1 ? ERR_TIMEOUT : ERR_CANCELED));
        }
}

TEST(nothing_is_lost_or_doubled)
{
        static struct stress stress;
        struct side sides[2 * SIDES];
        struct cancel *parent = cancel_new(NULL);

        memset(&stress, 0, sizeof(stress));
        stress.producers_left = SIDES;
        queue_init(&stress.queue, "stress", 5, 120);
        queue_init(&canceler.tokens, "tokens", 64, 0);
        ASSERT_INT(thread_start("canceler", cancel_all, NULL, &canceler.thread, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
                sides[i] = (struct side) { .stress = &stress, .number = i / 2, .parent = parent };
                ASSERT_INT(thread_start(i % 2 ? "consumer" : "producer", i % 2 ? consume : produce, &sides[i],
                                        &sides[i].thread, NULL),
                           0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
                thread_join(sides[i].thread);
        queue_close(&canceler.tokens);
        thread_join(canceler.thread);
        ASSERT_INT(stress.pushed + stress.refused, SIDES * PER_PRODUCER);
        ASSERT_INT(stress.popped, stress.pushed);
        ASSERT(stress.pushed > 0 && stress.refused > 0);
        for (size_t p = 0; p < SIDES; p++)
                for (size_t i = 0; i < PER_PRODUCER; i++)
                        ASSERT(stress.fate[p][i] != 1);
        queue_done(&canceler.tokens);
        queue_done(&stress.queue);
        cancel_unref(parent);
}

/* --- Simulated schedules --- */

enum { SIM_PRODUCERS = 3, SIM_CONSUMERS = 3, SIM_ITEMS = 4 };

struct sim_case {
        size_t max_items, max_bytes;
        bool has_timeouts, has_cancels;
        struct queue queue;
        struct cancel *cancel;
        size_t producers_left;
        uint8_t fate[SIM_PRODUCERS * SIM_ITEMS]; /* 1 pushed, 2 popped, 3 refused */
        size_t last_of[SIM_PRODUCERS];           /* popped so far of each, to prove the order */
        size_t next_producer;
};

static struct deadline some_deadline(const struct sim_case *c)
{
        return c->has_timeouts ? deadline_after_ns((int64_t)(random_system_u64() % 400)) : DEADLINE_NONE;
}

static void sim_produce(void *arg)
{
        struct sim_case *c = arg;
        size_t me = c->next_producer++;

        for (size_t i = 0; i < SIM_ITEMS; i++) {
                size_t item = me * SIM_ITEMS + i;
                int r;

                c->fate[item] = 1;
                r = queue_push(&c->queue, ITEM(item + 1), 1 + item % 3, some_deadline(c), c->cancel);
                SIM_ASSERT(r == 0 || (r == ERR_TIMEOUT && c->has_timeouts) || (r == ERR_CANCELED && c->has_cancels));
                if (r < 0) {
                        SIM_ASSERT(c->fate[item] == 1);
                        c->fate[item] = 3;
                }
        }
        if (--c->producers_left == 0)
                queue_close(&c->queue);
}

/* With one consumer the order of popping is the order in the queue; with several, each item comes from the one ahead. */
static void sim_note(struct sim_case *c, void *item)
{
        size_t number = (uintptr_t)item - 1;

        SIM_ASSERT(c->fate[number] == 1);
        c->fate[number] = 2;
}

static void sim_consume(void *arg)
{
        struct sim_case *c = arg;
        size_t last_of[SIM_PRODUCERS] = { 0 };

        for (;;) {
                void *item;
                int r = queue_pop(&c->queue, &item, NULL, some_deadline(c), c->cancel);

                if (r == ERR_CLOSED || r == ERR_CANCELED)
                        break;
                if (r == ERR_TIMEOUT)
                        continue;
                sim_note(c, item);
                SIM_ASSERT(last_of[((uintptr_t)item - 1) / SIM_ITEMS] < (uintptr_t)item);
                last_of[((uintptr_t)item - 1) / SIM_ITEMS] = (uintptr_t)item;
        }
        SIM_ASSERT(c->queue.used_bytes <= c->max_bytes && c->queue.n <= c->max_items);
}

static void sim_queue(void *arg)
{
        struct sim_case *c = arg;
        struct thread *t[SIM_PRODUCERS + SIM_CONSUMERS];
        void *item;

        c->producers_left = SIM_PRODUCERS;
        c->next_producer = 0;
        c->cancel = c->has_cancels ? cancel_new(NULL) : NULL;
        memset(c->fate, 0, sizeof(c->fate));
        queue_init(&c->queue, "sim", c->max_items, c->max_bytes);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                SIM_ASSERT(thread_start(i % 2 ? "consumer" : "producer", i % 2 ? sim_consume : sim_produce, c, &t[i],
                                        NULL) == 0);
        if (c->has_cancels) {
                for (uint64_t i = random_system_u64() % 20; i > 0; i--)
                        thread_yield();
                cancel_trigger(c->cancel, "enough");
        }
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        while (queue_try_pop(&c->queue, &item, NULL) == 0)
                sim_note(c, item);
        for (size_t i = 0; i < ARRAY_SIZE(c->fate); i++)
                SIM_ASSERT(c->fate[i] == 2 || c->fate[i] == 3);
        SIM_ASSERT(c->queue.is_closed);
        queue_done(&c->queue);
        cancel_unref(c->cancel);
}

static void explore(struct sim_case *c, uint64_t count)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_options options = { .step_ns = c->has_timeouts ? 100 : 0 };

        sim_explore(1, count, &options, sim_queue, c, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
}

TEST(no_schedule_loses_an_item)
{
        static const struct sim_case cases[] = {
                { .max_items = 1, .max_bytes = 3 },
                { .max_items = 3, .max_bytes = 4 },
                { .max_items = 2, .max_bytes = 6, .has_timeouts = true },
                { .max_items = 1, .max_bytes = 3, .has_cancels = true },
                { .max_items = 2, .max_bytes = 3, .has_cancels = true, .has_timeouts = true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct sim_case c = cases[i];

                explore(&c, 200);
        }
}

/* --- Waiting threads are served in their order --- */

struct order {
        struct queue queue;
        size_t arrived;    /* threads that wait, one after the other */
        uintptr_t seen[4]; /* what each of them popped, or the order of what they pushed */
};

struct arrival {
        struct order *order;
        size_t number;
        bool pushes;
        struct cancel *cancel;
        int result;
};

static void arrive(void *arg)
{
        struct arrival *a = arg;
        void *item = NULL;

        a->order->arrived++;
        if (a->pushes)
                a->result = queue_push(&a->order->queue, ITEM(a->number + 1), 0, DEADLINE_NONE, a->cancel);
        else
                a->result = queue_pop(&a->order->queue, &item, NULL, DEADLINE_NONE, a->cancel);
        if (a->result == 0 && !a->pushes)
                a->order->seen[a->number] = (uintptr_t)item;
}

static size_t count_waiting(const struct waiters *list)
{
        size_t n = 0;

        for (const struct waiter *w = list->first; w; w = w->next)
                n++;
        return n;
}

/* Starts four threads that wait, in order; the second one is canceled while it waits. */
static void arrive_in_order(struct order *o, struct arrival *a, struct thread **t, bool pushes)
{
        const struct waiters *list = pushes ? &o->queue.pushers : &o->queue.poppers;

        for (size_t i = 0; i < 4; i++) {
                a[i] = (struct arrival) { .order = o, .number = i, .pushes = pushes, .cancel = cancel_new(NULL) };
                SIM_ASSERT(thread_start("arrival", arrive, &a[i], &t[i], NULL) == 0);
                while (count_waiting(list) != i + 1)
                        thread_yield();
        }
        cancel_trigger(a[1].cancel, "changed its mind");
}

static void join_arrivals(struct arrival *a, struct thread **t)
{
        for (size_t i = 0; i < 4; i++) {
                thread_join(t[i]);
                cancel_unref(a[i].cancel);
        }
}

static void pop_in_order(void *arg)
{
        struct order o = { .arrived = 0 };
        struct arrival a[4];
        struct thread *t[4];

        queue_init(&o.queue, "order", 8, 0);
        arrive_in_order(&o, a, t, false);
        for (uintptr_t i = 1; i <= 4; i++)
                SIM_ASSERT(queue_try_push(&o.queue, ITEM(i), 0) == 0);
        join_arrivals(a, t);
        SIM_ASSERT(o.seen[0] == 1);
        if (a[1].result == 0) { /* the item came before the thread could give up */
                SIM_ASSERT(o.seen[1] == 2 && o.seen[2] == 3 && o.seen[3] == 4);
        } else {
                SIM_ASSERT(a[1].result == ERR_CANCELED);
                SIM_ASSERT(o.seen[2] == 2 && o.seen[3] == 3 && (uintptr_t)popped(&o.queue) == 4);
        }
        *(int *)arg |= a[1].result == 0 ? 1 : 2;
        queue_done(&o.queue);
}

static void push_in_order(void *arg)
{
        struct order o = { .arrived = 0 };
        struct arrival a[4];
        struct thread *t[4];
        uintptr_t last = 0;
        void *item;

        queue_init(&o.queue, "order", 1, 0);
        SIM_ASSERT(queue_try_push(&o.queue, ITEM(100), 0) == 0);
        arrive_in_order(&o, a, t, true);
        SIM_ASSERT((uintptr_t)popped(&o.queue) == 100);
        for (size_t i = 0; i < 3; i++) {
                SIM_ASSERT(queue_pop(&o.queue, &item, NULL, DEADLINE_NONE, NULL) == 0);
                SIM_ASSERT((uintptr_t)item > last);
                last = (uintptr_t)item;
        }
        queue_try_pop(&o.queue, &item, NULL);
        join_arrivals(a, t);
        SIM_ASSERT(a[1].result == 0 || a[1].result == ERR_CANCELED);
        *(int *)arg |= a[1].result == 0 ? 1 : 2;
        while (popped(&o.queue))
                ;
        queue_done(&o.queue);
}

TEST(waiting_threads_are_served_in_order)
{
        _cleanup_err_ struct err err = { 0 };
        int outcomes = 0;

        sim_explore(1, 150, NULL, pop_in_order, &outcomes, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
        ASSERT_INT(outcomes, 3); /* both a cancel in time and one that came too late were among the schedules */
        outcomes = 0;
        sim_explore(1, 150, NULL, push_in_order, &outcomes, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
        ASSERT_INT(outcomes, 3);
}

/* The first in line does not fit and gives up; the second, smaller one must not wait for the next pop. */
struct line {
        struct queue queue;
        struct cancel *cancel;
        int big, small;
};

static void push_big(void *arg)
{
        struct line *l = arg;

        l->big = queue_push(&l->queue, ITEM(2), 10, DEADLINE_NONE, l->cancel);
}

static void push_small(void *arg)
{
        struct line *l = arg;

        l->small = queue_push(&l->queue, ITEM(3), 1, DEADLINE_NONE, NULL);
}

static void give_way(void *arg)
{
        struct line l = { .cancel = cancel_new(NULL) };
        struct thread *big, *small;

        queue_init(&l.queue, "line", 10, 10);
        SIM_ASSERT(queue_try_push(&l.queue, ITEM(1), 5) == 0);
        SIM_ASSERT(thread_start("big", push_big, &l, &big, NULL) == 0);
        while (count_waiting(&l.queue.pushers) != 1)
                thread_yield();
        SIM_ASSERT(thread_start("small", push_small, &l, &small, NULL) == 0);
        while (count_waiting(&l.queue.pushers) != 2) /* although it would fit: nobody overtakes */
                thread_yield();
        SIM_ASSERT(queue_try_push(&l.queue, ITEM(4), 1) == ERR_TIMEOUT);
        cancel_trigger(l.cancel, "too big");
        thread_join(small);
        thread_join(big);
        SIM_ASSERT(l.big == ERR_CANCELED && l.small == 0);
        SIM_ASSERT((uintptr_t)popped(&l.queue) == 1 && (uintptr_t)popped(&l.queue) == 3);
        queue_done(&l.queue);
        cancel_unref(l.cancel);
}

TEST(who_gives_up_lets_others_in)
{
        _cleanup_err_ struct err err = { 0 };

        sim_explore(1, 100, NULL, give_way, NULL, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
}

static void push_until_closed(void *arg)
{
        SIM_ASSERT(queue_push(arg, ITEM(2), 0, DEADLINE_NONE, NULL) == ERR_CLOSED);
}

static void pop_until_closed(void *arg)
{
        void *item;
        int r = queue_pop(arg, &item, NULL, DEADLINE_NONE, NULL);

        SIM_ASSERT(r == 0 || r == ERR_CLOSED);
}

static void close_on_waiters(void *arg)
{
        struct queue full, empty;
        struct thread *t[4];

        queue_init(&full, "full", 1, 0);
        queue_init(&empty, "empty", 1, 0);
        SIM_ASSERT(queue_try_push(&full, ITEM(1), 0) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                SIM_ASSERT(thread_start("waiter", i % 2 ? push_until_closed : pop_until_closed, i % 2 ? &full : &empty,
                                        &t[i], NULL) == 0);
        queue_close(&full);
        queue_close(&empty);
        for (size_t i = 0; i < ARRAY_SIZE(t); i++)
                thread_join(t[i]);
        SIM_ASSERT((uintptr_t)popped(&full) == 1);
        queue_done(&full);
        queue_done(&empty);
}

TEST(closing_wakes_all_who_wait)
{
        _cleanup_err_ struct err err = { 0 };

        sim_explore(1, 100, NULL, close_on_waiters, NULL, NULL, &err);
        ASSERT_TEXT(err_message(&err), "no error");
}
