/* Converts values to wire scalars, by protobuf's JSON mapping: numbers may be given as text, enums by name or number, bytes as
 * base64. */
#include "proto-encoder.h"

#include "base64.h"
#include "number.h"

#include <math.h>

/* The bits that Go's NaN has. */
#define NAN_BITS       0x7FF8000000000001u
#define NAN_FLOAT_BITS 0x7FC00000u

static size_t count_digits(struct str s)
{
        size_t n = 0;

        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                n++;
        return n;
}

/* The parts of a JSON number. */
struct decimal {
        bool is_negative;
        struct str whole;
        struct str fraction;
        int64_t exponent; /* clamped to a range that is far larger than needed */
};

static bool read_exponent(struct str *s, int64_t *ret)
{
        bool is_negative = str_cut_prefix(s, STR("-"));
        size_t n;

        if (!is_negative)
                str_cut_prefix(s, STR("+"));
        n = count_digits(*s);
        *ret = 0;
        for (size_t i = 0; i < n && *ret < INT32_MAX; i++)
                *ret = *ret * 10 + (s->p[i] - '0');
        if (is_negative)
                *ret = -*ret;
        *s = str_skip(*s, n);
        return n > 0;
}

/* True if the whole text is a number by JSON's grammar. */
static bool read_decimal(struct str s, struct decimal *ret)
{
        *ret = (struct decimal) { .is_negative = str_cut_prefix(&s, STR("-")) };
        ret->whole = str_first(s, count_digits(s));
        if (ret->whole.n == 0 || (ret->whole.n > 1 && ret->whole.p[0] == '0'))
                return false;
        s = str_skip(s, ret->whole.n);
        if (str_cut_prefix(&s, STR("."))) {
                ret->fraction = str_first(s, count_digits(s));
                if (ret->fraction.n == 0)
                        return false;
                s = str_skip(s, ret->fraction.n);
        }
        if ((str_cut_prefix(&s, STR("e")) || str_cut_prefix(&s, STR("E"))) && !read_exponent(&s, &ret->exponent))
                return false;
        return s.n == 0;
}

/* Appends the digits to the number; false when it no longer fits. */
static bool append_digits(uint64_t *number, struct str digits)
{
        for (size_t i = 0; i < digits.n; i++)
                if (__builtin_mul_overflow(*number, 10, number) ||
                    __builtin_add_overflow(*number, (uint64_t)(digits.p[i] - '0'), number))
                        return false;
        return true;
}

static struct str without_trailing_zeros(struct str digits)
{
        while (digits.n && digits.p[digits.n - 1] == '0')
                digits.n--;
        return digits;
}

/* The absolute value of an integral decimal, exactly; false when it is not integral or does not fit 64 bits. */
static bool decimal_to_integer(const struct decimal *d, uint64_t *ret)
{
        struct str whole = d->whole, fraction = without_trailing_zeros(d->fraction);
        int64_t zeros;

        *ret = 0;
        if (fraction.n == 0)
                whole = without_trailing_zeros(whole);
        if (whole.n + fraction.n == 0)
                return true;
        zeros = d->exponent - (int64_t)fraction.n + (fraction.n ? 0 : (int64_t)(d->whole.n - whole.n));
        if (zeros < 0 || zeros > 20 || !append_digits(ret, whole) || !append_digits(ret, fraction))
                return false;
        while (zeros-- > 0)
                if (__builtin_mul_overflow(*ret, 10, ret))
                        return false;
        return true;
}

/* An integer as sign and absolute value, from any form that the value may have. */
static bool read_integer(const struct value *v, bool *ret_is_negative, uint64_t *ret)
{
        struct decimal d;

        if (value_is_int(v)) {
                *ret_is_negative = v->integer < 0;
                *ret = *ret_is_negative ? -(uint64_t)v->integer : (uint64_t)v->integer;
                return true;
        }
        if (value_is_double(v)) {
                *ret_is_negative = v->number < 0;
                if (!(fabs(v->number) < 0x1p64) || v->number != trunc(v->number))
                        return false;
                *ret = (uint64_t)fabs(v->number);
                return true;
        }
        if (!value_is_string(v) || !read_decimal(value_str(v), &d))
                return false;
        *ret_is_negative = d.is_negative;
        return decimal_to_integer(&d, ret);
}

static int signed_of(struct encoder *e, const struct value *v, int bits, int64_t *ret)
{
        uint64_t n, most = (uint64_t)1 << (bits - 1);
        bool is_negative;

        if (!read_integer(v, &is_negative, &n) || n > most - !is_negative)
                return err_set(e->err, ERR_INVALID, "wanted an integer of %d bits", bits);
        *ret = (int64_t)(is_negative ? -n : n);
        return 0;
}

static int unsigned_of(struct encoder *e, const struct value *v, int bits, uint64_t *ret)
{
        bool is_negative;

        if (!read_integer(v, &is_negative, ret) || (is_negative && *ret) || (bits < 64 && *ret >> bits))
                return err_set(e->err, ERR_INVALID, "wanted an unsigned integer of %d bits", bits);
        return 0;
}

static int double_of(struct encoder *e, const struct value *v, double *ret)
{
        struct str text = value_str(v);
        struct decimal d;

        if (value_is_number(v))
                *ret = value_double(v, 0);
        else if (!value_is_string(v))
                return proto_encode_fail_type(e, "a number", v);
        else if (str_equal(text, STR("NaN")))
                *ret = NAN;
        else if (str_equal(text, STR("Infinity")))
                *ret = INFINITY;
        else if (str_equal(text, STR("-Infinity")))
                *ret = -INFINITY;
        else if (!read_decimal(text, &d) || number_parse_double(text, ret, NULL) < 0)
                return proto_encode_fail(e, "wanted a number");
        return 0;
}

static int float_bits_of(struct encoder *e, const struct value *v, uint64_t *ret)
{
        uint32_t bits;
        double wide;
        float number;
        int r = double_of(e, v, &wide);

        if (r < 0)
                return r;
        /* From half a step above the largest float on, rounding gives infinity. */
        if (isfinite(wide) && fabs(wide) >= 0x1.ffffffp127)
                return proto_encode_fail(e, "the number is out of the range of float");
        number = (float)wide;
        memcpy(&bits, &number, sizeof(bits));
        *ret = isnan(wide) ? NAN_FLOAT_BITS : bits;
        return 0;
}

static int double_bits_of(struct encoder *e, const struct value *v, uint64_t *ret)
{
        double number;
        int r = double_of(e, v, &number);

        if (r < 0)
                return r;
        if (isnan(number))
                *ret = NAN_BITS;
        else
                memcpy(ret, &number, sizeof(*ret));
        return 0;
}

static int enum_of(struct encoder *e, const struct proto_enum *enumeration, const struct value *v, uint64_t *ret)
{
        int64_t number;
        int r;

        if (value_is_string(v)) {
                for (size_t i = 0; i < enumeration->n_values; i++) {
                        if (str_equal(enumeration->values[i].name, value_str(v))) {
                                *ret = (uint64_t)(int64_t)enumeration->values[i].number;
                                return 0;
                        }
                }
                return err_set(e->err, ERR_INVALID, "%.*s has no value \"%.*s\"", STR_ARG(enumeration->name),
                               STR_ARG(str_first(value_str(v), 100)));
        }
        r = signed_of(e, v, 32, &number);
        *ret = r < 0 ? 0 : (uint64_t)number;
        return r;
}

int proto_bytes_of(struct encoder *e, const struct value *v, struct str *ret)
{
        int r;

        if (!value_is_string(v))
                return proto_encode_fail_type(e, "base64 text", v);
        buf_clear(&e->scratch);
        r = base64_decode_any(&e->scratch, value_str(v), e->err);
        *ret = buf_str(&e->scratch);
        return r;
}

static int text_of(struct encoder *e, const struct value *v, struct str *ret)
{
        if (!value_is_string(v))
                return proto_encode_fail_type(e, "a string", v);
        *ret = value_str(v);
        return proto_text_is_valid(ret->p, ret->n) ? 0 : proto_encode_fail(e, "a string is not valid UTF-8");
}

int proto_scalar_of(struct encoder *e, const struct proto_field *f, const struct value *v, uint64_t *ret_scalar,
                    struct str *ret_bytes)
{
        int64_t number = 0;
        int r = 0;

        switch ((enum proto_type)f->type) {
        case PROTO_DOUBLE:
                return double_bits_of(e, v, ret_scalar);
        case PROTO_FLOAT:
                return float_bits_of(e, v, ret_scalar);
        case PROTO_INT64:
        case PROTO_SFIXED64:
                r = signed_of(e, v, 64, &number);
                break;
        case PROTO_INT32:
                r = signed_of(e, v, 32, &number);
                break;
        case PROTO_SFIXED32:
                r = signed_of(e, v, 32, &number);
                number = (uint32_t)number;
                break;
        case PROTO_SINT64:
                r = signed_of(e, v, 64, &number);
                number = (int64_t)proto_zigzag(number);
                break;
        case PROTO_SINT32:
                r = signed_of(e, v, 32, &number);
                number = (int64_t)proto_zigzag(number);
                break;
        case PROTO_UINT64:
        case PROTO_FIXED64:
                return unsigned_of(e, v, 64, ret_scalar);
        case PROTO_UINT32:
        case PROTO_FIXED32:
                return unsigned_of(e, v, 32, ret_scalar);
        case PROTO_BOOL:
                if (!value_is_bool(v))
                        return proto_encode_fail_type(e, "a bool", v);
                *ret_scalar = v->boolean;
                return 0;
        case PROTO_STRING:
                return text_of(e, v, ret_bytes);
        case PROTO_BYTES:
                return proto_bytes_of(e, v, ret_bytes);
        case PROTO_ENUM:
                return enum_of(e, f->enumeration, v, ret_scalar);
        case PROTO_MESSAGE:
                break;
        }
        *ret_scalar = (uint64_t)number;
        return r;
}
