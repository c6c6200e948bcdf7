#include "oci-request.h"

#include "base64.h"
#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "oci-challenge.h"
#include "timetext.h"

#include <openssl/crypto.h>

#define MAX_GRANTS        256
#define MAX_ANSWER_BYTES  (256u << 10)
#define EARLY_NS          (10 * NS_PER_SECOND) /* a token is renewed so long before it expires */
#define MAX_TOKEN_WAIT_MS 60000

/* Grants */

static void grant_done(struct oci_grant *g)
{
        if (g->authorization)
                OPENSSL_cleanse(g->authorization, strlen(g->authorization));
        free(g->authorization);
        free(g->registry);
        free(g->scope);
        *g = (struct oci_grant) { 0 };
}

struct str oci_authorization(struct oci_client *c, struct arena *a, const struct oci_ask *ask)
{
        struct str scope = oci_scope(a, ask->repository, ask->pushes), found = STR("");
        int64_t now = clock_mono_ns();

        mutex_lock(&c->mutex);
        for (size_t i = 0; i < c->grants.n; i++) {
                const struct oci_grant *g = &c->grants.p[i];

                if (g->expires_ns > now && str_equal(str_from(g->registry), ask->registry) &&
                    str_equal(str_from(g->scope), scope))
                        found = arena_copy(a, str_from(g->authorization));
        }
        mutex_unlock(&c->mutex);
        return found;
}

static void keep_grant(struct oci_client *c, struct arena *a, const struct oci_ask *ask, struct str authorization,
                       int64_t seconds)
{
        struct str scope = oci_scope(a, ask->repository, ask->pushes);
        struct oci_grant grant = {
                .registry = str_to_cstring(ask->registry),
                .scope = str_to_cstring(scope),
                .authorization = str_to_cstring(authorization),
                .expires_ns = seconds < 0 ? INT64_MAX
                                          : clock_mono_ns() + MAX(seconds * NS_PER_SECOND - EARLY_NS, NS_PER_SECOND),
        };

        mutex_lock(&c->mutex);
        for (size_t i = c->grants.n; i-- > 0;)
                if (c->grants.n == MAX_GRANTS || (str_equal(str_from(c->grants.p[i].registry), ask->registry) &&
                                                  str_equal(str_from(c->grants.p[i].scope), scope))) {
                        grant_done(&c->grants.p[i]);
                        vec_remove(&c->grants, i);
                }
        vec_push(&c->grants, grant);
        mutex_unlock(&c->mutex);
}

/* Challenges */

static struct str basic(struct arena *a, const struct oci_login *login)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "Basic ");
        base64_encode(&b, ARENA_CONCAT(a, login->username, STR(":"), login->password), BASE64_STD);
        return buf_to_arena(&b, a);
}

/* The bearer challenge of a response, or else the basic one. */
static int choose_challenge(struct arena *a, const struct http_response *r, const struct oci_challenge **ret,
                            struct err *err)
{
        const struct oci_challenge *best = NULL;

        for (size_t i = 0; i < r->fields.n; i++) {
                const struct oci_challenge *c;
                size_t n;
                int result;

                if (!str_equal(r->fields.p[i].name, STR("www-authenticate")))
                        continue;
                result = oci_challenges_parse(a, r->fields.p[i].value, &c, &n, err);
                if (result < 0)
                        return result;
                for (size_t k = 0; k < n; k++) {
                        bool is_bearer = str_equal(c[k].scheme, STR("bearer"));

                        if ((is_bearer && (!best || str_equal(best->scheme, STR("basic")))) ||
                            (!best && str_equal(c[k].scheme, STR("basic"))))
                                best = &c[k];
                }
        }
        if (!best)
                return err_set(err, ERR_UNSUPPORTED,
                               "the registry asks for credentials in no way that is known (bearer, basic)");
        *ret = best;
        return 0;
}

/* A registry may name any token server, but not one inside this machine, and not one without TLS unless it has none itself. */
static int check_realm(const struct oci_ask *ask, const struct oci_url *at, const struct oci_url *realm,
                       struct err *err)
{
        if (!oci_host_is_here(ask->registry) && oci_host_is_here(realm->host))
                return err_set(err, ERR_FORBIDDEN, "the registry names a token server on this machine: %.*s",
                               STR_ARG(realm->origin));
        if (!realm->is_https &&
            (at->is_https || (!oci_registry_is_loopback(realm->host) && !str_equal(realm->host, at->host))))
                return err_set(err, ERR_FORBIDDEN,
                               "the registry names a token server without TLS: %.*s; credentials are not sent there",
                               STR_ARG(realm->origin));
        return 0;
}

/* Token requests */

struct token_ask {
        struct oci_url url; /* with the query */
        struct str form;    /* "": GET */
        struct str authorization;
};

static void prepare(struct arena *a, const struct oci_challenge *challenge, const struct oci_url *realm,
                    struct str scope, const struct oci_login *login, struct token_ask *ret)
{
        *ret = (struct token_ask) { .url = *realm, .form = STR(""), .authorization = STR("") };
        if (login->identity_token.n > 0) {
                ret->form = oci_token_form(a, challenge, scope, login->identity_token);
                return;
        }
        ret->url.path = ARENA_CONCAT(a, realm->path, oci_token_query(a, challenge, scope));
        if (login->username.n > 0 || login->password.n > 0)
                ret->authorization = basic(a, login);
}

static int check_token_status(const struct http_response *r, const struct oci_url *realm, const struct oci_login *login,
                              struct err *err)
{
        if (r->status == 200)
                return 0;
        if (r->status == 401 || r->status == 403)
                return err_set(err, ERR_FORBIDDEN, "the token server %.*s refuses %s%.*s%s (status %d)",
                               STR_ARG(realm->origin),
                               login->username.n > 0 ? "the login of \"" : "requests without credentials",
                               STR_ARG(login->username), login->username.n > 0 ? "\"" : "; log in first", r->status);
        return err_set(err, ERR_FAILED, "the token server %.*s answers with status %d", STR_ARG(realm->origin),
                       r->status);
}

static int fetch_token(struct oci_client *c, struct arena *a, const struct token_ask *ask,
                       const struct oci_login *login, struct oci_wait wait, struct str *ret_token, int64_t *ret_seconds,
                       struct err *err)
{
        _cleanup_(http_client_unrefp)
        struct http_client *http = NULL;
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = NULL, *form = NULL;
        struct http_fields fields = { 0 };
        struct http_request q = {
                .method = STR("GET"), .fields = &fields, .is_idempotent = true, .cancel = wait.cancel
        };
        int r = oci_client_origin(c, a, &ask->url, &http, &q.path, err);

        if (r < 0)
                return r;
        q.deadline = deadline_earliest(wait.deadline, deadline_after_ms(MAX_TOKEN_WAIT_MS));
        http_fields_add(&fields, a, STR("accept"), STR("application/json"));
        if (ask->authorization.n > 0)
                http_fields_add(&fields, a, STR("authorization"), ask->authorization);
        if (ask->form.n > 0) {
                q.method = STR("POST");
                http_fields_add(&fields, a, STR("content-type"), STR("application/x-www-form-urlencoded"));
                form = q.body = bytes_copy(ask->form);
        }
        r = http_client_open(http, &q, &response, err);
        if (r >= 0)
                r = check_token_status(response, &ask->url, login, err);
        if (r >= 0)
                r = http_response_read_all(response, MAX_ANSWER_BYTES, q.deadline, wait.cancel, &body, err);
        return r < 0 ? r : oci_token_parse(a, body->str, ret_token, ret_seconds, err);
}

static int answer_bearer(struct oci_client *c, struct arena *a, const struct oci_ask *ask, const struct oci_url *at,
                         const struct oci_challenge *challenge, const struct oci_login *login, struct oci_wait wait,
                         struct err *err)
{
        struct str scope = oci_scope(a, ask->repository, ask->pushes), token;
        struct token_ask request;
        struct oci_url realm;
        int64_t seconds;
        int r = oci_url_parse(a, oci_challenge_get(challenge, STR("realm")), NULL, &realm, err);

        if (r < 0)
                return err_wrap(err, "the registry's token server");
        r = check_realm(ask, at, &realm, err);
        if (r < 0)
                return r;
        prepare(a, challenge, &realm, scope, login, &request);
        r = fetch_token(c, a, &request, login, wait, &token, &seconds, err);
        if (r < 0)
                return err_wrap(err, "cannot get a token for %.*s", STR_ARG(scope));
        keep_grant(c, a, ask, ARENA_CONCAT(a, STR("Bearer "), token), seconds);
        return 0;
}

int oci_authorize(struct oci_client *c, struct arena *a, const struct oci_ask *ask, const struct oci_url *at,
                  const struct http_response *response, struct oci_wait wait, struct err *err)
{
        const struct oci_challenge *challenge;
        struct oci_login login = { 0 };
        int r = choose_challenge(a, response, &challenge, err);

        if (r >= 0)
                r = oci_credentials_find(c->options.credentials, a, ask->registry, ask->repository, wait.deadline,
                                         wait.cancel, &login, err);
        if (r < 0)
                return r;
        if (login.registry_token.n > 0) {
                keep_grant(c, a, ask, ARENA_CONCAT(a, STR("Bearer "), login.registry_token), -1);
                return 0;
        }
        if (str_equal(challenge->scheme, STR("bearer")))
                return answer_bearer(c, a, ask, at, challenge, &login, wait, err);
        if (login.username.n == 0 && login.password.n == 0)
                return err_set(err, ERR_FORBIDDEN, "the registry %.*s asks for a login and none is configured for it",
                               STR_ARG(ask->registry));
        keep_grant(c, a, ask, basic(a, &login), -1);
        return 0;
}
