#include "signature.h"

#include "base64.h"
#include "buf.h"
#include "limits.h"
#include "oci-digest.h"
#include "public-key.h"
#include "signature-content.h"
#include "str-list.h"
#include "value.h"

#define MEDIA_PAYLOAD  "application/vnd.dev.cosign.simplesigning.v1+json"
#define MEDIA_ENVELOPE "application/vnd.dsse.envelope.v1+json"
#define MEDIA_BUNDLE   "application/vnd.dev.sigstore.bundle" /* .v0.3+json */
#define SIGN_PREDICATE "https://sigstore.dev/cosign/sign/v1" /* of a bundle that signs an image */

/* The image, and what is known about its signatures: fetched once for all authorities. */
struct verification {
        struct oci_client *client;
        struct arena *arena;
        const struct oci_reference *ref;
        struct str digest;
        struct oci_wait wait;
        signature_secret_fn *secret;
        void *context;
        struct str_list *misses; /* why signatures did not count, of the authority that is checked */
};

/* The signatures that an authority accepts. */
struct authority {
        const struct public_key *key;
        enum signature_hash hash;
        struct str predicate_type; /* of an attestation; "": a signature of the image */
};

/* Checks one document with its signature; 0 if it counts. */
typedef int check_fn(struct verification *v, const struct authority *by, const struct oci_descriptor *layer,
                     struct str bytes, struct err *err);

/* --- Documents --- */

static int check_payload(struct verification *v, const struct authority *by, const struct oci_descriptor *layer,
                         struct str bytes, struct err *err)
{
        struct str text = oci_annotation(layer->annotations, "dev.cosignproject.cosign/signature");
        _cleanup_buf_ struct buf signature = BUF_INIT(0);

        if (text.n == 0)
                return err_set(err, ERR_INVALID, "a signature is missing beside its payload");
        if (base64_decode(&signature, text, BASE64_STD, err) < 0)
                return err_wrap(err, "cannot read a signature");
        if (!public_key_verifies(by->key, by->hash, bytes, buf_str(&signature)))
                return err_set(err, ERR_FORBIDDEN, "invalid signature when validating with the key");
        return signature_payload_check(v->arena, bytes, v->digest, err);
}

static int check_envelope(struct verification *v, const struct authority *by, const struct oci_descriptor *layer,
                          struct str bytes, struct err *err)
{
        struct str predicate_type = by->predicate_type.n > 0 ? by->predicate_type : STR(SIGN_PREDICATE);
        struct signature_envelope e;
        bool is_signed = false;
        int r = signature_envelope_parse(v->arena, bytes, &e, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < MIN(e.n_signatures, (size_t)LIMIT_SIGNATURES) && !is_signed; i++)
                is_signed = public_key_verifies(by->key, by->hash, e.signed_text, e.signatures[i]);
        if (!is_signed)
                return err_set(err, ERR_FORBIDDEN, "invalid signature of an envelope when validating with the key");
        return signature_statement_check(v->arena, e.payload, v->digest, predicate_type, err);
}

/* --- Where they are --- */

/* Checks the layers of a manifest until one counts. 1: one does; 0: none. Errors are those of the registry. */
static int check_layers(struct verification *v, const struct authority *by, const struct oci_manifest *m,
                        struct str media_type, check_fn *check, struct err *err)
{
        for (size_t i = 0; i < MIN(m->n_layers, (size_t)LIMIT_SIGNATURES); i++) {
                const struct oci_descriptor *layer = &m->layers[i];
                _cleanup_err_ struct err miss = { 0 };
                struct str bytes;
                int r;

                if (!str_starts_with(layer->media_type, media_type))
                        continue;
                r = oci_pull_bytes(v->client, v->arena, v->ref, layer, LIMIT_SIGNATURE_BYTES, v->wait, &bytes, err);
                if (r < 0)
                        return r;
                if (check(v, by, layer, bytes, &miss) == 0)
                        return 1;
                str_list_printf(v->misses, "%s", err_message(&miss));
        }
        return 0;
}

/* The manifest under the tag `sha256-HEX.sig` or `.att`. */
static int check_tag(struct verification *v, const struct authority *by, const char *suffix, struct str media_type,
                     check_fn *check, struct err *err)
{
        struct oci_reference tag = *v->ref;
        struct oci_fetched fetched;
        int r;

        tag.digest = STR("");
        tag.tag = arena_printf(v->arena, "sha256-%.*s.%s", STR_ARG(oci_digest_hex(v->digest)), suffix);
        r = oci_pull_manifest(v->client, v->arena, &tag, v->wait, &fetched, err);
        if (r == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        return r < 0 ? r : check_layers(v, by, &fetched.manifest, media_type, check, err);
}

/* Bundles, which newer versions of cosign keep as manifests that refer to the image. The index does not say which those are: cosign
 * leaves the artifact type to the registry. */
static int check_bundles(struct verification *v, const struct authority *by, struct err *err)
{
        struct oci_manifest index;
        int r = oci_pull_referrers(v->client, v->arena, v->ref, v->digest, v->wait, &index, err);

        for (size_t i = 0; r == 0 && i < MIN(index.n_manifests, (size_t)LIMIT_SIGNATURES); i++) {
                struct oci_reference ref = *v->ref;
                struct oci_fetched fetched;

                ref.digest = index.manifests[i].digest;
                r = oci_pull_manifest(v->client, v->arena, &ref, v->wait, &fetched, err);
                if (r == 0)
                        r = check_layers(v, by, &fetched.manifest, STR(MEDIA_BUNDLE), check_envelope, err);
        }
        return r;
}

static int check_everywhere(struct verification *v, const struct authority *by, struct err *err)
{
        bool is_attestation = by->predicate_type.n > 0;
        int r = check_tag(v, by, is_attestation ? "att" : "sig",
                          is_attestation ? STR(MEDIA_ENVELOPE) : STR(MEDIA_PAYLOAD),
                          is_attestation ? check_envelope : check_payload, err);

        if (r == 0)
                r = check_bundles(v, by, err);
        if (r < 0)
                return r;
        if (r > 0)
                return 0;
        if (v->misses->n == 0)
                return err_set(err, ERR_NOT_FOUND, "no matching %s: the registry has none for this image",
                               is_attestation ? "attestations" : "signatures");
        return err_set(err, ERR_FORBIDDEN, "no matching %s: %.*s", is_attestation ? "attestations" : "signatures",
                       STR_ARG(str_list_join(v->misses, STR("; "))));
}

/* --- Authorities --- */

static int read_key(struct verification *v, const struct value *key, struct public_key **ret, enum signature_hash *hash,
                    struct err *err)
{
        struct str secret = value_str(value_find(key, "secretRef", "name")),
                   field = value_str(value_find(key, "secretRef", "key")),
                   name = value_str(value_get(key, STR("hashAlgorithm"))), pem;
        int r;

        *hash = SIGNATURE_SHA256;
        if (name.n > 0 && !signature_hash_from_name(name, hash))
                return err_set(err, ERR_INVALID,
                               "hash algorithm \"%.*s\" is not known: give sha224, sha256, sha384 or sha512",
                               STR_ARG(name));
        r = v->secret(v->context, secret, field, &pem, err);
        if (r < 0)
                return r;
        r = public_key_parse(pem, ret, err);
        return r < 0 ? err_wrap(err, "cannot read the public key in key \"%.*s\" of secret \"%.*s\"", STR_ARG(field),
                                STR_ARG(secret))
                     : 0;
}

/* Attestations of one authority: the first that is there counts. */
static int check_attestations(struct verification *v, struct authority *by, const struct value *attestations,
                              struct err *err)
{
        int r = 0;

        VALUE_FOREACH_ITEM (attestation, attestations) {
                err_done(err);
                by->predicate_type = signature_predicate_type(value_str(value_get(attestation, STR("predicateType"))));
                r = by->predicate_type.n > 0 ? check_everywhere(v, by, err)
                                             : err_set(err, ERR_INVALID, "an attestation has no predicateType");
                if (r == 0)
                        return 0;
                r = err_wrap(err, "attestation \"%.*s\"", STR_ARG(value_str(value_get(attestation, STR("name")))));
        }
        return r;
}

static int check_authority(struct verification *v, const struct value *authority, struct err *err)
{
        const struct value *key = value_get(authority, STR("key")),
                           *attestations = value_get(authority, STR("attestations"));
        _cleanup_public_key_ struct public_key *public = NULL;
        struct authority by = { 0 };
        int r;

        if (!value_is_object(key))
                return err_set(err, ERR_UNSUPPORTED,
                               "%s: give the authority a key (key.secretRef), signatures are checked with keys only",
                               value_get(authority, STR("keyless")) ? "keyless signatures are not supported"
                                                                    : "the authority has no key");
        r = read_key(v, key, &public, &by.hash, err);
        if (r < 0)
                return r;
        by.key = public;
        return value_count(attestations) > 0 ? check_attestations(v, &by, attestations, err)
                                             : check_everywhere(v, &by, err);
}

int signature_verify(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct str digest,
                     const struct value *verification, signature_secret_fn *secret, void *context, struct oci_wait wait,
                     struct err *err)
{
        const struct value *authorities = value_find(verification, "cosign", "authorities");
        struct verification v = { .client = c,
                                  .arena = a,
                                  .ref = ref,
                                  .digest = digest,
                                  .wait = wait,
                                  .secret = secret,
                                  .context = context };
        struct str_list failures, misses;

        if (oci_digest_check(digest, err) < 0)
                return err_wrap(err, "cannot check signatures");
        if (value_count(authorities) == 0)
                return err_set(err, ERR_INVALID, "no authorities are given: nobody could have signed the image");
        str_list_init(&failures, a);
        v.misses = &misses;
        VALUE_FOREACH_ITEM (authority, authorities) {
                _cleanup_err_ struct err failure = { 0 };

                str_list_init(&misses, a);
                if (check_authority(&v, authority, &failure) == 0)
                        return 0;
                str_list_printf(&failures, "authority \"%.*s\": %s",
                                STR_ARG(value_str(value_get(authority, STR("name")))), err_message(&failure));
        }
        return err_set(err, ERR_FORBIDDEN, "no authority accepts %.*s: %.*s", STR_ARG(digest),
                       STR_ARG(str_list_join(&failures, STR("; "))));
}
