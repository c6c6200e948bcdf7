/* Reads the request part by part: each part is decoded on first use. */
#include "sdk.h"

#include <stdarg.h>

#include "base64.h"
#include "buf.h"
#include "utf8.h"

enum { META_TAG = 1 };

const struct value *sdk_part(struct weft_request *req, uint32_t number)
{
        _cleanup_err_ struct err err = { 0 };

        if (!req->is_decoded[number]) {
                req->is_decoded[number] = true;
                if (fn_parts_get(req->call->arena, req->parts, number, &req->decoded[number], &err) < 0)
                        sdk_fail(req->call, "cannot read the request: %s", err_message(&err));
        }
        return req->decoded[number];
}

const char *sdk_bytes(struct call *call, const struct value *v, size_t *ret_size)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str bytes = STR("");

        if (base64_decode_any(&b, value_str(v), NULL) == 0)
                bytes = buf_to_arena(&b, call->arena);
        if (ret_size)
                *ret_size = bytes.n;
        return bytes.p;
}

void *weft_data(const struct weft_request *req)
{
        return req->call->function->data;
}

struct str sdk_tag(struct weft_request *req)
{
        struct str rest = req->parts->part[FN_REQUEST_META], tag = STR("");
        struct proto_raw_field f;
        int r;

        if (req->tag.p)
                return req->tag;
        while ((r = proto_next_field(&rest, &f, NULL)) > 0)
                if (f.number == META_TAG && f.wire == PROTO_WIRE_BYTES)
                        tag = f.bytes;
        if (r < 0 || !utf8_is_valid(tag)) /* decoding it adds the fatal result */
                tag = value_str(value_find(sdk_part(req, FN_REQUEST_META), "tag"));
        req->tag = arena_copy(req->call->arena, tag);
        return req->tag;
}

const char *weft_tag(const struct weft_request *req)
{
        return req->tag.p;
}

const char *weft_format(const struct weft_request *req, const char *format, ...)
{
        va_list arguments;
        struct str formatted;

        va_start(arguments, format);
        formatted = sdk_format(req->call->arena, format, arguments);
        va_end(arguments);
        return formatted.p;
}

/* --- Flags --- */

static const struct flag_value *flag(const struct weft_request *req, const char *name, enum weft_flag_type type)
{
        static const struct flag_value none = { .text = "" };
        const struct flag_value *v = flags_find(req->call->flags, name, type);

        if (!v)
                sdk_fail(req->call, "the function does not declare a flag --%s of this type", name);
        return v ? v : &none;
}

const char *weft_flag_text(const struct weft_request *req, const char *name)
{
        return flag(req, name, WEFT_FLAG_TEXT)->text;
}

bool weft_flag_bool(const struct weft_request *req, const char *name)
{
        return flag(req, name, WEFT_FLAG_BOOL)->b;
}

int64_t weft_flag_int(const struct weft_request *req, const char *name)
{
        return flag(req, name, WEFT_FLAG_INT)->i;
}

double weft_flag_seconds(const struct weft_request *req, const char *name)
{
        return (double)flag(req, name, WEFT_FLAG_DURATION)->i / 1e9;
}

/* --- Keys --- */

/* Key i of an object that was decoded from a map, whose keys are sorted; adds a fatal result when there is no such key. */
static const char *key_at(struct weft_request *req, const struct value *object, size_t i, const char *what)
{
        if (i < value_count(object))
                return arena_cstring(req->call->arena, value_member(object, i)->key);
        sdk_fail(req->call, "there is no %s number %zu", what, i);
        return "";
}

/* --- Observed and desired state --- */

static const struct value *composite(struct weft_request *req, uint32_t number)
{
        const struct value *v = value_find(sdk_part(req, number), "composite", "resource");

        return v ? v : &value_empty_object;
}

static const struct value *resource_message(struct weft_request *req, uint32_t number, const char *name)
{
        return value_find(sdk_part(req, number), "resources", name);
}

/* A resource without an object counts as present and empty. */
static const struct value *resource(struct weft_request *req, uint32_t number, const char *name)
{
        const struct value *message = resource_message(req, number, name);
        const struct value *v = value_find(message, "resource");

        return v || !message ? v : &value_empty_object;
}

static const struct value *resources(struct weft_request *req, uint32_t number)
{
        return value_find(sdk_part(req, number), "resources");
}

const struct weft_value *weft_observed_composite(struct weft_request *req)
{
        return sdk_value(req->call, composite(req, FN_REQUEST_OBSERVED), "observed composite resource", NULL);
}

const struct weft_value *weft_observed(struct weft_request *req, const char *name)
{
        return sdk_value(req->call, resource(req, FN_REQUEST_OBSERVED, name), "observed resource", name);
}

size_t weft_observed_count(struct weft_request *req)
{
        return value_count(resources(req, FN_REQUEST_OBSERVED));
}

const char *weft_observed_name(struct weft_request *req, size_t i)
{
        return key_at(req, resources(req, FN_REQUEST_OBSERVED), i, "observed resource");
}

const struct weft_value *weft_desired_composite(struct weft_request *req)
{
        return sdk_value(req->call, composite(req, FN_REQUEST_DESIRED), "desired composite resource", NULL);
}

const struct weft_value *weft_desired(struct weft_request *req, const char *name)
{
        return sdk_value(req->call, resource(req, FN_REQUEST_DESIRED, name), "desired resource", name);
}

size_t weft_desired_count(struct weft_request *req)
{
        return value_count(resources(req, FN_REQUEST_DESIRED));
}

const char *weft_desired_name(struct weft_request *req, size_t i)
{
        return key_at(req, resources(req, FN_REQUEST_DESIRED), i, "desired resource");
}

/* The Resource message of a resource, or of the composite if name is NULL. */
static const struct value *message_of(struct weft_request *req, uint32_t number, const char *name)
{
        return name ? resource_message(req, number, name) : value_find(sdk_part(req, number), "composite");
}

enum weft_ready weft_desired_ready(struct weft_request *req, const char *name)
{
        struct str ready = value_str(value_find(message_of(req, FN_REQUEST_DESIRED, name), "ready"));

        if (str_equal(ready, STR("READY_TRUE")))
                return WEFT_READY_TRUE;
        return str_equal(ready, STR("READY_FALSE")) ? WEFT_READY_FALSE : WEFT_READY_UNSPECIFIED;
}

static const struct value *connection(struct weft_request *req, uint32_t number, const char *name)
{
        return value_find(message_of(req, number, name), "connectionDetails");
}

const char *weft_observed_connection(struct weft_request *req, const char *name, const char *key, size_t *ret_size)
{
        const struct value *v = value_find(connection(req, FN_REQUEST_OBSERVED, name), key);

        return v ? sdk_bytes(req->call, v, ret_size) : NULL;
}

size_t weft_observed_connection_count(struct weft_request *req, const char *name)
{
        return value_count(connection(req, FN_REQUEST_OBSERVED, name));
}

const char *weft_observed_connection_key(struct weft_request *req, const char *name, size_t i)
{
        return key_at(req, connection(req, FN_REQUEST_OBSERVED, name), i, "observed connection detail");
}

const char *weft_desired_connection(struct weft_request *req, const char *key, size_t *ret_size)
{
        const struct value *v = value_find(connection(req, FN_REQUEST_DESIRED, NULL), key);

        return v ? sdk_bytes(req->call, v, ret_size) : NULL;
}

size_t weft_desired_connection_count(struct weft_request *req)
{
        return value_count(connection(req, FN_REQUEST_DESIRED, NULL));
}

const char *weft_desired_connection_key(struct weft_request *req, size_t i)
{
        return key_at(req, connection(req, FN_REQUEST_DESIRED, NULL), i, "desired connection detail");
}

/* --- Input, context, credentials --- */

const struct weft_value *weft_input(struct weft_request *req)
{
        const struct value *v = sdk_part(req, FN_REQUEST_INPUT);

        return sdk_value(req->call, v ? v : &value_empty_object, "function input", NULL);
}

const struct weft_value *weft_context(struct weft_request *req, const char *key)
{
        return sdk_value(req->call, value_find(sdk_part(req, FN_REQUEST_CONTEXT), key), "context", key);
}

static const struct value *credential_data(struct weft_request *req, const char *name)
{
        return value_find(sdk_part(req, FN_REQUEST_CREDENTIALS), name, "credentialData");
}

bool weft_has_credential(struct weft_request *req, const char *name)
{
        return credential_data(req, name) != NULL;
}

const char *weft_credential(struct weft_request *req, const char *name, const char *key, size_t *ret_size)
{
        const struct value *data = credential_data(req, name);
        const struct value *v = value_find(data, "data", key);

        if (v)
                return sdk_bytes(req->call, v, ret_size);
        if (!data)
                sdk_fail(req->call, "%s: credential not found", name);
        else
                sdk_fail(req->call, "%s: credential has no key \"%s\"", name, key);
        if (ret_size)
                *ret_size = 0;
        return "";
}

size_t weft_credential_count(struct weft_request *req, const char *name)
{
        const struct value *data = credential_data(req, name);

        if (!data)
                sdk_fail(req->call, "%s: credential not found", name);
        return value_count(value_find(data, "data"));
}

const char *weft_credential_key(struct weft_request *req, const char *name, size_t i)
{
        const struct value *data = value_find(credential_data(req, name), "data");

        return key_at(req, data, i, arena_printf(req->call->arena, "key of credential %s", name).p);
}

/* --- Required resources and schemas --- */

/* Engines that do not know required resources answer in the older field, extra_resources. */
static const struct value *required(struct weft_request *req, const char *key)
{
        const struct value *v = value_find(sdk_part(req, FN_REQUEST_REQUIRED_RESOURCES), key);

        return v ? v : value_find(sdk_part(req, FN_REQUEST_EXTRA_RESOURCES), key);
}

bool weft_has_required(struct weft_request *req, const char *key)
{
        return required(req, key) != NULL;
}

size_t weft_required_count(struct weft_request *req, const char *key)
{
        return value_count(value_find(required(req, key), "items"));
}

const struct weft_value *weft_required(struct weft_request *req, const char *key, size_t i)
{
        const struct value *item = value_item(value_find(required(req, key), "items"), i);

        struct weft_value *v = sdk_value(req->call, value_find(item, "resource"), "required resource", key);

        v->index = i;
        return v;
}

/* The keys of both fields, sorted and without duplicates. */
static const struct value *all_required(struct weft_request *req)
{
        static const uint32_t fields[] = { FN_REQUEST_REQUIRED_RESOURCES, FN_REQUEST_EXTRA_RESOURCES };
        struct object_builder b;

        if (req->all_required)
                return req->all_required;
        object_builder_init(&b, req->call->arena, 4);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *part = sdk_part(req, fields[i]);

                VALUE_FOREACH_MEMBER (m, part) {
                        if (i == 0 || !value_get(sdk_part(req, fields[0]), m->key))
                                object_builder_add(&b, m->key, m->value);
                }
        }
        req->all_required = value_sorted(req->call->arena, value_put(req->call->arena, object_builder_finish(&b)));
        return req->all_required;
}

size_t weft_required_key_count(struct weft_request *req)
{
        return value_count(all_required(req));
}

const char *weft_required_key(struct weft_request *req, size_t i)
{
        return key_at(req, all_required(req), i, "required resource");
}

bool weft_has_required_schema(struct weft_request *req, const char *key)
{
        return value_find(sdk_part(req, FN_REQUEST_REQUIRED_SCHEMAS), key) != NULL;
}

const struct weft_value *weft_required_schema(struct weft_request *req, const char *key)
{
        const struct value *v = value_find(sdk_part(req, FN_REQUEST_REQUIRED_SCHEMAS), key, "openapiV3");

        return sdk_value(req->call, v, "required schema", key);
}

bool weft_has_capability(struct weft_request *req, enum weft_capability capability)
{
        static const char *const names[] = {
                [WEFT_CAPABILITY_CAPABILITIES] = "CAPABILITY_CAPABILITIES",
                [WEFT_CAPABILITY_REQUIRED_RESOURCES] = "CAPABILITY_REQUIRED_RESOURCES",
                [WEFT_CAPABILITY_CREDENTIALS] = "CAPABILITY_CREDENTIALS",
                [WEFT_CAPABILITY_CONDITIONS] = "CAPABILITY_CONDITIONS",
                [WEFT_CAPABILITY_REQUIRED_SCHEMAS] = "CAPABILITY_REQUIRED_SCHEMAS",
        };

        if ((unsigned)capability >= ARRAY_SIZE(names))
                return false;
        VALUE_FOREACH_ITEM (c, value_find(sdk_part(req, FN_REQUEST_META), "capabilities")) {
                if (str_equal(value_str(c), str_from(names[capability])) && c->n > 0)
                        return true;
        }
        return false;
}
