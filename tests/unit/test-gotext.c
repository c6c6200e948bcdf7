#include "test.h"

#include "arena.h"
#include "buf.h"
#include "gotext.h"

/* Expectations are what Go's strconv and unicode answer. */

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
