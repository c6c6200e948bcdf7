/* Clients of registries that show the credentials of pull secrets. Each set of credentials has a client of its own, so that a package
 * never gets the tokens of another one. */
#pragma once

#include "manager.h"
#include "oci-registry.h"

struct package_logins; /* any thread */

struct package_logins_options {
        struct oci_client_options registry; /* its texts outlive the logins; credentials are ignored */
        bool uses_own_credentials;          /* after those of secrets, the ones that Docker or Podman would use */
        struct str secrets_namespace;
        struct str service_account; /* whose imagePullSecrets count too; "": none */
};

struct package_logins *package_logins_new(const struct package_logins_options *options);
void package_logins_free(struct package_logins *l); /* NULL is fine; clients may outlive it */

/* A counted client with the credentials of these secrets: packagePullSecrets (NULL: none) and one more ("": none). A secret that does not
 * exist is left out; *ret_missing is the name of the first such one, or "". */
struct package_login;
int package_logins_get(struct package_logins *l, struct kind_run *r, const struct value *pull_secrets, struct str more,
                       struct package_login **ret, struct str *ret_missing, struct err *err);

struct oci_client *package_login_client(const struct package_login *l); /* borrowed */
void package_login_unref(struct package_login *l);                      /* NULL is fine */

static inline void package_login_unrefp(struct package_login **l)
{
        package_login_unref(*l);
}
