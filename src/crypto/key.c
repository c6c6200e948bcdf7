#include "key.h"

#include "buf.h"

#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

static void free_biop(BIO **bio)
{
        BIO_free(*bio);
}

static void free_contextp(EVP_PKEY_CTX **context)
{
        EVP_PKEY_CTX_free(*context);
}

static void free_pkeyp(EVP_PKEY **key)
{
        EVP_PKEY_free(*key);
}

void private_key_free(struct private_key *key)
{
        EVP_PKEY_free((EVP_PKEY *)key);
}

/* --- Making --- */

static int generate_dsa(EVP_PKEY **ret)
{
        _cleanup_(free_contextp)
        EVP_PKEY_CTX *parameters_context = EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, NULL);
        _cleanup_(free_contextp)
        EVP_PKEY_CTX *key_context = NULL;
        _cleanup_(free_pkeyp)
        EVP_PKEY *parameters = NULL;

        if (!parameters_context || EVP_PKEY_paramgen_init(parameters_context) != 1 ||
            EVP_PKEY_CTX_set_dsa_paramgen_bits(parameters_context, 2048) != 1 ||
            EVP_PKEY_CTX_set_dsa_paramgen_q_bits(parameters_context, 256) != 1 ||
            EVP_PKEY_paramgen(parameters_context, &parameters) != 1)
                return 0;
        key_context = EVP_PKEY_CTX_new(parameters, NULL);
        return key_context && EVP_PKEY_keygen_init(key_context) == 1 && EVP_PKEY_keygen(key_context, ret) == 1;
}

static int generate(enum private_key_type type, EVP_PKEY **ret)
{
        switch (type) {
        case PRIVATE_KEY_RSA_2048:
                return (*ret = EVP_RSA_gen(2048)) != NULL;
        case PRIVATE_KEY_RSA_4096:
                return (*ret = EVP_RSA_gen(4096)) != NULL;
        case PRIVATE_KEY_DSA_2048:
                return generate_dsa(ret);
        case PRIVATE_KEY_ECDSA_P256:
                return (*ret = EVP_EC_gen("P-256")) != NULL;
        case PRIVATE_KEY_ED25519:
                return (*ret = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")) != NULL;
        }
        return 0;
}

int private_key_generate(enum private_key_type type, struct private_key **ret, struct err *err)
{
        EVP_PKEY *key = NULL;

        if (!generate(type, &key)) {
                ERR_clear_error();
                return err_set(err, ERR_FAILED, "OpenSSL cannot generate a key");
        }
        *ret = (struct private_key *)key;
        return 0;
}

/* --- Reading --- */

bool pem_read(struct str text, char **ret_type, uint8_t **ret_bytes, size_t *ret_n)
{
        _cleanup_(free_biop)
        BIO *bio = NULL;
        char *header;
        long n;

        if (text.n == 0 || text.n > INT_MAX)
                return false;
        bio = BIO_new_mem_buf(text.p, (int)text.n);
        if (!bio || PEM_read_bio(bio, ret_type, &header, ret_bytes, &n) != 1) {
                ERR_clear_error();
                return false;
        }
        free(header);
        *ret_n = (size_t)n;
        return true;
}

static EVP_PKEY *parse_pkcs8(const uint8_t *bytes, size_t n)
{
        PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &bytes, (long)n);
        EVP_PKEY *key = info ? EVP_PKCS82PKEY(info) : NULL;

        PKCS8_PRIV_KEY_INFO_free(info);
        return key;
}

static int parse_traditional(struct str type, const uint8_t *bytes, size_t n, EVP_PKEY **ret, struct err *err)
{
        static const struct {
                struct str name;
                int id;
        } types[] = { { STR_INIT("RSA"), EVP_PKEY_RSA },
                      { STR_INIT("EC"), EVP_PKEY_EC },
                      { STR_INIT("DSA"), EVP_PKEY_DSA } };
        struct str name = str_first(type, type.n - strlen(" PRIVATE KEY"));

        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                if (!str_equal(name, types[i].name))
                        continue;
                *ret = d2i_PrivateKey(types[i].id, NULL, &bytes, (long)n);
                return *ret ? 0
                            : err_set(err, ERR_INVALID, "parsing %.*s private key from PEM: malformed key",
                                      STR_ARG(name));
        }
        return err_set(err, ERR_INVALID, "invalid private key type %.*s", STR_ARG(type));
}

static int parse_block(struct str type, const uint8_t *bytes, size_t n, EVP_PKEY **ret, struct err *err)
{
        if (str_equal(type, STR("PRIVATE KEY"))) {
                *ret = parse_pkcs8(bytes, n);
                return *ret ? 0 : err_set(err, ERR_INVALID, "decoding PEM as PKCS#8: malformed key");
        }
        if (!str_ends_with(type, STR(" PRIVATE KEY")))
                return err_set(err, ERR_INVALID, "no private key data in PEM block of type %.*s", STR_ARG(type));
        return parse_traditional(type, bytes, n, ret, err);
}

int private_key_parse(struct str pem, struct private_key **ret, struct err *err)
{
        _cleanup_free_ char *type = NULL;
        _cleanup_free_ uint8_t *bytes = NULL;
        EVP_PKEY *key;
        size_t n;
        int r;

        if (!pem_read(pem, &type, &bytes, &n))
                return err_set(err, ERR_INVALID, "no PEM data in input");
        r = parse_block(str_from(type), bytes, n, &key, err);
        if (r < 0) {
                ERR_clear_error();
                return r;
        }
        *ret = (struct private_key *)key;
        return 0;
}

/* --- Writing --- */

void private_key_append(struct buf *b, const struct private_key *key)
{
        _cleanup_(free_biop)
        BIO *bio = BIO_new(BIO_s_mem());
        EVP_PKEY *pkey = (EVP_PKEY *)key;
        char *text;
        long n;

        assert(bio);
        switch (EVP_PKEY_get_base_id(pkey)) {
        case EVP_PKEY_RSA:
        case EVP_PKEY_DSA:
        case EVP_PKEY_EC:
                assert(PEM_write_bio_PrivateKey_traditional(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1);
                break;
        default:
                assert(PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1);
        }
        n = BIO_get_mem_data(bio, &text);
        buf_append(b, text, (size_t)n);
}

void private_key_append_public(struct buf *b, const struct private_key *key)
{
        unsigned char *der = NULL;
        int n = i2d_PUBKEY((const EVP_PKEY *)key, &der);

        assert(n > 0);
        buf_append(b, der, (size_t)n);
        OPENSSL_free(der);
}
