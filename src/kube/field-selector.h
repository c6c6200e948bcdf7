/* Field selectors: `path=v`, `path==v`, `path!=v`, joined by commas, with backslash escapes. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

struct field_requirement {
        struct str path;
        struct str value;
        bool is_not_equals;
};

struct field_selector {
        const struct field_requirement *requirements;
        size_t n;
};

int field_selector_parse(struct arena *a, struct str text, struct field_selector *ret, struct err *err);

/* The requirements are in the order of their texts, as upstream has them. Errors: ERR_INVALID with REASON_BAD_REQUEST. */
void field_selector_append(struct buf *b, const struct field_selector *s); /* canonical text */

/* Whether the kind allows the paths: metadata.name and metadata.namespace always, and the ones given. Else the API's 400,
 * `field label not supported: X`; allowed NULL stands for the built-in kinds that know no others, whose words differ. */
int field_selector_check(const struct field_selector *s, const struct str *allowed, size_t n_allowed, struct err *err);

/* Values are compared as text: strings, integers and booleans; a missing field is "". `source` of an Event is its component. */
bool field_selector_matches(const struct field_selector *s, const struct value *object);

/* The name that the selector asks for with `=`, if it does; the empty str otherwise. */
struct str field_selector_name(const struct field_selector *s);
