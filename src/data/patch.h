/* JSON Patch (RFC 6902, with the leniencies of the library kube-apiserver uses; spec/apiserver 4.1), JSON merge patch
 * (RFC 7396) and structural diff. */
#pragma once

#include "err.h"
#include "value.h"

/* Applies the operations in order; on error nothing happened. patch must be an array of operation objects (or null: no-op).
 * The error names the operation: `operation 2 (replace /spec/x): ...`, counting from 0.
 *
 * Leniencies: replacing a member that is not there adds it, testing one for null passes, copying one copies null; add,
 * replace and test without `value` mean null; a negative index counts from the end; what stands before the first slash of a
 * pointer is ignored. Only `replace` and `test` work on the root (path ""); the new root may be anything. `test` tells int
 * 1 from double 1, as the library tells 1 from 1.0 by their text.
 *
 * Limits: LIMIT_PATCH_OPERATIONS, LIMIT_PATCH_COPY_BYTES, and LIMIT_DEPTH for the result. */
int json_patch_apply(struct arena *a, const struct value *document, const struct value *patch, const struct value **ret,
                     struct err *err);

/* Object members are merged, null deletes, everything else replaces. Arrays of the patch are taken as they are, nulls in them
 * included. */
const struct value *merge_patch_apply(struct arena *a, const struct value *document, const struct value *patch);

/* The merge patch that turns `from` into `to`. Exact unless `to` holds a null inside an object: those cannot be expressed
 * and come out deleted. */
const struct value *merge_patch_create(struct arena *a, const struct value *from, const struct value *to);

/* What changed between two values, leaf by leaf, in machine form: a JSON Patch (add, remove, replace) that turns `from` into
 * `to` exactly, members in bytewise key order. Items of arrays are matched by position after common heads and tails are
 * set aside. Each operation also has `old`, the value it replaced or removed, if with_old. The array may be longer than
 * json_patch_apply takes (LIMIT_PATCH_OPERATIONS). */
const struct value *value_diff(struct arena *a, const struct value *from, const struct value *to, bool with_old);
