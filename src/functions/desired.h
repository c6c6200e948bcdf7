/* Desired state as functions on the Go SDK give it back. */
#pragma once

#include "message.h"

/* Opens the state and makes its resources new ones, which the caller may change in place: their connection details are gone, an object
 * that was absent is empty, and the state is there. */
int desired_rebuild(struct arena *a, struct fn_state *desired, struct fn_resource **ret, struct err *err);
