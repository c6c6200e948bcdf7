#include "managers.h"

static bool has_manager(const struct value *object, struct str name, bool is_prefix, size_t *ret_index)
{
        const struct value *list = value_find(object, "metadata", "managedFields");

        for (size_t i = 0; i < value_count(list); i++) {
                struct str manager = value_str(value_get(value_item(list, i), STR("manager")));

                if (is_prefix ? !str_starts_with(manager, name) : !str_equal(manager, name))
                        continue;
                *ret_index = i;
                return true;
        }
        return false;
}

const struct value *managers_upgrade(struct arena *a, const struct value *object, struct str applier, bool is_prefix)
{
        size_t index, first;
        bool has_applier = has_manager(object, applier, is_prefix, &index);
        bool has_first = has_manager(object, STR("before-first-apply"), true, &first);
        struct array_builder operations;
        struct object_builder b;

        if (!value_find(object, "metadata", "creationTimestamp") || (has_applier && !has_first))
                return NULL;
        array_builder_init(&operations, a, 2);
        object_builder_init(&b, a, 3);
        if (has_applier) {
                object_builder_add(&b, STR("op"), value_of_literal("remove"));
                object_builder_add(&b, STR("path"),
                                   value_of_str(arena_printf(a, "/metadata/managedFields/%zu", first)));
        } else {
                object_builder_add(&b, STR("op"), value_of_literal("replace"));
                object_builder_add(&b, STR("path"), value_of_literal("/metadata/managedFields"));
                object_builder_add(&b, STR("value"), value_of_items(a, &value_empty_object, 1));
        }
        array_builder_add(&operations, object_builder_finish(&b));
        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("op"), value_of_literal("replace"));
        object_builder_add(&b, STR("path"), value_of_literal("/metadata/resourceVersion"));
        object_builder_add(&b, STR("value"), value_of_str(meta_resource_version(object)));
        array_builder_add(&operations, object_builder_finish(&b));
        return value_put(a, array_builder_finish(&operations));
}
