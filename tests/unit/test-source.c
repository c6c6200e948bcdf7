#include "test.h"

#include "buf.h"
#include "source.h"
#include "yaml.h"

TEST(positions_of_offsets)
{
        struct str text = STR("ab\n\xC3\xA9\xC3\xA9x\n");
        static const struct position cases[] = {
                { 1, 1, 0 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 2, 5 }, { 2, 3, 7 }, { 3, 1, 9 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct position p = source_position(text, cases[i].offset);

                ASSERT_INT(p.line, cases[i].line);
                ASSERT_INT(p.column, cases[i].column);
                ASSERT_INT(p.offset, cases[i].offset);
        }
        ASSERT_INT(source_position(text, 1000).offset, text.n);
        ASSERT_INT(source_position(STR_NONE, 5).line, 1);
}

#define KEY(k)                      \
        {                           \
                .key = STR_INIT(k), \
        }
#define INDEX(i)                                \
        {                                       \
                .index = (i), .is_index = true, \
        }

static const struct {
        struct str text;
        size_t document;
        struct path_segment segments[4];
        size_t n;
        uint32_t line, column;
} located[] = {
        /* YAML */
        { STR_INIT("a: 1\nb:\n  c: [x, y]\n"), 0, { KEY("b"), KEY("c"), INDEX(1) }, 3, 3, 10 },
        { STR_INIT("a: 1\nb:\n  c: [x, y]\n"), 0, { KEY("b"), KEY("c"), INDEX(7) }, 3, 3, 6 },
        { STR_INIT("a: 1\nb:\n  c: [x, y]\n"), 0, { KEY("b"), KEY("zz"), KEY("y") }, 3, 3, 3 },
        { STR_INIT("a: 1\nb: 2\n"), 0, { KEY("b") }, 1, 2, 4 },
        { STR_INIT("a: 1\nb: 2\n"), 0, { KEY("b"), KEY("c") }, 2, 2, 4 },
        { STR_INIT("a: 1\n"), 0, { KEY("a") }, 0, 1, 1 },
        { STR_INIT("---\n# none\n---\na: 1\n---\n\nb: 2\n"), 1, { KEY("b") }, 1, 7, 4 },
        { STR_INIT("y: 1\n0x10: 2\n"), 0, { KEY("true") }, 1, 1, 4 },
        { STR_INIT("y: 1\n0x10: 2\n"), 0, { KEY("16") }, 1, 2, 7 },
        { STR_INIT("a: &x {k: 1}\nb: *x\n"), 0, { KEY("b"), KEY("k") }, 2, 1, 11 },
        { STR_INIT("a: &x {k: 1}\nb: *x\n"), 0, { KEY("b") }, 1, 2, 4 },
        { STR_INIT("a: &x {k: 1}\nb: {<<: *x, l: 2}\n"), 0, { KEY("b"), KEY("k") }, 2, 1, 11 },
        { STR_INIT("a: {<<: [{k: 1}, {k: 2, m: 3}]}\n"), 0, { KEY("a"), KEY("k") }, 2, 1, 14 },
        { STR_INIT("a: {<<: [{k: 1}, {k: 2, m: 3}]}\n"), 0, { KEY("a"), KEY("m") }, 2, 1, 28 },
        { STR_INIT("a: 1\na: 2\n"), 0, { KEY("a") }, 1, 2, 4 },
        { STR_INIT("- a\n- b\n"), 0, { INDEX(1) }, 1, 2, 3 },
        { STR_INIT("- a\n- b\n"), 0, { KEY("x") }, 1, 1, 1 },
        { STR_INIT("\xC3\xA9: \xC3\xA9\nq\\/: {a:, b: c}\n"), 0, { KEY("\xC3\xA9") }, 1, 1, 4 },
        /* JSON */
        { STR_INIT("{\"a\": {\"b\": [1, {\"c\": 2}]}}"), 0, { KEY("a"), KEY("b"), INDEX(1), KEY("c") }, 4, 1, 23 },
        { STR_INIT("{\n  \"a\": \"x]}\\\"\",\n  \"b\": [ [1, 2], 3 ]\n}"), 0, { KEY("b"), INDEX(1) }, 2, 3, 18 },
        { STR_INIT("{\"a\": 1}\n{\"b\": [true, null]}"), 1, { KEY("b"), INDEX(1) }, 2, 2, 14 },
        { STR_INIT("{\"a\": 1} null {\"b\": 2}"), 1, { KEY("b") }, 1, 1, 21 },
        { STR_INIT("a: 1\n---\nnull # not: b\n---\n~ # c: d\n---\nb: 2\n"), 1, { KEY("b") }, 1, 7, 4 },
        { STR_INIT("{\"a\": 1, \"\\u0061\": 2}"), 0, { KEY("a") }, 1, 1, 20 },
        { STR_INIT("{\"a\": []}"), 0, { KEY("a"), INDEX(0) }, 2, 1, 7 },
        { STR_INIT("{\"a\": [1]}"), 0, { KEY("a"), INDEX(3) }, 2, 1, 7 },
        { STR_INIT("{\"a\": 1}"), 0, { INDEX(0) }, 1, 1, 1 },
        { STR_INIT(" {\"a\": {}}"), 0, { KEY("b") }, 1, 1, 2 },
        /* JSON, then YAML */
        { STR_INIT("{\"a\": 1}\n---\nb: 2\n"), 1, { KEY("b") }, 1, 3, 4 },
};

TEST(finds_values_again)
{
        for (size_t i = 0; i < ARRAY_SIZE(located); i++) {
                struct source_file s = { .name = STR("f"), .text = located[i].text };
                struct path path = { .segments = located[i].segments, .n = located[i].n };
                _cleanup_err_ struct err err = { 0 };
                struct position p;

                if (source_locate(&s, located[i].document, &path, &p, &err) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", located[i].text.p, err_message(&err));
                ASSERT_CASE(located[i].text.p, p.line == located[i].line);
                ASSERT_CASE(located[i].text.p, p.column == located[i].column);
        }
}

/* The place of `@` in the text at `t`, and of every other visible character. */
TEST(finds_characters_of_a_text)
{
        static const struct {
                struct str text;
                uint32_t line, column;
        } cases[] = {
                { STR_INIT("t: |\n  a\n   b @c\n"), 3, 6 },
                { STR_INIT("t: |2-\n    a\n\n  @b\n\n"), 4, 3 },
                { STR_INIT("t: >\n  a b\n  c\n\n    d\n  @e\n"), 6, 3 },
                { STR_INIT("t: >-\n  a @b\n"), 2, 5 },
                { STR_INIT("t: \"a\\n  b\\t@c\"\n"), 1, 13 },
                { STR_INIT("t: \"a\n\n  \\\n  b\\x20\\u00e9 @c\\\"\"\n"), 4, 15 },
                { STR_INIT("t: \"\xC3\xA9\xC3\xA9 \\U0001F600\\\\ \\\n  @\"\n"), 2, 3 },
                { STR_INIT("t: 'it''s @x'\n"), 1, 11 },
                { STR_INIT("t: 'a\n\n  ''\n  @'\n"), 4, 3 },
                { STR_INIT("t: plain and\n  more @too\n"), 2, 8 },
                { STR_INIT("{a: 1, t: 'x @ y'}\n"), 1, 14 },
                { STR_INIT("a: &x !!str |\n  @\nt: 3 @\n"), 3, 6 },
                { STR_INIT("t: &x !!str |\n  b @\n"), 2, 5 },
                { STR_INIT("{\"t\": \"a\\n\\ud83d\\ude00\\u0020 @\"}"), 1, 30 },
        };
        struct path path = { (struct path_segment[]) { KEY("t") }, 1 };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct source_file s = { STR("f"), cases[i].text };
                _cleanup_arena_ struct arena a;
                const struct value *v;
                struct position p;
                struct str text;

                arena_init(&a, "test", 0);
                ASSERT_CASE(s.text.p, yaml_parse_stream(&a, s.text, NULL, &v, NULL) >= 0);
                text = value_str(value_get(value_item(v, 0), STR("t")));
                ASSERT_INT(source_locate_in_text(&s, 0, &path, text, (size_t)str_find_char(text, '@'), &p, NULL), 0);
                ASSERT_INT(p.line, cases[i].line);
                ASSERT_INT(p.column, cases[i].column);
                for (size_t at = 0; at < text.n; at++)
                        if (text.p[at] >= 'a' && text.p[at] <= 'z') {
                                ASSERT_INT(source_locate_in_text(&s, 0, &path, text, at, &p, NULL), 0);
                                ASSERT_INT(s.text.p[p.offset], text.p[at]);
                        }
        }
}

TEST(characters_that_are_not_in_the_file)
{
        struct path path = { (struct path_segment[]) { KEY("t") }, 1 };
        struct source_file alias = { STR("f"), STR("a: &x |\n  abc\nt: *x\n") },
                           s = { STR("f"), STR("t: |\n  abc \n") };
        struct position p;

        ASSERT_INT(source_locate_in_text(&alias, 0, &path, STR("abc\n"), 1, &p, NULL), ERR_NOT_FOUND);
        ASSERT_INT(source_locate_in_text(&s, 0, &path, STR("abc \n"), 3, &p, NULL), ERR_NOT_FOUND);
        ASSERT_INT(source_locate_in_text(&s, 0, &path, STR("abc \n"), 5, &p, NULL), ERR_NOT_FOUND);
        ASSERT_INT(source_locate_in_text(&s, 0, &path, STR("another text"), 7, &p, NULL), ERR_NOT_FOUND);
        ASSERT_INT(source_locate_in_text(&s, 7, &path, STR("abc"), 0, &p, NULL), ERR_NOT_FOUND);
}

TEST(what_cannot_be_located)
{
        static const struct {
                struct str text;
                const char *error;
        } cases[] = {
                { STR_INIT("a: 1"), "f has fewer documents" },
                { STR_INIT("{\"a\": 1}"), "f has fewer documents" },
                { STR_INIT("["), "yaml: line 1: did not find expected node content" },
                { STR_INIT("# only\n--- \n~\n"), "f has fewer documents" },
                { STR_INIT("--- x"), "invalid Yaml document separator: x" },
        };
        struct path path = { 0 };
        struct position p;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct source_file s = { .name = STR("f"), .text = cases[i].text };
                _cleanup_err_ struct err err = { 0 };

                ASSERT(source_locate(&s, 5, &path, &p, &err) < 0);
                ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].error));
        }
}

/* Merges that double at every step, and one that contains itself. */
TEST(hostile_merges_are_given_up_on)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct path_segment segment = KEY("zz");
        struct path path = { &segment, 1 };
        struct source_file s = { .name = STR("f") };
        struct position p;

        buf_append_literal(&b, "<<:\n- &x0 {k: v}\n");
        for (int i = 1; i < 60; i++)
                buf_appendf(&b, "- &x%d {<<: [*x%d, *x%d]}\n", i, i - 1, i - 1);
        s.text = buf_str(&b);
        ASSERT_INT(source_locate(&s, 0, &path, &p, NULL), 0);
        ASSERT_INT(p.line, 1);
        s.text = STR("&x {<<: *x, a: 1}");
        ASSERT_INT(source_locate(&s, 0, &path, &p, NULL), 0);
}

static void check_shown(struct str text, struct position p, const char *wanted)
{
        struct source_file s = { .name = STR("file.yaml"), .text = text };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "wrong");
        err_set_position(&err, p);
        source_append_error(&b, &s, &err);
        ASSERT_STR(buf_str(&b), str_from(wanted));
}

TEST(shows_the_line_with_a_caret)
{
        _cleanup_buf_ struct buf line = BUF_INIT(0);

        check_shown(STR("a: 1\nb: *c\n"), (struct position) { 2, 4, 8 }, "file.yaml:2:4: wrong\nb: *c\n   ^\n");
        check_shown(STR("a: 1"), (struct position) { 0 }, "file.yaml: wrong\n");
        check_shown(STR("\ta:\x01\r\n"), (struct position) { 1, 2, 1 }, "file.yaml:1:2: wrong\n a: \n ^\n");
        check_shown(STR("\xC3\xA9\xFF: x"), (struct position) { 1, 5, 0 },
                    "file.yaml:1:5: wrong\n\xC3\xA9\xEF\xBF\xBD: x\n    ^\n");
        check_shown(STR("ab"), (struct position) { 1, 9, 0 }, "file.yaml:1:9: wrong\nab\n  ^\n");
        check_shown(STR("ab"), (struct position) { 7, 1, 0 }, "file.yaml:7:1: wrong\n\n^\n");
        check_shown(STR("ab\n"), (struct position) { 2, 1, 3 }, "file.yaml:2:1: wrong\n\n^\n");
        for (int i = 0; i < 300; i++)
                buf_append_char(&line, (char)('a' + i % 26));
        check_shown(buf_str(&line), (struct position) { 1, 10, 9 },
                    "file.yaml:1:10: wrong\n"
                    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst"
                    "uv...\n"
                    "         ^\n");
        check_shown(buf_str(&line), (struct position) { 1, 157, 156 },
                    "file.yaml:1:157: wrong\n"
                    "..."
                    "defghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvw"
                    "xy...\n"
                    "                                                    ^\n");
        check_shown(
                buf_str(&line), (struct position) { 1, 300, 299 },
                "file.yaml:1:300: wrong\n"
                "..."
                "stuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmn\n"
                "                                                                                                      "
                "^\n");
}
