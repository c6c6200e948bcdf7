/* Operands of fmt.Sprintf: one value under one verb. All output goes straight to the buffer, which stops at its maximum; loops
 * check that. */
#include "go-print.h"

#include "ascii.h"
#include "gotext.h"
#include "limits.h"
#include "number.h"
#include "utf8.h"

#include <math.h>

/* No double has more decimal digits than this before or after the point: all further digits are zeros. */
#define DOUBLE_DIGITS 1100

static void print_value(struct go_printer *p, const struct value *v, uint32_t verb, unsigned depth);

void go_append_rune(struct buf *b, uint32_t rune)
{
        char bytes[4];

        buf_append(b, bytes, utf8_encode(rune, bytes));
}

/* Padding */

static size_t padding_for(const struct go_printer *p, size_t n_runes)
{
        return p->has_width && p->width > n_runes ? p->width - n_runes : 0;
}

static void append_padding(struct go_printer *p, size_t n)
{
        buf_append_repeat(p->out, p->has_zero && !p->has_minus ? '0' : ' ', n);
}

static void append_padded(struct go_printer *p, struct str s)
{
        size_t padding = p->has_width ? padding_for(p, utf8_count(s)) : 0;

        if (!p->has_minus)
                append_padding(p, padding);
        buf_append_str(p->out, s);
        if (p->has_minus)
                append_padding(p, padding);
}

/* The contents of the scratch buffer. Text that does not fit there does not fit the result either. */
static struct str scratch_text(struct go_printer *p)
{
        if (p->scratch.has_failed)
                p->out->has_failed = true;
        return buf_str(&p->scratch);
}

static void append_padded_scratch(struct go_printer *p)
{
        append_padded(p, scratch_text(p));
        buf_clear(&p->scratch);
}

/* Verbs that do not fit */

void go_print_with_type(struct go_printer *p, const struct value *v)
{
        buf_append_str(p->out, p->type_name.n > 0 ? p->type_name : go_type_name(v));
        if (!v || value_is_null(v))
                return;
        buf_append_char(p->out, '=');
        print_value(p, v, 'v', 0);
}

static void append_bad_verb(struct go_printer *p, const struct value *v, uint32_t verb)
{
        buf_append_literal(p->out, "%!");
        go_append_rune(p->out, verb);
        buf_append_char(p->out, '(');
        go_print_with_type(p, v);
        buf_append_char(p->out, ')');
}

/* Strings */

/* The precision's number of runes, if there is one. */
static struct str truncated(const struct go_printer *p, struct str s)
{
        size_t n = 0, width;

        if (!p->has_precision || p->precision >= s.n)
                return s;
        for (size_t runes = 0; runes < p->precision && n < s.n; runes++, n += width)
                utf8_decode(str_skip(s, n), &width);
        return str_first(s, n);
}

static void print_quoted(struct go_printer *p, struct str s)
{
        s = truncated(p, s);
        if (p->has_sharp && go_can_backquote(s)) {
                buf_append_char(&p->scratch, '`');
                buf_append_str(&p->scratch, s);
                buf_append_char(&p->scratch, '`');
        } else if (p->has_plus) {
                go_append_quoted_ascii(&p->scratch, s);
        } else {
                go_append_quoted(&p->scratch, s);
        }
        append_padded_scratch(p);
}

static void append_hex_bytes(struct go_printer *p, struct str s, char x)
{
        const char *digits = x == 'x' ? ASCII_HEX_LOWER : ASCII_HEX_UPPER;

        for (size_t i = 0; i < s.n && !p->out->has_failed; i++) {
                if (p->has_space && i > 0)
                        buf_append_char(p->out, ' ');
                if (p->has_sharp && (p->has_space || i == 0)) {
                        buf_append_char(p->out, '0');
                        buf_append_char(p->out, x);
                }
                buf_append_char(p->out, digits[(unsigned char)s.p[i] >> 4]);
                buf_append_char(p->out, digits[s.p[i] & 15]);
        }
}

static void print_hex_bytes(struct go_printer *p, struct str s, char x)
{
        size_t n, padding;

        if (p->has_precision)
                s = str_first(s, p->precision);
        n = 2 * s.n;
        if (p->has_sharp && s.n > 0)
                n += p->has_space ? 2 * s.n : 2;
        if (p->has_space && s.n > 0)
                n += s.n - 1;
        padding = padding_for(p, n);
        if (!p->has_minus)
                append_padding(p, padding);
        append_hex_bytes(p, s, x);
        if (p->has_minus)
                append_padding(p, padding);
}

static void print_string(struct go_printer *p, const struct value *v, uint32_t verb)
{
        struct str s = value_str(v);

        switch (verb) {
        case 'v':
                if (p->is_go_syntax)
                        print_quoted(p, s);
                else
                        append_padded(p, truncated(p, s));
                return;
        case 's':
                append_padded(p, truncated(p, s));
                return;
        case 'q':
                print_quoted(p, s);
                return;
        case 'x':
        case 'X':
                print_hex_bytes(p, s, (char)verb);
                return;
        default:
                append_bad_verb(p, v, verb);
        }
}

/* Integers */

struct digits {
        char text[64]; /* at the end */
        size_t n;
};

static struct digits digits_of(uint64_t u, unsigned base, bool is_upper)
{
        const char *alphabet = is_upper ? ASCII_HEX_UPPER : ASCII_HEX_LOWER;
        struct digits d = { .n = 0 };

        do {
                d.text[sizeof(d.text) - ++d.n] = alphabet[u % base];
                u /= base;
        } while (u > 0);
        return d;
}

static void append_digits(struct buf *b, const struct digits *d, size_t zeros)
{
        buf_append_repeat(b, '0', zeros);
        buf_append(b, d->text + sizeof(d->text) - d->n, d->n);
}

static char sign_of(const struct go_printer *p, bool is_negative)
{
        if (is_negative)
                return '-';
        if (p->has_plus)
                return '+';
        return p->has_space ? ' ' : 0;
}

/* The minimum number of digits: the precision, or with a zero flag the width that is left for digits. */
static size_t minimum_digits(const struct go_printer *p, bool has_sign)
{
        if (p->has_precision)
                return p->precision;
        if (!p->has_zero || p->has_minus || !p->has_width)
                return 0;
        return has_sign && p->width > 0 ? p->width - 1 : p->width;
}

/* The prefix between sign and digits. */
static struct str prefix_of(const struct go_printer *p, uint32_t verb, bool starts_with_zero)
{
        switch (verb) {
        case 'b':
                return p->has_sharp ? STR("0b") : STR("");
        case 'o':
                return p->has_sharp && !starts_with_zero ? STR("0") : STR("");
        case 'O':
                return p->has_sharp && !starts_with_zero ? STR("0o0") : STR("0o");
        case 'x':
                return p->has_sharp ? STR("0x") : STR("");
        case 'X':
                return p->has_sharp ? STR("0X") : STR("");
        default:
                return STR("");
        }
}

static void print_magnitude(struct go_printer *p, uint64_t u, bool is_negative, unsigned base, uint32_t verb)
{
        struct digits d = digits_of(u, base, verb == 'X');
        char sign = sign_of(p, is_negative);
        size_t wanted = minimum_digits(p, sign), zeros, padding;
        struct str prefix;

        if (u == 0 && p->has_precision && p->precision == 0) {
                buf_append_repeat(p->out, ' ', padding_for(p, 0));
                return;
        }
        zeros = wanted > d.n ? wanted - d.n : 0;
        prefix = prefix_of(p, verb, zeros > 0 || u == 0);
        padding = padding_for(p, (sign != 0) + prefix.n + zeros + d.n);
        if (!p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
        if (sign)
                buf_append_char(p->out, sign);
        buf_append_str(p->out, prefix);
        append_digits(p->out, &d, zeros);
        if (p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
}

static void print_digits(struct go_printer *p, int64_t i, unsigned base, uint32_t verb)
{
        print_magnitude(p, i < 0 ? -(uint64_t)i : (uint64_t)i, i < 0, base, verb);
}

static uint32_t rune_of(int64_t i)
{
        return i < 0 || i > RUNE_MAX ? RUNE_ERROR : (uint32_t)i;
}

/* %U: U+0041, with # also the character. */
static void print_code_point(struct go_printer *p, int64_t i)
{
        struct digits d = digits_of((uint64_t)i, 16, true);
        size_t wanted = p->has_precision && p->precision > 4 ? p->precision : 4;
        size_t zeros = wanted > d.n ? wanted - d.n : 0;
        bool has_character = p->has_sharp && i >= 0 && i <= RUNE_MAX && go_is_printable((uint32_t)i);
        size_t padding = padding_for(p, 2 + zeros + d.n + (has_character ? 4 : 0));

        if (!p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
        buf_append_literal(p->out, "U+");
        append_digits(p->out, &d, zeros);
        if (has_character) {
                buf_append_literal(p->out, " '");
                go_append_rune(p->out, (uint32_t)i);
                buf_append_char(p->out, '\'');
        }
        if (p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
}

static void print_int(struct go_printer *p, const struct value *v, uint32_t verb)
{
        switch (verb) {
        case 'v':
        case 'd':
                print_digits(p, v->integer, 10, verb);
                return;
        case 'b':
                print_digits(p, v->integer, 2, verb);
                return;
        case 'o':
        case 'O':
                print_digits(p, v->integer, 8, verb);
                return;
        case 'x':
        case 'X':
                print_digits(p, v->integer, 16, verb);
                return;
        case 'c':
                go_append_rune(&p->scratch, rune_of(v->integer));
                append_padded_scratch(p);
                return;
        case 'q':
                go_append_quoted_rune(&p->scratch, rune_of(v->integer), p->has_plus);
                append_padded_scratch(p);
                return;
        case 'U':
                print_code_point(p, v->integer);
                return;
        default:
                append_bad_verb(p, v, verb);
        }
}

void go_print_unsigned(struct go_printer *p, uint64_t u, uint32_t verb)
{
        struct value v = value_of_int((int64_t)u);

        if (verb == 'v' && p->is_go_syntax) {
                p->has_sharp = true;
                print_magnitude(p, u, false, 16, 'x');
                p->has_sharp = false;
        } else if (u <= INT64_MAX) {
                print_int(p, &v, verb);
        } else if (verb == 'v' || verb == 'd') {
                print_magnitude(p, u, false, 10, verb);
        } else {
                print_magnitude(p, u, false, verb == 'b' ? 2 : verb == 'o' || verb == 'O' ? 8 : 16, verb);
        }
}

/* Doubles */

/* A finite, unsigned number as text, split where zeros may be inserted. */
struct decimal {
        struct str mantissa;
        struct str exponent;
        bool needs_point;
        size_t zeros;
};

static bool keeps_zeros(char format)
{
        return format != 'g' && format != 'G' && format != 'b';
}

/* The number of digits from the first that is not 0. The x of a hexadecimal number counts as a digit, as in Go; so does a single
 * 0. */
static size_t significant_digits(struct str mantissa)
{
        size_t n = 0;

        for (size_t i = 0; i < mantissa.n; i++)
                if (mantissa.p[i] != '.' && (n > 0 || mantissa.p[i] != '0'))
                        n++;
        return str_equal(mantissa, STR("0")) ? 1 : n;
}

/* The sharp flag: always a point and, for some formats, zeros up to the precision. Format X gets no zeros, as in Go. */
static void apply_sharp(const struct go_printer *p, char format, struct decimal *d)
{
        bool adds_zeros = format == 'g' || format == 'G' || format == 'x';
        size_t wanted = p->has_precision ? p->precision : 6;
        size_t have = significant_digits(d->mantissa) + d->zeros;

        d->needs_point = str_find_char(d->mantissa, '.') < 0;
        if (adds_zeros && wanted > have)
                d->zeros += wanted - have;
}

static struct decimal split_decimal(const struct go_printer *p, struct str text, char format, size_t missing_zeros)
{
        struct decimal d = { .mantissa = text, .zeros = missing_zeros };
        const char *marks = format == 'x' || format == 'X' || format == 'b' ? "pP" : "eE";

        for (size_t i = 0; i < text.n; i++)
                if (text.p[i] == marks[0] || text.p[i] == marks[1]) {
                        d.mantissa = str_first(text, i);
                        d.exponent = str_skip(text, i);
                        break;
                }
        if (p->has_sharp && format != 'b')
                apply_sharp(p, format, &d);
        return d;
}

static void append_decimal(struct go_printer *p, char sign, const struct decimal *d)
{
        size_t n = (sign != 0) + d->mantissa.n + d->needs_point + d->zeros + d->exponent.n;
        size_t padding = padding_for(p, n);
        bool has_leading_zeros = p->has_zero && !p->has_minus;

        if (!has_leading_zeros && !p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
        if (sign)
                buf_append_char(p->out, sign);
        if (has_leading_zeros)
                buf_append_repeat(p->out, '0', padding);
        buf_append_str(p->out, d->mantissa);
        if (d->needs_point)
                buf_append_char(p->out, '.');
        buf_append_repeat(p->out, '0', d->zeros);
        buf_append_str(p->out, d->exponent);
        if (p->has_minus)
                buf_append_repeat(p->out, ' ', padding);
}

/* Infinities always have a sign, NaN only if a flag demands one; zeros never pad them. */
static void print_special(struct go_printer *p, double d)
{
        char sign = isnan(d) ? sign_of(p, false) : d < 0 ? '-' : p->has_space && !p->has_plus ? ' ' : '+';
        struct decimal text = { .mantissa = isnan(d) ? STR("NaN") : STR("Inf") };
        bool has_zero = p->has_zero;

        p->has_zero = false;
        append_decimal(p, sign, &text);
        p->has_zero = has_zero;
}

static void print_number(struct go_printer *p, double d, char format, int default_precision)
{
        int precision = p->has_precision ? (int)p->precision : default_precision;
        size_t missing_zeros = 0;
        struct decimal text;

        if (!isfinite(d)) {
                print_special(p, d);
                return;
        }
        if (precision > DOUBLE_DIGITS) {
                missing_zeros = keeps_zeros(format) ? (size_t)(precision - DOUBLE_DIGITS) : 0;
                precision = DOUBLE_DIGITS;
        }
        number_append_go(&p->scratch, fabs(d), format, precision);
        text = split_decimal(p, scratch_text(p), format, missing_zeros);
        append_decimal(p, sign_of(p, signbit(d)), &text);
        buf_clear(&p->scratch);
}

static bool is_integral(double d)
{
        return d >= -0x1p63 && d < 0x1p63 && d == trunc(d);
}

static void print_double(struct go_printer *p, const struct value *v, uint32_t verb)
{
        switch (verb) {
        case 'v':
                print_number(p, v->number, 'g', -1);
                return;
        case 'b':
        case 'g':
        case 'G':
        case 'x':
        case 'X':
                print_number(p, v->number, (char)verb, -1);
                return;
        case 'e':
        case 'E':
        case 'f':
                print_number(p, v->number, (char)verb, 6);
                return;
        case 'F':
                print_number(p, v->number, 'f', 6);
                return;
        case 'c':
        case 'd':
        case 'o':
        case 'O':
        case 'q':
        case 'U':
                if (p->options & GO_FORMAT_INTEGRAL_DOUBLES && is_integral(v->number)) {
                        struct value i = value_of_int((int64_t)v->number);

                        print_int(p, &i, verb);
                        return;
                }
                append_bad_verb(p, v, verb);
                return;
        default:
                append_bad_verb(p, v, verb);
        }
}

/* Arrays and objects */

static void print_array(struct go_printer *p, const struct value *array, uint32_t verb, unsigned depth)
{
        if (p->is_go_syntax)
                buf_append_str(p->out, go_type_name(array));
        buf_append_char(p->out, p->is_go_syntax ? '{' : '[');
        for (size_t i = 0; i < value_count(array) && !p->out->has_failed; i++) {
                if (i > 0)
                        buf_append_str(p->out, p->is_go_syntax ? STR(", ") : STR(" "));
                print_value(p, value_item(array, i), verb, depth + 1);
        }
        buf_append_char(p->out, p->is_go_syntax ? '}' : ']');
}

static int compare_keys(const void *a, const void *b)
{
        return str_compare((*(const struct member *const *)a)->key, (*(const struct member *const *)b)->key);
}

/* The members in the order of their keys; the caller frees the list. */
static const struct member **sorted_members(const struct value *object)
{
        size_t n = value_count(object);
        const struct member **members = xcalloc(n + 1, sizeof(const struct member *));
        bool is_sorted = true;

        for (size_t i = 0; i < n; i++) {
                members[i] = value_member(object, i);
                is_sorted = is_sorted && (i == 0 || str_compare(members[i - 1]->key, members[i]->key) < 0);
        }
        if (!is_sorted)
                qsort(members, n, sizeof(const struct member *), compare_keys);
        return members;
}

static void print_object(struct go_printer *p, const struct value *object, uint32_t verb, unsigned depth)
{
        _cleanup_free_ const struct member **members = sorted_members(object);

        buf_append_str(p->out, p->is_go_syntax ? go_type_name(object) : STR("map"));
        buf_append_char(p->out, p->is_go_syntax ? '{' : '[');
        for (size_t i = 0; i < value_count(object) && !p->out->has_failed; i++) {
                struct value key = value_of_str(members[i]->key);

                if (i > 0)
                        buf_append_str(p->out, p->is_go_syntax ? STR(", ") : STR(" "));
                print_string(p, &key, verb);
                buf_append_char(p->out, ':');
                print_value(p, &members[i]->value, verb, depth + 1);
        }
        buf_append_char(p->out, p->is_go_syntax ? '}' : ']');
}

void go_print_padded(struct go_printer *p, struct str s)
{
        append_padded(p, s);
}

void go_print_truncated(struct go_printer *p, struct str s)
{
        append_padded(p, truncated(p, s));
}

void go_print_scalar(struct go_printer *p, const struct value *v, uint32_t verb)
{
        print_value(p, v, verb, 0);
}

static void print_value(struct go_printer *p, const struct value *v, uint32_t verb, unsigned depth)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                buf_append_str(p->out, p->is_go_syntax ? STR("interface {}(nil)") : STR("<nil>"));
                return;
        case VALUE_BOOL:
                if (verb == 't' || verb == 'v')
                        append_padded(p, v->boolean ? STR("true") : STR("false"));
                else
                        append_bad_verb(p, v, verb);
                return;
        case VALUE_INT:
                print_int(p, v, verb);
                return;
        case VALUE_DOUBLE:
                print_double(p, v, verb);
                return;
        case VALUE_STRING:
                print_string(p, v, verb);
                return;
        case VALUE_ARRAY:
        case VALUE_OBJECT:
                if (depth >= LIMIT_DEPTH)
                        p->out->has_failed = true;
                else if (verb == 'p' || verb == 'w')
                        append_bad_verb(p, v, verb);
                else if (value_is_array(v))
                        print_array(p, v, verb, depth);
                else
                        print_object(p, v, verb, depth);
                return;
        }
}

void go_print_argument(struct go_printer *p, const struct value *v, uint32_t verb)
{
        if (!v || value_is_null(v)) {
                if (verb == 'v' || verb == 'T')
                        append_padded(p, STR("<nil>"));
                else
                        append_bad_verb(p, v, verb);
        } else if (verb == 'T') {
                append_padded(p, truncated(p, go_type_name(v)));
        } else {
                print_value(p, v, verb, 0);
        }
}
