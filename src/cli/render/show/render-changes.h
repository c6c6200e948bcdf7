/* The changes that a step made to the desired state, from its record. */
#pragma once

#include "step.h"

enum change_op {
        CHANGE_ADD,
        CHANGE_REMOVE,
        CHANGE_REPLACE,
};

struct render_change {
        enum change_op op;
        bool is_composite;
        struct str resource; /* its name in the desired state; empty for the composite */
        bool is_readiness;   /* the change is about its readiness, not about the object */
        struct str pointer;  /* below the resource; empty: the whole resource */
        const struct value *value;
        const struct value *old;
        const struct value *operation; /* as in the record */
};

/* Sorted by resource, the composite first; the changes of one resource keep the order of the record. In the arena. */
size_t render_changes(struct arena *a, const struct step_record *record, const struct render_change **ret);
