/* Packages (docs/spec/packages 1): Functions, Providers and Configurations get revisions; the active revision installs its objects, runs
 * its program, and its functions are put into the registry, which pipelines call.
 *
 * A Function whose package is one that is built in runs in this process. Others are pulled and run, or can be reached at an address that
 * the user gives. */
#pragma once

#include "features.h"
#include "manager.h"
#include "registry.h"

struct package_client;
struct packages;
struct runtime;

/* A function that runs beside this process. */
struct packages_external {
        struct str name;   /* of the Function */
        struct str target; /* HOST:PORT, dns:///HOST:PORT, unix:PATH */
};

struct packages_options {
        struct manager *manager; /* outlives the pack, like the registry, the client and the runtime */
        struct registry *registry;
        struct features features;
        struct package_client *client; /* NULL: packages cannot be pulled */
        struct runtime *runtime;       /* NULL: programs of packages cannot be run */
        const char *keys_directory;    /* with a runtime: where the keys for calls of its functions are put. Copied */
        bool functions_run_elsewhere;  /* --package-runtime: others fill in status.endpoint */
        bool providers_run_elsewhere;
        bool upgrades_dependencies;
        bool downgrades_dependencies;
        /* Makes the kubeconfig of a service account of crossplane-system, for the program of a provider; a text in the arena. The same
         * account gets the same text while that is good. NULL: programs of providers get none. */
        int (*make_kubeconfig)(void *context, struct arena *a, struct str service_account, struct str *ret,
                               struct err *err);
        void *kubeconfig_context;
        const struct builtin_function *(*find_builtin)(struct str name); /* by the last element of the package */
        bool ignores_versions; /* a built-in function stands for every version of its package, and for digests */
        const struct packages_external *externals; /* copied */
        size_t n_externals;
        struct str tls_certs_dir; /* tls.crt, tls.key, ca.crt for calls of functions beside; "": plain text */
};

int packages_new(const struct packages_options *options, struct packages **ret, struct err *err);
void packages_free(struct packages *p); /* NULL is fine */

/* Makes the objects that exist from the start: the Lock, the runtime config and the activation policy named `default`. Their kinds must
 * be served. Objects that exist are left alone. */
int packages_install(struct cluster *cluster, struct run *run, struct err *err);
