/* Merging values, with the results that crossplane-runtime gets from the mergo library over Go maps:
 *
 *     source   destination lacks it   destination has it, override      destination has it, keep
 *     null     null if override       null                              stays
 *     object   source                 both objects: merge, else source  both objects: merge, else stays unless empty
 *     array    source                 source                            stays unless empty
 *       append source                 destination ++ source             destination ++ source
 *     scalar   source                 source                            stays unless empty
 *
 * Empty are null, false, 0, "", [] and {}. Two oddities are kept because users can see them: if the merge of two objects is
 * empty, the result is the source, and appending [] to [] at the top gives null. */
#include "path.h"

#include "gotext.h"

static bool is_empty(const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                return true;
        case VALUE_BOOL:
                return !v->boolean;
        case VALUE_INT:
                return v->integer == 0;
        case VALUE_DOUBLE:
                return v->number == 0;
        case VALUE_STRING:
        case VALUE_ARRAY:
        case VALUE_OBJECT:
                return v->n == 0;
        }
        return false;
}

static int merge_objects(struct arena *a, const struct value *destination, const struct value *source,
                         const struct merge_options *options, struct value *ret, struct err *err);

static int append_array(struct arena *a, const struct value *destination, const struct value *source, struct value *ret,
                        struct err *err)
{
        struct array_builder b;

        if (value_is_null(destination)) {
                *ret = *source;
                return 0;
        }
        if (!value_is_array(destination)) {
                struct str type = go_type_name(destination);

                return err_set(err, ERR_INVALID, "cannot append two slices with different type ([]interface {}, %.*s)",
                               STR_ARG(type));
        }
        a->edited_bytes += ((size_t)destination->n + source->n) * sizeof(struct value);
        array_builder_init(&b, a, (size_t)destination->n + source->n);
        VALUE_FOREACH_ITEM (item, destination)
                array_builder_add(&b, *item);
        VALUE_FOREACH_ITEM (item, source)
                array_builder_add(&b, *item);
        *ret = array_builder_finish(&b);
        return 0;
}

/* Merges two values that both exist. */
static int merge_present(struct arena *a, const struct value *destination, const struct value *source,
                         const struct merge_options *options, struct value *ret, struct err *err)
{
        if (value_is_array(source) && options->appends_slices)
                return append_array(a, destination, source, ret, err);
        if (value_is_object(source) && value_is_object(destination))
                return merge_objects(a, destination, source, options, ret, err);
        if (!options->keeps_map_values)
                *ret = *source;
        else
                *ret = !value_is_null(source) && is_empty(destination) ? *source : *destination;
        return 0;
}

static int merge_objects(struct arena *a, const struct value *destination, const struct value *source,
                         const struct merge_options *options, struct value *ret, struct err *err)
{
        struct object_builder b;

        a->edited_bytes += ((size_t)destination->n + source->n) * sizeof(struct member);
        object_builder_init(&b, a, (size_t)destination->n + source->n);
        VALUE_FOREACH_MEMBER (m, destination) {
                const struct value *theirs = value_get(source, m->key);
                struct value merged = m->value;
                int r = theirs ? merge_present(a, &m->value, theirs, options, &merged, err) : 0;

                if (r < 0)
                        return r;
                object_builder_add(&b, m->key, merged);
        }
        VALUE_FOREACH_MEMBER (m, source)
                if (!value_get(destination, m->key) && !(value_is_null(&m->value) && options->keeps_map_values))
                        object_builder_add(&b, m->key, m->value);
        *ret = b.n ? object_builder_finish(&b) : *source;
        return 0;
}

/* A hash set over the items of an array: member numbers + 1, 0 for empty. */
struct item_set {
        const struct value *items;
        uint32_t *slots;
        size_t mask;
};

/* The slot of an equal item, or the empty slot for it. */
static uint32_t *item_set_slot(const struct item_set *s, const struct value *v)
{
        size_t at = value_hash(v) & s->mask;

        while (s->slots[at] && !value_equal(&s->items[s->slots[at] - 1], v))
                at = (at + 1) & s->mask;
        return &s->slots[at];
}

static void item_set_init(struct item_set *s, struct arena *a, const struct value *array)
{
        size_t n = 16;

        while (n < 2 * (size_t)array->n)
                n *= 2;
        *s = (struct item_set) { .items = array->items, .slots = ARENA_NEW_ARRAY(a, uint32_t, n), .mask = n - 1 };
        for (uint32_t i = 0; i < array->n; i++)
                *item_set_slot(s, &array->items[i]) = i + 1;
}

static bool item_set_has(const struct item_set *s, const struct value *v)
{
        return *item_set_slot(s, v) != 0;
}

/* Appends those items of source that destination does not have yet. */
static struct value append_new(struct arena *a, const struct value *destination, const struct value *source)
{
        struct array_builder b;
        struct item_set present;

        if (destination->n == 0 && source->n == 0)
                return value_of_null();
        a->edited_bytes += ((size_t)destination->n + source->n) * sizeof(struct value);
        item_set_init(&present, a, destination);
        array_builder_init(&b, a, (size_t)destination->n + source->n);
        VALUE_FOREACH_ITEM (item, destination)
                array_builder_add(&b, *item);
        VALUE_FOREACH_ITEM (item, source)
                if (!item_set_has(&present, item))
                        array_builder_add(&b, *item);
        return array_builder_finish(&b);
}

int merge_values(struct arena *a, const struct value *destination, const struct value *source,
                 const struct merge_options *options, const struct value **ret, struct err *err)
{
        struct value merged;
        int r;

        if (!options || value_is_null(destination) || value_is_null(source)) {
                *ret = source;
                return 0;
        }
        if (options->appends_slices && value_is_array(destination) && value_is_array(source)) {
                merged = append_new(a, destination, source);
        } else {
                r = merge_present(a, destination, source, options, &merged, err);
                if (r < 0) {
                        err_wrap(err, "failed to merge values");
                        return r;
                }
        }
        *ret = value_put(a, merged);
        return 0;
}

int path_merge_segments(struct arena *a, const struct value *root, const struct path *path, const struct value *v,
                        const struct merge_options *options, const struct value **ret, struct err *err)
{
        _cleanup_err_ struct err get_error = { 0 };
        const struct value *destination;
        int r;

        if (!options)
                return path_set_segments(a, root, path, v, ret, err);
        r = path_get_segments(a, root, path, &destination, &get_error);
        if (r == ERR_NOT_FOUND)
                destination = &value_null;
        else if (r < 0)
                return err_move(err, &get_error);
        r = merge_values(a, destination, v, options, &v, err);
        if (r < 0)
                return r;
        return path_set_segments(a, root, path, v, ret, err);
}
