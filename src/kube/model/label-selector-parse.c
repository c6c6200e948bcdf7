/* The grammar, as apimachinery's labels package reads it:
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key operator
 *     operator    = ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *
 * `in` and `notin` are keywords only where an operator is allowed. A NUL byte ends the token before it, as in upstream: for
 * upstream's lexer it marks the end of the text, but the lexer skips it and goes on. */
#include "label-requirement.h"

enum token {
        TOKEN_END,
        TOKEN_IDENTIFIER,
        TOKEN_IN, /* an identifier where a value is read */
        TOKEN_NOT_IN,
        TOKEN_OPEN,
        TOKEN_CLOSE,
        TOKEN_COMMA,
        TOKEN_NOT,
        TOKEN_EQUALS,
        TOKEN_DOUBLE_EQUALS,
        TOKEN_NOT_EQUALS,
        TOKEN_GREATER,
        TOKEN_LESS,
};

struct parser {
        struct arena *arena;
        struct str text;
        size_t position;
        enum token token; /* the next token */
        struct str literal;
        struct err *err;
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c)
{
        return c && strchr("=!(),><", c);
}

static char peek(const struct parser *p, size_t offset)
{
        return p->position + offset < p->text.n ? p->text.p[p->position + offset] : '\0';
}

static enum token symbol(const struct parser *p, size_t *ret_n)
{
        bool is_double = peek(p, 1) == '=';

        *ret_n = 1;
        switch (peek(p, 0)) {
        case '(':
                return TOKEN_OPEN;
        case ')':
                return TOKEN_CLOSE;
        case ',':
                return TOKEN_COMMA;
        case '>':
                return TOKEN_GREATER;
        case '<':
                return TOKEN_LESS;
        case '!':
                *ret_n += is_double;
                return is_double ? TOKEN_NOT_EQUALS : TOKEN_NOT;
        default:
                *ret_n += is_double;
                return is_double ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
        }
}

static size_t identifier_length(const struct parser *p)
{
        size_t n = 0;

        while (peek(p, n) && !is_symbol(peek(p, n)) && !is_space(peek(p, n)))
                n++;
        return n;
}

static void advance(struct parser *p)
{
        size_t n;

        while (is_space(peek(p, 0)))
                p->position++;
        if (!peek(p, 0)) {
                p->position = p->text.n;
                p->token = TOKEN_END;
                p->literal = STR("");
                return;
        }
        if (is_symbol(peek(p, 0))) {
                p->token = symbol(p, &n);
        } else {
                n = identifier_length(p);
                p->token = TOKEN_IDENTIFIER;
        }
        p->literal = str_make(p->text.p + p->position, n);
        if (str_equal(p->literal, STR("in")))
                p->token = TOKEN_IN;
        else if (str_equal(p->literal, STR("notin")))
                p->token = TOKEN_NOT_IN;
        p->position += n;
        if (p->position < p->text.n && !p->text.p[p->position])
                p->position++;
}

/* The next token in a place where `in` and `notin` are ordinary words. */
static enum token value_token(const struct parser *p)
{
        return p->token == TOKEN_IN || p->token == TOKEN_NOT_IN ? TOKEN_IDENTIFIER : p->token;
}

static int unexpected(struct parser *p, const char *expected)
{
        return err_set(p->err, ERR_INVALID, "found '%.*s'%s expected: %s", STR_ARG(p->literal),
                       strcmp(expected, "'('") == 0 ? "" : ",", expected);
}

static int parse_list(struct parser *p, struct str_list *values)
{
        for (;;) {
                enum token token = value_token(p);

                if (token == TOKEN_IDENTIFIER) {
                        str_list_add(values, p->literal);
                        advance(p);
                        if (p->token == TOKEN_CLOSE)
                                return 0;
                        if (p->token != TOKEN_COMMA)
                                return unexpected(p, "',' or ')'");
                        continue;
                }
                if (token != TOKEN_COMMA)
                        return unexpected(p, "',', or identifier");
                if (values->n == 0)
                        str_list_add(values, STR(""));
                advance(p);
                if (p->token == TOKEN_CLOSE) {
                        str_list_add(values, STR(""));
                        return 0;
                }
                if (p->token == TOKEN_COMMA)
                        str_list_add(values, STR(""));
        }
}

static int parse_values(struct parser *p, struct str_list *values)
{
        int r;

        if (p->token != TOKEN_OPEN)
                return unexpected(p, "'('");
        advance(p);
        if (p->token == TOKEN_CLOSE) {
                str_list_add(values, STR(""));
        } else if (p->token == TOKEN_COMMA || value_token(p) == TOKEN_IDENTIFIER) {
                r = parse_list(p, values);
                if (r < 0)
                        return r;
        } else {
                return unexpected(p, "',', ')' or identifier");
        }
        advance(p);
        return 0;
}

static int parse_exact(struct parser *p, struct str_list *values)
{
        if (p->token == TOKEN_END || p->token == TOKEN_COMMA) {
                str_list_add(values, STR(""));
                return 0;
        }
        if (value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "identifier");
        str_list_add(values, p->literal);
        advance(p);
        return 0;
}

static int parse_operator(struct parser *p, struct label_requirement *ret)
{
        switch (p->token) {
        case TOKEN_IN:
                ret->op = SELECT_IN;
                break;
        case TOKEN_NOT_IN:
                ret->op = SELECT_NOT_IN;
                break;
        case TOKEN_EQUALS:
        case TOKEN_DOUBLE_EQUALS:
                ret->op = SELECT_EQUALS;
                ret->is_double_equals = p->token == TOKEN_DOUBLE_EQUALS;
                break;
        case TOKEN_NOT_EQUALS:
                ret->op = SELECT_NOT_EQUALS;
                break;
        case TOKEN_GREATER:
                ret->op = SELECT_GREATER;
                break;
        case TOKEN_LESS:
                ret->op = SELECT_LESS;
                break;
        case TOKEN_END:
        case TOKEN_IDENTIFIER:
        case TOKEN_OPEN:
        case TOKEN_CLOSE:
        case TOKEN_COMMA:
        case TOKEN_NOT:
                return unexpected(p, "in, notin, =, ==, !=, gt, lt");
        }
        advance(p);
        return 0;
}

static int parse_key(struct parser *p, struct label_requirement *ret)
{
        ret->op = SELECT_EXISTS;
        if (p->token == TOKEN_NOT) {
                ret->op = SELECT_NOT_EXISTS;
                advance(p);
        }
        if (value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "identifier");
        ret->key = p->literal;
        advance(p);
        return requirement_check_key(p->arena, STR(""), ret->key, p->err);
}

static int parse_requirement(struct parser *p, struct label_requirement *ret)
{
        struct str_list values = { .arena = p->arena };
        int r;

        r = parse_key(p, ret);
        if (r < 0 || ret->op == SELECT_NOT_EXISTS || p->token == TOKEN_END || p->token == TOKEN_COMMA)
                return r;
        r = parse_operator(p, ret);
        if (r < 0)
                return r;
        r = ret->op == SELECT_IN || ret->op == SELECT_NOT_IN ? parse_values(p, &values) : parse_exact(p, &values);
        if (r < 0)
                return r;
        requirement_set_values(ret, &values, true);
        return requirement_check(p->arena, ret, p->err);
}

static int parse(struct parser *p, struct requirement_list *list)
{
        int r;

        if (p->token == TOKEN_END)
                return 0;
        if (p->token != TOKEN_NOT && value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "!, identifier, or 'end of string'");
        for (;;) {
                r = parse_requirement(p, requirement_list_add(list));
                if (r < 0)
                        return err_wrap(p->err, "unable to parse requirement");
                r = arena_check(p->arena, p->err);
                if (r < 0)
                        return r;
                if (p->token == TOKEN_END)
                        return 0;
                if (p->token != TOKEN_COMMA)
                        return unexpected(p, "',' or 'end of string'");
                advance(p);
                if (p->token != TOKEN_NOT && value_token(p) != TOKEN_IDENTIFIER)
                        return unexpected(p, "identifier after ','");
        }
}

int label_selector_parse(struct arena *a, struct str text, struct label_selector *ret, struct err *err)
{
        struct parser p = { .arena = a, .text = text, .err = err };
        struct requirement_list list = { .arena = a };
        int r;

        advance(&p);
        r = parse(&p, &list);
        if (r == ERR_INVALID)
                err_set_reason(err, REASON_BAD_REQUEST);
        if (r < 0)
                return r;
        requirement_list_finish(&list, ret);
        return 0;
}
