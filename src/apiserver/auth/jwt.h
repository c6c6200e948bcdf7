/* JSON Web Tokens in their compact form: HEADER.CLAIMS.SIGNATURE, each part in base64url (RFC 7519). */
#pragma once

#include "arena.h"
#include "err.h"
#include "value.h"

struct private_key;

#define JWT_BYTES (64u << 10) /* longer texts are no tokens */
#define JWT_DEPTH 32          /* nesting of the claims */

/* A token that was taken apart. Nothing in it can be trusted before jwt_is_signed. */
struct jwt {
        struct str signed_text; /* HEADER.CLAIMS, borrowed from the token */
        struct str signature;   /* decoded */
        struct str algorithm;
        struct str key_id;          /* "": not given */
        const struct value *claims; /* an object */
};

int jwt_parse(struct arena *a, struct str token, struct jwt *ret, struct err *err);

/* Whether the key, which is known by key_id, has signed the token with the key's own algorithm. */
bool jwt_is_signed(const struct jwt *t, const struct private_key *key, struct str key_id);

/* A token of the claims, in the arena. */
int jwt_make(struct arena *a, const struct value *claims, const struct private_key *key, struct str key_id,
             struct str *ret, struct err *err);

/* The name of a key: the SHA-256 of its public part in base64url, as the API server names its keys. In the arena. */
struct str jwt_key_id(struct arena *a, const struct private_key *key);
