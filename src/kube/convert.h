/* Conversion between the versions of a kind, by table over values. Without a table only apiVersion changes. */
#pragma once

#include "err.h"
#include "value.h"

/* One step of a conversion. Paths are dotted member names; `[]` behind one means each item of the list. The two paths of a
 * step go through the same lists: what is in an item stays in it. */
enum convert_operation {
        CONVERT_MOVE, /* from -> to, when from is there; parents are made, emptied ones removed */
        CONVERT_COPY, /* the same, and from stays */
        CONVERT_DROP, /* from */
        CONVERT_SET,  /* to = literal (JSON text), when it is not there */
        CONVERT_CALL, /* fn, for what no table can say */
};

struct convert_step {
        enum convert_operation operation;
        const char *from;
        const char *to;
        const char *literal;
        int (*fn)(struct arena *a, const struct value *object, const struct value **ret, struct err *err);
};

struct conversion {
        const char *from_version;
        const char *to_version;
        const struct convert_step *steps;
        size_t n_steps;
};

/* The object as another version of its group. Conversions that are not in the table only change apiVersion. to_version is
 * borrowed by the result in the core group. */
int convert_object(struct arena *a, const struct conversion *table, size_t n, const struct value *object,
                   struct str to_version, const struct value **ret, struct err *err);
