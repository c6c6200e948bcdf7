/* The store in simulation: every schedule is another order of writers, watchers and the collector. Every watcher sees every change
 * once and in order, no update is lost, nothing is left that should have been collected.
 * WEFT_SCHEDULES says how many; WEFT_SEED where they begin. */
#include "store-model.h"

#include "log-test.h"

static void schedule(void *arg)
{
        const struct store_options *options = arg;
        struct model model;
        struct writer writers[3];
        struct mirror mirrors[4];

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

/* --- A kind that comes while the collector looks for owners of that kind --- */

static struct gvk gadget_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("Gadget") };
}

static void create_gadget(void *arg)
{
        struct model *m = arg;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .verb = WRITE_CREATE, .key = key_of(gadget_gvk(), "default", "other") };
        struct write_result result;

        arena_init(&a, "gadget", 0);
        req.body = model_json(&a, "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":"
                                  "\"other\",\"namespace\":\"default\"}}");
        CHECK(cluster_write(m->cluster, &run, &req, &result, NULL) == 0);
        arena_done(&a);
}

static void schedule_new_kind(void *arg)
{
        struct store_options options = { .accepts_any_kind = true };
        struct object_key key = model_key("dependent");
        const struct value *v;
        struct thread *thread;
        struct model m;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        model_init(&m, &options, 0);
        arena_init(&a, "new kind", 0);
        CHECK(thread_start("gadget", create_gadget, &m, &thread, NULL) == 0);
        CHECK(model_write(&m, &run, WRITE_CREATE, "dependent",
                          model_widget(&a, "dependent",
                                       ",\"ownerReferences\":[{\"apiVersion\":\"example.org/v1\",\"kind\":\"Gadget\","
                                       "\"name\":\"gone\",\"uid\":\"1\"}]"),
                          PROPAGATE_UNSET) == 0);
        thread_join(thread);
        CHECK(store_settle(m.store, &run, NULL) == 0);
        CHECK(cluster_get_value(m.cluster, &run, &key, &v, NULL) == ERR_NOT_FOUND);
        arena_done(&a);
        store_free(m.store);
}

TEST(dependents_of_a_kind_that_has_just_come_are_collected)
{
        _cleanup_err_ struct err err = { 0 };

        if (sim_explore(1, number_from("WEFT_SCHEDULES", 200) * 8, NULL, schedule_new_kind, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

/* Neither is anything kept for those who walk. */
TEST(schedules_with_slow_readers)
{
        explore((struct store_options) { .accepts_any_kind = true, .history_events = 1, .watch_bytes = 1 }, 4);
}

/* --- On the durable log --- */

/* The writers and watchers of a schedule on a log in files, which is then opened again. */
static void schedule_on_log(void *arg _unused_)
{
        struct sqlite_log_options log_options = { .history_events = 10, .garbage_bytes = 5000, .wal_bytes = 100000 };
        struct store_options options = { .accepts_any_kind = true };
        char directory[64];
        struct sqlite_log *log;
        struct model model;
        struct writer writers[3];
        struct mirror mirrors[4];
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        snprintf(directory, sizeof(directory), "%s/weft-sim-XXXXXX", fast_directory());
        CHECK(mkdtemp(directory));
        CHECK(sqlite_log_open(directory, &log_options, &log, NULL) == 0);
        options.log = sqlite_log_base(log);
        model_init(&model, &options, 6);
        model_run(&model, writers, ARRAY_SIZE(writers), mirrors, ARRAY_SIZE(mirrors), random_system_u64());
        sqlite_log_close(log);
        CHECK(sqlite_log_open(directory, &log_options, &log, NULL) == 0);
        options.log = sqlite_log_base(log);
        CHECK(store_new(&options, &model.store, NULL) == 0);
        model.cluster = store_cluster(model.store);
        arena_init(&a, "again", 0);
        CHECK(store_settle(model.store, &run, NULL) == 0);
        model_check_counters(&model, &run);
        model_check_collected(&model, &run);
        arena_done(&a);
        store_free(model.store);
        sqlite_log_close(log);
        remove_directory(directory);
}

TEST(schedules_on_the_durable_log)
{
        _cleanup_err_ struct err err = { 0 };

        if (sim_explore(number_from("WEFT_SEED", 1), number_from("WEFT_SCHEDULES", 200) / 4 + 1, NULL, schedule_on_log,
                        NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}
