/* What is in a Secret. */
#pragma once

#include "cluster.h"
#include "message.h"

/* The data of a Secret, decoded, by key; in the run's arena. */
int secret_fetch(struct cluster *c, struct run *run, struct str namespace, struct str name, struct fn_bytes_map *ret,
                 struct err *err);
