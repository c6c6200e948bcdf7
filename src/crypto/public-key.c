#include "public-key.h"

#include "key.h"
#include "macro.h"

#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#define RSA_LEAST_BITS 1024

static void free_contextp(EVP_MD_CTX **context)
{
        EVP_MD_CTX_free(*context);
}

static void free_decoderp(OSSL_DECODER_CTX **context)
{
        OSSL_DECODER_CTX_free(*context);
}

static bool has_usable_curve(const EVP_PKEY *key)
{
        static const char *const curves[] = { "prime256v1", "secp384r1", "secp521r1" };
        char name[64];
        size_t n;

        if (EVP_PKEY_get_group_name(key, name, sizeof(name), &n) != 1)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(curves); i++)
                if (strcmp(name, curves[i]) == 0)
                        return true;
        return false;
}

static bool is_usable(const EVP_PKEY *key)
{
        switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_RSA:
                return EVP_PKEY_get_bits(key) >= RSA_LEAST_BITS;
        case EVP_PKEY_EC:
                return has_usable_curve(key);
        case EVP_PKEY_ED25519:
                return true;
        default:
                return false;
        }
}

static EVP_PKEY *decode(const char *structure, const uint8_t *der, size_t n)
{
        EVP_PKEY *key = NULL;
        _cleanup_(free_decoderp)
        OSSL_DECODER_CTX *context =
                OSSL_DECODER_CTX_new_for_pkey(&key, "DER", structure, NULL, EVP_PKEY_PUBLIC_KEY, NULL, NULL);

        assert(context);
        if (OSSL_DECODER_from_data(context, &der, &n) != 1 || n > 0) {
                EVP_PKEY_free(key);
                key = NULL;
        }
        ERR_clear_error();
        return key;
}

int public_key_parse(struct str pem, struct public_key **ret, struct err *err)
{
        _cleanup_free_ char *type = NULL;
        _cleanup_free_ uint8_t *der = NULL;
        EVP_PKEY *key = NULL;
        size_t n = 0;

        if (!pem_read(pem, &type, &der, &n))
                return err_set(err, ERR_INVALID, "PEM decoding failed");
        if (strcmp(type, "PUBLIC KEY") == 0)
                key = decode("SubjectPublicKeyInfo", der, n);
        else if (strcmp(type, "RSA PUBLIC KEY") == 0)
                key = decode("type-specific", der, n);
        else
                return err_set(err, ERR_INVALID,
                               "unknown Public key PEM file type: %s. Are you passing the correct public "
                               "key?",
                               type);
        if (!key)
                return err_set(err, ERR_INVALID, "the public key cannot be read");
        if (!is_usable(key)) {
                EVP_PKEY_free(key);
                return err_set(err, ERR_UNSUPPORTED,
                               "the public key is neither RSA of at least %d bits, nor ECDSA on P-256, P-384 or P-521, "
                               "nor Ed25519",
                               RSA_LEAST_BITS);
        }
        *ret = (struct public_key *)key;
        return 0;
}

void public_key_free(struct public_key *key)
{
        EVP_PKEY_free((EVP_PKEY *)key);
}

static const char *const hash_names[] = { [SIGNATURE_SHA224] = "sha224",
                                          [SIGNATURE_SHA256] = "sha256",
                                          [SIGNATURE_SHA384] = "sha384",
                                          [SIGNATURE_SHA512] = "sha512" };

bool signature_hash_from_name(struct str name, enum signature_hash *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(hash_names); i++)
                if (str_equal(name, str_from(hash_names[i]))) {
                        *ret = (enum signature_hash)i;
                        return true;
                }
        return false;
}

static bool verifies(EVP_PKEY *key, const EVP_MD *hash, bool is_pss, struct str text, struct str signature)
{
        _cleanup_(free_contextp)
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        EVP_PKEY_CTX *parameters = NULL;
        bool is_good;

        assert(context);
        is_good = EVP_DigestVerifyInit(context, &parameters, hash, NULL, key) == 1;
        if (is_good && is_pss)
                is_good = EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 &&
                          EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_AUTO) == 1;
        is_good = is_good && EVP_DigestVerify(context, (const unsigned char *)signature.p, signature.n,
                                              (const unsigned char *)text.p, text.n) == 1;
        ERR_clear_error();
        return is_good;
}

bool public_key_verifies(const struct public_key *key, enum signature_hash hash, struct str text, struct str signature)
{
        EVP_PKEY *pkey = (EVP_PKEY *)key;
        int type = EVP_PKEY_get_base_id(pkey);
        const EVP_MD *md = EVP_get_digestbyname(hash_names[hash]);

        if (type == EVP_PKEY_ED25519)
                return verifies(pkey, NULL, false, text, signature);
        return verifies(pkey, md, false, text, signature) ||
               (type == EVP_PKEY_RSA && verifies(pkey, md, true, text, signature));
}
