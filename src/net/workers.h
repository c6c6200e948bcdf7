/* Worker threads for jobs that come from loops and return to them.
 *
 * A handler may take microseconds or minutes, and nobody says which. Waking a thread costs as much as a short job, so
 * that is done once for many: what a loop submits in one turn wakes one worker, a worker takes job after job and tells the loop
 * when it runs out of them. More workers are woken when jobs wait although there are processors, or when those awake are
 * stuck; a loop with jobs out looks for both every millisecond, which also bounds how long a finished job may wait for its
 * loop. A loop whose jobs all take long is left alone and told of each at once. */
#pragma once

#include "err.h"

struct loop;
struct worker_lane;
struct workers;

/* Embedded in what it works on. From submit to finish the workers have it. */
struct job {
        void (*run)(struct job *j);    /* on a worker */
        void (*finish)(struct job *j); /* on the loop that submitted it; the job may go away */
        struct job *next;              /* workers.c only, like all below */
        struct worker_lane *lane;
        int64_t submitted_ns;
};

/* Starts n threads. At most max_waiting jobs wait for one. */
int workers_new(const char *name, unsigned n, size_t max_waiting, struct workers **ret, struct err *err);

/* On the thread of the loop. ERR_LIMIT when too many jobs wait, ERR_CLOSED after workers_end: the job stays the caller's. */
int workers_submit(struct workers *w, struct loop *l, struct job *j);

/* Lets the threads end with the jobs they have and finishes those on their loops, which must still be there, and frees all of it.
 * Not from a loop. NULL is fine. */
void workers_free(struct workers *w);
