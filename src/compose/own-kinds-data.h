/* Private to own-kinds*.c: the kinds, which the build generates from kinds/. */
#pragma once

#include "schema-rules.h"

struct own_kind_data {
        struct str crd; /* name of the CRD; p is NULL after the last kind */
        struct str group;
        struct str kind;
        struct str versions; /* `v1 v2alpha1`; the first is the stored one */
        struct str spec;     /* JSON: the spec of the CRD; a version without a schema uses the schema of the first */
        struct str common;   /* the same without rare-fields.h; "": it has none of them */
};

extern const struct own_kind_data own_kinds_data[];

/* The CEL rules in kinds/, written in C. */
extern const struct schema_rule own_kind_rules[];
extern const size_t n_own_kind_rules;
