/* Pipelines: declarations, commands, operands. */
#include "gt-parser.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"

/* --- Variables --- */

static uint32_t variable_number(struct gt_parse *shared, struct str name)
{
        for (size_t i = 0; i < shared->variables.n; i++)
                if (str_equal(shared->variables.p[i], name))
                        return (uint32_t)i;
        vec_push(&shared->variables, name);
        return (uint32_t)(shared->variables.n - 1);
}

uint32_t gt_parse_declare(struct gt_parser *p, struct str name)
{
        uint32_t number = variable_number(p->shared, name);

        vec_push(&p->variables, number);
        return number;
}

static struct gt_names_node *new_variable(struct gt_parser *p, struct gt_token token, uint32_t number)
{
        struct gt_names_node *v = GT_NODE(p, gt_names_node, GT_NODE_VARIABLE, token.at);
        struct str *name = ARENA_NEW(&p->shared->result->arena, struct str);

        *name = token.text;
        v->names = name;
        v->n = 1;
        v->variable = number;
        return v;
}

static struct gt_node *use_variable(struct gt_parser *p, struct gt_token token)
{
        uint32_t number = variable_number(p->shared, token.text);

        for (size_t i = 0; i < p->variables.n; i++)
                if (p->variables.p[i] == number)
                        return &new_variable(p, token, number)->node;
        return gt_parse_fail_at(p, token.at, "undefined variable %.*s",
                                STR_ARG(go_quote(&p->shared->result->arena, token.text)));
}

/* --- Operands --- */

static struct gt_node *parse_identifier(struct gt_parser *p, struct gt_token token)
{
        bool is_builtin;
        const struct gt_func *function = gt_parse_function(p, token.text, &is_builtin);
        struct gt_identifier_node *i;

        if (!function)
                return gt_parse_fail_at(p, token.at, "function %.*s not defined",
                                        STR_ARG(go_quote(&p->shared->result->arena, token.text)));
        i = GT_NODE(p, gt_identifier_node, GT_NODE_IDENTIFIER, token.at);
        i->name = token.text;
        i->function = function;
        i->is_builtin = is_builtin;
        return &i->node;
}

static struct gt_node *parse_field(struct gt_parser *p, struct gt_token token)
{
        struct gt_names_node *f = GT_NODE(p, gt_names_node, GT_NODE_FIELD, token.at);
        struct str *name = ARENA_NEW(&p->shared->result->arena, struct str);

        *name = str_skip(token.text, 1);
        f->names = name;
        f->n = 1;
        return &f->node;
}

static struct gt_node *parse_string(struct gt_parser *p, struct gt_token token)
{
        struct gt_string_node *s = GT_NODE(p, gt_string_node, GT_NODE_STRING, token.at);

        s->quoted = token.text;
        if (!gt_unquote(&p->shared->result->arena, token.text, &s->text))
                return gt_parse_fail(p, "invalid syntax");
        return &s->node;
}

static struct gt_node *parse_parens(struct gt_parser *p)
{
        struct gt_pipe_node *pipe;

        if (p->paren_depth >= LIMIT_TEMPLATE_PARENS)
                return gt_parse_fail(p, "max expression depth exceeded");
        p->paren_depth++;
        pipe = gt_parse_pipeline(p, "parenthesized pipeline", GT_TOKEN_RIGHT_PAREN);
        p->paren_depth--;
        return pipe ? &pipe->node : NULL;
}

static struct gt_node *parse_bool(struct gt_parser *p, struct gt_token token)
{
        struct gt_bool_node *b = GT_NODE(p, gt_bool_node, GT_NODE_BOOL, token.at);

        b->is_true = str_equal(token.text, STR("true"));
        return &b->node;
}

/* One operand without its fields. NULL without an error if there is no operand here. */
static struct gt_node *parse_term(struct gt_parser *p)
{
        struct gt_token token = gt_parse_next_non_space(p);
        struct gt_number_node *number;

        switch (token.type) {
        case GT_TOKEN_IDENTIFIER:
                return parse_identifier(p, token);
        case GT_TOKEN_DOT:
                return gt_new_node(p, sizeof(struct gt_node), GT_NODE_DOT, token.at);
        case GT_TOKEN_NIL:
                return gt_new_node(p, sizeof(struct gt_node), GT_NODE_NIL, token.at);
        case GT_TOKEN_VARIABLE:
                return use_variable(p, token);
        case GT_TOKEN_FIELD:
                return parse_field(p, token);
        case GT_TOKEN_BOOL:
                return parse_bool(p, token);
        case GT_TOKEN_CHAR_CONSTANT:
        case GT_TOKEN_COMPLEX:
        case GT_TOKEN_NUMBER:
                number = gt_parse_number(p, token);
                return number ? &number->node : NULL;
        case GT_TOKEN_LEFT_PAREN:
                return parse_parens(p);
        case GT_TOKEN_STRING:
        case GT_TOKEN_RAW_STRING:
                return parse_string(p, token);
        default:
                gt_parse_back(p);
                return NULL;
        }
}

/* Appends the names of the fields that follow to the n names that exist already. */
static const struct str *take_fields(struct gt_parser *p, const struct str *names, uint32_t *n)
{
        VEC(struct str) all = { 0 };
        struct str *copy;

        for (uint32_t i = 0; i < *n; i++)
                vec_push(&all, names[i]);
        while (gt_parse_peek(p).type == GT_TOKEN_FIELD)
                vec_push(&all, str_skip(gt_parse_next(p).text, 1));
        copy = ARENA_NEW_ARRAY(&p->shared->result->arena, struct str, all.n);
        memcpy(copy, all.p, all.n * sizeof(*copy));
        *n = (uint32_t)all.n;
        vec_done(&all);
        return copy;
}

static struct gt_node *refuse_fields(struct gt_parser *p, const struct gt_node *node)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct arena *a = &p->shared->result->arena;

        gt_append_node(&b, node);
        return gt_parse_fail(p, "unexpected . after term %.*s", STR_ARG(go_quote(a, buf_str(&b))));
}

/* The fields after an operand. Fields after a field or variable become part of that node, at the position of the second name. */
static struct gt_node *parse_chain(struct gt_parser *p, struct gt_node *node)
{
        uint32_t at = gt_parse_peek(p).at;
        struct gt_names_node *names = (struct gt_names_node *)node;

        switch ((enum gt_node_type)node->type) {
        case GT_NODE_FIELD:
        case GT_NODE_VARIABLE:
                names->names = take_fields(p, names->names, &names->n);
                names->node.at = at;
                return node;
        case GT_NODE_BOOL:
        case GT_NODE_STRING:
        case GT_NODE_NUMBER:
        case GT_NODE_NIL:
        case GT_NODE_DOT:
                take_fields(p, NULL, &(uint32_t) { 0 });
                return refuse_fields(p, node);
        default:
                names = GT_NODE(p, gt_names_node, GT_NODE_CHAIN, at);
                names->operand = node;
                names->names = take_fields(p, NULL, &names->n);
                return &names->node;
        }
}

static struct gt_node *parse_operand(struct gt_parser *p)
{
        struct gt_node *node = parse_term(p);

        if (!node || gt_parse_peek(p).type != GT_TOKEN_FIELD)
                return node;
        return parse_chain(p, node);
}

/* --- Commands --- */

static struct gt_command_node *parse_command(struct gt_parser *p)
{
        struct gt_command_node *c = GT_NODE(p, gt_command_node, GT_NODE_COMMAND, gt_parse_peek_non_space(p).at);

        for (;;) {
                struct gt_node *operand;
                struct gt_token token;

                gt_parse_peek_non_space(p);
                operand = parse_operand(p);
                if (p->shared->r < 0)
                        return NULL;
                if (operand)
                        gt_parse_append(p, (const void ***)&c->arguments, &c->n, &c->capacity, operand);
                token = gt_parse_next(p);
                if (token.type == GT_TOKEN_SPACE)
                        continue;
                if (token.type == GT_TOKEN_RIGHT_DELIM || token.type == GT_TOKEN_RIGHT_PAREN)
                        gt_parse_back(p);
                else if (token.type != GT_TOKEN_PIPE)
                        return gt_parse_unexpected(p, token, "operand");
                break;
        }
        return c->n > 0 ? c : gt_parse_fail(p, "empty command");
}

/* --- Pipelines --- */

static void add_declaration(struct gt_parser *p, struct gt_pipe_node *pipe, struct gt_token variable)
{
        gt_parse_next_non_space(p);
        pipe->declared[pipe->n_declared++] = new_variable(p, variable, gt_parse_declare(p, variable.text));
}

/* `$x := `, `$x = `, and `$i, $e := ` of a range, if there are any. */
static void parse_declarations(struct gt_parser *p, struct gt_pipe_node *pipe, const char *context)
{
        while (p->shared->r == 0) {
                struct gt_token v = gt_parse_peek_non_space(p), after, next;

                if (v.type != GT_TOKEN_VARIABLE)
                        return;
                gt_parse_next(p);
                after = gt_parse_peek(p);
                next = gt_parse_peek_non_space(p);
                if (next.type == GT_TOKEN_ASSIGN || next.type == GT_TOKEN_DECLARE) {
                        pipe->is_assignment = next.type == GT_TOKEN_ASSIGN;
                        add_declaration(p, pipe, v);
                        return;
                }
                if (next.type != GT_TOKEN_CHAR || !str_equal(next.text, STR(","))) {
                        if (after.type == GT_TOKEN_SPACE)
                                gt_parse_back3(p, v, after);
                        else
                                gt_parse_back2(p, v);
                        return;
                }
                add_declaration(p, pipe, v);
                if (strcmp(context, "range") != 0 || pipe->n_declared >= 2) {
                        gt_parse_fail(p, "too many declarations in %s", context);
                        return;
                }
                next = gt_parse_peek_non_space(p);
                if (next.type != GT_TOKEN_VARIABLE && next.type != GT_TOKEN_RIGHT_DELIM &&
                    next.type != GT_TOKEN_RIGHT_PAREN)
                        gt_parse_fail(p, "range can only initialize variables");
        }
}

static struct gt_pipe_node *check_pipeline(struct gt_parser *p, struct gt_pipe_node *pipe, const char *context)
{
        if (pipe->n == 0)
                return gt_parse_fail(p, "missing value for %s", context);
        for (uint32_t i = 1; i < pipe->n; i++) {
                enum gt_node_type type = pipe->commands[i]->arguments[0]->type;

                if (type == GT_NODE_BOOL || type == GT_NODE_DOT || type == GT_NODE_NIL || type == GT_NODE_NUMBER ||
                    type == GT_NODE_STRING)
                        return gt_parse_fail(p, "non executable command in pipeline stage %u", i + 1);
        }
        gt_parse_note_purity(p, pipe);
        return pipe;
}

static bool starts_command(enum gt_token_type type)
{
        switch (type) {
        case GT_TOKEN_BOOL:
        case GT_TOKEN_CHAR_CONSTANT:
        case GT_TOKEN_COMPLEX:
        case GT_TOKEN_DOT:
        case GT_TOKEN_FIELD:
        case GT_TOKEN_IDENTIFIER:
        case GT_TOKEN_NUMBER:
        case GT_TOKEN_NIL:
        case GT_TOKEN_RAW_STRING:
        case GT_TOKEN_STRING:
        case GT_TOKEN_VARIABLE:
        case GT_TOKEN_LEFT_PAREN:
                return true;
        default:
                return false;
        }
}

struct gt_pipe_node *gt_parse_pipeline(struct gt_parser *p, const char *context, enum gt_token_type end)
{
        struct gt_pipe_node *pipe = GT_NODE(p, gt_pipe_node, GT_NODE_PIPE, gt_parse_peek_non_space(p).at);

        parse_declarations(p, pipe, context);
        while (p->shared->r == 0) {
                struct gt_token token = gt_parse_next_non_space(p);
                struct gt_command_node *command;

                if (token.type == end)
                        return check_pipeline(p, pipe, context);
                if (!starts_command(token.type))
                        return gt_parse_unexpected(p, token, context);
                gt_parse_back(p);
                command = parse_command(p);
                if (command)
                        gt_parse_append(p, (const void ***)&pipe->commands, &pipe->n, &pipe->capacity, command);
        }
        return NULL;
}
