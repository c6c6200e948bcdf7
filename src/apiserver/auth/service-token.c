#include "service-token.h"

#include "base64.h"
#include "buf.h"
#include "clock.h"
#include "jwt.h"
#include "signature-cache.h"
#include "str-list.h"
#include "uuid.h"

/* How far the clock of whoever made the token may be apart from ours, as the API server has it. */
#define LEEWAY_SECONDS 60

/* How long a token of an object that is being deleted still counts, so that its owner can clean up. */
#define DELETED_SECONDS 60

/* --- Making --- */

static struct str claim_of(struct str kind)
{
        if (str_equal(kind, STR("Secret")))
                return STR("secret");
        return str_equal(kind, STR("Pod")) ? STR("pod") : STR("node");
}

static struct value reference(struct arena *a, struct str name, struct str uid)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("name"), value_of_str(name));
        object_builder_add(&b, STR("uid"), value_of_str(uid));
        return object_builder_finish(&b);
}

static struct value private_claims(struct arena *a, const struct token_contents *c)
{
        struct object_builder b;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("namespace"), value_of_str(c->ns));
        object_builder_add(&b, STR("serviceaccount"), reference(a, c->account_name, c->account_uid));
        if (c->binding.kind.n)
                object_builder_add(&b, claim_of(c->binding.kind), reference(a, c->binding.name, c->binding.uid));
        return object_builder_finish(&b);
}

static struct str user_name(struct arena *a, struct str ns, struct str name)
{
        return ARENA_CONCAT(a, STR(SERVICE_ACCOUNT_PREFIX), ns, STR(":"), name);
}

static struct str new_token_id(struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        uuid_append(&b, uuid_v4());
        return buf_to_arena(&b, a);
}

int service_token_make(const struct token_issuer *issuer, struct arena *a, const struct token_contents *c,
                       struct str *ret, struct err *err)
{
        struct object_builder b;
        struct array_builder audiences;
        struct value claims;

        array_builder_init(&audiences, a, c->n_audiences);
        for (size_t i = 0; i < c->n_audiences; i++)
                array_builder_add(&audiences, value_of_str(c->audiences[i]));
        object_builder_init(&b, a, 8);
        object_builder_add(&b, STR("aud"), array_builder_finish(&audiences));
        object_builder_add(&b, STR("exp"), value_of_int(c->expires));
        object_builder_add(&b, STR("iat"), value_of_int(c->issued));
        object_builder_add(&b, STR("iss"), value_of_str(issuer->issuer));
        object_builder_add(&b, STR("jti"), value_of_str(new_token_id(a)));
        object_builder_add(&b, STR("kubernetes.io"), private_claims(a, c));
        object_builder_add(&b, STR("nbf"), value_of_int(c->issued));
        object_builder_add(&b, STR("sub"), value_of_str(user_name(a, c->ns, c->account_name)));
        claims = object_builder_finish(&b);
        return jwt_make(a, &claims, issuer->key, issuer->key_id, ret, err);
}

int service_token_make_legacy(const struct token_issuer *issuer, struct arena *a, struct str ns, struct str secret_name,
                              struct str account_name, struct str account_uid, struct str *ret, struct err *err)
{
        struct object_builder b;
        struct value claims;

        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("iss"), value_of_literal(SERVICE_ACCOUNT_LEGACY_ISSUER));
        object_builder_add(&b, STR("kubernetes.io/serviceaccount/namespace"), value_of_str(ns));
        object_builder_add(&b, STR("kubernetes.io/serviceaccount/secret.name"), value_of_str(secret_name));
        object_builder_add(&b, STR("kubernetes.io/serviceaccount/service-account.name"), value_of_str(account_name));
        object_builder_add(&b, STR("kubernetes.io/serviceaccount/service-account.uid"), value_of_str(account_uid));
        object_builder_add(&b, STR("sub"), value_of_str(user_name(a, ns, account_name)));
        claims = object_builder_finish(&b);
        return jwt_make(a, &claims, issuer->key, issuer->key_id, ret, err);
}

/* --- Users --- */

bool service_account_of_user(struct str user, struct str *ret_namespace, struct str *ret_name)
{
        struct str ns;

        if (!str_cut_prefix(&user, STR(SERVICE_ACCOUNT_PREFIX)) || !str_split(&user, ':', &ns))
                return false;
        if (ns.n == 0 || user.n == 0 || str_find_char(user, ':') >= 0)
                return false;
        *ret_namespace = ns;
        *ret_name = user;
        return true;
}

const struct str *service_account_groups(struct arena *a, struct str ns)
{
        struct str *groups = ARENA_NEW_ARRAY(a, struct str, 2);

        groups[0] = STR("system:serviceaccounts");
        groups[1] = ARENA_CONCAT(a, STR("system:serviceaccounts:"), ns);
        return groups;
}

/* --- Checking --- */

static int refuse(struct err *err, const char *text)
{
        return err_set(err, ERR_FORBIDDEN, "%s", text);
}

static struct str claim(const struct jwt *t, struct str name)
{
        return value_str(value_get(t->claims, name));
}

/* An absent time is no bound; one that is no number never counts. */
static int check_times(const struct jwt *t, struct err *err)
{
        int64_t now = clock_wall().seconds;
        const struct value *exp = value_get(t->claims, STR("exp"));
        const struct value *nbf = value_get(t->claims, STR("nbf"));
        const struct value *iat = value_get(t->claims, STR("iat"));

        if (exp && value_int(exp, INT64_MIN) < now - LEEWAY_SECONDS)
                return refuse(err, "service account token has expired");
        if (nbf && value_int(nbf, INT64_MAX) > now + LEEWAY_SECONDS)
                return refuse(err, "service account token is not valid yet");
        if (iat && value_int(iat, INT64_MAX) > now + LEEWAY_SECONDS)
                return refuse(err, "service account token is issued in the future");
        return 0;
}

/* Texts in the form of Go's %q for a list. */
static void append_quoted_list(struct buf *b, const struct str *texts, size_t n)
{
        buf_append_char(b, '[');
        for (size_t i = 0; i < n; i++)
                buf_appendf(b, "%s\"%.*s\"", i ? " " : "", STR_ARG(texts[i]));
        buf_append_char(b, ']');
}

static bool has_text(const struct str *texts, size_t n, struct str text)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(texts[i], text))
                        return true;
        return false;
}

/* The audiences of the token; a token without any is for the API itself. */
static void token_audiences(const struct token_issuer *issuer, const struct jwt *t, struct str_list *list)
{
        const struct value *aud = value_get(t->claims, STR("aud"));

        if (value_is_string(aud))
                str_list_add(list, value_str(aud));
        VALUE_FOREACH_ITEM (item, aud)
                str_list_add(list, value_str(item));
        if (list->n == 0)
                str_list_add(list, issuer->issuer);
}

static int check_audiences(const struct token_issuer *issuer, const struct jwt *t, struct arena *a,
                           const struct str *wanted, size_t n_wanted, struct str_list *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str_list own;

        str_list_init(&own, a);
        token_audiences(issuer, t, &own);
        for (size_t i = 0; i < own.n; i++)
                if (has_text(wanted, n_wanted, own.p[i]))
                        str_list_add(ret, own.p[i]);
        if (ret->n > 0)
                return 0;
        buf_append_literal(&b, "token audiences ");
        append_quoted_list(&b, own.p, own.n);
        buf_append_literal(&b, " is invalid for the target audiences ");
        append_quoted_list(&b, wanted, n_wanted);
        return refuse(err, buf_cstring(&b));
}

static int64_t deletion_seconds(const struct value *object)
{
        struct instant t;

        if (time_parse_rfc3339(meta_str(object, STR("deletionTimestamp")), &t, NULL) < 0)
                return INT64_MIN;
        return t.seconds;
}

static bool is_gone(const struct value *object)
{
        return meta_is_deleting(object) && deletion_seconds(object) < clock_wall().seconds - DELETED_SECONDS;
}

static int get_object(struct cluster *c, struct run *run, struct str kind, struct str ns, struct str name,
                      const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { .version = STR("v1"), .kind = kind }, .ns = ns, .name = name };

        return cluster_get_value(c, run, &key, ret, err);
}

static int check_account(struct cluster *c, struct run *run, struct str ns, struct str name, struct str uid,
                         struct err *err)
{
        const struct value *account;
        int r = get_object(c, run, STR("ServiceAccount"), ns, name, &account, err);

        if (r < 0)
                return r;
        if (is_gone(account))
                return refuse(err, "service account token has been invalidated");
        if (!str_equal(meta_uid(account), uid))
                return err_set(err, ERR_FORBIDDEN, "service account UID (%.*s) does not match claim (%.*s)",
                               STR_ARG(meta_uid(account)), STR_ARG(uid));
        return 0;
}

/* The claim of one kind of object that a token may be bound to. */
static int check_binding(struct cluster *c, struct run *run, const struct value *claims, struct str kind, struct str ns,
                         struct err *err)
{
        struct str word = claim_of(kind);
        const struct value *bound = value_get(claims, word), *object;
        struct str uid = value_str(value_get(bound, STR("uid")));
        int r;

        if (!bound)
                return 0;
        r = get_object(c, run, kind, ns, value_str(value_get(bound, STR("name"))), &object, err);
        if (r == ERR_NOT_FOUND)
                return refuse(err, "service account token has been invalidated");
        if (r < 0)
                return r;
        if (is_gone(object))
                return refuse(err, "service account token has been invalidated");
        if (!str_equal(meta_uid(object), uid))
                return err_set(err, ERR_FORBIDDEN,
                               "%.*s UID (%.*s) does not match service account %.*s ref claim (%.*s)", STR_ARG(word),
                               STR_ARG(meta_uid(object)), STR_ARG(word), STR_ARG(uid));
        return 0;
}

static void add_extra(struct user *u, struct arena *a, struct user_extra *extra, struct str key, struct str value)
{
        struct str *values = ARENA_NEW_ARRAY(a, struct str, 1);

        if (value.n == 0)
                return;
        values[0] = value;
        extra[u->n_extra++] = (struct user_extra) { .key = key, .values = values, .n_values = 1 };
}

static void set_extra(struct user *u, struct arena *a, const struct jwt *t, const struct value *claims)
{
        struct user_extra *extra = ARENA_NEW_ARRAY(a, struct user_extra, 5);
        struct str id = claim(t, STR("jti"));

        u->extra = extra;
        if (id.n)
                add_extra(u, a, extra, STR("authentication.kubernetes.io/credential-id"),
                          ARENA_CONCAT(a, STR("JTI="), id));
        add_extra(u, a, extra, STR("authentication.kubernetes.io/node-name"),
                  value_str(value_find(claims, "node", "name")));
        add_extra(u, a, extra, STR("authentication.kubernetes.io/node-uid"),
                  value_str(value_find(claims, "node", "uid")));
        add_extra(u, a, extra, STR("authentication.kubernetes.io/pod-name"),
                  value_str(value_find(claims, "pod", "name")));
        add_extra(u, a, extra, STR("authentication.kubernetes.io/pod-uid"),
                  value_str(value_find(claims, "pod", "uid")));
}

static void set_user(struct user *u, struct arena *a, struct str ns, struct str name, struct str uid)
{
        *u = (struct user) { .name = user_name(a, ns, name), .uid = uid };
        u->groups = service_account_groups(a, ns);
        u->n_groups = 2;
}

static int bound_user(struct cluster *c, struct run *run, const struct jwt *t, struct user *ret, struct err *err)
{
        static const struct str kinds[] = { STR_INIT("Secret"), STR_INIT("Pod"), STR_INIT("Node") };
        const struct value *claims = value_get(t->claims, STR("kubernetes.io"));
        struct str ns = value_str(value_get(claims, STR("namespace")));
        struct str name = value_str(value_find(claims, "serviceaccount", "name"));
        struct str uid = value_str(value_find(claims, "serviceaccount", "uid"));
        int r = check_times(t, err);

        if (r == 0)
                r = check_account(c, run, ns, name, uid, err);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
                r = check_binding(c, run, claims, kinds[i], str_equal(kinds[i], STR("Node")) ? STR("") : ns, err);
        if (r < 0)
                return r;
        set_user(ret, run->arena, ns, name, uid);
        set_extra(ret, run->arena, t, claims);
        return 0;
}

/* The Secret must hold this very token. Its data is base64 of a base64 text, so both sides are compared as the Secret has them. */
static int check_secret(struct cluster *c, struct run *run, struct str ns, struct str name, struct str token,
                        struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *secret;
        int r = get_object(c, run, STR("Secret"), ns, name, &secret, err);

        if (r == ERR_NOT_FOUND)
                return refuse(err, "service account token has been invalidated");
        if (r < 0)
                return r;
        if (meta_is_deleting(secret))
                return refuse(err, "service account token has been invalidated");
        base64_encode(&b, token, BASE64_STD);
        if (!str_equal(value_str(value_find(secret, "data", "token")), buf_str(&b)))
                return refuse(err, "service account token has been invalidated");
        return 0;
}

static int legacy_user(struct cluster *c, struct run *run, const struct jwt *t, struct str token, struct user *ret,
                       struct err *err)
{
        struct str ns = claim(t, STR("kubernetes.io/serviceaccount/namespace"));
        struct str secret = claim(t, STR("kubernetes.io/serviceaccount/secret.name"));
        struct str name = claim(t, STR("kubernetes.io/serviceaccount/service-account.name"));
        struct str uid = claim(t, STR("kubernetes.io/serviceaccount/service-account.uid"));
        int r;

        if (!str_equal(claim(t, STR("sub")), user_name(run->arena, ns, name)))
                return refuse(err, "sub claim is invalid");
        r = check_secret(c, run, ns, secret, token, err);
        if (r == 0)
                r = check_account(c, run, ns, name, uid, err);
        if (r == 0)
                set_user(ret, run->arena, ns, name, uid);
        return r;
}

static bool is_legacy(const struct jwt *t)
{
        return str_equal(claim(t, STR("iss")), STR(SERVICE_ACCOUNT_LEGACY_ISSUER));
}

static bool is_ours(const struct token_issuer *issuer, const struct jwt *t)
{
        return str_equal(claim(t, STR("iss")), issuer->issuer) || is_legacy(t);
}

static bool is_signed(const struct token_issuer *issuer, const struct jwt *t, struct str token)
{
        if (issuer->signatures && signature_cache_has(issuer->signatures, token))
                return true;
        if (!jwt_is_signed(t, issuer->key, issuer->key_id))
                return false;
        if (issuer->signatures)
                signature_cache_add(issuer->signatures, token);
        return true;
}

int service_token_user(const struct token_issuer *issuer, struct cluster *cluster, struct run *run, struct str token,
                       const struct str *audiences, size_t n_audiences, struct user *ret,
                       struct str_list *ret_audiences, struct err *err)
{
        struct jwt t;
        int r = jwt_parse(run->arena, token, &t, NULL);

        if (r < 0 || !is_ours(issuer, &t))
                return err_set(err, ERR_NOT_FOUND, "the text is no token of this issuer");
        if (!is_signed(issuer, &t, token))
                return refuse(err, "go-jose/go-jose: error in cryptographic primitive");
        r = check_audiences(issuer, &t, run->arena, audiences, n_audiences, ret_audiences, err);
        if (r < 0)
                return r;
        r = is_legacy(&t) ? legacy_user(cluster, run, &t, token, ret, err) : bound_user(cluster, run, &t, ret, err);
        return r == ERR_NOT_FOUND ? ERR_FORBIDDEN : r; /* the account */
}
