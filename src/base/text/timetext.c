#include "timetext.h"

#include "ascii.h"
#include "buf.h"
#include "limits.h"

#define SECONDS_PER_DAY 86400
#define LAYOUT          "2006-01-02T15:04:05Z07:00"

void time_append_quoted(struct buf *b, struct str s)
{
        static const char hex[] = ASCII_HEX_LOWER;

        buf_append_char(b, '"');
        for (size_t i = 0; i < s.n && !b->has_failed; i++) {
                unsigned char c = (unsigned char)s.p[i];

                if (c < ' ' || c >= 0x80) {
                        buf_append_literal(b, "\\x");
                        buf_append_char(b, hex[c >> 4]);
                        buf_append_char(b, hex[c & 15]);
                        continue;
                }
                if (c == '"' || c == '\\')
                        buf_append_char(b, '\\');
                buf_append_char(b, (char)c);
        }
        buf_append_char(b, '"');
}

/* The civil date is computed in years that begin in March, so that a leap day is the last of its year, and in eras of 400
 * years, which all have the same number of days. Era 0 begins on 0000-03-01. */
#define DAYS_PER_ERA    146097
#define DAYS_BEFORE_ERA 719468 /* from 0000-03-01 to 1970-01-01 */

int64_t date_to_days(int64_t year, int month, int day)
{
        int64_t era, year_of_era, day_of_year;

        if (month <= 2)
                year--;
        era = (year >= 0 ? year : year - 399) / 400;
        year_of_era = year - era * 400;
        day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        return era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
               DAYS_BEFORE_ERA;
}

int64_t date_from_days(int64_t days, int *ret_month, int *ret_day)
{
        int64_t era, day_of_era, year_of_era, day_of_year, month;

        days += DAYS_BEFORE_ERA;
        era = (days >= 0 ? days : days - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
        day_of_era = days - era * DAYS_PER_ERA;
        year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
        day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        month = (5 * day_of_year + 2) / 153;
        *ret_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
        *ret_month = (int)(month < 10 ? month + 3 : month - 9);
        return era * 400 + year_of_era + (*ret_month <= 2);
}

bool date_is_leap_year(int64_t year)
{
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int date_days_in_month(int64_t year, int month)
{
        static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

        return days[month - 1] + (month == 2 && date_is_leap_year(year));
}

void time_append_padded(struct buf *b, int64_t number, int width)
{
        char digits[20];
        int n = 0;

        for (; n < width || number > 0; number /= 10)
                digits[n++] = (char)('0' + number % 10);
        while (n > 0)
                buf_append_char(b, digits[--n]);
}

static void append_year(struct buf *b, int64_t year)
{
        if (year < 0)
                buf_append_char(b, '-');
        time_append_padded(b, year < 0 ? -year : year, 4);
}

void time_append_rfc3339(struct buf *b, struct instant t, int digits)
{
        int64_t days = t.seconds / SECONDS_PER_DAY, second = t.seconds % SECONDS_PER_DAY, year;
        int32_t fraction = t.nanos;
        int month, day;

        assert(t.nanos >= 0 && t.nanos < NS_PER_SECOND);
        assert(digits >= 0 && digits <= 9);
        if (second < 0) {
                second += SECONDS_PER_DAY;
                days--;
        }
        year = date_from_days(days, &month, &day);
        append_year(b, year);
        buf_append_char(b, '-');
        time_append_padded(b, month, 2);
        buf_append_char(b, '-');
        time_append_padded(b, day, 2);
        buf_append_char(b, 'T');
        time_append_padded(b, second / 3600, 2);
        buf_append_char(b, ':');
        time_append_padded(b, second / 60 % 60, 2);
        buf_append_char(b, ':');
        time_append_padded(b, second % 60, 2);
        if (digits > 0) {
                for (int i = digits; i < 9; i++)
                        fraction /= 10;
                buf_append_char(b, '.');
                time_append_padded(b, fraction, digits);
        }
        buf_append_char(b, 'Z');
}

void time_append_shortest(struct buf *b, struct instant t)
{
        int digits = 9;

        if (t.nanos == 0)
                digits = 0;
        else if (t.nanos % 1000000 == 0)
                digits = 3;
        else if (t.nanos % 1000 == 0)
                digits = 6;
        time_append_rfc3339(b, t, digits);
}

struct time_parser {
        struct str text;
        struct str rest;
        struct err *err;
};

/* `parsing time TEXT as LAYOUT: cannot parse REST as ELEMENT` */
static int fail_at(const struct time_parser *p, const char *element)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        buf_append_literal(&b, "parsing time ");
        time_append_quoted(&b, p->text);
        buf_append_literal(&b, " as \"" LAYOUT "\": cannot parse ");
        time_append_quoted(&b, p->rest);
        buf_appendf(&b, " as \"%s\"", element);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

/* `parsing time TEXT: WHAT out of range` */
static int fail_range(const struct time_parser *p, const char *what)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        buf_append_literal(&b, "parsing time ");
        time_append_quoted(&b, p->text);
        buf_appendf(&b, ": %s out of range", what);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

static int fail_extra(const struct time_parser *p)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        buf_append_literal(&b, "parsing time ");
        time_append_quoted(&b, p->text);
        buf_append_literal(&b, ": extra text: ");
        time_append_quoted(&b, p->rest);
        return err_set(p->err, ERR_INVALID, "%s", buf_cstring(&b));
}

static bool is_digit(struct str s, size_t i)
{
        return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* The number of exactly n digits at offset, or -1. */
static int digits_at(struct str s, size_t offset, size_t n)
{
        int number = 0;

        for (size_t i = offset; i < offset + n; i++) {
                if (!is_digit(s, i))
                        return -1;
                number = number * 10 + (s.p[i] - '0');
        }
        return number;
}

static int take_digits(struct time_parser *p, size_t n, const char *element, int *ret)
{
        int number = digits_at(p->rest, 0, n);

        if (number < 0)
                return fail_at(p, element);
        p->rest = str_skip(p->rest, n);
        *ret = number;
        return 0;
}

static int take_separator(struct time_parser *p, const char *separator)
{
        if (!str_cut_prefix(&p->rest, str_make(separator, 1)))
                return fail_at(p, separator);
        return 0;
}

/* The day's upper bound is checked after everything else has been read, as in Go. */
static int parse_date(struct time_parser *p, int *ret_year, int *ret_month, int *ret_day)
{
        int r;

        if ((r = take_digits(p, 4, "2006", ret_year)) < 0 || (r = take_separator(p, "-")) < 0 ||
            (r = take_digits(p, 2, "01", ret_month)) < 0)
                return r;
        if (*ret_month < 1 || *ret_month > 12)
                return fail_range(p, "month");
        if ((r = take_separator(p, "-")) < 0)
                return r;
        return take_digits(p, 2, "02", ret_day);
}

/* Go takes an hour of one digit too. */
static int parse_time_of_day(struct time_parser *p, int *ret_seconds)
{
        int hour = 0, minute = 0, second = 0, r;

        r = take_digits(p, is_digit(p->rest, 1) ? 2 : 1, "15", &hour);
        if (r < 0)
                return r;
        if (hour >= 24)
                return fail_range(p, "hour");
        if ((r = take_separator(p, ":")) < 0 || (r = take_digits(p, 2, "04", &minute)) < 0)
                return r;
        if (minute >= 60)
                return fail_range(p, "minute");
        if ((r = take_separator(p, ":")) < 0 || (r = take_digits(p, 2, "05", &second)) < 0)
                return r;
        if (second >= 60)
                return fail_range(p, "second");
        *ret_seconds = (hour * 60 + minute) * 60 + second;
        return 0;
}

/* A point or comma followed by at least one digit; digits beyond the ninth are read and dropped. */
static int32_t take_fraction(struct time_parser *p)
{
        int32_t nanos = 0, scale = NS_PER_SECOND / 10;
        size_t i = 1;

        if (!is_digit(p->rest, 1) || (p->rest.p[0] != '.' && p->rest.p[0] != ','))
                return 0;
        for (; is_digit(p->rest, i); i++, scale /= 10)
                nanos += (p->rest.p[i] - '0') * scale;
        p->rest = str_skip(p->rest, i);
        return nanos;
}

/* Z or +hh:mm. A number out of range is reported before a wrong sign or a bad minute, a bad hour before both. */
static int parse_offset(struct time_parser *p, int *ret_seconds)
{
        int hour = 0, minute = 0;

        *ret_seconds = 0;
        if (str_cut_prefix(&p->rest, STR("Z")))
                return 0;
        if (p->rest.n < 6 || p->rest.p[3] != ':')
                return fail_at(p, "Z07:00");
        hour = digits_at(p->rest, 1, 2);
        minute = digits_at(p->rest, 4, 2);
        if (hour >= 0 && minute > 60)
                return fail_range(p, "time zone offset minute");
        if (hour > 24)
                return fail_range(p, "time zone offset hour");
        if (hour < 0 || minute < 0 || (p->rest.p[0] != '+' && p->rest.p[0] != '-'))
                return fail_at(p, "Z07:00");
        *ret_seconds = (hour * 60 + minute) * 60 * (p->rest.p[0] == '-' ? -1 : 1);
        p->rest = str_skip(p->rest, 6);
        return 0;
}

int time_parse_rfc3339(struct str s, struct instant *ret, struct err *err)
{
        struct time_parser p = { .text = s, .rest = s, .err = err };
        int year = 0, month = 0, day = 0, second = 0, offset = 0, r;
        int32_t nanos;

        if ((r = parse_date(&p, &year, &month, &day)) < 0 || (r = take_separator(&p, "T")) < 0 ||
            (r = parse_time_of_day(&p, &second)) < 0)
                return r;
        nanos = take_fraction(&p);
        if ((r = parse_offset(&p, &offset)) < 0)
                return r;
        if (p.rest.n > 0)
                return fail_extra(&p);
        if (day < 1 || day > date_days_in_month(year, month))
                return fail_range(&p, "day");
        *ret = (struct instant) {
                .seconds = date_to_days(year, month, day) * SECONDS_PER_DAY + second - offset,
                .nanos = nanos,
        };
        return 0;
}

static const struct {
        struct str name;
        uint64_t ns;
} units[] = {
        { STR_INIT("ns"), 1 },
        { STR_INIT("us"), 1000 },
        { STR_INIT("\u00b5s"), 1000 }, /* micro sign */
        { STR_INIT("\u03bcs"), 1000 }, /* Greek mu */
        { STR_INIT("ms"), NS_PER_MS },
        { STR_INIT("s"), NS_PER_SECOND },
        { STR_INIT("m"), 60 * NS_PER_SECOND },
        { STR_INIT("h"), 3600 * NS_PER_SECOND },
};

static uint64_t unit_ns(struct str name)
{
        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
                if (str_equal(units[i].name, name))
                        return units[i].ns;
        return 0;
}

/* `time: WHAT duration TEXT` */
static int fail_duration(struct err *err, const char *what, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        buf_appendf(&b, "time: %s duration ", what);
        time_append_quoted(&b, text);
        return err_set(err, ERR_INVALID, "%s", buf_cstring(&b));
}

static int fail_unit(struct err *err, struct str unit, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        buf_append_literal(&b, "time: unknown unit ");
        time_append_quoted(&b, unit);
        buf_append_literal(&b, " in duration ");
        time_append_quoted(&b, text);
        return err_set(err, ERR_INVALID, "%s", buf_cstring(&b));
}

#define MOST_NS (1ull << 63) /* largest magnitude of a negative duration; that of a positive one is one less */

/* Takes leading digits off *s; false if the number is above MOST_NS. */
static bool take_integer(struct str *s, uint64_t *ret)
{
        uint64_t number = 0;
        size_t i = 0;

        for (; is_digit(*s, i); i++) {
                if (number > MOST_NS / 10)
                        return false;
                number = number * 10 + (uint64_t)(s->p[i] - '0');
                if (number > MOST_NS)
                        return false;
        }
        *s = str_skip(*s, i);
        *ret = number;
        return true;
}

/* Takes leading digits off *s as number / scale; digits that no longer fit are read and dropped. */
static uint64_t take_decimals(struct str *s, double *ret_scale)
{
        uint64_t number = 0;
        bool is_full = false;
        double scale = 1;
        size_t i = 0;

        for (; is_digit(*s, i); i++) {
                uint64_t next = number * 10 + (uint64_t)(s->p[i] - '0');

                is_full = is_full || number > (MOST_NS - 1) / 10 || next > MOST_NS;
                if (is_full)
                        continue;
                number = next;
                scale *= 10;
        }
        *s = str_skip(*s, i);
        *ret_scale = scale;
        return number;
}

/* A unit ends where a number begins. */
static struct str take_unit(struct str *s)
{
        struct str unit = *s;
        size_t i = 0;

        while (i < s->n && s->p[i] != '.' && !is_digit(*s, i))
                i++;
        *s = str_skip(*s, i);
        return str_first(unit, i);
}

/* One number with its unit, from the front of *rest; text is for errors. The fraction goes through double, as in Go. */
static int parse_part(struct str text, struct str *rest, uint64_t *ret_ns, struct err *err)
{
        uint64_t whole, decimals = 0, unit_size;
        size_t n_before = rest->n, n_digits;
        double scale = 1;
        struct str unit;

        if (!take_integer(rest, &whole))
                return fail_duration(err, "invalid", text);
        n_digits = n_before - rest->n;
        if (str_cut_prefix(rest, STR("."))) {
                n_before = rest->n;
                decimals = take_decimals(rest, &scale);
                n_digits += n_before - rest->n;
        }
        if (n_digits == 0)
                return fail_duration(err, "invalid", text);
        unit = take_unit(rest);
        if (unit.n == 0)
                return fail_duration(err, "missing unit in", text);
        unit_size = unit_ns(unit);
        if (unit_size == 0)
                return fail_unit(err, unit, text);
        if (whole > MOST_NS / unit_size)
                return fail_duration(err, "invalid", text);
        *ret_ns = whole * unit_size + (uint64_t)((double)decimals * ((double)unit_size / scale));
        return *ret_ns > MOST_NS ? fail_duration(err, "invalid", text) : 0;
}

int duration_parse(struct str s, int64_t *ret_ns, struct err *err)
{
        struct str rest = s;
        bool is_negative = str_cut_prefix(&rest, STR("-"));
        uint64_t total = 0;

        if (!is_negative)
                str_cut_prefix(&rest, STR("+"));
        if (rest.n == 0)
                return fail_duration(err, "invalid", s);
        if (str_equal(rest, STR("0")))
                rest = STR_NONE;
        while (rest.n > 0) {
                uint64_t part = 0;
                int r = parse_part(s, &rest, &part, err);

                if (r < 0)
                        return r;
                total += part; /* both are at most 2^63; the sum of two such wraps to 0, which Go accepts too */
                if (total > MOST_NS)
                        return fail_duration(err, "invalid", s);
        }
        if (total == MOST_NS && !is_negative)
                return fail_duration(err, "invalid", s);
        *ret_ns = (int64_t)(is_negative ? -total : total);
        return 0;
}

/* number / scale without zeros at the end; scale is a power of ten. */
static void append_decimal(struct buf *b, uint64_t number, uint64_t scale)
{
        uint64_t fraction = number % scale;

        buf_append_uint(b, number / scale);
        if (fraction == 0)
                return;
        buf_append_char(b, '.');
        while (fraction > 0) {
                scale /= 10;
                buf_append_char(b, (char)('0' + fraction / scale));
                fraction %= scale;
        }
}

/* From one second on: hours and minutes without leading zeros, then seconds. */
static void append_clock_form(struct buf *b, uint64_t ns)
{
        uint64_t minutes = ns / (60 * NS_PER_SECOND);

        if (minutes >= 60) {
                buf_append_uint(b, minutes / 60);
                buf_append_char(b, 'h');
        }
        if (minutes > 0) {
                buf_append_uint(b, minutes % 60);
                buf_append_char(b, 'm');
        }
        append_decimal(b, ns % (60 * NS_PER_SECOND), NS_PER_SECOND);
        buf_append_char(b, 's');
}

void duration_append(struct buf *b, int64_t ns)
{
        uint64_t u = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

        if (ns < 0)
                buf_append_char(b, '-');
        if (u == 0 || u >= NS_PER_SECOND) {
                append_clock_form(b, u);
        } else if (u < 1000) {
                append_decimal(b, u, 1);
                buf_append_literal(b, "ns");
        } else if (u < NS_PER_MS) {
                append_decimal(b, u, 1000);
                buf_append_literal(b, "\u00b5s");
        } else {
                append_decimal(b, u, NS_PER_MS);
                buf_append_literal(b, "ms");
        }
}
