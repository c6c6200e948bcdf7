/* Statements: text, actions, controls and calls of templates, in a loop over a stack of frames. */
#include "gt-exec.h"

#include "buf.h"
#include "gotext.h"
#include "gt-print.h"
#include "limits.h"

/* The part of the stack of LIMIT_THREAD_STACK_BYTES that templates may use: enough for a thousand nested includes, and it leaves
 * room for functions that recurse over a value. Sanitizers need several times as much. */
#define STACK_BYTES (HAS_ASAN ? 4u << 20 : 1280u << 10)

enum frame_kind {
        FRAME_BRANCH, /* the list of an if, a with or an else */
        FRAME_RANGE,  /* the body of a range, once for each element */
        FRAME_CALL,   /* the root of a template */
};

struct gt_frame {
        enum frame_kind kind;
        const struct gt_list_node *list;
        uint32_t next;
        struct gt_value dot;
        size_t mark; /* variables from this index on are dropped with the frame */

        /* Of a range. */
        const struct gt_pipe_node *pipe;
        struct gt_value over;            /* a list or an integer */
        const struct gt_member *members; /* of a map */
        uint64_t i, n;
        size_t body_mark; /* variables from this index on are dropped before each element */

        /* Of a call: the state to restore after it. */
        const struct gt_tree *tree;
        size_t base;
};

/* --- Errors --- */

struct place {
        size_t line, column;
};

static struct place place_of(const struct gt_exec *x)
{
        struct str before = str_first(x->template_of->text, x->node ? x->node->at : 0);
        struct place p = { 1, before.n };

        for (size_t i = 0; i < before.n; i++)
                if (before.p[i] == '\n') {
                        p.line++;
                        p.column = before.n - i - 1;
                }
        return p;
}

void gt_exec_blame(struct gt_exec *x, bool is_call, const struct gt_value *values, size_t n)
{
        struct gt_mistake *m = &x->context->mistake;
        struct gt_value *copy;

        if (m->template_of || n == 0)
                return;
        copy = ARENA_NEW_ARRAY(x->context->arena, struct gt_value, n);
        memcpy(copy, values, n * sizeof(*copy));
        m->is_call = is_call;
        m->values = copy;
        m->n_values = n;
}

/* The innermost failure counts, but a place in another text (of tpl) has no place in the outer text. */
static void note_mistake(struct gt_exec *x)
{
        struct gt_mistake *m = &x->context->mistake;

        if (m->template_of == x->template_of)
                return;
        m->template_of = x->template_of;
        m->at = x->node->at;
}

static int fail_with(struct gt_exec *x, int code, struct str text)
{
        _cleanup_buf_ struct buf node = BUF_INIT(LIMIT_ERROR_BYTES);
        struct place p = place_of(x);

        note_mistake(x);
        gt_append_node(&node, x->node);
        err_set(x->err, code, "template: %.*s:%zu:%zu: executing %.*s at <%.*s>: %.*s", STR_ARG(x->template_of->name),
                p.line, p.column, STR_ARG(go_quote(x->context->arena, x->tree->name)), STR_ARG(buf_str(&node)),
                STR_ARG(text));
        err_set_position(x->err, (struct position) { (uint32_t)p.line, (uint32_t)p.column + 1, x->node->at });
        err_set_path(x->err, buf_str(&node));
        return code;
}

int gt_exec_fail(struct gt_exec *x, const char *format, ...)
{
        va_list arguments;
        struct str text;

        va_start(arguments, format);
        text = arena_vprintf(x->context->arena, format, arguments);
        va_end(arguments);
        return fail_with(x, ERR_INVALID, text);
}

int gt_exec_fail_call(struct gt_exec *x, int r)
{
        return fail_with(x, r, str_from(err_message(&x->call_err)));
}

int gt_exec_spend(struct gt_exec *x, uint64_t n)
{
        int r = gt_spend(x->context, n);

        return r < 0 ? gt_exec_fail_call(x, r) : 0;
}

int gt_exec_check_stack(struct gt_exec *x)
{
        if (LIKELY((const char *)__builtin_frame_address(0) > x->stack_end))
                return 0;
        return gt_exec_fail(x, "expressions and includes are nested too deeply");
}

/* --- Variables --- */

void gt_exec_push(struct gt_exec *x, uint32_t name, struct gt_value v)
{
        vec_push(&x->variables, (struct gt_variable) { name, v });
}

static struct gt_variable *find_variable(struct gt_exec *x, uint32_t name)
{
        for (size_t i = x->variables.n; i > x->base; i--)
                if (x->variables.p[i - 1].name == name)
                        return &x->variables.p[i - 1];
        return NULL;
}

static int undefined_variable(struct gt_exec *x, const struct gt_names_node *variable)
{
        return gt_exec_fail(x, "undefined variable: %.*s", STR_ARG(variable->names[0]));
}

int gt_exec_set(struct gt_exec *x, const struct gt_names_node *variable, struct gt_value v)
{
        struct gt_variable *found = find_variable(x, variable->variable);

        if (!found)
                return undefined_variable(x, variable);
        found->value = v;
        return 0;
}

int gt_exec_get(struct gt_exec *x, const struct gt_names_node *variable, struct gt_value *ret)
{
        struct gt_variable *found = find_variable(x, variable->variable);

        if (!found)
                return undefined_variable(x, variable);
        *ret = found->value;
        return 0;
}

/* --- Output --- */

static int check_output(struct gt_exec *x)
{
        if (LIKELY(!x->out->has_failed))
                return 0;
        if (x->call_err.code < 0)
                return gt_exec_fail_call(x, x->call_err.code);
        err_set(&x->call_err, ERR_LIMIT, "template output is larger than the limit of %zu bytes", x->out->max_bytes);
        return gt_exec_fail_call(x, ERR_LIMIT);
}

static int write_text(struct gt_exec *x, const struct gt_text_node *text)
{
        x->node = &text->node;
        buf_append_str(x->out, text->text);
        return check_output(x);
}

static int run_action(struct gt_exec *x, struct gt_value dot, const struct gt_action_node *action)
{
        struct gt_value v;
        int r = gt_eval_pipeline(x, dot, action->pipe, &v);

        if (r < 0 || action->pipe->n_declared > 0)
                return r;
        x->node = &action->node;
        gt_append_printed(x->context, x->out, v);
        return check_output(x);
}

/* --- if and with --- */

static void push_branch(struct gt_exec *x, const struct gt_list_node *list, struct gt_value dot, size_t mark)
{
        struct gt_frame f = { .kind = FRAME_BRANCH, .list = list, .dot = dot, .mark = mark };

        if (list)
                vec_push(&x->frames, f);
        else
                x->variables.n = mark;
}

static int run_if(struct gt_exec *x, struct gt_value dot, const struct gt_branch_node *b)
{
        size_t mark = x->variables.n;
        struct gt_value v;
        int r = gt_eval_pipeline(x, dot, b->pipe, &v);

        if (r < 0)
                return r;
        if (gt_truth(x->context, v))
                push_branch(x, b->list, b->node.type == GT_NODE_WITH ? v : dot, mark);
        else
                push_branch(x, b->otherwise, dot, mark);
        return 0;
}

/* --- range --- */

static struct gt_value element_at(struct gt_exec *x, const struct gt_frame *f)
{
        struct gt_value v = f->over;

        if (f->members)
                return f->members[f->i].value;
        if (!gt_is_integer(f->over))
                return gt_list_at(x->context, f->over, f->i);
        v.natural = f->i;
        return v;
}

static int set_range_variables(struct gt_exec *x, const struct gt_frame *f, struct gt_value element)
{
        const struct gt_pipe_node *pipe = f->pipe;
        struct gt_value index = f->members ? f->members[f->i].key : gt_int((int64_t)f->i);
        struct gt_variable *top = x->variables.p + x->variables.n;
        int r;

        if (pipe->n_declared == 0)
                return 0;
        if (!pipe->is_assignment) {
                top[-1].value = element;
                if (pipe->n_declared > 1)
                        top[-2].value = index;
                return 0;
        }
        r = gt_exec_set(x, pipe->declared[0], pipe->n_declared > 1 ? index : element);
        if (r < 0 || pipe->n_declared < 2)
                return r;
        return gt_exec_set(x, pipe->declared[1], element);
}

/* Starts the next element, or ends the range. The range's frame is the newest frame. */
static int next_element(struct gt_exec *x)
{
        struct gt_frame *f = vec_last(&x->frames);

        x->variables.n = f->body_mark;
        if (f->i == f->n) {
                x->variables.n = f->mark;
                vec_pop(&x->frames);
                return 0;
        }
        f->dot = element_at(x, f);
        f->next = 0;
        if (set_range_variables(x, f, f->dot) < 0)
                return x->err->code;
        f->i++;
        return gt_exec_spend(x, 1);
}

/* Sets the number of iterations and the collection in the frame; negative on an error. */
static int prepare_range(struct gt_exec *x, struct gt_value v, struct gt_frame *f)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES / 2);
        size_t n = 0;

        v = gt_basic(v);
        f->over = v;
        if (gt_is_map(v)) {
                f->members = gt_map_members(x->context, v, &n);
                f->n = n;
                return gt_exec_spend(x, n);
        }
        if (gt_is_list(v)) {
                f->n = gt_list_count(v);
                return 0;
        }
        if (gt_is_nil(v))
                return 0;
        if (gt_is_integer(v) && f->pipe->n_declared < 2) {
                f->n = v.type >= GT_UINT8 || v.integer > 0 ? v.natural : 0;
                return 0;
        }
        gt_append_text(x->context, &b, v);
        gt_exec_blame(x, false, &v, 1);
        if (gt_is_integer(v))
                return gt_exec_fail(x, "can't use %.*s to iterate over more than one variable", STR_ARG(buf_str(&b)));
        return gt_exec_fail(x, "range can't iterate over %.*s", STR_ARG(buf_str(&b)));
}

static int run_range(struct gt_exec *x, struct gt_value dot, const struct gt_branch_node *b)
{
        struct gt_frame f = { .kind = FRAME_RANGE, .list = b->list, .mark = x->variables.n, .pipe = b->pipe };
        struct gt_value v;
        int r;

        r = gt_eval_pipeline(x, dot, b->pipe, &v);
        if (r < 0)
                return r;
        r = prepare_range(x, v, &f);
        if (r < 0)
                return r;
        if (f.n == 0) {
                push_branch(x, b->otherwise, dot, f.mark);
                return 0;
        }
        f.body_mark = x->variables.n;
        vec_push(&x->frames, f);
        return next_element(x);
}

/* Drops frames until the body of the innermost range is the newest frame. */
static void unwind_to_range(struct gt_exec *x)
{
        while (vec_last(&x->frames)->kind != FRAME_RANGE)
                vec_pop(&x->frames);
}

static int run_break(struct gt_exec *x)
{
        unwind_to_range(x);
        vec_last(&x->frames)->i = vec_last(&x->frames)->n;
        return next_element(x);
}

static int run_continue(struct gt_exec *x)
{
        unwind_to_range(x);
        return next_element(x);
}

/* --- Calls of templates --- */

static void push_call(struct gt_exec *x, const struct gt_tree *tree, struct gt_value dot)
{
        struct gt_frame f = {
                .kind = FRAME_CALL,
                .list = tree->root,
                .dot = dot,
                .mark = x->variables.n,
                .tree = x->tree,
                .base = x->base,
        };

        vec_push(&x->frames, f);
        x->tree = tree;
        x->base = x->variables.n;
        x->calls++;
        gt_exec_push(x, 0, dot);
}

static int run_template(struct gt_exec *x, struct gt_value dot, const struct gt_template_node *t)
{
        struct gt_value v;
        int r;

        x->node = &t->node;
        if (!t->tree)
                return gt_exec_fail(x, "template %.*s not defined", STR_ARG(go_quote(x->context->arena, t->name)));
        if (x->calls > LIMIT_TEMPLATE_CALLS)
                return gt_exec_fail(x, "exceeded maximum template depth (%d)", LIMIT_TEMPLATE_CALLS);
        r = gt_eval_pipeline(x, dot, t->pipe, &v);
        if (r < 0)
                return r;
        push_call(x, t->tree, v);
        return 0;
}

/* --- The loop --- */

static int run_node(struct gt_exec *x, struct gt_value dot, const struct gt_node *node)
{
        switch ((enum gt_node_type)node->type) {
        case GT_NODE_TEXT:
                return write_text(x, (const struct gt_text_node *)node);
        case GT_NODE_ACTION:
                return run_action(x, dot, (const struct gt_action_node *)node);
        case GT_NODE_IF:
        case GT_NODE_WITH:
                return run_if(x, dot, (const struct gt_branch_node *)node);
        case GT_NODE_RANGE:
                return run_range(x, dot, (const struct gt_branch_node *)node);
        case GT_NODE_TEMPLATE:
                return run_template(x, dot, (const struct gt_template_node *)node);
        case GT_NODE_BREAK:
                return run_break(x);
        case GT_NODE_CONTINUE:
                return run_continue(x);
        default:
                return 0;
        }
}

/* Called when the newest frame has reached the end of its list. */
static int leave_frame(struct gt_exec *x)
{
        struct gt_frame *f = vec_last(&x->frames);

        if (f->kind == FRAME_RANGE)
                return next_element(x);
        x->variables.n = f->mark;
        if (f->kind == FRAME_CALL) {
                x->tree = f->tree;
                x->base = f->base;
                x->calls--;
        }
        vec_pop(&x->frames);
        return 0;
}

static int run_frames(struct gt_exec *x)
{
        int r = 0;

        while (r == 0 && x->frames.n > 0) {
                struct gt_frame *f = vec_last(&x->frames);
                const struct gt_node *node;

                if (f->next == f->list->n) {
                        r = leave_frame(x);
                        continue;
                }
                node = f->list->nodes[f->next++];
                x->node = node;
                r = gt_exec_spend(x, 1);
                if (r == 0)
                        r = run_node(x, f->dot, node);
        }
        return r;
}

static int execute(struct gt_exec *x, struct gt_value data)
{
        struct gt_context *c = x->context;
        struct gt_exec *outer = c->exec;
        struct err *outer_err = c->err;
        int r;

        x->stack_end = outer ? outer->stack_end : (const char *)__builtin_frame_address(0) - STACK_BYTES;
        if (!outer)
                c->next_check = c->steps_left;
        c->exec = x;
        c->err = &x->call_err;
        push_call(x, x->tree, gt_unboxed(data));
        r = run_frames(x);
        c->exec = outer;
        c->err = outer_err;
        vec_done(&x->frames);
        vec_done(&x->variables);
        err_done(&x->call_err);
        return r;
}

int gt_execute(const struct gt_template *t, struct gt_context *c, enum gt_missing_key missing_key, struct gt_value data,
               struct buf *out, struct err *err)
{
        _cleanup_err_ struct err ignored = { 0 };
        struct gt_exec x = {
                .template_of = t,
                .tree = gt_template_tree(t, t->name),
                .context = c,
                .missing_key = missing_key,
                .out = out,
                .err = err ? err : &ignored,
        };

        return execute(&x, data);
}

int gt_execute_named(struct gt_context *c, struct str name, struct gt_value data, struct buf *out, struct err *err)
{
        struct gt_exec *x =
                ARENA_NEW(c->arena, struct gt_exec); /* not on the stack, because nested includes need the stack */

        x->template_of = c->exec->template_of;
        x->tree = gt_template_tree(x->template_of, name);
        x->context = c;
        x->missing_key = c->exec->missing_key;
        x->out = out;
        x->err = err;
        if (!x->tree)
                return err_set(err, ERR_NOT_FOUND, "template: no template %.*s associated with template %.*s",
                               STR_ARG(go_quote(c->arena, name)), STR_ARG(go_quote(c->arena, x->template_of->name)));
        return execute(x, data);
}
