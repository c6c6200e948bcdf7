/* Conversion of values between the versions of a kind, described by a table. Without a table only apiVersion changes. */
#pragma once

#include "err.h"
#include "value.h"

/* One step of a conversion. Paths are dotted member names; `[]` after a name means each item of the list. Both paths of a step go
 * through the same lists: a value stays in its list item. */
enum convert_operation {
        CONVERT_MOVE, /* from -> to, if from exists; missing parents are made, parents that become empty are removed */
        CONVERT_COPY, /* the same, but from stays */
        CONVERT_DROP, /* removes from */
        CONVERT_SET,  /* to = literal (JSON text), if to does not exist */
        CONVERT_CALL, /* calls fn, for conversions that a table cannot express */
};

struct convert_step {
        enum convert_operation operation;
        const char *from;
        const char *to;
        const char *literal;
        int (*fn)(struct arena *a, const struct value *object, const struct value **ret, struct err *err);
};

/* A version is `v1`; `GROUP/v1` where the versions of a kind are in several groups. */
struct conversion {
        const char *from_version;
        const char *to_version;
        const struct convert_step *steps;
        size_t n_steps;
};

/* The object in another version, `GROUP/VERSION`. Conversions that are not in the table only change apiVersion. The result borrows
 * to_api_version. */
int convert_object(struct arena *a, const struct conversion *table, size_t n, const struct value *object,
                   struct str to_api_version, const struct value **ret, struct err *err);
