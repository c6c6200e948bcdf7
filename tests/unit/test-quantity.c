#include "test.h"

#include "arena.h"
#include "buf.h"
#include "quantity.h"

#include <math.h>

#define SI       QUANTITY_DECIMAL_SI
#define BINARY   QUANTITY_BINARY_SI
#define EXPONENT QUANTITY_DECIMAL_EXPONENT

static const char *const wrong_format =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char *const wrong_number = "unable to parse numeric part of quantity";
static const char *const wrong_suffix = "unable to parse quantity's suffix";

static bool same_double(double a, double b)
{
        return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

/* Every column is what apimachinery's resource.Quantity answers; canonical is NULL where it equals the string. */
TEST(quantities)
{
        static const struct {
                const char *text;
                enum quantity_format format;
                const char *string, *canonical;
                int64_t value, milli_value;
                double d;
        } cases[] = {
                { "0", SI, "0", NULL, 0, 0, 0 },
                { "-0", SI, "0", NULL, 0, 0, 0 },
                { ".", SI, "0", NULL, 0, 0, 0 },
                { "-", SI, "0", NULL, 0, 0, 0 },
                { "m", SI, "0", NULL, 0, 0, 0 },
                { "00Ki", BINARY, "0", NULL, 0, 0, 0 },
                { "1", SI, "1", NULL, 1, 1000, 1 },
                { "+1", SI, "+1", "1", 1, 1000, 1 },
                { "01k", SI, "01k", "1k", 1000, 1000000, 1000 },
                { "1.", SI, "1.", "1", 1, 1000, 1 },
                { "1.0", SI, "1", NULL, 1, 1000, 1 },
                { "1.5", SI, "1500m", NULL, 2, 1500, 0x1.8p+00 },
                { "1.001", SI, "1.001", "1001m", 2, 1001, 0x1.004189374bc6bp+00 },
                { "0.001", SI, "1m", NULL, 1, 1, 0x1.0624dd2f1a9fcp-10 },
                { "1000", SI, "1k", NULL, 1000, 1000000, 1000 },
                { "1000m", SI, "1", NULL, 1, 1000, 1 },
                { "1500m", SI, "1500m", NULL, 2, 1500, 0x1.8p+00 },
                { "100m", SI, "100m", NULL, 1, 100, 0x1.999999999999ap-04 },
                { "0.1", SI, "100m", NULL, 1, 100, 0x1.999999999999ap-04 },
                { "-1500m", SI, "-1500m", NULL, -2, -1500, -0x1.8p+00 },
                { "-1m", SI, "-1m", NULL, -1, -1, -0x1.0624dd2f1a9fcp-10 },
                { "1e3", EXPONENT, "1e3", NULL, 1000, 1000000, 1000 },
                { "1E3", EXPONENT, "1E3", "1e3", 1000, 1000000, 1000 },
                { "1e+3", EXPONENT, "1e+3", "1e3", 1000, 1000000, 1000 },
                { "1e0", EXPONENT, "1e0", "1", 1, 1000, 1 },
                { "1e1", EXPONENT, "10", NULL, 10, 10000, 10 },
                { "12e6", EXPONENT, "12e6", NULL, 12000000, 12000000000, 0x1.6e36p+23 },
                { "1.2e3", EXPONENT, "1200", NULL, 1200, 1200000, 1200 },
                { "1e-1", EXPONENT, "100e-3", NULL, 1, 100, 0x1.999999999999ap-04 },
                { "1e19", EXPONENT, "10e18", NULL, 0, 0, 0x1.158e460913dp+63 },
                { "93e17", EXPONENT, "9300e15", NULL, 0, 0, 0x1.02207973f644p+63 },
                { "1e99", EXPONENT, "1e99", NULL, 0, 0, 0x1.d42aea2879f2fp+328 },
                { "1e309", EXPONENT, "1e309", NULL, 0, 0, INFINITY },
                { "0e309", EXPONENT, "0", NULL, 0, 0, NAN },
                { "1e1000000", EXPONENT, "10e999999", NULL, 0, 0, INFINITY },
                { "1n", SI, "1n", NULL, 1, 1, 0x1.12e0be826d695p-30 },
                { "3n", SI, "3n", NULL, 1, 1, 0x1.9c511dc3a41ep-29 },
                { "0.1n", SI, "1n", NULL, 1, 1, 0x1.12e0be826d695p-30 },
                { "1.5n", SI, "2n", NULL, 1, 1, 0x1.12e0be826d695p-29 },
                { "-1.5n", SI, "-2n", NULL, 1, 1, -0x1.12e0be826d695p-29 },
                { "1.0000000001", SI, "1000000001n", NULL, 2, 1001, 0x1.000000044b83p+00 },
                { "-1.0000000001", SI, "-1000000001n", NULL, 0, -999, -0x1.000000044b83p+00 },
                { "9.9999999999", SI, "10", NULL, 10, 10000, 10 },
                { "0.99999999999", SI, "1", NULL, 1, 1000, 1 },
                { "1e-1000", EXPONENT, "1e-9", NULL, 1, 1, 0x1.12e0be826d695p-30 },
                { "1Ki", BINARY, "1Ki", NULL, 1024, 1024000, 1024 },
                { "1.5Gi", BINARY, "1536Mi", NULL, 1610612736, 1610612736000, 0x1.8p+30 },
                { "1024Ki", BINARY, "1Mi", NULL, 1048576, 1048576000, 0x1p+20 },
                { "1000Ki", BINARY, "1000Ki", NULL, 1024000, 1024000000, 0x1.f4p+19 },
                { "+8Ki", BINARY, "8Ki", NULL, 8192, 8192000, 8192 },
                { "+9Ki", BINARY, "+9Ki", "9Ki", 9216, 9216000, 9216 },
                { "0.5Ki", BINARY, "512", NULL, 512, 512000, 512 },
                { "0.1Ki", BINARY, "102400m", NULL, 103, 102400, 0x1.999999999999ap+06 },
                { "1.3Ki", BINARY, "1331200m", NULL, 1332, 1331200, 0x1.4cccccccccccdp+10 },
                { "-1Ki", BINARY, "-1Ki", NULL, -1024, -1024000, -1024 },
                { "0.00001Ki", SI, "10240u", NULL, 1, 11, 0x1.4f8b588e368f1p-07 },
                { "0.0000000000Ki", BINARY, "0", NULL, 0, 0, 0 },
                { "3Ti", BINARY, "3Ti", NULL, 3298534883328, 3298534883328000, 0x1.8p+41 },
                { "100Ti", BINARY, "100Ti", NULL, 109951162777600, 109951162777600000, 0x1.9p+46 },
                { "1Ei", BINARY, "1Ei", NULL, 1152921504606846976, INT64_MIN, 0x1p+60 },
                { "7Ei", BINARY, "7Ei", NULL, 8070450532247928832, INT64_MIN, 0x1.cp+62 },
                { "8Ei", BINARY, "9223372036854775807", NULL, 9223372036854775807, -1000, 0x1p+63 },
                { "-9Ei", BINARY, "-9223372036854775807", NULL, -9223372036854775807, 1000, -0x1p+63 },
                { "0.9Ei", BINARY, "1037629354146162278400m", NULL, 1037629354146162279, 4611686018427387904,
                  0x1.ccccccccccccdp+59 },
                { "-0.9Ei", BINARY, "-1037629354146162278400m", NULL, 0, 0, -0x1.ccccccccccccdp+59 },
                { "9007199254740991.9990234375Ki", BINARY, "9223372036854775807", NULL, 9223372036854775807, -1000,
                  0x1p+63 },
                { "1E", SI, "1E", NULL, 1000000000000000000, 0, 0x1.bc16d674ec8p+59 },
                { "10E", SI, "10E", NULL, 0, 0, 0x1.158e460913dp+63 },
                { "1000E", SI, "1", NULL, 0, 0, 0x1.b1ae4d6e2ef5p+69 },
                { "1.5E", SI, "1500P", NULL, 1500000000000000000, 0, 0x1.4d1120d7b16p+60 },
                { "999999999999999999", SI, "999999999999999999", NULL, 999999999999999999, 3875820019684211736,
                  0x1.bc16d674ec8p+59 },
                { "1000000000000000000", SI, "1E", NULL, 1000000000000000000, 3875820019684212736,
                  0x1.bc16d674ec801p+59 },
                { "9223372036854775808", SI, "9223372036854775808", NULL, INT64_MIN, 0, 0x1p+63 },
                { "12345678912345678912", SI, "12345678912345678912", NULL, -6101065161363872704, 4807127033988880896,
                  0x1.56a9531f02ca5p+63 },
                { "-12345678912345678912", SI, "-12345678912345678912", NULL, 2237899460, 2237899459708,
                  -0x1.56a9531f02ca5p+63 },
                { "12345678912345678912m", SI, "12345678912345678912m", NULL, 12345678912345679, -6101065161363872704,
                  0x1.5ee2a2f0a6b28p+53 },
                { "-999999999999Ki", BINARY, "-999999999999Ki", NULL, -2789723284, -2789723285079,
                  -0x1.d1a94a1ffe001p+49 },
                { "999999999999999999e3", EXPONENT, "999999999999999999e3", NULL, 3875820019684211736,
                  2003764205205896640, 0x1.b1ae4d6e2ef5p+69 },
                { "999999999999999999e4", EXPONENT, "9999999999999999990e3", NULL, 0, 0, 0x1.0f0cf064dd592p+73 },
                { "922337203685477580k", SI, "922337203685477580k", NULL, -800, -800000, 0x1.9p+69 },
                { "0.0000000000000000000e2000", EXPONENT, "0", NULL, 0, 0, NAN },
                { "000000000000000000000000000012Mi", BINARY, "000000000000000000000000000012Mi", "12Mi", 12582912,
                  12582912000, 0x1.8p+23 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct quantity q;
                double d;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].text, quantity_parse(&a, str_from(cases[i].text), &q, NULL) == 0);
                ASSERT_CASE(cases[i].text, q.format == cases[i].format);
                quantity_append(&b, &q);
                ASSERT_STR_CASE(cases[i].text, buf_str(&b), str_from(cases[i].string));
                buf_clear(&b);
                quantity_append_canonical(&b, &q);
                ASSERT_STR_CASE(cases[i].text, buf_str(&b),
                                str_from(cases[i].canonical ? cases[i].canonical : cases[i].string));
                ASSERT_CASE(cases[i].text, quantity_value(&q) == cases[i].value);
                ASSERT_CASE(cases[i].text, quantity_milli_value(&q) == cases[i].milli_value);
                ASSERT_CASE(cases[i].text, quantity_to_double(str_from(cases[i].text), &d, NULL) == 0);
                ASSERT_CASE(cases[i].text, same_double(d, cases[i].d));
        }
}

TEST(errors)
{
        const struct {
                struct str text;
                const char *message;
        } cases[] = {
                { STR(""), wrong_format },
                { STR("1 "), wrong_format },
                { STR(" 1"), wrong_format },
                { STR("1.5.5"), wrong_format },
                { STR("1EiB"), wrong_format },
                { STR("1e3k"), wrong_format },
                { STR("1e3.5"), wrong_format },
                { STR("1e--3"), wrong_format },
                { STR("1_000"), wrong_format },
                { STR("1\0"), wrong_format },
                { STR("\xC2\xB5"), wrong_format },
                { STR("1K"), wrong_suffix },
                { STR("1ki"), wrong_suffix },
                { STR("1e"), wrong_suffix },
                { STR("1mm"), wrong_suffix },
                { STR("1k1"), wrong_suffix },
                { STR("++1"), wrong_suffix },
                { STR("1Ee3"), wrong_suffix },
                { STR("1e-"), wrong_suffix },
                { STR("1e9223372036854775808"), wrong_suffix },
                { STR("Ei"), wrong_number },
                { STR("-.Pi"), wrong_number },
                { STR("e-20"), wrong_number },
                /* These keep apimachinery busy for minutes, or lose the exponent's upper bits. */
                { STR("1e1000001"), wrong_suffix },
                { STR("1e-1000001"), wrong_suffix },
                { STR("1e2147483647"), wrong_suffix },
                { STR("1.5e-2147483648"), wrong_suffix },
                { STR("1e4294967299"), wrong_suffix },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct quantity q;
                double d;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].text.p, quantity_parse(&a, cases[i].text, &q, &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].message));
                ASSERT_INT(quantity_to_double(cases[i].text, &d, NULL), ERR_INVALID);
        }
}

/* Rows in ascending order; the texts of a row are equal. */
TEST(compare)
{
        static const char *const rows[][5] = {
                { "-1e1000", "-10e999" },
                { "-123456789012345678901234" },
                { "-8Ei", "-9Ei" },
                { "-9223372036854775806" },
                { "-1Ki", "-1024" },
                { "-1.5", "-1500m" },
                { "-1.0000000001", "-1000000001n" },
                { "-1" },
                { "-1n", "-0.1n" },
                { "0", "-0", "0Ki", "0e99", "0.0000000000000000000" },
                { "1n", "0.1n", "1e-9", "1e-1000" },
                { "1.5n", "2n" },
                { "1m", "0.001", "1e-3" },
                { "0.999999999" },
                { "1", "01", "1.0", "1000m", "0.9999999999" },
                { "1.000000001" },
                { "1000", "1k", "1e3", "1000.000" },
                { "1024", "1Ki", "1.024k", "1.0Ki" },
                { "1048576", "1Mi", "1024Ki" },
                { "1E", "1000P", "1e18", "1000000000000000000" },
                { "1Ei", "1024Pi" },
                { "9223372036854775807", "8Ei", "16Ei" },
                { "9223372036854775808" },
                { "1000E", "1e21", "1000000000000000000000" },
                { "1e1000", "1000000000000000000000e979" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(rows) * 5; i++)
                for (size_t j = 0; j < ARRAY_SIZE(rows) * 5; j++) {
                        const char *left = rows[i / 5][i % 5], *right = rows[j / 5][j % 5];
                        struct quantity x, y;
                        int order;

                        if (!left || !right)
                                continue;
                        ASSERT_INT(quantity_parse(&a, str_from(left), &x, NULL), 0);
                        ASSERT_INT(quantity_parse(&a, str_from(right), &y, NULL), 0);
                        order = quantity_compare(&x, &y);
                        ASSERT_CASE(left, (order > 0) - (order < 0) == (i / 5 > j / 5) - (i / 5 < j / 5));
                }
}

/* A quantity outlives the text it was read from. */
TEST(lifetime)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char small[] = "+1k", large[] = "12345678901234567890";
        struct quantity x, y;

        arena_init(&a, "test", 0);
        ASSERT_INT(quantity_parse(&a, str_from(small), &x, NULL), 0);
        ASSERT_INT(quantity_parse(&a, str_from(large), &y, NULL), 0);
        memset(small, '9', sizeof(small) - 1);
        memset(large, '9', sizeof(large) - 1);
        quantity_append(&b, &x);
        ASSERT_STR(buf_str(&b), STR("+1k"));
        buf_clear(&b);
        quantity_append(&b, &y);
        ASSERT_STR(buf_str(&b), STR("12345678901234567890"));
}

/* A megabyte of digits takes time and memory in proportion. */
TEST(long_numbers)
{
        static const struct str suffixes[] = { STR_INIT(""), STR_INIT("Ei"), STR_INIT("e1000000"), STR_INIT("n") };

        for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_buf_ struct buf text = BUF_INIT(0), b = BUF_INIT(0);
                struct quantity q;

                arena_init(&a, "test", 0);
                buf_append_repeat(&text, '7', 1 << 20);
                buf_append_char(&text, '.');
                buf_append_repeat(&text, '9', 1 << 20);
                buf_append_str(&text, suffixes[i]);
                ASSERT_INT(quantity_parse(&a, buf_str(&text), &q, NULL), 0);
                quantity_append(&b, &q);
                ASSERT(b.n > 0 && b.n < (4 << 20));
                ASSERT_INT(quantity_compare(&q, &q), 0);
                ASSERT(quantity_double(&q) > 1e18);
                quantity_value(&q);
                ASSERT(a.used_bytes < (16 << 20));
        }
}
