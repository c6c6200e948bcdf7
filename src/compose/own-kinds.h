/* Crossplane's own kinds: Composition, CompositionRevision, CompositeResourceDefinition, EnvironmentConfig, Function,
 * FunctionRevision, the usages, and those of the first design. Their schemas are in kinds/, as CRDs; the CEL rules of these CRDs are enforced here in C.
 *
 * The schemas accept every field that Crossplane accepts, and our own additional fields. A schema is compiled at its first use and
 * kept for the life of the process. Everything here is thread-safe. */
#pragma once

#include "field-error.h"
#include "meta.h"

struct kind_strategy;

/* Whether the kind is one of Crossplane's own, in a version that it has. */
bool own_kind_known(struct gvk gvk);

/* Checks an object as the API would: unknown fields, types, enumerations, required fields, keys of lists, rules. old is the object
 * before an update, in the same version, or NULL. Problems are added to `errors`, with paths like `spec.pipeline[0].functionRef`.
 * Returns 0 without problems, otherwise ERR_INVALID. Metadata is checked only for unknown fields and types. An object of any other
 * kind is not checked: returns 0. */
int own_kind_check(struct arena *a, const struct value *object, const struct value *old, struct field_errors *errors);

/* The message of the error for a field that the schema does not have. */
#define OWN_KIND_UNKNOWN_FIELD STR("unknown field")

/* The fields that the kind has at a path (`spec.pipeline[0]`; empty for the object itself), for suggestions: sorted, in the arena
 * or longer-lived. None where the path does not exist or any field is allowed. */
size_t own_kind_fields(struct arena *a, struct gvk gvk, struct str path, const struct str **ret);

/* The object as it is stored: with defaults, with `step` where a step of a pipeline has only `name`, and with the mode that its
 * fields imply when mode is absent. Returns the object itself when nothing changes or when it is of another kind. */
const struct value *own_kind_default(struct arena *a, const struct value *object);

/* The CustomResourceDefinitions to install, by number; NULL after the last. */
const struct value *own_kind_crd(struct arena *a, size_t i);

/* For store_options.strategy_of: the behaviour of the CRD's kind that its schema does not express, if it is one of these kinds or is
 * defined by one of the first design. NULL for other kinds. */
const struct kind_strategy *own_kind_strategy(const struct value *crd);
