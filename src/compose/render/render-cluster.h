/* The cluster of one render: holds the given objects, without schemas, defaults, versions or field owners.
 *
 * An update replaces the object. An apply also replaces the whole object, as in `crossplane internal render`, so that the result is
 * exactly the object that the reconcile applied; each applied object is recorded, except the composite. A write to the status
 * replaces only the status. A delete removes the object at once, even with finalizers, and keeps its dependents. Every kind is
 * known and namespaced.
 *
 * Requests that need a missing feature fail with ERR_UNSUPPORTED: older versions, parts of lists, patches, subresources other than
 * status, watches, collections. Managers and force are ignored, because no field has an owner; propagation is ignored, because
 * dependents are never deleted. One thread. */
#pragma once

#include "cluster.h"

struct render_cluster;

/* Lives in the arena, with everything that is put into it. Objects of `below`, if not NULL, are visible here until they are written
 * or deleted here. `below` itself does not change, and several clusters may share it. */
struct render_cluster *render_cluster_new(struct arena *a, const struct object_key *composite,
                                          const struct render_cluster *below);
struct cluster *render_cluster(struct render_cluster *c);

/* Adds the object unchanged, except that its apiVersion becomes the current one; it replaces an earlier object of the same kind,
 * namespace and name. */
void render_cluster_add(struct render_cluster *c, const struct value *object);

/* The composite's current state; NULL when it is not there. */
const struct value *render_cluster_composite(struct render_cluster *c);

/* The applied objects, and the deleted objects, in order. */
size_t render_cluster_applied(const struct render_cluster *c, const struct value *const **ret);
size_t render_cluster_deleted(const struct render_cluster *c, const struct value *const **ret);
