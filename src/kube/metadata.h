/* ObjectMeta as the API types it: decoding, validation on create and on update. For the write pipeline,
 * and for those who judge objects without it. */
#pragma once

#include "kind.h"

/* The metadata of an object that a client sent, in typed form: unknown fields go (their paths, `metadata.foo`, are added to
 * unknown), nulls and empty maps and lists go, a null label is "". A field of the wrong type is ERR_INVALID with the words
 * of Go's decoder. metadata may be NULL or null. *ret is metadata itself when nothing changed. */
int metadata_coerce(struct arena *a, const struct value *metadata, struct str_list *unknown, const struct value **ret,
                    struct err *err);

/* The same for metadata that stands elsewhere, at the path. */
int metadata_coerce_at(struct arena *a, const struct value *metadata, struct str path, struct str_list *unknown,
                       const struct value **ret, struct err *err);

/* The same without a field that does not fit. Metadata that is no object is returned as it is. */
const struct value *metadata_coerce_fitting(struct arena *a, const struct value *metadata);

/* Types the metadata of every resource that the schema says is embedded in the object, whose own is left alone. A
 * bad one is ERR_INVALID with its path and value. *ret is the object itself when nothing changed. */
int metadata_coerce_embedded(struct arena *a, const struct schema *schema, const struct value *object,
                             struct str_list *unknown, const struct value **ret, struct err *err);

/* The same for a default of the node, with the default itself if it is a resource: by the node or because the caller says so. Nobody
 * is told: what does not fit goes, a field of metadata as a whole. Metadata that is no object stays. */
const struct value *metadata_coerce_default(struct arena *a, const struct schema_node *n, const struct value *dflt,
                                            bool is_resource);

/* Equal owner references are one, with the API's warning, which tells whether admission has been. */
const struct value *metadata_dedupe_owners(struct arena *a, const struct value *object, bool is_admitted,
                                           struct str_list *warnings);

/* Validates the object's metadata. old is NULL on create; what it has too is not warned about. */
void metadata_validate(struct arena *a, const struct kind *kind, const struct value *object, const struct value *old,
                       struct field_errors *errors, struct str_list *warnings);

/* What an update adds to that: what may not change, and labels, annotations, owners and managers once more. */
void metadata_validate_update(struct arena *a, const struct value *object, const struct value *old,
                              struct field_errors *errors);

/* The name of a manager, at the field. */
void metadata_check_manager(struct field_errors *errors, struct str field, struct str manager);
