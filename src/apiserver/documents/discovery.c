/* The handler of discovery: finds out which document a request is for, and makes it unless it is kept. */
#include "discovery-private.h"

#include "buf.h"
#include "discovery-accept.h"
#include "discovery-documents.h"
#include "json.h"
#include "limits.h"
#include "yaml.h"

int discovery_new(struct cluster *cluster, struct discovery **ret, struct err *err _unused_)
{
        struct discovery *d = xcalloc(1, sizeof(*d));

        d->cluster = cluster;
        document_cache_init(&d->documents, LIMIT_DISCOVERY_BYTES);
        document_cache_init(&d->openapi, LIMIT_OPENAPI_KEPT);
        document_cache_init(&d->digests, LIMIT_OPENAPI_DIGESTS);
        *ret = d;
        return 0;
}

void discovery_free(struct discovery *d)
{
        if (!d)
                return;
        document_cache_done(&d->documents);
        document_cache_done(&d->openapi);
        document_cache_done(&d->digests);
        free(d);
}

struct run discovery_run(const struct api_call *call)
{
        static const struct str masters = STR_INIT("system:masters");
        struct run run = call->run;

        run.user = (struct user) { .name = STR("system:apiserver"), .groups = &masters, .n_groups = 1 };
        run.cause = STR("discovery");
        run.warnings = NULL;
        return run;
}

int discovery_no_such_path(struct err *err)
{
        err_set(err, ERR_NOT_FOUND, "the server could not find the requested resource");
        err_set_details(err, STR("{}"));
        return ERR_NOT_FOUND;
}

/* --- Paths --- */

enum page {
        PAGE_API,       /* /api */
        PAGE_GROUPS,    /* /apis */
        PAGE_GROUP,     /* /apis/GROUP */
        PAGE_RESOURCES, /* /api/v1, /apis/GROUP/VERSION */
};

struct location {
        enum page page;
        struct str group;
        struct str version;
};

static bool parse_location(struct str path, struct location *ret)
{
        struct str first;

        *ret = (struct location) { 0 };
        if (!str_cut_prefix(&path, STR("/")))
                return false;
        str_cut_suffix(&path, STR("/"));
        str_split(&path, '/', &first);
        if (str_equal(first, STR("api"))) {
                ret->page = path.n > 0 ? PAGE_RESOURCES : PAGE_API;
                ret->version = path;
                return str_find_char(path, '/') < 0;
        }
        if (!str_equal(first, STR("apis")))
                return false;
        str_split(&path, '/', &ret->group);
        ret->version = path;
        ret->page = ret->group.n == 0 ? PAGE_GROUPS : path.n == 0 ? PAGE_GROUP : PAGE_RESOURCES;
        return str_find_char(path, '/') < 0 && (ret->group.n > 0 || path.n == 0);
}

/* --- Documents --- */

static int make_legacy(struct arena *a, const struct kind_list *kinds, const struct location *l, struct value *ret,
                       struct err *err)
{
        const struct discovery_group *g;

        if (l->page == PAGE_GROUPS) {
                *ret = discovery_group_list(a, kinds);
                return 0;
        }
        g = discovery_find_group(a, kinds, l->group);
        if (!g || (l->page == PAGE_RESOURCES && !discovery_has_version(g, l->version)))
                return discovery_no_such_path(err);
        *ret = l->page == PAGE_GROUP ? discovery_one_group(a, g) : discovery_resource_list(a, g, l->version);
        return 0;
}

static int write_document(struct arena *a, const struct value *v, enum discovery_notation notation,
                          struct kept_document *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = { 0 };
        int r = notation == DISCOVERY_YAML ? yaml_write(&b, v, 0, err) : json_write(&b, v, JSON_ESCAPE_HTML, err);

        if (r < 0)
                return r;
        if (notation == DISCOVERY_JSON)
                buf_append_char(&b, '\n');
        ret->tag = document_tag(a, buf_str(&b));
        ret->body = bytes_take(&b);
        arena_pin(a, ret->body, bytes_unpin);
        return 0;
}

static int make_document(struct discovery *d, struct run *run, const struct location *l, struct discovery_accept accept,
                         struct kept_document *ret, uint64_t *ret_version, struct err *err)
{
        struct kind_list kinds;
        struct value v;
        int r = cluster_kinds(d->cluster, run, &kinds, err);

        if (r < 0)
                return r;
        if (accept.form == DISCOVERY_LEGACY)
                r = make_legacy(run->arena, &kinds, l, &v, err);
        else
                v = discovery_aggregated(run->arena, &kinds, l->page == PAGE_API,
                                         accept.form == DISCOVERY_V2 ? STR("v2") : STR("v2beta1"));
        if (r < 0)
                return r;
        *ret_version = kinds.version;
        return write_document(run->arena, &v, accept.notation, ret, err);
}

static int find_document(struct discovery *d, struct api_call *call, const struct location *l,
                         struct discovery_accept accept, struct kept_document *ret, struct err *err)
{
        struct run run = discovery_run(call);
        struct str key = arena_printf(run.arena, "%d %d %d %.*s/%.*s", (int)accept.form, (int)accept.notation,
                                      (int)l->page, STR_ARG(l->group), STR_ARG(l->version));
        uint64_t version = cluster_kinds_version(d->cluster);
        int r;

        if (document_cache_get(&d->documents, version, key, run.arena, ret))
                return 0;
        r = make_document(d, &run, l, accept, ret, &version, err);
        if (r < 0)
                return r;
        document_cache_put(&d->documents, version, key, ret);
        return 0;
}

/* --- Answers --- */

static void add_field(struct api_call *call, struct api_reply *reply, struct str name, struct str value)
{
        http_fields_add(&reply->fields, call->run.arena, name, value);
}

static void reply_document(struct api_call *call, const struct kept_document *d, bool is_aggregated,
                           struct api_reply *ret)
{
        if (!is_aggregated) {
                ret->body = bytes_ref(d->body);
                return;
        }
        add_field(call, ret, STR("etag"), d->tag);
        add_field(call, ret, STR("vary"), STR("Accept"));
        add_field(call, ret, STR("cache-control"), STR("public"));
        if (discovery_has_tag(http_fields_get(&call->head->fields, STR("if-none-match")), d->tag))
                ret->status = 304;
        else
                ret->body = bytes_ref(d->body);
}

int discovery_handle(void *context, struct api_call *call, struct api_reply *ret, struct err *err)
{
        struct discovery *d = context;
        struct discovery_accept accept;
        struct kept_document document;
        struct location l;
        int r;

        *ret = (struct api_reply) { 0 };
        if (!parse_location(call->path, &l))
                return discovery_no_such_path(err);
        r = discovery_accept_parse(http_fields_get(&call->head->fields, STR("accept")),
                                   l.page == PAGE_API || l.page == PAGE_GROUPS, &accept, err);
        if (r < 0)
                return r;
        if (l.page == PAGE_API && accept.form == DISCOVERY_LEGACY) {
                struct value v = discovery_versions(call->run.arena, call->head->authority);

                r = write_document(call->run.arena, &v, accept.notation, &document, err);
        } else {
                r = find_document(d, call, &l, accept, &document, err);
        }
        if (r < 0)
                return r;
        ret->content_type = discovery_content_type(accept);
        reply_document(call, &document, accept.form != DISCOVERY_LEGACY, ret);
        return 0;
}
