/* Which groups, versions and kinds there are (docs/spec/apiserver 1.1 to 1.3): /api, /apis and below, aggregated and legacy, and
 * the OpenAPI v3 documents (1.5). All documents are made when they are asked for and kept until cluster_kinds_version changes; what
 * is kept is bounded in bytes. Kinds are read as the server itself: discovery shows every user the same. */
#pragma once

#include "call.h"

struct discovery;

int discovery_new(struct cluster *cluster, struct discovery **ret, struct err *err);
void discovery_free(struct discovery *d); /* NULL is fine */

/* /api, /api/v1, /apis, /apis/GROUP, /apis/GROUP/VERSION. An unknown one is ERR_NOT_FOUND. */
api_handler discovery_handle;

/* /openapi/v3 and /openapi/v3/...; /openapi/v2 is ERR_NOT_FOUND. */
api_handler openapi_handle;
