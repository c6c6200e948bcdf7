/* Maintains CompositionRevisions on a cluster (docs/spec/engine 7): one for each state of a Composition, with conditions that say
 * whether its pipeline can run. A control plane calls revisions_reconcile for every Composition that changes, and revision_validate
 * for every revision and for the revisions whose functions change. */
#pragma once

#include "reconcile.h"

struct revisions_result {
        bool requeues; /* a write had a conflict: run again */
        const struct reconcile_event *events;
        size_t n_events;
};

/* Makes the newest revision match the Composition. The events belong to the Composition. Does nothing when the Composition does not
 * exist or is being deleted. */
int revisions_reconcile(struct run *run, struct cluster *c, struct str composition, struct revisions_result *ret,
                        struct err *err);

/* Sets the revision's conditions: whether all of its installed functions can compose. The events belong to the revision. */
int revision_validate(struct run *run, struct cluster *c, struct str revision, struct revisions_result *ret,
                      struct err *err);
