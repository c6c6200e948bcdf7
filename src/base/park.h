/* Threads, and everything a thread may wait with.
 *
 * Every wait in the program ends in park(), takes a deadline and a cancel token, and can therefore be driven one thread at
 * a time by the seeded scheduler of sim.h. Nothing else blocks, with two exceptions: a struct mutex around a few lines
 * that do not park, and system calls that the operating system answers at once.
 *
 * Deadlines bound waiting, not work: a call that need not wait succeeds after its deadline too. A cancel token may be NULL
 * wherever one is asked for.
 *
 * Whoever waits gives the kind of wait and the object's name; both show up where a simulation reports a deadlock. */
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

/* An amount too large for the clock gives none; a negative one has passed already. */
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

/* What is left: INT64_MAX without a deadline, 0 when it has passed. */
int64_t deadline_remaining_ns(struct deadline d);

/* The same for poll(2) and its kin: rounded up, -1 without a deadline, at most INT_MAX. */
int deadline_remaining_ms(struct deadline d);

/* --- Threads --- */

/* Starts a thread with a stack of LIMIT_THREAD_STACK_BYTES and all signals blocked. The name is copied; the operating system
 * shows its first 15 bytes. *ret belongs to the caller, who must thread_join it. */
int thread_start(const char *name, void (*fn)(void *arg), void *arg, struct thread **ret, struct err *err);

/* Waits until the thread has ended, then frees it. Not cancelable: cancel the thread's own work instead. */
void thread_join(struct thread *t);

/* The calling thread; borrowed, valid until it ends and is joined. Threads that others started have one too. */
struct thread *thread_current(void);

/* Borrowed; what thread_start was given, or the operating system's name of a thread that others started. */
const char *thread_name(const struct thread *t);

/* Lets others run. */
void thread_yield(void);

/* Waits until the deadline: 0, or ERR_CANCELED if the token was triggered first. One of the two must be given. */
int thread_sleep(struct deadline deadline, struct cancel *cancel);

/* --- Park and unpark --- */

/* Each thread has one permit, at first absent. unpark gives it (giving it twice is as once); park waits for it and uses it
 * up. So an unpark that comes first makes the next park return at once.
 *
 * park returns 0, ERR_CANCELED if the token is triggered, or ERR_TIMEOUT when the deadline has passed without a permit. It
 * uses up a permit that is there whatever it returns, and may return 0 without a reason: the caller looks at its condition
 * after every return, under whatever protects that, and parks again if it still has to wait. The calling thread must
 * hold no struct mutex. `what` and `name` are static or outlive the wait; name may be NULL. */
int park(const char *what, const char *name, struct deadline deadline, struct cancel *cancel);

/* The thread must not have been joined. The caller may hold mutexes. */
void unpark(struct thread *t);

/* --- Cancel tokens --- */

/* A token is counted and may be used by any thread. It is triggered at most once, by the first cancel_trigger on it or on
 * one of its ancestors, and stays so. The parent may be NULL; a child of a triggered parent is triggered from the start.
 * A child holds a reference on its parent and costs nothing once it is gone. Chains are as long as program code nests
 * them, a handful. */
struct cancel *cancel_new(struct cancel *parent);
struct cancel *cancel_ref(struct cancel *c);
void cancel_unref(struct cancel *c); /* NULL is fine */

/* Triggers the token and its descendants with a reason for people, and wakes every thread that is parked with one of them. */
void cancel_trigger(struct cancel *c, const char *format, ...) _printf_(2, 3);

bool cancel_is_triggered(const struct cancel *c); /* cheap; NULL never is */

/* Borrowed for the life of the token; "" until it is triggered. */
const char *cancel_reason(const struct cancel *c);

/* 0, or ERR_CANCELED with the reason as its text. */
int cancel_check(const struct cancel *c, struct err *err);

/* Turns what a wait returned (0, ERR_TIMEOUT, ERR_CANCELED, ERR_CLOSED) into an error: `WHAT: deadline exceeded`, `WHAT: REASON`,
 * `WHAT: closed`. Returns r. */
int wait_error(int r, const struct cancel *cancel, const char *what, struct err *err);

static inline void cancel_unrefp(struct cancel **c)
{
        cancel_unref(*c);
}

#define _cleanup_cancel_ _cleanup_(cancel_unrefp)

/* --- Mutexes --- */

/* For a few lines that neither park nor call back. In a simulation no other thread runs between lock and unlock, and taking
 * one is a point where the scheduler may let another thread go first; that is why code uses this one and not pthread's.
 * Once mutex_unlock has let go it does not look at the mutex again, so the next holder may free it. */
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

/* Lives on the stack of the thread that waits; guarded by the mutex of the primitive it waits for. Whoever grants it takes
 * it off the list, so that a grant goes to exactly one waiter, in the order of arrival. */
struct waiter {
        struct waiter *next, *prev;
        struct thread *thread;
        bool is_granted;
};

struct waiters {
        struct waiter *first, *last;
};

void waiters_append(struct waiters *list, struct waiter *w); /* w->thread is the caller's from now on */
void waiters_remove(struct waiters *list, struct waiter *w);

/* Takes the first waiter off the list, marks it granted and unparks it. NULL if there is none. */
struct waiter *waiters_grant(struct waiters *list);

/* Called with the mutex held and w on the list; returns with the mutex held. 0 if w was granted, also when it was canceled
 * or timed out at the same moment; else ERR_TIMEOUT or ERR_CANCELED, with w off the list. */
int waiters_wait(struct waiters *list, struct waiter *w, struct mutex *m, const char *what, const char *name,
                 struct deadline deadline, struct cancel *cancel);

/* --- One-shot events --- */

/* Any number of threads wait until someone says that it is done. It may live on a waiter's stack: once a completion_wait
 * has returned 0 nobody touches it any more. */
struct completion {
        struct mutex mutex;
        struct waiters waiters;
        const char *name;
        _Atomic bool is_done;
};

void completion_init(struct completion *c, const char *name); /* name: static, or outlives it */
void completion_done(struct completion *c);                   /* nobody may be waiting */

/* Once only. What the caller wrote before is visible to whoever sees it done. */
void completion_complete(struct completion *c);

/* 0 when it is done (also with a triggered token: an answer that is there is not lost), ERR_TIMEOUT, ERR_CANCELED. */
int completion_wait(struct completion *c, struct deadline deadline, struct cancel *cancel);

/* Without waiting. A true answer does not entitle to free the completion; only a completion_wait does. */
bool completion_is_done(const struct completion *c);

/* --- Semaphores: a cap on what is in flight --- */

/* First come, first served: a released permit goes to the thread that has waited longest, and nobody overtakes it. */
struct semaphore {
        struct mutex mutex;
        struct waiters waiters;
        const char *name;
        size_t free; /* 0 while there are waiters */
};

void semaphore_init(struct semaphore *s, const char *name, size_t permits);
void semaphore_done(struct semaphore *s); /* nobody may be waiting */

/* 0 with a permit, ERR_TIMEOUT, or ERR_CANCELED (always with a token that is triggered already). */
int semaphore_acquire(struct semaphore *s, struct deadline deadline, struct cancel *cancel);
bool semaphore_try_acquire(struct semaphore *s);
void semaphore_release(struct semaphore *s);
