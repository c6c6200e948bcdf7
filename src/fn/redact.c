#include "redact.h"

#include <stdlib.h>

#include "base64.h"
#include "buf.h"
#include "meta.h"

static const struct str secret_fields[] = { STR_INIT("data"), STR_INIT("stringData") };

/* --- Objects --- */

static bool is_secret(const struct value *object)
{
        return str_equal(value_str(value_get(object, STR("kind"))), STR("Secret")) &&
               str_equal(value_str(value_get(object, STR("apiVersion"))), STR("v1"));
}

static struct value redact_members(struct arena *a, const struct value *data, const struct value *before)
{
        struct object_builder b;

        if (!value_is_object(data))
                return value_of_literal(REDACTED);
        object_builder_init(&b, a, value_count(data));
        VALUE_FOREACH_MEMBER (m, data) {
                const struct value *old = value_get(before, m->key);
                bool has_changed = old && !value_equal(old, &m->value);

                object_builder_add(&b, m->key,
                                   has_changed ? value_of_literal(REDACTED_CHANGED) : value_of_literal(REDACTED));
        }
        return object_builder_finish(&b);
}

static const struct value *redact_secret(struct arena *a, const struct value *object, const struct value *before)
{
        for (size_t i = 0; i < ARRAY_SIZE(secret_fields); i++) {
                const struct value *data = value_get(object, secret_fields[i]);
                struct value redacted;

                if (!data)
                        continue;
                redacted = redact_members(a, data, value_get(before, secret_fields[i]));
                object = value_with(a, object, secret_fields[i], &redacted);
        }
        return object;
}

const struct value *redact_object_over(struct arena *a, const struct value *object, const struct value *before)
{
        const struct value *edited = object, *inner;

        if (is_secret(object))
                return redact_secret(a, object, before);
        VALUE_FOREACH_MEMBER (m, object) {
                inner = redact_object_over(a, &m->value, value_get(before, m->key));
                if (inner != &m->value)
                        edited = value_with(a, edited, m->key, inner);
        }
        for (size_t i = 0; value_is_array(object) && i < value_count(object); i++) {
                inner = redact_object_over(a, value_item(object, i),
                                           value_is_array(before) ? value_item(before, i) : NULL);
                if (inner != value_item(object, i))
                        edited = value_with_item(a, edited, i, inner);
        }
        return edited;
}

const struct value *redact_object(struct arena *a, const struct value *object)
{
        return redact_object_over(a, object, NULL);
}

/* The resource's object; NULL when it is absent or cannot be read. */
static const struct value *value_of(struct arena *a, const struct fn_resource *resource)
{
        struct fn_struct object = resource->object;
        const struct value *v = NULL;

        return fn_struct_value(a, &object, &v, NULL) < 0 ? NULL : v;
}

static bool has_secret(const struct value *v)
{
        if (is_secret(v))
                return true;
        VALUE_FOREACH_MEMBER (m, v)
                if (has_secret(&m->value))
                        return true;
        for (size_t i = 0; value_is_array(v) && i < value_count(v); i++)
                if (has_secret(value_item(v, i)))
                        return true;
        return false;
}

static bool resource_has_secrets(struct arena *a, const struct fn_resource *resource)
{
        return resource->connection.n > 0 || has_secret(value_of(a, resource));
}

bool redact_response_has_secrets(struct arena *a, const struct fn_response *rsp)
{
        struct fn_state state = rsp->desired;

        if (!state.is_present)
                return false;
        if (fn_state_open(a, &state, NULL) < 0)
                return true;
        if (state.has_composite && resource_has_secrets(a, &state.composite))
                return true;
        for (size_t i = 0; i < state.n_resources; i++)
                if (resource_has_secrets(a, &state.resources[i]))
                        return true;
        return false;
}

/* --- Collecting secrets --- */

void redactor_init(struct redactor *r, struct arena *a)
{
        *r = (struct redactor) { .arena = a };
}

static void add(struct redactor *r, struct str secret)
{
        struct str *more;

        r->has_any |= secret.n > 0;
        if (secret.n < REDACT_MIN_BYTES)
                return;
        if (r->n == r->capacity) {
                r->capacity = r->capacity ? 2 * r->capacity : 16;
                more = ARENA_NEW_ARRAY(r->arena, struct str, r->capacity);
                if (r->n)
                        memcpy(more, r->secrets, r->n * sizeof(*more));
                r->secrets = more;
        }
        r->secrets[r->n++] = secret;
        r->is_sorted = false;
}

/* Bytes may appear unchanged, or base64-encoded as in a Secret that is made of them. */
static void add_map(struct redactor *r, const struct fn_bytes_map *map)
{
        for (size_t i = 0; i < map->n; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                add(r, map->p[i].bytes);
                if (map->p[i].bytes.n < REDACT_MIN_BYTES)
                        continue;
                base64_encode(&b, map->p[i].bytes, BASE64_STD);
                add(r, buf_to_arena(&b, r->arena));
        }
}

/* A Secret's data may appear base64-encoded, as in the Secret, or decoded. */
static void add_encoded(struct redactor *r, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        add(r, text);
        if (base64_decode(&b, text, BASE64_STD, NULL) >= 0)
                add(r, buf_to_arena(&b, r->arena));
}

/* Adds all Secrets inside the value, because some kinds have whole objects in their spec. */
static void add_object(struct redactor *r, const struct value *v)
{
        for (size_t i = 0; value_is_array(v) && i < value_count(v); i++)
                add_object(r, value_item(v, i));
        if (!is_secret(v)) {
                VALUE_FOREACH_MEMBER (m, v)
                        add_object(r, &m->value);
                return;
        }
        VALUE_FOREACH_MEMBER (m, value_get(v, STR("data")))
                add_encoded(r, value_str(&m->value));
        VALUE_FOREACH_MEMBER (m, value_get(v, STR("stringData")))
                add(r, value_str(&m->value));
}

static void add_resource(struct redactor *r, const struct fn_resource *resource)
{
        add_map(r, &resource->connection);
        add_object(r, value_of(r->arena, resource));
}

void redactor_add_state(struct redactor *r, const struct fn_state *from)
{
        struct fn_state state = *from;

        if (!state.is_present || fn_state_open(r->arena, &state, NULL) < 0)
                return;
        if (state.has_composite)
                add_resource(r, &state.composite);
        for (size_t i = 0; i < state.n_resources; i++)
                add_resource(r, &state.resources[i]);
}

void redactor_add_resources(struct redactor *r, const struct fn_resources *resources)
{
        for (size_t i = 0; i < resources->n_items; i++)
                add_resource(r, &resources->items[i]);
}

void redactor_add_request(struct redactor *r, const struct fn_request *req)
{
        struct fn_struct input = req->input;
        const struct value *object = NULL;

        for (size_t i = 0; i < req->n_credentials; i++)
                add_map(r, &req->credentials[i].data);
        redactor_add_state(r, &req->observed);
        redactor_add_state(r, &req->desired);
        /* Add the input only if it is a Secret itself. Secrets inside an input are templates for Secrets, and mostly not secret
         * yet. */
        if (fn_struct_value(r->arena, &input, &object, NULL) >= 0 && is_secret(object))
                add_object(r, object);
}

/* --- Texts --- */

static int compare_secrets(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void sort(struct redactor *r)
{
        if (!r->is_sorted && r->n)
                qsort(r->secrets, r->n, sizeof(*r->secrets), compare_secrets);
        r->is_sorted = true;
}

/* The number of secrets that sort before the text or are equal to it. */
static size_t count_up_to(const struct redactor *r, struct str text)
{
        size_t low = 0, high = r->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (str_compare(r->secrets[middle], text) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static size_t common_bytes(struct str a, struct str b)
{
        size_t n = MIN(a.n, b.n), i = 0;

        while (i < n && a.p[i] == b.p[i])
                i++;
        return i;
}

/* The length of the longest secret that is a prefix of the text; 0: none. All secrets that sort between this secret and the text
 * begin with it, too. So it is either the last secret before the text, or at most as long as the common prefix of that one and the
 * text. */
static size_t secret_at(const struct redactor *r, struct str text)
{
        while (text.n >= REDACT_MIN_BYTES) {
                size_t n = count_up_to(r, text), common;

                if (n == 0)
                        return 0;
                common = common_bytes(r->secrets[n - 1], text);
                if (common == r->secrets[n - 1].n)
                        return common;
                text = str_first(text, common);
        }
        return 0;
}

struct str redact_text(struct redactor *r, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t done = 0, n;

        if (r->n == 0)
                return text;
        sort(r);
        for (size_t i = 0; i < text.n; i += MAX(n, (size_t)1)) {
                n = secret_at(r, str_skip(text, i));
                if (n == 0)
                        continue;
                buf_append(&b, text.p + done, i - done);
                buf_append_literal(&b, REDACTED);
                done = i + n;
        }
        if (done == 0)
                return text;
        buf_append_str(&b, str_skip(text, done));
        return buf_to_arena(&b, r->arena);
}

/* False when the value contains no secret; *ret is then unchanged. */
static bool redact_strings(struct redactor *r, const struct value *v, struct value *ret)
{
        const struct value *edited = v;
        struct value inner;

        if (value_is_string(v)) {
                struct str text = redact_text(r, value_str(v));

                *ret = value_of_str(text);
                return text.p != value_str(v).p;
        }
        for (size_t i = 0; value_is_array(v) && i < value_count(v); i++)
                if (redact_strings(r, value_item(v, i), &inner))
                        edited = value_with_item(r->arena, edited, i, &inner);
        VALUE_FOREACH_MEMBER (m, v)
                if (redact_strings(r, &m->value, &inner))
                        edited = value_with(r->arena, edited, m->key, &inner);
        if (edited == v)
                return false;
        *ret = *edited;
        return true;
}

const struct value *redact_value(struct redactor *r, const struct value *v)
{
        struct value redacted;

        return v && r->n && redact_strings(r, v, &redacted) ? value_put(r->arena, redacted) : v;
}

void redact_response(struct redactor *r, struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++) {
                rsp->results[i].message = redact_text(r, rsp->results[i].message);
                rsp->results[i].reason = redact_text(r, rsp->results[i].reason);
        }
        for (size_t i = 0; i < rsp->n_conditions; i++) {
                rsp->conditions[i].message = redact_text(r, rsp->conditions[i].message);
                rsp->conditions[i].reason = redact_text(r, rsp->conditions[i].reason);
        }
}

void redact_error(struct redactor *r, struct err *err)
{
        struct str text, redacted;
        char *message;

        if (!err || !err->message)
                return;
        text = str_from(err->message);
        redacted = redact_text(r, text);
        if (redacted.p == text.p)
                return;
        message = str_to_cstring(redacted);
        free(err->message);
        err->message = message;
}
