/* Digests that must not be forged. */
#pragma once

#include "str.h"

#define SHA256_BYTES 32
#define SHA512_BYTES 64

struct buf;

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES]);

/* Piece by piece. In the caller's memory; nothing to free. */
struct sha256 {
        uint64_t state[16];
};
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct str bytes);
void sha256_end_hex(struct sha256 *s, struct buf *b); /* appends it in lower-case hexadecimal */

/* Appends it in lower-case hexadecimal. */
void sha256_append_hex(struct buf *b, struct str bytes);
void sha512_append_hex(struct buf *b, struct str bytes);
