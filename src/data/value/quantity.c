#include "quantity.h"

#include "arena.h"
#include "buf.h"
#include "limits.h"
#include "number.h"

#include <math.h>

/* Quantities have at most nine decimals. */
#define DECIMALS 9
/* So many decimal digits always fit an int64. */
#define SMALL_DIGITS 18

static const struct suffix {
        struct str name;
        enum quantity_format format;
        int exponent; /* of ten, or of two for the binary ones */
} suffixes[] = {
        { STR_INIT("n"), QUANTITY_DECIMAL_SI, -9 }, { STR_INIT("u"), QUANTITY_DECIMAL_SI, -6 },
        { STR_INIT("m"), QUANTITY_DECIMAL_SI, -3 }, { STR_INIT(""), QUANTITY_DECIMAL_SI, 0 },
        { STR_INIT("k"), QUANTITY_DECIMAL_SI, 3 },  { STR_INIT("M"), QUANTITY_DECIMAL_SI, 6 },
        { STR_INIT("G"), QUANTITY_DECIMAL_SI, 9 },  { STR_INIT("T"), QUANTITY_DECIMAL_SI, 12 },
        { STR_INIT("P"), QUANTITY_DECIMAL_SI, 15 }, { STR_INIT("E"), QUANTITY_DECIMAL_SI, 18 },
        { STR_INIT("Ki"), QUANTITY_BINARY_SI, 10 }, { STR_INIT("Mi"), QUANTITY_BINARY_SI, 20 },
        { STR_INIT("Gi"), QUANTITY_BINARY_SI, 30 }, { STR_INIT("Ti"), QUANTITY_BINARY_SI, 40 },
        { STR_INIT("Pi"), QUANTITY_BINARY_SI, 50 }, { STR_INIT("Ei"), QUANTITY_BINARY_SI, 60 },
};

/* The parts of a text. */
struct parts {
        bool is_negative;
        struct str whole;    /* without leading zeros */
        struct str fraction; /* all of it */
        bool has_digits;
        enum quantity_format format;
        int exponent;
};

/* Digits times 10^exponent: a common form for both kinds of quantity. No zeros at either end. */
struct decimal {
        struct str digits;
        int64_t exponent;
        bool is_negative;
};

/* Reading */

static size_t count_digits(struct str s)
{
        size_t n = 0;

        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                n++;
        return n;
}

static struct str take(struct str *s, size_t n)
{
        struct str head = str_first(*s, n);

        *s = str_skip(*s, n);
        return head;
}

static struct str without_leading_zeros(struct str s)
{
        while (s.n > 0 && s.p[0] == '0')
                s = str_skip(s, 1);
        return s;
}

/* Takes the characters that may follow the number: letters, a sign, digits. */
static struct str take_suffix(struct str *s)
{
        size_t n = 0;

        while (n < s->n && memchr("eEinumkKMGTP", s->p[n], 12))
                n++;
        if (n < s->n && (s->p[n] == '+' || s->p[n] == '-'))
                n++;
        return take(s, n + count_digits(str_skip(*s, n)));
}

static int interpret_suffix(struct str suffix, struct parts *p, struct err *err)
{
        int64_t exponent;

        for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
                if (str_equal(suffixes[i].name, suffix)) {
                        p->format = suffixes[i].format;
                        p->exponent = suffixes[i].exponent;
                        return 0;
                }
        if (suffix.n < 2 || (suffix.p[0] != 'e' && suffix.p[0] != 'E') ||
            number_parse_int(str_skip(suffix, 1), &exponent, NULL) < 0 || exponent > LIMIT_QUANTITY_EXPONENT ||
            exponent < -LIMIT_QUANTITY_EXPONENT)
                return err_set(err, ERR_INVALID, "unable to parse quantity's suffix");
        p->format = QUANTITY_DECIMAL_EXPONENT;
        p->exponent = (int)exponent;
        return 0;
}

static int take_apart(struct str text, struct parts *ret, struct err *err)
{
        struct parts p = { .is_negative = str_starts_with(text, STR("-")) };
        struct str rest = text, suffix;

        if (rest.n > 0 && (rest.p[0] == '+' || rest.p[0] == '-'))
                rest = str_skip(rest, 1);
        p.whole = take(&rest, count_digits(rest));
        if (str_cut_prefix(&rest, STR(".")))
                p.fraction = take(&rest, count_digits(rest));
        p.has_digits = p.whole.n + p.fraction.n > 0;
        p.whole = without_leading_zeros(p.whole);
        suffix = take_suffix(&rest);
        if (text.n == 0 || rest.n > 0)
                return err_set(err, ERR_INVALID,
                               "quantities must match the regular expression "
                               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        *ret = p;
        return interpret_suffix(suffix, ret, err);
}

/* Small quantities */

static bool is_small(const struct parts *p)
{
        int64_t digits = (int64_t)MAX(p->whole.n, (size_t)1);

        if (p->format == QUANTITY_BINARY_SI)
                return p->fraction.n == 0 && digits <= 14 - p->exponent * 3 / 10;
        return digits + (int64_t)p->fraction.n <= SMALL_DIGITS && p->exponent - (int64_t)p->fraction.n >= -DECIMALS;
}

/* True if apimachinery keeps the text: it checks only the first and last digits. */
static bool keeps_text(const struct quantity *q, const struct parts *p)
{
        if (p->format == QUANTITY_BINARY_SI)
                return (q->number >> p->exponent) % 8 != 0;
        return p->whole.n > 0 && q->exponent % 3 == 0 && q->number % 1000 != 0;
}

static void make_small(struct arena *a, struct str text, const struct parts *p, struct quantity *ret)
{
        struct quantity q = { .format = p->format };

        for (size_t i = 0; i < p->whole.n; i++)
                q.number = q.number * 10 + (p->whole.p[i] - '0');
        for (size_t i = 0; i < p->fraction.n; i++)
                q.number = q.number * 10 + (p->fraction.p[i] - '0');
        if (p->format == QUANTITY_BINARY_SI)
                q.number <<= p->exponent;
        else
                q.exponent = p->exponent - (int)p->fraction.n;
        if (keeps_text(&q, p))
                q.as_read = arena_copy(a, text);
        if (p->is_negative)
                q.number = -q.number;
        *ret = q;
}

/* Large quantities */

/* A number being worked on: n digits, the most significant first, each 0 to 9. There is room for one more in front. */
struct digits {
        char *p;
        size_t n;
        int64_t exponent;
};

/* Room in front for the product with 2^60 (19 digits) and a carry. */
#define SPARE_DIGITS 20

static struct digits digits_of_parts(struct arena *a, const struct parts *p)
{
        char *room = arena_alloc(a, SPARE_DIGITS + p->whole.n + p->fraction.n);
        struct digits d = { room + SPARE_DIGITS, p->whole.n + p->fraction.n, -(int64_t)p->fraction.n };

        if (p->whole.n > 0)
                memcpy(d.p, p->whole.p, p->whole.n);
        if (p->fraction.n > 0)
                memcpy(d.p + p->whole.n, p->fraction.p, p->fraction.n);
        for (size_t i = 0; i < d.n; i++)
                d.p[i] -= '0';
        return d;
}

static void trim_digits(struct digits *d)
{
        while (d->n > 0 && d->p[0] == 0) {
                d->p++;
                d->n--;
        }
        while (d->n > 0 && d->p[d->n - 1] == 0) {
                d->n--;
                d->exponent++;
        }
}

/* Times 2^exponent, exponent <= 60: a digit's product and the carry stay below 2^64. */
static void shift_digits(struct digits *d, int exponent)
{
        uint64_t carry = 0;

        for (size_t i = d->n; i-- > 0;) {
                carry += (uint64_t)d->p[i] << exponent;
                d->p[i] = (char)(carry % 10);
                carry /= 10;
        }
        for (; carry > 0; carry /= 10) {
                *--d->p = (char)(carry % 10);
                d->n++;
        }
}

/* Rounds away from zero, to DECIMALS. The digits are trimmed, so the part that is cut off is never 0. */
static void round_digits(struct digits *d)
{
        int64_t excess = -DECIMALS - d->exponent;
        size_t i;

        if (d->n == 0 || excess <= 0)
                return;
        d->n = (uint64_t)excess < d->n ? d->n - (size_t)excess : 0;
        d->exponent = -DECIMALS;
        for (i = d->n; i > 0 && d->p[i - 1] == 9; i--)
                d->p[i - 1] = 0;
        if (i > 0) {
                d->p[i - 1]++;
        } else {
                *--d->p = 1;
                d->n++;
        }
        trim_digits(d);
}

static int compare_magnitudes(const struct decimal *a, const struct decimal *b)
{
        int64_t a_size = (int64_t)a->digits.n + a->exponent, b_size = (int64_t)b->digits.n + b->exponent;

        if (a->digits.n == 0 || b->digits.n == 0)
                return (a->digits.n > 0) - (b->digits.n > 0);
        if (a_size != b_size)
                return a_size < b_size ? -1 : 1;
        return str_compare(a->digits, b->digits);
}

static const struct decimal one = { STR_INIT("1"), 0, false };
static const struct decimal largest_int64 = { STR_INIT("9223372036854775807"), 0, false };

static void make_large(struct arena *a, const struct parts *p, struct quantity *ret)
{
        struct quantity q = { .format = p->format, .is_large = true };
        struct digits d = digits_of_parts(a, p);
        struct decimal value;

        if (p->format == QUANTITY_BINARY_SI)
                shift_digits(&d, p->exponent);
        else
                d.exponent += p->exponent;
        trim_digits(&d);
        round_digits(&d);
        for (size_t i = 0; i < d.n; i++)
                d.p[i] += '0';
        value = (struct decimal) { .digits = str_make(d.p, d.n), .exponent = d.exponent };
        if (p->format == QUANTITY_BINARY_SI && compare_magnitudes(&value, &largest_int64) > 0) {
                value = largest_int64;
                q.is_capped = true;
        }
        if (p->format == QUANTITY_BINARY_SI && d.n > 0 && compare_magnitudes(&value, &one) < 0)
                q.format = QUANTITY_DECIMAL_SI;
        q.digits = value.digits;
        q.exponent = value.exponent;
        q.is_negative = p->is_negative && d.n > 0;
        *ret = q;
}

int quantity_parse(struct arena *a, struct str text, struct quantity *ret, struct err *err)
{
        struct parts p;
        int r = take_apart(text, &p, err);

        if (r < 0)
                return r;
        if (is_small(&p)) {
                make_small(a, text, &p, ret);
                return 0;
        }
        if (!p.has_digits)
                return err_set(err, ERR_INVALID, "unable to parse numeric part of quantity");
        make_large(a, &p, ret);
        return 0;
}

/* Both forms alike */

/* room must live as long as the result: it holds the digits of a small quantity. */
static struct decimal decimal_of(const struct quantity *q, char room[20])
{
        struct decimal d = { q->digits, q->exponent, q->is_negative };
        uint64_t magnitude = q->number < 0 ? -(uint64_t)q->number : (uint64_t)q->number;
        size_t n = 0;

        if (q->is_large)
                return d;
        d.is_negative = q->number < 0;
        for (; magnitude > 0 && magnitude % 10 == 0; magnitude /= 10)
                d.exponent++;
        for (; magnitude > 0; magnitude /= 10)
                room[20 - ++n] = (char)('0' + magnitude % 10);
        d.digits = str_make(room + 20 - n, n);
        return d;
}

int quantity_compare(const struct quantity *a, const struct quantity *b)
{
        char a_room[20], b_room[20];
        struct decimal x = decimal_of(a, a_room), y = decimal_of(b, b_room);

        if (x.is_negative != y.is_negative)
                return x.is_negative ? -1 : 1;
        return x.is_negative ? compare_magnitudes(&y, &x) : compare_magnitudes(&x, &y);
}

/* Writing */

static struct str suffix_name(enum quantity_format format, int64_t exponent)
{
        for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
                if (suffixes[i].format == format && suffixes[i].exponent == exponent)
                        return suffixes[i].name;
        return STR("");
}

/* The fewest digits with an exponent that is a multiple of three. */
static void append_decimal(struct buf *b, const struct decimal *d, enum quantity_format format)
{
        int64_t zeros = (d->exponent % 3 + 3) % 3;
        int64_t exponent = d->exponent - zeros;

        buf_append_str(b, d->digits);
        buf_append_repeat(b, '0', (size_t)zeros);
        if (format != QUANTITY_DECIMAL_EXPONENT) {
                buf_append_str(b, suffix_name(QUANTITY_DECIMAL_SI, exponent));
        } else if (exponent != 0) {
                buf_append_char(b, 'e');
                buf_append_int(b, exponent);
        }
}

/* The magnitude of an integer that fits int64. All quantities with a binary suffix fit, because larger ones were capped. */
static uint64_t integer_of(const struct decimal *d)
{
        uint64_t u = 0;

        for (size_t i = 0; i < d->digits.n; i++)
                u = u * 10 + (uint64_t)(d->digits.p[i] - '0');
        for (int64_t i = 0; i < d->exponent; i++)
                u *= 10;
        return u;
}

static void append_binary(struct buf *b, const struct decimal *d)
{
        uint64_t u = integer_of(d);
        int exponent = 0;

        for (; u % 1024 == 0; u /= 1024)
                exponent += 10;
        buf_append_uint(b, u);
        buf_append_str(b, suffix_name(QUANTITY_BINARY_SI, exponent));
}

void quantity_append_canonical(struct buf *b, const struct quantity *q)
{
        static const struct decimal kibi = { STR_INIT("1024"), 0, false };
        char room[20];
        struct decimal d = decimal_of(q, room);

        if (d.digits.n == 0) {
                buf_append_char(b, '0');
                return;
        }
        if (d.is_negative)
                buf_append_char(b, '-');
        if (q->format == QUANTITY_BINARY_SI && d.exponent >= 0 && compare_magnitudes(&d, &kibi) >= 0)
                append_binary(b, &d);
        else
                append_decimal(b, &d, q->format);
}

void quantity_append(struct buf *b, const struct quantity *q)
{
        if (q->as_read.n > 0)
                buf_append_str(b, q->as_read);
        else
                quantity_append_canonical(b, q);
}

/* As a double */

/* 10^exponent as Go's math.Pow10 has it: the product of two correctly rounded powers. exponent >= -31. */
static double power_of_ten(int64_t exponent)
{
        static const double by_one[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                         1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                         1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31 };
        static const double by_32[] = { 1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288 };

        if (exponent < 0)
                return 1 / by_one[-exponent];
        if (exponent > 308)
                return INFINITY;
        return by_32[exponent / 32] * by_one[exponent % 32];
}

static double scaled(double d, int64_t exponent)
{
        return exponent == 0 ? d : d * power_of_ten(exponent);
}

/* digits * 10^exponent, correctly rounded. */
static double double_of_digits(struct str digits, int64_t exponent)
{
        _cleanup_buf_ struct buf text = BUF_INIT(SIZE_MAX);

        buf_append_str(&text, digits);
        buf_append_char(&text, 'e');
        buf_append_int(&text, exponent);
        return number_from_decimal(buf_str(&text));
}

double quantity_double(const struct quantity *q)
{
        double d;

        if (!q->is_large)
                return scaled((double)q->number, q->exponent);
        if (q->digits.n == 0)
                return q->exponent > 308 ? NAN : 0;
        if (q->is_capped)
                d = double_of_digits(q->digits, q->exponent);
        else
                d = scaled(double_of_digits(q->digits, q->exponent + DECIMALS), -DECIMALS);
        return q->is_negative ? -d : d;
}

int quantity_to_double(struct str text, double *ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct quantity q;
        int r;

        arena_init(&a, "quantity", 0);
        r = quantity_parse(&a, text, &q, err);
        if (r < 0)
                return r;
        *ret = quantity_double(&q);
        return 0;
}

/* As integers, as apimachinery computes them, wrap-around included */

/* number * 10^shift for shift >= 0. Powers that have a shortcut in apimachinery wrap around; the others give 0 on overflow. */
static int64_t multiplied(int64_t number, int64_t shift)
{
        bool wraps = shift <= 3 || shift == 6 || shift == 9;
        int64_t product = number;

        for (int64_t i = 0; i < shift && product != 0; i++)
                if (__builtin_mul_overflow(product, 10, &product) && !wraps)
                        return 0;
        return product;
}

/* number / 10^shift for shift > 0, away from zero. */
static int64_t divided(int64_t number, int64_t shift)
{
        int64_t remainder = 0;

        for (; shift > 0; shift--) {
                remainder |= number % 10;
                number /= 10;
        }
        return remainder == 0 ? number : number + (remainder < 0 ? -1 : 1);
}

/* The lowest 64 bits of digits * 10^shift. */
static uint64_t low_bits(struct str digits, int64_t shift)
{
        uint64_t bits = 0;

        for (size_t i = 0; i < digits.n; i++)
                bits = bits * 10 + (uint64_t)(digits.p[i] - '0');
        for (; shift > 0 && bits != 0; shift--)
                bits *= 10;
        return bits;
}

/* value * 10^decimals of a large quantity, computed from its billionths. A negative value is truncated to 64 bits before the
 * division, and then 1 is added for a remainder, for either sign. */
static int64_t large_scaled(const struct quantity *q, int decimals)
{
        struct decimal billionths = { q->digits, q->exponent + DECIMALS, false };
        int64_t shift = q->exponent + decimals, divisor = decimals == 0 ? 1000000000 : 1000000, bits;

        if (!q->is_negative && compare_magnitudes(&billionths, &largest_int64) >= 0) {
                if (shift >= 0)
                        return (int64_t)low_bits(q->digits, shift);
                return (int64_t)(low_bits(str_first(q->digits, q->digits.n - (size_t)-shift), 0) + 1);
        }
        bits = (int64_t)low_bits(q->digits, billionths.exponent);
        if (q->is_negative)
                bits = (int64_t) - (uint64_t)bits;
        return bits / divisor + (bits % divisor != 0);
}

/* value * 10^decimals; decimals is 0 or 3. */
static int64_t scaled_value(const struct quantity *q, int decimals)
{
        int64_t shift = q->exponent + decimals;

        if (!q->is_large)
                return shift >= 0 ? multiplied(q->number, shift) : divided(q->number, -shift);
        if (q->is_capped) {
                uint64_t bits = low_bits(q->digits, decimals);

                return (int64_t)(q->is_negative ? -bits : bits);
        }
        return large_scaled(q, decimals);
}

int64_t quantity_value(const struct quantity *q)
{
        return scaled_value(q, 0);
}

int64_t quantity_milli_value(const struct quantity *q)
{
        return scaled_value(q, 3);
}
