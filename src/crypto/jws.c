#include "jws.h"

#include "buf.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>

static void free_contextp(EVP_MD_CTX **context)
{
        EVP_MD_CTX_free(*context);
}

static void free_bignump(BIGNUM **n)
{
        BN_free(*n);
}

static void free_signaturep(ECDSA_SIG **s)
{
        ECDSA_SIG_free(*s);
}

static void free_opensslp(unsigned char **p)
{
        OPENSSL_free(*p);
}

static bool is_p256(const EVP_PKEY *key)
{
        char name[64];
        size_t n;

        return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && EVP_PKEY_get_group_name(key, name, sizeof(name), &n) == 1 &&
               strcmp(name, "prime256v1") == 0;
}

struct str jws_algorithm(const struct private_key *key)
{
        const EVP_PKEY *pkey = (const EVP_PKEY *)key;

        if (is_p256(pkey))
                return STR("ES256");
        return EVP_PKEY_get_base_id(pkey) == EVP_PKEY_RSA ? STR("RS256") : STR("");
}

/* OpenSSL's ECDSA signatures are DER; those of tokens are both numbers, one after the other. */
static int append_halves(struct buf *b, struct str der, struct err *err)
{
        const unsigned char *at = (const unsigned char *)der.p;
        _cleanup_(free_signaturep)
        ECDSA_SIG *s = d2i_ECDSA_SIG(NULL, &at, (long)der.n);
        uint8_t halves[2 * JWS_P256_BYTES];

        if (!s || BN_bn2binpad(ECDSA_SIG_get0_r(s), halves, JWS_P256_BYTES) < 0 ||
            BN_bn2binpad(ECDSA_SIG_get0_s(s), halves + JWS_P256_BYTES, JWS_P256_BYTES) < 0)
                return err_set(err, ERR_FAILED, "cannot sign a token: OpenSSL returned a malformed signature");
        buf_append(b, halves, sizeof(halves));
        return 0;
}

static int der_of_halves(struct str halves, unsigned char **ret, size_t *ret_n)
{
        const unsigned char *p = (const unsigned char *)halves.p;
        _cleanup_(free_signaturep)
        ECDSA_SIG *s = NULL;
        BIGNUM *r, *v;
        int n;

        if (halves.n != 2 * JWS_P256_BYTES)
                return ERR_INVALID;
        s = ECDSA_SIG_new();
        r = BN_bin2bn(p, JWS_P256_BYTES, NULL);
        v = BN_bin2bn(p + JWS_P256_BYTES, JWS_P256_BYTES, NULL);
        assert(s && r && v && ECDSA_SIG_set0(s, r, v) == 1);
        n = i2d_ECDSA_SIG(s, ret);
        assert(n > 0);
        *ret_n = (size_t)n;
        return 0;
}

int jws_sign(const struct private_key *key, struct str text, struct buf *b, struct err *err)
{
        _cleanup_(free_contextp)
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        _cleanup_(free_opensslp)
        unsigned char *signature = NULL;
        size_t n = 0;

        assert(context && jws_algorithm(key).n);
        if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, (EVP_PKEY *)key) == 1 &&
            EVP_DigestSign(context, NULL, &n, (const unsigned char *)text.p, text.n) == 1) {
                signature = OPENSSL_malloc(n);
                assert(signature);
                if (EVP_DigestSign(context, signature, &n, (const unsigned char *)text.p, text.n) == 1) {
                        if (is_p256((const EVP_PKEY *)key))
                                return append_halves(b, str_make((const char *)signature, n), err);
                        buf_append(b, signature, n);
                        return 0;
                }
        }
        ERR_clear_error();
        return err_set(err, ERR_FAILED, "cannot sign a token: OpenSSL refuses the key");
}

bool jws_is_signed(const struct private_key *key, struct str text, struct str signature)
{
        _cleanup_(free_contextp)
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        _cleanup_(free_opensslp)
        unsigned char *der = NULL;
        const unsigned char *bytes = (const unsigned char *)signature.p;
        size_t n = signature.n;
        bool is_signed;

        assert(context);
        if (is_p256((const EVP_PKEY *)key)) {
                if (der_of_halves(signature, &der, &n) < 0)
                        return false;
                bytes = der;
        }
        is_signed = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, (EVP_PKEY *)key) == 1 &&
                    EVP_DigestVerify(context, bytes, n, (const unsigned char *)text.p, text.n) == 1;
        ERR_clear_error();
        return is_signed;
}

/* Coordinates have their full length, as RFC 7518 wants; other numbers are as short as they can be. */
static void append_number(const EVP_PKEY *key, const char *name, size_t min_bytes, struct buf *b)
{
        _cleanup_(free_bignump)
        BIGNUM *number = NULL;
        uint8_t bytes[1024];
        int n;

        assert(EVP_PKEY_get_bn_param(key, name, &number) == 1);
        n = MAX(BN_num_bytes(number), (int)min_bytes);
        assert(n <= (int)sizeof(bytes) && BN_bn2binpad(number, bytes, n) == n);
        buf_append(b, bytes, (size_t)n);
}

void jws_public_numbers(const struct private_key *key, struct buf *ret_first, struct buf *ret_second)
{
        const EVP_PKEY *pkey = (const EVP_PKEY *)key;

        if (is_p256(pkey)) {
                append_number(pkey, OSSL_PKEY_PARAM_EC_PUB_X, JWS_P256_BYTES, ret_first);
                append_number(pkey, OSSL_PKEY_PARAM_EC_PUB_Y, JWS_P256_BYTES, ret_second);
                return;
        }
        append_number(pkey, OSSL_PKEY_PARAM_RSA_N, 0, ret_first);
        append_number(pkey, OSSL_PKEY_PARAM_RSA_E, 0, ret_second);
}
