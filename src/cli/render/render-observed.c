/* Assigns the observed resources to composites when several are rendered. */
#include "render-files.h"

#include "map.h"
#include "owner.h"
#include "render.h"

#define LABEL_COMPOSITE STR("crossplane.io/composite")

struct list {
        const struct manifest *composite;
        struct array_builder items;
        const struct value *value;
        bool is_ambiguous; /* another composite has the same name */
};

struct render_observed {
        struct arena *arena;
        struct list *lists; /* one for each composite */
        struct map by_uid, by_name;
};

static struct str name_key(struct arena *a, struct str ns, struct str name)
{
        return arena_printf(a, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
}

static void index_one(struct render_observed *o, struct list *list)
{
        const struct value *composite = render_with_identity(o->arena, list->composite->object);
        struct str label = meta_label(composite, LABEL_COMPOSITE);
        struct str name = name_key(o->arena, meta_namespace(composite), label.n ? label : meta_name(composite));
        struct list *other = map_get(&o->by_name, name);

        array_builder_init(&list->items, o->arena, 0);
        map_set(&o->by_uid, meta_uid(composite), list);
        if (!map_add(&o->by_name, name, list))
                other->is_ambiguous = true;
}

/* Finds the composite by the resource's label: in the resource's namespace first, then among composites without a namespace. */
static struct list *find_by_name(struct render_observed *o, const struct value *observed)
{
        struct str label = meta_label(observed, LABEL_COMPOSITE);
        struct list *list = NULL;

        if (label.n)
                list = map_get(&o->by_name, name_key(o->arena, meta_namespace(observed), label));
        if (label.n && !list)
                list = map_get(&o->by_name, name_key(o->arena, STR(""), label));
        return list && !list->is_ambiguous ? list : NULL;
}

static int sort_in(struct render_observed *o, const struct manifest *observed, struct err *err)
{
        struct owner_reference controller;
        struct list *list = NULL;

        if (owner_controller(observed->object, &controller))
                list = map_get(&o->by_uid, controller.uid);
        if (!list)
                list = find_by_name(o, observed->object);
        if (list) {
                array_builder_add(&list->items, *observed->object);
                return 0;
        }
        err_set(err, ERR_INVALID,
                "several composite resources are rendered, and it is not known to which of them this observed resource "
                "belongs: give it one as controller in metadata.ownerReferences, or its name in the label "
                "crossplane.io/composite");
        return manifest_error(observed, STR("metadata"), err);
}

static int sort_all(struct render_observed *o, size_t n, const struct manifests *observed, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < n; i++)
                index_one(o, &o->lists[i]);
        for (size_t i = 0; r >= 0 && i < observed->n; i++)
                r = sort_in(o, &observed->p[i], err);
        map_done(&o->by_uid);
        map_done(&o->by_name);
        for (size_t i = 0; i < n; i++)
                o->lists[i].value = value_put(o->arena, array_builder_finish(&o->lists[i].items));
        return r;
}

/* Adds the observed resources of the files that annotations name to each composite's list. */
static int add_annotated(struct render_observed *o, size_t n, struct err *err)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++) {
                struct manifests own;
                struct array_builder items;

                manifests_init(&own, o->arena);
                r = render_paths_load_observed(o->arena, o->lists[i].composite, &own, err);
                if (own.n == 0)
                        continue;
                array_builder_init(&items, o->arena, own.n + value_count(o->lists[i].value));
                VALUE_FOREACH_ITEM (item, o->lists[i].value)
                        array_builder_add(&items, *item);
                for (size_t j = 0; j < own.n; j++)
                        array_builder_add(&items, *own.p[j].object);
                o->lists[i].value = value_put(o->arena, array_builder_finish(&items));
        }
        return r;
}

int render_observed_new(struct arena *a, const struct render_files *files, struct render_observed **ret,
                        struct err *err)
{
        const struct manifests *observed = &files->observed;
        struct render_observed *o = ARENA_NEW(a, struct render_observed);
        size_t n = files->composites.n;
        int r = 0;

        o->arena = a;
        o->lists = ARENA_NEW_ARRAY(a, struct list, n);
        for (size_t i = 0; i < n; i++)
                o->lists[i].composite = &files->composites.p[i];
        *ret = o;
        if (n > 1 && observed->n > 0)
                r = sort_all(o, n, observed, err);
        else
                for (size_t i = 0; i < n; i++)
                        o->lists[i].value = n == 1 ? render_files_list(a, observed) : &value_empty_array;
        return r < 0 ? r : add_annotated(o, n, err);
}

const struct value *render_observed_of(const struct render_observed *o, size_t composite)
{
        return o->lists[composite].value;
}
