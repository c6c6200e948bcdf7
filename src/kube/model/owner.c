#include "owner.h"

static struct owner_reference reference_of(const struct value *v)
{
        return (struct owner_reference) {
                .api_version = value_str(value_get(v, STR("apiVersion"))),
                .kind = value_str(value_get(v, STR("kind"))),
                .name = value_str(value_get(v, STR("name"))),
                .uid = value_str(value_get(v, STR("uid"))),
                .is_controller = value_bool(value_get(v, STR("controller")), false),
                .blocks_owner_deletion = value_bool(value_get(v, STR("blockOwnerDeletion")), false),
        };
}

static const struct value *references(const struct value *object)
{
        return value_get(meta(object), STR("ownerReferences"));
}

size_t owner_references(struct arena *a, const struct value *object, const struct owner_reference **ret)
{
        const struct value *list = references(object);
        struct owner_reference *p = ARENA_NEW_ARRAY(a, struct owner_reference, value_count(list));
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, list)
                p[n++] = reference_of(item);
        *ret = p;
        return n;
}

bool owner_controller(const struct value *object, struct owner_reference *ret)
{
        VALUE_FOREACH_ITEM (item, references(object)) {
                if (!value_bool(value_get(item, STR("controller")), false))
                        continue;
                *ret = reference_of(item);
                return true;
        }
        return false;
}

struct owner_reference owner_reference_to(struct arena *a, const struct value *owner, bool is_controller,
                                          bool blocks_owner_deletion)
{
        struct gvk gvk = gvk_of(owner);

        return (struct owner_reference) {
                .api_version = gvk_api_version(a, gvk),
                .kind = gvk.kind,
                .name = meta_name(owner),
                .uid = meta_uid(owner),
                .is_controller = is_controller,
                .blocks_owner_deletion = blocks_owner_deletion,
        };
}

struct value owner_reference_value(struct arena *a, const struct owner_reference *reference)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("apiVersion"), value_of_str(reference->api_version));
        if (reference->blocks_owner_deletion)
                object_builder_add(&b, STR("blockOwnerDeletion"), value_of_bool(true));
        if (reference->is_controller)
                object_builder_add(&b, STR("controller"), value_of_bool(true));
        object_builder_add(&b, STR("kind"), value_of_str(reference->kind));
        object_builder_add(&b, STR("name"), value_of_str(reference->name));
        object_builder_add(&b, STR("uid"), value_of_str(reference->uid));
        return object_builder_finish(&b);
}

int owner_with_reference(struct arena *a, const struct value *object, const struct owner_reference *reference,
                         const struct value **ret, struct err *err)
{
        const struct value *list = references(object), *v;
        struct owner_reference controller;

        if (reference->is_controller && owner_controller(object, &controller) &&
            !str_equal(controller.uid, reference->uid))
                return err_set(err, ERR_CONFLICT, "%.*s is already controlled by %.*s %.*s (UID %.*s)",
                               STR_ARG(meta_name(object)), STR_ARG(controller.kind), STR_ARG(controller.name),
                               STR_ARG(controller.uid));
        v = value_put(a, owner_reference_value(a, reference));
        for (size_t i = 0; i < value_count(list); i++) {
                if (!str_equal(value_str(value_get(value_item(list, i), STR("uid"))), reference->uid))
                        continue;
                *ret = meta_with(a, object, STR("ownerReferences"), value_with_item(a, list, i, v));
                return 0;
        }
        if (!value_is_array(list))
                list = &value_empty_array;
        *ret = meta_with(a, object, STR("ownerReferences"), value_with_appended(a, list, v));
        return 0;
}

const struct value *owner_without_reference(struct arena *a, const struct value *object, struct str uid)
{
        const struct value *list = references(object);
        struct array_builder b;

        array_builder_init(&b, a, value_count(list));
        VALUE_FOREACH_ITEM (item, list)
                if (!str_equal(value_str(value_get(item, STR("uid"))), uid))
                        array_builder_add(&b, *item);
        if (b.n == value_count(list))
                return object;
        if (b.n == 0)
                return meta_with(a, object, STR("ownerReferences"), NULL);
        return meta_with(a, object, STR("ownerReferences"), value_put(a, array_builder_finish(&b)));
}
