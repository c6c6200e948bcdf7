#include "convert.h"

#include "json.h"
#include "meta.h"

/* Dotted paths without lists, below an object. */

static const struct value *with(struct arena *a, const struct value *object, struct str path, const struct value *v)
{
        struct str key;

        if (!value_is_object(object))
                object = &value_empty_object;
        if (str_split(&path, '.', &key))
                v = with(a, value_get(object, key), path, v);
        return value_with(a, object, key, v);
}

/* The object without the value at the path, and without parents that become empty. */
static const struct value *without(struct arena *a, const struct value *object, struct str path)
{
        const struct value *child;
        struct str key;

        if (!str_split(&path, '.', &key))
                return value_without(a, object, key);
        child = value_get(object, key);
        if (!value_find_dotted(child, path))
                return object;
        child = without(a, child, path);
        return value_count(child) > 0 ? value_with(a, object, key, child) : value_without(a, object, key);
}

struct edit {
        struct arena *arena;
        enum convert_operation operation;
        struct str from;
        struct str to;
        const struct value *literal;
};

static const struct value *apply(const struct edit *e, const struct value *object)
{
        const struct value *v = value_find_dotted(object, e->from);

        switch (e->operation) {
        case CONVERT_MOVE:
                return v ? with(e->arena, without(e->arena, object, e->from), e->to, v) : object;
        case CONVERT_COPY:
                return v ? with(e->arena, object, e->to, v) : object;
        case CONVERT_DROP:
                return v ? without(e->arena, object, e->from) : object;
        case CONVERT_SET:
                return value_find_dotted(object, e->to) ? object : with(e->arena, object, e->to, e->literal);
        case CONVERT_CALL:
                break;
        }
        return object;
}

static const struct value *apply_below(const struct edit *e, struct str prefix, const struct value *v);

static const struct value *apply_to_items(const struct edit *e, struct str prefix, const struct value *list)
{
        struct array_builder b;
        bool is_changed = false;

        if (!value_is_array(list))
                return list;
        array_builder_init(&b, e->arena, value_count(list));
        VALUE_FOREACH_ITEM (item, list) {
                const struct value *edited = apply_below(e, prefix, item);

                is_changed |= edited != item;
                array_builder_add(&b, *edited);
        }
        return is_changed ? value_put(e->arena, array_builder_finish(&b)) : list;
}

/* Applies the edit to every object at the prefix (`spec.a[].b[]`). */
static const struct value *apply_below(const struct edit *e, struct str prefix, const struct value *v)
{
        const struct value *child, *edited;
        struct str key;

        if (!value_is_object(v))
                return v;
        if (str_is_empty(prefix))
                return apply(e, v);
        str_split(&prefix, '.', &key);
        if (str_cut_suffix(&key, STR("[]"))) {
                child = value_get(v, key);
                edited = apply_to_items(e, prefix, child);
        } else {
                child = value_get(v, key);
                edited = apply_below(e, prefix, child);
        }
        return edited == child ? v : value_with(e->arena, v, key, edited);
}

/* Splits a path after its last list, because both paths of a step go through the same lists. */
static struct str split_lists(struct str *path)
{
        for (size_t i = path->n; i > 2; i--) {
                struct str prefix = str_first(*path, i);

                if (str_ends_with(prefix, STR("[]"))) {
                        *path = str_skip(*path, i + 1);
                        return prefix;
                }
        }
        return STR("");
}

static int run_step(struct arena *a, const struct convert_step *step, const struct value *object,
                    const struct value **ret, struct err *err)
{
        struct edit e = {
                .arena = a, .operation = step->operation, .from = str_from(step->from), .to = str_from(step->to)
        };
        struct str from = split_lists(&e.from), to = split_lists(&e.to);
        int r;

        if (step->operation == CONVERT_CALL)
                return step->fn(a, object, ret, err);
        assert(!step->from || !step->to || str_equal(from, to));
        if (step->operation == CONVERT_SET) {
                r = json_parse(a, str_from(step->literal), NULL, &e.literal, err);
                if (r < 0)
                        return err_wrap(err, "literal for %s", step->to);
        }
        *ret = apply_below(&e, step->from ? from : to, object);
        return 0;
}

static bool is_version(const char *text, struct str api_version)
{
        struct str rest = api_version, group;

        if (str_equal(str_from(text), api_version))
                return true;
        return str_split(&rest, '/', &group) && str_equal(str_from(text), rest);
}

static const struct conversion *find_conversion(const struct conversion *table, size_t n, struct str from,
                                                struct str to)
{
        for (size_t i = 0; i < n; i++)
                if (is_version(table[i].from_version, from) && is_version(table[i].to_version, to))
                        return &table[i];
        return NULL;
}

int convert_object(struct arena *a, const struct conversion *table, size_t n, const struct value *object,
                   struct str to_api_version, const struct value **ret, struct err *err)
{
        struct str from = value_str(value_get(object, STR("apiVersion")));
        const struct conversion *c = find_conversion(table, n, from, to_api_version);
        struct gvk gvk = gvk_of(object);
        int r;

        if (str_equal(from, to_api_version)) {
                *ret = object;
                return 0;
        }
        for (size_t i = 0; c && i < c->n_steps; i++) {
                r = run_step(a, &c->steps[i], object, &object, err);
                if (r < 0)
                        return err_wrap(err, "cannot convert %.*s from %.*s to %.*s", STR_ARG(gvk.kind), STR_ARG(from),
                                        STR_ARG(to_api_version));
        }
        *ret = value_with(a, object, STR("apiVersion"), value_put(a, value_of_str(to_api_version)));
        return 0;
}
