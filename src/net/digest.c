#include "digest.h"

#include "buf.h"

#include <openssl/evp.h>

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES])
{
        int r = EVP_Digest(bytes.n ? bytes.p : "", bytes.n, ret_digest, NULL, EVP_sha256(), NULL);

        assert(r == 1); /* fails only without memory */
}

void sha256_append_hex(struct buf *b, struct str bytes)
{
        uint8_t digest[SHA256_BYTES];

        sha256(bytes, digest);
        for (size_t i = 0; i < sizeof(digest); i++)
                buf_appendf(b, "%02x", digest[i]);
}
