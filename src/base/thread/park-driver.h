/* The internals of a thread, for park.c and sim.c only. */
#pragma once

#include "park.h"

#define THREAD_NAME_BYTES 64

/* Takes the place of the operating system for the threads of a simulation. */
struct park_driver {
        void (*begin)(struct thread *self);                         /* first thing in a new thread */
        void (*started)(struct thread *self, struct thread *child); /* runs in the thread that started the child */
        void (*end)(struct thread *self); /* last thing in a thread; from then on the thread runs unscheduled */
        void (*joined)(struct thread *self, struct thread *t);       /* t has ended and is about to be freed */
        void (*wait)(struct thread *self, struct deadline deadline); /* until the permit is given or time is up */
        void (*wake)(struct thread *t);                              /* the permit of t was just given */
        void (*point)(struct thread *self, const char *what);        /* another thread may run first */
};

enum permit {
        PERMIT_NONE,
        PERMIT_GIVEN,
        PERMIT_AWAITED, /* absent, and the thread sleeps until it is given */
};

/* Home, unless a field says otherwise: the thread itself; in a simulation, the thread that has the turn. */
#define THREAD_WAKES 64 /* more are woken at once */

struct thread {
        char name[THREAD_NAME_BYTES]; /* immutable after the start */
        _Atomic uint32_t permit;      /* enum permit; anyone, atomically */
        unsigned mutexes_held;
        unsigned n_wakes; /* of wakes; this thread alone */
        _Atomic uint32_t
                *wakes[THREAD_WAKES]; /* permits given under a mutex whose threads are woken when it is released */
        const char *wait_what;        /* NULL unless parked */
        const char *wait_name;
        struct completion ended;
        pthread_t pthread;
        void (*fn)(void *arg); /* immutable after the start, like all fields below up to the driver's */
        void *arg;
        const struct park_driver *driver; /* NULL outside simulations */
        struct sim *sim;

        /* Fields of the driver. */
        _Atomic uint32_t has_turn; /* 1: may run */
        size_t number;             /* in order of start */
        struct deadline wait_until;
        bool has_ended;
        bool has_pending_point; /* a wake-up happened under a mutex; other threads may run first once it is released */
};

/* As thread_start, with a driver of the caller's choice. */
int thread_start_driven(const char *name, void (*fn)(void *arg), void *arg, const struct park_driver *driver,
                        struct sim *sim, struct thread **ret, struct err *err);

/* Sleeps while *word equals expected, at most until the deadline on the real clock; may return early. */
void futex_wait(_Atomic uint32_t *word, uint32_t expected, struct deadline deadline);
void futex_wake(_Atomic uint32_t *word);
