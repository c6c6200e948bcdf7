#include "rollout-judge.h"

#include <inttypes.h>

struct rollout_limits rollout_limits_of(const struct value *rollout)
{
        return (struct rollout_limits) {
                .max_failed_percent = value_int(value_get(rollout, STR("maxFatalPercent")), 0),
                .max_latency_percent = value_int(value_get(rollout, STR("maxLatencyPercent")), 0),
                .max_deletions = value_int(value_get(rollout, STR("maxDeletions")), 0),
                .minimum_sample = value_int(value_get(rollout, STR("minimumSample")), ROLLOUT_SAMPLE),
        };
}

bool rollout_is_sampled(const struct rollout_limits *limits, const struct rollout_counts *to, uint64_t pending)
{
        return pending == 0 || to->runs >= (uint64_t)limits->minimum_sample;
}

/* A part of the runs, 0 to 1. */
static double rate(uint64_t part, uint64_t runs)
{
        return runs ? (double)part / (double)runs : 0;
}

static double mean_ms(const struct rollout_counts *c)
{
        return c->runs ? (double)c->duration_ns / 1e6 / (double)c->runs : 0;
}

static bool deletes_too_much(const struct rollout_limits *l, const struct rollout_counts *from,
                             const struct rollout_counts *to)
{
        double usual = rate(from->deletions, from->runs) * (double)to->runs;

        return (double)to->deletions > usual + (double)l->max_deletions;
}

static bool fails_too_often(const struct rollout_limits *l, const struct rollout_counts *from,
                            const struct rollout_counts *to)
{
        return rate(to->failed, to->runs) > rate(from->failed, from->runs) + (double)l->max_failed_percent / 100 + 1e-9;
}

static bool is_too_slow(const struct rollout_limits *l, const struct rollout_counts *from,
                        const struct rollout_counts *to)
{
        double old = mean_ms(from), new = mean_ms(to);

        return l->max_latency_percent > 0 && from->runs > 0 && new > old *(double)l->max_latency_percent / 100 &&
               new > old + ROLLOUT_LATENCY_NS / 1e6;
}

struct rollout_verdict rollout_judge(struct arena *a, const struct rollout_limits *limits,
                                     const struct rollout_counts counts[_ROLLOUT_SIDES], bool is_sampled)
{
        const struct rollout_counts *from = &counts[ROLLOUT_FROM], *to = &counts[ROLLOUT_TO];

        if (to->runs == 0)
                return (struct rollout_verdict) { 0 };
        if (deletes_too_much(limits, from, to))
                return (struct rollout_verdict) {
                        true, STR("Deletions"),
                        arena_printf(a,
                                     "%" PRIu64 " runs on the new revision deleted %" PRIu64
                                     " composed resources, %" PRIu64 " runs on the old one %" PRIu64
                                     "; maxDeletions is %" PRId64,
                                     to->runs, to->deletions, from->runs, from->deletions, limits->max_deletions)
                };
        if (is_sampled && fails_too_often(limits, from, to))
                return (struct rollout_verdict) {
                        true, STR("FatalResults"),
                        arena_printf(a,
                                     "%" PRIu64 " of %" PRIu64 " runs on the new revision failed, %" PRIu64
                                     " of %" PRIu64 " on the old one; maxFatalPercent is %" PRId64,
                                     to->failed, to->runs, from->failed, from->runs, limits->max_failed_percent)
                };
        if (is_sampled && is_too_slow(limits, from, to))
                return (struct rollout_verdict) {
                        true, STR("Latency"),
                        arena_printf(a,
                                     "a step takes %.1f ms on the new revision and %.1f ms on the old one; "
                                     "maxLatencyPercent is %" PRId64,
                                     mean_ms(to), mean_ms(from), limits->max_latency_percent)
                };
        return (struct rollout_verdict) { 0 };
}
