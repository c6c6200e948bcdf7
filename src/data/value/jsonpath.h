/* JSONPath as kubectl and the columns of CRDs have it (client-go's dialect, docs/spec/apiserver 5.8): `.a.b`, `['x']`, `[0]`, `[*]`,
 * slices, unions, filters `?(@.type=="Ready")`, `..`, `\.` inside names. Compiled once, used on many values.
 *
 * The dialect in short: a path is a list of steps, and each step maps a list of values to a list of values. A missing key finds
 * nothing. An index beyond the end of an array, an index of a value that is not an array and a filter of one are errors. A key in
 * brackets is itself a path: `['a.b']` is `.a.b`, and `['a\.b']` is one key. `..` gives every object, array and text that is not empty,
 * outermost first. The bytes of a text are its items. */
#pragma once

#include "err.h"
#include "value.h"

struct jsonpath;

/* The text of one path, with or without braces: `.spec.x`, `{.spec.x}`. A text that begins with a brace may have more actions and
 * texts behind the first action; `range` is not supported. The compiled path lives in the arena. Errors have the texts of client-go.
 * Limit: LIMIT_JSONPATH_BYTES of text. */
int jsonpath_compile(struct arena *a, struct str text, struct jsonpath **ret, struct err *err);

/* Finds the results of the first action, in order, as borrowed values; they live as long as root, the path and the arena. Later
 * actions are evaluated for their errors alone. ERR_INVALID has the texts of client-go. ERR_LIMIT: more than max results, or more
 * than LIMIT_JSONPATH_STEPS values on the way. */
int jsonpath_find(const struct jsonpath *p, struct arena *a, const struct value *root, size_t max,
                  const struct value *const **ret, size_t *ret_n, struct err *err);
