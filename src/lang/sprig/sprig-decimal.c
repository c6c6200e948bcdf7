/* Decimal arithmetic, so that 0.1 + 0.2 is 0.3. Operands are doubles, which have at most 17 digits and a power of ten. Results
 * have as many digits as needed, except quotients, which have 16 digits after the point. */
#include "sprig.h"

#include "number.h"

#include <math.h>

#define DIVISION_DIGITS 16

/* digits times 10^exponent; digits are values 0..9, most significant first, without leading zeros. No digits: zero. */
struct decimal {
        bool is_negative;
        uint8_t *digits;
        size_t n;
        int64_t exponent;
};

/* --- Reading and writing --- */

/* The shortest digits of the double. */
static int decimal_of(struct gt_context *c, double d, struct decimal *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(64);
        struct str text, digits;
        int64_t exponent = 0;

        if (isnan(d))
                return gt_fail(c, "Cannot create a Decimal from NaN");
        if (isinf(d))
                return gt_fail(c, "Cannot create a Decimal from %cInf", d < 0 ? '-' : '+');
        *ret = (struct decimal) { .is_negative = d < 0 };
        if (d == 0)
                return 0;
        number_append_go(&b, fabs(d), 'e', -1);
        text = buf_str(&b);
        str_split(&text, 'e', &digits);
        number_parse_int(text, &exponent, NULL);
        ret->digits = arena_alloc(c->arena, digits.n);
        for (size_t i = 0; i < digits.n; i++)
                if (digits.p[i] != '.')
                        ret->digits[ret->n++] = (uint8_t)(digits.p[i] - '0');
        ret->exponent = exponent - ((int64_t)ret->n - 1);
        return 0;
}

static double double_of(const struct decimal *d)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        double number = 0;

        if (d->n == 0)
                return 0;
        if (d->is_negative)
                buf_append_char(&b, '-');
        for (size_t i = 0; i < d->n; i++)
                buf_append_char(&b, (char)('0' + d->digits[i]));
        buf_appendf(&b, "e%lld", (long long)d->exponent);
        number_parse_double(buf_str(&b), &number, NULL);
        return number;
}

static void drop_zeros(struct decimal *d)
{
        while (d->n > 0 && d->digits[0] == 0) {
                d->digits++;
                d->n--;
        }
}

/* --- Addition --- */

/* The same value with the smaller exponent and n digits. */
static struct decimal aligned(struct gt_context *c, const struct decimal *d, int64_t exponent, size_t n)
{
        struct decimal a = { .is_negative = d->is_negative, .n = n, .exponent = exponent };
        size_t n_behind = d->n ? (size_t)(d->exponent - exponent) : 0;

        a.digits = arena_zalloc(c->arena, n);
        if (d->n)
                memcpy(a.digits + n - n_behind - d->n, d->digits, d->n);
        return a;
}

static void add_digits(struct decimal *a, const struct decimal *b)
{
        unsigned carry = 0;

        for (size_t i = a->n; i-- > 0;) {
                unsigned sum = a->digits[i] + b->digits[i] + carry;

                a->digits[i] = (uint8_t)(sum % 10);
                carry = sum / 10;
        }
}

/* a must be the larger number. */
static void subtract_digits(struct decimal *a, const struct decimal *b)
{
        int borrow = 0;

        for (size_t i = a->n; i-- > 0;) {
                int difference = a->digits[i] - b->digits[i] - borrow;

                borrow = difference < 0;
                a->digits[i] = (uint8_t)(difference + 10 * borrow);
        }
}

static int decimal_add(struct gt_context *c, struct decimal a, struct decimal b, struct decimal *ret)
{
        int64_t exponent = a.n && b.n ? MIN(a.exponent, b.exponent) : a.n ? a.exponent : b.exponent;
        size_t n_a = a.n ? a.n + (size_t)(a.exponent - exponent) : 0,
               n_b = b.n ? b.n + (size_t)(b.exponent - exponent) : 0;
        size_t n = MAX(n_a, n_b) + 1;
        int r = gt_spend(c, n / 64 + 1);

        if (r < 0)
                return r;
        a = aligned(c, &a, exponent, n);
        b = aligned(c, &b, exponent, n);
        if (a.is_negative == b.is_negative) {
                add_digits(&a, &b);
        } else if (memcmp(a.digits, b.digits, n) >= 0) {
                subtract_digits(&a, &b);
        } else {
                subtract_digits(&b, &a);
                a = b;
        }
        drop_zeros(&a);
        *ret = a;
        return 0;
}

/* --- Multiplication and division by the digits of a double --- */

static uint64_t small_number(const struct decimal *d)
{
        uint64_t number = 0;

        for (size_t i = 0; i < d->n; i++)
                number = number * 10 + d->digits[i];
        return number;
}

static int decimal_multiply(struct gt_context *c, struct decimal a, struct decimal b, struct decimal *ret)
{
        uint64_t factor = small_number(&b), carry = 0;
        struct decimal p = { .is_negative = a.is_negative != b.is_negative,
                             .n = a.n + b.n,
                             .exponent = a.exponent + b.exponent };
        int r = gt_spend(c, p.n / 64 + 1);

        if (r < 0)
                return r;
        if (a.n == 0 || b.n == 0) {
                *ret = (struct decimal) { 0 };
                return 0;
        }
        p.digits = arena_zalloc(c->arena, p.n);
        for (size_t i = p.n; i-- > 0;) {
                if (i >= b.n)
                        carry += a.digits[i - b.n] * factor;
                p.digits[i] = (uint8_t)(carry % 10);
                carry /= 10;
        }
        drop_zeros(&p);
        *ret = p;
        return 0;
}

static void add_one(struct decimal *d)
{
        size_t i = d->n;

        while (i-- > 0 && d->digits[i] == 9)
                d->digits[i] = 0;
        d->digits[i]++; /* the first digit is 0 */
}

/* The quotient with 16 digits after the point, rounded half away from zero. */
static int decimal_divide(struct gt_context *c, struct decimal a, struct decimal b, struct decimal *ret)
{
        uint64_t divisor = small_number(&b), rest = 0;
        int64_t shift = a.exponent - b.exponent + DIVISION_DIGITS; /* zeros to add; negative: digits to drop */
        size_t n_kept = shift >= 0 ? a.n + (size_t)shift : a.n > (size_t)-shift ? a.n - (size_t)-shift : 0;
        struct decimal q = { .is_negative = a.is_negative != b.is_negative,
                             .n = n_kept + 1,
                             .exponent = -DIVISION_DIGITS };
        int r;

        if (b.n == 0)
                return gt_fail(c, "decimal division by 0");
        *ret = (struct decimal) { 0 };
        r = gt_spend(c, q.n / 64 + 1);
        if (r < 0 || a.n == 0)
                return r;
        q.digits = arena_zalloc(c->arena, q.n);
        for (size_t i = 0; i < n_kept; i++) {
                rest = rest * 10 + (i < a.n ? a.digits[i] : 0);
                q.digits[i + 1] = (uint8_t)(rest / divisor);
                rest %= divisor;
        }
        /* Rounds up if twice the remainder is at least the divisor; if digits of a were dropped, the first of them counts too. */
        if (shift < 0 && (size_t)-shift <= a.n)
                rest = 2 * rest + (a.digits[n_kept] >= 5) >= divisor ? divisor : 0;
        else if (shift < 0)
                rest = 0;
        if (rest >= divisor - rest)
                add_one(&q);
        drop_zeros(&q);
        *ret = q;
        return 0;
}

/* --- Functions --- */

typedef int operation(struct gt_context *c, struct decimal a, struct decimal b, struct decimal *ret);

static int subtract(struct gt_context *c, struct decimal a, struct decimal b, struct decimal *ret)
{
        b.is_negative = !b.is_negative;
        return decimal_add(c, a, b, ret);
}

/* Applies the operation to the operands one after the other, beginning with the first. */
static int fold(struct gt_context *c, const struct gt_value *arguments, size_t n, operation *operate,
                struct gt_value *ret)
{
        struct decimal result = { 0 }, operand;
        int r = n ? decimal_of(c, sprig_to_float64(arguments[0]), &result) : 0;

        for (size_t i = 1; i < n && r == 0; i++) {
                r = decimal_of(c, sprig_to_float64(arguments[i]), &operand);
                if (r == 0)
                        r = operate(c, result, operand, &result);
        }
        *ret = gt_float64(double_of(&result));
        return r;
}

SPRIG(addf)
{
        return fold(c, arguments, n, decimal_add, ret);
}

SPRIG(add1f)
{
        struct gt_value both[] = { arguments[0], gt_float64(1) };

        return fold(c, both, 2, decimal_add, ret);
}

SPRIG(subf)
{
        return fold(c, arguments, n, subtract, ret);
}

SPRIG(mulf)
{
        return fold(c, arguments, n, decimal_multiply, ret);
}

SPRIG(divf)
{
        return fold(c, arguments, n, decimal_divide, ret);
}
