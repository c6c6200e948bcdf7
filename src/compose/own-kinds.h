/* Crossplane's own kinds: Composition, CompositionRevision, CompositeResourceDefinition, EnvironmentConfig, Function,
 * FunctionRevision and the usages. Their schemas are in kinds/, as CRDs; the rules that CRDs say in CEL are enforced here in C.
 *
 * The schemas accept what Crossplane accepts and the fields that only we know. A schema is compiled when it is first asked for and
 * kept for the life of the process. Everything here is thread-safe. */
#pragma once

#include "field-error.h"
#include "meta.h"

struct kind_strategy;

/* Whether the kind is one of them, in a version that it has. */
bool own_kind_known(struct gvk gvk);

/* Judges an object as the API would: unknown fields, types, enumerations, what is required, keys of lists, rules. old is the
 * object before an update, in the same version, or NULL. What is wrong is added to `errors`, with paths like
 * `spec.pipeline[0].functionRef`: 0 when nothing is, otherwise ERR_INVALID. Metadata is judged only for unknown fields and types. An
 * object of another kind is none of our business: 0. */
int own_kind_check(struct arena *a, const struct value *object, const struct value *old, struct field_errors *errors);

/* The text of the error about a field that the schema does not have. */
#define OWN_KIND_UNKNOWN_FIELD STR("unknown field")

/* The fields that the kind has at a path (`spec.pipeline[0]`; empty for the object itself), for suggestions: sorted, in the arena
 * or longer. None where the path leads nowhere or anything goes. */
size_t own_kind_fields(struct arena *a, struct gvk gvk, struct str path, const struct str **ret);

/* The object as it is stored: with defaults, with `step` where a step of a pipeline has only `name`, and with the mode that an
 * absent one means. The object itself when nothing changes or it is of another kind. */
const struct value *own_kind_default(struct arena *a, const struct value *object);

/* The CustomResourceDefinitions to install, by number; NULL behind the last. */
const struct value *own_kind_crd(struct arena *a, size_t i);

/* For store_options.strategy_of: what the kinds do beyond their schemas. NULL for other kinds. */
const struct kind_strategy *own_kind_strategy(struct str group, struct str kind);
