/* ObjectMeta as the API types it: decoding, validation on create and on update. Private to the write pipeline. */
#pragma once

#include "kind.h"

/* The metadata of an object that a client sent, in typed form: unknown fields go (their paths, `metadata.foo`, are added to
 * unknown), nulls and empty maps and lists go, a null label is "". A field of the wrong type is ERR_INVALID with the words
 * of Go's decoder. metadata may be NULL or null. *ret is metadata itself when nothing changed. */
int metadata_coerce(struct arena *a, const struct value *metadata, struct str_list *unknown, const struct value **ret,
                    struct err *err);

/* Equal owner references are one, with the API's warning. */
const struct value *metadata_dedupe_owners(struct arena *a, const struct value *object, struct str_list *warnings);

/* Validates the object's metadata; with `old`, also what may not change. field is `metadata`. */
void metadata_validate(struct arena *a, const struct kind *kind, const struct value *object,
                       struct field_errors *errors, struct str_list *warnings);
void metadata_validate_update(struct arena *a, const struct value *object, const struct value *old,
                              struct field_errors *errors);
