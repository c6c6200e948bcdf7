/* Finds the user of a request: client certificates, static tokens, service-account tokens, impersonation (docs/spec/apiserver 9.1 to 9.4). */
#pragma once

#include "access.h"
#include "call.h"

struct authenticator;
struct pki;
struct tls_identity;

struct authenticator_options {
        struct cluster *cluster; /* unwrapped: service accounts and secrets are read from it as the server itself */
        struct access *access;   /* for impersonation */
        struct pki *pki;         /* the authority of client certificates, the key of service-account tokens */
        const char *token_file;  /* `token,user,uid,"group,group"` lines; NULL: none */
        const char *issuer;      /* NULL: https://kubernetes.default.svc.cluster.local */
};

int authenticator_new(const struct authenticator_options *options, struct authenticator **ret, struct err *err);
void authenticator_free(struct authenticator *a); /* NULL is fine */

/* The user behind a request, in the arena. identity is the peer's verified certificate, or NULL. Without credentials the user is
 * system:anonymous. Wrong ones are an error with REASON_UNAUTHORIZED, after a constant time for static tokens. Impersonation headers are
 * honoured if the user may impersonate, else the error is Forbidden. Groups of the result include system:authenticated or
 * system:unauthenticated. */
int authenticator_user(struct authenticator *a, struct run *run, const struct http_head *head,
                       const struct tls_identity *identity, struct user *ret, struct err *err);

/* Creates of kinds that are questions and are never stored: TokenReview, SelfSubjectReview, the four access reviews. The handler
 * answers 201 with the object and its status. plural is that of the path. */
bool review_is_one(struct gvr gvr);
int review_create(struct authenticator *a, struct api_call *call, struct gvr gvr, struct str ns,
                  const struct value *body, const struct value **ret, struct err *err);

/* POST serviceaccounts/NAME/token. */
int token_request_create(struct authenticator *a, struct api_call *call, struct str ns, struct str name,
                         const struct value *body, const struct value **ret, struct err *err);

/* /.well-known/openid-configuration and /openid/v1/jwks. The context is the authenticator. */
api_handler issuer_handle;
