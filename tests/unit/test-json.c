#include "test.h"

#include "buf.h"
#include "json.h"
#include "limits.h"

#include <math.h>

/* Parses an exact heap copy, so that reading past the end is seen. */
static int parse(struct arena *a, struct str text, const struct json_read_options *options, const struct value **ret,
                 struct err *err)
{
        char *copy = arena_alloc_aligned(a, text.n, 1);

        if (text.n)
                memcpy(copy, text.p, text.n);
        return json_parse(a, str_make(copy, text.n), options, ret, err);
}

static struct str written(struct arena *a, const struct value *v, unsigned flags)
{
        struct str text = STR_NONE;
        int r = json_to_str(a, v, flags, &text, NULL);

        ASSERT(r == 0);
        return text;
}

/* Texts, and what encoding/json's Unmarshal and Marshal make of them, with numbers as Kubernetes reads them. */
TEST(accepts)
{
        static const struct {
                const char *text;
                const char *wanted;
        } cases[] = {
                { "null", "null" },
                { " true ", "true" },
                { "\t\r\n false \n", "false" },
                { "0", "0" },
                { "-0", "0" },
                { "-0.0", "-0" },
                { "1.0", "1" },
                { "1e3", "1000" },
                { "1E+2", "100" },
                { "1e21", "1e+21" },
                { "1e-7", "1e-7" },
                { "123e-2", "1.23" },
                { "12345678901234567890", "12345678901234567000" },
                { "100000000000000000000", "100000000000000000000" },
                { "9223372036854775807", "9223372036854775807" },
                { "-9223372036854775808", "-9223372036854775808" },
                { "9223372036854775808", "9223372036854776000" },
                { "-9223372036854775809", "-9223372036854776000" },
                { "1e-400", "0" },
                { "\"\"", "\"\"" },
                { "\"a\"", "\"a\"" },
                { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
                { "\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
                { "\"\\u0000\\u001f\x7f\"", "\"\\u0000\\u001f\x7f\"" },
                { "\"<a&b>\"", "\"\\u003ca\\u0026b\\u003e\"" },
                { "\"\\u2028\xe2\x80\xa9\"", "\"\\u2028\\u2029\"" },
                { "\"\xef\xbb\xbf\"", "\"\xef\xbb\xbf\"" },
                { "[]", "[]" },
                { "[ ]", "[]" },
                { "{}", "{}" },
                { "{ }", "{}" },
                { "[1,2 , 3]", "[1,2,3]" },
                { "[[],[[]],{}]", "[[],[[]],{}]" },
                { "{\"b\":1,\"a\":{\"d\":[],\"c\":null}}", "{\"a\":{\"c\":null,\"d\":[]},\"b\":1}" },
                { "{\"\":0}", "{\"\":0}" },
                { "{\"a\\u0062\":1,\"\\u00e9\":2}", "{\"ab\":1,\"\xc3\xa9\":2}" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;

                arena_init(&a, "test", 0);
                parse(&a, str_from(cases[i].text), NULL, &v, &err);
                ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), STR("no error"));
                ASSERT_STR_CASE(cases[i].text, written(&a, v, JSON_GO), str_from(cases[i].wanted));
        }
}

#define WITH_NUL(literal)                       \
        {                                       \
                literal, sizeof("" literal) - 1 \
        }

/* Error texts and the offset of the bad byte, observed from encoding/json. */
TEST(refuses_as_go_does)
{
        static const struct {
                struct str text;
                const char *message;
                size_t offset;
        } cases[] = {
                { WITH_NUL(""), "unexpected end of JSON input", 0 },
                { WITH_NUL("  "), "unexpected end of JSON input", 2 },
                { WITH_NUL("x"), "invalid character 'x' looking for beginning of value", 0 },
                { WITH_NUL("\xff"), "invalid character '\xc3\xbf' looking for beginning of value", 0 },
                { WITH_NUL("\x00"), "invalid character '\\x00' looking for beginning of value", 0 },
                { WITH_NUL("\x7f"), "invalid character '\\x7f' looking for beginning of value", 0 },
                { WITH_NUL("\x80"), "invalid character '\\u0080' looking for beginning of value", 0 },
                { WITH_NUL("\"a"), "unexpected end of JSON input", 2 },
                { WITH_NUL("\""), "unexpected end of JSON input", 1 },
                { WITH_NUL("\"a\n\""), "invalid character '\\n' in string literal", 2 },
                { WITH_NUL("\"0123456789abcdefghi\t\""), "invalid character '\\t' in string literal", 20 },
                { WITH_NUL("\"\\x\""), "invalid character 'x' in string escape code", 2 },
                { WITH_NUL("\"\\\x00\""), "invalid character '\\x00' in string escape code", 2 },
                { WITH_NUL("\"\\"), "invalid character ' ' in string escape code", 2 },
                { WITH_NUL("\"\\'\""), "invalid character '\\'' in string escape code", 2 },
                { WITH_NUL("\"\\u12g4\""), "invalid character 'g' in \\u hexadecimal character escape", 5 },
                { WITH_NUL("\"\\u\""), "invalid character '\"' in \\u hexadecimal character escape", 3 },
                { WITH_NUL("\"\\u1"), "invalid character ' ' in \\u hexadecimal character escape", 4 },
                { WITH_NUL("{"), "unexpected end of JSON input", 1 },
                { WITH_NUL("{a"), "invalid character 'a' looking for beginning of object key string", 1 },
                { WITH_NUL("{1:2}"), "invalid character '1' looking for beginning of object key string", 1 },
                { WITH_NUL("{\"a\" 1}"), "invalid character '1' after object key", 5 },
                { WITH_NUL("{\"a\":}"), "invalid character '}' looking for beginning of value", 5 },
                { WITH_NUL("{\"a\":1,}"), "invalid character '}' looking for beginning of object key string", 7 },
                { WITH_NUL("{\"a\":1 x"), "invalid character 'x' after object key:value pair", 7 },
                { WITH_NUL("{\"a\":1]"), "invalid character ']' after object key:value pair", 6 },
                { WITH_NUL("{,}"), "invalid character ',' looking for beginning of object key string", 1 },
                { WITH_NUL("{\"a"), "unexpected end of JSON input", 3 },
                { WITH_NUL("{\"a\""), "unexpected end of JSON input", 4 },
                { WITH_NUL("{\"a\":"), "unexpected end of JSON input", 5 },
                { WITH_NUL("{\"a\":1"), "unexpected end of JSON input", 6 },
                { WITH_NUL("{\"a\":1,"), "unexpected end of JSON input", 7 },
                { WITH_NUL("["), "unexpected end of JSON input", 1 },
                { WITH_NUL("[1"), "unexpected end of JSON input", 2 },
                { WITH_NUL("[1,"), "unexpected end of JSON input", 3 },
                { WITH_NUL("[1,]"), "invalid character ']' looking for beginning of value", 3 },
                { WITH_NUL("[,]"), "invalid character ',' looking for beginning of value", 1 },
                { WITH_NUL("[1 2]"), "invalid character '2' after array element", 3 },
                { WITH_NUL("[1}"), "invalid character '}' after array element", 2 },
                { WITH_NUL("[\x0b]"), "invalid character '\\v' looking for beginning of value", 1 },
                { WITH_NUL("nul"), "invalid character ' ' in literal null (expecting 'l')", 3 },
                { WITH_NUL("nan"), "invalid character 'a' in literal null (expecting 'u')", 1 },
                { WITH_NUL("truE"), "invalid character 'E' in literal true (expecting 'e')", 3 },
                { WITH_NUL("f\xc3\xa9"), "invalid character '\xc3\x83' in literal false (expecting 'a')", 1 },
                { WITH_NUL("-"), "invalid character ' ' in numeric literal", 1 },
                { WITH_NUL("-x"), "invalid character 'x' in numeric literal", 1 },
                { WITH_NUL("01"), "invalid character '1' after top-level value", 1 },
                { WITH_NUL("-01"), "invalid character '1' after top-level value", 2 },
                { WITH_NUL("0x10"), "invalid character 'x' after top-level value", 1 },
                { WITH_NUL("1."), "invalid character ' ' after decimal point in numeric literal", 2 },
                { WITH_NUL("1.x"), "invalid character 'x' after decimal point in numeric literal", 2 },
                { WITH_NUL("1e"), "invalid character ' ' in exponent of numeric literal", 2 },
                { WITH_NUL("1ex"), "invalid character 'x' in exponent of numeric literal", 2 },
                { WITH_NUL("1e+x"), "invalid character 'x' in exponent of numeric literal", 3 },
                { WITH_NUL("1.5.5"), "invalid character '.' after top-level value", 3 },
                { WITH_NUL("+1"), "invalid character '+' looking for beginning of value", 0 },
                { WITH_NUL(".5"), "invalid character '.' looking for beginning of value", 0 },
                { WITH_NUL("1 2"), "invalid character '2' after top-level value", 2 },
                { WITH_NUL("{}}"), "invalid character '}' after top-level value", 2 },
                { WITH_NUL("\xef\xbb\xbf{}"), "invalid character '\xc3\xaf' looking for beginning of value", 0 },
                { WITH_NUL("'a'"), "invalid character '\\'' looking for beginning of value", 0 },
                { WITH_NUL("\\"), "invalid character '\\\\' looking for beginning of value", 0 },
                { WITH_NUL("]"), "invalid character ']' looking for beginning of value", 0 },
                { WITH_NUL("1e400"), "json: cannot unmarshal number 1e400 into Go value of type float64", 0 },
                { WITH_NUL("[-1E400,1e500]"), "json: cannot unmarshal number -1E400 into Go value of type float64", 1 },
                { WITH_NUL("[1e400,"), "unexpected end of JSON input", 7 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;
                int r;

                arena_init(&a, "test", 0);
                r = parse(&a, cases[i].text, NULL, &v, &err);
                ASSERT_CASE(cases[i].text.p, r == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].message));
                ASSERT_CASE(cases[i].text.p, err.position.offset == cases[i].offset);
                ASSERT_CASE(cases[i].text.p, parse(&a, cases[i].text, NULL, &v, NULL) == ERR_INVALID);
        }
}

/* Where an error stands, and which value it is about. */
TEST(errors_say_where)
{
        static const struct {
                const char *text;
                uint32_t line, column;
                const char *path;
        } cases[] = {
                { "x", 1, 1, "" },
                { "{\"a\":1} x", 1, 9, "" },
                { "{\n  \"a\": [1, 2, x]\n}", 2, 15, "a[2]" },
                { "{\"spec\":{\"items\":[0,1,2,{\"name\":tru}]}}", 1, 36, "spec.items[3].name" },
                { "{\"spec\":{\"items\":[0,1,2,{\"name\":1 2", 1, 35, "spec.items[3]" },
                { "{\"spec\":{\"items\":[0,1 2", 1, 23, "spec.items" },
                { "{\"a\":{\"b\":{}},", 1, 15, "" },
                { "{\"a\":{\"b\":{}} x", 1, 15, "" },
                { "{\"a\":{\"b\":{},c", 1, 14, "a" },
                { "{\"a\":{\"b\" 1", 1, 11, "a.b" },
                { "{\"metadata\":{\"annotations\":{\"a.b/c\":\"\\x\"}}}", 1, 39, "metadata.annotations[a.b/c]" },
                { "{\"a\":\"\xc3\xa9\xe2\x82\xac\",\n \"b\":\"\xc3\xa9\",!", 2, 10, "" },
                { "[[1],[2,[3,{\"a\":[4,]}]]]", 1, 20, "[1][1][1].a[1]" },
                { "[1,\n{\"a\":[1e400,1]}]", 2, 7, "[1].a[0]" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].text, parse(&a, str_from(cases[i].text), NULL, &v, &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text, str_from(err.path), str_from(cases[i].path));
                ASSERT_CASE(cases[i].text, err.position.line == cases[i].line);
                ASSERT_CASE(cases[i].text, err.position.column == cases[i].column);
        }
}

/* Broken text inside strings: an error, or U+FFFD as Go and Kubernetes make of it. */
TEST(broken_unicode)
{
        static const struct {
                const char *text;
                const char *kubernetes;
                const char *message;
                size_t offset;
        } cases[] = {
                { "\"a\xff\"", "\"a\xef\xbf\xbd\"", "invalid UTF-8 in string literal", 2 },
                { "\"\xc0\x80z\"", "\"\xef\xbf\xbd\xef\xbf\xbdz\"", "invalid UTF-8 in string literal", 1 },
                { "\"\xe2\x82\"", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "invalid UTF-8 in string literal", 1 },
                { "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", "invalid UTF-8 in string literal",
                  1 },
                { "\"\\ud800\"", "\"\xef\xbf\xbd\"", "unpaired surrogate in \\u hexadecimal character escape", 1 },
                { "\"x\\udc00\"", "\"x\xef\xbf\xbd\"", "unpaired surrogate in \\u hexadecimal character escape", 2 },
                { "\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"",
                  "unpaired surrogate in \\u hexadecimal character escape", 1 },
                { "\"\\ud83d\\u0041\"",
                  "\"\xef\xbf\xbd"
                  "A\"",
                  "unpaired surrogate in \\u hexadecimal character escape", 1 },
                { "{\"\xff\":1,\"\xfe\":2}", "{\"\xef\xbf\xbd\":2}", "invalid UTF-8 in string literal", 2 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct json_read_options kubernetes = { .is_kubernetes = true };
                const struct value *v;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].text, parse(&a, str_from(cases[i].text), NULL, &v, &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].message));
                ASSERT_CASE(cases[i].text, err.position.offset == cases[i].offset);
                ASSERT_CASE(cases[i].text, parse(&a, str_from(cases[i].text), &kubernetes, &v, NULL) == 0);
                ASSERT_STR_CASE(cases[i].text, written(&a, v, JSON_GO), str_from(cases[i].kubernetes));
        }
}

TEST(numbers_as_double)
{
        _cleanup_arena_ struct arena a;
        struct json_read_options options = { .numbers_as_double = true };
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(parse(&a, STR("[1,-0,9223372036854775807,2.5]"), &options, &v, NULL) == 0);
        VALUE_FOREACH_ITEM (item, v)
                ASSERT(value_is_double(item));
        ASSERT_STR(written(&a, v, 0), STR("[1,-0,9223372036854776000,2.5]"));
        ASSERT(parse(&a, STR("[1,-0,9223372036854775807,2.5,1.0]"), NULL, &v, NULL) == 0);
        ASSERT(value_is_int(value_item(v, 0)) && value_is_int(value_item(v, 1)) && value_is_int(value_item(v, 2)));
        ASSERT(value_is_double(value_item(v, 3)) && value_is_double(value_item(v, 4)));
}

TEST(borrowing)
{
        _cleanup_arena_ struct arena a;
        struct str text = STR("{\"key\":\"plain\",\"other\":\"with\\nescape\",\"\":\"\"}");
        struct json_read_options options = { .borrows_text = true };
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(json_parse(&a, text, &options, &v, NULL) == 0);
        ASSERT(value_member(v, 0)->key.p == text.p + 2 && value_get(v, STR("key"))->bytes == text.p + 8);
        ASSERT_STR(value_str(value_get(v, STR("other"))), STR("with\nescape"));
        ASSERT(json_parse(&a, text, NULL, &v, NULL) == 0);
        ASSERT(value_member(v, 0)->key.p < text.p || value_member(v, 0)->key.p > text.p + text.n);
}

/* Equal keys of one text share their bytes. */
TEST(keys_are_shared)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(parse(&a, STR("[{\"name\":1,\"a-rather-long-key\":2},{\"name\":3,\"a-rather-long-key\":4}]"), NULL, &v,
                     NULL) == 0);
        for (size_t i = 0; i < 2; i++)
                ASSERT(value_member(value_item(v, 0), i)->key.p == value_member(value_item(v, 1), i)->key.p);
}

/* Duplicates */

/* {"k0":0,"k<step>":1,...}: n members with `distinct` keys, not in order. */
static struct str make_object(struct arena *a, size_t n, size_t distinct)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < n; i++)
                buf_appendf(&b, "%s\"k%zu\":%zu", i ? "," : "{", i * 37 % distinct, i);
        buf_append_char(&b, '}');
        return buf_to_arena(&b, a);
}

TEST(last_duplicate_wins_at_the_place_of_the_first)
{
        static const size_t counts[] = { 3, 13, 40, 47, 48, 49, 50, 63, 64, 65, 200, 3000 };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(parse(&a, STR("{\"b\":1,\"a\":2,\"b\":3,\"a\":4,\"c\":5,\"b\":6}"), NULL, &v, NULL) == 0);
        ASSERT_STR(written(&a, v, 0), STR("{\"b\":6,\"a\":4,\"c\":5}"));
        ASSERT(parse(&a, STR("{\"a\":1,\"a\":2}"), NULL, &v, NULL) == 0);
        ASSERT_STR(written(&a, v, 0), STR("{\"a\":2}"));
        ASSERT(parse(&a, STR("{\"a\":1,\"\\u0061\":2,\"\":3,\"\":4}"), NULL, &v, NULL) == 0);
        ASSERT_STR(written(&a, v, 0), STR("{\"a\":2,\"\":4}"));
        for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
                size_t n = counts[i], distinct = n - n / 3;

                ASSERT(json_parse(&a, make_object(&a, n, distinct), NULL, &v, NULL) == 0);
                ASSERT_INT(value_count(v), distinct);
                for (size_t k = 0; k < n; k++)
                        if (k + distinct >= n)
                                ASSERT_INT(value_int(value_get(v, arena_printf(&a, "k%zu", k * 37 % distinct)), -1), k);
                ASSERT_STR(value_member(v, 1)->key, arena_printf(&a, "k%zu", 37 % distinct));
        }
}

TEST(duplicates_refused)
{
        static const struct {
                const char *text;
                const char *path;
                size_t offset;
        } cases[] = {
                { "{\"a\":1,\"a\":2}", "a", 7 },
                { "{\"b\":1,\"a\":2,\"b\":3}", "b", 13 },
                { "{\"spec\":[{},{\"b\":{\"x\":1,\"x\":2}}]}", "spec[1].b.x", 24 },
                { "{\"a.b\":1,\"a.b\":2}", "[a.b]", 9 },
        };
        struct json_read_options options = { .duplicates = JSON_DUPLICATES_REFUSE };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_CASE(cases[i].text, parse(&a, str_from(cases[i].text), &options, &v, &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)),
                                arena_printf(&a, "duplicate field \"%s\"", cases[i].path));
                ASSERT_STR_CASE(cases[i].text, str_from(err.path), str_from(cases[i].path));
                ASSERT_CASE(cases[i].text, err.position.offset == cases[i].offset);
                ASSERT_CASE(cases[i].text, parse(&a, str_from(cases[i].text), &options, &v, NULL) == ERR_INVALID);
        }
        for (size_t n = 2; n < 200; n += 7) {
                ASSERT(json_parse(&a, make_object(&a, n, n == 37 ? 38 : n), &options, &v, NULL) == 0);
                ASSERT(json_parse(&a, make_object(&a, n, n - 1), &options, &v, NULL) == ERR_INVALID);
        }
}

static void append_told(void *context, struct str object_path, struct str key)
{
        buf_appendf(context, "(%.*s|%.*s)", STR_ARG(object_path), STR_ARG(key));
}

TEST(duplicates_told)
{
        _cleanup_buf_ struct buf told = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct json_read_options options = { .on_duplicate = append_told, .context = &told };
        const struct value *v;
        size_t n = 0;

        arena_init(&a, "test", 0);
        ASSERT(parse(&a, STR("{\"a\":1,\"a\":{\"x\":[{\"c\":1,\"c\":2,\"c\":3}]},\"b\":1,\"a\":2}"), &options, &v,
                     NULL) == 0);
        ASSERT_STR(buf_str(&told), STR("(|a)(a.x[0]|c)(a.x[0]|c)(|a)"));
        buf_clear(&told);
        ASSERT(json_parse(&a, make_object(&a, LIMIT_JSON_DUPLICATES + 100, 1), &options, &v, NULL) == 0);
        for (size_t i = 0; i < told.n; i++)
                n += told.p[i] == '(';
        ASSERT_INT(n, LIMIT_JSON_DUPLICATES);
}

/* Limits */

static struct str repeated(struct arena *a, const char *text, size_t count)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < count; i++)
                buf_append_str(&b, str_from(text));
        return buf_to_arena(&b, a);
}

TEST(depth)
{
        static const struct {
                const char *open;
                const char *close;
        } cases[] = { { "[", "]" }, { "{\"a\":", "}" }, { "[{\"a\":", "}]" } };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct json_read_options shallow = { .max_depth = 2 }, deep = { .max_depth = 1000000 };
        const struct value *v;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                size_t most = i == 2 ? LIMIT_DEPTH / 2 : LIMIT_DEPTH;
                struct str fits = arena_printf(&a, "%.*s1%.*s", STR_ARG(repeated(&a, cases[i].open, most)),
                                               STR_ARG(repeated(&a, cases[i].close, most)));

                ASSERT(json_parse(&a, fits, NULL, &v, &err) == 0);
                ASSERT(json_parse(&a, repeated(&a, cases[i].open, 100000), NULL, &v, &err) == ERR_LIMIT);
                ASSERT_TEXT(err_message(&err), "exceeded max depth of 1000");
                ASSERT(json_parse(&a, repeated(&a, cases[i].open, most + 1), &deep, &v, NULL) == ERR_LIMIT);
        }
        ASSERT(json_parse(&a, STR("[[1],{}]"), &shallow, &v, NULL) == 0);
        ASSERT(json_parse(&a, STR("{\"a\":[1,[]]}"), &shallow, &v, &err) == ERR_LIMIT);
        ASSERT_TEXT(err.path, "a[1]");
        ASSERT_INT(err.position.column, 9);
}

TEST(sizes)
{
        _cleanup_arena_ struct arena a, small;
        _cleanup_err_ struct err err = { 0 };
        struct json_read_options options = { .max_bytes = 5 };
        const struct value *v;

        arena_init(&a, "test", 0);
        arena_init(&small, "request", 100000);
        ASSERT(json_parse(&a, STR("[1,2]"), &options, &v, NULL) == 0);
        ASSERT(json_parse(&a, STR("[1,2] "), &options, &v, &err) == ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "JSON text is larger than the limit of 5 bytes");
        ASSERT(json_parse(&small, repeated(&a, "[[[[{}]]]]", 1), NULL, &v, NULL) == 0);
        ASSERT(json_parse(&small,
                          arena_printf(&a, "[%.*s0]", STR_ARG(repeated(&a, "[1,2,{\"a\":\"some text\"}],", 20000))),
                          NULL, &v, &err) == ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "request memory limit of 100000 bytes exceeded");
        arena_reset(&small);
        ASSERT(json_parse(&small, arena_printf(&a, "\"%.*s\"", STR_ARG(repeated(&a, "x", 200000))), NULL, &v, NULL) ==
               ERR_LIMIT);
}

/* An array that never closes does not wait for its end to hit the limit: reading stops soon behind it. */
TEST(open_containers_count_against_the_budget)
{
        _cleanup_arena_ struct arena a, small;
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;
        struct str text;

        arena_init(&a, "test", 0);
        arena_init(&small, "request", 100000);
        text = arena_printf(&a, "[%.*s!", STR_ARG(repeated(&a, "0,", 50000)));
        ASSERT(json_parse(&small, text, NULL, &v, &err) == ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "request memory limit of 100000 bytes exceeded");
        ASSERT(json_parse(&a, text, NULL, &v, NULL) == ERR_INVALID);
}

/* Strings of every length around the steps of the scanner, plain and not, in texts that end right behind them. */
TEST(strings_of_all_lengths)
{
        static const char *const ends[] = { "", "\\n", "\xc3\xa9", "\\u00e9\\u00e9", "\xf0\x9f\x98\x80\\\\" };
        static const char *const wanted[] = { "", "\n", "\xc3\xa9", "\xc3\xa9\xc3\xa9", "\xf0\x9f\x98\x80\\" };

        for (size_t n = 0; n < 80; n++) {
                for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                        _cleanup_arena_ struct arena a;
                        struct str plain, text;
                        const struct value *v;

                        arena_init(&a, "test", 0);
                        plain = repeated(&a, "x", n);
                        text = arena_printf(&a, "{\"%.*s%s\":\"%.*s%s%.*s\"}", STR_ARG(plain), ends[i], STR_ARG(plain),
                                            ends[i], STR_ARG(plain));
                        ASSERT(parse(&a, text, NULL, &v, NULL) == 0);
                        ASSERT_STR(value_member(v, 0)->key, arena_printf(&a, "%.*s%s", STR_ARG(plain), wanted[i]));
                        ASSERT_STR(value_str(&value_member(v, 0)->value),
                                   arena_printf(&a, "%.*s%s%.*s", STR_ARG(plain), wanted[i], STR_ARG(plain)));
                        ASSERT(parse(&a, str_first(text, text.n - 2), NULL, &v, NULL) == ERR_INVALID);
                }
        }
}

TEST(long_texts)
{
        _cleanup_arena_ struct arena a;
        struct str item = STR(
                "{\"name\":\"an item of a list\",\"long\":\"0123456789abcdef0123456789abcdef0123456789\",\"n\":12},");
        struct str long_string, text, again;
        const struct value *v;

        arena_init(&a, "test", 0);
        long_string = repeated(&a, "0123456789\xc3\xa9\\t", 20000);
        text = arena_printf(&a, "[%.*s\"%.*s\",\"%.*s\"]", STR_ARG(repeated(&a, item.p, 2000)), STR_ARG(long_string),
                            STR_ARG(repeated(&a, "plain", 30000)));
        ASSERT(parse(&a, text, NULL, &v, NULL) == 0);
        ASSERT_INT(value_count(v), 2002);
        again = written(&a, v, 0);
        ASSERT_STR(again, text);
}

TEST(streams)
{
        static const struct {
                const char *text;
                size_t consumed; /* 0: nothing but white space */
        } cases[] = {
                { "{\"a\":1}\n{\"b\":2}", 7 }, { " 1 2", 2 },  { "12", 2 },   { "1x", 1 }, { "[1]]", 3 },
                { "\"a\"\"b\"", 3 },           { "null1", 4 }, { " \n ", 0 }, { "", 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;
                size_t consumed = 0;
                int r;

                arena_init(&a, "test", 0);
                r = json_parse_next(&a, str_from(cases[i].text), NULL, &v, &consumed, &err);
                ASSERT_CASE(cases[i].text, r == (cases[i].consumed ? 0 : ERR_NOT_FOUND));
                ASSERT_CASE(cases[i].text, consumed == cases[i].consumed);
                ASSERT_CASE(cases[i].text, r == 0 || str_equal(str_from(err_message(&err)), STR("EOF")));
        }
}

/* Writing */

TEST(pretty)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(parse(&a, STR("{\"b\":[1,{\"x\":null},[]],\"a\":{},\"<\":\"&\"}"), NULL, &v, NULL) == 0);
        ASSERT_STR(written(&a, v, JSON_PRETTY),
                   STR("{\n  \"b\": [\n    1,\n    {\n      \"x\": null\n    },\n    []\n  ],\n"
                       "  \"a\": {},\n  \"<\": \"&\"\n}"));
        ASSERT_STR(written(&a, v, JSON_PRETTY | JSON_GO), STR("{\n  \"\\u003c\": \"\\u0026\",\n  \"a\": {},\n  \"b\": "
                                                              "[\n    1,\n    {\n      \"x\": null\n    },\n"
                                                              "    []\n  ]\n}"));
        ASSERT_STR(written(&a, &value_empty_array, JSON_PRETTY), STR("[]"));
}

/* A value that no text has: bytes that are not UTF-8. */
TEST(strings_written)
{
        static const struct {
                struct str s;
                unsigned flags;
                const char *wanted;
        } cases[] = {
                { STR_INIT("a\xff"
                           "b"),
                  0, "\"a\\ufffdb\"" },
                { STR_INIT("\xe2\x82"), 0, "\"\\ufffd\\ufffd\"" },
                { STR_INIT("\xe2\x80\xa8\xe2\x80\xa9"), 0, "\"\\u2028\\u2029\"" },
                { STR_INIT("\x00\x01\x1f\x7f\b\f\n\r\t\v"), 0, "\"\\u0000\\u0001\\u001f\x7f\\b\\f\\n\\r\\t\\u000b\"" },
                { STR_INIT("<&>"), 0, "\"<&>\"" },
                { STR_INIT("<&>"), JSON_ESCAPE_HTML, "\"\\u003c\\u0026\\u003e\"" },
                { STR_INIT("0123456789abcdef<"), 0, "\"0123456789abcdef<\"" },
                { STR_INIT("0123456789abcdef<"), JSON_ESCAPE_HTML, "\"0123456789abcdef\\u003c\"" },
                { STR_INIT("0123456789\"bcdef<"), JSON_ESCAPE_HTML, "\"0123456789\\\"bcdef\\u003c\"" },
                { { NULL, 0 }, 0, "\"\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                /* With room to spare, and with not a byte more than it takes. */
                _cleanup_buf_ struct buf b = BUF_INIT(0), tight = BUF_INIT(strlen(cases[i].wanted));
                _cleanup_buf_ struct buf too_small = BUF_INIT(strlen(cases[i].wanted) - 1);

                json_write_string(&b, cases[i].s, cases[i].flags);
                ASSERT_STR_CASE(cases[i].wanted, buf_str(&b), str_from(cases[i].wanted));
                json_write_string(&tight, cases[i].s, cases[i].flags);
                ASSERT_STR_CASE(cases[i].wanted, buf_str(&tight), str_from(cases[i].wanted));
                ASSERT_CASE(cases[i].wanted, !tight.has_failed);
                json_write_string(&too_small, cases[i].s, cases[i].flags);
                ASSERT_CASE(cases[i].wanted, too_small.has_failed);
        }
}

/* Every length of string, with a special byte at every place. */
TEST(escapes_are_found_everywhere)
{
        for (size_t n = 1; n < 40; n++) {
                for (size_t i = 0; i < n; i++) {
                        _cleanup_buf_ struct buf b = BUF_INIT(0), wanted = BUF_INIT(0);
                        char text[40];

                        memset(text, 'x', n);
                        text[i] = '<';
                        buf_append_char(&wanted, '"');
                        buf_append_repeat(&wanted, 'x', i);
                        buf_append_literal(&wanted, "\\u003c");
                        buf_append_repeat(&wanted, 'x', n - i - 1);
                        buf_append_char(&wanted, '"');
                        json_write_string(&b, str_make(text, n), JSON_ESCAPE_HTML);
                        ASSERT_STR(buf_str(&b), buf_str(&wanted));
                }
        }
}

TEST(what_cannot_be_written)
{
        static const struct {
                double d;
                const char *message;
        } cases[] = {
                { NAN, "json: unsupported value: NaN" },
                { INFINITY, "json: unsupported value: +Inf" },
                { -INFINITY, "json: unsupported value: -Inf" },
        };
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf small = BUF_INIT(4);
        _cleanup_err_ struct err err = { 0 };
        struct str text = STR_NONE;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct value d = value_of_double(cases[i].d), list = value_of_items(&a, &d, 1);
                struct value object = value_of_members(&a, &(struct member) { STR("a"), list }, 1, true);

                ASSERT(json_to_str(&a, &object, JSON_GO, &text, &err) == ERR_INVALID);
                ASSERT_TEXT(err_message(&err), cases[i].message);
                ASSERT(!text.p);
        }
        ASSERT(json_write(&small, &value_false, 0, &err) == ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "JSON text is larger than the limit of 4 bytes");
}
