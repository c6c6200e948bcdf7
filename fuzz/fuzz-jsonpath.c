/* The first line is a JSONPath, the rest a JSON document (if it is not valid JSON, a fixed document is used). */
#include "fuzz.h"

#include "json.h"
#include "jsonpath.h"
#include "limits.h"

static const char fixed[] =
        "{\"a\":[{\"type\":\"Ready\",\"n\":1,\"c\":[null,\"x\"]},null,2.5,[1,2,3]],\"d\":{\"e.f\":{},\"\":[]},"
        "\"b\":true}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str rest = { (const char *)data, size }, text;
        _cleanup_err_ struct err err = { 0 };
        const struct value *document, *before, *const *found, *const *again;
        _cleanup_arena_ struct arena a;
        struct jsonpath *path;
        size_t n, n_again;
        int r;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &text);
        if (json_parse(&a, rest, &(struct json_read_options) { .is_kubernetes = true }, &document, NULL) < 0) {
                r = json_parse(&a, str_from(fixed), NULL, &document, NULL);
                assert(r >= 0);
        }
        r = jsonpath_compile(&a, text, &path, &err);
        if (r < 0) {
                assert(r == err.code && (r == ERR_INVALID || r == ERR_LIMIT || r == ERR_UNSUPPORTED));
                return 0;
        }
        before = value_copy(&a, document);
        r = jsonpath_find(path, &a, document, SIZE_MAX, &found, &n, &err);
        assert(value_equal(before, document));
        assert(r == 0 || (r == err.code && (r == ERR_INVALID || r == ERR_LIMIT)));
        if (r < 0)
                return 0;
        assert(n <= LIMIT_JSONPATH_STEPS + 1);
        r = jsonpath_find(path, &a, document, n, &again, &n_again, &err);
        assert(r == 0 && n == n_again);
        for (size_t i = 0; i < n; i++)
                assert(found[i] == again[i] || value_equal(found[i], again[i]));
        assert(n == 0 || jsonpath_find(path, &a, document, n - 1, &again, &n_again, &err) == ERR_LIMIT);
        return 0;
}
