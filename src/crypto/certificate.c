#include "certificate.h"

#include "buf.h"
#include "utf8.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

static void free_x509p(X509 **x)
{
        X509_free(*x);
}

static void free_biop(BIO **bio)
{
        BIO_free(*bio);
}

static void free_namesp(GENERAL_NAMES **names)
{
        GENERAL_NAMES_free(*names);
}

#define _cleanup_x509_ _cleanup_(free_x509p)

/* --- Reading --- */

static int parse(struct str pem, const char *what, X509 **ret, struct err *err)
{
        _cleanup_free_ char *type = NULL;
        _cleanup_free_ uint8_t *bytes = NULL;
        const uint8_t *at;
        size_t n;

        if (!pem_read(pem, &type, &bytes, &n))
                return err_set(err, ERR_INVALID, "unable to decode certificate");
        at = bytes;
        *ret = d2i_X509(NULL, &at, (long)n);
        if (*ret && at == bytes + n)
                return 0;
        X509_free(*ret);
        *ret = NULL;
        ERR_clear_error();
        return err_set(err, ERR_INVALID, "error parsing certificate: %s: x509: malformed certificate", what);
}

int certificate_check(struct str pem, const char *what, struct err *err)
{
        _cleanup_x509_ X509 *x = NULL;

        return parse(pem, what, &x, err);
}

static int64_t seconds_of(const ASN1_TIME *t)
{
        struct tm tm = { 0 };

        return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static bool is_signed_by(X509 *x, struct str authority)
{
        _cleanup_x509_ X509 *parent = NULL;
        bool is_signed;

        if (authority.n == 0 || parse(authority, "authority", &parent, NULL) < 0)
                return false;
        is_signed = X509_NAME_cmp(X509_get_issuer_name(x), X509_get_subject_name(parent)) == 0 &&
                    X509_verify(x, X509_get0_pubkey(parent)) == 1;
        ERR_clear_error();
        return is_signed;
}

int certificate_inspect(struct str pem, const struct private_key *key, struct str authority,
                        struct certificate_facts *ret, struct err *err)
{
        _cleanup_x509_ X509 *x = NULL;
        int r = parse(pem, "certificate", &x, err);

        if (r < 0)
                return r;
        ret->not_before = seconds_of(X509_get0_notBefore(x));
        ret->not_after = seconds_of(X509_get0_notAfter(x));
        ret->is_of_key = key && X509_check_private_key(x, (EVP_PKEY *)key) == 1;
        ret->is_signed = is_signed_by(x, authority);
        ERR_clear_error();
        return 0;
}

bool certificate_address_parse(struct str text, struct certificate_address *ret)
{
        char copy[INET6_ADDRSTRLEN];

        if (text.n == 0 || text.n >= sizeof(copy))
                return false;
        memcpy(copy, text.p, text.n);
        copy[text.n] = '\0';
        *ret = (struct certificate_address) { .n = 4 };
        if (inet_pton(AF_INET, copy, ret->bytes) == 1)
                return true;
        ret->n = 16;
        return inet_pton(AF_INET6, copy, ret->bytes) == 1;
}

bool certificate_has_name(struct str pem, struct str name)
{
        _cleanup_x509_ X509 *x = NULL;
        struct certificate_address address;
        bool has_name;

        if (name.n == 0 || parse(pem, "certificate", &x, NULL) < 0)
                return false;
        if (certificate_address_parse(name, &address))
                has_name = X509_check_ip(x, address.bytes, address.n, 0) == 1;
        else
                has_name = X509_check_host(x, name.p, name.n, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
        ERR_clear_error();
        return has_name;
}

/* --- Names --- */

/* Go writes a PrintableString if the text has only these characters, else a UTF8String. */
static bool is_printable_string(struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                char c = s.p[i];

                if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
                    (c == '\0' || !strchr(" '()+,-./:=?", c)))
                        return false;
        }
        return true;
}

/* OpenSSL rejects common names beyond 64 characters, Go does not. The entry is therefore made without OpenSSL's table of limits. */
static int add_entry(X509 *x, int nid, struct str text, struct err *err)
{
        int type = is_printable_string(text) ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING;
        X509_NAME_ENTRY *entry;

        if (!utf8_is_valid(text))
                return err_set(err, ERR_INVALID, "error creating certificate: asn1: string not valid UTF-8");
        entry = X509_NAME_ENTRY_new();
        assert(entry && X509_NAME_ENTRY_set_object(entry, OBJ_nid2obj(nid)) == 1);
        assert(X509_NAME_ENTRY_set_data(entry, type, (const unsigned char *)text.p, (int)text.n) == 1);
        assert(X509_NAME_add_entry(X509_get_subject_name(x), entry, -1, 0) == 1);
        X509_NAME_ENTRY_free(entry);
        return 0;
}

static int set_subject(X509 *x, const struct certificate_request *request, struct err *err)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < request->n_organizations; i++)
                r = add_entry(x, NID_organizationName, request->organizations[i], err);
        return r == 0 && request->common_name.n ? add_entry(x, NID_commonName, request->common_name, err) : r;
}

static void add_name(GENERAL_NAMES *names, int type, ASN1_STRING *text, const void *bytes, size_t n)
{
        GENERAL_NAME *name = GENERAL_NAME_new();

        assert(name && text && n <= INT_MAX);
        assert(ASN1_STRING_set(text, n ? bytes : "", (int)n) == 1);
        GENERAL_NAME_set0_value(name, type, text);
        assert(sk_GENERAL_NAME_push(names, name) > 0);
}

static int add_dns_name(GENERAL_NAMES *names, struct str name, struct err *err)
{
        for (size_t i = 0; i < name.n; i++)
                if ((unsigned char)name.p[i] >= 0x80)
                        return err_set(err, ERR_INVALID,
                                       "error creating certificate: x509: \"%.*s\" cannot be encoded as an IA5String",
                                       STR_ARG(name));
        add_name(names, GEN_DNS, ASN1_IA5STRING_new(), name.p, name.n);
        return 0;
}

static int add_extension(X509 *x, int nid, void *value, bool is_critical, struct err *err)
{
        if (value && X509_add1_ext_i2d(x, nid, value, is_critical, X509V3_ADD_APPEND) == 1)
                return 0;
        return err_set(err, ERR_FAILED, "error creating certificate: OpenSSL refuses an extension");
}

static int set_alternative_names(X509 *x, const struct certificate_request *request, struct err *err)
{
        _cleanup_(free_namesp)
        GENERAL_NAMES *names = GENERAL_NAMES_new();
        int r;

        assert(names);
        if (request->n_dns_names + request->n_addresses == 0)
                return 0;
        for (size_t i = 0; i < request->n_dns_names; i++) {
                r = add_dns_name(names, request->dns_names[i], err);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < request->n_addresses; i++)
                add_name(names, GEN_IPADD, ASN1_OCTET_STRING_new(), request->addresses[i].bytes,
                         request->addresses[i].n);
        return add_extension(x, NID_subject_alt_name, names, request->common_name.n == 0, err);
}

/* --- Other extensions --- */

static int set_key_usage(X509 *x, const struct certificate_request *request, struct err *err)
{
        ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
        int r;

        assert(bits);
        assert(ASN1_BIT_STRING_set_bit(bits, 0, 1) == 1); /* digitalSignature */
        if (request->usage == CERTIFICATE_FOR_ALL)
                assert(ASN1_BIT_STRING_set_bit(bits, 2, 1) == 1); /* keyEncipherment */
        if (request->is_authority)
                assert(ASN1_BIT_STRING_set_bit(bits, 5, 1) == 1); /* keyCertSign */
        r = add_extension(x, NID_key_usage, bits, true, err);
        ASN1_BIT_STRING_free(bits);
        return r;
}

static int set_extended_usage(X509 *x, enum certificate_usage certificate_usage, struct err *err)
{
        EXTENDED_KEY_USAGE *usage;
        int r;

        if (certificate_usage == CERTIFICATE_FOR_SIGNING)
                return 0;
        usage = EXTENDED_KEY_USAGE_new();
        assert(usage);
        if (certificate_usage != CERTIFICATE_FOR_CLIENTS)
                assert(sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(NID_server_auth)) > 0);
        if (certificate_usage != CERTIFICATE_FOR_SERVERS)
                assert(sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(NID_client_auth)) > 0);
        r = add_extension(x, NID_ext_key_usage, usage, false, err);
        EXTENDED_KEY_USAGE_free(usage);
        return r;
}

static int set_constraints(X509 *x, bool is_authority, struct err *err)
{
        BASIC_CONSTRAINTS *constraints = BASIC_CONSTRAINTS_new();
        int r;

        assert(constraints);
        constraints->ca = is_authority ? 0xFF : 0;
        r = add_extension(x, NID_basic_constraints, constraints, true, err);
        BASIC_CONSTRAINTS_free(constraints);
        return r;
}

/* Only for authorities: the SHA-1 of the public key. */
static int set_subject_key_id(X509 *x, struct err *err)
{
        ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned n;
        int r;

        assert(id && X509_pubkey_digest(x, EVP_sha1(), digest, &n) == 1);
        assert(ASN1_OCTET_STRING_set(id, digest, (int)n) == 1);
        r = add_extension(x, NID_subject_key_identifier, id, false, err);
        ASN1_OCTET_STRING_free(id);
        return r;
}

/* Present if the issuer has a key identifier and its name differs from the subject's. */
static int set_authority_key_id(X509 *x, X509 *parent, struct err *err)
{
        const ASN1_OCTET_STRING *id = X509_get0_subject_key_id(parent);
        AUTHORITY_KEYID *authority;
        int r;

        if (!id || X509_NAME_cmp(X509_get_subject_name(x), X509_get_subject_name(parent)) == 0)
                return 0;
        authority = AUTHORITY_KEYID_new();
        assert(authority);
        authority->keyid = ASN1_OCTET_STRING_dup(id);
        r = add_extension(x, NID_authority_key_identifier, authority, false, err);
        AUTHORITY_KEYID_free(authority);
        return r;
}

static int set_extensions(X509 *x, X509 *parent, const struct certificate_request *request, struct err *err)
{
        int r = set_key_usage(x, request, err);

        if (r == 0)
                r = set_extended_usage(x, request->usage, err);
        if (r == 0)
                r = set_constraints(x, request->is_authority, err);
        if (r == 0 && request->is_authority)
                r = set_subject_key_id(x, err);
        if (r == 0)
                r = set_authority_key_id(x, parent, err);
        return r == 0 ? set_alternative_names(x, request, err) : r;
}

/* --- Signing --- */

static bool can_sign(const EVP_PKEY *key)
{
        int id = EVP_PKEY_get_base_id(key);

        return id == EVP_PKEY_RSA || id == EVP_PKEY_EC || id == EVP_PKEY_ED25519;
}

/* The size of the curve decides the digest; Ed25519 has its own. */
static const EVP_MD *digest_for(const EVP_PKEY *key)
{
        int id = EVP_PKEY_get_base_id(key), bits = EVP_PKEY_get_bits(key);

        if (id == EVP_PKEY_ED25519)
                return NULL;
        if (id != EVP_PKEY_EC || bits <= 256)
                return EVP_sha256();
        return bits <= 384 ? EVP_sha384() : EVP_sha512();
}

static int check_keys(const EVP_PKEY *key, EVP_PKEY *signer_key, X509 *parent, struct err *err)
{
        if (!can_sign(signer_key))
                return err_set(err, ERR_INVALID,
                               "error creating certificate: x509: certificate private key does not implement "
                               "crypto.Signer");
        if (EVP_PKEY_get_base_id(key) == EVP_PKEY_DSA)
                return err_set(err, ERR_INVALID,
                               "error creating certificate: x509: unsupported public key type: *dsa.PublicKey");
        if (!can_sign(key))
                return err_set(err, ERR_INVALID, "error creating certificate: x509: unsupported public key type");
        if (!parent || X509_check_private_key(parent, signer_key) == 1)
                return 0;
        ERR_clear_error();
        return err_set(err, ERR_INVALID,
                       "error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey");
}

static void set_basics(X509 *x, const struct certificate_request *request, EVP_PKEY *key)
{
        BIGNUM *serial = BN_bin2bn(request->serial, CERTIFICATE_SERIAL_BYTES, NULL);

        assert(serial && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(x)));
        BN_free(serial);
        assert(X509_set_version(x, X509_VERSION_3) == 1 && X509_set_pubkey(x, key) == 1);
        assert(ASN1_TIME_set(X509_getm_notBefore(x), request->not_before));
        assert(ASN1_TIME_set(X509_getm_notAfter(x), request->not_after));
}

static int write_pem(struct buf *b, X509 *x)
{
        _cleanup_(free_biop)
        BIO *bio = BIO_new(BIO_s_mem());
        char *text;
        long n;

        assert(bio && PEM_write_bio_X509(bio, x) == 1);
        n = BIO_get_mem_data(bio, &text);
        buf_append(b, text, (size_t)n);
        return 0;
}

static int sign(X509 *x, X509 *parent, EVP_PKEY *signer_key, struct err *err)
{
        if (X509_set_issuer_name(x, X509_get_subject_name(parent)) == 1 &&
            X509_sign(x, signer_key, digest_for(signer_key)) > 0)
                return 0;
        ERR_clear_error();
        return err_set(err, ERR_FAILED, "error creating certificate: OpenSSL cannot sign");
}

int certificate_append(struct buf *b, const struct certificate_request *request, const struct private_key *key,
                       const struct certificate_signer *signer, struct err *err)
{
        _cleanup_x509_ X509 *x = X509_new(), *parent = NULL;
        EVP_PKEY *pkey = (EVP_PKEY *)key, *signer_key = (EVP_PKEY *)signer->key;
        int r = 0;

        assert(x);
        if (signer->certificate.n)
                r = parse(signer->certificate, "decodedSignerCert.Bytes", &parent, err);
        if (r == 0)
                r = check_keys(pkey, signer_key, parent, err);
        if (r < 0)
                return r;
        set_basics(x, request, pkey);
        r = set_subject(x, request, err);
        if (r == 0)
                r = set_extensions(x, parent ? parent : x, request, err);
        if (r == 0)
                r = sign(x, parent ? parent : x, signer_key, err);
        return r == 0 ? write_pem(b, x) : r;
}
