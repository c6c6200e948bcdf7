/* Looks into a control plane: what an object is made of, what its last runs did, why it is as it is. Everything is read as the run's
 * user, with the user's rights; what may be seen of a run is what may be read of its object. The answers are values, for JSON; the
 * functions at the end make text of them. */
#pragma once

#include "run-records.h"

/* Which object, as a user says it. */
struct inspect_target {
        struct str type; /* TYPE[.VERSION][.GROUP]: a kind, plural, singular or short name, in any case */
        struct str name;
        struct str ns; /* is ignored if the kind has none */
};

/* Finds the kind; *ret_gvk is in its preferred version unless the type names one. ERR_NOT_FOUND: `the server doesn't have a resource
 * type "x"`. */
int inspect_kind(struct cluster *c, struct run *run, struct str type, struct gvk *ret_gvk, const struct kind **ret,
                 struct err *err);

/* --- Trees (docs/spec/packages 6.4) --- */

enum inspect_revisions {
        INSPECT_REVISIONS_ACTIVE,
        INSPECT_REVISIONS_ALL,
        INSPECT_REVISIONS_NONE,
};

struct inspect_trace_options {
        bool shows_secrets;               /* connection secrets are children */
        enum inspect_revisions revisions; /* of packages */
        bool hides_dependencies;          /* of packages */
        bool repeats_dependencies;        /* shows each as often as it is needed */
};

/* {object, error?, message?, children?}; without a name {items}: all objects of the kind in the namespace. error is in the form of
 * Crossplane's CLI, message is its text. Values of Secrets are left out. */
int inspect_trace(struct cluster *c, struct run *run, const struct inspect_target *target,
                  const struct inspect_trace_options *options, const struct value **ret, struct err *err);

/* --- Runs --- */

/* {kind, namespace, name, runs: [record with its steps' changes]}, the newest first. The object may be a composite, or a claim: then
 * its composite is meant. */
int inspect_runs(struct cluster *c, struct run *run, struct run_records *records, const struct inspect_target *target,
                 size_t most, const struct value **ret, struct err *err);

/* --- Why --- */

/* {object, field?, lastWrite?, states, deletion?}; see inspect-why.c. field may be "". */
int inspect_why(struct cluster *c, struct run *run, struct run_records *records, const struct inspect_target *target,
                struct str field, const struct value **ret, struct err *err);

/* --- As text --- */

void inspect_print_table(struct buf *b, const struct value *trace, bool is_wide);
void inspect_print_dot(struct buf *b, const struct value *trace);
int inspect_print_json(struct buf *b, const struct value *trace, struct err *err);
int inspect_print_yaml(struct buf *b, const struct value *trace, struct err *err);
void inspect_print_runs(struct buf *b, const struct value *runs);
/* One run in full; number: from 1, the newest. */
int inspect_print_run(struct buf *b, const struct value *runs, size_t number, struct err *err);
void inspect_print_why(struct buf *b, const struct value *why);
