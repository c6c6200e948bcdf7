#include "digest.h"

#include "buf.h"

#include <openssl/evp.h>

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES])
{
        int r = EVP_Digest(bytes.n ? bytes.p : "", bytes.n, ret_digest, NULL, EVP_sha256(), NULL);

        assert(r == 1); /* fails only without memory */
}

static void append_hex(struct buf *b, const uint8_t *digest, size_t n)
{
        for (size_t i = 0; i < n; i++)
                buf_appendf(b, "%02x", digest[i]);
}

void sha256_append_hex(struct buf *b, struct str bytes)
{
        uint8_t digest[SHA256_BYTES];

        sha256(bytes, digest);
        append_hex(b, digest, sizeof(digest));
}

void sha512_append_hex(struct buf *b, struct str bytes)
{
        uint8_t digest[SHA512_BYTES];
        int r = EVP_Digest(bytes.n ? bytes.p : "", bytes.n, digest, NULL, EVP_sha512(), NULL);

        assert(r == 1);
        append_hex(b, digest, sizeof(digest));
}
