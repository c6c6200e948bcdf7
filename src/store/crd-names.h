/* The names of CRDs: who has which, and what that does to a CRD's status (spec/apiserver 5.7). */
#pragma once

#include "clock.h"
#include "condition.h"
#include "map.h"

/* The names that a CRD has been given. */
struct accepted {
        struct arena arena; /* owns it */
        struct str crd;
        struct str group;
        struct str plural, singular, kind, list_kind; /* "" when it has none */
        struct str *short_names;
        size_t n_short_names;
        bool is_complete; /* all that it asks for */
};

struct accepted *accepted_of(const struct value *crd);
void accepted_free(struct accepted *a); /* NULL is fine */

/* The CRD with its status one step further, given the names of all (CRD -> struct accepted): names accepted and Established
 * False, then Established True; or which name is in use. The CRD itself when there is nothing to do. */
const struct value *crd_with_names(struct arena *a, const struct value *crd, const struct map *all, struct instant now);
