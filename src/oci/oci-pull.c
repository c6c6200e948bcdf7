#include "oci-request.h"

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"
#include "timetext.h"

#include <errno.h>
#include <sys/stat.h>

#define MAX_TAGS_BYTES     (4u << 20) /* of one page */
#define MAX_TAG_BYTES      128        /* as the specification says */
#define MAX_PAGES          1000
#define ACCEPTED_MANIFESTS OCI_MEDIA_MANIFEST ", " DOCKER_MEDIA_MANIFEST ", " OCI_MEDIA_INDEX ", " DOCKER_MEDIA_INDEX

/* Mirrors */

int oci_pull_from(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                  oci_pull_fn *from, void *context, struct err *err)
{
        for (size_t i = 0; i < c->options.n_mirrors; i++) {
                struct oci_reference mirrored = *ref;
                int r;

                if (!str_equal(c->options.mirrors[i].registry, ref->registry))
                        continue;
                mirrored.registry = c->options.mirrors[i].mirror;
                r = from(c, a, &mirrored, wait, context, err);
                if (r >= 0 || r == ERR_CANCELED || deadline_has_passed(wait.deadline))
                        return r;
        }
        return from(c, a, ref, wait, context, err);
}

struct oci_ask oci_ask_for(struct arena *a, const struct oci_reference *ref, const char *method, const char *what,
                           struct str version)
{
        return (struct oci_ask) {
                .registry = ref->registry,
                .repository = ref->repository,
                .method = str_from(method),
                .path = arena_printf(a, "/v2/%.*s/%s/%.*s", STR_ARG(ref->repository), what, STR_ARG(version)),
                .body_fd = -1,
        };
}

/* Manifests */

static int check_digest(struct arena *a, struct str bytes, struct str wanted, struct str *ret, struct err *err)
{
        *ret = oci_digest_of(a, bytes);
        if (wanted.n > 0 && !str_equal(*ret, wanted))
                return err_set(err, ERR_INVALID, "the registry sent something else: it has the digest %.*s, not %.*s",
                               STR_ARG(*ret), STR_ARG(wanted));
        return 0;
}

/* The digest that the registry states, which must be true; "": it states none. */
static struct str stated_digest(const struct http_response *r)
{
        struct str digest = http_fields_get(&r->fields, STR("docker-content-digest"));

        return oci_digest_is_valid(digest) ? digest : STR("");
}

static int fetch_manifest(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                          void *context, struct err *err)
{
        struct oci_ask ask = oci_ask_for(a, ref, "GET", "manifests", oci_reference_version(ref));
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        _cleanup_bytes_ struct bytes *body = NULL;
        struct oci_fetched *ret = context, fetched;
        struct str wanted;
        int r = oci_open_document(c, a, &ask, STR(ACCEPTED_MANIFESTS), wait, &response, err);

        if (r >= 0)
                r = oci_read_body(c, &ask, response, LIMIT_MANIFEST_BYTES, wait, &body, err);
        if (r < 0)
                return r;
        fetched.json = arena_copy(a, body->str);
        wanted = ref->digest.n > 0 ? ref->digest : stated_digest(response);
        r = check_digest(a, fetched.json, wanted, &fetched.digest, err);
        if (r >= 0)
                r = oci_manifest_parse(a, fetched.json, http_fields_get(&response->fields, STR("content-type")),
                                       &fetched.manifest, err);
        if (r < 0)
                return err_wrap(err, "%.*s%.*s", STR_ARG(ask.registry), STR_ARG(ask.path));
        *ret = fetched;
        return 0;
}

int oci_pull_manifest(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                      struct oci_fetched *ret, struct err *err)
{
        return oci_pull_from(c, a, ref, wait, fetch_manifest, ret, err);
}

static int head_manifest(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                         void *context, struct err *err)
{
        struct oci_ask ask = oci_ask_for(a, ref, "HEAD", "manifests", oci_reference_version(ref));
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        struct oci_descriptor *ret = context;
        struct oci_fetched fetched;
        struct str length;
        int r = oci_open_document(c, a, &ask, STR(ACCEPTED_MANIFESTS), wait, &response, err);

        if (r < 0 && r != ERR_FAILED)
                return r;
        length = r < 0 ? STR("") : http_fields_get(&response->fields, STR("content-length"));
        if (r >= 0 && stated_digest(response).n > 0 && length.n > 0 && length.n < 10) {
                *ret = (struct oci_descriptor) {
                        .digest = arena_copy(a, stated_digest(response)),
                        .media_type = arena_copy(a, http_fields_get(&response->fields, STR("content-type"))),
                        .size_bytes = strtol(arena_cstring(a, length), NULL, 10),
                };
                return 0;
        }
        /* Some registries refuse HEAD or leave the digest out. */
        r = fetch_manifest(c, a, ref, wait, &fetched, err);
        if (r < 0)
                return r;
        *ret = (struct oci_descriptor) { .digest = fetched.digest,
                                         .media_type = fetched.manifest.media_type,
                                         .size_bytes = (int64_t)fetched.json.n };
        return 0;
}

int oci_resolve(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                struct oci_descriptor *ret, struct err *err)
{
        return oci_pull_from(c, a, ref, wait, head_manifest, ret, err);
}

int oci_pull_platform(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                      const struct oci_platform *platform, struct oci_wait wait, struct oci_fetched *ret,
                      struct str *ret_top, struct err *err)
{
        struct oci_reference at = *ref;
        struct oci_fetched fetched;
        struct str top = STR("");
        int64_t size = -1;

        for (int level = 0;; level++) {
                const struct oci_descriptor *child;
                int r = oci_pull_manifest(c, a, &at, wait, &fetched, err);

                if (r < 0)
                        return r;
                if (size >= 0 && size != (int64_t)fetched.json.n)
                        return err_set(err, ERR_INVALID, "manifest %.*s has %zu bytes, but its index says %lld",
                                       STR_ARG(fetched.digest), fetched.json.n, (long long)size);
                top = top.n > 0 ? top : fetched.digest;
                if (!fetched.manifest.is_index)
                        break;
                if (level == LIMIT_INDEX_LEVELS)
                        return err_set(err, ERR_LIMIT, "%.*s: indexes name indexes more than %d levels deep",
                                       STR_ARG(oci_reference_text(a, ref)), LIMIT_INDEX_LEVELS);
                r = oci_index_choose(&fetched.manifest, platform, &child, err);
                if (r < 0)
                        return err_wrap(err, "%.*s", STR_ARG(oci_reference_text(a, ref)));
                at.digest = child->digest;
                at.tag = STR("");
                size = child->size_bytes;
        }
        *ret = fetched;
        if (ret_top)
                *ret_top = top;
        return 0;
}

/* Tags */

/* `Link: </v2/...>; rel="next"`: 1 with the next page, 0 if this was the last. */
static int next_page(struct arena *a, const struct http_response *r, struct oci_url *url, struct err *err)
{
        struct str link = http_fields_get(&r->fields, STR("link")), target;
        struct oci_url base = *url;
        int result;

        if (!link.p || !str_cut_prefix(&link, STR("<")) || !str_split(&link, '>', &target) ||
            str_find(link, STR("next")) < 0)
                return 0;
        result = oci_url_parse(a, target, &base, url, err);
        return result < 0 ? result : 1;
}

/* Only the tags stay of a page. */
static int add_tags(struct arena *a, struct str json, struct str **tags, size_t *n, size_t *capacity, struct err *err)
{
        _cleanup_arena_ struct arena page;
        const struct value *root, *list;
        int r;

        arena_init(&page, "tags", 0);
        r = json_parse(&page, json, NULL, &root, err);
        if (r < 0)
                return r;
        list = value_get(root, STR("tags"));
        if (value_count(list) > LIMIT_TAGS - *n)
                return err_set(err, ERR_LIMIT, "the repository has more than %d tags", LIMIT_TAGS);
        if (*n + value_count(list) > *capacity) {
                struct str *larger;

                *capacity = MAX(*capacity * 2, *n + value_count(list));
                larger = ARENA_NEW_ARRAY(a, struct str, *capacity);
                if (*n > 0)
                        memcpy(larger, *tags, *n * sizeof(**tags));
                *tags = larger;
        }
        VALUE_FOREACH_ITEM (tag, list) {
                if (!value_is_string(tag) || value_str(tag).n > MAX_TAG_BYTES)
                        return err_set(err, ERR_INVALID, "the list of tags has something that is not a tag");
                (*tags)[(*n)++] = arena_copy(a, value_str(tag));
        }
        return 0;
}

static int fetch_tags(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                      void *context, struct err *err)
{
        struct oci_ask ask = oci_ask_for(a, ref, "GET", "tags", STR("list?n=1000"));
        struct oci_strings *ret = context;
        struct str *tags = NULL;
        size_t n = 0, capacity = 0;
        struct oci_url url;
        int r = 1;

        for (int page = 0; r > 0; page++) {
                _cleanup_(http_response_freep)
                struct http_response *response = NULL;
                _cleanup_bytes_ struct bytes *body = NULL;

                if (page == MAX_PAGES)
                        r = err_set(err, ERR_LIMIT, "the list of tags has more than %d pages", MAX_PAGES);
                if (r >= 0)
                        r = oci_open(c, a, &ask, wait, &response, &url, err);
                if (r >= 0 && response->status != 200)
                        r = oci_status_error(&ask, response, wait, err);
                if (r >= 0)
                        r = oci_read_body(c, &ask, response, MAX_TAGS_BYTES, wait, &body, err);
                if (r >= 0)
                        r = add_tags(a, body->str, &tags, &n, &capacity, err);
                if (r >= 0)
                        r = next_page(a, response, &url, err);
                ask.url = &url;
        }
        if (r < 0)
                return err_wrap(err, "tags of %.*s/%.*s", STR_ARG(ref->registry), STR_ARG(ref->repository));
        *ret = (struct oci_strings) { tags, n };
        return 0;
}

int oci_list_tags(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                  struct oci_strings *ret, struct err *err)
{
        return oci_pull_from(c, a, ref, wait, fetch_tags, ret, err);
}
