#include "field-set.h"

#include "buf.h"
#include "field-trie.h"
#include "gotext.h"
#include "number.h"

/* --- The order of path elements --- */

/* The order of types: numbers, strings, booleans, lists, maps, null. */
static int type_rank(const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_INT:
        case VALUE_DOUBLE:
                return 0;
        case VALUE_STRING:
                return 1;
        case VALUE_BOOL:
                return 2;
        case VALUE_ARRAY:
                return 3;
        case VALUE_OBJECT:
                return 4;
        case VALUE_NULL:
                break;
        }
        return 5;
}

static int compare_values(const struct value *a, const struct value *b);

static int compare_numbers(const struct value *a, const struct value *b)
{
        if (value_is_int(a) && value_is_int(b))
                return (a->integer > b->integer) - (a->integer < b->integer);

        double x = value_double(a, 0), y = value_double(b, 0);

        return (x > y) - (x < y);
}

static int compare_members(const struct member *a, size_t n_a, const struct member *b, size_t n_b)
{
        for (size_t i = 0; i < n_a && i < n_b; i++) {
                int order = str_compare(a[i].key, b[i].key);

                if (order == 0)
                        order = compare_values(&a[i].value, &b[i].value);
                if (order != 0)
                        return order;
        }
        return (n_a > n_b) - (n_a < n_b);
}

static int compare_items(const struct value *a, const struct value *b)
{
        for (size_t i = 0; i < a->n && i < b->n; i++) {
                int order = compare_values(&a->items[i], &b->items[i]);

                if (order != 0)
                        return order;
        }
        return (a->n > b->n) - (a->n < b->n);
}

static int compare_values(const struct value *a, const struct value *b)
{
        int rank = type_rank(a), order = rank - type_rank(b);

        if (order != 0)
                return order;
        switch (rank) {
        case 0:
                return compare_numbers(a, b);
        case 1:
                return str_compare(value_str(a), value_str(b));
        case 2:
                return a->boolean - b->boolean;
        case 3:
                return compare_items(a, b);
        case 4:
                return compare_members(a->members, a->n, b->members, b->n);
        default:
                return 0;
        }
}

int path_element_compare(const struct path_element *a, const struct path_element *b)
{
        if (a->type != b->type)
                return a->type - b->type;
        switch ((enum path_element_type)a->type) {
        case ELEMENT_FIELD:
                return str_compare(path_element_name(a), path_element_name(b));
        case ELEMENT_KEY:
                return compare_members(a->key, a->n, b->key, b->n);
        case ELEMENT_VALUE:
                return compare_values(a->value, b->value);
        case ELEMENT_INDEX:
                break;
        }
        return (a->index > b->index) - (a->index < b->index);
}

/* The value with the members of all its objects sorted, so that comparisons need no memory. */
static const struct value *canonical(struct arena *a, const struct value *v)
{
        if (value_is_array(v)) {
                struct value *items = ARENA_NEW_ARRAY(a, struct value, v->n);

                for (size_t i = 0; i < v->n; i++)
                        items[i] = *canonical(a, &v->items[i]);
                return value_put(a, value_of_items(a, items, v->n));
        }
        if (value_is_object(v)) {
                const struct value *sorted = value_sorted(a, v);
                struct member *members = ARENA_NEW_ARRAY(a, struct member, v->n);

                for (size_t i = 0; i < v->n; i++)
                        members[i] =
                                (struct member) { sorted->members[i].key, *canonical(a, &sorted->members[i].value) };
                return value_put(a, value_of_members(a, members, v->n, true));
        }
        return v;
}

struct path_element path_element_of_value(struct arena *a, const struct value *item)
{
        return (struct path_element) { .type = ELEMENT_VALUE, .value = canonical(a, item) };
}

/* --- Building --- */

void field_stack_done(struct field_stack *s)
{
        free(s->p);
        *s = (struct field_stack) { 0 };
}

/* The first block holds the fields of a usual object, and malloc hands blocks of up to 1 KiB out quickly. */
void field_stack_grow(struct field_stack *s)
{
        s->capacity = s->capacity ? 2 * s->capacity : 1024 / sizeof(*s->p);
        s->p = xrealloc(s->p, s->capacity * sizeof(*s->p));
}

static int compare_nodes(const void *a, const void *b)
{
        const struct field_node *x = a, *y = b;

        return path_element_compare(&x->element, &y->element);
}

/* Sorts the nodes and unites nodes with equal elements; returns the new number of nodes. */
static size_t settle_nodes(struct arena *a, struct field_node *nodes, size_t n)
{
        size_t kept = 0;

        qsort(nodes, n, sizeof(*nodes), compare_nodes);
        for (size_t i = 1; i < n; i++) {
                struct field_node *last = &nodes[kept];

                if (path_element_compare(&last->element, &nodes[i].element) != 0) {
                        nodes[++kept] = nodes[i];
                        continue;
                }
                last->is_member |= nodes[i].is_member;
                last->below = field_set_union(a, last->below, nodes[i].below);
        }
        return kept + 1;
}

static bool nodes_are_sorted(const struct field_node *nodes, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (path_element_compare(&nodes[i - 1].element, &nodes[i].element) >= 0)
                        return false;
        return true;
}

const struct field_set *field_stack_take(struct field_stack *s, struct arena *a, size_t mark)
{
        size_t n = s->n - mark;
        struct field_set *set;

        s->n = mark;
        if (n == 0)
                return NULL;
        if (!nodes_are_sorted(s->p + mark, n))
                n = settle_nodes(a, s->p + mark, n);
        assert(n <= UINT32_MAX);
        set = arena_alloc(a, sizeof(*set) + n * sizeof(set->nodes[0]));
        set->n = (uint32_t)n;
        memcpy(set->nodes, s->p + mark, n * sizeof(set->nodes[0]));
        return set;
}

/* --- Questions --- */

const struct field_node *field_set_find(const struct field_set *s, const struct path_element *e)
{
        size_t low = 0, high = s ? s->n : 0;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = path_element_compare(&s->nodes[middle].element, e);

                if (order == 0)
                        return &s->nodes[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const struct field_node *field_set_find_field(const struct field_set *s, struct str name)
{
        struct path_element e = path_element_field(name);

        return field_set_find(s, &e);
}

bool field_set_equal(const struct field_set *a, const struct field_set *b)
{
        if (a == b)
                return true;
        if (!a || !b || a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++) {
                const struct field_node *x = &a->nodes[i], *y = &b->nodes[i];

                if (x->is_member != y->is_member || path_element_compare(&x->element, &y->element) != 0 ||
                    !field_set_equal(x->below, y->below))
                        return false;
        }
        return true;
}

bool field_set_is_empty(const struct field_set *s)
{
        return !s;
}

size_t field_set_count(const struct field_set *s)
{
        size_t count = 0;

        for (size_t i = 0; s && i < s->n; i++)
                count += s->nodes[i].is_member + field_set_count(s->nodes[i].below);
        return count;
}

/* --- Operations: one merge walk over two sorted levels --- */

enum operation {
        OP_UNION,
        OP_INTERSECTION,
        OP_DIFFERENCE,
        OP_RECURSIVE_DIFFERENCE,
};

struct operands {
        struct arena *arena;
        struct field_stack *stack;
        enum operation operation;
};

static const struct field_set *combine(const struct operands *o, const struct field_set *x, const struct field_set *y);

/* Combines a node of the left side with the node of the same element on the right, or NULL. */
static void combine_left(const struct operands *o, const struct field_node *x, const struct field_node *y)
{
        const struct field_set *below = y ? y->below : NULL;
        bool is_member = y && y->is_member;

        switch (o->operation) {
        case OP_UNION:
                is_member |= x->is_member;
                break;
        case OP_INTERSECTION:
                is_member &= x->is_member;
                break;
        case OP_RECURSIVE_DIFFERENCE:
                if (is_member)
                        return;
                is_member = x->is_member;
                break;
        case OP_DIFFERENCE:
                is_member = x->is_member && !is_member;
                break;
        }
        field_stack_push(o->stack, x->element, is_member, combine(o, x->below, below));
}

static bool is_same(const struct field_set *s, const struct field_node *nodes, size_t n)
{
        if (s->n != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (s->nodes[i].below != nodes[i].below || s->nodes[i].is_member != nodes[i].is_member)
                        return false;
        return true;
}

/* The set of the nodes pushed since mark; x or y itself when the result is equal, so that later walks can stop at equal
 * pointers. */
static const struct field_set *finish(const struct operands *o, size_t mark, const struct field_set *x,
                                      const struct field_set *y)
{
        const struct field_node *nodes;
        const struct field_set *same = NULL;
        size_t n = o->stack->n - mark;

        if (n == 0)
                return NULL;
        nodes = o->stack->p + mark;
        if (is_same(x, nodes, n))
                same = x;
        else if ((o->operation == OP_UNION || o->operation == OP_INTERSECTION) && is_same(y, nodes, n))
                same = y;
        if (!same)
                return field_stack_take(o->stack, o->arena, mark);
        o->stack->n = mark;
        return same;
}

static const struct field_set *combine(const struct operands *o, const struct field_set *x, const struct field_set *y)
{
        bool is_difference = o->operation == OP_DIFFERENCE || o->operation == OP_RECURSIVE_DIFFERENCE;
        size_t mark = o->stack->n, j = 0;

        if (x == y)
                return is_difference ? NULL : x;
        if (!x || !y)
                return is_difference ? x : o->operation == OP_INTERSECTION ? NULL : x ? x : y;
        for (size_t i = 0; i < x->n; i++) {
                int order = 1;

                for (; j < y->n; j++) {
                        order = path_element_compare(&x->nodes[i].element, &y->nodes[j].element);
                        if (order <= 0)
                                break;
                        if (o->operation == OP_UNION)
                                field_stack_push(o->stack, y->nodes[j].element, y->nodes[j].is_member,
                                                 y->nodes[j].below);
                }
                combine_left(o, &x->nodes[i], j < y->n && order == 0 ? &y->nodes[j++] : NULL);
        }
        for (; j < y->n && o->operation == OP_UNION; j++)
                field_stack_push(o->stack, y->nodes[j].element, y->nodes[j].is_member, y->nodes[j].below);
        return finish(o, mark, x, y);
}

static const struct field_set *operate(struct arena *a, enum operation operation, const struct field_set *x,
                                       const struct field_set *y)
{
        _cleanup_field_stack_ struct field_stack stack = { 0 };
        struct operands o = { a, &stack, operation };

        return combine(&o, x, y);
}

const struct field_set *field_set_union(struct arena *a, const struct field_set *x, const struct field_set *y)
{
        return operate(a, OP_UNION, x, y);
}

const struct field_set *field_set_intersection(struct arena *a, const struct field_set *x, const struct field_set *y)
{
        return operate(a, OP_INTERSECTION, x, y);
}

const struct field_set *field_set_difference(struct arena *a, const struct field_set *x, const struct field_set *y)
{
        return operate(a, OP_DIFFERENCE, x, y);
}

const struct field_set *field_set_recursive_difference(struct arena *a, const struct field_set *x,
                                                       const struct field_set *y)
{
        return operate(a, OP_RECURSIVE_DIFFERENCE, x, y);
}

/* --- Text --- */

/* Prints values like the messages of structured-merge-diff: a map as its members one after the other. */
static void append_value(struct buf *b, const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                buf_append_literal(b, "null");
                break;
        case VALUE_BOOL:
                buf_append_str(b, v->boolean ? STR("true") : STR("false"));
                break;
        case VALUE_INT:
                buf_append_int(b, v->integer);
                break;
        case VALUE_DOUBLE:
                number_append_go(b, v->number, 'g', -1);
                break;
        case VALUE_STRING:
                go_append_quoted(b, value_str(v));
                break;
        case VALUE_ARRAY:
                buf_append_char(b, '[');
                for (size_t i = 0; i < v->n; i++) {
                        if (i > 0)
                                buf_append_char(b, ',');
                        append_value(b, &v->items[i]);
                }
                buf_append_char(b, ']');
                break;
        case VALUE_OBJECT:
                for (size_t i = 0; i < v->n; i++) {
                        buf_append_str(b, v->members[i].key);
                        buf_append_char(b, '=');
                        append_value(b, &v->members[i].value);
                }
                break;
        }
}

void path_element_append(struct buf *b, const struct path_element *e)
{
        switch ((enum path_element_type)e->type) {
        case ELEMENT_FIELD:
                buf_append_char(b, '.');
                buf_append_str(b, path_element_name(e));
                break;
        case ELEMENT_KEY:
                buf_append_char(b, '[');
                for (size_t i = 0; i < e->n; i++) {
                        if (i > 0)
                                buf_append_char(b, ',');
                        buf_append_str(b, e->key[i].key);
                        buf_append_char(b, '=');
                        append_value(b, &e->key[i].value);
                }
                buf_append_char(b, ']');
                break;
        case ELEMENT_VALUE:
                buf_append_literal(b, "[=");
                append_value(b, e->value);
                buf_append_char(b, ']');
                break;
        case ELEMENT_INDEX:
                buf_append_char(b, '[');
                buf_append_int(b, e->index);
                buf_append_char(b, ']');
                break;
        }
}

static void each(struct buf *path, const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg)
{
        size_t length = path->n;

        for (size_t i = 0; i < s->n; i++) {
                if (!s->nodes[i].is_member)
                        continue;
                path_element_append(path, &s->nodes[i].element);
                fn(arg, buf_str(path));
                path->n = length;
        }
        for (size_t i = 0; i < s->n; i++) {
                if (!s->nodes[i].below)
                        continue;
                path_element_append(path, &s->nodes[i].element);
                each(path, s->nodes[i].below, fn, arg);
                path->n = length;
        }
}

void field_set_each(const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        if (s)
                each(&path, s, fn, arg);
}
