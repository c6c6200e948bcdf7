/* Simulates a cluster for a composed resource, as far as possible: the resource exists and is ready. */
#pragma once

#include "meta.h"

/* The resource as it would be observed. before is the earlier observed state, or NULL; its other fields are kept. Adds a uid and
 * the status of a ready resource: for kinds in the table their own status, for every other kind the conditions Ready and Synced,
 * both True. */
const struct value *render_simulate(struct arena *a, const struct value *applied, const struct value *before);
