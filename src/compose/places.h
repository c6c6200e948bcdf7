/* Where composites and claims keep the fields of the engine: one table for each design. Everything that reads or writes these fields
 * asks the table: the engine, claims, renders, the generated CRDs, and what people are shown. Callers use the names that legacy
 * composites have (`compositionRef`, `resourceRefs`, `claimRef`); the table translates them. */
#pragma once

#include "value.h"

/* One field: its general name, and its name in this design. */
struct place {
        struct str field;
        struct str at;
};

struct places {
        const char *design; /* for messages */
        struct str under;   /* the member of spec that holds the fields; "": they are in spec itself */
        struct place fields[12];
        bool has_connection;  /* connection details of a composite are written to a Secret */
        bool has_exact_keys;  /* that Secret has exactly the keys of the definition, or does not exist yet */
        bool is_strict_scope; /* all composed resources have the composite's scope and namespace */
};

extern const struct places places_modern;         /* spec.crossplane */
extern const struct places places_legacy;         /* spec */
extern const struct places places_application;    /* spec.application */
extern const struct places places_infrastructure; /* spec.infrastructure */
extern const struct places places_claim;          /* of a claim: spec */
extern const struct places places_requirement;    /* of a requirement: spec.infrastructure */

/* All tables of composites, and all of claims; each list ends with NULL. */
extern const struct places *const places_of_composites[];
extern const struct places *const places_of_claims[];

/* The name of the field in this design; "" if the design does not have it. */
struct str places_at(const struct places *p, struct str field);

/* The path of the field: `spec.crossplane.compositionRef`. */
struct str places_path(struct arena *a, const struct places *p, struct str field);

/* The object that holds the fields; NULL without. */
const struct value *places_machinery(const struct places *p, const struct value *object);

/* The field; NULL without. */
const struct value *places_get(const struct places *p, const struct value *object, struct str field);

/* The object with the field; v NULL removes it. Unchanged if the design does not have it. */
const struct value *places_with(struct arena *a, const struct places *p, const struct value *object, struct str field,
                                const struct value *v);

/* The first of these tables by which the object has the field; NULL if there is none. For objects whose definition is unknown. */
const struct places *places_find(const struct places *const *tables, const struct value *object, struct str field);

/* The field by that table; NULL without. */
const struct value *places_find_field(const struct places *const *tables, const struct value *object, struct str field);

/* The object with references that are lists of one written as that one. The first design's examples have such references. */
const struct value *places_with_single_refs(struct arena *a, const struct places *p, const struct value *object);
