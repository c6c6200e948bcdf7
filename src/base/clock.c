#include "clock.h"

#include <time.h>

static struct sim_clock *_Atomic simulated; /* NULL: the system's clocks */
static __thread struct sim_clock *simulated_here;

static struct sim_clock *simulated_clock(void)
{
        return simulated_here ? simulated_here : atomic_load_explicit(&simulated, memory_order_acquire);
}

int64_t clock_mono_ns(void)
{
        struct sim_clock *c = simulated_clock();
        struct timespec now;
        int r;

        if (UNLIKELY(c))
                return atomic_load(&c->mono_ns);
        r = clock_gettime(CLOCK_MONOTONIC, &now);
        assert(r == 0);
        return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static struct instant instant_from_ns(int64_t ns)
{
        struct instant t = { .seconds = ns / NS_PER_SECOND, .nanos = (int32_t)(ns % NS_PER_SECOND) };

        if (t.nanos < 0) {
                t.nanos += NS_PER_SECOND;
                t.seconds--;
        }
        return t;
}

struct instant clock_wall(void)
{
        struct sim_clock *c = simulated_clock();
        struct timespec now;
        int r;

        if (UNLIKELY(c))
                return instant_from_ns(atomic_load(&c->wall_ns));
        r = clock_gettime(CLOCK_REALTIME, &now);
        assert(r == 0);
        return (struct instant) { .seconds = now.tv_sec, .nanos = (int32_t)now.tv_nsec };
}

void sim_clock_init(struct sim_clock *c, struct instant wall)
{
        int64_t wall_ns;
        bool fits = !__builtin_mul_overflow(wall.seconds, NS_PER_SECOND, &wall_ns) &&
                    !__builtin_add_overflow(wall_ns, wall.nanos, &wall_ns);

        assert(fits);
        atomic_init(&c->mono_ns, NS_PER_SECOND);
        atomic_init(&c->wall_ns, wall_ns);
}

void sim_clock_advance_to(struct sim_clock *c, int64_t mono_ns)
{
        int64_t now = atomic_load(&c->mono_ns);

        while (now < mono_ns)
                if (atomic_compare_exchange_weak(&c->mono_ns, &now, mono_ns)) {
                        atomic_fetch_add(&c->wall_ns, mono_ns - now);
                        return;
                }
}

void sim_clock_advance(struct sim_clock *c, int64_t ns)
{
        assert(ns >= 0);
        atomic_fetch_add(&c->mono_ns, ns);
        atomic_fetch_add(&c->wall_ns, ns);
}

void sim_clock_step_wall(struct sim_clock *c, int64_t ns)
{
        atomic_fetch_add(&c->wall_ns, ns);
}

struct sim_clock *clock_use(struct sim_clock *c)
{
        return atomic_exchange(&simulated, c);
}

struct sim_clock *clock_use_here(struct sim_clock *c)
{
        struct sim_clock *before = simulated_here;

        simulated_here = c;
        return before;
}
