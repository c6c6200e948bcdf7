#include "test.h"

#include "utf8.h"

/* The encoding as RFC 3629 defines it, from the other direction: every code point has exactly one form. */
static size_t reference_encode(uint32_t rune, unsigned char out[4])
{
        if (rune < 0x80) {
                out[0] = (unsigned char)rune;
                return 1;
        }
        if (rune < 0x800) {
                out[0] = (unsigned char)(0xC0 + rune / 64);
                out[1] = (unsigned char)(0x80 + rune % 64);
                return 2;
        }
        if (rune < 0x10000) {
                out[0] = (unsigned char)(0xE0 + rune / 4096);
                out[1] = (unsigned char)(0x80 + rune / 64 % 64);
                out[2] = (unsigned char)(0x80 + rune % 64);
                return 3;
        }
        out[0] = (unsigned char)(0xF0 + rune / 262144);
        out[1] = (unsigned char)(0x80 + rune / 4096 % 64);
        out[2] = (unsigned char)(0x80 + rune / 64 % 64);
        out[3] = (unsigned char)(0x80 + rune % 64);
        return 4;
}

static bool is_surrogate(uint32_t rune)
{
        return rune >= 0xD800 && rune <= 0xDFFF;
}

TEST(every_code_point_goes_round)
{
        for (uint32_t rune = 0; rune <= RUNE_MAX; rune++) {
                unsigned char wanted[4];
                size_t n = reference_encode(rune, wanted), width;
                char out[4];

                if (is_surrogate(rune))
                        continue;
                ASSERT_INT(utf8_encode(rune, out), n);
                ASSERT(memcmp(out, wanted, n) == 0);
                ASSERT_INT(utf8_decode(str_make(out, n), &width), rune);
                ASSERT_INT(width, n);
                ASSERT(utf8_is_valid(str_make(out, n)));
        }
}

TEST(runes_that_are_none_become_the_replacement)
{
        static const uint32_t runes[] = { 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x110000, 0x7FFFFFFF, UINT32_MAX };
        char out[4];

        for (size_t i = 0; i < ARRAY_SIZE(runes); i++) {
                ASSERT_INT(utf8_encode(runes[i], out), 3);
                ASSERT(memcmp(out, "\xEF\xBF\xBD", 3) == 0);
        }
}

/* All strings of one to three bytes, and of four with bytes from every boundary: what is not the form of a code point is
 * one invalid byte of width 1. */
static bool is_form_of_code_point(const unsigned char *p, size_t n, uint32_t *ret)
{
        static const uint32_t starts[] = { 0, 0, 0x80, 0x800, 0x10000 };
        unsigned char form[4];
        uint32_t rune;

        rune = n == 1 ? p[0] : n == 2 ? p[0] & 31u : n == 3 ? p[0] & 15u : p[0] & 7u;
        for (size_t i = 1; i < n; i++)
                rune = rune * 64 + (p[i] & 63u);
        *ret = rune;
        return rune >= starts[n] && rune <= RUNE_MAX && !is_surrogate(rune) && reference_encode(rune, form) == n &&
               memcmp(form, p, n) == 0;
}

static void check_decode(const unsigned char *p, size_t n)
{
        uint32_t wanted = RUNE_ERROR, rune;
        size_t wanted_width = 1, width;

        for (size_t k = 1; k <= n; k++)
                if (is_form_of_code_point(p, k, &rune)) {
                        wanted = rune;
                        wanted_width = k;
                        break;
                }
        rune = utf8_decode(str_make((const char *)p, n), &width);
        if (rune != wanted || width != wanted_width)
                test_fail(__FILE__, __LINE__, "%02x %02x %02x %02x (%zu) gives %x/%zu, wanted %x/%zu", p[0],
                          n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0, n, rune, width, wanted, wanted_width);
}

TEST(all_strings_of_one_and_two_bytes)
{
        for (unsigned i = 0; i < 0x10000; i++) {
                unsigned char p[] = { (unsigned char)(i >> 8), (unsigned char)i };

                check_decode(p, 1);
                check_decode(p, 2);
        }
}

TEST(all_boundaries_of_three_and_four_bytes)
{
        static const unsigned char tails[] = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF };

        for (unsigned first = 0; first < 256; first++)
                for (unsigned second = 0; second < 256; second++)
                        for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
                                unsigned char p[4] = { (unsigned char)first, (unsigned char)second, tails[i] };

                                check_decode(p, 3);
                                if (first < 0xE0)
                                        continue;
                                for (size_t k = 0; k < ARRAY_SIZE(tails); k++) {
                                        p[3] = tails[k];
                                        check_decode(p, 4);
                                }
                        }
}

TEST(named_cases)
{
        static const struct {
                const char *what;
                struct str s;
                size_t valid_prefix;
                size_t count; /* of runes, as Go's utf8.RuneCountInString counts */
        } cases[] = {
                { "empty", STR_INIT(""), 0, 0 },
                { "ascii", STR_INIT("hello, world: 0123456789"), 24, 24 },
                { "mixed", STR_INIT("h\u00e9llo \u20ac \U0001F600"), 15, 9 },
                { "real replacement", STR_INIT("\xEF\xBF\xBD"), 3, 1 },
                { "lone continuation", STR_INIT("a\x80z"), 1, 3 },
                { "overlong slash", STR_INIT("\xC0\xAF"), 0, 2 },
                { "overlong of three", STR_INIT("\xE0\x80\xAF"), 0, 3 },
                { "overlong of four", STR_INIT("\xF0\x80\x80\xAF"), 0, 4 },
                { "surrogate", STR_INIT("\xED\xA0\x80"), 0, 3 },
                { "surrogate pair", STR_INIT("\xED\xA0\xBD\xED\xB8\x80"), 0, 6 },
                { "beyond the last", STR_INIT("\xF4\x90\x80\x80"), 0, 4 },
                { "five bytes", STR_INIT("\xF8\x88\x80\x80\x80"), 0, 5 },
                { "cut off", STR_INIT("abcdefgh\xE2\x82"), 8, 10 },
                { "cut off and on", STR_INIT("\xE2\x82zz"), 0, 4 },
                { "last byte of a word", STR_INIT("1234567\xff"), 7, 8 },
                { "first of the next", STR_INIT("12345678\xff"), 8, 9 },
                { "nul", STR_INIT("a\0b"), 3, 3 },
                { "no pointer", { NULL, 0 }, 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_CASE(cases[i].what, utf8_valid_prefix(cases[i].s) == cases[i].valid_prefix);
                ASSERT_CASE(cases[i].what, utf8_is_valid(cases[i].s) == (cases[i].valid_prefix == cases[i].s.n));
                ASSERT_CASE(cases[i].what, utf8_count(cases[i].s) == cases[i].count);
        }
}

/* The fast path over words must see a bad byte at every offset and alignment. */
TEST(one_bad_byte_anywhere)
{
        enum { N = 40 };

        for (size_t n = 1; n <= N; n++) {
                _cleanup_free_ char *text = xmalloc(n); /* exact, so that reading past the end is seen */

                for (size_t at = 0; at < n; at++) {
                        memset(text, 'a', n);
                        ASSERT_INT(utf8_valid_prefix(str_make(text, n)), n);
                        text[at] = (char)0xFE;
                        ASSERT_INT(utf8_valid_prefix(str_make(text, n)), at);
                        ASSERT_INT(utf8_count(str_make(text, n)), n);
                }
        }
}

static void decode_nothing(void)
{
        size_t width;

        utf8_decode(STR(""), &width);
}

TEST(broken_invariants_end_the_process)
{
        ASSERT_ABORTS(decode_nothing);
}
