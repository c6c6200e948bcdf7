/* Explains the output of a render: prints the changes that each step made. */
#pragma once

#include "manifest.h"
#include "render.h"

struct buf;

/* Appends each step with its changes, as text or as one line of JSON. failed: the last record is of a step that failed without a
 * response. */
int render_print_steps(struct arena *a, struct buf *b, const struct value *composite, const struct render_output *out,
                       bool failed, bool as_json, struct err *err);

/* Appends which step set each field of `RESOURCE`, or the field `RESOURCE.FIELD`. `composite` means the composite itself, unless a
 * resource has that name. */
int render_explain(struct arena *a, struct buf *b, const struct manifest *composite, const struct render_output *out,
                   struct str what, struct err *err);
