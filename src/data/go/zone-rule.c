#include "zone-rule.h"

#include "timetext.h"

#define SECONDS_PER_DAY 86400

/* --- Reading --- */

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters, or anything between angle brackets; at least three of them. */
static bool take_name(struct str *s, struct str *ret)
{
        bool is_quoted = str_cut_prefix(s, STR("<"));
        size_t n = 0;

        while (n < s->n && (is_quoted ? s->p[n] != '>' : is_letter(s->p[n])))
                n++;
        *ret = str_first(*s, n);
        *s = str_skip(*s, n);
        return n >= 3 && (!is_quoted || str_cut_prefix(s, STR(">")));
}

static bool take_number(struct str *s, int least, int most, int *ret)
{
        int number = 0;
        size_t n = 0;

        for (; n < s->n && n < 4 && is_digit(s->p[n]); n++)
                number = number * 10 + (s->p[n] - '0');
        *s = str_skip(*s, n);
        *ret = number;
        return n > 0 && number >= least && number <= most;
}

/* `2`, `-1:30`, `+3:00:00`: hours up to a week. */
static bool take_time(struct str *s, int32_t *ret_seconds)
{
        bool is_negative = str_cut_prefix(s, STR("-"));
        int hours, minutes = 0, seconds = 0;

        if (!is_negative)
                str_cut_prefix(s, STR("+"));
        if (!take_number(s, 0, 24 * 7, &hours))
                return false;
        if (str_cut_prefix(s, STR(":")) && !take_number(s, 0, 59, &minutes))
                return false;
        if (str_cut_prefix(s, STR(":")) && !take_number(s, 0, 59, &seconds))
                return false;
        *ret_seconds = (hours * 60 + minutes) * 60 + seconds;
        if (is_negative)
                *ret_seconds = -*ret_seconds;
        return true;
}

static bool take_date(struct str *s, struct zone_day *ret)
{
        if (str_cut_prefix(s, STR("M"))) {
                ret->type = 'M';
                return take_number(s, 1, 12, &ret->month) && str_cut_prefix(s, STR(".")) &&
                       take_number(s, 1, 5, &ret->week) && str_cut_prefix(s, STR(".")) &&
                       take_number(s, 0, 6, &ret->day);
        }
        ret->type = str_cut_prefix(s, STR("J")) ? 'J' : '0';
        return take_number(s, ret->type == 'J' ? 1 : 0, ret->type == 'J' ? 365 : 366, &ret->day);
}

static bool take_day(struct str *s, struct zone_day *ret)
{
        ret->seconds = 2 * 3600;
        if (!str_cut_prefix(s, STR(",")) || !take_date(s, ret))
                return false;
        return !str_cut_prefix(s, STR("/")) || take_time(s, &ret->seconds);
}

/* POSIX offsets are positive west of UTC. */
static bool take_offset(struct str *s, int32_t *ret)
{
        int32_t west;

        if (!take_time(s, &west))
                return false;
        *ret = -west;
        return true;
}

bool zone_rule_parse(struct str text, struct zone_rule *ret)
{
        struct zone_rule rule = { 0 };

        if (!take_name(&text, &rule.standard) || !take_offset(&text, &rule.standard_offset))
                return false;
        if (text.n > 0) {
                if (!take_name(&text, &rule.daylight))
                        return false;
                rule.daylight_offset = rule.standard_offset + 3600;
                if (text.n > 0 && text.p[0] != ',' && !take_offset(&text, &rule.daylight_offset))
                        return false;
                if (text.n == 0)
                        text = STR(",M3.2.0,M11.1.0");
                if (!take_day(&text, &rule.start) || !take_day(&text, &rule.end))
                        return false;
        }
        *ret = rule;
        return text.n == 0;
}

/* --- Use --- */

static int64_t day_of_month_rule(const struct zone_day *d, int64_t year)
{
        int64_t first = date_to_days(year, d->month, 1);
        int weekday = (int)(((first + 4) % 7 + 7) % 7); /* 1970 began on a Thursday */
        int day = (d->day - weekday + 7) % 7 + (d->week - 1) * 7;

        while (day >= date_days_in_month(year, d->month))
                day -= 7;
        return first + day;
}

/* Seconds since 1970 in local time. */
static int64_t change_in(const struct zone_day *d, int64_t year)
{
        int64_t day = date_to_days(year, 1, 1);

        if (d->type == 'M')
                day = day_of_month_rule(d, year);
        else if (d->type == 'J')
                day += d->day - 1 + (date_is_leap_year(year) && d->day >= 60);
        else
                day += d->day;
        return day * SECONDS_PER_DAY + d->seconds;
}

void zone_rule_at(const struct zone_rule *r, int64_t seconds, int32_t *ret_offset_seconds, struct str *ret_abbreviation)
{
        int64_t days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0), year, start, end;
        bool is_daylight = false;
        int month, day;

        if (r->daylight.n) {
                year = date_from_days(days, &month, &day);
                start = change_in(&r->start, year) - r->standard_offset;
                end = change_in(&r->end, year) - r->daylight_offset;
                is_daylight = start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end;
        }
        *ret_offset_seconds = is_daylight ? r->daylight_offset : r->standard_offset;
        *ret_abbreviation = is_daylight ? r->daylight : r->standard;
}
