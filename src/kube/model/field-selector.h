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

/* field_selector_parse sorts the requirements by their texts, as upstream does. Its errors are ERR_INVALID with
 * REASON_BAD_REQUEST. */
void field_selector_append(struct buf *b, const struct field_selector *s); /* canonical text */

/* Checks that the kind allows the paths: always metadata.name and metadata.namespace, and the given ones. Otherwise the error is
 * the API's 400, `field label not supported: X`. allowed is NULL for built-in kinds without other fields; their error has other
 * words. */
int field_selector_check(const struct field_selector *s, const struct str *allowed, size_t n_allowed, struct err *err);

/* Values are compared as text: strings, integers and booleans. A missing field is "". For an Event, `source` means its
 * component. */
bool field_selector_matches(const struct field_selector *s, const struct value *object);

/* The name that the selector requires with `=`; the empty str if it requires none. */
struct str field_selector_name(const struct field_selector *s);
