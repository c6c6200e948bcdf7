/* Public keys: read from PEM, used to check signatures. */
#pragma once

#include "err.h"
#include "str.h"

/* One key, immutable after creation. It is OpenSSL's EVP_PKEY. */
struct public_key;

/* The first PEM block: `PUBLIC KEY` (PKIX) or `RSA PUBLIC KEY` (PKCS #1), of an RSA, ECDSA (P-256, P-384, P-521) or Ed25519 key.
 * RSA keys have at least 1024 bits. */
int public_key_parse(struct str pem, struct public_key **ret, struct err *err);
void public_key_free(struct public_key *key); /* NULL is fine */

static inline void public_key_freep(struct public_key **key)
{
        public_key_free(*key);
}

#define _cleanup_public_key_ _cleanup_(public_key_freep)

enum signature_hash { SIGNATURE_SHA224, SIGNATURE_SHA256, SIGNATURE_SHA384, SIGNATURE_SHA512 };

/* By its name: `sha256`. */
bool signature_hash_from_name(struct str name, enum signature_hash *ret);

/* Whether the signature of the text was made with the key's other half: ECDSA as DER, RSA with PKCS #1 v1.5 or PSS, Ed25519 without a
 * hash. The bytes come from outside. */
bool public_key_verifies(const struct public_key *key, enum signature_hash hash, struct str text, struct str signature);
