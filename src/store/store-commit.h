/* A commit has three stages: decide, log, publish. Private to src/store.
 *
 * Decide: under the mutex. A write is decided if everything it was prepared from is unchanged, and if no decided but unpublished
 * write touches the same object, the same kind and its CRD, or a namespace and a creation in it. The decision gives the write its
 * version. Log: one thread appends decided writes to the log, many at once. Publish: under the mutex; from now on readers see the
 * change.
 *
 * Without a log, decide and publish happen in one turn at the mutex, in the caller's thread, and no commit is ever between the
 * two. */
#pragma once

#include "store-state.h"

enum commit_result {
        COMMIT_DONE = 0,
        COMMIT_AGAIN,  /* something that the write was prepared from has changed */
        COMMIT_WAITED, /* another write had to finish first, and is now published or has failed: prepare again */
        COMMIT_EXISTS, /* the write creates an object, but the object exists */
};

enum commit_state {
        COMMIT_PREPARED,
        COMMIT_DECIDED,
        COMMIT_PUBLISHED,
        COMMIT_FAILED,
};

/* A prepared write. Home: the thread that prepares it; after the decision the store, under the mutex. */
struct commit {
        struct store *s;
        struct arena *arena; /* lives as long as the commit: the run's arena, or own_arena */
        struct table *table;
        struct str key;          /* of the entry */
        struct object_key names; /* the same in parts */
        bool is_create;
        bool is_for_new; /* the object must not exist yet; false for an update that may create */

        /* The state that the write was prepared from; borrowed, and not valid after the decision. */
        bool is_terminating;
        struct object *live;
        struct object *namespace_object;

        /* The state that the write puts in place. */
        uint32_t serial;
        struct facts before, after;
        struct store_entry *entry; /* a new entry, used when the key has none */
        struct event *event;
        struct object *object; /* counted; has the new version */
        struct kind_change kind_change;
        struct write_record *record; /* NULL: the store does not record writes */

        /* Only with a log, from the decision to the publication. */
        struct arena own_arena;
        enum commit_state state;
        bool is_logged;
        bool is_abandoned;             /* the caller no longer waits: the commit is freed when it is published */
        struct write_promise *promise; /* NULL: the caller waits. Settled before the commit is freed */
        uint64_t version;
        uint64_t previous; /* the version of the object that it replaces; 0: it creates one */
        size_t size_bytes;
        struct str id;       /* of the object */
        struct commit *next; /* in the order of decisions */
        struct waiters caller;
        struct waiters blocked; /* callers that wait for this commit before they prepare their own */
};

/* --- store-commit.c --- */

struct commit *commit_new(struct store *s, struct arena *a);
void commit_free(struct commit *c); /* NULL is fine */

/* Decides the commit and returns when it is published: an enum commit_result, or an error. A caller that is canceled or out of time
 * while the commit is being logged gets an error that says the write may have happened; *c is then NULL, and the store finishes and
 * frees the commit. With a promise, COMMIT_DONE may come before the commit is published: the promise is then given, and *c is NULL. */
int commit_run(struct commit **c, struct run *run, struct write_promise *promise, struct err *err);

/* These wait until earlier writes are published or have failed, so the caller then reads the result of those writes. This includes
 * writes whose callers were told that they may have happened. Under the mutex, which is unlocked while waiting. */
int commit_await_object(struct store *s, struct run *run, struct table *t, struct str key, struct err *err);
int commit_await_kind(struct store *s, struct run *run, struct table *t, struct err *err);   /* writes to its CRD */
int commit_await_writes(struct store *s, struct run *run, struct table *t, struct err *err); /* writes to its objects */

/* 0, or the error of a store whose log has failed. Takes the mutex. */
int commit_check_open(struct store *s, struct err *err);

/* --- store-publish.c --- */

/* Under the mutex: readers see the commit from now on. `there` is the entry of its key, or NULL if there is none. Events that no
 * longer fit in the history are put on *gone. */
void commit_publish(struct commit *c, struct store_entry *there, struct event **gone);

struct write_record *write_record_new(const struct write_request *req, const struct run *run,
                                      const struct object_key *key);
void write_record_free(struct write_record *r); /* NULL is fine */

/* Parts of commit_publish, for a replay of state without history. */
void publish_object(struct store *s, struct store_entry *e,
                    struct object *o); /* takes over the reference; NULL: none */
void publish_marks(struct store *s, struct store_entry *e, unsigned marks);

/* Sets the limits of the history and of the cache, which follow the bytes of all objects. */
void publish_bounds(struct store *s);

/* --- store-replay.c --- */

/* The uids of objects that may need the collector, and of their owners; 0: the object itself needs it, for its marks. */
struct doubt {
        uint64_t uid;
        uint64_t owner;
};

struct replayed {
        VEC(struct doubt) doubts;
};

/* Fills the store from its log. No other thread uses the store yet, and it has no collector. */
int replay_log(struct store *s, struct replayed *ret, struct err *err);
void replay_add_tasks(struct store *s, const struct replayed *r);
void replayed_done(struct replayed *r);

/* A new entry without an object. */
struct store_entry *store_entry_new(struct table *t, struct str ns, struct str key);

/* --- store-writer.c: the thread that logs --- */

struct writer {
        struct thread *thread;
        struct waiters waiters;      /* the thread */
        struct waiters room;         /* callers that wait until there is room for another commit */
        struct commit *first, *last; /* decided commits that the thread has not taken yet */
        struct map objects;          /* object id -> its unpublished commit */
        struct map creations;        /* namespace -> the newest unpublished creation in it */
        size_t n;                    /* unpublished commits */
        size_t n_bytes;
        uint64_t version;    /* the version of the newest decision */
        size_t n_last;       /* commits of the last batch: as many callers probably come again */
        size_t wakes_at;     /* the thread is woken when there are so many commits */
        int64_t patience_ns; /* how long the thread waits for them */
        bool is_closed;
        struct err failure; /* the error of the log; no writes are taken after it */
};

/* The error of a write whose log failed. The log may have kept the write nevertheless. */
int commit_tell_failure(const struct writer *w, struct err *err);

int writer_start(struct store *s, struct err *err);
void writer_stop(struct store *s); /* returns once every decided commit is published or has failed */

/* Under the mutex: gives the commit its version and hands it to the thread. */
void writer_add(struct writer *w, struct commit *c);
bool writer_has_room(const struct writer *w, const struct commit *c);
struct str commit_object_id(struct arena *a, const struct table *t, struct str key);
