/* The schema of a kind from OpenAPI v3 documents, as functions get it (spec/engine 2.5). */
#pragma once

#include "err.h"
#include "meta.h"

/* The component that is for exactly this kind, with references of members, items and further members replaced by what they refer to;
 * one that leads back to where it stands becomes {type: object}. Others stay, as with upstream. *ret is NULL when no document has the kind. */
int render_find_schema(struct arena *a, const struct value *documents, struct gvk gvk, const struct value **ret,
                       struct err *err);
