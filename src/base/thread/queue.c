#include "queue.h"

/* A waiting thread, with the item that it pushes or receives. */
struct queue_waiter {
        struct waiter waiter; /* first member, so that a pointer from the list can be cast */
        struct queue_slot slot;
        int result; /* set by the thread that grants the waiter */
};

void queue_init(struct queue *q, const char *name, size_t max_items, size_t max_bytes)
{
        assert(max_items > 0);
        *q = (struct queue) { .name = name, .max_items = max_items, .max_bytes = max_bytes };
        mutex_init(&q->mutex);
}

void queue_done(struct queue *q)
{
        assert(q->n == 0 && !q->poppers.first && !q->pushers.first);
        mutex_done(&q->mutex);
        free(q->slots);
        q->slots = NULL;
}

static bool has_room(const struct queue *q, size_t size_bytes)
{
        return q->n < q->max_items && (q->max_bytes == 0 || size_bytes <= q->max_bytes - q->used_bytes);
}

static void grow(struct queue *q)
{
        size_t n_slots = MIN(q->max_items, MAX((size_t)8, q->n_slots * 2)), bytes;
        struct queue_slot *slots;

        if (!size_mul(n_slots, sizeof(*slots), &bytes))
                bytes = SIZE_MAX; /* ends the process with a message */
        slots = xmalloc(bytes);
        for (size_t i = 0; i < q->n; i++)
                slots[i] = q->slots[(q->first + i) % q->n_slots];
        free(q->slots);
        q->slots = slots;
        q->n_slots = n_slots;
        q->first = 0;
}

static void put(struct queue *q, struct queue_slot slot)
{
        if (q->n == q->n_slots)
                grow(q);
        q->slots[(q->first + q->n) % q->n_slots] = slot;
        q->n++;
        if (q->max_bytes)
                q->used_bytes += slot.size_bytes;
}

static struct queue_slot take(struct queue *q)
{
        struct queue_slot slot = q->slots[q->first];

        q->first = (q->first + 1) % q->n_slots;
        q->n--;
        if (q->max_bytes)
                q->used_bytes -= slot.size_bytes;
        return slot;
}

static struct queue_waiter *grant(struct waiters *list, int result)
{
        struct waiter *w = waiters_grant(list);
        struct queue_waiter *waiter = w ? CONTAINER_OF(w, struct queue_waiter, waiter) : NULL;

        if (waiter)
                waiter->result = result;
        return waiter;
}

/* Admits the items of waiting pushers, in order, as long as they fit. */
static void admit_pushers(struct queue *q)
{
        while (q->pushers.first) {
                struct queue_waiter *w = CONTAINER_OF(q->pushers.first, struct queue_waiter, waiter);

                if (!has_room(q, w->slot.size_bytes))
                        return;
                put(q, w->slot);
                grant(&q->pushers, 0);
        }
}

/* 0, ERR_CLOSED, ERR_LIMIT, or ERR_TIMEOUT when the caller would have to wait. */
static int push_now(struct queue *q, struct queue_slot slot)
{
        struct queue_waiter *popper;

        if (q->is_closed)
                return ERR_CLOSED;
        if (q->max_bytes && slot.size_bytes > q->max_bytes)
                return ERR_LIMIT;
        if (q->pushers.first || !has_room(q, slot.size_bytes))
                return ERR_TIMEOUT;
        popper = grant(&q->poppers, 0);
        if (popper)
                popper->slot = slot;
        else
                put(q, slot);
        return 0;
}

static int wait_to_push(struct queue *q, struct queue_slot slot, struct deadline deadline, struct cancel *cancel)
{
        struct queue_waiter w = { .slot = slot };
        int r;

        waiters_append(&q->pushers, &w.waiter);
        r = waiters_wait(&q->pushers, &w.waiter, &q->mutex, "queue_push", q->name, deadline, cancel);
        if (r == 0)
                return w.result;
        admit_pushers(q); /* the item of the thread that gave up may have blocked the others */
        return r;
}

int queue_push(struct queue *q, void *item, size_t size_bytes, struct deadline deadline, struct cancel *cancel)
{
        struct queue_slot slot = { item, size_bytes };
        int r;

        if (cancel_is_triggered(cancel))
                return ERR_CANCELED;
        mutex_lock(&q->mutex);
        r = push_now(q, slot);
        if (r == ERR_TIMEOUT)
                r = wait_to_push(q, slot, deadline, cancel);
        mutex_unlock(&q->mutex);
        return r;
}

int queue_try_push(struct queue *q, void *item, size_t size_bytes)
{
        int r;

        mutex_lock(&q->mutex);
        r = push_now(q, (struct queue_slot) { item, size_bytes });
        mutex_unlock(&q->mutex);
        return r;
}

/* 0, ERR_CLOSED, or ERR_TIMEOUT when the caller would have to wait. */
static int pop_now(struct queue *q, struct queue_slot *ret)
{
        if (q->n == 0)
                return q->is_closed ? ERR_CLOSED : ERR_TIMEOUT;
        *ret = take(q);
        admit_pushers(q);
        return 0;
}

static int wait_to_pop(struct queue *q, struct queue_slot *ret, struct deadline deadline, struct cancel *cancel)
{
        struct queue_waiter w = { 0 };
        int r;

        waiters_append(&q->poppers, &w.waiter);
        r = waiters_wait(&q->poppers, &w.waiter, &q->mutex, "queue_pop", q->name, deadline, cancel);
        if (r == 0)
                r = w.result;
        if (r == 0)
                *ret = w.slot;
        return r;
}

static int give_slot(int r, struct queue_slot slot, void **ret_item, size_t *ret_size_bytes)
{
        if (r < 0)
                return r;
        *ret_item = slot.item;
        if (ret_size_bytes)
                *ret_size_bytes = slot.size_bytes;
        return 0;
}

int queue_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes, struct deadline deadline, struct cancel *cancel)
{
        struct queue_slot slot = { 0 };
        int r;

        if (cancel_is_triggered(cancel))
                return ERR_CANCELED;
        mutex_lock(&q->mutex);
        r = pop_now(q, &slot);
        if (r == ERR_TIMEOUT)
                r = wait_to_pop(q, &slot, deadline, cancel);
        mutex_unlock(&q->mutex);
        return give_slot(r, slot, ret_item, ret_size_bytes);
}

int queue_try_pop(struct queue *q, void **ret_item, size_t *ret_size_bytes)
{
        struct queue_slot slot = { 0 };
        int r;

        mutex_lock(&q->mutex);
        r = pop_now(q, &slot);
        mutex_unlock(&q->mutex);
        return give_slot(r, slot, ret_item, ret_size_bytes);
}

void queue_close(struct queue *q)
{
        mutex_lock(&q->mutex);
        q->is_closed = true;
        while (grant(&q->poppers, ERR_CLOSED) || grant(&q->pushers, ERR_CLOSED))
                ;
        mutex_unlock(&q->mutex);
}

size_t queue_count(struct queue *q)
{
        size_t n;

        mutex_lock(&q->mutex);
        n = q->n;
        mutex_unlock(&q->mutex);
        return n;
}

size_t queue_size_bytes(struct queue *q)
{
        size_t n;

        mutex_lock(&q->mutex);
        n = q->used_bytes;
        mutex_unlock(&q->mutex);
        return n;
}
