/* A text that is a token has claims that make a token again, and only the one token of the RFC is signed by the key of the RFC. */
#include "fuzz.h"

#include "jwt.h"
#include "key.h"

/* RFC 7515, appendix A.3. */
static const char pem[] = "-----BEGIN EC PRIVATE KEY-----\n"
                          "MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n"
                          "AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n"
                          "focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
                          "-----END EC PRIVATE KEY-----\n";
static const char signed_text[] =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

static const struct private_key *the_key(void)
{
        static struct private_key *key;
        int r = key ? 0 : private_key_parse(str_from(pem), &key, NULL);

        assert(r == 0);
        return key;
}

/* Signing is slow, so only some inputs go through it. */
static void check_again(struct arena *a, const struct jwt *t)
{
        struct str token;
        struct jwt again;
        int r = jwt_make(a, t->claims, the_key(), STR("key"), &token, NULL);

        if (r < 0)
                return; /* larger than a token may be */
        r = jwt_parse(a, token, &again, NULL);
        assert(r == 0 && value_equal(t->claims, again.claims));
        assert(jwt_is_signed(&again, the_key(), STR("key")) && !jwt_is_signed(&again, the_key(), STR("other")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str s = str_make((const char *)data, size);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct jwt t;
        int r;

        arena_init(&a, "fuzz", 0);
        r = jwt_parse(&a, s, &t, &err);
        assert(jwt_parse(&a, s, &t, NULL) == r);
        if (r < 0) {
                assert(err.code == r);
                return 0;
        }
        assert(value_is_object(t.claims) && t.signed_text.n < s.n);
        if (jwt_is_signed(&t, the_key(), STR("key")))
                assert(str_equal(t.signed_text, str_from(signed_text)));
        if (size % 16 == 0)
                check_again(&a, &t);
        return 0;
}
