/* Eight writers and eight watchers on real threads. WEFT_OPERATIONS says how many operations there are altogether. */
#include "memory-log.h"

static void stress(struct store_options options, uint64_t share)
{
        const char *text = getenv("WEFT_OPERATIONS");
        uint64_t n = (text && *text ? strtoull(text, NULL, 10) : 8000) / share;
        struct writer writers[8];
        struct mirror mirrors[8];
        struct model model;
        uint64_t n_events = 0;

        model_init(&model, &options, n / ARRAY_SIZE(writers));
        model_run(&model, writers, ARRAY_SIZE(writers), mirrors, ARRAY_SIZE(mirrors), 1);
        for (size_t i = 0; i < ARRAY_SIZE(mirrors); i++)
                n_events += mirrors[i].n_events;
        printf("# %llu operations, %llu events seen\n", (unsigned long long)model.n_operations,
               (unsigned long long)n_events);
        ASSERT_INT(model.n_operations, n / ARRAY_SIZE(writers) * ARRAY_SIZE(writers));
}

TEST(writers_and_watchers)
{
        stress((struct store_options) { .accepts_any_kind = true }, 2);
}

TEST(writers_and_watchers_with_little_memory)
{
        stress((struct store_options) { .accepts_any_kind = true, .history_events = 200, .cache_bytes = 64 << 10 }, 2);
}

TEST(writers_and_watchers_with_a_log)
{
        struct memory_log log;

        memory_log_init(&log);
        stress((struct store_options) { .accepts_any_kind = true, .log = &log.log }, 4);
        printf("# %zu records, %zu appends, the largest of %zu\n", log.records.n, log.n_appends, log.largest_batch);
        ASSERT(log.n_appends > 0 && log.n_appends <= log.records.n);
        memory_log_done(&log);
}
