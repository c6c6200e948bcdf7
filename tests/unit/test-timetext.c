/* Expectations are what Go 1.26's time package answers. */
#include "test.h"

#include "buf.h"
#include "limits.h"
#include "timetext.h"

TEST(parses_what_go_parses)
{
        static const struct {
                const char *text;
                int64_t seconds;
                int32_t nanos;
        } cases[] = {
                { "2006-01-02T15:04:05Z", 1136214245, 0 },
                { "2006-01-02T5:04:05Z", 1136178245, 0 },
                { "2006-01-02T15:04:05.1Z", 1136214245, 100000000 },
                { "2006-01-02T15:04:05,1Z", 1136214245, 100000000 },
                { "2006-01-02T15:04:05.123456789Z", 1136214245, 123456789 },
                { "2006-01-02T15:04:05.1234567899Z", 1136214245, 123456789 },
                { "2006-01-02T15:04:05.99999999999999999999999Z", 1136214245, 999999999 },
                { "2006-01-02T15:04:05.000000000000000000000001Z", 1136214245, 0 },
                { "2006-01-02T15:04:05+07:00", 1136189045, 0 },
                { "2006-01-02T15:04:05-07:00", 1136239445, 0 },
                { "2006-01-02T15:04:05+24:00", 1136127845, 0 },
                { "2006-01-02T15:04:05+24:60", 1136124245, 0 },
                { "2006-01-02T15:04:05.123456789+01:00", 1136210645, 123456789 },
                { "2004-02-29T15:04:05Z", 1078067045, 0 },
                { "2000-02-29T15:04:05Z", 951836645, 0 },
                { "0000-01-01T00:00:00Z", -62167219200, 0 },
                { "0000-01-01T00:00:00+23:00", -62167302000, 0 },
                { "9999-12-31T23:59:59.999999999Z", 253402300799, 999999999 },
                { "9999-12-31T23:59:59-24:60", 253402390799, 0 },
                { "1969-12-31T23:59:59.5Z", -1, 500000000 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct instant t = { 0 };

                ASSERT_CASE(cases[i].text, time_parse_rfc3339(str_from(cases[i].text), &t, &err) == 0);
                ASSERT_CASE(cases[i].text, t.seconds == cases[i].seconds && t.nanos == cases[i].nanos);
        }
}

#define AS " as \"2006-01-02T15:04:05Z07:00\": cannot parse "

TEST(refuses_what_go_refuses_in_its_words)
{
        static const struct {
                struct str text;
                const char *error; /* behind `parsing time "TEXT"`, or all of it where TEXT needs escapes */
        } cases[] = {
                { STR_INIT(""), AS "\"\" as \"2006\"" },
                { STR_INIT("zz"), AS "\"zz\" as \"2006\"" },
                { STR_INIT("2006"), AS "\"\" as \"-\"" },
                { STR_INIT("20060-01-02T15:04:05Z"), AS "\"0-01-02T15:04:05Z\" as \"-\"" },
                { STR_INIT("-006-01-02T15:04:05Z"), AS "\"-006-01-02T15:04:05Z\" as \"2006\"" },
                { STR_INIT("2006-1-02T15:04:05Z"), AS "\"1-02T15:04:05Z\" as \"01\"" },
                { STR_INIT("2006-13-02T15:04:05Z"), ": month out of range" },
                { STR_INIT("2006-00"), ": month out of range" },
                { STR_INIT("2006/01-02T15:04:05Z"), AS "\"/01-02T15:04:05Z\" as \"-\"" },
                { STR_INIT("2006-01"), AS "\"\" as \"-\"" },
                { STR_INIT("2006-01-2T15:04:05Z"), AS "\"2T15:04:05Z\" as \"02\"" },
                { STR_INIT("2006-01-32T15:04:05Z"), ": day out of range" },
                { STR_INIT("2006-01-00T15:04:05Z"), ": day out of range" },
                { STR_INIT("1900-02-29T15:04:05Z"), ": day out of range" },
                { STR_INIT("2006-04-31T15:04:05Z"), ": day out of range" },
                { STR_INIT("2006-04-31"), AS "\"\" as \"T\"" },
                { STR_INIT("2006-02-30T25:04:05Z"), ": hour out of range" },
                { STR_INIT("2006-02-30T15:04:05x"), AS "\"x\" as \"Z07:00\"" },
                { STR_INIT("2006-02-30T15:04:05Zx"), ": extra text: \"x\"" },
                { STR_INIT("2006-01-02t15:04:05Z"), AS "\"t15:04:05Z\" as \"T\"" },
                { STR_INIT("2006-01-02T"), AS "\"\" as \"15\"" },
                { STR_INIT("2006-01-02T:04:05Z"), AS "\":04:05Z\" as \"15\"" },
                { STR_INIT("2006-01-02T123:04:05Z"), AS "\"3:04:05Z\" as \":\"" },
                { STR_INIT("2006-01-02T24:04:05Z"), ": hour out of range" },
                { STR_INIT("2006-01-02T15:4:05Z"), AS "\"4:05Z\" as \"04\"" },
                { STR_INIT("2006-01-02T15:60:05Z"), ": minute out of range" },
                { STR_INIT("2006-01-02T15:04"), AS "\"\" as \":\"" },
                { STR_INIT("2006-01-02T15:04:5Z"), AS "\"5Z\" as \"05\"" },
                { STR_INIT("2006-01-02T15:04:60Z"), ": second out of range" },
                { STR_INIT("2006-01-02T15:04:05"), AS "\"\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05z"), AS "\"z\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05.Z"), AS "\".Z\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05."), AS "\".\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05.1"), AS "\"\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05.5.5Z"), AS "\".5Z\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05+25:00"), ": time zone offset hour out of range" },
                { STR_INIT("2006-01-02T15:04:05+24:61"), ": time zone offset minute out of range" },
                { STR_INIT("2006-01-02T15:04:05+99:99"), ": time zone offset minute out of range" },
                { STR_INIT("2006-01-02T15:04:05*99:00"), ": time zone offset hour out of range" },
                { STR_INIT("2006-01-02T15:04:05+99:0x"), ": time zone offset hour out of range" },
                { STR_INIT("2006-01-02T15:04:05+0x:99"), AS "\"+0x:99\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05+07:0x"), AS "\"+07:0x\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05+0700"), AS "\"+0700\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05*07:00"), AS "\"*07:00\" as \"Z07:00\"" },
                { STR_INIT("2006-01-02T15:04:05+07:000"), ": extra text: \"0\"" },
                { STR_INIT("2006-01-02T15:04:05Z07:00"), ": extra text: \"07:00\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf wanted = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct instant t = { 42, 43 };

                buf_appendf(&wanted, "parsing time \"%.*s\"%s", STR_ARG(cases[i].text), cases[i].error);
                ASSERT_CASE(cases[i].text.p, time_parse_rfc3339(cases[i].text, &t, &err) == ERR_INVALID);
                ASSERT_STR(str_from(err_message(&err)), buf_str(&wanted));
                ASSERT(t.seconds == 42 && t.nanos == 43); /* untouched */
        }
}

TEST(quotes_as_gos_time_package_does)
{
        _cleanup_err_ struct err err = { 0 };
        struct instant t;
        int64_t ns;

        time_parse_rfc3339(STR("2006-01-02T15:04:05Z\"\\\x80\u00e9\n"), &t, &err);
        ASSERT_TEXT(err_message(&err), "parsing time \"2006-01-02T15:04:05Z\\\"\\\\\\x80\\xc3\\xa9\\x0a\": extra text: "
                                       "\"\\\"\\\\\\x80\\xc3\\xa9\\x0a\"");
        duration_parse(str_make("1\0\x7f\"s", 5), &ns, &err);
        ASSERT_TEXT(err_message(&err), "time: unknown unit \"\\x00\x7f\\\"s\" in duration \"1\\x00\x7f\\\"s\"");
}

TEST(formats_with_a_number_of_digits)
{
        static const struct {
                struct instant t;
                int digits;
                const char *text;
        } cases[] = {
                { { 0, 0 }, 0, "1970-01-01T00:00:00Z" },
                { { 1136214245, 123456789 }, 0, "2006-01-02T15:04:05Z" },
                { { 1136214245, 123456789 }, 3, "2006-01-02T15:04:05.123Z" },
                { { 1136214245, 123456789 }, 6, "2006-01-02T15:04:05.123456Z" },
                { { 1136214245, 123456789 }, 9, "2006-01-02T15:04:05.123456789Z" },
                { { 1136214245, 0 }, 6, "2006-01-02T15:04:05.000000Z" },
                { { 1136214245, 1 }, 9, "2006-01-02T15:04:05.000000001Z" },
                { { -1, 999999999 }, 3, "1969-12-31T23:59:59.999Z" },
                { { 951782400, 0 }, 0, "2000-02-29T00:00:00Z" },
                { { 4107542400, 0 }, 0, "2100-03-01T00:00:00Z" },
                { { -62135596800, 0 }, 0, "0001-01-01T00:00:00Z" },
                { { -62167219201, 0 }, 0, "-0001-12-31T23:59:59Z" },
                { { 253402300799, 0 }, 0, "9999-12-31T23:59:59Z" },
                { { 253402300800, 0 }, 0, "10000-01-01T00:00:00Z" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                time_append_rfc3339(&b, cases[i].t, cases[i].digits);
                ASSERT_STR(buf_str(&b), str_from(cases[i].text));
        }
}

TEST(the_ends_of_the_range_have_a_text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, (struct instant) { INT64_MAX, 0 }, 0);
        ASSERT_STR(buf_str(&b), STR("292277026596-12-04T15:30:07Z"));
        buf_clear(&b);
        time_append_rfc3339(&b, (struct instant) { INT64_MIN, 0 }, 0);
        ASSERT_STR(buf_str(&b), STR("-292277022657-01-27T08:29:52Z"));
}

TEST(formats_as_few_digits_as_are_exact)
{
        static const struct {
                int32_t nanos;
                const char *text;
        } cases[] = {
                { 0, "2006-01-02T15:04:05Z" },           { 500000000, "2006-01-02T15:04:05.500Z" },
                { 1000000, "2006-01-02T15:04:05.001Z" }, { 1000, "2006-01-02T15:04:05.000001Z" },
                { 1, "2006-01-02T15:04:05.000000001Z" }, { 123456789, "2006-01-02T15:04:05.123456789Z" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                time_append_shortest(&b, (struct instant) { 1136214245, cases[i].nanos });
                ASSERT_STR(buf_str(&b), str_from(cases[i].text));
        }
}

/* Every day of 800 years goes out and comes back, and follows the one before it. */
TEST(every_day_goes_round)
{
        const int64_t first = -62167219200; /* year 0 */
        int last_day = 31;

        for (int64_t day = 0; day < 2 * 146097; day++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct instant t = { first + day * 86400, 0 }, back;
                int day_of_month;

                time_append_rfc3339(&b, t, 0);
                ASSERT_INT(time_parse_rfc3339(buf_str(&b), &back, NULL), 0);
                ASSERT_INT(back.seconds, t.seconds);
                day_of_month = (b.p[8] - '0') * 10 + b.p[9] - '0';
                ASSERT(day_of_month == last_day + 1 || (day_of_month == 1 && last_day >= 28));
                last_day = day_of_month;
        }
}

static void format_too_many_nanos(void)
{
        struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, (struct instant) { 0, 1000000000 }, 0);
}

TEST(broken_invariants_end_the_process)
{
        ASSERT_ABORTS(format_too_many_nanos);
}

TEST(durations_parse_and_format_as_in_go)
{
        static const struct {
                const char *text;
                int64_t ns;
                const char *again;
        } cases[] = {
                { "0", 0, "0s" },
                { "+0", 0, "0s" },
                { "-0", 0, "0s" },
                { "0s", 0, "0s" },
                { "1.s", 1000000000, "1s" },
                { ".5s", 500000000, "500ms" },
                { "-.5s", -500000000, "-500ms" },
                { "+5s", 5000000000, "5s" },
                { "1h30m", 5400000000000, "1h30m0s" },
                { "3000ms", 3000000000, "3s" },
                { "1us", 1000, "1\u00b5s" },
                { "1\u00b5s", 1000, "1\u00b5s" },
                { "1\u03bcs", 1000, "1\u00b5s" },
                { "1500us", 1500000, "1.5ms" },
                { "1.9ns", 1, "1ns" },
                { "0.9999999999s", 999999999, "999.999999ms" },
                { "0.9999999999999999999999999999999s", 1000000000, "1s" },
                { "0.3333333333333333333h", 1200000000000, "20m0s" },
                { "0.9223372036854775807h", 3320413933267, "55m20.413933267s" },
                { "0.92233720368547758079999h", 3320413933267, "55m20.413933267s" },
                { "0.100000000000000000000h", 360000000000, "6m0s" },
                { "1ns1us1ms1s1m1h", 3661001001001, "1h1m1.001001001s" },
                { "1m.5s", 60500000000, "1m0.5s" },
                { "9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s" },
                { "-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s" },
                { "9223372036.8547758075s", INT64_MAX, "2562047h47m16.854775807s" },
                { "9223372036854775807ns0.9ns", INT64_MAX, "2562047h47m16.854775807s" },
                { "-4611686018427387904ns4611686018427387904ns", INT64_MIN, "-2562047h47m16.854775808s" },
                { "9223372036854775808ns9223372036854775808ns5s", 5000000000, "5s" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                int64_t ns = 1;

                ASSERT_CASE(cases[i].text, duration_parse(str_from(cases[i].text), &ns, &err) == 0);
                ASSERT_CASE(cases[i].text, ns == cases[i].ns);
                duration_append(&b, ns);
                ASSERT_STR(buf_str(&b), str_from(cases[i].again));
        }
}

TEST(durations_are_refused_in_gos_words)
{
        static const struct {
                const char *text;
                const char *error;
        } cases[] = {
                { "", "time: invalid duration \"\"" },
                { "+", "time: invalid duration \"+\"" },
                { "-", "time: invalid duration \"-\"" },
                { "00", "time: missing unit in duration \"00\"" },
                { ".", "time: invalid duration \".\"" },
                { "-.s", "time: invalid duration \"-.s\"" },
                { "3", "time: missing unit in duration \"3\"" },
                { "1.", "time: missing unit in duration \"1.\"" },
                { "3x", "time: unknown unit \"x\" in duration \"3x\"" },
                { "1h 30m", "time: unknown unit \"h \" in duration \"1h 30m\"" },
                { " 1s", "time: invalid duration \" 1s\"" },
                { "1h2", "time: missing unit in duration \"1h2\"" },
                { "1h-2m", "time: unknown unit \"h-\" in duration \"1h-2m\"" },
                { "--1s", "time: invalid duration \"--1s\"" },
                { "1..5s", "time: missing unit in duration \"1..5s\"" },
                { "1d", "time: unknown unit \"d\" in duration \"1d\"" },
                { "1H", "time: unknown unit \"H\" in duration \"1H\"" },
                { "1m.s", "time: invalid duration \"1m.s\"" },
                { "9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\"" },
                { "-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\"" },
                { "99999999999999999999ns", "time: invalid duration \"99999999999999999999ns\"" },
                { "9223372036.854775808s", "time: invalid duration \"9223372036.854775808s\"" },
                { "2562048h", "time: invalid duration \"2562048h\"" },
                { "9223372036854775807ns1ns", "time: invalid duration \"9223372036854775807ns1ns\"" },
                { "-4611686018427387904ns4611686018427387904ns1ns",
                  "time: invalid duration \"-4611686018427387904ns4611686018427387904ns1ns\"" },
                { "9223372036854775808", "time: missing unit in duration \"9223372036854775808\"" },
                { "9223372036854775809", "time: invalid duration \"9223372036854775809\"" },
                { "-9223372036854775807.5us", "time: invalid duration \"-9223372036854775807.5us\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                int64_t ns = 42;

                ASSERT_CASE(cases[i].text, duration_parse(str_from(cases[i].text), &ns, &err) == ERR_INVALID);
                ASSERT_TEXT(err_message(&err), cases[i].error);
                ASSERT_INT(ns, 42);
        }
}

/* A long text must not make a longer error, nor take long. */
TEST(hostile_lengths)
{
        enum { N = 4 << 20 };
        _cleanup_free_ char *text = xmalloc(N);
        _cleanup_err_ struct err err = { 0 };
        struct instant t;
        int64_t ns;

        memset(text, 0xff, N);
        ASSERT_INT(time_parse_rfc3339(str_make(text, N), &t, &err), ERR_INVALID);
        ASSERT(strlen(err_message(&err)) <= LIMIT_ERROR_BYTES);
        ASSERT_INT(duration_parse(str_make(text, N), &ns, &err), ERR_INVALID);
        ASSERT(strlen(err_message(&err)) <= LIMIT_ERROR_BYTES);
        memset(text, '0', N);
        text[1] = '.';
        text[N - 1] = 's';
        ASSERT_INT(duration_parse(str_make(text, N), &ns, &err), 0);
        ASSERT_INT(ns, 0);
        memcpy(text, "2006-01-02T15:04:05.", 20);
        text[N - 1] = 'Z';
        ASSERT_INT(time_parse_rfc3339(str_make(text, N), &t, &err), 0);
        ASSERT_INT(t.nanos, 0);
}
