/* Two JSON values one after the other: a document and a patch, or two documents to compare. */
#include "fuzz.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "patch.h"
#include "path.h"

static bool has_null_member(const struct value *v)
{
        VALUE_FOREACH_MEMBER (m, v)
                if (value_is_null(&m->value) || has_null_member(&m->value))
                        return true;
        return false;
}

/* A result can be written and read back, and value_settle predicts the value that is read back. */
static void check_result(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(1u << 20);
        const struct value *again, *settled;
        int r;

        if (json_write(&b, v, 0, NULL) < 0)
                return; /* larger than the buffer */
        r = json_parse(a, buf_str(&b), NULL, &again, NULL);
        assert(r >= 0);
        r = value_settle(a, v, &settled, NULL);
        assert(r >= 0 && value_equal(again, settled));
}

static void check_patch(struct arena *a, const struct value *document, const struct value *patch)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *before = value_copy(a, document), *result;
        int r = json_patch_apply(a, document, patch, &result, &err);

        assert(r == err.code);
        assert(value_equal(before, document));
        if (r >= 0)
                check_result(a, result);
        result = merge_patch_apply(a, document, patch);
        assert(value_equal(before, document));
        check_result(a, result);
        /* A second merge changes nothing. */
        assert(value_equal(merge_patch_apply(a, result, patch), result));
}

static void check_diff(struct arena *a, const struct value *from, const struct value *to, bool with_old)
{
        const struct value *patch = value_diff(a, from, to, with_old), *result;
        int r;

        assert((value_count(patch) == 0) == value_equal(from, to));
        if (value_count(patch) <= LIMIT_PATCH_OPERATIONS) {
                r = json_patch_apply(a, from, patch, &result, NULL);
                assert(r >= 0 && value_equal(result, to));
        }
        if (!has_null_member(to)) {
                patch = merge_patch_create(a, from, to);
                assert(value_equal(merge_patch_apply(a, from, patch), to));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        _cleanup_arena_ struct arena a;
        const struct value *x, *y;
        size_t used;

        arena_init(&a, "fuzz", 0);
        if (json_parse_next(&a, text, NULL, &x, &used, NULL) < 0 ||
            json_parse(&a, str_skip(text, used), NULL, &y, NULL) < 0)
                return 0;
        check_patch(&a, x, y);
        check_patch(&a, y, x);
        check_diff(&a, x, y, false);
        check_diff(&a, y, x, true);
        return 0;
}
