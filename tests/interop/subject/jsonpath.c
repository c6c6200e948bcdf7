#include "subject.h"

#include "buf.h"
#include "jsonpath.h"

static struct str unhex(struct arena *a, struct str hex)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i + 1 < hex.n; i += 2) {
                char digits[3] = { hex.p[i], hex.p[i + 1], 0 };

                buf_append_char(&b, (char)strtoul(digits, NULL, 16));
        }
        return buf_to_arena(&b, a);
}

const struct value *run_jsonpath(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *hex = value_get(c, STR("hex")), *const * found;
        struct str text = hex ? unhex(a, value_str(hex)) : value_str(value_get(c, STR("path")));
        struct array_builder list;
        struct member result;
        struct jsonpath *path;
        size_t n;

        if (jsonpath_compile(a, text, &path, &err) < 0 ||
            jsonpath_find(path, a, value_get(c, STR("doc")), SIZE_MAX, &found, &n, &err) < 0)
                return result_error(a, &err);
        array_builder_init(&list, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&list, *typed(a, found[i]));
        result = (struct member) { STR("found"), array_builder_finish(&list) };
        return value_put(a, value_of_members(a, &result, 1, true));
}
