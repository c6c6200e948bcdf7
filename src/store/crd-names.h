/* The names of CRDs: which CRD has which names, and how that changes a CRD's status (docs/spec/apiserver 5.7). */
#pragma once

#include "clock.h"
#include "condition.h"
#include "map.h"

/* The accepted names of a CRD. */
struct crd_accepted {
        struct arena arena; /* owns the strings */
        struct str crd;
        struct str group;
        struct str plural, singular, kind, list_kind; /* "" when it has none */
        struct str *short_names;
        size_t n_short_names;
        bool is_complete; /* the CRD has all names that its spec asks for */
};

struct crd_accepted *accepted_of(const struct value *crd);
void accepted_free(struct crd_accepted *a); /* NULL is fine */

/* Returns the CRD with its status one step further, given the names of all CRDs (CRD -> struct accepted). Either the names are
 * accepted and Established is False, then Established is True; or a condition tells which name is in use. Returns the CRD itself
 * when there is nothing to do. */
const struct value *crd_with_names(struct arena *a, const struct value *crd, const struct map *all, struct instant now);
