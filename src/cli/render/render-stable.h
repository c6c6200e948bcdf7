/* Renders until nothing changes any more. */
#pragma once

#include "render.h"

/* Calls render_composite, and then again with the composed resources as observed and ready (render-simulate.h) and with the
 * resulting status of the composite, until the output stays the same. in keeps the input of the last render. If the output does not
 * become stable, the error names the fields that still change. */
int render_until_stable(struct run *run, struct render_input *in, struct render_output *ret, struct err *err);
