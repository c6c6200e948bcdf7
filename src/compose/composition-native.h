/* Fields of a Composition as inputs of the functions that took their place (spec/engine 8.1, 8.2). */
#pragma once

#include "err.h"
#include "value.h"

/* The input of patch-and-transform for resources, patchSets and environment.patches of a spec. What older Compositions may leave out
 * (names, types) is filled in as Crossplane's own conversion does. *ret_is_anonymous: none of the resources has a name. */
int native_resources_input(struct arena *a, const struct value *spec, const struct value **ret, bool *ret_is_anonymous,
                           struct err *err);

/* The input of environment-configs for what spec.environment selects; NULL when it selects nothing. */
const struct value *native_environment_input(struct arena *a, const struct value *spec);
