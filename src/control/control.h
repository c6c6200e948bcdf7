/* The pool of worker threads that all controllers share. The threads reconcile keys.
 *
 * A controller has a name and a function that reconciles one key, such as `NAMESPACE/NAME` of an object. The function blocks; a key is
 * reconciled by one thread at a time. Controllers take turns, so that many keys of one kind do not delay the others. Threads are
 * started when all are busy, up to a limit.
 *
 * Any function may be called by any thread unless its comment says otherwise. */
#pragma once

#include "cluster.h"

struct control;
struct controller;
struct meters;

struct control_options {
        unsigned max_workers; /* 0: LIMIT_CONTROL_WORKERS */
        struct user user;     /* as whom controllers act; copied */
        struct meters *
                meters; /* counts runs, by the names of controller-runtime; outlives the control. NULL: nothing is counted */
};

int control_new(const struct control_options *options, struct control **ret, struct err *err);

/* Cancels all runs and waits for them. All controllers must be stopped already. NULL is fine. */
void control_free(struct control *c);

/* Waits until no key is ready or running. Keys that wait for their time do not count. */
int control_settle(struct control *c, struct deadline deadline, struct cancel *cancel);

struct control_counts {
        size_t n_ready;
        size_t n_running;
        size_t n_delayed;
        unsigned n_workers;
};
struct control_counts control_counts(struct control *c);

/* The next run that a reconcile asks for. All empty: none until the key is added again. */
struct control_answer {
        bool requeues;    /* again after the backoff, without an error */
        bool is_waiting;  /* somebody adds the key again: the run gave way (slots.h). Neither a success nor a failure */
        int64_t after_ns; /* again after this time; 0: no */
};

struct controller_options {
        struct str name; /* copied; in logs and causes: `composite/xbuckets.example.org` */
        /* Reconciles a key. The run has an arena, a deadline, a cancel token, the user, and a cause `NAME KEY`. After an error the key is
         * tried again with backoff; the error is logged, unless it is a conflict. */
        int (*reconcile)(void *context, struct run *run, struct str key, struct control_answer *ret, struct err *err);
        void *context;
        int64_t timeout_ms;       /* of one run; 0: 1 minute */
        int64_t backoff_first_ms; /* 0: 1 s */
        int64_t backoff_most_ms;  /* 0: 1 minute */
        size_t budget_bytes;      /* of one run's arena; 0: LIMIT_RUN_BYTES */
};

int controller_start(struct control *c, const struct controller_options *options, struct controller **ret,
                     struct err *err);

/* Drops its keys, cancels its runs, waits for them, and frees it. Not from one of its own runs. NULL is fine. */
void controller_stop(struct controller *c);

/* The name that was given; lives as long as the controller. */
struct str controller_name(const struct controller *c);

/* These do not wait; the caller may hold mutexes. */
void controller_enqueue(struct controller *c, struct str key);
void controller_enqueue_after(struct controller *c, struct str key, int64_t delay_ns);

struct controller_stats {
        uint64_t n_runs, n_errors, n_requeues;
        int64_t run_ns; /* all runs together */
};
struct controller_stats controller_stats(struct controller *c);
