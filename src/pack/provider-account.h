/* As whom the program of a provider acts: a service account with the rights that Crossplane's RBAC manager gives (docs/spec/packages 3.7).
 * Private to this layer. */
#pragma once

#include "revision-run.h"

/* Makes the service account of the revision, its role and the binding of the two true. *ret_kubeconfig is how the program reaches the API as
 * that account; "" if there is no way. */
int provider_account_ensure(struct revision_run *v, struct str *ret_kubeconfig, struct err *err);

/* Whether a provider may get rights on kinds of the group because its package brings them. The groups of Kubernetes and of Crossplane itself
 * are not for packages to bring. */
bool provider_may_have_group(struct str group);
