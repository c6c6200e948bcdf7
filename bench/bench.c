#include "bench.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Time per unit over `count` units in a row. */
static double measure(clockid_t clock, const struct contender *c, size_t count)
{
        uint64_t start = now_ns(clock);

        for (size_t i = 0; i < count; i++)
                c->run(c->context);
        return (double)(now_ns(clock) - start) / (double)count;
}

/* The number of units that take about a millisecond together, so that the cost of reading the clock does not matter. */
static size_t batch_of(clockid_t clock, const struct contender *c)
{
        double ns;

        measure(clock, c, 1);
        ns = measure(clock, c, 1);
        return ns >= 1e6 ? 1 : (size_t)(1e6 / (ns + 1)) + 1;
}

static void compare(clockid_t clock, const struct contender *contenders, size_t n, double seconds, double *ret_ns)
{
        uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
        size_t batches[8];

        if (n > sizeof(batches) / sizeof(batches[0]))
                n = sizeof(batches) / sizeof(batches[0]);
        for (size_t i = 0; i < n; i++) {
                batches[i] = batch_of(clock, &contenders[i]);
                ret_ns[i] = measure(clock, &contenders[i], batches[i]);
        }
        do {
                for (size_t i = 0; i < n; i++) {
                        double ns = measure(clock, &contenders[i], batches[i]);

                        if (ns < ret_ns[i])
                                ret_ns[i] = ns;
                }
        } while (now_ns(CLOCK_MONOTONIC) < end);
}

/* Measures processor time: other work on the machine does not count. */
void bench_compare(const struct contender *contenders, size_t n, double seconds, double *ret_ns)
{
        compare(CLOCK_THREAD_CPUTIME_ID, contenders, n, seconds, ret_ns);
}

void bench_compare_process(const struct contender *contenders, size_t n, double seconds, double *ret_ns)
{
        compare(CLOCK_PROCESS_CPUTIME_ID, contenders, n, seconds, ret_ns);
}

int bench_report(const char *what, const char *ours, double ours_value, const char *peer, double peer_value,
                 double wanted)
{
        double ratio = peer_value / ours_value;
        int is_met = ratio >= wanted;

        printf("%-34s %9.2f %-14s vs %9.2f %-18s = %6.2fx (wanted >= %gx) %s\n", what, ours_value, ours, peer_value,
               peer, ratio, wanted, is_met ? "ok" : "MISSED");
        return is_met;
}
