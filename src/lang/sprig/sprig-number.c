/* Numbers: conversions by the rules of spf13/cast, and arithmetic that wraps around as Go's does. */
#include "sprig.h"

#include "number.h"

#include <math.h>

/* --- Conversions --- */

static int digit_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'z')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 36;
}

/* Removes the prefix 0x, 0b, 0o or 0 and returns its base, as strconv.ParseInt does with base 0. */
static unsigned take_base(struct str *s)
{
        static const struct {
                char lower;
                unsigned base;
        } prefixes[] = { { 'x', 16 }, { 'b', 2 }, { 'o', 8 } };

        if (s->n < 2 || s->p[0] != '0')
                return 10;
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (s->n > 2 && (s->p[1] | 0x20) == prefixes[i].lower) {
                        *s = str_skip(*s, 2);
                        return prefixes[i].base;
                }
        *s = str_skip(*s, 1);
        return 8;
}

/* True if underscores are only between digits, or between a prefix and a digit. */
static bool underscores_are_fine(struct str digits, bool has_prefix)
{
        char previous = has_prefix ? '0' : '_';

        for (size_t i = 0; i < digits.n; i++) {
                if (digits.p[i] == '_' && previous == '_')
                        return false;
                previous = digits.p[i];
        }
        return previous != '_';
}

/* strconv.ParseInt(s, 0, 64); false where it returns an error. */
static bool parse_int(struct str s, int64_t *ret)
{
        bool is_negative = s.n > 0 && s.p[0] == '-';
        uint64_t number = 0;
        unsigned base;
        size_t length;

        if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
                s = str_skip(s, 1);
        length = s.n;
        base = take_base(&s);
        if (s.n == 0 || !underscores_are_fine(s, s.n < length))
                return false;
        for (size_t i = 0; i < s.n; i++) {
                unsigned digit = s.p[i] == '_' ? 0 : (unsigned)digit_value(s.p[i]);

                if (s.p[i] == '_')
                        continue;
                if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
                    __builtin_add_overflow(number, digit, &number))
                        return false;
        }
        if (number > (uint64_t)INT64_MAX + is_negative)
                return false;
        *ret = (int64_t)(is_negative ? -number : number);
        return true;
}

/* `3.000` is 3: a point followed only by zeros is cut off. */
static struct str without_zero_decimals(struct str s)
{
        size_t n = s.n;

        while (n > 0 && s.p[n - 1] == '0')
                n--;
        return n > 0 && n < s.n && s.p[n - 1] == '.' ? str_first(s, n - 1) : s;
}

static int64_t int64_of_text(struct str s)
{
        int64_t number = 0;

        return parse_int(without_zero_decimals(s), &number) ? number : 0;
}

/* Converts as amd64 does: every number out of range becomes the smallest int64. */
static int64_t int64_of_double(double d)
{
        return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
}

/* Named types of kind int (time.Month, time.Weekday) count as numbers; time.Duration does not. */
static struct gt_value plain_number(struct gt_value v)
{
        return v.type == GT_OBJECT && gt_kind(v) == GT_KIND_INT ? gt_basic(v) : v;
}

int64_t sprig_to_int64(struct gt_value v)
{
        v = plain_number(v);
        switch ((enum gt_type)v.type) {
        case GT_BOOL:
                return v.boolean;
        case GT_INT:
        case GT_INT64:
                return v.integer;
        case GT_UINT8:
        case GT_UINT64:
                return (int64_t)v.natural;
        case GT_FLOAT64:
                return int64_of_double(v.number);
        case GT_STRING:
                return int64_of_text(gt_str(v));
        default:
                return 0;
        }
}

double sprig_to_float64(struct gt_value v)
{
        double d = 0;

        v = plain_number(v);
        switch ((enum gt_type)v.type) {
        case GT_BOOL:
                return v.boolean;
        case GT_INT:
        case GT_INT64:
                return (double)v.integer;
        case GT_UINT8:
        case GT_UINT64:
                return (double)v.natural;
        case GT_FLOAT64:
                return v.number;
        case GT_STRING:
                return number_parse_double(gt_str(v), &d, NULL) < 0 ? 0 : d;
        default:
                return 0;
        }
}

static int return_int64(int64_t i, struct gt_value *ret)
{
        *ret = gt_int64(i);
        return 0;
}

static int return_float64(double d, struct gt_value *ret)
{
        *ret = gt_float64(d);
        return 0;
}

SPRIG(int)
{
        *ret = gt_int(sprig_to_int64(arguments[0]));
        return 0;
}

SPRIG(int64)
{
        return return_int64(sprig_to_int64(arguments[0]), ret);
}

SPRIG(float64)
{
        return return_float64(sprig_to_float64(arguments[0]), ret);
}

int64_t sprig_parse_decimal(struct str s)
{
        int64_t i = 0;
        int r = number_parse_int(s, &i, NULL);

        if (r == ERR_LIMIT)
                return s.p[0] == '-' ? INT64_MIN : INT64_MAX;
        return r < 0 ? 0 : i;
}

SPRIG(atoi)
{
        *ret = gt_int(sprig_parse_decimal(gt_str(arguments[0])));
        return 0;
}

/* Parses the text of the value in base 8. */
SPRIG(to_decimal)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        bool is_negative;
        uint64_t number = 0;
        struct str s;

        gt_append_text(c, &b, arguments[0]);
        s = buf_str(&b);
        is_negative = s.n > 0 && s.p[0] == '-';
        if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
                s = str_skip(s, 1);
        for (size_t i = 0; i < s.n; i++)
                if (digit_value(s.p[i]) >= 8 || __builtin_mul_overflow(number, 8, &number) ||
                    __builtin_add_overflow(number, (uint64_t)digit_value(s.p[i]), &number))
                        return return_int64(0, ret);
        if (number > (uint64_t)INT64_MAX + is_negative)
                return return_int64(0, ret);
        return return_int64((int64_t)(is_negative ? -number : number), ret);
}

/* --- Integers --- */

static int64_t wrapped_add(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

SPRIG(add)
{
        int64_t sum = 0;

        for (size_t i = 0; i < n; i++)
                sum = wrapped_add(sum, sprig_to_int64(arguments[i]));
        return return_int64(sum, ret);
}

SPRIG(add1)
{
        return return_int64(wrapped_add(sprig_to_int64(arguments[0]), 1), ret);
}

SPRIG(sub)
{
        return return_int64(
                wrapped_add(sprig_to_int64(arguments[0]), (int64_t) - (uint64_t)sprig_to_int64(arguments[1])), ret);
}

SPRIG(mul)
{
        uint64_t product = 1;

        for (size_t i = 0; i < n; i++)
                product *= (uint64_t)sprig_to_int64(arguments[i]);
        return return_int64((int64_t)product, ret);
}

SPRIG(div)
{
        int64_t a = sprig_to_int64(arguments[0]), b = sprig_to_int64(arguments[1]);

        if (b == 0)
                return gt_fail(c, "runtime error: integer divide by zero");
        return return_int64(b == -1 ? (int64_t) - (uint64_t)a : a / b, ret);
}

SPRIG(mod)
{
        int64_t a = sprig_to_int64(arguments[0]), b = sprig_to_int64(arguments[1]);

        if (b == 0)
                return gt_fail(c, "runtime error: integer divide by zero");
        return return_int64(b == -1 ? 0 : a % b, ret);
}

SPRIG(max)
{
        int64_t most = sprig_to_int64(arguments[0]);

        for (size_t i = 1; i < n; i++)
                most = MAX(most, sprig_to_int64(arguments[i]));
        return return_int64(most, ret);
}

SPRIG(min)
{
        int64_t least = sprig_to_int64(arguments[0]);

        for (size_t i = 1; i < n; i++)
                least = MIN(least, sprig_to_int64(arguments[i]));
        return return_int64(least, ret);
}

/* --- Doubles --- */

/* math.Max and math.Min: NaN wins, and +0 is greater than -0. */
SPRIG(maxf)
{
        double most = sprig_to_float64(arguments[0]);

        for (size_t i = 1; i < n; i++) {
                double d = sprig_to_float64(arguments[i]);

                if (isnan(d) || isnan(most))
                        most = isinf(d) == 1 || isinf(most) == 1 ? INFINITY : NAN;
                else if (d > most || (d == 0 && most == 0 && !signbit(d)))
                        most = d;
        }
        return return_float64(most, ret);
}

SPRIG(minf)
{
        double least = sprig_to_float64(arguments[0]);

        for (size_t i = 1; i < n; i++) {
                double d = sprig_to_float64(arguments[i]);

                if (isnan(d) || isnan(least))
                        least = isinf(d) == -1 || isinf(least) == -1 ? -INFINITY : NAN;
                else if (d < least || (d == 0 && least == 0 && signbit(d)))
                        least = d;
        }
        return return_float64(least, ret);
}

SPRIG(floor)
{
        return return_float64(floor(sprig_to_float64(arguments[0])), ret);
}

SPRIG(ceil)
{
        return return_float64(ceil(sprig_to_float64(arguments[0])), ret);
}

/* 10 to the power, by squaring as in Go's math.Pow, because libm's result may differ in the last bit. */
static double power_of_ten(int64_t power)
{
        double result = 1, square;
        int exponent = 0, square_exponent;

        if (power > 400 || power < -400)
                return power > 0 ? INFINITY : 0;
        square = frexp(10, &square_exponent);
        for (int64_t i = power < 0 ? -power : power; i != 0; i >>= 1) {
                if (i & 1) {
                        result *= square;
                        exponent += square_exponent;
                }
                square *= square;
                square_exponent *= 2;
                if (square < 0.5) {
                        square *= 2;
                        square_exponent--;
                }
        }
        return power < 0 ? ldexp(1 / result, -exponent) : ldexp(result, exponent);
}

/* Rounds up if the fraction reaches the threshold, else down. Negative numbers are rounded down unless the threshold is negative
 * too. */
SPRIG(round)
{
        double d = sprig_to_float64(arguments[0]), threshold = n > 2 ? arguments[2].number : 0.5;
        double scale = power_of_ten(arguments[1].integer), digits = scale * d, whole;
        double fraction = modf(digits, &whole);

        return return_float64((fraction >= threshold ? ceil(digits) : floor(digits)) / scale, ret);
}

/* --- Sequences --- */

/* The number of steps from start up to, but not including, stop; 0 if the step leads away from stop. */
static uint64_t count_steps(int64_t start, int64_t stop, int64_t step)
{
        uint64_t distance;

        if (step == 0 || (step > 0 ? start >= stop : start <= stop))
                return 0;
        distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
        return (distance - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
}

static int make_steps(struct gt_context *c, int64_t start, int64_t stop, int64_t step, struct gt_value *ret)
{
        uint64_t count = count_steps(start, stop, step);
        int r = gt_spend(c, count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_INTS, count);
        for (uint64_t i = 0; i < count; i++)
                gt_list_put(*ret, i, gt_int(start + (int64_t)i * step));
        return 0;
}

SPRIG(until)
{
        return make_steps(c, 0, arguments[0].integer, arguments[0].integer < 0 ? -1 : 1, ret);
}

SPRIG(until_step)
{
        return make_steps(c, arguments[0].integer, arguments[1].integer, arguments[2].integer, ret);
}

/* Appends the numbers from start to end, both included, as text; nothing if start equals end and the step is negative. */
static int append_sequence(struct gt_context *c, int64_t start, int64_t step, int64_t end, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        uint64_t count = 0;
        int r;

        if (step > 0 ? start <= end : step < 0 && start > end)
                count = (step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end) /
                                (step > 0 ? (uint64_t)step : -(uint64_t)step) +
                        1;
        r = gt_spend(c, count);
        if (r < 0)
                return r;
        for (uint64_t i = 0; i < count && !b.has_failed; i++) {
                if (i > 0)
                        buf_append_char(&b, ' ');
                buf_append_int(&b, (int64_t)((uint64_t)start + i * (uint64_t)step));
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(seq)
{
        int64_t start, end;

        switch (n) {
        case 1:
                end = arguments[0].integer;
                return append_sequence(c, 1, end < 1 ? -1 : 1, end, ret);
        case 2:
                start = arguments[0].integer;
                end = arguments[1].integer;
                return append_sequence(c, start, end < start ? -1 : 1, end, ret);
        case 3:
                return append_sequence(c, arguments[0].integer, arguments[1].integer, arguments[2].integer, ret);
        default:
                return sprig_return_text(STR(""), ret);
        }
}
