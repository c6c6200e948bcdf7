/* The Lock as a graph: packages by their source, and what they depend on (docs/spec/packages 4.1). */
#pragma once

#include "map.h"
#include "meta.h"
#include "str-list.h"

#define LOCK_FINALIZER STR("lock.pkg.crossplane.io")

struct lock_dependency {
        struct gvk gvk;     /* of the package: pkg.crossplane.io/v1 Function, ... */
        struct str package; /* its source */
        struct str constraints;
};

struct lock_package {
        struct str name; /* of the revision */
        struct str source, version;
        const struct lock_dependency *dependencies;
        size_t n_dependencies;
        uint8_t color; /* of a walk in progress */
};

/* Texts are those of the Lock; arrays are in the arena. */
struct lock_graph {
        struct arena *arena;
        struct lock_package *packages; /* in the Lock's order */
        size_t n;
        struct map by_source; /* the first package of each source */
};

void lock_graph_init(struct lock_graph *g, struct arena *a, const struct value *lock);
void lock_graph_done(struct lock_graph *g);

#define _cleanup_lock_graph_ _cleanup_(lock_graph_done)

/* NULL if the Lock has no such package. */
struct lock_package *lock_graph_find(const struct lock_graph *g, struct str source);

/* One item of packages[].dependencies. */
struct lock_dependency lock_dependency_of(const struct value *entry);

/* Everything that the package needs, directly or through others: how many packages, and which of them the Lock lacks, each once, with
 * the constraint that was met first. A package in a cycle needs itself. */
struct lock_needs {
        size_t n_found;
        struct lock_dependency *missing; /* in the arena */
        size_t n_missing;
};
struct lock_needs lock_graph_needs(struct lock_graph *g, const struct lock_package *p);

/* A source on a cycle, or "" if there is none. */
struct str lock_graph_cycle(struct lock_graph *g);
