/* The pieces of authentication that need no cluster: the Authorization field, files of static tokens, JSON Web Tokens. */
#include "test.h"

#include "authenticator-state.h"
#include "base64.h"
#include "buf.h"
#include "json.h"
#include "jws.h"
#include "jwt.h"
#include "static-tokens.h"

TEST(authorization_fields)
{
        static const struct {
                const char *field, *token; /* NULL: none */
        } cases[] = {
                { "Bearer abc", "abc" },   { "bearer abc", "abc" },
                { "BEARER abc", "abc" },   { " Bearer abc ", "abc" },
                { "Bearer abc x", "abc" }, { "Bearer", NULL },
                { "Bearer ", NULL },       { "Bearer  abc", NULL },
                { "Basic YTpi", NULL },    { "", NULL },
                { "Bearerabc", NULL },     { "abc", NULL },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str token = STR_NONE;
                bool has_token = authorization_bearer(str_from(cases[i].field), &token);

                ASSERT_CASE(cases[i].field, has_token == (cases[i].token != NULL));
                if (has_token)
                        ASSERT_STR_CASE(cases[i].field, token, str_from(cases[i].token));
        }
}

static void show_user(struct buf *b, const struct user *u)
{
        if (!u) {
                buf_append_literal(b, "nobody");
                return;
        }
        buf_appendf(b, "%.*s/%.*s", STR_ARG(u->name), STR_ARG(u->uid));
        for (size_t i = 0; i < u->n_groups; i++)
                buf_appendf(b, "|%.*s", STR_ARG(u->groups[i]));
}

TEST(static_tokens)
{
        static const struct {
                const char *token, *user;
        } cases[] = {
                { "t1", "admin/1|system:masters" },
                { "t2", "nobody/2" },
                { "t3", "eve/3|a|b" },
                { "a,b", "quoted \"x\"/4" },
                { "twice", "second/6" },
                { "", "nobody" },
                { "t", "nobody" },
                { "t11", "nobody" },
                { "last", "l/7|g" },
        };
        struct static_tokens *t = NULL;

        ASSERT_INT(static_tokens_parse(STR("t1,admin,1,\"system:masters\"\r\n\nt2,nobody,2\nt3,eve,3,\"a,b\"\n"
                                           "\"a,b\",\"quoted \"\"x\"\"\",4\n,empty,5\ntwice,first,5\ntwice,second,6\n"
                                           "last,l,7,g,more,fields"),
                                       "file", &t, NULL),
                   0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                show_user(&b, static_tokens_find(t, str_from(cases[i].token)));
                ASSERT_STR_CASE(cases[i].token, buf_str(&b), str_from(cases[i].user));
        }
        static_tokens_free(t);
}

TEST(bad_static_tokens)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "a,b\n", "tokens:1: a line needs the fields token, user and uid, and has only 2" },
                { "a,b,c\n\n\nx\n", "tokens:4: a line needs the fields token, user and uid, and has only 1" },
                { "a,b,\"c\n", "tokens:1: a quote is not closed" },
                { "a,b,c\"d\n", "tokens:1: a quote stands in the wrong place" },
                { "a,b,\"c\"d\n", "tokens:1: a quote stands in the wrong place" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct static_tokens *t = NULL;

                ASSERT_CASE(cases[i].text, static_tokens_parse(str_from(cases[i].text), "tokens", &t, &err) < 0);
                ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].error));
        }
}

static void round_trip(enum private_key_type type, const char *algorithm)
{
        _cleanup_private_key_ struct private_key *key = NULL, *other = NULL;
        _cleanup_arena_ struct arena a;
        const struct value *claims;
        struct str token, id;
        struct jwt t;

        arena_init(&a, "test", 0);
        ASSERT_INT(private_key_generate(type, &key, NULL), 0);
        ASSERT_INT(private_key_generate(type, &other, NULL), 0);
        id = jwt_key_id(&a, key);
        ASSERT_INT(json_parse(&a, STR("{\"sub\":\"x\",\"exp\":12}"), NULL, &claims, NULL), 0);
        ASSERT_INT(jwt_make(&a, claims, key, id, &token, NULL), 0);
        ASSERT_INT(jwt_parse(&a, token, &t, NULL), 0);
        ASSERT_STR(t.algorithm, str_from(algorithm));
        ASSERT(value_equal(t.claims, claims));
        ASSERT(jwt_is_signed(&t, key, id));
        ASSERT(!jwt_is_signed(&t, key, STR("another name")));
        ASSERT(!jwt_is_signed(&t, other, id));
        for (size_t i = 0; i < token.n; i++) { /* one other character anywhere */
                char *changed = arena_cstring(&a, token);

                changed[i] = changed[i] == 'A' ? 'g' : 'A';
                if (changed[i] == token.p[i] || i + 1 == token.n) /* the last one may have bits that do not count */
                        continue;
                if (jwt_parse(&a, str_from(changed), &t, NULL) == 0)
                        ASSERT_CASE(changed, !jwt_is_signed(&t, key, id));
        }
}

TEST(tokens_are_what_was_signed)
{
        round_trip(PRIVATE_KEY_ECDSA_P256, "ES256");
        round_trip(PRIVATE_KEY_RSA_2048, "RS256");
}

/* RFC 7515, appendix A.3: a key, and a token that it signed. */
TEST(the_token_of_the_rfc)
{
        static const char pem[] = "-----BEGIN EC PRIVATE KEY-----\n"
                                  "MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n"
                                  "AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n"
                                  "focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
                                  "-----END EC PRIVATE KEY-----\n";
        static const char token[] = "eyJhbGciOiJFUzI1NiJ9"
                                    ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
                                    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
                                    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
                                    "pmWQxfKTUJqPP3-Kg6NU1Q";
        _cleanup_private_key_ struct private_key *key = NULL;
        _cleanup_buf_ struct buf x = BUF_INIT(0), y = BUF_INIT(0), text = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct jwt t;

        arena_init(&a, "test", 0);
        ASSERT_INT(private_key_parse(str_from(pem), &key, NULL), 0);
        ASSERT_INT(jwt_parse(&a, str_from(token), &t, NULL), 0);
        ASSERT(jwt_is_signed(&t, key, STR("any")));
        ASSERT_STR(value_str(value_get(t.claims, STR("iss"))), STR("joe"));
        jws_public_numbers(key, &x, &y);
        base64_encode(&text, buf_str(&x), BASE64_RAW_URL);
        ASSERT_STR(buf_str(&text), STR("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"));
}

TEST(texts_that_are_no_tokens)
{
        static const char *const cases[] = {
                "",
                "a",
                "a.b",
                "a.b.c",
                "..",
                "e30.e30",
                "e30.e30.AA.AA",
                "e30.W10.AA",                /* the claims are a list */
                "e30.e30.!",                 /* no base64 */
                "eyJjcml0IjpbXX0.e30.AA",    /* critical extensions */
                "eyJhIjoxLCJhIjoyfQ.e30.AA", /* a key twice */
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct jwt t;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i], jwt_parse(&a, str_from(cases[i]), &t, NULL) < 0);
        }
}

/* `none`, HMAC with the public key, and another key's algorithm are refused before anything is computed. */
TEST(other_algorithms)
{
        static const char *const headers[] = { "{\"alg\":\"none\"}", "{\"alg\":\"HS256\"}", "{\"alg\":\"RS256\"}",
                                               "{}" };
        _cleanup_private_key_ struct private_key *key = NULL;

        ASSERT_INT(private_key_generate(PRIVATE_KEY_ECDSA_P256, &key, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0), signature = BUF_INIT(0);
                _cleanup_arena_ struct arena a;
                struct jwt t;

                arena_init(&a, "test", 0);
                base64_encode(&b, str_from(headers[i]), BASE64_RAW_URL);
                buf_append_literal(&b, ".e30");
                ASSERT_INT(jws_sign(key, buf_str(&b), &signature, NULL), 0);
                buf_append_char(&b, '.');
                base64_encode(&b, buf_str(&signature), BASE64_RAW_URL);
                ASSERT_INT(jwt_parse(&a, buf_str(&b), &t, NULL), 0);
                ASSERT_CASE(headers[i], !jwt_is_signed(&t, key, STR("")));
        }
}
