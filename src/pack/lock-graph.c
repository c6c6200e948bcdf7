#include "lock-graph.h"

#include "vec.h"

/* The deprecated form has a type instead of apiVersion and kind. */
struct lock_dependency lock_dependency_of(const struct value *entry)
{
        struct lock_dependency d = { .gvk = gvk_of(entry),
                                     .package = value_str(value_get(entry, STR("package"))),
                                     .constraints = value_str(value_get(entry, STR("constraints"))) };
        struct str type = value_str(value_get(entry, STR("type")));

        if (type.n > 0 && d.gvk.kind.n == 0)
                d.gvk = (struct gvk) { STR("pkg.crossplane.io"), STR("v1"), type };
        return d;
}

static struct lock_package package_of(struct arena *a, const struct value *entry)
{
        const struct value *list = value_get(entry, STR("dependencies"));
        struct lock_dependency *dependencies = ARENA_NEW_ARRAY(a, struct lock_dependency, value_count(list));

        for (size_t i = 0; i < value_count(list); i++)
                dependencies[i] = lock_dependency_of(value_item(list, i));
        return (struct lock_package) { .name = value_str(value_get(entry, STR("name"))),
                                       .source = value_str(value_get(entry, STR("source"))),
                                       .version = value_str(value_get(entry, STR("version"))),
                                       .dependencies = dependencies,
                                       .n_dependencies = value_count(list) };
}

void lock_graph_init(struct lock_graph *g, struct arena *a, const struct value *lock)
{
        const struct value *list = value_get(lock, STR("packages"));

        *g = (struct lock_graph) { .arena = a, .n = value_count(list) };
        g->packages = ARENA_NEW_ARRAY(a, struct lock_package, g->n);
        for (size_t i = 0; i < g->n; i++) {
                g->packages[i] = package_of(a, value_item(list, i));
                map_add(&g->by_source, g->packages[i].source, &g->packages[i]);
        }
}

void lock_graph_done(struct lock_graph *g)
{
        map_done(&g->by_source);
}

struct lock_package *lock_graph_find(const struct lock_graph *g, struct str source)
{
        return map_get(&g->by_source, source);
}

/* --- Walks --- */

/* A package and how many of its dependencies were followed. Walks keep their place on the heap: a Lock may be a long chain. */
struct place {
        struct lock_package *package;
        size_t next;
};

enum color { NOT_SEEN, OPEN, DONE };

static void clear_colors(struct lock_graph *g)
{
        for (size_t i = 0; i < g->n; i++)
                g->packages[i].color = NOT_SEEN;
}

struct lock_needs lock_graph_needs(struct lock_graph *g, const struct lock_package *p)
{
        VEC(const struct lock_package *) open = { 0 };
        VEC(struct lock_dependency) missing = { 0 };
        _cleanup_map_ struct map seen = { 0 };
        struct lock_needs needs = { 0 };

        vec_push(&open, p);
        while (open.n > 0) {
                const struct lock_package *from = vec_pop(&open);

                for (size_t i = 0; i < from->n_dependencies; i++) {
                        const struct lock_dependency *d = &from->dependencies[i];
                        struct lock_package *to = lock_graph_find(g, d->package);

                        if (!map_add(&seen, d->package, NULL))
                                continue;
                        if (to)
                                vec_push(&open, to);
                        else
                                vec_push(&missing, *d);
                }
        }
        needs.n_found = seen.n;
        needs.n_missing = missing.n;
        needs.missing = ARENA_NEW_ARRAY(g->arena, struct lock_dependency, missing.n);
        for (size_t i = 0; i < missing.n; i++)
                needs.missing[i] = missing.p[i];
        vec_done(&open);
        vec_done(&missing);
        return needs;
}

/* Walks from one package, depth first; a package that is met while it is open closes a cycle. */
static struct str cycle_from(struct lock_graph *g, struct lock_package *start)
{
        VEC(struct place) way = { 0 };
        struct str cycle = STR("");

        start->color = OPEN;
        vec_push(&way, (struct place) { start, 0 });
        while (way.n > 0 && cycle.n == 0) {
                struct place *here = vec_last(&way);
                struct lock_package *to;

                if (here->next == here->package->n_dependencies) {
                        here->package->color = DONE;
                        way.n--;
                        continue;
                }
                to = lock_graph_find(g, here->package->dependencies[here->next++].package);
                if (!to || to->color == DONE)
                        continue;
                if (to->color == OPEN)
                        cycle = to->source;
                to->color = OPEN;
                vec_push(&way, (struct place) { to, 0 });
        }
        vec_done(&way);
        return cycle;
}

struct str lock_graph_cycle(struct lock_graph *g)
{
        struct str cycle = STR("");

        clear_colors(g);
        for (size_t i = 0; i < g->n && cycle.n == 0; i++)
                if (g->packages[i].color == NOT_SEEN)
                        cycle = cycle_from(g, &g->packages[i]);
        return cycle;
}
