/* Requests for resources: from a route to calls of the cluster, and from their results to answers (docs/spec/apiserver 2). */
#include "request.h"

#include "access.h"
#include "authenticator.h"
#include "authenticator.h"
#include "body.h"
#include "buf.h"
#include "form.h"
#include "json.h"
#include "options.h"
#include "pack.h"
#include "yaml.h"

/* A resource of the request, found in the cluster. */
struct target {
        const struct kind *kind;
        const struct kind_version *version;
        const struct kind_subresource *subresource; /* NULL: none */
        struct object_key key;
};

/* --- Refusals --- */

static int no_such_resource(const struct api_request *q, struct err *err)
{
        return api_no_such_path(q->route.gvr.group, err);
}

static int method_not_allowed(const struct target *t, struct str verb, struct err *err)
{
        struct status_subject subject = kind_subject(t->kind, STR(""));
        int r;

        if (t->kind->is_custom)
                return status_method_not_allowed(err, &subject, verb);
        r = err_set(err, ERR_UNSUPPORTED, "the server does not allow this method on the requested resource");
        err_set_reason(err, REASON_METHOD_NOT_ALLOWED);
        err_set_details(err, STR("{}"));
        return r;
}

/* Subresources that need a node, a pod's process or another server. */
static bool needs_machinery(const struct api_route *route)
{
        static const struct {
                struct str plural, subresource;
        } all[] = {
                { STR_INIT("pods"), STR_INIT("log") },       { STR_INIT("pods"), STR_INIT("exec") },
                { STR_INIT("pods"), STR_INIT("attach") },    { STR_INIT("pods"), STR_INIT("portforward") },
                { STR_INIT("pods"), STR_INIT("eviction") },  { STR_INIT("pods"), STR_INIT("binding") },
                { STR_INIT("pods"), STR_INIT("proxy") },     { STR_INIT("pods"), STR_INIT("ephemeralcontainers") },
                { STR_INIT("services"), STR_INIT("proxy") }, { STR_INIT("nodes"), STR_INIT("proxy") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                if (route->gvr.group.n == 0 && str_equal(route->gvr.plural, all[i].plural) &&
                    str_equal(route->subresource, all[i].subresource))
                        return true;
        return false;
}

static int not_implemented(struct api_request *q, const char *why, struct err *err)
{
        const struct api_route *route = &q->route;

        q->error_status = 501;
        return err_set(err, ERR_UNSUPPORTED, "%.*s%s%.*s is not supported: %s", STR_ARG(route->gvr.plural),
                       route->subresource.n ? "/" : "", STR_ARG(route->subresource), why);
}

/* --- Finding the resource --- */

/* Objects of all namespaces are read together, but never deleted together. */
static bool is_in_scope(const struct target *t, const struct api_route *route)
{
        bool reads_many = route->verb == API_LIST || route->verb == API_WATCH;

        if (!t->kind->is_namespaced)
                return route->ns.n == 0;
        return route->ns.n > 0 || reads_many;
}

static unsigned verb_bit(enum api_verb verb)
{
        static const unsigned bits[_API_VERB_COUNT] = {
                [API_GET] = VERB_GET,       [API_LIST] = VERB_LIST,
                [API_WATCH] = VERB_WATCH,   [API_CREATE] = VERB_CREATE,
                [API_UPDATE] = VERB_UPDATE, [API_PATCH] = VERB_PATCH,
                [API_DELETE] = VERB_DELETE, [API_DELETE_COLLECTION] = VERB_DELETE_COLLECTION,
        };

        return bits[verb];
}

static int find_subresource(struct target *t, const struct api_request *q, struct err *err)
{
        const struct api_route *route = &q->route;
        struct status_subject subject = kind_subject(t->kind, route->name);

        for (size_t i = 0; i < t->version->n_subresources; i++)
                if (str_equal(t->version->subresources[i].name, route->subresource))
                        t->subresource = &t->version->subresources[i];
        if (!t->subresource || route->rest.n)
                return t->kind->is_custom ? status_not_found(err, &subject) : no_such_resource(q, err);
        if (!(t->subresource->verbs & verb_bit(route->verb)))
                return method_not_allowed(t, api_verb_name(route->verb), err);
        return 0;
}

/* Verbs on a collection or an object that the API does not have there. */
static int check_verb(const struct target *t, struct api_request *q, struct err *err)
{
        struct api_route *route = &q->route;

        if ((route->verb == API_UPDATE || route->verb == API_PATCH) && route->name.n == 0)
                return t->kind->is_custom ? status_bad_request(err, "name must be provided")
                                          : method_not_allowed(t, STR(""), err);
        if (route->verb == API_CREATE && route->name.n) {
                if (!t->kind->is_custom)
                        return method_not_allowed(t, STR(""), err);
                route->name = STR("");
        }
        if (!(t->version->verbs & verb_bit(route->verb)))
                return method_not_allowed(t, api_verb_name(route->verb), err);
        return 0;
}

static int find_target(struct api_request *q, struct target *ret, struct err *err)
{
        const struct api_route *route = &q->route;
        struct target t = { 0 };
        int r = cluster_resource(q->call.cluster, &q->call.run, route->gvr, &t.kind, err);

        if (r == ERR_NOT_FOUND)
                return no_such_resource(q, err);
        if (r < 0)
                return r;
        t.version = kind_served_version(t.kind, route->gvr.version);
        if (!t.version)
                return no_such_resource(q, err);
        if (!is_in_scope(&t, route))
                return route->name.n == 0 && t.kind->is_namespaced && !t.kind->is_custom
                               ? method_not_allowed(&t, STR(""), err)
                               : no_such_resource(q, err);
        r = route->subresource.n ? find_subresource(&t, q, err) : check_verb(&t, q, err);
        if (r < 0)
                return r;
        t.key = (struct object_key) {
                .gvk = { .group = t.kind->group, .version = t.version->name, .kind = t.kind->kind },
                .ns = route->ns,
                .name = route->name,
        };
        *ret = t;
        return 0;
}

/* --- Access --- */

/* May the user do what the path says? The cluster checks it again when it is asked, with what the request turns out to do. The path of
 * a namespace names it twice: as the object and as its scope. */
static int check_rights(struct api_request *q, struct err *err)
{
        const struct api_route *route = &q->route;
        bool is_namespace = route->gvr.group.n == 0 && str_equal(route->gvr.plural, STR("namespaces"));
        struct access_request req = {
                .verb = api_verb_name(route->verb),
                .gvk = { .group = route->gvr.group, .version = route->gvr.version },
                .plural = route->gvr.plural,
                .subresource = route->subresource,
                .ns = is_namespace ? route->name : route->ns,
                .name = route->name,
        };

        return q->server->options.access ? access_check(q->server->options.access, &q->call.run, &req, err) : 0;
}

/* --- Answers --- */

/* Upstream names the Go type of the list. */
static int metadata_of_list(const struct kind *kind, struct err *err)
{
        struct str group = kind->group, package;
        int r;

        str_split(&group, '.', &package);
        if (kind->is_custom)
                r = err_set(err, ERR_UNSUPPORTED,
                            "you requested PartialObjectMetadata, but the requested object is a list "
                            "(*unstructured.UnstructuredList)");
        else
                r = err_set(err, ERR_UNSUPPORTED,
                            "you requested PartialObjectMetadata, but the requested object is a list (*%.*s.%.*s)",
                            STR_ARG(package.n ? package : STR("core")), STR_ARG(kind->list_kind));
        err_set_reason(err, REASON_NOT_ACCEPTABLE);
        return r;
}

static int negotiate(struct api_request *q, const struct target *t, unsigned forms, struct form *ret, struct err *err)
{
        struct acceptable allowed = {
                .forms = forms,
                .is_watch = q->route.verb == API_WATCH,
                .is_list = q->route.verb == API_LIST,
                .is_custom = t->kind->is_custom,
        };
        struct accepted accepted;
        int r = accept_negotiate(http_fields_get(&q->head.fields, STR("accept")), &allowed, &accepted, err);

        if (r < 0)
                return r;
        if (accepted.form == ANSWER_METADATA && q->route.verb == API_DELETE_COLLECTION)
                return metadata_of_list(t->kind, err);
        accepted.is_pretty |=
                api_query_get(&q->route.query, STR("pretty")).p && api_query_flag(&q->route.query, STR("pretty"));
        return form_init(ret, &accepted, &q->route.query, t->kind, t->version, err);
}

/* Subresources with another kind, as scale, are shown as they are. */
static unsigned forms_of_one(const struct target *t)
{
        bool is_other = t->subresource && !str_equal(t->subresource->gvk.kind, t->kind->kind);

        return is_other ? FORM_SET(ANSWER_OBJECT) : FORMS_OF_ONE;
}

static int answer_yaml(struct api_request *q, const struct value *v, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = yaml_write(&b, v, 0, err);

        if (r < 0)
                return r;
        q->reply.content_type = STR("application/yaml");
        q->reply.body = bytes_take(&b);
        return 0;
}

static int answer_value(struct api_request *q, const struct form *f, const struct value *object, struct err *err)
{
        struct value v = form_value(f, &q->arena, object);
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (f->accepted.is_yaml)
                return answer_yaml(q, &v, err);
        r = json_write(&b, &v, JSON_ESCAPE_HTML | (f->accepted.is_pretty ? JSON_PRETTY : 0), err);
        if (r < 0)
                return r;
        buf_append_char(&b, '\n');
        q->reply.body = bytes_take(&b);
        return 0;
}

static int answer_object(struct api_request *q, const struct form *f, struct object *o, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena scratch;

        arena_init(&scratch, "answer", 0);
        if (f->accepted.is_yaml)
                return answer_value(q, f, object_value(o, &q->arena), err);
        form_append_whole(f, o, &scratch, &b);
        q->reply.body = bytes_take(&b);
        return 0;
}

/* --- Reads --- */

static int handle_get(struct api_request *q, const struct target *t, struct err *err)
{
        struct get_request req = {
                .key = t->key,
                .subresource = q->route.subresource,
                .resource_version = api_query_get(&q->route.query, STR("resourceVersion")),
        };
        _cleanup_(form_done)
        struct form form = { 0 };
        struct object *o;
        int r = negotiate(q, t, forms_of_one(t), &form, err);

        if (r == 0)
                r = cluster_get(q->call.cluster, &q->call.run, &req, &o, err);
        if (r == 0)
                r = answer_object(q, &form, o, err);
        return r < 0 ? r : arena_check(&q->arena, err);
}

/* A list in YAML is made as a whole: this is for people. */
static int list_as_yaml(struct api_request *q, const struct target *t, struct err *err)
{
        struct object_builder b, metadata;
        struct array_builder items;
        struct object_list list;
        struct value v;
        int r = cluster_list(q->call.cluster, &q->call.run, &q->options.list, &list, err);

        if (r < 0)
                return r;
        array_builder_init(&items, &q->arena, list.n);
        for (size_t i = 0; r == 0 && i < list.n; i++) {
                array_builder_add(&items, *object_list_value(&list, i, &q->arena));
                r = arena_check(&q->arena, err);
        }
        if (r < 0)
                return r;
        object_builder_init(&metadata, &q->arena, 2);
        object_builder_add(&metadata, STR("resourceVersion"), value_of_str(list.resource_version));
        if (list.continue_token.n || t->kind->is_custom)
                object_builder_add(&metadata, STR("continue"), value_of_str(list.continue_token));
        object_builder_init(&b, &q->arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(&q->arena, t->key.gvk)));
        object_builder_add(&b, STR("items"), array_builder_finish(&items));
        object_builder_add(&b, STR("kind"), value_of_str(t->kind->list_kind));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        v = object_builder_finish(&b);
        return answer_yaml(q, &v, err);
}

/* The first piece decides: what follows an error of a later one is a broken answer. */
static int begin_list(struct api_request *q, struct form *form, const struct target *t, struct err *err)
{
        int r = list_stream_new(q->call.cluster, &q->call.run, &q->options, t->key.gvk, form, &q->list, err);

        if (r < 0)
                return r;
        r = list_stream_fill(q->list, &q->call.run, PACK_FROM_BYTES, &q->text, err);
        if (r == ERR_EXPIRED)
                q->expired_token = list_stream_token(q->list, &q->arena);
        q->has_more = r > 0;
        return MIN(r, 0);
}

static int handle_list(struct api_request *q, const struct target *t, struct err *err)
{
        _cleanup_(form_done)
        struct form form = { 0 };
        bool is_metadata;
        int r = negotiate(q, t, FORMS_OF_LIST | FORM_SET(ANSWER_METADATA), &form, err);

        if (r == 0)
                r = options_list(&q->arena, &q->route.query, &q->options, err);
        if (r < 0)
                return r;
        q->options.list.gvk = t->key.gvk;
        q->options.list.ns = t->key.ns;
        if (form.accepted.is_yaml && form.accepted.form == ANSWER_OBJECT)
                return list_as_yaml(q, t, err);
        is_metadata = form.accepted.form == ANSWER_METADATA;
        r = begin_list(q, &form, t, err);
        return r == 0 && is_metadata ? metadata_of_list(t->kind, err) : r;
}

static int handle_watch(struct api_request *q, const struct target *t, struct err *err)
{
        _cleanup_(form_done)
        struct form form = { 0 };
        int r = negotiate(q, t, FORMS_OF_ONE, &form, err);

        if (r == 0)
                r = options_watch(&q->arena, &q->route.query, &q->options, err);
        if (r < 0)
                return r;
        q->options.watch.gvk = t->key.gvk;
        q->options.watch.ns = t->key.ns;
        return watch_source_new(q->call.cluster, &q->call.run, &q->options.watch, &form, &q->watch, err);
}

/* --- Writes --- */

static struct str content_type(const struct api_request *q)
{
        return http_fields_get(&q->head.fields, STR("content-type"));
}

static int write_body(struct api_request *q, const struct target *t, struct write_request *req,
                      struct write_result *ret, struct err *err)
{
        struct str agent = http_fields_get(&q->head.fields, STR("user-agent"));
        int r = options_write(&q->arena, &q->route.query, agent, req, err);

        req->key = t->key;
        req->subresource = q->route.subresource;
        if (r == 0)
                r = body_decode(&q->call.run, content_type(q), q->call.body, t->kind, req, err);
        return r < 0 ? r : cluster_write(q->call.cluster, &q->call.run, req, ret, err);
}

static int handle_write(struct api_request *q, const struct target *t, enum write_verb verb, struct err *err)
{
        struct write_request req = { .verb = verb, .promise = promise_make(q) };
        struct write_result result;
        _cleanup_(form_done)
        struct form form = { 0 };
        int r = q->route.verb == API_PATCH ? body_patch_verb(content_type(q), t->kind, &req.verb, err) : 0;

        if (r == 0)
                r = negotiate(q, t, forms_of_one(t), &form, err);
        if (r == 0)
                r = write_body(q, t, &req, &result, err);
        if (r < 0)
                return r;
        q->reply.status = result.is_created ? 201 : 200;
        if (result.object)
                return answer_object(q, &form, result.object, err);
        return answer_value(q, &form, result.value, err);
}

/* --- Deletes --- */

/* These kinds are answered with the object even if it is gone. */
static bool returns_deleted(const struct kind *kind)
{
        static const char *const core[] = { "pods",
                                            "services",
                                            "serviceaccounts",
                                            "namespaces",
                                            "persistentvolumeclaims",
                                            "persistentvolumes",
                                            "podtemplates",
                                            "resourcequotas" };

        if (kind->is_custom)
                return false;
        for (size_t i = 0; kind->group.n == 0 && i < ARRAY_SIZE(core); i++)
                if (str_equal(kind->plural, str_from(core[i])))
                        return true;
        return str_equal(kind->group, STR("storage.k8s.io"));
}

static struct value deleted_status(struct arena *a, const struct target *t, const struct value *last)
{
        struct object_builder b, details;

        object_builder_init(&details, a, 4);
        object_builder_add(&details, STR("name"), value_of_str(t->key.name));
        if (t->kind->group.n)
                object_builder_add(&details, STR("group"), value_of_str(t->kind->group));
        object_builder_add(&details, STR("kind"), value_of_str(t->kind->plural));
        object_builder_add(&details, STR("uid"), value_of_str(meta_uid(last)));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("kind"), value_of_literal("Status"));
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("metadata"), value_empty_object);
        object_builder_add(&b, STR("status"), value_of_literal("Success"));
        object_builder_add(&b, STR("details"), object_builder_finish(&details));
        return object_builder_finish(&b);
}

static int read_delete_options(struct api_request *q, struct write_request *req, bool *ret_is_explicit, struct err *err)
{
        const struct value *body;
        int r = body_decode_other(&q->arena, content_type(q), q->call.body, &body, err);

        return r < 0 ? r : options_delete(&q->arena, &q->route.query, body, req, ret_is_explicit, err);
}

static int handle_delete(struct api_request *q, const struct target *t, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE, .key = t->key, .promise = promise_make(q) };
        struct form plain = { 0 };
        struct write_result result;
        struct value status;
        bool is_explicit;
        _cleanup_(form_done)
        struct form form = { 0 };
        int r = negotiate(q, t, FORMS_OF_ONE, &form, err);

        if (r == 0)
                r = read_delete_options(q, &req, &is_explicit, err);
        if (r == 0)
                r = cluster_write(q->call.cluster, &q->call.run, &req, &result, err);
        if (r < 0)
                return r;
        if (!result.is_removed && is_explicit)
                q->reply.status = 202;
        if (!result.is_removed || returns_deleted(t->kind))
                return answer_value(q, &form, result.value, err);
        status = deleted_status(&q->arena, t, result.value);
        plain.accepted = form.accepted;
        plain.accepted.form = ANSWER_OBJECT; /* a Status is never transformed */
        return answer_value(q, &plain, &status, err);
}

static int handle_delete_collection(struct api_request *q, const struct target *t, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE };
        _cleanup_arena_ struct arena scratch;
        _cleanup_(form_done)
        struct form form = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct object_list list;
        bool is_explicit;
        int r = negotiate(q, t, FORMS_OF_LIST | FORM_SET(ANSWER_METADATA), &form, err);

        arena_init(&scratch, "answer", 0);
        if (r == 0)
                r = options_list(&q->arena, &q->route.query, &q->options, err);
        if (r == 0)
                r = read_delete_options(q, &req, &is_explicit, err);
        if (r < 0)
                return r;
        q->options.list.gvk = t->key.gvk;
        q->options.list.ns = t->key.ns;
        r = cluster_delete_collection(q->call.cluster, &q->call.run, &q->options.list, &req, &list, err);
        if (r < 0)
                return r;
        form_begin_list(&form, t->key.gvk, &scratch, &b);
        for (size_t i = 0; i < list.n; i++) {
                if (i > 0)
                        buf_append_char(&b, ',');
                form_append_item(&form, list.objects[i], &scratch, &b);
        }
        form_end_list(&form, &list, &b);
        q->reply.body = bytes_take(&b);
        return 0;
}

/* --- Questions that are posed by creating them --- */

static int answer_question(struct api_request *q, const struct value *answer)
{
        q->reply.status = 201;
        api_reply_value(&q->reply, answer);
        return 0;
}

static int refuse_forms(struct api_request *q, struct err *err)
{
        struct acceptable allowed = { .forms = FORM_SET(ANSWER_OBJECT) };
        struct accepted accepted;

        return accept_negotiate(http_fields_get(&q->head.fields, STR("accept")), &allowed, &accepted, err);
}

static bool is_question(const struct api_request *q)
{
        return q->route.verb == API_CREATE && !q->route.subresource.n && !q->route.name.n &&
               review_is_one(q->route.gvr);
}

static bool is_token_request(const struct api_request *q)
{
        const struct api_route *route = &q->route;

        return route->verb == API_CREATE && route->gvr.group.n == 0 &&
               str_equal(route->gvr.plural, STR("serviceaccounts")) && str_equal(route->subresource, STR("token"));
}

static int handle_question(struct api_request *q, struct err *err)
{
        struct authenticator *authenticator = q->server->options.authenticator;
        const struct value *body, *answer;
        int r = refuse_forms(q, err);

        if (!authenticator)
                return not_implemented(q, "this API server does not know its users", err);
        if (r == 0)
                r = body_decode_other(&q->arena, content_type(q), q->call.body, &body, err);
        if (r < 0)
                return r;
        if (is_token_request(q))
                r = token_request_create(authenticator, &q->call, q->route.ns, q->route.name, body, &answer, err);
        else
                r = review_create(authenticator, &q->call, q->route.gvr, q->route.ns, body, &answer, err);
        return r < 0 ? r : answer_question(q, answer);
}

static int handle_resource(struct api_request *q, struct err *err)
{
        struct target t;
        int r;

        if (needs_machinery(&q->route))
                return not_implemented(q, "this API server stores objects and runs no pods", err);
        if (is_question(q) || is_token_request(q))
                return handle_question(q, err);
        r = find_target(q, &t, err);
        if (r == 0 && q->route.verb != API_GET && q->route.verb != API_LIST && q->route.verb != API_WATCH)
                r = check_rights(q, err); /* before the body is read */
        if (r < 0)
                return r;
        switch (q->route.verb) {
        case API_GET:
                return handle_get(q, &t, err);
        case API_LIST:
                return handle_list(q, &t, err);
        case API_WATCH:
                return handle_watch(q, &t, err);
        case API_CREATE:
                return handle_write(q, &t, WRITE_CREATE, err);
        case API_UPDATE:
                return handle_write(q, &t, WRITE_UPDATE, err);
        case API_PATCH:
                return handle_write(q, &t, WRITE_MERGE_PATCH, err);
        case API_DELETE:
                return handle_delete(q, &t, err);
        case API_DELETE_COLLECTION:
                return handle_delete_collection(q, &t, err);
        case API_OTHER:
        case _API_VERB_COUNT:
                break;
        }
        return method_not_allowed(&t, STR(""), err);
}

/* A user learns what is wrong with a request only if the user may make it: the API checks rights before everything else. */
int resource_handle(struct api_request *q, struct err *err)
{
        _cleanup_err_ struct err refusal = { 0 };
        int r = handle_resource(q, err);

        if (r >= 0 || r == ERR_FORBIDDEN || check_rights(q, &refusal) != ERR_FORBIDDEN)
                return r;
        q->error_status = 0;
        return err_move(err, &refusal);
}
