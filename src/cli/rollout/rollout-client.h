/* `weft rollout` as a client of a running `weft up`: it changes spec.rollout of a Function and looks at what becomes of it. The control
 * plane decides: it chooses revisions, judges and stops (docs/spec/seeds 3.1). */
#pragma once

#include "api-client.h"

struct rollout_options {
        struct str function;
        struct str to;        /* the new package; "": the one that is being rolled out */
        const int64_t *steps; /* shares in percent, ascending */
        size_t n_steps;
        const struct value *limits; /* fields of spec.rollout that the user gave */
        int64_t timeout_ns;
        bool is_dry_run;
        bool gives_credentials;
};

/* A Function and its rollout as they were read once; in the arena of the reader. */
struct rollout_look {
        const struct value *function;
        const struct value *rollout; /* spec.rollout; NULL: there is none */
        const struct value *status;  /* status.rollout, if it is about the Function as it is now; else NULL */
        const struct value *live;    /* counts and composites, if they are about the Function as it is now; else NULL */
        struct str phase;            /* of the status; "" */
        int64_t percent;             /* of the spec */
};

int rollout_look(struct api_client *api, struct arena *a, struct str function, struct rollout_look *ret,
                 struct err *err);

/* --- Changes --- */

/* Begins the rollout, or goes on with one of the same package, at this share. A rollout of the same package that was rolled back begins
 * again. */
int rollout_begin(struct api_client *api, const struct rollout_options *o, int64_t percent, struct err *err);

int rollout_move(struct api_client *api, struct str function, int64_t percent, struct err *err);

/* Removes spec.rollout, and gives the Function the limits of revisions that it had before. */
int rollout_finish(struct api_client *api, struct str function, struct err *err);

/* Sets the package of the old revision, waits until that revision is the current one, and finishes. */
int rollout_go_back(struct api_client *api, struct str function, int64_t timeout_ns, struct err *err);

/* --- Running --- */

/* Both return the exit status. */
int rollout_run(struct api_client *api, const struct rollout_options *o, struct err *err);
int rollout_dry_run(struct api_client *api, const struct rollout_options *o, struct err *err);

/* --- Texts --- */

/* `1 of 3 composites ran on the new revision`, `new: 2 runs, 0 failed, 0 deletions` and the same for the old one. */
struct str_list;
void rollout_summarize(struct str_list *lines, struct arena *a, const struct rollout_look *look);

/* `Site/shop in default`. */
struct str rollout_composite_name(struct arena *a, const struct value *composite);

/* The whole state, for `weft rollout FUNCTION`. */
void rollout_print(const struct rollout_look *look);

/* Prints the differences that the dry run found; returns the number of composites that would change. */
size_t rollout_print_differences(const struct rollout_look *look);
