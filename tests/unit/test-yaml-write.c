#include "test.h"

#include "buf.h"
#include "json.h"
#include "yaml.h"

#include <math.h>

struct write_case {
        struct str json;
        struct str yaml;
};

#include "yaml-write-cases.h"

TEST(writes_as_sigs_yaml)
{
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                const struct json_read_options lenient = { .is_kubernetes = true };
                const struct value *v, *again;

                arena_init(&a, "test", 0);
                ASSERT_INT(json_parse(&a, values[i].json, &lenient, &v, NULL), 0);
                ASSERT_INT(yaml_write(&b, v, 0, NULL), 0);
                ASSERT_STR_CASE(values[i].json.p, buf_str(&b), values[i].yaml);
                ASSERT_CASE(values[i].json.p, yaml_parse(&a, buf_str(&b), NULL, &again, NULL) == 0);
                ASSERT_CASE(values[i].json.p, value_equal_numeric(v, again));
        }
}

/* go-yaml writes this key bare and reads it as a merge. */
TEST(a_merge_key_is_quoted)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(json_parse(&a, STR("{\"<<\":\"<<\"}"), NULL, &v, NULL), 0);
        ASSERT_INT(yaml_write(&b, v, 0, NULL), 0);
        ASSERT_STR(buf_str(&b), STR("\"<<\": <<\n"));
}

TEST(keeps_the_order_on_request)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(json_parse(&a, STR("{\"b\":{\"d\":1,\"c\":2},\"a\":3}"), NULL, &v, NULL), 0);
        ASSERT_INT(yaml_write(&b, v, YAML_KEEP_ORDER, NULL), 0);
        ASSERT_STR(buf_str(&b), STR("b:\n  d: 1\n  c: 2\na: 3\n"));
}

TEST(invalid_utf8_is_replaced)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value v = value_of_str(STR("a\xFF"
                                          "b\xC3"));

        ASSERT_INT(yaml_write(&b, &v, 0, NULL), 0);
        ASSERT_STR(buf_str(&b), STR("a\xEF\xBF\xBD"
                                    "b\xEF\xBF\xBD\n"));
}

TEST(refuses_what_json_cannot_have)
{
        static const struct {
                double number;
                const char *error;
        } cases[] = {
                { INFINITY, "json: unsupported value: +Inf" },
                { -INFINITY, "json: unsupported value: -Inf" },
                { NAN, "json: unsupported value: NaN" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct value item = value_of_double(cases[i].number), array;
                struct member m;

                arena_init(&a, "test", 0);
                array = value_of_items(&a, &item, 1);
                m = (struct member) { STR("a"), array };
                array = value_of_members(&a, &m, 1, true);
                ASSERT_INT(yaml_write(&b, &array, 0, &err), ERR_INVALID);
                ASSERT_TEXT(err_message(&err), cases[i].error);
        }
}

TEST(a_full_buffer_is_an_error)
{
        _cleanup_buf_ struct buf b = BUF_INIT(3);
        _cleanup_err_ struct err err = { 0 };
        struct value v = value_of_literal("longer");

        ASSERT_INT(yaml_write(&b, &v, 0, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "YAML text is larger than the limit of 3 bytes");
}
