#include "workqueue.h"

#include "clock.h"
#include "meter.h"

#define NEVER            INT64_MAX
#define BACKOFF_FIRST_MS 5
#define BACKOFF_MOST_MS  1000000

enum state {
        IDLE, /* kept only because of its failures */
        READY,
        DELAYED,
        RUNNING,
};

struct workqueue_entry {
        struct work work;
        enum state state;
        unsigned failures;
        int64_t time_ns; /* delayed: when it becomes ready; ready: since when; running: when it runs again, or NEVER */
        uint64_t number; /* delayed: orders equal times */
        size_t i_heap;
        struct workqueue_entry *next; /* ready */
        char key[];
};

void workqueue_lane_init(struct workqueue_lane *lane, struct workqueue *q, const struct workqueue_options *options)
{
        *lane = (struct workqueue_lane) { .queue = q, .options = *options };
        if (lane->options.backoff_first_ms == 0)
                lane->options.backoff_first_ms = BACKOFF_FIRST_MS;
        if (lane->options.backoff_most_ms == 0)
                lane->options.backoff_most_ms = BACKOFF_MOST_MS;
}

void workqueue_init(struct workqueue *q, const struct workqueue_options *options)
{
        *q = (struct workqueue) { .n_heap = 0 };
        mutex_init(&q->mutex);
        workqueue_lane_init(&q->lane, q, options);
}

/* Called without the mutex. */
static void drop_payload(const struct workqueue_lane *lane, void *payload)
{
        if (payload && lane->options.free_payload)
                lane->options.free_payload(payload);
}

static void free_entry(const struct workqueue_lane *lane, struct workqueue_entry *e)
{
        if (!e)
                return;
        drop_payload(lane, e->work.payload);
        free(e);
}

static void free_entries(struct workqueue_lane *lane)
{
        for (const struct map_entry *m = map_first(&lane->entries); m; m = map_next(&lane->entries, m))
                free_entry(lane, m->value);
        map_done(&lane->entries);
}

void workqueue_done(struct workqueue *q)
{
        assert(q->n_running == 0 && !q->takers.first && !q->timekeeper.first && !q->settlers.first);
        free_entries(&q->lane);
        free(q->heap);
        mutex_done(&q->mutex);
}

/* --- The heap --- */

static bool is_before(const struct workqueue_entry *a, const struct workqueue_entry *b)
{
        return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void heap_put(struct workqueue *q, size_t i, struct workqueue_entry *e)
{
        q->heap[i] = e;
        e->i_heap = i;
}

static void sift_up(struct workqueue *q, size_t i, struct workqueue_entry *e)
{
        for (; i > 0 && is_before(e, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
                heap_put(q, i, q->heap[(i - 1) / 2]);
        heap_put(q, i, e);
}

static void sift_down(struct workqueue *q, size_t i, struct workqueue_entry *e)
{
        for (size_t child; (child = 2 * i + 1) < q->n_heap; i = child) {
                if (child + 1 < q->n_heap && is_before(q->heap[child + 1], q->heap[child]))
                        child++;
                if (!is_before(q->heap[child], e))
                        break;
                heap_put(q, i, q->heap[child]);
        }
        heap_put(q, i, e);
}

static void heap_add(struct workqueue *q, struct workqueue_entry *e)
{
        if (q->n_heap == q->heap_capacity) {
                q->heap_capacity = MAX((size_t)16, 2 * q->heap_capacity);
                q->heap = xrealloc(q->heap, q->heap_capacity * sizeof(*q->heap));
        }
        sift_up(q, q->n_heap++, e);
}

static void heap_remove(struct workqueue *q, struct workqueue_entry *e)
{
        struct workqueue_entry *last = q->heap[--q->n_heap];

        if (last == e)
                return;
        if (is_before(last, e))
                sift_up(q, e->i_heap, last);
        else
                sift_down(q, e->i_heap, last);
}

/* --- States --- */

/* Prefers a taker that waits only for keys, so that the timekeeper goes on waiting for the heap's earliest time. */
static void wake_taker(struct workqueue *q)
{
        if (!waiters_grant(&q->takers))
                waiters_grant(&q->timekeeper);
}

static void append_lane(struct workqueue *q, struct workqueue_lane *lane)
{
        lane->next = NULL;
        *(q->first ? &q->last->next : &q->first) = lane;
        q->last = lane;
}

static void count_ready(struct workqueue_lane *lane, double n)
{
        const struct workqueue_meters *m = &lane->options.meters;

        meter_add(m->depth, n, m->labels);
}

static void make_ready(struct workqueue *q, struct workqueue_entry *e)
{
        struct workqueue_lane *lane = e->work.lane;

        meter_add(lane->options.meters.adds, 1, lane->options.meters.labels);
        count_ready(lane, 1);
        e->state = READY;
        e->time_ns = clock_mono_ns();
        e->next = NULL;
        if (!lane->first)
                append_lane(q, lane);
        *(lane->first ? &lane->last->next : &lane->first) = e;
        lane->last = e;
        q->n_ready++;
        wake_taker(q);
}

static void make_delayed(struct workqueue *q, struct workqueue_entry *e, int64_t time_ns)
{
        e->state = DELAYED;
        e->time_ns = time_ns;
        e->number = q->n_added++;
        heap_add(q, e);
        if (q->heap[0] == e && !waiters_grant(&q->timekeeper))
                waiters_grant(&q->takers); /* this taker becomes the timekeeper */
}

/* Schedules the entry at the time, or earlier if it is already scheduled earlier; 0 means now. */
static void schedule(struct workqueue *q, struct workqueue_entry *e, int64_t time_ns)
{
        switch (e->state) {
        case READY:
                return;
        case RUNNING:
                e->time_ns = MIN(e->time_ns, time_ns);
                return;
        case DELAYED:
                if (e->time_ns <= time_ns)
                        return;
                heap_remove(q, e);
                break;
        case IDLE:
                break;
        }
        if (time_ns == 0)
                make_ready(q, e);
        else
                make_delayed(q, e, time_ns);
}

static void resume_delayed(struct workqueue *q)
{
        while (q->n_heap && deadline_has_passed((struct deadline) { q->heap[0]->time_ns })) {
                struct workqueue_entry *e = q->heap[0];

                heap_remove(q, e);
                make_ready(q, e);
        }
}

/* --- Adding --- */

static struct workqueue_entry *new_entry(struct workqueue_lane *lane, struct str key, void *payload)
{
        struct workqueue_entry *e = xcalloc(1, sizeof(*e) + key.n);

        if (key.n)
                memcpy(e->key, key.p, key.n);
        e->work = (struct work) { .lane = lane, .key = str_make(e->key, key.n), .payload = payload };
        return e;
}

/* The key's entry; creates it if there is none. *payload becomes NULL if the entry takes it over. */
static struct workqueue_entry *entry_for(struct workqueue_lane *lane, struct str key, void **payload)
{
        struct workqueue_entry *e = map_get(&lane->entries, key);

        if (!e) {
                e = new_entry(lane, key, TAKE(*payload));
                map_add(&lane->entries, e->work.key, e);
        }
        return e;
}

static int64_t backoff_ms(const struct workqueue_lane *lane, unsigned failures)
{
        int64_t ms = lane->options.backoff_first_ms;

        for (unsigned i = 1; i < failures && ms < lane->options.backoff_most_ms; i++)
                ms *= 2;
        return MIN(ms, lane->options.backoff_most_ms);
}

static int64_t time_after_ms(int64_t ms)
{
        return ms <= 0 ? 0 : MIN(deadline_after_ms(ms).mono_ns, NEVER - 1);
}

#define BACKOFF (-1)

/* Adds the key after delay_ms, or after its backoff. Returns its failures. */
static unsigned add(struct workqueue_lane *lane, struct str key, void *payload, int64_t delay_ms, bool is_failure)
{
        struct workqueue *q = lane->queue;
        unsigned failures = 0;

        mutex_lock(&q->mutex);
        if (!q->is_closed && !lane->is_closed) {
                struct workqueue_entry *e = entry_for(lane, key, &payload);

                failures = e->failures += is_failure;
                schedule(q, e, time_after_ms(delay_ms == BACKOFF ? backoff_ms(lane, failures) : delay_ms));
        }
        mutex_unlock(&q->mutex);
        drop_payload(lane, payload);
        return failures;
}

void workqueue_lane_add(struct workqueue_lane *lane, struct str key, void *payload)
{
        add(lane, key, payload, 0, false);
}

void workqueue_add(struct workqueue *q, struct str key, void *payload)
{
        workqueue_lane_add(&q->lane, key, payload);
}

void workqueue_lane_add_after(struct workqueue_lane *lane, struct str key, void *payload, int64_t delay_ms)
{
        add(lane, key, payload, MAX(delay_ms, (int64_t)0), false);
}

void workqueue_add_after(struct workqueue *q, struct str key, void *payload, int64_t delay_ms)
{
        workqueue_lane_add_after(&q->lane, key, payload, delay_ms);
}

unsigned workqueue_lane_add_after_failure(struct workqueue_lane *lane, struct str key, void *payload)
{
        return add(lane, key, payload, BACKOFF, true);
}

unsigned workqueue_add_after_failure(struct workqueue *q, struct str key, void *payload)
{
        return workqueue_lane_add_after_failure(&q->lane, key, payload);
}

unsigned workqueue_add_failed(struct workqueue *q, struct str key, void *payload)
{
        return add(&q->lane, key, payload, 0, true);
}

void workqueue_lane_forget(struct workqueue_lane *lane, struct str key)
{
        struct workqueue_entry *e, *gone = NULL;

        mutex_lock(&lane->queue->mutex);
        e = map_get(&lane->entries, key);
        if (e) {
                e->failures = 0;
                if (e->state == IDLE)
                        gone = map_remove(&lane->entries, key);
        }
        mutex_unlock(&lane->queue->mutex);
        free_entry(lane, gone);
}

void workqueue_forget(struct workqueue *q, struct str key)
{
        workqueue_lane_forget(&q->lane, key);
}

unsigned workqueue_failures(struct workqueue *q, struct str key)
{
        const struct workqueue_entry *e;
        unsigned failures;

        mutex_lock(&q->mutex);
        e = map_get(&q->lane.entries, key);
        failures = e ? e->failures : 0;
        mutex_unlock(&q->mutex);
        return failures;
}

/* --- Taking --- */

static struct work *take_first(struct workqueue *q)
{
        struct workqueue_lane *lane = q->first;
        struct workqueue_entry *e = lane->first;

        lane->first = e->next;
        q->first = lane->next;
        if (lane->first)
                append_lane(q, lane);
        q->n_ready--;
        q->n_running++;
        lane->n_running++;
        count_ready(lane, -1);
        meter_observe(lane->options.meters.waiting, clock_mono_ns() - e->time_ns, lane->options.meters.labels);
        e->state = RUNNING;
        e->time_ns = NEVER;
        e->work.failures = e->failures;
        return &e->work;
}

/* Waits until the caller should check the queue again, or until its deadline. */
static int wait_for_keys(struct workqueue *q, struct deadline deadline, struct cancel *cancel)
{
        bool keeps_time = !q->timekeeper.first;
        struct waiters *list = keeps_time ? &q->timekeeper : &q->takers;
        struct deadline until = deadline;
        struct waiter w;
        int r;

        if (keeps_time && q->n_heap)
                until = deadline_earliest(until, (struct deadline) { q->heap[0]->time_ns });
        waiters_append(list, &w);
        r = waiters_wait(list, &w, &q->mutex, "workqueue_take", q->lane.options.name, until, cancel);
        return r == ERR_TIMEOUT && !deadline_has_passed(deadline) ? 0 : r;
}

/* Wakes another taker if this one leaves a ready key behind, or if it was the timekeeper and the heap is not empty. */
static void hand_over(struct workqueue *q, bool has_taken)
{
        if ((q->first && !has_taken) || (q->n_heap && !q->timekeeper.first))
                wake_taker(q);
}

int workqueue_take(struct workqueue *q, struct work **ret, struct deadline deadline, struct cancel *cancel)
{
        int r = 0;

        mutex_lock(&q->mutex);
        for (;;) {
                resume_delayed(q);
                if (q->is_closed)
                        r = ERR_CLOSED;
                else if (cancel_is_triggered(cancel))
                        r = ERR_CANCELED;
                if (r < 0 || q->first)
                        break;
                r = wait_for_keys(q, deadline, cancel);
        }
        if (r == ERR_TIMEOUT && q->first)
                r = 0; /* a key became ready at the same moment */
        if (r == 0)
                *ret = take_first(q);
        hand_over(q, r == 0);
        mutex_unlock(&q->mutex);
        return r;
}

/* --- Finishing --- */

static void wake_settlers(struct workqueue *q)
{
        while (waiters_grant(&q->settlers))
                ;
}

static bool is_settled(const struct workqueue *q)
{
        return q->n_ready == 0 && q->n_running == 0;
}

void workqueue_finish(struct workqueue *q, struct work *w)
{
        struct workqueue_entry *e = CONTAINER_OF(w, struct workqueue_entry, work), *gone = NULL;
        struct workqueue_lane *lane = w->lane;
        void (*free_payload)(void *payload);

        mutex_lock(&q->mutex);
        assert(e->state == RUNNING);
        q->n_running--;
        e->state = IDLE;
        if (e->time_ns != NEVER && !lane->is_closed)
                schedule(q, e, deadline_has_passed((struct deadline) { e->time_ns }) ? 0 : e->time_ns);
        else if (e->failures == 0 || lane->is_closed)
                gone = map_remove(&lane->entries, e->work.key);
        if (is_settled(q))
                wake_settlers(q);
        free_payload = lane->options.free_payload;
        if (--lane->n_running == 0)
                waiters_grant(&lane->closers); /* the lane may be gone once the mutex is free */
        mutex_unlock(&q->mutex);
        if (gone && gone->work.payload && free_payload)
                free_payload(gone->work.payload);
        free(gone);
}

/* Takes the lane's ready and delayed keys out of the queue. */
static void empty_lane(struct workqueue *q, struct workqueue_lane *lane)
{
        struct workqueue_lane *previous = NULL;

        for (struct workqueue_lane *l = q->first; lane->first && l; previous = l, l = l->next) {
                if (l != lane)
                        continue;
                *(previous ? &previous->next : &q->first) = l->next;
                if (q->last == l)
                        q->last = previous;
                break;
        }
        for (struct workqueue_entry *e = lane->first; e; e = e->next) {
                e->state = IDLE;
                q->n_ready--;
                count_ready(lane, -1);
        }
        lane->first = NULL;
        for (size_t i = q->n_heap; i-- > 0;)
                if (q->heap[i]->work.lane == lane) {
                        struct workqueue_entry *e = q->heap[i];

                        heap_remove(q, e);
                        e->state = IDLE;
                        i = MIN(i + 1, q->n_heap); /* an entry that was not looked at may be here now */
                }
        if (is_settled(q))
                wake_settlers(q);
}

void workqueue_lane_done(struct workqueue_lane *lane)
{
        struct workqueue *q = lane->queue;

        mutex_lock(&q->mutex);
        lane->is_closed = true;
        empty_lane(q, lane);
        while (lane->n_running > 0) {
                struct waiter w;

                waiters_append(&lane->closers, &w);
                waiters_wait(&lane->closers, &w, &q->mutex, "workqueue_lane_done", q->lane.options.name, DEADLINE_NONE,
                             NULL);
        }
        mutex_unlock(&q->mutex);
        free_entries(lane);
}

bool workqueue_has_taker(struct workqueue *q)
{
        bool has_taker;

        mutex_lock(&q->mutex);
        has_taker = q->takers.first || q->timekeeper.first;
        mutex_unlock(&q->mutex);
        return has_taker;
}

int workqueue_settle(struct workqueue *q, struct deadline deadline, struct cancel *cancel)
{
        int r = 0;

        mutex_lock(&q->mutex);
        resume_delayed(q);
        while (r == 0 && !q->is_closed && !is_settled(q)) {
                struct waiter w;

                waiters_append(&q->settlers, &w);
                r = waiters_wait(&q->settlers, &w, &q->mutex, "workqueue_settle", q->lane.options.name, deadline,
                                 cancel);
        }
        if (q->is_closed)
                r = ERR_CLOSED;
        mutex_unlock(&q->mutex);
        return r;
}

void workqueue_close(struct workqueue *q)
{
        mutex_lock(&q->mutex);
        q->is_closed = true;
        while (waiters_grant(&q->takers))
                ;
        waiters_grant(&q->timekeeper);
        wake_settlers(q);
        mutex_unlock(&q->mutex);
}

struct workqueue_counts workqueue_counts(struct workqueue *q)
{
        struct workqueue_counts counts;

        mutex_lock(&q->mutex);
        counts = (struct workqueue_counts) { q->n_ready, q->n_running, q->n_heap };
        mutex_unlock(&q->mutex);
        return counts;
}
