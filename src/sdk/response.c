/* The response. The desired state is split into its resources when the first one is edited. Only edited resources are decoded and
 * encoded again; if the function edits nothing, the bytes are passed on unchanged. */
#include "sdk.h"

#include "base64.h"
#include "buf.h"
#include "fn-state.h"
#include "proto-time.h"
#include "yaml.h"

enum { RESOURCE_OBJECT = 1, RESOURCE_READY = 3 };

static const struct proto_options keep_unknown = { .flags = PROTO_KEEP_UNKNOWN | PROTO_BORROW_BYTES };

/* --- Desired state --- */

static struct entry *add_entry(struct weft_response *rsp, struct str name)
{
        struct entry *e = map_get(&rsp->entries, name);

        if (!e) {
                e = ARENA_NEW(rsp->call->arena, struct entry);
                e->name = name;
                map_set(&rsp->entries, name, e);
        }
        return e;
}

static int read_state(struct weft_response *rsp, struct str desired, struct err *err)
{
        struct fn_state_parts parts;
        int r = fn_state_split(rsp->call->arena, desired, &parts, err);

        if (r < 0)
                return r;
        if (parts.composite.p) {
                rsp->composite = ARENA_NEW(rsp->call->arena, struct entry);
                rsp->composite->bytes = parts.composite;
        }
        for (size_t i = 0; i < parts.n; i++)
                add_entry(rsp, parts.entries[i].name)->bytes = parts.entries[i].bytes;
        rsp->state_unknown = parts.unknown;
        return 0;
}

static void open_state(struct weft_response *rsp)
{
        struct str desired = rsp->call->request.parts->part[FN_REQUEST_DESIRED];
        _cleanup_err_ struct err err = { 0 };

        if (rsp->is_open)
                return;
        rsp->is_open = true;
        rsp->has_desired = true;
        if (desired.p && read_state(rsp, desired, &err) < 0)
                sdk_fail(rsp->call, "cannot read the desired state: %s", err_message(&err));
}

/* Decodes the entry's Resource message for editing. */
static void open_entry(struct weft_response *rsp, struct entry *e)
{
        _cleanup_err_ struct err err = { 0 };

        if (e->message)
                return;
        if (e->bytes.n == 0)
                e->message = &value_empty_object;
        else if (proto_decode(rsp->call->arena, &proto_fn_v1_Resource, e->bytes, &keep_unknown, &e->message, &err) <
                 0) {
                sdk_fail(rsp->call, "cannot read the desired state: %s", err_message(&err));
                e->message = &value_empty_object;
        }
}

static struct entry *open_resource(struct weft_response *rsp, const char *name)
{
        struct entry *e;

        open_state(rsp);
        e = add_entry(rsp, sdk_text(rsp->call->arena, name));
        if (e->is_removed)
                *e = (struct entry) { .name = e->name };
        open_entry(rsp, e);
        if (!e->resource)
                e->resource = sdk_value(rsp->call, value_find(e->message, "resource"), "desired resource", name);
        return e;
}

static struct entry *open_composite(struct weft_response *rsp)
{
        open_state(rsp);
        if (!rsp->composite)
                rsp->composite = ARENA_NEW(rsp->call->arena, struct entry);
        open_entry(rsp, rsp->composite);
        return rsp->composite;
}

struct weft_value *weft_compose(struct weft_response *rsp, const char *name, const char *api_version, const char *kind)
{
        struct weft_value *v = open_resource(rsp, name)->resource;

        weft_set_string(v, "apiVersion", api_version);
        weft_set_string(v, "kind", kind);
        return v;
}

struct weft_value *weft_compose_yaml(struct weft_response *rsp, const char *name, const char *manifest)
{
        struct weft_value *v = open_resource(rsp, name)->resource;

        v->v = &value_empty_object;
        weft_set_yaml(v, NULL, manifest);
        if (value_is_object(v->v))
                return v;
        sdk_fail(rsp->call, "desired resource \"%s\": the manifest is not an object", name);
        v->v = &value_empty_object;
        return v;
}

void weft_remove(struct weft_response *rsp, const char *name)
{
        struct entry *e;

        open_state(rsp);
        e = map_get(&rsp->entries, str_from(name));
        if (e)
                e->is_removed = true;
}

static void set_member(struct weft_response *rsp, struct entry *e, struct str key, struct value v)
{
        e->message = value_with(rsp->call->arena, e->message, key, value_put(rsp->call->arena, v));
}

void weft_set_ready(struct weft_response *rsp, const char *name, enum weft_ready ready)
{
        struct entry *e;

        open_state(rsp);
        e = map_get(&rsp->entries, str_from(name));
        if (!e || e->is_removed) {
                sdk_fail(rsp->call, "cannot set readiness: resource \"%s\" is not desired", name);
                return;
        }
        open_entry(rsp, e);
        set_member(rsp, e, STR("ready"), value_of_int((int64_t)ready));
}

void weft_set_composite_ready(struct weft_response *rsp, enum weft_ready ready)
{
        set_member(rsp, open_composite(rsp), STR("ready"), value_of_int((int64_t)ready));
}

struct weft_value *weft_status(struct weft_response *rsp)
{
        struct entry *e = open_composite(rsp);

        if (!rsp->status)
                rsp->status = sdk_value(rsp->call, value_find(e->message, "resource", "status"),
                                        "status of the composite resource", NULL);
        return rsp->status;
}

void weft_set_connection(struct weft_response *rsp, const char *key, const void *data, size_t size)
{
        struct arena *a = rsp->call->arena;
        struct entry *e = open_composite(rsp);
        const struct value *details = value_find(e->message, "connectionDetails");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, str_make(data, size), BASE64_STD);
        details = value_with(a, details ? details : &value_empty_object, sdk_text(a, key),
                             value_put(a, value_of_str(buf_to_arena(&b, a))));
        set_member(rsp, e, STR("connectionDetails"), *details);
}

/* --- Context, output, requirements --- */

struct weft_value *weft_context_edit(struct weft_response *rsp, const char *key)
{
        struct weft_value *v = map_get(&rsp->contexts, str_from(key));

        if (!v) {
                v = sdk_value(rsp->call, value_find(sdk_part(&rsp->call->request, FN_REQUEST_CONTEXT), key), "context",
                              key);
                map_set(&rsp->contexts, sdk_text(rsp->call->arena, key), v);
        }
        return v;
}

struct weft_value *weft_output(struct weft_response *rsp)
{
        if (!rsp->output)
                rsp->output = sdk_value(rsp->call, &value_empty_object, "output", NULL);
        return rsp->output;
}

static const struct value *text_value(struct arena *a, const char *s)
{
        return value_put(a, value_of_str(sdk_text(a, s)));
}

static const struct value *selector(struct arena *a, const char *api_version, const char *kind)
{
        const struct value *v = value_with(a, &value_empty_object, STR("apiVersion"), text_value(a, api_version));

        return value_with(a, v, STR("kind"), text_value(a, kind));
}

static void require(struct weft_response *rsp, struct str map, const char *key, const struct value *v)
{
        struct arena *a = rsp->call->arena;
        const struct value *all = rsp->requirements ? rsp->requirements : &value_empty_object;
        const struct value *inner = value_get(all, map);

        inner = value_with(a, inner ? inner : &value_empty_object, sdk_text(a, key), v);
        rsp->requirements = value_with(a, all, map, inner);
}

void weft_require_name(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                       const char *namespace_, const char *name)
{
        struct arena *a = rsp->call->arena;
        const struct value *v = selector(a, api_version, kind);

        v = value_with(a, v, STR("matchName"), text_value(a, name));
        if (namespace_)
                v = value_with(a, v, STR("namespace"), text_value(a, namespace_));
        require(rsp, STR("resources"), key, v);
}

void weft_require_labels(struct weft_response *rsp, const char *key, const char *api_version, const char *kind,
                         const char *namespace_, const char *const *labels)
{
        struct arena *a = rsp->call->arena;
        const struct value *v = selector(a, api_version, kind);
        const struct value *all = &value_empty_object;

        for (; labels && labels[0] && labels[1]; labels += 2)
                all = value_with(a, all, sdk_text(a, labels[0]), text_value(a, labels[1]));
        v = value_with(a, v, STR("matchLabels"), value_with(a, &value_empty_object, STR("labels"), all));
        if (namespace_)
                v = value_with(a, v, STR("namespace"), text_value(a, namespace_));
        require(rsp, STR("resources"), key, v);
}

void weft_require_schema(struct weft_response *rsp, const char *key, const char *api_version, const char *kind)
{
        require(rsp, STR("schemas"), key, selector(rsp->call->arena, api_version, kind));
}

void weft_watch_resource(struct weft_response *rsp, const char *api_version, const char *kind, const char *namespace_,
                         const char *name)
{
        struct arena *a = rsp->call->arena;
        const struct value *all = rsp->requirements ? rsp->requirements : &value_empty_object;
        const struct value *list = value_find(all, "watchResources");
        const struct value *v = selector(a, api_version, kind);

        v = value_with(a, v, STR("name"), text_value(a, name));
        if (namespace_)
                v = value_with(a, v, STR("namespace"), text_value(a, namespace_));
        list = value_with_appended(a, list ? list : &value_empty_array, v);
        rsp->requirements = value_with(a, all, STR("watchResources"), list);
}

void weft_set_ttl(struct weft_response *rsp, double seconds)
{
        if (!(seconds >= 0 && seconds <= 1e9))
                sdk_fail(rsp->call, "cannot set TTL: %g seconds is not between 0 and 1e9", seconds);
        else
                rsp->ttl_ns = (int64_t)(seconds * 1e9 + 0.5);
}

/* --- Finishing --- */

/* Whether the Resource has only an object and the readiness that was set here. */
static bool is_plain(const struct value *message)
{
        VALUE_FOREACH_MEMBER (m, message)
                if (!str_equal(m->key, STR("resource")) &&
                    !(str_equal(m->key, STR("ready")) && value_is_int(&m->value)))
                        return false;
        return true;
}

/* Encodes the common case directly, without the tables: most composed Resources have only an object and a readiness. */
static int append_plain(struct buf *b, const struct value *message, const struct value *object, struct buf *scratch)
{
        const struct value *ready = value_find(message, "ready");
        int r;

        if (!value_is_object(object) || !is_plain(message))
                return ERR_UNSUPPORTED;
        buf_clear(scratch);
        r = proto_encode(scratch, &proto_google_Struct, object, NULL, NULL);
        if (r < 0)
                return r;
        proto_append_bytes_field(b, RESOURCE_OBJECT, buf_str(scratch));
        if (ready && ready->integer)
                proto_append_varint_field(b, RESOURCE_READY, (uint64_t)ready->integer);
        return 0;
}

/* Appends the Resource. */
static int append_resource(struct weft_response *rsp, struct buf *b, struct entry *e, struct buf *scratch,
                           struct err *err)
{
        const struct value *object = e->resource ? e->resource->v : NULL;

        if (!e->message) {
                buf_append_str(b, e->bytes);
                return 0;
        }
        if (!object)
                object = value_find(e->message, "resource");
        if (append_plain(b, e->message, object, scratch) == 0)
                return 0;
        if (object)
                e->message = value_with(rsp->call->arena, e->message, STR("resource"), object);
        return proto_encode(b, &proto_fn_v1_Resource, e->message, &keep_unknown, err);
}

/* Puts the status into the desired composite resource, with apiVersion and kind of the observed one. */
static void finish_status(struct weft_response *rsp)
{
        static const char *const identity[] = { "apiVersion", "kind" };
        struct arena *a = rsp->call->arena;
        const struct value *object, *observed;

        if (!rsp->status || !rsp->status->v)
                return;
        if (!value_is_object(rsp->status->v)) {
                sdk_fail(rsp->call, "%s: not an object", rsp->status->what);
                return;
        }
        object = value_find(rsp->composite->message, "resource");
        object = object ? object : &value_empty_object;
        observed = value_find(sdk_part(&rsp->call->request, FN_REQUEST_OBSERVED), "composite", "resource");
        for (size_t i = 0; i < ARRAY_SIZE(identity); i++) {
                const struct value *v = value_find(observed, identity[i]);

                if (v && !value_find(object, identity[i]))
                        object = value_with(a, object, str_from(identity[i]), v);
        }
        object = value_with(a, object, STR("status"), rsp->status->v);
        set_member(rsp, rsp->composite, STR("resource"), *object);
}

static int compare_entries(const void *a, const void *b)
{
        return str_compare((*(struct entry *const *)a)->name, (*(struct entry *const *)b)->name);
}

static struct entry **sorted_entries(struct weft_response *rsp, size_t *ret_n)
{
        struct entry **all = ARENA_NEW_ARRAY(rsp->call->arena, struct entry *, rsp->entries.n + 1);
        size_t n = 0;

        for (struct map_entry *e = map_first(&rsp->entries); e; e = map_next(&rsp->entries, e)) {
                if (!((struct entry *)e->value)->is_removed)
                        all[n++] = e->value;
        }
        for (size_t i = 1; i < n; i++) {
                if (str_compare(all[i - 1]->name, all[i]->name) < 0)
                        continue;
                qsort(all, n, sizeof(*all), compare_entries);
                break;
        }
        *ret_n = n;
        return all;
}

/* The initial size of encoding buffers; the allocator has blocks of this size ready. */
#define USUAL_BYTES 1000

/* Buffers for encoding: each level is appended to the next one as bytes. */
struct levels {
        struct buf state;
        struct buf resource;
        struct buf object;
};

static int append_entry(struct weft_response *rsp, struct levels *l, struct entry *e, struct err *err)
{
        int r;

        buf_clear(&l->resource);
        r = append_resource(rsp, &l->resource, e, &l->object, err);
        if (r < 0)
                return err_wrap(err, "desired resource \"%.*s\"", STR_ARG(e->name));
        proto_append_map_entry(&l->state, FN_STATE_RESOURCES, e->name, buf_str(&l->resource));
        return 0;
}

static int append_state(struct weft_response *rsp, struct levels *l, struct err *err)
{
        struct entry **entries;
        size_t n;
        int r;

        if (rsp->composite) {
                r = append_resource(rsp, &l->resource, rsp->composite, &l->object, err);
                if (r < 0)
                        return err_wrap(err, "desired composite resource");
                proto_append_bytes_field(&l->state, FN_STATE_COMPOSITE, buf_str(&l->resource));
        }
        entries = sorted_entries(rsp, &n);
        for (size_t i = 0; i < n; i++) {
                r = append_entry(rsp, l, entries[i], err);
                if (r < 0)
                        return r;
        }
        buf_append_str(&l->state, rsp->state_unknown);
        return 0;
}

static int finish_desired(struct weft_response *rsp, struct fn_parts *ret, struct err *err)
{
        struct levels l = { .state = BUF_INIT(0), .resource = BUF_INIT(0), .object = BUF_INIT(0) };
        int r;

        if (!rsp->is_open)
                return 0;
        finish_status(rsp);
        buf_reserve(&l.state, USUAL_BYTES);
        buf_reserve(&l.resource, USUAL_BYTES);
        buf_reserve(&l.object, USUAL_BYTES);
        r = append_state(rsp, &l, err);
        if (r == 0)
                ret->part[FN_RESPONSE_DESIRED] = buf_to_arena(&l.state, rsp->call->arena);
        buf_done(&l.state);
        buf_done(&l.resource);
        buf_done(&l.object);
        return r;
}

static int finish_context(struct weft_response *rsp, struct fn_parts *ret, struct err *err)
{
        const struct value *context;

        if (rsp->contexts.n == 0)
                return 0;
        context = sdk_part(&rsp->call->request, FN_REQUEST_CONTEXT);
        context = context ? context : &value_empty_object;
        for (struct map_entry *e = map_first(&rsp->contexts); e; e = map_next(&rsp->contexts, e)) {
                const struct weft_value *v = e->value;

                if (v->v)
                        context = value_with(rsp->call->arena, context, e->key, v->v);
        }
        return fn_parts_set(rsp->call->arena, ret, FN_RESPONSE_CONTEXT, context, err);
}

static void finish_meta(struct weft_response *rsp, struct fn_parts *ret)
{
        _cleanup_buf_ struct buf meta = BUF_INIT(0), ttl = BUF_INIT(0);
        struct str tag = sdk_tag(&rsp->call->request);

        if (rsp->ttl_ns / 1000000000)
                proto_append_varint_field(&ttl, 1, (uint64_t)(rsp->ttl_ns / 1000000000));
        if (rsp->ttl_ns % 1000000000)
                proto_append_varint_field(&ttl, 2, (uint64_t)(rsp->ttl_ns % 1000000000));
        if (tag.n)
                proto_append_bytes_field(&meta, 1, tag);
        proto_append_bytes_field(&meta, 2, buf_str(&ttl));
        ret->part[FN_RESPONSE_META] = buf_to_arena(&meta, rsp->call->arena);
}

static int finish_state(struct weft_response *rsp, struct fn_parts *ret, struct err *err)
{
        int r = finish_desired(rsp, ret, err);

        if (r == 0)
                r = finish_context(rsp, ret, err);
        if (r == 0 && rsp->requirements)
                r = fn_parts_set(rsp->call->arena, ret, FN_RESPONSE_REQUIREMENTS, rsp->requirements, err);
        if (r == 0 && rsp->output)
                r = fn_parts_set(rsp->call->arena, ret, FN_RESPONSE_OUTPUT, rsp->output->v, err);
        return r;
}

void sdk_finish(struct weft_response *rsp, struct fn_parts *ret)
{
        const struct fn_parts *request = rsp->call->request.parts;
        _cleanup_err_ struct err bad = { 0 };

        *ret = (struct fn_parts) { .message = &proto_fn_v1_RunFunctionResponse };
        ret->part[FN_RESPONSE_DESIRED] = request->part[FN_REQUEST_DESIRED];
        ret->part[FN_RESPONSE_CONTEXT] = request->part[FN_REQUEST_CONTEXT];
        if (finish_state(rsp, ret, &bad) < 0)
                sdk_fail(rsp->call, "cannot encode the response: %s", err_message(&bad));
        finish_meta(rsp, ret);
        sdk_finish_results(rsp, ret);
}

void sdk_response_done(struct weft_response *rsp)
{
        map_done(&rsp->entries);
        map_done(&rsp->contexts);
}
