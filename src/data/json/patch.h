/* JSON Patch (RFC 6902, with the leniencies of the library that kube-apiserver uses; docs/spec/apiserver 4.1), JSON merge patch
 * (RFC 7396) and structural diff. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

/* Applies the operations in order; on error *ret is unchanged. patch must be an array of operation objects (or null: no-op). The
 * error names the operation: `operation 2 (replace /spec/x): ...`, counting from 0.
 *
 * Leniencies: replacing an absent member adds it, testing an absent member for null passes, copying an absent member copies
 * null; add, replace and test without `value` mean null; a negative index counts from the end; the text before the first slash
 * of a pointer is ignored. Only `replace` and `test` work on the root (path ""); the new root may be anything. `test` treats int
 * 1 and double 1 as different, because the library compares the texts 1 and 1.0.
 *
 * Limits: LIMIT_PATCH_OPERATIONS, LIMIT_PATCH_COPY_BYTES, and LIMIT_DEPTH for the result. */
int json_patch_apply(struct arena *a, const struct value *document, const struct value *patch, const struct value **ret,
                     struct err *err);

/* Object members are merged, null deletes, everything else replaces. Arrays of the patch are taken as they are, nulls in them
 * included. */
const struct value *merge_patch_apply(struct arena *a, const struct value *document, const struct value *patch);

/* The merge patch that turns `from` into `to`. Exact unless `to` holds a null inside an object: a merge patch cannot express
 * that, so the member is deleted instead. */
const struct value *merge_patch_create(struct arena *a, const struct value *from, const struct value *to);

/* The differences between two values, leaf by leaf, as a JSON Patch (add, remove, replace) that turns `from` into `to` exactly,
 * members in bytewise key order. Array items are matched by position, after equal items at both ends are set aside. Each
 * operation also has `old`, the value it replaced or removed, if with_old. The array may be longer than json_patch_apply accepts
 * (LIMIT_PATCH_OPERATIONS). */
const struct value *value_diff(struct arena *a, const struct value *from, const struct value *to, bool with_old);

/* Appends one more key to a JSON Pointer (RFC 6901): a slash and the key, escaped. */
void json_pointer_append(struct buf *b, struct str key);
