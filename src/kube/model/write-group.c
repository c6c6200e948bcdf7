#include "write-group.h"

struct group_promise {
        struct write_promise promise;
        struct write_group *group;
};

/* Under the mutex. */
static void close_one(struct write_group *g)
{
        if (--g->n_open == 0)
                waiters_grant(&g->waiters);
}

static void settle(struct write_promise *p, const struct err *err)
{
        struct write_group *g = CONTAINER_OF(p, struct group_promise, promise)->group;

        mutex_lock(&g->mutex);
        if (err && !g->err.code)
                err_copy(&g->err, err);
        close_one(g);
        mutex_unlock(&g->mutex);
}

void write_group_init(struct write_group *g)
{
        *g = (struct write_group) { 0 };
        mutex_init(&g->mutex);
}

struct write_promise *write_group_promise(struct write_group *g, struct arena *a)
{
        struct group_promise *p = ARENA_NEW(a, struct group_promise);

        *p = (struct group_promise) { .promise.settle = settle, .group = g };
        mutex_lock(&g->mutex);
        g->n_open++;
        mutex_unlock(&g->mutex);
        return &p->promise;
}

void write_group_add(struct write_group *g, struct write_promise *p)
{
        if (p->is_given)
                return;
        mutex_lock(&g->mutex);
        close_one(g);
        mutex_unlock(&g->mutex);
}

int write_group_wait(struct write_group *g, struct err *err)
{
        struct waiter waiter;
        int r = 0;

        mutex_lock(&g->mutex);
        if (g->n_open) {
                waiters_append(&g->waiters, &waiter);
                waiters_wait(&g->waiters, &waiter, &g->mutex, "writes", "group", DEADLINE_NONE, NULL);
        }
        mutex_unlock(&g->mutex);
        if (g->err.code)
                r = err_move(err, &g->err);
        err_done(&g->err);
        mutex_done(&g->mutex);
        return r;
}
