/* Runs one step of a pipeline as Crossplane v2.2 did. Private to render-compat. */
#pragma once

#include "render-compat.h"

/* Calls the step's function until its requirements are stable and returns its last response. Error messages are complete. */
int compat_step_run(struct run *run, const struct compat_input *in, const struct value *step,
                    const struct fn_state *observed, const struct fn_state *desired, const struct fn_struct *context,
                    struct fn_response *ret, struct err *err);
