/* "The API": one interface to a holder of objects: the store in this process or a remote API server.
 *
 * Any call may block, time out, conflict or be refused. Errors carry Kubernetes reasons and Status details (status.h). Results live
 * in the run's arena: objects are pinned to it.
 *
 * The contract of reads: once a write has returned, every later get, list and watch through the same cluster shows the state that
 * it wrote, or a newer one. This holds for objects and for the kinds that a CRD brings. Changes by other writers may be seen late,
 * and objects independently of each other: a read may show an older state than the API holds, a list may lack an object that
 * another writer created or still have one that another writer deleted. Reads of one object through one cluster never go back in
 * time. A write that returns an error may still have happened. A caller that must not act on late state tells the API: by a
 * resourceVersion in an update, or by precondition_uid and precondition_version in a delete. */
#pragma once

#include "field-selector.h"
#include "kind.h"
#include "label-selector.h"
#include "object.h"
#include "park.h"

struct cluster;
struct list_cursor;
struct watch;
struct watch_wakeup;

/* Attributes of a user besides name and groups, from the authenticator: `authentication.kubernetes.io/credential-id`, ... */
struct user_extra {
        struct str key; /* in lower case */
        const struct str *values;
        size_t n_values;
};

struct user {
        struct str name;
        struct str uid;
        const struct str *groups;
        size_t n_groups;
        const struct user_extra *extra;
        size_t n_extra;
};

struct user user_copy(struct arena *a, const struct user *u);

/* The context of every call that may block. */
struct run {
        struct arena *arena;
        struct deadline deadline;
        struct cancel *cancel;
        struct user user;
        struct str cause;          /* why this run writes, recorded with every write: "reconcile of XBucket/a", ... */
        struct str_list *warnings; /* texts that the API would send as Warning headers; may be NULL */
};

struct get_request {
        struct object_key key; /* the answer is in the version that the key names */
        struct str subresource;
        struct str resource_version; /* the answer is not older than this; "" and "0": the current state */
};

enum version_match {
        MATCH_UNSET,
        MATCH_NOT_OLDER_THAN,
        MATCH_EXACT,
};

struct list_request {
        struct gvk gvk;
        struct str ns;                       /* "": all of them, or cluster-scoped */
        const struct label_selector *labels; /* NULL: all */
        const struct field_selector *fields; /* NULL: all */
        size_t limit;                        /* 0: no limit */
        struct str continue_token;
        struct str resource_version;
        enum version_match match;
        struct str
                owner_uid; /* only objects with an owner of this uid: an index lookup in the store, a filter elsewhere */
};

struct object_list {
        struct object *const *objects; /* pinned to the run's arena; by namespace and name */
        size_t n;
        struct str resource_version;
        struct str
                continue_token; /* "": no more pages. On ERR_EXPIRED: a token that continues at the latest version, if possible */
        int64_t remaining; /* objects after a page that has a token; -1: unknown. An estimate, as in the API */
};

/* Object i, decoded on first use; it lives until the arena is done. */
static inline const struct value *object_list_value(const struct object_list *l, size_t i, struct arena *a)
{
        return object_value(l->objects[i], a);
}

/* All objects decoded, for callers that need every one. */
const struct value *const *object_list_values(const struct object_list *l, struct arena *a);

struct watch_request {
        struct gvk gvk;
        struct str ns;
        const struct label_selector *labels;
        const struct field_selector *fields;
        struct str resource_version; /* "" and "0": begin with the existing objects, as added */
        bool sends_initial_events;   /* begin with the existing objects; a bookmark ends them if bookmarks are wanted */
        bool wants_bookmarks;
        int64_t timeout_ms; /* after this time its owner ends the watch: a bookmark comes shortly before; 0: not known */
};

enum watch_event_type {
        WATCH_ADDED,
        WATCH_MODIFIED,
        WATCH_DELETED,
        WATCH_BOOKMARK,
        WATCH_ERROR, /* the watch is over; the error of watch_next says why (ERR_EXPIRED: list again) */
};

struct watch_event {
        enum watch_event_type type;
        uint64_t version;      /* of the event */
        struct object *object; /* NULL for bookmarks; pinned to the arena of the run that asked for the event */
        bool ends_initial;     /* true on the bookmark after the initial events */
};

enum write_verb {
        WRITE_CREATE,
        WRITE_UPDATE,
        WRITE_JSON_PATCH,
        WRITE_MERGE_PATCH,
        WRITE_STRATEGIC_PATCH, /* only for kinds that come with the API; custom kinds refuse it (415) */
        WRITE_APPLY,
        WRITE_DELETE,
};

enum field_validation {
        FIELDS_WARN, /* the API's default */
        FIELDS_IGNORE,
        FIELDS_STRICT,
};

enum propagation {
        PROPAGATE_UNSET,
        PROPAGATE_BACKGROUND,
        PROPAGATE_FOREGROUND,
        PROPAGATE_ORPHAN,
};

/* Lets a write return before it is done, for callers that can wait without a thread.
 *
 * The cluster sets is_given if it returns before the write is done: the write is decided, so its result is final, but it can still be
 * lost. The caller must not show the result to anybody, and reads need not show the write, until the cluster calls settle: once, from
 * any thread, without locks of the cluster held, perhaps before the write returns. The error is NULL if the write is done; otherwise the
 * write may or may not have happened. settle must not wait and must not call the cluster. The run's deadline and cancel token no longer
 * matter then.
 *
 * If is_given is not set when the write returns, it is done or has failed as any other. */
struct write_promise {
        void (*settle)(struct write_promise *p, const struct err *err);
        bool is_given;
};

struct write_request {
        enum write_verb verb;
        struct object_key key;    /* name may be empty on create: the body's name is used, or one is generated */
        struct str subresource;   /* "", "status", "approval", "scale", "finalize" */
        const struct value *body; /* object, patch or applied configuration; NULL on delete */
        struct str body_text;     /* the JSON or YAML that an object was sent as, for errors; "": something else */
        struct str manager;       /* field manager; "" is "unknown" (required by apply) */
        bool force;               /* apply only */
        bool is_dry_run;
        enum field_validation field_validation;
        const struct str *duplicate_fields; /* paths of keys that the body's text had twice, from its decoder */
        size_t n_duplicate_fields;
        struct write_promise *promise; /* NULL: the call returns when the write is done */

        /* delete */
        struct str precondition_uid;
        struct str precondition_version;
        enum propagation propagation;
};

struct write_result {
        struct object *object;     /* the answer in the request's version, pinned to the arena; NULL after a removal */
        const struct value *value; /* the same, decoded; the last state when it was removed */
        bool is_created;
        bool is_removed;           /* the object is gone: by a delete, or because its last finalizer was removed */
        bool is_changed;           /* something was written: false for no-ops and dry runs */
        uint64_t replaced_version; /* the version that the write changed; 0: none, or unknown */
};

/* A question: may the run's user do this? It is about a resource, or about a path of the API that is not a resource
 * (`/healthz`). */
struct access_request {
        struct str verb; /* get, list, ...; `*`: everything */
        struct str path; /* not empty: a path that is not a resource; all fields below are then empty */
        struct gvk gvk;  /* its kind may be empty */
        struct str plural;
        struct str subresource;
        struct str ns;   /* "": in all of them, or cluster-scoped */
        struct str name; /* "": all of them, or not known yet */
};

/* The kinds that are served, see cluster_kinds. */
struct listed_kind {
        const struct kind *kind;
        bool is_terminating; /* its CRD is being deleted: objects are read and deleted, but not written */
};

struct kind_list {
        const struct listed_kind *kinds;
        size_t n;
        uint64_t version;
};

struct cluster_ops {
        int (*get)(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                   struct err *err);
        int (*list_begin)(struct cluster *c, struct run *run, const struct list_request *req, struct list_cursor **ret,
                          struct err *err);
        int (*watch)(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                     struct err *err);
        int (*write)(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                     struct err *err);
        int (*delete_collection)(struct cluster *c, struct run *run, const struct list_request *list,
                                 const struct write_request *req, struct object_list *ret, struct err *err);
        int (*kind)(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err);
        /* The catalogue of kinds. All three are NULL when there is none: kinds are then made up when a caller asks for them. */
        int (*resource)(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret, struct err *err);
        int (*kinds)(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err);
        uint64_t (*kinds_version)(struct cluster *c);
        /* NULL: every user may do everything. */
        int (*may)(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err);
        void (*free)(struct cluster *c);
};

struct cluster {
        const struct cluster_ops *ops;
};

/* The object is pinned to the run's arena; NotFound is an error. */
int cluster_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                struct err *err);
/* The same, for callers that have only a key and want the value. */
int cluster_get_value(struct cluster *c, struct run *run, const struct object_key *key, const struct value **ret,
                      struct err *err);

/* The whole list, or a page of it, at once: all batches of a cursor. Objects are not decoded, but they are pinned and count in the
 * budget of the run's arena: a list that is too large for it is ERR_LIMIT. */
int cluster_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
                 struct err *err);

/* The same batch by batch, so that an answer of any length takes bounded memory. The caller owns the cursor and frees it. The
 * request and everything it points to must outlive the cursor. Only one thread at a time may use it. */
int cluster_list_begin(struct cluster *c, struct run *run, const struct list_request *req, struct list_cursor **ret,
                       struct err *err);

int cluster_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                  struct err *err);
int cluster_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                              const struct write_request *req, struct object_list *ret, struct err *err);

/* Pinned to the run's arena. An unknown kind is ERR_NOT_FOUND: `no matches for kind "X" in version "g/v"`. */
int cluster_kind(struct cluster *c, struct run *run, struct gvk gvk, const struct kind **ret, struct err *err);

/* The same by the plural, which stands in paths. An unknown one is ERR_NOT_FOUND: `no matches for g/v, Resource=plural`. */
int cluster_resource(struct cluster *c, struct run *run, struct gvr gvr, const struct kind **ret, struct err *err);

int cluster_no_such_resource(struct gvr gvr, struct err *err); /* sets that error, for implementations */

/* All kinds with a served version, sorted by group and plural, pinned to the run's arena. The list shows one moment, identified by
 * its version. */
int cluster_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err);

/* A number that changes exactly when the answer of cluster_kinds changes. It has no meaning in other processes. The call is fast,
 * so a reader may cache data derived from the kinds and check the number before each use. */
uint64_t cluster_kinds_version(struct cluster *c);

int cluster_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err);

/* The caller owns the watch and frees it. Only one thread at a time may ask it for events. The watch keeps no pointer into the
 * request. */
int cluster_watch(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                  struct err *err);

/* --- Cursors --- */

struct list_cursor_ops {
        int (*next)(struct list_cursor *c, struct run *run, struct object_list *ret, struct err *err);
        void (*free)(struct list_cursor *c);
};

struct list_cursor {
        const struct list_cursor_ops *ops;
};

/* Returns 1 with the next batch: at least one object, and the resourceVersion. Objects are pinned to this run's arena, which may
 * differ from batch to batch. Returns 0 after the last batch: no objects, but resourceVersion, continue token and remaining. All
 * batches show one version, which the first batch chooses. The history since that version is kept for the cursor; if it becomes too
 * large, the cursor ends with ERR_EXPIRED and a token that continues at the latest version. After an error the cursor can only be
 * freed. */
int list_cursor_next(struct list_cursor *c, struct run *run, struct object_list *ret, struct err *err);
void list_cursor_free(struct list_cursor *c);

static inline void list_cursor_freep(struct list_cursor **c)
{
        if (*c)
                list_cursor_free(*c);
}

/* --- Watches --- */

/* A function and its argument, called when a watch may have an event.
 *
 * It is called at most once for each watch_try_next that returned 0, from any thread, without locks of the cluster held, and never
 * after watch_free has returned. It must not wait, and must not call functions of the watch or the cluster: it only notifies the
 * owner's thread. It may be called when there is no event. A NULL function: no call. */
struct watch_wakeup {
        void (*call)(void *arg);
        void *arg;
};

struct watch_ops {
        int (*try_next)(struct watch *w, struct run *run, struct watch_wakeup wakeup, struct watch_event *ret,
                        struct err *err);
        struct deadline (*next_bookmark)(const struct watch *w);
        void (*free)(struct watch *w);
};

/* An implementation calls watch_init first, and watch_done before it frees the watch's memory. */
struct watch {
        const struct watch_ops *ops;
        const char *name; /* for debugging: shows what threads wait for; outlives the watch */

        /* Used by watch_next. */
        struct mutex mutex;
        struct waiters waiters;
        bool is_woken;
};

void watch_init(struct watch *w, const struct watch_ops *ops, const char *name);
void watch_done(struct watch *w);

/* The next event without waiting. 1: there is one. 0: there is none yet; the wakeup is armed in the same moment and replaces an
 * earlier one, so that no event is missed. ERR_EXPIRED: the events after the watch's position are no longer kept. ERR_CLOSED: the
 * API has ended the watch (a CRD changed or is gone): watch again. */
int watch_try_next(struct watch *w, struct run *run, struct watch_wakeup wakeup, struct watch_event *ret,
                   struct err *err);

/* The time when watch_try_next will return a bookmark if no event comes before; none when bookmarks are not wanted. No wakeup is
 * called for it: the owner sets a timer. Call it in the thread that asks for events. */
struct deadline watch_next_bookmark(const struct watch *w);

/* Waits for the next event. Returns 0, the errors of watch_try_next, ERR_TIMEOUT or ERR_CANCELED. */
int watch_next(struct watch *w, struct run *run, struct watch_event *ret, struct err *err);
void watch_free(struct watch *w);

static inline void watch_freep(struct watch **w)
{
        if (*w)
                watch_free(*w);
}

void cluster_free(struct cluster *c);
