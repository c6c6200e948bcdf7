/* Untrusted YAML, read as yaml.v3 reads it, written, read and written again. If the second written text equals the first, the third
 * must equal them too. */
#include "fuzz.h"

#include "buf.h"
#include "gt-yaml.h"

#define ARENA_BYTES (64u << 20)

static int write_again(struct gt_context *c, struct str text, struct buf *out)
{
        struct gt_value v;
        int r = gt_yaml_read(c, text, &v);

        return r < 0 ? r : gt_yaml_write(c, out, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_buf_ struct buf first = BUF_INIT(1u << 20), second = BUF_INIT(1u << 20), third = BUF_INIT(1u << 20);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct gt_context c = { .arena = &a, .deadline = DEADLINE_NONE, .steps_left = 2000000, .err = &err };

        arena_init(&a, "fuzz", ARENA_BYTES);
        if (write_again(&c, str_make((const char *)data, size), &first) < 0 || first.has_failed)
                return 0;
        /* yaml.v3 cannot read everything that it writes: a leading line break of a text is lost, and its indentation may be lost
         * with it. */
        if (write_again(&c, buf_str(&first), &second) < 0 || second.has_failed)
                return 0;
        if (write_again(&c, buf_str(&second), &third) == 0 && str_equal(buf_str(&first), buf_str(&second)))
                assert(third.has_failed || str_equal(buf_str(&second), buf_str(&third)));
        return 0;
}
