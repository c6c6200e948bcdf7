/* Doubles become text through their exact decimal expansion: every double is m * 2^e, which is a whole number times a power of
 * ten, so a small array of base 10^9 words holds it without error. Rounding that expansion to a precision, or to the fewest
 * digits that read back equal, only compares digits and is always exact. Whole numbers and short decimals, which are most
 * numbers in practice, take a shortcut. */
#include "number.h"

#include "ascii.h"
#include "buf.h"
#include "gotext.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1075 /* bias of the exponent if the mantissa is a whole number */
#define EXACT_LIMIT   0x1p53
#define MAX_DIGITS    800 /* more than the 767 significant digits that a double, or the midpoint of two, can have */

/* 0.d1d2d3... * 10^point, without leading and trailing zeros; n == 0 is zero. */
struct decimal {
        int n;
        int point;
        char digits[MAX_DIGITS];
};

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/* Exact expansion */

#define BIG_BASE  1000000000u
#define BIG_WORDS 90

struct big {
        int n;
        uint32_t words[BIG_WORDS]; /* base 10^9, least first */
};

static void big_multiply(struct big *b, uint32_t factor)
{
        uint64_t carry = 0;

        for (int i = 0; i < b->n; i++) {
                carry += (uint64_t)b->words[i] * factor;
                b->words[i] = (uint32_t)(carry % BIG_BASE);
                carry /= BIG_BASE;
        }
        for (; carry; carry /= BIG_BASE) {
                assert(b->n < BIG_WORDS);
                b->words[b->n++] = (uint32_t)(carry % BIG_BASE);
        }
}

/* Multiplies by base^exponent, in steps of base^step = factor. */
static void big_multiply_power(struct big *b, uint32_t base, int exponent, uint32_t factor, int step)
{
        for (; exponent >= step; exponent -= step)
                big_multiply(b, factor);
        factor = 1;
        while (exponent-- > 0)
                factor *= base;
        big_multiply(b, factor);
}

static void trim_zeros(struct decimal *d)
{
        while (d->n > 0 && d->digits[d->n - 1] == '0')
                d->n--;
        if (d->n == 0)
                d->point = 0;
}

static void decimal_from_big(struct decimal *d, const struct big *b)
{
        char word[9];
        int used = 0;

        for (int i = b->n - 1; i >= 0; i--) {
                uint32_t w = b->words[i];
                int skip = 0;

                for (int k = 8; k >= 0; k--, w /= 10)
                        word[k] = (char)('0' + w % 10);
                while (used == 0 && skip < 8 && word[skip] == '0')
                        skip++;
                memcpy(d->digits + used, word + skip, (size_t)(9 - skip));
                used += 9 - skip;
        }
        d->n = used;
        d->point = used;
}

/* mantissa * 2^exponent, exactly. 0 < mantissa < 2^56. */
static void decimal_from_binary(struct decimal *d, uint64_t mantissa, int exponent)
{
        struct big b;

        b.n = 0;
        while (exponent < 0 && !(mantissa & 1)) {
                mantissa >>= 1;
                exponent++;
        }
        for (; mantissa; mantissa /= BIG_BASE)
                b.words[b.n++] = (uint32_t)(mantissa % BIG_BASE);
        if (exponent >= 0)
                big_multiply_power(&b, 2, exponent, 1u << 29, 29);
        else
                big_multiply_power(&b, 5, -exponent, 1220703125u, 13);
        decimal_from_big(d, &b);
        if (exponent < 0)
                d->point += exponent;
        trim_zeros(d);
}

static void decimal_from_uint(struct decimal *d, uint64_t u, int scale)
{
        char text[20];
        int n = 0;

        for (; u; u /= 10)
                text[n++] = (char)('0' + u % 10);
        for (int i = 0; i < n; i++)
                d->digits[i] = text[n - 1 - i];
        d->n = n;
        d->point = n - scale;
        trim_zeros(d);
}

/* Rounding */

static int decimal_compare(const struct decimal *a, const struct decimal *b)
{
        int r;

        if (a->point != b->point)
                return a->point < b->point ? -1 : 1;
        r = memcmp(a->digits, b->digits, (size_t)MIN(a->n, b->n));
        if (r != 0)
                return r < 0 ? -1 : 1;
        return (a->n > b->n) - (a->n < b->n);
}

/* Adds one unit in the last of the first n digits and drops the other digits. */
static void round_up(struct decimal *d, int n)
{
        while (n > 0 && d->digits[n - 1] == '9')
                n--;
        if (n == 0) {
                d->digits[0] = '1';
                d->n = 1;
                d->point++;
                return;
        }
        d->digits[n - 1]++;
        d->n = n;
}

/* To the nearest number of n digits; a tie goes to the even digit. */
static void round_to(struct decimal *d, int n)
{
        bool is_up;

        if (n >= d->n)
                return;
        if (n < 0) {
                d->n = d->point = 0;
                return;
        }
        if (d->digits[n] == '5' && d->n == n + 1)
                is_up = n > 0 && (d->digits[n - 1] - '0') % 2;
        else
                is_up = d->digits[n] >= '5';
        if (is_up) {
                round_up(d, n);
        } else {
                d->n = n;
                trim_zeros(d);
        }
}

/* The parts of a double: mantissa * 2^exponent and the sign. */
struct parts {
        uint64_t mantissa;
        int exponent;
        bool is_negative;
        bool is_power_of_two; /* then its lower neighbour is half as far away as its upper one */
};

static struct parts take_apart(double d)
{
        uint64_t bits, fraction;
        struct parts p;
        int exponent;

        memcpy(&bits, &d, sizeof(bits));
        fraction = bits & ((1ull << MANTISSA_BITS) - 1);
        exponent = (int)(bits >> MANTISSA_BITS & 0x7ff);
        p.is_negative = bits >> 63;
        p.mantissa = exponent ? fraction | 1ull << MANTISSA_BITS : fraction;
        p.exponent = (exponent ? exponent : 1) - EXPONENT_BIAS;
        p.is_power_of_two = fraction == 0 && exponent > 1;
        return p;
}

/* A decimal of at most 15 digits with few decimal places: such a text is the only one of its length that reads back as d, and
 * the smallest number of places that works is the shortest. The division is of two exact numbers, so it rounds once, as
 * reading does. */
static bool shortest_simple(struct decimal *ret, double d)
{
        for (int places = 0; places <= 15; places++) {
                double scaled = d * powers_of_ten[places];
                double whole;

                if (scaled >= 1e15)
                        return false;
                whole = (double)(int64_t)(scaled + 0.5);
                if (whole / powers_of_ten[places] == d) {
                        decimal_from_uint(ret, (uint64_t)whole, places);
                        return true;
                }
        }
        return false;
}

static void first_digits(struct decimal *ret, const struct decimal *d, int n)
{
        memcpy(ret->digits, d->digits, (size_t)n);
        ret->n = n;
        ret->point = d->point;
}

/* The number of leading digits that two numbers have in common. A number with fewer digits cannot lie between them, unless it
 * equals the lower one. */
static int common_digits(const struct decimal *a, const struct decimal *b)
{
        int n = 0;

        if (a->point != b->point)
                return 0;
        while (n < a->n && n < b->n && a->digits[n] == b->digits[n])
                n++;
        return n;
}

/* The fewest digits that read back as p; among several such numbers, the nearest to p. */
static void shortest_exact(struct decimal *ret, const struct parts *p)
{
        struct decimal exact, low, high, down, up;
        int margin = p->mantissa % 2 == 0 ? 0 : 1; /* the midpoint itself reads back as the even neighbour */

        decimal_from_binary(&exact, p->mantissa, p->exponent);
        decimal_from_binary(&low, p->mantissa * 4 - (p->is_power_of_two ? 1 : 2), p->exponent - 2);
        decimal_from_binary(&high, p->mantissa * 4 + 2, p->exponent - 2);
        for (int n = MAX(common_digits(&low, &high), 1); n < exact.n; n++) {
                bool is_down_ok, is_up_ok;

                first_digits(&down, &exact, n);
                first_digits(&up, &exact, n);
                trim_zeros(&down);
                round_up(&up, n);
                is_down_ok = decimal_compare(&down, &low) >= margin;
                is_up_ok = decimal_compare(&high, &up) >= margin;
                if (is_down_ok && is_up_ok) {
                        first_digits(ret, &exact, MIN(exact.n, n + 2));
                        round_to(ret, n);
                        return;
                }
                if (is_down_ok || is_up_ok) {
                        first_digits(ret, is_down_ok ? &down : &up, is_down_ok ? down.n : up.n);
                        return;
                }
        }
        first_digits(ret, &exact, exact.n);
}

/* d is positive and finite. */
static void shortest(struct decimal *ret, double d)
{
        struct parts p;

        if (shortest_simple(ret, d))
                return;
        p = take_apart(d);
        shortest_exact(ret, &p);
}

/* Layouts */

/* Digits [from, to) of d, with zeros for missing digits. */
static void append_digits(struct buf *b, const struct decimal *d, int from, int to)
{
        int available = MAX(MIN(to, d->n) - from, 0);

        if (to <= from)
                return;
        buf_append(b, d->digits + from, (size_t)available);
        buf_append_repeat(b, '0', (size_t)(to - from - available));
}

/* Exponents have a sign and at least min_digits digits. */
static void append_exponent(struct buf *b, char letter, int exponent, int min_digits)
{
        buf_append_char(b, letter);
        buf_append_char(b, exponent < 0 ? '-' : '+');
        exponent = abs(exponent);
        if (exponent < 10 && min_digits > 1)
                buf_append_char(b, '0');
        buf_append_uint(b, (uint64_t)exponent);
}

static void append_scientific(struct buf *b, const struct decimal *d, int places, char letter, int min_exponent_digits)
{
        append_digits(b, d, 0, 1);
        if (places > 0) {
                buf_append_char(b, '.');
                append_digits(b, d, 1, 1 + places);
        }
        append_exponent(b, letter, d->n ? d->point - 1 : 0, min_exponent_digits);
}

static void append_plain(struct buf *b, const struct decimal *d, int places)
{
        int zeros = MIN(MAX(-d->point, 0), places);

        if (d->point > 0)
                append_digits(b, d, 0, d->point);
        else
                buf_append_char(b, '0');
        if (places <= 0)
                return;
        buf_append_char(b, '.');
        buf_append_repeat(b, '0', (size_t)zeros);
        append_digits(b, d, MAX(d->point, 0), MAX(d->point, 0) + places - zeros);
}

static void append_binary(struct buf *b, const struct parts *p)
{
        buf_append_uint(b, p->mantissa);
        buf_append_char(b, 'p');
        if (p->exponent >= 0)
                buf_append_char(b, '+');
        buf_append_int(b, p->exponent);
}

/* Rounds to `digits` hexadecimal digits after the point of 1.xxxxxxxxxxxxx, to nearest, ties to even. */
static void round_hexadecimal(struct parts *p, int digits)
{
        int cut = MANTISSA_BITS - 4 * digits;
        uint64_t rest = p->mantissa & ((1ull << cut) - 1), half = 1ull << (cut - 1);

        p->mantissa >>= cut;
        if (rest > half || (rest == half && p->mantissa & 1))
                p->mantissa++;
        p->mantissa <<= cut;
        if (p->mantissa >> (MANTISSA_BITS + 1)) {
                p->mantissa >>= 1;
                p->exponent++;
        }
}

static void append_hexadecimal(struct buf *b, struct parts p, int precision, bool is_upper)
{
        const char *digits = is_upper ? ASCII_HEX_UPPER : ASCII_HEX_LOWER;
        uint64_t fraction;
        int places;

        while (p.mantissa && !(p.mantissa >> MANTISSA_BITS)) {
                p.mantissa <<= 1;
                p.exponent--;
        }
        if (precision >= 0 && precision < MANTISSA_BITS / 4)
                round_hexadecimal(&p, precision);
        buf_append(b, is_upper ? "0X" : "0x", 2);
        buf_append_char(b, p.mantissa ? '1' : '0');
        fraction = p.mantissa << (64 - MANTISSA_BITS);
        for (places = 0; precision < 0 ? fraction != 0 : places < MIN(precision, 16); places++, fraction <<= 4) {
                if (places == 0)
                        buf_append_char(b, '.');
                buf_append_char(b, digits[fraction >> 60]);
        }
        if (precision > places)
                buf_append_repeat(b, '0', (size_t)(precision - places));
        append_exponent(b, is_upper ? 'P' : 'p', p.mantissa ? p.exponent + MANTISSA_BITS : 0, 2);
}

void number_append_json(struct buf *b, double d)
{
        double size = fabs(d);
        struct decimal digits;

        assert(isfinite(d));
        if (signbit(d))
                buf_append_char(b, '-');
        if (size < EXACT_LIMIT && size == (double)(uint64_t)size) {
                buf_append_uint(b, (uint64_t)size);
                return;
        }
        shortest(&digits, size);
        if (size < 1e-6 || size >= 1e21)
                append_scientific(b, &digits, digits.n - 1, 'e', 1);
        else
                append_plain(b, &digits, MAX(digits.n - digits.point, 0));
}

/* %e: digits before rounding, and the places to print; precision -1 is the shortest. */
static void append_e(struct buf *b, struct decimal *d, int precision, char letter)
{
        if (precision >= 0 && precision < MAX_DIGITS)
                round_to(d, precision + 1);
        append_scientific(b, d, precision < 0 ? MAX(d->n - 1, 0) : precision, letter, 2);
}

static void append_f(struct buf *b, struct decimal *d, int precision)
{
        if (precision >= 0 && precision < MAX_DIGITS + 1100)
                round_to(d, d->point + precision);
        append_plain(b, d, precision < 0 ? MAX(d->n - d->point, 0) : precision);
}

static void append_g(struct buf *b, struct decimal *d, int precision, char letter)
{
        int limit = precision < 0 ? 6 : MAX(precision, 1);

        if (precision >= 0)
                round_to(d, MIN(limit, MAX_DIGITS));
        if (d->n && (d->point - 1 < -4 || d->point - 1 >= limit))
                append_scientific(b, d, d->n - 1, letter, 2);
        else
                append_plain(b, d, MAX(d->n - d->point, 0));
}

static void decimal_of(struct decimal *d, double size, int precision)
{
        struct parts p;

        if (size == 0) {
                d->n = d->point = 0;
        } else if (precision < 0) {
                shortest(d, size);
        } else {
                p = take_apart(size);
                decimal_from_binary(d, p.mantissa, p.exponent);
        }
}

void number_append_go(struct buf *b, double d, char format, int precision)
{
        struct decimal digits;

        if (isnan(d)) {
                buf_append_literal(b, "NaN");
                return;
        }
        if (isinf(d)) {
                buf_append(b, d > 0 ? "+Inf" : "-Inf", 4);
                return;
        }
        if (signbit(d))
                buf_append_char(b, '-');
        if (strchr("eEfgG", format))
                decimal_of(&digits, fabs(d), precision);
        switch (format) {
        case 'e':
        case 'E':
                append_e(b, &digits, precision, format);
                break;
        case 'f':
                append_f(b, &digits, precision);
                break;
        case 'g':
        case 'G':
                append_g(b, &digits, precision, (char)(format - 'g' + 'e'));
                break;
        case 'x':
        case 'X':
                append_hexadecimal(b, take_apart(fabs(d)), precision, format == 'X');
                break;
        default: {
                struct parts p = take_apart(fabs(d));

                assert(format == 'b');
                append_binary(b, &p);
        }
        }
}

/* Reading */

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        assert(c_locale != (locale_t)0);
}

/* The significant digits of a number, without those that cannot affect the result, and their power of ten. */
struct scan {
        char digits[MAX_DIGITS + 32]; /* room for an exponent and NUL */
        int n;
        int64_t exponent;
        bool has_more; /* digits other than 0 were cut off */
};

static void scan_digit(struct scan *s, char c, bool is_fraction)
{
        if (is_fraction)
                s->exponent--;
        if (s->n == 0 && c == '0')
                return;
        if (s->n < MAX_DIGITS) {
                s->digits[s->n++] = c;
                return;
        }
        s->exponent++;
        s->has_more |= c != '0';
}

static double scan_finish(struct scan *s)
{
        uint64_t mantissa = 0;
        int64_t exponent;

        if (s->n == 0)
                return 0;
        if (s->n <= 19 && s->exponent >= -22 && s->exponent <= 22) {
                for (int i = 0; i < s->n; i++)
                        mantissa = mantissa * 10 + (uint64_t)(s->digits[i] - '0');
                if (mantissa <= (uint64_t)EXACT_LIMIT)
                        return s->exponent < 0 ? (double)mantissa / powers_of_ten[-s->exponent]
                                               : (double)mantissa * powers_of_ten[s->exponent];
        }
        if (s->has_more)
                s->digits[s->n - 1] |=
                        1; /* moves the number away from a midpoint of two doubles, which has fewer digits */
        exponent = MAX(MIN(s->exponent, 9999), -9999);
        s->digits[s->n] = 'e';
        snprintf(s->digits + s->n + 1, 16, "%d", (int)exponent);
        pthread_once(&c_locale_once, make_c_locale);
        return strtod_l(s->digits, NULL, c_locale);
}

static int64_t add_exponent(int64_t exponent, char digit)
{
        return exponent < 100000000000 ? exponent * 10 + (digit - '0') : exponent;
}

double number_from_decimal(struct str s)
{
        bool is_negative = false, is_fraction = false, has_negative_exponent = false;
        struct scan scan = { .n = 0 };
        int64_t exponent = 0;
        size_t i = 0;
        double d;

        if (i < s.n && s.p[i] == '-') {
                is_negative = true;
                i++;
        }
        for (; i < s.n && (s.p[i] | 0x20) != 'e'; i++) {
                if (s.p[i] == '.')
                        is_fraction = true;
                else
                        scan_digit(&scan, s.p[i], is_fraction);
        }
        for (i++; i < s.n; i++) {
                if (s.p[i] == '-')
                        has_negative_exponent = true;
                else if (s.p[i] != '+')
                        exponent = add_exponent(exponent, s.p[i]);
        }
        scan.exponent += has_negative_exponent ? -exponent : exponent;
        d = scan_finish(&scan);
        return is_negative ? -d : d;
}

static int parse_error(const char *function, struct str s, bool is_range, struct err *err)
{
        _cleanup_buf_ struct buf quoted = BUF_INIT(0);

        if (!err)
                return is_range ? ERR_LIMIT : ERR_INVALID;
        go_append_quoted(&quoted, s);
        return err_set(err, is_range ? ERR_LIMIT : ERR_INVALID, "strconv.%s: parsing %s: %s", function,
                       buf_cstring(&quoted), is_range ? "value out of range" : "invalid syntax");
}

static bool parse_special(struct str s, double *ret)
{
        double sign = 1;

        if (str_equal_ignore_case(s, STR("nan"))) {
                *ret = NAN;
                return true;
        }
        if (s.n > 0 && (s.p[0] == '+' || s.p[0] == '-')) {
                sign = s.p[0] == '-' ? -1 : 1;
                s = str_skip(s, 1);
        }
        if (!str_equal_ignore_case(s, STR("inf")) && !str_equal_ignore_case(s, STR("infinity")))
                return false;
        *ret = sign * INFINITY;
        return true;
}

static int digit_value(char c, bool is_hexadecimal)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return is_hexadecimal && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The parts of a floating-point text. */
struct float_text {
        bool is_negative;
        bool is_hexadecimal;
        struct str mantissa;
        struct str exponent; /* with its sign; empty without one */
};

/* Digits with underscores between them (or, after 0x, before the first) and at most one point. */
static bool check_mantissa(struct str s, bool is_hexadecimal)
{
        bool has_digits = false, has_point = false, may_separate = is_hexadecimal, was_separator = false;

        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '_') {
                        if (!may_separate)
                                return false;
                        may_separate = false;
                        was_separator = true;
                } else if (s.p[i] == '.') {
                        if (has_point || was_separator)
                                return false;
                        has_point = true;
                        may_separate = false;
                } else {
                        if (digit_value(s.p[i], is_hexadecimal) < 0)
                                return false;
                        has_digits = may_separate = true;
                        was_separator = false;
                }
        }
        return has_digits && !was_separator;
}

static bool check_exponent(struct str s)
{
        if (s.n > 0 && (s.p[0] == '+' || s.p[0] == '-'))
                s = str_skip(s, 1);
        return str_find_char(s, '.') < 0 && check_mantissa(s, false);
}

static bool split_float(struct str s, struct float_text *ret)
{
        size_t end = 0;

        *ret = (struct float_text) { 0 };
        if (s.n > 0 && (s.p[0] == '+' || s.p[0] == '-')) {
                ret->is_negative = s.p[0] == '-';
                s = str_skip(s, 1);
        }
        if (s.n > 1 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
                ret->is_hexadecimal = true;
                s = str_skip(s, 2);
        }
        while (end < s.n && (s.p[end] | 0x20) != (ret->is_hexadecimal ? 'p' : 'e'))
                end++;
        ret->mantissa = str_first(s, end);
        ret->exponent = str_skip(s, end + 1);
        if (!check_mantissa(ret->mantissa, ret->is_hexadecimal))
                return false;
        return end == s.n ? !ret->is_hexadecimal : check_exponent(ret->exponent);
}

static int64_t exponent_of(struct str s)
{
        bool is_negative = s.n > 0 && s.p[0] == '-';
        int64_t exponent = 0;

        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] >= '0' && s.p[i] <= '9')
                        exponent = add_exponent(exponent, s.p[i]);
        return is_negative ? -exponent : exponent;
}

static double decimal_value(const struct float_text *t)
{
        struct scan scan = { .n = 0 };
        bool is_fraction = false;

        for (size_t i = 0; i < t->mantissa.n; i++) {
                if (t->mantissa.p[i] == '.')
                        is_fraction = true;
                else if (t->mantissa.p[i] != '_')
                        scan_digit(&scan, t->mantissa.p[i], is_fraction);
        }
        scan.exponent += exponent_of(t->exponent);
        return scan_finish(&scan);
}

/* mantissa * 2^exponent to the nearest double, ties to even; bit 0 of the mantissa is sticky: it is also set if any lower bit
 * was. */
static double round_binary(uint64_t mantissa, int64_t exponent)
{
        int bits, cut;
        uint64_t rest, half;

        if (mantissa == 0)
                return 0;
        bits = 64 - __builtin_clzll(mantissa);
        if (exponent + bits > 1024)
                return INFINITY;
        if (exponent + bits < -1074)
                return 0;
        cut = MAX(bits - (MANTISSA_BITS + 1), -1074 - (int)exponent);
        if (cut <= 0)
                return ldexp((double)mantissa, (int)exponent);
        if (cut > 63) /* below half of the smallest double */
                return 0;
        rest = mantissa & ((1ull << cut) - 1);
        half = 1ull << (cut - 1);
        mantissa >>= cut;
        if (rest > half || (rest == half && mantissa & 1))
                mantissa++;
        return ldexp((double)mantissa, (int)exponent + cut);
}

static double hexadecimal_value(const struct float_text *t)
{
        int64_t exponent = exponent_of(t->exponent);
        bool is_fraction = false;
        uint64_t mantissa = 0;

        for (size_t i = 0; i < t->mantissa.n; i++) {
                int digit = digit_value(t->mantissa.p[i], true);

                if (t->mantissa.p[i] == '.')
                        is_fraction = true;
                if (digit < 0)
                        continue;
                exponent -= is_fraction ? 4 : 0;
                if (mantissa >> 58) {
                        mantissa |= digit != 0;
                        exponent += 4;
                } else {
                        mantissa = mantissa << 4 | (unsigned)digit;
                }
        }
        return round_binary(mantissa, exponent);
}

int number_parse_double(struct str s, double *ret, struct err *err)
{
        struct float_text text;
        double d;

        if (parse_special(s, ret))
                return 0;
        if (!split_float(s, &text))
                return parse_error("ParseFloat", s, false, err);
        d = text.is_hexadecimal ? hexadecimal_value(&text) : decimal_value(&text);
        *ret = text.is_negative ? -d : d;
        return isinf(d) ? parse_error("ParseFloat", s, true, err) : 0;
}

/* Parses digits as a number of at most max. A number out of range is reported before a bad character after it, as in Go. */
static int parse_digits(const char *function, struct str s, struct str digits, uint64_t max, uint64_t *ret,
                        struct err *err)
{
        uint64_t u = 0;

        if (digits.n == 0)
                return parse_error(function, s, false, err);
        for (size_t i = 0; i < digits.n; i++) {
                if (digits.p[i] < '0' || digits.p[i] > '9')
                        return parse_error(function, s, false, err);
                if (__builtin_mul_overflow(u, 10u, &u) || __builtin_add_overflow(u, (uint64_t)(digits.p[i] - '0'), &u))
                        return parse_error(function, s, true, err);
        }
        if (u > max)
                return parse_error(function, s, true, err);
        *ret = u;
        return 0;
}

int number_parse_int(struct str s, int64_t *ret, struct err *err)
{
        bool is_negative = s.n > 0 && s.p[0] == '-';
        struct str digits = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? str_skip(s, 1) : s;
        uint64_t u;
        int r;

        r = parse_digits("ParseInt", s, digits, (uint64_t)INT64_MAX + is_negative, &u, err);
        if (r < 0)
                return r;
        *ret = (int64_t)(is_negative ? -u : u);
        return 0;
}

int number_parse_uint(struct str s, uint64_t *ret, struct err *err)
{
        return parse_digits("ParseUint", s, s, UINT64_MAX, ret, err);
}

int number_parse_bool(struct str s, bool *ret, struct err *err)
{
        static const struct {
                struct str text;
                bool value;
        } words[] = {
                { STR_INIT("1"), true },      { STR_INIT("t"), true },      { STR_INIT("T"), true },
                { STR_INIT("true"), true },   { STR_INIT("TRUE"), true },   { STR_INIT("True"), true },
                { STR_INIT("0"), false },     { STR_INIT("f"), false },     { STR_INIT("F"), false },
                { STR_INIT("false"), false }, { STR_INIT("FALSE"), false }, { STR_INIT("False"), false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (str_equal(s, words[i].text)) {
                        *ret = words[i].value;
                        return 0;
                }
        }
        return parse_error("ParseBool", s, false, err);
}
