/* Digests of content, as registries write them: `sha256:` and 64 hexadecimal digits. Other algorithms are refused: no registry that
 * serves packages uses them, and a digest that is not checked is worth nothing. */
#pragma once

#include "digest.h"
#include "err.h"

struct arena;

#define OCI_DIGEST_BYTES 71 /* of the text */
#define OCI_HEX_BYTES    64

bool oci_digest_is_valid(struct str digest);

/* 0, or ERR_INVALID that quotes the digest. */
int oci_digest_check(struct str digest, struct err *err);

/* The digits after `sha256:`; the digest must be valid. */
struct str oci_digest_hex(struct str digest);

/* The digest of the bytes, in the arena. */
struct str oci_digest_of(struct arena *a, struct str bytes);

/* Ends the hash and returns its digest, in the arena. */
struct str oci_digest_end(struct sha256 *hash, struct arena *a);
