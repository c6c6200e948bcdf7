/* Calls: arguments are checked against the types of parameters and converted, as Go's reflection does it. */
#include "gt-exec.h"

#include "buf.h"
#include "gt-builtin.h"

/* Calls with up to this many arguments allocate nothing in the arena. */
#define FEW_ARGUMENTS 6

static const struct {
        char letter;
        bool can_be_nil;
        uint8_t type; /* of values that fit, or GT_NONE if only the letter decides */
        struct str name;
} letters[] = {
        { 's', false, GT_STRING, STR_INIT("string") },
        { 'i', false, GT_INT, STR_INIT("int") },
        { 'l', false, GT_INT64, STR_INIT("int64") },
        { 'u', false, _GT_TYPES, STR_INIT("uint32") }, /* no value of a template has this type */
        { 'f', false, GT_FLOAT64, STR_INIT("float64") },
        { 'b', false, GT_BOOL, STR_INIT("bool") },
        { 'a', true, GT_NONE, STR_INIT("interface {}") },
        { 'r', true, GT_NONE, STR_INIT("reflect.Value") },
        { 'm', true, GT_MAP, STR_INIT("map[string]interface {}") },
        { 'L', true, GT_LIST, STR_INIT("[]interface {}") },
        { 'T', false, GT_OBJECT, STR_INIT("time.Time") },
        { 'D', false, GT_OBJECT, STR_INIT("time.Duration") },
        { 'V', true, GT_OBJECT, STR_INIT("*semver.Version") },
        { 'C', false, GT_OBJECT, STR_INIT("sprig.certificate") },
};

static size_t letter_index(char letter)
{
        size_t i = 0;

        while (letters[i].letter != letter)
                assert(++i < ARRAY_SIZE(letters));
        return i;
}

struct str gt_letter_type(char letter)
{
        return letters[letter_index(letter)].name;
}

bool gt_assign(struct gt_value v, char letter, struct gt_value *ret)
{
        size_t i = letter_index(letter);

        if (letter == 'r') {
                *ret = v;
                return true;
        }
        if (letter == 'a') {
                *ret = gt_is_nil(v) ? gt_nil() : gt_unboxed(v);
                return true;
        }
        if (v.type != letters[i].type || (v.type == GT_OBJECT && !str_equal(gt_type_name(v), letters[i].name)))
                return false;
        *ret = gt_unboxed(v);
        return true;
}

/* The nil value for a parameter that accepts nil. */
static struct gt_value nil_of(char letter)
{
        switch (letter) {
        case 'a':
                return gt_nil();
        case 'm':
                return gt_nil_of(GT_MAP);
        case 'L':
                return gt_nil_of(GT_LIST);
        default:
                return gt_none();
        }
}

/* Checks a value and converts it for a parameter. */
static int validate(struct gt_exec *x, struct gt_value v, char letter, struct gt_value *ret)
{
        if (letter == 0) {
                *ret = v;
                return 0;
        }
        if (v.type == GT_NONE) {
                *ret = nil_of(letter);
                if (letters[letter_index(letter)].can_be_nil)
                        return 0;
                gt_exec_blame(x, false, &v, 1);
                return gt_exec_fail(x, "invalid value; expected %.*s", STR_ARG(gt_letter_type(letter)));
        }
        if (gt_assign(v, letter, ret))
                return 0;
        gt_exec_blame(x, false, &v, 1);
        return gt_exec_fail(x, "wrong type for value; expected %.*s; got %.*s", STR_ARG(gt_letter_type(letter)),
                            STR_ARG(v.type == GT_NIL ? STR("interface {}") : gt_type_name(v)));
}

/* --- Literals --- */

static int refuse_literal(struct gt_exec *x, const char *expected, const struct gt_node *node)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gt_append_node(&b, node);
        return gt_exec_fail(x, "expected %s; found %.*s", expected, STR_ARG(buf_str(&b)));
}

static int eval_number_literal(struct gt_exec *x, char letter, const struct gt_node *node, struct gt_value *ret)
{
        const struct gt_number_node *n = (const struct gt_number_node *)node;

        if (letter == 'f') {
                if (node->type != GT_NODE_NUMBER || !n->is_float)
                        return refuse_literal(x, "float", node);
                *ret = gt_float64(n->number);
                return 0;
        }
        if (letter == 'u') {
                if (node->type != GT_NODE_NUMBER || !n->is_uint)
                        return refuse_literal(x, "unsigned integer", node);
                *ret = gt_uint64((uint32_t)n->natural);
                return 0;
        }
        if (node->type != GT_NODE_NUMBER || !n->is_int)
                return refuse_literal(x, "integer", node);
        *ret = letter == 'i' ? gt_int(n->integer) : gt_int64(n->integer);
        return 0;
}

static int eval_any_literal(struct gt_exec *x, const struct gt_node *node, struct gt_value *ret)
{
        if (node->type == GT_NODE_NUMBER)
                return gt_eval_constant(x, (const struct gt_number_node *)node, ret);
        if (node->type == GT_NODE_BOOL)
                *ret = gt_bool(((const struct gt_bool_node *)node)->is_true);
        else
                *ret = gt_string(((const struct gt_string_node *)node)->text);
        return 0;
}

static int refuse_type(struct gt_exec *x, char letter, const struct gt_node *node)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        gt_append_node(&b, node);
        return gt_exec_fail(x, "can't handle %.*s for arg of type %.*s", STR_ARG(buf_str(&b)),
                            STR_ARG(gt_letter_type(letter)));
}

static int eval_literal(struct gt_exec *x, char letter, const struct gt_node *node, struct gt_value *ret)
{
        switch (letter) {
        case 'b':
                if (node->type != GT_NODE_BOOL)
                        return refuse_literal(x, "bool", node);
                return eval_any_literal(x, node, ret);
        case 's':
                if (node->type != GT_NODE_STRING)
                        return refuse_literal(x, "string", node);
                return eval_any_literal(x, node, ret);
        case 'f':
        case 'i':
        case 'l':
        case 'u':
        case 'D':
                return eval_number_literal(x, letter, node, ret);
        case 'a':
        case 'r':
                return eval_any_literal(x, node, ret);
        default:
                return refuse_type(x, letter, node);
        }
}

int gt_eval_argument(struct gt_exec *x, struct gt_value dot, char letter, const struct gt_node *node,
                     struct gt_value *ret)
{
        struct gt_call call = { .node = node };
        struct gt_value v = gt_none();
        int r;

        x->node = node;
        switch ((enum gt_node_type)node->type) {
        case GT_NODE_DOT:
                return validate(x, dot, letter, ret);
        case GT_NODE_NIL:
                *ret = nil_of(letter);
                if (letters[letter_index(letter)].can_be_nil)
                        return 0;
                return gt_exec_fail(x, "cannot assign nil to %.*s", STR_ARG(gt_letter_type(letter)));
        case GT_NODE_FIELD:
                r = gt_eval_field(x, dot, (const struct gt_names_node *)node, &call, &v);
                break;
        case GT_NODE_VARIABLE:
                r = gt_eval_variable(x, dot, (const struct gt_names_node *)node, &call, &v);
                break;
        case GT_NODE_PIPE:
                r = gt_eval_pipeline(x, dot, (const struct gt_pipe_node *)node, &v);
                break;
        case GT_NODE_IDENTIFIER:
                call.name = ((const struct gt_identifier_node *)node)->name;
                r = gt_eval_function(x, dot, (const struct gt_identifier_node *)node, &call, &v);
                break;
        case GT_NODE_CHAIN:
                r = gt_eval_chain(x, dot, (const struct gt_names_node *)node, &call, &v);
                break;
        default:
                return eval_literal(x, letter, node, ret);
        }
        return r < 0 ? r : validate(x, v, letter, ret);
}

/* --- Signatures --- */

struct parameters {
        const char *signature;
        size_t n; /* letters */
        bool is_variadic;
};

static struct parameters parameters_of(const struct gt_func *f)
{
        struct parameters p = { f->signature, strlen(f->signature), false };

        if (p.n > 0 && f->signature[p.n - 1] == '*') {
                p.is_variadic = true;
                p.n--;
        }
        return p;
}

static char letter_of(const struct parameters *p, size_t i)
{
        return p->signature[i < p->n ? i : p->n - 1];
}

static int check_count(struct gt_exec *x, const struct parameters *p, const struct gt_call *call)
{
        size_t n = call->n + (call->final != NULL);

        if (p->is_variadic && n < p->n - 1)
                return gt_exec_fail(x, "wrong number of args for %.*s: want at least %zu got %zu", STR_ARG(call->name),
                                    p->n - 1, call->n);
        if (!p->is_variadic && n != p->n)
                return gt_exec_fail(x, "wrong number of args for %.*s: want %zu got %zu", STR_ARG(call->name), p->n, n);
        return 0;
}

/* --- and, or --- */

/* `and` and `or` stop at the argument that decides the result, and return it. */
static int eval_and_or(struct gt_exec *x, struct gt_value dot, const struct gt_call *call, struct gt_value *ret)
{
        bool is_or = str_equal(call->name, STR("or"));
        int r;

        for (size_t i = 0; i < call->n; i++) {
                r = gt_eval_argument(x, dot, 'r', call->arguments[i], ret);
                if (r < 0)
                        return r;
                if (gt_truth(x->context, *ret) == is_or)
                        return 0;
        }
        if (call->final)
                *ret = *call->final;
        return 0;
}

/* --- Calls --- */

static int eval_arguments(struct gt_exec *x, struct gt_value dot, const struct parameters *p,
                          const struct gt_call *call, struct gt_value *arguments)
{
        int r;

        for (size_t i = 0; i < call->n; i++) {
                r = gt_eval_argument(x, dot, letter_of(p, i), call->arguments[i], &arguments[i]);
                if (r < 0)
                        return r;
        }
        if (!call->final)
                return 0;
        return validate(x, *call->final, letter_of(p, call->n), &arguments[call->n]);
}

/* `call` names its first argument by its text in the error. Templates have no functions as values, so it always fails. */
static int fail_call_builtin(struct gt_exec *x, const struct gt_call *call, struct gt_value callee)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (gt_is_nil(callee))
                return gt_fail(x->context, "call of nil");
        if (call->n > 0)
                gt_append_node(&b, call->arguments[0]);
        else
                gt_append_reflected(&b, *call->final);
        return gt_fail(x->context, "non-function %.*s of type %.*s", STR_ARG(buf_str(&b)),
                       STR_ARG(gt_type_name(callee)));
}

static struct gt_value static_result(const struct gt_func *f, struct gt_value v)
{
        if (f->returns == 'r')
                return v;
        return f->returns == 'a' ? gt_boxed(v) : gt_unboxed(v);
}

/* Functions read their text arguments, so long texts cost steps in proportion to their length. */
static uint64_t steps_of(const struct gt_value *arguments, size_t n)
{
        uint64_t steps = 4;

        for (size_t i = 0; i < n; i++)
                if (arguments[i].type == GT_STRING || arguments[i].type == GT_BYTES)
                        steps += arguments[i].n / 64;
        return steps;
}

/* The arguments of a failed call, unless all of them can be read in the template. */
static void blame_arguments(struct gt_exec *x, const struct gt_call *call, const struct gt_value *arguments, size_t n)
{
        bool is_plain = !call->final && !call->receiver;

        for (size_t i = 0; i < call->n && is_plain; i++)
                is_plain = call->arguments[i]->type == GT_NODE_STRING || call->arguments[i]->type == GT_NODE_NUMBER ||
                           call->arguments[i]->type == GT_NODE_BOOL || call->arguments[i]->type == GT_NODE_NIL;
        if (!is_plain)
                gt_exec_blame(x, true, arguments, n);
}

static int invoke(struct gt_exec *x, const struct gt_func *f, const struct gt_call *call, struct gt_value *arguments,
                  size_t n, struct gt_value *ret)
{
        struct gt_value result = gt_none();
        int r;

        r = gt_spend(x->context, steps_of(arguments, n));
        if (r < 0)
                return gt_exec_fail_call(x, r);
        if (f->call)
                r = f->call(x->context, arguments, n, &result);
        else
                r = fail_call_builtin(x, call, arguments[0]);
        if (r < 0) {
                x->node = call->node;
                if (r == ERR_INVALID)
                        blame_arguments(x, call, arguments, n);
                err_wrap(&x->call_err, "error calling %.*s", STR_ARG(call->name));
                return gt_exec_fail_call(x, r);
        }
        *ret = static_result(f, result);
        return 0;
}

static _noinline_ int call_with_many(struct gt_exec *x, struct gt_value dot, const struct gt_func *f,
                                     const struct parameters *p, const struct gt_call *call, struct gt_value *ret)
{
        size_t n = call->n + (call->final != NULL);
        struct gt_value *arguments = ARENA_NEW_ARRAY(x->context->arena, struct gt_value, n + 1);
        size_t first = call->receiver != NULL;
        int r;

        if (call->receiver)
                arguments[0] = gt_unboxed(*call->receiver);
        r = eval_arguments(x, dot, p, call, arguments + first);
        return r < 0 ? r : invoke(x, f, call, arguments, n + first, ret);
}

static int call_with_few(struct gt_exec *x, struct gt_value dot, const struct gt_func *f, const struct parameters *p,
                         const struct gt_call *call, struct gt_value *ret)
{
        struct gt_value arguments[FEW_ARGUMENTS];
        int r = eval_arguments(x, dot, p, call, arguments);

        return r < 0 ? r : invoke(x, f, call, arguments, call->n + (call->final != NULL), ret);
}

int gt_eval_call(struct gt_exec *x, struct gt_value dot, const struct gt_func *f, bool is_builtin,
                 const struct gt_call *call, struct gt_value *ret)
{
        struct parameters p = parameters_of(f);
        int r = check_count(x, &p, call);

        if (r < 0)
                return r;
        if (is_builtin && !f->call && f->flags & GT_SHORT_CIRCUIT)
                return eval_and_or(x, dot, call, ret);
        if (call->receiver || call->n >= FEW_ARGUMENTS)
                return call_with_many(x, dot, f, &p, call, ret);
        return call_with_few(x, dot, f, &p, call, ret);
}
