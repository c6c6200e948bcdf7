/* A WWW-Authenticate field is read, and then taken for the answer of a token server. */
#include "fuzz.h"

#include "arena.h"
#include "http.h"
#include "oci-challenge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size }, token;
        _cleanup_err_ struct err err = { 0 };
        const struct oci_challenge *c;
        _cleanup_arena_ struct arena a;
        int64_t seconds;
        size_t n;
        int r;

        arena_init(&a, "fuzz", 0);
        r = oci_challenges_parse(&a, text, &c, &n, &err);
        assert(r == 0 || ((r == ERR_INVALID || r == ERR_LIMIT) && err.code == r));
        for (size_t i = 0; r == 0 && i < n; i++) {
                struct str query = oci_token_query(&a, &c[i], oci_scope(&a, STR("a/b"), false));

                assert(http_is_token(c[i].scheme));
                for (size_t k = 0; k < query.n; k++)
                        assert((unsigned char)query.p[k] > ' ' && (unsigned char)query.p[k] < 0x7f);
                for (size_t k = 0; k < c[i].n; k++)
                        assert(http_is_token(c[i].parameters[k].name));
        }
        if (oci_token_parse(&a, text, &token, &seconds, NULL) == 0)
                assert(token.n > 0 && seconds >= 0);
        return 0;
}
