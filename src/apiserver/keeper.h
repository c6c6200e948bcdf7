/* Housekeeping that clients of the API expect (docs/spec/apiserver 7.5), on a cluster alone:
 *
 *   - every namespace has the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` with the server's authority;
 *   - Secrets of type kubernetes.io/service-account-token get a token, and go with their account;
 *   - events are deleted when their time is over.
 *
 * One thread follows watches and puts keys on a work queue, another one works on the keys. Nothing is polled: a key that failed is
 * tried again later, and a watch that ended begins again with all objects. */
#pragma once

#include "cluster.h"

struct keeper;
struct pki;

struct keeper_options {
        struct cluster *cluster; /* unwrapped; outlives the keeper */
        struct pki *pki;         /* the authority, and the key of tokens; outlives the keeper */
        int64_t event_ttl_ms;    /* since an event was last seen; 0: an hour */
};

int keeper_start(const struct keeper_options *options, struct keeper **ret, struct err *err);

/* Stops both threads and waits for them. NULL is fine. */
void keeper_free(struct keeper *k);
