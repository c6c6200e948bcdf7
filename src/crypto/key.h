/* Private keys: generates them, and reads and writes them as PEM. The error texts for PEM are those of Go's sprig. */
#pragma once

#include "err.h"
#include "str.h"

struct buf;

/* One key, immutable after creation. It is OpenSSL's EVP_PKEY. */
struct private_key;

enum private_key_type {
        PRIVATE_KEY_RSA_2048,
        PRIVATE_KEY_RSA_4096,
        PRIVATE_KEY_DSA_2048,
        PRIVATE_KEY_ECDSA_P256,
        PRIVATE_KEY_ED25519,
};

/* Slow: RSA takes up to a second, DSA several. */
int private_key_generate(enum private_key_type type, struct private_key **ret, struct err *err);

/* The first PEM block of the text: PKCS #8, or RSA (PKCS #1), EC (SEC 1) or DSA, depending on the name of the block. */
int private_key_parse(struct str pem, struct private_key **ret, struct err *err);

/* Appends the public key as DER (SubjectPublicKeyInfo). */
void private_key_append_public(struct buf *b, const struct private_key *key);

/* Appends RSA, EC and DSA keys in their own formats, all others as PKCS #8. */
void private_key_append(struct buf *b, const struct private_key *key);

void private_key_free(struct private_key *key); /* NULL is fine */

static inline void private_key_freep(struct private_key **key)
{
        private_key_free(*key);
}

#define _cleanup_private_key_ _cleanup_(private_key_freep)

/* The content of the first PEM block and its type, both on the heap; the caller frees them. False if there is no block. */
bool pem_read(struct str text, char **ret_type, uint8_t **ret_bytes, size_t *ret_n);
