/* What the files of auto-ready share. */
#pragma once

#include "value.h"

/* Whether the resource is ready by the rules of its kind; false when it is not, or its kind has no rules. */
bool auto_ready_check(struct arena *a, const struct value *observed);

enum auto_ready_type {
        TYPE_NONE, /* the kind is read loosely */
        TYPE_POD,
        TYPE_PERSISTENT_VOLUME_CLAIM,
        TYPE_REPLICA_SET,
        TYPE_JOB,
        TYPE_CRON_JOB,
        TYPE_HORIZONTAL_POD_AUTOSCALER,
};

/* Whether the type of the Kubernetes API can hold the object: no member that it knows has a wrong type, wherever it stands. */
bool auto_ready_fits_type(struct arena *a, const struct value *object, enum auto_ready_type type);
