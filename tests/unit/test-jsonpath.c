/* JSONPath. Every wanted result is that of client-go; tests/interop/run jsonpath compares thousands more. */
#include "test.h"

#include "json.h"
#include "jsonpath.h"
#include "limits.h"
#include "buf.h"

static const char document[] = "{\"spec\":{\"color\":\"red\",\"a.b\":1,\"list\":[{\"name\":\"x\",\"n\":1},{\"name\":"
                               "\"y\",\"n\":2},{\"n\":3}],\"empty\":[],"
                               "\"none\":null,\"f\":1.5},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
                               "\"True\"},{\"type\":\"Synced\","
                               "\"status\":\"False\"}]}}";

/* The results as JSON, joined by blanks; or the error. */
static struct str find(struct arena *a, const char *text, const char *json)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf b = { 0 };
        const struct value *root, *const *found;
        struct jsonpath *path;
        size_t n;

        ASSERT_INT(json_parse(a, str_from(json), NULL, &root, NULL), 0);
        if (jsonpath_compile(a, str_from(text), &path, &err) < 0 ||
            jsonpath_find(path, a, root, 100, &found, &n, &err) < 0)
                return arena_printf(a, "error: %s", err_message(&err));
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_char(&b, ' ');
                ASSERT_INT(json_write(&b, found[i], 0, NULL), 0);
        }
        return buf_to_arena(&b, a);
}

TEST(results)
{
        static const struct {
                const char *path, *wanted;
        } cases[] = {
                { ".spec.color", "\"red\"" },
                { "{.spec.color}", "\"red\"" },
                { "$.spec.color", "\"red\"" },
                { "{@.spec.color}", "\"red\"" },
                { ".spec['color']", "\"red\"" },
                { ".spec.missing.deeper", "" },
                { ".spec.color.deeper", "" },
                { ".spec.a\\.b", "1" },
                { ".spec['a\\.b']", "1" },
                { ".spec['a.b']", "" },
                { ".spec.none", "null" },
                { ".spec.none[0]", "" },
                { ".spec.list[0].name", "\"x\"" },
                { ".spec.list[-1].n", "3" },
                { ".spec.list[].n", "1" },
                { ".spec.list[*].n", "1 2 3" },
                { ".spec.list[*].name", "\"x\" \"y\"" },
                { ".spec.list[0:2].n", "1 2" },
                { ".spec.list[::2].n", "1 3" },
                { ".spec.list[1:].n", "2 3" },
                { ".spec.list[:-1].n", "1 2" },
                { ".spec.list[1:1]", "" },
                { ".spec.list[0,2].n", "1 3" },
                { ".spec['color','f']", "\"red\" 1.5" },
                { ".spec.list[?(@.n>1)].n", "2 3" },
                { ".spec.list[?(@.name)].n", "1 2" },
                { ".spec.list[?(@.name==\"y\")].n", "2" },
                { ".status.conditions[?(@.type=='Ready')].status", "\"True\"" },
                { ".status.conditions[?(@.type!=\"Ready\")].status", "\"False\"" },
                { ".spec.empty[*]", "" },
                { ".spec.empty[0:0]", "" },
                { "..name", "\"x\" \"y\"" },
                { "..status",
                  "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Synced\",\"status\":"
                  "\"False\"}]} \"True\" \"False\"" },
                { ".status.*[0].type", "\"Ready\"" },
                { ".spec.color.*", "114 101 100" },
                { "{.spec.color} and {.spec.f}", "\"red\"" },
                { "", "{\"spec\":" }, /* the root; only its beginning is looked at */
                { "{\"a\\tb\"}", "\"a\\tb\"" },
                { "{5}", "5" },
                { "{true}", "true" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str found = find(&a, cases[i].path, document), wanted = str_from(cases[i].wanted);

                ASSERT_STR_CASE(cases[i].path, *cases[i].path ? found : str_first(found, wanted.n), wanted);
        }
}

TEST(errors)
{
        static const struct {
                const char *path, *wanted;
        } cases[] = {
                { ".spec.list[3]", "array index out of bounds: index 3, length 3" },
                { ".spec.empty[0]", "array index out of bounds: index 0, length 0" },
                { ".spec.list[2:1]", "starting index 2 is greater than ending index 1" },
                { ".spec.list[::0]", "step must be > 0" },
                { ".spec[0]", "map[string]interface {} is not array or slice" },
                { ".spec.f[0]", "float64 is not array or slice" },
                { "{5[0]}", "int is not array or slice" },
                { ".spec.color[?(@.x)]", "red is not array or slice and cannot be filtered" },
                { ".spec.none[?(@.x)]", "<nil> is not array or slice and cannot be filtered" },
                { ".spec.list[?(@.n==\"1\")]", "incompatible types for comparison" },
                { ".spec.list[?(@==1)]", "invalid type for comparison" },
                { ".spec.list[?(@.n=1)]", "unrecognized filter operator =" },
                { ".spec.list[?(@.*==1)]", "can only compare one element at a time" },
                { "{.spec.color", "unclosed action" },
                { ".spec[", "unterminated array" },
                { ".spec[x]", "invalid array index x" },
                { ".spec[-]", "array index - is not a number" },
                { ".spec[?(", "unterminated filter" },
                { ".spec[?(@.a)", "unclosed array expect ]" },
                { "....a", "invalid multiple recursive descent" },
                { "{\"a}", "unterminated quoted string" },
                { "{'\\q'}", "unquote string '\\q' error invalid syntax" },
                { "{1.2.3}", "cannot parse number 1.2.3" },
                { "{#}", "unrecognized character in action: U+0023 '#'" },
                { "{\t}", "unrecognized character in action: U+0009" },
                { "{word}", "unrecognized identifier word" },
                { "{end}", "not in range, nothing to end" },
                { "{range .a}", "range is not supported in a JSONPath of one value" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].path, find(&a, cases[i].path, document),
                                arena_printf(&a, "error: %s", cases[i].wanted));
}

TEST(limits)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf wide = { 0 }, text = { 0 };
        struct jsonpath *path;

        arena_init(&a, "test", 0);
        ASSERT_STR(find(&a, ".a[*]", "{\"a\":[1,2,3]}"), STR("1 2 3"));
        buf_append_literal(&wide, "{\"a\":[0");
        for (int i = 0; i < 100; i++)
                buf_append_literal(&wide, ",1");
        buf_append_literal(&wide, "]}");
        ASSERT_STR(find(&a, ".a[*]", buf_cstring(&wide)), STR("error: JSONPath finds more than 100 values"));
        /* Each descent visits everything below what the one before found. */
        ASSERT_STR(find(&a, ".a[*]..a..a..a", "{\"a\":[{\"a\":{\"a\":{\"a\":{\"a\":1}}}}]}"), STR("{\"a\":1} 1 1 1"));
        buf_clear(&wide);
        for (int i = 0; i < 200; i++)
                buf_append_literal(&wide, "{\"a\":");
        buf_append_literal(&wide, "{}");
        buf_append_repeat(&wide, '}', 200);
        ASSERT_STR(find(&a, "..[*]", "{\"a\":[]}"), STR("error: map[string]interface {} is not array or slice"));
        ASSERT(str_starts_with(find(&a, "..a..a..a..a..a", buf_cstring(&wide)),
                               STR("error: JSONPath goes through more than 200000 values")));
        buf_append_repeat(&text, '.', LIMIT_JSONPATH_BYTES + 1);
        ASSERT_INT(jsonpath_compile(&a, buf_str(&text), &path, NULL), ERR_LIMIT);
}
