/* Meters in Prometheus' text form. */
#include "test.h"

#include "buf.h"
#include "meter.h"
#include "park.h"

static const struct meter_options runs = { "runs_total", "Runs.", METER_COUNTER, { "who", "how" } };
static const struct meter_options open_now = { "open", "Open now.", METER_GAUGE, { NULL } };
static const struct meter_options seconds = { "run_seconds", "Time.", METER_HISTOGRAM, { "who" } };

static void check(struct meters *m, const char *wanted)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        meters_append(m, &b);
        ASSERT_TEXT(buf_cstring(&b), wanted);
}

TEST(text)
{
        struct meters *m = meters_new();
        struct str ab[] = { STR("a"), STR("b\"\\\n") }, cd[] = { STR("c"), STR("d") };

        check(m, "");
        meter_add(meters_get(m, &runs), 1, ab);
        meter_add(meters_get(m, &runs), 2, cd);
        meter_add(meters_get(m, &runs), 1, ab);
        meter_set(meters_get(m, &open_now), 5, NULL);
        meter_set(meters_get(m, &open_now), 4, NULL);
        ASSERT(meters_get(m, &runs) == meters_get(m, &runs));
        ASSERT(meter_value(meters_get(m, &runs), ab) == 2);
        check(m, "# HELP runs_total Runs.\n# TYPE runs_total counter\n"
                 "runs_total{who=\"a\",how=\"b\\\"\\\\\\n\"} 2\nruns_total{who=\"c\",how=\"d\"} 2\n"
                 "# HELP open Open now.\n# TYPE open gauge\nopen 4\n");
        meters_free(m);
        meters_free(NULL);
}

TEST(histograms)
{
        struct meters *m = meters_new();
        struct str a = STR("a");

        meter_observe(meters_get(m, &seconds), 5000000, &a); /* the bound itself belongs to its bucket */
        meter_observe(meters_get(m, &seconds), 300000000, &a);
        meter_observe(meters_get(m, &seconds), 20000000000, &a);
        ASSERT(meter_value(meters_get(m, &seconds), &a) == 3);
        check(m, "# HELP run_seconds Time.\n# TYPE run_seconds histogram\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.005\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.01\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.025\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.05\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.1\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.25\"} 1\n"
                 "run_seconds_bucket{who=\"a\",le=\"0.5\"} 2\n"
                 "run_seconds_bucket{who=\"a\",le=\"1\"} 2\n"
                 "run_seconds_bucket{who=\"a\",le=\"2.5\"} 2\n"
                 "run_seconds_bucket{who=\"a\",le=\"5\"} 2\n"
                 "run_seconds_bucket{who=\"a\",le=\"10\"} 2\n"
                 "run_seconds_bucket{who=\"a\",le=\"+Inf\"} 3\n"
                 "run_seconds_sum{who=\"a\"} 20.305\n"
                 "run_seconds_count{who=\"a\"} 3\n");
        meters_free(m);
}

TEST(without_meters_nothing_is_counted)
{
        struct str a = STR("a");

        ASSERT(!meters_get(NULL, &seconds));
        meter_observe(NULL, 1, &a);
        meter_add(NULL, 1, &a);
        check(NULL, "");
}

static void count(void *arg)
{
        struct str a = STR("a");

        for (int i = 0; i < 1000; i++)
                meter_observe(meters_get(arg, &seconds), i, &a);
}

TEST(any_thread)
{
        struct meters *m = meters_new();
        struct thread *threads[4];
        struct str a = STR("a");

        for (size_t i = 0; i < 4; i++)
                ASSERT(thread_start("count", count, m, &threads[i], NULL) == 0);
        for (size_t i = 0; i < 4; i++)
                thread_join(threads[i]);
        ASSERT(meter_value(meters_get(m, &seconds), &a) == 4000);
        meters_free(m);
}
