/* What the files of the dummy function share. */
#pragma once

#include "err.h"
#include "value.h"

/* Whether the value is a RunFunctionResponse as protobuf's JSON has it. The error is protojson's: `(line 1:2): unknown field "foo"`, with
 * positions in the compact text of the value. */
int dummy_check(struct arena *a, const struct value *response, struct err *err);
