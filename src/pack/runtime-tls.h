/* The keys of packages (docs/spec/packages 3.4): an authority in the Secret crossplane-root-ca, a server's leaf for each package in
 * NAME-tls-server, a client's leaf in crossplane-tls-client for calls of functions, one in NAME-tls-client for each provider.
 *
 * Unlike upstream's, they are replaced before they end. The authority goes first: tls.crt of its Secret then holds the new certificate
 * and behind it the old one until that has expired, and ca.crt of every leaf holds both. A leaf is replaced when it nears its end, when
 * its authority is no longer in the Secret, or when it lacks a name. So clients trust a new server before it answers, and servers
 * trust a new client before it calls. Leaves that someone else has put there (they are signed by another authority) stay as they are. */
#pragma once

#include "cluster.h"
#include "runtime.h"

#define RUNTIME_TLS_ROOT   STR("crossplane-root-ca")
#define RUNTIME_TLS_CLIENT STR("crossplane-tls-client")

struct runtime_tls_options {
        struct str ns;      /* "": crossplane-system */
        int64_t lifetime_s; /* of what is made; 0: 10 years */
        int64_t margin_s;   /* leaves are replaced when they have less left, the authority at twice that; 0: 30 days */
        int64_t now_s;      /* 0: the clock's */
};

enum runtime_tls_use { RUNTIME_TLS_SERVES, RUNTIME_TLS_CALLS };

struct runtime_tls_leaf {
        enum runtime_tls_use use;
        struct str secret; /* its name */
        struct str name;   /* server: the Service (names are NAME, NAME.NS, NAME.NS.svc). Client: the one name */
        const struct value *owner; /* an owner reference for a new Secret, or NULL */
};

/* Makes the Secrets true, through the run's cluster, and returns what they hold, in the run's arena. *ret_check_s (may be NULL) is
 * after how many seconds to ask again. */
int runtime_tls_ensure(struct cluster *c, struct run *run, const struct runtime_tls_options *options,
                       const struct runtime_tls_leaf *leaf, struct runtime_tls *ret, int64_t *ret_check_s,
                       struct err *err);

/* Writes tls.crt, tls.key and ca.crt into the directory, which is made; what is equal is not written. The certificate appears with its
 * key or not at all to readers that try again, as tls_config does. */
int runtime_tls_write(const char *directory, const struct runtime_tls *tls, struct err *err);
