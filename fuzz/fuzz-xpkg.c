/* package.yaml: a package that is read can be written, and what was written is read as the same. */
#include "fuzz.h"

#include "buf.h"
#include "xpkg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct xpkg p, again;
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "fuzz", 64 << 20);
        r = xpkg_parse(&a, text, &p, &err);
        if (r < 0) {
                assert(err.code == r);
                return 0;
        }
        (void)xpkg_lint(&p, &err);
        if (xpkg_encode(&first, &p, NULL) < 0)
                return 0;
        r = xpkg_parse(&a, buf_str(&first), &again, &err);
        if (r == ERR_LIMIT)
                return 0;
        assert(r == 0 && again.n_objects == p.n_objects);
        r = xpkg_encode(&second, &again, NULL);
        assert(r == 0 && str_equal(buf_str(&first), buf_str(&second)));
        return 0;
}
