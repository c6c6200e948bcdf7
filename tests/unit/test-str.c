#include "test.h"

#include "random.h"

#include <math.h>
#include <pthread.h>

TEST(making)
{
        struct str s = STR("abc");
        static const struct str initialised = STR_INIT("xyz");

        ASSERT_INT(s.n, 3);
        ASSERT_STR(initialised, STR("xyz"));
        ASSERT_INT(str_from(NULL).n, 0);
        ASSERT(!STR_NONE.p && STR_NONE.n == 0);
        ASSERT(str_is_empty(STR_NONE) && str_is_empty(STR("")) && !str_is_empty(s));
        ASSERT_STR(str_make("abcdef", 2), STR("ab"));
}

TEST(printing)
{
        char out[16];

        snprintf(out, sizeof(out), "[%.*s]", STR_ARG(str_make("abcdef", 3)));
        ASSERT_TEXT(out, "[abc]");
        snprintf(out, sizeof(out), "[%.*s]", STR_ARG(STR_NONE));
        ASSERT_TEXT(out, "[]");
        ASSERT_INT(snprintf(out, 1, "%.*s", STR_ARG(str_make("", SIZE_MAX))),
                   0); /* a length beyond int is no negative one */
}

static int sign(int n)
{
        return (n > 0) - (n < 0);
}

TEST(comparing)
{
        static const struct {
                struct str a, b;
                int order;
        } cases[] = {
                { STR_INIT(""), { NULL, 0 }, 0 },
                { STR_INIT("a"), STR_INIT("a"), 0 },
                { STR_INIT("a"), STR_INIT("b"), -1 },
                { STR_INIT("a"), STR_INIT("aa"), -1 },
                { STR_INIT(""), STR_INIT("a"), -1 },
                { { NULL, 0 }, STR_INIT("a"), -1 },
                { STR_INIT("B"), STR_INIT("a"), -1 },
                { STR_INIT("a"), STR_INIT("\xff"), -1 }, /* bytes are unsigned */
                { STR_INIT("a\0b"), STR_INIT("a\0c"), -1 },
                { STR_INIT("a"), STR_INIT("a\0"), -1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_INT(sign(str_compare(cases[i].a, cases[i].b)), cases[i].order);
                ASSERT_INT(sign(str_compare(cases[i].b, cases[i].a)), -cases[i].order);
                ASSERT_INT(str_equal(cases[i].a, cases[i].b), cases[i].order == 0);
        }
}

TEST(ignoring_case_means_ascii)
{
        ASSERT(str_equal_ignore_case(STR("Content-TYPE"), STR("content-type")));
        ASSERT(!str_equal_ignore_case(STR("abc"), STR("abcd")));
        ASSERT(!str_equal_ignore_case(STR("abc"), STR("abd")));
        ASSERT(!str_equal_ignore_case(STR("@"), STR("`"))); /* 0x20 apart, and no letters */
        ASSERT(!str_equal_ignore_case(STR("["), STR("{")));
        ASSERT(!str_equal_ignore_case(STR("\u00c9"), STR("\u00e9")));
        ASSERT(str_equal_ignore_case(STR_NONE, STR("")));
}

TEST(affixes)
{
        struct str s = STR("prefix-body-suffix");

        ASSERT(str_starts_with(s, STR("prefix")) && str_starts_with(s, STR("")) && str_starts_with(s, s));
        ASSERT(!str_starts_with(STR("pre"), STR("prefix")));
        ASSERT(str_ends_with(s, STR("suffix")) && str_ends_with(s, STR_NONE));
        ASSERT(!str_ends_with(s, STR("body")));
        ASSERT(!str_ends_with(STR("x"), STR("xx")));
        ASSERT(str_starts_with(STR_NONE, STR("")) && !str_starts_with(STR_NONE, STR("a")));
        ASSERT(!str_cut_prefix(&s, STR("body")));
        ASSERT(str_cut_prefix(&s, STR("prefix-")));
        ASSERT_STR(s, STR("body-suffix"));
        ASSERT(!str_cut_suffix(&s, STR("body")));
        ASSERT(str_cut_suffix(&s, STR("-suffix")));
        ASSERT_STR(s, STR("body"));
        ASSERT(str_cut_prefix(&s, STR("body")) && s.n == 0);
}

TEST(slicing_is_clamped)
{
        ASSERT_STR(str_skip(STR("abc"), 1), STR("bc"));
        ASSERT_STR(str_skip(STR("abc"), 3), STR(""));
        ASSERT_STR(str_skip(STR("abc"), SIZE_MAX), STR(""));
        ASSERT_STR(str_skip(STR_NONE, 1), STR(""));
        ASSERT_STR(str_first(STR("abc"), 2), STR("ab"));
        ASSERT_STR(str_first(STR("abc"), 9), STR("abc"));
}

TEST(finding)
{
        ASSERT_INT(str_find(STR("hello world"), STR("o w")), 4);
        ASSERT_INT(str_find(STR("hello"), STR("")), 0);
        ASSERT_INT(str_find(STR_NONE, STR_NONE), 0);
        ASSERT_INT(str_find(STR("hello"), STR("hellos")), -1);
        ASSERT_INT(str_find(STR("hello"), STR("lol")), -1);
        ASSERT_INT(str_find(STR("a\0b\0c"), STR("\0c")), 3);
        ASSERT_INT(str_find_char(STR("a/b/c"), '/'), 1);
        ASSERT_INT(str_find_last_char(STR("a/b/c"), '/'), 3);
        ASSERT_INT(str_find_char(STR("abc"), '/'), -1);
        ASSERT_INT(str_find_last_char(STR("abc"), '/'), -1);
        ASSERT_INT(str_find_char(STR_NONE, 'x'), -1);
        ASSERT_INT(str_find_last_char(STR_NONE, 'x'), -1);
        ASSERT_INT(str_find_char(STR("abc"), '\0'), -1);
}

TEST(trimming)
{
        ASSERT_STR(str_trim(STR(" \t\n\v\f\r a b \r\n")), STR("a b"));
        ASSERT_STR(str_trim(STR(" \n ")), STR(""));
        ASSERT_STR(str_trim(STR("")), STR(""));
        ASSERT_STR(str_trim(STR_NONE), STR(""));
        ASSERT_STR(str_trim(STR("\u00a0a")), STR("\u00a0a")); /* ASCII only */
}

TEST(splitting)
{
        struct str rest = STR("a,,b,"), head;

        ASSERT(str_split(&rest, ',', &head));
        ASSERT_STR(head, STR("a"));
        ASSERT(str_split(&rest, ',', &head));
        ASSERT_STR(head, STR(""));
        ASSERT(str_split(&rest, ',', &head));
        ASSERT_STR(head, STR("b"));
        ASSERT(!str_split(&rest, ',', &head));
        ASSERT_STR(head, STR(""));
        rest = STR("alone");
        ASSERT(!str_split(&rest, ',', &head));
        ASSERT_STR(head, STR("alone"));
        ASSERT_STR(rest, STR(""));
        rest = STR_NONE;
        ASSERT(!str_split(&rest, ',', &head));
        ASSERT_INT(head.n, 0);
}

TEST(heap_copies_end_in_nul)
{
        _cleanup_free_ char *a = str_to_cstring(str_make("abcdef", 3)), *b = str_to_cstring(STR_NONE);

        ASSERT_TEXT(a, "abc");
        ASSERT_TEXT(b, "");
}

/* Computed by a second implementation of the formula: they must be the same on every machine and in every version that
 * keeps hashes. */
TEST(seeded_hashes_have_fixed_values)
{
        char counting[100];

        for (size_t i = 0; i < sizeof(counting); i++)
                counting[i] = (char)i;
        ASSERT(str_hash_seeded(STR(""), 0) == 0x77f760531b127e97u);
        ASSERT(str_hash_seeded(STR("a"), 0) == 0x4cd3deca756f7d4au);
        ASSERT(str_hash_seeded(STR("a"), 1) == 0x83acbca965409593u);
        ASSERT(str_hash_seeded(STR("metadata"), 7) == 0x70b2a300c5df0a59u);
        ASSERT(str_hash_seeded(STR("metadata.name"), 7) == 0xa91f08fac9a3fba8u);
        ASSERT(str_hash_seeded(STR("0123456789abcdef"), 0) == 0xcc2f799dfad70cfbu);
        ASSERT(str_hash_seeded(STR("0123456789abcdefg"), 0) == 0xf43f869504e48cc2u);
        ASSERT(str_hash_seeded(str_make(counting, 100), 123456789) == 0x2e1e118d7333d972u);
}

TEST(the_process_hash_is_stable_within_the_process)
{
        char text[] = "some text", same[] = "some text";

        ASSERT(str_hash(str_from(text)) == str_hash(str_from(same)));
        ASSERT(str_hash(STR("")) == str_hash(STR_NONE));
        ASSERT(str_hash(STR("a")) != str_hash(STR("b")));
}

static void *hash_in_thread(void *p)
{
        *(uint64_t *)p = str_hash(STR("key"));
        return NULL;
}

TEST(all_threads_use_one_seed)
{
        pthread_t threads[4];
        uint64_t hashes[4];

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, hash_in_thread, &hashes[i]), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT_INT(pthread_join(threads[i], NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ASSERT(hashes[i] == str_hash(STR("key")));
}

/* Each bit of the key and of the seed must flip each bit of the hash about every other time. */
TEST(hash_avalanche)
{
        enum { ROUNDS = 300 };
        static const size_t lengths[] = { 1, 4, 8, 9, 16, 17, 33 };
        struct random r;

        random_seed(&r, 99);
        for (size_t l = 0; l < ARRAY_SIZE(lengths); l++) {
                size_t n = lengths[l], n_bits = n * 8 + 64;

                for (size_t bit = 0; bit < n_bits; bit += 3) {
                        int flips[64] = { 0 };

                        for (int round = 0; round < ROUNDS; round++) {
                                uint64_t seed = random_u64(&r), before, changed;
                                unsigned char key[40];

                                for (size_t i = 0; i < n; i++)
                                        key[i] = (unsigned char)random_u64(&r);
                                before = str_hash_seeded(str_make((char *)key, n), seed);
                                if (bit < n * 8)
                                        key[bit / 8] = (unsigned char)(key[bit / 8] ^ 1u << bit % 8);
                                else
                                        seed ^= 1ull << (bit - n * 8);
                                changed = before ^ str_hash_seeded(str_make((char *)key, n), seed);
                                for (int i = 0; i < 64; i++)
                                        flips[i] += changed >> i & 1;
                        }
                        /* Six standard deviations around one half. */
                        for (int i = 0; i < 64; i++)
                                ASSERT(fabs(flips[i] - ROUNDS / 2.0) < 6 * sqrt(ROUNDS) / 2);
                }
        }
}

/* Keys as they occur must fall evenly into the low bits, which is what tables use, and into the high ones. */
TEST(hash_spreads_keys_evenly)
{
        enum { KEYS = 1 << 15, BUCKETS = 1 << 10 };

        for (int f = 0; f < 4 * 2; f++) {
                int counts[BUCKETS] = { 0 };
                double chi_squared = 0, expected = (double)KEYS / BUCKETS;

                for (int i = 0; i < KEYS; i++) {
                        char key[80];
                        uint64_t h;

                        switch (f / 2) {
                        case 0:
                                snprintf(key, sizeof(key), "%d", i);
                                break;
                        case 1:
                                snprintf(key, sizeof(key), "key-%d", i);
                                break;
                        case 2:
                                snprintf(key, sizeof(key), "spec.forProvider.tags[%d].value", i);
                                break;
                        default:
                                snprintf(key, sizeof(key), "a-rather-long-resource-name-%08x-at-its-end", (unsigned)i);
                        }
                        h = str_hash_seeded(str_from(key), 5);
                        counts[(f % 2 ? h >> 54 : h) % BUCKETS]++;
                }
                for (int i = 0; i < BUCKETS; i++)
                        chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
                /* 1023 degrees of freedom: mean 1023, standard deviation 45. */
                ASSERT(chi_squared > 1023 - 6 * 45 && chi_squared < 1023 + 6 * 45);
        }
}
