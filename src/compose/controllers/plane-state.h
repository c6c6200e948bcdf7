/* State and functions that the controllers share. Private to this directory. */
#pragma once

#include "function-meters.h"
#include "map.h"
#include "plane.h"
#include "reconcile.h"
#include "usage.h"

#define CROSSPLANE_GROUP STR("apiextensions.crossplane.io")

struct plane {
        struct plane_options options;
        struct function_meters function_meters;
        struct meter *started_controllers, *stopped_controllers; /* may be NULL */
        struct kind_controller *definitions, *offers, *compositions, *revisions, *usages[_USAGE_COUNT];
        struct protection *protection, *own_protection; /* own: NULL if one was given */
        struct kind_controller *first_design[3];        /* NULL without the gate FirstDesignKinds */

        struct mutex mutex; /* guards the map */
        struct map started; /* controllers of composites and claims, by name: struct started */
};

/* The controllers; the context of these is the plane. */
kind_reconcile definition_reconcile, offer_reconcile, composition_reconcile, revision_reconcile, usage_reconcile;
kind_reconcile application_definition_reconcile, infrastructure_definition_reconcile, publication_reconcile;

/* Controllers of composites and claims are started and stopped by those of definitions. start_* does nothing when one of this name
 * runs with the same definition (uid and generation). */
int composite_controller_start(struct plane *p, const struct value *xrd, struct err *err);
int claim_controller_start(struct plane *p, const struct value *xrd, struct err *err);

/* `composite/NAME`, `claim/NAME`. */
void plane_stop_started(struct plane *p, struct str name);
bool plane_has_started(struct plane *p, struct str name); /* with any generation of the definition */
