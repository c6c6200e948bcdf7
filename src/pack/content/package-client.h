/* Gets packages (docs/spec/packages 1.8): rewrites references by ImageConfigs, finds the credentials, asks the registry, checks
 * signatures, and keeps what was fetched.
 *
 * package.yaml of a package that was fetched is kept in DIRECTORY/HEX.yaml, HEX being its digest; what a tag meant is kept by the image
 * cache, so that a registry that is down changes nothing for packages that were fetched before.
 *
 * Everything that is read from the cluster (ImageConfigs, Secrets) is read through the run's cluster, so that a change of it runs the
 * reconcile again. */
#pragma once

#include "manager.h"
#include "oci-cache.h"
#include "xpkg.h"

struct package_client; /* any thread */

struct package_client_options {
        struct oci_client_options registry; /* its texts outlive the client; credentials are ignored */
        bool uses_own_credentials;          /* besides those of secrets, the ones that Docker or Podman would use */
        struct oci_cache *cache;            /* of images; outlives the client. NULL: package_client_image fails */
        const char *directory;              /* where package.yaml of each package is kept; NULL: nowhere. Copied */
        struct str secrets_namespace;       /* of pull secrets and keys: crossplane-system. Copied */
        struct str service_account;         /* there, whose imagePullSecrets count too; "": none. Copied */
        bool verifies_signatures;           /* --enable-signature-verification */
};

int package_client_new(const struct package_client_options *options, struct package_client **ret, struct err *err);
void package_client_free(struct package_client *c); /* NULL is fine */

/* ImageConfigs that took part, at most one for each reason. */
struct package_applied {
        struct str name, reason;
};

struct package_request {
        struct str reference;             /* as the user wrote it */
        const struct value *pull_secrets; /* packagePullSecrets, or NULL */
        struct str pull_policy;           /* Always, IfNotPresent, Never; "": IfNotPresent */
        bool is_installed; /* it was fetched for this revision before: a tag that the registry has lost does not matter */
};

/* Texts live in the run's arena. */
struct package_result {
        struct str source;   /* the reference without tag and digest */
        struct str version;  /* the tag, or the digest */
        struct str digest;   /* sha256:... of what the reference means */
        struct str resolved; /* the reference after a rewrite */
        struct xpkg content;
        struct str invalid; /* why there is no content: package.yaml can be read, but is no package; "": there is */
        struct package_applied applied[4];
        size_t n_applied;
};

int package_client_get(struct package_client *c, struct kind_run *r, const struct package_request *req,
                       struct package_result *ret, struct err *err);

/* Whether an ImageConfig asks for the verification of this reference. */
int package_client_is_verified(struct kind_run *r, struct str reference, bool *ret, struct err *err);

/* The unpacked image of a package, for its runtime. Signatures are not checked: ask for what package_client_get has returned, by its
 * digest. */
int package_client_image(struct package_client *c, struct kind_run *r, const struct package_request *req,
                         struct oci_image **ret, struct err *err);

/* The tags of a source that are semantic versions, in ascending order, in the run's arena. */
int package_client_versions(struct package_client *c, struct kind_run *r, struct str source, struct str **ret,
                            size_t *ret_n, struct err *err);
