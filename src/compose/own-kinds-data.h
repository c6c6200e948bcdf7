/* Private to own-kinds*.c: the kinds as the build made them of kinds/. */
#pragma once

#include "schema-rules.h"

struct own_kind_data {
        struct str crd; /* name of the CRD; p is NULL behind the last kind */
        struct str group;
        struct str kind;
        struct str versions; /* `v1 v2alpha1`, the first being the stored one */
        struct str spec;     /* JSON: the spec of the CRD; a version without a schema has that of the first */
};

extern const struct own_kind_data own_kinds_data[];

/* The rules that stand in kinds/, in C. */
extern const struct schema_rule own_kind_rules[];
extern const size_t n_own_kind_rules;
