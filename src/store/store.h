/* The embedded cluster: versioned objects in this process, with API semantics from the write pipeline.
 *
 * One sequence of versions counts every committed change. Objects are found by kind, namespace and name, by owner and by label.
 * A commit publishes one event, whose bytes all watchers share. Writes are prepared outside the lock and committed under it if
 * nothing they read has changed; readers take the lock only to find objects, never to decode them. */
#pragma once

#include "cluster.h"
#include "pipeline.h"

struct store;

struct store_options {
        size_t cache_bytes;      /* of decoded forms; 0: 64 MiB */
        size_t history_events;   /* kept for watches; 0: 100,000 */
        size_t history_bytes;    /* 0: 64 MiB */
        size_t watch_bytes;      /* queued for one watcher before it is cut off; 0: 16 MiB */
        bool accepts_any_kind;   /* kinds without a CRD are schemaless objects, namespaced iff the first of them is */
        bool creates_namespaces; /* a namespace nobody made is made when something is created in it */
        bool records_writes;     /* keep every write with its cause, see store_writes */
        /* What kinds that come from CRDs do beyond their schema; NULL, or a NULL answer: nothing. */
        const struct kind_strategy *(*strategy_of)(struct str group, struct str kind);
        bool without_gc; /* no garbage collection, namespace or CRD controllers: for tests of the rest */
};

/* The result is a cluster: cluster_get(&store->cluster...) by store_cluster. Bootstraps the namespaces default, kube-system,
 * kube-public and kube-node-lease. */
int store_new(const struct store_options *options, struct store **ret, struct err *err);
void store_free(struct store *s); /* NULL is fine; its watches are freed before */
struct cluster *store_cluster(struct store *s);

/* Admission hooks, before the first write. */
void store_add_hook(struct store *s, const struct admission_hook *hook);

/* The version of the newest commit. */
uint64_t store_version(struct store *s);

/* Waits until garbage collection and the namespace and CRD controllers have nothing left to do but to wait: for finalizers that
 * are somebody else's, for kinds that are not served, for another try of what was refused. */
int store_settle(struct store *s, struct run *run, struct err *err);

/* Every write that changed something, in order. */
struct store_write {
        uint64_t version;
        enum write_verb verb;
        struct object_key key;
        struct str subresource;
        struct str manager;
        struct str user;
        struct str cause;
        struct object *before; /* NULL on create */
        struct object *after;  /* NULL when removed */
};

/* Those behind `after` (0: all), pinned to the arena. */
size_t store_writes(struct store *s, uint64_t after, struct arena *a, const struct store_write **ret);

struct store_stats {
        size_t n_objects;
        size_t object_bytes; /* resident, indexes included */
        size_t n_kinds;
        size_t schema_bytes;
        size_t n_watches;
        size_t history_bytes;
};
void store_stats(struct store *s, struct store_stats *ret);
