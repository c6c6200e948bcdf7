#include "subject.h"

#include "table.h"

static struct value column_list(struct arena *a, const struct table *t)
{
        size_t n;
        const struct table_column *columns = table_columns(t, &n);
        struct array_builder list;

        array_builder_init(&list, a, n);
        for (size_t i = 0; i < n; i++) {
                struct value items[] = {
                        value_of_str(arena_copy(a, columns[i].name)),
                        value_of_str(arena_copy(a, columns[i].type)),
                        value_of_str(arena_copy(a, columns[i].format)),
                        value_of_int(columns[i].priority),
                };

                array_builder_add(&list, value_of_items(a, items, ARRAY_SIZE(items)));
        }
        return array_builder_finish(&list);
}

static const struct value *answer(struct arena *a, const struct table *t, const struct value *c)
{
        struct array_builder rows;
        struct member members[2] = { { STR("columns"), column_list(a, t) } };

        array_builder_init(&rows, a, 4);
        VALUE_FOREACH_ITEM (now, value_get(c, STR("now"))) {
                struct instant time = { .seconds = value_int(now, 0) };
                struct value row = table_row(t, a, value_get(c, STR("object")), NULL, time);

                array_builder_add(&rows, *value_copy(a, &row));
        }
        members[1] = (struct member) { STR("rows"), array_builder_finish(&rows) };
        return value_put(a, value_of_members(a, members, 2, true));
}

/* The rows of an object at several times: of a kind from a CRD, or of a built-in one, which is only a name here. */
const struct value *run_table(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_(table_unrefp)
        struct table *t = NULL;
        struct kind_version version = { .name = value_str(value_get(c, STR("version"))) };
        struct kind builtin = {
                .group = value_str(value_get(c, STR("group"))),
                .kind = value_str(value_get(c, STR("kind"))),
                .versions = &version,
                .n_versions = 1,
        };
        struct kind *k = &builtin;

        if (value_is_object(value_get(c, STR("crd")))) {
                if (kind_from_crd(value_get(c, STR("crd")), &k, &err) < 0)
                        return result_error(a, &err);
                arena_pin(a, k, kind_unpin);
        }
        if (table_new(k, &k->versions[0], &t, &err) < 0)
                return result_error(a, &err);
        return answer(a, t, c);
}
