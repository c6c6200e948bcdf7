/* SHA-1, for name-based UUIDs. Never for security: digests that must not be forged are SHA-256, from a higher layer. */
#pragma once

#include "str.h"

#define SHA1_BYTES 20

struct sha1 {
        uint32_t state[5];
        uint64_t n_bytes;
        uint8_t block[64];
};

void sha1_init(struct sha1 *h);
void sha1_update(struct sha1 *h, struct str s);
void sha1_finish(struct sha1 *h, uint8_t ret_digest[SHA1_BYTES]);
