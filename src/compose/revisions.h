/* The life of CompositionRevisions on a cluster (spec/engine 7): one for each thing that a Composition has been, and whether its pipeline
 * can run. A control plane calls the first for every Composition that changes, the second for every revision and for the revisions
 * whose functions change. */
#pragma once

#include "reconcile.h"

struct revisions_result {
        bool requeues; /* somebody else wrote at the same time */
        const struct reconcile_event *events;
        size_t n_events;
};

/* Makes the newest revision of the Composition what the Composition is now. Its events are the Composition's. One that is gone, or
 * going, has nothing to do. */
int revisions_reconcile(struct run *run, struct cluster *c, struct str composition, struct revisions_result *ret,
                        struct err *err);

/* Says in the revision's conditions whether all of its functions that are installed can compose. Its events are the revision's. */
int revision_validate(struct run *run, struct cluster *c, struct str revision, struct revisions_result *ret,
                      struct err *err);
