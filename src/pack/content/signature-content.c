#include "signature-content.h"

#include "base64.h"
#include "buf.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"

#define STATEMENT_TYPE "application/vnd.in-toto+json"

static int read_object(struct arena *a, struct str json, const char *what, const struct value **ret, struct err *err)
{
        struct json_read_options options = { .duplicates = JSON_DUPLICATES_REFUSE, .max_bytes = LIMIT_SIGNATURE_BYTES };
        int r = json_parse(a, json, &options, ret, err);

        if (r >= 0 && !value_is_object(*ret))
                r = err_set(err, ERR_INVALID, "it is no JSON object");
        return r < 0 ? err_wrap(err, "cannot read the %s", what) : 0;
}

int signature_payload_check(struct arena *a, struct str payload, struct str digest, struct err *err)
{
        const struct value *root;
        struct str type, of;
        int r = read_object(a, payload, "payload of the signature", &root, err);

        if (r < 0)
                return r;
        type = value_str(value_find(root, "critical", "type"));
        of = value_str(value_find(root, "critical", "image", "docker-manifest-digest"));
        if (!str_equal(type, STR("cosign container image signature")) &&
            !str_equal(type, STR("https://sigstore.dev/cosign/sign/v1")))
                return err_set(err, ERR_INVALID, "the payload of the signature is of type \"%.*s\", not an image's",
                               STR_ARG(type));
        if (!str_equal(of, digest))
                return err_set(err, ERR_INVALID, "the signature is of %.*s, not of %.*s", STR_ARG(of), STR_ARG(digest));
        return 0;
}

/* --- Envelopes --- */

static int decode(struct arena *a, const struct value *text, const char *what, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!value_is_string(text))
                return err_set(err, ERR_INVALID, "the envelope has no %s", what);
        if (base64_decode_any(&b, value_str(text), err) < 0)
                return err_wrap(err, "cannot read the envelope's %s", what);
        *ret = buf_to_arena(&b, a);
        return 0;
}

int signature_envelope_parse(struct arena *a, struct str json, struct signature_envelope *ret, struct err *err)
{
        struct signature_envelope e = { 0 };
        const struct value *root, *list, *bundled;
        struct str type, *signatures;
        int r = read_object(a, json, "envelope", &root, err);

        if (r < 0)
                return r;
        bundled = value_get(root, STR("dsseEnvelope"));
        if (value_is_object(bundled))
                root = bundled;
        type = value_str(value_get(root, STR("payloadType")));
        if (!str_equal(type, STR(STATEMENT_TYPE)))
                return err_set(err, ERR_INVALID, "the envelope holds \"%.*s\", not an in-toto statement",
                               STR_ARG(type));
        r = decode(a, value_get(root, STR("payload")), "payload", &e.payload, err);
        if (r < 0)
                return r;
        list = value_get(root, STR("signatures"));
        signatures = ARENA_NEW_ARRAY(a, struct str, value_count(list));
        for (size_t i = 0; value_is_array(list) && i < value_count(list); i++) {
                r = decode(a, value_get(value_item(list, i), STR("sig")), "signature", &signatures[i], err);
                if (r < 0)
                        return r;
                e.n_signatures++;
        }
        e.signatures = signatures;
        e.signed_text = arena_printf(a, "DSSEv1 %zu %.*s %zu ", type.n, STR_ARG(type), e.payload.n);
        e.signed_text = ARENA_CONCAT(a, e.signed_text, e.payload);
        *ret = e;
        return 0;
}

/* --- Statements --- */

static bool is_about(const struct value *statement, struct str digest)
{
        VALUE_FOREACH_ITEM (subject, value_get(statement, STR("subject"))) {
                struct str hex = value_str(value_find(subject, "digest", "sha256"));

                if (hex.n > 0 && str_equal(hex, oci_digest_hex(digest)))
                        return true;
        }
        return false;
}

int signature_statement_check(struct arena *a, struct str statement, struct str digest, struct str predicate_type,
                              struct err *err)
{
        const struct value *root;
        struct str type;
        int r = read_object(a, statement, "statement", &root, err);

        if (r < 0)
                return r;
        type = value_str(value_get(root, STR("predicateType")));
        if (!str_equal(type, predicate_type))
                return err_set(err, ERR_NOT_FOUND, "the predicate is of type %.*s, not %.*s", STR_ARG(type),
                               STR_ARG(predicate_type));
        if (!is_about(root, digest))
                return err_set(err, ERR_INVALID, "the statement is not about %.*s", STR_ARG(digest));
        return 0;
}

struct str signature_predicate_type(struct str name)
{
        static const struct {
                struct str name, type;
        } types[] = {
                { STR_INIT("custom"), STR_INIT("https://cosign.sigstore.dev/attestation/v1") },
                { STR_INIT("slsaprovenance"), STR_INIT("https://slsa.dev/provenance/v0.2") },
                { STR_INIT("slsaprovenance02"), STR_INIT("https://slsa.dev/provenance/v0.2") },
                { STR_INIT("slsaprovenance1"), STR_INIT("https://slsa.dev/provenance/v1") },
                { STR_INIT("spdx"), STR_INIT("https://spdx.dev/Document") },
                { STR_INIT("spdxjson"), STR_INIT("https://spdx.dev/Document") },
                { STR_INIT("cyclonedx"), STR_INIT("https://cyclonedx.org/bom") },
                { STR_INIT("link"), STR_INIT("https://in-toto.io/Link/v1") },
                { STR_INIT("vuln"), STR_INIT("https://cosign.sigstore.dev/attestation/vuln/v1") },
                { STR_INIT("openvex"), STR_INIT("https://openvex.dev/ns") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal(types[i].name, name))
                        return types[i].type;
        return name;
}
