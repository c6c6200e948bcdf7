/* The embedded cluster: versioned objects in this process, with API semantics from the preparation of writes.
 *
 * One sequence of versions counts every committed change. Objects can be found by kind, namespace and name, by owner and by label.
 * A commit publishes one event; all watchers that read the same version of the kind share its bytes. Writes are prepared without
 * the lock, and committed under the lock if nothing they read has changed. Readers take the lock only to find objects, never to
 * decode them.
 *
 * With a log (store-log.h) a commit becomes visible only after the log has stored it. When the caller's deadline passes before
 * that, the write continues, and the caller gets REASON_TIMEOUT: the write may have happened. After the log has failed, all writes
 * fail; reads still work. */
#pragma once

#include "cluster.h"
#include "prepare.h"

struct store;
struct store_log;

struct store_options {
        struct store_log *log; /* outlives the store; NULL: commits are kept only in memory */
        size_t cache_bytes;    /* of decoded forms; 0: a sixteenth of the objects' bytes, from 4 to 64 MiB */
        size_t history_events; /* kept for watches; 0: 100,000 */
        size_t history_bytes;  /* 0: an eighth of the objects' bytes, from 16 to 64 MiB */
        size_t watch_bytes; /* how far a watcher may be behind, or a cursor hold history, before it ends; 0: 16 MiB */
        bool accepts_any_kind;   /* kinds without a CRD are schemaless, and namespaced iff their first object is */
        bool creates_namespaces; /* creates a missing namespace when an object is created in it */
        bool records_writes;     /* keeps every write with its cause, see store_writes */
        /* The strategy of a kind that comes from a CRD: its behaviour beyond the schema. NULL, or a NULL result: none. */
        const struct kind_strategy *(*strategy_of)(const struct value *crd);
        bool starts_later; /* garbage collection and the namespace and CRD controllers begin with store_start */
        bool without_gc;   /* no garbage collection, namespace or CRD controllers: for tests of the rest */
};

/* Creates a store with the namespaces default, kube-system, kube-public and kube-node-lease. With a log that is not empty it is the
 * store that was written there: objects, kinds, the newest version and the history of watches. What follows from commits and was not
 * done yet is done: garbage collection, the deletion of namespaces and CRDs, names of CRDs. store_cluster gives its cluster, for
 * cluster_get and the other calls. */
int store_new(const struct store_options *options, struct store **ret, struct err *err);

/* NULL is fine. The caller ensures that no thread uses the store and that its watches are freed. Decided writes are logged
 * first. */
void store_free(struct store *s);
struct cluster *store_cluster(struct store *s);

/* Ends garbage collection and the namespace and CRD controllers; afterwards only callers' own writes run hooks. Call it before what
 * the hooks use is freed. */
void store_stop(struct store *s);

/* Admission hooks, before the first write. A store with a log may have garbage to collect from the start: with starts_later, hooks
 * see those deletions, too. */
void store_add_hook(struct store *s, const struct admission_hook *hook);

/* With starts_later: begins the store's own work. Call it once. */
int store_start(struct store *s, struct err *err);

/* 0, or the reason why the store takes no more writes: its log has failed. The way out is a restart. */
int store_health(struct store *s, struct err *err);

/* The version of the newest commit. */
uint64_t store_version(struct store *s);

/* Waits until garbage collection and the namespace and CRD controllers have nothing left to do now. They may still wait for
 * finalizers of other controllers, for kinds that are not served, or for the next try of a refused write. */
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

/* The writes with a version above `after` (0: all), pinned to the arena. */
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
