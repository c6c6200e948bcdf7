/* Cryptographic digests, for uses where a forged digest must not be possible. */
#pragma once

#include "str.h"

#define SHA256_BYTES 32
#define SHA512_BYTES 64

struct buf;

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES]);

/* Hashes data piece by piece. The struct is in the caller's memory; there is nothing to free. */
struct sha256 {
        uint64_t state[16];
};
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct str bytes);
void sha256_end_hex(struct sha256 *s, struct buf *b); /* appends the digest in lower-case hexadecimal */

/* Appends the digest in lower-case hexadecimal. */
void sha256_append_hex(struct buf *b, struct str bytes);
void sha512_append_hex(struct buf *b, struct str bytes);
