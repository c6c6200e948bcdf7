/* Rollouts of functions: which composites run on the new revision, what is counted, and when it is stopped (docs/spec/seeds 3.1). */
#include "values.h"

#include "registry.h"
#include "rollout-judge.h"

#include <stdio.h>

/* --- Places --- */

TEST(places_are_the_same_in_every_version)
{
        static const struct {
                const char *uid;
                unsigned place;
        } cases[] = {
                { "", 42 },
                { "8c0f4a52-7f3b-4c9e-9a53-0a7b1c2d3e4f", 14 },
                { "00000000-0000-0000-0000-000000000000", 4 },
                { "00000000-0000-0000-0000-000000000001", 3 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_INT(rollout_place(str_from(cases[i].uid)), cases[i].place);
}

static unsigned count_new(int64_t percent, unsigned n)
{
        struct rollout_plan plan = { .is_on = true, .percent = percent };
        unsigned found = 0;

        for (unsigned i = 0; i < n; i++) {
                char uid[40];

                snprintf(uid, sizeof(uid), "%08x-7f3b-4c9e-9a53-%012x", i * 2654435761u, i);
                found += rollout_side_of(&plan, str_from(uid)) == ROLLOUT_TO;
        }
        return found;
}

TEST(the_share_is_near_the_percentage)
{
        static const int64_t percents[] = { 1, 5, 10, 25, 50, 75, 99 };

        ASSERT_INT(count_new(0, 10000), 0);
        ASSERT_INT(count_new(100, 10000), 10000);
        for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
                int64_t wanted = percents[i] * 100;

                ASSERT(llabs((int64_t)count_new(percents[i], 10000) - wanted) < 150);
        }
}

TEST(a_larger_share_has_all_of_a_smaller_one)
{
        for (unsigned i = 0; i < 200; i++) {
                struct rollout_plan small = { .is_on = true, .percent = 20 }, large = { .is_on = true, .percent = 60 };
                char uid[40];

                snprintf(uid, sizeof(uid), "uid-%u", i);
                if (rollout_side_of(&small, str_from(uid)) == ROLLOUT_TO)
                        ASSERT_INT(rollout_side_of(&large, str_from(uid)), ROLLOUT_TO);
        }
}

/* --- The registry --- */

static int run_nothing(struct run *run _unused_, struct fn_request *req _unused_, struct fn_response *rsp _unused_,
                       struct err *err _unused_)
{
        return 0;
}

static const struct builtin_function table[] = {
        { .name = "one", .run = run_nothing },
        { .name = "two", .run = run_nothing },
        { .name = "three", .run = run_nothing },
};

static struct registry *registry;

static void set(size_t i, bool is_active, bool has_function)
{
        static const char *const names[] = { "f-1", "f-2", "f-3" };
        struct function_revision revision = {
                .name = str_from(names[i]),
                .number = (int64_t)i + 1,
                .is_active = is_active,
                .function = has_function ? function_builtin(&table[i]) : NULL,
        };

        registry_set_revision(registry, STR("f"), &revision);
}

static const char *find(const char *uid, const char *revision)
{
        _cleanup_err_ struct err err = { 0 };
        struct function_choice choice = { .revision = str_from(revision), .uid = str_from(uid) };
        struct function *f;
        const char *text;

        if (registry_find(registry, STR("f"), &choice, &f, &err) < 0)
                return arena_cstring(&arena, str_from(err_message(&err)));
        text = arena_cstring(&arena, f->name);
        function_unref(f);
        return text;
}

static struct rollout_plan plan_from(int64_t generation, int64_t percent)
{
        return (struct rollout_plan) { .uid = STR("u"),
                                       .generation = generation,
                                       .is_on = true,
                                       .from = STR("f-1"),
                                       .to = STR("f-2"),
                                       .percent = percent };
}

static bool plan(struct rollout_plan p)
{
        return registry_set_rollout(registry, STR("f"), &p);
}

static void set_up(void)
{
        begin();
        registry = registry_new();
}

static void tear_down(void)
{
        registry_free(registry);
        end();
}

#define IN  "00000000-0000-0000-0000-000000000000" /* place 4 */
#define OUT "8c0f4a52-7f3b-4c9e-9a53-000000000000" /* place 21 */

TEST(a_rollout_decides_for_steps_that_do_not)
{
        struct rollout_plan p = plan_from(1, 10);

        set_up();
        set(0, true, true);
        set(1, true, true);
        ASSERT_TEXT(find(IN, ""), "two"); /* without a rollout: the newest */
        ASSERT(plan(p));
        ASSERT_TEXT(find(IN, ""), "two");
        ASSERT_TEXT(find(OUT, ""), "one");
        ASSERT_TEXT(find("", ""), "one");
        ASSERT_TEXT(find(OUT, "f-2"), "two"); /* the step chooses */

        set(2, true, true); /* never a third revision */
        ASSERT_TEXT(find(OUT, ""), "one");
        set(1, true, false); /* the new one has no endpoint, or is not active: the old one serves */
        ASSERT_TEXT(find(IN, ""), "one");
        set(1, false, true);
        ASSERT_TEXT(find(IN, ""), "one");
        set(1, true, true);
        set(0, false, true);
        ASSERT_TEXT(find(OUT, ""), "cannot get gRPC client connection for Function \"f\": its spec.rollout keeps "
                                   "FunctionRevision \"f-1\" for this composite, and that revision is not active, or "
                                   "has no status.endpoint");
        set(0, true, true);

        p.is_dry_run = true;
        p.generation++;
        ASSERT(plan(p));
        ASSERT_TEXT(find(IN, ""), "one");
        p = (struct rollout_plan) { .uid = STR("u"), .generation = 3 };
        ASSERT(plan(p));
        ASSERT_TEXT(find(OUT, ""), "three");
        tear_down();
}

TEST(the_new_revision_may_not_exist_yet)
{
        struct rollout_plan p = plan_from(1, 100);

        set_up();
        p.to = STR("");
        set(0, true, true);
        ASSERT(plan(p));
        ASSERT_TEXT(find(IN, ""), "one");
        set(1, true, true); /* it is registered before the Function names it */
        ASSERT_TEXT(find(IN, ""), "one");
        ASSERT(plan(plan_from(1, 100)));
        ASSERT_TEXT(find(IN, ""), "two");
        tear_down();
}

TEST(plans_of_the_past_do_not_count)
{
        struct rollout_plan stopped = plan_from(3, 50), other = plan_from(1, 0), first;

        set_up();
        set(0, true, true);
        set(1, true, true);
        ASSERT(plan(plan_from(2, 50)));
        ASSERT(!plan(plan_from(1, 100)));
        /* A revision is put into the registry by a run that has read the Function before its status was written. */
        first = plan_from(2, 50);
        first.is_first_look = true;
        first.to = STR("");
        ASSERT(!plan(first));
        ASSERT_TEXT(find(OUT, ""), "two");
        ASSERT_TEXT(find(OUT, ""), "two");
        ASSERT(!plan(plan_from(3, 50)));
        stopped.is_stopped = true;
        ASSERT(plan(stopped));
        ASSERT_TEXT(find(IN, ""), "one");
        /* It stays stopped, whatever share is asked for, until another rollout begins. */
        ASSERT(!plan(plan_from(3, 50)));
        ASSERT(!plan(plan_from(4, 100)));
        ASSERT_TEXT(find(IN, ""), "one");
        stopped = plan_from(5, 100);
        stopped.attempt = 1;
        ASSERT(plan(stopped));
        ASSERT_TEXT(find(IN, ""), "two");
        /* A Function that was made anew. */
        other.uid = STR("v");
        ASSERT(plan(other));
        ASSERT_TEXT(find(IN, ""), "one");
        tear_down();
}

static bool count(const char *revision, const char *uid, bool has_failed, uint64_t deletions)
{
        struct rollout_run run = {
                .function = STR("f"),
                .revision = str_from(revision),
                .uid = str_from(uid),
                .kind = STR("Site"),
                .ns = STR("default"),
                .name = str_from(uid),
                .has_failed = has_failed,
                .deletions = deletions,
                .duration_ns = 1000000,
        };

        return registry_count_run(registry, &run);
}

/* `runs/failed/deletions` of both sides, the composites, and how many of them have run since the share moved. */
static const char *counts(void)
{
        struct rollout_state s;

        if (!registry_read_rollout(registry, &arena, STR("f"), &s))
                return "none";
        return arena_cstring(&arena, arena_printf(&arena, "%d/%d/%d %d/%d/%d %zu %zu", (int)s.counts[0].runs,
                                                  (int)s.counts[0].failed, (int)s.counts[0].deletions,
                                                  (int)s.counts[1].runs, (int)s.counts[1].failed,
                                                  (int)s.counts[1].deletions, s.n_composites, s.n_current));
}

TEST(runs_are_counted_by_revision)
{
        struct rollout_run chosen = {
                .function = STR("f"), .revision = STR("f-9"), .uid = STR("x"), .is_no_evidence = true
        };
        struct rollout_plan stopped = plan_from(2, 20);

        set_up();
        ASSERT(!count("f-1", OUT, false, 0));
        ASSERT_TEXT(counts(), "none");
        plan(plan_from(1, 10));
        ASSERT(count("f-1", OUT, false, 0));
        ASSERT(count("f-2", IN, true, 2));
        ASSERT(!count("f-3", IN, true, 0));
        ASSERT(!count("", IN, true, 0));
        ASSERT_TEXT(counts(), "1/0/0 1/1/2 2 2");
        ASSERT(!registry_count_run(registry, &chosen));
        ASSERT_TEXT(counts(), "1/0/0 1/1/2 3 3");
        /* A composite that goes, and one that comes in its place. */
        registry_forget_composite(registry, &chosen);
        ASSERT_TEXT(counts(), "1/0/0 1/1/2 2 2");
        registry_count_run(registry, &chosen);
        chosen.uid = STR("y");
        registry_count_run(registry, &chosen);
        ASSERT_TEXT(counts(), "1/0/0 1/1/2 3 3");
        /* The share moves: the new revision is counted anew, the old one is still what it is compared with. */
        plan(plan_from(2, 20));
        ASSERT_TEXT(counts(), "1/0/0 0/0/0 3 0");
        ASSERT(count("f-1", IN, false, 0)); /* a run that began before */
        ASSERT_TEXT(counts(), "2/0/0 0/0/0 3 0");
        ASSERT(count("f-2", IN, false, 0));
        ASSERT_TEXT(counts(), "2/0/0 1/0/0 3 1");
        /* The counts that stopped it stay. */
        stopped.is_stopped = true;
        plan(stopped);
        ASSERT_TEXT(counts(), "2/0/0 1/0/0 3 0");
        plan((struct rollout_plan) { .uid = STR("u"), .generation = 3 });
        ASSERT_TEXT(counts(), "none");
        plan(plan_from(4, 10));
        ASSERT_TEXT(counts(), "0/0/0 0/0/0 0 0");
        tear_down();
}

/* --- Judgement --- */

#define MS 1000000ll

TEST(rollouts_are_judged)
{
        static const struct {
                struct rollout_limits limits;
                struct rollout_counts from, to;
                bool is_sampled;
                const char *reason;
        } cases[] = {
                { { 0 }, { 10, 0, 0, 10 * MS }, { 0, 0, 0, 0 }, true, "" },
                { { 0 }, { 10, 0, 0, 10 * MS }, { 10, 0, 0, 10 * MS }, true, "" },
                { { 0 }, { 10, 0, 0, 10 * MS }, { 10, 1, 0, 10 * MS }, true, "FatalResults" },
                { { 0 }, { 10, 0, 0, 10 * MS }, { 1, 1, 0, MS }, false, "" }, /* not enough runs */
                { { 0 }, { 0, 0, 0, 0 }, { 1, 1, 0, MS }, true, "FatalResults" },
                { { .max_failed_percent = 10 }, { 10, 0, 0, 0 }, { 10, 1, 0, 0 }, true, "" },
                { { .max_failed_percent = 10 }, { 10, 0, 0, 0 }, { 10, 2, 0, 0 }, true, "FatalResults" },
                /* composites that failed before do not speak against the new revision */
                { { 0 }, { 10, 5, 0, 0 }, { 10, 5, 0, 0 }, true, "" },
                { { 0 }, { 10, 5, 0, 0 }, { 10, 6, 0, 0 }, true, "FatalResults" },
                { { .max_failed_percent = 100 }, { 10, 0, 0, 0 }, { 3, 3, 0, 0 }, true, "" },
                /* deletions are judged at once */
                { { 0 }, { 10, 0, 0, 0 }, { 1, 0, 1, 0 }, false, "Deletions" },
                { { .max_deletions = 1 }, { 10, 0, 0, 0 }, { 1, 0, 1, 0 }, false, "" },
                { { .max_deletions = 1 }, { 10, 0, 0, 0 }, { 1, 0, 2, 0 }, false, "Deletions" },
                { { 0 }, { 10, 0, 20, 0 }, { 5, 0, 10, 0 }, true, "" },
                { { 0 }, { 10, 0, 20, 0 }, { 5, 0, 11, 0 }, true, "Deletions" },
                /* latency only with a limit, with something to compare, and beyond what a busy machine explains */
                { { 0 }, { 10, 0, 0, 10 * MS }, { 10, 0, 0, 9000 * MS }, true, "" },
                { { .max_latency_percent = 200 }, { 10, 0, 0, 1000 * MS }, { 10, 0, 0, 1900 * MS }, true, "" },
                { { .max_latency_percent = 200 }, { 10, 0, 0, 1000 * MS }, { 10, 0, 0, 2100 * MS }, true, "Latency" },
                { { .max_latency_percent = 200 }, { 10, 0, 0, 1000 * MS }, { 10, 0, 0, 2100 * MS }, false, "" },
                { { .max_latency_percent = 200 }, { 10, 0, 0, 10 * MS }, { 10, 0, 0, 400 * MS }, true, "" },
                { { .max_latency_percent = 200 }, { 0, 0, 0, 0 }, { 10, 0, 0, 9000 * MS }, true, "" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct rollout_counts both[] = { cases[i].from, cases[i].to };
                struct rollout_verdict v = rollout_judge(&arena, &cases[i].limits, both, cases[i].is_sampled);

                ASSERT_INT(v.is_bad, cases[i].reason[0] != '\0');
                ASSERT_STR(v.reason, str_from(cases[i].reason));
        }
        end();
}

TEST(a_verdict_says_why)
{
        struct rollout_limits limits = { .max_failed_percent = 5 };
        struct rollout_counts both[] = { { 20, 1, 0, 0 }, { 4, 3, 0, 0 } };

        begin();
        ASSERT_TEXT(arena_cstring(&arena, rollout_judge(&arena, &limits, both, true).message),
                    "3 of 4 runs on the new revision failed, 1 of 20 on the old one; maxFatalPercent is 5");
        end();
}

TEST(a_share_is_sampled)
{
        struct rollout_limits limits = { .minimum_sample = 3 };

        ASSERT(!rollout_is_sampled(&limits, &(struct rollout_counts) { .runs = 2 }, 1));
        ASSERT(rollout_is_sampled(&limits, &(struct rollout_counts) { .runs = 3 }, 1));
        ASSERT(rollout_is_sampled(&limits, &(struct rollout_counts) { .runs = 1 }, 0)); /* all of its composites */
}
