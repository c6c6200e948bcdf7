/* CompositionRevisions (spec/engine 7): what a Composition was at a time. Functions over values; who calls them reads and writes the
 * cluster. */
#pragma once

#include "meta.h"

/* Hex SHA-256 over the YAML of labels, annotations and spec. */
int revision_hash(struct arena *a, const struct value *composition, struct str *ret, struct err *err);

/* What has to be done so that the newest revision is what the Composition is now. */
enum revision_action {
        REVISION_KEEP,   /* object is the current revision as it is */
        REVISION_UPDATE, /* object is a revision that there is, with another number or a new controller */
        REVISION_CREATE,
};

struct revision_step {
        enum revision_action action;
        const struct value *object;
};

/* One step for each revision that must change, the new one last. revisions are those with the Composition's name as label. Adopting
 * one that has another controller is ERR_CONFLICT. */
int revision_plan(struct arena *a, const struct value *composition, const struct value *const *revisions, size_t n,
                  struct revision_step **ret, size_t *ret_n, struct err *err);

/* The revision of a Composition with the number: object to create. */
int revision_make(struct arena *a, const struct value *composition, int64_t number, const struct value **ret,
                  struct err *err);
