#include "label-selector.h"

#include "name.h"

static void add_texts(struct field_errors *e, struct str field, struct str v, const struct str *texts, size_t n)
{
        struct value shown = value_of_str(v);

        for (size_t i = 0; i < n; i++)
                field_error_add(e, FIELD_INVALID, field, &shown, "%.*s", STR_ARG(texts[i]));
}

static void check_key(struct field_errors *e, struct str field, struct str key)
{
        struct str texts[4];

        add_texts(e, field, key, texts, name_check_qualified(e->arena, key, texts));
}

static void check_value(struct field_errors *e, struct str field, struct str v)
{
        struct str texts[4];

        add_texts(e, field, v, texts, name_check_label_value(e->arena, v, texts));
}

static void check_count(struct field_errors *e, struct str field, const struct value *op, size_t n_values)
{
        struct str name = value_str(op), values = field_below(e, field, "values");

        if (str_equal(name, STR("In")) || str_equal(name, STR("NotIn"))) {
                if (n_values == 0)
                        field_error_add(e, FIELD_REQUIRED, values, NULL,
                                        "must be specified when `operator` is 'In' or 'NotIn'");
        } else if (str_equal(name, STR("Exists")) || str_equal(name, STR("DoesNotExist"))) {
                if (n_values > 0)
                        field_error_add(e, FIELD_FORBIDDEN, values, NULL,
                                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        } else {
                field_error_add(e, FIELD_INVALID, field_below(e, field, "operator"), op ? op : &value_empty_string,
                                "not a valid selector operator");
        }
}

static void check_expression(struct field_errors *e, struct str field, const struct value *expression)
{
        const struct value *values = value_get(expression, STR("values"));

        check_count(e, field, value_get(expression, STR("operator")), value_count(values));
        check_key(e, field_below(e, field, "key"), value_str(value_get(expression, STR("key"))));
        for (size_t i = 0; i < value_count(values); i++)
                check_value(e, field_item(e, field_below(e, field, "values"), i), value_str(value_item(values, i)));
}

void label_selector_check(struct field_errors *errors, struct str field, const struct value *selector)
{
        const struct value *labels = value_get(selector, STR("matchLabels"));
        const struct value *expressions = value_get(selector, STR("matchExpressions"));

        VALUE_FOREACH_MEMBER (m, labels) {
                check_key(errors, field_below(errors, field, "matchLabels"), m->key);
                check_value(errors, field_below(errors, field, "matchLabels"), value_str(&m->value));
        }
        for (size_t i = 0; i < value_count(expressions); i++)
                check_expression(errors, field_item(errors, field_below(errors, field, "matchExpressions"), i),
                                 value_item(expressions, i));
}
