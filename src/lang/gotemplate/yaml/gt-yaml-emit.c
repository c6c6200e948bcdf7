#include "gt-yaml-emit.h"

#include "utf8.h"
#include "yaml-traits.h"

#include <stdio.h>

enum style {
        STYLE_PLAIN,
        STYLE_SINGLE_QUOTED,
        STYLE_DOUBLE_QUOTED,
        STYLE_LITERAL,
};

/* --- Characters --- */

static void put_char(struct gt_yaml_emitter *e, char c)
{
        buf_append_char(e->out, c);
        e->column++;
}

static void put_rune(struct gt_yaml_emitter *e, struct str rune)
{
        buf_append_str(e->out, rune);
        e->column++;
}

void gt_yaml_put_break(struct gt_yaml_emitter *e)
{
        buf_append_char(e->out, '\n');
        e->column = 0;
        e->is_indention = true;
}

static void put_text_break(struct gt_yaml_emitter *e, struct str rune)
{
        buf_append_str(e->out, rune);
        e->column = 0;
        e->is_indention = true;
}

void gt_yaml_put_indent(struct gt_yaml_emitter *e)
{
        size_t indent = e->indent > 0 ? (size_t)e->indent : 0;

        if (!e->is_indention || e->column > indent || (e->column == indent && !e->is_whitespace))
                gt_yaml_put_break(e);
        if (e->column < indent) {
                buf_append_repeat(e->out, ' ', indent - e->column);
                e->column = indent;
        }
        e->is_whitespace = true;
}

void gt_yaml_put_indicator(struct gt_yaml_emitter *e, struct str indicator, bool needs_space, bool is_indention)
{
        if (needs_space && !e->is_whitespace)
                put_char(e, ' ');
        buf_append_str(e->out, indicator);
        e->column += indicator.n;
        e->is_whitespace = false;
        e->is_indention = e->is_indention && is_indention;
}

int gt_yaml_inner_indent(const struct gt_yaml_emitter *e, enum gt_yaml_parent parent)
{
        if (parent == GT_YAML_ITEM)
                return e->indent + 2;
        return GT_YAML_INDENT * ((e->indent + GT_YAML_INDENT) / GT_YAML_INDENT);
}

/* --- Styles that a text allows --- */

static bool allows_plain(const struct yaml_traits *t)
{
        return !t->has_space_at_edge && !t->has_break_at_edge && !t->has_break_then_space && !t->has_space_then_break &&
               !t->has_tabs && !t->has_special && !t->has_breaks && !t->has_indicators;
}

static bool allows_single(const struct yaml_traits *t)
{
        return !t->has_break_then_space && !t->has_space_then_break && !t->has_tabs && !t->has_special;
}

bool gt_yaml_is_multiline(struct str s)
{
        return yaml_traits_of(s).has_breaks;
}

static enum style choose_style(struct str s, bool can_be_plain, enum gt_yaml_parent parent)
{
        struct yaml_traits t = yaml_traits_of(s);

        if (parent == GT_YAML_KEY && t.has_breaks)
                return STYLE_DOUBLE_QUOTED;
        if (memchr(s.p, '\n', s.n))
                return t.has_space_at_end || t.has_space_then_break || t.has_special || parent == GT_YAML_KEY
                               ? STYLE_DOUBLE_QUOTED
                               : STYLE_LITERAL;
        if (!can_be_plain)
                return STYLE_DOUBLE_QUOTED;
        if (allows_plain(&t))
                return STYLE_PLAIN;
        return allows_single(&t) ? STYLE_SINGLE_QUOTED : STYLE_DOUBLE_QUOTED;
}

/* --- Scalars --- */

void gt_yaml_put_plain(struct gt_yaml_emitter *e, struct str s)
{
        if (s.n > 0 && !e->is_whitespace)
                put_char(e, ' ');
        buf_append_str(e->out, s);
        e->column += s.n;
        e->is_whitespace = e->is_whitespace && s.n == 0;
        e->is_indention = false;
}

static void put_single_quoted(struct gt_yaml_emitter *e, struct str s)
{
        bool follows_break = false;

        gt_yaml_put_indicator(e, STR("'"), true, false);
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (yaml_is_break(c)) {
                        put_text_break(e, str_first(str_skip(s, i), width));
                        follows_break = true;
                        continue;
                }
                if (follows_break && c != ' ')
                        gt_yaml_put_indent(e);
                if (c == '\'')
                        put_char(e, '\'');
                put_rune(e, str_first(str_skip(s, i), width));
                e->is_indention = e->is_indention && c == ' ';
                follows_break = follows_break && c == ' ';
        }
        gt_yaml_put_indicator(e, STR("'"), false, false);
        e->is_whitespace = e->is_indention = false;
}

static void put_escape(struct gt_yaml_emitter *e, uint32_t c)
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
        int n;

        for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
                if (letters[i].rune == c) {
                        put_char(e, '\\');
                        put_char(e, letters[i].letter);
                        return;
                }
        n = snprintf(text, sizeof(text), c <= 0xFF ? "\\x%02X" : c <= 0xFFFF ? "\\u%04X" : "\\U%08X", c);
        buf_append(e->out, text, (size_t)n);
        e->column += (size_t)n;
}

static void put_double_quoted(struct gt_yaml_emitter *e, struct str s)
{
        bool escapes_all = str_starts_with(s, STR("\xEF\xBB\xBF")); /* yaml.v3 does so after a byte order mark */

        gt_yaml_put_indicator(e, STR("\""), true, false);
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (escapes_all || !yaml_is_printable(c) || yaml_is_break(c) || c == '"' || c == '\\')
                        put_escape(e, c);
                else
                        put_rune(e, str_first(str_skip(s, i), width));
        }
        gt_yaml_put_indicator(e, STR("\""), false, false);
        e->is_whitespace = e->is_indention = false;
}

/* Writes the hints after `|`: a digit if the text begins with white space, + or - unless the text ends in exactly one break. */
static void put_literal_hints(struct gt_yaml_emitter *e, struct str s)
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
                gt_yaml_put_indicator(e, STR("4"), false, false);
        if (!ends[0])
                gt_yaml_put_indicator(e, STR("-"), false, false);
        else if (ends[1])
                gt_yaml_put_indicator(e, STR("+"), false, false);
}

/* The first line of the text ends the line of the `|`. If the text begins with a break, that break ends the line instead and is
 * lost. */
static void put_literal(struct gt_yaml_emitter *e, struct str s)
{
        bool follows_break = true;

        gt_yaml_put_indicator(e, STR("|"), true, false);
        put_literal_hints(e, s);
        e->is_whitespace = true;
        for (size_t i = 0, width; i < s.n; i += width) {
                uint32_t c = utf8_decode(str_skip(s, i), &width);

                if (yaml_is_break(c)) {
                        put_text_break(e, str_first(str_skip(s, i), width));
                        follows_break = true;
                        continue;
                }
                if (follows_break)
                        gt_yaml_put_indent(e);
                put_rune(e, str_first(str_skip(s, i), width));
                e->is_indention = follows_break = false;
        }
}

void gt_yaml_put_string(struct gt_yaml_emitter *e, struct str s, bool can_be_plain, enum gt_yaml_parent parent)
{
        int outer = e->indent;

        e->indent = outer < 0 ? GT_YAML_INDENT : gt_yaml_inner_indent(e, parent);
        switch (choose_style(s, can_be_plain, parent)) {
        case STYLE_PLAIN:
                gt_yaml_put_plain(e, s);
                break;
        case STYLE_SINGLE_QUOTED:
                put_single_quoted(e, s);
                break;
        case STYLE_DOUBLE_QUOTED:
                put_double_quoted(e, s);
                break;
        case STYLE_LITERAL:
                put_literal(e, s);
                break;
        }
        e->indent = outer;
}
