#include "test.h"

#include "clock.h"

#include <pthread.h>
#include <time.h>

#define START_SECONDS 1700000000

static struct sim_clock *use_fresh(struct sim_clock *c)
{
        sim_clock_init(c, (struct instant) { .seconds = START_SECONDS, .nanos = 250000000 });
        return clock_use(c);
}

TEST(system_clocks_agree_with_the_system)
{
        struct timespec before, after;
        int64_t first = clock_mono_ns(), second = clock_mono_ns();
        struct instant wall;

        ASSERT(first > 0);
        ASSERT(second >= first);
        clock_gettime(CLOCK_REALTIME, &before);
        wall = clock_wall();
        clock_gettime(CLOCK_REALTIME, &after);
        ASSERT(wall.nanos >= 0 && wall.nanos < NS_PER_SECOND);
        ASSERT(wall.seconds >= before.tv_sec && wall.seconds <= after.tv_sec);
        clock_gettime(CLOCK_MONOTONIC, &before);
        first = clock_mono_ns();
        clock_gettime(CLOCK_MONOTONIC, &after);
        ASSERT(first >= before.tv_sec * NS_PER_SECOND + before.tv_nsec);
        ASSERT(first <= after.tv_sec * NS_PER_SECOND + after.tv_nsec);
}

TEST(a_simulated_clock_stands_still_until_moved)
{
        struct sim_clock c;
        struct sim_clock *before = use_fresh(&c);

        ASSERT(!before);
        ASSERT_INT(clock_mono_ns(), NS_PER_SECOND);
        ASSERT_INT(clock_mono_ns(), NS_PER_SECOND);
        ASSERT_INT(clock_wall().seconds, START_SECONDS);
        ASSERT_INT(clock_wall().nanos, 250000000);

        sim_clock_advance(&c, 800 * NS_PER_MS);
        ASSERT_INT(clock_mono_ns(), 1800 * NS_PER_MS);
        ASSERT_INT(clock_wall().seconds, START_SECONDS + 1);
        ASSERT_INT(clock_wall().nanos, 50000000);

        sim_clock_advance_to(&c, 3000 * NS_PER_MS);
        ASSERT_INT(clock_mono_ns(), 3000 * NS_PER_MS);
        ASSERT_INT(clock_wall().seconds, START_SECONDS + 2);
        ASSERT_INT(clock_wall().nanos, 250000000);

        sim_clock_advance_to(&c, 2000 * NS_PER_MS); /* the past: nothing happens */
        ASSERT_INT(clock_mono_ns(), 3000 * NS_PER_MS);
        ASSERT_INT(clock_wall().seconds, START_SECONDS + 2);

        ASSERT(clock_use(NULL) == &c);
        ASSERT(clock_wall().seconds != START_SECONDS + 2);
}

TEST(the_wall_clock_can_be_stepped_alone)
{
        struct sim_clock c;

        use_fresh(&c);
        sim_clock_step_wall(&c, -3600 * NS_PER_SECOND);
        ASSERT_INT(clock_wall().seconds, START_SECONDS - 3600);
        ASSERT_INT(clock_mono_ns(), NS_PER_SECOND);
        sim_clock_step_wall(&c, -START_SECONDS * NS_PER_SECOND);
        ASSERT_INT(clock_wall().seconds, -3600);
        ASSERT_INT(clock_wall().nanos, 250000000);
        clock_use(NULL);
}

TEST(times_before_1970_have_positive_nanoseconds)
{
        struct sim_clock c;

        sim_clock_init(&c, (struct instant) { .seconds = -2, .nanos = 750000000 });
        clock_use(&c);
        ASSERT_INT(clock_wall().seconds, -2);
        ASSERT_INT(clock_wall().nanos, 750000000);
        sim_clock_advance(&c, 500 * NS_PER_MS);
        ASSERT_INT(clock_wall().seconds, -1);
        ASSERT_INT(clock_wall().nanos, 250000000);
        clock_use(NULL);
}

static void *read_mono(void *p)
{
        *(int64_t *)p = clock_mono_ns();
        return NULL;
}

TEST(a_thread_may_have_a_clock_of_its_own)
{
        struct sim_clock all, mine;
        pthread_t other;
        int64_t seen;

        use_fresh(&all);
        sim_clock_init(&mine, (struct instant) { .seconds = 5 });
        sim_clock_advance(&all, 1);
        ASSERT(!clock_use_here(&mine));
        ASSERT_INT(clock_mono_ns(), NS_PER_SECOND);
        ASSERT_INT(clock_wall().seconds, 5);
        ASSERT_INT(pthread_create(&other, NULL, read_mono, &seen), 0);
        ASSERT_INT(pthread_join(other, NULL), 0);
        ASSERT_INT(seen, NS_PER_SECOND + 1);
        ASSERT(clock_use_here(NULL) == &mine);
        ASSERT_INT(clock_mono_ns(), NS_PER_SECOND + 1);
        clock_use(NULL);
}

#define THREADS 4
#define STEPS   2000

static void *advance_and_read(void *p)
{
        struct sim_clock *c = p;
        int64_t last = clock_mono_ns();

        for (int i = 0; i < STEPS; i++) {
                int64_t now;

                sim_clock_advance(c, 3);
                sim_clock_advance_to(c, NS_PER_SECOND + i);
                now = clock_mono_ns();
                if (now < last + 3)
                        return (void *)"went back";
                last = now;
        }
        return NULL;
}

TEST(threads_may_move_and_read_it_together)
{
        pthread_t threads[THREADS];
        struct sim_clock c;
        int64_t moved;

        use_fresh(&c);
        for (size_t i = 0; i < THREADS; i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, advance_and_read, &c), 0);
        for (size_t i = 0; i < THREADS; i++) {
                void *complaint;

                ASSERT_INT(pthread_join(threads[i], &complaint), 0);
                ASSERT(!complaint);
        }
        moved = clock_mono_ns() - NS_PER_SECOND;
        ASSERT(moved >= THREADS * STEPS * 3);
        ASSERT_INT(clock_wall().nanos, 250000000 + moved);
        clock_use(NULL);
}
