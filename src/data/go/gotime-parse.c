/* Parses times by a layout. Checks are in the order of Go's time package, because the order decides which error is reported. */
#include "gotime.h"

#include "buf.h"
#include "gotime-layout.h"
#include "limits.h"

#define NOT_GIVEN -1
#define BAD       -2 /* an element that is missing: the caller makes the error text */

struct parser {
        struct str layout, text; /* whole, for errors */
        struct str rest;         /* of the text */
        struct str layout_rest;
        const char *out_of_range; /* NULL, or the name of the field that is out of range */
        struct err *err;

        int64_t year;
        int month, day, year_day;
        int hour, minute, second;
        int64_t nanos;
        bool is_pm, is_am;
        bool is_utc, has_offset;
        int32_t offset;
        struct str zone;
};

/* --- Errors --- */

static void begin_error(const struct parser *p, struct buf *b)
{
        buf_append_literal(b, "parsing time ");
        time_append_quoted(b, p->text);
}

static int fail(const struct parser *p, const char *what)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        begin_error(p, &b);
        buf_appendf(&b, ": %s", what);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

static int fail_range(const struct parser *p)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        begin_error(p, &b);
        buf_appendf(&b, ": %s out of range", p->out_of_range);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

static int fail_extra(const struct parser *p)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        begin_error(p, &b);
        buf_append_literal(&b, ": extra text: ");
        time_append_quoted(&b, p->rest);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

static int fail_element(const struct parser *p, struct str rest, struct str element)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        begin_error(p, &b);
        buf_append_literal(&b, " as ");
        time_append_quoted(&b, p->layout);
        buf_append_literal(&b, ": cannot parse ");
        time_append_quoted(&b, rest);
        buf_append_literal(&b, " as ");
        time_append_quoted(&b, element);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

/* --- Pieces --- */

static bool digit_at(struct str s, size_t i)
{
        return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* A number with an optional sign; it must be the whole text. */
static int read_number(struct str s, int64_t *ret)
{
        bool is_negative = s.n > 0 && s.p[0] == '-';
        int64_t number = 0;

        if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
                s = str_skip(s, 1);
        if (s.n == 0 || s.n > 18)
                return BAD;
        for (size_t i = 0; i < s.n; i++) {
                if (!digit_at(s, i))
                        return BAD;
                number = number * 10 + (s.p[i] - '0');
        }
        *ret = is_negative ? -number : number;
        return 0;
}

/* One or two digits, or exactly two. */
static int take_number(struct str *s, bool needs_two, int *ret)
{
        if (!digit_at(*s, 0) || (needs_two && !digit_at(*s, 1)))
                return BAD;
        *ret = s->p[0] - '0';
        if (digit_at(*s, 1))
                *ret = *ret * 10 + (s->p[1] - '0');
        *s = str_skip(*s, digit_at(*s, 1) ? 2 : 1);
        return 0;
}

/* One to three digits, or exactly three. */
static int take_year_day(struct str *s, bool needs_three, int *ret)
{
        size_t n = 0;

        *ret = 0;
        for (; n < 3 && digit_at(*s, n); n++)
                *ret = *ret * 10 + (s->p[n] - '0');
        if (n == 0 || (needs_three && n != 3))
                return BAD;
        *s = str_skip(*s, n);
        return 0;
}

static void check_range(struct parser *p, int number, int least, int most, const char *what)
{
        if (number < least || number > most)
                p->out_of_range = what;
}

static int take_in_range(struct parser *p, bool needs_two, int least, int most, const char *what, int *ret)
{
        int r = take_number(&p->rest, needs_two, ret);

        if (r == 0)
                check_range(p, *ret, least, most, what);
        return r;
}

/* Takes a name off the front of the text, ignoring case; its number counts from 0. */
static int take_name(struct str *s, struct str (*name_of)(int), int first, int n, size_t most, int *ret)
{
        for (int i = 0; i < n; i++) {
                struct str name = str_first(name_of(first + i), most);

                if (s->n >= name.n && str_equal_ignore_case(str_first(*s, name.n), name)) {
                        *s = str_skip(*s, name.n);
                        *ret = i;
                        return 0;
                }
        }
        return BAD;
}

/* A point or comma and n - 1 digits. */
static int take_fraction(struct parser *p, size_t n)
{
        size_t n_read = MIN(n, (size_t)10);
        int r;

        if (p->rest.p[0] != '.' && p->rest.p[0] != ',')
                return BAD;
        r = read_number(str_skip(str_first(p->rest, n_read), 1), &p->nanos);
        if (r < 0)
                return r;
        if (p->nanos < 0)
                p->out_of_range = "fractional second";
        for (size_t i = n_read; i < 10; i++)
                p->nanos *= 10;
        p->rest = str_skip(p->rest, n);
        return 0;
}

static bool has_fraction(struct str s)
{
        return s.n >= 2 && (s.p[0] == '.' || s.p[0] == ',') && digit_at(s, 1);
}

static size_t fraction_length(struct str s)
{
        size_t n = 1;

        while (digit_at(s, n))
                n++;
        return n;
}

/* --- Zones --- */

/* The length of `+3` or `-12`: a sign and at most 23; 0 for any other text. */
static size_t signed_offset_length(struct str s)
{
        int64_t number = 0;
        size_t n = 1;

        if (s.n == 0 || (s.p[0] != '+' && s.p[0] != '-'))
                return 0;
        for (; digit_at(s, n); n++)
                number = MIN(number * 10 + (s.p[n] - '0'), 1000);
        return n == 1 || number > 23 ? 0 : n;
}

/* The length of the zone abbreviation at the start of the text; 0 if there is none. */
static size_t zone_length(struct str s)
{
        size_t n = 0;

        if (s.n < 3)
                return 0;
        if (str_starts_with(s, STR("ChST")) || str_starts_with(s, STR("MeST")))
                return 4;
        if (str_starts_with(s, STR("GMT")))
                return 3 + signed_offset_length(str_skip(s, 3));
        if (s.p[0] == '+' || s.p[0] == '-')
                return signed_offset_length(s);
        while (n < 6 && n < s.n && s.p[n] >= 'A' && s.p[n] <= 'Z')
                n++;
        if (n == 3 || (n == 5 && s.p[4] == 'T'))
                return n;
        return n == 4 && (s.p[3] == 'T' || str_starts_with(s, STR("WITA"))) ? 4 : 0;
}

static int take_zone(struct parser *p)
{
        size_t n;

        if (str_starts_with(p->rest, STR("UTC"))) {
                p->is_utc = true;
                p->rest = str_skip(p->rest, 3);
                return 0;
        }
        n = zone_length(p->rest);
        if (n == 0)
                return BAD;
        p->zone = str_first(p->rest, n);
        p->rest = str_skip(p->rest, n);
        return 0;
}

/* Hours, minutes and seconds, as many as the element has; stops at the first that is not a number. */
static int read_offset(struct str text, struct str element, bool has_colon, int ret[3])
{
        for (size_t i = 0, at = 1; at < element.n; i++, at += has_colon ? 3 : 2) {
                struct str digits = str_skip(str_first(text, at + 2), at);

                if (take_number(&digits, true, &ret[i]) < 0)
                        return BAD;
        }
        return text.p[0] == '-' || text.p[0] == '+' ? 0 : BAD;
}

/* Reports numbers out of range before texts that are not numbers. */
static int take_offset(struct parser *p, struct str element)
{
        static const char *const names[] = { "time zone offset hour", "time zone offset minute",
                                             "time zone offset second" };
        static const int most[] = { 24, 60, 60 };
        bool has_colon = str_find_char(element, ':') >= 0;
        struct str text = p->rest;
        int parts[3] = { 0 }, r;

        if (element.p[0] == 'Z' && str_cut_prefix(&p->rest, STR("Z"))) {
                p->is_utc = true;
                return 0;
        }
        if (text.n < element.n || (has_colon && text.p[3] != ':') || (has_colon && element.n > 6 && text.p[6] != ':'))
                return BAD;
        r = read_offset(text, element, has_colon, parts);
        for (size_t i = 0; i < 3; i++)
                if (parts[i] > most[i])
                        p->out_of_range = names[i];
        p->has_offset = true;
        p->offset = ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * (text.p[0] == '-' ? -1 : 1);
        p->rest = str_skip(text, element.n);
        return r;
}

/* --- Elements --- */

static int take_long_year(struct parser *p)
{
        struct str digits = str_first(p->rest, 4);

        if (p->rest.n < 4 || !digit_at(p->rest, 0))
                return BAD;
        p->rest = str_skip(p->rest, 4);
        return read_number(digits, &p->year);
}

static int take_short_year(struct parser *p)
{
        struct str digits = str_first(p->rest, 2);
        int r;

        if (p->rest.n < 2)
                return BAD;
        p->rest = str_skip(p->rest, 2);
        r = read_number(digits, &p->year);
        if (r == 0)
                p->year += p->year >= 69 ? 1900 : 2000;
        return r;
}

/* A fraction after the seconds is accepted even if the layout has none. */
static int take_second(struct parser *p, bool needs_two)
{
        struct str layout = p->layout_rest;
        enum layout_element next;
        int r = take_in_range(p, needs_two, 0, 59, "second", &p->second);

        if (r < 0 || p->out_of_range || !has_fraction(p->rest))
                return r;
        next = layout_next(&layout).element;
        if (next == LAYOUT_FRACTION || next == LAYOUT_FRACTION_TRIM)
                return 0;
        return take_fraction(p, fraction_length(p->rest));
}

static int take_half_of_day(struct parser *p, struct str pm, struct str am)
{
        bool is_pm = str_starts_with(p->rest, pm), is_am = str_starts_with(p->rest, am);

        if (!is_pm && !is_am)
                return BAD;
        p->is_pm |= is_pm;
        p->is_am |= is_am;
        p->rest = str_skip(p->rest, 2);
        return 0;
}

static int take_day(struct parser *p, enum layout_element element)
{
        if (element == LAYOUT_BLANK_DAY)
                str_cut_prefix(&p->rest, STR(" "));
        return take_number(&p->rest, element == LAYOUT_ZERO_DAY, &p->day);
}

static int take_day_of_year(struct parser *p, enum layout_element element)
{
        for (int i = 0; i < 2 && element == LAYOUT_BLANK_YEAR_DAY; i++)
                str_cut_prefix(&p->rest, STR(" "));
        return take_year_day(&p->rest, element == LAYOUT_ZERO_YEAR_DAY, &p->year_day);
}

static int take_month_name(struct parser *p, size_t most)
{
        int r = take_name(&p->rest, gotime_month_name, 1, 12, most, &p->month);

        p->month += r == 0;
        return r;
}

static int take_element(struct parser *p, const struct layout_part *part)
{
        int ignored;

        switch (part->element) {
        case LAYOUT_END:
                return 0;
        case LAYOUT_LONG_MONTH:
                return take_month_name(p, SIZE_MAX);
        case LAYOUT_MONTH:
                return take_month_name(p, 3);
        case LAYOUT_NUMBER_MONTH:
        case LAYOUT_ZERO_MONTH:
                return take_in_range(p, part->element == LAYOUT_ZERO_MONTH, 1, 12, "month", &p->month);
        case LAYOUT_LONG_WEEKDAY:
                return take_name(&p->rest, gotime_weekday_name, 0, 7, SIZE_MAX, &ignored);
        case LAYOUT_WEEKDAY:
                return take_name(&p->rest, gotime_weekday_name, 0, 7, 3, &ignored);
        case LAYOUT_DAY:
        case LAYOUT_BLANK_DAY:
        case LAYOUT_ZERO_DAY:
                return take_day(p, part->element);
        case LAYOUT_BLANK_YEAR_DAY:
        case LAYOUT_ZERO_YEAR_DAY:
                return take_day_of_year(p, part->element);
        case LAYOUT_HOUR:
                return take_in_range(p, false, 0, 23, "hour", &p->hour);
        case LAYOUT_HOUR_12:
        case LAYOUT_ZERO_HOUR_12:
                return take_in_range(p, part->element == LAYOUT_ZERO_HOUR_12, 0, 12, "hour", &p->hour);
        case LAYOUT_MINUTE:
        case LAYOUT_ZERO_MINUTE:
                return take_in_range(p, part->element == LAYOUT_ZERO_MINUTE, 0, 59, "minute", &p->minute);
        case LAYOUT_SECOND:
        case LAYOUT_ZERO_SECOND:
                return take_second(p, part->element == LAYOUT_ZERO_SECOND);
        case LAYOUT_LONG_YEAR:
                return take_long_year(p);
        case LAYOUT_YEAR:
                return take_short_year(p);
        case LAYOUT_PM:
                return take_half_of_day(p, STR("PM"), STR("AM"));
        case LAYOUT_LOWER_PM:
                return take_half_of_day(p, STR("pm"), STR("am"));
        case LAYOUT_ZONE:
                return take_zone(p);
        case LAYOUT_OFFSET:
                return take_offset(p, part->text);
        case LAYOUT_FRACTION:
                return p->rest.n < part->text.n ? BAD : take_fraction(p, part->text.n);
        case LAYOUT_FRACTION_TRIM:
                return has_fraction(p->rest) ? take_fraction(p, fraction_length(p->rest)) : 0;
        }
        return 0;
}

/* The text between elements; a blank matches any number of blanks, and also none at the end of the text. */
static int take_prefix(struct parser *p, struct str prefix)
{
        struct str left = prefix;

        while (left.n > 0) {
                if (left.p[0] == ' ') {
                        if (p->rest.n > 0 && p->rest.p[0] != ' ')
                                return fail_element(p, p->rest, prefix);
                        while (str_cut_prefix(&left, STR(" ")))
                                ;
                        while (str_cut_prefix(&p->rest, STR(" ")))
                                ;
                        continue;
                }
                if (p->rest.n == 0 || p->rest.p[0] != left.p[0])
                        return fail_element(p, p->rest, prefix);
                left = str_skip(left, 1);
                p->rest = str_skip(p->rest, 1);
        }
        return 0;
}

/* --- The whole --- */

static int take_parts(struct parser *p)
{
        struct layout_part part;

        do {
                struct str before;
                int r;

                part = layout_next(&p->layout_rest);
                r = take_prefix(p, part.prefix);
                if (r < 0)
                        return r;
                before = p->rest;
                r = take_element(p, &part);
                if (p->out_of_range)
                        return fail_range(p);
                if (r < 0)
                        return fail_element(p, before, part.text);
        } while (part.element != LAYOUT_END);
        return p->rest.n ? fail_extra(p) : 0;
}

/* Sets month and day from the day of the year; a month and day that were read must agree with it. */
static int settle_year_day(struct parser *p)
{
        int64_t first = date_to_days(p->year, 1, 1);
        int month, day, n_days = date_is_leap_year(p->year) ? 366 : 365;

        if (p->year_day < 1 || p->year_day > n_days)
                return fail(p, "day-of-year out of range");
        date_from_days(first + p->year_day - 1, &month, &day);
        if (p->month >= 0 && p->month != month)
                return fail(p, "day-of-year does not match month");
        if (p->day >= 0 && p->day != day)
                return fail(p, "day-of-year does not match day");
        p->month = month;
        p->day = day;
        return 0;
}

static int settle_date(struct parser *p)
{
        int r = p->year_day >= 0 ? settle_year_day(p) : 0;

        if (r < 0)
                return r;
        p->month = p->month < 0 ? 1 : p->month;
        p->day = p->day < 0 ? 1 : p->day;
        if (p->day < 1 || p->day > date_days_in_month(p->year, p->month))
                return fail(p, "day out of range");
        return 0;
}

static int hour_of(const struct parser *p)
{
        if (p->is_pm && p->hour < 12)
                return p->hour + 12;
        return p->is_am && p->hour == 12 ? 0 : p->hour;
}

/* A zone given only by its abbreviation has no known offset, except GMT with a number. */
static void settle_zone(const struct parser *p, struct gotime *t)
{
        int64_t hours;

        if (p->is_utc)
                return;
        if (p->has_offset) {
                t->at.seconds -= p->offset;
                if (p->offset == 0 && (p->zone.n == 0 || str_equal(p->zone, STR("UTC"))))
                        return;
                t->offset_seconds = p->offset;
                t->zone = p->zone;
        } else if (p->zone.n) {
                t->zone = p->zone;
                if (p->zone.n > 3 && str_starts_with(p->zone, STR("GMT")) &&
                    read_number(str_skip(p->zone, 3), &hours) == 0)
                        t->offset_seconds = (int32_t)hours * 3600;
        }
}

int gotime_parse(struct str layout, struct str text, struct gotime *ret, struct err *err)
{
        struct parser p = {
                .layout = layout,
                .layout_rest = layout,
                .text = text,
                .rest = text,
                .err = err,
                .month = NOT_GIVEN,
                .day = NOT_GIVEN,
                .year_day = NOT_GIVEN,
        };
        int r = take_parts(&p);

        if (r == 0)
                r = settle_date(&p);
        if (r < 0)
                return r;
        *ret = gotime_utc((struct instant) {
                .seconds = date_to_days(p.year, p.month, p.day) * 86400 + (hour_of(&p) * 60 + p.minute) * 60 + p.second,
                .nanos = (int32_t)p.nanos,
        });
        settle_zone(&p, ret);
        return 0;
}
