/* Trees: text, actions and controls; define and block. */
#include "gt-parser.h"

#include "gotext.h"
#include "gotemplate.h"
#include "limits.h"

static struct gt_node *parse_text_or_action(struct gt_parser *p);
static struct gt_node *parse_control(struct gt_parser *p, enum gt_node_type type);

static void parser_init(struct gt_parser *p, struct gt_parse *shared)
{
        *p = (struct gt_parser) { .shared = shared };
        gt_parse_declare(p, STR("$"));
}

static void parser_done(struct gt_parser *p)
{
        vec_done(&p->variables);
}

/* --- Trees --- */

static struct gt_tree *find_tree(struct gt_parse *shared, struct str name)
{
        for (size_t i = 0; i < shared->trees.n; i++)
                if (str_equal(shared->trees.p[i]->name, name))
                        return shared->trees.p[i];
        return NULL;
}

/* A tree of only white space does not replace another tree, and any other tree replaces it. */
static void add_tree(struct gt_parser *p, struct str name, const struct gt_list_node *root)
{
        struct gt_tree *tree = find_tree(p->shared, name);
        struct arena *a = &p->shared->result->arena;

        if (tree && !gt_list_is_empty(tree->root)) {
                if (!gt_list_is_empty(root))
                        gt_parse_fail(p, "template: multiple definition of template %.*s", STR_ARG(go_quote(a, name)));
                return;
        }
        if (!tree) {
                tree = ARENA_NEW(a, struct gt_tree);
                tree->name = name;
                vec_push(&p->shared->trees, tree);
        }
        tree->root = root;
}

static struct gt_list_node *new_list(struct gt_parser *p, uint32_t at)
{
        return GT_NODE(p, gt_list_node, GT_NODE_LIST, at);
}

static void append_node(struct gt_parser *p, struct gt_list_node *list, struct gt_node *node)
{
        gt_parse_append(p, (const void ***)&list->nodes, &list->n, &list->capacity, node);
}

/* Nodes up to an {{end}} or {{else}}, which is *ret_next. NULL on an error. */
static struct gt_list_node *parse_list(struct gt_parser *p, struct gt_node **ret_next)
{
        struct gt_list_node *list = new_list(p, gt_parse_peek_non_space(p).at);

        while (gt_parse_peek_non_space(p).type != GT_TOKEN_EOF) {
                struct gt_node *node = parse_text_or_action(p);

                if (!node)
                        return NULL;
                if (node->type == GT_NODE_END || node->type == GT_NODE_ELSE) {
                        *ret_next = node;
                        return list;
                }
                append_node(p, list, node);
        }
        return gt_parse_fail(p, "unexpected EOF");
}

static bool expect_right_delim(struct gt_parser *p, const char *context, struct gt_token *ret)
{
        *ret = gt_parse_next_non_space(p);
        if (ret->type == GT_TOKEN_RIGHT_DELIM)
                return true;
        gt_parse_unexpected(p, *ret, context);
        return false;
}

/* --- define, block and template --- */

static bool parse_name(struct gt_parser *p, struct gt_token token, const char *context, struct str *ret)
{
        if (token.type != GT_TOKEN_STRING && token.type != GT_TOKEN_RAW_STRING) {
                gt_parse_unexpected(p, token, context);
                return false;
        }
        if (gt_unquote(&p->shared->result->arena, token.text, ret))
                return true;
        gt_parse_fail(p, "invalid syntax");
        return false;
}

/* The body of a define, after its keyword. */
static void parse_definition(struct gt_parser *p)
{
        struct gt_list_node *root;
        struct gt_token token;
        struct gt_node *end;
        struct str name;

        if (!parse_name(p, gt_parse_next_non_space(p), "define clause", &name) ||
            !expect_right_delim(p, "define clause", &token))
                return;
        root = parse_list(p, &end);
        if (!root)
                return;
        if (end->type != GT_NODE_END)
                gt_parse_fail(p, "unexpected {{else}} in define clause");
        else
                add_tree(p, name, root);
}

static void define(struct gt_parse *shared)
{
        struct gt_parser p;

        parser_init(&p, shared);
        parse_definition(&p);
        parser_done(&p);
}

static struct gt_node *new_invocation(struct gt_parser *p, uint32_t at, struct str name, struct gt_pipe_node *pipe)
{
        struct gt_template_node *t = GT_NODE(p, gt_template_node, GT_NODE_TEMPLATE, at);

        t->name = name;
        t->pipe = pipe;
        vec_push(&p->shared->invocations, t);
        return &t->node;
}

static void parse_block_body(struct gt_parser *p, struct str name)
{
        struct gt_parser block;
        struct gt_list_node *root;
        struct gt_node *end;

        parser_init(&block, p->shared);
        root = parse_list(&block, &end);
        if (root && end->type != GT_NODE_END)
                gt_parse_fail(p, "unexpected {{else}} in block clause");
        else if (root)
                add_tree(&block, name, root);
        parser_done(&block);
}

static struct gt_node *parse_block(struct gt_parser *p)
{
        struct gt_token token = gt_parse_next_non_space(p);
        struct gt_pipe_node *pipe;
        struct str name;

        if (!parse_name(p, token, "block clause", &name))
                return NULL;
        pipe = gt_parse_pipeline(p, "block clause", GT_TOKEN_RIGHT_DELIM);
        if (!pipe)
                return NULL;
        parse_block_body(p, name);
        return new_invocation(p, token.at, name, pipe);
}

static struct gt_node *parse_invocation(struct gt_parser *p)
{
        struct gt_token token = gt_parse_next_non_space(p);
        struct gt_pipe_node *pipe = NULL;
        struct str name;

        if (!parse_name(p, token, "template clause", &name))
                return NULL;
        if (gt_parse_next_non_space(p).type != GT_TOKEN_RIGHT_DELIM) {
                gt_parse_back(p);
                pipe = gt_parse_pipeline(p, "template clause", GT_TOKEN_RIGHT_DELIM);
                if (!pipe)
                        return NULL;
        }
        return new_invocation(p, token.at, name, pipe);
}

/* --- if, with and range --- */

static const char *control_name(enum gt_node_type type)
{
        return type == GT_NODE_IF ? "if" : type == GT_NODE_WITH ? "with" : "range";
}

/* `{{else if}}` is an if inside the else; one {{end}} ends both. */
static struct gt_list_node *parse_else_control(struct gt_parser *p, enum gt_node_type type, uint32_t at)
{
        struct gt_list_node *list = new_list(p, at);
        struct gt_node *node;

        gt_parse_next(p);
        node = parse_control(p, type);
        if (!node)
                return NULL;
        append_node(p, list, node);
        return list;
}

static struct gt_list_node *parse_else(struct gt_parser *p, enum gt_node_type type, uint32_t at)
{
        enum gt_token_type token = gt_parse_peek(p).type;
        struct gt_list_node *list;
        struct gt_node *next;

        if ((type == GT_NODE_IF && token == GT_TOKEN_IF) || (type == GT_NODE_WITH && token == GT_TOKEN_WITH))
                return parse_else_control(p, type, at);
        list = parse_list(p, &next);
        if (list && next->type != GT_NODE_END)
                return gt_parse_fail_at(p, p->action_at, "expected end; found {{else}}");
        return list;
}

static bool parse_branches(struct gt_parser *p, struct gt_branch_node *b, enum gt_node_type type)
{
        struct gt_node *next;

        p->range_depth += type == GT_NODE_RANGE;
        b->list = parse_list(p, &next);
        p->range_depth -= type == GT_NODE_RANGE;
        if (!b->list)
                return false;
        if (next->type == GT_NODE_ELSE)
                b->otherwise = parse_else(p, type, next->at);
        return p->shared->r == 0;
}

static struct gt_node *parse_control(struct gt_parser *p, enum gt_node_type type)
{
        struct gt_branch_node *b = GT_NODE(p, gt_branch_node, type, 0);
        size_t mark = p->variables.n;

        if (p->shared->depth >= LIMIT_TEMPLATE_CONTROLS)
                return gt_parse_fail(p, "more than %d controls in each other", LIMIT_TEMPLATE_CONTROLS);
        b->pipe = gt_parse_pipeline(p, control_name(type), GT_TOKEN_RIGHT_DELIM);
        if (!b->pipe)
                return NULL;
        b->node.at = b->pipe->node.at;
        p->shared->depth++;
        if (!parse_branches(p, b, type))
                return NULL;
        p->shared->depth--;
        p->variables.n = mark;
        return &b->node;
}

/* --- Actions --- */

static struct gt_node *parse_break(struct gt_parser *p, enum gt_node_type type, uint32_t at)
{
        const char *name = type == GT_NODE_BREAK ? "{{break}}" : "{{continue}}";
        struct gt_token token;

        if (!expect_right_delim(p, name, &token))
                return NULL;
        if (p->range_depth == 0)
                return gt_parse_fail_at(p, p->action_at, "%s outside {{range}}", name);
        return gt_new_node(p, sizeof(struct gt_node), type, at);
}

static struct gt_node *parse_end(struct gt_parser *p)
{
        struct gt_token token;

        return expect_right_delim(p, "end", &token) ? gt_new_node(p, sizeof(struct gt_node), GT_NODE_END, token.at)
                                                    : NULL;
}

static struct gt_node *parse_else_action(struct gt_parser *p)
{
        struct gt_token token = gt_parse_peek_non_space(p);

        if (token.type != GT_TOKEN_IF && token.type != GT_TOKEN_WITH && !expect_right_delim(p, "else", &token))
                return NULL;
        return gt_new_node(p, sizeof(struct gt_node), GT_NODE_ELSE, token.at);
}

static struct gt_node *parse_pipe_action(struct gt_parser *p)
{
        struct gt_action_node *a = GT_NODE(p, gt_action_node, GT_NODE_ACTION, gt_parse_peek(p).at);

        a->pipe = gt_parse_pipeline(p, "command", GT_TOKEN_RIGHT_DELIM);
        return a->pipe ? &a->node : NULL;
}

static struct gt_node *parse_action(struct gt_parser *p)
{
        struct gt_token token = gt_parse_next_non_space(p);

        p->action_at = token.at;
        switch (token.type) {
        case GT_TOKEN_BLOCK:
                return parse_block(p);
        case GT_TOKEN_BREAK:
                return parse_break(p, GT_NODE_BREAK, token.at);
        case GT_TOKEN_CONTINUE:
                return parse_break(p, GT_NODE_CONTINUE, token.at);
        case GT_TOKEN_ELSE:
                return parse_else_action(p);
        case GT_TOKEN_END:
                return parse_end(p);
        case GT_TOKEN_IF:
                return parse_control(p, GT_NODE_IF);
        case GT_TOKEN_RANGE:
                return parse_control(p, GT_NODE_RANGE);
        case GT_TOKEN_TEMPLATE:
                return parse_invocation(p);
        case GT_TOKEN_WITH:
                return parse_control(p, GT_NODE_WITH);
        default:
                gt_parse_back(p);
                return parse_pipe_action(p);
        }
}

static struct gt_node *parse_text_or_action(struct gt_parser *p)
{
        struct gt_token token = gt_parse_next_non_space(p);
        struct gt_text_node *text;
        struct gt_node *node;

        switch (token.type) {
        case GT_TOKEN_TEXT:
                text = GT_NODE(p, gt_text_node, GT_NODE_TEXT, token.at);
                text->text = token.text;
                return &text->node;
        case GT_TOKEN_LEFT_DELIM:
                p->action_line = token.line;
                node = parse_action(p);
                p->action_line = 0;
                return p->shared->r == 0 ? node : NULL;
        default:
                return gt_parse_unexpected(p, token, "input");
        }
}

/* --- The whole text --- */

/* True if there was a define here. */
static bool parse_define(struct gt_parser *p)
{
        struct gt_token delim;

        if (gt_parse_peek(p).type != GT_TOKEN_LEFT_DELIM)
                return false;
        delim = gt_parse_next(p);
        if (gt_parse_next_non_space(p).type == GT_TOKEN_DEFINE) {
                define(p->shared);
                return true;
        }
        gt_parse_back2(p, delim);
        return false;
}

static void parse_root(struct gt_parser *p)
{
        struct gt_list_node *root = new_list(p, gt_parse_peek(p).at);

        while (p->shared->r == 0 && gt_parse_peek(p).type != GT_TOKEN_EOF) {
                struct gt_node *node;

                if (parse_define(p))
                        continue;
                node = parse_text_or_action(p);
                if (!node)
                        return;
                if (node->type == GT_NODE_END || node->type == GT_NODE_ELSE)
                        gt_parse_fail_at(p, p->action_at, "unexpected %s",
                                         node->type == GT_NODE_END ? "{{end}}" : "{{else}}");
                else
                        append_node(p, root, node);
        }
        if (p->shared->r == 0)
                add_tree(p, p->shared->result->name, root);
}

static void finish(struct gt_parse *shared)
{
        struct gt_template *t = shared->result;

        t->trees = ARENA_NEW_ARRAY(&t->arena, struct gt_tree *, shared->trees.n);
        memcpy(t->trees, shared->trees.p, shared->trees.n * sizeof(*t->trees));
        t->n_trees = shared->trees.n;
        t->n_variables = (uint32_t)shared->variables.n;
        for (size_t i = 0; i < shared->invocations.n; i++)
                shared->invocations.p[i]->tree = gt_template_tree(t, shared->invocations.p[i]->name);
}

static struct gt_template *new_template(struct str text, const struct gt_parse_options *options)
{
        struct gt_template *t = xcalloc(1, sizeof(*t));

        t->references = 1;
        arena_init(&t->arena, "template", LIMIT_TEMPLATE_TREE_BYTES);
        t->name = arena_copy(&t->arena, options->name);
        t->text = arena_copy(&t->arena, text);
        t->is_pure = true;
        return t;
}

int gt_parse(struct str text, const struct gt_parse_options *options, struct gt_template **ret, struct err *err)
{
        _cleanup_gt_template_ struct gt_template *t = NULL;
        struct gt_parse shared = { .options = options, .err = err };
        struct gt_parser p;

        if (text.n > LIMIT_TEMPLATE_BYTES)
                return err_set(err, ERR_LIMIT, "template is larger than the limit of %llu bytes",
                               (unsigned long long)LIMIT_TEMPLATE_BYTES);
        t = new_template(text, options);
        shared.result = t;
        gt_lexer_init(&shared.lexer, &t->arena, t->text, arena_copy(&t->arena, options->left),
                      arena_copy(&t->arena, options->right));
        parser_init(&p, &shared);
        parse_root(&p);
        parser_done(&p);
        if (shared.r == 0)
                finish(&shared);
        vec_done(&shared.trees);
        vec_done(&shared.variables);
        vec_done(&shared.invocations);
        if (shared.r < 0)
                return shared.r;
        *ret = TAKE(t);
        return 0;
}
