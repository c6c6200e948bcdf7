/* Rebuilds desired state as functions on the Go SDK return it. */
#pragma once

#include "message.h"

/* Opens the state, marks it as present and copies its resources, so that the caller may change them in place. Connection details
 * are dropped, and an absent object becomes an empty one. */
int desired_rebuild(struct arena *a, struct fn_state *desired, struct fn_resource **ret, struct err *err);

/* Sets unknown values of readiness to unspecified, as the SDK does when it writes resources back. */
void desired_settle_ready(struct fn_resource *resources, size_t n);
