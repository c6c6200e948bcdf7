/* Regular expressions with Go's syntax, semantics and error texts, in linear time. The engine behind it is private. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;
struct regex; /* immutable after compile: any number of threads may match at once */

/* ERR_INVALID with Go's text: error parsing regexp: missing closing ): `a(b`. The caller frees it. */
int regex_compile(struct str pattern, struct regex **ret, struct err *err);
void regex_free(struct regex *re); /* NULL is fine */

static inline void regex_freep(struct regex **re)
{
        regex_free(*re);
}

/* Capture groups, without the whole match; and the name of group i (1..), "" when it has none. Borrowed. */
size_t regex_group_count(const struct regex *re);
struct str regex_group_name(const struct regex *re, size_t i);

/* Leftmost-first search anywhere in text. */
bool regex_matches(const struct regex *re, struct str text);

/* The whole match and the groups of the first match at or after `start`: groups[0..n). A group that took no part has p ==
 * NULL. n may be smaller than the number of groups + 1. False when nothing matches. Text before start counts as context. */
bool regex_find(const struct regex *re, struct str text, size_t start, struct str *groups, size_t n);

/* ReplaceAllString (templates with $1, ${name}) and ReplaceAllLiteralString. */
void regex_replace_all(const struct regex *re, struct str text, struct str replacement, bool is_literal,
                       struct buf *ret);

/* regexp.QuoteMeta. */
void regex_append_quoted(struct buf *b, struct str text);
