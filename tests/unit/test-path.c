#include "path.h"
#include "values.h"

#include "buf.h"
#include "limits.h"

#include <math.h>

/* Expectations are what crossplane-runtime v2.3.3 answered, unless a comment says that we differ. */

TEST(parse_and_print)
{
        static const struct {
                const char *text;
                const char *segments; /* as JSON: keys are strings, indexes numbers */
                const char *printed;
        } table[] = {
                { "", "[]", "" },
                { "a", "[\"a\"]", "a" },
                { "a.b", "[\"a\",\"b\"]", "a.b" },
                { "a[b]c", "[\"a\",\"b\",\"c\"]", "a.b.c" },
                { "a[0]", "[\"a\",0]", "a[0]" },
                { "a[0]b", "[\"a\",0,\"b\"]", "a[0].b" },
                { "items.0", "[\"items\",\"0\"]", "items.0" },
                { "a[*]", "[\"a\",\"*\"]", "a[*]" },
                { "a.*", "[\"a\",\"*\"]", "a[*]" },
                { "*", "[\"*\"]", "[*]" },
                { "'a'.b", "[\"a\",\"b\"]", "a.b" },
                { "a'b'c", "[\"a'b'c\"]", "a'b'c" },
                { "a['0']", "[\"a\",\"0\"]", "a.0" },
                { "['a\"]", "[\"a\"]", "a" },
                { "a['']", "[\"a\",\"\"]", "a." },
                { "a[']", "[\"a\",\"\"]", "a." },
                { "''''.b", "[\"\",\"b\"]", ".b" },
                { "[''][0]", "[\"\",0]", "[0]" },
                { "['a.b']", "[\"a.b\"]", "[a.b]" },
                { "a.'b.c'", "[\"a\",\"b\",\"c\"]", "a.b.c" },
                { "data[.config.yml]", "[\"data\",\".config.yml\"]", "data[.config.yml]" },
                { "[0]", "[0]", "[0]" },
                { "[007]", "[7]", "[7]" },
                { "[4294967295]", "[4294967295]", "[4294967295]" },
                { "[4294967296]", "[\"4294967296\"]", "4294967296" },
                { "[99999999999999999999]", "[\"99999999999999999999\"]", "99999999999999999999" },
                { "[+1]", "[\"+1\"]", "+1" },
                { "[ 1]", "[\" 1\"]", " 1" },
                { "é.ü[ö]", "[\"é\",\"ü\",\"ö\"]", "é.ü.ö" },
                { "a[b][c]d[e]", "[\"a\",\"b\",\"c\",\"d\",\"e\"]", "a.b.c.d.e" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                const struct value *wanted = parse(table[i].segments);
                struct path path;

                ASSERT_CASE(table[i].text, path_parse(&arena, str_from(table[i].text), &path, NULL) >= 0);
                ASSERT_CASE(table[i].text, path.n == value_count(wanted));
                for (size_t j = 0; j < path.n; j++) {
                        const struct value *w = value_item(wanted, j);

                        ASSERT_CASE(table[i].text, path.segments[j].is_index == value_is_int(w));
                        if (value_is_int(w))
                                ASSERT_INT(path.segments[j].index, w->integer);
                        else
                                ASSERT_STR_CASE(table[i].text, path.segments[j].key, value_str(w));
                }
                path_append(&b, &path);
                ASSERT_STR_CASE(table[i].text, buf_str(&b), str_from(table[i].printed));
        }
        end();
}

TEST(parse_errors)
{
        static const struct {
                const char *text;
                const char *error;
        } table[] = {
                { ".", "unexpected '.' at position 0" },       { ".a", "unexpected '.' at position 0" },
                { "a.", "unexpected '.' at position 1" },      { "a..", "unexpected '.' at position 2" },
                { "a..b", "unexpected '.' at position 2" },    { "a[b].", "unexpected '.' at position 4" },
                { "a.[b]", "unexpected '[' at position 2" },   { "a.[", "unexpected '[' at position 2" },
                { "a.]", "unexpected ']' at position 2" },     { "a[x[y]", "unexpected '[' at position 3" },
                { "[[a]", "unexpected '[' at position 1" },    { "]", "unexpected ']' at position 0" },
                { "a]", "unexpected ']' at position 1" },      { "a[]", "unexpected ']' at position 2" },
                { "a[b]]", "unexpected ']' at position 4" },   { "[", "unterminated '[' at position 0" },
                { "[[", "unterminated '[' at position 0" },    { "a[b", "unterminated '[' at position 1" },
                { "a[x[y", "unterminated '[' at position 1" }, { "é[", "unterminated '[' at position 2" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct path path;
                int r = path_parse(&arena, str_from(table[i].text), &path, &err);

                check_error(table[i].text, r, &err, ERR_INVALID, table[i].error);
        }
        end();
}

TEST(parse_keeps_bytes)
{
        struct path path;

        begin();
        ASSERT(path_parse(&arena, STR("a\xff[\0b]"), &path, NULL) >= 0);
        ASSERT_STR(path.segments[0].key, STR("a\xff"));
        ASSERT_STR(path.segments[1].key, STR("\0b"));
        end();
}

TEST(path_text_is_limited)
{
        _cleanup_err_ struct err err = { 0 };
        char *text = xmalloc(LIMIT_PATH_BYTES + 1);
        const struct value *v;
        struct path path;

        begin();
        memset(text, 'a', LIMIT_PATH_BYTES + 1);
        ASSERT(path_parse(&arena, str_make(text, LIMIT_PATH_BYTES), &path, NULL) >= 0);
        ASSERT_INT(path_parse(&arena, str_make(text, LIMIT_PATH_BYTES + 1), &path, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "path is longer than the limit of 65536 bytes");
        /* The text is not repeated in the message. */
        ASSERT_INT(path_get(&arena, &value_empty_object, str_make(text, LIMIT_PATH_BYTES + 1), &v, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "path is longer than the limit of 65536 bytes");
        free(text);
        end();
}

TEST(get)
{
        static const struct {
                const char *document;
                const char *path;
                const char *value; /* or */
                const char *error;
                bool is_not_found;
        } table[] = {
                { "{}", "", "null", NULL, false },
                { "{\"a\":1}", "a", "1", NULL, false },
                { "{\"a\":1.0}", "a", "1.0", NULL, false },
                { "{\"a\":null}", "a", "null", NULL, false },
                { "{\"a\":{\"b\":[1,{\"c\":\"x\"}]}}", "a.b[1].c", "\"x\"", NULL, false },
                { "{\"a\":{\"x.y\":true}}", "a[x.y]", "true", NULL, false },
                { "{\"0\":{\"\":2}}", "0['']", "2", NULL, false },
                { "{}", "a[1025]", NULL, "a: no such field", true },
                { "{\"a\":{}}", "a.b.c", NULL, "a.b: no such field", true },
                { "{\"a\":[]}", "a[1024].b", NULL, "a[1024]: no such element", true },
                { "{\"a\":[]}", "a[4294967295]", NULL, "a[4294967295]: no such element", true },
                { "{\"a\":null}", "a.b", NULL, "a: expected map, got nil", true },
                { "{\"a\":[null]}", "a[0].b", NULL, "a[0]: expected map, got nil", true },
                { "{\"a\":null}", "a[0]", NULL, "a: not an array", false },
                { "{\"a\":{}}", "a[0]", NULL, "a: not an array", false },
                { "{\"a\":[]}", "a.b", NULL, "a: not an object", false },
                { "{\"a\":\"x\"}", "a.b.c", NULL, "a: not an object", false },
                { "{}", "[0]", NULL, ": not an array", false },
                { "{}", "a..b", NULL, "cannot parse path \"a..b\": unexpected '.' at position 2", false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *v = NULL, *document = parse(table[i].document);
                int r = path_get(&arena, document, str_from(table[i].path), &v, &err);

                if (table[i].error) {
                        int code = table[i].is_not_found ? ERR_NOT_FOUND : ERR_INVALID;

                        check_error(table[i].path, r, &err, code, table[i].error);
                        ASSERT_CASE(table[i].path, !v);
                        r = path_get(&arena, document, str_from(table[i].path), &v, NULL);
                        ASSERT_INT(r, code);
                } else {
                        ASSERT_CASE(table[i].path, r >= 0);
                        check_value(table[i].path, v, table[i].value);
                }
        }
        end();
}

TEST(quoted_text_of_unparsable_path)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        begin();
        ASSERT_INT(path_get(&arena, &value_empty_object, STR("\xff\n."), &v, &err), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "cannot parse path \"\\xff\\n.\": unexpected '.' at position 2");
        end();
}

#define DOCUMENT                                                                                                 \
        "{\"s\":\"x\",\"b\":true,\"i\":3,\"f\":3.0,\"n\":null,\"l\":[\"x\",\"y\"],\"m\":[\"x\",1],\"o\":{\"k\":" \
        "\"v\"},\"p\":{\"k\":1},\"e\":[],\"z\":{}}"

TEST(typed_getters_find)
{
        const struct value *document, *v;
        struct str s;
        int64_t i;
        double d;
        bool b;

        begin();
        document = parse(DOCUMENT);
        ASSERT(path_get_string(&arena, document, STR("s"), &s, NULL) >= 0);
        ASSERT_STR(s, STR("x"));
        ASSERT(path_get_bool(&arena, document, STR("b"), &b, NULL) >= 0 && b);
        ASSERT(path_get_int(&arena, document, STR("i"), &i, NULL) >= 0 && i == 3);
        ASSERT(path_get_number(&arena, document, STR("i"), &d, NULL) >= 0 && d == 3);
        ASSERT(path_get_number(&arena, document, STR("f"), &d, NULL) >= 0 && d == 3);
        ASSERT(path_get_string_array(&arena, document, STR("l"), &v, NULL) >= 0 && value_count(v) == 2);
        ASSERT(path_get_string_array(&arena, document, STR("e"), &v, NULL) >= 0 && value_count(v) == 0);
        ASSERT(path_get_string_object(&arena, document, STR("o"), &v, NULL) >= 0 && value_count(v) == 1);
        ASSERT(path_get_string_object(&arena, document, STR("z"), &v, NULL) >= 0 && value_count(v) == 0);
        ASSERT(path_get_array(&arena, document, STR("m"), &v, NULL) >= 0 && v == value_get(document, STR("m")));
        ASSERT(path_get_object(&arena, document, STR("p"), &v, NULL) >= 0 && v == value_get(document, STR("p")));
        end();
}

enum getter { STRING, BOOL, INT, NUMBER, STRING_ARRAY, STRING_OBJECT, ARRAY, OBJECT };

static int get_any(enum getter getter, const struct value *document, struct str path, struct err *err)
{
        const struct value *v;
        struct str s;
        int64_t i;
        double d;
        bool b;

        switch (getter) {
        case STRING:
                return path_get_string(&arena, document, path, &s, err);
        case BOOL:
                return path_get_bool(&arena, document, path, &b, err);
        case INT:
                return path_get_int(&arena, document, path, &i, err);
        case NUMBER:
                return path_get_number(&arena, document, path, &d, err);
        case STRING_ARRAY:
                return path_get_string_array(&arena, document, path, &v, err);
        case STRING_OBJECT:
                return path_get_string_object(&arena, document, path, &v, err);
        case ARRAY:
                return path_get_array(&arena, document, path, &v, err);
        case OBJECT:
                return path_get_object(&arena, document, path, &v, err);
        }
        return 0;
}

TEST(typed_getters_fail)
{
        static const struct {
                enum getter getter;
                const char *path;
                const char *error;
        } table[] = {
                { STRING, "i", "i: not a string" },
                { STRING, "['n']", "['n']: not a string" }, /* the path as it was typed */
                { BOOL, "s", "s: not a bool" },
                { INT, "f", "f: not a (int64) number" },
                { INT, "s", "s: not a (int64) number" },
                { INT, "", ": not a (int64) number" },
                { NUMBER, "s", "s: not a number" },
                { STRING_ARRAY, "s", "s: not an array" },
                { STRING_ARRAY, "n", "n: not an array" },
                { STRING_ARRAY, "m", "m: not an array of strings" },
                { STRING_OBJECT, "l", "l: not an object" },
                { STRING_OBJECT, "p", "p: not an object with string field values" },
                { ARRAY, "o", "o: not an array" },
                { OBJECT, "l", "l: not an object" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                int r = get_any(table[i].getter, parse(DOCUMENT), str_from(table[i].path), &err);

                check_error(table[i].path, r, &err, ERR_INVALID, table[i].error);
        }
        for (enum getter getter = STRING; getter <= OBJECT; getter++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_INT(get_any(getter, parse(DOCUMENT), STR("q.r"), &err), ERR_NOT_FOUND);
                ASSERT_TEXT(err_message(&err), "q: no such field");
        }
        end();
}

TEST(set)
{
        static const struct {
                const char *document;
                const char *path;
                const char *result; /* or */
                const char *error;
        } table[] = {
                { "{}", "", "{}", NULL },
                { "{}", "a", "{\"a\":\"V\"}", NULL },
                { "{\"a\":1}", "a", "{\"a\":\"V\"}", NULL },
                { "{\"a\":null}", "a", "{\"a\":\"V\"}", NULL },
                { "{}", "a.b[2].c", "{\"a\":{\"b\":[null,null,{\"c\":\"V\"}]}}", NULL },
                { "{\"a\":[null]}", "a[0].b", "{\"a\":[{\"b\":\"V\"}]}", NULL },
                { "{\"a\":[null]}", "a[0][2]", "{\"a\":[[null,null,\"V\"]]}", NULL },
                { "{\"a\":[[1]]}", "a[0][3]", "{\"a\":[[1,null,null,\"V\"]]}", NULL },
                { "{\"a\":[{}]}", "a[2].b", "{\"a\":[{},null,{\"b\":\"V\"}]}", NULL },
                { "{\"a\":[1,2,3]}", "a[1]", "{\"a\":[1,\"V\",3]}", NULL },
                { "{\"a\":1}", "*", "{\"a\":1,\"*\":\"V\"}", NULL },
                { "{\"a\":null}", "a.b", NULL, "a is not an object" },
                { "{\"a\":null}", "a[0]", NULL, "a is not an array" },
                { "{\"a\":[1]}", "a[0].b", NULL, "a[0] is not an object" },
                { "{\"a\":{}}", "a[0]", NULL, "a is not an array" },
                { "{\"a\":[]}", "a.b", NULL, "a is not an object" },
                { "{\"a\":{\"b\":3}}", "a.b.c.d", NULL, "a.b is not an object" },
                { "{}", "[0]", NULL, " is not an array" },
                { "{}", "[0].a", NULL, " is not an array" },
                { "{}", "a[1025]", NULL, "index 1025 is greater than max allowed index 1024" },
                { "{}", "a[4294967295]", NULL, "index 4294967295 is greater than max allowed index 1024" },
                { "{}", "a[4294967295][4294967295]", NULL, "index 4294967295 is greater than max allowed index 1024" },
                { "{}", "a..", NULL, "cannot parse path \"a..\": unexpected '.' at position 2" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *document = parse(table[i].document), *result = NULL;
                struct value v = value_of_literal("V");
                int r = path_set(&arena, document, str_from(table[i].path), &v, &result, &err);

                if (table[i].error) {
                        check_error(table[i].path, r, &err, ERR_INVALID, table[i].error);
                        ASSERT_CASE(table[i].path, !result);
                        r = path_set(&arena, document, str_from(table[i].path), &v, &result, NULL);
                        ASSERT_INT(r, ERR_INVALID);
                } else {
                        ASSERT_CASE(table[i].path, r >= 0);
                        check_value(table[i].path, result, table[i].result);
                }
                check_value("the old root", document, table[i].document);
        }
        end();
}

TEST(largest_index)
{
        const struct value *result, *array;

        begin();
        ASSERT(path_set(&arena, parse("{\"a\":[7]}"), STR("a[1024]"), &value_true, &result, NULL) >= 0);
        array = value_get(result, STR("a"));
        ASSERT_INT(value_count(array), 1025);
        ASSERT(value_is_int(value_item(array, 0)) && value_is_null(value_item(array, 1)));
        ASSERT(value_is_null(value_item(array, 1023)) && value_is_bool(value_item(array, 1024)));
        end();
}

TEST(edits_share_what_did_not_change)
{
        const struct value *document, *result;

        begin();
        document = parse("{\"a\":{\"b\":{\"x\":1},\"c\":[{\"y\":2},{\"z\":3}]},\"d\":{\"e\":4}}");
        ASSERT(path_set(&arena, document, STR("a.c[0].y"), &value_true, &result, NULL) >= 0);
        ASSERT(result->members != document->members);
        ASSERT(value_get(result, STR("d"))->members == value_get(document, STR("d"))->members);
        ASSERT(value_find(result, "a", "b")->members == value_find(document, "a", "b")->members);
        ASSERT(value_item(value_find(result, "a", "c"), 1)->members ==
               value_item(value_find(document, "a", "c"), 1)->members);
        ASSERT(value_item(value_find(result, "a", "c"), 0)->members !=
               value_item(value_find(document, "a", "c"), 0)->members);

        ASSERT(path_delete(&arena, document, STR("a.c[0]"), &result, NULL) >= 0);
        ASSERT(value_find(result, "a", "b")->members == value_find(document, "a", "b")->members);
        ASSERT(value_item(value_find(result, "a", "c"), 0)->members ==
               value_item(value_find(document, "a", "c"), 1)->members);

        ASSERT(path_delete(&arena, document, STR("a.q.r"), &result, NULL) >= 0 && result == document);
        ASSERT(path_set(&arena, document, STR(""), &value_true, &result, NULL) >= 0 && result == document);
        end();
}

/* The wanted texts are those of json.Marshal and Kubernetes' decoder for these values. */
TEST(set_settles_numbers)
{
        static const struct {
                double number;
                const char *result;
        } table[] = {
                { 1, "1" },
                { 1.5, "1.5" },
                { -0.0, "0" },
                { 1e18, "1000000000000000000" },
                { 0x1p53, "9007199254740992" },
                { 0x1p54 + 4, "18014398509481988" },
                { 0x1p62, "4611686018427388000" }, /* the shortest digits count, not the value */
                { 0x1p63 - 1024, "9223372036854775000" },
                { 0x1p63, "9223372036854775808.0" },
                { -0x1p63, "-9223372036854775808.0" },
                { 0x1p64, "18446744073709551616.0" },
                { 1e20, "1e20" },
                { 1e21, "1e21" },
                { 1e-7, "1e-7" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                struct value v = value_of_double(table[i].number);
                const struct value *result;

                ASSERT(path_set(&arena, &value_empty_object, STR("a"), &v, &result, NULL) >= 0);
                check_value(table[i].result, value_get(result, STR("a")), table[i].result);
        }
        end();
}

TEST(set_refuses_what_json_cannot_say)
{
        static const struct {
                double number;
                const char *path;
                const char *error;
        } table[] = {
                { NAN, "a", "cannot marshal value to JSON: json: unsupported value: NaN" },
                { INFINITY, "a", "cannot marshal value to JSON: json: unsupported value: +Inf" },
                { -INFINITY, "a", "cannot marshal value to JSON: json: unsupported value: -Inf" },
                /* Before the index and the containers are looked at, even for the empty path; after parsing. */
                { NAN, "a[2000]", "cannot marshal value to JSON: json: unsupported value: NaN" },
                { NAN, "", "cannot marshal value to JSON: json: unsupported value: NaN" },
                { NAN, "a..", "cannot parse path \"a..\": unexpected '.' at position 2" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                /* Bare, in an array and in an object, with and without a bad key. */
                struct value number = value_of_double(table[i].number);
                struct value list = value_of_items(&arena, &number, 1);
                struct member m = { STR("x"), list }, bad = { STR("\xff"), list };
                struct value values[] = { number, list, value_of_members(&arena, &m, 1, true),
                                          value_of_members(&arena, &bad, 1, true) };

                for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
                        _cleanup_err_ struct err err = { 0 };
                        const struct value *result;
                        int r = path_set(&arena, &value_empty_object, str_from(table[i].path), &values[j], &result,
                                         &err);

                        check_error(table[i].path, r, &err, ERR_INVALID, table[i].error);
                        ASSERT_INT(path_set(&arena, &value_empty_object, str_from(table[i].path), &values[j], &result,
                                            NULL),
                                   ERR_INVALID);
                }
        }
        end();
}

TEST(set_settles_text)
{
        struct value items[] = { value_of_literal("ok"), value_of_literal("a\xff\xc3z"), value_of_double(2) };
        struct member members[] = {
                { STR("\xff"), value_of_int(1) },
                { STR("b"), value_of_double(4) },
                { STR("\xfe"), value_of_int(2) },
        };
        struct value v;
        const struct value *result;

        begin();
        v = value_of_items(&arena, items, 3);
        ASSERT(value_settle(&arena, &v, &result, NULL) >= 0);
        check_value("text", result, "[\"ok\",\"a\xef\xbf\xbd\xef\xbf\xbdz\",2]");
        v = value_of_members(&arena, members, 3, false);
        ASSERT(value_settle(&arena, &v, &result, NULL) >= 0);
        check_value("keys", result, "{\"b\":4,\"\xef\xbf\xbd\":1}"); /* of equal keys the one that sorted last */
        end();
}

TEST(settled_values_are_shared)
{
        const struct value *v, *result, *other;

        begin();
        v = parse("{\"a\":[1,2.5,\"x\",null,true],\"b\":{\"c\":{}}}");
        ASSERT(value_settle(&arena, v, &result, NULL) >= 0 && result == v);
        v = parse("{\"a\":[1,2.5],\"b\":{\"c\":[1,2.0,2.0]},\"d\":{\"e\":1},\"f\":3.0}");
        ASSERT(value_settle(&arena, v, &other, NULL) >= 0);
        check_value("settled", other, "{\"a\":[1,2.5],\"b\":{\"c\":[1,2,2]},\"d\":{\"e\":1},\"f\":3}");
        ASSERT(value_get(other, STR("a"))->items == value_get(v, STR("a"))->items);
        ASSERT(value_get(other, STR("d"))->members == value_get(v, STR("d"))->members);
        end();
}

/* A path of LIMIT_DEPTH segments is the longest that may be set; deeper values could not be written or compared. */
TEST(set_limits_depth)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *result, *deep;

        begin();
        buf_append_char(&b, 'a');
        for (int i = 1; i < LIMIT_DEPTH; i++)
                buf_append_literal(&b, ".a");
        ASSERT(path_set(&arena, &value_empty_object, buf_str(&b), &value_true, &deep, NULL) >= 0);
        ASSERT(path_get(&arena, deep, buf_str(&b), &result, NULL) >= 0 && value_is_bool(result));
        for (int i = 0; i < 3; i++) {
                static const char *const values[] = { "{}", "[[1]]", "{\"x\":[]}" };
                _cleanup_err_ struct err err = { 0 };

                ASSERT_INT(path_set(&arena, &value_empty_object, buf_str(&b), parse(values[i]), &result, &err),
                           ERR_LIMIT);
                ASSERT_TEXT(err_message(&err), "value would be nested deeper than the limit of 1000 levels");
        }
        buf_append_literal(&b, ".a");
        ASSERT_INT(path_set(&arena, &value_empty_object, buf_str(&b), &value_true, &result, NULL), ERR_LIMIT);
        /* Reading and deleting need no such limit: they go no deeper than the document. */
        ASSERT_INT(path_get(&arena, deep, buf_str(&b), &result, NULL), ERR_INVALID);
        ASSERT_INT(path_delete(&arena, deep, buf_str(&b), &result, NULL), ERR_INVALID);
        end();
}

TEST(deletion)
{
        static const struct {
                const char *document;
                const char *path;
                const char *result; /* or */
                const char *error;
        } table[] = {
                { "{\"a\":1,\"b\":2}", "a", "{\"b\":2}", NULL },
                { "{\"a\":1}", "", "{\"a\":1}", NULL },
                { "{\"a\":[1,2,3]}", "a[1]", "{\"a\":[1,3]}", NULL },
                { "{\"a\":[1]}", "a[0]", "{\"a\":[]}", NULL },
                { "{\"a\":[1,2,3]}", "a[7]", "{\"a\":[1,2,3]}", NULL },
                { "{\"a\":[1,2,3]}", "a[4294967295].b", "{\"a\":[1,2,3]}", NULL },
                { "{\"a\":[{\"b\":{\"c\":1}}]}", "a[0].b.c", "{\"a\":[{\"b\":{}}]}", NULL },
                { "{\"a\":1}", "b[0].c", "{\"a\":1}", NULL },
                { "{\"a\":null}", "a.b", NULL, "cannot delete a.b: not an object" },
                { "{\"a\":null}", "a[0]", NULL, "cannot delete a[0]: not an array" },
                { "{\"a\":[null]}", "a[0].b", NULL, "cannot delete a[0].b: not an object" },
                { "{\"a\":[null]}", "a[0].b.c", NULL, "a[0] is not an object" },
                { "{\"a\":[null]}", "a[0][0].c", NULL, "a[0] is not an array" },
                { "{\"a\":[1,2,3]}", "a.b", NULL, "cannot delete a.b: not an object" },
                { "{\"a\":[1,2,3]}", "a.b.c", NULL, "a is not an object" },
                { "{}", "[0]", NULL, "cannot delete [0]: not an array" },
                { "{}", "[0].a", NULL, " is not an array" },
                { "{}", "a..", NULL, "cannot parse path \"a..\": unexpected '.' at position 2" },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *document = parse(table[i].document), *result;
                int r = path_delete(&arena, document, str_from(table[i].path), &result, &err);

                if (table[i].error) {
                        check_error(table[i].path, r, &err, ERR_INVALID, table[i].error);
                        ASSERT_INT(path_delete(&arena, document, str_from(table[i].path), &result, NULL), ERR_INVALID);
                } else {
                        ASSERT_CASE(table[i].path, r >= 0);
                        check_value(table[i].path, result, table[i].result);
                }
                check_value("the old root", document, table[i].document);
        }
        end();
}

TEST(expand)
{
        static const struct {
                const char *document;
                const char *path;
                const char *result; /* or */
                const char *error;
                bool is_not_found;
        } table[] = {
                { "{}", "", "[\"\"]", NULL, false },
                { "{\"a\":1}", "a", "[\"a\"]", NULL, false },
                { "{}", "a.b", "[]", NULL, false },
                { "{\"a\":null}", "a.b", "[]", NULL, false },
                { "{\"a\":3}", "*", "[\"a\"]", NULL, false },
                { "{\"a\":[]}", "a[*]", "[]", NULL, false },
                { "{\"a\":{}}", "a[*]", "[]", NULL, false },
                { "{}", "a[*].b", "[]", NULL, false },
                { "{\"a\":[1]}", "a[7][*]", "[]", NULL, false },
                { "{\"b\":{\"y\":1,\"x\":2},\"a\":[7,8]}", "*[*]", "[\"a[0]\",\"a[1]\",\"b.x\",\"b.y\"]", NULL, false },
                { "{\"a\":[[[1]]]}", "a[*].*['*']", "[\"a[0][0][0]\"]", NULL, false },
                { "{\"a\":[{\"b\":1},null,{\"c\":2},{\"b\":3}]}", "a[*].b", "[\"a[0].b\",\"a[3].b\"]", NULL, false },
                { "{\"a\":{\"x\":{\"y\":[1]},\"z\":null}}", "a[*].y[*]", "[\"a.x.y[0]\"]", NULL, false },
                { "{\"a\":{\"x.y\":3,\"\":4,\"'q'\":5,\"a[b]\":6}}", "a.*", "[\"a.\",\"a.a[b]\",\"a[x.y]\"]", NULL,
                  false },
                { "{\"a\":{\"'q'\":1,\"q\":2}}", "a.*", "[\"a.q\",\"a.q\"]", NULL, false },
                { "{\"a\":null}", "a.*", NULL,
                  "cannot expand wildcards for segments: \"a[*]\": wildcard field \"a\" is not found in the path",
                  true },
                { "{\"a\":[{\"b\":null}]}", "a[*].b[*]", NULL,
                  "cannot expand wildcards for segments: \"a[*].b[*]\": \"a[0].b[*]\": cannot expand wildcards: "
                  "wildcard field \"a[0].b\" is not found in the path",
                  true },
                { "{\"a\":3}", "a.*", NULL,
                  "cannot expand wildcards for segments: \"a[*]\": \"a\": unexpected wildcard usage", false },
                { "{\"a\":[[[1]],[3]]}", "a[*][*][*]", NULL,
                  "cannot expand wildcards for segments: \"a[*][*][*]\": \"a[1][*][*]\": cannot expand wildcards: "
                  "\"a[1][0][*]\": cannot expand wildcards: \"a[1][0]\": unexpected wildcard usage",
                  false },
                { "{\"a\":[[[1]],[3]]}", "a[0][*].b", NULL,
                  "cannot expand wildcards for segments: \"a[0][*].b\": \"a[0][0].b\": cannot expand wildcards: "
                  "a[0][0]: not an object",
                  false },
                { "{\"s\":1}", "s.q", NULL, "cannot expand wildcards for segments: \"s.q\": s: not an object", false },
                { "{}", "a..", NULL, "cannot parse path \"a..\": unexpected '.' at position 2", false },
                /* Upstream never comes back from these two. */
                { "{\"a\":{\"*\":1}}", "a[*]", NULL,
                  "cannot expand wildcards for segments: \"a[*]\": \"a[*]\": cannot expand wildcards: \"a\": a field "
                  "named \"*\" cannot be expanded",
                  false },
                { "{\"a\":{\"'*'\":{\"b\":1}}}", "a[*].b", NULL,
                  "cannot expand wildcards for segments: \"a[*].b\": \"a[*].b\": cannot expand wildcards: \"a\": a "
                  "field named \"*\" cannot be expanded",
                  false },
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                _cleanup_err_ struct err err = { 0 };
                const struct value *document = parse(table[i].document), *result;
                int r = path_expand(&arena, document, str_from(table[i].path), &result, &err);

                if (table[i].error) {
                        int code = table[i].is_not_found ? ERR_NOT_FOUND : ERR_INVALID;

                        check_error(table[i].path, r, &err, code, table[i].error);
                        ASSERT_INT(path_expand(&arena, document, str_from(table[i].path), &result, NULL), code);
                } else {
                        ASSERT_CASE(table[i].path, r >= 0);
                        check_value(table[i].path, result, table[i].result);
                }
        }
        end();
}

/* Many items below a long path: the texts would be far larger than document and path. */
TEST(expansion_is_limited)
{
        _cleanup_err_ struct err err = { 0 };
        size_t key_bytes = 20000;
        char *text = xmalloc(key_bytes + 3);
        struct value array;
        const struct value *result;
        struct array_builder b;
        struct member m;

        begin();
        array_builder_init(&b, &arena, 4000);
        for (int i = 0; i < 4000; i++)
                array_builder_add(&b, value_of_int(i));
        array = array_builder_finish(&b);
        memset(text, 'k', key_bytes);
        memcpy(text + key_bytes, "[*]", 3);
        m = (struct member) { str_make(text, key_bytes), array };
        array = value_of_members(&arena, &m, 1, true);
        ASSERT_INT(path_expand(&arena, &array, str_make(text, key_bytes + 3), &result, &err), ERR_LIMIT);
        ASSERT(str_ends_with(str_from(err_message(&err)),
                             STR(": expanded paths are larger than the limit of 67108864 bytes")));
        free(text);
        end();
}

TEST(expansion_keeps_to_the_budget)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena small;
        const struct value *result;
        struct value array;
        struct array_builder b;
        struct member m;

        begin();
        arena_init(&small, "request", 200000);
        array_builder_init(&b, &arena, 0);
        for (int i = 0; i < 20000; i++)
                array_builder_add(&b, value_of_int(i));
        array = array_builder_finish(&b);
        m = (struct member) { STR("a"), array };
        array = value_of_members(&arena, &m, 1, true);
        ASSERT_INT(path_expand(&small, &array, STR("a[*]"), &result, &err), ERR_LIMIT);
        ASSERT(str_ends_with(str_from(err_message(&err)), STR("request memory limit of 200000 bytes exceeded")));
        end();
}

TEST(parsed_paths)
{
        const struct value *document, *result;
        struct path path;

        begin();
        document = parse("{\"a\":[{\"b\":1}]}");
        ASSERT(path_parse(&arena, STR("a[0].b"), &path, NULL) >= 0);
        ASSERT(path_get_segments(&arena, document, &path, &result, NULL) >= 0);
        check_value("get", result, "1");
        ASSERT(path_set_segments(&arena, document, &path, &value_true, &result, NULL) >= 0);
        check_value("set", result, "{\"a\":[{\"b\":true}]}");
        ASSERT(path_delete_segments(&arena, document, &path, &result, NULL) >= 0);
        check_value("delete", result, "{\"a\":[{}]}");
        end();
}

/* `f[1024][1024]...`: every level is an array of which all but one item are filling. */
static struct str deep_path(struct arena *a, const char *head, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, str_from(head));
        for (size_t i = 0; i < n; i++)
                buf_append_literal(&b, "[1024]");
        return buf_to_arena(&b, a);
}

/* All edits in one arena count together: a call cannot multiply a short path into much memory. */
TEST(filling_is_limited)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct value text = value_of_literal("x");
        const struct value *root = &value_empty_object;

        arena_init(&a, "test", 0);
        ASSERT(path_set(&a, root, deep_path(&a, "f", LIMIT_PATH_FILL / 1024), &text, &root, &err) >= 0);
        ASSERT(path_set(&a, root, STR("g[0]"), &text, &root, &err) >= 0);
        ASSERT(path_set(&a, root, STR("g[1]"), &text, &root, &err) >= 0);
        ASSERT_INT(path_set(&a, root, STR("g[3]"), &text, &root, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "g[3]: field paths would fill arrays with more than the limit of 32768 nulls");
        ASSERT_INT(path_set(&a, &value_empty_object, deep_path(&a, "f", 900), &text, &root, NULL), ERR_LIMIT);
        ASSERT(a.used_bytes < 4 << 20);
        arena_reset(&a);
        ASSERT(path_set(&a, &value_empty_object, STR("g[3]"), &text, &root, &err) >= 0);
}

TEST(copies_of_edits_are_limited)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct value text = value_of_literal("x");
        const struct value *root = &value_empty_object;
        struct str path;
        int r = 0;

        arena_init(&a, "test", 0);
        path = deep_path(&a, "f", LIMIT_PATH_FILL / 1024);
        for (int i = 0; r >= 0 && i < 2000; i++)
                r = path_set(&a, root, path, &text, &root, &err);
        ASSERT_INT(r, ERR_LIMIT);
        ASSERT_TEXT(err_message(&err),
                    "f[1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024][1024]"
                    "[10...: edits by field paths would copy more than the limit of 134217728 bytes");
        for (int i = 0; i < 2000; i++)
                ASSERT_INT(path_set(&a, root, path, &text, &root, NULL), ERR_LIMIT);
        ASSERT(a.used_bytes < LIMIT_PATH_EDIT_BYTES + (8 << 20));
}
