/* The store in simulation: every schedule is another order of writers, watchers and the collector. Every watcher sees every change
 * once and in order, no update is lost, nothing is left that should have been collected.
 * WEFT_SCHEDULES says how many; WEFT_SEED where they begin. */
#include "store-model.h"

static void schedule(void *arg)
{
        const struct store_options *options = arg;
        struct model model;
        struct writer writers[3];
        struct mirror mirrors[2];

        model_init(&model, options, 6);
        model_run(&model, writers, ARRAY_SIZE(writers), mirrors, ARRAY_SIZE(mirrors), random_system_u64());
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);

        return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void explore(struct store_options options, uint64_t share)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;
        uint64_t n = number_from("WEFT_SCHEDULES", 200) / share;

        if (sim_explore(number_from("WEFT_SEED", 1), n ? n : 1, NULL, schedule, &options, &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        printf("# %llu schedules, the last one of %llu steps\n", (unsigned long long)n,
               (unsigned long long)report.steps);
}

TEST(schedules)
{
        explore((struct store_options) { .accepts_any_kind = true }, 2);
}

/* Hardly anything is kept: watchers are cut off and begin again, older versions are gone when they are asked for. */
TEST(schedules_with_little_history)
{
        explore((struct store_options) { .accepts_any_kind = true, .history_events = 6, .cache_bytes = 1 }, 4);
}

TEST(schedules_with_slow_watchers)
{
        explore((struct store_options) { .accepts_any_kind = true, .watch_bytes = 1500 }, 4);
}
