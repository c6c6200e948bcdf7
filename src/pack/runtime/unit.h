/* The programs of one revision: as many runs as it has replicas, started again when they end, replaced when the wish changes. A new
 * program answers before the old one gets no more calls, and the old one ends when its connections have.
 *
 * Units live on the runtime's loop. What other threads read is guarded by the runtime's mutex; only the loop thread changes it. */
#pragma once

#include "dialer.h"
#include "map.h"
#include "process.h"

struct process_runtime {
        struct runtime base;
        struct process_runtime_options options;
        struct arena arena; /* the options' texts */
        struct loop *loop;
        struct mutex mutex;
        struct map units; /* struct unit by the name of its revision; they stay until the end */
        size_t n_slots;   /* loop thread only, as the two below */
        bool is_closing;
        struct completion closed;
        uint64_t n_started;
        _Atomic bool is_checked; /* this machine can isolate programs */
};

enum slot_state {
        SLOT_STARTING, /* it runs, and does not answer yet */
        SLOT_READY,
        SLOT_RESTING,  /* it has ended and is started again later */
        SLOT_DRAINING, /* it is no longer wanted, and may have calls */
        SLOT_ENDING,   /* it was told to end */
};

/* One replica. */
struct slot {
        struct slot *next;
        struct unit *unit;
        struct program *program;
        struct process *process; /* NULL while it rests */
        enum slot_state state;
        unsigned n_failures;
        int64_t ready_ns; /* when it began to answer; 0: it has not */
        int64_t drain_ns; /* when it began to drain */
        bool was_quiet;   /* the last look saw no connection */
        bool is_freed;    /* its timer is being closed */
        uv_timer_t timer;
        char message[2400];
};

struct unit {
        struct process_runtime *runtime;
        char *revision;
        struct dialer *dialer;
        struct loop_task task;

        /* The wish; the mutex guards it. */
        struct program *program; /* NULL: none */
        unsigned n_replicas;
        bool is_posted;

        struct slot *slots;
        unsigned n_dialed; /* for the turn of replicas; guarded by the mutex */
        unsigned width;    /* of the dialer */
};

/* With the mutex held. */
struct unit *unit_get(struct process_runtime *r, struct str revision);
void unit_settle_soon(struct unit *u);
struct program_gate *unit_choose_gate(struct unit *u); /* counted; NULL: no program answers */
void unit_describe(const struct unit *u, struct arena *a, struct runtime_state *ret);

void unit_free(struct unit *u); /* without slots */

/* Loop thread. Ends all programs of the unit at once. */
void unit_kill(struct unit *u);
