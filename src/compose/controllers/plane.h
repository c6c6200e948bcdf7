/* The control plane: all controllers of compositions on one cluster, which may be the store or a remote API.
 *
 * Definitions (XRDs) become CRDs and start a controller for their composites and one for their claims; Compositions get revisions;
 * composites are composed (reconcile.h); claims are bound; usages mark what they protect (protection.h). What a run reads is followed (tracker.h), so that each change runs exactly
 * what depends on it, and nothing is polled. */
#pragma once

#include "manager.h"
#include "run-records.h"
#include "step.h"

struct inspector;
struct plane;
struct protection;

struct plane_options {
        struct manager *manager; /* outlives the plane */
        struct protection
                *protection; /* of the cluster, if it has the hook (protection.h); NULL: the plane has its own index */
        struct step_options steps;   /* registry, features, cache and memory outlive the plane */
        struct run_records *records; /* of the runs of composites; outlives the plane. NULL: nothing is recorded */
        struct meters
                *meters; /* counts calls of functions and controllers; outlives the plane. NULL: nothing is counted */
        struct inspector *inspector; /* is told requests and responses; outlives the plane. NULL: nobody is told */
};

/* Starts all controllers. Crossplane's own kinds must be served already, see plane_install. */
int plane_new(const struct plane_options *options, struct plane **ret, struct err *err);

/* Stops all controllers and waits for their runs. NULL is fine. */
void plane_free(struct plane *p);

/* Installs the CRDs of Crossplane's own kinds that the controllers need with these features, or brings them up to date, and waits
 * until they are served. */
int plane_install(struct cluster *cluster, struct run *run, struct features features, struct err *err);
