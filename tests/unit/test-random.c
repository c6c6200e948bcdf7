#include "test.h"

#include "random.h"

#include <math.h>
#include <pthread.h>

/* xoshiro256** seeded by splitmix64, from the authors' reference: state {1, 2, 3, 4} and seeds. */
TEST(sequences_are_fixed)
{
        static const struct {
                uint64_t seed;
                uint64_t numbers[5];
        } cases[] = {
                { 0,
                  { 0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu,
                    0xbba5ad4a1f842e59u } },
                { 1,
                  { 0xb3f2af6d0fc710c5u, 0x853b559647364ceau, 0x92f89756082a4514u, 0x642e1c7bc266a3a7u,
                    0xb27a48e29a233673u } },
                { 42,
                  { 0x15780b2e0c2ec716u, 0x6104d9866d113a7eu, 0xae17533239e499a1u, 0xecb8ad4703b360a1u,
                    0xfde6dc7fe2ec5e64u } },
                { UINT64_MAX,
                  { 0x8f5520d52a7ead08u, 0xc476a018caa1802du, 0x81de31c0d260469eu, 0xbf658d7e065f3c2fu,
                    0x913593fda1bca32au } },
        };
        static const uint64_t published[] = {
                11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600
        };
        struct random r = { { 1, 2, 3, 4 } };

        for (size_t i = 0; i < ARRAY_SIZE(published); i++)
                ASSERT(random_u64(&r) == published[i]);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                random_seed(&r, cases[i].seed);
                for (size_t k = 0; k < ARRAY_SIZE(cases[i].numbers); k++)
                        ASSERT(random_u64(&r) == cases[i].numbers[k]);
        }
}

TEST(below_is_uniform)
{
        static const uint64_t bounds[] = { 2, 3, 7, 10, 100 };
        enum { DRAWS = 50000 };
        struct random r;

        random_seed(&r, 7);
        for (size_t b = 0; b < ARRAY_SIZE(bounds); b++) {
                double expected = (double)DRAWS / (double)bounds[b], chi_squared = 0, freedom = (double)bounds[b] - 1;
                int counts[100] = { 0 };

                for (int i = 0; i < DRAWS; i++) {
                        uint64_t x = random_below(&r, bounds[b]);

                        ASSERT(x < bounds[b]);
                        counts[x]++;
                }
                for (uint64_t i = 0; i < bounds[b]; i++)
                        chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
                ASSERT(chi_squared < freedom + 6 * sqrt(2 * freedom));
        }
}

/* With a bound of 3/4 of the range, plain modulo would give the lower third twice as often as the rest. */
TEST(below_has_no_bias_with_a_large_bound)
{
        enum { DRAWS = 30000 };
        const uint64_t bound = 3ull << 62;
        struct random r;
        int low = 0;

        random_seed(&r, 8);
        for (int i = 0; i < DRAWS; i++)
                low += random_below(&r, bound) < bound / 3;
        ASSERT(abs(low - DRAWS / 3) < 500); /* modulo would give DRAWS / 2 */
        ASSERT_INT(random_below(&r, 1), 0);
        for (int i = 0; i < 100; i++)
                random_below(&r, UINT64_MAX);
}

TEST(doubles_are_in_the_unit_interval)
{
        enum { DRAWS = 20000 };
        struct random r;
        double sum = 0, least = 1, most = 0;

        random_seed(&r, 9);
        for (int i = 0; i < DRAWS; i++) {
                double d = random_double(&r);

                ASSERT(d >= 0 && d < 1);
                sum += d;
                least = fmin(least, d);
                most = fmax(most, d);
        }
        ASSERT(fabs(sum / DRAWS - 0.5) < 0.02);
        ASSERT(least < 0.001 && most > 0.999);
}

TEST(the_system_gives_different_numbers)
{
        uint64_t seen[100];
        char bytes[1000] = { 0 };
        int zeros = 0;

        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
                seen[i] = random_system_u64();
                for (size_t k = 0; k < i; k++)
                        ASSERT(seen[i] != seen[k]);
        }
        random_kernel(bytes, sizeof(bytes)); /* more than one call of the kernel gives at once for sure: 256 */
        for (size_t i = 0; i < sizeof(bytes); i++)
                zeros += bytes[i] == 0;
        ASSERT(zeros < 30);
        random_kernel(bytes, 0);
}

/* More than one block of them, in different lengths. */
TEST(ids_are_different)
{
        uint64_t seen[200];
        char byte;

        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
                seen[i] = random_id_u64();
                random_id(&byte, i % 2);
                for (size_t k = 0; k < i; k++)
                        ASSERT(seen[i] != seen[k]);
        }
}

TEST(the_process_can_draw_on_a_seed)
{
        struct random r, same;
        unsigned char bytes[19], wanted[24];

        random_seed(&r, 5);
        random_seed(&same, 5);
        ASSERT(!random_use_seeded(&r));
        for (int i = 0; i < 10; i++)
                ASSERT(random_system_u64() == random_u64(&same));
        random_system(bytes, sizeof(bytes));
        for (int i = 0; i < 3; i++) {
                uint64_t x = random_u64(&same);

                for (int k = 0; k < 8; k++)
                        wanted[i * 8 + k] = (unsigned char)(x >> k * 8);
        }
        ASSERT(memcmp(bytes, wanted, sizeof(bytes)) == 0);
        ASSERT(random_id_u64() == random_u64(&same));
        random_kernel(bytes, sizeof(bytes)); /* does not touch the sequence */
        ASSERT(random_system_u64() == random_u64(&same));
        ASSERT(random_use_seeded(NULL) == &r);
        ASSERT(random_system_u64() != random_u64(&same));
}

TEST(a_thread_can_draw_on_its_own_seed)
{
        struct random mine, all, same;

        random_seed(&mine, 1);
        random_seed(&all, 2);
        random_seed(&same, 1);
        random_use_seeded(&all);
        ASSERT(!random_use_here(&mine));
        ASSERT(random_system_u64() == random_u64(&same));
        ASSERT(random_id_u64() == random_u64(&same));
        ASSERT(random_use_here(NULL) == &mine);
        random_seed(&same, 2);
        ASSERT(random_system_u64() == random_u64(&same));
        ASSERT(random_use_seeded(NULL) == &all);
}

#define THREADS 4
#define DRAWS   1000

static void *draw(void *p)
{
        uint64_t *numbers = p;

        for (int i = 0; i < DRAWS; i++)
                numbers[i] = random_system_u64();
        return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* Threads that take turns get, together, exactly the sequence of the seed. */
TEST(threads_share_one_sequence)
{
        static uint64_t drawn[THREADS * DRAWS], wanted[THREADS * DRAWS];
        pthread_t threads[THREADS];
        struct random r, same;

        random_seed(&r, 11);
        random_seed(&same, 11);
        random_use_seeded(&r);
        for (size_t i = 0; i < THREADS; i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, draw, drawn + i * DRAWS), 0);
        for (size_t i = 0; i < THREADS; i++)
                ASSERT_INT(pthread_join(threads[i], NULL), 0);
        random_use_seeded(NULL);
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                wanted[i] = random_u64(&same);
        qsort(drawn, ARRAY_SIZE(drawn), sizeof(*drawn), compare_numbers);
        qsort(wanted, ARRAY_SIZE(wanted), sizeof(*wanted), compare_numbers);
        ASSERT(memcmp(drawn, wanted, sizeof(drawn)) == 0);
}

static void draw_below_nothing(void)
{
        struct random r;

        random_seed(&r, 1);
        random_below(&r, 0);
}

TEST(broken_invariants_end_the_process)
{
        ASSERT_ABORTS(draw_below_nothing);
}
