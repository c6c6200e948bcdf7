/* Shared by the handlers of discovery and of OpenAPI documents. */
#pragma once

#include "discovery.h"
#include "document-cache.h"

struct discovery {
        struct cluster *cluster;
        struct document_cache documents; /* of discovery; by path, form and notation */
        struct document_cache openapi;   /* by the hash of what they are made of */
        struct document_cache digests;   /* of CRDs, by name and version */
};

/* The context of a read as the server itself, for the caller's run. */
struct run discovery_run(const struct api_call *call);

/* The error for a path that is not there. */
int discovery_no_such_path(struct err *err);
