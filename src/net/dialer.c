#include "dialer.h"

#include "park.h"

struct dialer {
        _Atomic unsigned references;
        _Atomic unsigned width;
        const struct dialer_ops *ops;
        void *context;
        struct mutex mutex; /* guards the list and the users' is_posted */
        struct dialer_user *users;
};

struct dialer *dialer_new(const struct dialer_ops *ops, void *context)
{
        struct dialer *d = xcalloc(1, sizeof(*d));

        atomic_init(&d->references, 1);
        atomic_init(&d->width, 1);
        d->ops = ops;
        d->context = context;
        mutex_init(&d->mutex);
        return d;
}

struct dialer *dialer_ref(struct dialer *d)
{
        atomic_fetch_add_explicit(&d->references, 1, memory_order_relaxed);
        return d;
}

void dialer_unref(struct dialer *d)
{
        if (!d || atomic_fetch_sub_explicit(&d->references, 1, memory_order_acq_rel) != 1)
                return;
        assert(!d->users);
        if (d->ops->free)
                d->ops->free(d->context);
        mutex_done(&d->mutex);
        free(d);
}

void dialer_set_width(struct dialer *d, unsigned n)
{
        atomic_store(&d->width, n);
}

unsigned dialer_width(const struct dialer *d)
{
        return atomic_load(&d->width);
}

int dialer_dial(struct dialer *d, int *ret_fd, struct err *err)
{
        return d->ops->dial(d->context, ret_fd, err);
}

void dialer_renew(struct dialer *d)
{
        mutex_lock(&d->mutex);
        for (struct dialer_user *u = d->users; u; u = u->next)
                if (!u->is_posted) {
                        u->is_posted = true;
                        loop_post(u->loop, &u->task);
                }
        mutex_unlock(&d->mutex);
}

static void run_task(struct loop_task *t)
{
        struct dialer_user *u = CONTAINER_OF(t, struct dialer_user, task);

        mutex_lock(&u->dialer->mutex);
        u->is_posted = false;
        mutex_unlock(&u->dialer->mutex);
        u->on_renewed(u);
}

void dialer_add_user(struct dialer *d, struct dialer_user *u, struct loop *loop,
                     void (*on_renewed)(struct dialer_user *u))
{
        *u = (struct dialer_user) { .loop = loop, .dialer = d, .on_renewed = on_renewed, .task.run = run_task };
        mutex_lock(&d->mutex);
        u->next = d->users;
        d->users = u;
        mutex_unlock(&d->mutex);
}

bool dialer_remove_user(struct dialer_user *u)
{
        struct dialer_user **at = &u->dialer->users;
        bool is_idle;

        mutex_lock(&u->dialer->mutex);
        while (*at && *at != u)
                at = &(*at)->next;
        if (*at)
                *at = u->next;
        is_idle = !u->is_posted;
        mutex_unlock(&u->dialer->mutex);
        return is_idle;
}
