/* html, js, urlquery. */
#include "buf.h"
#include "gotext.h"
#include "gt-builtin.h"
#include "gt-print.h"
#include "utf8.h"

/* Appends a single string as it is; joins all other arguments as print does, with `<no value>` for nils. */
static void append_arguments(struct gt_context *c, struct buf *b, const struct gt_value *arguments, size_t n)
{
        struct gt_value *shown = ARENA_NEW_ARRAY(c->arena, struct gt_value, n + 1);

        for (size_t i = 0; i < n; i++)
                shown[i] = gt_is_nil(arguments[i]) ? gt_string(STR("<no value>")) : arguments[i];
        gt_append_sprint(c, b, shown, n);
}

static struct str html_of(char c)
{
        switch (c) {
        case 0:
                return STR("\xEF\xBF\xBD");
        case '"':
                return STR("&#34;");
        case '\'':
                return STR("&#39;");
        case '&':
                return STR("&amp;");
        case '<':
                return STR("&lt;");
        case '>':
                return STR("&gt;");
        default:
                return STR_NONE;
        }
}

static void append_html(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n && !b->has_failed; i++) {
                struct str escaped = html_of(s.p[i]);

                if (escaped.p)
                        buf_append_str(b, escaped);
                else
                        buf_append_char(b, s.p[i]);
        }
}

static void append_js_ascii(struct buf *b, char c)
{
        if (c == '\\' || c == '\'' || c == '"') {
                buf_append_char(b, '\\');
                buf_append_char(b, c);
        } else if (c == '<' || c == '>' || c == '&' || c == '=' || (unsigned char)c < ' ') {
                buf_appendf(b, "\\u%04X", (unsigned)c);
        } else {
                buf_append_char(b, c);
        }
}

static void append_js(struct buf *b, struct str s)
{
        size_t width;

        for (size_t i = 0; i < s.n && !b->has_failed; i += width) {
                uint32_t rune = utf8_decode(str_skip(s, i), &width);

                if (rune < 0x80)
                        append_js_ascii(b, s.p[i]);
                else if (go_is_printable(rune))
                        buf_append(b, s.p + i, width);
                else
                        buf_appendf(b, "\\u%04X", rune);
        }
}

static bool is_unreserved(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.' || c == '~';
}

static void append_query(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n && !b->has_failed; i++) {
                if (is_unreserved(s.p[i]))
                        buf_append_char(b, s.p[i]);
                else if (s.p[i] == ' ')
                        buf_append_char(b, '+');
                else
                        buf_appendf(b, "%%%02X", (unsigned char)s.p[i]);
        }
}

static int escape(struct gt_context *c, const struct gt_value *arguments, size_t n,
                  void (*append)(struct buf *b, struct str s), struct gt_value *ret)
{
        _cleanup_buf_ struct buf text = BUF_INIT(gt_max_text(c));
        _cleanup_buf_ struct buf escaped = BUF_INIT(gt_max_text(c));

        append_arguments(c, &text, arguments, n);
        append(&escaped, buf_str(&text));
        if (text.has_failed)
                return gt_take_text(c, &text, ret);
        return gt_take_text(c, &escaped, ret);
}

int gt_call_html(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        return escape(c, arguments, n, append_html, ret);
}

int gt_call_js(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        return escape(c, arguments, n, append_js, ret);
}

int gt_call_urlquery(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        return escape(c, arguments, n, append_query, ret);
}
