/* The writes of a reconcile. With the policy skips_noops, writes that change nothing are skipped. */
#include "reconcile-state.h"

#include "predict.h"

static bool is_same(const struct value *a, const struct value *b)
{
        return a == b || (a && b && value_equal(a, b));
}

/* --- Updates of the composite --- */

static int put(struct reconcile *r, struct str subresource, struct err *err)
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

int reconcile_put(struct reconcile *r, struct str subresource, struct err *err)
{
        if (!r->defers_puts || subresource.n)
                return put(r, subresource, err);
        r->deferred = r->xr.object;
        return 0;
}

int reconcile_put_deferred(struct reconcile *r, struct err *err)
{
        int e;

        if (!r->deferred)
                return 0;
        if (r->deferred != r->xr.object)
                return err_set(err, ERR_FAILED, "the composite has changed since its last update");
        e = put(r, STR(""), err);
        if (e >= 0)
                r->deferred = NULL;
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

/* The managedFields entry of the status manager, without the fields of conditions. NULL if it owns no other field. */
static const struct value *applied_entry(struct arena *a, const struct value *object)
{
        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields"))) {
                const struct value *fields = value_get(entry, STR("fieldsV1")), *status;

                if (!str_equal(value_str(value_get(entry, STR("manager"))), MANAGER_COMPOSITE) ||
                    !str_equal(value_str(value_get(entry, STR("operation"))), STR("Apply")) ||
                    !str_equal(value_str(value_get(entry, STR("subresource"))), STR("status")))
                        continue;
                status = value_get(fields, STR("f:status"));
                if (!value_get(status, STR("f:conditions")))
                        return entry;
                status = value_without(a, status, STR("f:conditions"));
                if (value_count(status) == 0)
                        return NULL;
                return value_with(a, entry, STR("fieldsV1"), value_with(a, fields, STR("f:status"), status));
        }
        return NULL;
}

static const struct value *applied_fields(struct arena *a, const struct value *object)
{
        return value_get(applied_entry(a, object), STR("fieldsV1"));
}

static const struct value *without_conditions(struct arena *a, const struct value *object)
{
        const struct value *status = value_get(object, STR("status"));

        if (!value_is_object(status))
                return object;
        status = value_without(a, status, STR("conditions"));
        return value_count(status) ? value_with(a, object, STR("status"), status)
                                   : value_without(a, object, STR("status"));
}

/* The object without conditions, managedFields and resourceVersion. */
static const struct value *bare(struct arena *a, const struct value *object)
{
        object = meta_with(a, without_conditions(a, object), STR("managedFields"), NULL);
        return meta_with(a, object, STR("resourceVersion"), NULL);
}

/* Whether the apply repeats the last one, conditions aside. False may also mean that only a prediction can tell. */
static bool repeats(struct reconcile *r, struct arena *scratch, const struct write_request *req)
{
        struct write_request same = *req;
        const struct value *entry = applied_entry(scratch, r->live), *entries;

        if (!entry)
                return false;
        same.body = without_conditions(scratch, req->body);
        entries = value_put(scratch, value_of_items(scratch, entry, 1));
        return predict_is_applied(r->options->cluster, r->run, scratch, &same,
                                  meta_with(scratch, r->live, STR("managedFields"), entries));
}

/* Whether the apply would change nothing. It repeats the existing conditions, which are written after it in any case; taking
 * ownership of these conditions is no reason to write. */
static bool is_applied(struct reconcile *r, const struct write_request *req)
{
        _cleanup_arena_ struct arena scratch;
        struct write_outcome outcome;

        arena_init(&scratch, "prediction", 0);
        if (predict_is_change(req, r->live))
                return false;
        if (repeats(r, &scratch, req))
                return true;
        if (predict_write(r->options->cluster, r->run, &scratch, req, r->live, &outcome, NULL) < 0)
                return false;
        return outcome.effect == EFFECT_NONE ||
               (is_same(bare(&scratch, outcome.object), bare(&scratch, r->live)) &&
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
