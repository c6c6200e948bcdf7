#include "gt-lex.h"

#include "gotext.h"
#include "gt-lex-scan.h"
#include "utf8.h"

#define TRIM_MARKER_BYTES 2 /* the minus and a space */

void gt_lexer_init(struct gt_lexer *l, struct arena *a, struct str text, struct str left, struct str right)
{
        *l = (struct gt_lexer) {
                .arena = a,
                .input = text,
                .left = left.n ? left : STR("{{"),
                .right = right.n ? right : STR("}}"),
                .line = 1,
                .start_line = 1,
        };
}

static uint32_t count_lines(struct str s)
{
        uint32_t n = 0;

        for (const char *p = s.p, *end = s.p + s.n; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
                n++;
        return n;
}

static struct str from_start(const struct gt_lexer *l)
{
        return str_make(l->input.p + l->start, l->at - l->start);
}

struct gt_token gt_lex_token(struct gt_lexer *l, enum gt_token_type type)
{
        struct gt_token t = { type, (uint32_t)l->start, l->start_line, from_start(l) };

        l->start = l->at;
        l->start_line = l->line;
        return t;
}

struct gt_token gt_lex_error(struct gt_lexer *l, struct str text)
{
        struct gt_token t = { GT_TOKEN_ERROR, (uint32_t)l->start, l->start_line, text };

        l->at = l->start = l->input.n = 0;
        return t;
}

/* Drops the text read so far: it is not part of a token. */
static void ignore(struct gt_lexer *l)
{
        l->line += count_lines(from_start(l));
        l->start = l->at;
        l->start_line = l->line;
}

static struct str rest_of(const struct gt_lexer *l)
{
        return str_skip(l->input, l->at);
}

static bool has_left_trim_marker(struct str s)
{
        return s.n >= 2 && s.p[0] == '-' && gt_is_space((unsigned char)s.p[1]);
}

static bool has_right_trim_marker(struct str s)
{
        return s.n >= 2 && gt_is_space((unsigned char)s.p[0]) && s.p[1] == '-';
}

/* True if the lexer is at the right delimiter; *ret_trims says whether it has a trim marker. */
static bool is_at_right_delim(const struct gt_lexer *l, bool *ret_trims)
{
        struct str rest = rest_of(l);

        *ret_trims = false;
        if (rest.n == 0 || (rest.p[0] != l->right.p[0] && !gt_is_space((unsigned char)rest.p[0])))
                return false;
        *ret_trims = has_right_trim_marker(rest) && str_starts_with(str_skip(rest, TRIM_MARKER_BYTES), l->right);
        return *ret_trims || str_starts_with(rest, l->right);
}

static size_t spaces_at_start(struct str s)
{
        size_t n = 0;

        while (n < s.n && gt_is_space((unsigned char)s.p[n]))
                n++;
        return n;
}

static size_t spaces_at_end(struct str s)
{
        size_t n = 0;

        while (n < s.n && gt_is_space((unsigned char)s.p[s.n - 1 - n]))
                n++;
        return n;
}

/* --- Text and delimiters --- */

/* `{{/ * ... * /}}`, which gives no token. True on success; false with the error in *ret. */
static bool skip_comment(struct gt_lexer *l, struct gt_token *ret)
{
        ptrdiff_t end;
        bool trims;

        l->at += 2;
        end = str_find(rest_of(l), STR("*/"));
        if (end < 0) {
                *ret = gt_lex_error(l, STR("unclosed comment"));
                return false;
        }
        l->at += (size_t)end + 2;
        if (!is_at_right_delim(l, &trims)) {
                *ret = gt_lex_error(l, STR("comment ends before closing delimiter"));
                return false;
        }
        l->at += (trims ? TRIM_MARKER_BYTES : 0) + l->right.n;
        if (trims)
                l->at += spaces_at_start(rest_of(l));
        ignore(l);
        return true;
}

static struct gt_token lex_left_delim(struct gt_lexer *l, size_t after_marker)
{
        struct gt_token t;

        l->at += l->left.n;
        t = gt_lex_token(l, GT_TOKEN_LEFT_DELIM);
        l->is_in_action = true;
        l->at += after_marker;
        ignore(l);
        l->paren_depth = 0;
        return t;
}

/* The text before a left delimiter at offset x of the rest, without the white space that a trim marker removes. */
static struct gt_token lex_text_before(struct gt_lexer *l, size_t x)
{
        struct gt_token t;
        size_t trim = 0;

        l->at += x;
        if (has_left_trim_marker(str_skip(l->input, l->at + l->left.n)))
                trim = spaces_at_end(from_start(l));
        l->at -= trim;
        l->line += count_lines(from_start(l));
        t = gt_lex_token(l, GT_TOKEN_TEXT);
        l->at += trim;
        ignore(l);
        return t;
}

static struct gt_token lex_last_text(struct gt_lexer *l)
{
        l->at = l->input.n;
        if (l->at == l->start)
                return (struct gt_token) { GT_TOKEN_EOF, (uint32_t)l->start, l->start_line, STR("EOF") };
        l->line += count_lines(from_start(l));
        return gt_lex_token(l, GT_TOKEN_TEXT);
}

static struct gt_token lex_text(struct gt_lexer *l)
{
        struct gt_token t;

        for (;;) {
                ptrdiff_t x = str_find(rest_of(l), l->left);
                size_t after_marker;

                if (x < 0)
                        return lex_last_text(l);
                if (x > 0) {
                        t = lex_text_before(l, (size_t)x);
                        if (t.text.n > 0)
                                return t;
                }
                after_marker = has_left_trim_marker(str_skip(l->input, l->at + l->left.n)) ? TRIM_MARKER_BYTES : 0;
                if (!str_starts_with(str_skip(l->input, l->at + l->left.n + after_marker), STR("/*")))
                        return lex_left_delim(l, after_marker);
                l->at += l->left.n + after_marker;
                ignore(l);
                if (!skip_comment(l, &t))
                        return t;
        }
}

static struct gt_token lex_right_delim(struct gt_lexer *l)
{
        struct gt_token t;
        bool trims;

        is_at_right_delim(l, &trims);
        if (trims) {
                l->at += TRIM_MARKER_BYTES;
                ignore(l);
        }
        l->at += l->right.n;
        t = gt_lex_token(l, GT_TOKEN_RIGHT_DELIM);
        if (trims) {
                l->at += spaces_at_start(rest_of(l));
                ignore(l);
        }
        l->is_in_action = false;
        return t;
}

/* --- Inside of actions --- */

static struct gt_token lex_space(struct gt_lexer *l)
{
        size_t n = 0;
        struct str last;

        for (; gt_is_space(gt_lex_peek(l)); n++)
                gt_lex_rune(l);
        last = str_skip(l->input, l->at - 1);
        if (has_right_trim_marker(last) && str_starts_with(str_skip(last, TRIM_MARKER_BYTES), l->right)) {
                gt_lex_back(l);
                if (n == 1)
                        return lex_right_delim(l);
        }
        return gt_lex_token(l, GT_TOKEN_SPACE);
}

static struct gt_token lex_paren(struct gt_lexer *l, int32_t rune)
{
        if (rune == '(') {
                l->paren_depth++;
                return gt_lex_token(l, GT_TOKEN_LEFT_PAREN);
        }
        if (l->paren_depth == 0)
                return gt_lex_error(l, STR("unexpected right paren"));
        l->paren_depth--;
        return gt_lex_token(l, GT_TOKEN_RIGHT_PAREN);
}

static struct gt_token lex_other(struct gt_lexer *l, int32_t rune)
{
        if (rune == '+' || rune == '-' || rune == '.' || (rune >= '0' && rune <= '9')) {
                gt_lex_back(l);
                return gt_lex_number(l);
        }
        if (gt_is_alphanumeric(rune)) {
                gt_lex_back(l);
                return gt_lex_identifier(l);
        }
        if (rune >= 0x20 && rune < 0x7F)
                return gt_lex_token(l, GT_TOKEN_CHAR);
        return gt_lex_error_rune(l, STR("unrecognized character in action: "), rune);
}

static struct gt_token lex_action(struct gt_lexer *l)
{
        int32_t rune;
        bool trims;

        if (is_at_right_delim(l, &trims))
                return l->paren_depth == 0 ? lex_right_delim(l) : gt_lex_error(l, STR("unclosed left paren"));
        if (gt_is_space(gt_lex_peek(l)))
                return lex_space(l);
        rune = gt_lex_rune(l);
        switch (rune) {
        case GT_RUNE_EOF:
                return gt_lex_error(l, STR("unclosed action"));
        case '=':
                return gt_lex_token(l, GT_TOKEN_ASSIGN);
        case ':':
                return gt_lex_rune(l) == '=' ? gt_lex_token(l, GT_TOKEN_DECLARE) : gt_lex_error(l, STR("expected :="));
        case '|':
                return gt_lex_token(l, GT_TOKEN_PIPE);
        case '"':
        case '`':
        case '\'':
                return gt_lex_quoted(l, rune);
        case '$':
                return gt_lex_field(l, GT_TOKEN_VARIABLE);
        case '(':
        case ')':
                return lex_paren(l, rune);
        case '.':
                if (l->at < l->input.n && !(l->input.p[l->at] >= '0' && l->input.p[l->at] <= '9'))
                        return gt_lex_field(l, GT_TOKEN_FIELD);
                return lex_other(l, rune);
        default:
                return lex_other(l, rune);
        }
}

struct gt_token gt_lex_next(struct gt_lexer *l)
{
        return l->is_in_action ? lex_action(l) : lex_text(l);
}
