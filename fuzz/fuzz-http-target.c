/* Text as the target of an HTTP client. A target that is accepted has a place to connect to, and its authority can stand in a head. */
#include "fuzz.h"

#include "arena.h"
#include "http-target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct http_target t;

        arena_init(&a, "fuzz", 0);
        if (http_target_parse(str_make((const char *)data, size), &a, &t, &err) >= 0) {
                assert(t.host ? *t.host && *t.port : t.addresses.n == 1);
                assert(t.server_name && t.authority.n > 0);
                for (size_t i = 0; i < t.authority.n; i++)
                        assert((unsigned char)t.authority.p[i] > ' ' && t.authority.p[i] != '/');
        } else {
                assert(err.code < 0);
        }
        http_target_done(&t);
        return 0;
}
