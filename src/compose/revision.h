/* CompositionRevisions (docs/spec/engine 7): snapshots of a Composition. Functions over values; the caller reads and writes the
 * cluster. */
#pragma once

#include "meta.h"

#define REVISION_HISTORY_LIMIT "revisionHistoryLimit" /* a field of Compositions that their revisions do not have */

/* Hex SHA-256 over the YAML of labels, annotations and spec. */
int revision_hash(struct arena *a, const struct value *composition, struct str *ret, struct err *err);

/* The actions that make the newest revision match the Composition. */
enum revision_action {
        REVISION_KEEP,   /* object is the current revision, unchanged */
        REVISION_UPDATE, /* object is an existing revision, with another number or a new controller */
        REVISION_CREATE,
};

struct revision_step {
        enum revision_action action;
        const struct value *object;
};

/* One step for each revision that must change, and for a current revision that stays; a new revision comes last. `revisions` are
 * those that have the Composition's name as a label. Adopting a revision that has another controller is ERR_CONFLICT. */
int revision_plan(struct arena *a, const struct value *composition, const struct value *const *revisions, size_t n,
                  struct revision_step **ret, size_t *ret_n, struct err *err);

/* *ret is a revision of the Composition with this number, ready to create. */
int revision_make(struct arena *a, const struct value *composition, int64_t number, const struct value **ret,
                  struct err *err);
