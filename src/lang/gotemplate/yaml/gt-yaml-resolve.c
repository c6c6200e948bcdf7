/* The meaning of plain scalars in yaml.v3. */
#include "gt-time.h"
#include "gt-yaml.h"
#include "number.h"

#include <math.h>

static bool is_one_of(struct str s, const char *const *words)
{
        for (; *words; words++)
                if (str_equal(s, str_from(*words)))
                        return true;
        return false;
}

static bool resolve_word(struct str s, struct gt_value *ret)
{
        static const char *const trues[] = { "true", "True", "TRUE", NULL };
        static const char *const falses[] = { "false", "False", "FALSE", NULL };
        static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
        static const char *const nans[] = { ".nan", ".NaN", ".NAN", NULL };
        static const char *const infinities[] = { ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", NULL };
        static const char *const negatives[] = { "-.inf", "-.Inf", "-.INF", NULL };

        if (is_one_of(s, trues) || is_one_of(s, falses))
                *ret = gt_bool((s.p[0] | 0x20) == 't');
        else if (is_one_of(s, nulls))
                *ret = gt_nil();
        else if (is_one_of(s, nans))
                *ret = gt_float64(NAN);
        else if (is_one_of(s, infinities) || is_one_of(s, negatives))
                *ret = gt_float64(s.p[0] == '-' ? -INFINITY : INFINITY);
        else
                return false;
        return true;
}

/* --- Numbers --- */

static struct str without_underscores(struct arena *a, struct str s)
{
        char *copy = arena_alloc(a, s.n + 1);
        size_t n = 0;

        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] != '_')
                        copy[n++] = s.p[i];
        return str_make(copy, n);
}

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Digits with one of Go's prefixes for the base: 0x, 0o, 0b, or a leading 0 for octal. */
static bool parse_natural(struct str s, uint64_t *ret)
{
        unsigned base = 10;
        uint64_t u = 0;
        char letter = s.n >= 3 ? s.p[1] | 0x20 : 0;

        if (s.n > 1 && s.p[0] == '0') {
                base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
                s = str_skip(s, letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
        }
        if (s.n == 0)
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (digit_of(s.p[i]) >= (int)base || __builtin_mul_overflow(u, base, &u) ||
                    __builtin_add_overflow(u, (uint64_t)digit_of(s.p[i]), &u))
                        return false;
        *ret = u;
        return true;
}

static bool resolve_int(struct str s, struct gt_value *ret)
{
        bool is_negative = s.n > 0 && s.p[0] == '-', has_sign = is_negative || (s.n > 0 && s.p[0] == '+');
        uint64_t u;

        if (!parse_natural(has_sign ? str_skip(s, 1) : s, &u))
                return false;
        if (u <= (uint64_t)INT64_MAX + is_negative)
                *ret = gt_int(is_negative ? (int64_t)-u : (int64_t)u);
        else if (!has_sign)
                *ret = gt_uint64(u);
        else
                return false;
        return true;
}

static size_t skip_digits(struct str s, size_t i)
{
        while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
                i++;
        return i;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(struct str s)
{
        size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'), start = i;
        size_t n_digits;

        i = skip_digits(s, i);
        n_digits = i - start;
        if (i < s.n && s.p[i] == '.') {
                start = ++i;
                i = skip_digits(s, i);
                n_digits += i - start;
        }
        if (n_digits == 0)
                return false;
        if (i < s.n && (s.p[i] | 0x20) == 'e') {
                i++;
                i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
                start = i;
                i = skip_digits(s, i);
                if (i == start)
                        return false;
        }
        return i == s.n;
}

static bool resolve_float(struct str s, struct gt_value *ret)
{
        double d;

        if (!looks_like_float(s) || number_parse_double(s, &d, NULL) < 0)
                return false;
        *ret = gt_float64(d);
        return true;
}

/* --- Timestamps --- */

/* One or two digits of at most `max`. */
static bool take_number(struct str *s, int max, int *ret)
{
        size_t n = skip_digits(str_first(*s, 2), 0);

        if (n == 0)
                return false;
        *ret = n == 1 ? s->p[0] - '0' : (s->p[0] - '0') * 10 + s->p[1] - '0';
        *s = str_skip(*s, n);
        return *ret <= max;
}

static bool take_char(struct str *s, char c)
{
        return str_cut_prefix(s, str_make(&c, 1));
}

static bool take_fraction(struct str *s, int32_t *ret_nanos)
{
        int64_t nanos = 0, scale = 100000000;
        size_t n;

        *ret_nanos = 0;
        if (s->n == 0 || (s->p[0] != '.' && s->p[0] != ','))
                return true;
        n = skip_digits(*s, 1);
        if (n == 1)
                return false;
        for (size_t i = 1; i < n; i++, scale /= 10)
                nanos += (s->p[i] - '0') * scale;
        *s = str_skip(*s, n);
        *ret_nanos = (int32_t)nanos;
        return true;
}

/* Z or +01:00. */
static bool take_zone(struct str *s, int32_t *ret_seconds)
{
        int hours, minutes;
        bool is_negative;

        *ret_seconds = 0;
        if (take_char(s, 'Z'))
                return true;
        if (s->n != 6 || (s->p[0] != '+' && s->p[0] != '-') || s->p[3] != ':')
                return false;
        is_negative = s->p[0] == '-';
        *s = str_skip(*s, 1);
        if (!take_number(s, 24, &hours) || !take_char(s, ':') || !take_number(s, 60, &minutes))
                return false;
        *ret_seconds = (hours * 60 + minutes) * 60 * (is_negative ? -1 : 1);
        return true;
}

static bool is_date(int year, int month, int day)
{
        static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

        return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && is_leap);
}

static bool take_clock(struct str *s, int *seconds, int32_t *nanos)
{
        int hour, minute, second;

        if (!take_number(s, 23, &hour) || !take_char(s, ':') || !take_number(s, 59, &minute) || !take_char(s, ':') ||
            !take_number(s, 59, &second) || !take_fraction(s, nanos))
                return false;
        *seconds = (hour * 60 + minute) * 60 + second;
        return true;
}

/* 2006-1-2, 2006-1-2 15:4:5.9 and 2006-1-2T15:4:5.9Z07:00 (or a small t). */
static bool resolve_time(struct gt_context *c, struct str s, struct gt_value *ret)
{
        int year = 0, month, day, seconds = 0;
        int32_t nanos = 0, offset = 0;
        struct instant at;
        bool has_zone;

        if (skip_digits(s, 0) != 4)
                return false;
        for (size_t i = 0; i < 4; i++)
                year = year * 10 + s.p[i] - '0';
        s = str_skip(s, 4);
        if (!take_char(&s, '-') || !take_number(&s, 12, &month) || !take_char(&s, '-') || !take_number(&s, 31, &day) ||
            !is_date(year, month, day))
                return false;
        has_zone = take_char(&s, 'T') || take_char(&s, 't');
        if ((has_zone || take_char(&s, ' ')) && !take_clock(&s, &seconds, &nanos))
                return false;
        if ((has_zone && !take_zone(&s, &offset)) || s.n > 0)
                return false;
        at = (struct instant) { date_to_days(year, month, day) * 86400 + seconds - offset, nanos };
        *ret = gt_make_time(c, (struct gotime) { at, offset, offset == 0 ? STR("UTC") : STR("") });
        return true;
}

struct gt_value gt_yaml_resolve(struct gt_context *c, struct str text)
{
        struct gt_value v;
        struct str plain;
        double d;

        if (text.n == 0)
                return gt_nil();
        if (strchr("yYnNtTfFoO~", text.p[0]) && text.p[0])
                return resolve_word(text, &v) ? v : gt_none();
        if (text.p[0] == '.') {
                if (resolve_word(text, &v))
                        return v;
                return number_parse_double(text, &d, NULL) == 0 ? gt_float64(d) : gt_none();
        }
        if (!strchr("+-0123456789", text.p[0]) || text.p[0] == 0)
                return gt_none();
        if (resolve_word(text, &v) || resolve_time(c, text, &v))
                return v;
        plain = without_underscores(c->arena, text);
        return resolve_int(plain, &v) || resolve_float(plain, &v) ? v : gt_none();
}
