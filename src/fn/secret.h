/* Reads the data of a Secret. */
#pragma once

#include "cluster.h"
#include "message.h"

/* The decoded data, sorted by key. */
int secret_data(struct arena *a, const struct value *secret, struct fn_bytes_map *ret, struct err *err);

/* As secret_data, for a Secret in the cluster; the data is in the run's arena. */
int secret_fetch(struct cluster *c, struct run *run, struct str ns, struct str name, struct fn_bytes_map *ret,
                 struct err *err);
