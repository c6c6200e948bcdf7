#include "oci-request.h"

#include "buf.h"
#include "bytes.h"
#include "oci-digest.h"

static struct oci_ask ask_to(const struct oci_reference *ref, const char *method, struct str path)
{
        return (struct oci_ask) {
                .registry = ref->registry,
                .repository = ref->repository,
                .pushes = true,
                .method = str_from(method),
                .path = path,
                .body_fd = -1,
        };
}

/* 1 if the repository has the blob. */
static int has_blob(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                    const struct oci_descriptor *blob, struct oci_wait wait, struct err *err)
{
        struct oci_ask ask =
                ask_to(ref, "HEAD",
                       arena_printf(a, "/v2/%.*s/blobs/%.*s", STR_ARG(ref->repository), STR_ARG(blob->digest)));
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        int r = oci_open(c, a, &ask, wait, &response, NULL, err);

        if (r < 0)
                return r;
        if (response->status == 404)
                return 0;
        return response->status == 200 ? 1 : oci_status_error(&ask, response, wait, err);
}

/* Asks for a place to put a blob. */
static int begin_upload(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                        struct oci_url *ret, struct err *err)
{
        struct oci_ask ask = ask_to(ref, "POST", arena_printf(a, "/v2/%.*s/blobs/uploads/", STR_ARG(ref->repository)));
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        struct oci_url at;
        struct str location;
        int r = oci_open(c, a, &ask, wait, &response, &at, err);

        if (r < 0)
                return r;
        if (response->status != 202)
                return oci_status_error(&ask, response, wait, err);
        location = http_fields_get(&response->fields, STR("location"));
        if (!location.p)
                return err_set(err, ERR_INVALID, "the registry accepts an upload and names no place for it");
        return oci_url_parse(a, location, &at, ret, err);
}

static int upload(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                  const struct oci_descriptor *blob, struct str bytes, int fd, struct oci_wait wait, struct err *err)
{
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = NULL;
        struct http_fields fields = { 0 };
        struct oci_ask ask = ask_to(ref, "PUT", STR(""));
        struct oci_url place;
        int r = begin_upload(c, a, ref, wait, &place, err);

        if (r < 0)
                return r;
        place.path = ARENA_CONCAT(a, place.path, str_find_char(place.path, '?') < 0 ? STR("?") : STR("&"),
                                  STR("digest="), blob->digest);
        http_fields_add(&fields, a, STR("content-type"), STR("application/octet-stream"));
        ask.url = &place;
        ask.fields = &fields;
        ask.body_fd = fd;
        ask.body_bytes = blob->size_bytes;
        if (fd < 0)
                body = ask.body = bytes_copy(bytes);
        r = oci_open(c, a, &ask, wait, &response, NULL, err);
        if (r >= 0 && response->status != 201 && response->status != 202 && response->status != 204)
                r = oci_status_error(&ask, response, wait, err);
        http_response_free(TAKE(response));
        return r;
}

int oci_push_blob(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob,
                  struct str bytes, int fd, struct oci_wait wait, struct err *err)
{
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "push", 0);
        r = has_blob(c, &a, ref, blob, wait, err);
        if (r == 0)
                r = upload(c, &a, ref, blob, bytes, fd, wait, err);
        if (r < 0)
                return err_wrap(err, "cannot push blob %.*s to %.*s/%.*s", STR_ARG(blob->digest),
                                STR_ARG(ref->registry), STR_ARG(ref->repository));
        return 0;
}

int oci_push_manifest(struct oci_client *c, const struct oci_reference *ref, struct str media_type, struct str json,
                      struct oci_wait wait, struct err *err)
{
        _cleanup_arena_ struct arena a;
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = bytes_copy(json);
        struct http_fields fields = { 0 };
        struct str version;
        struct oci_ask ask;
        int r;

        arena_init(&a, "push", 0);
        version = ref->tag.n > 0 ? ref->tag : oci_digest_of(&a, json);
        ask = ask_to(ref, "PUT",
                     arena_printf(&a, "/v2/%.*s/manifests/%.*s", STR_ARG(ref->repository), STR_ARG(version)));
        http_fields_add(&fields, &a, STR("content-type"), media_type);
        ask.fields = &fields;
        ask.body = body;
        r = oci_open(c, &a, &ask, wait, &response, NULL, err);
        if (r >= 0 && response->status != 201 && response->status != 200)
                r = oci_status_error(&ask, response, wait, err);
        http_response_free(TAKE(response));
        if (r < 0)
                return err_wrap(err, "cannot push %.*s/%.*s:%.*s", STR_ARG(ref->registry), STR_ARG(ref->repository),
                                STR_ARG(version));
        return 0;
}
