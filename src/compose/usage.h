/* Usages (docs/spec/engine 10): an object (`of`) must not be deleted while another one (`by`) needs it, or for a reason. There are
 * three kinds: Usage in a namespace, ClusterUsage, and the older Usage of Crossplane 1, which is cluster-scoped. These functions
 * read values; they know no cluster. */
#pragma once

#include "meta.h"

#define USAGE_FINALIZER        STR("usage.apiextensions.crossplane.io")
#define USAGE_IN_USE           STR("crossplane.io/in-use") /* the label of used objects; its value is "true" */
#define USAGE_DETAILS          STR("crossplane.io/usage-details")
#define USAGE_DELETION_ATTEMPT STR("usage.crossplane.io/deletion-attempt-with-policy")

enum usage_kind {
        USAGE_NAMESPACED, /* in the order in which a refusal names them */
        USAGE_CLUSTER,
        USAGE_LEGACY,
        _USAGE_COUNT,
};

struct gvk usage_gvk(enum usage_kind kind);
enum usage_kind usage_kind_of(const struct value *usage);

/* The object that a reference names. The name is empty until a selector has been resolved. The namespace is that of a namespaced
 * kind; whether the kind is namespaced only a cluster knows. by: false if there is none. */
struct object_key usage_of(const struct value *usage);
bool usage_by(const struct value *usage, struct object_key *ret);

struct str usage_reason(const struct value *usage);

/* The annotation for people: the reason, or `ConfigMap/a uses ConfigMap/b in namespace c`. */
struct str usage_details(struct arena *a, const struct value *usage);

/* `cannot resolve selector at "spec.of.resourceSelector": no "ConfigMap" found matching labels: map["a":"b"]`, as Crossplane says it. */
struct str usage_no_match(struct arena *a, struct str field, struct str kind, const struct value *selector);
