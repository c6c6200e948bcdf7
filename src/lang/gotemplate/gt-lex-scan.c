/* Tokens inside of actions: identifiers, fields, numbers, quoted texts. */
#include "gt-lex-scan.h"

#include "buf.h"
#include "gotext.h"
#include "utf8.h"

int32_t gt_lex_rune(struct gt_lexer *l)
{
        size_t width = 1;
        uint32_t rune;

        if (l->at >= l->input.n) {
                l->is_at_end = true;
                return GT_RUNE_EOF;
        }
        rune = (unsigned char)l->input.p[l->at];
        if (rune >= 0x80)
                rune = utf8_decode(str_skip(l->input, l->at), &width);
        l->at += width;
        l->line += rune == '\n';
        return (int32_t)rune;
}

/* Offset of the last rune before `end`. */
static size_t last_rune(struct str s, size_t end)
{
        size_t width;

        for (size_t n = 4; n > 1; n--) {
                if (n > end)
                        continue;
                utf8_decode(str_make(s.p + end - n, n), &width);
                if (width == n)
                        return end - n;
        }
        return end - 1;
}

void gt_lex_back(struct gt_lexer *l)
{
        if (l->is_at_end || l->at == 0)
                return;
        l->at = (unsigned char)l->input.p[l->at - 1] < 0x80 ? l->at - 1 : last_rune(l->input, l->at);
        l->line -= l->input.p[l->at] == '\n';
}

int32_t gt_lex_peek(struct gt_lexer *l)
{
        int32_t rune;

        if (l->at < l->input.n && (unsigned char)l->input.p[l->at] < 0x80)
                return l->input.p[l->at];
        rune = gt_lex_rune(l);
        gt_lex_back(l);
        return rune;
}

bool gt_is_alphanumeric(int32_t rune)
{
        if (rune < 0)
                return false;
        return rune == '_' || go_is_letter((uint32_t)rune) || go_is_digit((uint32_t)rune);
}

struct gt_token gt_lex_error_rune(struct gt_lexer *l, struct str text, int32_t rune)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value v = value_of_int(rune);

        buf_append_str(&b, text);
        go_sprintf(&b, STR("%#U"), (const struct value *[]) { &v }, 1, 0);
        return gt_lex_error(l, buf_to_arena(&b, l->arena));
}

/* --- Words --- */

/* True if a word may end here. */
static bool is_at_terminator(struct gt_lexer *l)
{
        int32_t rune = gt_lex_peek(l);

        switch (rune) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
        case GT_RUNE_EOF:
        case '.':
        case ',':
        case '|':
        case ':':
        case ')':
        case '(':
                return true;
        default:
                return str_starts_with(str_skip(l->input, l->at), l->right);
        }
}

static bool is_word_byte(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Reads to the end of the word; returns the rune after it. */
static int32_t skip_word(struct gt_lexer *l)
{
        int32_t rune;

        while (l->at < l->input.n && is_word_byte(l->input.p[l->at]))
                l->at++;
        if (l->at < l->input.n && (unsigned char)l->input.p[l->at] < 0x80)
                return l->input.p[l->at];
        do
                rune = gt_lex_rune(l);
        while (gt_is_alphanumeric(rune));
        gt_lex_back(l);
        return rune;
}

static enum gt_token_type word_type(struct str word)
{
        static const struct {
                struct str word;
                enum gt_token_type type;
        } words[] = {
                { STR_INIT("block"), GT_TOKEN_BLOCK },
                { STR_INIT("break"), GT_TOKEN_BREAK },
                { STR_INIT("continue"), GT_TOKEN_CONTINUE },
                { STR_INIT("define"), GT_TOKEN_DEFINE },
                { STR_INIT("else"), GT_TOKEN_ELSE },
                { STR_INIT("end"), GT_TOKEN_END },
                { STR_INIT("if"), GT_TOKEN_IF },
                { STR_INIT("range"), GT_TOKEN_RANGE },
                { STR_INIT("nil"), GT_TOKEN_NIL },
                { STR_INIT("template"), GT_TOKEN_TEMPLATE },
                { STR_INIT("with"), GT_TOKEN_WITH },
                { STR_INIT("true"), GT_TOKEN_BOOL },
                { STR_INIT("false"), GT_TOKEN_BOOL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (word.p[0] == words[i].word.p[0] && str_equal(word, words[i].word))
                        return words[i].type;
        return GT_TOKEN_IDENTIFIER;
}

struct gt_token gt_lex_identifier(struct gt_lexer *l)
{
        int32_t rune = skip_word(l);

        if (!is_at_terminator(l))
                return gt_lex_error_rune(l, STR("bad character "), rune);
        return gt_lex_token(l, word_type(str_make(l->input.p + l->start, l->at - l->start)));
}

struct gt_token gt_lex_field(struct gt_lexer *l, enum gt_token_type type)
{
        int32_t rune;

        if (is_at_terminator(l))
                return gt_lex_token(l, type == GT_TOKEN_VARIABLE ? GT_TOKEN_VARIABLE : GT_TOKEN_DOT);
        rune = skip_word(l);
        if (!is_at_terminator(l))
                return gt_lex_error_rune(l, STR("bad character "), rune);
        return gt_lex_token(l, type);
}

/* --- Quoted texts --- */

/* Bytes that neither end a quoted text nor count a line. */
static bool is_plain_byte(char c)
{
        return c >= ' ' && c < 0x7F && c != '"' && c != '`' && c != '\'' && c != '\\';
}

struct gt_token gt_lex_quoted(struct gt_lexer *l, int32_t quote)
{
        static const struct str complaints[] = {
                STR_INIT("unterminated quoted string"),
                STR_INIT("unterminated raw quoted string"),
                STR_INIT("unterminated character constant"),
        };
        unsigned which = quote == '"' ? 0 : quote == '`' ? 1 : 2;
        static const enum gt_token_type types[] = { GT_TOKEN_STRING, GT_TOKEN_RAW_STRING, GT_TOKEN_CHAR_CONSTANT };

        for (;;) {
                int32_t rune;

                while (l->at < l->input.n && is_plain_byte(l->input.p[l->at]))
                        l->at++;
                rune = gt_lex_rune(l);
                if (rune == quote)
                        return gt_lex_token(l, types[which]);
                if (rune == '\\' && quote != '`')
                        rune = gt_lex_rune(l);
                if (rune == GT_RUNE_EOF || (rune == '\n' && quote != '`'))
                        return gt_lex_error(l, complaints[which]);
        }
}

/* --- Numbers --- */

static bool accept(struct gt_lexer *l, const char *any)
{
        int32_t rune = gt_lex_rune(l);

        if (rune > 0 && rune < 0x80 && strchr(any, rune))
                return true;
        gt_lex_back(l);
        return false;
}

static void accept_run(struct gt_lexer *l, const char *any)
{
        while (accept(l, any))
                ;
}

static const char *digits_of_prefix(struct gt_lexer *l)
{
        if (!accept(l, "0"))
                return "0123456789_";
        if (accept(l, "xX"))
                return "0123456789abcdefABCDEF_";
        if (accept(l, "oO"))
                return "01234567_";
        return accept(l, "bB") ? "01_" : "0123456789_";
}

static void accept_exponent(struct gt_lexer *l, const char *marks)
{
        if (!accept(l, marks))
                return;
        accept(l, "+-");
        accept_run(l, "0123456789_");
}

static bool scan_number(struct gt_lexer *l)
{
        const char *digits;

        accept(l, "+-");
        digits = digits_of_prefix(l);
        accept_run(l, digits);
        if (accept(l, "."))
                accept_run(l, digits);
        if (strlen(digits) == 11)
                accept_exponent(l, "eE");
        if (strlen(digits) == 23)
                accept_exponent(l, "pP");
        accept(l, "i");
        if (!gt_is_alphanumeric(gt_lex_peek(l)))
                return true;
        gt_lex_rune(l);
        return false;
}

static struct gt_token bad_number(struct gt_lexer *l)
{
        struct str text = str_make(l->input.p + l->start, l->at - l->start);

        return gt_lex_error(l, ARENA_CONCAT(l->arena, STR("bad number syntax: "), go_quote(l->arena, text)));
}

struct gt_token gt_lex_number(struct gt_lexer *l)
{
        int32_t sign;

        if (!scan_number(l))
                return bad_number(l);
        sign = gt_lex_peek(l);
        if (sign != '+' && sign != '-')
                return gt_lex_token(l, GT_TOKEN_NUMBER);
        if (!scan_number(l) || l->input.p[l->at - 1] != 'i')
                return bad_number(l);
        return gt_lex_token(l, GT_TOKEN_COMPLEX);
}
