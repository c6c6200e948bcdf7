#include "environment-merge.h"

#include <stdlib.h>

/* A member of one of the objects. */
struct layer {
        struct str key;
        size_t position; /* position of its object */
        const struct value *value;
};

static int compare_layers(const void *a, const void *b)
{
        const struct layer *x = a, *y = b;
        int order = str_compare(x->key, y->key);

        return order ? order : (x->position > y->position) - (x->position < y->position);
}

/* The members of all objects, sorted by key and then by the position of their object. */
static struct layer *sort_layers(const struct value *const *objects, size_t n, size_t *ret_n)
{
        struct layer *layers;
        size_t n_layers = 0;

        for (size_t i = 0; i < n; i++)
                n_layers += value_count(objects[i]);
        layers = xcalloc(n_layers + 1, sizeof(*layers));
        n_layers = 0;
        for (size_t i = 0; i < n; i++)
                VALUE_FOREACH_MEMBER (m, objects[i])
                        layers[n_layers++] = (struct layer) { m->key, i, &m->value };
        qsort(layers, n_layers, sizeof(*layers), compare_layers);
        *ret_n = n_layers;
        return layers;
}

/* The end of the layers that have the key of layer i. */
static size_t end_of_key(const struct layer *layers, size_t n, size_t i)
{
        size_t end = i + 1;

        while (end < n && str_equal(layers[end].key, layers[i].key))
                end++;
        return end;
}

static size_t count_keys(const struct layer *layers, size_t n)
{
        size_t n_keys = 0;

        for (size_t i = 0; i < n; i = end_of_key(layers, n, i))
                n_keys++;
        return n_keys;
}

/* Merges the layers of one key. A value that is not an object hides all values before it, so only the objects after the last such
 * value are merged. */
static int merge_layers(struct arena *a, const struct layer *layers, size_t n, struct value *ret, struct err *err)
{
        _cleanup_free_ const struct value **objects = NULL;
        const struct value *merged;
        size_t first = n;
        int r;

        while (first > 0 && value_is_object(layers[first - 1].value))
                first--;
        if (n - first < 2) {
                *ret = *layers[n - 1].value;
                return 0;
        }
        objects = xcalloc(n - first, sizeof(*objects));
        for (size_t i = first; i < n; i++)
                objects[i - first] = layers[i].value;
        r = environment_merge(a, objects, n - first, &merged, err);
        if (r >= 0)
                *ret = *merged;
        return r;
}

int environment_merge(struct arena *a, const struct value *const *objects, size_t n, const struct value **ret,
                      struct err *err)
{
        _cleanup_free_ struct layer *layers = NULL;
        struct object_builder b;
        size_t n_layers, end;

        layers = sort_layers(objects, n, &n_layers);
        object_builder_init(&b, a, count_keys(layers, n_layers));
        for (size_t i = 0; i < n_layers; i = end) {
                struct value merged;
                int r;

                end = end_of_key(layers, n_layers, i);
                r = merge_layers(a, layers + i, end - i, &merged, err);
                if (r < 0 || (r = arena_check(a, err)) < 0)
                        return r;
                object_builder_add(&b, layers[i].key, merged);
        }
        *ret = value_put(a, object_builder_finish(&b));
        return 0;
}
