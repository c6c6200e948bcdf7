#include "test.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "yaml.h"

struct read_case {
        struct str text;
        const char *json;
        const char *error;
};

#include "yaml-read-cases.h"

static void check_case(const struct read_case *c, bool refuses_duplicates)
{
        struct yaml_read_options options = { .is_strict = refuses_duplicates };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;
        struct str json;
        int r;

        arena_init(&a, "test", 0);
        r = yaml_parse(&a, c->text, &options, &v, &err);
        if (c->error) {
                ASSERT_CASE(c->text.p, r < 0);
                ASSERT_INT(r, err.code);
                ASSERT_STR_CASE(c->text.p, str_from(err_message(&err)), str_from(c->error));
                return;
        }
        ASSERT_STR_CASE(c->text.p, str_from(err_message(&err)), STR("no error"));
        ASSERT_INT(json_to_str(&a, v, JSON_GO, &json, NULL), 0);
        ASSERT_STR_CASE(c->text.p, json, str_from(c->json));
}

TEST(reads_as_sigs_yaml)
{
        for (size_t i = 0; i < ARRAY_SIZE(documents); i++)
                check_case(&documents[i], false);
}

TEST(refuses_duplicates_as_sigs_yaml)
{
        for (size_t i = 0; i < ARRAY_SIZE(strict_documents); i++)
                check_case(&strict_documents[i], true);
}

static const struct value *parse(struct arena *a, struct str text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (yaml_parse(a, text, NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return v;
}

/* Reads a text that must fail, and gives its error to the caller. */
static void fail_on(struct str text, const struct yaml_read_options *options, struct err *err)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT(yaml_parse(&a, text, options, &v, err) < 0);
}

TEST(numbers_have_the_type_that_json_gives_them)
{
        static const struct {
                struct str text;
                enum value_type type;
        } cases[] = {
                { STR_INIT("1.0"), VALUE_INT },
                { STR_INIT("1e3"), VALUE_INT },
                { STR_INIT("-0.0"), VALUE_INT },
                { STR_INIT("1.5"), VALUE_DOUBLE },
                { STR_INIT("1e20"), VALUE_DOUBLE },
                { STR_INIT("9223372036854775807"), VALUE_INT },
                { STR_INIT("9223372036854775808"), VALUE_DOUBLE },
                { STR_INIT("1.2345678901234567e18"), VALUE_INT },
                { STR_INIT("2001-01-01"), VALUE_STRING },
                { STR_INIT(""), VALUE_NULL },
                { STR_INIT("# nothing"), VALUE_NULL },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_CASE(cases[i].text.p, value_type(parse(&a, cases[i].text)) == cases[i].type);
        ASSERT_INT(parse(&a, STR("1.2345678901234567e18"))->integer, 1234567890123456800);
}

TEST(aliases_share_what_they_stand_for)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        v = parse(&a, STR("a: &x [1, 2]\nb: *x\n"));
        ASSERT(value_find(v, "a")->items == value_find(v, "b")->items);
}

TEST(errors_have_a_position)
{
        static const struct {
                struct str text;
                uint32_t line, column;
                size_t offset;
        } cases[] = {
                { STR_INIT("a: 1\nb: *zz\n"), 2, 4, 8 },
                { STR_INIT("a: 1\n\xC3\xA9: @\n"), 2, 4, 9 },
                { STR_INIT("a: \xFF"), 1, 4, 3 },
                { STR_INIT("- 1\n- !!int x\n"), 2, 3, 6 },
                { STR_INIT("a: {~: 1}"), 1, 5, 4 },
                { STR_INIT("\xEF\xBB\xBF"
                           "a: *b"),
                  1, 5, 6 },
                { STR_INIT("a: \\/ \\/\nb: *c"), 2, 4, 12 },
                { STR_INIT("{a:, b: *c}"), 1, 9, 8 },
                { STR_INIT("\"\\'\": *c"), 1, 7, 6 },
                { STR_INIT("a: 1\n? [b]\n: c\n"), 2, 3, 7 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                fail_on(cases[i].text, NULL, &err);
                ASSERT_CASE(cases[i].text.p, err.position.line == cases[i].line);
                ASSERT_CASE(cases[i].text.p, err.position.column == cases[i].column);
                ASSERT_CASE(cases[i].text.p, err.position.offset == cases[i].offset);
        }
}

TEST(utf16_is_read)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "test", 0);
        ASSERT_INT(parse(&a, STR("\xFF\xFE"
                                 "a\0:\0 \0"
                                 "1\0"))
                           ->n,
                   1);
        ASSERT_INT(value_int(value_find(parse(&a, STR("\xFE\xFF\0a\0:\0 \0"
                                                      "1")),
                                        "a"),
                             0),
                   1);
        fail_on(STR("\xFE\xFF\0a\0:\0 \0*\0b"), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: unknown anchor 'b' referenced");
        ASSERT_INT(err.position.line, 1);
}

/* Hostile texts: each gives one error, quickly. */

static struct str repeat(struct buf *b, const char *piece, size_t count)
{
        for (size_t i = 0; i < count; i++)
                buf_append_str(b, str_from(piece));
        return buf_str(b);
}

TEST(a_billion_laughs)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        buf_append_literal(&b, "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for (char c = 'b'; c <= 'z'; c++)
                buf_appendf(&b, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c - 1, c - 1, c - 1,
                            c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
        fail_on(buf_str(&b), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: document contains excessive aliasing");
        ASSERT_INT(err.code, ERR_LIMIT);
}

TEST(aliases_of_long_texts)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        buf_append_literal(&b, "- &a ");
        repeat(&b, "x", 1u << 20);
        buf_append_char(&b, '\n');
        repeat(&b, "- *a\n", 90);
        fail_on(buf_str(&b), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: document contains excessive aliasing");
}

/* Keys are copied wherever they come to stand. */
TEST(aliases_of_long_keys)
{
        static const char *const uses[] = { "- {*a : 1}\n", "- <<: *b\n" };

        for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };

                buf_append_literal(&b, "- &b\n  ? &a ");
                repeat(&b, "x", 1u << 20);
                buf_append_literal(&b, "\n  : 1\n");
                repeat(&b, uses[i], 90);
                fail_on(buf_str(&b), NULL, &err);
                ASSERT_STR_CASE(uses[i], str_from(err_message(&err)),
                                STR("yaml: document contains excessive aliasing"));
        }
}

/* go-yaml accepts aliases for 99 % of a small document, and so do we. */
TEST(a_document_of_many_aliases)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        buf_append_literal(&b, "- &a [1, 2, 3]\n");
        repeat(&b, "- *a\n", 2000);
        ASSERT_INT(parse(&a, buf_str(&b))->n, 2001);
}

TEST(deep_nesting)
{
        static const char *pieces[] = { "[", "{a: ", "- ", "? ", "[{a: " };

        for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };

                fail_on(repeat(&b, pieces[i], 100000), NULL, &err);
                ASSERT_STR_CASE(pieces[i], str_from(err_message(&err)), STR("yaml: exceeded max depth of 1000"));
        }
}

TEST(depth_through_aliases)
{
        struct yaml_read_options options = { .max_depth = 4 };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(yaml_parse(&a, STR("- &a [[x]]\n- [*a]\n"), &options, &v, NULL), 0);
        fail_on(STR("- &a [[x]]\n- &b [*a]\n- [*b]\n"), &options, &err);
        ASSERT_TEXT(err_message(&err), "yaml: exceeded max depth of 4");
}

TEST(a_chain_of_merges)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        buf_append_literal(&b, "- &x0 {k: v}\n");
        for (int i = 1; i < 5000; i++)
                buf_appendf(&b, "- &x%d {<<: *x%d}\n", i, i - 1);
        fail_on(buf_str(&b), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: document contains excessive aliasing");
}

TEST(many_anchors)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        repeat(&b, "- &a\n", 200000);
        ASSERT_INT(parse(&a, buf_str(&b))->n, 200000);
}

TEST(long_keys_and_many_keys)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0), many = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        repeat(&key, "k", 2000);
        buf_append_literal(&key, ": 1\n");
        fail_on(buf_str(&key), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: mapping values are not allowed in this context");
        for (int i = 0; i < 20000; i++)
                buf_appendf(&many, "k%d: %d\n", i % 15000, i);
        v = parse(&a, buf_str(&many));
        ASSERT_INT(v->n, 15000);
        ASSERT_INT(value_int(value_find(v, "k4999"), 0), 19999);
}

TEST(limits)
{
        struct yaml_read_options options = { .max_bytes = 4 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        fail_on(STR("12345"), &options, &err);
        ASSERT_TEXT(err_message(&err), "yaml: text is larger than the limit of 4 bytes");
        arena_init(&a, "request", 100000);
        repeat(&b, "- text\n", 100000);
        ASSERT_INT(yaml_parse(&a, buf_str(&b), NULL, &v, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "request memory limit of 100000 bytes exceeded");
}

/* Every key `x:` costs another pass over the text, and no pass holds the memory of those before it. */
TEST(many_passes_need_no_more_memory)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "request", 2u << 20);
        buf_append_char(&b, '[');
        repeat(&b, "a, ", 2000);
        repeat(&b, "x:, ", 60);
        buf_append_literal(&b, "b]");
        ASSERT_INT(yaml_parse(&a, buf_str(&b), NULL, &v, NULL), 0);
        ASSERT_INT(v->n, 2061);
        ASSERT_STR(value_str(value_item(v, 2000)), STR("x:"));
}

/* The stand-in of an escaped slash must not be in the text; one character of its range is left. */
TEST(stand_ins_are_chosen_by_what_the_text_has)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        buf_append_literal(&b, "['\\/");
        for (unsigned c = 0xE800; c < 0xEBFF; c++)
                buf_appendf(&b, "%c%c%c", (int)(0xE0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3F)),
                            (int)(0x80 | (c & 0x3F)));
        buf_append_literal(&b, "', '\\/', x:, \"\\'\"]");
        v = parse(&a, buf_str(&b));
        ASSERT_INT(v->n, 4);
        ASSERT_INT(value_str(value_item(v, 0)).n, 2 + 3 * 0x3FF);
        ASSERT_STR(value_str(value_item(v, 1)), STR("\\/"));
        ASSERT_STR(value_str(value_item(v, 3)), STR("'"));
}

TEST(many_directives)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (int i = 0; i < 200000; i++) {
                if (i == 900) {
                        buf_append_literal(&b, "---\n!x899!b c\n");
                        ASSERT_STR(value_str(parse(&a, buf_str(&b))), STR("c"));
                        buf_clear(&b);
                }
                buf_appendf(&b, "%%TAG !x%d! a\n", i);
        }
        buf_append_literal(&b, "---\nc\n");
        fail_on(buf_str(&b), NULL, &err);
        ASSERT_TEXT(err_message(&err), "yaml: document has more than 1000 %TAG directives");
        ASSERT_INT(err.code, ERR_LIMIT);
}

TEST(errors_are_optional)
{
        static const char *texts[] = { "a: *b", "a: [", "!!int x", "{~: 1}", "[.nan]", "{[a]: b}", "&a [*a]", "\xFF" };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                ASSERT_CASE(texts[i], yaml_parse(&a, str_from(texts[i]), NULL, &v, NULL) < 0);
}

/* A list of numbers takes what its values need and as much again while it is read, not a node for each. */
TEST(long_lists_take_little_memory)
{
        enum { N = 100000 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v;

        buf_append_literal(&b, "[0");
        for (int i = 1; i < N; i++)
                buf_appendf(&b, ",%d", i);
        buf_append_char(&b, ']');
        arena_init(&a, "test", N * 24);
        if (yaml_parse(&a, buf_str(&b), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT(value_count(v) == N);
        for (int i = 0; i < N; i++)
                ASSERT(value_item(v, (size_t)i)->integer == i);
}
