/* "The API": one interface to whatever holds objects, be it the store in this process or a remote API server.
 *
 * Any call may block, time out, conflict or be refused; what a list or get returns may be stale by the time it is looked at.
 * Errors carry Kubernetes reasons and Status details (status.h). Results live in the run's arena: objects are pinned to it. */
#pragma once

#include "field-selector.h"
#include "kind.h"
#include "label-selector.h"
#include "object.h"
#include "park.h"

struct cluster;
struct watch;

struct user {
        struct str name;
        struct str uid;
        const struct str *groups;
        size_t n_groups;
};

/* What every call that may block is given. */
struct run {
        struct arena *arena;
        struct deadline deadline;
        struct cancel *cancel;
        struct user user;
        struct str cause;          /* why this run writes, recorded with every write: "reconcile of XBucket/a", ... */
        struct str_list *warnings; /* texts that the API would send as Warning headers; may be NULL */
};

struct get_request {
        struct object_key key; /* the version in it is the one the answer is in */
        struct str subresource;
        struct str resource_version; /* not older than; "" and "0" mean what is there */
};

enum version_match {
        MATCH_UNSET,
        MATCH_NOT_OLDER_THAN,
        MATCH_EXACT,
};

struct list_request {
        struct gvk gvk;
        struct str namespace;                /* "": all of them, or cluster-scoped */
        const struct label_selector *labels; /* NULL: all */
        const struct field_selector *fields; /* NULL: all */
        size_t limit;                        /* 0: no limit */
        struct str continue_token;
        struct str resource_version;
        enum version_match match;
        struct str
                owner_uid; /* only objects with an owner reference to it: an index lookup in the store, a filter elsewhere */
};

struct object_list {
        struct object *const *objects; /* pinned to the run's arena; by namespace and name */
        const struct value *const *values;
        size_t n;
        struct str resource_version;
        struct str continue_token; /* "": no more. On ERR_EXPIRED of a token: one that goes on at what is there now */
        int64_t remaining;         /* -1: not known */
};

struct watch_request {
        struct gvk gvk;
        struct str namespace;
        const struct label_selector *labels;
        const struct field_selector *fields;
        struct str resource_version; /* "" and "0": what is there first, as added */
        bool sends_initial_events;   /* what is there first; with a bookmark at its end if bookmarks are wanted */
        bool wants_bookmarks;
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
        struct object *object; /* NULL for bookmarks; pinned to the run's arena of the watch_next call */
        bool ends_initial;     /* on the bookmark behind the initial events */
};

enum write_verb {
        WRITE_CREATE,
        WRITE_UPDATE,
        WRITE_JSON_PATCH,
        WRITE_MERGE_PATCH,
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

struct write_request {
        enum write_verb verb;
        struct object_key key;    /* name may be empty on create: then it is the body's, or generated */
        struct str subresource;   /* "", "status", "scale", "finalize" */
        const struct value *body; /* object, patch or applied configuration; NULL on delete */
        struct str manager;       /* field manager; "" is "unknown" (required by apply) */
        bool force;               /* apply only */
        bool is_dry_run;
        enum field_validation field_validation;
        const struct str *duplicate_fields; /* paths of keys that the body's text had twice, from its decoder */
        size_t n_duplicate_fields;

        /* delete */
        struct str precondition_uid;
        struct str precondition_version;
        enum propagation propagation;
};

struct write_result {
        struct object
                *object; /* as answered, in the request's version; pinned to the run's arena. NULL when a delete has
                                * removed it at once */
        const struct value *value; /* the same, decoded; the last state when it was removed */
        bool is_created;
        bool is_removed; /* it is gone: by a delete, or because its last finalizer went */
        bool is_changed; /* something was written: false for no-ops and dry runs */
};

/* May the run's user do this? */
struct access_request {
        struct str verb; /* get, list, ...; `*`: everything */
        struct gvk gvk;
        struct str plural;
        struct str namespace; /* "": in all of them, or cluster-scoped */
};

struct cluster_ops {
        int (*get)(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                   struct err *err);
        int (*list)(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
                    struct err *err);
        int (*watch)(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                     struct err *err);
        int (*write)(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                     struct err *err);
        int (*delete_collection)(struct cluster *c, struct run *run, const struct list_request *list,
                                 const struct write_request *req, struct object_list *ret, struct err *err);
        int (*kind)(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err);
        /* NULL: whoever can reach the cluster may do everything. */
        int (*may)(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err);
        void (*free)(struct cluster *c);
};

struct cluster {
        const struct cluster_ops *ops;
};

/* The object is pinned to the run's arena; NotFound is an error. */
int cluster_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                struct err *err);
/* The same, for those who want the value of the key alone. */
int cluster_get_value(struct cluster *c, struct run *run, const struct object_key *key, const struct value **ret,
                      struct err *err);
int cluster_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
                 struct err *err);
int cluster_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                  struct err *err);
int cluster_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                              const struct write_request *req, struct object_list *ret, struct err *err);

/* Pinned to the run's arena. An unknown kind is ERR_NOT_FOUND: `no matches for kind "X" in version "g/v"`. */
int cluster_kind(struct cluster *c, struct run *run, struct gvk gvk, const struct kind **ret, struct err *err);

int cluster_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err);

/* The watch belongs to the caller, who frees it. One thread at a time waits on it. */
int cluster_watch(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                  struct err *err);

struct watch_ops {
        int (*next)(struct watch *w, struct run *run, struct watch_event *ret, struct err *err);
        void (*free)(struct watch *w);
};

struct watch {
        const struct watch_ops *ops;
};

/* Waits for the next event: 0; ERR_TIMEOUT, ERR_CANCELED; ERR_EXPIRED when it has fallen behind what is kept, or began there;
 * ERR_CLOSED when the API has ended it (a CRD changed or is gone): watch again. */
int watch_next(struct watch *w, struct run *run, struct watch_event *ret, struct err *err);
void watch_free(struct watch *w);

static inline void watch_freep(struct watch **w)
{
        if (*w)
                watch_free(*w);
}

void cluster_free(struct cluster *c);
