/* The functions that every template has. */
#include "gt-builtin.h"

#include "buf.h"
#include "gt-print.h"

static int call_not(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        *ret = gt_bool(!gt_truth(c, arguments[0]));
        return 0;
}

static int call_print(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gt_append_sprint(c, &b, arguments, n);
        return gt_take_text(c, &b, ret);
}

static int call_println(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gt_append_sprintln(c, &b, arguments, n);
        return gt_take_text(c, &b, ret);
}

static int call_printf(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gt_append_sprintf(c, &b, gt_str(arguments[0]), arguments + 1, n - 1);
        return gt_take_text(c, &b, ret);
}

void gt_append_reflected(struct buf *b, struct gt_value v)
{
        if (gt_kind(v) == GT_KIND_STRING) {
                buf_append_str(b, gt_str(v));
        } else if (v.type == GT_NONE) {
                buf_append_literal(b, "<invalid Value>");
        } else {
                buf_append_char(b, '<');
                buf_append_str(b, v.is_boxed ? STR("interface {}") : gt_type_name(v));
                buf_append_literal(b, " Value>");
        }
}

/* and, or and call have no callback: the engine evaluates them itself. */
static const struct gt_func functions[] = {
        { "and", "rr*", NULL, 'r', GT_SHORT_CIRCUIT },
        { "call", "rr*", NULL, 'r', 0 },
        { "eq", "rr*", gt_call_eq, 0, 0 },
        { "ge", "rr", gt_call_ge, 0, 0 },
        { "gt", "rr", gt_call_gt, 0, 0 },
        { "html", "a*", gt_call_html, 0, 0 },
        { "index", "rr*", gt_call_index, 'r', 0 },
        { "js", "a*", gt_call_js, 0, 0 },
        { "le", "rr", gt_call_le, 0, 0 },
        { "len", "r", gt_call_len, 0, 0 },
        { "lt", "rr", gt_call_lt, 0, 0 },
        { "ne", "rr", gt_call_ne, 0, 0 },
        { "not", "r", call_not, 0, 0 },
        { "or", "rr*", NULL, 'r', GT_SHORT_CIRCUIT },
        { "print", "a*", call_print, 0, 0 },
        { "printf", "sa*", call_printf, 0, 0 },
        { "println", "a*", call_println, 0, 0 },
        { "slice", "rr*", gt_call_slice, 'r', 0 },
        { "urlquery", "a*", gt_call_urlquery, 0, 0 },
};

const struct gt_func_table gt_builtin_functions = { functions, ARRAY_SIZE(functions) };
