#include "subject.h"

#include "field-set.h"
#include "managed-life.h"

const struct value *run_managed(struct arena *a, const struct value *c)
{
        return managed_life(a, c);
}

/* --- Field sets --- */

static void add_path(void *arg, struct str path)
{
        struct array_builder *b = arg;

        array_builder_add(b, value_of_str(arena_copy(b->arena, path)));
}

static struct value show_set(struct arena *a, const struct field_set *s)
{
        struct object_builder b;
        struct array_builder paths;

        array_builder_init(&paths, a, 0);
        field_set_each(s, add_path, &paths);
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("fields"), field_set_encode(a, s));
        object_builder_add(&b, STR("paths"), array_builder_finish(&paths));
        object_builder_add(&b, STR("size"), value_of_int((int64_t)field_set_count(s)));
        object_builder_add(&b, STR("empty"), value_of_bool(field_set_is_empty(s)));
        return object_builder_finish(&b);
}

const struct value *run_fieldset(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct field_set *x, *y;
        struct object_builder b;

        if (field_set_decode(a, value_get(c, STR("x")), &x, &err) < 0 ||
            field_set_decode(a, value_get(c, STR("y")), &y, &err) < 0)
                return result_error(a, &err);
        object_builder_init(&b, a, 7);
        object_builder_add(&b, STR("x"), show_set(a, x));
        object_builder_add(&b, STR("y"), show_set(a, y));
        object_builder_add(&b, STR("union"), show_set(a, field_set_union(a, x, y)));
        object_builder_add(&b, STR("intersection"), show_set(a, field_set_intersection(a, x, y)));
        object_builder_add(&b, STR("difference"), show_set(a, field_set_difference(a, x, y)));
        object_builder_add(&b, STR("recursive"), show_set(a, field_set_recursive_difference(a, x, y)));
        object_builder_add(&b, STR("equal"), value_of_bool(field_set_equal(x, y)));
        return value_put(a, object_builder_finish(&b));
}
