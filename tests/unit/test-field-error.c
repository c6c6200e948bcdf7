#include "kube-test.h"

#include "buf.h"
#include "field-error.h"

/* The wanted texts are those of apimachinery's field.Error for the same values. */
TEST(texts)
{
        static const struct {
                enum field_error_type type;
                const char *json, *detail, *text, *reason;
        } cases[] = {
                { FIELD_REQUIRED, NULL, "", "Required value", "FieldValueRequired" },
                { FIELD_REQUIRED, NULL, "d", "Required value: d", "FieldValueRequired" },
                { FIELD_INVALID, "\"x\"", "det", "Invalid value: \"x\": det", "FieldValueInvalid" },
                { FIELD_INVALID, "\"x\"", "", "Invalid value: \"x\"", "FieldValueInvalid" },
                { FIELD_INVALID, "1", "d", "Invalid value: 1: d", "FieldValueInvalid" },
                { FIELD_INVALID, "1.5", "d", "Invalid value: 1.5: d", "FieldValueInvalid" },
                { FIELD_INVALID, "2e10", "d", "Invalid value: 2e+10: d", "FieldValueInvalid" },
                { FIELD_INVALID, "1e-7", "d", "Invalid value: 1e-07: d", "FieldValueInvalid" },
                { FIELD_INVALID, "true", "d", "Invalid value: true: d", "FieldValueInvalid" },
                { FIELD_INVALID, NULL, "d", "Invalid value: null: d", "FieldValueInvalid" },
                { FIELD_INVALID, "null", "d", "Invalid value: null: d", "FieldValueInvalid" },
                { FIELD_INVALID, "{\"b\":1,\"a\":\"<&\\\"x\"}", "d",
                  "Invalid value: {\"a\":\"\\u003c\\u0026\\\"x\",\"b\":1}: d", "FieldValueInvalid" },
                { FIELD_INVALID, "[\"a\",2e10]", "d", "Invalid value: [\"a\",20000000000]: d", "FieldValueInvalid" },
                { FIELD_INVALID, "\"a\\u0001b\\\"<>&\\u2028é\"", "d", "Invalid value: \"a\\x01b\\\"<>&\\u2028é\": d",
                  "FieldValueInvalid" },
                { FIELD_TYPE_INVALID, "\"x\"", "d", "Invalid value: \"x\": d", "FieldValueTypeInvalid" },
                { FIELD_DUPLICATE, "\"x\"", "", "Duplicate value: \"x\"", "FieldValueDuplicate" },
                { FIELD_FORBIDDEN, "\"x\"", "d", "Forbidden: d", "FieldValueForbidden" },
                { FIELD_FORBIDDEN, NULL, "", "Forbidden", "FieldValueForbidden" },
                { FIELD_TOO_LONG, "\"x\"", "may not be more than 5 bytes", "Too long: may not be more than 5 bytes",
                  "FieldValueTooLong" },
                { FIELD_TOO_MANY, "7", "must have at most 5 items", "Too many: 7: must have at most 5 items",
                  "FieldValueTooMany" },
                { FIELD_NOT_FOUND, "\"x\"", "", "Not found: \"x\"", "FieldValueNotFound" },
                { FIELD_INTERNAL, NULL, "boo", "Internal error: boo", "InternalError" },
        };
        _cleanup_arena_ struct arena a;
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *v = cases[i].json ? from_json(&a, cases[i].json) : NULL;

                field_error_add(&e, cases[i].type, STR("spec.a"), v, "%s", cases[i].detail);
                ASSERT_INT(e.n, i + 1);
                ASSERT_STR_CASE(cases[i].text, e.p[i].text, str_from(cases[i].text));
                ASSERT_STR_CASE(cases[i].text, e.p[i].field, STR("spec.a"));
                ASSERT_STR_CASE(cases[i].text, str_from(field_error_reason(e.p[i].type)), str_from(cases[i].reason));
        }
}

TEST(unsupported_values)
{
        static const struct str supported[] = { STR_INIT("b"), STR_INIT("a\"") };
        _cleanup_arena_ struct arena a;
        struct value v = value_of_literal("x");
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        field_error_add_unsupported(&e, STR(""), &v, supported, 2);
        ASSERT_STR(e.p[0].text, STR("Unsupported value: \"x\": supported values: \"b\", \"a\\\"\""));
        ASSERT_STR(e.p[0].field, STR("<nil>"));
        field_error_add_unsupported(&e, STR("f"), &v, NULL, 0);
        ASSERT_STR(e.p[1].text, STR("Unsupported value: \"x\""));
        ASSERT_TEXT(field_error_reason(e.p[1].type), "FieldValueNotSupported");
}

TEST(sorting_is_stable)
{
        static const char *const fields[] = { "c", "a", "b", "a", "c", "a", "aa", "" };
        static const char *const wanted[] = { "<nil>7", "a1", "a3", "a5", "aa6", "b2", "c0", "c4" };
        _cleanup_arena_ struct arena a;
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        field_errors_sort(&e);
        ASSERT_INT(e.n, 0);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                field_error_add_text(&e, FIELD_INVALID, str_from(fields[i]), arena_printf(&a, "%zu", i));
        field_errors_sort(&e);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                ASSERT_STR(arena_printf(&a, "%.*s%.*s", STR_ARG(e.p[i].field), STR_ARG(e.p[i].text)),
                           str_from(wanted[i]));
}

TEST(aggregates)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct field_errors e;

        arena_init(&a, "test", 0);
        field_errors_init(&e, &a);
        field_errors_append(&b, &e);
        ASSERT_STR(buf_str(&b), STR(""));
        for (int i = 0; i < 2; i++)
                field_error_add(&e, FIELD_REQUIRED, STR("a"), NULL, "%s", "");
        field_errors_append(&b, &e);
        ASSERT_STR(buf_str(&b), STR("a: Required value"));
        buf_clear(&b);
        field_error_add(&e, FIELD_FORBIDDEN, STR("b"), NULL, "no");
        field_errors_append(&b, &e);
        ASSERT_STR(buf_str(&b), STR("[a: Required value, b: Forbidden: no]"));
}
