#include "gotime.h"

#include "buf.h"
#include "gotime-layout.h"
#include "zone.h"

#define SECONDS_PER_DAY 86400

static const struct str months[] = {
        STR_INIT("January"),   STR_INIT("February"), STR_INIT("March"),    STR_INIT("April"),
        STR_INIT("May"),       STR_INIT("June"),     STR_INIT("July"),     STR_INIT("August"),
        STR_INIT("September"), STR_INIT("October"),  STR_INIT("November"), STR_INIT("December"),
};

static const struct str weekdays[] = {
        STR_INIT("Sunday"),   STR_INIT("Monday"), STR_INIT("Tuesday"),  STR_INIT("Wednesday"),
        STR_INIT("Thursday"), STR_INIT("Friday"), STR_INIT("Saturday"),
};

struct str gotime_month_name(int month)
{
        return months[month - 1];
}

struct str gotime_weekday_name(int weekday)
{
        return weekdays[weekday];
}

struct gotime gotime_utc(struct instant at)
{
        return (struct gotime) { .at = at, .zone = STR("UTC") };
}

struct gotime gotime_zero(void)
{
        return gotime_utc((struct instant) { .seconds = date_to_days(1, 1, 1) * SECONDS_PER_DAY });
}

bool gotime_in(struct instant at, struct str zone, struct gotime *ret)
{
        const struct zone *z;

        *ret = gotime_utc(at);
        if (zone.n == 0 || str_equal(zone, STR("UTC")) || str_equal(zone, STR("Local")))
                return true;
        z = zone_find(zone);
        if (!z)
                return false;
        zone_at(z, at.seconds, &ret->offset_seconds, &ret->zone);
        return true;
}

struct instant instant_add(struct instant t, int64_t ns)
{
        int64_t seconds = ns / NS_PER_SECOND, nanos = t.nanos + ns % NS_PER_SECOND;

        if (nanos >= NS_PER_SECOND || nanos < 0)
                seconds += nanos < 0 ? -1 : 1;
        nanos = (nanos + NS_PER_SECOND) % NS_PER_SECOND;
        if (__builtin_add_overflow(t.seconds, seconds, &t.seconds))
                t.seconds = seconds < 0 ? INT64_MIN : INT64_MAX;
        t.nanos = (int32_t)nanos;
        return t;
}

int64_t instant_since(struct instant a, struct instant b)
{
        int64_t seconds, ns;

        if (__builtin_sub_overflow(a.seconds, b.seconds, &seconds) ||
            __builtin_mul_overflow(seconds, NS_PER_SECOND, &ns) || __builtin_add_overflow(ns, a.nanos - b.nanos, &ns))
                return a.seconds < b.seconds ? INT64_MIN : INT64_MAX;
        return ns;
}

void gotime_fields(const struct gotime *t, struct gotime_fields *ret)
{
        int64_t seconds, days, second;

        if (__builtin_add_overflow(t->at.seconds, (int64_t)t->offset_seconds, &seconds))
                seconds = t->at.seconds;
        days = seconds / SECONDS_PER_DAY;
        second = seconds % SECONDS_PER_DAY;
        if (second < 0) {
                second += SECONDS_PER_DAY;
                days--;
        }
        ret->year = date_from_days(days, &ret->month, &ret->day);
        ret->hour = (int)(second / 3600);
        ret->minute = (int)(second / 60 % 60);
        ret->second = (int)(second % 60);
        ret->weekday = (int)(((days + 4) % 7 + 7) % 7); /* 1970 began on a Thursday */
        ret->year_day = (int)(days - date_to_days(ret->year, 1, 1)) + 1;
}

/* --- Writing --- */

static void append_number(struct buf *b, int64_t number, int width)
{
        if (number < 0)
                buf_append_char(b, '-');
        time_append_padded(b, number < 0 ? -number : number, width);
}

/* Right-aligned with blanks. */
static void append_blank_padded(struct buf *b, int number, int width)
{
        int digits = number >= 100 ? 3 : number >= 10 ? 2 : 1;

        buf_append_repeat(b, ' ', (size_t)MAX(width - digits, 0));
        buf_append_uint(b, (uint64_t)number);
}

static int hour_12(int hour)
{
        return hour % 12 == 0 ? 12 : hour % 12;
}

static void append_two(struct buf *b, int32_t number)
{
        time_append_padded(b, number, 2);
}

/* The element decides the form: Z for UTC, colons, minutes, seconds. */
static void append_offset(struct buf *b, int32_t offset, struct str element)
{
        bool has_colon = str_find_char(element, ':') >= 0;
        size_t n_digits = element.n - 1 - (has_colon ? (element.n > 6 ? 2 : 1) : 0);
        int32_t seconds = offset < 0 ? -offset : offset;

        if (element.p[0] == 'Z' && offset == 0) {
                buf_append_char(b, 'Z');
                return;
        }
        buf_append_char(b, offset < 0 ? '-' : '+');
        append_two(b, seconds / 3600);
        if (n_digits >= 4) {
                if (has_colon)
                        buf_append_char(b, ':');
                append_two(b, seconds / 60 % 60);
        }
        if (n_digits >= 6) {
                if (has_colon)
                        buf_append_char(b, ':');
                append_two(b, seconds % 60);
        }
}

static void append_fraction(struct buf *b, int32_t nanos, struct str element, bool is_trimmed)
{
        char digits[9];
        size_t n = MIN(element.n - 1, sizeof(digits));

        for (size_t i = sizeof(digits); i-- > 0; nanos /= 10)
                digits[i] = (char)('0' + nanos % 10);
        while (is_trimmed && n > 0 && digits[n - 1] == '0')
                n--;
        if (is_trimmed && n == 0)
                return;
        buf_append_char(b, element.p[0]);
        buf_append(b, digits, n);
}

static void append_zone(struct buf *b, const struct gotime *t)
{
        if (t->zone.n)
                buf_append_str(b, t->zone);
        else
                append_offset(b, t->offset_seconds, STR("-0700"));
}

static void append_element(struct buf *b, const struct gotime *t, const struct gotime_fields *f,
                           const struct layout_part *part)
{
        switch (part->element) {
        case LAYOUT_END:
                return;
        case LAYOUT_LONG_MONTH:
                return buf_append_str(b, months[f->month - 1]);
        case LAYOUT_MONTH:
                return buf_append_str(b, str_first(months[f->month - 1], 3));
        case LAYOUT_NUMBER_MONTH:
                return buf_append_uint(b, (uint64_t)f->month);
        case LAYOUT_ZERO_MONTH:
                return append_two(b, f->month);
        case LAYOUT_LONG_WEEKDAY:
                return buf_append_str(b, weekdays[f->weekday]);
        case LAYOUT_WEEKDAY:
                return buf_append_str(b, str_first(weekdays[f->weekday], 3));
        case LAYOUT_DAY:
                return buf_append_uint(b, (uint64_t)f->day);
        case LAYOUT_BLANK_DAY:
                return append_blank_padded(b, f->day, 2);
        case LAYOUT_ZERO_DAY:
                return append_two(b, f->day);
        case LAYOUT_BLANK_YEAR_DAY:
                return append_blank_padded(b, f->year_day, 3);
        case LAYOUT_ZERO_YEAR_DAY:
                return time_append_padded(b, f->year_day, 3);
        case LAYOUT_HOUR:
                return append_two(b, f->hour);
        case LAYOUT_HOUR_12:
                return buf_append_uint(b, (uint64_t)hour_12(f->hour));
        case LAYOUT_ZERO_HOUR_12:
                return append_two(b, hour_12(f->hour));
        case LAYOUT_MINUTE:
                return buf_append_uint(b, (uint64_t)f->minute);
        case LAYOUT_ZERO_MINUTE:
                return append_two(b, f->minute);
        case LAYOUT_SECOND:
                return buf_append_uint(b, (uint64_t)f->second);
        case LAYOUT_ZERO_SECOND:
                return append_two(b, f->second);
        case LAYOUT_LONG_YEAR:
                return append_number(b, f->year, 4);
        case LAYOUT_YEAR:
                return append_two(b, (int32_t)(MAX(f->year, 0) % 100));
        case LAYOUT_PM:
                return buf_append_str(b, f->hour >= 12 ? STR("PM") : STR("AM"));
        case LAYOUT_LOWER_PM:
                return buf_append_str(b, f->hour >= 12 ? STR("pm") : STR("am"));
        case LAYOUT_ZONE:
                return append_zone(b, t);
        case LAYOUT_OFFSET:
                return append_offset(b, t->offset_seconds, part->text);
        case LAYOUT_FRACTION:
        case LAYOUT_FRACTION_TRIM:
                return append_fraction(b, t->at.nanos, part->text, part->element == LAYOUT_FRACTION_TRIM);
        }
}

void gotime_append(struct buf *b, const struct gotime *t, struct str layout)
{
        struct gotime_fields fields;
        struct layout_part part;

        gotime_fields(t, &fields);
        do {
                part = layout_next(&layout);
                buf_append_str(b, part.prefix);
                append_element(b, t, &fields, &part);
        } while (part.element != LAYOUT_END && !b->has_failed);
}

void gotime_append_string(struct buf *b, const struct gotime *t)
{
        gotime_append(b, t, STR("2006-01-02 15:04:05.999999999 -0700 MST"));
}
