#include "render-changes.h"

#include "render-text.h"

#include <stdlib.h>

static bool read_place(struct arena *a, struct render_change *c)
{
        struct str part;

        if (!render_pointer_next(a, &c->pointer, &part))
                return false;
        c->is_readiness = str_equal(part, STR("ready")) || str_equal(part, STR("compositeReady"));
        c->is_composite = str_equal(part, STR("composite")) || str_equal(part, STR("compositeReady"));
        return c->is_composite || render_pointer_next(a, &c->pointer, &c->resource);
}

static bool read_change(struct arena *a, const struct value *operation, struct render_change *ret)
{
        struct str op = value_str(value_get(operation, STR("op")));

        *ret = (struct render_change) {
                .op = str_equal(op, STR("add"))      ? CHANGE_ADD
                      : str_equal(op, STR("remove")) ? CHANGE_REMOVE
                                                     : CHANGE_REPLACE,
                .pointer = value_str(value_get(operation, STR("path"))),
                .value = value_get(operation, STR("value")),
                .old = value_get(operation, STR("old")),
                .operation = operation,
        };
        return read_place(a, ret);
}

static int by_resource(const void *pa, const void *pb)
{
        const struct render_change *a = pa, *b = pb;

        if (a->is_composite != b->is_composite)
                return a->is_composite ? -1 : 1;
        return str_compare(a->resource, b->resource) ?: (a->operation > b->operation) - (a->operation < b->operation);
}

size_t render_changes(struct arena *a, const struct step_record *record, const struct render_change **ret)
{
        struct render_change *changes = ARENA_NEW_ARRAY(a, struct render_change, value_count(record->desired_diff) + 1);
        size_t n = 0;

        VALUE_FOREACH_ITEM (operation, record->desired_diff)
                if (read_change(a, operation, &changes[n]))
                        n++;
        if (n > 0)
                qsort(changes, n, sizeof(*changes), by_resource);
        *ret = changes;
        return n;
}
