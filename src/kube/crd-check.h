/* The parts of crd_check. Each adds what it finds, in the words and at the paths of the API server (spec/apiserver 5.1). */
#pragma once

#include "kind.h"

/* The texts of a name check, joined, as one error. prefix stands before them. */
void crd_add_name_error(struct field_errors *errors, struct str field, const struct value *value, const char *prefix,
                        const struct str *texts, size_t n);

/* spec.conversion. old_spec is that of a CRD which is established, or NULL. */
void crd_check_conversion(struct field_errors *errors, const struct value *spec, const struct value *old_spec);

/* Schemas, columns, subresources and selectable fields of all versions. What is equal in all versions is reported once, under
 * spec, as upstream hoists it there; the rest under spec.versions[i]. */
void crd_check_versions(struct field_errors *errors, const struct value *versions, struct str_list *warnings);

/* Whether a schema of the versions has a default, wherever in it. */
bool crd_has_defaults(const struct value *versions);
