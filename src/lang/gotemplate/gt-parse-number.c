/* Number literals, parsed as Go's parser does: one value for each type that the literal can have. */
#include "gt-parser.h"

#include "gotext.h"
#include "number.h"

#include <math.h>

/* True if underscores are only between digits, or between the prefix of a base and a digit. */
static bool underscores_are_good(struct str s)
{
        char saw = '^'; /* the previous character: ^ the start, 0 a digit, _ an underscore, ! anything else */
        bool is_hex = false;
        size_t i = 0;

        if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
                i++;
        if (s.n >= i + 2 && s.p[i] == '0' && strchr("bBoOxX", s.p[i + 1]) && s.p[i + 1]) {
                is_hex = (s.p[i + 1] | 0x20) == 'x';
                saw = '0';
                i += 2;
        }
        for (; i < s.n; i++) {
                char c = s.p[i];

                if ((c >= '0' && c <= '9') || (is_hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')) {
                        saw = '0';
                } else if (c == '_') {
                        if (saw != '0')
                                return false;
                        saw = '_';
                } else {
                        if (saw == '_')
                                return false;
                        saw = '!';
                }
        }
        return saw != '_';
}

static unsigned take_base(struct str *s)
{
        char letter;

        if (s->n == 0 || s->p[0] != '0')
                return 10;
        letter = s->n >= 3 ? s->p[1] | 0x20 : 0;
        if (letter == 'x' || letter == 'o' || letter == 'b') {
                *s = str_skip(*s, 2);
                return letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
        }
        *s = str_skip(*s, 1);
        return 8;
}

static int digit_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* strconv.ParseUint(s, 0, 64). */
static bool parse_natural(struct str text, uint64_t *ret)
{
        struct str s = text;
        unsigned base;
        uint64_t u = 0;

        if (s.n == 0)
                return false;
        base = take_base(&s);
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '_')
                        continue;
                if (digit_value(s.p[i]) >= (int)base || __builtin_mul_overflow(u, base, &u) ||
                    __builtin_add_overflow(u, (uint64_t)digit_value(s.p[i]), &u))
                        return false;
        }
        if (!underscores_are_good(text))
                return false;
        *ret = u;
        return true;
}

/* strconv.ParseInt(s, 0, 64). */
static bool parse_integer(struct str text, int64_t *ret)
{
        bool is_negative = text.n > 0 && text.p[0] == '-';
        struct str s = text.n > 0 && (is_negative || text.p[0] == '+') ? str_skip(text, 1) : text;
        uint64_t u;

        if (!parse_natural(s, &u) || u > (uint64_t)INT64_MAX + is_negative)
                return false;
        *ret = is_negative ? (int64_t)-u : (int64_t)u;
        return true;
}

/* Go's float64(int64(f)) == f; numbers that do not fit convert to the smallest int64. */
static bool to_int(double f, int64_t *ret)
{
        *ret = f >= -0x1p63 && f < 0x1p63 ? (int64_t)f : INT64_MIN;
        return (double)*ret == f;
}

static bool to_uint(double f, uint64_t *ret)
{
        if (!(f > -1 && f < 0x1p64))
                return false;
        *ret = (uint64_t)f;
        return (double)*ret == f;
}

static void set_float(struct gt_number_node *n, double f)
{
        int64_t i;
        uint64_t u;

        n->is_float = true;
        n->number = f;
        if (!n->is_int && to_int(f, &i)) {
                n->is_int = true;
                n->integer = i;
        }
        if (!n->is_uint && to_uint(f, &u)) {
                n->is_uint = true;
                n->natural = u;
        }
}

static struct gt_number_node *set_complex(struct gt_number_node *n, double real, double imaginary)
{
        n->is_complex = true;
        n->parts[0] = real;
        n->parts[1] = imaginary;
        if (imaginary == 0)
                set_float(n, real);
        return n;
}

static struct gt_number_node *parse_char(struct gt_parser *p, struct gt_number_node *n)
{
        struct str s = str_skip(n->text, 1);
        bool is_multibyte;
        uint32_t rune;

        if (!go_unquote_rune(&s, '\'', &rune, &is_multibyte))
                return gt_parse_fail(p, "invalid syntax");
        if (!str_equal(s, STR("'")))
                return gt_parse_fail(p, "malformed character constant: %.*s", STR_ARG(n->text));
        n->is_int = n->is_uint = n->is_float = true;
        n->integer = rune;
        n->natural = rune;
        n->number = rune;
        return n;
}

/* `1+2i`: the sign of the imaginary part is the last one that does not follow an exponent's mark. */
static struct gt_number_node *parse_complex(struct gt_parser *p, struct gt_number_node *n)
{
        double real, imaginary;
        size_t at = n->text.n - 1;

        while (at > 1 && !((n->text.p[at] == '+' || n->text.p[at] == '-') && !strchr("eEpP", n->text.p[at - 1])))
                at--;
        if (number_parse_double(str_first(n->text, at), &real, NULL) < 0 ||
            number_parse_double(str_make(n->text.p + at, n->text.n - at - 1), &imaginary, NULL) < 0)
                return gt_parse_fail(p, "syntax error scanning complex number");
        return set_complex(n, real, imaginary);
}

static struct gt_number_node *parse_plain(struct gt_parser *p, struct gt_number_node *n)
{
        struct arena *a = &p->shared->result->arena;
        double f;

        n->is_uint = parse_natural(n->text, &n->natural);
        n->is_int = parse_integer(n->text, &n->integer);
        if (n->is_int && n->integer == 0)
                n->is_uint = true;
        if (n->is_int || n->is_uint) {
                n->is_float = true;
                n->number = n->is_int ? (double)n->integer : (double)n->natural;
                return n;
        }
        if (number_parse_double(n->text, &f, NULL) < 0)
                return gt_parse_fail(p, "illegal number syntax: %.*s", STR_ARG(go_quote(a, n->text)));
        for (size_t i = 0; i < n->text.n; i++)
                if (strchr(".eEpP", n->text.p[i])) {
                        set_float(n, f);
                        return n;
                }
        return gt_parse_fail(p, "integer overflow: %.*s", STR_ARG(go_quote(a, n->text)));
}

struct gt_number_node *gt_parse_number(struct gt_parser *p, struct gt_token token)
{
        struct gt_number_node *n = GT_NODE(p, gt_number_node, GT_NODE_NUMBER, token.at);
        double f;

        n->text = token.text;
        if (token.type == GT_TOKEN_CHAR_CONSTANT)
                return parse_char(p, n);
        if (token.type == GT_TOKEN_COMPLEX)
                return parse_complex(p, n);
        if (token.text.p[token.text.n - 1] == 'i' &&
            number_parse_double(str_first(token.text, token.text.n - 1), &f, NULL) == 0)
                return set_complex(n, 0, f);
        return parse_plain(p, n);
}
