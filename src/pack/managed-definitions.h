/* ManagedResourceDefinitions (docs/spec/packages 1.7): the CRDs of managed resources that a provider brings become definitions; a
 * definition becomes a CRD when it is Active. ManagedResourceActivationPolicies activate definitions by name. */
#pragma once

#include "packages-state.h"

/* The object itself, or the definition that a CRD of a managed resource becomes. It is Active unless the provider can start without its
 * kinds (safe-start). */
const struct value *managed_definition_of_crd(struct arena *a, const struct xpkg *package, const struct value *object);

/* A definition that is Active stays so. */
const struct value *managed_definition_keep_state(struct arena *a, const struct value *existing,
                                                  const struct value *desired);

/* Whether the package has the capability: letters and digits count, in any case. */
bool package_has_capability(const struct xpkg *package, struct str capability);
