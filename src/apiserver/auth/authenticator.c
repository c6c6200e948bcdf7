#include "authenticator-state.h"

#include "ascii.h"
#include "jwt.h"
#include "log.h"
#include "pki.h"
#include "private-file.h"
#include "signature-cache.h"
#include "static-tokens.h"
#include "str-list.h"
#include "tls.h"

#define AUTHENTICATED   STR("system:authenticated")
#define UNAUTHENTICATED STR("system:unauthenticated")

static int read_tokens(struct authenticator *a, const char *path, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = private_file_read(path, &text, err);

        if (r == 0)
                r = static_tokens_parse(buf_str(&text), path, &a->tokens, err);
        return r < 0 ? err_wrap(err, "cannot read the static tokens") : 0;
}

int authenticator_new(const struct authenticator_options *options, struct authenticator **ret, struct err *err)
{
        struct authenticator *a = xcalloc(1, sizeof(*a));
        int r = 0;

        arena_init(&a->arena, "authenticator", 0);
        a->cluster = options->cluster;
        a->access = options->access;
        a->issuer.issuer = arena_copy(&a->arena, options->issuer ? str_from(options->issuer)
                                                                 : STR(SERVICE_ACCOUNT_DEFAULT_ISSUER));
        a->issuer.key = pki_token_key(options->pki);
        a->issuer.signatures = signature_cache_new();
        a->issuer.key_id = jwt_key_id(&a->arena, a->issuer.key);
        if (options->token_file)
                r = read_tokens(a, options->token_file, err);
        if (r < 0) {
                authenticator_free(a);
                return r;
        }
        *ret = a;
        return 0;
}

void authenticator_free(struct authenticator *a)
{
        if (!a)
                return;
        static_tokens_free(a->tokens);
        signature_cache_free(a->issuer.signatures);
        arena_done(&a->arena);
        free(a);
}

/* --- Groups --- */

bool user_has_group(const struct user *u, struct str group)
{
        for (size_t i = 0; i < u->n_groups; i++)
                if (str_equal(u->groups[i], group))
                        return true;
        return false;
}

void user_add_group(struct user *u, struct arena *a, struct str group)
{
        struct str *groups;

        if (user_has_group(u, group))
                return;
        groups = ARENA_NEW_ARRAY(a, struct str, u->n_groups + 1);
        for (size_t i = 0; i < u->n_groups; i++)
                groups[i] = u->groups[i];
        groups[u->n_groups++] = group;
        u->groups = groups;
}

/* --- Credentials --- */

/* X509SHA256= and the fingerprint in hexadecimal. */
static struct str credential_id(const struct tls_identity *identity, struct arena *a)
{
        static const char digits[] = "0123456789abcdef";
        char text[2 * TLS_FINGERPRINT_BYTES];

        for (size_t i = 0; i < TLS_FINGERPRINT_BYTES; i++) {
                text[2 * i] = digits[identity->fingerprint[i] >> 4];
                text[2 * i + 1] = digits[identity->fingerprint[i] & 0xF];
        }
        return ARENA_CONCAT(a, STR("X509SHA256="), str_make(text, sizeof(text)));
}

/* False if the certificate names no user. */
static bool certificate_user(const struct tls_identity *identity, struct arena *a, struct user *ret)
{
        struct user_extra *extra;
        struct str *values;

        if (identity->common_name.n == 0)
                return false;
        values = ARENA_NEW_ARRAY(a, struct str, 1);
        values[0] = credential_id(identity, a);
        extra = ARENA_NEW(a, struct user_extra);
        *extra = (struct user_extra) { .key = STR("authentication.kubernetes.io/credential-id"),
                                       .values = values,
                                       .n_values = 1 };
        *ret = (struct user) { .name = identity->common_name,
                               .groups = identity->organizations,
                               .n_groups = identity->n_organizations,
                               .extra = extra,
                               .n_extra = 1 };
        return true;
}

bool authorization_bearer(struct str field, struct str *ret_token)
{
        struct str scheme, rest = str_trim(field);

        if (!str_split(&rest, ' ', &scheme) || !str_equal_ignore_case(scheme, STR("bearer")))
                return false;
        (void)str_split(&rest, ' ', ret_token);
        return ret_token->n > 0;
}

/* Static tokens are for the API itself and nothing else. */
static bool static_user(struct authenticator *a, struct str token, const struct str *audiences, size_t n_audiences,
                        struct user *ret, struct str_list *ret_audiences)
{
        const struct user *found = a->tokens ? static_tokens_find(a->tokens, token) : NULL;

        if (!found)
                return false;
        for (size_t i = 0; i < n_audiences; i++) {
                if (!str_equal(audiences[i], a->issuer.issuer))
                        continue;
                str_list_add(ret_audiences, a->issuer.issuer);
                *ret = *found;
                return true;
        }
        return false;
}

int authenticator_token(struct authenticator *a, struct run *run, struct str token, const struct str *audiences,
                        size_t n_audiences, struct user *ret, struct str_list *ret_audiences, struct err *err)
{
        _cleanup_err_ struct err why = { 0 };
        int r;

        if (static_user(a, token, audiences, n_audiences, ret, ret_audiences)) {
                user_add_group(ret, run->arena, AUTHENTICATED);
                return 0;
        }
        r = service_token_user(&a->issuer, a->cluster, run, token, audiences, n_audiences, ret, ret_audiences, &why);
        if (r == ERR_NOT_FOUND)
                return err_set(err, ERR_FORBIDDEN, "invalid bearer token");
        if (r == ERR_TIMEOUT || r == ERR_CANCELED)
                return err_move(err, &why);
        if (r < 0)
                return err_set(err, ERR_FORBIDDEN, "[invalid bearer token, %s]", err_message(&why));
        user_add_group(ret, run->arena, AUTHENTICATED);
        return 0;
}

static int unauthorized(struct err *err)
{
        err_set(err, ERR_FORBIDDEN, "Unauthorized");
        err_set_reason(err, REASON_UNAUTHORIZED);
        return ERR_FORBIDDEN;
}

/* 1: the head has a token, and *ret is its user. 0: it has none. */
static int bearer_user(struct authenticator *a, struct run *run, const struct http_head *head, struct user *ret,
                       struct err *err)
{
        _cleanup_err_ struct err why = { 0 };
        struct str_list audiences;
        struct str token;
        int r;

        if (!authorization_bearer(http_fields_get(&head->fields, STR("authorization")), &token))
                return 0;
        str_list_init(&audiences, run->arena);
        r = authenticator_token(a, run, token, &a->issuer.issuer, 1, ret, &audiences, &why);
        if (r == 0)
                return 1;
        if (r != ERR_FORBIDDEN)
                return err_move(err, &why);
        log_debug("a bearer token was refused", LOG_ERR("error", &why));
        return unauthorized(err);
}

/* The first kind of credentials that counts: a certificate, then a token. A certificate that was not verified is wrong only if there
 * is no good token. */
static int authenticate(struct authenticator *a, struct run *run, const struct http_head *head,
                        const struct tls_identity *identity, struct user *ret, struct err *err)
{
        int r;

        if (identity && identity->is_verified && certificate_user(identity, run->arena, ret)) {
                user_add_group(ret, run->arena, AUTHENTICATED);
                return 0;
        }
        r = bearer_user(a, run, head, ret, err);
        if (r != 0)
                return r < 0 ? r : 0;
        if (identity && !identity->is_verified)
                return unauthorized(err);
        *ret = (struct user) { .name = STR("system:anonymous") };
        user_add_group(ret, run->arena, UNAUTHENTICATED);
        return 0;
}

int authenticator_user(struct authenticator *a, struct run *run, const struct http_head *head,
                       const struct tls_identity *identity, struct user *ret, struct err *err)
{
        struct user user = { 0 };
        int r = authenticate(a, run, head, identity, &user, err);

        if (r == 0)
                r = authenticator_impersonate(a, run, head, &user, err);
        if (r == 0)
                *ret = user;
        return r;
}
