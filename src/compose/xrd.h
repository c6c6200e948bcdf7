/* CompositeResourceDefinitions: reads their fields, and makes the CRDs that they define (docs/spec/engine 5). Functions over
 * values. */
#pragma once

#include "meta.h"
#include "places.h"

/* spec.scope of an XRD of any version. */
enum xrd_scope {
        XRD_LEGACY_CLUSTER, /* Crossplane's fields are at spec.*; may offer claims */
        XRD_NAMESPACED,
        XRD_CLUSTER,
};

/* The default is LegacyCluster for a v1 XRD, Namespaced for a v2 XRD. */
enum xrd_scope xrd_scope(const struct value *xrd);

/* Where its composites keep the engine's fields, and where its claims do. */
const struct places *xrd_places(const struct value *xrd);
const struct places *xrd_claim_places(const struct value *xrd);

/* The kind of its composites, in the referenceable version (the last one if there are several); version is empty without one. */
struct gvk xrd_composite_gvk(const struct value *xrd);

/* The kind of its claims; false when it offers none. */
bool xrd_claim_gvk(const struct value *xrd, struct gvk *ret);

/* The CRD of its composites, and that of its claims. Error messages are Crossplane's. */
int xrd_composite_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err);
int xrd_claim_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err);
