/* The connection secret of a legacy composite (spec/engine 1.7). */
#include "reconcile-state.h"

#include "base64.h"
#include "buf.h"
#include "clock.h"
#include "owner.h"
#include "timetext.h"

#define SECRET_TYPE STR("connection.crossplane.io/v1alpha1")

static bool is_wanted_key(const struct reconcile *r, struct str key)
{
        const struct value *keys = value_find(r->options->type->xrd, "spec", "connectionSecretKeys");

        if (value_count(keys) == 0)
                return true;
        VALUE_FOREACH_ITEM (k, keys)
                if (str_equal(value_str(k), key))
                        return true;
        return false;
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

/* A secret of somebody else is not touched. */
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

/* Keys are added and replaced, never removed, so a secret that has all of them would stay as it is. */
static bool has_all(const struct value *data, const struct value *wanted)
{
        VALUE_FOREACH_MEMBER (m, wanted) {
                const struct value *there = value_get(data, m->key);

                if (!there || !value_equal(there, &m->value))
                        return false;
        }
        return true;
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
                if (has_all(value_get(there, STR("data")), value_get(wanted, STR("data"))))
                        return 0;
                req.verb = WRITE_MERGE_PATCH;
        }
        e = cluster_write(r->options->cluster, r->run, &req, &result, err);
        *ret_is_published = e >= 0;
        return e;
}

/* When the secret was last published is told in the status. A run that wrote the secret and could not say so leaves it to the next. */
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

int publish(struct reconcile *r, struct err *err)
{
        const struct value *reference = composite_field(&r->xr, STR("writeConnectionSecretToRef"));
        bool is_published = false;
        int e;

        if (!r->xr.is_legacy || r->options->revision || !value_is_object(reference))
                return 0;
        e = apply_secret(r, make_secret(r, reference), &is_published, err);
        if (e < 0)
                return err_wrap(err, "cannot publish connection details: cannot apply connection secret");
        if (is_published || !value_find(r->xr.object, "status", "connectionDetails", "lastPublishedTime"))
                stamp(r);
        return 0;
}
