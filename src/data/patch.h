/* JSON Patch (RFC 6902, with the leniencies of the library kube-apiserver uses; spec/apiserver 4.1), JSON merge patch
 * (RFC 7396) and structural diff. */
#pragma once

#include "err.h"
#include "value.h"

/* Applies the operations in order; on error nothing happened. patch must be an array of operation objects (or null: no-op). */
int json_patch_apply(struct arena *a, const struct value *document, const struct value *patch, const struct value **ret,
                     struct err *err);

/* Object members are merged, null deletes, everything else replaces. */
const struct value *merge_patch_apply(struct arena *a, const struct value *document, const struct value *patch);

/* The merge patch that turns `from` into `to`. Exact unless `to` holds a null inside an object: those cannot be expressed
 * and come out deleted. */
const struct value *merge_patch_create(struct arena *a, const struct value *from, const struct value *to);

/* What changed between two values, leaf by leaf, in machine form: a JSON Patch (add, remove, replace) that turns `from` into
 * `to` exactly, members in bytewise key order. Items of arrays are matched by position after common heads and tails are
 * set aside. Each operation also has `old`, the value it replaced or removed, if with_old. */
const struct value *value_diff(struct arena *a, const struct value *from, const struct value *to, bool with_old);
