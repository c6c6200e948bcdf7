/* One step of a pipeline as v2.2 ran it. Private to render-compat. */
#pragma once

#include "render-compat.h"

/* Calls the step's function until its requirements are stable and gives its last response. Errors are whole. */
int compat_step_run(struct run *run, const struct compat_input *in, const struct value *step,
                    const struct fn_state *observed, const struct fn_state *desired, const struct fn_struct *context,
                    struct fn_response *ret, struct err *err);
