/* Shared by the files of auto-ready. */
#pragma once

#include "value.h"

/* Whether the resource is ready by the rules of its kind; false when it is not, or when there are no rules for its kind. */
bool auto_ready_check(struct arena *a, const struct value *observed);

enum auto_ready_type {
        TYPE_NONE, /* the object is not checked against a type */
        TYPE_POD,
        TYPE_PERSISTENT_VOLUME_CLAIM,
        TYPE_REPLICA_SET,
        TYPE_JOB,
        TYPE_CRON_JOB,
        TYPE_HORIZONTAL_POD_AUTOSCALER,
};

/* Whether the object fits the type of the Kubernetes API: every known member, at any depth, has the right type. */
bool auto_ready_fits_type(struct arena *a, const struct value *object, enum auto_ready_type type);
