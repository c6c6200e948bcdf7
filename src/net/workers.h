/* Worker threads that run jobs for loops. A finished job returns to its loop.
 *
 * A job may take microseconds or minutes, and its duration is not known beforehand. Waking a thread costs as much as a short job,
 * so one wake-up serves many jobs: the jobs that a loop submits in one turn wake one worker, and a worker takes job after job and
 * notifies the loop when none is left. More workers are woken when jobs wait although processors are free, or when all awake
 * workers are stuck. A loop with open jobs checks both every millisecond, which also limits how long a finished job waits for its
 * loop. A loop whose jobs all take long stops checking; then workers notify it of each finished job at once. */
#pragma once

#include "err.h"

struct loop;
struct worker;
struct worker_lane;
struct workers;

/* Embedded in the struct that it works on. The workers own it from submit to finish. */
struct job {
        void (*run)(struct job *j);    /* on a worker */
        void (*finish)(struct job *j); /* on the loop that submitted it; may free the job */
        struct job *next;              /* this and all below: workers.c only */
        struct worker_lane *lane;
        struct worker *worker; /* runs it */
        int64_t submitted_ns;
};

/* At most n threads, the first of them started at once, the others when they are needed. At most max_waiting jobs may wait for a
 * thread. */
int workers_new(const char *name, unsigned n, size_t max_waiting, struct workers **ret, struct err *err);

/* Call it on the loop's thread. ERR_LIMIT: too many jobs wait. ERR_CLOSED: workers_free has begun. The caller keeps the job on
 * error. */
int workers_submit(struct workers *w, struct loop *l, struct job *j);

/* Called by run on its own job, before another thread can finish it: the job is not finished when run returns, but by job_finish. The
 * worker is free for other jobs meanwhile. */
void job_keep(struct job *j);

/* Sends a kept job to its loop, once. Any thread may call it. */
void job_finish(struct job *j);

/* Lets the threads finish their jobs, waits for kept jobs, finishes all of them on their loops, which must still run, and frees
 * everything. Must not be called on a loop thread. NULL is fine. */
void workers_free(struct workers *w);
