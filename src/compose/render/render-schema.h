/* Finds the schema of a kind in OpenAPI v3 documents, in the form that functions receive (docs/spec/engine 2.5). */
#pragma once

#include "err.h"
#include "meta.h"

/* *ret is the component for exactly this kind, with the references in properties, items and additionalProperties replaced by the
 * schemas they refer to. A reference that leads back to itself becomes {type: object}. Other references stay, as with upstream.
 * *ret is NULL when no document has the kind. */
int render_find_schema(struct arena *a, const struct value *documents, struct gvk gvk, const struct value **ret,
                       struct err *err);
