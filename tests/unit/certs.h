/* Makes certificates for tests: an authority, and P-256 certificates that it signs, as tls.crt, tls.key and ca.crt in a
 * directory. */
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test.h"

struct authority {
        EVP_PKEY *key;
        X509 *certificate;
};

static inline void add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
        X509V3_CTX context;
        X509_EXTENSION *e;

        X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
        e = X509V3_EXT_conf_nid(NULL, &context, nid, value);
        ASSERT(e && X509_add_ext(x, e, -1));
        X509_EXTENSION_free(e);
}

/* valid_s: seconds from now; negative: expired that long ago. */
static inline X509 *new_certificate(EVP_PKEY *key, const char *name, const struct authority *by, long valid_s)
{
        static _Atomic long serial = 1;
        X509 *x = X509_new();
        X509_NAME *subject = X509_get_subject_name(x);

        X509_set_version(x, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(x), atomic_fetch_add(&serial, 1));
        X509_gmtime_adj(X509_getm_notBefore(x), valid_s < 0 ? valid_s - 3600 : -3600);
        X509_gmtime_adj(X509_getm_notAfter(x), valid_s);
        X509_set_pubkey(x, key);
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
        X509_set_issuer_name(x, by->certificate ? X509_get_subject_name(by->certificate) : subject);
        if (!by->certificate)
                add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE");
        return x;
}

static inline struct authority authority_new(const char *name)
{
        struct authority a = { .key = EVP_EC_gen("P-256") };

        a.certificate = new_certificate(a.key, name, &a, 3600);
        ASSERT(X509_sign(a.certificate, a.key, EVP_sha256()));
        return a;
}

static inline void authority_done(struct authority *a)
{
        X509_free(a->certificate);
        EVP_PKEY_free(a->key);
}

static inline FILE *create(const char *directory, const char *name, char *path, size_t n)
{
        FILE *f;

        snprintf(path, n, "%s/%s.new", directory, name);
        f = fopen(path, "w");
        ASSERT(f);
        return f;
}

static inline void publish(FILE *f, const char *directory, const char *name, const char *path)
{
        char final[512];

        ASSERT(fclose(f) == 0);
        snprintf(final, sizeof(final), "%s/%s", directory, name);
        ASSERT(rename(path, final) == 0);
}

/* Writes the trusted authorities to ca.crt; the second may be NULL. */
static inline void write_authorities(const char *directory, const struct authority *a, const struct authority *b)
{
        char path[512];
        FILE *f = create(directory, "ca.crt", path, sizeof(path));

        PEM_write_X509(f, a->certificate);
        if (b)
                PEM_write_X509(f, b->certificate);
        publish(f, directory, "ca.crt", path);
}

/* Writes a certificate for the alternative names (`DNS:x,IP:127.0.0.1`), signed by one authority, and trusts another one (NULL:
 * ca.crt is not changed). */
static inline void write_certificate(const char *directory, const char *names, const struct authority *by,
                                     const struct authority *trusted, long valid_s)
{
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *x = new_certificate(key, "test", by, valid_s);
        char path[512];
        FILE *f;

        mkdir(directory, 0700);
        add_extension(x, by->certificate, NID_subject_alt_name, names);
        ASSERT(X509_sign(x, by->key, EVP_sha256()));
        f = create(directory, "tls.key", path, sizeof(path));
        PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
        publish(f, directory, "tls.key", path);
        f = create(directory, "tls.crt", path, sizeof(path));
        PEM_write_X509(f, x);
        publish(f, directory, "tls.crt", path);
        if (trusted)
                write_authorities(directory, trusted, NULL);
        X509_free(x);
        EVP_PKEY_free(key);
}
