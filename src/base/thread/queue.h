/* A bounded queue of pointers between any number of threads.
 *
 * Items leave in the order in which they came in. Threads that wait, for an item or for room, are served in order of arrival. An
 * item is handed to exactly one waiting thread. If that thread is canceled or times out at the same moment, its call still
 * succeeds, so that no item is lost. The queue never looks at the items. A thread that pops an item owns it. */
#pragma once

#include "park.h"

struct queue_slot {
        void *item;
        size_t size_bytes;
};

/* The mutex guards all fields. While threads wait to pop, the queue is empty. While threads wait to push, the item of the first
 * of them does not fit. */
struct queue {
        struct mutex mutex;
        const char *name;
        size_t max_items;
        size_t max_bytes;         /* 0: bounded by count alone */
        struct queue_slot *slots; /* a ring that grows up to max_items */
        size_t n_slots;
        size_t first;
        size_t n;
        size_t used_bytes;
        bool is_closed;
        struct waiters poppers;
        struct waiters pushers;
};

/* name: static, or outlives the queue. At least one item fits; max_bytes 0 means that sizes do not count. */
void queue_init(struct queue *q, const char *name, size_t max_items, size_t max_bytes);

/* The queue must be empty, and no thread may be waiting. */
void queue_done(struct queue *q);

/* Waits for room. 0: the queue owns the item. Otherwise the caller still owns it: ERR_TIMEOUT, ERR_CANCELED (always if the token
 * is triggered already), ERR_CLOSED, or ERR_LIMIT if size_bytes is above max_bytes, because such an item never fits. */
int queue_push(struct queue *q, void *item, size_t size_bytes, struct deadline deadline, struct cancel *cancel);

/* As queue_push, but without waiting: ERR_TIMEOUT if there is no room now. */
int queue_try_push(struct queue *q, void *item, size_t size_bytes);

/* Waits for an item. 0, ERR_TIMEOUT, ERR_CANCELED (always if the token is triggered already), or ERR_CLOSED once the queue is
 * closed and empty. *ret_item is untouched on failure; ret_size_bytes may be NULL. */
int queue_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes, struct deadline deadline,
              struct cancel *cancel);

/* As queue_pop, but without waiting: ERR_TIMEOUT if there is no item now. */
int queue_try_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes);

/* Closes the queue: no item can be pushed from now on, and threads that wait for room get ERR_CLOSED. Items in the queue can
 * still be popped. May be called more than once. */
void queue_close(struct queue *q);

/* Snapshots for metrics; the numbers may change at once. */
size_t queue_count(struct queue *q);
size_t queue_size_bytes(struct queue *q);
