/* The documents of discovery as values, made from a list of kinds (docs/spec/apiserver 1.2, 1.3). */
#pragma once

#include "cluster.h"

/* One group: its kinds, and the versions in which any of them is served, the preferred one first. */
struct discovery_group {
        struct str name;
        const struct listed_kind *kinds; /* by plural */
        size_t n_kinds;
        const struct str *versions;
        size_t n_versions;
};

/* The groups of the list in the order of discovery: groups of the API in the order of kube-apiserver, then all others by name. */
size_t discovery_groups(struct arena *a, const struct kind_list *list, const struct discovery_group **ret);

/* NULL if the list has no kind of that group. */
const struct discovery_group *discovery_find_group(struct arena *a, const struct kind_list *list, struct str name);
bool discovery_has_version(const struct discovery_group *g, struct str version);

/* APIGroupDiscoveryList of the core group, or of all other groups. version: v2, v2beta1. */
struct value discovery_aggregated(struct arena *a, const struct kind_list *list, bool is_core, struct str version);

/* APIGroupList and APIGroup; the core group is in neither. */
struct value discovery_group_list(struct arena *a, const struct kind_list *list);
struct value discovery_one_group(struct arena *a, const struct discovery_group *g);

/* APIResourceList of one version of the group. */
struct value discovery_resource_list(struct arena *a, const struct discovery_group *g, struct str version);

/* APIVersions; address is the host and port that the client used. */
struct value discovery_versions(struct arena *a, struct str address);
