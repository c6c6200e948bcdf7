/* Simulation: runs the program's own threads one at a time, in an order that a seed decides, on a simulated clock.
 *
 * Inside sim_run every thread is a real one, but only one of them runs; the others stand still. At each park, unpark, yield,
 * start and end of a thread and whenever a struct mutex is taken (so at every operation of a queue, completion, semaphore or
 * token) the seeded generator chooses the thread that runs next. Time stands still while any thread can run; when all threads
 * wait, it jumps to the earliest deadline. Equal seeds give equal runs, in every process; different seeds try different orders.
 *
 * Rules for threads inside: they start with thread_start, wait only through park.h, read time from clock.h and randomness from
 * random.h, and share nothing with outside threads that could change their behaviour from run to run. Threads outside run as
 * usual, on the real clock; they must not unpark a thread inside. */
#pragma once

#include "clock.h"
#include "err.h"

struct sim_step {
        uint64_t number;    /* from 1 */
        int64_t now_ns;     /* simulated, since the start */
        const char *what;   /* the call at which the running thread stopped: "mutex_lock", "park", ... */
        const char *thread; /* the thread that runs next */
        size_t n_runnable;  /* number of threads it was chosen from */
};

struct sim_options {
        uint64_t max_steps; /* 0: one million */
        int64_t step_ns; /* running from one step to the next takes up to this much time, chosen by the seed; 0: none */
        struct instant wall; /* the time of day at the start; 0: 2030-01-01T00:00:00Z */
        void (*trace)(void *arg, const struct sim_step *step); /* called at every step, if given */
        void *trace_arg;
};

struct sim_report {
        uint64_t seed;
        uint64_t steps;
        uint64_t switches;   /* steps at which another thread was chosen */
        uint64_t trace_hash; /* of all decisions: equal runs have equal hashes */
        int64_t elapsed_ns;  /* simulated */
        size_t threads;      /* started, the first included */
};

/* Runs fn(arg) and all threads that it starts, until the last thread has ended. 0, or an error that names the seed: ERR_CONFLICT
 * for a deadlock, with each thread and what it waits for; ERR_LIMIT for too many steps; ERR_FAILED for sim_fail; ERR_SYSTEM when
 * no thread can be started. After an error the threads inside never run again, and their resources are not freed: a failed
 * simulation ends a test. options, report and err may be NULL. */
int sim_run(uint64_t seed, const struct sim_options *options, void (*fn)(void *arg), void *arg,
            struct sim_report *report, struct err *err);

/* Runs seeds first_seed, first_seed + 1, ... and stops at the first error. The report is that of the failed run. */
int sim_explore(uint64_t first_seed, uint64_t count, const struct sim_options *options, void (*fn)(void *arg),
                void *arg, struct sim_report *report, struct err *err);

/* Ends the simulation that the calling thread is in as failed. Aborts outside of one. */
_Noreturn void sim_fail(const char *format, ...) _printf_(1, 2);

#define SIM_ASSERT(condition)                                                           \
        do {                                                                            \
                if (!(condition))                                                       \
                        sim_fail("%s:%d: %s is false", __FILE__, __LINE__, #condition); \
        } while (0)

/* A point where the scheduler may let another thread run first, for code that shares memory without a mutex. Does nothing
 * outside a simulation. */
void sim_point(const char *what);

/* True on a thread of a simulation. */
bool sim_is_running(void);
