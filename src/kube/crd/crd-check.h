/* The parts of crd_check. Each adds the errors it finds, with the texts and paths of the API server (docs/spec/apiserver 5.1). */
#pragma once

#include "kind.h"

/* Adds the texts of a name check, joined, as one error. prefix is put before them. */
void crd_add_name_error(struct field_errors *errors, struct str field, const struct value *value, const char *prefix,
                        const struct str *texts, size_t n);

/* Checks spec.conversion. old_spec is the spec of an established CRD, or NULL. */
void crd_check_conversion(struct field_errors *errors, const struct value *spec, const struct value *old_spec);

/* Checks schemas, columns, subresources and selectable fields of all versions. A part that is equal in all versions is reported
 * once, under spec, because upstream hoists it there; other parts are reported under spec.versions[i]. */
void crd_check_versions(struct field_errors *errors, const struct value *versions, struct str_list *warnings);

/* Whether any schema of the versions has a default, at any depth. */
bool crd_has_defaults(const struct value *versions);
