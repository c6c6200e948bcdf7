/* Nodes as text. */
#include "gt-node.h"

#include "buf.h"
#include "gotext.h"

static void append_names(struct buf *b, const struct str *names, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++) {
                buf_append_char(b, '.');
                buf_append_str(b, names[i]);
        }
}

static void append_in_parens(struct buf *b, const struct gt_node *node)
{
        if (node->type == GT_NODE_PIPE)
                buf_append_char(b, '(');
        gt_append_node(b, node);
        if (node->type == GT_NODE_PIPE)
                buf_append_char(b, ')');
}

static void append_named(struct buf *b, const struct gt_names_node *n)
{
        if (n->node.type == GT_NODE_VARIABLE) {
                buf_append_str(b, n->names[0]);
                append_names(b, n->names + 1, n->n - 1);
                return;
        }
        if (n->operand)
                append_in_parens(b, n->operand);
        append_names(b, n->names, n->n);
}

static void append_command(struct buf *b, const struct gt_command_node *command)
{
        for (uint32_t i = 0; i < command->n; i++) {
                if (i > 0)
                        buf_append_char(b, ' ');
                append_in_parens(b, command->arguments[i]);
        }
}

static void append_pipe(struct buf *b, const struct gt_pipe_node *pipe)
{
        for (unsigned i = 0; i < pipe->n_declared; i++) {
                if (i > 0)
                        buf_append_literal(b, ", ");
                append_named(b, pipe->declared[i]);
        }
        if (pipe->n_declared > 0)
                buf_append_str(b, pipe->is_assignment ? STR(" = ") : STR(" := "));
        for (uint32_t i = 0; i < pipe->n; i++) {
                if (i > 0)
                        buf_append_literal(b, " | ");
                append_command(b, pipe->commands[i]);
        }
}

static void append_template(struct buf *b, const struct gt_template_node *t)
{
        buf_append_literal(b, "{{template ");
        go_append_quoted(b, t->name);
        if (t->pipe) {
                buf_append_char(b, ' ');
                append_pipe(b, t->pipe);
        }
        buf_append_literal(b, "}}");
}

static void append_action(struct buf *b, const struct gt_action_node *action)
{
        buf_append_literal(b, "{{");
        append_pipe(b, action->pipe);
        buf_append_literal(b, "}}");
}

void gt_append_node(struct buf *b, const struct gt_node *node)
{
        switch ((enum gt_node_type)node->type) {
        case GT_NODE_TEXT:
                buf_append_str(b, ((const struct gt_text_node *)node)->text);
                return;
        case GT_NODE_ACTION:
                append_action(b, (const struct gt_action_node *)node);
                return;
        case GT_NODE_TEMPLATE:
                append_template(b, (const struct gt_template_node *)node);
                return;
        case GT_NODE_PIPE:
                append_pipe(b, (const struct gt_pipe_node *)node);
                return;
        case GT_NODE_COMMAND:
                append_command(b, (const struct gt_command_node *)node);
                return;
        case GT_NODE_BOOL:
                buf_append_str(b, ((const struct gt_bool_node *)node)->is_true ? STR("true") : STR("false"));
                return;
        case GT_NODE_NUMBER:
                buf_append_str(b, ((const struct gt_number_node *)node)->text);
                return;
        case GT_NODE_STRING:
                buf_append_str(b, ((const struct gt_string_node *)node)->quoted);
                return;
        case GT_NODE_DOT:
                buf_append_char(b, '.');
                return;
        case GT_NODE_NIL:
                buf_append_literal(b, "nil");
                return;
        case GT_NODE_FIELD:
        case GT_NODE_VARIABLE:
        case GT_NODE_CHAIN:
                append_named(b, (const struct gt_names_node *)node);
                return;
        case GT_NODE_IDENTIFIER:
                buf_append_str(b, ((const struct gt_identifier_node *)node)->name);
                return;
        case GT_NODE_END:
                buf_append_literal(b, "{{end}}");
                return;
        case GT_NODE_ELSE:
                buf_append_literal(b, "{{else}}");
                return;
        case GT_NODE_BREAK:
                buf_append_literal(b, "{{break}}");
                return;
        case GT_NODE_CONTINUE:
                buf_append_literal(b, "{{continue}}");
                return;
        case GT_NODE_LIST:
        case GT_NODE_IF:
        case GT_NODE_WITH:
        case GT_NODE_RANGE:
                return; /* no error points at one of these nodes: evaluation begins with their pipelines */
        }
}

static bool is_space_only(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!strchr(" \t\n\v\f\r", s.p[i]) || s.p[i] == 0)
                        return false;
        return true;
}

bool gt_list_is_empty(const struct gt_list_node *list)
{
        for (uint32_t i = 0; list && i < list->n; i++) {
                const struct gt_node *node = list->nodes[i];

                if (node->type != GT_NODE_TEXT || !is_space_only(((const struct gt_text_node *)node)->text))
                        return false;
        }
        return true;
}
