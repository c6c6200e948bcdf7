#include "test.h"

#include "err.h"
#include "fault.h"

#include <errno.h>
#include <pthread.h>

static int write_point(void)
{
        return FAULT("test.write");
}

TEST(nothing_armed_nothing_fails)
{
        fault_reset();
        for (int i = 0; i < 10; i++)
                ASSERT_INT(write_point(), 0);
        ASSERT(!atomic_load(&fault_is_watching)); /* the fast path is taken */
        ASSERT_INT(fault_hits("test.write"), 0);  /* so nobody counts */
        ASSERT_INT(fault_list(NULL, 0), 0);
}

/* Which of ten hits fail: one letter each. */
static void assert_pattern(const char *wanted)
{
        char pattern[11] = "";

        for (int i = 0; i < 10; i++)
                pattern[i] = write_point() < 0 ? 'F' : '.';
        ASSERT_TEXT(pattern, wanted);
}

TEST(fails_where_it_was_told_to)
{
        static const struct {
                struct fault how;
                const char *pattern;
                int fired;
        } cases[] = {
                { { .first = 1, .count = 1 }, "F.........", 1 },
                { { .first = 3, .count = 1 }, "..F.......", 1 },
                { { .first = 3, .count = 2 }, "..FF......", 2 },
                { { .first = 8, .count = 0 }, ".......FFF", 3 },
                { { .first = 8, .count = UINT64_MAX }, ".......FFF", 3 },
                { { .first = 11, .count = 1 }, "..........", 0 },
                { { .probability = 1 }, "FFFFFFFFFF", 10 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fault_arm("test.write", cases[i].how);
                assert_pattern(cases[i].pattern);
                ASSERT_INT(fault_hits("test.write"), 10);
                ASSERT_INT(fault_fired("test.write"), cases[i].fired);
        }
        fault_reset();
        assert_pattern("..........");
}

TEST(gives_the_code_it_was_told_to)
{
        fault_arm("test.write", (struct fault) { .first = 1 });
        ASSERT_INT(write_point(), -EIO);
        fault_arm("test.write", (struct fault) { .first = 1, .code = -ENOSPC });
        ASSERT_INT(write_point(), -ENOSPC);
        ASSERT_INT(FAULT("test.read"), 0); /* another point */
        fault_reset();
}

TEST(probability_follows_the_seed)
{
        char first[201] = "", second[201] = "", other[201] = "";
        char *runs[] = { first, second, other };
        int fired;

        for (size_t k = 0; k < ARRAY_SIZE(runs); k++) {
                fault_arm("test.write", (struct fault) { .probability = 0.3, .seed = k == 2 ? 8 : 7 });
                for (int i = 0; i < 200; i++)
                        runs[k][i] = write_point() < 0 ? 'F' : '.';
        }
        ASSERT_TEXT(first, second);
        ASSERT(strcmp(first, other) != 0);
        fired = (int)fault_fired("test.write");
        ASSERT(fired > 30 && fired < 90);
        fault_reset();
}

TEST(recording_finds_the_points)
{
        const char *names[2] = { NULL };

        fault_record(true);
        FAULT("test.b");
        FAULT("test.a");
        FAULT("test.b");
        ASSERT_INT(fault_list(names, 2), 2);
        ASSERT_TEXT(names[0], "test.b");
        ASSERT_TEXT(names[1], "test.a");
        ASSERT_INT(fault_hits("test.b"), 2);
        ASSERT_INT(fault_fired("test.b"), 0);
        FAULT("test.c");
        names[0] = names[1] = NULL;
        ASSERT_INT(fault_list(names, 1), 3);
        ASSERT_TEXT(names[0], "test.b");
        ASSERT(!names[1]);
        fault_record(false);
        FAULT("test.d");
        ASSERT_INT(fault_list(NULL, 0), 3);
        fault_reset();
        ASSERT_INT(fault_list(NULL, 0), 0);
}

TEST(points_that_were_only_armed_are_not_listed)
{
        fault_arm("test.never", (struct fault) { .first = 1 });
        ASSERT_INT(fault_list(NULL, 0), 0);
        fault_record(true);
        fault_record(false);
        ASSERT(atomic_load(&fault_is_watching)); /* what is armed stays so */
        fault_reset();
}

/* An operation of three steps with two points, one of which it can do without. */
static int operation(int *ret_steps)
{
        *ret_steps = 0;
        for (int i = 0; i < 3; i++) {
                if (FAULT("test.step") < 0)
                        return -1;
                (*ret_steps)++;
        }
        return 0;
}

/* The sweep as the header describes it. */
TEST(a_sweep_meets_every_failure_and_ends)
{
        uint64_t hit;

        for (hit = 1;; hit++) {
                int steps, r;

                ASSERT(hit < 100);
                fault_arm("test.step", (struct fault) { .first = hit, .count = 1, .code = -EIO });
                r = operation(&steps);
                if (fault_fired("test.step") == 0) {
                        ASSERT_INT(r, 0);
                        break;
                }
                ASSERT_INT(r, -1);
                ASSERT_INT(steps, hit - 1);
        }
        ASSERT_INT(hit, 4);
        fault_reset();
}

TEST(text_arms_as_the_environment_would)
{
        static const struct {
                const char *text;
                const char *pattern;
                int code;
        } cases[] = {
                { "test.write=3", "..F.......", -EIO },
                { "test.write=3:ENOSPC", "..F.......", -ENOSPC },
                { "test.write=3+:EAGAIN", "..FFFFFFFF", -EAGAIN },
                { "test.write=3x2:-7", "..FF......", -7 },
                { "test.write=p1", "FFFFFFFFFF", -EIO },
                { "test.write=p1.0:EINTR", "FFFFFFFFFF", -EINTR },
                { "test.write=p1@9", "FFFFFFFFFF", -EIO },
                { " other=1 , test.write=2 ", ".F........", -EIO },
                { "test.write=1,test.write=2", ".F........", -EIO },
                { "", "..........", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                int code = 0;

                fault_reset();
                ASSERT_CASE(cases[i].text, fault_arm_text(str_from(cases[i].text), &err) == 0);
                assert_pattern(cases[i].pattern);
                fault_reset();
                fault_arm_text(str_from(cases[i].text), NULL);
                for (int k = 0; k < 10 && code == 0; k++)
                        code = write_point();
                ASSERT_INT(code, cases[i].code);
        }
        fault_reset();
        ASSERT_INT(fault_arm_text(STR("test.write=p0.25@3"), NULL), 0);
        for (int i = 0; i < 400; i++)
                write_point();
        ASSERT(fault_fired("test.write") > 60 && fault_fired("test.write") < 140);
        fault_reset();
}

#define WHEN " is not N, N+, NxCOUNT, pPROBABILITY or pPROBABILITY@SEED"

TEST(text_that_makes_no_sense_is_refused)
{
        static const struct {
                const char *text;
                const char *error;
        } cases[] = {
                { "x", "fault \"x\" is not NAME=WHEN" },
                { "=1", "fault \"=1\" is not NAME=WHEN" },
                { "a=1,,b=1", "fault \"\" is not NAME=WHEN" },
                { "a=", "fault \"a=\": \"\"" WHEN },
                { "a=0", "fault \"a=0\": \"0\"" WHEN },
                { "a=x", "fault \"a=x\": \"x\"" WHEN },
                { "a=1y", "fault \"a=1y\": \"1y\"" WHEN },
                { "a=1++", "fault \"a=1++\": \"1++\"" WHEN },
                { "a=1x", "fault \"a=1x\": \"1x\"" WHEN },
                { "a=1x0", "fault \"a=1x0\": \"1x0\"" WHEN },
                { "a=1x2z", "fault \"a=1x2z\": \"1x2z\"" WHEN },
                { "a=99999999999999999999", "fault \"a=99999999999999999999\": \"99999999999999999999\"" WHEN },
                { "a=18446744073709551616", "fault \"a=18446744073709551616\": \"18446744073709551616\"" WHEN },
                { "a=p", "fault \"a=p\": \"p\"" WHEN },
                { "a=p0", "fault \"a=p0\": \"p0\"" WHEN },
                { "a=p1.1", "fault \"a=p1.1\": \"p1.1\"" WHEN },
                { "a=p0.", "fault \"a=p0.\": \"p0.\"" WHEN },
                { "a=p.5", "fault \"a=p.5\": \"p.5\"" WHEN },
                { "a=p0.5@", "fault \"a=p0.5@\": \"p0.5@\"" WHEN },
                { "a=p0.5@1x", "fault \"a=p0.5@1x\": \"p0.5@1x\"" WHEN },
                { "a=1:EWHAT", "fault \"a=1:EWHAT\": \"EWHAT\" is neither an errno nor a negative number" },
                { "a=1:", "fault \"a=1:\": \"\" is neither an errno nor a negative number" },
                { "a=1:5", "fault \"a=1:5\": \"5\" is neither an errno nor a negative number" },
                { "a=1:-0", "fault \"a=1:-0\": \"-0\" is neither an errno nor a negative number" },
                { "a=1:-5x", "fault \"a=1:-5x\": \"-5x\" is neither an errno nor a negative number" },
        };

        fault_reset();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                char with_good[128];

                ASSERT_CASE(cases[i].text, fault_arm_text(str_from(cases[i].text), &err) == ERR_INVALID);
                ASSERT_TEXT(err_message(&err), cases[i].error);
                snprintf(with_good, sizeof(with_good), "test.write=1,%s", cases[i].text);
                ASSERT_INT(fault_arm_text(str_from(with_good), NULL), ERR_INVALID);
                ASSERT_INT(write_point(), 0); /* all or nothing */
        }
}

#define THREADS 4
#define HITS    500

static void *hit_often(void *p)
{
        int *fired = p;

        for (int i = 0; i < HITS; i++)
                *fired += write_point() < 0;
        return NULL;
}

TEST(threads_count_together)
{
        pthread_t threads[THREADS];
        int fired[THREADS] = { 0 }, sum = 0;

        fault_arm("test.write", (struct fault) { .first = 100, .count = 1000 });
        for (size_t i = 0; i < THREADS; i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, hit_often, &fired[i]), 0);
        for (size_t i = 0; i < THREADS; i++) {
                ASSERT_INT(pthread_join(threads[i], NULL), 0);
                sum += fired[i];
        }
        ASSERT_INT(sum, 1000);
        ASSERT_INT(fault_hits("test.write"), THREADS * HITS);
        fault_reset();
}

/* The environment is asked at the first point of a process, so these are processes of their own: this program again, with
 * one test to run. */
static int run_self(const char *test, const char *faults)
{
        char command[512];

        snprintf(command, sizeof(command), "WEFT_FAULTS='%s' %s %s >/dev/null 2>&1", faults, program_invocation_name,
                 test);
        return system(command);
}

static bool is_child(void)
{
        return getenv("WEFT_FAULTS") != NULL;
}

TEST(child_sees_the_environment)
{
        if (!is_child())
                return;
        ASSERT_INT(FAULT("other"), 0);
        assert_pattern("..F.......");
}

TEST(child_has_the_last_word)
{
        if (!is_child())
                return;
        fault_arm("test.write", (struct fault) { .first = 1, .count = 1 });
        assert_pattern("F.........");
        fault_reset();
        assert_pattern("..........");
}

TEST(the_environment_arms_points)
{
        if (is_child())
                return;
        ASSERT_INT(run_self("child_sees_the_environment", "test.write=3:EIO"), 0);
        ASSERT(run_self("child_sees_the_environment", "test.write=4:EIO") != 0);
        ASSERT_INT(run_self("child_has_the_last_word", "test.write=3:EIO"), 0);
        ASSERT(run_self("child_has_the_last_word", "no sense") != 0);
}

static void arm_without_a_time(void)
{
        fault_arm("x", (struct fault) { .code = -EIO });
}

static void arm_with_a_positive_code(void)
{
        fault_arm("x", (struct fault) { .first = 1, .code = EIO });
}

TEST(broken_invariants_end_the_process)
{
        ASSERT_ABORTS(arm_without_a_time);
        ASSERT_ABORTS(arm_with_a_positive_code);
}
