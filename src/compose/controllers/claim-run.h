/* One reconcile of one claim, and what its parts share. */
#pragma once

#include "claim.h"
#include "places.h"
#include "started.h"

struct claim_run {
        struct kind_run *r;
        struct started *s;
        struct arena *arena;
        const struct value *claim;     /* as the API has it */
        const struct value *composite; /* NULL: there is none yet */
};

/* "claim" or "requirement": the word that its author knows. */
const char *claim_run_design(const struct claim_run *c);

/* A field of the engine in the claim, and in its composite; NULL without. */
const struct value *claim_run_field(const struct claim_run *c, struct str field);
const struct value *claim_run_composite_field(const struct claim_run *c, struct str field);

/* Copies the composite's connection secret into the claim's namespace (docs/spec/engine 6.3). */
int claim_run_propagate(struct claim_run *c, bool *ret_is_changed, struct err *err);
