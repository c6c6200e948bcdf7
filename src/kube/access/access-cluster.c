/* A cluster that checks what the run's user may do. The attributes of each call are those that the API server finds in a request's
 * path (docs/spec/apiserver 0.2). */
#include "access-state.h"

#include "name.h"

struct access_cluster {
        struct cluster cluster;
        struct cluster *inner;
        struct access *access;
};

static struct access_cluster *of(struct cluster *c)
{
        return CONTAINER_OF(c, struct access_cluster, cluster);
}

static bool is_namespace_kind(const struct kind *k)
{
        return k->group.n == 0 && str_equal(k->kind, STR("Namespace"));
}

static struct access_request request_of(const struct kind *kind, struct gvk gvk, const char *verb, struct str ns)
{
        return (struct access_request) {
                .verb = str_from(verb),
                .gvk = gvk,
                .plural = kind->plural,
                .ns = kind->is_namespaced ? ns : STR(""),
        };
}

/* About one object. The path of a namespace names the namespace twice: as the object and as its scope. */
static int object_request(struct access_cluster *c, struct run *run, const struct object_key *key, const char *verb,
                          struct str subresource, const struct kind **ret_kind, struct access_request *ret,
                          struct err *err)
{
        int r = cluster_kind(c->inner, run, key->gvk, ret_kind, err);

        if (r < 0)
                return r;
        *ret = request_of(*ret_kind, key->gvk, verb, key->ns);
        ret->subresource = subresource;
        ret->name = key->name;
        if (is_namespace_kind(*ret_kind))
                ret->ns = key->name;
        return 0;
}

/* --- Reads --- */

static int checked_get(struct cluster *cluster, struct run *run, const struct get_request *req, struct object **ret,
                       struct err *err)
{
        struct access_cluster *c = of(cluster);
        struct access_request question;
        const struct kind *kind;
        int r = object_request(c, run, &req->key, "get", req->subresource, &kind, &question, err);

        if (r == 0)
                r = access_check(c->access, run, &question, err);
        return r < 0 ? r : cluster_get(c->inner, run, req, ret, err);
}

/* The name that a list or watch is about; "" for a name that no path could have. */
static struct str selected_name(struct run *run, const struct field_selector *fields)
{
        struct str name = fields ? field_selector_name(fields) : STR(""), texts[4];

        return name.n && name_check_path_segment(run->arena, name, false, texts) == 0 ? name : STR("");
}

static int check_many(struct access_cluster *c, struct run *run, struct gvk gvk, const char *verb, struct str ns,
                      struct str name, struct err *err)
{
        struct access_request question;
        const struct kind *kind;
        int r = cluster_kind(c->inner, run, gvk, &kind, err);

        if (r < 0)
                return r;
        question = request_of(kind, gvk, verb, ns);
        question.name = name;
        return access_check(c->access, run, &question, err);
}

static int checked_list_begin(struct cluster *cluster, struct run *run, const struct list_request *req,
                              struct list_cursor **ret, struct err *err)
{
        struct access_cluster *c = of(cluster);
        int r = check_many(c, run, req->gvk, "list", req->ns, selected_name(run, req->fields), err);

        return r < 0 ? r : cluster_list_begin(c->inner, run, req, ret, err);
}

static int checked_watch(struct cluster *cluster, struct run *run, const struct watch_request *req, struct watch **ret,
                         struct err *err)
{
        struct access_cluster *c = of(cluster);
        int r = check_many(c, run, req->gvk, "watch", req->ns, selected_name(run, req->fields), err);

        return r < 0 ? r : cluster_watch(c->inner, run, req, ret, err);
}

/* --- Writes --- */

static const char *verb_of(enum write_verb verb)
{
        switch (verb) {
        case WRITE_CREATE:
                return "create";
        case WRITE_UPDATE:
                return "update";
        case WRITE_JSON_PATCH:
        case WRITE_MERGE_PATCH:
        case WRITE_STRATEGIC_PATCH:
        case WRITE_APPLY:
                return "patch";
        case WRITE_DELETE:
                return "delete";
        }
        return "";
}

/* True for writes that create the object if it does not exist, without being a create. */
static bool may_create(const struct write_request *req, const struct kind *kind)
{
        if (req->subresource.n)
                return false;
        return req->verb == WRITE_APPLY || (req->verb == WRITE_UPDATE && kind->allows_create_on_update);
}

/* Without the hook: an object that does not exist now needs the permission to create it. */
static int check_creation(struct access_cluster *c, struct run *run, const struct write_request *req,
                          const struct access_request *create, struct err *err)
{
        struct get_request get = { .key = req->key };
        _cleanup_err_ struct err missing = { 0 };
        struct object *o;
        bool is_allowed;
        int r = access_may(c->access, run, create, &is_allowed, NULL, err);

        if (r < 0 || is_allowed)
                return r;
        r = cluster_get(c->inner, run, &get, &o, &missing);
        if (r == ERR_NOT_FOUND)
                return access_check(c->access, run, create, err);
        return r < 0 ? err_move(err, &missing) : 0;
}

static int write_or_create(struct access_cluster *c, struct run *run, const struct write_request *req,
                           struct access_request *question, struct write_result *ret, struct err *err)
{
        struct creation_check check;
        int r;

        if (!c->access->is_hooked) {
                question->verb = STR("create");
                r = check_creation(c, run, req, question, err);
                return r < 0 ? r : cluster_write(c->inner, run, req, ret, err);
        }
        creation_check_begin(&check, c->access, run);
        r = cluster_write(c->inner, run, req, ret, err);
        creation_check_end(&check);
        return r;
}

static int checked_write(struct cluster *cluster, struct run *run, const struct write_request *req,
                         struct write_result *ret, struct err *err)
{
        struct access_cluster *c = of(cluster);
        struct access_request question;
        const struct kind *kind;
        int r = object_request(c, run, &req->key, verb_of(req->verb), req->subresource, &kind, &question, err);

        if (r < 0)
                return r;
        if (req->verb == WRITE_CREATE && req->subresource.n == 0) {
                question.name = STR(""); /* the path of a create names no object */
                if (is_namespace_kind(kind))
                        question.ns = STR("");
        }
        r = access_check(c->access, run, &question, err);
        if (r < 0)
                return r;
        if (may_create(req, kind))
                return write_or_create(c, run, req, &question, ret, err);
        return cluster_write(c->inner, run, req, ret, err);
}

static int checked_delete_collection(struct cluster *cluster, struct run *run, const struct list_request *list,
                                     const struct write_request *req, struct object_list *ret, struct err *err)
{
        struct access_cluster *c = of(cluster);
        int r = check_many(c, run, list->gvk, "deletecollection", list->ns, STR(""), err);

        return r < 0 ? r : cluster_delete_collection(c->inner, run, list, req, ret, err);
}

/* --- The catalogue, which every user may read --- */

static int passed_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        return of(c)->inner->ops->kind(of(c)->inner, run, gvk, ret, err);
}

static int passed_resource(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret, struct err *err)
{
        struct cluster *inner = of(c)->inner;

        return inner->ops->resource ? inner->ops->resource(inner, run, gvr, ret, err)
                                    : cluster_no_such_resource(gvr, err);
}

static int passed_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err)
{
        return cluster_kinds(of(c)->inner, run, ret, err);
}

static uint64_t passed_kinds_version(struct cluster *c)
{
        return cluster_kinds_version(of(c)->inner);
}

static int answered_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret,
                        struct err *err)
{
        return access_may(of(c)->access, run, req, ret, NULL, err);
}

static void free_cluster(struct cluster *c)
{
        free(of(c));
}

int access_cluster_new(struct cluster *inner, struct access *a, struct cluster **ret, struct err *err)
{
        static const struct cluster_ops ops = {
                .get = checked_get,
                .list_begin = checked_list_begin,
                .watch = checked_watch,
                .write = checked_write,
                .delete_collection = checked_delete_collection,
                .kind = passed_kind,
                .resource = passed_resource,
                .kinds = passed_kinds,
                .kinds_version = passed_kinds_version,
                .may = answered_may,
                .free = free_cluster,
        };
        struct access_cluster *c = xcalloc(1, sizeof(*c));

        *c = (struct access_cluster) { .cluster.ops = &ops, .inner = inner, .access = a };
        *ret = &c->cluster;
        return 0;
}
