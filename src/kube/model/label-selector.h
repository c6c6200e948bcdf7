/* Label selectors, in the text form of the API (`a=b,c in (d,e),!f`) and the object form (matchLabels, matchExpressions). */
#pragma once

#include "err.h"
#include "field-error.h"
#include "value.h"

struct buf;

enum selector_operator {
        SELECT_EQUALS, /* also `==` */
        SELECT_NOT_EQUALS,
        SELECT_IN,
        SELECT_NOT_IN,
        SELECT_EXISTS,
        SELECT_NOT_EXISTS,
        SELECT_GREATER,
        SELECT_LESS,
};

struct label_requirement {
        struct str key;
        enum selector_operator op;
        bool is_double_equals;    /* SELECT_EQUALS was written `==`, and is printed that way again */
        const struct str *values; /* sorted; without duplicates when they come from text */
        size_t n_values;
};

struct label_selector {
        const struct label_requirement *requirements; /* all must hold; none: everything matches. Sorted by key */
        size_t n;
        bool matches_nothing;
};

/* The selector lives in the arena and borrows text. Errors have the words of docs/spec/apiserver 2.10, ERR_INVALID with
 * REASON_BAD_REQUEST. */
int label_selector_parse(struct arena *a, struct str text, struct label_selector *ret, struct err *err);

/* From {matchLabels, matchExpressions}; NULL or null matches nothing, {} matches everything. Errors have the words of
 * metav1.LabelSelectorAsSelector. */
int label_selector_from_value(struct arena *a, const struct value *selector, struct label_selector *ret,
                              struct err *err);

/* Adds what is wrong with a selector of an object that is written. The selector has passed its schema, or is NULL. */
void label_selector_check(struct field_errors *errors, struct str field, const struct value *selector);

/* labels is metadata.labels, or NULL. */
bool label_selector_matches(const struct label_selector *s, const struct value *labels);
void label_selector_append(struct buf *b, const struct label_selector *s); /* canonical text */
