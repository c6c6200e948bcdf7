/* Conditions of resources as functions see them (spec/functions 2.7). Unlike condition_get of the engine the lookup reads the whole
 * status strictly: a status that the Go type of conditions cannot hold has none. */
#pragma once

#include "value.h"

/* The status of the first condition of the type: "True", "False", or whatever stands there; "Unknown" when the object's status has
 * no such condition; "" when there is no status or it does not decode. Borrowed from the object. */
struct str conditions_status(const struct value *object, struct str type);

/* Whether that is "True". */
bool conditions_is_true(const struct value *object, struct str type);
