/* Rules of x-kubernetes-validations that are written in C.
 *
 * A schema says which rules hold where, as text. Whoever knows some of these texts gives them with a function each; all other rules
 * are not enforced. Order, ratcheting and words are those of the API. */
#pragma once

#include "schema.h"

struct schema_rule {
        struct str text;    /* as it stands under `rule` */
        bool is_transition; /* speaks of oldSelf: it counts only where there is one, and is never forgiven for being old */
        bool (*holds)(const struct value *self, const struct value *old); /* old is NULL unless is_transition */
};

/* v has passed schema_validate, whose errors are in `errors`: if they are such that rules cannot be evaluated, none is. old is the
 * stored object of an update, or NULL: what breaks a rule as it did before is only warned of. warnings may be NULL. */
void schema_check_rules(const struct schema *s, const struct value *v, const struct value *old,
                        const struct schema_rule *rules, size_t n_rules, struct field_errors *errors,
                        struct str_list *warnings);
