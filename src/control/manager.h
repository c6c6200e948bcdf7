/* The manager: one cluster, and what all of its controllers share: the pool of workers, the watches, the index of what was read, the
 * recorder of events. It also runs the usual kind of controller: one that reconciles every object of a kind. */
#pragma once

#include "control.h"
#include "recorder.h"
#include "slots.h"
#include "tracker.h"

#define CROSSPLANE_MANAGER STR("crossplane") /* the field manager of our controllers */

struct manager;
struct kind_controller;

struct manager_options {
        struct cluster *cluster; /* outlives the manager */
        struct user user;        /* as whom the controllers act; copied */
        unsigned max_workers;    /* 0: LIMIT_CONTROL_WORKERS */
        unsigned max_calls;      /* in flight for each function outside this process; 0: LIMIT_CONTROL_CALLS */
        struct meters *meters;   /* counts runs and circuits; outlives the manager. NULL: nothing is counted */
};

int manager_new(const struct manager_options *options, struct manager **ret, struct err *err);

/* All controllers must be stopped. NULL is fine. */
void manager_free(struct manager *m);

struct cluster *manager_cluster(const struct manager *m); /* notes nothing: for what is no dependency */
const struct user *manager_user(const struct manager *m);
struct tracker *manager_tracker(const struct manager *m);

struct slots *manager_slots(const struct manager *m);

/* Waits until nothing is left to do now. Keys that wait for their time, such as failed ones, do not count. */
int manager_settle(struct manager *m, struct deadline deadline, struct cancel *cancel);

struct manager_stats {
        uint64_t n_events; /* of watches */
        size_t n_keys;     /* that are followed */
        size_t n_notes;    /* what they read */
        struct control_counts queue;
};
struct manager_stats manager_stats(struct manager *m);

/* --- Controllers of a kind --- */

/* One reconcile, as its function sees it. */
struct kind_run {
        struct manager *manager;
        struct run *run;
        struct cluster *cluster; /* notes what is read */
        struct object_key key;   /* of the object to reconcile */
        void *context;           /* of the controller */
        struct control_answer *answer;
        struct tracked_run *tracked;
        bool is_gone; /* set by the function: the object does not exist, forget it */
};

typedef int kind_reconcile(struct kind_run *r, struct err *err);

struct kind_controller_options {
        struct str name; /* in logs and causes; copied */
        struct gvk gvk;  /* of the objects that are reconciled; copied */
        kind_reconcile *reconcile;
        void *context;
        bool knows_writes; /* its own writes do not run it again, see tracker.h */
        const char *
                watch_type; /* what metrics call the watch of its own kind; static. NULL: its watches are not counted */
        int64_t timeout_ms;
        int64_t backoff_most_ms;
};

/* Starts a controller for all objects of a kind: each is reconciled now, and whenever it or something that its run read changes. */
int kind_controller_start(struct manager *m, const struct kind_controller_options *options,
                          struct kind_controller **ret, struct err *err);

/* Waits for its runs. Not from one of them. NULL is fine. */
void kind_controller_stop(struct kind_controller *c);

/* Gets the object to reconcile. Returns 0 with *ret NULL, and is_gone set, if it does not exist. */
int kind_run_get(struct kind_run *r, const struct value **ret, struct err *err);

/* Updates the object or its subresource; *ret is the object as the API answered. */
int kind_run_update(struct kind_run *r, const struct value *object, struct str subresource, const struct value **ret,
                    struct err *err);

/* Records an event about the object. */
void kind_run_event(struct kind_run *r, const struct value *regarding, const struct recorder_source *source,
                    bool is_warning, const char *reason, const char *format, ...) _printf_(6, 7);

/* The same for a text. */
void kind_run_record(struct kind_run *r, const struct value *regarding, const struct recorder_source *source,
                     bool is_warning, struct str reason, struct str message);

/* Conflicts are no errors: another client wrote first, and the next run reads its change. Turns one into a retry and returns 0;
 * other errors are wrapped and returned. */
int kind_run_retry_conflict(struct kind_run *r, struct err *err, const char *what);
