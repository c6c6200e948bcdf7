/* CompositeResourceDefinitions: what they say, and the CRDs that they stand for (spec/engine 5). Functions over values. */
#pragma once

#include "meta.h"

/* spec.scope of an XRD, whatever version it is written in. */
enum xrd_scope {
        XRD_LEGACY_CLUSTER, /* machinery at spec.*; may offer claims */
        XRD_NAMESPACED,
        XRD_CLUSTER,
};

/* Without a scope a v1 XRD is LegacyCluster, a v2 one Namespaced. */
enum xrd_scope xrd_scope(const struct value *xrd);

/* The kind of its composites, in the referenceable version (of several, the last); version is empty without one. */
struct gvk xrd_composite_gvk(const struct value *xrd);

/* The kind of its claims; false when it offers none. */
bool xrd_claim_gvk(const struct value *xrd, struct gvk *ret);

/* The CRD of its composites, and of its claims. Errors in Crossplane's words. */
int xrd_composite_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err);
int xrd_claim_crd(struct arena *a, const struct value *xrd, const struct value **ret, struct err *err);
