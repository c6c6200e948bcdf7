/* What a step changed of the desired state, taken from its record. */
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
        bool is_readiness;   /* what the step says of it, not it itself */
        struct str pointer;  /* below the resource; empty: it as a whole */
        const struct value *value;
        const struct value *old;
        const struct value *operation; /* as it is in the record */
};

/* Ordered by resource, the composite first, and otherwise as they are in the record. In the arena. */
size_t render_changes(struct arena *a, const struct step_record *record, const struct render_change **ret);
