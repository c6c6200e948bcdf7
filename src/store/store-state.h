/* What a store is made of. Private to src/store. Everything here is guarded by the store's mutex unless it says otherwise. */
#pragma once

#include "map.h"
#include "owner.h"
#include "store.h"
#include "tree.h"
#include "vec.h"

/* One name of one kind, as long as there is an object of that name or history that speaks of one. */
struct entry {
        struct object *object; /* as it is now; NULL when it is gone */
        struct event *newest;  /* in the history */
        struct table *table;
        uint32_t serial; /* the table's when the object was stored */
        uint8_t marks;   /* enum entry_mark */
        uint32_t n_namespace;
        uint32_t n_key;
        char key[]; /* NAMESPACE/NAME, or NAME */
};

enum entry_mark {
        MARK_DELETING = 1 << 0,
        MARK_FOREGROUND = 1 << 1, /* deleting, and waiting for its dependents */
        MARK_ORPHAN = 1 << 2,     /* deleting, and letting go of them */
};

static inline struct str entry_key(const struct entry *e)
{
        return str_make(e->key, e->n_key);
}

static inline struct str entry_namespace(const struct entry *e)
{
        return str_make(e->key, e->n_namespace);
}

static inline struct str entry_name(const struct entry *e)
{
        return str_skip(entry_key(e), e->n_namespace ? e->n_namespace + 1 : 0);
}

/* One commit. In the history, in its table's list and in its entry's. */
struct event {
        uint64_t version;
        struct entry *entry;
        struct object *before;       /* NULL when it was created */
        struct object *after;        /* when it was removed: the last state, as this version */
        struct event *older, *newer; /* of the entry */
        struct event *next;          /* of the table, or of a list of what is to be freed */
        size_t size_bytes;
        size_t end_bytes;               /* the table's event_bytes behind it */
        uint32_t before_serial, serial; /* the table's when before and after were stored */
        bool is_removed;
};

/* All objects of one kind, whatever their version. */
struct table {
        char *name; /* GROUP/KIND */
        struct str group;
        struct str kind_name;
        struct kind *kind;   /* NULL: not served */
        uint32_t serial;     /* counts kinds: what was stored under an older one is brought up to date when read */
        bool is_terminating; /* its CRD is being deleted */
        bool is_schemaless;  /* nobody has described it */
        struct tree objects;
        size_t n_objects; /* without entries that only history knows */
        struct event *first, *last;
        uint64_t dropped_version; /* of the newest event that is no longer kept */
        size_t event_bytes;       /* of all events ever */
        struct watcher *watchers;
};

struct history {
        struct event **ring; /* by version, the oldest at `first` */
        size_t n_ring;       /* a power of two, or 0 */
        size_t first;
        size_t n;
        size_t n_bytes;
};

/* A version that a reader walks through; its history is kept meanwhile. On the reader's stack. */
struct snapshot {
        uint64_t version;
        struct snapshot *next, *prev;
};

struct write_record {
        struct arena arena; /* owns the texts */
        struct store_write write;
};

struct task {
        char *id; /* the kind of task and what it is about: unique */
        struct task *next;
        int64_t not_before_ns; /* of those that wait for another try */
        unsigned failures;
};

/* What the collector has to do. */
struct work {
        struct map ids; /* of those in the list */
        struct task *first, *last;
        struct task *delayed;   /* by time */
        struct map delayed_ids; /* of those: what is asked for again and again waits once */
        struct map deferred;    /* by id: until another kind is served */
        struct waiters waiters; /* the collector */
        struct waiters settlers;
        bool is_busy;
        bool is_closed;
        struct thread *thread;
};

struct store {
        struct cluster cluster;
        struct store_options options;
        struct object_cache *cache;
        VEC(struct admission_hook) hooks; /* immutable after the first write */

        struct mutex mutex;
        uint64_t version;
        struct map tables;
        struct map crd_names; /* CRD -> the names it has been given, struct accepted */
        struct tree index;    /* uid, owners, labels: hash -> entries */
        struct table *namespaces;
        struct table *crds;
        struct history history;
        struct snapshot *snapshots;
        struct waiters version_waiters;
        struct semaphore naming; /* who decides about names of CRDs; not under the mutex */
        size_t n_objects;
        size_t object_bytes;
        size_t n_foreground; /* entries with that mark */
        size_t n_terminating_namespaces;
        size_t n_watches;
        VEC(struct write_record *) writes;
        struct work work;
};

static inline struct store *store_of(struct cluster *c)
{
        return CONTAINER_OF(c, struct store, cluster);
}

/* --- store-index.c: what an object is found by --- */

/* Everything about an object that a commit needs to know, taken from its value without the lock. */
struct facts {
        uint64_t *heads; /* in the index; sorted, without duplicates */
        size_t n;
        uint64_t uid;     /* its own head; 0 without a uid */
        uint64_t *owners; /* the heads of its owners' uids */
        size_t n_owners;
        unsigned marks;
};

void facts_of(struct arena *a, const struct table *t, const struct value *object, struct facts *ret);
uint64_t index_uid(struct str uid);
uint64_t index_owner(struct str uid);           /* objects that have an owner of that uid */
uint64_t index_owner_of_uid(uint64_t uid_head); /* the same from index_uid */
uint64_t index_label(const struct table *t, struct str key, struct str value);
void index_update(struct store *s, struct entry *e, const struct facts *before, const struct facts *after);

/* The entry with the uid, or NULL. */
struct entry *index_find_uid(struct store *s, uint64_t head);

/* Whether it is this entry's, whoever else may have a uid of the same hash: what is not there is deleted for it. */
bool index_is_uid_of(struct store *s, uint64_t head, struct entry *e);
bool index_has(struct store *s, uint64_t head);

/* NAMESPACE/NAME in the arena. */
struct str make_key(struct arena *a, struct str namespace, struct str name);

/* --- store-history.c --- */

/* The event takes over the references in it. Events that fall out are put on *gone. */
void history_append(struct store *s, struct event *e, struct event **gone);
void history_free_events(struct event *gone);
void history_done(struct store *s);
struct event *history_at(const struct store *s, uint64_t version); /* NULL when it is not kept */

/* The first event of the table behind the version. */
struct event *history_after(const struct store *s, const struct table *t, uint64_t version);

/* The entry's object as it was at the version, which its table still knows; borrowed, NULL when it was not there. */
struct object *history_object(const struct entry *e, uint64_t version, uint32_t *ret_serial);

void snapshot_begin(struct store *s, struct snapshot *snapshot, uint64_t version);
void snapshot_end(struct store *s, struct snapshot *snapshot);

/* --- store-kinds.c --- */

/* A kind as a request finds it. The kind is pinned to the arena. */
struct served {
        struct table *table;
        struct kind *kind;
        const struct kind_version *version;
        uint32_t serial;
        bool is_terminating;
};

void kinds_init(struct store *s);
void kinds_done(struct store *s);
struct table *kinds_table(struct store *s, struct str group, struct str kind); /* made if it is not there */
struct table *kinds_find_table(struct store *s, struct str group, struct str kind);

/* The served kind of the gvk, or an error. With accepts_any_kind, kinds nobody described are made if the scope is known, and
 * else served with a NULL kind. Takes the mutex. */
enum scope {
        SCOPE_CLUSTER,
        SCOPE_NAMESPACE,
        SCOPE_UNKNOWN,
};
int kinds_lookup(struct store *s, struct arena *a, struct gvk gvk, enum scope scope, struct served *ret,
                 struct err *err);
int kinds_ops_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err);

/* What a commit to a CRD does to the kind it describes: found out before the commit without the lock, done in it. */
struct kind_change {
        bool is_change;
        struct table *table;
        bool replaces_kind;
        struct kind *kind; /* counted; NULL: no longer served */
        bool is_terminating;
        char *crd;
        struct accepted *accepted; /* names; NULL: none any more */
};
int kinds_prepare(struct store *s, const struct value *before, const struct value *after, struct kind_change *ret,
                  struct err *err);
void kinds_change(struct store *s, struct kind_change *change);
void kind_change_done(struct kind_change *change);

/* Brings the status of a CRD up to date: names, Established. After a commit to it, without the lock. What cannot be done now is
 * left to the collector. */
int kinds_establish(struct store *s, struct run *run, struct str crd_name, struct err *err);

/* Deletes the instances of a CRD that is being deleted, then the CRD. For the collector. */
const struct value *kinds_begin_deletion(struct arena *a, const struct value *crd);
int kinds_collect(struct store *s, struct run *run, struct str crd_name, struct err *err);

/* --- store-read.c --- */

int read_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret, struct err *err);

/* The object as a reader of the version gets it; *ret_value may be NULL. The result is pinned to the arena. */
int read_object(struct store *s, const struct served *served, struct arena *a, struct object *stored, uint32_t serial,
                struct object **ret, const struct value **ret_value, struct err *err);

/* 0 and the number of a resourceVersion, "" and "0" being 0; else the error of Go's parser. */
int read_version_number(struct str text, uint64_t *ret, struct err *err);

/* Waits until the store has reached the version. */
int read_await_version(struct store *s, struct run *run, uint64_t version, struct err *err);

/* --- store-list.c --- */

int read_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
              struct err *err);

/* One consistent view of a table, or of a namespace of it: objects in order, with a reference each. */
struct listing {
        struct listed {
                struct object *object;
                struct entry *entry; /* valid under the mutex only */
                uint32_t serial;
                struct str key; /* in the arena */
        } * p;
        size_t n, capacity;
        uint64_t version;
};

/* All that is there now, by batches, so that writers never wait long. */
void listing_collect(struct store *s, struct table *t, struct arena *a, struct str namespace, struct listing *ret);
void listing_add(struct listing *l, struct arena *a, struct entry *e, struct object *o, uint32_t serial);
void listing_sort(struct listing *l); /* by key */
void listing_done(struct listing *l);

/* --- store-commit.c --- */

int commit_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                 struct err *err);

/* A write by the store itself: in any version that the kind has, served or not, and without what follows for CRDs. */
int commit_own(struct store *s, struct run *run, const struct write_request *req, struct err *err);
int commit_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                             const struct write_request *req, struct object_list *ret, struct err *err);

/* --- store-watch.c --- */

int watch_begin(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                struct err *err);

/* Tells the table's watchers of an event that was just appended. */
void watch_notify(struct store *s, struct table *t, const struct event *e);

/* Ends the table's watches once they have seen what is there. */
void watch_close_all(struct store *s, struct table *t);

/* --- store-namespaces.c --- */

/* Whether something may be created in the namespace; *ret_namespace is its object, counted, to be found unchanged when the
 * creation is committed. */
int namespaces_check(struct store *s, struct run *run, const struct served *served, const struct object_key *key,
                     struct object **ret_namespace, struct err *err);
int namespaces_bootstrap(struct store *s, struct err *err);
const struct value *namespaces_begin_deletion(struct arena *a, const struct value *namespace);
int namespaces_check_delete(const struct write_request *req, const struct kind *kind, struct err *err);
int namespaces_collect(struct store *s, struct run *run, struct str name, struct err *err);

/* --- store-collector.c: one thread --- */

int collector_start(struct store *s, struct err *err);
void collector_stop(struct store *s);

/* What a commit means for the collector. after is NULL when the object was removed. Under the mutex, as the next three. */
void collector_notice(struct store *s, struct entry *e, const struct facts *before, const struct facts *after);

/* Tasks: `o` an object by its uid, `d` the dependents of a uid that is gone, `n` a namespace, `c` a CRD that is being deleted, `e`
 * the names of a CRD. */
void collector_add(struct store *s, char type, struct str about);
void collector_add_object(struct store *s, char type, uint64_t uid);
void collector_kinds_changed(struct store *s);
int collector_settle(struct store *s, struct run *run, struct err *err);

#define TASK_DEFERRED 1 /* what a task about an object returns when it needs a kind that is not served */

/* --- store-gc.c --- */

int collect_object(struct store *s, struct run *run, uint64_t uid, struct err *err);
int collect_dependents(struct store *s, struct run *run, uint64_t uid);

/* Deletes an object in the name of the collector. Gone already is fine. */
int collector_delete(struct store *s, struct run *run, const struct value *object, enum propagation propagation,
                     struct err *err);
