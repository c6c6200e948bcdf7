/* An event loop on a thread of its own. Everything that has a socket lives on one loop and is touched by its thread only;
 * other threads post tasks to it. */
#pragma once

#include <uv.h>

#include "err.h"

struct loop;

/* A piece of work for the loop thread. It is embedded in what it works on; it may be posted again once it has begun to run. */
struct loop_task {
        struct loop_task *next;
        void (*run)(struct loop_task *t);
};

/* Something with output to send. Marked ones are flushed once, at the end of the turn of the loop, so that everything that
 * was written in the turn goes out together. Embedded in its owner. Loop thread only. */
struct loop_flush {
        struct loop_flush *next;
        void (*flush)(struct loop_flush *f);
        bool is_marked;
};

/* Starts the thread. The caller ends it with loop_free. */
int loop_new(const char *name, struct loop **ret, struct err *err);

/* Runs what was posted, waits until everything on the loop is closed and joins the thread. Whatever lives on the loop must
 * have been told to close. Not from the loop thread. NULL is fine. */
void loop_free(struct loop *l);

/* The loop that all clients of the process share: started by the first reference, ended by the last. */
int loop_shared_ref(struct loop **ret, struct err *err);
void loop_shared_unref(struct loop *l); /* NULL is fine; not from the loop thread */

/* From any thread. Tasks of one thread run in the order in which it posted them. */
void loop_post(struct loop *l, struct loop_task *t);

/* Posts the task and waits until it has run (runs it at once on the loop thread). */
void loop_call(struct loop *l, void (*run)(void *arg), void *arg);

bool loop_is_current(const struct loop *l);
uv_loop_t *loop_uv(struct loop *l); /* loop thread only */

void loop_mark(struct loop *l, struct loop_flush *f);
void loop_unmark(struct loop *l, struct loop_flush *f); /* before its owner goes away */

/* A block for one read, shared by everything on the loop; its contents do not outlive the callback that filled it. */
uv_buf_t loop_read_block(struct loop *l);

/* ERR_SYSTEM with `TEXT: libuv's word for the status`. */
int net_error(struct err *err, int uv_status, const char *format, ...) _printf_(3, 4);
