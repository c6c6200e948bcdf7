/* Package fmt on template values. go-print.h handles numbers, strings and flags; this file handles lists, maps and the types
 * that struct value does not have. */
#include "gt-print.h"

#include "buf.h"
#include "go-print.h"
#include "gotext.h"
#include "gt-context.h"
#include "limits.h"

struct operands {
        struct gt_context *context;
        const struct gt_value *values;
};

static void print(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb, unsigned depth);

static void append_complaint(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb)
{
        buf_append_literal(p->out, "%!");
        go_append_rune(p->out, verb);
        buf_append_char(p->out, '(');
        buf_append_str(p->out, gt_type_name(v));
        if (!gt_is_nil(v)) {
                buf_append_char(p->out, '=');
                print(c, p, v, 'v', 0);
        }
        buf_append_char(p->out, ')');
}

static void print_scalar(struct go_printer *p, struct value v, struct str type_name, uint32_t verb)
{
        p->type_name = type_name;
        go_print_scalar(p, &v, verb);
        p->type_name = STR_NONE;
}

/* --- Lists and maps --- */

static void open_container(struct go_printer *p, struct gt_value v, struct str name)
{
        buf_append_str(p->out, p->is_go_syntax ? gt_type_name(v) : name);
        buf_append_char(p->out, p->is_go_syntax ? '{' : '[');
}

static void append_separator(struct go_printer *p, size_t i)
{
        if (i > 0)
                buf_append_str(p->out, p->is_go_syntax ? STR(", ") : STR(" "));
}

static void print_list(struct gt_context *c, struct go_printer *p, struct gt_value list, uint32_t verb, unsigned depth)
{
        if (list.type == GT_BYTES && p->is_go_syntax && depth == 0)
                buf_append_literal(p->out, "[]byte{");
        else
                open_container(p, list, STR(""));
        for (size_t i = 0; i < gt_list_count(list) && !p->out->has_failed; i++) {
                append_separator(p, i);
                print(c, p, gt_list_at(c, list, i), verb, depth + 1);
        }
        buf_append_char(p->out, p->is_go_syntax ? '}' : ']');
}

static void print_map(struct gt_context *c, struct go_printer *p, struct gt_value map, uint32_t verb, unsigned depth)
{
        size_t n;
        const struct gt_member *members = gt_map_members(c, map, &n);

        open_container(p, map, STR("map"));
        for (size_t i = 0; i < n && !p->out->has_failed; i++) {
                append_separator(p, i);
                print(c, p, members[i].key, verb, depth + 1);
                buf_append_char(p->out, ':');
                print(c, p, members[i].value, verb, depth + 1);
        }
        buf_append_char(p->out, p->is_go_syntax ? '}' : ']');
}

static bool is_null(struct gt_value v)
{
        if (v.type == GT_BYTES)
                return !v.bytes;
        return !v.list;
}

static bool is_text_verb(uint32_t verb)
{
        return verb == 's' || verb == 'q' || verb == 'x' || verb == 'X';
}

static void print_container(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb,
                            unsigned depth)
{
        if (depth >= LIMIT_DEPTH || gt_spend(c, 1) < 0) {
                p->out->has_failed = true;
        } else if (verb == 'p' || verb == 'w') {
                append_complaint(c, p, v, verb);
        } else if (v.type == GT_BYTES && is_text_verb(verb)) {
                print_scalar(p, value_of_str(gt_str(v)), gt_type_name(v), verb);
        } else if (p->is_go_syntax && is_null(v)) {
                buf_append_str(p->out, gt_type_name(v));
                buf_append_literal(p->out, "(nil)");
        } else if (gt_is_map(v)) {
                print_map(c, p, v, verb, depth);
        } else {
                print_list(c, p, v, verb, depth);
        }
}

/* --- Other types --- */

static void print_complex(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb)
{
        bool has_plus = p->has_plus;

        if (verb >= 0x80 || !strchr("vbgGxXfFeE", (int)verb)) {
                append_complaint(c, p, v, verb);
                return;
        }
        buf_append_char(p->out, '(');
        print_scalar(p, value_of_double(v.parts[0]), gt_type_name(v), verb);
        p->has_plus = true;
        print_scalar(p, value_of_double(v.parts[1]), gt_type_name(v), verb);
        p->has_plus = has_plus;
        buf_append_literal(p->out, "i)");
}

static void print_object(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb, unsigned depth)
{
        const struct gt_class *class_of = v.object->class_of;

        if (class_of->print && !p->is_go_syntax && (verb == 'v' || is_text_verb(verb))) {
                _cleanup_buf_ struct buf text = BUF_INIT(gt_max_text(c));

                class_of->print(c, v.object, &text);
                print_scalar(p, value_of_str(buf_str(&text)), class_of->type_name, verb);
        } else if (class_of->basic) {
                struct gt_value basic = class_of->basic(v.object);

                if (basic.type == GT_STRING)
                        print_scalar(p, value_of_str(gt_str(basic)), class_of->type_name, verb);
                else
                        print_scalar(p, value_of_int(basic.integer), class_of->type_name, verb);
        } else if (!p->is_go_syntax) {
                append_complaint(c, p, v, verb);
        } else if (class_of->print_go) {
                class_of->print_go(c, v.object, p->out);
        } else {
                buf_append_str(p->out, class_of->type_name);
                buf_append_literal(p->out, "{...}");
        }
}

static void print(struct gt_context *c, struct go_printer *p, struct gt_value v, uint32_t verb, unsigned depth)
{
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
        case _GT_TYPES:
                buf_append_str(p->out, p->is_go_syntax ? STR("interface {}(nil)") : STR("<nil>"));
                return;
        case GT_BOOL:
                print_scalar(p, value_of_bool(v.boolean), gt_type_name(v), verb);
                return;
        case GT_INT:
        case GT_INT64:
                print_scalar(p, value_of_int(v.integer), gt_type_name(v), verb);
                return;
        case GT_UINT8:
        case GT_UINT64:
                p->type_name = gt_type_name(v);
                go_print_unsigned(p, v.natural, verb);
                p->type_name = STR_NONE;
                return;
        case GT_FLOAT64:
                print_scalar(p, value_of_double(v.number), gt_type_name(v), verb);
                return;
        case GT_COMPLEX128:
                print_complex(c, p, v, verb);
                return;
        case GT_STRING:
                print_scalar(p, value_of_str(gt_str(v)), gt_type_name(v), verb);
                return;
        case GT_BYTES:
        case GT_LIST:
        case GT_STRINGS:
        case GT_INTS:
        case GT_LISTS:
        case GT_MAP:
        case GT_STRING_MAP:
        case GT_BYTES_MAP:
        case GT_ANY_MAP:
                print_container(c, p, v, verb, depth);
                return;
        case GT_OBJECT:
                print_object(c, p, v, verb, depth);
                return;
        }
}

/* --- Operands of Sprintf --- */

static void print_operand(struct go_printer *p, const void *context, size_t i, uint32_t verb)
{
        const struct operands *o = context;
        struct gt_value v = o->values[i];

        if (verb == 'T' && !gt_is_nil(v))
                go_print_truncated(p, gt_type_name(v));
        else if (!gt_is_nil(v))
                print(o->context, p, v, verb, 0);
        else if (verb == 'v' || verb == 'T')
                go_print_padded(p, STR("<nil>"));
        else
                append_complaint(o->context, p, v, verb);
}

static void print_operand_with_type(struct go_printer *p, const void *context, size_t i)
{
        const struct operands *o = context;
        struct gt_value v = o->values[i];

        buf_append_str(p->out, gt_type_name(v));
        if (gt_is_nil(v))
                return;
        buf_append_char(p->out, '=');
        print(o->context, p, v, 'v', 0);
}

/* Any integer type is accepted as a width, as in Go. */
static bool take_int(const void *context, size_t i, int64_t *ret)
{
        struct gt_value v = gt_basic(((const struct operands *)context)->values[i]);

        if (!gt_is_integer(v) || (v.type >= GT_UINT8 && v.natural > INT64_MAX))
                return false;
        *ret = v.integer;
        return true;
}

void gt_append_sprintf(struct gt_context *c, struct buf *b, struct str format, const struct gt_value *arguments,
                       size_t n)
{
        struct operands values = { c, arguments };
        struct go_operands operands = {
                .n = n,
                .context = &values,
                .take_int = take_int,
                .print = print_operand,
                .print_with_type = print_operand_with_type,
        };

        go_format(b, format, &operands, 0);
}

void gt_append_text(struct gt_context *c, struct buf *b, struct gt_value v)
{
        struct go_printer p = { .out = b, .scratch = BUF_INIT(b->max_bytes) };

        if (v.type == GT_STRING)
                buf_append(b, v.bytes, v.n);
        else
                print(c, &p, v, 'v', 0);
        buf_done(&p.scratch);
}

void gt_append_sprint(struct gt_context *c, struct buf *b, const struct gt_value *arguments, size_t n)
{
        bool was_string = false;

        for (size_t i = 0; i < n && !b->has_failed; i++) {
                bool is_string = gt_kind(arguments[i]) == GT_KIND_STRING;

                if (i > 0 && !is_string && !was_string)
                        buf_append_char(b, ' ');
                gt_append_text(c, b, arguments[i]);
                was_string = is_string;
        }
}

void gt_append_sprintln(struct gt_context *c, struct buf *b, const struct gt_value *arguments, size_t n)
{
        for (size_t i = 0; i < n && !b->has_failed; i++) {
                if (i > 0)
                        buf_append_char(b, ' ');
                gt_append_text(c, b, arguments[i]);
        }
        buf_append_char(b, '\n');
}

void gt_append_printed(struct gt_context *c, struct buf *b, struct gt_value v)
{
        if (v.type == GT_NONE)
                buf_append_literal(b, "<no value>");
        else
                gt_append_text(c, b, v);
}
