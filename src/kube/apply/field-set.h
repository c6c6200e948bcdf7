/* Sets of field paths, and their wire form fieldsV1 (docs/spec/apiserver 4.3): they record which manager owns which fields of an
 * object.
 *
 * A set is a trie in an arena: sorted children, each a path element with a flag for "the node itself is a member". Sets are
 * immutable; operations return new sets that share subtries with their inputs where they can. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

enum path_element_type {
        ELEMENT_FIELD, /* f:name */
        ELEMENT_KEY,   /* k:{"name":"a"}: sorted keys of a list-map item */
        ELEMENT_VALUE, /* v:"a": an item of a set */
        ELEMENT_INDEX, /* i:0 */
};

struct field_set; /* NULL is the empty set */

/* Decodes the value under fieldsV1; the set borrows its bytes. Unknown prefixes are dropped; a value that is not an object is
 * ERR_INVALID with upstream's text. The encoded value has its keys in bytewise order. */
int field_set_decode(struct arena *a, const struct value *fields, const struct field_set **ret, struct err *err);
struct value field_set_encode(struct arena *a, const struct field_set *s);

bool field_set_equal(const struct field_set *a, const struct field_set *b);
bool field_set_is_empty(const struct field_set *s);
size_t field_set_count(const struct field_set *s); /* members */
const struct field_set *field_set_union(struct arena *a, const struct field_set *x, const struct field_set *y);
const struct field_set *field_set_intersection(struct arena *a, const struct field_set *x, const struct field_set *y);
const struct field_set *field_set_difference(struct arena *a, const struct field_set *x, const struct field_set *y);

/* Like the difference, but a member of y also removes everything below it. */
const struct field_set *field_set_recursive_difference(struct arena *a, const struct field_set *x,
                                                       const struct field_set *y);

/* Calls fn for each member with its text, `.spec.list[name="a"].image`; at each level first the leaves, then the subtries. */
void field_set_each(const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg);
