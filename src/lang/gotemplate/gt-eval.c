/* Expressions: pipelines, commands, fields. Nodes are visited in Go's order, because errors name the last visited node. */
#include "gt-exec.h"

#include "buf.h"
#include "gotext.h"

/* --- Fields --- */

static bool has_arguments(const struct gt_call *call)
{
        return call->n > 0 || call->final;
}

/* The static type of a value, as errors name it. */
static struct str static_type(struct gt_value v)
{
        return v.is_boxed ? STR("interface {}") : gt_type_name(v);
}

static int fail_field(struct gt_exec *x, struct gt_value receiver, struct str name)
{
        gt_exec_blame(x, false, &receiver, 1);
        if (receiver.type == GT_NIL)
                return gt_exec_fail(x, "nil pointer evaluating interface {}.%.*s", STR_ARG(name));
        return gt_exec_fail(x, "can't evaluate field %.*s in type %.*s", STR_ARG(name), STR_ARG(static_type(receiver)));
}

static const struct gt_func *find_method(struct gt_value v, struct str name)
{
        const struct gt_class *class_of = v.object->class_of;

        for (size_t i = 0; i < class_of->n_methods; i++)
                if (str_equal(name, str_from(class_of->methods[i].name)))
                        return &class_of->methods[i];
        return NULL;
}

/* The result for a missing key. */
static int missing_key(struct gt_exec *x, struct gt_value map, struct str name, struct gt_value *ret)
{
        switch (x->missing_key) {
        case GT_MISSING_INVALID:
                *ret = gt_none();
                return 0;
        case GT_MISSING_ZERO:
                *ret = map.type == GT_STRING_MAP  ? gt_string(STR(""))
                       : map.type == GT_BYTES_MAP ? gt_nil_of(GT_BYTES)
                                                  : gt_nil();
                return 0;
        case GT_MISSING_ERROR:
                break;
        }
        gt_exec_blame(x, false, &map, 1);
        return gt_exec_fail(x, "map has no entry for key %.*s", STR_ARG(go_quote(x->context->arena, name)));
}

static int eval_member(struct gt_exec *x, struct gt_value map, struct str name, const struct gt_call *call,
                       struct gt_value *ret)
{
        if (has_arguments(call))
                return gt_exec_fail(x, "%.*s is not a method but has arguments", STR_ARG(name));
        if (gt_map_get(x->context, map, name, ret))
                return 0;
        return missing_key(x, map, name, ret);
}

static int eval_object_field(struct gt_exec *x, struct gt_value dot, struct gt_value receiver, struct str name,
                             const struct gt_call *call, struct gt_value *ret)
{
        const struct gt_class *class_of = receiver.object->class_of;
        const struct gt_func *method = find_method(receiver, name);

        if (method) {
                struct gt_call with_receiver = *call;

                with_receiver.name = name;
                with_receiver.receiver = &receiver;
                return gt_eval_call(x, dot, method, false, &with_receiver, ret);
        }
        if (class_of->field && class_of->field(x->context, receiver.object, name, ret))
                return has_arguments(call)
                               ? gt_exec_fail(x, "%.*s has arguments but cannot be invoked as function", STR_ARG(name))
                               : 0;
        return fail_field(x, receiver, name);
}

static int eval_one_field(struct gt_exec *x, struct gt_value dot, struct gt_value receiver, struct str name,
                          const struct gt_call *call, struct gt_value *ret)
{
        if (gt_is_map(receiver))
                return eval_member(x, receiver, name, call, ret);
        if (receiver.type == GT_OBJECT)
                return eval_object_field(x, dot, receiver, name, call, ret);
        if (receiver.type != GT_NONE)
                return fail_field(x, receiver, name);
        if (x->missing_key == GT_MISSING_ERROR)
                return gt_exec_fail(x, "nil data; no entry for key %.*s", STR_ARG(go_quote(x->context->arena, name)));
        *ret = gt_none();
        return 0;
}

/* Evaluates the fields one after the other; the last one gets the arguments. */
static int eval_fields(struct gt_exec *x, struct gt_value dot, struct gt_value receiver, const struct str *names,
                       size_t n, const struct gt_call *call, struct gt_value *ret)
{
        struct gt_call none = { .node = call->node };
        int r;

        for (size_t i = 0; i + 1 < n; i++) {
                r = eval_one_field(x, dot, receiver, names[i], &none, &receiver);
                if (r < 0)
                        return r;
        }
        return eval_one_field(x, dot, receiver, names[n - 1], call, ret);
}

int gt_eval_field(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *field, const struct gt_call *call,
                  struct gt_value *ret)
{
        x->node = &field->node;
        return eval_fields(x, dot, dot, field->names, field->n, call, ret);
}

/* --- Operands --- */

static int refuse_arguments(struct gt_exec *x, const struct gt_node *word)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gt_append_node(&b, word);
        return gt_exec_fail(x, "can't give argument to non-function %.*s", STR_ARG(buf_str(&b)));
}

int gt_eval_variable(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *variable,
                     const struct gt_call *call, struct gt_value *ret)
{
        int r;

        x->node = &variable->node;
        r = gt_exec_get(x, variable, ret);
        if (r < 0)
                return r;
        if (variable->n > 1)
                return eval_fields(x, dot, *ret, variable->names + 1, variable->n - 1, call, ret);
        return has_arguments(call) ? refuse_arguments(x, &variable->node) : 0;
}

static int refuse_nil_chain(struct gt_exec *x, const struct gt_names_node *chain)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gt_append_node(&b, &chain->node);
        return gt_exec_fail(x, "indirection through explicit nil in %.*s", STR_ARG(buf_str(&b)));
}

int gt_eval_chain(struct gt_exec *x, struct gt_value dot, const struct gt_names_node *chain, const struct gt_call *call,
                  struct gt_value *ret)
{
        struct gt_value operand;
        int r;

        x->node = &chain->node;
        if (chain->operand->type == GT_NODE_NIL)
                return refuse_nil_chain(x, chain);
        r = gt_eval_argument(x, dot, 0, chain->operand, &operand);
        if (r < 0)
                return r;
        return eval_fields(x, dot, operand, chain->names, chain->n, call, ret);
}

int gt_eval_function(struct gt_exec *x, struct gt_value dot, const struct gt_identifier_node *f,
                     const struct gt_call *call, struct gt_value *ret)
{
        x->node = &f->node;
        return gt_eval_call(x, dot, f->function, f->is_builtin, call, ret);
}

static bool is_hex(struct str s)
{
        return s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x' && str_find_char(s, 'p') < 0 &&
               str_find_char(s, 'P') < 0;
}

/* True if a literal is a float64 where no type is required. */
static bool looks_like_float(const struct gt_number_node *number)
{
        struct str s = number->text;

        if (!number->is_float || is_hex(s) || s.p[0] == '\'')
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (strchr(".eEpP", s.p[i]))
                        return true;
        return false;
}

int gt_eval_constant(struct gt_exec *x, const struct gt_number_node *number, struct gt_value *ret)
{
        x->node = &number->node;
        if (number->is_complex)
                *ret = (struct gt_value) { .type = GT_COMPLEX128, .parts = number->parts };
        else if (looks_like_float(number))
                *ret = gt_float64(number->number);
        else if (number->is_int)
                *ret = gt_int(number->integer);
        else if (number->is_uint)
                return gt_exec_fail(x, "%.*s overflows int", STR_ARG(number->text));
        else
                *ret = gt_none();
        return 0;
}

/* --- Commands --- */

static int eval_word(struct gt_exec *x, struct gt_value dot, const struct gt_node *word, const struct gt_call *call,
                     struct gt_value *ret)
{
        x->node = word;
        if (has_arguments(call))
                return refuse_arguments(x, word);
        switch ((enum gt_node_type)word->type) {
        case GT_NODE_BOOL:
                *ret = gt_bool(((const struct gt_bool_node *)word)->is_true);
                return 0;
        case GT_NODE_DOT:
                *ret = dot;
                return 0;
        case GT_NODE_NUMBER:
                return gt_eval_constant(x, (const struct gt_number_node *)word, ret);
        case GT_NODE_STRING:
                *ret = gt_string(((const struct gt_string_node *)word)->text);
                return 0;
        default:
                return gt_exec_fail(x, "nil is not a command");
        }
}

static int eval_command(struct gt_exec *x, struct gt_value dot, const struct gt_command_node *command,
                        const struct gt_value *final, struct gt_value *ret)
{
        const struct gt_node *word = command->arguments[0];
        struct gt_call call = { &command->node, .arguments = command->arguments + 1, .n = command->n - 1,
                                .final = final };

        switch ((enum gt_node_type)word->type) {
        case GT_NODE_FIELD:
                call.node = word;
                return gt_eval_field(x, dot, (const struct gt_names_node *)word, &call, ret);
        case GT_NODE_CHAIN:
                call.node = word;
                return gt_eval_chain(x, dot, (const struct gt_names_node *)word, &call, ret);
        case GT_NODE_IDENTIFIER:
                call.name = ((const struct gt_identifier_node *)word)->name;
                return gt_eval_function(x, dot, (const struct gt_identifier_node *)word, &call, ret);
        case GT_NODE_PIPE:
                if (has_arguments(&call))
                        return refuse_arguments(x, word);
                return gt_eval_pipeline(x, dot, (const struct gt_pipe_node *)word, ret);
        case GT_NODE_VARIABLE:
                call.node = word;
                return gt_eval_variable(x, dot, (const struct gt_names_node *)word, &call, ret);
        default:
                return eval_word(x, dot, word, &call, ret);
        }
}

static int declare(struct gt_exec *x, const struct gt_pipe_node *pipe, struct gt_value v)
{
        int r;

        for (unsigned i = 0; i < pipe->n_declared; i++) {
                if (!pipe->is_assignment) {
                        gt_exec_push(x, pipe->declared[i]->variable, v);
                        continue;
                }
                r = gt_exec_set(x, pipe->declared[i], v);
                if (r < 0)
                        return r;
        }
        return 0;
}

int gt_eval_pipeline(struct gt_exec *x, struct gt_value dot, const struct gt_pipe_node *pipe, struct gt_value *ret)
{
        struct gt_value v = gt_none();
        int r;

        if (!pipe) {
                *ret = v;
                return 0;
        }
        x->node = &pipe->node;
        r = gt_exec_check_stack(x);
        if (r < 0)
                return r;
        for (uint32_t i = 0; i < pipe->n; i++) {
                struct gt_value previous = v;

                r = eval_command(x, dot, pipe->commands[i], i > 0 ? &previous : NULL, &v);
                if (r < 0)
                        return r;
                v = gt_unboxed(v);
        }
        *ret = v;
        return declare(x, pipe, v);
}
