/* JSONPath on values. Each node maps a list of items to a list of items. */
#include "jsonpath-private.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"

/* Where an item comes from: error texts name its type in Go. */
enum origin {
        FROM_VALUE,
        FROM_PATH, /* a literal; its ints are of type int */
        FROM_TEXT, /* a byte of a text, of type uint8 */
};

struct item {
        const struct value *value;
        enum origin origin;
};

struct items {
        struct item *p;
        size_t n;
        size_t capacity;
};

struct finder {
        struct arena *arena;
        size_t steps;
};

static int eval_list(struct finder *f, const struct items *in, const struct jsonpath_list *list, struct items *out,
                     struct err *err);

/* --- Items --- */

static int add(struct finder *f, struct items *out, struct item item, struct err *err)
{
        if (f->steps++ >= LIMIT_JSONPATH_STEPS)
                return err_set(err, ERR_LIMIT, "JSONPath goes through more than %d values", LIMIT_JSONPATH_STEPS);
        if (out->n == out->capacity) {
                size_t capacity = out->capacity ? 2 * out->capacity : 4;
                struct item *p = ARENA_NEW_ARRAY(f->arena, struct item, capacity);

                if (out->n > 0)
                        memcpy(p, out->p, out->n * sizeof(*p));
                out->p = p;
                out->capacity = capacity;
        }
        out->p[out->n++] = item;
        return arena_check(f->arena, err);
}

static struct str type_name(struct item item)
{
        if (item.origin == FROM_TEXT)
                return STR("uint8");
        if (item.origin == FROM_PATH && value_is_int(item.value))
                return STR("int");
        return go_type_name(item.value);
}

static size_t count_children(struct item item)
{
        return value_is_string(item.value) ? item.value->n : value_count(item.value);
}

static struct item child_at(struct finder *f, struct item item, size_t i)
{
        const struct value *v = item.value;

        if (value_is_string(v)) {
                struct value byte = value_of_int((unsigned char)v->bytes[i]);

                return (struct item) { value_put(f->arena, byte), FROM_TEXT };
        }
        return (struct item) { value_is_object(v) ? &v->members[i].value : &v->items[i], FROM_VALUE };
}

/* --- Steps --- */

static int eval_field(struct finder *f, const struct items *in, struct str name, struct items *out, struct err *err)
{
        for (size_t i = 0; i < in->n; i++) {
                const struct value *v = value_get(in->p[i].value, name);
                int r = v ? add(f, out, (struct item) { v, FROM_VALUE }, err) : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}

static int eval_wildcard(struct finder *f, const struct items *in, struct items *out, struct err *err)
{
        for (size_t i = 0; i < in->n; i++)
                for (size_t j = 0; j < count_children(in->p[i]); j++) {
                        int r = add(f, out, child_at(f, in->p[i], j), err);

                        if (r < 0)
                                return r;
                }
        return 0;
}

static int descend(struct finder *f, struct item item, struct items *out, struct err *err)
{
        int r;

        if (count_children(item) == 0)
                return 0;
        r = add(f, out, item, err);
        if (r < 0 || value_is_string(item.value)) /* bytes have nothing below them */
                return r;
        for (size_t i = 0; i < count_children(item) && r >= 0; i++)
                r = descend(f, child_at(f, item, i), out, err);
        return r;
}

static int eval_recursive(struct finder *f, const struct items *in, struct items *out, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < in->n && r >= 0; i++)
                r = descend(f, in->p[i], out, err);
        return r;
}

static int eval_literal(struct finder *f, const struct items *in, const struct value *v, struct items *out,
                        struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < in->n && r >= 0; i++)
                r = add(f, out, (struct item) { v, FROM_PATH }, err);
        return r;
}

static int eval_word(const struct jsonpath_node *node, const struct items *in, struct items *out, struct err *err)
{
        if (str_equal(node->name, STR("end")))
                return err_set(err, ERR_INVALID, "not in range, nothing to end");
        *out = *in;
        return err_set(err, ERR_INVALID, "unrecognized identifier %.*s", STR_ARG(node->name));
}

/* --- Slices --- */

/* The half-open range of an array with n items that a slice means. Returns 1, or 0 for a slice of nothing. */
static int resolve_slice(const struct jsonpath_bound *bounds, int64_t n, int64_t *ret_from, int64_t *ret_to,
                         struct err *err)
{
        int64_t from = bounds[0].is_known ? bounds[0].value : 0, to = bounds[1].is_known ? bounds[1].value : n;

        if (from < 0)
                from += n;
        if (to < 0 || (to == 0 && bounds[1].is_derived))
                to += n;
        if (to == from)
                return 0;
        if (from >= n || from < 0)
                return err_set(err, ERR_INVALID, "array index out of bounds: index %lld, length %lld", (long long)from,
                               (long long)n);
        if (to > n || to < 0)
                return err_set(err, ERR_INVALID, "array index out of bounds: index %lld, length %lld",
                               (long long)(int64_t)((uint64_t)to - 1), (long long)n);
        if (from > to)
                return err_set(err, ERR_INVALID, "starting index %lld is greater than ending index %lld",
                               (long long)from, (long long)to);
        if (bounds[2].is_known && bounds[2].value <= 0)
                return err_set(err, ERR_INVALID, "step must be > 0");
        *ret_from = from;
        *ret_to = to;
        return 1;
}

static int add_slice(struct finder *f, struct item array, const struct jsonpath_bound *bounds, struct items *out,
                     bool *ret_is_empty, struct err *err)
{
        int64_t from, to, step = bounds[2].is_known ? bounds[2].value : 1;
        int r = resolve_slice(bounds, (int64_t)value_count(array.value), &from, &to, err);

        *ret_is_empty = r == 0;
        if (r <= 0)
                return r;
        for (int64_t i = from; i < to; i = step < to - i ? i + step : to) {
                r = add(f, out, child_at(f, array, (size_t)i), err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* An empty slice of one array ends the whole step: the arrays behind it are not looked at. */
static int eval_slice(struct finder *f, const struct items *in, const struct jsonpath_bound *bounds, struct items *out,
                      struct err *err)
{
        bool is_empty = false;
        int r = 0;

        for (size_t i = 0; i < in->n && r >= 0 && !is_empty; i++) {
                struct item item = in->p[i];

                if (value_is_null(item.value))
                        continue;
                if (value_is_array(item.value))
                        r = add_slice(f, item, bounds, out, &is_empty, err);
                else
                        r = err_set(err, ERR_INVALID, "%.*s is not array or slice", STR_ARG(type_name(item)));
        }
        if (r < 0)
                *out = *in;
        return r;
}

/* --- Unions and filters --- */

static int append_items(struct finder *f, struct items *out, const struct items *more, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < more->n && r >= 0; i++)
                r = add(f, out, more->p[i], err);
        return r;
}

static int eval_union(struct finder *f, const struct items *in, const struct jsonpath_node *node, struct items *out,
                      struct err *err)
{
        for (size_t i = 0; i < node->n_parts; i++) {
                struct items part = { 0 };
                int r = eval_list(f, in, &node->parts[i], &part, err);

                if (r < 0)
                        *out = *in;
                else
                        r = append_items(f, out, &part, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static bool is_comparable(const struct value *v)
{
        return value_is_bool(v) || value_is_number(v) || value_is_string(v);
}

/* -1, 0 or 1. Numbers are of two types that are not compared with each other. */
static int compare(const struct value *a, const struct value *b, bool needs_order, int *ret, struct err *err)
{
        if (!is_comparable(a) || !is_comparable(b))
                return err_set(err, ERR_INVALID, "invalid type for comparison");
        if (a->type != b->type)
                return err_set(err, ERR_INVALID, "incompatible types for comparison");
        if (value_is_bool(a) && needs_order)
                return err_set(err, ERR_INVALID, "invalid type for comparison");
        if (value_is_bool(a))
                *ret = a->boolean - b->boolean;
        else if (value_is_int(a))
                *ret = (a->integer > b->integer) - (a->integer < b->integer);
        else if (value_is_double(a))
                *ret = (a->number > b->number) - (a->number < b->number);
        else
                *ret = str_compare(value_str(a), value_str(b));
        return 0;
}

static int apply_operator(struct str op, const struct value *a, const struct value *b, bool *ret, struct err *err)
{
        static const struct {
                struct str name;
                bool needs_order, below, equal, above;
        } operators[] = {
                { STR_INIT("<"), true, true, false, false },   { STR_INIT(">"), true, false, false, true },
                { STR_INIT("<="), true, true, true, false },   { STR_INIT(">="), true, false, true, true },
                { STR_INIT("=="), false, false, true, false }, { STR_INIT("!="), false, true, false, true },
        };

        for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
                int order = 0, r;

                if (!str_equal(operators[i].name, op))
                        continue;
                r = compare(a, b, operators[i].needs_order, &order, err);
                *ret = order < 0 ? operators[i].below : order > 0 ? operators[i].above : operators[i].equal;
                return r;
        }
        return err_set(err, ERR_INVALID, "unrecognized filter operator %.*s", STR_ARG(op));
}

/* One side of a comparison for one item of the array: 1 with its value, 0 if it finds nothing. */
static int eval_side(struct finder *f, const struct items *one, const struct jsonpath_list *side,
                     const struct value **ret, struct err *err)
{
        struct items found = { 0 };
        int r = eval_list(f, one, side, &found, err);

        if (r < 0 || found.n == 0)
                return r;
        if (found.n > 1)
                return err_set(err, ERR_INVALID, "can only compare one element at a time");
        *ret = found.p[0].value;
        return 1;
}

/* Whether anything is found. Of errors only the limit counts: the items that a failed step returns decide. */
static int eval_exists(struct finder *f, const struct items *one, const struct jsonpath_node *node, bool *ret,
                       struct err *err)
{
        _cleanup_err_ struct err own = { 0 };
        struct items found = { 0 };
        int r = eval_list(f, one, &node->parts[0], &found, &own);

        if (r == ERR_LIMIT)
                return err_move(err, &own);
        *ret = found.n > 0;
        return 0;
}

/* *ret_is_ours: the items so far stay the result of a step that fails here. */
static int passes(struct finder *f, const struct items *one, const struct jsonpath_node *node, bool *ret,
                  bool *ret_is_ours, struct err *err)
{
        const struct value *left = NULL, *right = NULL;
        int r;

        *ret = false;
        *ret_is_ours = false;
        if (node->name.n == 0)
                return eval_exists(f, one, node, ret, err);
        r = eval_side(f, one, &node->parts[0], &left, err);
        if (r <= 0)
                return r;
        r = eval_side(f, one, &node->parts[1], &right, err);
        if (r <= 0)
                return r;
        *ret_is_ours = true;
        return apply_operator(node->name, left, right, ret, err);
}

static int not_filterable(const struct value *v, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES);

        go_append_value(&b, v);
        return err_set(err, ERR_INVALID, "%.*s is not array or slice and cannot be filtered", STR_ARG(buf_str(&b)));
}

static int eval_filter(struct finder *f, const struct items *in, const struct jsonpath_node *node, struct items *out,
                       struct err *err)
{
        bool pass, is_ours = false;
        int r = 0;

        for (size_t i = 0; i < in->n && r >= 0; i++) {
                const struct value *array = in->p[i].value;

                if (!value_is_array(array))
                        r = not_filterable(array, err);
                for (size_t j = 0; j < value_count(array) && r >= 0; j++) {
                        struct item item = { &array->items[j], FROM_VALUE };
                        struct items one = { &item, 1, 1 };

                        r = passes(f, &one, node, &pass, &is_ours, err);
                        if (r >= 0 && pass)
                                r = add(f, out, item, err);
                }
        }
        if (r < 0 && !is_ours)
                *out = *in;
        return r;
}

/* --- Lists --- */

/* On an error out has what client-go's step of the same kind returns with its error, because a filter looks at it. */
static int eval_node(struct finder *f, const struct items *in, const struct jsonpath_node *node, struct items *out,
                     struct err *err)
{
        switch (node->type) {
        case JSONPATH_FIELD:
                return eval_field(f, in, node->name, out, err);
        case JSONPATH_WILDCARD:
                return eval_wildcard(f, in, out, err);
        case JSONPATH_RECURSIVE:
                return eval_recursive(f, in, out, err);
        case JSONPATH_SLICE:
                return eval_slice(f, in, node->bounds, out, err);
        case JSONPATH_FILTER:
                return eval_filter(f, in, node, out, err);
        case JSONPATH_UNION:
                return eval_union(f, in, node, out, err);
        case JSONPATH_TEXT:
                return add(f, out, (struct item) { &node->value, FROM_PATH }, err);
        case JSONPATH_LITERAL:
                return eval_literal(f, in, &node->value, out, err);
        case JSONPATH_WORD:
                return eval_word(node, in, out, err);
        }
        assert(false);
        return 0;
}

static int eval_list(struct finder *f, const struct items *in, const struct jsonpath_list *list, struct items *out,
                     struct err *err)
{
        *out = *in;
        for (const struct jsonpath_node *n = list->first; n; n = n->next) {
                struct items next = { 0 };
                int r = eval_node(f, out, n, &next, err);

                *out = next;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int check_max(size_t n, size_t max, struct err *err)
{
        if (n <= max)
                return 0;
        return err_set(err, ERR_LIMIT, "JSONPath finds more than %zu values", max);
}

int jsonpath_find(const struct jsonpath *p, struct arena *a, const struct value *root, size_t max,
                  const struct value *const **ret, size_t *ret_n, struct err *err)
{
        struct finder f = { .arena = a };
        struct item item = { root, FROM_VALUE };
        struct items in = { &item, 1, 1 }, first = { 0 };
        const struct value **values;
        int r;

        for (size_t i = 0; i < p->n_actions; i++) {
                struct items found = { 0 };

                r = eval_list(&f, &in, &p->actions[i], &found, err);
                if (r < 0)
                        return r;
                if (i == 0)
                        first = found;
        }
        r = check_max(first.n, max, err);
        if (r < 0)
                return r;
        values = ARENA_NEW_ARRAY(a, const struct value *, first.n);
        for (size_t i = 0; i < first.n; i++)
                values[i] = first.p[i].value;
        *ret = values;
        *ret_n = first.n;
        return 0;
}
