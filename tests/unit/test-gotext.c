#include "test.h"

#include "arena.h"
#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"

#include <math.h>

/* Expectations are what Go's fmt, strconv and unicode answer. */

TEST(quote)
{
        static const struct {
                struct str s;
                const char *quoted, *ascii;
        } cases[] = {
                { STR_INIT(""), "\"\"", "\"\"" },
                { STR_INIT("plain text"), "\"plain text\"", "\"plain text\"" },
                { STR_INIT("\a\b\f\n\r\t\v\\\"'`"), "\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"'`\"",
                  "\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"'`\"" },
                { STR_INIT("\0\x1F\x7F"), "\"\\x00\\x1f\\x7f\"", "\"\\x00\\x1f\\x7f\"" },
                { STR_INIT("\x80\xFFz"), "\"\\x80\\xffz\"", "\"\\x80\\xffz\"" },
                { STR_INIT("\xED\xA0\x80"), "\"\\xed\\xa0\\x80\"", "\"\\xed\\xa0\\x80\"" },
                { STR_INIT("\u00E9\u00A0\u00AD"), "\"\u00E9\\u00a0\\u00ad\"", "\"\\u00e9\\u00a0\\u00ad\"" },
                { STR_INIT("\uFFFD\uFEFF\u2028"), "\"\uFFFD\\ufeff\\u2028\"", "\"\\ufffd\\ufeff\\u2028\"" },
                { STR_INIT("\U0001F600\U000E0000"), "\"\U0001F600\\U000e0000\"", "\"\\U0001f600\\U000e0000\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_arena_ struct arena a;

                arena_init(&a, "test", 0);
                go_append_quoted(&b, cases[i].s);
                ASSERT_STR(buf_str(&b), str_from(cases[i].quoted));
                ASSERT_STR(go_quote(&a, cases[i].s), str_from(cases[i].quoted));
                buf_clear(&b);
                go_append_quoted_ascii(&b, cases[i].s);
                ASSERT_STR(buf_str(&b), str_from(cases[i].ascii));
        }
}

TEST(quote_rune)
{
        static const struct {
                uint32_t rune;
                const char *quoted, *ascii;
        } cases[] = {
                { 0, "'\\x00'", "'\\x00'" },
                { '\'', "'\\''", "'\\''" },
                { '"', "'\"'", "'\"'" },
                { 7, "'\\a'", "'\\a'" },
                { 0x7F, "'\\x7f'", "'\\x7f'" },
                { 0x80, "'\\u0080'", "'\\u0080'" },
                { 0xFFFD, "'\uFFFD'", "'\\ufffd'" },
                { 0xD800, "'\uFFFD'", "'\\ufffd'" },
                { 0x110000, "'\uFFFD'", "'\\ufffd'" },
                { UINT32_MAX, "'\uFFFD'", "'\\ufffd'" },
                { 0x10FFFF, "'\\U0010ffff'", "'\\U0010ffff'" },
                { 0x1F600, "'\U0001F600'", "'\\U0001f600'" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                go_append_quoted_rune(&b, cases[i].rune, false);
                ASSERT_STR(buf_str(&b), str_from(cases[i].quoted));
                buf_clear(&b);
                go_append_quoted_rune(&b, cases[i].rune, true);
                ASSERT_STR(buf_str(&b), str_from(cases[i].ascii));
        }
}

TEST(can_backquote)
{
        static const struct {
                struct str s;
                bool can;
        } cases[] = {
                { STR_INIT(""), true },      { STR_INIT("a\t\u00E9\uFFFD\u2028\xC2\x85"), true },
                { STR_INIT("a`"), false },   { STR_INIT("\n"), false },
                { STR_INIT("\x7F"), false }, { STR_INIT("\x1F"), false },
                { STR_INIT("\0"), false },   { STR_INIT("\uFEFF"), false },
                { STR_INIT("\x80"), false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_CASE(cases[i].s.p, go_can_backquote(cases[i].s) == cases[i].can);
}

TEST(quoting_stops_at_the_maximum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(8);

        go_append_quoted(&b, STR("\n\n\n\n\n\n\n\n\n\n\n"));
        ASSERT(b.has_failed);
        ASSERT(b.n <= 8);
}

TEST(runes)
{
        static const struct {
                uint32_t rune;
                bool is_printable;
                uint32_t upper, lower;
        } cases[] = {
                { 0, false, 0, 0 },
                { ' ', true, ' ', ' ' },
                { 'a', true, 'A', 'a' },
                { 'Z', true, 'Z', 'z' },
                { 0x7F, false, 0x7F, 0x7F },
                { 0xA0, false, 0xA0, 0xA0 },
                { 0xB5, true, 0x39C, 0xB5 },
                { 0xDF, true, 0xDF, 0xDF },
                { 0xFF, true, 0x178, 0xFF },
                { 0x100, true, 0x100, 0x101 },
                { 0x101, true, 0x100, 0x101 },
                { 0x130, true, 0x130, 'i' },
                { 0x131, true, 'I', 0x131 },
                { 0x1C5, true, 0x1C4, 0x1C6 },
                { 0x378, false, 0x378, 0x378 },
                { 0x10D0, true, 0x1C90, 0x10D0 },
                { 0x1E9E, true, 0x1E9E, 0xDF },
                { 0xD800, false, 0xD800, 0xD800 },
                { 0x10428, true, 0x10400, 0x10428 },
                { 0x1E900, true, 0x1E900, 0x1E922 },
                { 0x10FFFF, false, 0x10FFFF, 0x10FFFF },
                { 0x110000, false, 0x110000, 0x110000 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_INT(go_is_printable(cases[i].rune), cases[i].is_printable);
                ASSERT_INT(go_to_upper(cases[i].rune), cases[i].upper);
                ASSERT_INT(go_to_lower(cases[i].rune), cases[i].lower);
        }
}

TEST(type_name)
{
        struct value v = value_of_int(1);

        ASSERT_STR(go_type_name(NULL), STR("<nil>"));
        ASSERT_STR(go_type_name(&value_null), STR("<nil>"));
        ASSERT_STR(go_type_name(&value_true), STR("bool"));
        ASSERT_STR(go_type_name(&v), STR("int64"));
        v = value_of_double(1);
        ASSERT_STR(go_type_name(&v), STR("float64"));
        ASSERT_STR(go_type_name(&value_empty_string), STR("string"));
        ASSERT_STR(go_type_name(&value_empty_array), STR("[]interface {}"));
        ASSERT_STR(go_type_name(&value_empty_object), STR("map[string]interface {}"));
}

/* Arguments are a JSON array: numbers with a point or exponent are doubles. */
static void format(struct buf *b, struct str text, const char *arguments, unsigned flags)
{
        _cleanup_arena_ struct arena a;
        const struct value *list, *pointers[16];

        arena_init(&a, "test", 0);
        ASSERT_INT(json_parse(&a, str_from(arguments), NULL, &list, NULL), 0);
        for (size_t i = 0; i < value_count(list); i++)
                pointers[i] = value_item(list, i);
        go_sprintf(b, text, pointers, value_count(list), flags);
}

TEST(sprintf)
{
        static const struct {
                const char *format, *arguments;
                struct str text;
        } cases[] = {
                { "plain", "[]", STR_INIT("plain") },
                { "", "[]", STR_INIT("") },
                { "%s", "[\"foo\"]", STR_INIT("foo") },
                { "%s %v %d%%", "[\"a\",\"b\",3]", STR_INIT("a b 3%") },
                { "%v", "[null]", STR_INIT("<nil>") },
                { "%v", "[true]", STR_INIT("true") },
                { "%v", "[false]", STR_INIT("false") },
                { "%v", "[1000000.0]", STR_INIT("1e+06") },
                { "%v", "[123456.0]", STR_INIT("123456") },
                { "%v", "[0.00001]", STR_INIT("1e-05") },
                { "%v", "[1e21]", STR_INIT("1e+21") },
                { "%v", "[-0.0]", STR_INIT("-0") },
                { "%v", "[[\"a\",1,null,2.5,true]]", STR_INIT("[a 1 <nil> 2.5 true]") },
                { "%v", "[{\"b\":1,\"a\":[{}],\"c\":null}]", STR_INIT("map[a:[map[]] b:1 c:<nil>]") },
                { "%v|%v", "[[],{}]", STR_INIT("[]|map[]") },
                { "%#v", "[{\"b\":1,\"a\":[\"x\",null]}]",
                  STR_INIT("map[string]interface {}{\"a\":[]interface {}{\"x\", interface {}(nil)}, \"b\":1}") },
                { "%#v", "[null]", STR_INIT("<nil>") },
                { "%+v", "[3]", STR_INIT("3") },
                { "%d", "[3]", STR_INIT("3") },
                { "%d", "[3.0]", STR_INIT("%!d(float64=3)") },
                { "%d", "[\"hi\"]", STR_INIT("%!d(string=hi)") },
                { "%5d", "[\"hi\"]", STR_INIT("%!d(string=   hi)") },
                { "%s", "[3.0]", STR_INIT("%!s(float64=3)") },
                { "%+s", "[3.0]", STR_INIT("%!s(float64=+3)") },
                { "%#q", "[3.0]", STR_INIT("%!q(float64=3.00000)") },
                { "%s", "[null]", STR_INIT("%!s(<nil>)") },
                { "%d", "[null]", STR_INIT("%!d(<nil>)") },
                { "%d", "[{\"k\":1.0}]", STR_INIT("map[%!d(string=k):%!d(float64=1)]") },
                { "%x", "[{\"k\":\"ab\"}]", STR_INIT("map[6b:6162]") },
                { "%t|%t", "[true,1]", STR_INIT("true|%!t(int64=1)") },
                { "%q|%#q|%+q", "[\"a\\n\",\"a\",\"\xC3\xA9\"]", STR_INIT("\"a\\n\"|`a`|\"\\u00e9\"") },
                { "%#q", "[\"a`b\"]", STR_INIT("\"a`b\"") },
                { "%x|%X|% x|%#x|%# X", "[\"hello\",\"hello\",\"hello\",\"hello\",\"hello\"]",
                  STR_INIT("68656c6c6f|68656C6C6F|68 65 6c 6c 6f|0x68656c6c6f|0X68 0X65 0X6C 0X6C 0X6F") },
                { "%10x|%-10x|%010x|%.2x|%x|%5x", "[\"ab\",\"ab\",\"ab\",\"abc\",\"\",\"\"]",
                  STR_INIT("      6162|6162      |0000006162|6162||     ") },
                { "%5s|%-5s|%05s|%.2s|%5.1s", "[\"\xC3\xA9\xC3\xA8\",\"a\",\"a\",\"\xC3\xA9\xC3\xA8\xC3\xAA\",\"abc\"]",
                  STR_INIT("   \xC3\xA9\xC3\xA8|a    |0000a|\xC3\xA9\xC3\xA8|    a") },
                { "%08v|%-8v|%5t", "[true,true,false]", STR_INIT("0000true|true    |false") },
                { "%08v", "[null]", STR_INIT("000<nil>") },
                { "%5d|%-5d|%05d|%+d|% d|%+05d|%-05d|", "[42,42,42,42,42,42,42]",
                  STR_INIT("   42|42   |00042|+42| 42|+0042|42   |") },
                { "%x|%X|%#x|%#X|%o|%#o|%O|%#O|%b|%#b", "[-42,42,42,42,42,42,42,42,5,5]",
                  STR_INIT("-2a|2A|0x2a|0X2A|52|052|0o52|0o052|101|0b101") },
                { "%.5d|%8.3d|%08.3d|%.0d|%3.0d|%.0d", "[42,42,42,0,0,7]", STR_INIT("00042|     042|     042||   |7") },
                { "%#08x|%#.4o|%#o", "[42,8,0]", STR_INIT("0x0000002a|0010|0") },
                { "%c|%c|%5c|%q|%+q|%#q", "[65,-1,233,233,233,39]",
                  STR_INIT("A|\xEF\xBF\xBD|    \xC3\xA9|'\xC3\xA9'|'\\u00e9'|'\\''") },
                { "%U|%#U|%10U|%-10U|%.6U|%#U|%U", "[65,128512,65,65,65,7,-1]",
                  STR_INIT("U+0041|U+1F600 '\xF0\x9F\x98\x80'|    U+0041|U+0041    "
                           "|U+000041|U+0007|U+FFFFFFFFFFFFFFFF") },
                { "%d", "[-9223372036854775808]", STR_INIT("-9223372036854775808") },
                { "%b", "[-9223372036854775808]",
                  STR_INIT("-1000000000000000000000000000000000000000000000000000000000000000") },
                { "%z|%!|%e", "[1,2,3]", STR_INIT("%!z(int64=1)|%!!(int64=2)|%!e(int64=3)") },
                { "%e|%E|%f|%F|%g|%G|%b|%x|%X", "[3.0,3.0,3.0,3.0,3.0,1e-10,3.0,3.0,3.0]",
                  STR_INIT("3.000000e+00|3.000000E+00|3.000000|3.000000|3|1E-10|6755399441055744p-51|0x1.8p+01|0X1.8P+"
                           "01") },
                { "%.2e|%.0f|%.3g|%.10v|%.3x|%8.2f|%-8.2f|%08.2f|%+08.2f|% f",
                  "[1234.5,2.5,1234.5,1e6,3.14159,3.14159,3.14159,-3.14159,3.14159,1.0]",
                  STR_INIT("1.23e+03|2|1.23e+03|1000000|0x1.922p+01|    3.14|3.14    |-0003.14|+0003.14| 1.000000") },
                { "%#g|%#.3g|%#.0f|%#e|%#x|%#v|%#.0e|%#g|%#X", "[3.0,3.0,3.0,3.0,3.0,3.0,1.0,0.0,3.0]",
                  STR_INIT("3.00000|3.00|3.|3.000000e+00|0x1.8000p+01|3|1.e+00|0.00000|0X1.8P+01") },
                { "%+v|%+g", "[3.0,3.0]", STR_INIT("3|+3") },
                { "%T|%T|%T|%T|%T|%T|%T", "[null,true,1,1.0,\"\",[],{}]",
                  STR_INIT("<nil>|bool|int64|float64|string|[]interface {}|map[string]interface {}") },
                { "%10T|%.3T|%.3T", "[\"\",1.0,null]", STR_INIT("    string|flo|<nil>") },
                { "%s %s", "[\"a\"]", STR_INIT("a %!s(MISSING)") },
                { "%s", "[\"a\",\"b\",3.0,null]", STR_INIT("a%!(EXTRA string=b, float64=3, <nil>)") },
                { "%[2]s %[1]s", "[\"a\",\"b\"]", STR_INIT("b a") },
                { "%[1]s %s", "[\"a\",\"b\"]", STR_INIT("a b") },
                { "%[3]s", "[\"a\"]", STR_INIT("%!s(BADINDEX)") },
                { "%[0]s|%[x]s|%[]s|%[-1]d", "[\"a\"]",
                  STR_INIT("%!s(BADINDEX)|%!s(BADINDEX)|%!s(BADINDEX)|%!d(BADINDEX)") },
                { "%[5s", "[\"a\"]", STR_INIT("%!s(BADINDEX)") },
                { "%[", "[\"a\"]", STR_INIT("%!(NOVERB)") },
                { "%[1]-5s", "[\"a\"]", STR_INIT("%!-(string=a)5s") },
                { "%[1]5s", "[\"a\"]", STR_INIT("%!s(BADINDEX)") },
                { "%[1].2s", "[\"a\"]", STR_INIT("%!s(BADINDEX)") },
                { "%[]", "[1]", STR_INIT("%!](BADINDEX)") },
                { "%", "[]", STR_INIT("%!(NOVERB)") },
                { "%5", "[]", STR_INIT("%!(NOVERB)") },
                { "%-", "[\"a\"]", STR_INIT("%!(NOVERB)%!(EXTRA string=a)") },
                { "100%", "[]", STR_INIT("100%!(NOVERB)") },
                { "%5%", "[]", STR_INIT("%") },
                { "%5.", "[\"a\"]", STR_INIT("%!.(string=    a)") },
                { "%5.s|", "[\"a\"]", STR_INIT("     |") },
                { "%.", "[1]", STR_INIT("%!.(int64=1)") },
                { "%*d|%-*d|%*d", "[5,42,5,42,-5,42]", STR_INIT("   42|42   |42   ") },
                { "%.*f|%.*f", "[2,3.14159,-1,3.14159]", STR_INIT("3.14|%!(BADPREC)3.141590") },
                { "%*s", "[5.0,\"a\"]", STR_INIT("%!(BADWIDTH)a") },
                { "%.*s", "[\"x\",\"abc\"]", STR_INIT("%!(BADPREC)abc") },
                { "%*d", "[1000001,1]", STR_INIT("%!(BADWIDTH)1") },
                { "%*", "[]", STR_INIT("%!(BADWIDTH)%!(NOVERB)") },
                { "%[2]*[1]d", "[42,6]", STR_INIT("    42") },
                { "%[1]*.[2]*[3]f", "[8,2,3.14159]", STR_INIT("    3.14") },
                { "%.[2]*[1]d", "[42,6]", STR_INIT("000042") },
                { "%.99999999d|x", "[1]", STR_INIT("%!(NOVERB)%!(EXTRA int64=1)") },
                { "%99999999d", "[1]", STR_INIT("%!(NOVERB)%!(EXTRA int64=1)") },
                { "%[99999999]d", "[1]", STR_INIT("%!d(BADINDEX)") },
                { "%w|%5w|%#w", "[\"a\",[1],{\"a\":1.0}]",
                  STR_INIT("%!w(string=a)|%!w([]interface {}=[    1])|%!w(map[string]interface {}=map[string]interface "
                           "{}{\"a\":1})") },
                { "%p", "[\"a\"]", STR_INIT("%!p(string=a)") },
                { "%\xFF|\xFE%\xC3\xA9", "[1,2]", STR_INIT("%!\xEF\xBF\xBD(int64=1)|\xFE%!\xC3\xA9(int64=2)") },
                { "%c%c%c", "[1114112,55296,65533]", STR_INIT("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") },
                { "% d|% d|% x", "[-1,1,-255]", STR_INIT("-1| 1|-ff") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                format(&b, str_from(cases[i].format), cases[i].arguments, 0);
                ASSERT_STR_CASE(cases[i].format, buf_str(&b), cases[i].text);
        }
}

/* Doubles that JSON cannot carry. */
TEST(sprintf_special_doubles)
{
        static const struct {
                const char *format;
                double d;
                const char *text;
        } cases[] = {
                { "%v", NAN, "NaN" },
                { "%+f", NAN, "+NaN" },
                { "% f", NAN, " NaN" },
                { "%08v", NAN, "     NaN" },
                { "%v", INFINITY, "+Inf" },
                { "%+v", INFINITY, "+Inf" },
                { "% v", INFINITY, " Inf" },
                { "%010f", -INFINITY, "      -Inf" },
                { "%-10f|", -INFINITY, "-Inf      |" },
                { "%#g", INFINITY, "+Inf" },
                { "%d", -INFINITY, "%!d(float64=-Inf)" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct value v = value_of_double(cases[i].d);
                const struct value *argument = &v;

                go_sprintf(&b, str_from(cases[i].format), &argument, 1, 0);
                ASSERT_STR_CASE(cases[i].format, buf_str(&b), str_from(cases[i].text));
        }
}

/* A NULL pointer is a nil operand. */
TEST(sprintf_null_pointer)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *arguments[] = { NULL, NULL, NULL };

        go_sprintf(&b, STR("%v %d"), arguments, 3, 0);
        ASSERT_STR(buf_str(&b), STR("<nil> %!d(<nil>)%!(EXTRA <nil>)"));
        buf_clear(&b);
        go_append_value(&b, NULL);
        ASSERT_STR(buf_str(&b), STR("<nil>"));
}

/* Our own option: integral doubles are ints to the verbs that only ints have. */
TEST(sprintf_integral_doubles)
{
        static const struct {
                const char *format, *arguments, *text;
        } cases[] = {
                { "%d", "[3.0]", "3" },
                { "%05d|%+d|%d", "[3.0, 3.0, -0.0]", "00003|+3|0" },
                { "%d", "[3.5]", "%!d(float64=3.5)" },
                { "%d", "[1e19]", "%!d(float64=1e+19)" },
                { "%d", "[-9223372036854775808.0]", "-9223372036854775808" },
                { "%d", "[[1.0, 2.5, \"x\"]]", "[1 %!d(float64=2.5) %!d(string=x)]" },
                { "%c%U%o%O%q", "[65.0, 65.0, 65.0, 65.0, 65.0]", "AU+00411010o101'A'" },
                { "%v %s %b %x %T", "[3.0, 3.0, 3.0, 3.0, 3.0]",
                  "3 %!s(float64=3) 6755399441055744p-51 0x1.8p+01 float64" },
                { "%*d", "[5.0, 1]", "%!(BADWIDTH)1" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                format(&b, str_from(cases[i].format), cases[i].arguments, GO_FORMAT_INTEGRAL_DOUBLES);
                ASSERT_STR_CASE(cases[i].format, buf_str(&b), str_from(cases[i].text));
        }
}

/* Numbers need no more than DOUBLE_DIGITS of the precision; the rest are zeros. */
TEST(sprintf_large_precision)
{
        static const struct {
                const char *format;
                size_t n;
                const char *start, *end;
        } cases[] = {
                { "%.5000f", 5002, "1.5000", "0000" },
                { "%.5000e", 5006, "1.5000", "000e+00" },
                { "%.5000x", 5008, "0x1.8000", "00p+00" },
                { "%#.5000g", 5001, "1.5000", "0000" },
                { "%.5000g", 3, "1.5", "1.5" },
                { "%9000000.1f", 9000000, "    ", " 1.5" },
                { "%.5000v", 3, "1.5", "1.5" },
                { "%-5000.1f", 5000, "1.5 ", "    " },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                format(&b, str_from(cases[i].format), "[1.5]", 0);
                ASSERT_INT(b.n, cases[i].n);
                ASSERT_CASE(cases[i].format, str_starts_with(buf_str(&b), str_from(cases[i].start)));
                ASSERT_CASE(cases[i].format, str_ends_with(buf_str(&b), str_from(cases[i].end)));
        }
}

TEST(sprintf_stops_at_the_maximum)
{
        static const char *const formats[] = { "%1000000d",  "%.1000000d", "%.1000000f", "%1000000s",
                                               "%-1000000v", "%1000000x",  "%0999999U",  "%#.999999q",
                                               "%999999T",   "%.999999U",  "long text " };
        static const char *const arguments[] = {
                "[1]", "[1.5]", "[1e300]", "[\"text\"]", "[[1, 2]]", "[{\"a\": true}]"
        };

        for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
                for (size_t j = 0; j < ARRAY_SIZE(arguments); j++) {
                        _cleanup_buf_ struct buf b = BUF_INIT(1000), text = BUF_INIT(0);

                        for (int n = 0; n < 1000; n++)
                                buf_append_str(&text, str_from(formats[i]));
                        format(&b, buf_str(&text), arguments[j], 0);
                        ASSERT_CASE(formats[i], b.has_failed);
                        ASSERT(b.n <= 1000);
                }
}

/* One verb whose text alone is too long. */
TEST(sprintf_stops_inside_a_verb)
{
        static const char *const cases[][2] = {
                { "%.500f", "[1.5]" }, { "%v", "[1e300]" }, { "%q", "[\"0123456789\"]" }, { "%x", "[\"0123456789\"]" },
                { "%.500d", "[1]" },   { "%U", "[65]" },    { "%s", "[\"0123456789\"]" }, { "%T", "[{}]" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(4);

                format(&b, str_from(cases[i][0]), cases[i][1], 0);
                ASSERT_CASE(cases[i][0], b.has_failed);
        }
}

/* However many brackets stay open, the format is searched for their ends only once. */
TEST(sprintf_open_brackets)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), b = BUF_INIT(0);

        for (int i = 0; i < 500000; i++)
                buf_append_literal(&text, "%[");
        format(&b, buf_str(&text), "[1]", 0);
        ASSERT_INT(b.n, 500000);
        ASSERT(str_starts_with(buf_str(&b), STR("%[%[%[")));
}

TEST(sprintf_depth)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v = &value_empty_array;

        arena_init(&a, "test", 0);
        for (int depth = 1; depth < LIMIT_DEPTH; depth++)
                v = value_put(&a, value_of_items(&a, v, 1));
        go_append_value(&b, v);
        ASSERT(!b.has_failed);
        ASSERT_INT(b.n, 2 * LIMIT_DEPTH);
        v = value_put(&a, value_of_items(&a, v, 1));
        go_append_value(&b, v);
        ASSERT(b.has_failed);
}
