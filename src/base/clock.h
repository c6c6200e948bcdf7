/* What time it is. The program asks only here, so that a simulation can answer instead of the system. */
#pragma once

#include "timetext.h"

#include <stdatomic.h>

/* Nanoseconds that never go back, from a start of no meaning; for deadlines and measuring. */
int64_t clock_mono_ns(void);

/* The time of day, which people and other clocks may set at will; for timestamps. */
struct instant clock_wall(void);

/* A clock that stands still until it is told to move. Any thread may read and move it. */
struct sim_clock {
        _Atomic int64_t mono_ns;
        _Atomic int64_t wall_ns; /* since 1970; moves with mono_ns and can be stepped on its own */
};

/* The monotonic clock starts at 1 s, so that a deadline in the past is still positive; the wall clock at `wall`,
 * which lies between the years 1678 and 2262. */
void sim_clock_init(struct sim_clock *c, struct instant wall);

/* Moves both clocks on by what is missing to mono_ns; nothing if it has passed already. */
void sim_clock_advance_to(struct sim_clock *c, int64_t mono_ns);
void sim_clock_advance(struct sim_clock *c, int64_t ns);

/* Sets the wall clock alone forward or back, as an operator or NTP would. */
void sim_clock_step_wall(struct sim_clock *c, int64_t ns);

/* From now on the whole process reads c, or the system's clocks again with NULL. Returns what it read before. The
 * caller sees to it that nobody reads c any more when it goes away. */
struct sim_clock *clock_use(struct sim_clock *c);

/* The same for the calling thread alone; it comes before what the process uses. */
struct sim_clock *clock_use_here(struct sim_clock *c);
