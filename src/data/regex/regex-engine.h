/* The engine behind regex.h: a thin interface to the library that regex.cc wraps. It knows nothing of Go's rules: patterns must
 * come from regex-syntax.c, and text must be valid UTF-8. */
#pragma once

#include "err.h"
#include "str.h"

#ifdef __cplusplus
#define _noexcept_ noexcept
#else
#define _noexcept_
#endif

struct regex_engine; /* immutable: any number of threads may use it at once */

/* ERR_LIMIT when the pattern needs more memory than LIMIT_REGEX_BYTES. */
int regex_engine_new(struct str pattern, struct regex_engine **ret, struct err *err) _noexcept_;
void regex_engine_free(struct regex_engine *e) _noexcept_;

/* The first match at or after start, leftmost-first; the text before start counts as context. groups as in regex_find. */
bool regex_engine_find(const struct regex_engine *e, struct str text, size_t start, struct str *groups,
                       size_t n) _noexcept_;
