/* The writes of a reconcile. With the policy skips_noops, writes that change nothing are skipped. */
#include "reconcile-state.h"

#include "predict.h"

static bool is_same(const struct value *a, const struct value *b)
{
        return a == b || (a && b && value_equal(a, b));
}

/* --- Updates of the composite --- */

int reconcile_put(struct reconcile *r, struct str subresource, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(r->xr.object),
                .subresource = subresource,
                .body = r->xr.object,
                .manager = MANAGER_CONTROLLER,
        };
        struct write_result result;
        int e = cluster_write(r->options->cluster, r->run, &req, &result, err);

        if (e < 0)
                return e;
        r->xr.object = r->live = result.value;
        r->is_removed = result.is_removed;
        return e;
}

int reconcile_put_status(struct reconcile *r, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(r->xr.object),
                .subresource = STR("status"),
                .body = r->xr.object,
                .manager = MANAGER_CONTROLLER,
        };

        if (!r->options->policies->skips_noops)
                return reconcile_put(r, STR("status"), err);
        if (is_same(value_get(r->xr.object, STR("status")), value_get(r->live, STR("status"))))
                return 0;
        /* The API prunes unknown fields, so the result may equal the stored status. */
        if (predict_is_noop(r->options->cluster, r->run, &req, r->live))
                return 0;
        return reconcile_put(r, STR("status"), err);
}

/* --- Applies --- */

static struct write_request apply_request(const struct value *object, struct str subresource, struct str manager)
{
        return (struct write_request) {
                .verb = WRITE_APPLY,
                .key = object_key_of(object),
                .subresource = subresource,
                .body = object,
                .manager = manager,
                .force = true,
        };
}

/* Whether live is the object that the request names, in the same version. */
static bool is_of(const struct value *live, const struct object_key *key)
{
        struct object_key there;

        if (!live)
                return false;
        there = object_key_of(live);
        return object_key_equal(&there, key);
}

int reconcile_apply(struct reconcile *r, const struct value *object, struct str manager, const struct value *live,
                    const struct value **ret, struct err *err)
{
        struct write_request req = apply_request(object, STR(""), manager);
        struct write_result result;
        int e;

        if (r->options->policies->skips_noops && is_of(live, &req.key) &&
            predict_is_noop(r->options->cluster, r->run, &req, live)) {
                *ret = live;
                return 0;
        }
        e = cluster_write(r->options->cluster, r->run, &req, &result, err);
        if (e >= 0)
                *ret = result.value;
        return e;
}

/* --- The status that functions want --- */

/* The fields that the status manager has applied, without conditions. */
static const struct value *applied_fields(struct arena *a, const struct value *object)
{
        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields"))) {
                const struct value *fields = value_get(entry, STR("fieldsV1")), *status;

                if (!str_equal(value_str(value_get(entry, STR("manager"))), MANAGER_COMPOSITE) ||
                    !str_equal(value_str(value_get(entry, STR("operation"))), STR("Apply")) ||
                    !str_equal(value_str(value_get(entry, STR("subresource"))), STR("status")))
                        continue;
                status = value_get(fields, STR("f:status"));
                if (!value_get(status, STR("f:conditions")))
                        return fields;
                status = value_without(a, status, STR("f:conditions"));
                return value_count(status) ? value_with(a, fields, STR("f:status"), status) : NULL;
        }
        return NULL;
}

static const struct value *without_conditions(struct arena *a, const struct value *object)
{
        const struct value *status = value_get(object, STR("status"));

        object = meta_with(a, object, STR("managedFields"), NULL);
        object = meta_with(a, object, STR("resourceVersion"), NULL);
        if (!value_is_object(status))
                return object;
        status = value_without(a, status, STR("conditions"));
        return value_count(status) ? value_with(a, object, STR("status"), status)
                                   : value_without(a, object, STR("status"));
}

/* Whether the apply would change nothing. It repeats the existing conditions, which are written after it in any case; taking
 * ownership of these conditions is no reason to write. */
static bool is_applied(struct reconcile *r, const struct write_request *req)
{
        _cleanup_arena_ struct arena scratch;
        struct write_outcome outcome;

        arena_init(&scratch, "prediction", 0);
        if (predict_write(r->options->cluster, r->run, &scratch, req, r->live, &outcome, NULL) < 0)
                return false;
        return outcome.effect == EFFECT_NONE ||
               (is_same(without_conditions(&scratch, outcome.object), without_conditions(&scratch, r->live)) &&
                is_same(applied_fields(&scratch, outcome.object), applied_fields(&scratch, r->live)));
}

void reconcile_adopt(struct reconcile *r, const struct value *live)
{
        const struct value *object = live;

        VALUE_FOREACH_ITEM (item, value_find(r->xr.object, "status", "conditions")) {
                struct condition c = condition_of(item);

                object = conditions_set(r->arena, object, &c, 1);
        }
        r->live = live;
        r->xr.object = object;
}

int reconcile_apply_status(struct reconcile *r, const struct value *wanted, bool brings_conditions, struct err *err)
{
        struct write_request req = apply_request(wanted, STR("status"), MANAGER_COMPOSITE);
        struct write_result result;
        int e;

        if (r->options->policies->skips_noops && !brings_conditions && is_applied(r, &req)) {
                reconcile_adopt(r, r->live);
                return 0;
        }
        e = cluster_write(r->options->cluster, r->run, &req, &result, err);
        if (e >= 0)
                r->xr.object = r->live = result.value;
        return e;
}
