/* A provider of resources that do nothing but what they are told: NopResource and ClusterNopResource of nop.crossplane.io, as
 * provider-nop v0.5.0 has them (docs/spec/functions, provider-nop). They get conditions some time after they were created, and connection details,
 * so that examples and tests see resources that take time, fail and recover. Nothing outside the cluster is touched.
 *
 * When a package brings these kinds, such as the real provider-nop, they are left to its program. */
#pragma once

#include "manager.h"

struct nop;

/* Installs the two CRDs, or brings them up to date, and waits until they are served. */
int nop_install(struct cluster *cluster, struct run *run, struct err *err);

/* Starts the controllers. The manager must outlive them. */
int nop_new(struct manager *manager, struct nop **ret, struct err *err);
void nop_free(struct nop *n); /* NULL is fine */
