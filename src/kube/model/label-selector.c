#include "label-selector.h"

#include "buf.h"
#include "label-requirement.h"
#include "number.h"

static int operator_from(struct str name, enum selector_operator *ret, struct err *err)
{
        static const struct {
                struct str name;
                enum selector_operator op;
        } operators[] = {
                { STR_INIT("In"), SELECT_IN },
                { STR_INIT("NotIn"), SELECT_NOT_IN },
                { STR_INIT("Exists"), SELECT_EXISTS },
                { STR_INIT("DoesNotExist"), SELECT_NOT_EXISTS },
        };

        for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
                if (str_equal(operators[i].name, name)) {
                        *ret = operators[i].op;
                        return 0;
                }
        }
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a valid label selector operator", STR_ARG(name));
}

static int add_label(struct requirement_list *list, const struct member *m, struct err *err)
{
        struct label_requirement *r = requirement_list_add(list);
        struct str_list values = { .arena = list->arena };

        if (!value_is_string(&m->value))
                return err_set(err, ERR_INVALID, "matchLabels[%.*s]: must be a string", STR_ARG(m->key));
        str_list_add(&values, value_str(&m->value));
        *r = (struct label_requirement) { .key = m->key, .op = SELECT_EQUALS, .values = values.p, .n_values = 1 };
        return requirement_check(list->arena, r, err);
}

static int add_expression(struct requirement_list *list, const struct value *expression, struct err *err)
{
        struct label_requirement *req = requirement_list_add(list);
        struct str_list values = { .arena = list->arena };
        int r;

        req->key = value_str(value_get(expression, STR("key")));
        r = operator_from(value_str(value_get(expression, STR("operator"))), &req->op, err);
        if (r < 0)
                return r;
        VALUE_FOREACH_ITEM (v, value_get(expression, STR("values"))) {
                if (!value_is_string(v))
                        return err_set(err, ERR_INVALID, "matchExpressions: values of key \"%.*s\" must be strings",
                                       STR_ARG(req->key));
                str_list_add(&values, value_str(v));
        }
        req->values = values.p;
        req->n_values = values.n;
        r = requirement_check(list->arena, req, err);
        if (r == 0)
                requirement_set_values(req, &values, false);
        return r;
}

static bool is_absent(const struct value *v)
{
        return !v || value_is_null(v);
}

int label_selector_from_value(struct arena *a, const struct value *selector, struct label_selector *ret,
                              struct err *err)
{
        const struct value *labels = value_get(selector, STR("matchLabels"));
        const struct value *expressions = value_get(selector, STR("matchExpressions"));
        struct requirement_list list = { .arena = a };
        int r;

        if (is_absent(selector)) {
                *ret = (struct label_selector) { .matches_nothing = true };
                return 0;
        }
        if (!value_is_object(selector))
                return err_set(err, ERR_INVALID, "a label selector must be an object");
        if (!is_absent(labels) && !value_is_object(labels))
                return err_set(err, ERR_INVALID, "matchLabels: must be an object");
        if (!is_absent(expressions) && !value_is_array(expressions))
                return err_set(err, ERR_INVALID, "matchExpressions: must be an array");
        if (value_is_object(labels))
                labels = value_sorted(a, labels);
        VALUE_FOREACH_MEMBER (m, labels) {
                r = add_label(&list, m, err);
                if (r < 0)
                        return r;
        }
        VALUE_FOREACH_ITEM (expression, expressions) {
                r = add_expression(&list, expression, err);
                if (r < 0)
                        return r;
        }
        requirement_list_finish(&list, ret);
        return 0;
}

static int compare_str(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Values are sorted. */
static bool has_value(const struct label_requirement *r, struct str v)
{
        return r->n_values == 1 ? str_equal(r->values[0], v)
                                : r->n_values > 0 && bsearch(&v, r->values, r->n_values, sizeof(v), compare_str);
}

static bool compares(const struct label_requirement *r, struct str v)
{
        int64_t label, limit;

        if (number_parse_int(v, &label, NULL) < 0 || number_parse_int(r->values[0], &limit, NULL) < 0)
                return false;
        return r->op == SELECT_GREATER ? label > limit : label < limit;
}

static bool matches(const struct label_requirement *r, const struct value *labels)
{
        const struct value *label = value_get(labels, r->key);
        bool is_there = value_is_string(label);

        switch (r->op) {
        case SELECT_EQUALS:
        case SELECT_IN:
                return is_there && has_value(r, value_str(label));
        case SELECT_NOT_EQUALS:
        case SELECT_NOT_IN:
                return !is_there || !has_value(r, value_str(label));
        case SELECT_EXISTS:
                return is_there;
        case SELECT_NOT_EXISTS:
                return !is_there;
        case SELECT_GREATER:
        case SELECT_LESS:
                return is_there && compares(r, value_str(label));
        }
        return false;
}

bool label_selector_matches(const struct label_selector *s, const struct value *labels)
{
        if (s->matches_nothing)
                return false;
        for (size_t i = 0; i < s->n; i++)
                if (!matches(&s->requirements[i], labels))
                        return false;
        return true;
}

static void append_requirement(struct buf *b, const struct label_requirement *r)
{
        static const char *const words[] = {
                [SELECT_EQUALS] = "=", [SELECT_NOT_EQUALS] = "!=", [SELECT_IN] = " in (",  [SELECT_NOT_IN] = " notin (",
                [SELECT_EXISTS] = "",  [SELECT_NOT_EXISTS] = "",   [SELECT_GREATER] = ">", [SELECT_LESS] = "<",
        };

        if (r->op == SELECT_NOT_EXISTS)
                buf_append_char(b, '!');
        buf_append_str(b, r->key);
        buf_append_str(b, r->is_double_equals ? STR("==") : str_from(words[r->op]));
        for (size_t i = 0; i < r->n_values; i++) {
                if (i > 0)
                        buf_append_char(b, ',');
                buf_append_str(b, r->values[i]);
        }
        if (r->op == SELECT_IN || r->op == SELECT_NOT_IN)
                buf_append_char(b, ')');
}

void label_selector_append(struct buf *b, const struct label_selector *s)
{
        for (size_t i = 0; i < s->n; i++) {
                if (i > 0)
                        buf_append_char(b, ',');
                append_requirement(b, &s->requirements[i]);
        }
}
