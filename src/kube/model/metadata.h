/* ObjectMeta with the API's types: decoding, validation on create and on update. For the preparation of writes, and for code that checks
 * objects without it. */
#pragma once

#include "kind.h"

/* Converts the metadata of an object that a client sent to typed form. Unknown fields are removed (their paths, `metadata.foo`, are
 * added to unknown), nulls, empty maps and empty lists are removed, and a null label becomes "". A field of the wrong type is
 * ERR_INVALID with the words of Go's decoder. metadata may be NULL or null. *ret is metadata itself when nothing changed. */
int metadata_coerce(struct arena *a, const struct value *metadata, struct str_list *unknown, const struct value **ret,
                    struct err *err);

/* The same for metadata at another path. */
int metadata_coerce_at(struct arena *a, const struct value *metadata, struct str path, struct str_list *unknown,
                       const struct value **ret, struct err *err);

/* The same, but fields of the wrong type are removed. Metadata that is not an object is returned as it is. */
const struct value *metadata_coerce_fitting(struct arena *a, const struct value *metadata);

/* Converts the metadata of every embedded resource that the schema declares in the object; the object's own metadata is left alone.
 * Bad metadata is ERR_INVALID with its path and value. *ret is the object itself when nothing changed. */
int metadata_coerce_embedded(struct arena *a, const struct schema *schema, const struct value *object,
                             struct str_list *unknown, const struct value **ret, struct err *err);

/* The same for a default of the node. It includes the default itself if that is a resource: by the node, or because the caller says
 * so. There are no errors: fields of metadata that do not fit are removed as a whole. Metadata that is not an object stays. */
const struct value *metadata_coerce_default(struct arena *a, const struct schema_node *n, const struct value *dflt,
                                            bool is_resource);

/* Merges equal owner references, with the API's warning, whose text depends on is_admitted: whether admission has run. */
const struct value *metadata_dedupe_owners(struct arena *a, const struct value *object, bool is_admitted,
                                           struct str_list *warnings);

/* Validates the object's metadata. old is NULL on create; there are no warnings about values that old has too. */
void metadata_validate(struct arena *a, const struct kind *kind, const struct value *object, const struct value *old,
                       struct field_errors *errors, struct str_list *warnings);

/* The additional checks of an update: immutable fields, and labels, annotations, owners and managers once more. */
void metadata_validate_update(struct arena *a, const struct value *object, const struct value *old,
                              struct field_errors *errors);

/* The rule of most built-in kinds: a finalizer is a standard one or has a domain. */
void metadata_validate_finalizers(struct arena *a, const struct value *object, struct field_errors *errors);

/* Checks the name of a manager; errors are reported at the field. */
void metadata_check_manager(struct field_errors *errors, struct str field, struct str manager);
