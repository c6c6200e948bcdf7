/* toYaml: the walk over a value. Keys are in yaml.v3's order; everything is in block style. */
#include "base64.h"
#include "gt-print.h"
#include "gt-yaml-emit.h"
#include "gt-yaml.h"
#include "limits.h"
#include "number.h"
#include "utf8.h"
#include "yaml-scalar.h"

#include <math.h>

struct writer {
        struct gt_yaml_emitter emitter;
        struct gt_context *context;
        unsigned depth;
};

static int write_node(struct writer *w, struct gt_value v, enum gt_yaml_parent parent);

/* --- Scalars --- */

static bool is_old_bool(struct str s)
{
        static const char *const words[] = { "y", "Y", "yes", "Yes", "YES", "on",  "On",  "ON",
                                             "n", "N", "no",  "No",  "NO",  "off", "Off", "OFF" };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (str_equal(s, str_from(words[i])))
                        return true;
        return false;
}

static bool can_be_plain(struct gt_context *c, struct str s)
{
        return gt_yaml_resolve(c, s).type == GT_NONE && !yaml_is_base60(s) && !is_old_bool(s);
}

/* Text that is not valid UTF-8 is written as base64; 70 or more characters are split into lines of 70. */
static void write_binary(struct writer *w, struct str s, enum gt_yaml_parent parent)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), lines = BUF_INIT(0);
        struct str text;

        base64_encode(&b, s, BASE64_STD);
        text = buf_str(&b);
        for (size_t i = 0; i < text.n; i += 70) {
                buf_append_str(&lines, str_first(str_skip(text, i), 70));
                if (text.n >= 70)
                        buf_append_char(&lines, '\n');
        }
        gt_yaml_put_indicator(&w->emitter, STR("!!binary"), true, false);
        gt_yaml_put_string(&w->emitter, buf_str(&lines), true, parent);
}

static void write_string(struct writer *w, struct str s, enum gt_yaml_parent parent)
{
        if (!utf8_is_valid(s))
                write_binary(w, s, parent);
        else
                gt_yaml_put_string(&w->emitter, s, can_be_plain(w->context, s), parent);
}

static void write_double(struct writer *w, double d)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (isnan(d))
                buf_append_literal(&b, ".nan");
        else if (isinf(d))
                buf_append_str(&b, d > 0 ? STR(".inf") : STR("-.inf"));
        else
                number_append_go(&b, d, 'g', -1);
        gt_yaml_put_plain(&w->emitter, buf_str(&b));
}

static void write_int(struct writer *w, struct gt_value v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (v.type >= GT_UINT8)
                buf_append_uint(&b, v.natural);
        else
                buf_append_int(&b, v.integer);
        gt_yaml_put_plain(&w->emitter, buf_str(&b));
}

/* --- Lists and maps --- */

static int write_list(struct writer *w, struct gt_value list, enum gt_yaml_parent parent)
{
        struct gt_yaml_emitter *e = &w->emitter;
        int outer = e->indent, r;

        e->indent = outer < 0 ? 0 : gt_yaml_inner_indent(e, parent);
        for (size_t i = 0; i < gt_list_count(list); i++) {
                gt_yaml_put_indent(e);
                gt_yaml_put_indicator(e, STR("-"), true, true);
                r = write_node(w, gt_list_at(w->context, list, i), GT_YAML_ITEM);
                if (r < 0)
                        return r;
        }
        e->indent = outer;
        return 0;
}

/* True if the key is on one line with its value; other keys are written after a question mark. */
static bool is_simple_key(struct gt_value key)
{
        struct str s = gt_str(key);

        if (key.type != GT_STRING)
                return true;
        if (!utf8_is_valid(s))
                return (s.n + 2) / 3 * 4 + sizeof("!!binary") - 1 <= GT_YAML_SIMPLE_KEY_BYTES && s.n <= 52;
        return s.n <= GT_YAML_SIMPLE_KEY_BYTES && !gt_yaml_is_multiline(s);
}

static int write_member(struct writer *w, const struct gt_member *m)
{
        struct gt_yaml_emitter *e = &w->emitter;
        int r;

        gt_yaml_put_indent(e);
        if (is_simple_key(m->key)) {
                r = write_node(w, m->key, GT_YAML_KEY);
                gt_yaml_put_indicator(e, STR(":"), false, false);
        } else {
                gt_yaml_put_indicator(e, STR("?"), true, true);
                r = write_node(w, m->key, GT_YAML_MEMBER);
                gt_yaml_put_indent(e);
                gt_yaml_put_indicator(e, STR(":"), true, true);
        }
        if (r < 0)
                return r;
        /* In Go, looking up a NaN key in a map finds nothing, so yaml.v3 does not find the value. */
        return write_node(w, m->key.type == GT_FLOAT64 && isnan(m->key.number) ? gt_nil() : m->value, GT_YAML_MEMBER);
}

static double number_of(struct gt_value v)
{
        return v.type == GT_FLOAT64 ? v.number : v.type >= GT_UINT8 ? (double)v.natural : (double)v.integer;
}

/* The rank of a kind in reflect's order: nil counts as an interface, between the numbers and the maps. */
static int kind_rank(struct gt_value v)
{
        return gt_is_nil(v) ? 2 * GT_KIND_MAP - 1 : 2 * (int)gt_kind(v);
}

/* keyList.Less: numbers by size, strings by yaml_compare_keys_v3, others by kind. */
static int compare_keys(struct gt_value a, struct gt_value b)
{
        bool a_is_number = gt_is_integer(a) || a.type == GT_FLOAT64,
             b_is_number = gt_is_integer(b) || b.type == GT_FLOAT64;

        if (a.type == GT_STRING && b.type == GT_STRING)
                return yaml_compare_keys_v3(gt_str(a), gt_str(b));
        if (a_is_number && b_is_number)
                return (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
        return kind_rank(a) - kind_rank(b);
}

/* A merge sort, because the order of keys is not transitive: 1b is before 9, 9 before 10 and 10 before 1b. */
static void sort_members(struct gt_member *members, struct gt_member *spare, size_t n)
{
        size_t half = n / 2, left = 0, right = half, at = 0;

        if (n < 2)
                return;
        sort_members(members, spare, half);
        sort_members(members + half, spare, n - half);
        while (left < half && right < n)
                spare[at++] =
                        compare_keys(members[right].key, members[left].key) < 0 ? members[right++] : members[left++];
        while (left < half)
                spare[at++] = members[left++];
        memcpy(members, spare, at * sizeof(*members));
}

static int write_map(struct writer *w, struct gt_value map, enum gt_yaml_parent parent, bool keeps_order)
{
        struct gt_yaml_emitter *e = &w->emitter;
        int outer = e->indent, r;
        size_t n;
        struct gt_member *members = (struct gt_member *)gt_map_members(w->context, map, &n);

        if (!keeps_order)
                sort_members(members, ARENA_NEW_ARRAY(w->context->arena, struct gt_member, n), n);
        e->indent = outer < 0 ? 0 : gt_yaml_inner_indent(e, parent);
        for (size_t i = 0; i < n; i++) {
                r = write_member(w, &members[i]);
                if (r < 0)
                        return r;
        }
        e->indent = outer;
        return 0;
}

static int write_container(struct writer *w, struct gt_value v, enum gt_yaml_parent parent, bool keeps_order)
{
        int r;

        if (w->depth >= LIMIT_DEPTH)
                return gt_fail(w->context, "value is nested too deeply");
        r = gt_spend(w->context, 1);
        if (r < 0)
                return r;
        if (gt_is_map(v) ? gt_map_count(v) == 0 : gt_list_count(v) == 0) {
                gt_yaml_put_plain(&w->emitter, gt_is_map(v) ? STR("{}") : STR("[]"));
                return 0;
        }
        w->depth++;
        r = gt_is_map(v) ? write_map(w, v, parent, keeps_order) : write_list(w, v, parent);
        w->depth--;
        return r;
}

static int write_object(struct writer *w, struct gt_value v, enum gt_yaml_parent parent)
{
        const struct gt_class *class_of = v.object->class_of;
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(w->context));
        struct gt_value instead;

        if (class_of->to_yaml) {
                instead = class_of->to_yaml(w->context, v.object);
                if (gt_is_map(instead))
                        return write_container(w, instead, parent, true);
                /* A time needs no quotes: its text is read back as a time. */
                gt_yaml_put_plain(&w->emitter, gt_str(instead));
                return 0;
        }
        if (class_of->basic && !class_of->print)
                return write_node(w, class_of->basic(v.object), parent);
        gt_append_text(w->context, &b, v);
        write_string(w, buf_str(&b), parent);
        return 0;
}

static int write_node(struct writer *w, struct gt_value v, enum gt_yaml_parent parent)
{
        switch ((enum gt_type)v.type) {
        case GT_NONE:
        case GT_NIL:
        case _GT_TYPES:
                gt_yaml_put_plain(&w->emitter, STR("null"));
                return 0;
        case GT_BOOL:
                gt_yaml_put_plain(&w->emitter, v.boolean ? STR("true") : STR("false"));
                return 0;
        case GT_INT:
        case GT_INT64:
        case GT_UINT8:
        case GT_UINT64:
                write_int(w, v);
                return 0;
        case GT_FLOAT64:
                write_double(w, v.number);
                return 0;
        case GT_COMPLEX128:
                return gt_fail(w->context, "cannot marshal type: complex128");
        case GT_STRING:
                write_string(w, gt_str(v), parent);
                return 0;
        case GT_BYTES:
        case GT_LIST:
        case GT_STRINGS:
        case GT_INTS:
        case GT_LISTS:
        case GT_MAP:
        case GT_STRING_MAP:
        case GT_BYTES_MAP:
        case GT_ANY_MAP:
                return write_container(w, v, parent, false);
        case GT_OBJECT:
                return write_object(w, v, parent);
        }
        return 0;
}

int gt_yaml_write(struct gt_context *c, struct buf *b, struct gt_value v)
{
        struct writer w = {
                .emitter = { .out = b, .indent = -1, .is_whitespace = true, .is_indention = true },
                .context = c,
        };
        int r = write_node(&w, v, GT_YAML_ROOT);

        if (r < 0)
                return r;
        gt_yaml_put_indent(&w.emitter);
        return 0;
}
