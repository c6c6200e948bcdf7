/* Kinds that controllers bring along. */
#pragma once

#include "cluster.h"

/* Installs the CustomResourceDefinition, or brings it up to date, and waits until it is served. */
int install_crd(struct cluster *cluster, struct run *run, const struct value *crd, struct err *err);
