/* Splits a State message into its encoded resources. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;

/* Field numbers of State. */
enum fn_state_field {
        FN_STATE_COMPOSITE = 1,
        FN_STATE_RESOURCES = 2,
};

struct fn_state_entry {
        struct str name;
        struct str bytes; /* the encoded Resource message */
};

struct fn_state_parts {
        struct str composite; /* the encoded Resource message; p NULL: there is none */
        const struct fn_state_entry *entries;
        size_t n;           /* sorted by name, names are unique */
        struct str unknown; /* fields that this version does not know */
};

/* If several entries have the same name, the last one counts. A Resource in several pieces counts as their concatenation, if each
 * piece is well formed. The parts point into bytes if possible, otherwise into the arena. */
int fn_state_split(struct arena *a, struct str bytes, struct fn_state_parts *ret, struct err *err);
