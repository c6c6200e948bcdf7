/* Uses OpenSSL's plain functions, which it deprecates in favour of EVP. The EVP functions first load OpenSSL's providers and
 * configuration; for a program that needs a digest only for a name, that would cost more than everything else. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "digest.h"

#include "ascii.h"
#include "buf.h"

#include <openssl/sha.h>

void sha256(struct str bytes, uint8_t ret_digest[SHA256_BYTES])
{
        SHA256_CTX c;

        SHA256_Init(&c);
        SHA256_Update(&c, bytes.n ? bytes.p : "", bytes.n);
        SHA256_Final(ret_digest, &c);
}

static void append_hex(struct buf *b, const uint8_t *digest, size_t n)
{
        static const char digits[] = ASCII_HEX_LOWER;

        for (size_t i = 0; i < n; i++) {
                buf_append_char(b, digits[digest[i] >> 4]);
                buf_append_char(b, digits[digest[i] & 15]);
        }
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "struct sha256 holds OpenSSL's state");

void sha256_begin(struct sha256 *s)
{
        SHA256_Init((SHA256_CTX *)s);
}

void sha256_add(struct sha256 *s, struct str bytes)
{
        if (bytes.n)
                SHA256_Update((SHA256_CTX *)s, bytes.p, bytes.n);
}

void sha256_end_hex(struct sha256 *s, struct buf *b)
{
        uint8_t digest[SHA256_BYTES];

        SHA256_Final(digest, (SHA256_CTX *)s);
        append_hex(b, digest, sizeof(digest));
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
        SHA512_CTX c;

        SHA512_Init(&c);
        SHA512_Update(&c, bytes.n ? bytes.p : "", bytes.n);
        SHA512_Final(digest, &c);
        append_hex(b, digest, sizeof(digest));
}
