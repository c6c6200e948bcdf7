/* Shared by the files of the dummy function. */
#pragma once

#include "err.h"
#include "value.h"

/* Checks that the value is a RunFunctionResponse in protobuf's JSON form. Errors have protojson's texts, e.g. `(line 1:2): unknown
 * field "foo"`, with positions in the compact JSON text of the value. */
int dummy_check(struct arena *a, const struct value *response, struct err *err);
