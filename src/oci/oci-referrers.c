/* The referrers of a manifest (OCI 1.1): from the registry or, if it does not know the question, from the index that clients then
 * keep under the tag `sha256-HEX`. */
#include "arena.h"
#include "bytes.h"
#include "limits.h"
#include "oci-digest.h"
#include "oci-request.h"

static int ask_registry(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct str digest,
                        struct oci_wait wait, struct oci_manifest *ret, struct err *err)
{
        struct oci_ask ask = oci_ask_for(a, ref, "GET", "referrers", digest);
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = NULL;
        int r = oci_open_document(c, a, &ask, STR(OCI_MEDIA_INDEX), wait, &response, err);

        if (r >= 0)
                r = oci_read_body(c, &ask, response, LIMIT_MANIFEST_BYTES, wait, &body, err);
        if (r < 0)
                return r;
        return oci_manifest_parse(a, arena_copy(a, body->str), STR(OCI_MEDIA_INDEX), ret, err);
}

int oci_pull_referrers(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct str digest,
                       struct oci_wait wait, struct oci_manifest *ret, struct err *err)
{
        struct oci_reference tag = *ref;
        struct oci_fetched fetched;
        int r = ask_registry(c, a, ref, digest, wait, ret, err);

        if (r != ERR_NOT_FOUND && r != ERR_UNSUPPORTED)
                return r;
        if (err)
                err_done(err);
        tag.digest = STR("");
        tag.tag = arena_printf(a, "sha256-%.*s", STR_ARG(oci_digest_hex(digest)));
        r = oci_pull_manifest(c, a, &tag, wait, &fetched, err);
        if (r == ERR_NOT_FOUND) {
                if (err)
                        err_done(err);
                *ret = (struct oci_manifest) { .is_index = true };
                return 0;
        }
        if (r >= 0)
                *ret = fetched.manifest;
        return r;
}
