/* Tokens of service accounts: what they say, and whether it is still true (docs/spec/apiserver 9.2). */
#pragma once

#include "cluster.h"

struct private_key;
struct signature_cache;

#define SERVICE_ACCOUNT_PREFIX         "system:serviceaccount:"
#define SERVICE_ACCOUNT_LEGACY_ISSUER  "kubernetes/serviceaccount"
#define SERVICE_ACCOUNT_DEFAULT_ISSUER "https://kubernetes.default.svc.cluster.local"

/* An issuer of service-account tokens and its key. Immutable after creation, apart from the cache; its texts outlive all uses. */
struct token_issuer {
        struct str issuer; /* also the audience of the API itself */
        const struct private_key *key;
        struct str key_id;
        struct signature_cache *signatures; /* of tokens that were checked before; NULL: none */
};

/* The object that a token is bound to, beside its service account: the token ends with it. An empty kind: none. */
struct token_binding {
        struct str kind; /* Secret, Pod, Node */
        struct str name;
        struct str uid;
};

struct token_contents {
        struct str ns;
        struct str account_name;
        struct str account_uid;
        struct token_binding binding;
        const struct str *audiences;
        size_t n_audiences;
        int64_t issued, expires; /* seconds since 1970 */
};

/* A token with these contents, in the arena. */
int service_token_make(const struct token_issuer *issuer, struct arena *a, const struct token_contents *contents,
                       struct str *ret, struct err *err);

/* A token without end for a Secret of type kubernetes.io/service-account-token, which has to hold it. */
int service_token_make_legacy(const struct token_issuer *issuer, struct arena *a, struct str ns, struct str secret_name,
                              struct str account_name, struct str account_uid, struct str *ret, struct err *err);

/* The user behind the token, and the audiences of the token that were asked for, in the run's arena. The objects that the token
 * names are read from the cluster. An error says in the API's words why the token does not count; ERR_NOT_FOUND: the text is no token
 * of this issuer, as far as its unverified claims say. The groups of the user lack system:authenticated. */
int service_token_user(const struct token_issuer *issuer, struct cluster *cluster, struct run *run, struct str token,
                       const struct str *audiences, size_t n_audiences, struct user *ret,
                       struct str_list *ret_audiences, struct err *err);

/* Splits system:serviceaccount:NAMESPACE:NAME. False for other users. */
bool service_account_of_user(struct str user, struct str *ret_namespace, struct str *ret_name);

/* system:serviceaccounts and system:serviceaccounts:NAMESPACE, in the arena: always two. */
const struct str *service_account_groups(struct arena *a, struct str ns);
