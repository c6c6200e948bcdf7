#include "test.h"

#include "base64.h"
#include "buf.h"

TEST(encode)
{
        static const struct {
                struct str bytes, std, url;
        } cases[] = {
                { STR_INIT(""), STR_INIT(""), STR_INIT("") },
                { STR_INIT("f"), STR_INIT("Zg=="), STR_INIT("Zg==") },
                { STR_INIT("fo"), STR_INIT("Zm8="), STR_INIT("Zm8=") },
                { STR_INIT("foo"), STR_INIT("Zm9v"), STR_INIT("Zm9v") },
                { STR_INIT("foob"), STR_INIT("Zm9vYg=="), STR_INIT("Zm9vYg==") },
                { STR_INIT("fooba"), STR_INIT("Zm9vYmE="), STR_INIT("Zm9vYmE=") },
                { STR_INIT("foobar"), STR_INIT("Zm9vYmFy"), STR_INIT("Zm9vYmFy") },
                { STR_INIT("\xFB\xFF\xBF"), STR_INIT("+/+/"), STR_INIT("-_-_") },
                { STR_INIT("\x00\x10\x83\xFF"), STR_INIT("ABCD/w=="), STR_INIT("ABCD_w==") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct str raw;

                base64_encode(&b, cases[i].bytes, BASE64_STD);
                ASSERT_STR(buf_str(&b), cases[i].std);
                buf_clear(&b);
                base64_encode(&b, cases[i].bytes, BASE64_URL);
                ASSERT_STR(buf_str(&b), cases[i].url);
                buf_clear(&b);
                raw = cases[i].std;
                while (str_cut_suffix(&raw, STR("=")))
                        ;
                base64_encode(&b, cases[i].bytes, BASE64_RAW_STD);
                ASSERT_STR(buf_str(&b), raw);
                buf_clear(&b);
                raw = cases[i].url;
                while (str_cut_suffix(&raw, STR("=")))
                        ;
                base64_encode(&b, cases[i].bytes, BASE64_RAW_URL);
                ASSERT_STR(buf_str(&b), raw);
        }
}

TEST(encode_stops_at_the_maximum)
{
        _cleanup_buf_ struct buf exact = BUF_INIT(8), small = BUF_INIT(7);

        base64_encode(&exact, STR("foob"), BASE64_STD);
        ASSERT(!exact.has_failed);
        ASSERT_STR(buf_str(&exact), STR("Zm9vYg=="));
        base64_encode(&small, STR("foob"), BASE64_STD);
        ASSERT(small.has_failed);
}

/* Expectations are what Go's encoding/base64 answers; offset -1 means no error. */
TEST(decode)
{
        static const struct {
                const char *text;
                const char *std;
                int std_offset;
                const char *raw;
                int raw_offset;
        } cases[] = {
                { "", "", -1, "", -1 },
                { "\r\n", "", -1, "", -1 },
                { "YWJj", "abc", -1, "abc", -1 },
                { "YW\r\nJj\n", "abc", -1, "abc", -1 },
                { "YWJj!", "abc", 4, "abc", 4 },
                { "YWJjZ", "abc", 4, "abc", 4 },
                { "YWJjZA", "abc", 4, "abcd", -1 },
                { "YWJjZA=", "abc", 7, "abc", 6 },
                { "YWJjZA==", "abcd", -1, "abc", 6 },
                { "YWJjZB==", "abcd", -1, "abc", 6 },
                { "YWJjZA==x", "abcd", 8, "abc", 6 },
                { "YWJjZA=x", "abc", 6, "abc", 6 },
                { "YWJjZA=\n\nx", "abc", 8, "abc", 6 },
                { "YWJjZA=\n=\nY", "abcd", 10, "abc", 6 },
                { "YWJjZA=\n=\n", "abcd", -1, "abc", 6 },
                { "YWJjZGU=", "abcde", -1, "abc", 7 },
                { "YWJjZGU==", "abcde", 8, "abc", 7 },
                { "YWJjZGU=\n", "abcde", -1, "abc", 7 },
                { "YWJj\nZG\nU", "abc", 6, "abcde", -1 },
                { "=", "", 0, "", 0 },
                { "A=", "", 1, "", 1 },
                { "YWJjYWJj\n===", "abcabc", 9, "abcabc", 9 },
                { "YWJj-", "abc", 4, "abc", 4 },
                { "YWJj\xC3\xA9", "abc", 4, "abc", 4 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                for (int raw = 0; raw < 2; raw++) {
                        _cleanup_buf_ struct buf b = BUF_INIT(0);
                        _cleanup_err_ struct err err = { 0 };
                        int offset = raw ? cases[i].raw_offset : cases[i].std_offset;
                        char wanted[64];

                        base64_decode(&b, str_from(cases[i].text), raw ? BASE64_RAW_STD : BASE64_STD, &err);
                        snprintf(wanted, sizeof(wanted), "illegal base64 data at input byte %d", offset);
                        ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)),
                                        str_from(offset < 0 ? "no error" : wanted));
                        ASSERT_INT(err.code, offset < 0 ? 0 : ERR_INVALID);
                        ASSERT_STR_CASE(cases[i].text, buf_str(&b), str_from(raw ? cases[i].raw : cases[i].std));
                }
        }
}

TEST(alphabets_are_kept_apart)
{
        static const struct {
                const char *text;
                enum base64_alphabet alphabet;
                int result;
        } cases[] = {
                { "+/+/", BASE64_STD, 0 },
                { "+/+/", BASE64_URL, ERR_INVALID },
                { "-_-_", BASE64_STD, ERR_INVALID },
                { "-_-_", BASE64_URL, 0 },
                { "+/+/", BASE64_RAW_STD, 0 },
                { "-_-_", BASE64_RAW_URL, 0 },
                { "+/+/", BASE64_RAW_URL, ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                ASSERT_INT(base64_decode(&b, str_from(cases[i].text), cases[i].alphabet, NULL), cases[i].result);
                if (cases[i].result == 0)
                        ASSERT_STR(buf_str(&b), STR("\xFB\xFF\xBF"));
        }
}

TEST(decode_any)
{
        static const struct {
                const char *text;
                int result;
        } cases[] = {
                { "+/+/YQ==", 0 }, { "-_-_YQ==", 0 },         { "+/+/YQ", 0 },
                { "-_-_YQ", 0 },   { "+_+/YQ", ERR_INVALID }, { "+/+/YQ=", ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                ASSERT_INT(base64_decode_any(&b, str_from(cases[i].text), NULL), cases[i].result);
                if (cases[i].result == 0)
                        ASSERT_STR(buf_str(&b), STR("\xFB\xFF\xBF"
                                                    "a"));
        }
}

TEST(decode_fills_the_maximum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(4);

        ASSERT_INT(base64_decode(&b, STR("YWJjZA=="), BASE64_STD, NULL), 0);
        ASSERT_STR(buf_str(&b), STR("abcd"));
}

TEST(decode_stops_at_the_maximum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(3);
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(base64_decode(&b, STR("YWJjZA=="), BASE64_STD, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "decoded base64 is larger than the limit of 3 bytes");
}
