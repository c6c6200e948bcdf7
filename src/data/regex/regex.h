/* Regular expressions with Go's syntax, semantics and error texts, in linear time. The engine is private to the implementation.
 *
 * Text need not be UTF-8: as in Go, a byte that is not part of a valid character counts as U+FFFD. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;
struct regex; /* immutable after compile: any number of threads may match at once */

/* ERR_INVALID with Go's text: error parsing regexp: missing closing ): `a(b`; ERR_LIMIT for a pattern that is too large for us,
 * even if Go accepts it. The caller frees *ret with regex_free. */
int regex_compile(struct str pattern, struct regex **ret, struct err *err);
void regex_free(struct regex *re); /* NULL is fine */

static inline void regex_freep(struct regex **re)
{
        regex_free(*re);
}

/* The text it was compiled from. Borrowed. */
struct str regex_pattern(const struct regex *re);

/* The number of capture groups, not counting the whole match, and the name of group i (from 1), "" if it has none. Borrowed. */
size_t regex_group_count(const struct regex *re);
struct str regex_group_name(const struct regex *re, size_t i);

/* Leftmost-first search anywhere in text. */
bool regex_matches(const struct regex *re, struct str text);

/* The whole match and the groups of the first match at or after `start`: groups[0..n). A group that did not take part in the
 * match has p == NULL. n may be smaller or larger than the number of groups + 1; surplus entries have p == NULL. False when
 * nothing matches. Text before start counts as context; start is the beginning of a character. */
bool regex_find(const struct regex *re, struct str text, size_t start, struct str *groups, size_t n);

/* All matches one after the other, by the rules of Go's FindAll: they do not overlap, and an empty match directly after the
 * previous match does not count. In the caller's memory; text and expression must outlive it. */
struct regex_scan {
        const struct regex *re;
        struct str text;
        struct str readable; /* the text, or a heap copy with U+FFFD for every invalid byte */
        size_t *replaced;    /* heap; offsets of the replaced bytes in the copy */
        size_t n_replaced;
        size_t position;     /* in `readable`, where the next search starts; beyond the end: finished */
        size_t previous_end; /* of the last match */
        bool has_previous;
};

void regex_scan_init(struct regex_scan *s, const struct regex *re, struct str text);
void regex_scan_done(struct regex_scan *s);

/* The next match, groups as in regex_find (pointing into the text); false when there are no more. */
bool regex_scan_next(struct regex_scan *s, struct str *groups, size_t n);

/* FindAllString(text, limit) and Split(text, limit): a negative limit means all. The array is in the arena, the strings are
 * parts of the text. Returns their number. */
size_t regex_find_all(const struct regex *re, struct str text, int64_t limit, struct arena *a, struct str **ret);
size_t regex_split(const struct regex *re, struct str text, int64_t limit, struct arena *a, struct str **ret);

/* ReplaceAllString (templates with $1, ${name}) and ReplaceAllLiteralString. */
void regex_replace_all(const struct regex *re, struct str text, struct str replacement, bool is_literal,
                       struct buf *ret);

/* Regexp.Expand: appends the template with its references replaced by the groups of one match. groups[0..n) as regex_find filled
 * them. */
void regex_expand(const struct regex *re, struct str template_text, const struct str *groups, size_t n,
                  struct buf *ret);

/* regexp.QuoteMeta. */
void regex_append_quoted(struct buf *b, struct str text);
