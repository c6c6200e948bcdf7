#include "test.h"

#include "buf.h"
#include "json.h"
#include "yaml.h"

/* Splitting: what apimachinery's reader hands out, line breaks as they are in the text. */
TEST(splits_at_separators)
{
        static const struct {
                struct str text;
                const char *documents; /* each in brackets */
                const char *error;
        } cases[] = {
                { STR_INIT(""), "", NULL },
                { STR_INIT("a: 1\n"), "[a: 1\n]", NULL },
                { STR_INIT("---\na: 1\n---\nb: 2\n"), "[---\na: 1\n][b: 2\n]", NULL },
                { STR_INIT("a\n---\n---\nb"), "[a\n][---\nb]", NULL },
                { STR_INIT("---\n---\n---\na"), "[---\n][---\na]", NULL },
                { STR_INIT("---\n"), "[---\n]", NULL },
                { STR_INIT("\n---\n"), "[\n]", NULL },
                { STR_INIT("a\n---#x\nb"), "[a\n][b]", NULL },
                { STR_INIT("a\n--- # x\nb"), "[a\n][b]", NULL },
                { STR_INIT("a\n---"), "[a\n]", NULL },
                { STR_INIT("a\r\n---\r\nb\r\n"), "[a\r\n][b\r\n]", NULL },
                { STR_INIT("\xEF\xBB\xBF---\na"), "[\xEF\xBB\xBF---\na]", NULL },
                { STR_INIT("  ---\na"), "[  ---\na]", NULL },
                { STR_INIT("# c\n---\n\n---\nb\n"), "[# c\n][\n][b\n]", NULL },
                { STR_INIT("a\n--- x\nb"), "", "invalid Yaml document separator: x" },
                { STR_INIT("---x"), "", "invalid Yaml document separator: x" },
                { STR_INIT("a\n----\n"), "", "invalid Yaml document separator: -" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct yaml_stream s;
                struct yaml_document d;
                int r;

                yaml_stream_init(&s, cases[i].text);
                while ((r = yaml_stream_next(&s, &d, &err)) > 0) {
                        buf_append_char(&b, '[');
                        buf_append_str(&b, d.text);
                        buf_append_char(&b, ']');
                        ASSERT(d.text.p == cases[i].text.p + d.offset);
                }
                if (cases[i].error) {
                        ASSERT_INT(r, ERR_INVALID);
                        ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].error));
                        continue;
                }
                ASSERT_INT(r, 0);
                ASSERT(s.has_ended);
                ASSERT_STR_CASE(cases[i].text.p, buf_str(&b), str_from(cases[i].documents));
        }
}

TEST(documents_know_their_line)
{
        struct yaml_stream s;
        struct yaml_document d;

        yaml_stream_init(&s, STR("---\na\n\n---\nb\n---\nc"));
        ASSERT_INT(yaml_stream_next(&s, &d, NULL), 1);
        ASSERT_INT(d.line, 1);
        ASSERT_INT(yaml_stream_next(&s, &d, NULL), 1);
        ASSERT_INT(d.line, 5);
        ASSERT_INT(d.offset, 11);
        ASSERT_INT(yaml_stream_next(&s, &d, NULL), 1);
        ASSERT_INT(d.line, 7);
        ASSERT_INT(yaml_stream_next(&s, &d, NULL), 0);
}

/* The wanted documents are those of NewYAMLOrJSONDecoder of apimachinery 0.35. */
TEST(reads_streams_as_apimachinery)
{
        static const struct {
                struct str text;
                const char *json;
                const char *error;
        } cases[] = {
                { STR_INIT(""), "[]", NULL },
                { STR_INIT("a: 1\n---\n# nothing\n---\nb: 2\n"), "[{\"a\":1},{\"b\":2}]", NULL },
                { STR_INIT("{\"a\":1}{\"b\":2} {\"c\":3}"), "[{\"a\":1},{\"b\":2},{\"c\":3}]", NULL },
                { STR_INIT("{\"a\":1}null{\"b\":\"\\/\"}"), "[{\"a\":1},{\"b\":\"/\"}]", NULL },
                { STR_INIT("{\"a\":1}\n---\nb: 1\n"), "[{\"a\":1},{\"b\":1}]", NULL },
                { STR_INIT("{\"a\":1} x: 1\n"), "[{\"a\":1},{\"x\":1}]", NULL },
                { STR_INIT("{\"a\":1}-- -"), "[{\"a\":1},\"-- -\"]", NULL },
                { STR_INIT("{\"a\":1} \t\n\n  x: 1\n  y: 2"), "[{\"a\":1},{\"true\":2,\"x\":1}]", NULL },
                { STR_INIT("{a: 1}\n"), "[{\"a\":1}]", NULL },
                { STR_INIT("{\"a\":1}\n{\"b\":01}"), "[{\"a\":1},{\"b\":1}]", NULL },
                { STR_INIT("  {\"a\":1}\n[1]"), "[{\"a\":1},[1]]", NULL },
                { STR_INIT("{\"a\":1}x"), NULL,
                  "json: offset 8: invalid character 'x' looking for beginning of value" },
                { STR_INIT("{\"a\":1}---"), NULL, "json: offset 9: invalid character '-' in numeric literal" },
                { STR_INIT("{\"a\":1}tru"), NULL, "unexpected EOF" },
                { STR_INIT("{\"a\":1}-"), NULL, "unexpected EOF" },
                { STR_INIT("{\"a\""), NULL, "unexpected EOF" },
                { STR_INIT("{"), NULL, "unexpected EOF" },
                { STR_INIT("{\"a\":1}{\"b\":2}x: 1"), NULL, "invalid character 'x' looking for beginning of value" },
                { STR_INIT("{\"a\":1}\n\n\nb: 1\nc: \"\n"), NULL,
                  "json: offset 11: invalid character 'b' looking for beginning of value" },
                { STR_INIT("{\"a\":1}\n---\nb: 1\n---\nc: \"\n"), NULL,
                  "error converting YAML to JSON: yaml: line 2: found unexpected end of stream" },
                { STR_INIT("a: \"x"), NULL,
                  "error converting YAML to JSON: yaml: line 2: found unexpected end of stream" },
                { STR_INIT("a\n--- x\n"), NULL, "invalid Yaml document separator: x" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;
                struct str json;
                int r;

                arena_init(&a, "test", 0);
                r = yaml_parse_stream(&a, cases[i].text, NULL, &v, &err);
                if (cases[i].error) {
                        ASSERT_CASE(cases[i].text.p, r < 0);
                        ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), str_from(cases[i].error));
                        continue;
                }
                ASSERT_STR_CASE(cases[i].text.p, str_from(err_message(&err)), STR("no error"));
                ASSERT_INT(json_to_str(&a, v, JSON_GO, &json, NULL), 0);
                ASSERT_STR_CASE(cases[i].text.p, json, str_from(cases[i].json));
        }
}

TEST(positions_are_those_in_the_stream)
{
        static const struct {
                struct str text;
                uint32_t line, column;
                size_t offset;
        } cases[] = {
                { STR_INIT("a: 1\n---\nb: *c\n"), 3, 4, 12 },
                { STR_INIT("{\"a\":1}\n---\nb: 1\n---\nc: *d\n"), 5, 4, 24 },
                { STR_INIT("{\"a\":1}\n{\"b\":2}\n{\"c\" 3}"), 3, 6, 21 },
                { STR_INIT("a\n---x"), 2, 4, 5 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;

                arena_init(&a, "test", 0);
                ASSERT(yaml_parse_stream(&a, cases[i].text, NULL, &v, &err) < 0);
                ASSERT_INT(err.position.line, cases[i].line);
                ASSERT_INT(err.position.column, cases[i].column);
                ASSERT_INT(err.position.offset, cases[i].offset);
        }
}

TEST(limits_hold_for_streams)
{
        struct yaml_read_options options = { .max_bytes = 10, .max_depth = 2 };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        arena_init(&a, "test", 0);
        ASSERT_INT(yaml_parse_stream(&a, STR("- 234567890"), &options, &v, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "yaml: text is larger than the limit of 10 bytes");
        ASSERT_INT(yaml_parse_stream(&a, STR("[[[1]]]"), &options, &v, NULL), ERR_LIMIT);
        ASSERT_INT(yaml_parse_stream(&a, STR("{\"a\":[[]]}"), &options, &v, NULL), ERR_LIMIT);
        ASSERT_INT(yaml_parse_stream(&a, STR("a: *b"), &options, &v, NULL), ERR_INVALID);
}
