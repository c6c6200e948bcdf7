/* Signatures of JSON Web Tokens (RFC 7518): ES256 with P-256 keys, RS256 with RSA keys. Texts and signatures are raw bytes here;
 * the base64 around them is the caller's. */
#pragma once

#include "key.h"

#define JWS_P256_BYTES 32 /* of one coordinate, and of each half of a signature */

/* "ES256", "RS256", or "" for a key that signs no tokens. */
struct str jws_algorithm(const struct private_key *key);

/* Appends the signature of the text. The key has an algorithm. */
int jws_sign(const struct private_key *key, struct str text, struct buf *b, struct err *err);

/* Whether the signature was made with the key, for the key's own algorithm. The bytes come from outside. */
bool jws_is_signed(const struct private_key *key, struct str text, struct str signature);

/* The numbers of the public key, big-endian: x and y of a P-256 key, n and e of an RSA key. The key has an algorithm. */
void jws_public_numbers(const struct private_key *key, struct buf *ret_first, struct buf *ret_second);
