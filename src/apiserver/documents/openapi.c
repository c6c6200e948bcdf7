/* The handler of OpenAPI documents.
 *
 * The hash in the index names what a document is made of: the kinds of its group and version, and the bytes of their CRDs. So the index
 * needs no document, and a document is made only when a client asks for it. A document is made of the same objects as its hash. */
#include "discovery-private.h"

#include "buf.h"
#include "clock.h"
#include "digest.h"
#include "discovery-accept.h"
#include "discovery-documents.h"
#include "gotime.h"
#include "json.h"
#include "limits.h"
#include "openapi-document.h"

/* Part of every hash: a document made by other rules has another one. */
#define RULES "weft openapi v3, 1\n"

#define YEAR_SECONDS (365ll * 24 * 3600)

/* --- What a document is made of --- */

struct source {
        struct str group, version;
        struct openapi_kind *kinds; /* crd: pinned to the run's arena */
        size_t n;
        struct str hash;
};

static int get_crd(struct discovery *d, struct run *run, const struct kind *k, struct object **ret, struct err *err)
{
        struct get_request req = {
                .key = {
                        .gvk = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
                        .name = ARENA_CONCAT(run->arena, k->plural, STR("."), k->group),
                },
        };
        _cleanup_err_ struct err own = { 0 };
        int r = cluster_get(d->cluster, run, &req, ret, &own);

        if (r != ERR_NOT_FOUND)
                return r < 0 ? err_move(err, &own) : 0;
        *ret = NULL;
        return 0;
}

static struct kept_document kept_text(struct arena *a, struct str text)
{
        struct kept_document d = { .body = bytes_copy(text), .tag = document_tag(a, text) };

        arena_pin(a, d.body, bytes_unpin);
        return d;
}

/* The digest of a CRD's bytes, which is kept: an index is made anew after every change of one of a thousand CRDs. */
static void append_digest(struct discovery *d, struct arena *a, struct buf *b, const struct kind *k, struct object *crd)
{
        struct str key = arena_printf(a, "%.*s.%.*s %llu", STR_ARG(k->plural), STR_ARG(k->group),
                                      (unsigned long long)object_version(crd));
        struct kept_document kept;

        if (!document_cache_get(&d->digests, 0, key, a, &kept)) {
                _cleanup_buf_ struct buf digest = { 0 };

                sha256_append_hex(&digest, object_bytes(crd));
                kept = kept_text(a, buf_str(&digest));
                document_cache_put(&d->digests, 0, key, &kept);
        }
        buf_append_char(b, ' ');
        buf_append_str(b, kept.body->str);
}

static struct str hash_of(struct discovery *d, struct arena *a, const struct source *s)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct str tag;

        buf_append_literal(&b, RULES);
        buf_appendf(&b, "%.*s/%.*s\n", STR_ARG(s->group), STR_ARG(s->version));
        for (size_t i = 0; i < s->n; i++) {
                buf_append_str(&b, s->kinds[i].kind->plural);
                if (s->kinds[i].crd)
                        append_digest(d, a, &b, s->kinds[i].kind, s->kinds[i].crd);
                buf_append_char(&b, '\n');
        }
        tag = document_tag(a, buf_str(&b));
        return str_make(tag.p + 1, tag.n - 2);
}

static int gather(struct discovery *d, struct run *run, const struct discovery_group *g, struct str version,
                  struct source *ret, struct err *err)
{
        *ret = (struct source) {
                .group = g->name,
                .version = version,
                .kinds = ARENA_NEW_ARRAY(run->arena, struct openapi_kind, g->n_kinds),
        };
        for (size_t i = 0; i < g->n_kinds; i++) {
                const struct kind *k = g->kinds[i].kind;
                const struct kind_version *v = kind_served_version(k, version);
                int r = 0;

                if (!v)
                        continue;
                ret->kinds[ret->n] = (struct openapi_kind) { .kind = k, .version = v };
                if (k->is_custom)
                        r = get_crd(d, run, k, &ret->kinds[ret->n].crd, err);
                if (r < 0)
                        return r;
                ret->n++;
        }
        ret->hash = hash_of(d, run->arena, ret);
        return 0;
}

/* --- Hashes --- */

static struct str hash_key(struct arena *a, struct str group, struct str version)
{
        return arena_printf(a, "hash %.*s/%.*s", STR_ARG(group), STR_ARG(version));
}

static void keep_hash(struct discovery *d, struct arena *a, uint64_t kinds_version, const struct source *s)
{
        struct kept_document kept = kept_text(a, s->hash);

        document_cache_put(&d->documents, kinds_version, hash_key(a, s->group, s->version), &kept);
}

/* The hash of a group and version. */
static int find_hash(struct discovery *d, struct run *run, uint64_t kinds_version, const struct discovery_group *g,
                     struct str version, struct str *ret, struct err *err)
{
        struct str key = hash_key(run->arena, g->name, version);
        struct kept_document kept;
        struct source source;
        int r;

        if (document_cache_get(&d->documents, kinds_version, key, run->arena, &kept)) {
                *ret = kept.body->str;
                return 0;
        }
        r = gather(d, run, g, version, &source, err);
        if (r < 0)
                return r;
        keep_hash(d, run->arena, kinds_version, &source);
        *ret = source.hash;
        return 0;
}

/* `api/v1`, `apis/example.org/v1`. */
static struct str index_key(struct arena *a, struct str group, struct str version)
{
        if (group.n == 0)
                return ARENA_CONCAT(a, STR("api/"), version);
        return ARENA_CONCAT(a, STR("apis/"), group, STR("/"), version);
}

static struct str document_url(struct arena *a, struct str group, struct str version, struct str hash)
{
        return ARENA_CONCAT(a, STR("/openapi/v3/"), index_key(a, group, version), STR("?hash="), hash);
}

static int add_group(struct discovery *d, struct run *run, uint64_t kinds_version, const struct discovery_group *g,
                     struct object_builder *paths, struct err *err)
{
        for (size_t i = 0; i < g->n_versions; i++) {
                struct str version = g->versions[i], hash;
                int r = find_hash(d, run, kinds_version, g, version, &hash, err);

                if (r < 0)
                        return r;
                object_builder_add(paths, index_key(run->arena, g->name, version),
                                   OPENAPI_OBJECT(run->arena,
                                                  { STR("serverRelativeURL"),
                                                    value_of_str(document_url(run->arena, g->name, version, hash)) }));
        }
        return 0;
}

static int make_index(struct discovery *d, struct run *run, struct kept_document *ret, uint64_t *ret_version,
                      struct err *err)
{
        const struct discovery_group *groups;
        _cleanup_buf_ struct buf b = { 0 };
        struct object_builder paths;
        struct kind_list kinds;
        struct value v;
        size_t n;
        int r = cluster_kinds(d->cluster, run, &kinds, err);

        if (r < 0)
                return r;
        n = discovery_groups(run->arena, &kinds, &groups);
        object_builder_init(&paths, run->arena, n);
        for (size_t i = 0; i < n; i++) {
                r = add_group(d, run, kinds.version, &groups[i], &paths, err);
                if (r < 0)
                        return r;
        }
        v = OPENAPI_OBJECT(run->arena, { STR("paths"), object_builder_finish(&paths) });
        r = json_write(&b, &v, JSON_ESCAPE_HTML, err);
        if (r < 0)
                return r;
        *ret = kept_text(run->arena, buf_str(&b));
        *ret_version = kinds.version;
        return 0;
}

/* --- Answers --- */

static void add_field(struct api_call *call, struct api_reply *reply, struct str name, struct str value)
{
        http_fields_add(&reply->fields, call->run.arena, name, value);
}

static struct str request_field(const struct api_call *call, struct str name)
{
        return http_fields_get(&call->head->fields, name);
}

/* The body, unless the client has it. */
static void reply_tagged(struct api_call *call, const struct kept_document *d, struct api_reply *ret)
{
        add_field(call, ret, STR("etag"), d->tag);
        add_field(call, ret, STR("vary"), STR("Accept"));
        if (discovery_has_tag(request_field(call, STR("if-none-match")), d->tag))
                ret->status = 304;
        else
                ret->body = bytes_ref(d->body);
}

static int handle_index(struct discovery *d, struct api_call *call, struct api_reply *ret, struct err *err)
{
        struct run run = discovery_run(call);
        uint64_t version = cluster_kinds_version(d->cluster);
        struct kept_document kept;
        int r;

        if (!document_cache_get(&d->documents, version, STR("index"), run.arena, &kept)) {
                r = make_index(d, &run, &kept, &version, err);
                if (r < 0)
                        return r;
                document_cache_put(&d->documents, version, STR("index"), &kept);
        }
        reply_tagged(call, &kept, ret);
        return 0;
}

/* A document with its hash in the URL never changes. */
static void add_lifetime(struct api_call *call, bool has_hash, struct api_reply *ret)
{
        struct instant later = clock_wall();
        _cleanup_buf_ struct buf b = { 0 };
        struct gotime t;

        if (!has_hash) {
                add_field(call, ret, STR("cache-control"), STR("no-cache, private"));
                return;
        }
        later.seconds += YEAR_SECONDS;
        t = gotime_utc(later);
        gotime_append(&b, &t, STR("Mon, 02 Jan 2006 15:04:05 GMT"));
        add_field(call, ret, STR("cache-control"), STR("public, immutable"));
        add_field(call, ret, STR("expires"), buf_str(&b));
}

static void redirect(struct api_call *call, struct str url, struct str hash, struct api_reply *ret)
{
        ret->status = 301;
        add_field(call, ret, STR("location"), url);
        add_field(call, ret, STR("etag"), arena_printf(call->run.arena, "\"%.*s\"", STR_ARG(hash)));
        add_field(call, ret, STR("vary"), STR("Accept"));
}

static int make_document(struct run *run, const struct source *s, struct kept_document *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_OPENAPI_BYTES);
        int r = openapi_write(&b, s->group, s->version, s->kinds, s->n, err);

        if (r < 0)
                return err_wrap(err, "cannot make the OpenAPI document of %.*s",
                                STR_ARG(index_key(run->arena, s->group, s->version)));
        ret->tag = arena_printf(run->arena, "\"%.*s\"", STR_ARG(s->hash));
        ret->body = bytes_take(&b);
        arena_pin(run->arena, ret->body, bytes_unpin);
        return 0;
}

/* The document of the hash, or of what there is by now: then the hash changes with it. A CRD may change without its kind. */
static int find_document(struct discovery *d, struct run *run, uint64_t kinds_version, const struct discovery_group *g,
                         struct str version, struct str *hash, struct kept_document *ret, struct err *err)
{
        struct source source;
        int r;

        if (document_cache_get(&d->openapi, 0, *hash, run->arena, ret))
                return 0;
        r = gather(d, run, g, version, &source, err);
        if (r < 0)
                return r;
        if (!str_equal(*hash, source.hash))
                keep_hash(d, run->arena, kinds_version, &source);
        *hash = source.hash;
        if (document_cache_get(&d->openapi, 0, *hash, run->arena, ret))
                return 0;
        r = make_document(run, &source, ret, err);
        if (r < 0)
                return r;
        document_cache_put(&d->openapi, 0, *hash, ret);
        return 0;
}

static int handle_document(struct discovery *d, struct api_call *call, struct str group_name, struct str version,
                           struct api_reply *ret, struct err *err)
{
        struct run run = discovery_run(call);
        struct str asked = api_query_get(&call->query, STR("hash")), hash;
        const struct discovery_group *g;
        struct kept_document kept;
        struct kind_list kinds;
        int r = cluster_kinds(d->cluster, &run, &kinds, err);

        if (r < 0)
                return r;
        g = discovery_find_group(run.arena, &kinds, group_name);
        if (!g || !discovery_has_version(g, version))
                return discovery_no_such_path(err);
        r = find_hash(d, &run, kinds.version, g, version, &hash, err);
        if (r < 0)
                return r;
        if (asked.n == 0 || str_equal(asked, hash)) {
                r = find_document(d, &run, kinds.version, g, version, &hash, &kept, err);
                if (r < 0)
                        return r;
        }
        if (asked.n > 0 && !str_equal(asked, hash)) {
                redirect(call, document_url(run.arena, g->name, version, hash), hash, ret);
                return 0;
        }
        add_lifetime(call, asked.n > 0, ret);
        reply_tagged(call, &kept, ret);
        return 0;
}

/* `api/v1`, `apis/GROUP/VERSION`. */
static bool parse_name(struct str rest, struct str *ret_group, struct str *ret_version)
{
        *ret_group = STR("");
        if (str_cut_prefix(&rest, STR("apis/"))) {
                if (!str_split(&rest, '/', ret_group) || ret_group->n == 0)
                        return false;
        } else if (!str_cut_prefix(&rest, STR("api/"))) {
                return false;
        }
        *ret_version = rest;
        return rest.n > 0 && str_find_char(rest, '/') < 0;
}

int openapi_handle(void *context, struct api_call *call, struct api_reply *ret, struct err *err)
{
        struct str rest = call->path, group, version;
        struct discovery_accept accept;
        int r;

        *ret = (struct api_reply) { 0 };
        if (!str_cut_prefix(&rest, STR("/openapi/v3")) || (rest.n > 0 && rest.p[0] != '/'))
                return discovery_no_such_path(err);
        r = discovery_accept_parse(request_field(call, STR("accept")), false, &accept, err);
        if (r >= 0 && accept.notation != DISCOVERY_JSON) {
                r = err_set(err, ERR_UNSUPPORTED, "only the following media types are accepted: application/json");
                err_set_reason(err, REASON_NOT_ACCEPTABLE);
        }
        if (r < 0)
                return r;
        rest = str_skip(rest, 1);
        if (rest.n == 0)
                return handle_index(context, call, ret, err);
        if (!parse_name(rest, &group, &version))
                return discovery_no_such_path(err);
        return handle_document(context, call, group, version, ret, err);
}
