#include "password.h"

#include "buf.h"

#include <crypt.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#define BCRYPT_COST 10

/* `$2b$` is bcrypt without the workarounds that some libraries apply for `$2a$`; Go writes `$2a$` for the same algorithm. */
int bcrypt_append(struct buf *b, struct str password, const uint8_t salt[BCRYPT_SALT_BYTES], struct err *err)
{
        _cleanup_free_ struct crypt_data *data = NULL;
        char text[BCRYPT_PASSWORD_BYTES + 1] = { 0 };
        char setting[CRYPT_GENSALT_OUTPUT_SIZE];
        const char *hash;

        if (password.n > BCRYPT_PASSWORD_BYTES)
                return err_set(err, ERR_INVALID, "bcrypt: password length exceeds 72 bytes");
        if (str_find_char(password, '\0') >= 0)
                return err_set(err, ERR_INVALID, "bcrypt: password holds a zero byte");
        if (password.n)
                memcpy(text, password.p, password.n);
        data = calloc(1, sizeof(*data));
        assert(data);
        if (!crypt_gensalt_rn("$2b$", BCRYPT_COST, (const char *)salt, BCRYPT_SALT_BYTES, setting, sizeof(setting)))
                return err_set(err, ERR_UNSUPPORTED, "bcrypt: libcrypt does not know the method");
        hash = crypt_r(text, setting, data);
        if (!hash || hash[0] != '$')
                return err_set(err, ERR_UNSUPPORTED, "bcrypt: libcrypt does not know the method");
        buf_append_literal(b, "$2a");
        buf_append_str(b, str_from(hash + 3));
        return 0;
}

int scrypt_derive(struct str password, struct str salt, uint64_t n, uint64_t r, uint64_t p, uint8_t *ret_key,
                  size_t key_bytes, struct err *err)
{
        /* OpenSSL applies the limit to all memory, lanes included. */
        uint64_t max_bytes = 128 * r * (n + p + 2);

        if (EVP_PBE_scrypt(password.n ? password.p : "", password.n, (const unsigned char *)salt.p, salt.n, n, r, p,
                           max_bytes, ret_key, key_bytes) != 1)
                return err_set(err, ERR_FAILED, "scrypt: cannot derive a key");
        return 0;
}

void hmac_sha256(struct str key, struct str bytes, uint8_t ret_digest[SHA256_BYTES])
{
        unsigned n = SHA256_BYTES;

        assert(key.n <= INT_MAX);
        assert(HMAC(EVP_sha256(), key.n ? key.p : "", (int)key.n, (const unsigned char *)bytes.p, bytes.n, ret_digest,
                    &n));
}
