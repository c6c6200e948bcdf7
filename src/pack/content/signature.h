/* Signatures of images as cosign makes them, checked with keys (docs/spec/packages 3.6). */
#pragma once

#include "oci-registry.h"

struct value;

/* Reads a key of a Secret of the namespace for keys; a text in the arena. */
typedef int signature_secret_fn(void *context, struct str secret, struct str key, struct str *ret, struct err *err);

/* Checks the manifest digest of an image in ref's repository by spec.verification of an ImageConfig: one authority that accepts it is
 * enough. Keyless authorities are refused with a clear text. The error says what each authority missed. */
int signature_verify(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct str digest,
                     const struct value *verification, signature_secret_fn *secret, void *context, struct oci_wait wait,
                     struct err *err);
