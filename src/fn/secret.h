/* What is in a Secret. */
#pragma once

#include "cluster.h"
#include "message.h"

/* Its data, decoded, by key. */
int secret_data(struct arena *a, const struct value *secret, struct fn_bytes_map *ret, struct err *err);

/* The same of one in the cluster; in the run's arena. */
int secret_fetch(struct cluster *c, struct run *run, struct str namespace, struct str name, struct fn_bytes_map *ret,
                 struct err *err);
