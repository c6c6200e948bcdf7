/* Converts fields of a Composition into inputs of the functions that replaced those fields (docs/spec/engine 8.1, 8.2). */
#pragma once

#include "err.h"
#include "value.h"

/* The input of patch-and-transform for resources, patchSets and environment.patches of a spec. Names and types, which older
 * Compositions may leave out, are filled in as Crossplane's own conversion does. *ret_is_anonymous: none of the resources has a
 * name. */
int native_resources_input(struct arena *a, const struct value *spec, const struct value **ret, bool *ret_is_anonymous,
                           struct err *err);

/* The input of environment-configs for the environment that spec.environment selects; NULL when it selects nothing. */
const struct value *native_environment_input(struct arena *a, const struct value *spec);
