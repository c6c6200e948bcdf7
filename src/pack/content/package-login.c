#include "package-login.h"

#include "base64.h"
#include "buf.h"
#include "digest.h"
#include "map.h"

#include <stdatomic.h>

#define MAX_LOGINS 64 /* that are kept; all are forgotten when there are more */

struct package_login {
        _Atomic unsigned references;
        struct oci_client *client;
        struct oci_credentials *credentials; /* borrowed by the client */
};

struct package_logins {
        struct package_logins_options options;
        struct mutex mutex;
        struct map logins; /* the digest of all secrets' texts -> struct package_login */
};

/* The secrets of one request. */
struct secrets {
        struct str names[16], texts[16];
        bool is_old[16]; /* .dockercfg */
        size_t n;
        struct str missing;
};

struct package_logins *package_logins_new(const struct package_logins_options *options)
{
        struct package_logins *l = xcalloc(1, sizeof(*l));

        l->options = *options;
        mutex_init(&l->mutex);
        return l;
}

static void forget_all(struct package_logins *l)
{
        for (struct map_entry *e = map_first(&l->logins); e; e = map_next(&l->logins, e)) {
                free((void *)e->key.p);
                package_login_unref(e->value);
        }
        map_clear(&l->logins);
}

void package_logins_free(struct package_logins *l)
{
        if (!l)
                return;
        forget_all(l);
        map_done(&l->logins);
        mutex_done(&l->mutex);
        free(l);
}

struct oci_client *package_login_client(const struct package_login *l)
{
        return l->client;
}

void package_login_unref(struct package_login *l)
{
        if (!l || atomic_fetch_sub(&l->references, 1) != 1)
                return;
        oci_client_unref(l->client);
        oci_credentials_free(l->credentials);
        free(l);
}

/* --- Secrets --- */

static int decode(struct arena *a, const struct value *text, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = base64_decode(&b, value_str(text), BASE64_STD, err);

        if (r == 0)
                *ret = buf_to_arena(&b, a);
        return r;
}

static int add_secret(struct package_logins *l, struct kind_run *r, struct secrets *s, struct str name, struct err *err)
{
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("Secret") },
                                  .ns = l->options.secrets_namespace,
                                  .name = name };
        _cleanup_err_ struct err inner = { 0 };
        const struct value *secret, *text;
        int e;

        if (name.n == 0)
                return 0;
        if (s->n == ARRAY_SIZE(s->names))
                return err_set(err, ERR_LIMIT, "a package can have %zu pull secrets", ARRAY_SIZE(s->names));
        e = cluster_get_value(r->cluster, r->run, &key, &secret, &inner);
        if (e == ERR_NOT_FOUND) {
                if (s->missing.n == 0)
                        s->missing = name;
                return 0;
        }
        if (e < 0) {
                err_move(err, &inner);
                return err_wrap(err, "cannot get pull secret \"%.*s\"", STR_ARG(name));
        }
        text = value_find(secret, "data", ".dockerconfigjson");
        s->is_old[s->n] = !text;
        if (!text)
                text = value_find(secret, "data", ".dockercfg");
        if (!text)
                return 0; /* Kubernetes leaves other secrets out as well. */
        e = decode(r->run->arena, text, &s->texts[s->n], err);
        if (e < 0)
                return err_wrap(err, "cannot read pull secret \"%.*s\"", STR_ARG(name));
        s->names[s->n++] = name;
        return 0;
}

static int add_of_account(struct package_logins *l, struct kind_run *r, struct secrets *s, struct err *err)
{
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("ServiceAccount") },
                                  .ns = l->options.secrets_namespace,
                                  .name = l->options.service_account };
        _cleanup_err_ struct err inner = { 0 };
        const struct value *account;
        int e = l->options.service_account.n ? cluster_get_value(r->cluster, r->run, &key, &account, &inner)
                                             : ERR_NOT_FOUND;

        if (e == ERR_NOT_FOUND)
                return 0;
        if (e < 0) {
                err_move(err, &inner);
                return err_wrap(err, "cannot get service account \"%.*s\"", STR_ARG(key.name));
        }
        VALUE_FOREACH_ITEM (item, value_get(account, STR("imagePullSecrets"))) {
                e = e < 0 ? e : add_secret(l, r, s, value_str(value_get(item, STR("name"))), err);
        }
        return e;
}

static int read_secrets(struct package_logins *l, struct kind_run *r, const struct value *pull_secrets, struct str more,
                        struct secrets *s, struct err *err)
{
        int e = 0;

        VALUE_FOREACH_ITEM (item, pull_secrets) {
                e = e < 0 ? e : add_secret(l, r, s, value_str(value_get(item, STR("name"))), err);
        }
        if (e == 0)
                e = add_secret(l, r, s, more, err);
        return e < 0 ? e : add_of_account(l, r, s, err);
}

/* --- Clients --- */

static int fill(const struct package_logins *l, struct arena *a, const struct secrets *s, struct oci_credentials *c,
                struct err *err)
{
        int e = 0;

        for (size_t i = 0; e == 0 && i < s->n; i++) {
                char *name = arena_cstring(a, arena_printf(a, "pull secret \"%.*s\"", STR_ARG(s->names[i])));

                e = s->is_old[i] ? oci_credentials_add_dockercfg(c, name, s->texts[i], err)
                                 : oci_credentials_add_config(c, name, s->texts[i], false, err);
        }
        return e == 0 && l->options.uses_own_credentials ? oci_credentials_add_default(c, err) : e;
}

static int new_login(const struct package_logins *l, struct arena *a, const struct secrets *s,
                     struct package_login **ret, struct err *err)
{
        struct package_login *login = xcalloc(1, sizeof(*login));
        struct oci_client_options options = l->options.registry;
        int e;

        atomic_store(&login->references, 1);
        login->credentials = oci_credentials_new();
        options.credentials = login->credentials;
        e = fill(l, a, s, login->credentials, err);
        if (e == 0)
                e = oci_client_new(&options, &login->client, err);
        if (e < 0)
                package_login_unref(login);
        else
                *ret = login;
        return e;
}

static struct str key_of(struct arena *a, const struct secrets *s)
{
        _cleanup_buf_ struct buf hex = BUF_INIT(0);
        struct sha256 sum;

        sha256_begin(&sum);
        for (size_t i = 0; i < s->n; i++) {
                sha256_add(&sum, arena_printf(a, "%zu %d ", s->texts[i].n, s->is_old[i]));
                sha256_add(&sum, s->texts[i]);
        }
        sha256_end_hex(&sum, &hex);
        return buf_to_arena(&hex, a);
}

static struct package_login *find(struct package_logins *l, struct str key)
{
        struct package_login *login;

        mutex_lock(&l->mutex);
        login = map_get(&l->logins, key);
        if (login)
                atomic_fetch_add(&login->references, 1);
        mutex_unlock(&l->mutex);
        return login;
}

static void keep(struct package_logins *l, struct str key, struct package_login *login)
{
        mutex_lock(&l->mutex);
        if (l->logins.n >= MAX_LOGINS)
                forget_all(l);
        if (!map_has(&l->logins, key)) {
                atomic_fetch_add(&login->references, 1);
                map_add(&l->logins, str_make(str_to_cstring(key), key.n), login);
        }
        mutex_unlock(&l->mutex);
}

int package_logins_get(struct package_logins *l, struct kind_run *r, const struct value *pull_secrets, struct str more,
                       struct package_login **ret, struct str *ret_missing, struct err *err)
{
        struct secrets s = { 0 };
        struct str key;
        int e = read_secrets(l, r, pull_secrets, more, &s, err);

        if (e < 0)
                return e;
        *ret_missing = s.missing;
        key = key_of(r->run->arena, &s);
        *ret = find(l, key);
        if (*ret)
                return 0;
        e = new_login(l, r->run->arena, &s, ret, err);
        if (e == 0)
                keep(l, key, *ret);
        return e;
}
