#include "oci-challenge.h"

#include "arena.h"
#include "buf.h"
#include "http.h"
#include "json.h"
#include "oci-url.h"

#define MAX_FIELD_BYTES   (16u << 10)
#define MAX_CHALLENGES    32
#define MAX_PARAMETERS    64
#define MAX_TOKEN_BYTES   (64u << 10)
#define DEFAULT_SECONDS   60
#define MAX_TOKEN_SECONDS (24 * 3600)

struct parser {
        struct arena *arena;
        struct str rest;
        struct err *err;
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

static void skip_space(struct parser *p)
{
        while (p->rest.n > 0 && is_space(p->rest.p[0]))
                p->rest = str_skip(p->rest, 1);
}

static bool cut(struct parser *p, char c)
{
        if (p->rest.n == 0 || p->rest.p[0] != c)
                return false;
        p->rest = str_skip(p->rest, 1);
        return true;
}

static struct str cut_token(struct parser *p)
{
        struct str token = str_first(p->rest, 0);

        while (token.n < p->rest.n && http_is_token(str_make(p->rest.p + token.n, 1)))
                token.n++;
        p->rest = str_skip(p->rest, token.n);
        return token;
}

static struct str lower(struct arena *a, struct str s)
{
        char *copy = arena_cstring(a, s);

        for (size_t i = 0; i < s.n; i++)
                copy[i] = copy[i] >= 'A' && copy[i] <= 'Z' ? (char)(copy[i] + 32) : copy[i];
        return str_make(copy, s.n);
}

static int syntax_error(const struct parser *p, const char *what)
{
        return err_set(p->err, ERR_INVALID, "WWW-Authenticate: %s at \"%.*s\"", what, STR_ARG(str_first(p->rest, 32)));
}

/* After the opening quote. */
static int parse_quoted(struct parser *p, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        while (p->rest.n > 0 && p->rest.p[0] != '"') {
                if (p->rest.p[0] == '\\' && p->rest.n > 1)
                        p->rest = str_skip(p->rest, 1);
                if ((unsigned char)p->rest.p[0] < ' ' && p->rest.p[0] != '\t')
                        return syntax_error(p, "a control character");
                buf_append_char(&b, p->rest.p[0]);
                p->rest = str_skip(p->rest, 1);
        }
        if (!cut(p, '"'))
                return syntax_error(p, "a quote that is not closed");
        *ret = buf_to_arena(&b, p->arena);
        return 0;
}

/* After the name: `= value`. Returns 0 if there is no `=`, or if what follows is the padding of a token68. */
static int parse_value(struct parser *p, struct str *ret)
{
        struct str before = p->rest;

        skip_space(p);
        if (!cut(p, '=')) {
                p->rest = before;
                return 0;
        }
        skip_space(p);
        if (cut(p, '"')) {
                int r = parse_quoted(p, ret);

                return r < 0 ? r : 1;
        }
        *ret = cut_token(p);
        if (ret->n > 0)
                return 1;
        p->rest = before;
        return 0;
}

/* A scheme's token68, as in `Negotiate a1b2==`: skipped. */
static void skip_token68(struct parser *p)
{
        while (p->rest.n > 0 && p->rest.p[0] != ',' && !is_space(p->rest.p[0]))
                p->rest = str_skip(p->rest, 1);
}

/* Parameters up to the next scheme or the end. */
static int parse_parameters(struct parser *p, struct oci_challenge *c)
{
        struct oci_parameter *parameters = ARENA_NEW_ARRAY(p->arena, struct oci_parameter, MAX_PARAMETERS);

        c->parameters = parameters;
        for (;;) {
                struct str before, name, value = STR_NONE;
                int r;

                skip_space(p);
                while (cut(p, ','))
                        skip_space(p);
                before = p->rest;
                name = cut_token(p);
                if (name.n == 0)
                        return p->rest.n == 0 ? 0 : syntax_error(p, "neither a scheme nor a parameter");
                r = parse_value(p, &value);
                if (r < 0)
                        return r;
                if (r == 0) { /* the next scheme */
                        p->rest = before;
                        return 0;
                }
                if (c->n == MAX_PARAMETERS)
                        return syntax_error(p, "too many parameters");
                parameters[c->n++] = (struct oci_parameter) { lower(p->arena, name), value };
        }
}

static int parse_challenge(struct parser *p, struct oci_challenge *ret)
{
        struct str scheme = cut_token(p), before, name, value;
        int r;

        if (scheme.n == 0)
                return syntax_error(p, "no scheme");
        *ret = (struct oci_challenge) { .scheme = lower(p->arena, scheme) };
        if (p->rest.n > 0 && !is_space(p->rest.p[0]) && p->rest.p[0] != ',')
                return syntax_error(p, "no space after the scheme");
        skip_space(p);
        before = p->rest;
        name = cut_token(p);
        r = name.n > 0 ? parse_value(p, &value) : 0;
        if (r < 0)
                return r;
        p->rest = before;
        if (r == 0 && before.n > 0 && before.p[0] != ',')
                skip_token68(p);
        return parse_parameters(p, ret);
}

int oci_challenges_parse(struct arena *a, struct str field, const struct oci_challenge **ret, size_t *ret_n,
                         struct err *err)
{
        struct parser p = { .arena = a, .rest = arena_copy(a, field), .err = err };
        struct oci_challenge *challenges = ARENA_NEW_ARRAY(a, struct oci_challenge, MAX_CHALLENGES);
        size_t n = 0;

        if (field.n > MAX_FIELD_BYTES)
                return err_set(err, ERR_LIMIT, "WWW-Authenticate has more than %u bytes", MAX_FIELD_BYTES);
        for (;;) {
                int r;

                skip_space(&p);
                while (cut(&p, ','))
                        skip_space(&p);
                if (p.rest.n == 0)
                        break;
                if (n == MAX_CHALLENGES)
                        return err_set(err, ERR_LIMIT, "WWW-Authenticate has more than %d challenges", MAX_CHALLENGES);
                r = parse_challenge(&p, &challenges[n]);
                if (r < 0)
                        return r;
                n++;
        }
        *ret = challenges;
        *ret_n = n;
        return 0;
}

struct str oci_challenge_get(const struct oci_challenge *c, struct str name)
{
        for (size_t i = 0; i < c->n; i++)
                if (str_equal(c->parameters[i].name, name))
                        return c->parameters[i].value;
        return STR("");
}

struct str oci_scope(struct arena *a, struct str repository, bool pushes)
{
        return arena_printf(a, "repository:%.*s:pull%s", STR_ARG(repository), pushes ? ",push" : "");
}

struct str oci_token_query(struct arena *a, const struct oci_challenge *c, struct str scope)
{
        struct str service = oci_challenge_get(c, STR("service"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_char(&b, str_find_char(oci_challenge_get(c, STR("realm")), '?') < 0 ? '?' : '&');
        if (service.n > 0) {
                buf_append_literal(&b, "service=");
                oci_url_escape(&b, service);
                buf_append_char(&b, '&');
        }
        buf_append_literal(&b, "scope=");
        oci_url_escape(&b, scope);
        return buf_to_arena(&b, a);
}

struct str oci_token_form(struct arena *a, const struct oci_challenge *c, struct str scope, struct str identity_token)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "client_id=weft&grant_type=refresh_token&refresh_token=");
        oci_url_escape(&b, identity_token);
        buf_append_literal(&b, "&scope=");
        oci_url_escape(&b, scope);
        buf_append_literal(&b, "&service=");
        oci_url_escape(&b, oci_challenge_get(c, STR("service")));
        return buf_to_arena(&b, a);
}

int oci_token_parse(struct arena *a, struct str json, struct str *ret_token, int64_t *ret_seconds, struct err *err)
{
        const struct value *answer;
        struct str token;
        int64_t seconds;
        int r = json_parse(a, json, NULL, &answer, err);

        if (r < 0)
                return err_wrap(err, "the token server's answer");
        token = value_str(value_get(answer, STR("token")));
        if (token.n == 0)
                token = value_str(value_get(answer, STR("access_token")));
        if (token.n == 0)
                return err_set(err, ERR_INVALID, "the token server's answer has neither token nor access_token");
        if (token.n > MAX_TOKEN_BYTES)
                return err_set(err, ERR_LIMIT, "the token server's token has more than %u bytes", MAX_TOKEN_BYTES);
        for (size_t i = 0; i < token.n; i++)
                if ((unsigned char)token.p[i] <= ' ' || (unsigned char)token.p[i] >= 0x7f)
                        return err_set(err, ERR_INVALID,
                                       "the token server's token has characters that tokens do not have");
        seconds = value_int(value_get(answer, STR("expires_in")), DEFAULT_SECONDS);
        *ret_token = token;
        *ret_seconds = MIN(MAX(seconds, (int64_t)0), (int64_t)MAX_TOKEN_SECONDS);
        return 0;
}
