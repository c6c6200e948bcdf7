/* Members of spec that only few objects have: mode Resources and the first design use them. Their schemas take most of the time to read
 * and compile, so an object without them is checked with a schema without them. Shared with tools/kindgen.c. */
#pragma once

#include "str.h"

static const struct str rare_fields[] = {
        STR_INIT("resources"), STR_INIT("to"), STR_INIT("patchSets"), STR_INIT("environment"), STR_INIT("functions"),
};
