/* Places inside of a text that a file holds as a scalar. Every style of YAML, and JSON, may break and indent a text in its own way,
 * but all of them keep the visible characters and their order. So the nth visible character of the text is the nth of the scalar. */
#include "source.h"

struct scan {
        struct str text; /* of the file, from the scalar on */
        size_t at;
        char quote; /* ' or ", or 0 for plain and block style */
};

static bool is_white(uint32_t c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_continuation(char c)
{
        return ((unsigned char)c & 0xC0) == 0x80;
}

/* The number of visible characters before the offset. */
static size_t count_visible(struct str text, size_t offset)
{
        size_t n = 0;

        for (size_t i = 0; i < offset && i < text.n; i++)
                n += !is_white((unsigned char)text.p[i]) && !is_continuation(text.p[i]);
        return n;
}

static void skip_to(struct scan *s, bool is_wanted)
{
        while (s->at < s->text.n && is_white((unsigned char)s->text.p[s->at]) != is_wanted)
                s->at++;
}

/* Skips tag, anchor, opening quote and the header of a block. */
static void enter(struct scan *s)
{
        while (s->at < s->text.n && (s->text.p[s->at] == '&' || s->text.p[s->at] == '!')) {
                skip_to(s, true);
                skip_to(s, false);
        }
        if (s->at == s->text.n)
                return;
        if (s->text.p[s->at] == '"' || s->text.p[s->at] == '\'')
                s->quote = s->text.p[s->at++];
        else if (s->text.p[s->at] == '|' || s->text.p[s->at] == '>')
                while (s->at < s->text.n && s->text.p[s->at] != '\n')
                        s->at++;
}

static size_t escape_digits(char c)
{
        return c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
}

/* Skips an escape of a double-quoted text; true if it makes a visible character. */
static bool skip_escape(struct scan *s)
{
        char c = s->at + 1 < s->text.n ? s->text.p[s->at + 1] : ' ';
        size_t n = escape_digits(c);
        uint32_t rune = 0;

        s->at += 2;
        if (n == 0)
                return !is_white((unsigned char)c) && c != 'n' && c != 't' && c != 'r';
        for (; n > 0 && s->at < s->text.n; n--, s->at++) {
                char digit = s->text.p[s->at];

                rune = rune * 16 + (uint32_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
        }
        return !is_white(rune) && !(rune >= 0xDC00 && rune <= 0xDFFF);
}

/* Skips one character of the scalar; true if it is visible in the text. */
static bool skip_one(struct scan *s)
{
        char c = s->text.p[s->at];

        if (s->quote == '"' && c == '\\')
                return skip_escape(s);
        s->at += s->quote == '\'' && c == '\'' ? 2 : 1;
        return !is_white((unsigned char)c) && !is_continuation(c);
}

/* True if the scan stands at the end of the scalar, as far as its style shows. */
static bool is_at_end(const struct scan *s)
{
        if (s->at >= s->text.n)
                return true;
        if (!s->quote || s->text.p[s->at] != s->quote)
                return false;
        return s->quote == '"' || s->at + 1 >= s->text.n || s->text.p[s->at + 1] != '\'';
}

/* The scan stands at the character of the text, unless the character is escaped: then it cannot be compared. */
static bool is_same(const struct scan *s, struct str text, size_t offset)
{
        char c = s->text.p[s->at];

        return (s->quote == '"' && c == '\\') || c == text.p[offset];
}

int source_locate_in_text(const struct source_file *s, size_t document, const struct path *path, struct str text,
                          size_t offset, struct position *ret, struct err *err)
{
        struct scan scan = { .text = s->text };
        struct position start;
        size_t left;
        int r = source_locate(s, document, path, &start, err);

        if (r < 0)
                return r;
        while (offset < text.n && is_white((unsigned char)text.p[offset]))
                offset++;
        left = count_visible(text, offset);
        scan.at = start.offset;
        enter(&scan);
        while (left > 0 && !is_at_end(&scan))
                left -= skip_one(&scan);
        while (!is_at_end(&scan)) {
                struct scan next = scan;

                if (skip_one(&next))
                        break;
                scan = next;
        }
        if (left > 0 || offset >= text.n || is_at_end(&scan) || !is_same(&scan, text, offset))
                return err_set(err, ERR_NOT_FOUND, "the text is not in %.*s in this form", STR_ARG(s->name));
        *ret = source_position(s->text, scan.at);
        return 0;
}
