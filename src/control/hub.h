/* One watch per kind for everybody in this process who wants to know of its changes.
 *
 * A thread reads the watches and calls the subscribers. A watch that ends is begun again. A kind that is not served yet is watched as
 * soon as it is: the hub follows CRDs itself. */
#pragma once

#include "cluster.h"

struct hub;
struct hub_subscription;

struct hub_event {
        enum watch_event_type type; /* ADDED, MODIFIED or DELETED */
        struct object_key key;      /* in the version that is watched */
        uint64_t version;           /* of the change */
        const struct value *object; /* its state; on DELETED the last one. Borrowed for the call */
        bool is_initial; /* the object was there when this watch began; it may not have changed since an earlier watch */
};

/* Called by the hub's thread, one call at a time for the whole hub. They must not block long, and must not call the hub. */
struct hub_subscriber {
        void (*on_event)(void *arg, const struct hub_event *e);
        /* From now on all objects that exist are told as initial events. May be NULL. */
        void (*on_begin)(void *arg);
        /* All objects that exist have been told as initial events; objects that were known before and not told again are gone. May be
         * NULL. */
        void (*on_synced)(void *arg, struct gvk gvk);
        void *arg;
};

/* The hub reads as the user. The cluster must outlive it. */
int hub_new(struct cluster *cluster, const struct user *user, struct hub **ret, struct err *err);

/* No subscription may be left. NULL is fine. */
void hub_free(struct hub *h);

/* Subscribes to all objects of the kind, in all namespaces. Returns once the watch has begun, so that every change after the call is
 * told, or when the kind is not served. wants_initial: existing objects are told first, before the call returns or soon after; a
 * subscriber without it hears of changes alone, and of everything that exists after a watch was lost. */
int hub_subscribe(struct hub *h, struct gvk gvk, bool wants_initial, const struct hub_subscriber *subscriber,
                  struct hub_subscription **ret, struct err *err);

/* After it returns the subscriber is not called. Not from a callback. NULL is fine. */
void hub_unsubscribe(struct hub_subscription *s);

/* Waits until all changes up to now have been told. For tests and for `--once`. */
void hub_settle(struct hub *h);

/* The number of events that were told. */
uint64_t hub_events(const struct hub *h);
