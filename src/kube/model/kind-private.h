/* Making kinds. Private to kind*.c and openapi*.c. */
#pragma once

#include "kind.h"

/* A kind with an empty arena and one reference. */
struct kind *kind_new(void);

/* Fills in the discovery data of a version whose subresources the preparation of writes serves: all verbs, and status and scale if it has
 * them. The kind must have its group and kind, and the version its name. has_finalize is for Namespaces: an update of `finalize`
 * releases them. */
void kind_fill_subresources(struct kind *k, struct kind_version *version, bool has_finalize);
