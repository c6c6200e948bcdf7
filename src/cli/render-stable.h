/* Renders until nothing changes any more. */
#pragma once

#include "render.h"

/* As render_composite, and then again with what was composed as observed and ready (render-simulate.h) and the status of the composite
 * as it came out, until a render makes the same of it. in is left as the last render had it. One that does not come to an end is an
 * error that says what kept changing. */
int render_until_stable(struct run *run, struct render_input *in, struct render_output *ret, struct err *err);
