/* An event loop on its own thread. Everything with a socket lives on one loop, and only the loop's thread touches it; other threads
 * post tasks to the loop. */
#pragma once

#include <stdlib.h> /* must precede <limits.h>: that finds our limits.h first, which breaks _FORTIFY_SOURCE */
#include <uv.h>

#include "err.h"

struct loop;

/* A piece of work for the loop thread, embedded in the struct that it works on. It may be posted again once it has begun to run. */
struct loop_task {
        struct loop_task *next;
        void (*run)(struct loop_task *t);
};

/* An object with output to send, embedded in its owner. Marked objects are flushed once, at the end of the loop's turn, so that all
 * output of the turn is sent together. Loop thread only. */
struct loop_flush {
        struct loop_flush *next;
        void (*flush)(struct loop_flush *f);
        bool is_marked;
};

/* Starts the thread. The caller ends it with loop_free. */
int loop_new(const char *name, struct loop **ret, struct err *err);

/* Runs the posted tasks, waits until all handles on the loop are closed, and joins the thread. All users of the loop must have been
 * told to close. Must not be called on the loop thread. NULL is fine. */
void loop_free(struct loop *l);

/* The loop that all clients of the process share: the first reference starts it, the last one ends it. */
int loop_shared_ref(struct loop **ret, struct err *err);
void loop_shared_unref(struct loop *l); /* NULL is fine; not on the loop thread */

/* Any thread. Tasks that one thread posts run in the order of posting. */
void loop_post(struct loop *l, struct loop_task *t);

/* Runs the function on the loop thread and waits for it; on the loop thread itself it runs at once. */
void loop_call(struct loop *l, void (*run)(void *arg), void *arg);

bool loop_is_current(const struct loop *l);
uv_loop_t *loop_uv(struct loop *l); /* loop thread only */

void loop_mark(struct loop *l, struct loop_flush *f);
void loop_unmark(struct loop *l, struct loop_flush *f); /* call it before the owner is freed */

/* A buffer for one read, shared by everything on the loop; its contents are valid only during the callback that filled it. */
uv_buf_t loop_read_block(struct loop *l);

/* Returns ERR_SYSTEM with the message `TEXT: libuv's text for the status`. */
int net_error(struct err *err, int uv_status, const char *format, ...) _printf_(3, 4);
