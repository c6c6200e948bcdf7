/* Passwords: slow hashes that make guessing expensive, and keys derived from passwords. */
#pragma once

#include "digest.h"
#include "err.h"

struct buf;

#define BCRYPT_SALT_BYTES     16
#define BCRYPT_PASSWORD_BYTES 72 /* bcrypt ignores all further bytes */

/* Appends `$2a$10$...`. Fails when the password is longer than BCRYPT_PASSWORD_BYTES or holds a zero byte. */
int bcrypt_append(struct buf *b, struct str password, const uint8_t salt[BCRYPT_SALT_BYTES], struct err *err);

/* n is the cost, r the block size, p the parallelism of RFC 7914. Takes 128 * n * r bytes of memory while it runs. */
int scrypt_derive(struct str password, struct str salt, uint64_t n, uint64_t r, uint64_t p, uint8_t *ret_key,
                  size_t key_bytes, struct err *err);

void hmac_sha256(struct str key, struct str bytes, uint8_t ret_digest[SHA256_BYTES]);
