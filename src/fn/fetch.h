/* What steps ask the cluster for: required resources, schemas, credentials. Private to the steps. */
#pragma once

#include "step-state.h"

/* Fetches what the selector asks for. Nothing found is an answer with no items; an unknown kind is an error. */
int fetch_resources(struct step_state *s, const struct fn_selector *selector, struct fn_resources *ret,
                    struct err *err);
int fetch_schema(struct step_state *s, const struct fn_selector *selector, struct fn_schema *ret, struct err *err);
int fetch_credentials(struct step_state *s, struct fn_request *req, struct err *err);

/* What the step's inputRef names becomes *input; nothing is done without one. */
int fetch_input(struct step_state *s, struct fn_struct *input, struct err *err);

/* Whether the step may ask for it (spec/seeds 2): 0, or an error that names step, function and selector. */
int fetch_check(const struct step_context *c, const struct step *step, const struct fn_selector *selector,
                struct err *err);

/* A bootstrap requirement of the Composition, as a selector. */
struct fn_selector selector_of(struct arena *a, const struct value *requirement);
