/* What a thread is made of, for park.c and sim.c alone. */
#pragma once

#include "park.h"

#define THREAD_NAME_BYTES 64

/* Takes the place of the operating system for the threads of a simulation. */
struct park_driver {
        void (*begin)(struct thread *self);                         /* first thing in a new thread */
        void (*started)(struct thread *self, struct thread *child); /* in the thread that started it */
        void (*end)(struct thread *self);                           /* last thing in a thread; it runs on unscheduled */
        void (*joined)(struct thread *self, struct thread *t);      /* t has ended and is about to go */
        void (*wait)(struct thread *self, struct deadline deadline); /* until the permit is given or time is up */
        void (*wake)(struct thread *t);                              /* its permit was just given */
        void (*point)(struct thread *self, const char *what);        /* another thread may go first */
};

enum permit {
        PERMIT_NONE,
        PERMIT_GIVEN,
        PERMIT_AWAITED, /* none, and the thread sleeps on it */
};

/* Home: the thread itself, and in a simulation whichever thread runs, where nothing else is said. */
struct thread {
        char name[THREAD_NAME_BYTES]; /* immutable after the start */
        _Atomic uint32_t permit;      /* enum permit; anyone, atomically */
        unsigned mutexes_held;
        const char *wait_what; /* NULL unless parked */
        const char *wait_name;
        struct completion ended;
        pthread_t pthread;
        void (*fn)(void *arg); /* immutable after the start, as all below up to the driver's data */
        void *arg;
        const struct park_driver *driver; /* NULL outside simulations */
        struct sim *sim;

        /* The driver's own. */
        _Atomic uint32_t has_turn; /* 1: may run */
        size_t number;             /* in order of start */
        struct deadline wait_until;
        bool has_ended;
        bool has_pending_point; /* a wake-up happened under a mutex; others may go first once it is released */
};

/* As thread_start, with a driver of the caller's choice. */
int thread_start_driven(const char *name, void (*fn)(void *arg), void *arg, const struct park_driver *driver,
                        struct sim *sim, struct thread **ret, struct err *err);

/* Sleeps while *word is expected, at most until the deadline on the real clock; may return early. */
void futex_wait(_Atomic uint32_t *word, uint32_t expected, struct deadline deadline);
void futex_wake(_Atomic uint32_t *word);
