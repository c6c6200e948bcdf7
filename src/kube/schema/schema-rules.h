/* Rules of x-kubernetes-validations that are written in C.
 *
 * A schema contains its rules as text. The caller passes the texts it knows with a function for each; all other rules are not
 * enforced. Order, ratcheting and words are those of the API. */
#pragma once

#include "schema.h"

struct schema_rule {
        struct str text;    /* the exact text under `rule` */
        bool is_transition; /* uses oldSelf: checked only if there is an old value, and never ratcheted */
        bool (*holds)(const struct value *self, const struct value *old); /* old is NULL unless is_transition */
};

/* v was given to schema_validate, whose errors are in `errors`. If these errors make rules impossible to evaluate, no rule is
 * checked. old is the stored object of an update, or NULL: a rule that an unchanged value already broke only causes a warning.
 * warnings may be NULL. */
void schema_check_rules(const struct schema *s, const struct value *v, const struct value *old,
                        const struct schema_rule *rules, size_t n_rules, struct field_errors *errors,
                        struct str_list *warnings);
