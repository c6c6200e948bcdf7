#include "bench.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Time per unit over `count` units in a row, as the processor spent it on this thread: other work on the machine does not
 * count. */
static double measure(const struct contender *c, size_t count)
{
        uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);

        for (size_t i = 0; i < count; i++)
                c->run(c->context);
        return (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)count;
}

/* Units that take about a millisecond together, so that the clock costs nothing. */
static size_t batch_of(const struct contender *c)
{
        double ns;

        measure(c, 1);
        ns = measure(c, 1);
        return ns >= 1e6 ? 1 : (size_t)(1e6 / (ns + 1)) + 1;
}

void bench_compare(const struct contender *contenders, size_t n, double seconds, double *ret_ns)
{
        uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
        size_t batches[8];

        if (n > sizeof(batches) / sizeof(batches[0]))
                n = sizeof(batches) / sizeof(batches[0]);
        for (size_t i = 0; i < n; i++) {
                batches[i] = batch_of(&contenders[i]);
                ret_ns[i] = measure(&contenders[i], batches[i]);
        }
        do {
                for (size_t i = 0; i < n; i++) {
                        double ns = measure(&contenders[i], batches[i]);

                        if (ns < ret_ns[i])
                                ret_ns[i] = ns;
                }
        } while (now_ns(CLOCK_MONOTONIC) < end);
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
