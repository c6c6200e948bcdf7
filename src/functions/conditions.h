/* Conditions of resources as functions see them (docs/spec/functions 2.7). Unlike the engine's condition_get, the lookup reads the
 * whole status strictly: a status that does not fit the Go type of conditions has no conditions. */
#pragma once

#include "value.h"

/* The status of the first condition of the type: "True", "False" or any other text; "Unknown" when the object's status has no such
 * condition; "" when there is no status or it does not decode. Borrowed from the object. */
struct str conditions_status(const struct value *object, struct str type);

/* Whether conditions_status is "True". */
bool conditions_is_true(const struct value *object, struct str type);
