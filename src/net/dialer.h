/* Connected sockets that are made in another way than from an address: for peers that only some other code can reach, such as
 * programs in network namespaces of their own. */
#pragma once

#include "err.h"
#include "loop.h"

struct dialer; /* counted; any thread */

struct dialer_ops {
        /* Makes a connected stream socket, which the caller owns. Called by any thread, several at a time; may block for a while. */
        int (*dial)(void *context, int *ret_fd, struct err *err);
        void (*free)(void *context); /* after the last reference; may be NULL */
};

struct dialer *dialer_new(const struct dialer_ops *ops, void *context);
struct dialer *dialer_ref(struct dialer *d);
void dialer_unref(struct dialer *d); /* NULL is fine */

static inline void dialer_unrefp(struct dialer **d)
{
        dialer_unref(*d);
}

int dialer_dial(struct dialer *d, int *ret_fd, struct err *err);

/* How many connections a pool that spreads its requests keeps; 1 at first. The next dialer_renew makes it known. */
void dialer_set_width(struct dialer *d, unsigned n);
unsigned dialer_width(const struct dialer *d);

/* From now on sockets lead to another peer, and the earlier one is about to go: connections take no more requests, finish those that
 * they have, and are replaced. Any thread; does not wait. */
void dialer_renew(struct dialer *d);

/* --- For pools of connections --- */

/* An owner of connections that a dialer made embeds this struct. Loop thread only. */
struct dialer_user {
        struct dialer_user *next;
        struct loop *loop;
        struct loop_task task;
        struct dialer *dialer;
        bool is_posted; /* guarded by the dialer's mutex */
        void (*on_renewed)(struct dialer_user *u);
};

/* on_renewed is called on the loop after each dialer_renew; several may be told as one. */
void dialer_add_user(struct dialer *d, struct dialer_user *u, struct loop *loop,
                     void (*on_renewed)(struct dialer_user *u));

/* No more calls are begun. Returns true when none is under way; otherwise on_renewed is called once more and the user must live until
 * then. May be called again. */
bool dialer_remove_user(struct dialer_user *u);
