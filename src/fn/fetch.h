/* Fetches the data that steps need from the cluster: required resources, schemas, credentials, input. Private to the steps. */
#pragma once

#include "step-state.h"

/* Fetch the resources or the schema of the selector. When nothing is found, the answer has no items; an unknown kind is an
 * error. */
int fetch_resources(struct step_state *s, const struct fn_selector *selector, struct fn_resources *ret,
                    struct err *err);
int fetch_schema(struct step_state *s, const struct fn_selector *selector, struct fn_schema *ret, struct err *err);
int fetch_credentials(struct step_state *s, struct fn_request *req, struct err *err);

/* Sets *input to the object that the step's inputRef names; does nothing without an inputRef. */
int fetch_input(struct step_state *s, struct fn_struct *input, struct err *err);

/* Checks whether the step may ask for the selector (docs/spec/seeds 2): 0, or an error that names step, function and selector. */
int fetch_check(const struct step_context *c, const struct step *step, const struct fn_selector *selector,
                struct err *err);

/* Converts a bootstrap requirement of the Composition to a selector. */
struct fn_selector fetch_selector_of(struct arena *a, const struct value *requirement);
