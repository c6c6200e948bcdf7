#include "gotext.h"

#include "ascii.h"
#include "go-print.h"
#include "utf8.h"

static void append_hex(struct buf *b, uint32_t u, unsigned n_digits)
{
        static const char hex_digits[] = ASCII_HEX_LOWER;

        for (unsigned i = n_digits; i-- > 0;)
                buf_append_char(b, hex_digits[u >> (4 * i) & 15]);
}

/* The letter of a two-character escape, or 0. */
static char short_escape(uint32_t rune)
{
        static const char letters[] = "abtnvfr"; /* 7 to 13 */

        return rune >= 7 && rune <= 13 ? letters[rune - 7] : 0;
}

/* Appends a valid rune, escaped for use between quotes. */
static void append_escaped(struct buf *b, uint32_t rune, char quote, bool is_ascii_only)
{
        char letter = short_escape(rune);

        if (rune == (unsigned char)quote || rune == '\\') {
                buf_append_char(b, '\\');
                buf_append_char(b, (char)rune);
        } else if (is_ascii_only ? rune >= 0x20 && rune < 0x7F : go_is_printable(rune)) {
                go_append_rune(b, rune);
        } else if (letter) {
                buf_append_char(b, '\\');
                buf_append_char(b, letter);
        } else if (rune < 0x80) {
                buf_append_literal(b, "\\x");
                append_hex(b, rune, 2);
        } else if (rune < 0x10000) {
                buf_append_literal(b, "\\u");
                append_hex(b, rune, 4);
        } else {
                buf_append_literal(b, "\\U");
                append_hex(b, rune, 8);
        }
}

/* The number of leading bytes that need no escape in either kind of quoted string. */
static size_t plain_prefix(struct str s)
{
        size_t i = 0;

        while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x7F && s.p[i] != '"' && s.p[i] != '\\')
                i++;
        return i;
}

static void append_quoted(struct buf *b, struct str s, bool is_ascii_only)
{
        buf_append_char(b, '"');
        while (s.n > 0 && !b->has_failed) {
                size_t width = plain_prefix(s);
                uint32_t rune;

                if (width > 0) {
                        buf_append(b, s.p, width);
                        s = str_skip(s, width);
                        continue;
                }
                rune = utf8_decode(s, &width);
                if (rune == RUNE_ERROR && width == 1) {
                        buf_append_literal(b, "\\x");
                        append_hex(b, (unsigned char)s.p[0], 2);
                } else {
                        append_escaped(b, rune, '"', is_ascii_only);
                }
                s = str_skip(s, width);
        }
        buf_append_char(b, '"');
}

void go_append_quoted(struct buf *b, struct str s)
{
        append_quoted(b, s, false);
}

void go_append_quoted_ascii(struct buf *b, struct str s)
{
        append_quoted(b, s, true);
}

void go_append_quoted_rune(struct buf *b, uint32_t rune, bool is_ascii_only)
{
        if (rune > RUNE_MAX || (rune >= 0xD800 && rune <= 0xDFFF))
                rune = RUNE_ERROR;
        buf_append_char(b, '\'');
        append_escaped(b, rune, '\'', is_ascii_only);
        buf_append_char(b, '\'');
}

bool go_can_backquote(struct str s)
{
        for (size_t width; s.n > 0; s = str_skip(s, width)) {
                uint32_t rune = utf8_decode(s, &width);

                if (rune == RUNE_ERROR && width == 1)
                        return false;
                if ((rune < 0x20 && rune != '\t') || rune == '`' || rune == 0x7F || rune == 0xFEFF)
                        return false;
        }
        return true;
}

struct str go_quote(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(SIZE_MAX);

        go_append_quoted(&b, s);
        return buf_to_arena(&b, a);
}

struct str go_type_name(const struct value *v)
{
        static const struct str names[] = {
                [VALUE_NULL] = STR_INIT("<nil>"),
                [VALUE_BOOL] = STR_INIT("bool"),
                [VALUE_INT] = STR_INIT("int64"),
                [VALUE_DOUBLE] = STR_INIT("float64"),
                [VALUE_STRING] = STR_INIT("string"),
                [VALUE_ARRAY] = STR_INIT("[]interface {}"),
                [VALUE_OBJECT] = STR_INIT("map[string]interface {}"),
        };

        return names[v ? value_type(v) : VALUE_NULL];
}

const char *go_json_type(const struct value *v)
{
        static const char *const names[] = {
                [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
                [VALUE_DOUBLE] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
                [VALUE_OBJECT] = "object",
        };

        return names[v ? value_type(v) : VALUE_NULL];
}
