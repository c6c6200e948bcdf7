/* Backslashes and classes: elements that denote one character or a set of characters. */
#include "regex-parser.h"

#include "ascii.h"
#include "utf8.h"

/* ---- Classes ---- */

/* Names of [:name:] and letters of \d, \s, \w with the characters they hold, as pairs of ends. */
static const struct {
        const char *name;
        const char *pairs;
        uint8_t n_pairs;
} ascii_classes[] = {
        { "alnum", "09AZaz", 3 },
        { "alpha", "AZaz", 2 },
        { "ascii", "\0\x7f", 1 },
        { "blank", "\t\t  ", 2 },
        { "cntrl", "\0\x1f\x7f\x7f", 2 },
        { "digit", "09", 1 },
        { "graph", "!~", 1 },
        { "lower", "az", 1 },
        { "print", " ~", 1 },
        { "punct", "!/:@[`{~", 4 },
        { "space", "\t\r  ", 2 },
        { "upper", "AZ", 1 },
        { "word", "09AZaz__", 4 },
        { "xdigit", "09AFaf", 3 },
        { "d", "09", 1 },
        { "s", "\t\n\f\r  ", 3 },
        { "w", "09AZaz__", 4 },
};

/* Adds a class to the set, folded and negated as required; false if no class has this name. */
static bool add_ascii_class(struct regex_parser *p, struct str name, bool is_negated)
{
        size_t from = p->set.ranges.n, i = 0;

        while (i < ARRAY_SIZE(ascii_classes) && !str_equal(str_from(ascii_classes[i].name), name))
                i++;
        if (i == ARRAY_SIZE(ascii_classes))
                return false;
        for (size_t j = 0; j < ascii_classes[i].n_pairs; j++)
                runeset_add(&p->set, (uint8_t)ascii_classes[i].pairs[2 * j],
                            (uint8_t)ascii_classes[i].pairs[2 * j + 1]);
        if (p->flags & FLAG_FOLD)
                runeset_fold(&p->set, from);
        if (is_negated)
                runeset_negate(&p->set, from);
        return true;
}

/* \d and its like at the start of *s. */
static bool add_perl_class(struct regex_parser *p, struct str *s)
{
        static const char letters[] = "dswDSW";
        const char *letter;
        char name;

        if (s->n < 2 || s->p[0] != '\\' || s->p[1] == '\0' || !(letter = strchr(letters, s->p[1])))
                return false;
        name = letters[(letter - letters) % 3];
        add_ascii_class(p, str_make(&name, 1), letter - letters >= 3);
        *s = str_skip(*s, 2);
        return true;
}

static bool is_unicode_class(struct str s)
{
        return s.n >= 2 && s.p[0] == '\\' && (s.p[1] == 'p' || s.p[1] == 'P');
}

/* Splits \pN or \p{name} off *s. */
static int read_class_name(struct regex_parser *p, struct str *s, struct str *ret_text, struct str *ret_name)
{
        struct str rest = str_skip(*s, 2);
        ptrdiff_t end;
        uint32_t rune;
        int r;

        if (rest.n == 0)
                return regex_fail(p, "invalid character class range", *s);
        r = regex_next_rune(p, &rest, &rune);
        if (r < 0)
                return r;
        *ret_text = before(*s, rest);
        *ret_name = str_skip(*ret_text, 2);
        if (rune == '{') {
                end = str_find_char(*s, '}');
                if (end < 0) {
                        r = regex_check_utf8(p, *s);
                        return r < 0 ? r : regex_fail(p, "invalid character class range", *s);
                }
                rest = str_skip(*s, (size_t)end + 1);
                *ret_text = before(*s, rest);
                *ret_name = str_make(s->p + 3, (size_t)end - 3);
                r = regex_check_utf8(p, *ret_name);
                if (r < 0)
                        return r;
        }
        *s = rest;
        return 0;
}

/* \pN, \p{Greek}, \P{^Greek} at the start of *s. */
static int add_unicode_class(struct regex_parser *p, struct str *s)
{
        bool is_negated = s->p[1] == 'P';
        size_t from = p->set.ranges.n;
        const struct regex_class *named;
        struct str text = STR_NONE, name = STR_NONE;
        int r;

        r = read_class_name(p, s, &text, &name);
        if (r < 0)
                return r;
        if (str_cut_prefix(&name, STR("^")))
                is_negated = !is_negated;
        named = regex_class_find(name);
        if (!named)
                return regex_fail(p, "invalid character class range", text);
        runeset_add_class(&p->set, named);
        if (p->flags & FLAG_FOLD) {
                runeset_fold(&p->set, from);
                if (named->not_folded)
                        runeset_remove(&p->set, from, named->not_folded);
        }
        if (is_negated)
                runeset_negate(&p->set, from);
        return regex_check_effort(p);
}

static int hex_value(uint32_t rune)
{
        return rune < 0x80 ? ascii_hex_digit((char)rune) : -1;
}

static int fail_escape(struct regex_parser *p, struct str s, struct str rest)
{
        return regex_fail(p, "invalid escape sequence", before(s, rest));
}

/* The digits and the closing brace of \x{10FFFF}. s is the start of the escape, for the error. */
static int read_braced_hex(struct regex_parser *p, struct str s, struct str *rest, uint32_t *ret)
{
        uint32_t rune, value = 0;
        bool has_digit = false;
        int r;

        for (; rest->n > 0; has_digit = true) {
                r = regex_next_rune(p, rest, &rune);
                if (r < 0)
                        return r;
                if (rune == '}' && has_digit) {
                        *ret = value;
                        return 0;
                }
                if (hex_value(rune) < 0)
                        break;
                value = value * 16 + (uint32_t)hex_value(rune);
                if (value > RUNE_MAX)
                        break;
        }
        return fail_escape(p, s, *rest);
}

/* Reads the part after \x: {10FFFF} or two digits, which are checked only after both have been read. */
static int read_hex(struct regex_parser *p, struct str s, struct str *rest, uint32_t *ret)
{
        uint32_t high, low;
        int r;

        if (rest->n == 0)
                return fail_escape(p, s, *rest);
        r = regex_next_rune(p, rest, &high);
        if (r < 0)
                return r;
        if (high == '{')
                return read_braced_hex(p, s, rest, ret);
        if (rest->n == 0)
                return fail_escape(p, s, *rest);
        r = regex_next_rune(p, rest, &low);
        if (r < 0)
                return r;
        if (hex_value(high) < 0 || hex_value(low) < 0)
                return fail_escape(p, s, *rest);
        *ret = (uint32_t)(hex_value(high) * 16 + hex_value(low));
        return 0;
}

static bool is_octal(struct str s)
{
        return s.n > 0 && s.p[0] >= '0' && s.p[0] <= '7';
}

/* An escape for one character at the start of *s. */
static int read_escape(struct regex_parser *p, struct str *s, uint32_t *ret)
{
        static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
        struct str rest = str_skip(*s, 1);
        const char *letter;
        uint32_t rune;
        int r;

        if (rest.n == 0)
                return regex_fail(p, "trailing backslash at end of expression", STR(""));
        r = regex_next_rune(p, &rest, &rune);
        if (r < 0)
                return r;
        if (rune == '0' || (rune >= '1' && rune <= '7' && is_octal(rest))) {
                rune -= '0';
                for (int i = 0; i < 2 && is_octal(rest); i++, rest = str_skip(rest, 1))
                        rune = rune * 8 + (uint32_t)(rest.p[0] - '0');
        } else if (rune == 'x') {
                r = read_hex(p, *s, &rest, &rune);
                if (r < 0)
                        return r;
        } else if (rune > 0 && rune < 0x80 && (letter = strchr(letters, (int)rune))) {
                rune = (uint8_t)values[letter - letters];
        } else if (rune >= 0x80 || is_plain(rune)) {
                return fail_escape(p, *s, rest);
        }
        *ret = rune;
        *s = rest;
        return 0;
}

/* One end of a range in the class that begins at `class`. */
static int read_class_rune(struct regex_parser *p, struct str bracket, struct str *s, uint32_t *ret)
{
        if (s->n == 0)
                return regex_fail(p, "missing closing ]", bracket);
        return s->p[0] == '\\' ? read_escape(p, s, ret) : regex_next_rune(p, s, ret);
}

static int add_class_range(struct regex_parser *p, struct str bracket, struct str *s)
{
        struct str start = *s;
        size_t from = p->set.ranges.n;
        uint32_t lo, hi;
        int r;

        r = read_class_rune(p, bracket, s, &lo);
        if (r < 0)
                return r;
        hi = lo;
        if (s->n >= 2 && s->p[0] == '-' && s->p[1] != ']') {
                *s = str_skip(*s, 1);
                r = read_class_rune(p, bracket, s, &hi);
                if (r < 0)
                        return r;
                if (hi < lo)
                        return regex_fail(p, "invalid character class range", before(start, *s));
        }
        runeset_add(&p->set, lo, hi);
        if (p->flags & FLAG_FOLD)
                runeset_fold(&p->set, from);
        return 0;
}

/* [:alpha:] at the start of *s: 1 if there is one, 0 if the text does not have this form. */
static int add_named_class(struct regex_parser *p, struct str *s)
{
        struct str text, name;
        ptrdiff_t end;
        bool is_negated;

        if (s->n <= 2 || s->p[0] != '[' || s->p[1] != ':')
                return 0;
        end = str_find(str_skip(*s, 2), STR(":]"));
        if (end < 0)
                return 0;
        text = str_first(*s, (size_t)end + 4);
        name = str_make(s->p + 2, (size_t)end);
        is_negated = str_cut_prefix(&name, STR("^"));
        if (name.n < 2 || !add_ascii_class(p, name, is_negated))
                return regex_fail(p, "invalid character class range", text);
        *s = str_skip(*s, text.n);
        return 1;
}

static int add_class_element(struct regex_parser *p, struct str bracket, struct str *s)
{
        int r = add_named_class(p, s);

        if (r != 0)
                return r;
        if (is_unicode_class(*s))
                return add_unicode_class(p, s);
        if (add_perl_class(p, s))
                return 0;
        return add_class_range(p, bracket, s);
}

/* [...] at the start of the rest. */
int regex_parse_class(struct regex_parser *p)
{
        struct str bracket = p->rest, s = str_skip(p->rest, 1);
        bool is_negated = str_cut_prefix(&s, STR("^"));
        int r;

        clear_set(p);
        for (bool is_first = true; is_first || !starts_with_char(s, ']'); is_first = false) {
                r = add_class_element(p, bracket, &s);
                if (r < 0)
                        return r;
        }
        p->rest = str_skip(s, 1);
        if (is_negated)
                runeset_negate(&p->set, 0);
        else
                runeset_tidy(&p->set, 0);
        r = regex_check_effort(p);
        return r < 0 ? r : regex_push_set(p);
}

/* ---- Escapes outside of classes ---- */

/* \Q...\E: all characters in between are literal. */
static int parse_quoted(struct regex_parser *p)
{
        struct str text = str_skip(p->rest, 2);
        ptrdiff_t end = str_find(text, STR("\\E"));
        uint32_t rune;
        int r;

        p->rest = STR_NONE;
        if (end >= 0) {
                p->rest = str_skip(text, (size_t)end + 2);
                text = str_first(text, (size_t)end);
        }
        while (text.n > 0) {
                r = regex_next_rune(p, &text, &rune);
                if (r < 0)
                        return r;
                regex_push_literal(p, rune);
        }
        return 0;
}

/* \A \b \B \z at the start of the rest. */
static bool parse_assertion(struct regex_parser *p)
{
        static const struct {
                char letter;
                const char *rewritten;
        } assertions[] = { { 'A', "\\A" }, { 'b', "\\b" }, { 'B', "\\B" }, { 'z', "\\z" } };

        for (size_t i = 0; i < ARRAY_SIZE(assertions); i++) {
                if (assertions[i].letter != p->rest.p[1])
                        continue;
                p->out.has_not_word_boundary |= assertions[i].letter == 'B';
                regex_push_assertion(p, assertions[i].rewritten);
                p->rest = str_skip(p->rest, 2);
                return true;
        }
        return false;
}

int regex_parse_backslash(struct regex_parser *p)
{
        uint32_t rune;
        int r;

        if (p->rest.n >= 2 && p->rest.p[1] == 'Q')
                return parse_quoted(p);
        if (p->rest.n >= 2 && parse_assertion(p))
                return 0;
        clear_set(p);
        if (is_unicode_class(p->rest)) {
                r = add_unicode_class(p, &p->rest);
                if (r < 0)
                        return r;
                runeset_tidy(&p->set, 0);
                return regex_push_set(p);
        }
        if (add_perl_class(p, &p->rest)) {
                runeset_tidy(&p->set, 0);
                return regex_push_set(p);
        }
        r = read_escape(p, &p->rest, &rune);
        if (r < 0)
                return r;
        regex_push_literal(p, rune);
        return 0;
}
