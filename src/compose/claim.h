/* Claims (docs/spec/engine 6): makes the composite of a claim, and reports the composite's state in the claim. Functions over
 * values; the caller handles pause and deletion, and does all writes.
 *
 * One pass of Crossplane's claim controller is: call claim_bind with the current composite, write bound.claim, apply
 * bound.composite, call claim_report with the composite that the API returned. The next pass may still change something, because it
 * uses the update policy that the composite has by then. */
#pragma once

#include "err.h"
#include "meta.h"

#define CLAIM_MANAGER   STR("apiextensions.crossplane.io/claim") /* field manager for the apply of a composite */
#define CLAIM_FINALIZER STR("finalizer.apiextensions.crossplane.io")

/* Whether the object is a claim of the kind that the definition offers, in any version. */
bool claim_is_offered(const struct value *xrd, const struct value *object);

struct claim_request {
        const struct value *xrd; /* the definition that offers the claim */
        const struct value *claim;
        const struct value *composite; /* its current state; NULL: it does not exist yet */
        struct str name; /* if the claim has no reference yet; "": the claim's name and five random characters */
};

struct claim_bound {
        const struct value *composite; /* the body to apply: all fields that the claim sets, and no others */
        const struct value *claim;     /* with the reference to the composite and fields copied from in.composite */
};

/* The composite is in the referenceable version of the definition. Error messages are complete. Crossplane's errors: the composite
 * belongs to another claim, the claim has no spec. Our own: the definition does not offer such claims. */
int claim_bind(struct arena *a, const struct claim_request *in, struct claim_bound *ret, struct err *err);

/* The name in the claim's reference to its composite; "" without. */
struct str claim_composite_name(const struct value *xrd, const struct value *claim);

/* The composite without its claim: nothing in it refers to one any more, and another claim may bind to it. */
const struct value *claim_release(struct arena *a, const struct value *xrd, const struct value *composite);

/* A name for the composite that is always the same for the same claim, for callers that must not use a random name. */
struct str claim_stable_name(struct arena *a, const struct value *claim);

/* *ret is the claim with the composite's status, and with the conditions that the claim controller sets. Does not propagate
 * connection details. */
int claim_report(struct arena *a, const struct value *xrd, const struct value *claim, const struct value *composite,
                 const struct value **ret, struct err *err);
