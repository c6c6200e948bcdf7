#include "test.h"

#include "buf.h"
#include "gotime.h"
#include "zone.h"

/* Every text is what Go's time package gives. */
TEST(format)
{
        static const struct {
                int64_t seconds;
                int32_t nanos;
                const char *zone, *layout, *text;
        } cases[] = {
                { 1136239445, 0, "UTC", "2006-01-02T15:04:05Z07:00", "2006-01-02T22:04:05Z" },
                { 1136239445, 0, "America/Denver", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan  2 15:04:05 MST 2006" },
                { 1136239445, 0, "Asia/Kolkata", "2006-01-02 15:04 -0700 Z07:00", "2006-01-03 03:34 +0530 +05:30" },
                { 1626652876, 0, "Europe/Dublin", "MST -07:00:00 -070000", "IST +01:00:00 +010000" },
                { 4102444800, 0, "Europe/Berlin", "2006-01-02 15:04 MST", "2100-01-01 01:00 CET" },
                { 4118083200, 0, "Europe/Berlin", "15:04 MST", "02:00 CEST" },
                { 0, 5000000, "UTC", ".000 .999 .99 ,000000", ".005 .005  ,005000" },
                { 0, 0, "UTC", "x.999", "x" },
                { 0, 0, "UTC", "3PM 03pm 3:4:5", "12AM 12am 12:0:0" },
                { 1709251200, 0, "UTC", "002 __2 _2 2 02", "061  61  1 1 01" },
                { 0, 0, "UTC", "January Janu Jan Monday Mond Mon", "January Janu Jan Thursday Mond Thu" },
                { -62135596800, 0, "UTC", "2006 06 _2006", "0001 01 _0001" },
                { -99999999999, 0, "UTC", "2006 06", "-1199 00" },
                { 0, 0, "UTC", "", "" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct gotime t;

                ASSERT_CASE(cases[i].layout, gotime_in((struct instant) { cases[i].seconds, cases[i].nanos },
                                                       str_from(cases[i].zone), &t));
                gotime_append(&b, &t, str_from(cases[i].layout));
                ASSERT_STR(buf_str(&b), str_from(cases[i].text));
        }
}

TEST(parse)
{
        static const struct {
                const char *layout, *text, *answer;
        } cases[] = {
                { "2006-01-02", "2024-02-29", "2024-02-29 00:00:00 +0000 UTC" },
                { "2006-01-02", "2023-02-29", "parsing time \"2023-02-29\": day out of range" },
                { "2006-01-02", "xx", "parsing time \"xx\" as \"2006-01-02\": cannot parse \"xx\" as \"2006\"" },
                { "2006-01-02", "2024-13-01", "parsing time \"2024-13-01\": month out of range" },
                { "2006-01-02", "2024-01-01x", "parsing time \"2024-01-01x\": extra text: \"x\"" },
                { "15:04:05", "01:02:03.25", "0000-01-01 01:02:03.25 +0000 UTC" },
                { "3:04PM", "12:30AM", "0000-01-01 00:30:00 +0000 UTC" },
                { "2006-002", "2024-060", "2024-02-29 00:00:00 +0000 UTC" },
                { "2006-002", "2023-366", "parsing time \"2023-366\": day-of-year out of range" },
                { "2006-01-002", "2024-01-060", "parsing time \"2024-01-060\": day-of-year does not match month" },
                { "06", "69", "1969-01-01 00:00:00 +0000 UTC" },
                { "15 MST", "10 CET", "0000-01-01 10:00:00 +0000 CET" },
                { "15 MST", "10 GMT+3", "0000-01-01 13:00:00 +0300 GMT+3" },
                { "15 MST", "10 x", "parsing time \"10 x\" as \"15 MST\": cannot parse \"x\" as \"MST\"" },
                { "15 -0700", "10 +0530", "0000-01-01 10:00:00 +0530 +0530" },
                { "15 -07:00", "10 +25:00", "parsing time \"10 +25:00\": time zone offset hour out of range" },
                { "15 Z07:00", "10 Z", "0000-01-01 10:00:00 +0000 UTC" },
                { "Jan _2", "march  7", "parsing time \"march  7\" as \"Jan _2\": cannot parse \"ch  7\" as \" \"" },
                { "Jan _2", "MAR  7", "0000-03-07 00:00:00 +0000 UTC" },
                { ".000", ".5", "parsing time \".5\" as \".000\": cannot parse \".5\" as \".000\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct gotime t;

                if (gotime_parse(str_from(cases[i].layout), str_from(cases[i].text), &t, &err) < 0)
                        buf_append_str(&b, str_from(err_message(&err)));
                else
                        gotime_append_string(&b, &t);
                ASSERT_STR(buf_str(&b), str_from(cases[i].answer));
        }
}

TEST(zones_by_name)
{
        static const char *const unknown[] = {
                "Nowhere/City", "../zoneinfo/UTC", "/etc/localtime", "Europe//Berlin", "Europe/", "tzdata.zi", "Europe",
        };

        for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
                ASSERT_CASE(unknown[i], !zone_find(str_from(unknown[i])));
        ASSERT(zone_find(STR("Europe/Berlin")));
        ASSERT(zone_find(STR("Europe/Berlin")) == zone_find(STR("Europe/Berlin")));
}

TEST(files_that_are_no_zones)
{
        _cleanup_err_ struct err err = { 0 };
        struct zone *z;

        ASSERT_INT(zone_parse(STR(""), &z, NULL), ERR_INVALID);
        ASSERT_INT(zone_parse(STR("TZif2"), &z, &err), ERR_INVALID);
        ASSERT_STR(str_from(err_message(&err)), STR("not a time zone"));
}

TEST(arithmetic_stays_in_range)
{
        struct instant late = { INT64_MAX, 999999999 }, early = { INT64_MIN, 0 }, t = { 10, 500000000 };

        t = instant_add(t, -11500000000);
        ASSERT_INT(t.seconds, -1);
        ASSERT_INT(t.nanos, 0);
        ASSERT_INT(instant_add(late, 2).seconds, INT64_MAX);
        ASSERT_INT(instant_since(late, early), INT64_MAX);
        ASSERT_INT(instant_since(early, late), INT64_MIN);
        ASSERT_INT(instant_since((struct instant) { 2, 0 }, (struct instant) { 1, 500000000 }), 500000000);
}
