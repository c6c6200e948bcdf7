#include "sdk.h"

#include "base64.h"
#include "buf.h"

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

const char *weft_tag(const struct weft_request *req)
{
        return req->tag;
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

/* A resource that is there without an object is there nevertheless. */
static const struct value *resource(struct weft_request *req, uint32_t number, const char *name)
{
        const struct value *message = resource_message(req, number, name);
        const struct value *v = value_find(message, "resource");

        return v || !message ? v : &value_empty_object;
}

static size_t count(struct weft_request *req, uint32_t number)
{
        return value_count(value_find(sdk_part(req, number), "resources"));
}

/* Maps are decoded with their keys in order. */
static const char *name_at(struct weft_request *req, uint32_t number, size_t i, const char *what)
{
        const struct value *resources = value_find(sdk_part(req, number), "resources");

        if (i < value_count(resources))
                return arena_cstring(req->call->arena, value_member(resources, i)->key);
        sdk_fail(req->call, "there is no %s resource number %zu", what, i);
        return "";
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
        return count(req, FN_REQUEST_OBSERVED);
}

const char *weft_observed_name(struct weft_request *req, size_t i)
{
        return name_at(req, FN_REQUEST_OBSERVED, i, "observed");
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
        return count(req, FN_REQUEST_DESIRED);
}

const char *weft_desired_name(struct weft_request *req, size_t i)
{
        return name_at(req, FN_REQUEST_DESIRED, i, "desired");
}

const char *weft_observed_connection(struct weft_request *req, const char *name, const char *key, size_t *ret_size)
{
        const struct value *message = name ? resource_message(req, FN_REQUEST_OBSERVED, name)
                                           : value_find(sdk_part(req, FN_REQUEST_OBSERVED), "composite");
        const struct value *v = value_find(message, "connectionDetails", key);

        return v ? sdk_bytes(req->call, v, ret_size) : NULL;
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

/* --- What was required --- */

/* Engines before required resources answer in the older field. */
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
