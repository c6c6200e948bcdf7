/* An untrusted template, executed on data that has one value of each kind. Every template ends within its budget; a pure one gives
 * the same result twice; a parsed template is found again by its text. */
#include "fuzz.h"

#include "buf.h"
#include "gotemplate.h"
#include "json.h"

#define ARENA_BYTES (64u << 20)
#define STEPS       200000

static const char data_text[] =
        "{\"s\": \"text\", \"n\": 7, \"d\": 1.5, \"t\": true, \"nul\": null, \"l\": [1, \"a\", null, {\"k\": []}],"
        " \"m\": {\"a\": {\"b\": {\"c\": \"deep\"}}, \"x\": 1}, \"e\": {}}";

static int execute(const struct gt_template *t, struct buf *out, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct gt_context c = {
                .arena = &a, .deadline = DEADLINE_NONE, .steps_left = STEPS, .max_text_bytes = 1u << 20
        };
        const struct value *data;
        int r;

        arena_init(&a, "fuzz", ARENA_BYTES);
        r = json_parse(&a, str_from(data_text), NULL, &data, NULL);
        assert(r == 0);
        return gt_execute(t, &c, GT_MISSING_INVALID, gt_from_value(&c, data), out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct gt_func_table *const tables[] = { &gt_sprig_functions };
        struct gt_parse_options options = { .name = STR("fuzz"), .tables = tables, .n_tables = ARRAY_SIZE(tables) };
        _cleanup_buf_ struct buf first = BUF_INIT(1u << 20), second = BUF_INIT(1u << 20);
        _cleanup_gt_template_ struct gt_template *t = NULL;
        _cleanup_err_ struct err a = { 0 }, b = { 0 };
        int r, again;

        if (gt_parse(str_make((const char *)data, size), &options, &t, &a) < 0) {
                assert(str_starts_with(str_from(err_message(&a)), STR("template: fuzz:")));
                return 0;
        }
        r = execute(t, &first, &a);
        if (!gt_template_is_pure(t))
                return 0;
        again = execute(t, &second, &b);
        assert(r == again && str_equal(str_from(err_message(&a)), str_from(err_message(&b))));
        assert(str_equal(buf_str(&first), buf_str(&second)));
        return 0;
}
