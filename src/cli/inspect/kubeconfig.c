#include "kubeconfig.h"

#include <string.h>

#include "base64.h"
#include "buf.h"
#include "input.h"
#include "value.h"
#include "yaml.h"

/* The entry of a named list: `{name, cluster: {...}}`. */
static const struct value *find_named(const struct value *config, const char *list, const char *what, struct str name)
{
        VALUE_FOREACH_ITEM (item, value_get(config, str_from(list)))
                if (str_equal(value_str(value_get(item, STR("name"))), name))
                        return value_get(item, str_from(what));
        return NULL;
}

static int read_file(struct arena *a, const char *config_path, struct str path, struct str *ret, struct err *err)
{
        const char *slash = strrchr(config_path, '/');
        _cleanup_buf_ struct buf name = BUF_INIT(0), text = BUF_INIT(0);
        int r;

        if (path.p[0] != '/' && slash)
                buf_append(&name, config_path, (size_t)(slash - config_path) + 1);
        buf_append_str(&name, path);
        r = input_read(buf_cstring(&name), &text, err);
        if (r == 0)
                *ret = buf_to_arena(&text, a);
        return r;
}

/* The text of KEY-data, or of the file that KEY names. */
static int read_text(struct arena *a, const char *config_path, const struct value *from, const char *key,
                     struct str *ret, struct err *err)
{
        struct str data = value_str(value_get(from, arena_printf(a, "%s-data", key)));
        struct str path = value_str(value_get(from, str_from(key)));
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        if (data.n) {
                if (base64_decode(&text, data, BASE64_STD, NULL) < 0)
                        return err_set(err, ERR_INVALID, "%s-data is not base64", key);
                *ret = buf_to_arena(&text, a);
                return 0;
        }
        return path.n ? read_file(a, config_path, path, ret, err) : 0;
}

static int read_user(struct arena *a, const char *path, const struct value *user, struct kubeconfig *ret,
                     struct err *err)
{
        struct str token_file = value_str(value_get(user, STR("tokenFile")));
        int r;

        if (value_get(user, STR("exec")) || value_get(user, STR("auth-provider")))
                return err_set(err, ERR_UNSUPPORTED,
                               "users that log in by another program are not supported: use a certificate or a token");
        r = read_text(a, path, user, "client-certificate", &ret->certificate, err);
        if (r == 0)
                r = read_text(a, path, user, "client-key", &ret->key, err);
        ret->token = value_str(value_get(user, STR("token")));
        if (r == 0 && token_file.n) {
                r = read_file(a, path, token_file, &ret->token, err);
                ret->token = str_trim(ret->token);
        }
        return r;
}

static int read_cluster(struct arena *a, const char *path, const struct value *cluster, struct kubeconfig *ret,
                        struct err *err)
{
        ret->server = value_str(value_get(cluster, STR("server")));
        ret->tls_server_name = value_str(value_get(cluster, STR("tls-server-name")));
        ret->trusts_anyone = value_bool(value_get(cluster, STR("insecure-skip-tls-verify")), false);
        if (ret->server.n == 0)
                return err_set(err, ERR_INVALID, "the cluster has no server");
        return read_text(a, path, cluster, "certificate-authority", &ret->authority, err);
}

static int read_context(struct arena *a, const char *path, const struct value *config, struct str name,
                        struct kubeconfig *ret, struct err *err)
{
        const struct value *context = find_named(config, "contexts", "context", name), *cluster, *user;
        struct str of_cluster = value_str(value_get(context, STR("cluster"))),
                   of_user = value_str(value_get(context, STR("user")));
        int r;

        if (!context)
                return err_set(err, ERR_NOT_FOUND, "context \"%.*s\" does not exist", STR_ARG(name));
        cluster = find_named(config, "clusters", "cluster", of_cluster);
        user = find_named(config, "users", "user", of_user);
        if (!cluster)
                return err_set(err, ERR_NOT_FOUND, "cluster \"%.*s\" of context \"%.*s\" does not exist",
                               STR_ARG(of_cluster), STR_ARG(name));
        if (!user && of_user.n)
                return err_set(err, ERR_NOT_FOUND, "user \"%.*s\" of context \"%.*s\" does not exist", STR_ARG(of_user),
                               STR_ARG(name));
        ret->ns = value_str(value_get(context, STR("namespace")));
        r = read_cluster(a, path, cluster, ret, err);
        return r < 0 ? r : read_user(a, path, user, ret, err);
}

int kubeconfig_read(struct arena *a, const char *path, struct str context, struct kubeconfig *ret, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *config;
        int r = input_read(path, &text, err);

        *ret = (struct kubeconfig) { 0 };
        if (r < 0)
                return r;
        r = yaml_parse(a, buf_to_arena(&text, a), NULL, &config, err);
        if (r == 0)
                r = read_context(a, path, config,
                                 context.n ? context : value_str(value_get(config, STR("current-context"))), ret, err);
        return r < 0 ? err_wrap(err, "kubeconfig %s", path) : 0;
}
