/* The connection secret of a legacy composite (docs/spec/engine 1.7). */
#include "reconcile-state.h"

#include "base64.h"
#include "buf.h"
#include "clock.h"
#include "owner.h"
#include "str-list.h"
#include "timetext.h"

#define SECRET_TYPE STR("connection.crossplane.io/v1alpha1")

static bool is_wanted_key(const struct reconcile *r, struct str key)
{
        const struct value *keys = value_find(r->options->type->xrd, "spec", "connectionSecretKeys");

        if (value_count(keys) == 0)
                return !composite_places(&r->xr)->has_exact_keys;
        VALUE_FOREACH_ITEM (k, keys)
                if (str_equal(value_str(k), key))
                        return true;
        return false;
}

static bool is_given(const struct reconcile *r, struct str key)
{
        for (size_t i = 0; i < r->connection.n; i++)
                if (str_equal(r->connection.p[i].key, key))
                        return true;
        return false;
}

struct str publish_missing_keys(struct reconcile *r)
{
        const struct value *keys = value_find(r->options->type->xrd, "spec", "connectionSecretKeys");
        struct str_list missing;

        if (!composite_places(&r->xr)->has_exact_keys || !r->options->policies->publishes_connection ||
            !composite_field(&r->xr, STR("writeConnectionSecretToRef")))
                return STR("");
        str_list_init(&missing, r->arena);
        VALUE_FOREACH_ITEM (key, keys)
                if (!is_given(r, value_str(key)))
                        str_list_add(&missing, value_str(key));
        return str_list_join(&missing, STR(", "));
}

static struct value data_of(struct reconcile *r)
{
        struct object_builder b;

        object_builder_init(&b, r->arena, r->connection.n);
        for (size_t i = 0; i < r->connection.n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                if (!is_wanted_key(r, r->connection.p[i].key))
                        continue;
                base64_encode(&text, r->connection.p[i].bytes, BASE64_STD);
                object_builder_add(&b, r->connection.p[i].key, value_of_str(buf_to_arena(&text, r->arena)));
        }
        return object_builder_finish(&b);
}

static const struct value *make_secret(struct reconcile *r, const struct value *reference)
{
        struct owner_reference owner = owner_reference_to(r->arena, r->xr.object, true, true);
        struct object_builder b, metadata;
        struct value reference_value = owner_reference_value(r->arena, &owner);

        object_builder_init(&metadata, r->arena, 3);
        object_builder_add(&metadata, STR("name"), value_of_str(value_str(value_get(reference, STR("name")))));
        object_builder_add(&metadata, STR("namespace"),
                           value_of_str(value_str(value_get(reference, STR("namespace")))));
        object_builder_add(&metadata, STR("ownerReferences"), value_of_items(r->arena, &reference_value, 1));
        object_builder_init(&b, r->arena, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Secret"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("type"), value_of_str(SECRET_TYPE));
        object_builder_add(&b, STR("data"), data_of(r));
        return value_put(r->arena, object_builder_finish(&b));
}

/* Fails if the secret belongs to another owner: only our own secrets are changed. */
static int check_ours(struct reconcile *r, const struct value *secret, struct err *err)
{
        struct str type = value_str(value_get(secret, STR("type"))), uid = meta_uid(r->xr.object);
        struct owner_reference controller;

        if (owner_controller(secret, &controller))
                return str_equal(controller.uid, uid)
                               ? 0
                               : err_set(err, ERR_CONFLICT, "existing secret is not controlled by UID \"%.*s\"",
                                         STR_ARG(uid));
        if (!str_equal(type, SECRET_TYPE))
                return err_set(err, ERR_CONFLICT, "refusing to modify uncontrolled secret of type \"%.*s\"",
                               STR_ARG(type));
        return 0;
}

/* Whether the secret already has all wanted keys and values. Keys are never removed, so a write would change nothing then. */
static bool has_all(const struct value *data, const struct value *wanted)
{
        VALUE_FOREACH_MEMBER (m, wanted) {
                const struct value *there = value_get(data, m->key);

                if (!there || !value_equal(there, &m->value))
                        return false;
        }
        return true;
}

static bool is_published_already(const struct reconcile *r, const struct value *there, const struct value *wanted)
{
        const struct value *data = value_get(there, STR("data")), *wanted_data = value_get(wanted, STR("data"));

        return has_all(data, wanted_data) &&
               (!composite_places(&r->xr)->has_exact_keys || value_count(data) == value_count(wanted_data));
}

/* Whether the Secret must wait, or is not to be at all: one with exact keys is not written with some of them. */
static bool is_held_back(struct reconcile *r)
{
        return composite_places(&r->xr)->has_exact_keys &&
               (publish_missing_keys(r).n ||
                value_count(value_find(r->options->type->xrd, "spec", "connectionSecretKeys")) == 0);
}

static int apply_secret(struct reconcile *r, const struct value *wanted, bool *ret_is_published, struct err *err)
{
        struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(wanted), .body = wanted };
        _cleanup_err_ struct err inner = { 0 };
        struct write_result result;
        const struct value *there;
        int e = cluster_get_value(r->options->cluster, r->run, &req.key, &there, &inner);

        if (e < 0 && e != ERR_NOT_FOUND)
                return err_move(err, &inner);
        req.manager = MANAGER_CONTROLLER;
        if (e >= 0) {
                e = check_ours(r, there, err);
                if (e < 0)
                        return e;
                if (is_published_already(r, there, wanted))
                        return 0;
                req.verb = WRITE_MERGE_PATCH;
                if (composite_places(&r->xr)->has_exact_keys) {
                        req.verb = WRITE_UPDATE;
                        req.body = value_with(r->arena, there, STR("data"), value_get(wanted, STR("data")));
                }
        }
        e = cluster_write(r->options->cluster, r->run, &req, &result, err);
        *ret_is_published = e >= 0;
        return e;
}

/* Sets lastPublishedTime in the status. If a run writes the secret but fails to write the status, the next run sets the time. */
static void stamp(struct reconcile *r)
{
        const struct value *status = value_get(r->xr.object, STR("status"));
        _cleanup_buf_ struct buf now = BUF_INIT(0);
        struct object_builder details;

        time_append_rfc3339(&now, clock_wall(), 0);
        object_builder_init(&details, r->arena, 1);
        object_builder_add(&details, STR("lastPublishedTime"), value_of_str(buf_to_arena(&now, r->arena)));
        status = value_with(r->arena, value_is_object(status) ? status : &value_empty_object, STR("connectionDetails"),
                            value_put(r->arena, object_builder_finish(&details)));
        r->xr.object = value_with(r->arena, r->xr.object, STR("status"), status);
        reconcile_event(r, false, STR("PublishConnectionSecret"), "Successfully published connection details");
}

int reconcile_publish(struct reconcile *r, struct err *err)
{
        const struct value *reference = composite_field(&r->xr, STR("writeConnectionSecretToRef"));
        bool is_published = false;
        int e;

        if (!composite_places(&r->xr)->has_connection || !r->options->policies->publishes_connection ||
            !value_is_object(reference) || is_held_back(r))
                return 0;
        e = apply_secret(r, make_secret(r, reference), &is_published, err);
        if (e < 0)
                return err_wrap(err, "cannot publish connection details: cannot apply connection secret");
        if (is_published || !value_find(r->xr.object, "status", "connectionDetails", "lastPublishedTime"))
                stamp(r);
        return 0;
}
