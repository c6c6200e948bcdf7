/* Whether a rollout may go on, as a function of counts (docs/spec/seeds 3.1). */
#pragma once

#include "rollout.h"

#define ROLLOUT_SAMPLE     10       /* minimumSample, if the Function has none */
#define ROLLOUT_LATENCY_NS 50000000 /* a difference of less is no reason to stop */

struct rollout_limits {
        int64_t max_failed_percent;
        int64_t max_latency_percent; /* 0: latency is not judged */
        int64_t max_deletions;
        int64_t minimum_sample;
};

/* The limits of spec.rollout. */
struct rollout_limits rollout_limits_of(const struct value *rollout);

/* Whether the runs on the new revision are enough to judge it. pending: composites that have not run since the share moved. */
bool rollout_is_sampled(const struct rollout_limits *limits, const struct rollout_counts *to, uint64_t pending);

struct rollout_verdict {
        bool is_bad;
        struct str reason;  /* of the status: FatalResults, Latency, Deletions */
        struct str message; /* in the arena */
};

/* Deletions are judged at once, because they cannot be taken back; the rest when the runs are enough. */
struct rollout_verdict rollout_judge(struct arena *a, const struct rollout_limits *limits,
                                     const struct rollout_counts counts[_ROLLOUT_SIDES], bool is_sampled);
