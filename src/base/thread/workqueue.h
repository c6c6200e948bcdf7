/* A work queue by key. Any number of threads may add keys and any number may work on them.
 *
 * A key is in the queue at most once, however often it is added. Only one thread at a time works on a key; a key that is added
 * during that time runs once more afterwards. Ready keys leave the queue in the order in which they became ready. A key that is
 * added with a delay waits in a heap; if it is added several times, the earliest time counts. A failed key comes back after a
 * delay that doubles with each failure, until workqueue_forget is called for the key.
 *
 *      while (workqueue_take(&q, &w, DEADLINE_NONE, cancel) == 0) {
 *              if (reconcile(w->payload) == 0)
 *                      workqueue_forget(&q, w->key);
 *              else
 *                      workqueue_add_after_failure(&q, w->key, NULL);
 *              workqueue_finish(&q, w);
 *      }
 *
 * A queue may have several lanes: keys of different kinds of work for the same threads. Equal keys in different lanes are different
 * keys. Lanes with ready keys take turns, so that many keys of one kind do not delay the others. A queue without lanes of its own has
 * one, which the functions that take only a queue use.
 *
 * Every operation takes at most logarithmic time in the number of delayed keys. */
#pragma once

#include "map.h"
#include "park.h"

struct meter;
struct workqueue;
struct workqueue_entry;
struct workqueue_lane;

/* The work of one thread. It does not change until workqueue_finish. */
struct work {
        struct workqueue_lane *lane;
        struct str key;    /* any bytes */
        void *payload;     /* as given by the first workqueue_add of the key */
        unsigned failures; /* number of failures when the work was taken */
};

/* The meters of a lane; each may be NULL. */
struct workqueue_meters {
        struct meter *adds;    /* COUNTER: keys that became ready */
        struct meter *depth;   /* GAUGE: ready keys */
        struct meter *waiting; /* HISTOGRAM: from ready to taken */
        struct str labels[2];
};

struct workqueue_options {
        const char *name;         /* static, or outlives the queue */
        int64_t backoff_first_ms; /* after the first failure; 0: 5 */
        int64_t backoff_most_ms;  /* 0: 1000 s */
        struct workqueue_meters meters;
        void (*free_payload)(
                void *payload); /* called without a lock, never with NULL; NULL: the queue does not own payloads */
};

/* The queue's mutex guards all fields. */
struct workqueue_lane {
        struct workqueue *queue;
        struct workqueue_options options;
        struct map entries;                   /* by key */
        struct workqueue_entry *first, *last; /* ready */
        struct workqueue_lane *next;          /* with ready keys too */
        size_t n_running;
        bool is_closed;
        struct waiters closers;
};

/* The mutex guards all fields. No thread waits to take a key while a key is ready. */
struct workqueue {
        struct mutex mutex;
        struct workqueue_lane lane;          /* of a queue without lanes of its own */
        struct workqueue_lane *first, *last; /* lanes with ready keys; the first one is next */
        struct workqueue_entry **heap;       /* delayed entries of all lanes; the earliest is at index 0 */
        size_t n_heap;
        size_t heap_capacity;
        size_t n_ready;
        size_t n_running;
        uint64_t n_added; /* additions to the heap so far: orders entries with equal times */
        bool is_closed;
        struct waiters takers;
        struct waiters timekeeper; /* the one taker that also waits for the earliest time of the heap */
        struct waiters settlers;
};

void workqueue_init(struct workqueue *q, const struct workqueue_options *options);

/* No thread may be waiting, and no key may be worked on. Remaining keys are dropped. */
void workqueue_done(struct workqueue *q);

/* Adds a lane. Its name is not used. */
void workqueue_lane_init(struct workqueue_lane *lane, struct workqueue *q, const struct workqueue_options *options);

/* Drops the lane's keys, lets no more in, and waits until no thread works on one of them. Not cancelable: cancel the work itself.
 * Then the lane's memory may be freed. */
void workqueue_lane_done(struct workqueue_lane *lane);

/* Makes the key ready: now, or as soon as the thread that works on it has finished. The key is copied. The queue takes over the
 * payload. If the key has a payload already, that one stays and the new one is freed, because equal keys mean equal work. On a
 * closed queue the call adds nothing. */
void workqueue_lane_add(struct workqueue_lane *lane, struct str key, void *payload);
void workqueue_add(struct workqueue *q, struct str key, void *payload);

/* As workqueue_add, but the key becomes ready after delay_ms. A key that is ready or waits for an earlier time is not changed. */
void workqueue_lane_add_after(struct workqueue_lane *lane, struct str key, void *payload, int64_t delay_ms);
void workqueue_add_after(struct workqueue *q, struct str key, void *payload, int64_t delay_ms);

/* As workqueue_add_after: counts one more failure of the key, and the number of failures decides the delay. Returns that number. */
unsigned workqueue_lane_add_after_failure(struct workqueue_lane *lane, struct str key, void *payload);
unsigned workqueue_add_after_failure(struct workqueue *q, struct str key, void *payload);

/* As workqueue_add_after_failure, but without a delay, for failures that can be retried at once. */
unsigned workqueue_add_failed(struct workqueue *q, struct str key, void *payload);

/* Resets the number of failures of the key to 0. Work that is queued for the key stays queued. */
void workqueue_lane_forget(struct workqueue_lane *lane, struct str key);
void workqueue_forget(struct workqueue *q, struct str key);
unsigned workqueue_failures(struct workqueue *q, struct str key);

/* Waits for a ready key. 0: *ret is the work, and the caller must call workqueue_finish. Otherwise ERR_TIMEOUT, ERR_CANCELED
 * (always if the token is triggered already), or ERR_CLOSED, even if the queue still holds keys. */
int workqueue_take(struct workqueue *q, struct work **ret, struct deadline deadline, struct cancel *cancel);

/* Ends the work, whether it succeeded or failed. *w is freed. The queue keeps an entry for the key while its number of failures
 * is above 0. */
void workqueue_finish(struct workqueue *q, struct work *w);

/* Waits until no key is ready and no key is worked on; delayed keys do not count. 0, ERR_TIMEOUT, ERR_CANCELED or ERR_CLOSED. */
int workqueue_settle(struct workqueue *q, struct deadline deadline, struct cancel *cancel);

/* Closes the queue: from now on no key can be added or taken, and every waiting thread is woken. May be called more than once. */
void workqueue_close(struct workqueue *q);

/* A snapshot for metrics; the numbers may change at once. */
struct workqueue_counts {
        size_t n_ready;
        size_t n_running;
        size_t n_delayed;
};
struct workqueue_counts workqueue_counts(struct workqueue *q);

/* True while a thread waits in workqueue_take, for a pool that keeps one thread ready for the next key. */
bool workqueue_has_taker(struct workqueue *q);
