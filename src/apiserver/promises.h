/* Requests whose writes are decided but not done yet. Their answers are ready and wait for the log without a thread, so a few threads
 * serve any number of writers, and a batch of the log does not wake a thread for each of its writes.
 *
 * A request whose time is up is answered that the write may have happened. The cluster still refers to its promise then, so the request
 * stays until the promise is settled. Inside this layer only. */
#pragma once

#include "cluster.h"
#include "loop.h"
#include "park.h"

struct api_request;

struct promises {
        struct mutex mutex;               /* guards all below, and the state of each promise */
        struct api_request *first, *last; /* requests that wait, oldest first */
        size_t n_late;                    /* requests that were answered before their promise was settled */
        struct waiters last_late;
        struct thread *thread;  /* answers late requests; NULL until a request has waited */
        struct waiters sleeper; /* the thread */
        bool is_asleep;         /* the thread looks at nothing until it is woken */
        bool is_closed;
};

/* The part of a request that waits; guarded by the mutex, except that the worker owns all of it until promise_keep. */
struct api_promise {
        struct write_promise write;
        struct api_request *next, *prev;
        struct loop_task task; /* frees a late request */
        bool is_settled;
        bool is_waiting;
        bool is_late;
        bool is_told; /* the loop has sent the answer of the late request */
        struct err failure;
};

void promises_init(struct promises *p);

/* Waits until all promises are settled. Their loops must still run; no worker does. */
void promises_done(struct promises *p);

/* For a request that is about to write: what its write_request takes. */
struct write_promise *promise_make(struct api_request *q);

/* On the worker, when the answer is ready, as the last thing that it does with the request: keeps the job if the write is not done. */
void promise_keep(struct api_request *q);
