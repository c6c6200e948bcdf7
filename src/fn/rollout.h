/* The rollout of a function's new revision (docs/spec/seeds 3.1): which composites run on it already, and what came of their runs.
 *
 * The plan comes from the Function, the outcomes from runs of composites. All of it is in memory: after a start the plan is set again
 * and the counts begin at zero. A struct rollout has no lock of its own; the registry (registry.h) guards those that it has. */
#pragma once

#include "arena.h"
#include "map.h"
#include "value.h"

#define ROLLOUT_SHARES \
        100 /* a composite has one of so many places, and runs on the new revision if percent is above it */

enum rollout_side {
        ROLLOUT_FROM, /* the revision that has served so far */
        ROLLOUT_TO,   /* the new one */
        _ROLLOUT_SIDES,
};

/* The plan of a rollout, from the Function. Names are borrowed. */
struct rollout_plan {
        struct str uid;         /* of the Function; a Function of another uid begins anew */
        int64_t generation;     /* of the Function: an older one is not taken after a newer one */
        bool is_first_look;     /* not taken after a plan of the same generation, because its status may be older */
        bool is_on;             /* false: there is no rollout */
        bool is_stopped;        /* it was rolled back: all composites run on `from`, until another rollout begins */
        bool is_dry_run;        /* all composites run on `from`, and their requests are sent to `to` as well */
        bool gives_credentials; /* also the credentials, in a dry run */
        struct str from, to;    /* names of revisions; to "": it does not exist yet */
        int64_t percent;        /* of composites that run on `to` */
        int64_t attempt;        /* another number begins the rollout again */
};

struct rollout_counts {
        uint64_t runs;
        uint64_t failed;     /* runs that ended with a fatal result or an error */
        uint64_t deletions;  /* composed resources that the runs deleted */
        int64_t duration_ns; /* of the function's steps, in sum */
};

/* The outcome of one step of one run of a composite. */
struct rollout_run {
        struct str function, revision;
        struct str uid, api_version, kind, ns, name; /* of the composite */
        bool is_no_evidence; /* the step names its revision, or the response cache answered: it only shows that the composite has run */
        bool has_failed;
        uint64_t deletions;
        int64_t duration_ns;
};

/* The known state of one composite. */
struct rollout_composite {
        struct str uid, api_version, kind, ns, name;
        enum rollout_side side;         /* of its last run */
        bool is_no_evidence;            /* its last run */
        bool is_current;                /* it has run since the share moved */
        bool has_failed;                /* its last run */
        const struct value *difference; /* that the dry run found; NULL: it has not been compared */
};

/* A copy of the state, in an arena. */
struct rollout_state {
        struct rollout_plan plan;
        struct rollout_counts counts[_ROLLOUT_SIDES]; /* FROM: since the rollout began; TO: since the share moved */
        const struct rollout_composite *composites;   /* by kind, namespace and name */
        size_t n_composites;
        size_t n_current;
        int64_t since_ns; /* when the rollout was first known to this process, on the monotonic clock */
};

struct rollout;

/* The place of a composite, below ROLLOUT_SHARES: a hash of its uid that is the same in all versions of the program. */
unsigned rollout_place(struct str uid);

/* The side on which a composite runs: ROLLOUT_TO if its place is in the share. */
enum rollout_side rollout_side_of(const struct rollout_plan *plan, struct str uid);

struct rollout *rollout_new(void);
void rollout_free(struct rollout *r); /* NULL is fine */

/* True if the plan changes on which revision a composite may run, or what is compared; the composites should run again then. */
bool rollout_set(struct rollout *r, const struct rollout_plan *plan);

const struct rollout_plan *rollout_plan(const struct rollout *r);

/* False if there is no rollout, or the run was on neither of its revisions, or is no evidence. */
bool rollout_count(struct rollout *r, const struct rollout_run *run);

/* Keeps what the dry run found for a composite. It has no secrets. */
void rollout_compare(struct rollout *r, const struct rollout_run *of, const struct value *difference);

/* The composite is gone; its function, revision and uid need not be given. */
void rollout_forget(struct rollout *r, const struct rollout_run *of);

void rollout_read(const struct rollout *r, struct arena *a, struct rollout_state *ret);
