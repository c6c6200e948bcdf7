/* Owner references: the owners of an object, and typed references in general. */
#pragma once

#include "meta.h"

struct owner_reference {
        struct str api_version;
        struct str kind;
        struct str name;
        struct str uid;
        bool is_controller;
        bool blocks_owner_deletion;
};

/* The object's references in order; their strings are borrowed. */
size_t owner_references(struct arena *a, const struct value *object, const struct owner_reference **ret);

/* The reference with controller: true. Returns false if there is none. */
bool owner_controller(const struct value *object, struct owner_reference *ret);

/* A reference to the object, which must have a name and a uid. */
struct owner_reference owner_reference_to(struct arena *a, const struct value *owner, bool is_controller,
                                          bool blocks_owner_deletion);

/* Adds the reference, or replaces the one with the same uid in place. A second controller is refused: ERR_CONFLICT, in the words of
 * crossplane-runtime (docs/spec/engine 2). */
int owner_with_reference(struct arena *a, const struct value *object, const struct owner_reference *reference,
                         const struct value **ret, struct err *err);
const struct value *owner_without_reference(struct arena *a, const struct value *object, struct str uid);

/* The reference as a value. Members that are false are left out, like Kubernetes' nil pointers with omitempty. */
struct value owner_reference_value(struct arena *a, const struct owner_reference *reference);
