/* Predicts the effect of a write without asking the API: runs the preparation of writes on the last known state of the object.
 *
 * So a controller need not send writes that change nothing. The known state may be stale because another writer has changed the
 * object; then the object's controller is notified of that change and reconciles again. */
#pragma once

#include "prepare.h"

/* live is the object as the API returned it, in the version of the request. Admission hooks run only in the API and take no part.
 * The outcome lives in the scratch arena. An error is a guess at the API's answer: send the write and let the API decide. */
int predict_write(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err);

/* True when an apply or update replaces a value of live by another one for certain. This check is fast; false may also mean that
 * only a prediction can tell. */
bool predict_is_change(const struct write_request *req, const struct value *live);

/* True when an apply repeats what its manager has applied. This check is fast; false may also mean that only a prediction can tell. */
bool predict_is_applied(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                        const struct value *live);

/* True when the write would change nothing: neither a value nor a manager. False when it would change something, when it would
 * fail, and when the result is unknown. */
bool predict_is_noop(struct cluster *c, struct run *run, const struct write_request *req, const struct value *live);
