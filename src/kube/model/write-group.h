/* Writes that wait for the log together: each returns as soon as it is decided, so one thread can have many under way, and a log takes
 * them in few batches. Their results are final only when write_group_wait has returned 0.
 *
 * Home: one thread, which adds the writes and waits. */
#pragma once

#include "cluster.h"

struct write_group {
        struct mutex mutex; /* guards the rest */
        struct waiters waiters;
        size_t n_open;
        struct err err; /* the first failure */
};

void write_group_init(struct write_group *g);

/* The promise for the next write of the group, from an arena that lives until write_group_wait has returned. */
struct write_promise *write_group_promise(struct write_group *g, struct arena *a);

/* Called when that write has returned, whatever its result. */
void write_group_add(struct write_group *g, struct write_promise *p);

/* Waits for all writes. Returns 0, or the first failure of one that had returned 0. Frees what the group holds. */
int write_group_wait(struct write_group *g, struct err *err);
