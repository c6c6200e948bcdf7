#include "render-stable.h"

#include "buf.h"
#include "limits.h"
#include "map.h"
#include "patch.h"
#include "render-print.h"
#include "render-simulate.h"
#include "render-text.h"

#define ANNOTATION_RESOURCE STR("crossplane.io/composition-resource-name")
#define SHOWN_CHANGES       5

/* --- The input of the next render --- */

/* Maps resource names to the objects. */
static void index_by_resource(const struct value *list, struct map *ret)
{
        VALUE_FOREACH_ITEM (item, list)
                map_set(ret, meta_annotation(item, ANNOTATION_RESOURCE), (void *)item);
}

static const struct value *observe(struct arena *a, const struct value *composed, const struct value *observed)
{
        _cleanup_map_ struct map before = { 0 };
        struct array_builder b;

        index_by_resource(observed, &before);
        array_builder_init(&b, a, value_count(composed));
        VALUE_FOREACH_ITEM (item, composed)
                array_builder_add(&b, *render_simulate(a, item,
                                                       map_get(&before, meta_annotation(item, ANNOTATION_RESOURCE))));
        return value_put(a, array_builder_finish(&b));
}

/* The given composite, with the status of the output merged over its own. */
static const struct value *with_status(struct arena *a, const struct value *given, const struct value *out)
{
        const struct value *old = value_get(given, STR("status")), *updated = value_get(out, STR("status"));

        if (!updated)
                return given;
        return value_with(a, given, STR("status"), render_merge(a, old ?: &value_empty_object, updated));
}

/* --- Whether the output changed --- */

/* The whole output by resource name; the composite's name is "". */
static const struct value *outcome(struct arena *a, const struct render_output *out)
{
        struct object_builder b;
        const struct value *status = value_get(out->composite, STR("status"));

        object_builder_init(&b, a, value_count(out->composed) + 1);
        VALUE_FOREACH_ITEM (item, out->composed)
                object_builder_set(&b, meta_annotation(item, ANNOTATION_RESOURCE), *item);
        object_builder_set(&b, STR(""),
                           *value_with(a, &value_empty_object, STR("status"), status ?: &value_empty_object));
        return value_put(a, object_builder_finish(&b));
}

static void append_change(struct arena *a, struct buf *b, const struct value *operation)
{
        struct str pointer = value_str(value_get(operation, STR("path"))), resource = STR("");

        render_pointer_next(a, &pointer, &resource);
        buf_append_str(b, resource.n ? resource : STR("composite"));
        if (pointer.n)
                buf_append_char(b, '.');
        render_append_pointer(a, b, pointer);
        buf_append_literal(b, " (");
        render_append_value(a, b, value_get(operation, STR("old")));
        buf_append_literal(b, " -> ");
        render_append_value(a, b, value_get(operation, STR("value")));
        buf_append_char(b, ')');
}

static int does_not_settle(struct arena *a, const struct value *before, const struct value *after, struct err *err)
{
        const struct value *diff = value_diff(a, before, after, true);
        size_t n = value_count(diff);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < n && i < SHOWN_CHANGES; i++) {
                if (i > 0)
                        buf_append_literal(&b, ", ");
                append_change(a, &b, value_item(diff, i));
        }
        if (n > SHOWN_CHANGES)
                buf_appendf(&b, ", and %zu more", n - SHOWN_CHANGES);
        return err_set(
                err, ERR_FAILED,
                "it is not stable after %d renders: the last one still changed %s; --steps without --until-stable "
                "shows what each step does",
                LIMIT_STABLE_RENDERS, buf_cstring(&b));
}

int render_until_stable(struct run *run, struct render_input *in, struct render_output *ret, struct err *err)
{
        const struct value *given = in->composite, *before = NULL, *after = NULL;

        for (unsigned i = 0; i < LIMIT_STABLE_RENDERS; i++) {
                int r = render_composite(run, in, ret, err);

                if (r < 0 && i > 0)
                        err_wrap(err, "render %u, with what the one before composed there and ready", i + 1);
                if (r < 0)
                        return r;
                before = after;
                after = outcome(run->arena, ret);
                if (before && value_equal_numeric(before, after))
                        return 0;
                in->observed = observe(run->arena, ret->composed, in->observed);
                in->composite = with_status(run->arena, given, ret->composite);
        }
        return does_not_settle(run->arena, before, after, err);
}
