/* Decodes messages. Structs and the states of requests and responses stay bytes until first use; all other parts are small and
 * decoded at once. A field with a wrong wire type counts as unknown. Of a repeated scalar the last value counts; repeated singular
 * messages are merged, which on the wire is their concatenation. */
#include "message.h"

#include <stdlib.h>

#include "buf.h"
#include "fn-parts.h"
#include "fn-state.h"
#include "proto.h"
#include "utf8.h"

struct reader {
        struct arena *arena;
        struct str rest;
        struct err *err;
        struct proto_raw_field f;
};

static struct reader reader_of(struct arena *a, struct str bytes, struct err *err)
{
        return (struct reader) { .arena = a, .rest = bytes, .err = err };
}

static int next(struct reader *r)
{
        return proto_next_field(&r->rest, &r->f, r->err);
}

static bool is_bytes(const struct reader *r, uint32_t number)
{
        return r->f.number == number && r->f.wire == PROTO_WIRE_BYTES;
}

static bool is_varint(const struct reader *r, uint32_t number)
{
        return r->f.number == number && r->f.wire == PROTO_WIRE_VARINT;
}

/* The contents of a field; p is not NULL even if it is empty, because the field is present. */
static struct str contents(const struct reader *r)
{
        return r->f.bytes.p ? r->f.bytes : STR("");
}

static int read_text(struct reader *r, const char *field, struct str *ret)
{
        if (!utf8_is_valid(contents(r)))
                return err_set(r->err, ERR_INVALID, "field %s: string field contains invalid UTF-8", field);
        *ret = contents(r);
        return 0;
}

static void merge_message(struct reader *r, struct str *bytes)
{
        char *joined;

        if (!bytes->p || bytes->n == 0) {
                *bytes = contents(r);
                return;
        }
        joined = arena_alloc(r->arena, bytes->n + r->f.bytes.n + 1);
        memcpy(joined, bytes->p, bytes->n);
        if (r->f.bytes.n)
                memcpy(joined + bytes->n, r->f.bytes.p, r->f.bytes.n);
        *bytes = str_make(joined, bytes->n + r->f.bytes.n);
}

/* Reads key and value of a map entry. */
static int read_entry(struct reader *outer, struct str *ret_key, struct str *ret_value)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        int e;

        *ret_key = STR("");
        *ret_value = STR("");
        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1) && (e = read_text(&r, "key", ret_key)) < 0)
                        break;
                if (is_bytes(&r, 2))
                        *ret_value = contents(&r);
        }
        return e;
}

/* Adds room for one zeroed element to an array in the arena; it reallocates at each power of two. */
static void *grow(struct arena *a, void *p, size_t n, size_t size_bytes)
{
        void *copy;

        if (n & (n - 1))
                return p;
        copy = arena_alloc_array(a, n ? 2 * n : 1, size_bytes);
        if (n)
                memcpy(copy, p, n * size_bytes);
        return copy;
}

#define PUSH(a, p, n) ((p) = grow((a), (p), (n), sizeof(*(p))), &(p)[(n)++])

/* Sorts map entries: they arrive in any order, and of equal keys the last counts. Every element begins with its key. */
struct place {
        struct str key;
        size_t i;
};

static int compare_places(const void *a, const void *b)
{
        const struct place *x = a, *y = b;
        int order = str_compare(x->key, y->key);

        return order ? order : (x->i > y->i) - (x->i < y->i);
}

static struct str key_at(const void *items, size_t i, size_t size_bytes)
{
        return *(const struct str *)((const char *)items + i * size_bytes);
}

static bool is_sorted(const void *items, size_t n, size_t size_bytes)
{
        for (size_t i = 1; i < n; i++)
                if (str_compare(key_at(items, i - 1, size_bytes), key_at(items, i, size_bytes)) >= 0)
                        return false;
        return true;
}

static void *sort_map(struct arena *a, void *items, size_t *n, size_t size_bytes)
{
        struct place *places;
        size_t kept = 0;
        char *sorted;

        if (is_sorted(items, *n, size_bytes))
                return items;
        places = ARENA_NEW_ARRAY(a, struct place, *n);
        for (size_t i = 0; i < *n; i++)
                places[i] = (struct place) { key_at(items, i, size_bytes), i };
        qsort(places, *n, sizeof(*places), compare_places);
        sorted = arena_alloc_array(a, *n, size_bytes);
        for (size_t i = 0; i < *n; i++) {
                if (i + 1 < *n && str_equal(places[i].key, places[i + 1].key))
                        continue;
                memcpy(sorted + kept++ * size_bytes, (char *)items + places[i].i * size_bytes, size_bytes);
        }
        *n = kept;
        return sorted;
}

#define SORT(a, p, n) ((p) = sort_map((a), (p), &(n), sizeof(*(p))))

/* --- Resources and states --- */

struct bytes_list {
        struct fn_bytes *p;
        size_t n;
};

static struct fn_bytes_map finish_bytes(struct arena *a, struct bytes_list *list)
{
        SORT(a, list->p, list->n);
        return (struct fn_bytes_map) { .p = list->p, .n = list->n };
}

static int add_bytes(struct reader *r, struct bytes_list *list)
{
        struct fn_bytes entry;
        int e = read_entry(r, &entry.key, &entry.bytes);

        if (e >= 0)
                *PUSH(r->arena, list->p, list->n) = entry;
        return e;
}

static int read_resource(struct arena *a, struct str bytes, struct fn_resource *ret, struct err *err)
{
        struct reader r = reader_of(a, bytes, err);
        struct bytes_list connection = { 0 };
        int e;

        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1))
                        merge_message(&r, &ret->object.encoded);
                else if (is_bytes(&r, 2) && (e = add_bytes(&r, &connection)) < 0)
                        return e;
                else if (is_varint(&r, 3))
                        ret->ready = (enum fn_ready)(int32_t)r.f.scalar;
        }
        ret->connection = finish_bytes(a, &connection);
        return e;
}

static int open_resources(struct arena *a, const struct fn_state_parts *parts, struct fn_resource **ret,
                          struct err *err)
{
        struct fn_resource *resources = ARENA_NEW_ARRAY(a, struct fn_resource, parts->n + 1);
        int e = 0;

        for (size_t i = 0; e >= 0 && i < parts->n; i++) {
                resources[i].name = parts->entries[i].name;
                e = read_resource(a, parts->entries[i].bytes, &resources[i], err);
        }
        *ret = resources;
        return e;
}

int fn_state_open(struct arena *a, struct fn_state *s, struct err *err)
{
        struct fn_resource *resources, composite = { 0 };
        struct fn_state_parts parts;
        int e;

        if (s->is_open || !s->encoded.p) {
                s->is_open = true;
                return 0;
        }
        e = fn_state_split(a, s->encoded, &parts, err);
        if (e < 0)
                return e;
        e = open_resources(a, &parts, &resources, err);
        if (e >= 0 && parts.composite.p)
                e = read_resource(a, parts.composite, &composite, err);
        if (e < 0)
                return err_wrap(err, "cannot decode State");
        s->has_composite = parts.composite.p;
        s->composite = composite;
        s->resources = resources;
        s->n_resources = parts.n;
        s->is_open = true;
        return 0;
}

static struct fn_state state_of(struct str part)
{
        return (struct fn_state) { .is_present = part.p, .is_open = !part.p, .encoded = part };
}

static struct fn_struct struct_of(struct str part)
{
        return (struct fn_struct) { .encoded = part };
}

/* --- Requests --- */

static int read_items(struct arena *a, struct str bytes, void *entry, struct err *err)
{
        struct fn_resources *ret = entry;
        struct reader r = reader_of(a, bytes, err);
        struct fn_resource *items = NULL;
        size_t n = 0;
        int e;

        while ((e = next(&r)) > 0) {
                if (!is_bytes(&r, 1))
                        continue;
                e = read_resource(a, r.f.bytes, PUSH(a, items, n), err);
                if (e < 0)
                        return e;
        }
        ret->items = items;
        ret->n_items = n;
        return e;
}

/* Reads the entries of a map field into structs that begin with their name; `read` fills each one. The result is sorted by name. */
static int read_named(struct arena *a, struct str part, size_t size_bytes,
                      int (*read)(struct arena *a, struct str bytes, void *entry, struct err *err), void **ret,
                      size_t *ret_n, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        struct str name, bytes;
        char *p = NULL, *entry;
        size_t n = 0;
        int e;

        while ((e = next(&r)) > 0) {
                e = read_entry(&r, &name, &bytes);
                if (e < 0)
                        return e;
                p = grow(a, p, n, size_bytes);
                entry = p + n++ * size_bytes;
                *(struct str *)entry = name;
                e = read(a, bytes, entry, err);
                if (e < 0)
                        return e;
        }
        *ret = sort_map(a, p, &n, size_bytes);
        *ret_n = n;
        return e;
}

static int read_resources_map(struct arena *a, struct str part, struct fn_resources_map *ret, struct err *err)
{
        void *p = NULL;
        int e = read_named(a, part, sizeof(*ret->p), read_items, &p, &ret->n, err);

        ret->p = p;
        return e;
}

static int read_credential(struct arena *a, struct str bytes, void *entry, struct err *err)
{
        struct reader outer = reader_of(a, bytes, err);
        struct fn_credentials *ret = entry;
        struct bytes_list data = { 0 };
        struct str message = STR_NONE;
        int e;

        while ((e = next(&outer)) > 0)
                if (is_bytes(&outer, 1))
                        merge_message(&outer, &message);
        if (e < 0)
                return e;
        struct reader r = reader_of(a, message, err);

        while ((e = next(&r)) > 0)
                if (is_bytes(&r, 1) && (e = add_bytes(&r, &data)) < 0)
                        return e;
        ret->data = finish_bytes(a, &data);
        return e;
}

static int read_credentials(struct arena *a, struct str part, struct fn_request *req, struct err *err)
{
        void *p = NULL;
        int e = read_named(a, part, sizeof(*req->credentials), read_credential, &p, &req->n_credentials, err);

        req->credentials = p;
        return e;
}

static int read_schema(struct arena *a, struct str bytes, void *entry, struct err *err)
{
        struct reader r = reader_of(a, bytes, err);
        struct fn_schema *ret = entry;
        int e;

        while ((e = next(&r)) > 0)
                if (is_bytes(&r, 1))
                        merge_message(&r, &ret->openapi.encoded);
        return e;
}

static int read_schemas(struct arena *a, struct str part, struct fn_request *req, struct err *err)
{
        void *p = NULL;
        int e = read_named(a, part, sizeof(*req->schemas), read_schema, &p, &req->n_schemas, err);

        req->schemas = p;
        return e;
}

static void add_capability(struct fn_request *req, uint64_t number)
{
        if (number < 32)
                req->capabilities |= 1u << number;
}

static int read_capabilities(struct reader *r, struct fn_request *req)
{
        struct str rest = r->f.bytes;

        if (r->f.wire == PROTO_WIRE_VARINT) {
                add_capability(req, r->f.scalar);
                return 0;
        }
        for (uint64_t number = 0, shift = 0; rest.n; rest = str_skip(rest, 1)) {
                number |= (uint64_t)(rest.p[0] & 0x7f) << shift;
                if (rest.p[0] & 0x80) {
                        shift += 7;
                        if (shift > 63 || rest.n == 1)
                                return err_set(r->err, ERR_INVALID, "field meta.capabilities: malformed number");
                        continue;
                }
                add_capability(req, number);
                number = shift = 0;
        }
        return 0;
}

static int read_request_meta(struct arena *a, struct str part, struct fn_request *req, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        int e;

        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1) && (e = read_text(&r, "meta.tag", &req->tag)) < 0)
                        return e;
                if ((is_bytes(&r, 2) || is_varint(&r, 2)) && (e = read_capabilities(&r, req)) < 0)
                        return e;
        }
        return e;
}

int fn_request_decode(struct arena *a, struct str bytes, struct fn_request *ret, struct err *err)
{
        struct fn_parts parts;
        struct fn_request req = { 0 };
        int r = fn_parts_split(a, &proto_fn_v1_RunFunctionRequest, bytes, &parts, err);

        if (r < 0)
                return r;
        req.observed = state_of(parts.part[FN_REQUEST_OBSERVED]);
        req.desired = state_of(parts.part[FN_REQUEST_DESIRED]);
        req.input = struct_of(parts.part[FN_REQUEST_INPUT]);
        req.context = struct_of(parts.part[FN_REQUEST_CONTEXT]);
        if ((r = read_request_meta(a, parts.part[FN_REQUEST_META], &req, err)) < 0 ||
            (r = read_resources_map(a, parts.part[FN_REQUEST_EXTRA_RESOURCES], &req.extra_resources, err)) < 0 ||
            (r = read_credentials(a, parts.part[FN_REQUEST_CREDENTIALS], &req, err)) < 0 ||
            (r = read_resources_map(a, parts.part[FN_REQUEST_REQUIRED_RESOURCES], &req.required_resources, err)) < 0 ||
            (r = read_schemas(a, parts.part[FN_REQUEST_REQUIRED_SCHEMAS], &req, err)) < 0)
                return err_wrap(err, "cannot decode RunFunctionRequest");
        *ret = req;
        return 0;
}

/* --- Responses --- */

/* Reads seconds and nanos; a duration that is too long for an int64_t becomes the longest one. */
/* A second Duration message merges with the first: fields that it does not have keep their values. */
static int read_duration(struct reader *outer, int64_t *ret_ns)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        int64_t seconds = *ret_ns == FN_TTL_ABSENT ? 0 : *ret_ns / 1000000000;
        int64_t nanos = *ret_ns == FN_TTL_ABSENT ? 0 : *ret_ns % 1000000000;
        int e;

        while ((e = next(&r)) > 0) {
                if (is_varint(&r, 1))
                        seconds = (int64_t)r.f.scalar;
                else if (is_varint(&r, 2))
                        nanos = (int32_t)r.f.scalar;
        }
        if (__builtin_mul_overflow(seconds, 1000000000ll, ret_ns) || __builtin_add_overflow(*ret_ns, nanos, ret_ns))
                *ret_ns = seconds < 0 ? -INT64_MAX : INT64_MAX;
        return e;
}

static int read_response_meta(struct arena *a, struct str part, struct fn_response *rsp, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        int e;

        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1) && (e = read_text(&r, "meta.tag", &rsp->tag)) < 0)
                        return e;
                if (is_bytes(&r, 2) && (e = read_duration(&r, &rsp->ttl_ns)) < 0)
                        return e;
        }
        return e;
}

static int read_result(struct reader *outer, struct fn_result *ret)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        int e;

        *ret = (struct fn_result) { .target = FN_TARGET_ABSENT };
        while ((e = next(&r)) > 0) {
                if (is_varint(&r, 1))
                        ret->severity = (enum fn_severity)(int32_t)r.f.scalar;
                else if (is_bytes(&r, 2) && (e = read_text(&r, "results.message", &ret->message)) < 0)
                        break;
                else if (is_bytes(&r, 3) && (e = read_text(&r, "results.reason", &ret->reason)) < 0)
                        break;
                else if (is_varint(&r, 4))
                        ret->target = (enum fn_target)(int32_t)r.f.scalar;
        }
        return e;
}

static int read_condition(struct reader *outer, struct fn_condition *ret)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        int e;

        *ret = (struct fn_condition) { .target = FN_TARGET_ABSENT };
        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1) && (e = read_text(&r, "conditions.type", &ret->type)) < 0)
                        break;
                else if (is_varint(&r, 2))
                        ret->status = (int32_t)r.f.scalar;
                else if (is_bytes(&r, 3) && (e = read_text(&r, "conditions.reason", &ret->reason)) < 0)
                        break;
                else if (is_bytes(&r, 4) && (e = read_text(&r, "conditions.message", &ret->message)) < 0)
                        break;
                else if (is_varint(&r, 5))
                        ret->target = (enum fn_target)(int32_t)r.f.scalar;
        }
        return e;
}

static int read_labels(struct reader *outer, struct fn_selector *ret)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        struct fn_label *labels = NULL, label;
        size_t n = 0;
        int e;

        while ((e = next(&r)) > 0) {
                if (!is_bytes(&r, 1))
                        continue;
                e = read_entry(&r, &label.key, &label.value);
                if (e < 0)
                        return e;
                if (!utf8_is_valid(label.value))
                        return err_set(r.err, ERR_INVALID, "field match_labels: string field contains invalid UTF-8");
                *PUSH(r.arena, labels, n) = label;
        }
        SORT(r.arena, labels, n);
        ret->labels = labels;
        ret->n_labels = n;
        ret->has_labels = true;
        return e;
}

/* Reads a selector of resources, or of schemas, which has fewer fields. The match is a oneof: the last one counts. */
static int read_selector(struct arena *a, struct str bytes, struct fn_selector *ret, struct err *err)
{
        struct reader r = reader_of(a, bytes, err);
        int e;

        while ((e = next(&r)) > 0) {
                if (is_bytes(&r, 1))
                        e = read_text(&r, "api_version", &ret->api_version);
                else if (is_bytes(&r, 2))
                        e = read_text(&r, "kind", &ret->kind);
                else if (is_bytes(&r, 3)) {
                        ret->has_labels = false;
                        ret->n_labels = 0;
                        e = read_text(&r, "match_name", &ret->match_name);
                } else if (is_bytes(&r, 4)) {
                        ret->match_name = STR_NONE;
                        e = read_labels(&r, ret);
                } else if (is_bytes(&r, 5)) {
                        e = read_text(&r, "namespace", &ret->ns);
                }
                if (e < 0)
                        return e;
        }
        return e;
}

struct selector_list {
        struct fn_selector *p;
        size_t n;
};

static int add_selector(struct reader *r, struct selector_list *list)
{
        struct fn_selector *s;
        struct str name, bytes;
        int e = read_entry(r, &name, &bytes);

        if (e < 0)
                return e;
        s = PUSH(r->arena, list->p, list->n);
        *s = (struct fn_selector) { .name = name };
        return read_selector(r->arena, bytes, s, r->err);
}

static int read_watch(struct reader *outer, struct fn_watch *ret)
{
        struct reader r = reader_of(outer->arena, outer->f.bytes, outer->err);
        struct str *const fields[] = { NULL, &ret->api_version, &ret->kind, &ret->name, &ret->ns };
        int e;

        *ret = (struct fn_watch) { 0 };
        while ((e = next(&r)) > 0)
                if (r.f.wire == PROTO_WIRE_BYTES && r.f.number >= 1 && r.f.number < ARRAY_SIZE(fields) &&
                    (e = read_text(&r, "watch_resources", fields[r.f.number])) < 0)
                        break;
        return e;
}

static int read_requirements(struct arena *a, struct str part, struct fn_requirements *ret, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        struct selector_list lists[4] = { 0 };
        struct fn_watch *watches = NULL;
        size_t n_watches = 0;
        int e;

        ret->is_present = part.p;
        while ((e = next(&r)) > 0) {
                if (r.f.wire != PROTO_WIRE_BYTES)
                        continue;
                if (r.f.number >= 1 && r.f.number < ARRAY_SIZE(lists))
                        e = add_selector(&r, &lists[r.f.number]);
                else if (r.f.number == 1000)
                        e = read_watch(&r, PUSH(a, watches, n_watches));
                if (e < 0)
                        return e;
        }
        for (size_t i = 1; i < ARRAY_SIZE(lists); i++)
                SORT(a, lists[i].p, lists[i].n);
        ret->extra_resources = lists[1].p;
        ret->n_extra_resources = lists[1].n;
        ret->resources = lists[2].p;
        ret->n_resources = lists[2].n;
        ret->schemas = lists[3].p;
        ret->n_schemas = lists[3].n;
        ret->watches = watches;
        ret->n_watches = n_watches;
        return e;
}

static int read_results(struct arena *a, struct str part, struct fn_response *rsp, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        int e;

        while ((e = next(&r)) > 0)
                if ((e = read_result(&r, PUSH(a, rsp->results, rsp->n_results))) < 0)
                        break;
        return e;
}

static int read_conditions(struct arena *a, struct str part, struct fn_response *rsp, struct err *err)
{
        struct reader r = reader_of(a, part, err);
        int e;

        while ((e = next(&r)) > 0)
                if ((e = read_condition(&r, PUSH(a, rsp->conditions, rsp->n_conditions))) < 0)
                        break;
        return e;
}

int fn_response_decode(struct arena *a, struct str bytes, struct fn_response *ret, struct err *err)
{
        struct fn_response rsp = { .ttl_ns = FN_TTL_ABSENT };
        struct fn_parts parts;
        int r = fn_parts_split(a, &proto_fn_v1_RunFunctionResponse, bytes, &parts, err);

        if (r < 0)
                return r;
        rsp.desired = state_of(parts.part[FN_RESPONSE_DESIRED]);
        rsp.context = struct_of(parts.part[FN_RESPONSE_CONTEXT]);
        rsp.output = struct_of(parts.part[FN_RESPONSE_OUTPUT]);
        if ((r = read_response_meta(a, parts.part[FN_RESPONSE_META], &rsp, err)) < 0 ||
            (r = read_results(a, parts.part[FN_RESPONSE_RESULTS], &rsp, err)) < 0 ||
            (r = read_requirements(a, parts.part[FN_RESPONSE_REQUIREMENTS], &rsp.requirements, err)) < 0 ||
            (r = read_conditions(a, parts.part[FN_RESPONSE_CONDITIONS], &rsp, err)) < 0)
                return err_wrap(err, "cannot decode RunFunctionResponse");
        *ret = rsp;
        return 0;
}
