/* What the steps of a render did, for people who ask why it came out as it did. */
#pragma once

#include "manifest.h"
#include "render.h"

struct buf;

/* Appends each step with what it changed, as text or as one line of JSON. failed: the last record is of a step that failed without an
 * answer. */
int render_print_steps(struct arena *a, struct buf *b, const struct value *composite, const struct render_output *out,
                       bool failed, bool as_json, struct err *err);

/* Appends who set what of a resource or of one of its fields, `RESOURCE` or `RESOURCE.FIELD`; `composite` is the composite itself, unless a
 * resource has that name. */
int render_explain(struct arena *a, struct buf *b, const struct manifest *composite, const struct render_output *out,
                   struct str what, struct err *err);
