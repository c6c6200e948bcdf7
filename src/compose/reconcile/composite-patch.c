/* Patches of the composite in `mode: Resources`: resources may patch any field of the composite, not only its status; pipelines may
 * not (docs/spec/engine 8.3). A patched field stays when its source disappears. */
#include "reconcile-state.h"

#include "path.h"

/* Merges one member of the wanted object into the object. */
static int merge_member(struct reconcile *r, struct str key, const struct value *wanted, const struct value **object,
                        struct err *err)
{
        static const struct merge_options options;
        const struct value *v = value_get(wanted, key), *there = value_get(*object, key);
        int e;

        if (!value_is_object(v))
                return 0;
        e = merge_values(r->arena, there ?: &value_empty_object, v, &options, &v, err);
        if (e >= 0)
                *object = value_with(r->arena, *object, key, v);
        return e;
}

static int merge_metadata(struct reconcile *r, const struct value *wanted, const struct value **object, struct err *err)
{
        const struct value *metadata = meta(*object);
        int e = merge_member(r, STR("labels"), meta(wanted), &metadata, err);

        if (e >= 0)
                e = merge_member(r, STR("annotations"), meta(wanted), &metadata, err);
        if (e >= 0 && metadata != meta(*object))
                *object = value_with(r->arena, *object, STR("metadata"), metadata);
        return e;
}

static int put_composite(struct reconcile *r, const struct value *object, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE,
                .key = object_key_of(object),
                .body = object,
                .manager = MANAGER_CONTROLLER,
        };
        struct write_result result;
        int e = cluster_write(r->options->cluster, r->run, &req, &result, err);

        if (e >= 0)
                reconcile_adopt(r, result.value);
        return e;
}

int reconcile_patch_composite(struct reconcile *r, struct fn_state *desired, struct err *err)
{
        const struct value *wanted = NULL, *object = r->xr.object;
        int e = 0;

        if (r->composition.mode != COMPOSITION_RESOURCES || !desired->has_composite)
                return 0;
        e = fn_struct_value(r->arena, &desired->composite.object, &wanted, err);
        if (e >= 0)
                e = value_settle(r->arena, wanted ?: &value_empty_object, &wanted, err);
        if (e >= 0)
                e = merge_member(r, STR("spec"), wanted, &object, err);
        if (e >= 0)
                e = merge_metadata(r, wanted, &object, err);
        if (e >= 0 && !value_equal(object, r->xr.object))
                e = put_composite(r, object, err);
        return e < 0 ? err_wrap(err, "cannot update composite resource") : 0;
}
