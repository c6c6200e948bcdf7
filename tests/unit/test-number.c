#include "test.h"

#include "buf.h"
#include "number.h"

#include <math.h>

/* The wanted texts are those of encoding/json. */
TEST(json)
{
        static const struct {
                double d;
                const char *wanted;
        } cases[] = {
                { 0.0, "0" },
                { -0.0, "-0" },
                { 1, "1" },
                { -42, "-42" },
                { 0.1, "0.1" },
                { 1.5, "1.5" },
                { 1e-6, "0.000001" },
                { 1e-7, "1e-7" },
                { 1.25e-7, "1.25e-7" },
                { 1e20, "100000000000000000000" },
                { 1e21, "1e+21" },
                { -1.5e300, "-1.5e+300" },
                { 12345678901234567890.0, "12345678901234567000" },
                { 5e-324, "5e-324" },
                { 1.7976931348623157e308, "1.7976931348623157e+308" },
                { 9007199254740993.0, "9007199254740992" },
                { 0x1p-44, "5.684341886080802e-14" },
                { 1 / 3.0, "0.3333333333333333" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                number_append_json(&b, cases[i].d);
                ASSERT_STR_CASE(cases[i].wanted, buf_str(&b), str_from(cases[i].wanted));
        }
}

/* strconv.FormatFloat, as it answered. */
TEST(go_formats)
{
        static const struct {
                double d;
                char format;
                int precision;
                const char *wanted;
        } cases[] = {
                { 0, 'e', -1, "0e+00" },
                { 0, 'E', 3, "0.000E+00" },
                { 0, 'f', 0, "0" },
                { 0, 'g', 20, "0" },
                { -0.0, 'g', -1, "-0" },
                { 0, 'b', -1, "0p-1074" },
                { 0, 'x', -1, "0x0p+00" },
                { 0, 'X', 3, "0X0.000P+00" },
                { -1.5, 'e', 0, "-2e+00" },
                { 2.5, 'e', 0, "2e+00" },
                { 2.5, 'f', 0, "2" },
                { 3.5, 'f', 0, "4" },
                { 0.5, 'f', 0, "0" },
                { 0.6, 'f', 0, "1" },
                { 9.996, 'f', 2, "10.00" },
                { 999.96, 'e', 3, "1.000e+03" },
                { 0.04, 'f', 1, "0.0" },
                { 0.004, 'f', 1, "0.0" },
                { 1e21, 'f', -1, "1000000000000000000000" },
                { 1e20, 'g', 20, "1e+20" },
                { 123456789, 'g', -1, "1.23456789e+08" },
                { 123456, 'g', -1, "123456" },
                { 1000000, 'g', -1, "1e+06" },
                { 0.0001, 'g', -1, "0.0001" },
                { 0.00001, 'g', -1, "1e-05" },
                { 255, 'g', 0, "3e+02" },
                { 255, 'g', 3, "255" },
                { 255, 'G', 1, "3E+02" },
                { 100, 'g', 20, "100" },
                { 5e-324, 'e', 20, "4.94065645841246544177e-324" },
                { 5e-324, 'g', -1, "5e-324" },
                { 5e-324, 'b', -1, "1p-1074" },
                { 5e-324, 'x', 1, "0x1.0p-1074" },
                { 0.1, 'f', 20, "0.10000000000000000555" },
                { 0.1, 'e', 1, "1.0e-01" },
                { 1 / 3.0, 'f', -1, "0.3333333333333333" },
                { 1.7976931348623157e308, 'e', 20, "1.79769313486231570815e+308" },
                { 1.7976931348623157e308, 'x', 0, "0x1p+1024" },
                { 1.7976931348623157e308, 'b', -1, "9007199254740991p+971" },
                { 1, 'b', -1, "4503599627370496p-52" },
                { 1, 'x', -1, "0x1p+00" },
                { -1.5, 'x', 0, "-0x1p+01" },
                { 2.5, 'x', 0, "0x1p+01" },
                { 3, 'x', 3, "0x1.800p+01" },
                { 255, 'x', 1, "0x1.0p+08" },
                { 0.1, 'X', -1, "0X1.999999999999AP-04" },
                { 0.1, 'x', 20, "0x1.999999999999a0000000p-04" },
                { INFINITY, 'g', -1, "+Inf" },
                { -INFINITY, 'f', 2, "-Inf" },
                { NAN, 'x', 2, "NaN" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                number_append_go(&b, cases[i].d, cases[i].format, cases[i].precision);
                ASSERT_STR_CASE(cases[i].wanted, buf_str(&b), str_from(cases[i].wanted));
        }
}

/* Precisions far beyond what a double has are zeros. */
TEST(large_precisions)
{
        static const char formats[] = "efgx";

        for (size_t i = 0; formats[i]; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                number_append_go(&b, 5e-324, formats[i], 100000);
                ASSERT_INT(b.n > 100000, formats[i] != 'g');
        }
}

/* A printed double reads back as the same double, and none of its digits could be left out. */
TEST(shortest_reads_back)
{
        uint64_t state = 88172645463325252u;

        for (int i = 0; i < 20000; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                double d, again, shorter;

                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                memcpy(&d, &state, sizeof(d));
                if (i % 4 == 0)
                        d = ldexp(1, (int)(state % 2098) - 1074);
                if (!isfinite(d))
                        continue;
                number_append_go(&b, d, 'e', -1);
                ASSERT(number_parse_double(buf_str(&b), &again, NULL) == 0 && again == d);
                if (memchr(b.p, '.', b.n)) {
                        /* One digit less, rounded as it may be, is another double. */
                        int digits = (int)(strcspn(buf_cstring(&b), "e") - strcspn(buf_cstring(&b), ".")) - 1;

                        buf_clear(&b);
                        number_append_go(&b, d, 'e', digits - 1);
                        ASSERT(number_parse_double(buf_str(&b), &shorter, NULL) != 0 || shorter != d);
                }
        }
}

TEST(parse_double)
{
        static const struct {
                const char *text;
                double wanted;
        } cases[] = {
                { "1_000", 1000 },
                { "0x_1p4", 16 },
                { "0X1P4", 16 },
                { "0x1.8p1", 3 },
                { "0x.8p1", 1 },
                { "1.5_5", 1.55 },
                { "1e1_0", 1e10 },
                { "0_1", 1 },
                { "3.", 3 },
                { ".5", 0.5 },
                { "+.5", 0.5 },
                { "1E5", 1e5 },
                { "-infinity", -INFINITY },
                { "+Inf", INFINITY },
                { "1e-400", 0 },
                { "0e99999999999", 0 },
                { "1e-99999999999", 0 },
                { "0x0p99999999999", 0 },
                { "0x1p-99999999999", 0 },
                { "0x1p-1075", 0 },
                { "0x1p-1140", 0 },
                { "0x1.8p-1075", 5e-324 },
                { "0x1p-1074", 5e-324 },
                { "0x1.fffffffffffff7p1023", 1.7976931348623157e308 },
                { "0x1.0000000000000800000001p0", 0x1.0000000000001p0 },
                { "0x1.00000000000008p0", 1 },
                { "0x1.00000000000018p0", 0x1.0000000000002p0 },
                { "0x123456789abcdef123456789p0", 0x1.23456789abcdfp92 },
                { "9007199254740993", 9007199254740992.0 },
                { "9007199254740993.00000000000000000000000000000000000001", 9007199254740994.0 },
                { "2.4703282292062327e-324", 0 },
                { "2.4703282292062328e-324", 5e-324 },
                { "1.7976931348623158e308", 1.7976931348623157e308 },
                { "1e23", 1e23 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                double d = -1;

                ASSERT_CASE(cases[i].text, number_parse_double(str_from(cases[i].text), &d, NULL) == 0);
                ASSERT_CASE(cases[i].text, d == cases[i].wanted);
        }
}

TEST(parse_special_doubles)
{
        double d = 0;

        ASSERT(number_parse_double(STR("NaN"), &d, NULL) == 0 && isnan(d));
        ASSERT(number_parse_double(STR("-0"), &d, NULL) == 0 && d == 0 && signbit(d));
        ASSERT(number_parse_double(STR("-0x0p0"), &d, NULL) == 0 && d == 0 && signbit(d));
        ASSERT(number_parse_double(STR("-1e400"), &d, NULL) == ERR_LIMIT && d == -INFINITY);
        ASSERT(number_parse_double(STR("0x1p1024"), &d, NULL) == ERR_LIMIT && d == INFINITY);
        ASSERT(number_parse_double(STR("0x1.fffffffffffff8p1023"), &d, NULL) == ERR_LIMIT && d == INFINITY);
}

/* Digits beyond those that can decide do decide once they are not zeros. */
TEST(parse_long_doubles)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        double d;

        buf_append_literal(&b, "9007199254740993.");
        buf_append_repeat(&b, '0', 5000);
        ASSERT(number_parse_double(buf_str(&b), &d, NULL) == 0 && d == 9007199254740992.0);
        buf_append_char(&b, '1');
        ASSERT(number_parse_double(buf_str(&b), &d, NULL) == 0 && d == 9007199254740994.0);
        ASSERT(number_from_decimal(buf_str(&b)) == 9007199254740994.0);
        buf_clear(&b);
        buf_append_literal(&b, "-0.");
        buf_append_repeat(&b, '0', 100000);
        buf_append_literal(&b, "25E+100001");
        ASSERT(number_from_decimal(buf_str(&b)) == -2.5);
        buf_clear(&b);
        buf_append_repeat(&b, '9', 1000000);
        ASSERT(number_from_decimal(buf_str(&b)) == HUGE_VAL);
}

/* One signature for the four. */
static int parse_float(struct str s, struct err *err)
{
        double d;

        return number_parse_double(s, &d, err);
}

static int parse_int(struct str s, struct err *err)
{
        int64_t i;

        return number_parse_int(s, &i, err);
}

static int parse_uint(struct str s, struct err *err)
{
        uint64_t u;

        return number_parse_uint(s, &u, err);
}

static int parse_bool(struct str s, struct err *err)
{
        bool b;

        return number_parse_bool(s, &b, err);
}

TEST(parse_errors)
{
        static const struct {
                int (*parse)(struct str s, struct err *err);
                const char *function;
                const char *invalid[28];
                const char *out_of_range[6];
        } cases[] = {
                { parse_float,
                  "ParseFloat",
                  { "",     "1__0",    "_1",     "1_",   "0x1",  "0x.p1",  "0x1p",    "1e_1",  "1_.5",
                    "1._5", "infinit", "+nan",   ".",    "+",    "1e",     "1e5x",    " 1",    "1 ",
                    "0b1",  "1p4",     "0x1_p4", "1e1_", "i_nf", "0_x1p4", "0x__1p1", "1.2.3", "1e5.5" },
                  { "1e400", "-1e400", "0x1p1024", "1e99999999999" } },
                { parse_int,
                  "ParseInt",
                  { "", "+", "-", "1_0", "0x1", "1x", " 1", "--1" },
                  { "9223372036854775808", "-9223372036854775809", "99999999999999999999x", "18446744073709551616" } },
                { parse_uint, "ParseUint", { "", "+1", "-1", "-0", "1_0", "x" }, { "18446744073709551616" } },
                { parse_bool, "ParseBool", { "", "yes", "tRUE", "2", "true " }, { NULL } },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                for (size_t k = 0; cases[i].invalid[k]; k++) {
                        const char *text = cases[i].invalid[k];
                        _cleanup_err_ struct err err = { 0 };
                        _cleanup_buf_ struct buf wanted = BUF_INIT(0);

                        buf_appendf(&wanted, "strconv.%s: parsing \"%s\": invalid syntax", cases[i].function, text);
                        ASSERT_CASE(text, cases[i].parse(str_from(text), &err) == ERR_INVALID);
                        ASSERT_STR_CASE(text, str_from(err_message(&err)), buf_str(&wanted));
                        ASSERT_CASE(text, cases[i].parse(str_from(text), NULL) == ERR_INVALID);
                }
                for (size_t k = 0; cases[i].out_of_range[k]; k++) {
                        const char *text = cases[i].out_of_range[k];
                        _cleanup_err_ struct err err = { 0 };
                        _cleanup_buf_ struct buf wanted = BUF_INIT(0);

                        buf_appendf(&wanted, "strconv.%s: parsing \"%s\": value out of range", cases[i].function, text);
                        ASSERT_CASE(text, cases[i].parse(str_from(text), &err) == ERR_LIMIT);
                        ASSERT_STR_CASE(text, str_from(err_message(&err)), buf_str(&wanted));
                }
        }
}

TEST(errors_quote_the_text)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT(parse_int(STR("a\"b\n\xff\xc3\xa9"), &err) == ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "strconv.ParseInt: parsing \"a\\\"b\\n\\xff\xc3\xa9\": invalid syntax");
}

TEST(parse_integers)
{
        int64_t i;
        uint64_t u;
        bool b;

        ASSERT(number_parse_int(STR("+007"), &i, NULL) == 0 && i == 7);
        ASSERT(number_parse_int(STR("-0"), &i, NULL) == 0 && i == 0);
        ASSERT(number_parse_int(STR("-9223372036854775808"), &i, NULL) == 0 && i == INT64_MIN);
        ASSERT(number_parse_int(STR("9223372036854775807"), &i, NULL) == 0 && i == INT64_MAX);
        ASSERT(number_parse_uint(STR("18446744073709551615"), &u, NULL) == 0 && u == UINT64_MAX);
        ASSERT(number_parse_bool(STR("T"), &b, NULL) == 0 && b);
        ASSERT(number_parse_bool(STR("False"), &b, NULL) == 0 && !b);
}
