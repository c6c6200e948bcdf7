/* The parts of a store. Private to src/store. The store's mutex guards everything here unless a comment says otherwise. */
#pragma once

#include "buf.h"
#include "map.h"
#include "owner.h"
#include "store.h"
#include "tree.h"
#include "vec.h"

/* One name of one kind. An entry exists while there is an object of that name, or events of such an object in the history. */
struct store_entry {
        struct object *object; /* the current object; NULL when it is removed */
        struct event *newest;  /* the newest event of this name in the history */
        struct table *table;
        uint32_t serial; /* the table's serial when the object was stored */
        uint8_t marks;   /* enum entry_mark */
        uint32_t n_namespace;
        uint32_t n_key;
        char key[]; /* NAMESPACE/NAME, or NAME */
};

enum entry_mark {
        MARK_DELETING = 1 << 0,
        MARK_FOREGROUND = 1 << 1, /* the object is being deleted and waits for its dependents */
        MARK_ORPHAN = 1 << 2, /* the object is being deleted, and the references of its dependents to it are removed */
};

static inline struct str entry_key(const struct store_entry *e)
{
        return str_make(e->key, e->n_key);
}

static inline struct str entry_namespace(const struct store_entry *e)
{
        return str_make(e->key, e->n_namespace);
}

static inline struct str entry_name(const struct store_entry *e)
{
        return str_skip(entry_key(e), e->n_namespace ? e->n_namespace + 1 : 0);
}

/* One commit. It is linked in the history, in the list of its table and in the list of its entry. */
struct event {
        uint64_t version;
        struct store_entry *entry;
        struct object *before;       /* NULL when the commit created the object */
        struct object *after;        /* after a removal: the last state, with this version */
        struct event *older, *newer; /* neighbours in the entry's list */
        struct event *next;          /* in the table's list, or in a list of events to free */
        size_t size_bytes;
        size_t end_bytes;               /* the table's event_bytes including this event */
        uint32_t before_serial, serial; /* the table's serials when before and after were stored */
        bool is_removed;
};

/* The bytes that the event counts for a watcher that has not seen it yet. */
static inline size_t event_size_bytes(const struct event *e)
{
        return sizeof(*e) + object_size_bytes(e->after);
}

/* All objects of one kind, in all versions of the kind. */
struct table {
        char *name; /* GROUP/KIND */
        struct str group;
        struct str kind_name;
        struct kind *kind; /* NULL: not served */
        struct table
                *home; /* the table that has the objects: this one, unless they are those of a kind in another group */
        uint32_t serial; /* counts changes of the kind; an object with an older serial is converted when it is read */
        bool is_terminating; /* its CRD is being deleted */
        bool is_builtin;     /* the kind comes with the program */
        bool is_schemaless;  /* the kind has no CRD and was made up (accepts_any_kind) */
        struct tree objects;
        size_t n_objects; /* without entries that have history but no object */
        struct event *first, *last;
        uint64_t dropped_version; /* the version of the newest event that the history has dropped, or never had */
        size_t event_bytes;       /* the bytes of all events so far, dropped ones included */
        struct watcher *watchers;
        struct commit *writing;  /* the newest commit to one of its objects that is not published yet */
        struct commit *changing; /* the commit to its CRD that is not published yet */
        struct map watch_groups; /* the watchers grouped by the names they watch */
};

struct history {
        struct event **ring; /* by version, the oldest at `first` */
        size_t n_ring;       /* a power of two, or 0 */
        size_t first;
        size_t n;
        size_t n_bytes;
        size_t n_held; /* the oldest events: beyond the limits, and kept only for snapshots */
        size_t held_bytes;
};

/* A version that a reader walks through. The store keeps the events after this version for the reader, up to the number of bytes
 * that a watch may be behind. Lives in the reader's memory. */
struct snapshot {
        uint64_t version;
        struct snapshot *older, *newer;
        bool is_kept;
};

struct write_record {
        struct arena arena; /* owns the texts */
        struct store_write write;
};

struct collector;
struct commit;
struct writer;

struct store {
        struct cluster cluster;
        struct store_options options;
        struct object_cache *cache;
        VEC(struct admission_hook) hooks; /* immutable after the first write */

        struct mutex mutex;
        uint64_t version;
        uint64_t floor;                 /* the log's history began after this version when the store was opened */
        _Atomic uint64_t kinds_version; /* counts changes of the served kinds; written under the mutex */
        struct map tables;
        struct map plurals;   /* GROUP/PLURAL -> the table that has it, struct plural */
        struct map crd_names; /* CRD -> its accepted names, struct accepted */
        struct tree index;    /* uid, owners, labels: hash -> entries */
        struct table *namespaces;
        struct table *crds;
        struct history history;
        size_t history_bytes;                               /* the most that it may hold */
        struct snapshot *oldest_snapshot, *newest_snapshot; /* by version */
        struct waiters version_waiters;
        struct semaphore naming; /* serialises decisions about names of CRDs; not under the mutex */
        size_t n_objects;
        size_t object_bytes;
        size_t n_foreground; /* entries with that mark */
        size_t n_terminating_namespaces;
        size_t n_watches;
        struct watcher *first_woken, *last_woken; /* watchers that watch_call_woken calls next */
        _Atomic size_t n_woken;                   /* changes under the mutex */
        VEC(struct write_record *) writes;
        struct collector *collector; /* NULL: without_gc */
        struct writer *writer;       /* NULL: without a log */
};

static inline struct store *store_of(struct cluster *c)
{
        return CONTAINER_OF(c, struct store, cluster);
}

/* --- store-index.c: finding objects by uid, owner and label --- */

/* All properties of an object that a commit needs. They are read from the value before the mutex is taken. */
struct facts {
        uint64_t *heads; /* in the index; sorted, without duplicates */
        size_t n;
        uint64_t uid;     /* its own head; 0 without a uid */
        uint64_t *owners; /* the heads of its owners' uids */
        size_t n_owners;
        unsigned marks;
};

void store_facts_of(struct arena *a, const struct table *t, const struct value *object, struct facts *ret);
uint64_t index_uid(struct str uid);
uint64_t index_owner(struct str uid);           /* the head of objects that have an owner of that uid */
uint64_t index_owner_of_uid(uint64_t uid_head); /* the same from index_uid */
uint64_t index_label(const struct table *t, struct str key, struct str value);
void index_update(struct store *s, struct store_entry *e, const struct facts *before, const struct facts *after);

/* The entry with the uid, or NULL. */
struct store_entry *index_find_uid(struct store *s, uint64_t head);

/* Whether the index has this entry under the head. Other entries may have a uid with the same hash. They must not hide this entry:
 * the collector deletes objects whose owner it does not find. */
bool index_is_uid_of(struct store *s, uint64_t head, struct store_entry *e);
bool index_has(struct store *s, uint64_t head);

/* NAMESPACE/NAME in the arena. */
struct str store_make_key(struct arena *a, struct str ns, struct str name);

/* --- store-history.c --- */

/* The event takes over the references in it. Events that no longer fit in the history are put on *gone. */
void history_append(struct store *s, struct event *e, struct event **gone);

/* The current version has no event: its objects are not known any more. The caller raises dropped_version of its table. */
void history_append_gap(struct store *s, struct event **gone);
void history_free_events(struct event *gone);
void history_done(struct store *s);
struct event *history_at(const struct store *s, uint64_t version); /* NULL when the history does not have the version */

/* The first event of the table after the version. */
struct event *history_after(const struct store *s, const struct table *t, uint64_t version);

/* The entry's object as it was at the version, which must still be in the table's history. Borrowed; NULL when there was no
 * object. */
struct object *history_object(const struct store_entry *e, uint64_t version, uint32_t *ret_serial);

/* While the snapshot lasts, the history drops no event after the snapshot's version. The snapshot ends by itself when these events
 * take more bytes than a watch may be behind. The reader notices the end because its table has then dropped events after the
 * version. */
void snapshot_begin(struct store *s, struct snapshot *snapshot, uint64_t version);
void snapshot_end(struct store *s, struct snapshot *snapshot);

/* --- store-kinds.c --- */

/* Makes up the kind of a replayed object, or a version of it, if the store accepts any kind and no CRD describes it. */
void kinds_make_up(struct store *s, struct table *t, struct gvk gvk, bool is_namespaced);

/* A kind as a request finds it. The kind is pinned to the arena. */
struct served {
        struct table *table; /* with the objects: a home */
        struct kind *kind;
        const struct kind_version *version;
        uint32_t serial;
        bool is_terminating;
};

void kinds_init(struct store *s);
void kinds_done(struct store *s);
struct table *kinds_table(struct store *s, struct str group, struct str kind); /* created if missing */
struct table *kinds_find_table(struct store *s, struct str group, struct str kind);

/* The served kind of the gvk, or an error. With accepts_any_kind, a kind without a CRD is made up when the scope is known; when the
 * scope is unknown, the result has a NULL kind. Takes the mutex. */
enum scope {
        SCOPE_CLUSTER,
        SCOPE_NAMESPACE,
        SCOPE_UNKNOWN,
};
int kinds_lookup(struct store *s, struct arena *a, struct gvk gvk, enum scope scope, struct served *ret,
                 struct err *err);
int kinds_ops_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err);
int kinds_ops_resource(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret, struct err *err);
int kinds_ops_list(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err);
uint64_t kinds_ops_version(struct cluster *c);

/* The effect of a commit to a CRD on the kind that it describes. It is computed before the commit, without the mutex, and applied
 * in the commit. */
struct kind_change {
        bool is_change;
        struct table *table;
        bool replaces_kind;
        struct kind *kind; /* counted; NULL: no longer served */
        bool is_terminating;
        char *crd;
        struct crd_accepted *accepted; /* the accepted names; NULL: the CRD has none any more */
};
int kinds_prepare(struct store *s, const struct value *before, const struct value *after, struct kind_change *ret,
                  struct err *err);
void kinds_change(struct store *s, struct kind_change *change);
void kind_change_done(struct kind_change *change);

/* Brings the status of a CRD up to date: names, Established. Call it after a commit to the CRD, without the mutex. */
int kinds_establish(struct store *s, struct run *run, struct str crd_name, struct err *err);

/* Deletes the instances of a CRD that is being deleted, then the CRD. For the collector. */
const struct value *kinds_begin_deletion(struct arena *a, const struct value *crd);
int kinds_collect(struct store *s, struct run *run, struct str crd_name, struct err *err);

/* --- store-read.c --- */

int read_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret, struct err *err);

/* How a reader sees stored objects: in one version of the kind, and only those that match its selectors. */
struct store_view {
        struct store *s;
        const struct served *served;
        const struct label_selector *labels; /* NULL: all */
        const struct field_selector *fields;
        struct str owner_uid; /* "": all */
        bool is_shared; /* converted objects stay in the cache for other readers: set for watches and gets, not for lists */
};

/* 1 and the object as the reader gets it, counted; 0 when the selectors do not match it. Temporary memory comes from scratch, which
 * the caller empties when it likes. */
int view_object(const struct store_view *v, struct arena *scratch, struct object *stored, uint32_t serial,
                struct object **ret, struct err *err);

/* For an object that stopped matching the selectors with an event: the object before the event, as the view shows it, with the
 * event's version. Counted. */
struct object *view_departed(const struct store_view *v, struct object *before, struct object *after);

/* The arena takes over the caller's reference. */
struct object *store_pin_counted(struct object *o, struct arena *a);

/* 0 and the number of a resourceVersion, where "" and "0" mean 0; otherwise the error of Go's parser. */
int read_version_number(struct str text, uint64_t *ret, struct err *err);

/* Waits until the store has reached the version. */
int read_await_version(struct store *s, struct run *run, uint64_t version, struct err *err);

/* --- store-list.c --- */

int read_list_begin(struct cluster *c, struct run *run, const struct list_request *req, struct list_cursor **ret,
                    struct err *err);

/* The objects found so far. The listing holds a reference to each. */
struct listing {
        struct listed {
                struct object *object;
                struct store_entry *entry; /* valid under the mutex only */
                uint32_t serial;
                struct str key; /* in the arena */
        } * p;
        size_t n, capacity;
};

/* A walk through a table, or one namespace of it, at one version. It goes in batches, so that writers never wait long and only one
 * batch is in memory. */
struct scan {
        struct store *s;
        struct table *table;
        struct buf prefix; /* every key begins with this prefix */
        struct buf from;   /* the smallest key that the walk may find next */
        struct snapshot snapshot;
        size_t most;   /* entries looked at in one turn at the mutex */
        bool is_exact; /* the prefix is the only key */
        bool is_done;
};

/* Under the mutex. scan_begin walks all keys in the namespace ("": all namespaces) that are not before `start` in it. Version 0 is
 * the latest. Returns ERR_EXPIRED, and begins nothing, when the history no longer has the version. */
int scan_begin(struct scan *scan, struct store *s, struct table *t, struct str ns, struct str start, uint64_t version);
int scan_begin_exact(struct scan *scan, struct store *s, struct table *t, struct str ns, struct str name,
                     uint64_t version);

/* Adds the next objects to the listing and their keys to the arena, taking the mutex once. Returns ERR_EXPIRED when the snapshot of
 * the version has ended. */
int scan_batch(struct scan *scan, struct arena *a, struct listing *l);
void scan_end(struct scan *scan);

/* All current objects, in order of their keys: one consistent view. */
void listing_collect(struct store *s, struct table *t, struct arena *a, struct str ns, struct listing *ret);
void listing_add(struct listing *l, struct arena *a, struct store_entry *e, struct object *o, uint32_t serial);
void listing_sort(struct listing *l); /* by key */
void listing_done(struct listing *l);

/* --- store-write.c; store-commit.h describes how a write is committed --- */

int commit_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                 struct err *err);

/* A write by the store itself. It may use any version that the kind has, served or not, and does not update the names and status of
 * CRDs. */
int commit_own(struct store *s, struct run *run, const struct write_request *req, struct err *err);
int commit_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                             const struct write_request *req, struct object_list *ret, struct err *err);

/* --- store-watch.c --- */

int watch_begin(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                struct err *err);

/* Collects the table's watchers that wait for the event, which was just appended. The thread that publishes calls watch_call_woken
 * after it has unlocked the mutex. */
void watch_notify(struct store *s, struct table *t, const struct event *e);

/* Ends the table's watches once they have seen all existing events. The caller calls watch_call_woken as above. */
void watch_close_all(struct store *s, struct table *t);

/* Calls the wakeups of the collected watchers. Without the mutex; cheap when there are none. */
void watch_call_woken(struct store *s);

/* --- store-namespaces.c --- */

/* Whether an object may be created in the namespace. *ret_namespace is the namespace's object, counted; the commit of the creation
 * checks that it is still the same. */
int namespaces_check(struct store *s, struct run *run, const struct served *served, const struct object_key *key,
                     struct object **ret_namespace, struct err *err);
int namespaces_bootstrap(struct store *s, struct err *err);
const struct value *namespaces_begin_deletion(struct arena *a, const struct value *ns);
int namespaces_check_delete(const struct write_request *req, const struct kind *kind, struct err *err);
int namespaces_collect(struct store *s, struct run *run, struct str name, struct err *err);

/* --- store-collector.c: one thread --- */

/* Work for the collector that follows from a commit. */
enum store_task_type {
        TASK_OBJECT,     /* an object by its uid: it lost owners, or waits for dependents */
        TASK_DEPENDENTS, /* the dependents of a uid that is gone */
        TASK_NAMESPACE,  /* a namespace that is being deleted */
        TASK_CRD,        /* a CRD that is being deleted */
        TASK_CRD_NAMES,  /* the names of a CRD */
};

struct store_task {
        enum store_task_type type;
        uint64_t uid;    /* the head in the index; for objects and dependents */
        struct str name; /* for the other types; collector_add copies it */
};

void collector_new(struct store *s);
int collector_start(struct store *s, struct err *err); /* its thread */
void collector_stop(struct store *s); /* later commits have no further effects: the collector no longer runs tasks */
void collector_free(struct store *s);

/* Adds the tasks that follow from a commit. after is NULL when the object was removed. Call this and collector_kinds_changed under
 * the mutex. */
void collector_notice(struct store *s, struct store_entry *e, const struct facts *before, const struct facts *after);
void collector_kinds_changed(struct store *s);
void collector_add(struct store *s, struct store_task task);

/* Whether an object of the namespace may depend on the owner of that uid: the owner exists and does not wait for its dependents. */
bool collector_owner_is_solid(struct store *s, const struct store_entry *e, uint64_t uid);

/* Whether an owner of that uid was removed while it had dependents. Under the mutex. */
bool collector_owner_is_gone(struct store *s, uint64_t uid);
int collector_settle(struct store *s, struct run *run, struct err *err);
size_t collector_count_waiting(struct store *s); /* tasks that wait for another try or for another kind */

#define TASK_DEFERRED 1 /* a task about an object returns this when it needs a kind that is not served */

/* --- store-gc.c --- */

int collect_object(struct store *s, struct run *run, uint64_t uid, struct err *err);
int collect_dependents(struct store *s, struct run *run, uint64_t uid);

/* Deletes an object in the name of the collector. An object that is already gone is not an error. */
int collector_delete(struct store *s, struct run *run, const struct value *object, enum propagation propagation,
                     struct err *err);
/* The same in the background for one of many objects: *r and err keep the first error. */
void collector_delete_next(struct store *s, struct run *run, const struct value *object, int *r, struct err *err);
