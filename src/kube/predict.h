/* What a write would do, found out without asking the API: the write pipeline, run on what was last read of the object.
 *
 * So a controller need not send what changes nothing. What it predicts from may be stale; then somebody else has written, and whoever
 * controls the object hears of that and looks again. */
#pragma once

#include "pipeline.h"

/* live is the object as the API answered it, in the version of the request. Admission hooks are the API's and do not take part. The
 * outcome lives in the scratch arena. An error is what the API would most likely say: let it. */
int predict_write(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err);

/* True when the write would change nothing: neither a value nor who manages it. False when it would, when it would fail, and when
 * nobody knows. */
bool predict_is_noop(struct cluster *c, struct run *run, const struct write_request *req, const struct value *live);
