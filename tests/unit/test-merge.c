#include "path.h"
#include "values.h"

#include <math.h>

/* Expectations are what crossplane-runtime v2.3.3 (by way of mergo 1.0.2) answered. */

static const struct merge_options force = { false, false };
static const struct merge_options keep = { true, false };
static const struct merge_options append = { false, true };
static const struct merge_options keep_append = { true, true };

/* One row: destination, source, and the result under each of the options. */
TEST(merge_table)
{
        static const struct {
                const char *destination, *source, *force, *keep, *append, *keep_append;
        } table[] = {
                { "null", "1", "1", "1", "1", "1" },
                { "1", "null", "null", "null", "null", "null" },
                { "1", "2", "2", "1", "2", "1" },
                { "1", "2.5", "2.5", "1", "2.5", "1" },
                { "1", "false", "false", "1", "false", "1" },
                { "0", "2", "2", "2", "2", "2" },
                { "0.0", "2", "2", "2", "2", "2" },
                { "-0.0", "2", "2", "2", "2", "2" },
                { "false", "\"x\"", "\"x\"", "\"x\"", "\"x\"", "\"x\"" },
                { "true", "\"x\"", "\"x\"", "true", "\"x\"", "true" },
                { "\"\"", "[1]", "[1]", "[1]", NULL, NULL },
                { "\"y\"", "[1]", "[1]", "\"y\"", NULL, NULL },
                { "{}", "3", "3", "3", "3", "3" },
                { "[]", "{\"k\":1}", "{\"k\":1}", "{\"k\":1}", "{\"k\":1}", "{\"k\":1}" },
                { "[1]", "{\"k\":1}", "{\"k\":1}", "[1]", "{\"k\":1}", "[1]" },
                { "[1]", "[2]", "[2]", "[1]", "[1,2]", "[1,2]" },
                { "[]", "[2]", "[2]", "[2]", "[2]", "[2]" },
                { "[1,2]", "[2,3,3,{}]", "[2,3,3,{}]", "[1,2]", "[1,2,3,3,{}]", "[1,2,3,3,{}]" },
                { "[1.0]", "[1,1.0]", "[1,1.0]", "[1.0]", "[1.0,1]", "[1.0,1]" },
                { "[]", "[]", "[]", "[]", "null", "null" },
                { "{\"l\":[]}", "{\"l\":[]}", "{\"l\":[]}", "{\"l\":[]}", "{\"l\":[]}", "{\"l\":[]}" },
                { "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1,1]}", "{\"l\":[1,1]}" },
                { "{\"l\":null}", "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1]}", "{\"l\":[1]}" },
                { "{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", "{\"b\":{\"d\":3,\"e\":4},\"f\":5}",
                  "{\"a\":1,\"b\":{\"c\":1,\"d\":3,\"e\":4},\"f\":5}",
                  "{\"a\":1,\"b\":{\"c\":1,\"d\":2,\"e\":4},\"f\":5}",
                  "{\"a\":1,\"b\":{\"c\":1,\"d\":3,\"e\":4},\"f\":5}",
                  "{\"a\":1,\"b\":{\"c\":1,\"d\":2,\"e\":4},\"f\":5}" },
                { "{\"a\":1}", "{\"a\":null,\"b\":null}", "{\"a\":null,\"b\":null}", "{\"a\":1}",
                  "{\"a\":null,\"b\":null}", "{\"a\":1}" },
                { "{\"a\":0}", "{\"a\":null}", "{\"a\":null}", "{\"a\":0}", "{\"a\":null}", "{\"a\":0}" },
                { "{}", "{\"k\":null}", "{\"k\":null}", "{\"k\":null}", "{\"k\":null}", "{\"k\":null}" },
                { "{\"j\":1}", "{\"k\":null}", "{\"j\":1,\"k\":null}", "{\"j\":1}", "{\"j\":1,\"k\":null}",
                  "{\"j\":1}" },
                { "{\"o\":{}}", "{\"o\":{\"k\":null}}", "{\"o\":{\"k\":null}}", "{\"o\":{\"k\":null}}",
                  "{\"o\":{\"k\":null}}", "{\"o\":{\"k\":null}}" },
                { "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":{}}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":[1]}" },
        };
        const struct merge_options *options[] = { &force, &keep, &append, &keep_append };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                const char *const wanted[] = { table[i].force, table[i].keep, table[i].append, table[i].keep_append };

                for (size_t j = 0; j < ARRAY_SIZE(options); j++) {
                        const struct value *d = parse(table[i].destination), *s = parse(table[i].source), *result;
                        int r = merge_values(&arena, d, s, options[j], &result, NULL);

                        if (!wanted[j]) {
                                ASSERT_INT(r, ERR_INVALID);
                                continue;
                        }
                        ASSERT_CASE(table[i].source, r >= 0);
                        check_value(table[i].source, result, wanted[j]);
                        check_value("the destination", d, table[i].destination);
                        check_value("the source", s, table[i].source);
                }
        }
        end();
}

TEST(append_errors_name_the_type)
{
        static const struct {
                const char *destination;
                const char *type;
        } table[] = {
                { "\"\"", "string" }, { "\"x\"", "string" }, { "false", "bool" },
                { "0", "int64" },     { "1.5", "float64" },  { "{}", "map[string]interface {}" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct str wanted = arena_printf(&arena,
                                                 "failed to merge values: cannot append two slices with different type "
                                                 "([]interface {}, %s)",
                                                 table[i].type);
                const struct value *result, *nested;
                struct member m = { STR("k"), *parse(table[i].destination) };

                ASSERT_INT(merge_values(&arena, parse(table[i].destination), parse("[1]"), &append, &result, &err),
                           ERR_INVALID);
                ASSERT_STR(str_from(err_message(&err)), wanted);
                nested = value_put(&arena, value_of_members(&arena, &m, 1, true));
                ASSERT_INT(merge_values(&arena, nested, parse("{\"k\":[1]}"), &keep_append, &result, &err),
                           ERR_INVALID);
                ASSERT_STR(str_from(err_message(&err)), wanted);
        }
        end();
}

TEST(without_options_source_replaces)
{
        const struct value *result;

        begin();
        ASSERT(merge_values(&arena, parse("{\"a\":1}"), parse("{\"b\":2}"), NULL, &result, NULL) >= 0);
        check_value("replaced", result, "{\"b\":2}");
        end();
}

/* 60000 items on either side would be 3.6 billion comparisons one by one. */
TEST(appending_long_arrays_is_fast)
{
        enum { N = 60000 };
        struct array_builder mixed, equal;
        struct value destination, same;
        const struct value *result;

        begin();
        array_builder_init(&mixed, &arena, N);
        array_builder_init(&equal, &arena, N);
        for (int i = 0; i < N; i++) {
                array_builder_add(&mixed, value_of_int(i));
                array_builder_add(&equal, value_of_int(7));
        }
        destination = array_builder_finish(&mixed);
        same = array_builder_finish(&equal);
        ASSERT(merge_values(&arena, &destination, &destination, &append, &result, NULL) >= 0);
        ASSERT_INT(value_count(result), N);
        ASSERT(merge_values(&arena, &same, &destination, &append, &result, NULL) >= 0);
        ASSERT_INT(value_count(result), 2 * N - 1);
        end();
}

TEST(merge_at_a_path)
{
        static const struct {
                const char *document;
                const char *path;
                const char *value;
                const struct merge_options *options;
                const char *result; /* or */
                const char *error;
        } table[] = {
                { "{\"a\":{\"b\":1}}", "a", "{\"c\":2.0}", &keep, "{\"a\":{\"b\":1,\"c\":2}}", NULL },
                { "{\"a\":{\"b\":1}}", "a", "{\"c\":2}", NULL, "{\"a\":{\"c\":2}}", NULL },
                { "{}", "a.b[1]", "[1]", &append, "{\"a\":{\"b\":[null,[1]]}}", NULL },
                { "{\"a\":null}", "a.b", "1", &force, NULL,
                  "a is not an object" }, /* not found is no error, setting is */
                { "{\"a\":[1.0]}", "a", "[1,1.0]", &append, "{\"a\":[1,1]}", NULL },
                { "{\"a\":1}", "", "5", &force, "{\"a\":1}", NULL },
                { "{\"a\":\"x\"}", "a.b", "1", &force, NULL, "a: not an object" },
                { "{\"a\":\"x\"}", "a.b", "1", NULL, NULL, "a is not an object" },
                { "{}", "a[2000]", "1", &force, NULL, "index 2000 is greater than max allowed index 1024" },
                { "{}", "a..", "1", &force, NULL, "cannot parse path \"a..\": unexpected '.' at position 2" },
                { "{}", "a..", "1", NULL, NULL, "cannot parse path \"a..\": unexpected '.' at position 2" },
                { "{\"a\":{\"b\":true}}", "a", "{\"b\":[1]}", &append, NULL,
                  "failed to merge values: cannot append two slices with different type ([]interface {}, bool)" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *document = parse(table[i].document), *result;
                int r = path_merge(&arena, document, str_from(table[i].path), parse(table[i].value), table[i].options,
                                   &result, &err);

                if (table[i].error) {
                        ASSERT_STR_CASE(table[i].path, str_from(err_message(&err)), str_from(table[i].error));
                        ASSERT_INT(r, ERR_INVALID);
                        r = path_merge(&arena, document, str_from(table[i].path), parse(table[i].value),
                                       table[i].options, &result, NULL);
                        ASSERT_INT(r, ERR_INVALID);
                } else {
                        ASSERT_CASE(table[i].path, r >= 0);
                        check_value(table[i].path, result, table[i].result);
                }
                check_value("the old root", document, table[i].document);
        }
        end();
}

TEST(merge_refuses_nan)
{
        _cleanup_err_ struct err err = { 0 };
        struct value nan = value_of_double(NAN);
        const struct value *result;

        begin();
        ASSERT_INT(path_merge(&arena, &value_empty_object, STR("b"), &nan, &force, &result, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "cannot marshal value to JSON: json: unsupported value: NaN");
        end();
}
