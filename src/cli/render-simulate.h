/* What a cluster would make of a composed resource, as far as it is foreseeable: that it comes to be, and that all is well with it. */
#pragma once

#include "meta.h"

/* The resource as it would be observed. before is what was observed of it, or NULL: what it has besides stays. It gets a uid and, by its
 * kind, the status that says that it is ready (see the table); every other kind the conditions Ready and Synced, both True. */
const struct value *render_simulate(struct arena *a, const struct value *applied, const struct value *before);
