/* The token of an Authorization field is a word of the field behind a word that says bearer. */
#include "fuzz.h"

#include "authenticator-state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str s = str_make((const char *)data, size), token = STR_NONE, first;
        struct str rest = str_trim(s);

        if (!authorization_bearer(s, &token))
                return 0;
        assert(token.n > 0 && str_find_char(token, ' ') < 0);
        assert(token.p >= s.p && token.p + token.n <= s.p + s.n);
        str_split(&rest, ' ', &first);
        assert(str_equal_ignore_case(first, STR("bearer")) && token.p == rest.p);
        return 0;
}
