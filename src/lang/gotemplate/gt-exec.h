/* One execution, for the files of the executor. Statements run in a loop with frames on the heap (gt-exec.c), so that templates
 * may call each other as deeply as Go allows. Expressions (gt-eval.c, gt-call.c) and include recurse on the stack. */
#pragma once

#include "gotemplate.h"
#include "gt-node.h"
#include "vec.h"

struct gt_variable {
        uint32_t name;
        struct gt_value value;
};

struct gt_frame;

struct gt_exec {
        const struct gt_template *template_of;
        const struct gt_tree *tree; /* the running tree: errors name it */
        struct gt_context *context;
        enum gt_missing_key missing_key;
        struct buf *out;
        struct err *err;
        struct err call_err;        /* of the called function: the context's err points here */
        const struct gt_node *node; /* the node evaluated last: errors point at it */
        VEC(struct gt_variable) variables;
        size_t base; /* index of the first variable that the running tree can see */
        VEC(struct gt_frame) frames;
        unsigned calls;        /* nesting of template calls */
        const char *stack_end; /* limit of the stack for nested expressions and includes */
};

/* Fails at the node evaluated last: `template: NAME:LINE:COLUMN: executing "TREE" at <NODE>: TEXT`. */
int gt_exec_fail(struct gt_exec *x, const char *format, ...) _printf_(2, 3);

/* To be called before a failure: the values that it is about. Ignored if a nested execution has failed. */
void gt_exec_blame(struct gt_exec *x, bool is_call, const struct gt_value *values, size_t n);

/* The same as gt_exec_fail, with text and code of the context's err. */
int gt_exec_fail_call(struct gt_exec *x, int r);

/* As gt_spend; the error names the place in the template. */
int gt_exec_spend(struct gt_exec *x, uint64_t n);

/* ERR_LIMIT when the stack is used up. */
int gt_exec_check_stack(struct gt_exec *x);

/* --- Variables --- */

void gt_exec_push(struct gt_exec *x, uint32_t name, struct gt_value v);
int gt_exec_set(struct gt_exec *x, const struct gt_names_node *variable, struct gt_value v);
int gt_exec_get(struct gt_exec *x, const struct gt_names_node *variable, struct gt_value *ret);

/* --- Expressions --- */

/* The value of a pipeline, unboxed; declares or assigns its variables. A NULL pipe gives no value. */
int gt_eval_pipeline(struct gt_exec *x, struct gt_value dot, const struct gt_pipe_node *pipe, struct gt_value *ret);

/* The arguments of a call: the nodes after the function and, unless final is NULL, the value of the previous command. */
struct gt_call {
        const struct gt_node *node; /* errors of the function point at this node */
        struct str name;
        const struct gt_node *const *arguments;
        size_t n;
        const struct gt_value *final;
        const struct gt_value *receiver; /* of a method, or NULL */
};

int gt_eval_call(struct gt_exec *x, struct gt_value dot, const struct gt_func *f, bool is_builtin,
                 const struct gt_call *call, struct gt_value *ret);

/* Evaluates one argument for a parameter with that letter; with letter 0 without conversion. */
int gt_eval_argument(struct gt_exec *x, struct gt_value dot, char letter, const struct gt_node *node,
                     struct gt_value *ret);

/* Evaluate parts of a command. A part that is used as an argument has no arguments itself: then `call` has none. */
int gt_eval_field(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *field, const struct gt_call *call,
                  struct gt_value *ret);
int gt_eval_variable(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *variable,
                     const struct gt_call *call, struct gt_value *ret);
int gt_eval_chain(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *chain, const struct gt_call *call,
                  struct gt_value *ret);
int gt_eval_function(struct gt_exec *x, struct gt_value dot, const struct gt_identifier_node *f,
                     const struct gt_call *call, struct gt_value *ret);
int gt_eval_constant(struct gt_exec *x, const struct gt_number_node *number, struct gt_value *ret);
