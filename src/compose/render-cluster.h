/* The cluster of one render: objects as they were given, without schemas, defaults, versions or owners of fields.
 *
 * An update replaces the object. An apply is taken for the whole object, as `crossplane internal render` does it, so that what was
 * applied is exactly what the reconcile asked for; it is also noted, unless it is the composite's. A write to the status replaces
 * that alone. Every kind is known and namespaced. One thread. */
#pragma once

#include "cluster.h"

struct render_cluster;

/* Lives in the arena, with everything that is put into it. What is in `below`, if there is one, is in this one as well, until it is
 * written or deleted here; it is left as it is, and others may stand on it too. */
struct render_cluster *render_cluster_new(struct arena *a, const struct object_key *composite,
                                          const struct render_cluster *below);
struct cluster *render_cluster(struct render_cluster *c);

/* As it is; a later one of the same name replaces an earlier one. */
void render_cluster_add(struct render_cluster *c, const struct value *object);

/* What there is of the composite. */
const struct value *render_cluster_composite(struct render_cluster *c);

/* What was applied and what was deleted, in order. */
size_t render_cluster_applied(const struct render_cluster *c, const struct value *const **ret);
size_t render_cluster_deleted(const struct render_cluster *c, const struct value *const **ret);
