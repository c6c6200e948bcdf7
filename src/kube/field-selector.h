/* Field selectors: `path=v`, `path==v`, `path!=v`, joined by commas, with backslash escapes. */
#pragma once

#include "err.h"
#include "value.h"

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

/* Whether the kind allows the paths: metadata.name and metadata.namespace always, and the ones given. Else the API's 400. */
int field_selector_check(const struct field_selector *s, const struct str *allowed, size_t n_allowed, struct err *err);

/* Values are compared as text: strings, integers and booleans; a missing field is "". */
bool field_selector_matches(const struct field_selector *s, const struct value *object);

/* The name that the selector asks for with `=`, if it does; the empty str otherwise. */
struct str field_selector_name(const struct field_selector *s);
