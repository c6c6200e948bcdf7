/* Kinds from the OpenAPI v3 document of one group and version, as an API server publishes it under /openapi/v3. A client needs them
 * to predict writes to kinds that come with the API.
 *
 * Paths give plurals, scopes, verbs and subresources; the schemas of the components give types, list types, patch keys and
 * defaults. References are replaced by the schemas they refer to. Where a schema refers to itself, it is free-form. Rules that
 * OpenAPI cannot express, such as defaults that depend on other fields and most of validation, are unknown. Short names and
 * categories are not in the document. */
#pragma once

#include "kind.h"

struct openapi_kinds {
        struct kind **p; /* one reference each; by group and plural */
        size_t n;
};

/* Limits: LIMIT_OPENAPI_BYTES of text; LIMIT_OPENAPI_KIND_NODES and LIMIT_OPENAPI_NODES nodes of schemas, after references are
 * replaced. */
int openapi_parse(struct str text, struct openapi_kinds *ret, struct err *err);

/* The same from a parsed document. Nothing of it is kept. */
int openapi_read(const struct value *document, struct openapi_kinds *ret, struct err *err);

void openapi_kinds_done(struct openapi_kinds *kinds);
#define _cleanup_openapi_kinds_ _cleanup_(openapi_kinds_done)
