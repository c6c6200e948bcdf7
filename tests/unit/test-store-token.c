#include "test.h"

#include "list-token.h"

TEST(tokens_are_those_of_the_api)
{
        _cleanup_arena_ struct arena a;
        struct str token, start;
        int64_t version;

        arena_init(&a, "test", 0);
        token = list_token_make(&a, 42, str_make("default/a\0", 10));
        /* {"v":"meta.k8s.io/v1","rv":42,"start":"/default/a\u0000"} */
        ASSERT_STR(token, STR("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDIsInN0YXJ0IjoiL2RlZmF1bHQvYVx1MDAwMCJ9"));
        ASSERT_INT(list_token_parse(&a, token, &version, &start, NULL), 0);
        ASSERT_INT(version, 42);
        ASSERT_STR(start, str_make("default/a\0", 10));
        ASSERT_INT(list_token_parse(&a, list_token_make(&a, -1, STR("x")), &version, &start, NULL), 0);
        ASSERT_INT(version, -1);
}

TEST(bad_tokens_are_refused)
{
        static const struct {
                const char *token, *message;
        } cases[] = {
                { "!", "illegal base64 data at input byte 0" },
                { "YQ", "invalid character 'a' looking for beginning of value" },
                { "e30", "server does not recognize this encoded version " },
                { "eyJ2IjoieCJ9", "server does not recognize this encoded version x" },
                { "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
                  "incorrect encoded start resourceVersion (version meta.k8s.io/v1)" },
                { "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", "encoded start key empty (version meta.k8s.io/v1)" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct str start;
                int64_t version;

                ASSERT_CASE(cases[i].token, list_token_parse(&a, str_from(cases[i].token), &version, &start, &err) < 0);
                ASSERT_INT(err.reason, REASON_BAD_REQUEST);
                ASSERT_STR_CASE(cases[i].token, str_from(err_message(&err)),
                                arena_printf(&a, "invalid continue token: continue key is not valid: %s",
                                             cases[i].message));
        }
}
