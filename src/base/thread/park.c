#include "park-driver.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

/* AddressSanitizer makes frames larger. */
#if HAS_ASAN
#define STACK_BYTES (2 * (size_t)LIMIT_THREAD_STACK_BYTES)
#else
#define STACK_BYTES ((size_t)LIMIT_THREAD_STACK_BYTES)
#endif

/* --- Deadlines --- */

struct deadline deadline_after_ns(int64_t ns)
{
        int64_t at;

        if (__builtin_add_overflow(clock_mono_ns(), ns, &at))
                return ns < 0 ? (struct deadline) { INT64_MIN } : DEADLINE_NONE;
        return (struct deadline) { at };
}

struct deadline deadline_after_ms(int64_t ms)
{
        int64_t ns;

        if (__builtin_mul_overflow(ms, NS_PER_MS, &ns))
                ns = ms < 0 ? INT64_MIN : INT64_MAX;
        return deadline_after_ns(ns);
}

bool deadline_has_passed(struct deadline d)
{
        return !deadline_is_none(d) && clock_mono_ns() >= d.mono_ns;
}

int64_t deadline_remaining_ns(struct deadline d)
{
        int64_t now;

        if (deadline_is_none(d))
                return INT64_MAX;
        now = clock_mono_ns();
        return d.mono_ns > now ? d.mono_ns - now : 0;
}

int deadline_remaining_ms(struct deadline d)
{
        int64_t ns = deadline_remaining_ns(d), ms;

        if (ns == INT64_MAX)
                return -1;
        ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);
        return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* --- Futexes --- */

void futex_wait(_Atomic uint32_t *word, uint32_t expected, struct deadline deadline)
{
        struct timespec at, *timeout = NULL;

        if (!deadline_is_none(deadline)) {
                int64_t ns = MAX(deadline.mono_ns, (int64_t)0);

                at = (struct timespec) { .tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND };
                timeout = &at;
        }
        /* Unlike FUTEX_WAIT, the bitset form takes a point in time on the monotonic clock. */
        syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, timeout, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(_Atomic uint32_t *word)
{
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* --- Threads --- */

static __thread struct thread *current;
static pthread_key_t adopted_key;
static pthread_once_t adopted_once = PTHREAD_ONCE_INIT;

static void free_thread(void *p)
{
        struct thread *t = p;

        completion_done(&t->ended);
        free(t);
}

static void forget_adopted(void *p)
{
        current = NULL;
        free_thread(p);
}

static void make_adopted_key(void)
{
        int r = pthread_key_create(&adopted_key, forget_adopted);

        assert(r == 0);
}

static struct thread *new_thread(const char *name)
{
        struct thread *t = xcalloc(1, sizeof(*t));

        snprintf(t->name, sizeof(t->name), "%s", name);
        completion_init(&t->ended, t->name);
        return t;
}

/* Makes a struct thread for a thread that thread_start did not start (main, a library's), so that it can park. */
static _noinline_ struct thread *adopt_thread(void)
{
        char name[16] = "";

        pthread_once(&adopted_once, make_adopted_key);
        pthread_getname_np(pthread_self(), name, sizeof(name));
        current = new_thread(name);
        pthread_setspecific(adopted_key, current);
        return current;
}

struct thread *thread_current(void)
{
        return LIKELY(current) ? current : adopt_thread();
}

const char *thread_name(const struct thread *t)
{
        return t->name;
}

static void wake_deferred(struct thread *self);

static void *run_thread(void *p)
{
        struct thread *self = p;
        char shown[16];

        current = self;
        snprintf(shown, sizeof(shown), "%.15s", self->name);
        pthread_setname_np(pthread_self(), shown);
        if (self->driver)
                self->driver->begin(self);
        self->fn(self->arg);
        assert(self->mutexes_held == 0);
        self->mutexes_held++; /* no more switches in a simulation: a joining thread now waits for the system's thread */
        completion_complete(&self->ended);
        wake_deferred(self);
        if (self->driver)
                self->driver->end(self);
        return NULL;
}

static int start_pthread(struct thread *t)
{
        pthread_attr_t attributes;
        sigset_t all;
        int r;

        sigfillset(&all);
        r = pthread_attr_init(&attributes);
        assert(r == 0);
        r = pthread_attr_setstacksize(&attributes, STACK_BYTES);
        assert(r == 0);
        r = pthread_attr_setsigmask_np(&attributes, &all);
        assert(r == 0);
        r = pthread_create(&t->pthread, &attributes, run_thread, t);
        pthread_attr_destroy(&attributes);
        return r;
}

int thread_start_driven(const char *name, void (*fn)(void *arg), void *arg, const struct park_driver *driver,
                        struct sim *sim, struct thread **ret, struct err *err)
{
        struct thread *t = new_thread(name);
        int r;

        t->fn = fn;
        t->arg = arg;
        t->driver = driver;
        t->sim = sim;
        r = start_pthread(t);
        if (r != 0) {
                free_thread(t);
                return err_set_errno(err, r, "cannot start thread %s", name);
        }
        *ret = t;
        return 0;
}

int thread_start(const char *name, void (*fn)(void *arg), void *arg, struct thread **ret, struct err *err)
{
        struct thread *self = thread_current();
        int r;

        r = thread_start_driven(name, fn, arg, self->driver, self->sim, ret, err);
        if (r < 0)
                return r;
        if (self->driver)
                self->driver->started(self, *ret);
        return 0;
}

void thread_join(struct thread *t)
{
        struct thread *self = thread_current();
        int r;

        assert(t != self);
        r = completion_wait(&t->ended, DEADLINE_NONE, NULL);
        assert(r == 0);
        if (self->driver)
                self->driver->joined(self, t);
        r = pthread_join(t->pthread, NULL);
        assert(r == 0);
        free_thread(t);
}

void thread_yield(void)
{
        struct thread *self = thread_current();

        assert(self->mutexes_held == 0);
        if (self->driver)
                self->driver->point(self, "thread_yield");
        else
                sched_yield();
}

int thread_sleep(struct deadline deadline, struct cancel *cancel)
{
        int r;

        assert(cancel || !deadline_is_none(deadline));
        do
                r = park("thread_sleep", NULL, deadline, cancel);
        while (r == 0);
        return r == ERR_TIMEOUT ? 0 : r;
}

/* --- Park and unpark --- */

static bool take_permit(struct thread *t)
{
        return atomic_exchange_explicit(&t->permit, PERMIT_NONE, memory_order_acq_rel) == PERMIT_GIVEN;
}

static bool wait_for_permit(struct thread *self, struct deadline deadline)
{
        uint32_t expected = PERMIT_NONE;

        if (!atomic_compare_exchange_strong_explicit(&self->permit, &expected, PERMIT_AWAITED, memory_order_acq_rel,
                                                     memory_order_acquire))
                return take_permit(self);
        while (atomic_load_explicit(&self->permit, memory_order_acquire) == PERMIT_AWAITED) {
                if (deadline_has_passed(deadline))
                        break;
                futex_wait(&self->permit, PERMIT_AWAITED, deadline);
        }
        return take_permit(self);
}

/* Wakes the threads whose permits were given under a mutex. Such a thread may have taken its permit already, ended and been freed: then
 * the call finds nobody there. */
static void wake_deferred(struct thread *self)
{
        for (unsigned i = 0; i < self->n_wakes; i++)
                futex_wake(self->wakes[i]);
        self->n_wakes = 0;
}

/* A thread that is woken under a mutex mostly needs that mutex first, and would sleep again: it is woken when the mutex is free. */
static void wake(struct thread *self, _Atomic uint32_t *permit)
{
        if (self->mutexes_held == 0 || self->n_wakes == THREAD_WAKES)
                futex_wake(permit);
        else
                self->wakes[self->n_wakes++] = permit;
}

void unpark(struct thread *t)
{
        const struct park_driver *driver =
                t->driver; /* read before the permit is given: then the thread may run, end and be freed */
        uint32_t before = atomic_exchange_explicit(&t->permit, PERMIT_GIVEN, memory_order_acq_rel);

        if (driver)
                driver->wake(t);
        else if (before == PERMIT_AWAITED)
                wake(thread_current(), &t->permit);
}

/* --- Cancel tokens --- */

/* Locks are taken from parent to child. Children and parked threads are in lists. Both remove themselves under the lock, so code
 * that walks a list under the lock finds only live ones. */
struct cancel_wait {
        struct cancel_wait *next, *prev;
        struct thread *thread;
};

struct cancel {
        _Atomic size_t references;
        _Atomic bool is_triggered; /* set once, under the mutex, after reason */
        char *reason;
        struct cancel *parent; /* counted, or NULL */
        struct mutex mutex;    /* guards this token's own lists, not its place in the parent's list */
        struct cancel_wait *parked;
        struct cancel *first_child;
        struct cancel *next, *prev; /* siblings, guarded by the parent's mutex */
};

/* Part of a larger step of the calling thread: a simulation does not switch threads here. */
static void lock_quietly(struct mutex *m)
{
        pthread_mutex_lock(&m->m);
}

static void unlock_quietly(struct mutex *m)
{
        pthread_mutex_unlock(&m->m);
}

static void add_child(struct cancel *parent, struct cancel *child)
{
        child->next = parent->first_child;
        if (child->next)
                child->next->prev = child;
        parent->first_child = child;
}

static void remove_child(struct cancel *parent, struct cancel *child)
{
        if (child->next)
                child->next->prev = child->prev;
        if (child->prev)
                child->prev->next = child->next;
        else
                parent->first_child = child->next;
}

struct cancel *cancel_new(struct cancel *parent)
{
        struct cancel *c = xcalloc(1, sizeof(*c));

        atomic_init(&c->references, 1);
        mutex_init(&c->mutex);
        if (!parent)
                return c;
        c->parent = cancel_ref(parent);
        lock_quietly(&parent->mutex);
        add_child(parent, c);
        if (cancel_is_triggered(parent)) {
                c->reason = str_to_cstring(str_from(parent->reason));
                atomic_store_explicit(&c->is_triggered, true, memory_order_release);
        }
        unlock_quietly(&parent->mutex);
        return c;
}

struct cancel *cancel_ref(struct cancel *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

void cancel_unref(struct cancel *c)
{
        while (c && atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) == 1) {
                struct cancel *parent = c->parent;

                assert(!c->parked && !c->first_child);
                if (parent) {
                        lock_quietly(&parent->mutex);
                        remove_child(parent, c);
                        unlock_quietly(&parent->mutex);
                }
                mutex_done(&c->mutex);
                free(c->reason);
                free(c);
                c = parent;
        }
}

static void trigger(struct cancel *c, struct str reason)
{
        mutex_lock(&c->mutex);
        if (!cancel_is_triggered(c)) {
                c->reason = str_to_cstring(reason);
                atomic_store_explicit(&c->is_triggered, true, memory_order_release);
                for (struct cancel_wait *w = c->parked; w; w = w->next)
                        unpark(w->thread);
                for (struct cancel *child = c->first_child; child; child = child->next)
                        trigger(child, reason);
        }
        mutex_unlock(&c->mutex);
}

void cancel_trigger(struct cancel *c, const char *format, ...)
{
        _cleanup_buf_ struct buf reason = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&reason, format, arguments);
        va_end(arguments);
        trigger(c, buf_str(&reason));
}

bool cancel_is_triggered(const struct cancel *c)
{
        return c && atomic_load_explicit(&c->is_triggered, memory_order_acquire);
}

const char *cancel_reason(const struct cancel *c)
{
        return cancel_is_triggered(c) ? c->reason : "";
}

int cancel_check(const struct cancel *c, struct err *err)
{
        return cancel_is_triggered(c) ? err_set(err, ERR_CANCELED, "%s", c->reason) : 0;
}

int wait_error(int r, const struct cancel *cancel, const char *what, struct err *err)
{
        switch (r) {
        case ERR_TIMEOUT:
                return err_set(err, r, "%s: deadline exceeded", what);
        case ERR_CANCELED:
                return err_set(err, r, "%s: %s", what, cancel_reason(cancel));
        case ERR_CLOSED:
                return err_set(err, r, "%s: closed", what);
        }
        return r;
}

static void enlist_parked(struct cancel *c, struct cancel_wait *w)
{
        lock_quietly(&c->mutex);
        w->next = c->parked;
        if (w->next)
                w->next->prev = w;
        c->parked = w;
        unlock_quietly(&c->mutex);
}

static void delist_parked(struct cancel *c, struct cancel_wait *w)
{
        lock_quietly(&c->mutex);
        if (w->next)
                w->next->prev = w->prev;
        if (w->prev)
                w->prev->next = w->next;
        else
                c->parked = w->next;
        unlock_quietly(&c->mutex);
}

/* A token that is triggered after the check gives the permit, because the thread is in its list by then. */
static bool park_unless_canceled(struct thread *self, struct deadline deadline, struct cancel *cancel)
{
        if (cancel_is_triggered(cancel))
                deadline.mono_ns = INT64_MIN;
        if (!self->driver)
                return wait_for_permit(self, deadline);
        self->driver->wait(self, deadline);
        return take_permit(self);
}

int park(const char *what, const char *name, struct deadline deadline, struct cancel *cancel)
{
        struct thread *self = thread_current();
        struct cancel_wait w = { .thread = self };
        bool has_permit;

        assert(self->mutexes_held == 0);
        self->wait_what = what;
        self->wait_name = name;
        if (cancel)
                enlist_parked(cancel, &w);
        has_permit = park_unless_canceled(self, deadline, cancel);
        if (cancel)
                delist_parked(cancel, &w);
        self->wait_what = self->wait_name = NULL;
        if (cancel_is_triggered(cancel))
                return ERR_CANCELED;
        return has_permit ? 0 : ERR_TIMEOUT;
}

/* --- Mutexes --- */

void mutex_init(struct mutex *m)
{
        int r = pthread_mutex_init(&m->m, NULL);

        assert(r == 0);
}

void mutex_done(struct mutex *m)
{
        int r = pthread_mutex_destroy(&m->m);

        assert(r == 0);
}

void mutex_lock(struct mutex *m)
{
        struct thread *self = thread_current();
        int r;

        if (self->driver && self->mutexes_held == 0)
                self->driver->point(self, "mutex_lock");
        r = pthread_mutex_lock(&m->m);
        assert(r == 0);
        self->mutexes_held++;
}

void mutex_unlock(struct mutex *m)
{
        struct thread *self = thread_current();
        int r;

        assert(self->mutexes_held > 0);
        r = pthread_mutex_unlock(&m->m);
        assert(r == 0);
        self->mutexes_held--;
        if (UNLIKELY(self->n_wakes > 0) && self->mutexes_held == 0)
                wake_deferred(self);
        if (UNLIKELY(self->has_pending_point) && self->mutexes_held == 0)
                self->driver->point(self, "unpark");
}

/* --- Lists of waiting threads --- */

void waiters_append(struct waiters *list, struct waiter *w)
{
        w->thread = thread_current();
        w->is_granted = false;
        w->next = NULL;
        w->prev = list->last;
        if (list->last)
                list->last->next = w;
        else
                list->first = w;
        list->last = w;
}

void waiters_remove(struct waiters *list, struct waiter *w)
{
        if (w->prev)
                w->prev->next = w->next;
        else
                list->first = w->next;
        if (w->next)
                w->next->prev = w->prev;
        else
                list->last = w->prev;
        w->next = w->prev = NULL;
}

struct waiter *waiters_grant(struct waiters *list)
{
        struct waiter *w = list->first;

        if (!w)
                return NULL;
        waiters_remove(list, w);
        w->is_granted = true;
        unpark(w->thread);
        return w;
}

int waiters_wait(struct waiters *list, struct waiter *w, struct mutex *m, const char *what, const char *name,
                 struct deadline deadline, struct cancel *cancel)
{
        int r = 0;

        while (!w->is_granted && r == 0) {
                mutex_unlock(m);
                r = park(what, name, deadline, cancel);
                mutex_lock(m);
        }
        if (w->is_granted)
                return 0;
        waiters_remove(list, w);
        return r;
}

/* --- One-shot events --- */

void completion_init(struct completion *c, const char *name)
{
        *c = (struct completion) { .name = name };
        mutex_init(&c->mutex);
}

void completion_done(struct completion *c)
{
        assert(!c->waiters.first);
        mutex_done(&c->mutex);
}

void completion_complete(struct completion *c)
{
        mutex_lock(&c->mutex);
        assert(!c->is_done);
        atomic_store_explicit(&c->is_done, true, memory_order_release);
        while (waiters_grant(&c->waiters))
                ;
        mutex_unlock(&c->mutex);
}

int completion_wait(struct completion *c, struct deadline deadline, struct cancel *cancel)
{
        struct waiter w;
        int r = 0;

        mutex_lock(
                &c->mutex); /* even if it is done: the completing thread must have released the mutex before the caller goes on */
        if (!completion_is_done(c)) {
                waiters_append(&c->waiters, &w);
                r = waiters_wait(&c->waiters, &w, &c->mutex, "completion_wait", c->name, deadline, cancel);
        }
        mutex_unlock(&c->mutex);
        return r;
}

bool completion_is_done(const struct completion *c)
{
        return atomic_load_explicit(&c->is_done, memory_order_acquire);
}

/* --- Semaphores --- */

void semaphore_init(struct semaphore *s, const char *name, size_t permits)
{
        *s = (struct semaphore) { .name = name, .free = permits };
        mutex_init(&s->mutex);
}

void semaphore_done(struct semaphore *s)
{
        assert(!s->waiters.first);
        mutex_done(&s->mutex);
}

bool semaphore_try_acquire(struct semaphore *s)
{
        bool has_permit;

        mutex_lock(&s->mutex);
        has_permit = s->free > 0;
        s->free -= has_permit;
        mutex_unlock(&s->mutex);
        return has_permit;
}

int semaphore_acquire(struct semaphore *s, struct deadline deadline, struct cancel *cancel)
{
        struct waiter w;
        int r = 0;

        if (cancel_is_triggered(cancel))
                return ERR_CANCELED;
        mutex_lock(&s->mutex);
        if (s->free > 0) {
                s->free--;
        } else {
                waiters_append(&s->waiters, &w);
                r = waiters_wait(&s->waiters, &w, &s->mutex, "semaphore_acquire", s->name, deadline, cancel);
        }
        mutex_unlock(&s->mutex);
        return r;
}

void semaphore_release(struct semaphore *s)
{
        mutex_lock(&s->mutex);
        if (!waiters_grant(&s->waiters))
                s->free++;
        mutex_unlock(&s->mutex);
}
