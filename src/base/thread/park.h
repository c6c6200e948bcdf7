/* Threads, and everything that a thread may use to wait.
 *
 * Every wait in the program ends in park() and takes a deadline and a cancel token. The seeded scheduler of sim.h can therefore
 * run one thread at a time. Nothing else blocks, with two exceptions: a struct mutex around a few lines that do not park, and
 * system calls that the operating system answers at once.
 *
 * Deadlines bound waiting, not work: a call that need not wait succeeds even after its deadline. Every cancel token argument may
 * be NULL.
 *
 * The waiting thread gives the kind of wait and the object's name; a simulation shows both when it reports a deadlock. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "err.h"

struct cancel;
struct thread;

/* --- Deadlines: a point on the monotonic clock (clock.h) --- */

struct deadline {
        int64_t mono_ns; /* INT64_MAX: none */
};

#define DEADLINE_NONE ((struct deadline) { INT64_MAX })

/* An amount too large for the clock gives DEADLINE_NONE; a negative amount gives a deadline that has passed already. */
struct deadline deadline_after_ms(int64_t ms);
struct deadline deadline_after_ns(int64_t ns);

static inline bool deadline_is_none(struct deadline d)
{
        return d.mono_ns == INT64_MAX;
}

static inline struct deadline deadline_earliest(struct deadline a, struct deadline b)
{
        return a.mono_ns < b.mono_ns ? a : b;
}

bool deadline_has_passed(struct deadline d);

/* The time that is left: INT64_MAX without a deadline, 0 if it has passed. */
int64_t deadline_remaining_ns(struct deadline d);

/* The same for poll(2) and similar calls: rounded up, -1 without a deadline, at most INT_MAX. */
int deadline_remaining_ms(struct deadline d);

/* --- Threads --- */

/* Starts a thread with a stack of LIMIT_THREAD_STACK_BYTES and all signals blocked. The name is copied; the operating system
 * shows its first 15 bytes. *ret belongs to the caller, who must thread_join it. */
int thread_start(const char *name, void (*fn)(void *arg), void *arg, struct thread **ret, struct err *err);

/* Waits until the thread has ended, then frees it. Not cancelable: cancel the thread's own work instead. */
void thread_join(struct thread *t);

/* The calling thread; borrowed, valid until the thread has ended and is joined. Threads that thread_start did not start have one
 * too. */
struct thread *thread_current(void);

/* Borrowed. The name given to thread_start, or the operating system's name of a thread that thread_start did not start. */
const char *thread_name(const struct thread *t);

/* Lets other threads run. */
void thread_yield(void);

/* Waits until the deadline: 0, or ERR_CANCELED if the token was triggered first. One of the two must be given. */
int thread_sleep(struct deadline deadline, struct cancel *cancel);

/* --- Park and unpark --- */

/* Each thread has one permit, at first absent. unpark gives the permit (giving it twice has the effect of once); park waits for
 * the permit and uses it up. So park returns at once if unpark was called before it.
 *
 * park returns 0, ERR_CANCELED if the token is triggered, or ERR_TIMEOUT when the deadline has passed without a permit. park
 * uses up an existing permit whatever it returns, and may return 0 without a reason. The caller must therefore check its
 * condition after every return, under the lock that protects the condition, and park again if it still has to wait. The calling
 * thread must hold no struct mutex. `what` and `name` are static or outlive the wait; name may be NULL. */
int park(const char *what, const char *name, struct deadline deadline, struct cancel *cancel);

/* The thread must not have been joined. The caller may hold mutexes. */
void unpark(struct thread *t);

/* --- Cancel tokens --- */

/* A token is counted and may be used by any thread. It is triggered at most once, by the first cancel_trigger on it or on one of
 * its ancestors, and stays triggered. The parent may be NULL; a child of a triggered parent is triggered from the start. A child
 * holds a reference on its parent and costs the parent nothing once the child is freed. Chains of tokens are short: a handful of
 * levels that the code nests. */
struct cancel *cancel_new(struct cancel *parent);
struct cancel *cancel_ref(struct cancel *c);
void cancel_unref(struct cancel *c); /* NULL is fine */

/* Triggers the token and its descendants, with a human-readable reason, and wakes every thread that is parked with one of them. */
void cancel_trigger(struct cancel *c, const char *format, ...) _printf_(2, 3);

bool cancel_is_triggered(const struct cancel *c); /* cheap; false for NULL */

/* Borrowed for the life of the token; "" until it is triggered. */
const char *cancel_reason(const struct cancel *c);

/* 0, or ERR_CANCELED with the reason as its text. */
int cancel_check(const struct cancel *c, struct err *err);

/* Turns the result of a wait (0, ERR_TIMEOUT, ERR_CANCELED, ERR_CLOSED) into an error: `WHAT: deadline exceeded`,
 * `WHAT: REASON`, `WHAT: closed`. Returns r. */
int wait_error(int r, const struct cancel *cancel, const char *what, struct err *err);

static inline void cancel_unrefp(struct cancel **c)
{
        cancel_unref(*c);
}

#define _cleanup_cancel_ _cleanup_(cancel_unrefp)

/* --- Mutexes --- */

/* For a few lines that neither park nor call back. In a simulation no other thread runs between lock and unlock, and mutex_lock
 * is a point where the scheduler may let another thread run first; that is why code uses this mutex and not pthread's.
 * mutex_unlock does not access the mutex after it has released it, so the next holder may free it. */
struct mutex {
        pthread_mutex_t m;
};

#define MUTEX_INIT                        \
        {                                 \
                PTHREAD_MUTEX_INITIALIZER \
        }
void mutex_init(struct mutex *m);
void mutex_done(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

/* --- Lists of waiting threads, for building primitives like those below --- */

/* Lives on the stack of the waiting thread; guarded by the mutex of the primitive that the thread waits for. The thread that
 * grants a waiter removes it from the list, so that a grant goes to exactly one waiter, in order of arrival. */
struct waiter {
        struct waiter *next, *prev;
        struct thread *thread;
        bool is_granted;
};

struct waiters {
        struct waiter *first, *last;
};

void waiters_append(struct waiters *list, struct waiter *w); /* sets w->thread to the calling thread */
void waiters_remove(struct waiters *list, struct waiter *w);

/* Takes the first waiter off the list, marks it granted and unparks it. NULL if there is none. */
struct waiter *waiters_grant(struct waiters *list);

/* Called with the mutex held and w on the list; returns with the mutex held. 0 if w was granted, also when it was canceled
 * or timed out at the same moment; else ERR_TIMEOUT or ERR_CANCELED, with w off the list. */
int waiters_wait(struct waiters *list, struct waiter *w, struct mutex *m, const char *what, const char *name,
                 struct deadline deadline, struct cancel *cancel);

/* --- One-shot events --- */

/* Any number of threads wait until one thread calls completion_complete. A completion may live on a waiter's stack: once
 * completion_wait has returned 0, no other thread accesses it. */
struct completion {
        struct mutex mutex;
        struct waiters waiters;
        const char *name;
        _Atomic bool is_done;
};

void completion_init(struct completion *c, const char *name); /* name: static, or outlives it */
void completion_done(struct completion *c);                   /* no thread may be waiting */

/* May be called once only. All memory that the caller wrote before is visible to threads that see the completion done. */
void completion_complete(struct completion *c);

/* 0 if it is done (even with a triggered token, so that a result is not lost), ERR_TIMEOUT, ERR_CANCELED. */
int completion_wait(struct completion *c, struct deadline deadline, struct cancel *cancel);

/* Does not wait. Only completion_wait, not a true result of this function, allows the caller to free the completion. */
bool completion_is_done(const struct completion *c);

/* --- Semaphores: a limit on concurrent work --- */

/* First come, first served: a released permit goes to the thread that has waited longest, and no thread overtakes another. */
struct semaphore {
        struct mutex mutex;
        struct waiters waiters;
        const char *name;
        size_t free; /* 0 while there are waiters */
};

void semaphore_init(struct semaphore *s, const char *name, size_t permits);
void semaphore_done(struct semaphore *s); /* no thread may be waiting */

/* 0 with a permit, ERR_TIMEOUT, or ERR_CANCELED (always if the token is triggered already). */
int semaphore_acquire(struct semaphore *s, struct deadline deadline, struct cancel *cancel);
bool semaphore_try_acquire(struct semaphore *s);
void semaphore_release(struct semaphore *s);
