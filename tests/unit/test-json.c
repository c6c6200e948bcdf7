#include "test.h"

#include "buf.h"
#include "json.h"
#include "limits.h"

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
