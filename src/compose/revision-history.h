/* Collects CompositionRevisions: `spec.revisionHistoryLimit` of a Composition says how many old revisions are kept that no composite
 * resource and no claim uses. Without it, or with 0, all are kept. The newest revision and those in use are always kept, whether
 * composite resources follow revisions or chose one. A claim that is not bound yet uses the revision that it chose. */
#pragma once

#include "revisions.h"

/* Deletes what is too much. all reads without being followed: it lists all composites of the type and their claims. tracked reads are followed: for each
 * revision that would be collected if it were not in use, one composite or claim that uses it, so that its change runs this again. Does nothing
 * when the Composition does not exist or is being deleted, or the kind of its composites is not served. */
int revision_history_collect(struct run *run, struct cluster *all, struct cluster *tracked, struct str composition,
                             struct revisions_result *ret, struct err *err);
