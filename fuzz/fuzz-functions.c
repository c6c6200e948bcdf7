/* The first byte chooses a built-in function, the rest is a request. The function returns for every request; a pure function
 * returns the same twice; a fatal result of the functions that promise it leaves the desired state unchanged. */
#include "fuzz.h"

#include "buf.h"
#include "functions.h"

static bool has_fatal(const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++)
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return true;
        return false;
}

static void append_desired(struct arena *a, const struct fn_state *desired, struct buf *b)
{
        struct fn_request alone = { .desired = *desired };
        int r = fn_request_encode(a, &alone, b, NULL);

        assert(r >= 0);
}

/* Appends the response; returns the code of the call when it fails. */
static int answer(const struct builtin_function *f, struct arena *a, struct str bytes, struct buf *ret)
{
        _cleanup_buf_ struct buf before = BUF_INIT(0), after = BUF_INIT(0);
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct fn_request req;
        struct fn_response rsp;
        int r = fn_request_decode(a, bytes, &req, NULL);

        if (r < 0)
                return r;
        append_desired(a, &req.desired, &before);
        r = f->run(&run, &req, &rsp, NULL);
        if (r < 0)
                return r;
        r = fn_response_encode(a, &rsp, ret, NULL);
        assert(r >= 0);
        if (has_fatal(&rsp) && f != &function_patch_and_transform && f != &function_dummy) {
                append_desired(a, &rsp.desired, &after);
                assert(str_equal(buf_str(&before), buf_str(&after)));
        }
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str bytes = { (const char *)data, size };
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        const struct builtin_function *f;
        _cleanup_arena_ struct arena a;
        int r, again;

        arena_init(&a, "fuzz", 0);
        if (size == 0)
                return 0;
        f = builtin_functions[data[0] % builtin_n_functions];
        r = answer(f, &a, str_skip(bytes, 1), &first);
        again = answer(f, &a, str_skip(bytes, 1), &second);
        assert(r == again);
        if (f->is_pure)
                assert(str_equal(buf_str(&first), buf_str(&second)));
        return 0;
}
