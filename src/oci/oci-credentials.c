#include "oci-credentials.h"

#include "arena.h"
#include "base64.h"
#include "buf.h"
#include "input.h"
#include "json.h"
#include "oci-helper.h"
#include "oci-reference.h"
#include "vec.h"

#include <errno.h>
#include <stdio.h>

#define MAX_CONFIG_BYTES (1u << 20)
#define HUB_KEY          STR("https://index.docker.io/v1/")

struct source {
        const char *name;
        const struct value *auths;   /* an object, or NULL */
        const struct value *helpers; /* registry to helper, or NULL */
        struct str store;            /* the helper for all registries, or "" */
        struct oci_login login;      /* of a source that is one login */
        struct str registry;         /* for it; "" otherwise */
};

struct oci_credentials {
        struct arena arena;
        VEC(struct source) sources;
};

struct oci_credentials *oci_credentials_new(void)
{
        struct oci_credentials *c = xcalloc(1, sizeof(*c));

        arena_init(&c->arena, "credentials", 0);
        return c;
}

void oci_credentials_free(struct oci_credentials *c)
{
        if (!c)
                return;
        vec_done(&c->sources);
        arena_done(&c->arena);
        free(c);
}

static int parse_object(struct oci_credentials *c, const char *name, struct str json, const struct value **ret,
                        struct err *err)
{
        int r = json_parse(&c->arena, json, &(struct json_read_options) { .max_bytes = MAX_CONFIG_BYTES }, ret, NULL);

        /* The parser's text could quote a part of a secret. */
        if (r < 0)
                return err_set(err, ERR_INVALID, "%s is not valid JSON", name);
        if (!value_is_object(*ret))
                return err_set(err, ERR_INVALID, "%s is not a JSON object", name);
        return 0;
}

int oci_credentials_add_config(struct oci_credentials *c, const char *name, struct str json, bool uses_helpers,
                               struct err *err)
{
        struct source s = { .name = arena_cstring(&c->arena, str_from(name)) };
        const struct value *root;
        int r = parse_object(c, name, json, &root, err);

        if (r < 0)
                return r;
        s.auths = value_get(root, STR("auths"));
        if (uses_helpers) {
                s.helpers = value_get(root, STR("credHelpers"));
                s.store = value_str(value_get(root, STR("credsStore")));
        }
        vec_push(&c->sources, s);
        return 0;
}

int oci_credentials_add_dockercfg(struct oci_credentials *c, const char *name, struct str json, struct err *err)
{
        struct source s = { .name = arena_cstring(&c->arena, str_from(name)) };
        int r = parse_object(c, name, json, &s.auths, err);

        if (r >= 0)
                vec_push(&c->sources, s);
        return r;
}

void oci_credentials_add_login(struct oci_credentials *c, struct str registry, const struct oci_login *login)
{
        struct source s = {
                .registry = arena_copy(&c->arena, registry),
                .login = { .username = arena_copy(&c->arena, login->username),
                           .password = arena_copy(&c->arena, login->password),
                           .identity_token = arena_copy(&c->arena, login->identity_token),
                           .registry_token = arena_copy(&c->arena, login->registry_token) },
        };

        vec_push(&c->sources, s);
}

/* Adds the file if there is one: 1, or 0 without one. */
static int add_file(struct oci_credentials *c, const char *path, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(MAX_CONFIG_BYTES);
        int r;

        if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;
        r = input_read(path, &text, err);
        if (r >= 0)
                r = oci_credentials_add_config(c, path, buf_str(&text), true, err);
        return r < 0 ? r : 1;
}

static int add_named(struct oci_credentials *c, const char *directory, const char *rest, struct err *err)
{
        _cleanup_free_ char *path = NULL;

        if (!directory || !*directory)
                return 0;
        if (asprintf(&path, "%s%s", directory, rest) < 0)
                abort();
        return add_file(c, path, err);
}

int oci_credentials_add_default(struct oci_credentials *c, struct err *err)
{
        const char *docker = getenv("DOCKER_CONFIG");
        int r = docker && *docker ? add_named(c, docker, "/config.json", err)
                                  : add_named(c, getenv("HOME"), "/.docker/config.json", err);

        if (r == 0)
                r = add_named(c, getenv("REGISTRY_AUTH_FILE"), "", err);
        if (r == 0)
                r = add_named(c, getenv("XDG_RUNTIME_DIR"), "/containers/auth.json", err);
        return r < 0 ? err_wrap(err, "cannot read the credentials for registries") : 0;
}

/* Keys */

static bool part_matches(struct str pattern, struct str part)
{
        ptrdiff_t star = str_find_char(pattern, '*');

        if (star < 0)
                return str_equal_ignore_case(pattern, part);
        return part.n + 1 >= pattern.n &&
               str_equal_ignore_case(str_first(pattern, (size_t)star), str_first(part, (size_t)star)) &&
               str_equal_ignore_case(str_skip(pattern, (size_t)star + 1),
                                     str_skip(part, part.n - (pattern.n - (size_t)star - 1)));
}

/* `*` stands for one part of a name; the port must be equal. */
static bool host_matches(struct str pattern, struct str host)
{
        bool more_pattern = true, more_host = true;

        while (more_pattern && more_host) {
                struct str p, h;

                more_pattern = str_split(&pattern, '.', &p);
                more_host = str_split(&host, '.', &h);
                if (!part_matches(p, h))
                        return false;
        }
        return more_pattern == more_host;
}

static bool path_matches(struct str prefix, struct str repository)
{
        str_cut_suffix(&prefix, STR("/"));
        if (prefix.n == 0 || str_equal(prefix, STR("v1")) || str_equal(prefix, STR("v2")))
                return true;
        return str_starts_with(repository, prefix) && (repository.n == prefix.n || repository.p[prefix.n] == '/');
}

static bool key_matches(struct str key, struct str registry, struct str repository)
{
        struct str host;
        bool is_hub = str_equal(registry, STR(OCI_DOCKER_HUB));

        if (!str_cut_prefix(&key, STR("https://")))
                str_cut_prefix(&key, STR("http://"));
        str_split(&key, '/', &host);
        if (!host_matches(host, registry) &&
            !(is_hub && (str_equal(host, STR("docker.io")) || str_equal(host, STR("registry-1.docker.io")))))
                return false;
        return path_matches(key, repository);
}

/* The member with the longest key that matches, or NULL. */
static const struct member *best_member(const struct value *map, struct str registry, struct str repository)
{
        const struct member *best = NULL;

        VALUE_FOREACH_MEMBER (m, map) {
                if (key_matches(m->key, registry, repository) && (!best || m->key.n > best->key.n))
                        best = m;
        }
        return best;
}

/* Logins */

/* `auth` is the base64 of `user:password`. Docker ends some passwords with a NUL. */
static int read_auth(struct arena *a, struct str auth, struct oci_login *login, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str user, rest;

        if (base64_decode(&b, auth, BASE64_STD, NULL) < 0)
                return err_set(err, ERR_INVALID, "auth is not valid base64");
        rest = buf_to_arena(&b, a);
        if (!str_split(&rest, ':', &user))
                return err_set(err, ERR_INVALID, "auth has no colon between user and password");
        login->username = user;
        while (str_cut_suffix(&rest, str_make("\0", 1)))
                ;
        login->password = rest;
        return 0;
}

static int read_entry(struct arena *a, const struct value *entry, struct oci_login *ret, struct err *err)
{
        struct str auth = value_str(value_get(entry, STR("auth")));

        ret->username = arena_copy(a, value_str(value_get(entry, STR("username"))));
        ret->password = arena_copy(a, value_str(value_get(entry, STR("password"))));
        ret->identity_token = arena_copy(a, value_str(value_get(entry, STR("identitytoken"))));
        ret->registry_token = arena_copy(a, value_str(value_get(entry, STR("registrytoken"))));
        return auth.n > 0 ? read_auth(a, auth, ret, err) : 0;
}

static bool is_empty(const struct oci_login *l)
{
        return l->username.n == 0 && l->password.n == 0 && l->identity_token.n == 0 && l->registry_token.n == 0;
}

static int find_in_auths(const struct source *s, struct arena *a, struct str registry, struct str repository,
                         struct oci_login *ret, struct err *err)
{
        const struct member *m = best_member(s->auths, registry, repository);
        struct oci_login login = { 0 };
        int r;

        if (!m)
                return 0;
        r = read_entry(a, &m->value, &login, err);
        if (r < 0)
                return err_wrap(err, "%s: auths: \"%.*s\"", s->name, STR_ARG(m->key));
        if (is_empty(&login))
                return 0;
        *ret = login;
        return 1;
}

static int find_in_source(const struct source *s, struct arena *a, struct str registry, struct str repository,
                          struct deadline deadline, struct cancel *cancel, struct oci_login *ret, struct err *err)
{
        const struct member *m;
        struct str helper;

        if (s->registry.n > 0) {
                if (!str_equal(s->registry, registry))
                        return 0;
                *ret = s->login;
                return 1;
        }
        m = best_member(s->helpers, registry, repository);
        helper = m ? value_str(&m->value) : s->store;
        if (helper.n > 0) {
                struct str server = str_equal(registry, STR(OCI_DOCKER_HUB)) ? HUB_KEY : registry;
                int r = oci_helper_get(a, helper, server, deadline, cancel, ret, err);

                if (r != 0)
                        return r < 0 ? err_wrap(err, "%s", s->name) : r;
        }
        return find_in_auths(s, a, registry, repository, ret, err);
}

int oci_credentials_find(const struct oci_credentials *c, struct arena *a, struct str registry, struct str repository,
                         struct deadline deadline, struct cancel *cancel, struct oci_login *ret, struct err *err)
{
        for (size_t i = 0; c && i < c->sources.n; i++) {
                int r = find_in_source(&c->sources.p[i], a, registry, repository, deadline, cancel, ret, err);

                if (r != 0)
                        return r < 0 ? err_wrap(err, "credentials for %.*s", STR_ARG(registry)) : r;
        }
        return 0;
}
