/* The first design (docs/spec/seeds 5): ApplicationDefinition, InfrastructureDefinition and InfrastructurePublication as modern
 * definitions, and Compositions with `from` and `to` as modern ones. Functions over values. */
#pragma once

#include "field-error.h"
#include "kind.h"
#include "str-list.h"

struct write_request;

#define FIRST_DESIGN_LABEL STR("weft.dev/from") /* on modern objects: the kind that they are made from */
#define FIRST_DESIGN_CREATED_AS \
        STR("weft.dev/created-as") /* on Compositions: the version of their creation, if it is v1alpha1 */

/* A kind of definition. */
struct first_kind {
        struct str kind;
        struct str machinery; /* of the XRD */
        struct str scope;     /* of the XRD */
        struct str under;     /* the member of spec that holds the engine's fields */
        bool can_be_published;
};

/* NULL for all other kinds. */
const struct first_kind *first_design_kind(struct gvk gvk);
bool first_design_is_publication(struct gvk gvk);

/* The XRD that the definition stands for. With a publication it also offers requirements. `warnings` gets a line for each spelling
 * that is accepted but not right; it may be NULL. The XRD's owner is the definition if that has a uid. */
int first_design_xrd(struct arena *a, const struct value *definition, const struct value *publication,
                     const struct value **ret, struct str_list *warnings, struct err *err);

/* The name of the CRD of its requirements: `mysqlinstancerequirements.example.org`. */
struct str first_design_requirement_crd(struct arena *a, const struct value *definition);

/* Adds what is wrong with a definition besides its own schema: the schema of the kind that it defines. Paths are the user's. */
void first_design_check(struct arena *a, const struct value *definition, struct field_errors *errors,
                        struct str_list *warnings);

/* The conversions of Compositions between v1alpha1 and the other versions. */
extern const struct conversion first_design_conversions[4];

/* The Composition as v1; itself if it has neither `from` nor `to`. */
const struct value *first_design_composition(struct arena *a, const struct value *composition);

/* A resource of a defined kind, with references that are lists of one written as that one. */
const struct value *first_design_complete(struct arena *a, const struct value *object);

/* Checks these references of such a resource, which its schema cannot check. */
void first_design_validate(struct arena *a, const struct write_request *req, const struct value *old,
                           const struct value *object, struct field_errors *errors, struct str_list *warnings);

/* Whether the CRD is that of a defined kind. */
bool first_design_is_defined(const struct value *crd);

/* The connection contract: what is wrong with the connection details of a Composition for a kind whose secrets have these keys; ""
 * without. Compositions with pipelines are not judged: their functions are asked only at run time. */
struct str first_design_contract(struct arena *a, const struct value *keys, const struct value *composition);
