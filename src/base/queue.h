/* A bounded queue of pointers between any number of threads.
 *
 * Items leave in the order in which they came in, and threads that wait, for an item or for room, are served in the order
 * in which they came: an item is handed to one waiting thread and to no other, so nothing is lost when that thread is
 * canceled or timed out at the same moment; its call then succeeds. The queue never looks at the items; what is still in
 * it belongs to whoever pops it. */
#pragma once

#include "park.h"

struct queue_slot {
        void *item;
        size_t size_bytes;
};

/* Everything is guarded by the mutex. While threads wait to pop the queue is empty; while threads wait to push, the first
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

/* It must be empty, and nobody may be waiting. */
void queue_done(struct queue *q);

/* Waits for room. 0: the queue has the item. Otherwise it stays the caller's: ERR_TIMEOUT, ERR_CANCELED (always with a token
 * that is triggered already), ERR_CLOSED, or ERR_LIMIT if size_bytes is more than max_bytes, so that it would never fit. */
int queue_push(struct queue *q, void *item, size_t size_bytes, struct deadline deadline, struct cancel *cancel);

/* The same without waiting; ERR_TIMEOUT if there is no room now. */
int queue_try_push(struct queue *q, void *item, size_t size_bytes);

/* Waits for an item. 0, ERR_TIMEOUT, ERR_CANCELED (always with a token that is triggered already), or ERR_CLOSED once it is
 * closed and empty. *ret_item is untouched on failure; ret_size_bytes may be NULL. */
int queue_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes, struct deadline deadline,
              struct cancel *cancel);

/* The same without waiting; ERR_TIMEOUT if there is no item now. */
int queue_try_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes);

/* Nothing comes in from now on, and threads that wait for room are refused; what is in it can still be popped. Any number
 * of times. */
void queue_close(struct queue *q);

/* A moment's view, for metrics. */
size_t queue_count(struct queue *q);
size_t queue_size_bytes(struct queue *q);
