#include "typed.h"

#include "buf.h"
#include "gotext.h"

bool typed_same(const struct value *a, const struct value *b)
{
        if (a == b)
                return true;
        if (!a || !b || a->type != b->type || a->n != b->n)
                return false;
        switch (value_type(a)) {
        case VALUE_NULL:
                return true;
        case VALUE_BOOL:
                return a->boolean == b->boolean;
        case VALUE_INT:
                return a->integer == b->integer;
        case VALUE_DOUBLE:
                return a->number == b->number;
        case VALUE_STRING:
                return str_equal(value_str(a), value_str(b));
        case VALUE_ARRAY:
                return a->n == 0 || a->items == b->items;
        case VALUE_OBJECT:
                break;
        }
        return a->n == 0 || a->members == b->members;
}

/* --- Validation --- */

/* A position in a value, linked through the stack. */
struct place {
        const struct place *up;
        const struct path_element *element;
};

struct validation {
        struct arena *arena;
        bool allow_duplicates;
        size_t n_errors;
        struct buf errors; /* one line each, indented by two spaces */
};

static void append_place(struct buf *b, const struct place *at)
{
        if (!at)
                return;
        append_place(b, at->up);
        path_element_append(b, at->element);
}

static void begin_error(struct validation *v, const struct place *at)
{
        if (v->n_errors++ > 0)
                buf_append_char(&v->errors, '\n');
        buf_append_literal(&v->errors, "  ");
        append_place(&v->errors, at);
        buf_append_literal(&v->errors, ": ");
}

/* Adds a type error. The value is shown like Go prints the wrapper around it: %v, or %#v with is_exact. */
static void expected(struct validation *v, const struct place *at, const char *what, const struct value *got,
                     bool is_exact)
{
        begin_error(v, at);
        buf_appendf(&v->errors, "expected %s, got ", what);
        if (is_exact) {
                buf_append_literal(&v->errors, "&value.valueUnstructured{Value:");
                go_sprintf(&v->errors, STR("%#v"), &got, 1, 0);
        } else {
                buf_append_literal(&v->errors, "&{");
                go_append_value(&v->errors, got);
        }
        buf_append_char(&v->errors, '}');
}

static void validate_scalar(struct validation *v, const struct place *at, enum scalar scalar, const struct value *got)
{
        switch (scalar) {
        case SCALAR_UNTYPED:
                if (value_is_array(got) || value_is_object(got))
                        expected(v, at, "any scalar", got, false);
                break;
        case SCALAR_STRING:
                if (!value_is_string(got))
                        expected(v, at, "string", got, true);
                break;
        case SCALAR_NUMERIC:
                if (!value_is_number(got)) {
                        begin_error(v, at);
                        buf_append_literal(&v->errors, "expected numeric (int or float), got ");
                        buf_append_str(&v->errors, go_type_name(got));
                }
                break;
        case SCALAR_BOOLEAN:
                if (!value_is_bool(got))
                        expected(v, at, "boolean", got, false);
                break;
        }
}

static void validate(struct validation *v, const struct place *at, struct typed_type t, const struct value *got);

static void validate_map(struct validation *v, const struct place *at, const struct typed_shape *s,
                         const struct value *map)
{
        if (!value_is_object(map)) {
                expected(v, at, "map", map, false);
                return;
        }
        VALUE_FOREACH_MEMBER (m, map) {
                struct path_element e = path_element_field(m->key);
                struct place here = { at, &e };
                bool is_declared;
                struct typed_type t = shape_field(s, m->key, &is_declared);

                if (t.kind == TYPE_NONE) {
                        begin_error(v, &here);
                        buf_append_literal(&v->errors, "field not declared in schema");
                        return; /* as upstream does */
                }
                validate(v, &here, t, &m->value);
        }
}

static int validate_element(struct validation *v, const struct typed_shape *s, const struct value *list, size_t i,
                            struct path_element *ret, struct err *err)
{
        if (!s->is_atomic)
                return shape_element(v->arena, s, &list->items[i], ret, err);
        *ret = (struct path_element) { .type = ELEMENT_INDEX, .index = (int64_t)i };
        return 0;
}

struct seen {
        struct path_element element;
        size_t position;
};

static int compare_seen(const void *a, const void *b)
{
        const struct seen *x = a, *y = b;
        int order = path_element_compare(&x->element, &y->element);

        return order ? order : (x->position > y->position) - (x->position < y->position);
}

/* Marks every item that repeats an earlier one. NULL when there is none. */
static bool *find_repeats(struct validation *v, const struct path_element *elements, size_t n)
{
        struct seen *seen = arena_alloc(v->arena, n * sizeof(*seen));
        bool *repeats = NULL;

        for (size_t i = 0; i < n; i++)
                seen[i] = (struct seen) { elements[i], i };
        qsort(seen, n, sizeof(*seen), compare_seen);
        for (size_t i = 1; i < n; i++) {
                if (path_element_compare(&seen[i - 1].element, &seen[i].element) != 0)
                        continue;
                if (!repeats)
                        repeats = ARENA_NEW_ARRAY(v->arena, bool, n);
                repeats[seen[i].position] = true;
        }
        return repeats;
}

static bool is_ascending(const struct path_element *elements, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (path_element_compare(&elements[i - 1], &elements[i]) >= 0)
                        return false;
        return true;
}

/* Validates a list. An item that cannot have an element ends the check of the list. */
static void validate_list(struct validation *v, const struct place *at, const struct typed_shape *s,
                          const struct value *list)
{
        _cleanup_err_ struct err err = { 0 };
        struct typed_type items = shape_items(s);
        struct path_element *elements;
        bool *repeats = NULL;
        size_t n = 0;

        if (!value_is_array(list)) {
                expected(v, at, "list", list, false);
                return;
        }
        elements = arena_alloc(v->arena, list->n * sizeof(*elements));
        while (n < list->n && validate_element(v, s, list, n, &elements[n], &err) >= 0)
                n++;
        if (!s->is_atomic && !v->allow_duplicates && !is_ascending(elements, n))
                repeats = find_repeats(v, elements, n);
        for (size_t i = 0; i < n; i++) {
                struct place here = { at, &elements[i] };

                if (repeats && repeats[i]) {
                        begin_error(v, at);
                        buf_append_literal(&v->errors, "duplicate entries for key ");
                        path_element_append(&v->errors, &elements[i]);
                }
                validate(v, &here, items, &list->items[i]);
        }
        if (n < list->n) {
                begin_error(v, at);
                buf_appendf(&v->errors, "element %zu: %s", n, err_message(&err));
        }
}

static void validate(struct validation *v, const struct place *at, struct typed_type t, const struct value *got)
{
        struct typed_shape s = type_shape(t, got);

        if (s.is_free || value_is_null(got))
                return;
        switch ((enum typed_form)s.form) {
        case FORM_SCALAR:
                validate_scalar(v, at, s.scalar, got);
                break;
        case FORM_LIST:
                validate_list(v, at, &s, got);
                break;
        case FORM_MAP:
                validate_map(v, at, &s, got);
                break;
        }
}

int typed_validate(struct arena *a, struct typed_type t, const struct value *v, bool allow_duplicates, struct err *err)
{
        struct validation validation = { .arena = a, .allow_duplicates = allow_duplicates };
        int r = 0;

        buf_init(&validation.errors, 0);
        validate(&validation, NULL, t, v);
        if (validation.n_errors == 1)
                r = err_set(err, ERR_INVALID, "%s", buf_cstring(&validation.errors) + 2);
        else if (validation.n_errors > 1)
                r = err_set(err, ERR_INVALID, "errors:\n%s", buf_cstring(&validation.errors));
        buf_done(&validation.errors);
        return r;
}

/* --- P1 --- */

struct walk {
        struct arena *arena;
        struct field_stack stack;
};

/* True when the value itself is a member; *ret_below has the members below it. */
static bool to_set(struct walk *w, struct typed_type t, const struct value *v, const struct field_set **ret_below);

static void list_to_set(struct walk *w, const struct typed_shape *s, const struct value *list)
{
        struct list_items items = shape_list_items(w->arena, s, list);
        struct typed_type t = shape_items(s);

        for (size_t i = 0; i < items.n; i++) {
                const struct list_item *item = items.sorted[i];
                const struct field_set *below = NULL;

                if (!item->is_duplicate)
                        to_set(w, t, item->value, &below);
                field_stack_push(&w->stack, item->element, true, below);
        }
}

static void map_to_set(struct walk *w, const struct typed_shape *s, const struct value *map)
{
        VALUE_FOREACH_MEMBER (m, map) {
                const struct field_set *below = NULL;
                bool is_declared, is_member;
                struct typed_type t = shape_field(s, m->key, &is_declared);

                is_member = to_set(w, t, &m->value, &below);
                field_stack_push(&w->stack, path_element_field(m->key), is_member || !is_declared, below);
        }
}

static bool to_set(struct walk *w, struct typed_type t, const struct value *v, const struct field_set **ret_below)
{
        struct typed_shape s = type_shape(t, v);
        size_t mark = w->stack.n;

        if (s.form == FORM_SCALAR || s.is_atomic || value_is_null(v))
                return true;
        if (s.form == FORM_LIST) {
                list_to_set(w, &s, v);
        } else {
                if (value_count(v) == 0)
                        return true;
                map_to_set(w, &s, v);
        }
        *ret_below = field_stack_take(&w->stack, w->arena, mark);
        return false;
}

const struct field_set *typed_to_set(struct arena *a, struct typed_type t, const struct value *v)
{
        struct walk w = { .arena = a };
        const struct field_set *set = NULL;

        to_set(&w, t, v, &set);
        field_stack_done(&w.stack);
        return set;
}

/* --- P5 --- */

static const struct field_set *ensure_named(struct walk *w, struct typed_type t, const struct field_set *set)
{
        struct typed_shape map = type_shape(t, &value_empty_object), list = type_shape(t, &value_empty_array);
        size_t mark = w->stack.n;
        bool is_changed = false;

        for (size_t i = 0; i < set->n; i++) {
                const struct field_node *node = &set->nodes[i];
                const struct field_set *below = node->below;
                struct typed_type child = { .kind = TYPE_NONE };
                bool is_declared = false;

                if (below && node->element.type == ELEMENT_FIELD && map.form == FORM_MAP)
                        child = shape_field(&map, path_element_name(&node->element), &is_declared);
                else if (below && node->element.type == ELEMENT_KEY && list.form == FORM_LIST)
                        child = shape_items(&list);
                if (child.kind != TYPE_NONE && child.kind != TYPE_DEDUCED)
                        below = ensure_named(w, child, below);
                is_changed |= below != node->below || (is_declared && !node->is_member);
                field_stack_push(&w->stack, node->element, node->is_member || is_declared, below);
        }
        if (is_changed)
                return field_stack_take(&w->stack, w->arena, mark);
        w->stack.n = mark;
        return set;
}

const struct field_set *typed_ensure_named(struct arena *a, struct typed_type t, const struct field_set *s)
{
        struct walk w = { .arena = a };

        if (s)
                s = ensure_named(&w, t, s);
        field_stack_done(&w.stack);
        return s;
}

/* --- P6 --- */

static const struct field_set *reconcile(struct walk *w, struct typed_type t, const struct value *v,
                                         const struct field_set *set);

/* Reconciles a node that has members below it: the node itself replaces them if the schema now says that it is atomic. */
static bool reconcile_node(struct walk *w, struct typed_type t, const struct value *v, const struct field_node *node)
{
        const struct field_set *below = node->below;
        bool is_member = node->is_member;

        if (below && t.kind != TYPE_NONE) {
                struct typed_shape s = type_shape(t, v);

                if (s.form != FORM_SCALAR && s.is_atomic && !shape_is_deduced(&s)) {
                        is_member = true;
                        below = NULL;
                } else {
                        below = reconcile(w, t, v, below);
                }
        }
        field_stack_push(&w->stack, node->element, is_member, below);
        return below != node->below;
}

static const struct value *find_item(const struct list_items *items, const struct path_element *e)
{
        size_t low = 0, high = items->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (path_element_compare(&items->sorted[middle]->element, e) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < items->n && path_element_compare(&items->sorted[low]->element, e) == 0 ? items->sorted[low]->value
                                                                                            : NULL;
}

static bool has_below(const struct field_set *set)
{
        for (size_t i = 0; i < set->n; i++)
                if (set->nodes[i].below)
                        return true;
        return false;
}

static const struct field_set *reconcile(struct walk *w, struct typed_type t, const struct value *v,
                                         const struct field_set *set)
{
        struct typed_shape s = type_shape(t, v);
        struct list_items items;
        size_t mark = w->stack.n;
        bool is_changed = false;

        if (!has_below(set) || s.form == FORM_SCALAR || (s.form == FORM_LIST && s.is_atomic) || shape_is_deduced(&s))
                return set;
        items = s.form == FORM_LIST ? shape_list_items(w->arena, &s, v) : (struct list_items) { 0 };
        for (size_t i = 0; i < set->n; i++) {
                const struct field_node *node = &set->nodes[i];
                const struct value *child = NULL;
                struct typed_type type = { .kind = TYPE_NONE };
                bool is_declared;

                if (s.form == FORM_LIST && node->element.type != ELEMENT_FIELD && node->below) {
                        child = find_item(&items, &node->element);
                        type = shape_items(&s);
                } else if (s.form == FORM_MAP && node->element.type == ELEMENT_FIELD && node->below) {
                        child = value_get(v, path_element_name(&node->element));
                        type = shape_field(&s, path_element_name(&node->element), &is_declared);
                }
                is_changed |= reconcile_node(w, type, child, node);
        }
        if (is_changed)
                return field_stack_take(&w->stack, w->arena, mark);
        w->stack.n = mark;
        return set;
}

const struct field_set *typed_reconcile(struct arena *a, struct typed_type t, const struct value *v,
                                        const struct field_set *s)
{
        struct walk w = { .arena = a };

        if (s)
                s = reconcile(&w, t, v, s);
        field_stack_done(&w.stack);
        return s;
}
