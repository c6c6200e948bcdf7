/* Credentials for registries: Docker's config.json and Podman's auth.json, the credential helpers that they name, and pull secrets of
 * Kubernetes.
 *
 * A set has sources in order; the first that knows the registry wins. Within one file the longest key that matches wins: a key is a
 * registry, with or without scheme and path, and its host may have `*` for one part of the name (`*.example.org`). Secret values are
 * in no error text. */
#pragma once

#include "err.h"
#include "park.h"
#include "str.h"

struct arena;
struct oci_credentials; /* home: the thread that fills it; immutable afterwards, and then any thread */

/* Empty texts are absent. A registry token is sent as it is; an identity token is exchanged for one. */
struct oci_login {
        struct str username, password;
        struct str identity_token;
        struct str registry_token;
};

struct oci_credentials *oci_credentials_new(void);
void oci_credentials_free(struct oci_credentials *c); /* NULL is fine */

static inline void oci_credentials_freep(struct oci_credentials **c)
{
        oci_credentials_free(*c);
}

/* Adds the text of a config.json or auth.json (also `.dockerconfigjson` of a pull secret). name appears in errors. With uses_helpers the
 * programs that credHelpers and credsStore name are run; only a file of the user's own may have them run. */
int oci_credentials_add_config(struct oci_credentials *c, const char *name, struct str json, bool uses_helpers,
                               struct err *err);

/* Adds `.dockercfg`, the older form: what config.json has below auths. */
int oci_credentials_add_dockercfg(struct oci_credentials *c, const char *name, struct str json, struct err *err);

/* Adds one login for one registry, before everything that is added later. */
void oci_credentials_add_login(struct oci_credentials *c, struct str registry, const struct oci_login *login);

/* Adds the file that Docker would use: $DOCKER_CONFIG/config.json or ~/.docker/config.json; without it Podman's $REGISTRY_AUTH_FILE or
 * $XDG_RUNTIME_DIR/containers/auth.json. No file is no error. */
int oci_credentials_add_default(struct oci_credentials *c, struct err *err);

/* The login for a repository of a registry, in the arena. Returns 1 with a login, 0 if there is none, or a negative code if a file or a
 * helper failed. A helper is a program beside: it gets until the deadline. */
int oci_credentials_find(const struct oci_credentials *c, struct arena *a, struct str registry, struct str repository,
                         struct deadline deadline, struct cancel *cancel, struct oci_login *ret, struct err *err);
