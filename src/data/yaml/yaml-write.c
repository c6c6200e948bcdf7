/* Block style as go-yaml writes it: two spaces per level, sequences not indented below their key, lines folded at spaces once
 * they are longer than 80 characters. Comments in the code give the rules for the style of scalars.
 *
 * Two things differ from go-yaml, whose own output for them does not read back: a key << gets quotes, and text that is not valid
 * UTF-8 is written with U+FFFD. */
#include "yaml.h"

#include "buf.h"
#include "limits.h"
#include "number.h"
#include "utf8.h"
#include "yaml-scalar.h"
#include "yaml-traits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INDENT           2
#define WIDTH            80
#define SIMPLE_KEY_BYTES 128 /* longer keys are written as `? key` */

struct writer {
        struct buf *buf;
        unsigned flags;
        int indent;         /* of the enclosing collection, -1 at the root */
        size_t column;      /* in characters */
        bool is_whitespace; /* the last character was white space (or an indicator that counts as such) */
        bool is_indention;  /* nothing but indentation and indicators on this line so far */
};

enum style {
        STYLE_PLAIN,
        STYLE_SINGLE_QUOTED,
        STYLE_DOUBLE_QUOTED,
        STYLE_LITERAL,
};

enum context {
        CONTEXT_ROOT,
        CONTEXT_ITEM,
        CONTEXT_SIMPLE_KEY,
        CONTEXT_MEMBER, /* a value, or a key after a question mark */
};

/* Characters */

static void put_char(struct writer *w, char c)
{
        buf_append_char(w->buf, c);
        w->column++;
}

static void put_rune(struct writer *w, struct str rune)
{
        if (rune.n == 1 && (unsigned char)rune.p[0] >= 0x80)
                rune = STR("\xEF\xBF\xBD");
        buf_append_str(w->buf, rune);
        w->column++;
}

static void put_break(struct writer *w)
{
        buf_append_char(w->buf, '\n');
        w->column = 0;
}

/* A line break that is part of the text: only a newline is written as a break. */
static void put_text_break(struct writer *w, struct str rune)
{
        buf_append_str(w->buf, rune);
        w->column = 0;
}

static void put_indent(struct writer *w)
{
        size_t indent = w->indent > 0 ? (size_t)w->indent : 0;

        if (!w->is_indention || w->column > indent || (w->column == indent && !w->is_whitespace))
                put_break(w);
        if (w->column < indent) {
                buf_append_repeat(w->buf, ' ', indent - w->column);
                w->column = indent;
        }
        w->is_whitespace = w->is_indention = true;
}

static void put_indicator(struct writer *w, const char *indicator, bool needs_space, bool is_indention)
{
        if (needs_space && !w->is_whitespace)
                put_char(w, ' ');
        for (; *indicator; indicator++)
                put_char(w, *indicator);
        w->is_whitespace = false;
        w->is_indention = w->is_indention && is_indention;
}

/* Styles that a text allows */

struct analysis {
        bool is_multiline;
        bool allows_plain;
        bool allows_single;
        bool allows_literal;
};

/* True if a text begins like a word and has no special characters. Most texts are like that and need no further analysis. */
static bool is_ordinary(struct str s)
{
        if (s.n == 0 || !((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z') || s.p[s.n - 1] == ' ')
                return false;
        for (size_t i = 1; i < s.n; i++) {
                unsigned char c = (unsigned char)s.p[i];

                if (c < ' ' || c > '~' || c == '#')
                        return false;
                if (c == ':' && (i + 1 == s.n || s.p[i + 1] == ' '))
                        return false;
        }
        return true;
}

static struct analysis analyse(struct str s)
{
        struct yaml_traits t;
        bool is_harmless;

        if (is_ordinary(s))
                return (struct analysis) { .allows_plain = true, .allows_single = true, .allows_literal = true };
        t = yaml_traits_of(s);
        is_harmless = !t.has_space_then_break && !t.has_tabs && !t.has_special;
        return (struct analysis) {
                .is_multiline = t.has_breaks,
                .allows_plain = is_harmless && !t.has_breaks && !t.has_space_at_edge && !t.has_break_at_edge &&
                                !t.has_break_then_space && !t.has_indicators,
                .allows_single = is_harmless && !t.has_break_then_space,
                .allows_literal = is_harmless && !t.has_space_at_end && s.n > 0,
        };
}

/* A string that would have another type without quotes gets double quotes in any case. */
static enum style choose_style(struct str s, struct analysis a, enum context context)
{
        struct yaml_scalar meaning = yaml_resolve_plain(s);
        bool is_merge_key = context == CONTEXT_SIMPLE_KEY && meaning.kind == YAML_KIND_MERGE;

        if (memchr(s.p, '\n', s.n))
                return a.allows_literal && context != CONTEXT_SIMPLE_KEY ? STYLE_LITERAL : STYLE_DOUBLE_QUOTED;
        if ((meaning.kind != YAML_KIND_STRING && meaning.kind != YAML_KIND_MERGE) || yaml_is_base60(s) || is_merge_key)
                return STYLE_DOUBLE_QUOTED;
        if (a.allows_plain)
                return STYLE_PLAIN;
        return a.allows_single && !(a.is_multiline && context == CONTEXT_SIMPLE_KEY) ? STYLE_SINGLE_QUOTED
                                                                                     : STYLE_DOUBLE_QUOTED;
}

/* Scalars */

static bool folds(const struct writer *w, bool may_fold, bool follows_space)
{
        return may_fold && !follows_space && w->column > WIDTH;
}

/* Writes all bytes before the first space or the first character beyond ASCII at once; returns their number. */
static size_t put_ascii(struct writer *w, struct str s)
{
        size_t n = 0;

        while (n < s.n && s.p[n] > ' ')
                n++;
        buf_append(w->buf, s.p, n);
        w->column += n;
        return n;
}

static void put_plain(struct writer *w, struct str s, bool may_fold)
{
        bool follows_space = false;

        if (!w->is_whitespace && s.n)
                put_char(w, ' ');
        for (size_t i = 0, width; i < s.n; i += width) {
                width = put_ascii(w, str_skip(s, i));
                if (width) {
                        w->is_indention = follows_space = false;
                        continue;
                }
                utf8_decode(str_skip(s, i), &width);
                if (s.p[i] == ' ') {
                        bool is_last_of_run = i + 1 < s.n && s.p[i + 1] != ' ';

                        if (folds(w, may_fold, follows_space) && is_last_of_run)
                                put_indent(w);
                        else
                                put_char(w, ' ');
                        follows_space = true;
                        continue;
                }
                put_rune(w, str_first(str_skip(s, i), width));
                w->is_indention = follows_space = false;
        }
        w->is_whitespace = w->is_indention = false;
}

static void put_single_quoted(struct writer *w, struct str s, bool may_fold)
{
        bool follows_space = false, follows_break = false;

        put_indicator(w, "'", true, false);
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (c == ' ') {
                        if (folds(w, may_fold, follows_space) && i > 0 && i + 1 < s.n && s.p[i + 1] != ' ')
                                put_indent(w);
                        else
                                put_char(w, ' ');
                        follows_space = true;
                } else if (yaml_is_break(c)) {
                        put_text_break(w, str_first(str_skip(s, i), width));
                        w->is_indention = follows_break = true;
                } else {
                        if (follows_break)
                                put_indent(w);
                        if (c == '\'')
                                put_char(w, '\'');
                        put_rune(w, str_first(str_skip(s, i), width));
                        w->is_indention = follows_space = follows_break = false;
                }
        }
        put_indicator(w, "'", false, false);
        w->is_whitespace = w->is_indention = false;
}

static void put_escape(struct writer *w, uint32_t c)
{
        static const struct {
                uint32_t rune;
                char letter;
        } letters[] = {
                { 0, '0' },     { 7, 'a' },    { 8, 'b' },    { 9, 't' },      { 10, 'n' },
                { 11, 'v' },    { 12, 'f' },   { 13, 'r' },   { 0x1B, 'e' },   { '"', '"' },
                { '\\', '\\' }, { 0x85, 'N' }, { 0xA0, '_' }, { 0x2028, 'L' }, { 0x2029, 'P' },
        };
        char text[12];

        for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
                if (letters[i].rune == c) {
                        put_char(w, '\\');
                        put_char(w, letters[i].letter);
                        return;
                }
        }
        snprintf(text, sizeof(text), c <= 0xFF ? "\\x%02X" : c <= 0xFFFF ? "\\u%04X" : "\\U%08X", c);
        for (size_t i = 0; text[i]; i++)
                put_char(w, text[i]);
}

static void put_double_quoted(struct writer *w, struct str s, bool may_fold)
{
        bool follows_space = false;
        bool escapes_all = str_starts_with(s, STR("\xEF\xBB\xBF")); /* go-yaml does so after a byte order mark */

        put_indicator(w, "\"", true, false);
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (escapes_all || !yaml_is_printable(c) || yaml_is_break(c) || c == '"' || c == '\\') {
                        put_escape(w, c);
                        follows_space = false;
                } else if (c == ' ') {
                        if (folds(w, may_fold, follows_space) && i > 0 && i + 1 < s.n) {
                                put_indent(w);
                                if (s.p[i + 1] == ' ')
                                        put_char(w, '\\');
                        } else {
                                put_char(w, ' ');
                        }
                        follows_space = true;
                } else {
                        put_rune(w, str_first(str_skip(s, i), width));
                        follows_space = false;
                }
        }
        put_indicator(w, "\"", false, false);
        w->is_whitespace = w->is_indention = false;
}

/* Writes the hints after `|`: a digit if the text begins with white space, + or - unless the text ends in exactly one break. */
static void put_literal_hints(struct writer *w, struct str s)
{
        bool ends[2] = { false, false }; /* whether the last and the second to last character are breaks */
        size_t width;

        for (size_t i = 0; i < s.n; i += width) {
                ends[1] = ends[0];
                ends[0] = yaml_is_break(utf8_decode(str_skip(s, i), &width));
                if (i == 0 && s.n == width)
                        ends[1] = true;
        }
        if (s.p[0] == ' ' || yaml_is_break(utf8_decode(s, &width)))
                put_indicator(w, "2", false, false);
        if (!ends[0])
                put_indicator(w, "-", false, false);
        else if (ends[1])
                put_indicator(w, "+", false, false);
}

static void put_literal(struct writer *w, struct str s)
{
        bool follows_break = true;

        put_indicator(w, "|", true, false);
        put_literal_hints(w, s);
        put_break(w);
        w->is_indention = w->is_whitespace = true;
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (yaml_is_break(c)) {
                        put_text_break(w, str_first(str_skip(s, i), width));
                        w->is_indention = follows_break = true;
                        continue;
                }
                if (follows_break)
                        put_indent(w);
                put_rune(w, str_first(str_skip(s, i), width));
                w->is_indention = follows_break = false;
        }
}

static void write_scalar(struct writer *w, struct str s, enum style style, enum context context)
{
        bool may_fold = context != CONTEXT_SIMPLE_KEY;
        int outer = w->indent;

        w->indent = outer < 0 ? INDENT : outer + INDENT;
        switch (style) {
        case STYLE_PLAIN:
                put_plain(w, s, may_fold);
                break;
        case STYLE_SINGLE_QUOTED:
                put_single_quoted(w, s, may_fold);
                break;
        case STYLE_DOUBLE_QUOTED:
                put_double_quoted(w, s, may_fold);
                break;
        case STYLE_LITERAL:
                put_literal(w, s);
                break;
        }
        w->indent = outer;
}

static void write_string(struct writer *w, struct str s, enum context context)
{
        write_scalar(w, s, choose_style(s, analyse(s), context), context);
}

/* Numbers are converted as upstream does it: written as JSON, read as YAML, written as YAML. */
static int write_double(struct writer *w, double d, enum context context, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct yaml_scalar s;

        if (!isfinite(d))
                return err_set(err, ERR_INVALID, "json: unsupported value: %s",
                               isnan(d) ? "NaN"
                               : d > 0  ? "+Inf"
                                        : "-Inf");
        number_append_json(&text, d);
        s = yaml_resolve_plain(buf_str(&text));
        if (s.kind == YAML_KIND_INT && s.integer == 0) {
                buf_clear(&text);
                buf_append_char(&text, '0');
        } else if (s.kind == YAML_KIND_FLOAT) {
                buf_clear(&text);
                number_append_go(&text, s.number, 'g', -1);
        }
        write_scalar(w, buf_str(&text), STYLE_PLAIN, context);
        return 0;
}

static void write_int(struct writer *w, int64_t i, enum context context)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        buf_append_int(&text, i);
        write_scalar(w, buf_str(&text), STYLE_PLAIN, context);
}

/* Collections */

static int write_node(struct writer *w, const struct value *v, enum context context, struct err *err);

static int write_array(struct writer *w, const struct value *v, enum context context, struct err *err)
{
        int outer = w->indent, r = 0;

        if (outer < 0)
                w->indent = 0;
        else if (context != CONTEXT_MEMBER || w->is_indention)
                w->indent += INDENT;
        VALUE_FOREACH_ITEM (item, v) {
                put_indent(w);
                put_indicator(w, "-", true, true);
                r = write_node(w, item, CONTEXT_ITEM, err);
                if (r < 0)
                        return r;
        }
        w->indent = outer;
        return 0;
}

static int write_member(struct writer *w, const struct member *m, struct err *err)
{
        struct analysis a = analyse(m->key);

        put_indent(w);
        if (m->key.n <= SIMPLE_KEY_BYTES && !a.is_multiline) {
                write_scalar(w, m->key, choose_style(m->key, a, CONTEXT_SIMPLE_KEY), CONTEXT_SIMPLE_KEY);
                put_indicator(w, ":", false, false);
        } else {
                put_indicator(w, "?", true, true);
                write_string(w, m->key, CONTEXT_MEMBER);
                put_indent(w);
                put_indicator(w, ":", true, true);
        }
        return write_node(w, &m->value, CONTEXT_MEMBER, err);
}

static int compare_members(const void *left, const void *right)
{
        const struct member *const *a = left, *const *b = right;

        return str_compare((*a)->key, (*b)->key);
}

static bool are_sorted(const struct member **members, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (str_compare(members[i - 1]->key, members[i]->key) > 0)
                        return false;
        return true;
}

/* A merge sort, because go-yaml's order is not transitive: 1b is before 9, 9 before 10 and 10 before 1b. The members are first
 * sorted bytewise, so that the result does not depend on the order of insertion. */
static void sort_members(const struct member **members, const struct member **spare, size_t n)
{
        size_t half = n / 2, left = 0, right = half, at = 0;

        if (n < 2)
                return;
        sort_members(members, spare, half);
        sort_members(members + half, spare, n - half);
        while (left < half && right < n)
                spare[at++] = yaml_compare_keys(members[right]->key, members[left]->key) < 0 ? members[right++]
                                                                                             : members[left++];
        while (left < half)
                spare[at++] = members[left++];
        memcpy(members, spare, at * sizeof(*members));
}

#define FEW 16 /* members that are sorted without an allocation */

static int write_object(struct writer *w, const struct value *v, struct err *err)
{
        _cleanup_free_ const struct member **many = NULL;
        const struct member *few[2 * FEW], **sorted = few;
        int outer = w->indent, r;

        if (v->n > FEW)
                sorted = many = xmalloc(v->n * 2 * sizeof(*many));
        for (uint32_t i = 0; i < v->n; i++)
                sorted[i] = &v->members[i];
        if (!(w->flags & YAML_KEEP_ORDER)) {
                if (!are_sorted(sorted, v->n))
                        qsort(sorted, v->n, sizeof(*sorted), compare_members);
                sort_members(sorted, sorted + v->n, v->n);
        }
        w->indent = outer < 0 ? 0 : outer + INDENT;
        for (uint32_t i = 0; i < v->n; i++) {
                r = write_member(w, sorted[i], err);
                if (r < 0)
                        return r;
        }
        w->indent = outer;
        return 0;
}

static int write_node(struct writer *w, const struct value *v, enum context context, struct err *err)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                write_scalar(w, STR("null"), STYLE_PLAIN, context);
                return 0;
        case VALUE_BOOL:
                write_scalar(w, v->boolean ? STR("true") : STR("false"), STYLE_PLAIN, context);
                return 0;
        case VALUE_INT:
                write_int(w, v->integer, context);
                return 0;
        case VALUE_DOUBLE:
                return write_double(w, v->number, context, err);
        case VALUE_STRING:
                write_string(w, value_str(v), context);
                return 0;
        case VALUE_ARRAY:
                if (v->n)
                        return write_array(w, v, context, err);
                write_scalar(w, STR("[]"), STYLE_PLAIN, context);
                return 0;
        case VALUE_OBJECT:
                if (v->n)
                        return write_object(w, v, err);
                write_scalar(w, STR("{}"), STYLE_PLAIN, context);
                return 0;
        }
        return 0;
}

int yaml_write(struct buf *b, const struct value *v, unsigned flags, struct err *err)
{
        struct writer w = { .buf = b, .flags = flags, .indent = -1, .is_whitespace = true, .is_indention = true };
        int r = write_node(&w, v, CONTEXT_ROOT, err);

        if (r < 0)
                return r;
        w.indent = 0;
        if (w.column > 0 || !w.is_indention)
                put_break(&w);
        return buf_check(b, "YAML text", err);
}
