/* Accepts the same texts as mail.ParseAddress: an address, alone, with a name before it, or as the only one of a group. */
#include "schema-formats.h"

#include "utf8.h"

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

static bool is_visible(uint32_t rune)
{
        return (rune >= '!' && rune <= '~') || rune >= 0x80;
}

static void skip_space(struct str *s)
{
        while (s->n > 0 && is_space(s->p[0]))
                *s = str_skip(*s, 1);
}

static bool take(struct str *s, char c)
{
        if (s->n == 0 || s->p[0] != c)
                return false;
        *s = str_skip(*s, 1);
        return true;
}

/* Takes a comment, which may contain others; the opening parenthesis is already taken. */
static bool take_comment(struct str *s)
{
        unsigned depth = 1;

        while (s->n > 0 && depth > 0) {
                if (s->p[0] == '\\' && s->n > 1)
                        *s = str_skip(*s, 1);
                else if (s->p[0] == '(')
                        depth++;
                else if (s->p[0] == ')')
                        depth--;
                *s = str_skip(*s, 1);
        }
        return depth == 0;
}

static bool skip_comments(struct str *s)
{
        skip_space(s);
        while (take(s, '(')) {
                if (!take_comment(s))
                        return false;
                skip_space(s);
        }
        return true;
}

static bool is_atom_rune(uint32_t rune)
{
        return is_visible(rune) && (rune >= 0x80 || !strchr("()<>[]:;@\\,\"", (int)rune));
}

/* Takes atoms with dots between them; a name may have dots anywhere. */
static bool take_atom(struct str *s, bool is_name)
{
        struct str all = *s, atom;

        while (s->n > 0) {
                size_t width;
                uint32_t rune = utf8_decode(*s, &width);

                if (rune == RUNE_ERROR && width == 1)
                        return false;
                if (!is_atom_rune(rune))
                        break;
                *s = str_skip(*s, width);
        }
        atom = str_first(all, all.n - s->n);
        if (atom.n == 0)
                return false;
        return is_name || !(atom.p[0] == '.' || atom.p[atom.n - 1] == '.' || str_find(atom, STR("..")) >= 0);
}

/* Takes a quoted string; s begins with the opening quote. *ret_n is the number of characters in it. */
static bool take_quoted(struct str *s, size_t *ret_n)
{
        size_t n = 0;

        *s = str_skip(*s, 1);
        for (; s->n > 0; n++) {
                size_t width;
                uint32_t rune = utf8_decode(*s, &width);

                if (rune == '"') {
                        *s = str_skip(*s, 1);
                        *ret_n = n;
                        return true;
                }
                if (rune == '\\') {
                        *s = str_skip(*s, 1);
                        if (s->n == 0)
                                return false;
                        rune = utf8_decode(*s, &width);
                }
                if ((rune == RUNE_ERROR && width == 1) || !(is_visible(rune) || rune == ' ' || rune == '\t'))
                        return false;
                *s = str_skip(*s, width);
        }
        return false;
}

static bool take_domain_literal(struct str *s)
{
        ptrdiff_t end = str_find_char(*s, ']');
        struct str inside;

        if (end < 0)
                return false;
        inside = str_make(s->p + 1, (size_t)end - 1);
        *s = str_skip(*s, (size_t)end + 1);
        return format_is_ipv4(inside) || format_is_ipv6(inside);
}

static bool take_address(struct str *s)
{
        size_t n = 1;

        skip_space(s);
        if (s->n == 0)
                return false;
        if (!(s->p[0] == '"' ? take_quoted(s, &n) : take_atom(s, false)) || n == 0)
                return false;
        if (!take(s, '@'))
                return false;
        skip_space(s);
        if (s->n == 0)
                return false;
        return s->p[0] == '[' ? take_domain_literal(s) : take_atom(s, false);
}

/* Takes one or more words. */
static bool take_phrase(struct str *s)
{
        for (size_t n_words = 0;; n_words++) {
                struct str before;
                size_t n;

                if (n_words > 0 && !skip_comments(s))
                        return false;
                skip_space(s);
                before = *s;
                if (s->n == 0 || !(s->p[0] == '"' ? take_quoted(s, &n) : take_atom(s, true))) {
                        *s = before;
                        return n_words > 0;
                }
        }
}

/* Takes `addr`, `<addr>` or `name <addr>`, and comments after it. */
static bool take_mailbox(struct str *s, bool *ret_is_group)
{
        struct str rest;

        *ret_is_group = false;
        skip_space(s);
        if (s->n == 0)
                return false;
        rest = *s;
        if (take_address(&rest)) {
                skip_space(&rest);
                if (take(&rest, '(') && !take_comment(&rest))
                        return false;
                *s = rest;
                return true;
        }
        if (s->p[0] != '<' && !take_phrase(s))
                return false;
        skip_space(s);
        if (take(s, ':')) {
                *ret_is_group = true;
                return true;
        }
        return take(s, '<') && take_address(s) && take(s, '>');
}

bool format_is_email(struct str text)
{
        bool is_group, inner;

        if (!take_mailbox(&text, &is_group))
                return false;
        if (is_group) {
                skip_space(&text);
                if (!skip_comments(&text) || !take_mailbox(&text, &inner) || inner || !skip_comments(&text) ||
                    !take(&text, ';'))
                        return false;
        }
        return skip_comments(&text) && text.n == 0;
}
