/* Lookahead of tokens, and errors about tokens. */
#include "gt-parser.h"

#include "buf.h"
#include "gotext.h"

/* The token stays where it is until the next one is read. */
static const struct gt_token *next(struct gt_parser *p)
{
        if (p->n_ahead > 0)
                return &p->tokens[--p->n_ahead];
        p->tokens[0] = gt_lex_next(&p->shared->lexer);
        return &p->tokens[0];
}

struct gt_token gt_parse_next(struct gt_parser *p)
{
        return *next(p);
}

struct gt_token gt_parse_peek(struct gt_parser *p)
{
        if (p->n_ahead > 0)
                return p->tokens[p->n_ahead - 1];
        p->n_ahead = 1;
        p->tokens[0] = gt_lex_next(&p->shared->lexer);
        return p->tokens[0];
}

void gt_parse_back(struct gt_parser *p)
{
        p->n_ahead++;
}

void gt_parse_back2(struct gt_parser *p, struct gt_token t1)
{
        p->tokens[1] = t1;
        p->n_ahead = 2;
}

void gt_parse_back3(struct gt_parser *p, struct gt_token t2, struct gt_token t1)
{
        p->tokens[1] = t1;
        p->tokens[2] = t2;
        p->n_ahead = 3;
}

struct gt_token gt_parse_next_non_space(struct gt_parser *p)
{
        const struct gt_token *t;

        do
                t = next(p);
        while (t->type == GT_TOKEN_SPACE);
        return *t;
}

struct gt_token gt_parse_peek_non_space(struct gt_parser *p)
{
        struct gt_token t = gt_parse_next_non_space(p);

        gt_parse_back(p);
        return t;
}

/* Columns count bytes, from 1. */
static struct position position_of(const struct gt_parser *p, size_t at)
{
        struct str text = p->shared->result->text;
        struct position r = { 1, 1, at };

        for (size_t i = 0; i < at && i < text.n; i++) {
                r.column = text.p[i] == '\n' ? 1 : r.column + 1;
                r.line += text.p[i] == '\n';
        }
        return r;
}

_printf_(3, 0) static void *fail_at(struct gt_parser *p, uint32_t at, const char *format, va_list arguments)
{
        struct gt_parse *shared = p->shared;
        struct str text;

        if (shared->r < 0)
                return NULL;
        text = arena_vprintf(&shared->result->arena, format, arguments);
        shared->r = err_set(shared->err, ERR_INVALID, "template: %.*s:%u: %.*s", STR_ARG(shared->result->name),
                            p->tokens[0].line, STR_ARG(text));
        err_set_position(shared->err, position_of(p, at));
        return NULL;
}

void *gt_parse_fail(struct gt_parser *p, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        fail_at(p, p->tokens[0].at, format, arguments);
        va_end(arguments);
        return NULL;
}

void *gt_parse_fail_at(struct gt_parser *p, uint32_t at, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        fail_at(p, at, format, arguments);
        va_end(arguments);
        return NULL;
}

/* The token as error texts show it: keywords in < >, long tokens cut. */
static struct str token_text(struct arena *a, struct gt_token t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value v = value_of_str(t.text);

        if (t.type == GT_TOKEN_EOF)
                return STR("EOF");
        if (t.type == GT_TOKEN_ERROR)
                return t.text;
        if (t.type > GT_TOKEN_KEYWORD)
                return ARENA_CONCAT(a, STR("<"), t.text, STR(">"));
        go_sprintf(&b, t.text.n > 10 ? STR("%.10q...") : STR("%q"), (const struct value *[]) { &v }, 1, 0);
        return buf_to_arena(&b, a);
}

void *gt_parse_unexpected(struct gt_parser *p, struct gt_token token, const char *context)
{
        struct arena *a = &p->shared->result->arena;
        struct str name = p->shared->result->name;

        if (token.type != GT_TOKEN_ERROR)
                return gt_parse_fail(p, "unexpected %.*s in %s", STR_ARG(token_text(a, token)), context);
        if (p->action_line == 0 || p->action_line == token.line)
                return gt_parse_fail(p, "%.*s", STR_ARG(token.text));
        return gt_parse_fail(p, "%.*s%s started at %.*s:%u", STR_ARG(token.text),
                             str_ends_with(token.text, STR(" action")) ? "" : " in action", STR_ARG(name),
                             p->action_line);
}

void gt_parse_append(struct gt_parser *p, const void ***items, uint32_t *n, uint32_t *capacity, const void *item)
{
        if (*n == *capacity) {
                uint32_t more = *capacity ? *capacity * 2 : 2;
                const void **grown = arena_alloc(&p->shared->result->arena, more * sizeof(*grown));

                if (*n > 0)
                        memcpy(grown, *items, *n * sizeof(*grown));
                *items = grown;
                *capacity = more;
        }
        (*items)[(*n)++] = item;
}
