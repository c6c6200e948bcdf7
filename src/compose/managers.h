/* Managers of fields (docs/spec/engine 2.12). */
#pragma once

#include "meta.h"

/* Resets the managers of an object that was written before server-side apply was used, so that old managers do not keep fields that are not
 * applied any more. `applier` is the manager that applies, or with is_prefix the beginning of its name. Returns a JSON patch; NULL: nothing
 * is to be reset. */
const struct value *managers_upgrade(struct arena *a, const struct value *object, struct str applier, bool is_prefix);
