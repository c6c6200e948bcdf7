/* How a registry asks for credentials: the challenges of its WWW-Authenticate fields, the request for a bearer token that answers
 * one, and the token that comes back. Everything here is text in, text out; oci-registry.h does the talking. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;

struct oci_parameter {
        struct str name; /* lower case */
        struct str value;
};

struct oci_challenge {
        struct str scheme; /* lower case: `bearer`, `basic`, ... */
        const struct oci_parameter *parameters;
        size_t n;
};

/* The challenges of one field (RFC 9110, 11.6.1), in order. Texts are in the arena. A syntax error is ERR_INVALID. */
int oci_challenges_parse(struct arena *a, struct str field, const struct oci_challenge **ret, size_t *ret_n,
                         struct err *err);

/* The parameter's value, or "". The name is in lower case. */
struct str oci_challenge_get(const struct oci_challenge *c, struct str name);

/* `repository:NAME:pull` or `repository:NAME:pull,push`. A client asks for its own scope and never for the one that a challenge
 * names: a registry must not get a token for another repository that way. */
struct str oci_scope(struct arena *a, struct str repository, bool pushes);

/* The query of a token request to the challenge's realm: `?service=...&scope=...`, after a query that the realm has already. */
struct str oci_token_query(struct arena *a, const struct oci_challenge *c, struct str scope);

/* The form of a token request with an identity token (OAuth 2). */
struct str oci_token_form(struct arena *a, const struct oci_challenge *c, struct str scope, struct str identity_token);

/* Reads the answer of a token server: `token` or `access_token`, and `expires_in` (60 s without one). */
int oci_token_parse(struct arena *a, struct str json, struct str *ret_token, int64_t *ret_seconds, struct err *err);
