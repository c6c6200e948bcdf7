#include "yaml-scalar.h"

#include "ascii.h"
#include "base64.h"
#include "buf.h"
#include "number.h"
#include "yaml-compose.h"

#include <float.h>
#include <math.h>

/* Words */

struct word {
        struct str text;
        struct yaml_scalar meaning;
};

#define BOOLEAN(b)                                      \
        {                                               \
                .kind = YAML_KIND_BOOL, .boolean = (b), \
        }
#define FLOATING(d)                                     \
        {                                               \
                .kind = YAML_KIND_FLOAT, .number = (d), \
        }
#define OF_KIND(k)         \
        {                  \
                .kind = k, \
        }

static const struct word words[] = {
        { STR_INIT(""), OF_KIND(YAML_KIND_NULL) },
        { STR_INIT("~"), OF_KIND(YAML_KIND_NULL) },
        { STR_INIT("null"), OF_KIND(YAML_KIND_NULL) },
        { STR_INIT("Null"), OF_KIND(YAML_KIND_NULL) },
        { STR_INIT("NULL"), OF_KIND(YAML_KIND_NULL) },
        { STR_INIT("<<"), OF_KIND(YAML_KIND_MERGE) },
        { STR_INIT("y"), BOOLEAN(true) },
        { STR_INIT("Y"), BOOLEAN(true) },
        { STR_INIT("yes"), BOOLEAN(true) },
        { STR_INIT("Yes"), BOOLEAN(true) },
        { STR_INIT("YES"), BOOLEAN(true) },
        { STR_INIT("on"), BOOLEAN(true) },
        { STR_INIT("On"), BOOLEAN(true) },
        { STR_INIT("ON"), BOOLEAN(true) },
        { STR_INIT("true"), BOOLEAN(true) },
        { STR_INIT("True"), BOOLEAN(true) },
        { STR_INIT("TRUE"), BOOLEAN(true) },
        { STR_INIT("n"), BOOLEAN(false) },
        { STR_INIT("N"), BOOLEAN(false) },
        { STR_INIT("no"), BOOLEAN(false) },
        { STR_INIT("No"), BOOLEAN(false) },
        { STR_INIT("NO"), BOOLEAN(false) },
        { STR_INIT("off"), BOOLEAN(false) },
        { STR_INIT("Off"), BOOLEAN(false) },
        { STR_INIT("OFF"), BOOLEAN(false) },
        { STR_INIT("false"), BOOLEAN(false) },
        { STR_INIT("False"), BOOLEAN(false) },
        { STR_INIT("FALSE"), BOOLEAN(false) },
        { STR_INIT(".nan"), FLOATING(NAN) },
        { STR_INIT(".NaN"), FLOATING(NAN) },
        { STR_INIT(".NAN"), FLOATING(NAN) },
        { STR_INIT(".inf"), FLOATING(INFINITY) },
        { STR_INIT(".Inf"), FLOATING(INFINITY) },
        { STR_INIT(".INF"), FLOATING(INFINITY) },
        { STR_INIT("+.inf"), FLOATING(INFINITY) },
        { STR_INIT("+.Inf"), FLOATING(INFINITY) },
        { STR_INIT("+.INF"), FLOATING(INFINITY) },
        { STR_INIT("-.inf"), FLOATING(-INFINITY) },
        { STR_INIT("-.Inf"), FLOATING(-INFINITY) },
        { STR_INIT("-.INF"), FLOATING(-INFINITY) },
};

#define LONGEST_WORD 5
#define FIRST_BYTES  "~nN<yYoOtTfF.+-" /* of all words but the empty one */

static bool find_word(struct str text, struct yaml_scalar *ret)
{
        if (text.n > LONGEST_WORD || (text.n && !memchr(FIRST_BYTES, text.p[0], sizeof(FIRST_BYTES) - 1)))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (str_equal(words[i].text, text)) {
                        *ret = words[i].meaning;
                        return true;
                }
        }
        return false;
}

/* Numbers */

static int digit_value(char c)
{
        if (ascii_is_digit(c))
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Digits of a base, at least one, without a sign; false on any other byte or beyond 64 bits. */
static bool parse_digits(struct str digits, unsigned base, uint64_t *ret)
{
        uint64_t u = 0;

        for (size_t i = 0; i < digits.n; i++) {
                int d = digit_value(digits.p[i]);

                if (d >= (int)base || __builtin_mul_overflow(u, (uint64_t)base, &u) ||
                    __builtin_add_overflow(u, (uint64_t)d, &u))
                        return false;
        }
        *ret = u;
        return digits.n > 0;
}

/* Cuts off the prefix and returns its base. A leading 0 alone means octal. */
static unsigned cut_base(struct str *digits)
{
        char c = digits->n > 1 && digits->p[0] == '0' ? (char)(digits->p[1] | 0x20) : 0;
        unsigned base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;

        if (base) {
                *digits = str_skip(*digits, 2);
                return base;
        }
        if (digits->n > 1 && digits->p[0] == '0') {
                *digits = str_skip(*digits, 1);
                return 8;
        }
        return 10;
}

static bool signed_scalar(uint64_t u, bool is_negative, bool has_sign, struct yaml_scalar *ret)
{
        if (u <= (uint64_t)INT64_MAX + (is_negative ? 1 : 0)) {
                int64_t i = is_negative ? (int64_t)(0 - u) : (int64_t)u;

                *ret = (struct yaml_scalar) { .kind = YAML_KIND_INT, .integer = i };
                return true;
        }
        if (has_sign)
                return false;
        *ret = (struct yaml_scalar) { .kind = YAML_KIND_UINT, .natural = u };
        return true;
}

/* An integer in any base; the underscores have been removed. */
static bool parse_integer(struct str text, struct yaml_scalar *ret)
{
        bool is_negative = str_starts_with(text, STR("-"));
        bool has_sign = is_negative || str_starts_with(text, STR("+"));
        struct str digits = str_skip(text, has_sign ? 1 : 0);
        unsigned base = cut_base(&digits);
        uint64_t u;

        return parse_digits(digits, base, &u) && signed_scalar(u, is_negative, has_sign, ret);
}

/* go-yaml parses binary numbers a second time with its own code, which accepts a sign after the prefix: 0b-101 is -5. */
static bool parse_binary_with_sign(struct str text, struct yaml_scalar *ret)
{
        bool is_negative;
        uint64_t u;

        if (!str_cut_prefix(&text, STR("0b")) || text.n < 2 || (text.p[0] != '-' && text.p[0] != '+'))
                return false;
        is_negative = text.p[0] == '-';
        return parse_digits(str_skip(text, 1), 2, &u) && signed_scalar(u, is_negative, true, ret);
}

/* [-+]? ( . digits | digits [. digits*] ) ( [eE] [-+]? digits )? */
static bool looks_like_float(struct str s)
{
        size_t i = 0, whole, fraction = 0, exponent;

        i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
        whole = i;
        while (i < s.n && ascii_is_digit(s.p[i]))
                i++;
        whole = i - whole;
        if (i < s.n && s.p[i] == '.') {
                fraction = ++i;
                while (i < s.n && ascii_is_digit(s.p[i]))
                        i++;
                fraction = i - fraction;
        }
        if (whole + fraction == 0)
                return false;
        if (i < s.n && (s.p[i] | 0x20) == 'e') {
                i++;
                i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
                exponent = i;
                while (i < s.n && ascii_is_digit(s.p[i]))
                        i++;
                if (i == exponent)
                        return false;
        }
        return i == s.n;
}

static bool parse_float(struct str text, struct yaml_scalar *ret)
{
        double d;

        if (!looks_like_float(text) || number_parse_double(text, &d, NULL) < 0)
                return false;
        *ret = (struct yaml_scalar) { .kind = YAML_KIND_FLOAT, .number = d };
        return true;
}

static bool parse_number(struct str text, struct yaml_scalar *ret)
{
        _cleanup_buf_ struct buf plain = BUF_INIT(0);

        if (memchr(text.p, '_', text.n)) {
                for (size_t i = 0; i < text.n; i++)
                        if (text.p[i] != '_')
                                buf_append_char(&plain, text.p[i]);
                text = buf_str(&plain);
        }
        return parse_integer(text, ret) || parse_float(text, ret) || parse_binary_with_sign(text, ret);
}

/* Timestamps, in the four layouts of go-yaml: 2006-1-2, then a T, t or space, then 15:4:5 with a fraction, and after T or t
 * an offset or Z. */

static bool cut_number(struct str *s, size_t min_digits, size_t max_digits, unsigned low, unsigned high, unsigned *ret)
{
        unsigned u = 0;
        size_t i = 0;

        while (i < s->n && i < max_digits && ascii_is_digit(s->p[i]))
                u = u * 10 + (unsigned)(s->p[i++] - '0');
        if (i < min_digits || u < low || u > high)
                return false;
        *s = str_skip(*s, i);
        if (ret)
                *ret = u;
        return true;
}

static unsigned days_in_month(unsigned year, unsigned month)
{
        static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        return days[month - 1] + (month == 2 && is_leap);
}

static bool cut_date(struct str *s)
{
        unsigned year, month, day;

        return cut_number(s, 4, 4, 0, 9999, &year) && str_cut_prefix(s, STR("-")) &&
               cut_number(s, 1, 2, 1, 12, &month) && str_cut_prefix(s, STR("-")) && cut_number(s, 1, 2, 1, 31, &day) &&
               day <= days_in_month(year, month);
}

static bool cut_clock(struct str *s)
{
        if (!cut_number(s, 1, 2, 0, 23, NULL) || !str_cut_prefix(s, STR(":")) || !cut_number(s, 1, 2, 0, 59, NULL) ||
            !str_cut_prefix(s, STR(":")) || !cut_number(s, 1, 2, 0, 59, NULL))
                return false;
        if (s->n > 1 && (s->p[0] == '.' || s->p[0] == ',') && ascii_is_digit(s->p[1])) {
                *s = str_skip(*s, 1);
                while (s->n && ascii_is_digit(s->p[0]))
                        *s = str_skip(*s, 1);
        }
        return true;
}

static bool cut_offset(struct str *s)
{
        if (str_cut_prefix(s, STR("Z")))
                return true;
        return (str_cut_prefix(s, STR("+")) || str_cut_prefix(s, STR("-"))) && cut_number(s, 2, 2, 0, 24, NULL) &&
               str_cut_prefix(s, STR(":")) && cut_number(s, 2, 2, 0, 60, NULL);
}

static bool is_timestamp(struct str s)
{
        if (!cut_date(&s))
                return false;
        if (s.n == 0)
                return true;
        if (str_cut_prefix(&s, STR("T")) || str_cut_prefix(&s, STR("t")))
                return cut_clock(&s) && cut_offset(&s) && s.n == 0;
        if (!str_cut_prefix(&s, STR(" ")))
                return false;
        while (str_cut_prefix(&s, STR(" ")))
                ;
        return cut_clock(&s) && s.n == 0;
}

struct yaml_scalar yaml_resolve_plain(struct str text)
{
        struct yaml_scalar s = { .kind = YAML_KIND_STRING };
        char first;

        if (find_word(text, &s))
                return s;
        first = text.p[0];
        if (!ascii_is_digit(first) && first != '-' && first != '+' && first != '.')
                return s;
        if (first == '.') {
                /* go-yaml applies Go's own rules here, so an underscore must be between digits. */
                if (number_parse_double(text, &s.number, NULL) >= 0)
                        s.kind = YAML_KIND_FLOAT;
        } else if (is_timestamp(text)) {
                s.kind = YAML_KIND_TIMESTAMP;
        } else {
                (void)parse_number(text, &s);
        }
        return s;
}

/* Tags */

static const struct {
        const char *name;
        bool is_checked; /* the text must resolve to this kind */
} tags[] = {
        [YAML_KIND_NULL] = { "null", true },      [YAML_KIND_BOOL] = { "bool", true },
        [YAML_KIND_INT] = { "int", true },        [YAML_KIND_UINT] = { "int", true },
        [YAML_KIND_FLOAT] = { "float", true },    [YAML_KIND_STRING] = { "str", false },
        [YAML_KIND_MERGE] = { "merge", false },   [YAML_KIND_TIMESTAMP] = { "timestamp", true },
        [YAML_KIND_BINARY] = { "binary", false },
};

static enum yaml_kind kind_of_tag(struct str tag)
{
        if (!str_cut_prefix(&tag, STR(YAML_TAG_PREFIX)))
                return YAML_KIND_STRING;
        for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
                if (str_equal(tag, str_from(tags[i].name)))
                        return (enum yaml_kind)i;
        return YAML_KIND_STRING;
}

int yaml_resolve_tagged(struct str tag, struct str text, struct yaml_scalar *ret, struct err *err)
{
        enum yaml_kind wanted = kind_of_tag(tag);
        struct yaml_scalar s;

        if (!tags[wanted].is_checked) {
                *ret = (struct yaml_scalar) { .kind = wanted == YAML_KIND_BINARY ? wanted : YAML_KIND_STRING };
                return 0;
        }
        s = yaml_resolve_plain(text);
        if (s.kind == YAML_KIND_MERGE || (s.kind == YAML_KIND_TIMESTAMP && wanted != YAML_KIND_TIMESTAMP))
                s.kind = YAML_KIND_STRING;
        if (wanted == YAML_KIND_FLOAT && s.kind == YAML_KIND_INT)
                s = (struct yaml_scalar) { .kind = YAML_KIND_FLOAT, .number = (double)s.integer };
        if (s.kind != wanted && !(wanted == YAML_KIND_INT && s.kind == YAML_KIND_UINT))
                return err_set(err, ERR_INVALID, "yaml: cannot decode !!%s `%.*s` as a !!%s", tags[s.kind].name,
                               STR_ARG(text), tags[wanted].name);
        *ret = s;
        return 0;
}

static int decode_binary(struct arena *a, struct str text, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (base64_decode(&b, text, BASE64_STD, NULL) < 0)
                return err_set(err, ERR_INVALID, "yaml: !!binary value contains invalid base64 data");
        *ret = buf_to_arena(&b, a);
        return 0;
}

int yaml_node_resolve(struct arena *a, const struct yaml_node *n, struct yaml_scalar *ret, struct str *ret_text,
                      struct err *err)
{
        int r;

        *ret_text = n->text;
        if (n->is_plain) {
                *ret = yaml_resolve_plain(n->text);
                return 0;
        }
        *ret = (struct yaml_scalar) { .kind = YAML_KIND_STRING };
        if (n->tag.n == 0)
                return 0;
        r = yaml_resolve_tagged(n->tag, n->text, ret, err);
        if (r >= 0 && ret->kind == YAML_KIND_BINARY)
                r = decode_binary(a, n->text, ret_text, err);
        return r;
}

bool yaml_node_is_merge(const struct yaml_node *key)
{
        if (key->type != YAML_NODE_SCALAR || !str_equal(key->text, STR("<<")))
                return false;
        return key->is_plain || str_equal(key->tag, STR(YAML_TAG_PREFIX "merge"));
}

/* [-+]? digit [digit _]* ( : [0-5]? digit )+ ( . [digit _]* )? */
bool yaml_is_base60(struct str s)
{
        size_t i = 0;

        i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
        if (i == s.n || !ascii_is_digit(s.p[i]))
                return false;
        while (i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_'))
                i++;
        if (i == s.n || s.p[i] != ':')
                return false;
        while (i < s.n && s.p[i] == ':') {
                i++;
                if (i + 1 < s.n && s.p[i] >= '0' && s.p[i] <= '5' && ascii_is_digit(s.p[i + 1]))
                        i++;
                if (i == s.n || !ascii_is_digit(s.p[i]))
                        return false;
                i++;
        }
        if (i < s.n && s.p[i] == '.') {
                i++;
                while (i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_'))
                        i++;
        }
        return i == s.n;
}

/* Keys of type float. Go prints them with the digits that single precision needs. */

#define FLOAT_DIGITS 9 /* enough for any float */

/* Decimal digits and exponent: digits * 10^exponent. */
struct decimal {
        uint32_t digits;
        int n_digits;
        int exponent;
};

/* f rounded to n digits. */
static struct decimal decimal_of(float f, int n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct decimal d = { .n_digits = n };
        struct str text, mantissa;
        int64_t exponent = 0;

        number_append_go(&b, (double)f, 'e', n - 1);
        text = buf_str(&b);
        str_split(&text, 'e', &mantissa);
        for (size_t i = 0; i < mantissa.n; i++)
                if (ascii_is_digit(mantissa.p[i]))
                        d.digits = d.digits * 10 + (uint32_t)(mantissa.p[i] - '0');
        (void)number_parse_int(text, &exponent, NULL);
        d.exponent = (int)exponent - (n - 1);
        return d;
}

static bool reads_back(struct decimal d, float f)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        double read;

        buf_appendf(&b, "%ue%d", d.digits, d.exponent);
        return number_parse_double(buf_str(&b), &read, NULL) >= 0 && (float)read == f;
}

/* The fewest digits that read back as f. Just above a power of two the nearest decimal may not read back as f, while the next
 * one does. */
static struct decimal shortest_decimal(float f)
{
        struct decimal d = { 0 };

        for (int n = 1; n <= FLOAT_DIGITS; n++) {
                d = decimal_of(f, n);
                if (reads_back(d, f))
                        break;
                d.digits++;
                if (reads_back(d, f))
                        break;
        }
        while (d.digits && d.digits % 10 == 0) {
                d.digits /= 10;
                d.n_digits--;
                d.exponent++;
        }
        return d;
}

static void append_with_exponent(struct buf *b, struct str digits, int exponent)
{
        buf_append_char(b, digits.p[0]);
        if (digits.n > 1) {
                buf_append_char(b, '.');
                buf_append_str(b, str_skip(digits, 1));
        }
        buf_appendf(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

static void append_plain(struct buf *b, struct str digits, int exponent)
{
        if (exponent < 0) {
                buf_append_literal(b, "0.");
                buf_append_repeat(b, '0', (size_t)(-exponent - 1));
                buf_append_str(b, digits);
                return;
        }
        buf_append_str(b, str_first(digits, (size_t)exponent + 1));
        if (digits.n <= (size_t)exponent)
                buf_append_repeat(b, '0', (size_t)exponent + 1 - digits.n);
        if (digits.n > (size_t)exponent + 1) {
                buf_append_char(b, '.');
                buf_append_str(b, str_skip(digits, (size_t)exponent + 1));
        }
}

static void append_float_key(struct buf *b, double number)
{
        float f = fabsf((float)number);
        _cleanup_buf_ struct buf digits = BUF_INIT(0);
        struct decimal d;
        int exponent;

        if (isnan(number)) {
                buf_append_literal(b, ".nan");
                return;
        }
        if (signbit(number))
                buf_append_char(b, '-');
        if (isinf(f)) {
                buf_append_literal(b, ".inf");
                return;
        }
        if (f == 0) {
                buf_append_char(b, '0');
                return;
        }
        d = shortest_decimal(f);
        buf_append_uint(&digits, d.digits);
        exponent = d.exponent + (int)digits.n - 1;
        if (exponent < -4 || exponent >= 6)
                append_with_exponent(b, buf_str(&digits), exponent);
        else
                append_plain(b, buf_str(&digits), exponent);
}

bool yaml_append_key(struct buf *b, const struct yaml_scalar *s, struct str text)
{
        switch (s->kind) {
        case YAML_KIND_BOOL:
                buf_append_str(b, s->boolean ? STR("true") : STR("false"));
                return true;
        case YAML_KIND_INT:
                buf_append_int(b, s->integer);
                return true;
        case YAML_KIND_FLOAT:
                append_float_key(b, s->number);
                return true;
        case YAML_KIND_STRING:
        case YAML_KIND_TIMESTAMP:
        case YAML_KIND_MERGE:
        case YAML_KIND_BINARY:
                buf_append_str(b, text);
                return true;
        case YAML_KIND_NULL:
        case YAML_KIND_UINT:
                break;
        }
        return false;
}
