/* Digests that must not be forged. */
#pragma once

#include "str.h"

#define SHA256_BYTES 32
#define SHA512_BYTES 64

struct buf;

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES]);

/* Appends it in lower-case hexadecimal. */
void sha256_append_hex(struct buf *b, struct str bytes);
void sha512_append_hex(struct buf *b, struct str bytes);
