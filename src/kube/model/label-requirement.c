#include "label-requirement.h"

#include "buf.h"
#include "name.h"
#include "number.h"

/* Adds the texts of a check, joined like upstream, as one error about a value. */
static void add_texts(struct field_errors *e, struct str field, struct str v, const struct str *texts, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value value = value_of_str(v);

        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_literal(&b, "; ");
                buf_append_str(&b, texts[i]);
        }
        if (n > 0)
                field_error_add(e, FIELD_INVALID, field, &value, "%.*s", STR_ARG(buf_str(&b)));
}

static void check_key(struct field_errors *e, struct str field, struct str key)
{
        struct str texts[4];

        add_texts(e, field, key, texts, name_check_qualified(e->arena, key, texts));
}

static struct value list_of(struct arena *a, const struct str *values, size_t n)
{
        struct array_builder b;

        if (n == 0)
                return value_of_null();
        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(values[i]));
        return array_builder_finish(&b);
}

/* Checks the number of values for the operator, and that > and < have integers. */
static void check_operator(struct field_errors *e, const struct label_requirement *r)
{
        struct value list = list_of(e->arena, r->values, r->n_values);
        int64_t number;

        switch (r->op) {
        case SELECT_IN:
        case SELECT_NOT_IN:
                if (r->n_values == 0)
                        field_error_add(e, FIELD_INVALID, STR("values"), &list,
                                        "for 'in', 'notin' operators, values set can't be empty");
                break;
        case SELECT_EXISTS:
        case SELECT_NOT_EXISTS:
                if (r->n_values > 0)
                        field_error_add(e, FIELD_INVALID, STR("values"), &list,
                                        "values set must be empty for exists and does not exist");
                break;
        case SELECT_GREATER:
        case SELECT_LESS:
                if (number_parse_int(r->values[0], &number, NULL) < 0)
                        field_error_add(e, FIELD_INVALID, STR("values[0]"), &list.items[0],
                                        "for 'Gt', 'Lt' operators, the value must be an integer");
                break;
        case SELECT_EQUALS:
        case SELECT_NOT_EQUALS:
                break;
        }
}

static void check_requirement(struct field_errors *e, const struct label_requirement *r)
{
        struct str texts[4];

        check_key(e, STR("key"), r->key);
        check_operator(e, r);
        for (size_t i = 0; i < r->n_values; i++) {
                struct str field = arena_printf(e->arena, "values[%zu][%.*s]", i, STR_ARG(r->key));

                add_texts(e, field, r->values[i], texts, name_check_label_value(e->arena, r->values[i], texts));
        }
}

/* Sets the error in the form of Go's aggregate: `a` or `[a, b]`, without repetitions. */
static int fail_with(const struct field_errors *e, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        field_errors_append(&b, e);
        err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
        return ERR_INVALID;
}

int requirement_check_key(struct arena *a, struct str field, struct str key, struct err *err)
{
        struct field_errors errors;

        field_errors_init(&errors, a);
        check_key(&errors, field, key);
        return errors.n > 0 ? fail_with(&errors, err) : 0;
}

int requirement_check(struct arena *a, const struct label_requirement *r, struct err *err)
{
        struct field_errors errors;

        field_errors_init(&errors, a);
        check_requirement(&errors, r);
        return errors.n > 0 ? fail_with(&errors, err) : 0;
}

void requirement_set_values(struct label_requirement *r, struct str_list *values, bool drops_duplicates)
{
        size_t n = 0;

        str_list_sort(values);
        for (size_t i = 0; i < values->n; i++)
                if (!drops_duplicates || n == 0 || !str_equal(values->p[n - 1], values->p[i]))
                        values->p[n++] = values->p[i];
        r->values = values->p;
        r->n_values = n;
}

struct label_requirement *requirement_list_add(struct requirement_list *list)
{
        if (list->n == list->capacity) {
                size_t capacity = list->capacity ? 2 * list->capacity : 4;
                struct label_requirement *p = ARENA_NEW_ARRAY(list->arena, struct label_requirement, capacity);

                if (list->n > 0)
                        memcpy(p, list->p, list->n * sizeof(*p));
                list->p = p;
                list->capacity = capacity;
        }
        list->p[list->n] = (struct label_requirement) { 0 };
        return &list->p[list->n++];
}

/* Sorts by key, stable. A merge sort, because texts may have many requirements. */
static void sort_requirements(struct label_requirement *p, struct label_requirement *scratch, size_t n)
{
        size_t half = n / 2, i = 0, j = half, k = 0;

        if (n < 2)
                return;
        sort_requirements(p, scratch, half);
        sort_requirements(p + half, scratch, n - half);
        memcpy(scratch, p, n * sizeof(*p));
        while (i < half && j < n)
                p[k++] = str_compare(scratch[j].key, scratch[i].key) < 0 ? scratch[j++] : scratch[i++];
        while (i < half)
                p[k++] = scratch[i++];
        while (j < n)
                p[k++] = scratch[j++];
}

void requirement_list_finish(struct requirement_list *list, struct label_selector *ret)
{
        if (list->n > 1)
                sort_requirements(list->p, ARENA_NEW_ARRAY(list->arena, struct label_requirement, list->n), list->n);
        *ret = (struct label_selector) { .requirements = list->p, .n = list->n };
}
