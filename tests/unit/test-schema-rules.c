/* Rules in C: where they are looked for, what is said of them, and when they are forgiven. */
#include "values.h"

#include "schema-rules.h"

static bool is_same(const struct value *self, const struct value *old)
{
        return value_equal(self, old);
}

static bool is_small(const struct value *self, const struct value *old)
{
        ASSERT(!old);
        return value_is_object(self) ? value_count(self) < 3 : value_int(self, 0) < 10;
}

static const struct schema_rule known[] = {
        { STR_INIT("same"), true, is_same },
        { STR_INIT("small"), false, is_small },
};

#define SMALL                                                                  \
        "\"x-kubernetes-validations\":[{\"rule\":\"small\",\"message\":\"too " \
        "big\"},{\"rule\":\"new\",\"message\":\"?\"}]"
#define SAME               "\"x-kubernetes-validations\":[{\"rule\":\"same\",\"message\":\"changed\"}]"
#define NUMBER(rules)      "{\"type\":\"integer\",\"nullable\":true," rules "}"
#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

static const char
        *const schema_text = OBJECT("\"plain\":{\"type\":\"integer\"},\"n\":" NUMBER(SMALL) ",\"fixed\":" NUMBER(SAME) ",\"map\":{\"type\":\"object\",\"additionalProperties\":" NUMBER(
                SMALL) "},"
                       "\"list\":{\"type\":\"array\",\"items\":" NUMBER(
                               SAME) "},"
                                     "\"keyed\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-"
                                     "list-map-keys\":[\"k\"],"
                                     "\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{"
                                     "\"type\":\"string\"},"
                                     "\"fixed\":" NUMBER(SAME) ",\"n\":" NUMBER(
                                             SMALL) "}}},"
                                                    "\"whole\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-"
                                                    "fields\":true," SMALL "}");

static const struct {
        const char *now;
        const char *old; /* NULL: a create */
        const char *errors;
        const char *warnings;
} cases[] = {
        { "{\"plain\":99,\"n\":9,\"map\":{\"a\":1},\"whole\":{\"a\":1}}", NULL, "", "" },
        { "{\"n\":10}", NULL, "n: Invalid value: 10: too big", "" },
        { "{\"n\":null}", NULL, "", "" },
        { "{\"map\":{\"a\":1,\"b\":11}}", NULL, "map[b]: Invalid value: 11: too big", "" },
        { "{\"whole\":{\"a\":1,\"b\":2,\"c\":3}}", NULL, "whole: Invalid value: too big", "" },
        /* Transitions need something to compare with. */
        { "{\"fixed\":1}", NULL, "", "" },
        { "{\"fixed\":1}", "{}", "", "" },
        { "{\"fixed\":1}", "{\"fixed\":1}", "", "" },
        { "{\"fixed\":2}", "{\"fixed\":1}", "fixed: Invalid value: 2: changed", "" },
        { "{}", "{\"fixed\":1}", "", "" },
        { "{\"list\":[2]}", "{\"list\":[1]}", "", "" },
        { "{\"keyed\":[{\"k\":\"b\",\"fixed\":2},{\"k\":\"a\",\"fixed\":2}]}",
          "{\"keyed\":[{\"k\":\"a\",\"fixed\":1}]}", "keyed[1].fixed: Invalid value: 2: changed", "" },
        /* A value that was wrong before may stay. */
        { "{\"n\":10}", "{\"n\":10}", "", "n: Invalid value: 10: too big" },
        { "{\"n\":11}", "{\"n\":10}", "n: Invalid value: 11: too big", "" },
        { "{\"keyed\":[{\"k\":\"b\"},{\"k\":\"a\",\"n\":20}]}", "{\"keyed\":[{\"k\":\"a\",\"n\":20}]}", "",
          "keyed[1].n: Invalid value: 20: too big" },
        /* Types first. */
        { "{\"n\":10,\"plain\":\"x\"}", NULL,
          "plain: Invalid value: \"string\": plain in body must be of type integer: \"string\"; <nil>: Invalid value: "
          "null: some validation rules were not checked because the object was invalid; correct the existing errors to "
          "complete validation",
          "" },
};

static struct str told(const struct field_errors *errors)
{
        struct str_list list;

        str_list_init(&list, &arena);
        for (size_t i = 0; i < errors->n; i++)
                str_list_printf(&list, "%.*s: %.*s", STR_ARG(errors->p[i].field), STR_ARG(errors->p[i].text));
        return str_list_join(&list, STR("; "));
}

TEST(rules)
{
        struct field_errors errors;
        struct str_list warnings;
        struct schema *s;

        begin();
        field_errors_init(&errors, &arena);
        ASSERT(schema_compile(parse(schema_text), STR(""), &s, &errors) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *now = parse(cases[i].now), *old = cases[i].old ? parse(cases[i].old) : NULL;

                field_errors_init(&errors, &arena);
                str_list_init(&warnings, &arena);
                schema_validate(s, now, old, STR(""), &errors);
                schema_check_rules(s, now, old, known, ARRAY_SIZE(known), &errors, &warnings);
                ASSERT_STR_CASE(cases[i].now, told(&errors), str_from(cases[i].errors));
                ASSERT_STR_CASE(cases[i].now, str_list_join(&warnings, STR("; ")), str_from(cases[i].warnings));
                /* who does not want warnings gets none */
                schema_check_rules(s, now, old, known, ARRAY_SIZE(known), &errors, NULL);
        }
        schema_unref(s);
        end();
}

TEST(a_schema_without_rules)
{
        struct field_errors errors;

        begin();
        field_errors_init(&errors, &arena);
        schema_check_rules(schema_any(), parse("{\"a\":1}"), NULL, known, ARRAY_SIZE(known), &errors, NULL);
        ASSERT(errors.n == 0);
        end();
}
