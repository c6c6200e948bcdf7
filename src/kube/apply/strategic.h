/* Strategic merge patch (docs/spec/apiserver 4.2): a merge patch that knows from the schema how lists are merged.
 *
 * Maps merge member by member, and null deletes a member. A list is replaced unless its schema says `merge`: then scalars are added
 * to it, and objects are merged with the item that has the same merge key. Directives in the patch:
 *
 *     $patch: replace | delete            in a map: replaces it by the rest of the patch, or deletes its content; in an item of a
 *                                         merged list: replaces the list by the other items, or deletes the item with that key
 *     $deleteFromPrimitiveList/FIELD      items to remove from a merged list of scalars
 *     $setElementOrder/FIELD              the order of the items of a merged list
 *     $retainKeys                         the members of the map to keep: all others are removed
 *
 * Metadata has its own keys: ownerReferences merge by uid, finalizers as scalars. */
#pragma once

#include "err.h"
#include "schema.h"

/* live and patch are objects. The result shares unchanged parts and lives in the arena. Errors have the reasons and texts of the
 * API: 400 for malformed directives, 422 for lists of lists, 500 for items without their merge key. */
int strategic_merge(struct arena *a, const struct schema *schema, const struct value *live, const struct value *patch,
                    const struct value **ret, struct err *err);
