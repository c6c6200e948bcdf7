#include "cipher.h"

#include <openssl/evp.h>

/* OpenSSL takes lengths as int, so longer inputs are processed in pieces. */
#define PIECE_BYTES ((size_t)1 << 30)

static void apply(const uint8_t *key, const uint8_t *iv, struct str blocks, uint8_t *ret, int is_encrypting)
{
        EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
        int n;

        assert(c && blocks.n % AES_BLOCK_BYTES == 0);
        assert(EVP_CipherInit_ex(c, EVP_aes_256_cbc(), NULL, key, iv, is_encrypting) == 1);
        EVP_CIPHER_CTX_set_padding(c, 0);
        while (blocks.n > 0) {
                struct str piece = str_first(blocks, MIN(blocks.n, PIECE_BYTES));

                assert(EVP_CipherUpdate(c, ret, &n, (const unsigned char *)piece.p, (int)piece.n) == 1);
                blocks = str_skip(blocks, piece.n);
                ret += piece.n;
        }
        EVP_CIPHER_CTX_free(c);
}

void aes_cbc_encrypt(const uint8_t key[AES_KEY_BYTES], const uint8_t iv[AES_BLOCK_BYTES], struct str blocks,
                     uint8_t *ret)
{
        apply(key, iv, blocks, ret, 1);
}

void aes_cbc_decrypt(const uint8_t key[AES_KEY_BYTES], const uint8_t iv[AES_BLOCK_BYTES], struct str blocks,
                     uint8_t *ret)
{
        apply(key, iv, blocks, ret, 0);
}
