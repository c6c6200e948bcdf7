#include "test.h"

#include "buf.h"
#include "err.h"
#include "random.h"
#include "sha1.h"
#include "uuid.h"

static void assert_text(struct uuid u, const char *wanted)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        uuid_append(&b, u);
        ASSERT_STR(buf_str(&b), str_from(wanted));
}

/* FIPS 180's own vectors, and lengths around every boundary of the padding (from another implementation). */
TEST(sha1_vectors)
{
        static const struct {
                const char *piece;
                size_t times;
                const char *digest;
        } cases[] = {
                { "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d" },
                { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
                { "a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f" },
                { "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
                { "a", 1, "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8" },
                { "a", 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a" },
                { "a", 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699" },
                { "a", 57, "f08f24908d682555111be7ff6f004e78283d989a" },
                { "a", 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5" },
                { "a", 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d" },
                { "a", 65, "11655326c708d70319be2610e8a57d9a5b959d3b" },
                { "a", 119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56" },
                { "a", 120, "f34c1488385346a55709ba056ddd08280dd4c6d6" },
                { "a", 128, "ad5b3fdbcb526778c2839d2f151ea753995e26a0" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                uint8_t digest[SHA1_BYTES];
                char text[2 * SHA1_BYTES + 1];
                struct sha1 h;

                sha1_init(&h);
                for (size_t k = 0; k < cases[i].times; k++)
                        sha1_update(&h, str_from(cases[i].piece));
                sha1_finish(&h, digest);
                for (size_t k = 0; k < SHA1_BYTES; k++)
                        snprintf(text + 2 * k, 3, "%02x", digest[k]);
                ASSERT_TEXT(text, cases[i].digest);
        }
}

TEST(sha1_takes_pieces_of_any_size)
{
        char text[300];
        uint8_t whole[SHA1_BYTES], pieces[SHA1_BYTES];
        struct sha1 h;

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)(i * 7);
        sha1_init(&h);
        sha1_update(&h, str_make(text, sizeof(text)));
        sha1_finish(&h, whole);
        for (size_t size = 1; size < sizeof(text); size++) {
                sha1_init(&h);
                for (size_t at = 0; at < sizeof(text); at += size)
                        sha1_update(&h, str_first(str_skip(str_make(text, sizeof(text)), at), size));
                sha1_finish(&h, pieces);
                ASSERT(memcmp(whole, pieces, sizeof(whole)) == 0);
        }
}

/* The first is what Crossplane's render gives a resource without a UID; RFC 9562 has the second, Python's uuid the others. */
TEST(version_5_vectors)
{
        static const char dns[] = "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                          url[] = "6ba7b811-9dad-11d1-80b4-00c04fd430c8";
        static const char nil[] = "00000000-0000-0000-0000-000000000000";
        static const struct {
                const char *space;
                struct str name;
                const char *uuid;
        } cases[] = {
                { nil, STR_INIT("example.org/v1, Kind=App\0default\0web"), "eb117bae-5e34-5396-86f0-0d431b0d5302" },
                { dns, STR_INIT("www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2" },
                { dns, STR_INIT("python.org"), "886313e1-3b8a-5372-9b90-0c9aee199e5d" },
                { dns, STR_INIT(""), "4ebd0208-8328-5d69-8c44-ec50939c0967" },
                { url, STR_INIT("www.example.com"), "b63cdfa4-3df9-568e-97ae-006c5b8fd652" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct uuid space;

                ASSERT_INT(uuid_parse(str_from(cases[i].space), &space, NULL), 0);
                assert_text(uuid_v5(space, cases[i].name), cases[i].uuid);
        }
        assert_text(UUID_NIL, nil);
}

TEST(version_4_is_random_and_well_formed)
{
        struct uuid seen[50];

        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
                seen[i] = uuid_v4();
                ASSERT_INT(seen[i].bytes[6] >> 4, 4);
                ASSERT_INT(seen[i].bytes[8] >> 6, 2);
                for (size_t k = 0; k < i; k++)
                        ASSERT(!uuid_equal(seen[i], seen[k]));
        }
}

TEST(version_4_repeats_under_a_seed)
{
        struct uuid first, second;
        struct random r;

        random_seed(&r, 3);
        random_use_seeded(&r);
        first = uuid_v4();
        random_seed(&r, 3);
        second = uuid_v4();
        random_use_seeded(NULL);
        ASSERT(uuid_equal(first, second));
        ASSERT(!uuid_equal(first, uuid_v4()));
}

TEST(text_goes_round)
{
        struct uuid u, back;

        for (int i = 0; i < 100; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                u = uuid_v4();
                uuid_append(&b, u);
                ASSERT_INT(b.n, UUID_TEXT_BYTES);
                ASSERT_INT(uuid_parse(buf_str(&b), &back, NULL), 0);
                ASSERT(uuid_equal(u, back));
        }
        ASSERT_INT(uuid_parse(STR("ABCDEF01-2345-6789-abcd-EF0123456789"), &u, NULL), 0);
        assert_text(u, "abcdef01-2345-6789-abcd-ef0123456789");
}

TEST(refuses_everything_else)
{
        static const struct {
                struct str text;
                const char *error;
        } cases[] = {
                { STR_INIT(""), "invalid UUID length: 0" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430c"), "invalid UUID length: 35" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430c8 "), "invalid UUID length: 37" },
                { STR_INIT("6ba7b8109dad11d180b400c04fd430c8"), "invalid UUID length: 32" },
                { STR_INIT("{6ba7b810-9dad-11d1-80b4-00c04fd430c8}"), "invalid UUID length: 38" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430cg"), "invalid UUID format" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430c/"), "invalid UUID format" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430:8"), "invalid UUID format" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430@8"), "invalid UUID format" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4-00c04fd430`8"), "invalid UUID format" },
                { STR_INIT("6ba7b8109-dad-11d1-80b4-00c04fd430c8"), "invalid UUID format" },
                { STR_INIT("6ba7b810 9dad 11d1 80b4 00c04fd430c8"), "invalid UUID format" },
                { STR_INIT("6ba7b810-9dad-11d1-80b4000c04fd430c8"), "invalid UUID format" },
                { STR_INIT("-ba7b810-9dad-11d1-80b4-00c04fd430c8"), "invalid UUID format" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct uuid u = { { 9 } };

                ASSERT_INT(uuid_parse(cases[i].text, &u, &err), ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].error));
                ASSERT_INT(u.bytes[0], 9);
        }
}
