/* One pass from left to right, as Go's parser makes it, so that the first error found is the one Go would report. Nothing is
 * built but the rewritten text: an open group is a `struct level`, and of what stands in it only the outline (struct part)
 * is kept, which is what Go's limits on nesting, repetition and size look at. */
#include "regex-syntax.h"

#include "limits.h"
#include "regex-class.h"
#include "utf8.h"

/* Go's limits. */
#define MAX_REPEAT 1000      /* count of x{n,m}, and product of nested ones */
#define MAX_HEIGHT 1000      /* of the syntax tree */
#define MAX_SIZE   3355443u  /* instructions: 128 MB of 40 bytes */
#define MAX_RUNES  33554432u /* ends of ranges in all classes: 128 MB of 4 bytes */

enum flags {
        FLAG_FOLD = 1 << 0,
        FLAG_MULTILINE = 1 << 1,
        FLAG_DOT_NEWLINE = 1 << 2,
        FLAG_UNGREEDY = 1 << 3,
};

enum shape {
        SHAPE_OTHER,
        SHAPE_EMPTY,
        SHAPE_LITERAL,
        SHAPE_CLASS, /* any one character of a set */
        SHAPE_CONCAT,
        SHAPE_ALTERNATE,
};

/* The outline of a piece of the pattern: what the node would be like that Go makes of it. */
struct part {
        enum shape shape;
        bool is_folded;   /* literals only */
        uint16_t height;  /* of the tree */
        uint16_t repeats; /* largest product of nested counts */
        uint32_t size;    /* instructions; stops growing beyond MAX_SIZE */
        bool may_be_empty;
        char op; /* the part is another one under * + ? or, for other counts, {; otherwise 0 */
        bool is_lazy;
};

struct level {
        uint8_t outer_flags; /* in force again behind the group */
        bool is_capture;
        bool has_parts;
        bool has_last;
        bool last_is_repeated;
        bool has_alternatives;
        uint32_t start;      /* of the group in the rewritten text */
        uint32_t groups;     /* the engine's groups before it */
        uint32_t last_start; /* the same of the last part */
        uint32_t last_groups;
        struct part parts; /* the sequence so far, without the last part, which an operator may still change */
        struct part last;
        struct part alternatives; /* what stood before the last | */
};

struct parser {
        struct str whole;
        struct str rest;
        uint8_t flags;
        struct str last_repeat; /* from the operator that has just been read to the end; p == NULL otherwise */
        VEC(struct level) levels;
        struct runeset set;
        size_t n_runes;
        uint32_t n_groups; /* of the engine, see enclose_last */
        struct regex_syntax out;
        struct err *err;
};

static int fail(struct parser *p, const char *code, struct str fragment)
{
        return err_set(p->err, ERR_INVALID, "error parsing regexp: %s: `%.*s`", code, STR_ARG(fragment));
}

static int fail_too_large(struct parser *p)
{
        return fail(p, "expression too large", p->whole);
}

/* The part of s before rest, which is its end. */
static struct str before(struct str s, struct str rest)
{
        return str_first(s, s.n - rest.n);
}

static bool starts_with_char(struct str s, char c)
{
        return s.n > 0 && s.p[0] == c;
}

/* Takes the first character off *s, which is not empty. */
static int next_rune(struct parser *p, struct str *s, uint32_t *ret)
{
        size_t width;
        uint32_t rune = utf8_decode(*s, &width);

        if (rune == RUNE_ERROR && width == 1)
                return fail(p, "invalid UTF-8", *s);
        *ret = rune;
        *s = str_skip(*s, width);
        return 0;
}

static int check_utf8(struct parser *p, struct str s)
{
        size_t valid = utf8_valid_prefix(s);

        return valid == s.n ? 0 : fail(p, "invalid UTF-8", str_skip(s, valid));
}

/* ---- The outline ---- */

static uint32_t size_capped(uint64_t size)
{
        return size > MAX_SIZE ? MAX_SIZE + 1 : (uint32_t)size;
}

static uint16_t height_above(uint16_t height)
{
        return height > MAX_HEIGHT ? height : (uint16_t)(height + 1);
}

/* A sequence inside a sequence is one sequence, and likewise for alternatives. */
static uint16_t height_within(struct part part, enum shape shape)
{
        return part.shape == shape ? (uint16_t)(part.height - 1) : part.height;
}

static struct part part_join(struct part a, struct part b, enum shape shape)
{
        uint16_t height = MAX(height_within(a, shape), height_within(b, shape));

        return (struct part) {
                .shape = shape,
                .height = height_above(height),
                .repeats = MAX(a.repeats, b.repeats),
                .size = size_capped((uint64_t)a.size + b.size + (shape == SHAPE_ALTERNATE)),
                .may_be_empty =
                        shape == SHAPE_ALTERNATE ? a.may_be_empty || b.may_be_empty : a.may_be_empty && b.may_be_empty,
        };
}

static struct part part_concat(struct part a, struct part b)
{
        struct part joined = part_join(a, b, SHAPE_CONCAT);

        if (a.shape == SHAPE_LITERAL && b.shape == SHAPE_LITERAL && a.is_folded == b.is_folded) {
                joined.shape = SHAPE_LITERAL;
                joined.height = 1;
                joined.is_folded = a.is_folded;
        }
        return joined;
}

static bool is_one_rune(struct part part)
{
        return part.shape == SHAPE_CLASS || (part.shape == SHAPE_LITERAL && part.size == 1);
}

static struct part part_alternate(struct part a, struct part b)
{
        if (is_one_rune(a) && is_one_rune(b))
                return (struct part) { .shape = SHAPE_CLASS, .height = 1, .repeats = 1, .size = 1 };
        if (a.shape == SHAPE_EMPTY && b.shape == SHAPE_EMPTY)
                return a;
        return part_join(a, b, SHAPE_ALTERNATE);
}

static int check_part(struct parser *p, struct part part)
{
        if (part.size > MAX_SIZE)
                return fail_too_large(p);
        if (part.height > MAX_HEIGHT)
                return fail(p, "expression nests too deeply", p->whole);
        return 0;
}

static struct level *innermost(struct parser *p)
{
        return vec_last(&p->levels);
}

/* A new part begins here: call before its text is written. */
static void push_part(struct parser *p, struct part part)
{
        struct level *l = innermost(p);

        if (l->has_last) {
                l->parts = l->has_parts ? part_concat(l->parts, l->last) : l->last;
                l->has_parts = true;
        }
        l->last = part;
        l->has_last = true;
        l->last_is_repeated = false;
        l->last_start = (uint32_t)p->out.rewritten.n;
        l->last_groups = p->n_groups;
}

static void push_simple(struct parser *p, enum shape shape)
{
        push_part(p, (struct part) { .shape = shape, .height = 1, .repeats = 1, .size = 1 });
}

/* Ends the sequence at a | or the end of the group: it joins the alternatives. */
static int end_sequence(struct parser *p)
{
        struct level *l = innermost(p);
        struct part part = { .shape = SHAPE_EMPTY, .height = 1, .repeats = 1, .size = 1, .may_be_empty = true };
        int r;

        if (l->has_last)
                part = l->has_parts ? part_concat(l->parts, l->last) : l->last;
        r = check_part(p, part);
        if (r < 0)
                return r;
        l->alternatives = l->has_alternatives ? part_alternate(l->alternatives, part) : part;
        l->has_alternatives = true;
        l->has_parts = l->has_last = false;
        return 0;
}

/* ---- Writing ---- */

static bool is_plain(uint32_t rune)
{
        return (rune >= '0' && rune <= '9') || (rune >= 'A' && rune <= 'Z') || (rune >= 'a' && rune <= 'z');
}

static void write_rune(struct buf *b, uint32_t rune)
{
        static const char digits[] = "0123456789abcdef";
        int shift = 20;

        if (is_plain(rune)) {
                buf_append_char(b, (char)rune);
                return;
        }
        buf_append_literal(b, "\\x{");
        while (shift > 0 && rune >> shift == 0)
                shift -= 4;
        for (; shift >= 0; shift -= 4)
                buf_append_char(b, digits[rune >> shift & 15]);
        buf_append_char(b, '}');
}

static void write_set(struct buf *b, const struct runeset *s)
{
        if (s->ranges.n == 1 && s->ranges.p[0].lo == s->ranges.p[0].hi) {
                write_rune(b, s->ranges.p[0].lo);
                return;
        }
        if (s->ranges.n == 0) {
                buf_append_literal(b, "[^\\x{0}-\\x{10ffff}]");
                return;
        }
        buf_append_char(b, '[');
        for (size_t i = 0; i < s->ranges.n; i++) {
                write_rune(b, s->ranges.p[i].lo);
                if (s->ranges.p[i].lo < s->ranges.p[i].hi) {
                        buf_append_char(b, '-');
                        write_rune(b, s->ranges.p[i].hi);
                }
        }
        buf_append_char(b, ']');
}

static void clear_set(struct parser *p)
{
        vec_clear(&p->set.ranges);
}

static void literal(struct parser *p, uint32_t rune)
{
        struct part part = { .shape = SHAPE_LITERAL, .height = 1, .repeats = 1, .size = 1 };

        part.is_folded = p->flags & FLAG_FOLD;
        push_part(p, part);
        if (!part.is_folded) {
                write_rune(&p->out.rewritten, rune);
                return;
        }
        clear_set(p);
        runeset_add(&p->set, rune, rune);
        runeset_fold(&p->set, 0);
        runeset_tidy(&p->set, 0);
        write_set(&p->out.rewritten, &p->set);
}

/* An operator that takes no argument of its own, as the engine writes it. */
static void assertion(struct parser *p, const char *text)
{
        push_simple(p, SHAPE_OTHER);
        innermost(p)->last.may_be_empty = true;
        buf_append_str(&p->out.rewritten, str_from(text));
}

/* The parser's set, which is tidy, as a class of its own. */
static int push_set(struct parser *p)
{
        const struct rune_range *r = p->set.ranges.p;
        bool is_one = p->set.ranges.n == 1 && r[0].lo == r[0].hi;

        p->n_runes += 2 * p->set.ranges.n;
        if (p->n_runes > MAX_RUNES)
                return fail_too_large(p);
        push_simple(p, is_one ? SHAPE_LITERAL : SHAPE_CLASS);
        write_set(&p->out.rewritten, &p->set);
        return 0;
}

/* What bounds memory and time for patterns that are small as text but not otherwise. */
static int check_effort(struct parser *p)
{
        if (p->set.work > LIMIT_REGEX_RANGES)
                return err_set(p->err, ERR_LIMIT, "regular expression has more than %d ranges of characters",
                               LIMIT_REGEX_RANGES);
        return buf_check(&p->out.rewritten, "regular expression", p->err);
}

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

/* Adds a class to the set, folded and negated as asked; false if there is none of that name. */
static bool add_ascii_class(struct parser *p, struct str name, bool is_negated)
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
static bool add_perl_class(struct parser *p, struct str *s)
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
static int read_class_name(struct parser *p, struct str *s, struct str *ret_text, struct str *ret_name)
{
        struct str rest = str_skip(*s, 2);
        ptrdiff_t end;
        uint32_t rune;
        int r;

        if (rest.n == 0)
                return fail(p, "invalid character class range", *s);
        r = next_rune(p, &rest, &rune);
        if (r < 0)
                return r;
        *ret_text = before(*s, rest);
        *ret_name = str_skip(*ret_text, 2);
        if (rune == '{') {
                end = str_find_char(*s, '}');
                if (end < 0) {
                        r = check_utf8(p, *s);
                        return r < 0 ? r : fail(p, "invalid character class range", *s);
                }
                rest = str_skip(*s, (size_t)end + 1);
                *ret_text = before(*s, rest);
                *ret_name = str_make(s->p + 3, (size_t)end - 3);
                r = check_utf8(p, *ret_name);
                if (r < 0)
                        return r;
        }
        *s = rest;
        return 0;
}

/* \pN, \p{Greek}, \P{^Greek} at the start of *s. */
static int add_unicode_class(struct parser *p, struct str *s)
{
        bool is_negated = s->p[1] == 'P';
        size_t from = p->set.ranges.n;
        const struct regex_class *class;
        struct str text = STR_NONE, name = STR_NONE;
        int r;

        r = read_class_name(p, s, &text, &name);
        if (r < 0)
                return r;
        if (str_cut_prefix(&name, STR("^")))
                is_negated = !is_negated;
        class = regex_class_find(name);
        if (!class)
                return fail(p, "invalid character class range", text);
        runeset_add_class(&p->set, class);
        if (p->flags & FLAG_FOLD) {
                runeset_fold(&p->set, from);
                if (class->not_folded)
                        runeset_remove(&p->set, from, class->not_folded);
        }
        if (is_negated)
                runeset_negate(&p->set, from);
        return check_effort(p);
}

static int hex_value(uint32_t rune)
{
        if (rune >= '0' && rune <= '9')
                return (int)rune - '0';
        if (rune >= 'a' && rune <= 'f')
                return (int)rune - 'a' + 10;
        if (rune >= 'A' && rune <= 'F')
                return (int)rune - 'A' + 10;
        return -1;
}

static int fail_escape(struct parser *p, struct str s, struct str rest)
{
        return fail(p, "invalid escape sequence", before(s, rest));
}

/* The digits and the closing brace of \x{10FFFF}. s is where the escape began, for the error. */
static int read_braced_hex(struct parser *p, struct str s, struct str *rest, uint32_t *ret)
{
        uint32_t rune, value = 0;
        bool has_digit = false;
        int r;

        for (; rest->n > 0; has_digit = true) {
                r = next_rune(p, rest, &rune);
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

/* What follows \x: {10FFFF} or two digits, which are looked at only when both have been read. */
static int read_hex(struct parser *p, struct str s, struct str *rest, uint32_t *ret)
{
        uint32_t high, low;
        int r;

        if (rest->n == 0)
                return fail_escape(p, s, *rest);
        r = next_rune(p, rest, &high);
        if (r < 0)
                return r;
        if (high == '{')
                return read_braced_hex(p, s, rest, ret);
        if (rest->n == 0)
                return fail_escape(p, s, *rest);
        r = next_rune(p, rest, &low);
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

/* A backslash and what it stands for: one character, at the start of *s. */
static int read_escape(struct parser *p, struct str *s, uint32_t *ret)
{
        static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
        struct str rest = str_skip(*s, 1);
        const char *letter;
        uint32_t rune;
        int r;

        if (rest.n == 0)
                return fail(p, "trailing backslash at end of expression", STR(""));
        r = next_rune(p, &rest, &rune);
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
static int read_class_rune(struct parser *p, struct str class, struct str *s, uint32_t *ret)
{
        if (s->n == 0)
                return fail(p, "missing closing ]", class);
        return s->p[0] == '\\' ? read_escape(p, s, ret) : next_rune(p, s, ret);
}

static int add_class_range(struct parser *p, struct str class, struct str *s)
{
        struct str start = *s;
        size_t from = p->set.ranges.n;
        uint32_t lo, hi;
        int r;

        r = read_class_rune(p, class, s, &lo);
        if (r < 0)
                return r;
        hi = lo;
        if (s->n >= 2 && s->p[0] == '-' && s->p[1] != ']') {
                *s = str_skip(*s, 1);
                r = read_class_rune(p, class, s, &hi);
                if (r < 0)
                        return r;
                if (hi < lo)
                        return fail(p, "invalid character class range", before(start, *s));
        }
        runeset_add(&p->set, lo, hi);
        if (p->flags & FLAG_FOLD)
                runeset_fold(&p->set, from);
        return 0;
}

/* [:alpha:] at the start of *s: 1 if there was one, 0 if the text is not meant as one. */
static int add_named_class(struct parser *p, struct str *s)
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
                return fail(p, "invalid character class range", text);
        *s = str_skip(*s, text.n);
        return 1;
}

static int add_class_element(struct parser *p, struct str class, struct str *s)
{
        int r = add_named_class(p, s);

        if (r != 0)
                return r;
        if (is_unicode_class(*s))
                return add_unicode_class(p, s);
        if (add_perl_class(p, s))
                return 0;
        return add_class_range(p, class, s);
}

/* [...] at the start of the rest. */
static int parse_class(struct parser *p)
{
        struct str class = p->rest, s = str_skip(p->rest, 1);
        bool is_negated = str_cut_prefix(&s, STR("^"));
        int r;

        clear_set(p);
        for (bool is_first = true; is_first || !starts_with_char(s, ']'); is_first = false) {
                r = add_class_element(p, class, &s);
                if (r < 0)
                        return r;
        }
        p->rest = str_skip(s, 1);
        if (is_negated)
                runeset_negate(&p->set, 0);
        else
                runeset_tidy(&p->set, 0);
        r = check_effort(p);
        return r < 0 ? r : push_set(p);
}

/* ---- Repetition ---- */

/* A count at the start of *s: false if there is none. Larger than the largest allowed one stands for all that are. */
static bool read_count(struct str *s, int *ret)
{
        int value = 0;

        if (s->n == 0 || s->p[0] < '0' || s->p[0] > '9')
                return false;
        if (s->n >= 2 && s->p[0] == '0' && s->p[1] >= '0' && s->p[1] <= '9')
                return false;
        for (; s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9'; *s = str_skip(*s, 1))
                value = MIN(value * 10 + (s->p[0] - '0'), MAX_REPEAT + 1);
        *ret = value;
        return true;
}

/* {n}, {n,} or {n,m} at the start of *s; max -1 means none. False if the brace is just a brace. */
static bool read_counts(struct str *s, int *ret_min, int *ret_max)
{
        struct str rest = str_skip(*s, 1);

        if (!read_count(&rest, ret_min))
                return false;
        *ret_max = *ret_min;
        if (str_cut_prefix(&rest, STR(","))) {
                *ret_max = -1;
                if (!starts_with_char(rest, '}') && !read_count(&rest, ret_max))
                        return false;
        }
        if (!str_cut_prefix(&rest, STR("}")))
                return false;
        *s = rest;
        return true;
}

/* The outline of x{min,max}; max -1 means none. */
static struct part part_repeat(struct part x, char op, int min, int max, bool is_lazy)
{
        int count = max < 0 ? min : max;
        uint64_t size = max < 0 ? 1 + (uint64_t)min * x.size : (uint64_t)max * x.size + (uint64_t)(max - min);

        if (max < 0 && min == 0)
                size = 2 + (uint64_t)x.size;
        if (max == 0)
                x.repeats = 1;
        else if (count > 0)
                x.repeats = (uint16_t)MIN(x.repeats * count, MAX_REPEAT + 1);
        x.size = size_capped(MAX(size, (uint64_t)1));
        x.height = height_above(x.height);
        x.shape = SHAPE_OTHER;
        x.may_be_empty |= min == 0;
        if (min != 1 || max != 1) {
                x.op = op;
                x.is_lazy = is_lazy;
        }
        return x;
}

/* x{0} matches nothing of x, but the groups in it still count. The engine's limits look into it all the same, so only the
 * groups are left. */
static void empty_last(struct parser *p)
{
        struct buf *b = &p->out.rewritten;
        const struct level *l = innermost(p);

        b->n = l->last_start;
        buf_append_literal(b, "(?:");
        for (size_t i = l->last_groups; i < p->n_groups; i++)
                buf_append_literal(b, "()");
        buf_append_char(b, ')');
}

/* Makes one piece of the last part and what follows it. */
static void enclose_last(struct parser *p, struct str what_follows)
{
        struct buf *b = &p->out.rewritten;
        struct str opening = STR("(?:");
        char *at;

        if (!buf_reserve(b, opening.n + what_follows.n + 1))
                return;
        at = b->p + innermost(p)->last_start;
        memmove(at + opening.n, at, (size_t)(b->p + b->n - at));
        memcpy(at, opening.p, opening.n);
        b->n += opening.n;
        buf_append_str(b, what_follows);
        buf_append_char(b, ')');
}

/* Prepares the last part for an operator. The engine makes one of two operators on one another (x+?)?? where Go keeps both,
 * and it drops an empty step from a loop that goes round through nothing; either shows in which match is preferred, inside
 * of further loops. Something empty behind the part prevents the first, an empty group (which costs a number) the second.
 * An operator on the same operator is one in both. */
static void fit_last(struct parser *p, struct part x, char op, bool is_loop, bool is_lazy)
{
        bool is_same = op != '{' && x.op == op && x.is_lazy == is_lazy;

        if (is_loop && x.may_be_empty && !is_same) {
                p->n_groups++;
                enclose_last(p, STR("()"));
        } else if (x.op && !is_same) {
                enclose_last(p, STR("(?:)"));
        } else if (innermost(p)->last_is_repeated) {
                enclose_last(p, STR(""));
        }
}

/* The operator for counts, if one exists: {0,} is *; otherwise {. */
static char simple_operator(int min, int max)
{
        if (max < 0)
                return min == 0 ? '*' : min == 1 ? '+' : '{';
        return min == 0 && max == 1 ? '?' : '{';
}

static void write_repeat(struct parser *p, struct part x, struct str counts, int min, int max, bool is_lazy)
{
        struct buf *b = &p->out.rewritten;
        char op = simple_operator(min, max);

        if (min == 1 && max == 1)
                return;
        if (max == 0)
                empty_last(p);
        else
                fit_last(p, x, op, max < 0, is_lazy);
        if (op == '{')
                buf_append_str(b, counts);
        else
                buf_append_char(b, op);
        if (is_lazy)
                buf_append_char(b, '?');
        innermost(p)->last_is_repeated = true;
}

/* An operator was read from the start of p->rest up to `rest`. */
static int repeat(struct parser *p, struct str rest, int min, int max)
{
        struct str start = p->rest, op = before(p->rest, rest);
        struct level *l = innermost(p);
        bool is_lazy = str_cut_prefix(&rest, STR("?"));
        struct part x;
        int r;

        if (p->last_repeat.p)
                return fail(p, "invalid nested repetition operator", before(p->last_repeat, rest));
        if (!l->has_last)
                return fail(p, "missing argument to repetition operator", before(start, rest));
        is_lazy ^= !!(p->flags & FLAG_UNGREEDY);
        x = part_repeat(l->last, simple_operator(min, max), min, max, is_lazy);
        if (op.p[0] != '{')
                x.size = size_capped((uint64_t)l->last.size + (op.p[0] == '*' ? 2 : 1));
        r = check_part(p, x);
        if (r < 0)
                return r;
        if ((min >= 2 || max >= 2) && x.repeats > MAX_REPEAT)
                return fail(p, "invalid repeat count", before(start, rest));
        write_repeat(p, l->last, op, min, max, is_lazy);
        l->last = x;
        p->last_repeat = start;
        p->rest = rest;
        return check_effort(p);
}

/* A { at the start of the rest: counts, or itself. */
static int parse_brace(struct parser *p)
{
        struct str rest = p->rest;
        int min, max;

        if (!read_counts(&rest, &min, &max)) {
                literal(p, '{');
                p->rest = str_skip(p->rest, 1);
                return 0;
        }
        if (min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max))
                return fail(p, "invalid repeat count", before(p->rest, rest));
        return repeat(p, rest, min, max);
}

/* ---- Groups ---- */

/* name is that of a capture group, NULL for a group that captures nothing. */
static void open_group(struct parser *p, const struct str *name, uint8_t flags)
{
        struct level l = {
                .outer_flags = p->flags,
                .is_capture = name != NULL,
                .start = (uint32_t)p->out.rewritten.n,
                .groups = p->n_groups,
        };

        if (name) {
                vec_push(&p->out.names, *name);
                vec_push(&p->out.engine_groups, ++p->n_groups);
        }
        buf_append_str(&p->out.rewritten, name ? STR("(") : STR("(?:"));
        vec_push(&p->levels, l);
        p->flags = flags;
}

static bool is_name(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!is_plain((uint8_t)s.p[i]) && s.p[i] != '_')
                        return false;
        return s.n > 0;
}

/* (?P<name> or (?<name>, whose name begins at offset `begin`. */
static int parse_named_group(struct parser *p, size_t begin)
{
        ptrdiff_t end = str_find_char(p->rest, '>');
        struct str name;
        int r;

        if (end < 0) {
                r = check_utf8(p, p->rest);
                return r < 0 ? r : fail(p, "invalid named capture", p->rest);
        }
        name = str_make(p->rest.p + begin, (size_t)end - begin);
        r = check_utf8(p, name);
        if (r < 0)
                return r;
        if (!is_name(name))
                return fail(p, "invalid named capture", str_first(p->rest, (size_t)end + 1));
        open_group(p, &name, p->flags);
        p->rest = str_skip(p->rest, (size_t)end + 1);
        return 0;
}

/* (?flags) or (?flags: */
static int parse_flags(struct parser *p)
{
        static const char letters[] = "imsU"; /* in the order of enum flags */
        struct str rest = str_skip(p->rest, 2);
        bool is_negative = false, has_flag = false;
        uint8_t flags = p->flags;
        const char *letter;
        uint32_t rune;
        int r;

        while (rest.n > 0) {
                r = next_rune(p, &rest, &rune);
                if (r < 0)
                        return r;
                if (rune == ':' || rune == ')') {
                        if (is_negative && !has_flag)
                                break;
                        if (rune == ':')
                                open_group(p, NULL, flags);
                        p->flags = flags;
                        p->rest = rest;
                        return 0;
                }
                if (rune == '-' && !is_negative) {
                        is_negative = true;
                        has_flag = false;
                        continue;
                }
                letter = rune > 0 && rune < 0x80 ? strchr(letters, (int)rune) : NULL;
                if (!letter)
                        break;
                has_flag = true;
                if (is_negative)
                        flags &= (uint8_t) ~(1u << (letter - letters));
                else
                        flags |= (uint8_t)(1u << (letter - letters));
        }
        return fail(p, "invalid or unsupported Perl syntax", before(p->rest, rest));
}

static int parse_open(struct parser *p)
{
        if (p->rest.n >= 2 && p->rest.p[1] == '?') {
                if (p->rest.n > 4 && p->rest.p[2] == 'P' && p->rest.p[3] == '<')
                        return parse_named_group(p, 4);
                if (p->rest.n > 3 && p->rest.p[2] == '<')
                        return parse_named_group(p, 3);
                return parse_flags(p);
        }
        open_group(p, &(struct str) { "", 0 }, p->flags);
        p->rest = str_skip(p->rest, 1);
        return 0;
}

static int parse_bar(struct parser *p)
{
        int r = end_sequence(p);

        if (r < 0)
                return r;
        buf_append_char(&p->out.rewritten, '|');
        p->rest = str_skip(p->rest, 1);
        return 0;
}

static int parse_close(struct parser *p)
{
        struct part part;
        struct level l;
        int r;

        r = end_sequence(p);
        if (r < 0)
                return r;
        l = *innermost(p);
        part = l.alternatives;
        r = check_part(p, part);
        if (r < 0)
                return r;
        if (p->levels.n == 1)
                return fail(p, "unexpected )", p->whole);
        if (l.is_capture) {
                part.shape = SHAPE_OTHER;
                part.height = height_above(part.height);
                part.size = size_capped((uint64_t)part.size + 2);
                part.op = 0;
                r = check_part(p, part);
                if (r < 0)
                        return r;
        }
        p->levels.n--;
        p->flags = l.outer_flags;
        push_part(p, part);
        innermost(p)->last_start = l.start;
        innermost(p)->last_groups = l.groups;
        buf_append_char(&p->out.rewritten, ')');
        p->rest = str_skip(p->rest, 1);
        return 0;
}

/* ---- The rest of the syntax ---- */

/* \Q...\E: everything in between stands for itself. */
static int parse_quoted(struct parser *p)
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
                r = next_rune(p, &text, &rune);
                if (r < 0)
                        return r;
                literal(p, rune);
        }
        return 0;
}

/* \A \b \B \z at the start of the rest. */
static bool parse_assertion(struct parser *p)
{
        static const struct {
                char letter;
                const char *rewritten;
        } assertions[] = { { 'A', "\\A" }, { 'b', "\\b" }, { 'B', "\\B" }, { 'z', "\\z" } };

        for (size_t i = 0; i < ARRAY_SIZE(assertions); i++) {
                if (assertions[i].letter != p->rest.p[1])
                        continue;
                p->out.has_not_word_boundary |= assertions[i].letter == 'B';
                assertion(p, assertions[i].rewritten);
                p->rest = str_skip(p->rest, 2);
                return true;
        }
        return false;
}

static int parse_backslash(struct parser *p)
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
                return push_set(p);
        }
        if (add_perl_class(p, &p->rest)) {
                runeset_tidy(&p->set, 0);
                return push_set(p);
        }
        r = read_escape(p, &p->rest, &rune);
        if (r < 0)
                return r;
        literal(p, rune);
        return 0;
}

static int parse_literal(struct parser *p)
{
        uint32_t rune;
        int r = next_rune(p, &p->rest, &rune);

        if (r < 0)
                return r;
        literal(p, rune);
        return 0;
}

static void parse_anchor(struct parser *p, const char *in_text, const char *in_line)
{
        assertion(p, p->flags & FLAG_MULTILINE ? in_line : in_text);
        p->rest = str_skip(p->rest, 1);
}

static int parse_dot(struct parser *p)
{
        push_simple(p, SHAPE_CLASS);
        buf_append_str(&p->out.rewritten, p->flags & FLAG_DOT_NEWLINE ? STR("(?s:.)") : STR("."));
        p->rest = str_skip(p->rest, 1);
        return 0;
}

/* One element of the syntax at the start of the rest. */
static int parse_one(struct parser *p)
{
        switch (p->rest.p[0]) {
        case '(':
                return parse_open(p);
        case '|':
                return parse_bar(p);
        case ')':
                return parse_close(p);
        case '^':
                parse_anchor(p, "\\A", "(?m:^)");
                return 0;
        case '$':
                parse_anchor(p, "\\z", "(?m:$)");
                return 0;
        case '.':
                return parse_dot(p);
        case '[':
                return parse_class(p);
        case '*':
                return repeat(p, str_skip(p->rest, 1), 0, -1);
        case '+':
                return repeat(p, str_skip(p->rest, 1), 1, -1);
        case '?':
                return repeat(p, str_skip(p->rest, 1), 0, 1);
        case '{':
                return parse_brace(p);
        case '\\':
                return parse_backslash(p);
        default:
                return parse_literal(p);
        }
}

static int check_groups(struct parser *p)
{
        if (p->out.names.n > LIMIT_REGEX_GROUPS)
                return err_set(p->err, ERR_LIMIT, "regular expression has more than %d groups", LIMIT_REGEX_GROUPS);
        if (p->n_groups - p->out.names.n > LIMIT_REGEX_GROUPS)
                return err_set(p->err, ERR_LIMIT, "regular expression repeats more than %d times what may be empty",
                               LIMIT_REGEX_GROUPS);
        return 0;
}

static int parse(struct parser *p)
{
        int r;

        vec_push(&p->levels, (struct level) { 0 });
        while (p->rest.n > 0) {
                struct str last_repeat = p->last_repeat;

                r = parse_one(p);
                if (r < 0)
                        return r;
                /* An operator may follow one directly only where it is an error; anything in between ends that. */
                if (p->last_repeat.p == last_repeat.p)
                        p->last_repeat = STR_NONE;
        }
        r = end_sequence(p);
        if (r < 0)
                return r;
        r = check_part(p, innermost(p)->alternatives);
        if (r < 0)
                return r;
        if (p->levels.n > 1)
                return fail(p, "missing closing )", p->whole);
        r = check_groups(p);
        return r < 0 ? r : check_effort(p);
}

int regex_syntax_parse(struct str pattern, struct regex_syntax *ret, struct err *err)
{
        struct parser p = { .whole = pattern, .rest = pattern, .err = err };
        int r;

        if (pattern.n > LIMIT_REGEX_PATTERN_BYTES)
                return err_set(err, ERR_LIMIT, "regular expression is larger than the limit of %u bytes",
                               LIMIT_REGEX_PATTERN_BYTES);
        buf_init(&p.out.rewritten, LIMIT_REGEX_BYTES);
        r = parse(&p);
        vec_done(&p.levels);
        vec_done(&p.set.ranges);
        if (r < 0)
                regex_syntax_done(&p.out);
        else
                *ret = p.out;
        return r;
}

void regex_syntax_done(struct regex_syntax *s)
{
        buf_done(&s->rewritten);
        vec_done(&s->names);
        vec_done(&s->engine_groups);
}
