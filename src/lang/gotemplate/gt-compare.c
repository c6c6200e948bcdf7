/* eq, ne, lt, le, gt, ge. */
#include "buf.h"
#include "gt-builtin.h"
#include "gt-print.h"

enum basic_kind {
        BASIC_NONE,
        BASIC_BOOL,
        BASIC_COMPLEX,
        BASIC_INT,
        BASIC_FLOAT,
        BASIC_STRING,
        BASIC_UINT,
};

static enum basic_kind basic_kind(struct gt_value v)
{
        switch ((enum gt_type)gt_basic(v).type) {
        case GT_BOOL:
                return BASIC_BOOL;
        case GT_INT:
        case GT_INT64:
                return BASIC_INT;
        case GT_UINT8:
        case GT_UINT64:
                return BASIC_UINT;
        case GT_FLOAT64:
                return BASIC_FLOAT;
        case GT_COMPLEX128:
                return BASIC_COMPLEX;
        case GT_STRING:
                return BASIC_STRING;
        default:
                return BASIC_NONE;
        }
}

static int incompatible(struct gt_context *c, struct gt_value a, struct gt_value b)
{
        return gt_fail(c, "incompatible types for comparison: %.*s and %.*s", STR_ARG(gt_type_name(a)),
                       STR_ARG(gt_type_name(b)));
}

/* Nil in the sense of reflection's isNil: no value, or a nil list or map. */
static bool is_null(struct gt_value v)
{
        if (v.type == GT_NONE)
                return true;
        if (v.type == GT_BYTES)
                return !v.bytes;
        return (gt_is_list(v) || gt_is_map(v)) && !v.list;
}

static void append_as_text(struct gt_context *c, struct buf *b, struct gt_value v)
{
        gt_append_sprintf(c, b, STR("%s"), &v, 1);
}

static int compare_types(struct gt_context *c, struct gt_value a, struct gt_value b)
{
        _cleanup_buf_ struct buf text = BUF_INIT(gt_max_text(c));

        append_as_text(c, &text, a);
        buf_append_literal(&text, ": ");
        buf_append_str(&text, gt_type_name(a));
        buf_append_literal(&text, ", ");
        buf_append_str(&text, gt_type_name(b));
        buf_append_literal(&text, ": ");
        gt_append_text(c, &text, b);
        return gt_fail(c, "non-comparable types %.*s", STR_ARG(buf_str(&text)));
}

/* Compares values that are not of a basic kind: nils and objects. */
static int equal_others(struct gt_context *c, struct gt_value a, struct gt_value b, bool *ret)
{
        _cleanup_buf_ struct buf text = BUF_INIT(gt_max_text(c));

        if (gt_kind(a) != gt_kind(b) && a.type != GT_NONE && b.type != GT_NONE)
                return compare_types(c, a, b);
        if (is_null(a) || is_null(b)) {
                *ret = is_null(a) == is_null(b);
                return 0;
        }
        if (b.type == GT_OBJECT && b.object->class_of->is_comparable) {
                *ret = a.type == GT_OBJECT && a.object->class_of == b.object->class_of &&
                       (a.object == b.object ||
                        (b.object->class_of->equal && b.object->class_of->equal(a.object, b.object)));
                return 0;
        }
        append_as_text(c, &text, b);
        return gt_fail(c, "non-comparable type %.*s: %.*s", STR_ARG(buf_str(&text)), STR_ARG(gt_type_name(b)));
}

static int equal(struct gt_context *c, struct gt_value a, struct gt_value b, bool *ret)
{
        enum basic_kind ka = basic_kind(a), kb = basic_kind(b);
        struct gt_value x = gt_basic(a), y = gt_basic(b);

        *ret = false;
        if (ka != kb) {
                if ((ka == BASIC_INT && kb == BASIC_UINT) || (ka == BASIC_UINT && kb == BASIC_INT))
                        *ret = (ka == BASIC_INT ? x : y).integer >= 0 && x.natural == y.natural;
                else if (a.type != GT_NONE && b.type != GT_NONE)
                        return incompatible(c, a, b);
                return 0;
        }
        switch (ka) {
        case BASIC_BOOL:
                *ret = x.boolean == y.boolean;
                return 0;
        case BASIC_COMPLEX:
                *ret = x.parts[0] == y.parts[0] && x.parts[1] == y.parts[1];
                return 0;
        case BASIC_INT:
        case BASIC_UINT:
                *ret = x.natural == y.natural;
                return 0;
        case BASIC_FLOAT:
                *ret = x.number == y.number;
                return 0;
        case BASIC_STRING:
                *ret = str_equal(gt_str(x), gt_str(y));
                return 0;
        case BASIC_NONE:
                break;
        }
        return equal_others(c, a, b, ret);
}

int gt_call_eq(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        struct gt_value first = gt_unboxed(arguments[0]);
        bool is_equal = false;
        int r;

        if (n < 2)
                return gt_fail(c, "missing argument for comparison");
        for (size_t i = 1; i < n && !is_equal; i++) {
                r = equal(c, first, gt_unboxed(arguments[i]), &is_equal);
                if (r < 0)
                        return r;
        }
        *ret = gt_bool(is_equal);
        return 0;
}

int gt_call_ne(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        int r = gt_call_eq(c, arguments, n, ret);

        ret->boolean = !ret->boolean;
        return r;
}

static bool is_less(enum basic_kind kind, struct gt_value x, struct gt_value y)
{
        switch (kind) {
        case BASIC_INT:
                return x.integer < y.integer;
        case BASIC_UINT:
                return x.natural < y.natural;
        case BASIC_FLOAT:
                return x.number < y.number;
        default:
                return str_compare(gt_str(x), gt_str(y)) < 0;
        }
}

int gt_call_lt(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        struct gt_value a = gt_unboxed(arguments[0]), b = gt_unboxed(arguments[1]);
        struct gt_value x = gt_basic(a), y = gt_basic(b);
        enum basic_kind ka = basic_kind(a), kb = basic_kind(b);

        if (ka == BASIC_NONE || kb == BASIC_NONE)
                return gt_fail(c, "invalid type for comparison");
        if (ka == BASIC_INT && kb == BASIC_UINT)
                *ret = gt_bool(x.integer < 0 || x.natural < y.natural);
        else if (ka == BASIC_UINT && kb == BASIC_INT)
                *ret = gt_bool(y.integer >= 0 && x.natural < y.natural);
        else if (ka != kb)
                return incompatible(c, a, b);
        else if (ka == BASIC_BOOL || ka == BASIC_COMPLEX)
                return gt_fail(c, "invalid type for comparison");
        else
                *ret = gt_bool(is_less(ka, x, y));
        return 0;
}

int gt_call_le(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        int r = gt_call_lt(c, arguments, n, ret);

        if (r < 0 || ret->boolean)
                return r;
        return gt_call_eq(c, arguments, n, ret);
}

static int negate(int r, struct gt_value *ret)
{
        if (r == 0)
                ret->boolean = !ret->boolean;
        return r;
}

int gt_call_gt(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        return negate(gt_call_le(c, arguments, n, ret), ret);
}

int gt_call_ge(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)
{
        return negate(gt_call_lt(c, arguments, n, ret), ret);
}
