/* Sets of characters, for the classes of regular expressions, with the Unicode tables and the case folding of Go. */
#pragma once

#include "vec.h"
#include "str.h"

struct buf;

struct regex_range {
        uint32_t lo;
        uint32_t hi; /* inclusive */
};

/* Generated tables in regex-tables.c. */
struct regex_class {
        const char *name;
        uint16_t first; /* in regex_ranges */
        uint16_t count;
        uint32_t not_folded; /* the one character that Go leaves out of the folded class, or 0 */
};

struct rune_fold {
        uint32_t lo;
        uint32_t hi;
        int32_t delta; /* to the next character of the same letter; 0: neighbours swap, lo with lo + 1 */
};

extern const struct regex_range regex_ranges[];
extern const struct regex_class regex_classes[];
extern const size_t regex_class_count;
extern const struct rune_fold regex_folds[];
extern const size_t regex_fold_count;

/* Ranges in any order, possibly overlapping, until runeset_tidy. Functions that take `from` work only on the ranges from that
 * index on, so that one element of a class can be folded or negated before it joins the others. The caller frees the vector
 * (vec_done). */
struct runeset {
        VEC(struct regex_range) ranges;
        size_t work; /* ranges added so far; LIMIT_REGEX_RANGES limits it */
};

void runeset_add(struct runeset *s, uint32_t lo, uint32_t hi);
void runeset_add_class(struct runeset *s, const struct regex_class *named);

/* Adds every character that differs only in case. */
void runeset_fold(struct runeset *s, size_t from);
void runeset_remove(struct runeset *s, size_t from, uint32_t rune);

/* Makes the ranges sorted, disjoint and not adjacent. */
void runeset_tidy(struct runeset *s, size_t from);

/* Replaces the ranges by their complement, which is tidy. */
void runeset_negate(struct runeset *s, size_t from);

/* The class of a \p{name}, or NULL. Letter case, spaces, hyphens and underscores do not count. */
const struct regex_class *regex_class_find(struct str name);

/* True if the class contains the rune. name must be one of regex_classes. */
bool regex_class_has(const char *name, uint32_t rune);
