/* The behaviour of built-in kinds beyond CRUD; the kinds are in builtin-kinds.c. */
#pragma once

#include "convert.h"
#include "kind.h"
#include "prepare.h"

extern const struct kind_strategy cluster_role_strategy;
extern const struct kind_strategy cluster_role_binding_strategy;
extern const struct kind_strategy config_map_strategy;
extern const struct kind_strategy daemon_set_strategy;
extern const struct kind_strategy endpoint_slice_strategy;
extern const struct kind_strategy event_strategy;
extern const struct kind_strategy job_strategy;
extern const struct kind_strategy lease_strategy;
extern const struct kind_strategy namespace_strategy;
extern const struct kind_strategy new_event_strategy;
extern const struct kind_strategy persistent_volume_strategy;
extern const struct kind_strategy pod_strategy;
extern const struct kind_strategy priority_class_strategy;
extern const struct kind_strategy role_strategy;
extern const struct kind_strategy role_binding_strategy;
extern const struct kind_strategy secret_strategy;
extern const struct kind_strategy service_account_strategy;
extern const struct kind_strategy service_strategy;
extern const struct kind_strategy signing_request_strategy;
extern const struct kind_strategy webhooks_strategy;
extern const struct kind_strategy workload_strategy;

/* Between the versions of kinds that have several. */
extern const struct conversion autoscaler_conversions[2];
extern const struct conversion event_conversions[2];
