/* The clocks. The program reads time only here, so that a simulation can replace the system's clocks. */
#pragma once

#include "timetext.h"

#include <stdatomic.h>

/* Nanoseconds since an arbitrary start; never goes back. For deadlines and for measuring. */
int64_t clock_mono_ns(void);

/* The time of day, which administrators or NTP may change at any time. For timestamps. */
struct instant clock_wall(void);

/* A clock that moves only when the functions below move it. Any thread may read and move it. */
struct sim_clock {
        _Atomic int64_t mono_ns;
        _Atomic int64_t wall_ns; /* since 1970; moves with mono_ns and can be stepped on its own */
};

/* The monotonic clock starts at 1 s, so that a deadline in the past is still positive; the wall clock at `wall`,
 * which lies between the years 1678 and 2262. */
void sim_clock_init(struct sim_clock *c, struct instant wall);

/* Moves both clocks forward by the time that is left until mono_ns. Does nothing if mono_ns has passed already. */
void sim_clock_advance_to(struct sim_clock *c, int64_t mono_ns);
void sim_clock_advance(struct sim_clock *c, int64_t ns);

/* Moves only the wall clock, forward or back, as an operator or NTP would. */
void sim_clock_step_wall(struct sim_clock *c, int64_t ns);

/* From now on the whole process reads c; with NULL it reads the system's clocks again. Returns the clock that it read before.
 * The caller must make sure that no thread reads c when c is freed. */
struct sim_clock *clock_use(struct sim_clock *c);

/* As clock_use, for the calling thread only; it has precedence over the clock of the process. */
struct sim_clock *clock_use_here(struct sim_clock *c);
